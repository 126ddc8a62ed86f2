"""How many rows there are, and how many lie below a point in each column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.budget import Neighbors
from prolate.queries import sparse
from prolate.queries.base import Query
from prolate.sources.sparse_rows import SparseRows

__all__ = ["Count", "CountBelow"]


@dataclass(frozen=True)
class Count(Query):
    """The number of rows.

    Sensitivity. Replacing a row changes nothing: 0. Adding or removing one changes
    the count by 1.
    """

    dimension: int

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.dimension

    @property
    def size(self) -> int:
        """Always 1."""
        return 1

    @property
    def any_layout(self) -> bool:
        """True: nothing is read of a row."""
        return True

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """0 for replace, 1 for add-remove."""
        return 0 if neighbors == "replace" else 1

    def add(self, rows: Floats, total: Integers) -> None:
        """Add the number of rows."""
        total[0] += rows.shape[0]

    def add_sparse(self, rows: SparseRows, total: Integers) -> bool:
        """Add the number of rows."""
        total[0] += rows.shape[0]
        return True

    def describe(self) -> str:
        """Return one line for the receipt."""
        return "number of rows"


@dataclass(frozen=True, eq=False)
class CountBelow(Query):
    """How many rows have x_j <= points_j, for each of d columns (missing: not below).

    Sensitivity. A row's vector is in {0, 1}**d. Replacing a row changes every entry by
    at most 1: d. Adding or removing one: d.
    """

    points: Floats

    @property
    def columns(self) -> int:
        """Number of points."""
        return self.points.size

    @property
    def size(self) -> int:
        """One count per column."""
        return self.points.size

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """d, for both neighbor relations."""
        return self.points.size

    def add(self, rows: Floats, total: Integers) -> None:
        """Add the counts."""
        if np.all(self.points == np.inf) and _are_finite(rows):
            total += rows.shape[0]
        else:
            total += np.count_nonzero((rows <= self.points) & np.isfinite(rows), axis=0)

    def add_sparse(self, rows: SparseRows, total: Integers) -> bool:
        """Add the counts."""

        def below(values: Floats, columns: Integers) -> Integers:
            return np.where(values <= self.points[columns], 0, 1)

        counts = np.zeros((self.size, 2), dtype=np.int64)
        sparse.tally(rows, below, counts)
        total += counts[:, 0]
        return True

    def describe(self) -> str:
        """Return one line for the receipt."""
        return "rows at or below a point, per column"


def _are_finite(rows: Floats) -> bool:
    """Return whether all values surely are finite: their sum tells it in a tenth of the time."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(rows.sum()))
