"""Private linear regression: no bounds, no normalization needed.

1. Find the mean and the standard deviation of the target, then of the features
   (`search.py`). Where the rows are too few for the features, the answer is the
   private mean of the target. Flags, and others that fill their public bounds, are
   centered in the middle of these (`bounded.py`).
2. A histogram of the norms of the standardized features.
3. Gram matrices of (constant, features clipped to a norm, cut target), for one radius to three
   (`radii.py`). Where the rows pay for it, a second one for the usual radius, of what the first
   line leaves of the target: it can be cut nearer, and noise in the features' part no longer
   counts.
4. From each a line that predicts, by shrinkage along the eigenvectors of the noisy matrix
   (`line.py`), and the slopes of unclipped rows (`slopes.py`). Where the rows pay for it, these
   are told by rows that are shortened as a whole, too, and most of all (`weighted.py`). Where
   what is left of the target has heavy tails, slopes are given back what its cut takes, which a
   layer next to the cut tells (`cut_off.py`). All of this is `together.py`.
5. Where tails can be seen, the intercept from the mean of what the slopes leave (`level.py`).
6. Without an intercept, the line through the origin that is nearest to it (`origin.py`).

Rows that are far out are drawn towards the center, in the fit and in predictions: on real data
that often predicts better than the line without clipping. Where several radii are measured,
predictions use the line that explains most, as far as the noisy matrices tell, and the slopes of
all but the small one are averaged with those of shortened rows.

Sources: AdaSSP (Wang 2018; Kalaja 2022), with the matrix and the vector in one measurement,
lambda from the noisy matrix, and clipping (Kalaja, 3.8 and 3.9) around private centers; the
second round is BoostedAdaSSP's idea (Tang et al. 2023).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Curator
from prolate.estimators.present import Whole, whole_rows
from prolate.estimators.regression.answers import best_answer
from prolate.estimators.regression.level import SKEWED, with_level
from prolate.estimators.regression.line import Moments
from prolate.estimators.regression.linear_fit import ClippedLine, LinearFit
from prolate.estimators.regression.mean_only import mean_only
from prolate.estimators.regression.origin import line_from_origin, through_origin
from prolate.estimators.regression.radii import choose_radii, enough_rows
from prolate.estimators.regression.remarks import BEYOND_CUT, MISSING_TARGET, remarks
from prolate.estimators.regression.rows import StandardRows
from prolate.estimators.regression.search import search
from prolate.estimators.regression.slopes import Slopes
from prolate.estimators.regression.standard import Standard
from prolate.estimators.regression.together import Plan, slopes_together
from prolate.estimators.regression.weighted import weighted_part
from prolate.estimators.search.far import TOO_FAR

__all__ = ["regression"]

_AGAIN = 120.0  # rows times mu that pay for a second round of the usual radius
_SIDES = 600.0  # rows times mu that show the tails of what the slopes leave, ...
_LEVEL = 0.03  # ... part of what is left, for the intercept
_CLEARLY_OFF = 4.0  # times its noise, the square of what predictions are off by on average
# Deviations of the target by which its mean may be moved by features that seem to be one value.
_UNSEEN = 0.25
_COUNTED = 4.0  # standard deviations by which a noisy count may be too large


def regression(
    curator: Curator, *, fit_intercept: bool = True, alpha: float | None = None
) -> LinearFit:
    """Return a private line, and what predicts best.

    Parameters
    ----------
    curator : Curator
        The target is its last column. Its remaining budget is spent.
    fit_intercept : bool
        Whether the line may pass beside the origin.
    alpha : float, optional
        Ridge penalty, per row and on standardized features; chosen from the noise if not
        given.
    """
    whole = whole_rows(curator)
    if whole.absent[-1]:
        return _unknown_target(whole)
    curator, rows, noise = whole.curator, whole.rows, whole.noise
    # A private number of rows may be none, and a line through nothing looks like any.
    few = noise > 0.0 and rows <= curator.dimension + _COUNTED * noise
    found = search(curator, rows, fit_intercept=fit_intercept)
    if few or found.norms is None:
        line = mean_only(curator, rows, found.standard, fit_intercept=fit_intercept)
    else:
        there = StandardRows(curator, rows, found.standard, found.norms)
        line = _fit(there, found.sample, alpha, fit_intercept, whole)
    if found.hidden and line.covariance is not None:
        nothing = np.full(curator.dimension, np.inf)
        unknown = np.zeros_like(line.coef)
        line = replace(line, coef=unknown, noise_std=nothing, covariance=np.diag(nothing))
    if found.predicted is not None and line.clipped is not None:
        alike = replace(line.clipped, slopes=np.zeros_like(line.coef), value=found.predicted)
        details = {**line.details, "predicts": alike.to_dict()}
        line = replace(line, clipped=alike, details=details)
    said = line.warnings if TOO_FAR not in found.warnings or found.norms is not None else ()
    return replace(line, rows=whole.every, warnings=(*found.warnings, *said))


def _is_cut(standard: Standard, level: float) -> bool:
    """Return whether the intercept is that of the target as it was cut, and nothing tells more."""
    return level == 0.0 and standard.ends is None and standard.fit_intercept


def _unknown_target(whole: Whole) -> LinearFit:
    """Return what is known of a target without values."""
    nothing = np.full(whole.absent.size, np.inf)
    return LinearFit(
        coef=np.zeros(nothing.size - 1),
        intercept=0.0,
        rows=whole.every,
        covariance=np.diag(nothing),
        noise_std=nothing,
        warnings=(MISSING_TARGET,),
    )


def _fit(
    rows: StandardRows,
    sample: Curator,
    alpha: float | None,
    fit_intercept: bool,
    whole: Whole,
) -> LinearFit:
    """Return the line from one radius or more, with all that is left."""
    curator, standard = rows.curator, rows.standard
    k, enough = standard.scale.size - 1, enough_rows(curator, rows.count)
    # Within bounds that it fills, nothing of the target is cut.
    seen = standard.ends is None and enough > _SIDES
    level = _LEVEL * curator.remaining if seen and standard.fit_intercept else 0.0
    again = alpha is None and sample is curator and enough > _AGAIN
    part = weighted_part(enough, standard) if alpha is None else 0.0
    share = part * (curator.remaining - level)
    radii = choose_radii(rows, share=curator.remaining - level - share, again=again)
    plan = Plan(radii, alpha, again=again, share=share, aside=level, seen=seen)
    answers, found, cut, beyond = slopes_together(rows, sample, plan)
    answer = best_answer(answers)
    best, skewed = answer.clipped, False
    if level > 0.0:
        found, skewed = with_level(
            rows, sample, found, cut=cut, counted=whole.rows != whole.every, told=beyond.told
        )
        unit = float(standard.scale[-1])
        best = _through_mean(best, answer.moments, found, unit, standard.mean)
    if standard.fit_intercept and not fit_intercept:
        origin, found = through_origin(standard, found)
        best = line_from_origin(standard, _in_units(origin.units[:k, :k], found.value[:k]))
        standard = origin
    units = standard.units
    value = _in_units(units, found.value)
    with np.errstate(all="ignore"):  # where units of target and features are too far apart
        noise = _finite(units @ found.noise @ units.T)
        sampling = _finite(units @ found.sampling @ units.T)
    absent = whole.absent[:-1]
    unseen = np.flatnonzero(standard.unknown(answers[0].moments) | absent)
    value[unseen], noise[unseen, unseen] = 0.0, np.inf
    if unseen.size and fit_intercept:
        noise[k, k] += (_UNSEEN * float(standard.scale[-1])) ** 2
    return LinearFit(
        coef=value[:k],
        intercept=float(value[k] + standard.center[-1]),
        rows=rows.count,
        covariance=noise + sampling,
        noise_std=np.sqrt(np.maximum(np.diag(noise), 0.0)),
        clipped=best,
        warnings=(
            *remarks(rows, answers[0].moments, absent),
            *((SKEWED,) if skewed and not beyond.told else ()),
            *((BEYOND_CUT,) if beyond.hidden else ()),
        ),
        details={
            "radius": radii[0].radius,
            "other_radii": [one.radius for one in radii[1:]],
            "predicts": best.to_dict(),
            **({"level": "of the cut target"} if _is_cut(standard, level) else {}),
            **beyond.details(standard),
        },
    )


def _through_mean(
    line: ClippedLine, moments: Moments, slopes: Slopes, unit: float, place: Floats
) -> ClippedLine:
    """Return a line that is moved as far as its predictions are surely off on average.

    It goes through the mean of a target that was cut; `slopes` tell that of the whole one, as far
    as the features' means are known, which clipping moves where they are skewed from their `place`.
    """
    at = np.append(slopes.mean, 1.0)
    each = at * slopes.value
    moved = each[:-1] - place * slopes.value[:-1]
    off = float(np.sum(each)) - moments.target_mean
    doubt = float(at @ slopes.noise @ at + moved @ moved) + moments.noise_target_mean**2
    square, hidden = off * off, _CLEARLY_OFF * doubt
    if not hidden < square < math.inf:
        return line
    return replace(line, value=line.value + (1.0 - hidden / square) * off * unit)


def _in_units(units: Floats, slopes: Floats) -> Floats:
    """Return slopes in the data's units, as far as doubles reach."""
    with np.errstate(all="ignore"):
        return np.nan_to_num(units @ slopes, nan=0.0, posinf=1e300, neginf=-1e300)


def _finite(matrix: Floats) -> Floats:
    """Return a covariance of which only variances may be infinite, and nothing is missing."""
    variance = np.diag(matrix)
    variance = np.where(np.isfinite(variance), np.maximum(variance, 0.0), np.inf)
    matrix = np.nan_to_num(matrix, nan=0.0, posinf=1e300, neginf=-1e300)
    np.fill_diagonal(matrix, variance)
    return matrix
