"""A query on the differences of neighboring rows, which have no center."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.budget import Neighbors
from prolate.errors import InputError
from prolate.queries.base import Wrapped

__all__ = ["Pairs"]


@dataclass(frozen=True, eq=False)
class Pairs(Wrapped):
    """`query` asked of (x_1 - x_2) / sqrt 2, (x_3 - x_4) / sqrt 2, ... (PLAN, Algorithm 2).

    Rows are paired by their position in the block, which is public; a last odd row of a
    block is left out. Only here does the answer depend on how rows fall into blocks.

    Sensitivity. Replacing a row changes at most one pair, from one value to another: the
    sensitivity of `query` under replace. Adding or removing a row shifts every later
    pair, so there is no bound under add-remove, and it is refused.
    """

    @property
    def pairs_rows(self) -> bool:
        """True."""
        return True

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """Return that of `query` under replace; refuse add-remove."""
        if neighbors != "replace":
            raise InputError(
                "Pairs of rows have no bounded sensitivity under neighbors='add-remove'; "
                "use neighbors='replace', or a method that does not pair rows."
            )
        return self.query.sensitivity_squared(neighbors)

    def add(self, rows: Floats, total: Integers) -> None:
        """Ask `query` of the pairs of a tile."""
        even = rows.shape[0] // 2 * 2
        differences = (rows[0:even:2] - rows[1:even:2]) * math.sqrt(0.5)
        self.query.add(np.ascontiguousarray(differences), total)

    def describe(self) -> str:
        """Return one line for the receipt."""
        return f"differences of paired rows: {self.query.describe()}"
