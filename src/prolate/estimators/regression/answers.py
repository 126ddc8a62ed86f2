"""What rows say that are clipped to each radius: a line that predicts, and slopes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from prolate.curator import Measurement
from prolate.estimators.regression.line import (
    Line,
    Moments,
    add_round,
    drawn,
    fit_line,
    read_moments,
)
from prolate.estimators.regression.linear_fit import ClippedLine
from prolate.estimators.regression.radii import Radius
from prolate.estimators.regression.rows import StandardRows
from prolate.estimators.regression.slopes import Slopes, true_slopes
from prolate.queries import Gram, Query

__all__ = ["Answer", "best_answer", "measure_radii", "slopes_of", "used"]

_RESIDUAL_CUT = 2.0  # deviations at which what is left is cut
_MOST_EXPLAINED = 0.95
_SURELY = 0.7  # standard deviations by which another radius must predict better


@dataclass(frozen=True, eq=False)
class Answer:
    """What rows clipped to a radius say, and where their target was cut at last."""

    moments: Moments
    line: Line
    clipped: ClippedLine
    slopes: Slopes
    target_cut: float


def best_answer(answers: list[Answer]) -> Answer:
    """Return the answer whose line predicts best: the first, unless another one surely does."""
    best = answers[0]
    for other in answers[1:]:
        doubt = math.hypot(best.line.doubt, other.line.doubt)
        if other.line.gain - best.line.gain > _SURELY * doubt:
            best = other
    return best


def used(answers: list[Answer]) -> list[Answer]:
    """Return those whose slopes are used: of all radii but the small one."""
    return [one for one in answers if one.clipped.radius >= answers[0].clipped.radius]


def slopes_of(answers: list[Answer]) -> list[Slopes]:
    """Return the slopes of those that are used."""
    return [one.slopes for one in used(answers)]


def measure_radii(
    rows: StandardRows,
    asked: list[Radius],
    *,
    alpha: float | None,
    aside: float | None = None,
    beside: Sequence[tuple[Query, float, str]] = (),
) -> tuple[list[Answer], Sequence[Measurement]]:
    """Return what each radius says, and what queries `beside` them tell, in the same pass.

    Where a share is left `aside`, all the others are spent on what the usual radius' line leaves.
    """
    curator, standard = rows.curator, rows.standard
    queries = [standard.query(one.radius, one.cut, one.target_cut) for one in asked]
    wanted = [(query, one.share, one.label) for query, one in zip(queries, asked, strict=True)]
    measured = curator.measure_together([*wanted, *beside])
    answers = []
    for one, query, answer in zip(asked, queries, measured[: len(asked)], strict=True):
        weight = standard.weight(one.radius, one.target_cut)
        moments = read_moments(
            query, answer.values, answer.std, rows.count, weight, standard.off, standard.mean
        )
        line, target_cut = fit_line(moments, ridge=alpha), one.target_cut
        if aside is not None and one is asked[0]:
            share = curator.remaining - aside
            moments, line, target_cut = _again(rows, query, moments, line, share=share)
        slopes = true_slopes(
            moments,
            rows=rows.count,
            radius=one.radius,
            cut=target_cut if standard.ends is None else math.inf,
            norms=rows.norms,
            ridge=alpha or 0.0,
            middles=standard.middles,
        )
        kept = line if standard.ends is None else drawn(line, moments)
        clipped = standard.clipped_line(kept, moments, one.radius, one.cut)
        answers.append(Answer(moments, line, clipped, slopes, target_cut))
    return answers, measured[len(asked) :]


def _again(
    rows: StandardRows, query: Gram, first: Moments, line: Line, *, share: float
) -> tuple[Moments, Line, float]:
    """Measure what the first line leaves of the target: less noise, as it can be cut nearer.

    Returns
    -------
    moments, line, target_cut
        Of both rounds, and where the target of the second was cut.
    """
    standard, value = rows.standard, first.target_mean - float(first.mean @ line.slopes)
    explained = line.gain / max(first.target, first.noise_target)
    part = 1.0 - min(max(explained, 0.0), _MOST_EXPLAINED)
    cut = _RESIDUAL_CUT * math.sqrt(part * min(max(first.target, 0.1), 2.0))
    if standard.ends is not None:
        cut = standard.reach_beside(query.radius, line.slopes, value)
    residuals = standard.residuals(query, line, value, cut)
    answer = rows.curator.measure(residuals, share=share, label="residuals")
    off = max(first.noise_target_mean, 0.01)
    weight = standard.weight(query.radius, cut)
    read = residuals, answer.values, answer.std, rows.count
    second = read_moments(*read, weight, off, standard.mean)
    both = add_round(first, line, second, value)
    after = fit_line(both)
    doubt = math.hypot(line.doubt, after.doubt)
    return both, Line(after.slopes, line.gain + after.gain, doubt), cut
