"""Conversions between what a Gaussian measurement is and what epsilon and delta say of it.

A mu-GDP release has

    delta(epsilon) = Phi(-epsilon/mu + mu/2) - e**epsilon Phi(-epsilon/mu - mu/2)

(Balle, Wang 2018, Theorem 8), its whole (epsilon, delta) curve.  With
x = epsilon/mu - mu/2, phi the normal density and m(x) = Phi(-x)/phi(x) Mills'
ratio, the same curve is ``phi(x) (m(x) - m(x + mu))``: one exponential times a
difference of order one, which is how it is computed here, so that it holds for
delta down to 1e-300.

A release with a step that is not Gaussian (the exponential mechanism) is only
rho-zCDP; it is converted with the bound of Canonne, Kamath, Steinke 2020
(Corollary 13), which is larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from prolate.arrays import Floats
from prolate.errors import BudgetError

__all__ = [
    "SAFE",
    "classical_sigma",
    "epsilon_from",
    "gdp_log_delta",
    "increasing_root",
    "mu_from",
    "zcdp_log_delta",
    "zcdp_mu_from",
]

SAFE = 1e-12
"""Relative safety of every conversion, far above its rounding error."""

_OFF = 4e-15  # of log(delta), by rounding: where a curve is flat, epsilons are off by far more

_LOG_SQRT_TWO_PI = 0.5 * math.log(2.0 * math.pi)


def gdp_log_delta(epsilon: float, mu: float) -> float:
    """Return log(delta) of a mu-GDP mechanism at `epsilon` (Balle, Wang 2018).

    Examples
    --------
    >>> round(math.exp(gdp_log_delta(1.0, 1.0)), 6)
    0.126937
    """
    from scipy.special import log_ndtr

    x = epsilon / mu - mu / 2.0
    if x > 1e8:
        return -0.5 * x * x  # a bound, and less than the logarithm of any float
    if mu >= 1.0 and x < 0.0:
        log_first = float(log_ndtr(-x))
        log_second = epsilon + float(log_ndtr(-x - mu))
        return log_first + math.log1p(-math.exp(log_second - log_first))
    return -0.5 * x * x - _LOG_SQRT_TWO_PI + math.log(_mills_difference(x, mu))


def _mills_difference(x: float, mu: float) -> float:
    """Return m(x) - m(x + mu) > 0 without cancellation."""
    import numpy as np
    from scipy.special import erfcx

    scale = math.sqrt(math.pi / 2.0)
    if mu >= 1.0:
        at_x, beyond = erfcx(np.array([x, x + mu]) / math.sqrt(2.0)) * scale
        return float(at_x - beyond)
    # m' = x m - 1, so the difference is the integral of 1 - t m(t) over
    # [x, x + mu]; twenty Gauss-Legendre nodes are exact to rounding for mu < 1.
    nodes, weights = _nodes()
    t = x + mu * (nodes + 1.0) / 2.0
    near = np.minimum(t, 50.0)
    u = 1.0 / np.maximum(t, 50.0) ** 2
    slope = np.where(
        t < 50.0,
        1.0 - near * erfcx(near / math.sqrt(2.0)) * scale,
        u * (1.0 - u * (3.0 - u * (15.0 - u * (105.0 - u * 945.0)))),
    )
    return float(mu / 2.0 * np.dot(weights, slope))


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Return twenty nodes between -1 and 1, and their weights."""
    import numpy as np

    return np.polynomial.legendre.leggauss(20)


def zcdp_log_delta(epsilon: float, rho: float) -> float:
    """Return log(delta) of a rho-zCDP mechanism (Canonne, Kamath, Steinke 2020).

    Every order alpha > 1 gives a valid bound, so an inexact minimum is safe.
    """

    def slope(excess: float) -> float:
        """Return the bound's derivative in the order, as a multiple of what is positive."""
        return (1.0 + 2.0 * excess) * rho - epsilon - math.log1p(1.0 / excess)

    # The last term is at most log 2 at orders of 2 and more, where the first outweighs it.
    excess = increasing_root(slope, 1e-300, 1.0 + (1.0 + epsilon) / rho)
    alpha = 1.0 + excess
    shrink = alpha * math.log1p(1.0 / excess)
    return min(0.0, excess * (alpha * rho - epsilon) - math.log(excess) - shrink)


