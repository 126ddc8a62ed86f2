"""Public grids: which cell of a histogram a number falls into.

A grid maps a float to one cell, or to none if it is not finite. It is made of public
numbers only: of arguments, of the float format itself, or of earlier releases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.errors import InputError
from prolate.parallel import computed_once
from prolate.queries import kernels
from prolate.queries.base import check_shift, check_vectors

__all__ = ["EdgesGrid", "Grid", "LinearGrid", "MagnitudeGrid"]


@dataclass(frozen=True, eq=False)
class LinearGrid:
    """`cells` equal cells of width_j from low_j, and one cell on either side of them.

    Cell 0 is everything below low_j; cells 1 to `cells` are
    [low_j + (k - 1) width_j, low_j + k width_j); cell `cells` + 1 is the rest. To within
    rounding: the cell is the whole part of (x - low_j) (1 / width_j) + 1, as doubles have it.
    """

    low: Floats
    width: Floats
    cells: int

    def __post_init__(self) -> None:
        """Check the vectors' shapes."""
        check_vectors(self.low.size, low=self.low, width=self.width)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.low.size

    @property
    def size(self) -> int:
        """Cells per column, the two outer ones included."""
        return self.cells + 2

    def add(self, rows: Floats, total: Integers) -> None:
        """Count the rows of a tile into `total`, shape (d, size)."""
        kernels.linear_histogram(rows, self.low, self._per_unit, total)

    def cell(self, values: Floats, columns: Integers) -> Integers:
        """Return the cell of each finite value, given its column."""
        with np.errstate(all="ignore"):
            place = (values - self.low[columns]) * self._per_unit[columns] + 1.0
        place = np.minimum(np.fmax(place, 0.0), self.cells + 1.0)  # 0 for no number
        return np.asarray(place.astype(np.int64))

    @computed_once
    def _per_unit(self) -> Floats:
        with np.errstate(all="ignore"):
            return np.asarray(1.0 / self.width)

    def describe(self) -> str:
        """Return one line for the receipt."""
        return f"{self.cells} equal cells and two outer ones, per column"


@dataclass(frozen=True, eq=False)
class MagnitudeGrid:
    """Cells of |x_j - center_j| at the float format's own exponents.

    A positive double's bit pattern grows with its value, so ``bits >> shift`` is a
    cell number: shift = 52 gives octaves [2**e, 2**(e + 1)); 52 + s groups of 2**s
    octaves; 51 halves of octaves (cut at 1.5 * 2**e). No bound on the data is needed.
    Cell k of column j is pattern ``first_j + k``, with everything smaller in cell 0 and
    everything larger in the last.
    """

    center: Floats
    first: Integers
    cells: int
    shift: int

    def __post_init__(self) -> None:
        """Check the vectors' shapes."""
        check_vectors(self.center.size, center=self.center, first=self.first)
        check_shift(self.shift)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.center.size

    @property
    def size(self) -> int:
        """Cells per column."""
        return self.cells

    def add(self, rows: Floats, total: Integers) -> None:
        """Count the rows of a tile into `total`, shape (d, size)."""
        kernels.magnitude_histogram(rows, self.center, self.first, self.shift, total)

    def cell(self, values: Floats, columns: Integers) -> Integers:
        """Return the cell of each finite value, given its column."""
        with np.errstate(all="ignore"):
            magnitude = np.abs(values - self.center[columns])
        cell = (magnitude.view(np.int64) >> self.shift) - self.first[columns]
        return np.asarray(np.clip(cell, 0, self.cells - 1))

    def edges(self, column: int) -> Floats:
        """Return the cells + 1 edges of a column; the first is 0, the last may be inf."""
        # Python's integers: the pattern past the last cell may be 2**63.
        patterns = (self.first[column] + np.arange(self.cells + 1)).astype(object) << self.shift
        inside = [min(max(pattern, 0), _INFINITY_BITS) for pattern in patterns]
        edges: Floats = np.array(inside, dtype=np.int64).view(np.float64)
        edges[0] = 0.0
        return edges

    def describe(self) -> str:
        """Return one line for the receipt."""
        octaves = math.ldexp(1.0, self.shift - 52)
        return f"{self.cells} cells of {octaves:g} octaves of |x - center|, per column"


@dataclass(frozen=True, eq=False)
class EdgesGrid:
    """Cells between any edges, which rise along the rows of `edge`, of shape (d, m).

    Cell 0 is everything below edge_j0, cell k is [edge_j(k-1), edge_jk), cell m the rest.
    """

    edge: Floats

    def __post_init__(self) -> None:
        """Check that the edges rise."""
        if self.edge.ndim != 2 or not np.all(self.edge[:, 1:] >= self.edge[:, :-1]):
            raise InputError("edge must be an array of shape (d, m) whose rows rise.")

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.edge.shape[0])

    @property
    def size(self) -> int:
        """Cells per column, the two outer ones included."""
        return int(self.edge.shape[1]) + 1

    def add(
        self,
        rows: Floats,
        total: Integers,
        index: Integers | None = None,
    ) -> None:
        """Count the rows of a tile, or their columns `index`, into `total`, shape (d, size)."""
        every = np.arange(self.columns) if index is None else index
        kernels.edge_histogram(rows, self.edge, every, total)

    def cell(self, values: Floats, columns: Integers) -> Integers:
        """Return the cell of each finite value, given its column."""
        found = np.zeros(values.size, dtype=np.int64)
        most = self.size - 1
        for step in (1 << bit for bit in reversed(range(most.bit_length()))):
            farther = np.minimum(found + step, most)
            reached = self.edge[columns, np.maximum(farther - 1, 0)] <= values
            found = np.where(reached & (found + step <= most), farther, found)
        return found

    def describe(self) -> str:
        """Return one line for the receipt."""
        return f"{self.size} cells between edges of its own, per column"


Grid = LinearGrid | MagnitudeGrid | EdgesGrid

_INFINITY_BITS = int(np.array(np.inf).view(np.int64))
