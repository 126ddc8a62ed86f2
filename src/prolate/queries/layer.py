"""A query on what rows are between two lengths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats
from prolate.errors import InputError
from prolate.queries import kernels
from prolate.queries.mapped import Mapped

__all__ = ["Layer"]


@dataclass(frozen=True, eq=False)
class Layer(Mapped):
    """`query` asked of rows that are shortened to a layer between the lengths `inner` and `outer`.

    A row x of length L becomes x sqrt(g**2 - f**2), where f = min(1, inner / L) and
    g = min(1, outer / L): so its products are those that clipping to `outer` leaves and clipping
    to `inner` takes. It is no longer than sqrt(outer**2 - inner**2), but for rounding; nothing
    rests on that, as `query` clips rows by itself.

    Sensitivity. That of `query`: each row is mapped by itself.
    """

    inner: float
    outer: float

    def __post_init__(self) -> None:
        """Check the lengths."""
        if not 0.0 < self.inner < self.outer < np.inf:
            raise InputError("inner must be positive, and outer larger and finite.")

    def map(self, rows: Floats) -> Floats:
        """Return the shortened rows."""
        d = rows.shape[1]
        length = np.maximum(kernels.norms(rows, np.zeros(d), np.ones(d)), self.inner)
        with np.errstate(all="ignore"):
            kept = np.minimum(1.0, self.outer / length) ** 2 - (self.inner / length) ** 2
            return np.asarray(rows * np.sqrt(np.maximum(kept, 0.0))[:, np.newaxis])

    def describe(self) -> str:
        """Return one line for the receipt."""
        return (
            f"{self.query.describe()}, of what rows are between the lengths {self.inner:.6g} and "
            f"{self.outer:.6g}"
        )
