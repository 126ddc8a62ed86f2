"""Several queries asked in one pass over the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.budget import Neighbors
from prolate.errors import InputError
from prolate.queries.base import Query
from prolate.sources.sparse_rows import SparseRows

__all__ = ["Together"]


@dataclass(frozen=True, eq=False)
class Together(Query):
    """The vectors of `queries`, one after the other.

    Sensitivity. Squared distances of the parts add up: at most the sum of theirs. The
    curator adds noise to each part by itself, for its own.
    """

    queries: tuple[Query, ...]

    def __post_init__(self) -> None:
        """Check that all are made for the same rows."""
        if len({query.columns for query in self.queries}) != 1:
            raise InputError("Queries asked together must be made for the same columns.")

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.queries[0].columns

    @property
    def size(self) -> int:
        """Of all vectors together."""
        return sum(query.size for query in self.queries)

    @property
    def any_layout(self) -> bool:
        """If all of them."""
        return all(query.any_layout for query in self.queries)

    @property
    def in_place(self) -> bool:
        """If all of them."""
        return all(query.in_place for query in self.queries)

    @property
    def pairs_rows(self) -> bool:
        """Whether that of any query does."""
        return any(query.pairs_rows for query in self.queries)

    @property
    def effort(self) -> int:
        """Of all of them."""
        return sum(query.effort for query in self.queries)

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """Return the sum of all."""
        return sum(query.sensitivity_squared(neighbors) for query in self.queries)

    def add(self, rows: Floats, total: Integers) -> None:
        """Add the vectors of a tile."""
        for query, part in zip(self.queries, self.parts(total), strict=True):
            query.add(rows, part)

    def add_sparse(self, rows: SparseRows, total: Integers) -> bool:
        """Add the vectors of `rows`, if every query reads sparse ones."""
        found = np.zeros_like(total)
        asked = zip(self.queries, self.parts(found), strict=True)
        if not all(query.add_sparse(rows, part) for query, part in asked):
            return False
        total += found
        return True

    def parts(self, total: Integers) -> Iterator[Integers]:
        """Yield every query's part of a vector, as views."""
        start = 0
        for query in self.queries:
            yield total[start : start + query.size]
            start += query.size

    def describe(self) -> str:
        """Return one line."""
        return "; ".join(query.describe() for query in self.queries)
