"""How the values of each column spread over a public grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.budget import Neighbors
from prolate.neighbors import rows_changed
from prolate.queries import sparse
from prolate.queries.base import Query
from prolate.queries.grids import EdgesGrid, Grid
from prolate.sources.sparse_rows import SparseRows

__all__ = ["Histogram"]


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
    def in_place(self) -> bool:
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
        return rows_changed(neighbors) * self.columns

    def add(self, rows: Floats, total: Integers) -> None:
        """Count the rows of a tile."""
        found = self._cells(total)
        self.grid.add(rows, found)
        self._finish(found, len(rows), total)

    def add_columns(self, rows: Floats, index: Integers, total: Integers) -> bool:
        """Count the columns `index` of a tile, if that is quicker than to copy them."""
        if not isinstance(self.grid, EdgesGrid):
            return False
        found = self._cells(total)
        self.grid.add(rows, found, index)
        self._finish(found, len(rows), total)
        return True

    def add_sparse(self, rows: SparseRows, total: Integers) -> bool:
        """Count the rows."""
        found = self._cells(total)
        sparse.tally(rows, self.grid.cell, found)
        self._finish(found, rows.shape[0], total)
        return True

    def add_chosen(self, rows: SparseRows, index: Integers, total: Integers) -> bool:
        """Count the columns `index`, some of which may come several times."""
        found = self._cells(total)
        left = np.arange(index.size)
        while left.size:  # one histogram of every column, then the second ones, ...
            _, place = np.unique(index[left], return_index=True)
            which = np.full(rows.shape[1], -1)
            which[index[left[place]]] = left[place]
            sparse.tally(rows, partial(_cell_of, self.grid, which), found, which)
            left = np.delete(left, place)
        self._finish(found, rows.shape[0], total)
        return True

    def _cells(self, total: Integers) -> Integers:
        """Return where values that are there are counted."""
        if self.missing:
            return np.zeros((self.grid.columns, self.grid.size), dtype=np.int64)
        return total.reshape(self.shape)

    def _finish(self, found: Integers, rows: int, total: Integers) -> None:
        """Add what was counted: of so many rows, those that are in no cell are missing."""
        if self.missing:
            table = total.reshape(self.shape)
            table[:, :-1] += found
            table[:, -1] += rows - found.sum(axis=1)

    def describe(self) -> str:
        """Return one line for the receipt."""
        missing = ", and missing values" if self.missing else ""
        return f"histogram: {self.grid.describe()}{missing}"


def _cell_of(grid: Grid, which: Integers, values: Floats, columns: Integers) -> Integers:
    return grid.cell(values, which[columns])
