"""What a method of linear regression returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LinearFit"]


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A line through private rows: y is about x @ coef + intercept.

    A source of regression rows has the features as its first columns, in order, and the
    target as its last one.

    Attributes
    ----------
    coef : float64 array of shape (k,)
        Slopes, in the data's units.
    intercept : float
    rows : float
        Number of rows: public under ``"replace"``, else a private estimate.
    covariance : float64 array of shape (k + 1, k + 1), optional
        Of the errors of (coef, intercept) as estimates of the population's least squares:
        sampling and privacy noise together, where it can be stated.
    noise_std : float64 array of shape (k + 1,), optional
        Standard deviation of the privacy noise alone, in (coef, intercept).
    clip : (center, scale, radius), optional
        Rows were clipped to this l2 norm after (x - center) / scale, and are to be clipped
        likewise before the line predicts them.
    warnings : tuple of str
        From public numbers only.
    details : dict
        Of JSON values.
    """

    coef: NDArray[np.float64]
    intercept: float
    rows: float
    covariance: NDArray[np.float64] | None = None
    noise_std: NDArray[np.float64] | None = None
    clip: Any = None
    warnings: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    def predict(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the line's values at rows of shape (m, k)."""
        if self.clip is None:
            return np.asarray(rows @ self.coef + self.intercept)
        center, scale, radius, cut, slopes, value = self.clip
        away = np.where(np.isfinite(rows), np.clip((rows - center) / scale, -cut, cut), 0.0)
        norm = np.linalg.norm(away, axis=1)
        away *= np.minimum(1.0, radius / np.maximum(norm, 1e-300))[:, np.newaxis]
        return np.asarray(away @ (scale * slopes) + value)