def increasing_root(target: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of an increasing function on (low, high], by halving the logarithm's range.

    A few microseconds a step; importing `scipy.optimize` takes a fifth of a second.
    """
    log_low, log_high = math.log(low), math.log(high)
    while log_low < (middle := 0.5 * (log_low + log_high)) < log_high:
        if target(math.exp(middle)) < 0.0:
            log_low = middle
        else:
            log_high = middle
    return math.exp(middle)


def mu_from(epsilon: float, log_delta: float) -> float:
    """Return the mu whose delta at `epsilon` is that of `log_delta`, a little less.

    Examples
    --------
    >>> round(mu_from(1.0, math.log(1e-6)), 3)
    0.237
    """
    # epsilon / mu - mu / 2 is 60 at the low end, where delta < exp(-60**2 / 2), and below
    # -40 at the high end, where delta is within exp(-40**2 / 2) of one.
    root = math.sqrt(2.0 * epsilon + 3600.0)
    low, high = max(2.0 * epsilon / (root + 60.0), 1e-300), root + 20.0
    if epsilon > 1e8 or gdp_log_delta(epsilon, low) >= log_delta:
        return low  # far beyond the range that Budget allows, above or below
    found = increasing_root(lambda mu: gdp_log_delta(epsilon, mu) - log_delta, low, high)
    return found * (1.0 - SAFE)


def zcdp_mu_from(epsilon: float, log_delta: float, most: float) -> float:
    """Return the mu, up to `most`, whose rho-zCDP has the delta of `log_delta` at `epsilon`."""
    whole = low = 0.5 * most * most
    while zcdp_log_delta(epsilon, low) > log_delta:
        low /= 2.0
    if low == whole:
        return most
    rho = increasing_root(lambda r: zcdp_log_delta(epsilon, r) - log_delta, low, 2.0 * low)
    return math.sqrt(2.0 * rho * (1.0 - 1e-9))


def epsilon_from(curve: Callable[[float], float], log_delta: float, rho: float) -> float:
    """Return the epsilon at which a release in rho-zCDP has the delta of `log_delta`, rounded up.

    `curve` is its log(delta) at an epsilon.
    """
    if curve(0.0) <= log_delta:
        return 0.0
    log_delta -= _OFF * (1.0 - log_delta)
    high = rho + 2.0 * math.sqrt(rho * -log_delta) + 1e-12  # Lemma 2.3 of PLAN
    low = high * 1e-18
    if curve(low) <= log_delta:
        return low
    found = increasing_root(lambda e: log_delta - curve(e), low, high * 1.01)
    return found * (1.0 + SAFE)


def classical_sigma(epsilon: float, delta: float) -> float:
    """Return the classical Gaussian mechanism's sigma per unit of sensitivity.

    ``sqrt(2 ln(1.25 / delta)) / epsilon`` (Dwork, Roth 2014, Theorem 3.22), for
    comparison only: it holds for epsilon < 1, and wastes noise there.

    Examples
    --------
    >>> round(classical_sigma(0.5, 1e-6), 3)
    10.598
    """
    if not 0.0 < epsilon < 1.0:
        raise BudgetError(
            f"The classical mechanism is private only for 0 < epsilon < 1; got {epsilon:g}. "
            "Use 1 / Budget(epsilon=..., delta=...).mu, which is exact everywhere."
        )
    if not 0.0 < delta < 1.0:
        raise BudgetError(f"delta must lie strictly between 0 and 1; got {delta:g}.")
    return math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon
