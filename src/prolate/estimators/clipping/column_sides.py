"""Noisy counts of both sides of several columns, and what they tell of each."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Bools, Floats, Integers
from prolate.curator import Measurer
from prolate.estimators.columns import SomeColumns
from prolate.estimators.lengths.one_column import Rooms, rooms_within
from prolate.estimators.lengths.sides import (
    EDGES,
    SEEN_WITHIN,
    Sides,
    both_sides,
    sides_grid,
)
from prolate.estimators.search.shape import Shape
from prolate.queries import Histogram

__all__ = ["ColumnSides", "measure_column_sides"]

_LABEL = "sides of columns"
_CLEARLY = 4.0  # standard deviations of the counts beyond
_DIFFER, _ROUGH = 4.0, 0.1  # deviations of a sum of squares; part of a count by which it may be off
_LEAST = 1e-3  # mean square, in squared spreads


@dataclass(frozen=True, eq=False)
class ColumnSides:
    """What was counted on both sides of some columns' centers.

    Attributes
    ----------
    shape : Shape
    index : int64 array of shape (k,)
        Which of its columns.
    rows : float
        How many were searched.
    counts : float64 array of shape (k, m)
        Of the cells of `sides_grid`.
    noise : float64 array of shape (k,)
        Of these.
    tails : tuple of k pairs of SideTail
        Below the centers and above them, no farther than public bounds.
    """

    shape: Shape
    index: Integers
    rows: float
    counts: Floats
    noise: Floats
    tails: tuple[Sides, ...]

    @property
    def doubtful(self) -> Bools:
        """Whether rows that seem to be far out may well be noise."""
        return np.array([low.doubtful or high.doubtful for low, high in self.tails], dtype=np.bool_)

    @property
    def too_far(self) -> Bools:
        """Whether clearly some rows are where cells say little: the bulk is no measure of those."""
        beyond = np.count_nonzero(EDGES >= SEEN_WITHIN)
        counts = self.counts[:, :beyond].sum(axis=1) + self.counts[:, -beyond:].sum(axis=1)
        return np.asarray(counts > _CLEARLY * self.noise * np.sqrt(2.0 * beyond))

    def again(self, which: Bools, *, share: float) -> ColumnSides:
        """Return it with some of the columns counted again, for a share of mu**2."""
        if not which.any():
            return self
        more, noise = _counted(self.shape, self.index[which], share)
        first = noise**2 / (noise**2 + self.noise[which] ** 2)
        counts, both = self.counts.copy(), self.noise.copy()
        counts[which] += (1.0 - first)[:, np.newaxis] * (more - counts[which])
        both[which] *= np.sqrt(first)
        tails = list(self.tails)
        for i in np.flatnonzero(which).tolist():
            rooms = _rooms(self.shape, int(self.index[i]))
            tails[i] = both_sides(counts[i], float(both[i]), self.rows, rooms=rooms, again=True)
        return replace(self, counts=counts, noise=both, tails=tuple(tails))

    def moments(self, left: Floats, right: Floats) -> tuple[Floats, Floats]:
        """Return the mean squares around the centers, in squared spreads, and the kurtoses.

        Of values that are clipped so many spreads below the centers and above them.
        """
        square, fourth = np.zeros((2, self.index.size))
        for i, sides in enumerate(self.tails):
            counts = self.counts[i, : EDGES.size][::-1], self.counts[i, EDGES.size :]
            for each, tail, end in zip(counts, sides, (left[i], right[i]), strict=True):
                start = int(np.searchsorted(EDGES, min(tail.reach[0], end)))
                middles = 0.5 * (EDGES[:start] + EDGES[1 : start + 1])
                inside = np.maximum(each[:start], 0.0) / self.rows
                reach = np.minimum(tail.reach, end)
                beyond = 0.5 * (tail.beyond[1:] + tail.beyond[:-1])
                for total, power in ((square, 2), (fourth, 4)):  # beyond the start, by parts
                    total[i] += float(inside @ middles**power)
                    total[i] += float(tail.beyond[0]) * reach[0] ** power
                    total[i] += float(beyond @ np.diff(reach**power))
        square = np.maximum(square, _LEAST)
        return square, np.maximum(fourth / square**2, 1.0)


def measure_column_sides(shape: Shape, index: Integers, *, share: float) -> ColumnSides | None:
    """Return what is counted on both sides of some columns, for a share of mu**2.

    None if noise may be all that they differ by.

    Parameters
    ----------
    shape : Shape
        Whose sample is asked.
    index : int64 array of shape (k,)
    share : float
    """
    counts, noise = _counted(shape, index, share)
    rows = shape.searched
    if index.size == shape.spread.size and _are_alike(counts, noise):
        return None
    tails = tuple(
        both_sides(counts[i], float(noise[i]), rows, rooms=_rooms(shape, j))
        for i, j in enumerate(index.tolist())
    )
    return ColumnSides(shape, index, rows, counts, noise, tails)


def _are_alike(counts: Floats, noise: Floats) -> bool:
    """Return whether noise explains how the columns' counts differ, and that rows are drawn.

    And that centers and spreads are rough.
    """
    usual, k = np.maximum(np.mean(counts, axis=0), 0.0), len(counts)
    variance = noise[:, np.newaxis] ** 2 + usual + (_ROUGH * usual) ** 2
    variance *= 1.0 - 1.0 / k
    square, cells = np.sum((counts - usual) ** 2 / variance, axis=1), counts.shape[1]
    return bool(np.max(square) < cells + _DIFFER * np.sqrt(2.0 * cells))


def _counted(shape: Shape, index: Integers, share: float) -> tuple[Floats, Floats]:
    """Return noisy counts of some columns, (k, cells), and the noise of each column's."""
    sample = shape.sample
    view: Measurer = sample
    if index.size < shape.spread.size:
        view = SomeColumns(sample, index)
    query = Histogram(sides_grid(shape.center[index], shape.spread[index]))
    found = view.measure(query, share=share, label=_LABEL)
    values = found.values.reshape(index.size, -1)
    noise = np.broadcast_to(found.noise, found.values.shape).reshape(values.shape)
    return values.copy(), noise[:, 0].copy()


def _rooms(shape: Shape, column: int) -> Rooms:
    return rooms_within(shape.sample.bounds, shape.center, shape.spread, column)
