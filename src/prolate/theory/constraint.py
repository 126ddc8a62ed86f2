"""The scaling b that Poulsen's drafts could not solve for (Eq. 25), by numerics.

Lemma 4.1 minimizes the noise under E |(x - mu) * b|**2 = 1. Eq. 25 asks for the least noise under
P(|(x - mu) * b| > 1/2) <= p instead, p = 1 / n: that a row is clipped with probability p by a ball
of diameter 1. With w_j = (b_j sigma_j)**2 and q(w) the quantile of sum_j w_j chi2_1 at 1 - p, the
noise of a sum is (2 C / mu)**2 sum(b**-2) with C**2 = q(w), in any units of b; so minimize

    f(w) = q(w) sum(sigma**2 / w).

The derivative of q by w_j is g_j = E[z_j**2 | Q = q] (what a column's square is, on average, for
rows on the sphere), which the contour of the density gives for all columns at once. At the optimum
w_j**2 g_j = k sigma_j**2 with k = q / sum(sigma**2 / w). As g_j is nearly 1 / (1 - 2 w_j s) at the
saddlepoint s, each step solves w_j**2 a_j = k sigma_j**2 (1 - 2 w_j s) for w_j, with a_j =
g_j (1 - 2 w_j s) from the last step: it settles in 3 to 30 steps. Lemma 4.1 has g_j = 1, and so
gives the widest columns too much of the sphere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from prolate.arrays import Floats
from prolate.theory.checks import positive, probability
from prolate.theory.chi2_mixture import ChiSquareMixture
from prolate.theory.contour import contour

__all__ = ["BallScaling", "ball_scaling"]

_STEPS, _ENOUGH = 200, 1e-9
_ROUNDING = 1e-13  # near the optimum the noise changes by less, and the equations still improve
_BALL = 0.5  # the radius of Eq. 25


@dataclass(frozen=True, eq=False)
class BallScaling:
    """The best scaling under Eq. 25.

    Attributes
    ----------
    b : float64 array of shape (d,)
        The scaling, such that a row is outside the ball of radius 1/2 with probability `clip`.
    clip : float
        The clipping probability.
    noise, lemma : float
        q(w) sum(sigma**2 / w), the squared noise of a sum, in units of (2 / mu)**2: with this b,
        and with that of Lemma 4.1, each at its exact radius.
    steps : int
        Number of steps that were computed.
    """

    b: Floats
    clip: float
    noise: float
    lemma: float
    steps: int

    @property
    def gain(self) -> float:
        """The noise with Lemma 4.1's b divided by the noise with this b: at least 1."""
        return math.sqrt(self.lemma / self.noise)


def ball_scaling(sigma: ArrayLike, clip: float) -> BallScaling:
    """Return the scaling b with the least noise for a given clipping probability (Eq. 25).

    Parameters
    ----------
    sigma : array-like of shape (d,)
        Standard deviations, positive.
    clip : float
        Clipping probability; the drafts take 1 / n.

    Returns
    -------
    BallScaling

    Raises
    ------
    InputError
        If an argument is unsuitable.

    Examples
    --------
    >>> found = ball_scaling([4.0, 1.0, 1.0, 1.0], 1e-3)
    >>> round(found.gain, 3)
    1.069
    >>> found = ball_scaling([1.0] * 4, 1e-3)  # nothing to gain where columns are equal
    >>> round(found.gain, 9)
    1.0
    """
    spread = positive(sigma, "sigma")
    p = probability(clip)
    share = spread / spread.sum()
    w, best_w = share, share
    best, lemma = math.inf, math.inf
    miss = math.inf  # how far the optimum's equations are from holding, in relative differences
    for step in range(1, _STEPS + 1):
        q, g, saddle = _on_the_sphere(w, p)
        need = share**2 / w
        total = float(need.sum())
        noise = q * total
        if step == 1:
            lemma = noise
        if noise <= best * (1.0 + _ROUNDING):
            best, best_w = min(best, noise), w
            miss = float(np.abs(w * g / q - need / total).sum())
        if miss < _ENOUGH or noise > best * (1.0 + 1e-9):
            break
        k = q / total * share**2
        half = saddle * k
        w = k / (half + np.sqrt(half**2 + g * (1.0 - 2.0 * saddle * w) * k))
    q = ChiSquareMixture(best_w).isf(p)
    b = np.sqrt(best_w / q) * _BALL / spread
    scale = float(spread.sum()) ** 2
    return BallScaling(b, p, best * scale, lemma * scale, step)


def _squares(Q: ChiSquareMixture, x: float) -> tuple[Floats, float]:
    """Return E[z_j**2 | Q = x] of the independent standard normal z of Q, and the saddlepoint."""
    terms = Q._terms
    x /= terms.scale
    path = contour(terms, x, right=x >= terms.moments()[0])
    found = path.by_column(Q.weights / terms.scale, path.point) / path.integral(path.point)
    return found, float(path.point[0].real) / terms.scale


def _on_the_sphere(w: Floats, p: float) -> tuple[float, Floats, float]:
    Q = ChiSquareMixture(w)
    q = Q.isf(p)
    return q, *_squares(Q, q)
