"""Queries of the rows of which no value is missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prolate.arrays import Bools, Floats, Integers
from prolate.budget import Neighbors
from prolate.errors import InputError
from prolate.queries.base import Wrapped, check_vectors

__all__ = ["WholeRows"]


@dataclass(frozen=True, eq=False)
class WholeRows(Wrapped):
    """`query` asked of the rows whose values are all finite, as if there were no others.

    With `required`, of shape (d,), only these columns' values must be.

    Sensitivity. A row's vector is that of `query`, or 0. So replacing a row changes the sum as
    replacing one does that of `query`, or as adding or removing one does: the larger of both.
    Adding or removing a row does as much as for `query`, or nothing.
    """

    required: Bools | None = None

    def __post_init__(self) -> None:
        """Check that rows count by themselves."""
        check_vectors(self.query.columns, required=self.required)
        if self.query.pairs_rows:
            raise InputError("A query that pairs neighboring rows cannot leave some of them out.")

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """Return that of `query`; for replace, at least that of adding or removing a row."""
        one = self.query.sensitivity_squared("add-remove")
        return (
            one
            if neighbors == "add-remove"
            else max(one, self.query.sensitivity_squared(neighbors))
        )

    def add(self, rows: Floats, total: Integers) -> None:
        """Ask `query` of the whole rows of a tile."""
        there = np.isfinite(rows)
        if self.required is not None:
            there |= ~self.required
        if there.all():  # which is quicker to see than for each row
            self.query.add(rows, total)
            return
        whole = there.all(axis=1)
        if whole.any():
            self.query.add(np.ascontiguousarray(rows[whole]), total)

    def describe(self) -> str:
        """Return one line for the receipt."""
        return f"{self.query.describe()}, of rows without missing values"
