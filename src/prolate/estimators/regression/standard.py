"""Rows of a regression in standard units: what is summed up, and what comes back."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.estimators.regression.line import Line, Moments
from prolate.estimators.regression.linear_fit import ClippedLine
from prolate.estimators.search.spread import LARGEST
from prolate.queries import Gram, ResidualGram

__all__ = ["WEIGHT", "Middles", "Standard", "longest_square"]

_MARGIN = 1.0 + 1e-3  # for rounding
_SURELY = 3.0  # standard deviations of a mean square
WEIGHT, _CONSTANT = 0.9, 0.45  # of the cut target and the constant, over the radius


@dataclass(frozen=True, eq=False)
class Middles:
    """Features that are around the middles of public bounds which they fill (`bounded.py`).

    Attributes
    ----------
    which : bool array of shape (k,)
    mean, variance : float64 arrays of shape (k,)
        Of all features in standard units, about: 0 and 1 of others.
    """

    which: Bools
    mean: Floats
    variance: Floats


@dataclass(frozen=True, eq=False)
class Standard:
    """Standard units of rows, their Gram matrices, and back to the data's units.

    Attributes
    ----------
    center, scale : float64 arrays of shape (k + 1,)
        Of the features and, last, of the target.
    seen : bool array of shape (k,)
        Of which features more than a single value was seen: the scale of others is that of some
        like them, or so large that they count for nothing.
    off : float
        How far the target's mean may be from its center, in its scale.
    fit_intercept : bool
    middles : Middles, optional
        Where some features are around the middles of public bounds, not around their means.
    ends : (lower, upper), optional
        Public bounds of a target of which nothing is to be cut within them (`bounded_target.py`).
    """

    center: Floats
    scale: Floats
    seen: Bools
    off: float
    fit_intercept: bool
    middles: Middles | None = None
    ends: tuple[float, float] | None = None

    @property
    def reach(self) -> float:
        """How far the target may be from its center, where its bounds say so."""
        if self.ends is None:
            return math.inf
        center, scale = float(self.center[-1]), float(self.scale[-1])
        return _MARGIN * max(self.ends[1] - center, center - self.ends[0]) / scale

    def reach_beside(self, radius: float, slopes: Floats, value: float) -> float:
        """Return how far it may be from a line, of rows that are clipped to a radius.

        The line is taken to stay within the bounds.
        """
        if self.ends is None:
            return math.inf
        width = _MARGIN * (self.ends[1] - self.ends[0]) / float(self.scale[-1])
        return min(width, self.reach + radius * float(np.linalg.norm(slopes)) + abs(value))

    @property
    def mean(self) -> Floats:
        """Mean of each feature, about."""
        return np.zeros(self.scale.size - 1) if self.middles is None else self.middles.mean

    @property
    def variance(self) -> Floats:
        """Variance of each feature, about."""
        return np.ones(self.scale.size - 1) if self.middles is None else self.middles.variance

    @property
    def square(self) -> Floats:
        """Mean square of each feature, about."""
        return self.mean**2 + self.variance

    @property
    def varies(self) -> float:
        """The part of all features' mean squares that is their variance."""
        return float(self.variance.sum() / self.square.sum())

    @property
    def steady(self) -> float:
        """Squared length of every row by features around middles."""
        return 0.0 if self.middles is None else float(self.square[self.middles.which].sum())

    @property
    def farthest(self) -> float:
        """How far a feature around a middle is from it; 1 if there is none."""
        return 1.0 / math.sqrt(float(self.variance.min()))

    def constant(self, radius: float) -> float:
        """Return the constant beside features clipped to a radius.

        The larger it is, the less noise have means, which add to that of moments around them; but
        the more have all moments. For a feature of mean m, the noise of its slope goes with
        (radius**2 + target**2 + c**2) sqrt(1 + (m / c)**2).
        """
        part = _CONSTANT
        if self.middles is not None:
            mean = float(np.max(self.mean**2)) / radius**2
            square = (math.sqrt(mean**2 + 8.0 * mean * (1.0 + WEIGHT**2)) - mean) / 4.0
            part = max(part, math.sqrt(square))
        return part * radius if self.fit_intercept else 0.0

    def query(self, radius: float, cut: float, target_cut: float) -> Gram:
        """Return the Gram matrix of rows clipped to `radius`."""
        scale = np.append(self.scale[:-1], self.scale[-1] / self.weight(radius, target_cut))
        reach = np.append(np.minimum(cut * self.scale[:-1], LARGEST), np.inf)
        return Gram(
            self.center,
            scale,
            radius,
            constant=self.constant(radius),
            target=WEIGHT * radius,
            lower=self.center - reach,
            upper=self.center + reach,
        )

    def residuals(self, query: Gram, line: Line, value: float, target_cut: float) -> ResidualGram:
        """Return the Gram matrix of what a line leaves of the target, cut anew.

        Parameters
        ----------
        query : Gram
            Of the first round.
        line : Line
            From its moments.
        value : float
            Of the line in standard units, where all features are 0.
        target_cut : float
            In standard units.
        """
        weight = self.weight(query.radius, target_cut)
        return ResidualGram(
            query.center,
            np.append(self.scale[:-1], self.scale[-1] / weight),
            query.radius,
            constant=query.constant,
            target=query.target,
            lower=query.lower,
            upper=query.upper,
            slopes=weight * line.slopes,
            value=weight * value,
        )

    def shortened(
        self, radius: float, cut: float, target_cut: float, slopes: Floats, value: float
    ) -> ResidualGram:
        """Return the Gram matrix of rows that are shortened as a whole, less a line.

        Parameters
        ----------
        radius, cut, target_cut : float
        slopes : float64 array of shape (k,)
        value : float
            Of the line, where all features are 0.
        """
        weight, query = self.weight(radius, target_cut), self.query(radius, cut, target_cut)
        return ResidualGram(
            query.center,
            query.scale,
            radius,
            constant=query.constant,
            target=query.target,
            lower=query.lower,
            upper=query.upper,
            slopes=weight * slopes,
            value=weight * value,
            weighted=True,
        )

    def unknown(self, moments: Moments) -> Bools:
        """Return of which features nothing is known: noise hides that they deviate at all.

        One that was seen is not so tiny in its scale that it would.
        """
        doubt = _SURELY * math.sqrt(2.0) * moments.noise
        hidden = ~self.seen & (np.diag(moments.features) < doubt)
        return np.asarray(hidden | (self.scale[:-1] >= LARGEST))

    @staticmethod
    def weight(radius: float, target_cut: float) -> float:
        """Return what the standardized target is multiplied by."""
        return WEIGHT * radius / target_cut

    def clipped_line(self, line: Line, moments: Moments, radius: float, cut: float) -> ClippedLine:
        """Return a line in the data's units."""
        unit = self.scale[-1]
        value = unit * (moments.target_mean - float(moments.mean @ line.slopes))
        return ClippedLine(
            center=self.center[:-1],
            scale=self.scale[:-1],
            cut=cut,
            radius=radius,
            slopes=unit * line.slopes / self.scale[:-1],
            value=float(self.center[-1] + value),
        )

    @property
    def units(self) -> Floats:
        """The matrix from standard units to slopes and intercept, without its shift."""
        k = self.scale.size - 1
        matrix = np.zeros((k + 1, k + 1))
        matrix[:k, :k] = np.diag(self.scale[-1] / self.scale[:-1])
        if self.fit_intercept:
            matrix[k, :k] = -self.scale[-1] * (self.center[:-1] / self.scale[:-1])
            matrix[k, k] = self.scale[-1]
        return matrix


def longest_square(radius: float) -> float:
    """Return the squared norm of the longest row of a Gram matrix."""
    return radius**2 * (1.0 + WEIGHT**2 + _CONSTANT**2)
