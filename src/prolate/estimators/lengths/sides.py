"""Noisy counts of the rows on both sides of a column's center, and the tails that they show."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurement, Measurer
from prolate.estimators.lengths.one_column import ANYWHERE, OneColumn, Rooms
from prolate.estimators.lengths.side_tail import SideTail, fit_tail
from prolate.estimators.shares import one_row_noise, part_for
from prolate.queries import EdgesGrid, Histogram

__all__ = [
    "EDGES",
    "SEEN_WITHIN",
    "Sides",
    "both_sides",
    "counted_again",
    "few_part",
    "is_precise",
    "measure_sides",
    "sides_grid",
    "sides_part",
]

Sides = tuple[SideTail, SideTail]

_NEAR = np.arange(9) / 4.0
_FAR = np.array(
    [2.35, 2.8, 3.3, 4, 4.8, 5.8, 7, 8.4, 10, 12, 14.4, 17, 21, 25, 30, 43, 60, 85, 120, 170, 240]
)
EDGES = np.concatenate([_NEAR, _FAR])
"""Distances from the center, in spreads, between which values are counted."""

SEEN_WITHIN = 120.0
"""Spreads: of values that are surely farther out, these edges see too little."""

_SHARE, _LEAST_SHARE = (0.003, 0.35), 0.1  # wanted noise, over the rows, and largest share
_ALMOST = 0.5  # times the noise of a count: twice what is wanted still shows a tail
_SHARE_OF_FEW = (0.04, 0.45)  # the same, of the rows apart, where they are few
_WORTH = 0.2  # of a share: what is left of it buys another count
_TWICE = 2.0  # the share of a second count, over that of the first


def sides_grid(center: Floats, spread: Floats) -> EdgesGrid:
    """Return the cells on both sides of some columns' centers."""
    both = np.concatenate([-EDGES[:0:-1], EDGES])
    return EdgesGrid(center[:, np.newaxis] + spread[:, np.newaxis] * both)


def both_sides(
    counts: Floats, noise: float, rows: float, *, rooms: Rooms = ANYWHERE, again: bool = False
) -> Sides:
    """Return the tails below and above a center, by the counts of one column's cells.

    No farther than there is room.
    """
    below, above = counts[: EDGES.size][::-1], counts[EDGES.size :]
    low, high = (
        fit_tail(EDGES, each, noise, rows, apart=rows, again=again) for each in (below, above)
    )
    return low.within(rooms[0]), high.within(rooms[1])


def measure_sides(
    column: OneColumn,
    *,
    share: float,
    most: float = 0.0,
    far: Callable[[Sides], bool] | None = None,
    known: Measurement | None = None,
) -> Sides:
    """Return the tails of both sides of a single column, below its center and above it.

    Where rows that are together far out may well be noise, all are counted again, for twice the
    share or `most`; and where tails are `far`.

    Parameters
    ----------
    column : OneColumn
    share : float
        Of mu**2, for a histogram of distances from the center.
    most : float
        What a second count may cost; 0 for none.
    far : callable, optional
        Returns whether noise that makes tails seem so heavy would be dear.
    known : Measurement, optional
        Counts of the same cells, which were paid already: of the share, the rest is left.
    """
    grid = sides_grid(column.center, column.spread)
    if known is None:
        counts, noise = _counted(column.curator, grid, share)
    else:
        counts, noise = known.values, known.std
        more = share - known.share
        if more > _WORTH * share:
            counts, noise = _averaged(counts, noise, *_counted(column.curator, grid, more))
    sides = both_sides(counts, noise, column.rows, rooms=column.rooms)
    doubtful = sides[0].doubtful or sides[1].doubtful
    if most > 0.0 and (doubtful or (far is not None and far(sides))):
        both = counted_again(column.curator, grid, counts, noise, share=share, most=most)
        sides = both_sides(*both, column.rows, rooms=column.rooms, again=True)
    return sides


def counted_again(
    curator: Measurer, grid: EdgesGrid, counts: Floats, noise: float, *, share: float, most: float
) -> tuple[Floats, float]:
    """Return counts that were measured again, and their noise: averages of both counts.

    For twice the first one's share, or `most`.
    """
    return _averaged(counts, noise, *_counted(curator, grid, min(_TWICE * share, most)))


def _counted(curator: Measurer, grid: EdgesGrid, share: float) -> tuple[Floats, float]:
    """Return the counts of cells on both sides, and their noise."""
    sides = curator.measure(Histogram(grid), share=share, label="sides")
    return sides.values, sides.std


def _averaged(counts: Floats, noise: float, more: Floats, std: float) -> tuple[Floats, float]:
    """Return the average of counts and those of a second measurement, and its noise."""
    first = std**2 / (noise**2 + std**2)
    counts = first * counts + (1.0 - first) * more
    return counts, float(np.hypot(first * noise, (1.0 - first) * std))


def sides_part(curator: Measurer, rows: float, share: float) -> float:
    """Return the part of a share of mu**2 for a histogram of both sides of one column."""
    return max(part_for(one_row_noise(curator, rows, share), *_SHARE), _LEAST_SHARE)


def few_part(curator: Measurer, apart: float) -> float:
    """Return the part of what is left for both sides of a column of which few rows are apart."""
    noise = one_row_noise(curator, apart, curator.remaining)
    return max(part_for(noise, *_SHARE_OF_FEW), _LEAST_SHARE)


def is_precise(curator: Measurer, rows: float, share: float) -> bool:
    """Return whether a share can count the sides half as precisely as `sides_part` wants."""
    wanted, most = _SHARE
    return _ALMOST * one_row_noise(curator, rows, share) <= wanted * math.sqrt(most)
