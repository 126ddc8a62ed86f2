"""Some of the columns with a part of the budget: a table of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from prolate.budget import Neighbors
from prolate.curator import Measurement, Table
from prolate.estimators.columns import SomeColumns
from prolate.queries import Query

__all__ = ["Portion"]


@dataclass(frozen=True, eq=False)
class Portion:
    """A table of the columns `index`, in that order, that has a part of another one's budget.

    Its shares are those of that part.

    Attributes
    ----------
    table : Table
    index : int64 array
    part : float
        Of mu**2.
    before : float
        What was left of the table's when this one began.
    sample : Table
        Of the table's rows, or the table: drawn once, since it holds all columns.
    """

    table: Table
    index: NDArray[np.int64]
    part: float
    before: float
    sample: Table

    @classmethod
    def of(cls, table: Table, index: NDArray[np.int64], part: float, *, sample: Table) -> Portion:
        """Return a table of some columns with a part of mu**2, at most what is left."""
        return cls(table, index, min(part, table.remaining), table.remaining, sample)

    @property
    def columns(self) -> SomeColumns:
        """These columns, with shares of the whole budget."""
        return SomeColumns(self.table, self.index)

    @property
    def neighbors(self) -> Neighbors:
        """Those of the table."""
        return self.table.neighbors

    @property
    def remaining(self) -> float:
        """The share of the part that is left."""
        spent = self.before - self.table.remaining
        return max(self.part - spent, 0.0) / self.part

    @property
    def dimension(self) -> int:
        """Number of these columns."""
        return self.index.size

    @property
    def fraction(self) -> float:
        """That of the table."""
        return self.table.fraction

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Public bounds of these columns."""
        return self.columns.bounds

    def public_rows(self) -> int:
        """Return the table's number of rows."""
        return self.table.public_rows()

    def mu_of(self, share: float) -> float:
        """Return the mu that a share of the part makes."""
        return self.table.mu_of(share * self.part)

    def measure(self, query: Query, *, share: float, label: str) -> Measurement:
        """Measure `query` of these columns."""
        share = min(share * self.part, self.table.remaining)
        return self.columns.measure(query, share=share, label=label)

    def sampled(self, wanted: float | None = None, rows: float | None = None) -> Portion:
        """Return the same columns of the table's sample, whatever is wanted."""
        return self if self.sample is self.table else replace(self, table=self.sample)
