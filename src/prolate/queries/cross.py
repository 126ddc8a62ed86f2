"""Products of clipped features with a clipped target, on an integer grid."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.budget import Neighbors
from prolate.errors import InputError
from prolate.neighbors import rows_changed
from prolate.queries.base import Query, check_vectors
from prolate.queries.gram import DIAGONAL, GRAM_RADIUS, Gram, take_off, weighted_triangle

__all__ = ["Along", "Cross"]

_FINE = 1 << 20  # the grid of a direction
_LARGEST = 1e200  # of a slope: 2**23 of them times R cannot overflow


@dataclass(frozen=True, eq=False)
class Cross(Query):
    """Sum over rows of u t: u the clipped row of `features`, t the clipped target.

    With `gram`, the Gram matrix of u comes before it, in the same measurement. For each row,

    1. q, of norm at most R = `GRAM_RADIUS`, by the steps 1 to 3 of `Gram`, in steps of C / R;
    2. s = (y - center) / scale, less u @ coef if `coef` is given (the residual of a line that
       is known already), in steps of 1/R, rounded to the nearest and cut to [-R, R]; 0 for a
       missing y (NaN or infinite);
    3. s q_j, in units of C / R**2; with `gram`, 5 q_j q_j and 7 q_j q_l for
       j < l as in `Gram`, then 5 s q_j.

    The residual is taken column after column in doubles, so that a row's vector does not
    depend on the rows beside it. Nothing there is NaN: y and center are finite, |q_j| <= R
    and coef is at most 1e200, so at most the first of the two terms is infinite.

    Exact sums. As in `Gram`: every partial sum of a tile of m rows is an integer of at most
    m R**2, which a double holds exactly as m <= 2**16.

    Sensitivity. Adding or removing: |s q| = |s| |q| <= R**2, so R**4. Replacing (q, s) by
    (p, t): (2 R**2)**2. With `gram`, adding or removing: 25 R**4 for the matrix, by the proof
    in `Gram`, and as much for the products, so 50 R**4. Replacing, with c = |q'p| <= R**2: the
    matrix moves by at most 25 (2 R**4 - 2 c**2), squared, by the same proof, and the products
    by 25 |s q - t p|**2 <= 25 (2 R**4 + 2 R**2 c). Together that is 25 (4 R**4 + 2 R**2 c -
    2 c**2), which is largest at c = R**2 / 2: 25 R**4 * 9/2, where two separate measurements
    would have 25 R**4 * 6.

    Overflow. A row changes an entry by at most 5 R**2, as in `Gram`.
    """

    features: Gram
    target: int
    center: float = 0.0
    scale: float = 1.0
    coef: Floats | None = None
    gram: bool = False
    _gain: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Work out the target's gain, which must be a usable positive number."""
        if not 0 <= self.target < self.features.columns:
            raise InputError(f"target must point into the {self.features.columns} columns.")
        if not np.isfinite(self.center):
            raise InputError("center must be finite.")
        with np.errstate(all="ignore"):
            gain = float(np.float64(GRAM_RADIUS) / np.float64(self.scale))
        if not 0.0 < gain < np.inf:
            raise InputError("scale must be positive and within the range of floating point.")
        if self.coef is not None:
            check_vectors(self.features.order, coef=self.coef)
            if not np.all(np.abs(self.coef * self._longest) <= _LARGEST):
                raise InputError("coef must be finite, and of a size that can be worked with.")
        object.__setattr__(self, "_gain", gain)

    @property
    def _longest(self) -> float:
        """The longest row C, in the units of u."""
        return self.features.unit * GRAM_RADIUS

    @property
    def columns(self) -> int:
        """Number of columns of a block."""
        return self.features.columns

    @property
    def size(self) -> int:
        """One entry per row of the Gram matrix, and its triangle if that is asked for."""
        return self.features.order + (self.features.size if self.gram else 0)

    @property
    def effort(self) -> int:
        """That of the features."""
        return self.features.effort

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """Return 4 R**4 for replace, R**4 for add-remove; with `gram`, 225/2 and 50 R**4."""
        fourth = GRAM_RADIUS**4
        if self.gram:
            return 225 * fourth // 2 if neighbors == "replace" else 50 * fourth
        return rows_changed(neighbors) ** 2 * fourth

    def add(self, rows: Floats, total: Integers) -> None:
        """Add the products of a tile."""
        steps = self.features.steps(rows)
        y = np.where(np.isfinite(rows[:, self.target]), rows[:, self.target], np.nan)
        slopes = np.zeros(0) if self.coef is None else self.coef * self._longest
        with np.errstate(over="ignore"):
            y = (y - self.center) * self._gain
        residual = take_off(y, steps, slopes, float(GRAM_RADIUS))
        products = (residual @ steps).astype(np.int64)
        if not self.gram:
            total += products
            return
        matrix = weighted_triangle(steps)
        total[: matrix.size] += matrix
        total[matrix.size :] += DIAGONAL * products

    def products(self, values: Floats) -> Floats:
        """Return the sum of u t, shape (order,), in their units, of a vector of this query."""
        last = values[values.size - self.features.order :]
        return last * self.noise(1.0)

    def matrix(self, values: Floats) -> Floats:
        """Return the Gram matrix, (order, order), of a vector of this query with `gram`."""
        return self.features.matrix(values[: self.features.size])

    def noise(self, std: float) -> float:
        """Return the noise of the products, of `std` in integer units."""
        return std * self.features.unit / GRAM_RADIUS / (DIAGONAL if self.gram else 1)

    def describe(self) -> str:
        """Return one line for the receipt."""
        residual = "target" if self.coef is None else "residual"
        both = f"{self.features.describe()}, and its" if self.gram else "sum of the"
        rest = "" if self.gram else f" of rows clipped to norm {self.features.radius:.6g}"
        return (
            f"{both} products with column {self.target}'s {residual}, cut to {self.scale:.6g} "
            f"around {self.center:.6g}{rest}"
        )


