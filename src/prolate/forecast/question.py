"""What is asked of a forecast: how many rows, how spread, by which method."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from prolate import estimators
from prolate.arrays import Floats, Limits
from prolate.budget import MOST_MU, Budget, Neighbors
from prolate.curator import Curator
from prolate.errors import InputError
from prolate.estimators import Estimate
from prolate.estimators.counting import ROWS_SHARE
from prolate.estimators.gaussian_ellipse import Clipping, clipping_radius, scaling
from prolate.forecast.rehearsal import Expectation, length, power, rehearse
from prolate.rivals import plan

__all__ = ["MOST_ROWS", "Question"]

MOST_ROWS = 1 << 38
"""Sums of more rows may not fit 62 bits."""

_NEAR = 1.01  # a root is as near as that
_MORE = 1.2
_STEPS = 10
_AGAIN = 8  # corrections, at most
_EXACT = 4e-4  # of a target: what three digits do not show
_FARTHEST = 64.0  # as far as a single step goes
_LEAST_MU = 1e-4  # that is tried for a wanted error


@dataclass(frozen=True, eq=False)
class Question:
    """A mean of normal rows, before there are any.

    Attributes
    ----------
    scale, center : float64 arrays of shape (d,)
        Standard deviations, and where the means lie.
    method, error_norm, neighbors, clip
        As for `prolate.mean`.
    offset : float64 array of shape (d,)
        How far the public centers of method "gaussian-ellipse" are from the means.
    bounds : (lower, upper), optional
        Public bounds.
    flags : bool
        Whether all columns are booleans by their type.
    """

    scale: Floats
    center: Floats
    method: str
    error_norm: float
    neighbors: Neighbors
    clip: Clipping
    offset: Floats
    bounds: Limits | None
    flags: bool = False

    def expect(self, n: int, budget: Budget, *, quick: bool = False) -> Expectation:
        """Return what is expected with n rows; `quick` rehearses less."""
        if self.method == "gaussian-ellipse":
            return self._ellipse(n, budget)
        return rehearse(
            self._estimator(),
            n=n,
            center=self.center,
            spread=self.scale,
            budget=budget,
            neighbors=self.neighbors,
            error_norm=self.error_norm,
            bounds=self.bounds,
            flags=self.flags,
            quick=quick,
        )

    def sampling(self, n: float) -> float:
        """Return the expected l_p distance of the rows' own mean to the true one."""
        return self.length(self.scale / math.sqrt(n))

    def length(self, std: Floats) -> float:
        """Return the expected l_p length of normal numbers around 0."""
        zeros = np.zeros_like(std)
        return length(power(zeros, std, self.scale, self.error_norm), self.error_norm)

    def rows_needed(self, n: int, noise: float, budget: Budget) -> int | None:
        """Return the n from which noise is below sampling; None if it is more than `MOST_ROWS`.

        Noise over sampling falls about as n**-1/2: two steps are mostly enough.
        """

        def error(rows: float) -> float:
            expected = self.expect(round(rows), budget, quick=True)
            return (expected.noise / self.sampling(round(rows))) ** 2

        found = _solve(error, float(n), (noise / self.sampling(n)) ** 2, 1.0, MOST_ROWS)
        # Few rehearsals may miss that with so few rows the searches fail now and then.
        while found is not None:
            rows = math.ceil(found)
            if self.expect(rows, budget).noise < _NEAR**4 * self.sampling(rows):
                return rows
            found = found * _MORE if found * _MORE < MOST_ROWS else None
        return None

    def budget_needed(self, n: int, target: float, start: float) -> float:
        """Return the mu at which the expected noise error is `target`, or is below it first."""

        def error(mu: float) -> float:
            return self.expect(n, Budget(mu=mu), quick=True).noise / target

        found = _solve(error, start, error(start), _LEAST_MU, MOST_MU)
        if found is None:
            raise InputError(
                f"No budget up to mu = {MOST_MU:g} brings the error of {n:,} rows down to "
                f"{target:g}; use a larger target, or more rows."
            )
        low, high = 0.0, MOST_MU  # too large an error, and small enough
        for _ in range(_AGAIN):  # fewer rehearsals foresaw it: all of them may foresee another
            at = self.expect(n, Budget(mu=found)).noise / target
            low, high = (found, high) if at > 1.0 else (low, found)
            if abs(at - 1.0) < _EXACT or high <= (1.0 + _EXACT) * low:
                return found if at < 1.0 + _EXACT else high
            better = found * at
            found = better if low < better < high else math.sqrt(max(low, _LEAST_MU) * high)
        return high

    def _estimator(self) -> Callable[[Curator], Estimate]:
        p = self.error_norm
        if self.method == "gaussian":
            return estimators.bounded_mean
        if self.method in ("plan", "plan-noscale"):
            scaling = self.method == "plan"
            return lambda curator: plan(curator, error_norm=p, scaling=scaling)
        clip = self.clip
        if clip == "optimal":
            raise InputError("clip='optimal' is for method='gaussian-ellipse'; use clip='auto'.")
        return lambda curator: estimators.mean(curator, estimators.Asked(p, clip))

    def _ellipse(self, n: int, budget: Budget) -> Expectation:
        """Return the expectation of the mechanism with known scales, in closed form."""
        from prolate.theory import ClippedMean

        count = 0.0 if self.neighbors == "replace" else ROWS_SHARE
        at = ClippedMean(
            self.scale,
            n=n,
            mu=budget.mu * math.sqrt(1.0 - count),
            center_offset=self.offset,
            b=scaling(self.scale, self.error_norm),
            neighbors=self.neighbors,
        )
        # The mechanism does not know the offset.
        radius, _ = clipping_radius(at.sigma, at.b, n, at.mu, self.neighbors, self.clip)
        bias, variance = at.clipping(radius)
        std = np.sqrt(at.noise_std(radius) ** 2 + variance)
        shares = {"sum": 1.0 - count}
        return Expectation(
            noise=length(power(bias, std, self.scale, self.error_norm), self.error_norm),
            noise_std=np.hypot(bias, std),
            shares=shares if count == 0.0 else {"rows": count, **shares},
            radius=radius,
            clipped=at.norm.sf(radius**2),
        )


def _solve(
    error: Callable[[float], float], x: float, at_x: float, least: float, most: float
) -> float | None:
    """Return the x whose error is 1, for an error that falls about as 1 / x.

    `least` where it is smaller everywhere, None where it is larger up to `most`.
    """
    low, high = 0.0, math.inf  # too large an error, and small enough
    for _ in range(_STEPS):
        low, high = (x, high) if at_x > 1.0 else (low, x)
        if 1.0 / _NEAR < at_x < _NEAR or high < _NEAR * low:
            break
        better = min(max(x * min(max(at_x, 1.0 / _FARTHEST), _FARTHEST), least), most)
        if better == x:
            return None if at_x > 1.0 else x
        x = better if low < better < high else math.sqrt(low * high)
        at_x = error(x)
    return x if at_x < _NEAR or high == math.inf else high
