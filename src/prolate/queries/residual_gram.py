"""The Gram matrix of clipped features and of what a line leaves of the target."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from prolate.arrays import Floats
from prolate.errors import InputError
from prolate.queries.base import check_vectors
from prolate.queries.gram import Gram, take_off

__all__ = ["ResidualGram"]


@dataclass(frozen=True, eq=False)
class ResidualGram(Gram):
    """A `Gram` whose target is y - value - sum of slopes_j T_j, for a public line.

    y is the last column, and T the clipped features, both in the units of u. The target is
    cut to [-target, target] after that; where y is missing it is 0.

    If `weighted`, a row is shortened as a whole: with the factor f that makes T = f z of the
    unclipped features z, the constant is f times itself, rounded, and the target
    f (y - value) - sum of slopes_j T_j. So the line that fits best is that of weighted least
    squares, with weights f**2: it is the line of the unclipped rows, if their target is one.

    Sensitivity, norm and overflow are those of `Gram`: its proof asks only that the first entry
    is an integer of at most the constant's steps, as f <= 1, and the last one of at most t steps,
    which it is, whatever the line. Both depend on no other row, nor on where their row stands:
    products and sums are taken column after column.
    """

    slopes: Floats = field(default_factory=lambda: np.zeros(0))
    value: float = 0.0
    weighted: bool = False

    def __post_init__(self) -> None:
        """Check the line."""
        super().__post_init__()
        if self.target is None or self.index is not None:
            raise InputError("A Gram matrix of residuals needs a target, and all columns.")
        check_vectors(self.center.size - 1, slopes=self.slopes)
        if not (np.all(np.isfinite(self.slopes)) and np.isfinite(self.value)):
            raise InputError("slopes and value must be finite.")

    def steps(self, rows: Floats) -> Floats:
        """Return the clipped rows of a tile in grid steps: (m, k) integers, as doubles."""
        return self._steps(rows, float(self._parts[2]))

    @property
    def longest_square(self) -> int:
        """The squared length in grid steps of the longest constant and features."""
        return self._parts[0] ** 2 + self._parts[1] ** 2

    def steps_beyond(self, rows: Floats, width: float) -> tuple[Floats, Floats]:
        """Return `steps`, and what targets are beyond their cut, at most `width` steps, signed."""
        cut = float(self._parts[2])
        out = self._steps(rows, cut + width)
        left = out[:, -1].copy()
        out[:, -1] = np.clip(left, -cut, cut)
        return out, left - out[:, -1]

    def _steps(self, rows: Floats, most: float) -> Floats:
        """Return rows in grid steps, their target cut to [-most, most]."""
        out, factors = self._clipped(rows)
        first = self.order - self.center.size
        y = np.where(np.isfinite(rows[:, -1]), rows[:, -1], np.nan)
        with np.errstate(over="ignore", invalid="ignore"):
            y = (y - self.center[-1]) * self._gain[-1] - self.value / self.unit
            if self.weighted:
                out[:, :first] = np.rint(out[:, :first] * factors[:, np.newaxis])
                y *= factors
        out[:, -1] = take_off(y, out[:, first:-1], self.slopes, most)
        return out

    def describe(self) -> str:
        """Return one line for the receipt."""
        whole = " from rows shortened as a whole" if self.weighted else ""
        return f"{super().describe()}, after taking off a line{whole}"
