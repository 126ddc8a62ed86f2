"""The best clipping probability: noise plus clipping error, by numerics, not simulation.

The mean of n Gaussian rows is estimated as c + (1/n) b**-1 * (sum of clip(y_i) + noise), with
y_i = (x_i - c) * b clipped to the norm C (Poulsen's Algorithm 3, mended: the center is added in
the data's own units). Against the rows' own mean its squared error is, on average,

    noise         (s / (mu n))**2 sum(b**-2), with sensitivity s = 2 C (replace) or C (add-remove),
    bias          sum(b**-2 (E y_j h)**2): zero where the center is the mean,
    fluctuation   sum(b**-2 Var(y_j h)) / n,

where y h is what is clipped off a row. A smaller C lowers the noise and raises the rest; the drafts
take P(|y| > C) = 1 / n and leave the best probability open. `best_clip` finds it.

In add-remove, n is private too: its own noise comes on top, and its share of the budget is not in
`mu`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from prolate.arrays import Floats
from prolate.budget import Neighbors
from prolate.errors import InputError
from prolate.theory.checks import offset_like, positive, probability, scaled_like
from prolate.theory.chi2_mixture import ChiSquareMixture
from prolate.theory.clipped import lost_moments
from prolate.theory.radii import optimal_b, sensitivity, squared_norm

__all__ = ["BestClip", "ClippedMean", "ExpectedError", "best_clip"]

_SMALLEST = 1e-3  # the least radius: of the norms, and of noise over what is lost
_GRID = 14  # radii looked at before the search between two of them
_DIGITS = 1e-4  # of the logarithm of the best radius: the error is flat there


@dataclass(frozen=True)
class ExpectedError:
    """The expected squared error of a clipped mean, compared with the rows' own mean.

    Attributes
    ----------
    clip : float
        Probability of clipping a row.
    radius : float
        The clipping radius C, in the scaled coordinates.
    noise, bias, fluctuation : float
        The three parts of the error, in squared units of the data: from noise, from what
        clipping takes on average, and from how much that varies between rows.
    """

    clip: float
    radius: float
    noise: float
    bias: float
    fluctuation: float

    @property
    def total(self) -> float:
        """Expected squared error."""
        return self.noise + self.bias + self.fluctuation

    @property
    def root(self) -> float:
        """Square root of the expected squared error, in the units of the data."""
        return math.sqrt(self.total)


@dataclass(frozen=True)
class BestClip:
    """The best clipping probability, compared with 1 / n, which the papers use.

    Attributes
    ----------
    best, usual : ExpectedError
        The error at the best probability, and at 1 / n.
    sampling : float
        For comparison: the expected squared distance between the rows' own mean and the true
        mean.
    """

    best: ExpectedError
    usual: ExpectedError
    sampling: float

    @property
    def gain(self) -> float:
        """The error at 1 / n divided by the best error (both `root`); 1 if nothing is gained."""
        return self.usual.root / self.best.root


@dataclass(frozen=True, eq=False)
class ClippedMean:
    """The errors to expect of the private mean of Gaussian rows whose scales are known.

    Parameters
    ----------
    sigma : array-like of shape (d,)
        Standard deviations, positive.
    n : int or float
        Number of rows.
    mu : float
        Budget of the sum.
    center_offset : array-like of shape (d,) or number, optional
        The mean minus the center, in the columns' units; by default 0.
    b : array-like of shape (d,), optional
        Scaling; by default `optimal_b` (Lemma 4.1).
    neighbors : {"replace", "add-remove"}
        As for `prolate.mean`.

    Raises
    ------
    InputError
        If an argument is unsuitable.

    Examples
    --------
    >>> plan = ClippedMean([1.0] * 10, n=1000, mu=1.0)
    >>> usual, wide = plan.at(1e-3), plan.at(1e-9)
    >>> usual.root < wide.root
    True
    >>> round(usual.noise, 5), usual.bias, round(usual.fluctuation, 9)
    (0.00118, 0.0, 1.01e-07)
    """

    sigma: Floats
    n: float
    mu: float
    offset: Floats
    b: Floats
    neighbors: Neighbors
    norm: ChiSquareMixture

    def __init__(
        self,
        sigma: ArrayLike,
        *,
        n: float,
        mu: float,
        center_offset: ArrayLike | None = None,
        b: ArrayLike | None = None,
        neighbors: Neighbors = "replace",
    ) -> None:
        spread = positive(sigma, "sigma")
        if not 1.0 <= n < math.inf:
            raise InputError(f"n must be at least 1 and finite; got {n:g}.")
        if not 0.0 < mu < math.inf:
            raise InputError(f"mu must be positive and finite; got {mu:g}.")
        sensitivity(1.0, neighbors)
        scaling = optimal_b(spread) if b is None else scaled_like(b, spread)
        offset = offset_like(0.0 if center_offset is None else center_offset, spread)
        values = {
            "sigma": spread, "n": float(n), "mu": float(mu), "offset": offset, "b": scaling,
            "neighbors": neighbors, "norm": squared_norm(spread, scaling, offset),
        }  # fmt: skip
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def sampling(self) -> float:
        """Expected squared distance between the rows' own mean and the true mean."""
        return float(self.sigma @ self.sigma) / self.n

    def radius(self, clip: float) -> float:
        """Return the radius that clips a row with this probability."""
        return math.sqrt(self.norm.isf(probability(clip)))

    def noise_std(self, radius: float) -> Floats:
        """Return the standard deviation of the noise of each column's mean, at a radius."""
        return np.asarray(sensitivity(radius, self.neighbors) / (self.mu * self.n) / self.b)

    def clipping(self, radius: float) -> tuple[Floats, Floats]:
        """Return bias and variance of what clipping takes from each column's mean."""
        first, second = lost_moments(self.norm, self.offset * self.b, radius)
        return first / self.b, (second - first**2) / self.b**2 / self.n

    def at(self, clip: float) -> ExpectedError:
        """Return the expected error at a clipping probability."""
        return self.at_radius(self.radius(clip), clip)

    def at_radius(self, radius: float, clip: float | None = None) -> ExpectedError:
        """Return the expected error at a radius; `clip` is computed if it is not given."""
        if not 0.0 < radius < math.inf:
            raise InputError(f"The radius must be positive and finite; got {radius:g}.")
        bias, variance = self.clipping(radius)
        noise = self.noise_std(radius)
        return ExpectedError(
            clip=self.norm.sf(radius**2) if clip is None else clip,
            radius=radius,
            noise=float(noise @ noise),
            bias=float(bias @ bias),
            fluctuation=float(variance.sum()),
        )

    def best(self) -> ExpectedError:
        """Return the expected error at the best radius."""
        from scipy.optimize import minimize_scalar

        top = math.log(self.radius(min(0.01 / self.n, 0.5)))
        # Below this radius, what is lost is everything, and the noise is nothing beside it.
        whole = self.sampling + float(self.offset @ self.offset)
        low = 0.5 * math.log(_SMALLEST * whole / float(np.sum(self.noise_std(1.0) ** 2)))
        low = min(low, math.log(_SMALLEST) + 0.5 * math.log(self.norm.mean))
        # Close together where rows begin to be clipped, further apart below.
        grid = top - (top - low) * np.linspace(0.0, 1.0, _GRID) ** 2
        errors = [self._log_error(value) for value in grid]
        least = int(np.argmin(errors))
        if least == _GRID - 1:
            return self.at_radius(math.exp(grid[-1]))
        between = (grid[least + 1], grid[max(least - 1, 0)])
        found = minimize_scalar(
            self._log_error, bounds=between, method="bounded", options={"xatol": _DIGITS}
        )
        return self.at_radius(math.exp(float(found.x)))

    def _log_error(self, log_radius: float) -> float:
        return math.log(self.at_radius(math.exp(log_radius), clip=math.nan).total)


def best_clip(
    sigma: ArrayLike,
    *,
    n: float,
    mu: float,
    center_offset: ArrayLike | None = None,
    b: ArrayLike | None = None,
    neighbors: Neighbors = "replace",
) -> BestClip:
    """Return the best clipping probability, and what it gains over 1 / n.

    Parameters
    ----------
    sigma, n, mu, center_offset, b, neighbors
        As for `ClippedMean`; `n` must be larger than 1.

    Returns
    -------
    BestClip

    Examples
    --------
    >>> found = best_clip([1.0] * 4, n=1000, mu=0.1)
    >>> round(found.best.clip, 2), round(found.gain, 2)
    (0.97, 3.35)
    """
    plan = ClippedMean(sigma, n=n, mu=mu, center_offset=center_offset, b=b, neighbors=neighbors)
    return BestClip(plan.best(), plan.at(1.0 / plan.n), plan.sampling)
