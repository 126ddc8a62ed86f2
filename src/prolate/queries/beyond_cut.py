"""Products of clipped features with what a residual is beyond its cut."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.budget import Neighbors
from prolate.errors import InputError
from prolate.neighbors import rows_changed
from prolate.queries.base import Query
from prolate.queries.gram import GRAM_RADIUS
from prolate.queries.residual_gram import ResidualGram

__all__ = ["BeyondCut"]


@dataclass(frozen=True, eq=False)
class BeyondCut(Query):
    """Sum over rows of u t: u the constant and clipped features, t what is beyond the target's cut.

    With the rows and the line of a `ResidualGram`, whose target is cut to [-c, c], t is the
    residual less its cut value, cut to [-width, width] in its turn. For each row,

    1. q, the constant and the features as `ResidualGram` has them, in its grid steps;
    2. s, its residual in grid steps, rounded to the nearest, 0 for a missing one, cut to
       [-(c + w), c + w], where c is the target's cut and w the width, in grid steps, rounded
       down; then nearer to 0 by c, or 0 if it is no farther than that;
    3. s q_j.

    Exact sums. |s| <= w, which is at most R, as is |q_j|: every partial sum of a tile of m rows
    is an integer of at most m R**2, which a double holds exactly as m <= 2**16, as in `Gram`.

    Sensitivity. With p**2 = constant**2 + radius**2 in grid steps, |q| <= p by the proof in
    `Gram`, for the weighted rows too: the constant, f times itself, is no longer than before.
    So |s q| <= w p, and adding or removing a row changes the sum by at most that, replacing by
    at most twice that.

    Overflow. A row changes an entry by at most w p <= R**2.
    """

    rows: ResidualGram
    width: float
    _steps: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the width, which is at least one step."""
        steps = self.width / self.rows.unit
        if not 1.0 <= steps <= GRAM_RADIUS:
            raise InputError("width must be a grid step or more, and no more than the longest row.")
        object.__setattr__(self, "_steps", math.floor(steps))

    @property
    def columns(self) -> int:
        """Number of columns of a block."""
        return self.rows.columns

    @property
    def size(self) -> int:
        """One number for the constant, if there is one, and for each feature."""
        return self.rows.order - 1

    @property
    def effort(self) -> int:
        """That of the rows."""
        return self.rows.effort

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """Return (2 w p)**2 for replace, (w p)**2 for add-remove."""
        square = self._steps**2 * self.rows.longest_square
        return rows_changed(neighbors) ** 2 * square

    def add(self, rows: Floats, total: Integers) -> None:
        """Add the products of a tile."""
        steps, farther = self.rows.steps_beyond(rows, float(self._steps))
        total += (farther @ steps[:, :-1]).astype(np.int64)

    def products(self, values: Floats) -> Floats:
        """Return the sum of u t in the units of u, of a vector of this query."""
        return np.asarray(values * self.rows.unit**2)

    def noise(self, std: float) -> float:
        """Return the noise of the products, of `std` in integer units."""
        return std * self.rows.unit**2

    def describe(self) -> str:
        """Return one line for the receipt."""
        return (
            f"products of features with what is beyond the target's cut, to {self.width:.6g}; "
            f"{self.rows.describe()}"
        )
