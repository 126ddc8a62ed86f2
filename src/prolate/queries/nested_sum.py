"""The sum of clipped rows, and what clipping at a larger radius would leave on, in one pass."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from prolate.budget import Neighbors
from prolate.errors import InputError
from prolate.queries import kernels, sparse
from prolate.queries.base import Query, check_vectors
from prolate.queries.clipped_sum import RADIUS, ClippedSum
from prolate.sources.sparse_rows import SparseRows

__all__ = ["NestedSum"]


def _zeros() -> NDArray[np.float64]:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class NestedSum(Query):
    """Sums over rows of y = (x - center) / scale clipped to `radius`, and of the *excess*.

    The excess is what clipping to the longer radius `outer` leaves on, scaled down so that
    its sensitivity is `part` of that of the first sum. So one pass tells, beside the sum for
    a radius that was chosen before all rows were seen, roughly how much that radius cuts off.

    The vector is the first sum, d entries, and then the excess, d entries. The grid is that
    of `ClippedSum` with the radius `outer`, which is `RADIUS` = P steps; `radius` is
    I = floor(P radius / outer) steps, and `part` is B = floor(part I). For each row, with the
    r and S of `ClippedSum` (steps 2 and 3),

    1. v = r if S <= I**2, else v = round(r (I - sqrt(d)/2) (1 - 2**-40) / sqrt(S));
    2. e = 0 if S <= I**2, else
       e = round(r (L / E) (B - sqrt(d)/2) (1 - 2**-40) / sqrt(S)),
       with L = min(sqrt(S), P) - I and E = P - I.

    So v `unit` + e `excess_unit` is the row clipped to `outer`, but for rounding and a
    shortening by sqrt(d)/2 steps.

    Norms. |v| <= I and |e| <= B. For S <= I**2 this is plain: |v|**2 = S and e = 0. Otherwise
    S is at least |r|**2, by the proof in `ClippedSum`. Its proof of the first bound needs
    I in the place of `RADIUS`, and sqrt(d)/2 <= I/2, so that the rounding of I - sqrt(d)/2
    is relative to it: d <= B**2 <= I**2 is checked, in integers. For the second, the same
    with B: (B - sqrt(d)/2)(1 - 2**-40) (1 + 2**-49) is still the length before the last
    rounding, if 0 <= L / E <= 1 as computed. Square root and minimum are monotone, so the
    computed L lies between I - I and P - I, integers below 2**53 that are exact, as is their
    difference E >= 1; and a correctly rounded quotient of two such numbers is at most 1.
    Rounding to the nearest integer moves the vector by sqrt(d)/2 at most.

    Sensitivity. The squared norm of a row's vector is at most I**2 + B**2: that is the
    sensitivity of adding or removing it. Replacing it changes the two parts by at most 2 I
    and 2 B: 4 (I**2 + B**2). Opposite rows beyond `outer` get there, or nearly.

    Overflow. As for `ClippedSum`: no entry of a row's vector is beyond P.
    """

    center: NDArray[np.float64]
    scale: NDArray[np.float64]
    radius: float
    outer: float
    part: float
    _gain: NDArray[np.float64] = field(default_factory=_zeros, init=False, repr=False)
    _steps: tuple[int, int] = field(default=(0, 0), init=False, repr=False)

    def __post_init__(self) -> None:
        """Work out the grid, which must tell the two radii apart."""
        check_vectors(self.center.size, center=self.center, scale=self.scale)
        if not np.all(np.isfinite(self.center)):
            raise InputError("center must be finite.")
        if not (0.0 < self.radius < self.outer < np.inf and 0.0 < self.part <= 1.0):
            raise InputError(
                "radius must be positive and less than outer, and part between 0 and 1."
            )
        with np.errstate(all="ignore"):
            gain = np.float64(RADIUS) / self.outer / self.scale
        if not (np.all(np.isfinite(gain)) and np.all(gain > 0.0)):
            raise InputError(
                "scale and outer must be positive and within the range of floating point."
            )
        inner = min(math.floor(RADIUS * (self.radius / self.outer)), RADIUS - 1)
        most = min(math.floor(self.part * inner), inner)
        if most < 1 or most**2 < self.center.size:
            raise InputError(
                "outer is too large beside radius, or part too small for this many columns: "
                "rounding would be as large as the excess."
            )
        object.__setattr__(self, "_gain", gain)
        object.__setattr__(self, "_steps", (inner, most))

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.center.size

    @property
    def size(self) -> int:
        """Two sums per column."""
        return 2 * self.center.size

    @property
    def any_layout(self) -> bool:
        """True."""
        return True

    @property
    def unit(self) -> NDArray[np.float64]:
        """What one step of the first sum is worth in each column, in the data's unit."""
        return 1.0 / self._gain

    @property
    def excess_unit(self) -> NDArray[np.float64]:
        """What one step of the excess is worth in each column, in the data's unit."""
        inner, most = self._steps
        return (RADIUS - inner) / (most - 0.5 * math.sqrt(self.columns)) / self._gain

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """4 (I**2 + B**2) for replace, I**2 + B**2 for add-remove."""
        inner, most = self._steps
        return (4 if neighbors == "replace" else 1) * (inner**2 + most**2)

    def add(self, rows: NDArray[np.float64], total: NDArray[np.int64]) -> None:
        """Add the clipped rows of a tile, and their excess."""
        kernels.clipped_sum(
            rows,
            self.center,
            self._gain,
            None,
            None,
            None,
            0.0 * self._gain,
            *self._limits,
            total,
        )

    def add_sparse(self, rows: SparseRows, total: NDArray[np.int64]) -> bool:
        """Add the clipped rows, and their excess."""
        grid = ClippedSum(self.center, self.scale, self.outer)  # the same
        return sparse.clipped_sum(rows, grid.steps, *self._limits, total)

    @property
    def _limits(self) -> tuple[float, float, float, float, float]:
        """Inner and outer radius, and that of the excess, in steps; there is no tilt."""
        inner, most = self._steps
        return float(inner), float(RADIUS), float(most), 0.0, 0.0

    def describe(self) -> str:
        """Return one line for the receipt."""
        return (
            f"sum of centered, scaled rows clipped to norm {self.radius:.6g}, with "
            f"{self.part:.6g} of what clipping to {self.outer:.6g} leaves on"
        )
