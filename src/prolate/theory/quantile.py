"""Quantiles of a chi-square mixture: from the saddlepoint to a few percent, then exactly.

The start is the saddlepoint approximation of Lugannani and Rice, in the form of
Barndorff-Nielsen: for x = K'(s), r = sign(s) sqrt(2 (s x - K(s))) and u = s sqrt(K''(s)),

    P(Q > x) is about 1 - Phi(r + log(u / r) / r),

which is solved for s, with no search for the s of an x. Then come Halley's steps on the logarithm
of the smaller tail; one contour gives the tail, the density and its derivative.
"""

from __future__ import annotations

import math

from prolate.errors import InputError
from prolate.theory.contour import contour, point_at
from prolate.theory.terms import Terms

__all__ = ["tail_quantile"]

_STEPS, _LAST = 60, 1e-5  # Halley's step from an error of 1e-5 leaves one of 1e-14
_ROUGH, _FINE = 1e-3, 1e-6  # what sums agree to: the error is the square
_CENTER = 0.02  # nearer to the mean than that, r and u are all rounding error
_LOWEST = 570.0  # log of the largest -s: a quantile near exp(-570) counts as 0


def tail_quantile(terms: Terms, p: float, *, upper: bool) -> float:
    """Return the x with P(Q > x) = p (or P(Q <= x) = p).

    Examples
    --------
    >>> import numpy as np
    >>> terms = Terms.of(np.ones(2), np.zeros(2))
    >>> round(tail_quantile(terms, math.exp(-5.0), upper=True), 12)
    10.0
    """
    if not 0.0 <= p <= 1.0:
        raise InputError(f"p must lie between 0 and 1; got {p:g}.")
    if p in (0.0, 1.0):
        return math.inf if (p == 0.0) == upper else 0.0
    if p > 0.5:
        p, upper = 1.0 - p, not upper
    target = math.log(p)
    mean = terms.moments()[0]
    x = _start(terms, target, upper=upper)
    if x == 0.0:
        return 0.0
    low, high = 0.0, math.inf
    for number in range(_STEPS):
        right = x >= mean
        path = contour(terms, x, right=right, agree=_ROUGH if number == 0 else _FINE)
        z = x * path.point  # in units of 1 / x, that nothing overflows
        tail, density, slope = (path.integral(g) for g in (1.0, z, -(z**2)))
        if right == upper:
            log_tail = path.log_peak + math.log(abs(tail))
            density, slope = density / abs(tail), slope / abs(tail)
        else:
            peak = math.exp(path.log_peak)
            log_tail = math.log1p(-peak * abs(tail))
            density, slope = (value * peak / math.exp(log_tail) for value in (density, slope))
        miss = log_tail - target
        if (miss > 0.0) == upper:
            low = x
        else:
            high = x
        moved = _halley(x, miss, density, slope, upper=upper)
        if (abs(miss) < _LAST and number > 0) or moved == x:
            return moved * terms.scale
        if not low < moved < high:
            moved = math.sqrt(low * high) if 0.0 < low < high < math.inf else moved
            moved = 0.5 * high if moved <= 0.0 else moved
        x = moved
    return x * terms.scale


def _halley(x: float, miss: float, density: float, slope: float, *, upper: bool) -> float:
    """Return the next x: steps in x for the upper tail, in log x for the lower one.

    `density` and `slope`, its derivative, are over the tail, and times x and x squared.
    """
    if upper:
        first, second = -density, -slope - density**2
    else:
        first = density
        second = slope + first - first**2
    newton = -miss / first
    turn = 1.0 + 0.5 * newton * second / first
    step = newton / min(max(turn, 0.5), 2.0)
    return x * max(1.0 + step, 0.5) if upper else x * math.exp(min(max(step, -50.0), 50.0))


def _start(terms: Terms, log_tail: float, *, upper: bool) -> float:
    """Return about the x whose upper (or lower) tail has this logarithm."""
    from scipy.optimize import brentq
    from scipy.special import ndtri_exp

    target = float(ndtri_exp(log_tail)) * (-1.0 if upper else 1.0)
    mean, variance = terms.moments()
    middle = _skewness(terms) / 6.0
    deviation = math.sqrt(variance)
    right = target > middle
    if abs(target - middle) < _CENTER:
        return mean + deviation * (target - middle)

    def miss(v: float) -> float:
        s, first, _ = point_at(v, right=right)
        one, two, _ = terms.slopes(s, first)
        r = math.copysign(math.sqrt(max(2.0 * (one - terms.at_real(s, first)), 0.0)), s)
        if abs(r) < _CENTER:
            return middle + r - target
        return r + math.log(math.copysign(math.sqrt(two), s) / r) / r - target

    # The further from the mean, the larger v, on either side.
    low = high = math.log(1.0 / deviation)
    sign = 1.0 if right else -1.0
    while sign * miss(low) > 0.0:
        low -= 2.0
    while sign * miss(high) < 0.0:
        high += 2.0
        if high > _LOWEST:
            return 0.0
    v = low if low == high else float(brentq(miss, low, high, xtol=1e-3))
    s, first, _ = point_at(v, right=right)
    return float(terms.slopes(s, first)[0] / s)


def _skewness(terms: Terms) -> float:
    third = 8.0 * float(terms.weight**3 @ (terms.count + 3.0 * terms.noncentrality))
    return third / math.pow(terms.moments()[1], 1.5)
