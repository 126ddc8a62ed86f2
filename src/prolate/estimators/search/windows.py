"""Where histograms of equal cells look for each column's bulk, and how these looks begin."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Bools, Floats, Integers, Limits
from prolate.estimators.search.magnitudes import TINY
from prolate.queries import LinearGrid

__all__ = ["AT_BOUND", "BITS", "Start", "Windows"]

AT_BOUND = 2.0**-40
"""Part of a first window's half that is left to values at a bound."""

BITS = 27
"""Of zoom, in usual looks: centers up to a few million spreads away are found."""


@dataclass(frozen=True, eq=False)
class Start:
    """Where the looks begin.

    Attributes
    ----------
    lower, upper : float64 arrays of shape (d,)
        The first windows.
    bounds : pair of float64 arrays of shape (d,)
        Public bounds, infinite where there are none.
    widest : pair of float64 arrays of shape (d,), optional
        Windows for columns whose first does not hold the bulk; the first by default.
    """

    lower: Floats
    upper: Floats
    bounds: Limits
    widest: Limits | None = None

    @property
    def bounded(self) -> Bools:
        """Whether no value is below, or above: of shape (d, 2)."""
        return np.stack([self.lower == self.bounds[0], self.upper == self.bounds[1]], axis=1)

    def nearer(self, most: Floats) -> Start:
        """Return that of windows which end at most so far from 0; these are then the widest."""
        lower, upper = np.maximum(self.lower, -most), np.minimum(self.upper, most)
        return replace(self, lower=lower, upper=upper, widest=(self.lower, self.upper))

    def of(self, index: Integers) -> Start:
        """Return that of some columns."""
        low, high = self.bounds
        first, last = self.widest or (self.lower, self.upper)
        widest = first[index], last[index]
        return Start(self.lower[index], self.upper[index], (low[index], high[index]), widest)


class Windows:
    """The columns' windows, and what was seen in them.

    Parameters
    ----------
    start : Start
    rows : float
        Number of rows, or a private estimate of it.

    Attributes
    ----------
    center, half : float64 arrays of shape (d,)
        The windows are center -+ half.
    narrow : bool array of shape (d,)
        Whether the bulk is a single value, as far as was seen.
    done : bool array of shape (d,)
        Which columns need no further look.
    """

    def __init__(self, start: Start, rows: float) -> None:
        lower, upper = start.lower, start.upper
        self._rows, self._bounded = max(rows, 1.0), start.bounded
        self.center = 0.5 * lower + 0.5 * upper
        self.half = np.maximum(0.5 * upper - 0.5 * lower, TINY)
        self.narrow = self.half <= 4.0 * TINY
        self.done = self.narrow.copy()
        self.half = np.where(self._bounded.any(axis=1), (1.0 - AT_BOUND) * self.half, self.half)

    @property
    def least_spread(self) -> Floats:
        """How spread a column is at least, by the rows that were seen outside its windows."""
        return np.zeros(self.center.size)

    def grid(self, index: Integers, cells: int) -> LinearGrid:
        """Return the cells of the windows of some columns."""
        low = (self.center - self.half)[index]
        return LinearGrid(low, (self.half / (cells / 2))[index], cells)
