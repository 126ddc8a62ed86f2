"""What clipping takes from one side of a column, by noisy counts of the rows there.

A histogram shows how many rows are beyond each distance, but noise hides the farthest. So each
tail is taken to go on as one of many curves (`curves.py`), some of which the counts make likelier
than others. Averaged over these, what clipping takes off the mean is known as an expectation,
which is given back, and a doubt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Floats
from prolate.estimators.lengths.curves import (
    REACH,
    curves,
    curves_without,
    likely_curves,
    survival,
)
from prolate.estimators.lengths.gaps import SURE, joined_cells

__all__ = ["USUAL", "SideTail", "fit_tail"]

USUAL = 1.25
"""Standard deviations, over mean absolute ones, of normal errors."""

_WRONG = 0.5  # of what is lost: no tail is quite such a curve, ...
_STEPS, _UNEVEN = 0.8, 0.5  # ... and one of values with gaps less; of what a gap adds to that
_GATHERED = 2.0  # ... and where in a cell values gather is unknown
_NOT_GIVEN = 2.0  # of what is not given back: it is on one side
_HIDDEN = 0.3  # times the noise of a count: rows that are hidden by it, ...
_SIZES, _ONE_SIZE = 0.7, 0.9  # ... where some gather closer by; part of them that are no such
_AT_MOST = 2.0  # standard deviations of a count


@dataclass(frozen=True, eq=False)
class SideTail:
    """What clipping at some distances from the center takes off a mean, on one side.

    Attributes
    ----------
    reach : float64 array of shape (m,)
        The distances, in spreads.
    lost : float64 array of shape (m,)
        What is likely lost of the mean, in spreads.
    doubt : float64 array of shape (m,)
        Its variance.
    beyond : float64 array of shape (m,)
        Part of the rows that likely are farther out.
    mean, square : float
        What the rows on that side add to the mean distance, and to the mean squared one.
    guessed : float64 array of shape (m,)
        What those may take off a mean that are farther out than is likely.
    lost_square, doubt_square : float64 arrays of shape (m,)
        What is likely lost of the mean squared distance, and its variance.
    most : float64 array of shape (m,)
        Part of the rows that are farther out at most, as far as noise lets tell.
    doubtful : bool
        Whether rows that are together far out, or make the tail start much farther out, may well
        be noise.
    """

    reach: Floats
    lost: Floats
    doubt: Floats
    beyond: Floats
    mean: float
    square: float
    guessed: Floats
    lost_square: Floats
    doubt_square: Floats
    most: Floats
    doubtful: bool = False

    def within(self, room: float, *, least: float = 0.0) -> SideTail:
        """Return it with no distances farther than there is room, where nothing is lost.

        And with none nearer than the `least`.
        """
        inside = np.where(self.reach < room, 1.0, 0.0)
        return replace(
            self,
            reach=np.minimum(np.maximum(self.reach, least), max(room, least)),
            lost=inside * self.lost,
            doubt=inside * self.doubt,
            beyond=inside * self.beyond,
            guessed=inside * self.guessed,
            most=inside * self.most,
            lost_square=inside * self.lost_square,
            doubt_square=inside * self.doubt_square,
        )


def fit_tail(
    edges: Floats,
    counts: Floats,
    noise: float,
    rows: float,
    *,
    apart: float,
    rare: bool = False,
    again: bool = False,
) -> SideTail:
    """Return one side's tail, by noisy counts of the rows between `edges` and beyond them.

    About `apart` of the rows are not all at the center. Where these are `rare`, they may well be
    of a few sizes, which no curve fits, and hardly any left to tell how they go on: then cells are
    taken together, and tails end where all but one of their values likely do.
    """
    kept = None if rare else joined_cells(edges, counts, noise)
    if kept is None:
        return _fit_tail(edges, counts, noise, rows, apart=apart, rare=rare, again=again)
    joined = noise * math.sqrt(float(np.max(np.diff(kept))))
    values = np.add.reduceat(counts, kept)
    tail = _fit_tail(edges[kept], values, joined, rows, apart=apart, again=again, gaps=True)
    inside = np.searchsorted(edges, tail.reach[0])
    more = _moments(edges, counts, int(inside), rows)
    less = _moments(edges[kept], values, int(np.searchsorted(kept, inside)), rows)
    tail = replace(tail, mean=tail.mean + more[0] - less[0], square=tail.square + more[1] - less[1])
    return _before_gaps(tail, edges[1:][counts[:-1] > SURE * noise])


def _moments(edges: Floats, counts: Floats, inside: int, rows: float) -> tuple[float, float]:
    """Return what the rows between the first edges add to the mean distance and square."""
    middles = 0.5 * (edges[:inside] + edges[1 : inside + 1])
    each = np.maximum(counts[:inside], 0.0) / rows
    return float(each @ middles), float(each @ middles**2)


def _before_gaps(tail: SideTail, full: Floats) -> SideTail:
    """Return it with the ends of cells that are `full` in place of the middles of gaps.

    There is nothing in between.
    """
    before = np.searchsorted(full, tail.reach, side="right") - 1
    nearer = (before >= 0) & (np.diff(np.append(-1, before)) > 0)
    reach = np.where(nearer, full[np.maximum(before, 0)], tail.reach)
    more = (tail.reach - reach) * tail.beyond
    return replace(
        tail, reach=reach, lost=tail.lost + more, doubt=tail.doubt + (_UNEVEN * more) ** 2
    )


def _fit_tail(
    edges: Floats,
    counts: Floats,
    noise: float,
    rows: float,
    *,
    apart: float,
    rare: bool = False,
    again: bool = False,
    gaps: bool = False,
) -> SideTail:
    """Return one side's tail, whether or not values have `gaps` and their cells were joined."""
    found = likely_curves(edges, counts, noise, rows, apart=apart, rare=rare, again=again)
    start, reach, part = found.start, found.reach, found.part
    some = found.some if rare else np.ones_like(part)
    weight = found.weight * some
    farther, nothing = weight * part, 1.0 - float(weight.sum())
    seen = float(counts[start:].sum())
    gather = rare and found.lumpy
    endless = known = curves()
    if rare:
        known = curves_without(1.0 / max(seen, noise))
    wrong = _GATHERED if gather else _STEPS if gaps else _WRONG
    hidden = _SIZES if gather and seen < _ONE_SIZE * float(counts.sum()) else _HIDDEN
    # An interval ends at an edge: where in a cell its rows are is unknown, and all may be at one
    # place.
    at = edges[start:] / reach

    def likely(each: Floats) -> tuple[Floats, Floats, Floats]:
        """Return what is lost, by what that is for each curve, its variance, and what is left out.

        Heavy tails of rare rows are seldom right, but then wrong by much: so the usual error.
        """
        lost = farther @ each
        doubt = (weight * (part**2 + found.unsure**2)) @ each**2 - lost**2
        most = np.maximum(doubt, 0.0)
        if rare:
            unsure = found.unsure[:, np.newaxis] * each / USUAL
            off = np.hypot(part[:, np.newaxis] * each - lost, unsure)
            doubt = np.minimum((USUAL * (weight @ off + nothing * lost)) ** 2, most)
        doubt = np.maximum(doubt, 0.0)
        total = doubt + (wrong * lost) ** 2
        return (
            np.interp(at, REACH, lost),
            np.interp(at, REACH, total),
            np.interp(at, REACH, most - doubt),
        )

    lost, doubt, left_out = likely(reach * known.lost)
    lost_square, doubt_square, _ = likely(reach**2 * (known.square + 2.0 * REACH * known.lost))
    chance = np.interp(at, REACH, reach**2 / rows * (farther @ known.square))
    not_given = np.interp(at, REACH, reach * (farther @ (endless.lost - known.lost)))
    mean_inside, square_inside = _moments(edges, counts, start, rows)
    farthest = np.cumsum(counts[::-1])[::-1] + _AT_MOST * noise * np.sqrt(
        np.arange(counts.size, 0, -1)
    )
    square = reach**2 * (farther @ (1.0 + 2.0 * known.lost[:, 0] + known.square[:, 0]))
    return SideTail(
        reach=edges[start:],
        lost=lost,
        doubt=doubt + chance,
        beyond=farther @ survival(at),
        mean=mean_inside + float(reach * (farther @ (1.0 + known.lost[:, 0]))),
        square=square_inside + float(square),
        guessed=hidden * noise / rows * edges[start:] + _NOT_GIVEN * not_given + np.sqrt(left_out),
        lost_square=lost_square,
        doubt_square=doubt_square,
        most=np.maximum(farthest[start:], 0.0) / rows,
        doubtful=found.doubtful,
    )
