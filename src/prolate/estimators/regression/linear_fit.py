"""What a method of linear regression returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from prolate.arrays import Floats

__all__ = ["ClippedLine", "LinearFit"]


@dataclass(frozen=True, eq=False)
class ClippedLine:
    """A line for rows that are first drawn towards a center.

    Deviations from the center, in units of `scale`, are cut to -+ `cut` in each feature, then
    shortened to at most `radius`. A feature that is missing or not finite counts as its center.

    Attributes
    ----------
    center, scale : float64 arrays of shape (k,)
    cut, radius : float
    slopes : float64 array of shape (k,)
        In the data's units.
    value : float
        At the center.
    """

    center: Floats
    scale: Floats
    cut: float
    radius: float
    slopes: Floats
    value: float

    def predict(self, rows: Floats) -> Floats:
        """Return the line's values at rows of shape (m, k)."""
        with np.errstate(over="ignore", invalid="ignore"):
            away = np.clip((rows - self.center) / self.scale, -self.cut, self.cut)
        away = np.where(np.isfinite(rows), away, 0.0)
        norm = np.linalg.norm(away, axis=1, keepdims=True)
        away *= self.radius / np.maximum(norm, self.radius)
        return np.asarray(away @ (self.scale * self.slopes) + self.value)

    def to_dict(self) -> dict[str, Any]:
        """Return its numbers, for JSON."""
        return {
            "center": self.center.tolist(),
            "scale": self.scale.tolist(),
            "cut": self.cut,
            "radius": self.radius,
            "slopes": self.slopes.tolist(),
            "value": self.value,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> ClippedLine:
        """Return the line that `to_dict` described."""
        arrays = {name: np.array(fields[name]) for name in ("center", "scale", "slopes")}
        return cls(**{**fields, **arrays})


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
    clipped : ClippedLine, optional
        What predicts best, if that is not the line.
    warnings : tuple of str
        From public numbers and noisy counts only.
    details : dict
        Of JSON values.
    """

    coef: Floats
    intercept: float
    rows: float
    covariance: Floats | None = None
    noise_std: Floats | None = None
    clipped: ClippedLine | None = None
    warnings: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    def predict(self, rows: Floats) -> Floats:
        """Return predictions at rows of shape (m, k)."""
        if self.clipped is not None:
            return self.clipped.predict(rows)
        used = self.coef != 0.0  # a feature that does not count may be missing
        return np.asarray(rows[:, used] @ self.coef[used] + self.intercept)
