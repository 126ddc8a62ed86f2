"""The sum of centered, scaled and clipped rows, on an integer grid."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.budget import Neighbors
from prolate.errors import InputError
from prolate.neighbors import rows_changed
from prolate.queries import kernels, sparse
from prolate.queries.base import Centered, check_vectors
from prolate.sources.sparse_rows import SparseRows

__all__ = ["CAP", "RADIUS", "ClippedSum", "radius_over"]

RADIUS = 1 << 23
"""The clipping radius in grid steps. 2**39 rows sum up within 2**62."""

CAP = 2 * RADIUS
"""Where a single coordinate is cut, in grid steps, before the norm is taken."""


def radius_over(length: float, columns: int) -> float:
    """Return the radius at which rows of up to a scaled length are not clipped.

    Rounding to the grid moves a row by up to sqrt(columns) / 2 steps.
    """
    return length * (1.0 + math.sqrt(columns) * 2.0 / RADIUS)


@dataclass(frozen=True, eq=False)
class ClippedSum(Centered):
    """Sum over rows of clip((x - center) / scale), of l2 norm at most `radius`.

    In units of radius / `RADIUS`. For each row,

    1. v_j = x_j, or (x_j - about_j)**2 if `about` is given, first cut to
       [lower_j, upper_j] where these are given; or, with `beyond`, x_j less what that cuts it
       to, so 0 within these two, and the center is 0;
    2. r_j = (v_j - center_j) / scale_j in grid steps, rounded to the nearest integer and
       cut to [-`CAP`, `CAP`]; for a missing x_j (NaN or infinite), `missing` stands in for
       v_j - center_j, 0 unless told otherwise: no deviation from the center;
    3. S = sum of r_j**2, exact, since integers below 2**53 are exact in a double and sums
       are cut off there; if S <= RADIUS**2 the row's vector is r, else it is
       round(r * (RADIUS - sqrt(d)/2) (1 - 2**-40) / sqrt(S));
    4. with `tilt`, two norms in the units of `radius`, the row's vector is instead
       round(r * w (RADIUS - sqrt(d)/2) (1 - 2**-40) / max(sqrt(S), RADIUS)) with a weight
       w that is -1 for rows up to the first norm, 1 for rows from the second on, and
       linear in S between. Its sum shows how the rows' direction goes with their length.

    Norm. The row's vector q has |q| <= RADIUS. In the first case |q|**2 = S. In the second,
    S is at least |r|**2: it is exact below 2**53, and d CAP**2 >= |r|**2 stands in for it
    from there on. The handful of roundings on the way to the quotient and the product are
    each by a factor within 1 +- 2**-53 (that of RADIUS - sqrt(d)/2 too, for sqrt(d)/2 up to
    RADIUS/2, d <= 2**46), so before the last rounding the vector is no longer than
    (RADIUS - sqrt(d)/2)(1 - 2**-40)(1 + 2**-49); rounding to the nearest integer moves it by
    at most sqrt(d)/2. The sum is at most RADIUS.

    With `tilt`, |w| <= 1 and |r| <= sqrt(S) (the same S), so the vector before the last
    rounding is no longer than in the second case.

    All steps are numbers, so that no NaN becomes an integer: x and center are finite, so
    v - center is not inf - inf, gain is finite and not zero, and no bound is NaN.

    Sensitivity. Replacing a row changes the sum by q' - q: (2 RADIUS)**2. Adding or
    removing one changes it by q: RADIUS**2.

    Rounding to the nearest costs a row no more than half a step per coordinate, where the
    noise has 2 RADIUS / mu steps: without bias where values spread over many steps, but n
    equal values are all rounded alike, which may show where n mu exceeds some RADIUS.
    """

    scale: Floats
    radius: float
    lower: Floats | None = None
    upper: Floats | None = None
    about: Floats | None = None
    missing: Floats | None = None
    tilt: tuple[float, float] | None = None
    beyond: bool = False
    _gain: Floats = field(init=False, repr=False)
    _missing: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Work out the grid's gain, which must be a usable positive number."""
        check_vectors(
            self.center.size,
            center=self.center,
            scale=self.scale,
            lower=self.lower,
            upper=self.upper,
            about=self.about,
            missing=self.missing,
        )
        if not np.all(np.isfinite(self.center)):
            raise InputError("center must be finite.")
        if self.beyond and (
            self.lower is None or self.upper is None or self.about is not None or self.center.any()
        ):
            raise InputError("What is beyond bounds needs both of them, and 0 as the center.")
        with np.errstate(all="ignore"):
            gain = np.float64(RADIUS) / self.radius / self.scale
        if not (np.all(np.isfinite(gain)) and np.all(gain > 0.0)):
            raise InputError(
                "scale and radius must be positive and within the range of floating point."
            )
        if self.tilt is not None:
            low, high = (float(norm) / self.radius for norm in self.tilt)
            if not (0.0 <= low <= (1.0 - 1e-6) * high and 1e-6 <= high <= 1e6):
                raise InputError("tilt must be two norms of about the size of the radius.")
        object.__setattr__(self, "_gain", gain)
        with np.errstate(over="ignore"):
            missing = 0.0 * gain if self.missing is None else self.missing * gain
        object.__setattr__(self, "_missing", np.clip(np.rint(missing), -CAP, CAP))

    @property
    def size(self) -> int:
        """One sum per column."""
        return self.center.size

    @property
    def in_place(self) -> bool:
        """True."""
        return True

    @property
    def unit(self) -> Floats:
        """What one grid step is worth in each column, in the data's unit."""
        return 1.0 / self._gain

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """(2 RADIUS)**2 for replace, RADIUS**2 for add-remove."""
        return (rows_changed(neighbors) * RADIUS) ** 2

    def within(self, lower: Floats, upper: Floats) -> ClippedSum | None:
        """Return the sum of values cut to these bounds first, and then to its own."""
        if self.beyond:
            return None
        low, high = self._ends
        if low is not None and high is not None:
            lower, upper = (np.minimum(np.maximum(end, low), high) for end in (lower, upper))
        return replace(self, lower=lower, upper=upper)

    def add(self, rows: Floats, total: Integers) -> None:
        """Add the clipped rows of a tile."""
        kernels.clipped_sum(
            rows,
            None if self.beyond else self.center,
            self._gain,
            *self._ends,
            self.about,
            self._missing,
            float(RADIUS),
            *self._tilted,
            total,
        )

    def add_sparse(self, rows: SparseRows, total: Integers) -> bool:
        """Add the clipped rows."""
        return sparse.clipped_sum(rows, self.steps, float(RADIUS), *self._tilted, total)

    @property
    def _ends(self) -> tuple[Floats | None, Floats | None]:
        """Both of `lower` and `upper`, or neither."""
        if self.lower is None and self.upper is None:
            return None, None
        ends = (-np.inf, self.lower), (np.inf, self.upper)
        low, high = (np.full(self.columns, far) if end is None else end for far, end in ends)
        return low, high

    @property
    def _tilted(self) -> tuple[float, float]:
        """Middle and half of the S between which the weight rises; 0 where there is no tilt."""
        if self.tilt is None:
            return 0.0, 0.0  # the radius may be 0 as well
        low, high = (float(norm) / self.radius for norm in self.tilt)  # whose squares are floats
        middle = 0.5 * (high**2 + low**2) * RADIUS**2
        half = 0.5 * (high**2 - low**2) * RADIUS**2
        return middle, half

    def steps(self, values: Floats, columns: Integers) -> Floats:
        """Return r of each value, given its column."""
        moved = values
        if self.lower is not None:
            moved = np.maximum(moved, self.lower[columns])
        if self.upper is not None:
            moved = np.minimum(moved, self.upper[columns])
        if self.about is not None:
            moved = (moved - self.about[columns]) * (moved - self.about[columns])
        if self.beyond:
            moved = values - moved
        moved = np.rint((moved - self.center[columns]) * self._gain[columns])
        steps = np.minimum(np.maximum(moved, -CAP), CAP)
        return np.where(np.isfinite(values), steps, self._missing[columns])

    def describe(self) -> str:
        """Return one line for the receipt."""
        what = "rows" if self.about is None else "squared deviations"
        what = "parts of values beyond some ends" if self.beyond else what
        tilted = (
            ""
            if self.tilt is None
            else f", weighted by length from {self.tilt[0]:.6g} to {self.tilt[1]:.6g}"
        )
        return f"sum of centered, scaled {what} clipped to norm {self.radius:.6g}{tilted}"
