"""Contour integrals of the transform M(s) = E exp(s Q) of Q = sum_j w_j chi2_1(lambda_j).

With A_j = 1 - 2 w_j s,

    log M(s) = K(s) = sum_j -1/2 log A_j + lambda_j w_j s / A_j,

    P(Q > x) = 1/(2 pi i) integral of exp(K(s) - s x) / s ds       (from c - i oo to c + i oo),

with 0 < c < 1 / (2 max w); for c < 0 the same integral is -P(Q <= x). M is analytic but for
the real half-line beyond 1 / (2 max w), so that the path may be bent to the right, where
exp(-s x) falls. Three choices make the integral exact to rounding in some thirty to a hundred
points, whatever the weights:

1. c is the saddlepoint, the least value of the integrand on the real axis; so the integrand is
   nowhere much larger than the integral, and tails of 1e-300 keep all their digits.
2. The path is a hyperbola through c, bent there like the path of steepest descent, with arms that
   go out at 45 to 70 degrees to the real axis. All its points are seen from c at 45 to 90 degrees,
   and along a straight line from c at such an angle the modulus of each single term falls: with
   q = 2 w r / A(c) at the distance r, and C = cos(angle), it is the exponential of
   h(q) = -1/2 log(1 - 2 q C + q**2) - q C (the last part is the term's share of -s x, as
   K'(c) = x but for the factor 1 / s), and h'(q) has the sign of cos(2 angle) - q C <= 0; a
   non-central term likewise. So weights of very different sizes, each of which matters at a
   distance of its own, cannot make the integrand grow again.
3. In the hyperbola's parameter u, s is about exp(u): every scale takes equally many points.
   The trapezoidal rule converges geometrically; halving its step squares its error, so two
   sums that agree to 1e-6 are right to 1e-12.

Only the lower half of the path is computed; the upper half is its mirror image.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Floats
from prolate.theory.terms import CHUNK, Terms

__all__ = ["Contour", "contour", "point_at"]

Complex = NDArray[np.complex128]

_NEWTON, _NEAR = 60, 1e-3  # steps to the saddlepoint, which need not be exact
_FLATTEST, _STEEPEST = 0.35, math.pi / 4  # how far the arms lean from the vertical
_STEP, _HALVINGS, _AGREE = 0.4, 7, 1e-6  # two sums that agree to 1e-6 are right to 1e-12
_NOTHING = 1e-18  # of the sum so far: where the path is cut off
_PIECE, _LARGE_PIECE = 3, 8  # points evaluated at once while the path grows ...
_MANY = 500  # ... with at least so many weights, and with fewer
_PIECES = 200


@dataclass(frozen=True)
class Contour:
    """Points of a path and what they add to an integral.

    For a function g, the sum over `point` of the imaginary part of `share` * g(point), times
    exp(`log_peak`), is the integral of g(s) exp(K(s) - s x) / s over the whole path, over
    2 pi i; with g = 1 it is P(Q > x) on the right of 0, and -P(Q <= x) on the left.

    Attributes
    ----------
    point, first : complex128 arrays of shape (k,)
        s and 1 - 2 s, both with all their digits.
    share : complex128 array of shape (k,)
    log_peak : float
    """

    point: Complex
    first: Complex
    share: Complex
    log_peak: float

    def integral(self, factor: Complex | float = 1.0) -> float:
        """Return the integral with a factor, over exp(log_peak)."""
        return float(np.sum((self.share * factor).imag))

    def by_column(self, weight: Floats, factor: Complex | float = 1.0, power: int = 1) -> Floats:
        """Return the integrals with `factor` / (1 - 2 w s)**power, for each w of `weight`.

        Weights are over the largest. Tilting by exp(s Q) divides the variance of column j by
        1 - 2 w_j s, so these are expectations of a column's square given what Q is.
        """
        distinct, place = np.unique(weight, return_inverse=True)
        share = self.share * factor
        found = np.empty(distinct.size)
        rows = max(1, CHUNK // share.size)
        for start in range(0, distinct.size, rows):
            w = distinct[start : start + rows, None]
            found[start : start + rows] = (((1.0 - w) + w * self.first) ** -power @ share).imag
        return found[place.ravel()]


@dataclass(frozen=True)
class _Path:
    """The lower half of a hyperbola through the saddlepoint."""

    terms: Terms
    x: float
    center: float
    first: float
    width: float
    lean: float
    log_peak: float

    def piece(self, u: Floats) -> tuple[Complex, Complex, Complex]:
        """Return s, 1 - 2 s, and the integrand over its value at the saddlepoint, at u."""
        real = self.lean * 2.0 * np.sinh(0.5 * u) ** 2
        away = self.width * (real - 1j * np.sinh(u))
        speed = self.width * (self.lean * np.sinh(u) - 1j * np.cosh(u))
        s, first = self.center + away, self.first - 2.0 * away
        exponent = self.terms.at(s, first) - s * self.x - self.log_peak
        return s, first, np.exp(exponent) / s * speed


def contour(terms: Terms, x: float, *, right: bool, agree: float = _AGREE) -> Contour:
    """Return the points and shares of the path to the right (or left) of 0.

    Parameters
    ----------
    terms : Terms
    x : float
        Positive, in units of the largest weight.
    right : bool
        Right for P(Q > x), which wants x not far below the mean; left for P(Q <= x).
    agree : float
        Relative; the integrals' error is about its square.
    """
    path = _path(terms, x, right=right)
    step = _STEP
    u, s, first, value = _grow(path, step)
    before = _sums(step, u, s, value)
    for _ in range(_HALVINGS):
        between = u[:-1] + 0.5 * step if u.size > 1 else u + 0.5 * step
        more = path.piece(between)
        u = np.concatenate([u, between])
        s, first, value = (np.concatenate(two) for two in zip((s, first, value), more, strict=True))
        order = np.argsort(u)
        u, s, first, value = u[order], s[order], first[order], value[order]
        step *= 0.5
        after = _sums(step, u, s, value)
        if np.all(np.abs(after - before) <= agree * np.abs(after)):
            break
        before = after
    share = value * np.where(u == 0.0, 0.5, 1.0) * (-step / math.pi)
    return Contour(s, first, share, path.log_peak)


def _sums(step: float, u: Floats, s: Complex, value: Complex) -> Floats:
    """Return the integrals with the factors 1 and s, up to a constant."""
    halved = value * np.where(u == 0.0, 0.5, 1.0) * step
    return np.array([halved.imag.sum(), (halved * s).imag.sum()])


def _grow(path: _Path, step: float) -> tuple[Floats, Complex, Complex, Complex]:
    """Return points from u = 0 to where nothing more comes."""
    pieces = []
    total = 0.0
    few = _LARGE_PIECE if path.terms.weight.size < _MANY else _PIECE
    for number in range(_PIECES):
        u = np.asarray(step * np.arange(number * few, (number + 1) * few), dtype=np.float64)
        pieces.append((u, *path.piece(u)))
        s, value = pieces[-1][1], pieces[-1][3]
        size = np.abs(value) * np.maximum(np.abs(s) / abs(path.center), 1.0)
        total += float(size.sum())
        if size[-1] <= _NOTHING * total:
            break
    u = np.concatenate([piece[0] for piece in pieces])
    s, first, value = (np.concatenate([piece[k] for piece in pieces]) for k in (1, 2, 3))
    return u, s, first, value


def _path(terms: Terms, x: float, *, right: bool) -> _Path:
    center, first = _saddle(terms, x, right=right)
    _, two, three = terms.slopes(center, first)
    # phi = K(s) - s x - log|s|: s**2 phi'' and s**3 phi'''.
    bend, twist = two + 1.0, three - 2.0
    lean = math.copysign(1.0, center) * twist / (3.0 * bend**1.5)
    lean = min(max(lean, math.tan(_FLATTEST)), math.tan(_STEEPEST))
    log_peak = terms.at_real(center, first) - center * x
    return _Path(terms, x, center, first, abs(center) / math.sqrt(bend), lean, log_peak)


def _saddle(terms: Terms, x: float, *, right: bool) -> tuple[float, float]:
    """Return s with K'(s) = x + 1 / s, to about three digits, and 1 - 2 s.

    The left side of s K'(s) - s x - 1 = 0 rises in v, where s = 1 / (2 + 2 exp(-v)) on the
    right of 0 and s = -exp(v) on the left.
    """
    mean, variance = terms.moments()
    guess = abs(x - mean) / variance + 1.0 / math.sqrt(variance)
    low, high, most = -math.inf, math.inf, 2.0
    if right:
        part = min(2.0 * guess, 0.8)
        v = math.log(part / (1.0 - part))
    else:  # s K'(s) > -d / 2 - sum(lambda) / 8
        high = math.log(0.5 * terms.count.sum() + 0.125 * terms.noncentrality.sum() + 1.0)
        high -= math.log(x)
        v = min(math.log(guess), high)
    for _ in range(_NEWTON):
        s, first, chain = point_at(v, right=right)
        one, two, _ = terms.slopes(s, first)
        value = one - s * x - 1.0
        if value < 0.0:
            low = v
        else:
            high = v
        slope = (value + two + 1.0) * chain
        move = -value / slope if slope > 0.0 else math.copysign(most, -value)
        move = min(max(move, -most), most)
        most = 2.0 * most if abs(move) == most else most
        if not low < v + move < high:
            move = 0.5 * (low + high) - v
        v += move
        if abs(move) < _NEAR:
            break
    s, first, _ = point_at(v, right=right)
    return s, first


def point_at(v: float, *, right: bool) -> tuple[float, float, float]:
    """Return s, 1 - 2 s and (ds / dv) / s."""
    if not right:
        s = -math.exp(v)
        return s, 1.0 - 2.0 * s, 1.0
    first = 1.0 / (1.0 + math.exp(v)) if v < 700.0 else math.exp(-v)
    return 0.5 / (1.0 + math.exp(-v)) if v > -700.0 else 0.5 * math.exp(v), first, first
