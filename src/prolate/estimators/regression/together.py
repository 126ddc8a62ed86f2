"""The slopes that all moments of a regression tell together.

Of a Gram matrix for each radius; of rows that are shortened as a whole, where the rows pay for it,
and of how skewed the target's errors are; and of a layer of what is beyond its cut, where its tails
show that this is worth it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from prolate.curator import Curator
from prolate.estimators.regression.answers import Answer, measure_radii, slopes_of, used
from prolate.estimators.regression.average import average
from prolate.estimators.regression.cut_off import CutOff
from prolate.estimators.regression.radii import Radius, choose_radii
from prolate.estimators.regression.rows import StandardRows
from prolate.estimators.regression.skew import Skew
from prolate.estimators.regression.slopes import Slopes
from prolate.estimators.regression.standard import Standard
from prolate.estimators.regression.tails import Tails, less_sure
from prolate.estimators.regression.weighted import Weighted
from prolate.estimators.shares import one_row_noise, part_for
from prolate.queries import Query

__all__ = ["BeyondTheCut", "Plan", "slopes_together"]

# Parts of the weighted rows' share: for the skew and for both tails of what a line leaves (wanted
# noise, over the rows, and largest part), and for a layer of what is beyond the cut.
_SKEW, _TAILS, _LAYER = (0.003, 0.25), (0.0015, 0.1), 0.35
_START = 0.3  # part of the weighted rows' share that tells a line of a sample
_OFF = 0.1  # deviations of the errors by which levels may differ, as skewed ones are cut


@dataclass(frozen=True)
class Plan:
    """What is asked of the rows for the slopes.

    Attributes
    ----------
    radii : list of Radius
    alpha : float, optional
        Ridge penalty; then nothing is asked but the radii.
    again : bool
        Whether it is asked what the usual radius' line leaves of the target.
    share, aside : float
        Of mu**2: for rows that are shortened as a whole, if any, and what is left for the level.
    seen : bool
        Whether rows are enough to see what tails of the target are like, and it is cut.
    """

    radii: list[Radius]
    alpha: float | None
    again: bool
    share: float
    aside: float
    seen: bool


@dataclass(frozen=True)
class BeyondTheCut:
    """Whether slopes have what is beyond the target's cut, and whether that may hide one."""

    told: bool = False
    hidden: bool = False

    def details(self, standard: Standard) -> dict[str, str]:
        """Return what is said of the slopes; nothing if no value within public bounds is cut."""
        if standard.ends is not None:
            return {}
        return {"beyond_cut": "given back" if self.told else "not told"}


def slopes_together(
    rows: StandardRows, sample: Curator, plan: Plan
) -> tuple[list[Answer], Slopes, float, BeyondTheCut]:
    """Return what each radius says, the slopes, and where their target was cut nearest.

    And what is known of what is beyond the cut.

    Parameters
    ----------
    rows : StandardRows
        All of them.
    sample : Curator
        Of the rows that are searched.
    plan : Plan
    """
    curator, asked, share = rows.curator, plan.radii, plan.share
    off = 0.0 if rows.standard.middles is None else _OFF
    measure = partial(measure_radii, alpha=plan.alpha)
    if share == 0.0:
        answers, _ = measure(rows, asked, aside=plan.aside if plan.again else None)
        cut = min(answer.target_cut for answer in answers)
        return answers, average(slopes_of(answers), off=off), cut, BeyondTheCut()
    few, at_once = rows.sampled(sample), sample is not curator  # so that all rows are read once
    if at_once:
        first = choose_radii(few, share=_START * share, again=False)
        answers, _ = measure(few, first)
        share *= 1.0 - _START
    else:
        aside = plan.aside + share
        answers, _ = measure(rows, asked, aside=aside if plan.again else None)
        share = curator.remaining - plan.aside
    known = average(slopes_of(answers), off=off)
    skew, tails, share = _counted(few, known, share=share, seen=plan.seen)
    weighted = Weighted.of(rows, known, share=share)
    cut_off, layer = None, _LAYER * share
    if tails is not None:
        cut_off = CutOff.of(weighted, tails, known, share=layer)
    if cut_off is not None:
        rest, skew = math.nextafter(share - layer, 0.0), None
        beside: list[tuple[Query, float, str]] = [weighted.asked(rest)]
        beside.append((cut_off.query, layer, "beyond the cut"))
    else:  # so it is cut where that takes less
        weighted = Weighted.of(rows, known, share=share, skew=skew)
        beside = [weighted.asked(share)]
    if at_once:
        answers, told = measure(rows, asked, beside=beside)
    else:
        told = curator.measure_together(beside)
    several, cuts = slopes_of(answers), [answer.target_cut for answer in answers]
    if tails is not None:
        cut = weighted.target_cut
        several = [tails.beside(one.slopes, one.target_cut, cut) for one in used(answers)]
    several, hidden = weighted.beside(weighted.slopes(told[0]), several)
    nearer = [one.target_cut for one in used(answers)]
    lost = None if skew is None else skew.lost(known, [*nearer, weighted.target_cut])
    found = average(several, off=off, lost=lost)
    if cut_off is not None:
        found = cut_off.added(found, told[0], told[1], rows=rows.count)
    elif tails is not None and plan.aside == 0.0:  # else the level's own tails tell
        found = less_sure(found, tails.surely_more(weighted.target_cut))
    beyond = BeyondTheCut(told=cut_off is not None, hidden=hidden)
    return answers, found, min([*cuts, weighted.target_cut]), beyond


def _counted(
    rows: StandardRows, known: Slopes, *, share: float, seen: bool
) -> tuple[Skew | None, Tails | None, float]:
    """Return what counts tell of what slopes leave of a target that is cut, and what is left.

    Of tails only if these are `seen`.
    """
    skew, tails = None, None
    if rows.standard.ends is None:
        part = part_for(one_row_noise(rows.curator, rows.count, share), *_SKEW)
        skew = Skew.measure(rows, known, share=part * share)
        share = math.nextafter((1.0 - part) * share, 0.0)  # no more than is left, once rounded
    if seen:
        wanted, most = _TAILS
        # Not finer: where counts are precise, tails start beyond the cut.
        part = min((one_row_noise(rows.curator, rows.count, share) / wanted) ** 2, most)
        tails = Tails.measure(rows, known, share=part * share)
        share = math.nextafter((1.0 - part) * share, 0.0)
    return skew, tails, share
