"""A query on values that are first cut to public bounds."""

from __future__ import annotations

from dataclasses import dataclass, field

from prolate.arrays import Floats, Integers
from prolate.queries import kernels, twins
from prolate.queries.base import Query
from prolate.queries.mapped import Mapped
from prolate.sources.sparse_rows import SparseRows

__all__ = ["Cut"]


@dataclass(frozen=True, eq=False)
class Cut(Mapped):
    """`query` asked of rows whose finite values are cut to [lower_j, upper_j].

    Sensitivity. That of `query`: cutting maps each row to a row.
    """

    lower: Floats
    upper: Floats
    _within: Query | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """See whether the query cuts values by itself, so that no cut rows are made."""
        object.__setattr__(self, "_within", self.query.within(self.lower, self.upper))

    @property
    def any_layout(self) -> bool:
        """As the query that cuts by itself."""
        return self._within is not None and self._within.any_layout

    @property
    def in_place(self) -> bool:
        """As the query that cuts by itself."""
        return self._within is not None and self._within.in_place

    def map(self, rows: Floats) -> Floats:
        """Return the cut rows."""
        return kernels.cut(rows, self.lower, self.upper)

    def add(self, rows: Floats, total: Integers) -> None:
        """Ask `query` of the cut rows."""
        if self._within is not None:
            self._within.add(rows, total)
        else:
            super().add(rows, total)

    def add_sparse(self, rows: SparseRows, total: Integers) -> bool:
        """Ask `query` of the cut rows."""

        def cut(values: Floats, columns: Integers) -> Floats:
            return twins.cut(values, self.lower[columns], self.upper[columns])

        return self.query.add_sparse(rows.replaced(cut), total)

    def describe(self) -> str:
        """Return one line for the receipt."""
        return f"{self.query.describe()}, of values cut to public bounds"
