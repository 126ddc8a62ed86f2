"""How large the values of all columns together are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.budget import Neighbors
from prolate.neighbors import rows_changed
from prolate.queries import kernels, sparse
from prolate.queries.base import Query
from prolate.queries.grids import MagnitudeGrid
from prolate.sources.sparse_rows import SparseRows

__all__ = ["PooledHistogram"]


@dataclass(frozen=True, eq=False)
class PooledHistogram(Query):
    """One histogram of |x_j - center_j| over the rows and columns together.

    The grid must be the same for all columns. A value that is not finite is in no cell.

    Sensitivity. A row adds a vector c of counts, at least 0, that add up to at most d; so
    |c|_2 <= |c|_1 <= d. Adding or removing a row changes the sum by c: d**2. Replacing it
    changes the sum by c - c', and |c - c'|**2 <= |c|**2 + |c'|**2, for no product of counts is
    negative: 2 d**2.

    The noise of each cell is d times that of a histogram of a single column, and so are
    the counts: what most columns have in common stands out as in one column.
    """

    grid: MagnitudeGrid

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
    def size(self) -> int:
        """Number of cells."""
        return self.grid.size

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """2 d**2 for replace, d**2 for add-remove."""
        return rows_changed(neighbors) * self.columns**2

    def add(self, rows: Floats, total: Integers) -> None:
        """Count the values of a tile."""
        kernels.pooled_histogram(rows, self.grid.center, self.grid.first, self.grid.shift, total)

    def add_sparse(self, rows: SparseRows, total: Integers) -> bool:
        """Count the values."""
        together = np.zeros(self.columns, dtype=np.int64)
        sparse.tally(rows, self.grid.cell, total[np.newaxis], together)
        return True

    def describe(self) -> str:
        """Return one line for the receipt."""
        return f"histogram: {self.grid.describe()}, all columns together"
