"""Where histograms of equal cells look for each column's bulk, and how these looks begin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prolate.estimators.search.magnitudes import TINY
from prolate.queries import LinearGrid

__all__ = ["AT_BOUND", "BITS", "Windows"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]

AT_BOUND = 2.0**-40
"""Part of a first window's half that is left to values at a bound."""

BITS = 27
"""Of zoom, in usual looks: centers up to a few million spreads away are found."""


class Windows:
    """The columns' windows, and what was seen in them.

    Parameters
    ----------
    lower, upper : float64 arrays of shape (d,)
        The first windows.
    rows : float
        Number of rows, or a private estimate of it.
    bounded : pair of bool arrays of shape (d,)
        Whether no value is below, or above.

    Attributes
    ----------
    center, half : float64 arrays of shape (d,)
        The windows are center -+ half.
    narrow : bool array of shape (d,)
        Whether the bulk is a single value, as far as was seen.
    done : bool array of shape (d,)
        Which columns need no further look.
    """

    def __init__(
        self, lower: Floats, upper: Floats, rows: float, *, bounded: tuple[Bools, Bools]
    ) -> None:
        self._rows, self._bounded = max(rows, 1.0), np.stack(bounded, axis=1)
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