@dataclass(frozen=True, eq=False)
class Along(Query):
    """Sum over rows of (u @ direction)**2, u the clipped row of `features`.

    For a direction of norm 1 that is the quadratic form of the Gram matrix of u, at least its
    smallest eigenvalue and at most its largest. One number, in units of (C / R)**2, as in
    `Gram`, R = `GRAM_RADIUS`. For each row,

    1. q, of norm at most R, by the steps 1 to 3 of `Gram`;
    2. t = q @ v / 2**20, rounded to the nearest, where v is the direction in steps of 2**-20,
       rounded toward zero and so of norm at most 2**20 (longer directions are refused);
    3. t**2.

    Exact sums. q @ v has partial sums that are integers of at most R 2**20, exact in a double;
    |t| <= R, since R is an integer, and t**2 sums up as in `Gram`.

    Sensitivity. t**2 is between 0 and R**2, so R**4 for both relations.
    """

    features: Gram
    direction: Floats
    _fine: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Put the direction on its grid."""
        check_vectors(self.features.order, direction=self.direction)
        fine = np.trunc(np.clip(self.direction, -2.0, 2.0) * _FINE)
        if sum(int(v) ** 2 for v in fine) > _FINE**2:
            # By rounding alone: a direction of norm 1 becomes one of norm at most 1.
            fine = np.trunc(fine * (1.0 - 2.0**-40))
        if sum(int(v) ** 2 for v in fine) > _FINE**2:
            raise InputError("direction must have norm 1 or less.")
        object.__setattr__(self, "_fine", fine)

    @property
    def columns(self) -> int:
        """Number of columns of a block."""
        return self.features.columns

    @property
    def size(self) -> int:
        """One number."""
        return 1

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """Return R**4."""
        return GRAM_RADIUS**4

    def add(self, rows: Floats, total: Integers) -> None:
        """Add the squares of a tile."""
        along = np.rint((self.features.steps(rows) @ self._fine) / _FINE)
        total[0] += int(along @ along)

    @property
    def unit(self) -> float:
        """What one step of the vector is, in the units of u squared."""
        return self.features.unit**2

    def describe(self) -> str:
        """Return one line for the receipt."""
        return f"{self.features.describe()}, along one direction"
