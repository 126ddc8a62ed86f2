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
    warnings: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)
