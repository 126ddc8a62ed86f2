"""How the values of each column spread over a public grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from prolate.budget import Neighbors
from prolate.errors import InputError
from prolate.queries import kernels, sparse
from prolate.queries.base import Query, check_shift, check_vectors
from prolate.queries.grids import Grid
from prolate.sources.sparse_rows import SparseRows

__all__ = ["Histogram", "KeyHistogram"]


@dataclass(frozen=True, eq=False)
class Histogram(Query):
    """One histogram per column; a value that is not finite is in no cell.

    The vector is the histograms one after the other; `shape` is (d, cells). With `missing`, each
    has one cell more, the last, for values that are not finite.

    Sensitivity. In each column a row adds 1 to at most one cell. Replacing a row lowers
    at most one cell per column by 1 and raises at most one by 1: the squared distance is
    at most 2 per column, 2 d in all. Adding or removing a row changes at most one cell
    per column by 1: d. Neither depends on the number of cells.
    """

    grid: Grid
    missing: bool = False

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.grid.columns

    @property
    def any_layout(self) -> bool:
        """True."""
        return True

    @property
    def shape(self) -> tuple[int, int]:
        """(d, cells)."""
        return self.grid.columns, self.grid.size + self.missing

    @property
    def size(self) -> int:
        """Number of cells in all."""
        return self.grid.columns * (self.grid.size + self.missing)

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """2 d for replace, d for add-remove."""
        return (2 if neighbors == "replace" else 1) * self.columns

    def add(self, rows: NDArray[np.float64], total: NDArray[np.int64]) -> None:
        """Count the rows of a tile."""
        found = self._cells(total)
        self.grid.add(rows, found)
        self._finish(found, len(rows), total)

    def add_sparse(self, rows: SparseRows, total: NDArray[np.int64]) -> bool:
        """Count the rows."""
        found = self._cells(total)
        sparse.tally(rows, self.grid.cell, found)
        self._finish(found, rows.shape[0], total)
        return True

    def _cells(self, total: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where values that are there are counted."""
        if self.missing:
            return np.zeros((self.grid.columns, self.grid.size), dtype=np.int64)
        return total.reshape(self.shape)

    def _finish(self, found: NDArray[np.int64], rows: int, total: NDArray[np.int64]) -> None:
        """Add what was counted: of so many rows, those that are in no cell are missing."""
        if self.missing:
            table = total.reshape(self.shape)
            table[:, :-1] += found
            table[:, -1] += rows - found.sum(axis=1)

    def describe(self) -> str:
        """Return one line for the receipt."""
        missing = ", and missing values" if self.missing else ""
        return f"histogram: {self.grid.describe()}{missing}"


@dataclass(frozen=True, eq=False)
class KeyHistogram(Query):
    """Histograms over stretches of the float format's own order, several per column.

    The key of a double is its bit pattern as a signed integer, negated below zero: an
    integer that grows with the number. Histogram k looks at column index_k; its inner
    cells are the keys with ``key >> shift`` from first_k to first_k + cells - 1, and one
    outer cell on either side takes the rest. A value that is not finite is in no cell.

    Sensitivity. A row adds 1 to at most one cell of each of the K histograms: 2 K for
    replace, K for add-remove, as for `Histogram`.
    """

    dimension: int
    index: NDArray[np.int64]
    first: NDArray[np.int64]
    cells: int
    shift: int

    def __post_init__(self) -> None:
        """Check that every histogram looks at a column that there is."""
        check_vectors(self.index.size, index=self.index, first=self.first)
        check_shift(self.shift)
        if np.any(self.index < 0) or np.any(self.index >= self.dimension):
            raise InputError(f"index must be columns between 0 and {self.dimension - 1}.")

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.dimension

    @property
    def shape(self) -> tuple[int, int]:
        """(K, cells + 2)."""
        return self.index.size, self.cells + 2

    @property
    def size(self) -> int:
        """Number of cells in all."""
        return self.index.size * (self.cells + 2)

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """2 K for replace, K for add-remove."""
        return (2 if neighbors == "replace" else 1) * self.index.size

    def add(self, rows: NDArray[np.float64], total: NDArray[np.int64]) -> None:
        """Count the rows of a tile."""
        kernels.key_histogram(rows, self.index, self.first, self.shift, total.reshape(self.shape))

    def add_sparse(self, rows: SparseRows, total: NDArray[np.int64]) -> bool:
        """Count the rows: one histogram of every column, then the second ones, ..."""
        histograms = total.reshape(self.shape)
        left = np.arange(self.index.size)
        while left.size:
            _, place = np.unique(self.index[left], return_index=True)
            which = np.full(self.dimension, -1)
            which[self.index[left[place]]] = left[place]
            sparse.tally(rows, partial(self._cell, self.first[which]), histograms, which)
            left = np.delete(left, place)
        return True

    def _cell(
        self, first: NDArray[np.int64], values: NDArray[np.float64], columns: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        patterns = values.view(np.int64)
        keys = np.where(patterns >= 0, patterns, -(patterns & np.int64(2**63 - 1)))
        return np.asarray(np.clip((keys >> self.shift) - first[columns], -1, self.cells) + 1)

    def edges(self, histogram: int) -> NDArray[np.float64]:
        """Return the cells + 1 edges of the inner cells, finite."""
        keys = (self.first[histogram] + np.arange(self.cells + 1)).astype(object) << self.shift
        limit = int(np.array(np.finfo(np.float64).max).view(np.int64))
        inside = np.array([min(max(key, -limit), limit) for key in keys], dtype=np.int64)
        return np.copysign(np.abs(inside).view(np.float64), inside)

    def describe(self) -> str:
        """Return one line for the receipt."""
        return (
            f"{self.index.size} histograms of {self.cells} cells and two outer ones, "
            f"2**{self.shift} floating-point numbers a cell"
        )
