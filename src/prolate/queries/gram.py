"""The Gram matrix of centered, scaled and clipped rows, on an integer grid."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Floats, Integers
from prolate.budget import Neighbors
from prolate.errors import InputError
from prolate.neighbors import rows_changed
from prolate.queries import kernels
from prolate.queries.base import Query, check_vectors

__all__ = ["DIAGONAL", "GRAM_RADIUS", "Gram", "take_off", "weighted_triangle"]

GRAM_RADIUS = 1 << 14
"""The longest row in grid steps. Gram matrices of 2**31 rows sum up within 2**62."""

DIAGONAL, _OTHER = 5, 7  # weights of the entries; 7 / 5 is just below sqrt 2


@dataclass(frozen=True, eq=False)
class Gram(Query):
    """Sum over rows of u u', u = (constant, (x - center) / scale clipped to l2 norm `radius`).

    The constant comes first, if it is not zero. With `target`, the last column is apart: it
    is not part of the norm, but cut to [-target, target] by itself, so that a line may be
    fitted to it. The vector is the upper triangle, row by row, of u u' in units of
    (C / `GRAM_RADIUS`)**2 with C**2 = constant**2 + radius**2 + target**2; the entries on the
    diagonal times 5, the others times 7. For each row,

    1. v_j = x_j of the columns `index`, in that order, cut to [lower_j, upper_j] where these
       are given;
    2. r_j = (v_j - center_j) / scale_j in grid steps, rounded to the nearest integer; 0 for a
       missing x_j (NaN or infinite); cut to [-t, t] for the target, t = target in grid steps,
       rounded down, and to [-c, c] for the others, c the largest power of 2 of which d squares
       add up to at most 2**53;
    3. S = sum of r_j**2 but for the target; with p = radius in grid steps, rounded down, the
       row is q = r if S <= p**2, else q_j = round(r_j (p - sqrt(d)/2) (1 - 2**-40) / sqrt(S))
       for these d entries. Before them comes the constant in grid steps, rounded down;
    4. 5 q_j q_j and 7 q_j q_l for j < l.

    Norm. |q| <= R = GRAM_RADIUS. The clipped entries are no longer than p, by the proof in
    `ClippedSum`: the steps are the same, and S <= d c**2 <= 2**53 is exact. c is at least
    2 GRAM_RADIUS for up to 2**23 columns, more of which are refused, as is p < sqrt(d). The
    three parts, rounded down in grid steps, are orthogonal, and their squares add up to at most
    R**2, which is checked in integers.

    Exact sums. The q of a tile are integers in doubles, and their products are added by the
    linear algebra library: every partial sum, in whatever order and with or without fused
    operations, is an integer of at most m R**2 for m rows in a tile (Cauchy-Schwarz), which
    a double holds exactly as m <= 2**16.

    Sensitivity. With D = q q' - p p' for two rows q, p (p = 0 where a row is added), the
    squared change is 25 sum_j D_jj**2 + 49 sum_{j<l} D_jl**2 <= 25 |D|_F**2, because 49 <= 50.
    Adding or removing: |q q'|_F = |q|**2 <= R**2, so (5 R**2)**2. Replacing:
    |D|_F**2 = |q|**4 + |p|**4 - 2 (q'p)**2 <= 2 R**4, so 2 (5 R**2)**2.

    Overflow. A row changes an entry by at most 5 R**2 (7/2 R**2 beside the diagonal).
    """

    center: Floats
    scale: Floats
    radius: float
    constant: float = 0.0
    index: Integers | None = None
    width: int | None = None
    lower: Floats | None = None
    upper: Floats | None = None
    target: float | None = None
    _gain: Floats = field(init=False, repr=False)
    _parts: tuple[int, int, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Work out the grid's gain, which must be a usable positive number."""
        used = self.center.size
        check_vectors(
            used, center=self.center, scale=self.scale, lower=self.lower, upper=self.upper
        )
        if not np.all(np.isfinite(self.center)):
            raise InputError("center must be finite.")
        parts = (self.constant, self.radius, 0.0 if self.target is None else self.target)
        if not (all(0.0 <= part < np.inf for part in parts) and self.radius > 0.0):
            raise InputError(
                "constant, radius and target must be finite and not negative, radius positive."
            )
        with np.errstate(all="ignore"):
            gain = 1.0 / self.unit / self.scale
        if not (np.all(np.isfinite(gain)) and np.all(gain > 0.0)):
            raise InputError(
                "scale and radius must be positive and within the range of floating point."
            )
        if used > 1 << 23:
            raise InputError("A Gram matrix can have at most 2**23 columns.")
        if (self.index is None) != (self.width is None):
            raise InputError("index and width, the number of columns it points into, go together.")
        if self.index is not None and self.width is not None:
            check_vectors(used, index=self.index)
            if np.any(self.index < 0) or np.any(self.index >= self.width):
                raise InputError(f"index must point into the {self.width} columns.")
        steps = [math.floor(part / self.unit) for part in parts]
        while sum(step**2 for step in steps) > GRAM_RADIUS**2:
            steps[int(np.argmax(steps))] -= 1
        if steps[1] ** 2 < used:  # or rounding would make rows longer than the radius
            raise InputError("radius is too small beside constant and target, or for the columns.")
        object.__setattr__(self, "_gain", gain)
        object.__setattr__(self, "_parts", tuple(steps))

    @property
    def unit(self) -> float:
        """What one grid step is worth in u."""
        apart = 0.0 if self.target is None else self.target
        return math.hypot(self.constant, self.radius, apart) / GRAM_RADIUS

    @property
    def columns(self) -> int:
        """Number of columns of a block."""
        return self.center.size if self.width is None else self.width

    @property
    def order(self) -> int:
        """Number of rows k of the Gram matrix: one per column used, and the constant's."""
        return self.center.size + (self.constant > 0.0)

    @property
    def size(self) -> int:
        """Entries of the upper triangle."""
        return self.order * (self.order + 1) // 2

    @property
    def effort(self) -> int:
        """A product for each column."""
        return self.order

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """Return 2 (5 R**2)**2 for replace, (5 R**2)**2 for add-remove."""
        return rows_changed(neighbors) * (DIAGONAL * GRAM_RADIUS**2) ** 2

    def add(self, rows: Floats, total: Integers) -> None:
        """Add the Gram matrix of a tile."""
        steps = self.steps(rows)
        total += weighted_triangle(steps)

    def steps(self, rows: Floats) -> Floats:
        """Return the clipped rows of a tile in grid steps: (m, k) integers, as doubles."""
        return self._clipped(rows)[0]

    def _clipped(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return `steps`, and by which factor each row was shortened."""
        used = self.center.size
        if self.index is not None:
            rows = np.ascontiguousarray(rows[:, self.index])
        out, factors = np.empty((rows.shape[0], self.order)), np.empty(rows.shape[0])
        constant, radius, target = self._parts
        kernels.clipped_steps(
            rows,
            np.full(used, -np.inf) if self.lower is None else self.lower,
            np.full(used, np.inf) if self.upper is None else self.upper,
            self.center,
            self._gain,
            float(constant),
            float(radius),
            2.0 ** ((53 - (used - 1).bit_length()) // 2),
            -1.0 if self.target is None else float(target),
            out,
            factors,
        )
        return out, factors

    def matrix(self, values: Floats) -> Floats:
        """Return the (k, k) matrix, in the units of u, of a vector of this query."""
        k = self.order
        upper = np.zeros((k, k))
        places, weights = _triangle(k)
        upper.ravel()[places] = values / weights * self.unit**2
        return upper + np.triu(upper, 1).T

    def noise(self, std: float) -> tuple[float, float]:
        """Return the noise of entries on and off the diagonal, of `std` in integer units."""
        unit = std * self.unit**2
        return unit / DIAGONAL, unit / _OTHER

    def describe(self) -> str:
        """Return one line for the receipt."""
        constant = f", a constant {self.constant:.6g} before them" if self.constant > 0.0 else ""
        apart = "" if self.target is None else f", the last by itself to {self.target:.6g}"
        return (
            f"Gram matrix of {self.center.size} centered, scaled columns{constant}, rows clipped "
            f"to norm {self.radius:.6g}{apart}"
        )


def take_off(target: Floats, steps: Floats, slopes: Floats, most: float) -> Floats:
    """Return target - steps @ slopes, rounded and cut to [-most, most]; 0 where it is NaN.

    Column after column, so that a row's number depends on no other row, nor on its place.
    """
    used = slopes.size
    explained = kernels.turn(steps[:, :used], np.zeros(used), slopes[:, None])[:, 0]
    with np.errstate(over="ignore", invalid="ignore"):
        left = np.minimum(np.maximum(np.rint(target - explained), -most), most)
    return np.where(np.isnan(left), 0.0, left)


def weighted_triangle(steps: Floats) -> Integers:
    """Return the entries of the upper triangle of steps' steps, row by row, times their weights."""
    places, weights = _triangle(steps.shape[1])
    return (steps.T @ steps).ravel()[places].astype(np.int64) * weights


@lru_cache(maxsize=2)  # it may be as large as what is measured
def _triangle(order: int) -> tuple[NDArray[np.intp], Integers]:
    """Return where the upper triangle of a matrix lies in memory, and the weights there."""
    first, second = np.triu_indices(order)
    return first * order + second, np.where(first == second, DIAGONAL, _OTHER)
