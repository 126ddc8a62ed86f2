"""The sum of clipped rows whose deviations all go to one side, which costs half as much."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.budget import Neighbors
from prolate.errors import InputError
from prolate.neighbors import rows_changed
from prolate.queries.base import Centered, check_vectors
from prolate.queries.clipped_sum import RADIUS, ClippedSum
from prolate.sources.sparse_rows import SparseRows

__all__ = ["OneSidedSum"]


@dataclass(frozen=True, eq=False)
class OneSidedSum(Centered):
    """`ClippedSum` of values first cut to one side of `center`: above it or below.

    `side` is 1 for a column whose values below the center count as the center, -1 for one
    whose values above it do. Baskets have nothing to lose by that: no item is there less
    often than not at all.

    Sensitivity. Every row's vector q has |q| <= `RADIUS`, as `ClippedSum` proves, and
    side_j q_j >= 0 in every column: the cut value minus the center is exactly 0 or has the sign
    of the side; multiplying it by a positive gain, rounding, cutting to [-`CAP`, `CAP`],
    multiplying by a positive factor and rounding again all leave 0 or that sign, and a
    missing value is 0. So two rows have q q' >= 0, and |q - q'|**2 = |q|**2 + |q'|**2 -
    2 q q' <= 2 RADIUS**2 for replace, half of what it is for rows of any sign. Adding or
    removing a row changes the sum by q: RADIUS**2.
    """

    scale: Floats
    radius: float
    side: Floats
    _cut: ClippedSum = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Make the sum of cut rows."""
        check_vectors(self.center.size, side=self.side)
        if not np.all(np.abs(self.side) == 1.0):
            raise InputError("side must be 1 or -1 for every column.")
        cut = ClippedSum(
            self.center,
            self.scale,
            self.radius,
            lower=np.where(self.side > 0.0, self.center, -np.inf),
            upper=np.where(self.side > 0.0, np.inf, self.center),
        )
        object.__setattr__(self, "_cut", cut)

    @property
    def size(self) -> int:
        """One sum per column."""
        return self.center.size

    @property
    def unit(self) -> Floats:
        """What one grid step is worth in each column, in the data's unit."""
        return self._cut.unit

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """2 RADIUS**2 for replace, RADIUS**2 for add-remove."""
        return rows_changed(neighbors) * RADIUS**2

    def within(self, lower: Floats, upper: Floats) -> ClippedSum | None:
        """Return the sum of values cut to these bounds first, and then to one side."""
        return self._cut.within(lower, upper)

    def add(self, rows: Floats, total: Integers) -> None:
        """Add the clipped rows of a tile."""
        self._cut.add(rows, total)

    def add_sparse(self, rows: SparseRows, total: Integers) -> bool:
        """Add the clipped rows."""
        return self._cut.add_sparse(rows, total)

    def describe(self) -> str:
        """Return one line for the receipt."""
        return f"{self._cut.describe()}, of values on one side of the center"
