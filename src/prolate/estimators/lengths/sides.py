"""What clipping takes from one side of a column, by noisy counts of the rows there.

A histogram shows how many rows are beyond each distance, but noise hides the farthest. So each
tail is taken to go on as one of many curves (`curves.py`), some of which the counts make likelier
than others. Averaged over these, what clipping takes off the mean is known as an expectation,
which is given back, and a doubt.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Measurement, Measurer
from prolate.estimators.lengths.curves import (
    REACH,
    curves,
    curves_without,
    likely_curves,
    survival,
)
from prolate.estimators.shares import one_row_noise, share_for
from prolate.queries import EdgesGrid, Histogram

__all__ = [
    "EDGES",
    "USUAL",
    "SideTail",
    "counted_again",
    "few_share",
    "fit_tail",
    "is_precise",
    "measure_sides",
    "sides_share",
]

Floats = NDArray[np.float64]

_NEAR = np.arange(9) / 4.0
_FAR = np.array(
    [2.35, 2.8, 3.3, 4, 4.8, 5.8, 7, 8.4, 10, 12, 14.4, 17, 21, 25, 30, 43, 60, 85, 120, 170, 240]
)
EDGES = np.concatenate([_NEAR, _FAR])
"""Distances from the center, in spreads, between which values are counted."""

USUAL = 1.25
"""Standard deviations, over mean absolute ones, of normal errors."""

_SHARE, _LEAST_SHARE = (0.003, 0.35), 0.1  # wanted noise, over the rows, and largest share
_ALMOST = 0.5  # times the noise of a count: twice what is wanted still shows a tail
_SHARE_OF_FEW = (0.04, 0.45)  # the same, of the rows apart, where they are few
_WRONG = 0.5  # of what is lost: no tail is quite such a curve, ...
_GATHERED = 2.0  # ... and where in a cell values gather is unknown
_CELLS = 2, 4  # that are taken together where values of rare rows gather
_NOT_GIVEN = 2.0  # of what is not given back: it is on one side
_HIDDEN = 0.3  # times the noise of a count: rows that are hidden by it, ...
_TWICE = 2.0  # the share of a second count, over that of the first
_AT_MOST = 2.0  # standard deviations of a count
_SIZES, _ONE_SIZE = 0.7, 0.9  # ... where some gather closer by; part of them that are no such


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


def measure_sides(
    curator: Measurer,
    center: Floats,
    spread: Floats,
    rows: float,
    *,
    share: float,
    most: float = 0.0,
    far: Callable[[SideTail, SideTail], bool] | None = None,
) -> tuple[SideTail, SideTail]:
    """Return the tails of both sides of a single column, below its center and above it.

    Where rows that are together far out may well be noise, all are counted again, for twice the
    share or `most`; and where tails are `far`.

    Parameters
    ----------
    curator : Measurer
        Of one column.
    center, spread : float64 arrays of shape (1,)
    rows : float
        How many the curator has.
    share : float
        Of mu**2, for a histogram of distances from the center.
    most : float
        What a second count may cost; 0 for none.
    far : callable, optional
        Returns whether noise that makes tails seem so heavy would be dear.
    """
    both = np.concatenate([-EDGES[:0:-1], EDGES])
    grid = EdgesGrid(center[:, np.newaxis] + spread[:, np.newaxis] * both)

    def tails(counts: Floats, noise: float, *, again: bool) -> tuple[SideTail, SideTail]:
        below, above = counts[: EDGES.size][::-1], counts[EDGES.size :]
        low, high = (
            fit_tail(EDGES, each, noise, rows, apart=rows, again=again) for each in (below, above)
        )
        return low, high

    sides = curator.measure(Histogram(grid), share=share, label="sides")
    low, high = tails(sides.values, sides.std, again=False)
    if most > 0.0 and (low.doubtful or high.doubtful or (far is not None and far(low, high))):
        low, high = tails(*counted_again(curator, grid, sides, share=share, most=most), again=True)
    return low, high


def counted_again(
    curator: Measurer, grid: EdgesGrid, sides: Measurement, *, share: float, most: float
) -> tuple[Floats, float]:
    """Return counts that were measured again, and their noise: averages of both counts.

    For twice the first one's share, or `most`.
    """
    share = min(_TWICE * share, most)
    again = curator.measure(Histogram(grid), share=share, label="sides")
    first = again.std**2 / (sides.std**2 + again.std**2)
    counts = first * sides.values + (1.0 - first) * again.values
    return counts, float(np.hypot(first * sides.std, (1.0 - first) * again.std))


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
    cells = _CELLS if rare else ()
    found = likely_curves(edges, counts, noise, rows, apart=apart, together=cells, again=again)
    start, reach, part = found.start, found.reach, found.part
    some = found.some if rare else np.ones_like(part)
    weight = found.weight * some
    farther, nothing = weight * part, 1.0 - float(weight.sum())
    seen = float(counts[start:].sum())
    gather = rare and found.lumpy
    endless = known = curves()
    if rare:
        known = curves_without(1.0 / max(seen, noise))
    wrong = _GATHERED if gather else _WRONG
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
    middles, inside = 0.5 * (edges[:start] + edges[1 : start + 1]), np.maximum(counts[:start], 0.0)
    farthest = np.cumsum(counts[::-1])[::-1] + _AT_MOST * noise * np.sqrt(
        np.arange(counts.size, 0, -1)
    )
    square = reach**2 * (farther @ (1.0 + 2.0 * known.lost[:, 0] + known.square[:, 0]))
    return SideTail(
        reach=edges[start:],
        lost=lost,
        doubt=doubt + chance,
        beyond=farther @ survival(at),
        mean=float(inside @ middles / rows + reach * (farther @ (1.0 + known.lost[:, 0]))),
        square=float(inside @ middles**2 / rows + square),
        guessed=hidden * noise / rows * edges[start:] + _NOT_GIVEN * not_given + np.sqrt(left_out),
        lost_square=lost_square,
        doubt_square=doubt_square,
        most=np.maximum(farthest[start:], 0.0) / rows,
        doubtful=found.doubtful,
    )


def sides_share(curator: Measurer, rows: float, share: float) -> float:
    """Return the part of a share of mu**2 for a histogram of both sides of one column."""
    return max(share_for(one_row_noise(curator, rows, share), *_SHARE), _LEAST_SHARE)


def few_share(curator: Measurer, apart: float) -> float:
    """Return the part of what is left for both sides of a column of which few rows are apart."""
    noise = one_row_noise(curator, apart, curator.remaining)
    return max(share_for(noise, *_SHARE_OF_FEW), _LEAST_SHARE)


def is_precise(curator: Measurer, rows: float, share: float) -> bool:
    """Return whether a share can count the sides half as precisely as `sides_share` wants."""
    wanted, most = _SHARE
    return _ALMOST * one_row_noise(curator, rows, share) <= wanted * math.sqrt(most)
