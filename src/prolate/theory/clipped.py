"""What clipping takes from Gaussian rows: the first two moments, column by column, exactly.

A row y has independent columns y_j ~ N(t_j, w_j), and is clipped to the norm C: what is lost is
y h, with h = (1 - C / |y|) where |y| > C and 0 elsewhere. Its moments in column j, E y_j h and
E y_j**2 h**2, need no simulation and no integral over the sphere. Tilting by exp(s |y|**2) leaves
the columns independent normal, with variance w_j / A_j and mean t_j / A_j, A_j = 1 - 2 w_j s; so
with the Laplace transforms of h and h**2 as functions of q = |y|**2, x = C**2 and z = s x,

    E y_j h       = t_j I[R1 / A_j],
    E y_j**2 h**2 = w_j I[R2 / A_j] + t_j**2 I[R2 / A_j**2],

    R1 = 1 - sqrt(pi z) erfcx(sqrt(z)),    R2 = 2 R1 - 1 + z exp(z) E1(z),

where I[g] is the contour integral of P(|y|**2 > x) with the factor g (see `contour.py`). One
contour serves all columns, and all is as exact as the tails are.

Where nearly every row is clipped, |y|**2 > x nearly always, the same moments are those of
1 - C / |y|, by 1 / sqrt(q) = integral of exp(-p q) / sqrt(pi p) and 1 / q = integral of exp(-p q)
over positive p.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Floats
from prolate.theory.chi2_mixture import ChiSquareMixture
from prolate.theory.contour import Contour, contour

__all__ = ["lost_moments"]

Complex = NDArray[np.complex128]

_ALL = -25.0  # log of the part of rows within C below which it is neglected
_FAR = 40.0  # |z| beyond which the transforms are series in 1 / z
_SERIES = 24  # terms of these series: each smaller than the last up to |z| = 40
_NODES = 80
_END = 40.0  # exp(-40) is nothing


def lost_moments(Q: ChiSquareMixture, mean: Floats, radius: float) -> tuple[Floats, Floats]:
    """Return E y_j h and E y_j**2 h**2 for each column.

    Parameters
    ----------
    Q : ChiSquareMixture
        The distribution of |y|**2: weights w_j, noncentralities t_j**2 / w_j.
    mean : float64 array of shape (d,)
        t_j.
    radius : float
        C, positive.

    Returns
    -------
    two float64 arrays of shape (d,)

    Examples
    --------
    >>> first, second = lost_moments(ChiSquareMixture([1.0]), np.zeros(1), 1.0)
    >>> round(float(second[0]), 12)  # 2 integral of (x - 1)**2 phi(x) over x > 1
    0.150679...
    """
    terms = Q._terms
    x = radius**2 / terms.scale
    weight = Q.weights / terms.scale
    square = mean**2
    if x < terms.moments()[0] and Q.logcdf(radius**2) < _ALL:
        one, two = _inverse_moments(Q, radius)
        first = 1.0 - one[0]
        second = Q.weights * (1.0 - 2.0 * one[0] + two[0])
        second += square * (1.0 - 2.0 * one[1] + two[1])
        return mean * first, second
    path = contour(terms, x, right=True)
    peak = math.exp(path.log_peak)
    r1, r2 = _transforms(path, x)
    first = peak * mean * path.by_column(weight, r1)
    second = peak * Q.weights * path.by_column(weight, r2)
    if mean.any():
        second = second + peak * square * path.by_column(weight, r2, 2)
    return first, second


def _transforms(path: Contour, x: float) -> tuple[Complex, Complex]:
    """Return R1 and R2 at the points of a path."""
    from scipy.special import exp1, wofz

    z = path.point * x
    r1, r2 = np.empty_like(z), np.empty_like(z)
    far = np.abs(z) > _FAR
    near = z[~far]
    root = np.sqrt(near)
    r1[~far] = 1.0 - math.sqrt(math.pi) * root * wofz(1j * root)
    r2[~far] = 2.0 * r1[~far] - 1.0 + near * np.exp(near) * exp1(near)
    # Asymptotic series: R1 = -sum (1/2)_k (-1/z)**k and R2 = 2 R1 + sum k! (-1/z)**k, k >= 1.
    inverse = -1.0 / z[far]
    half = whole = np.ones_like(inverse)
    r1[far] = r2[far] = 0.0
    for k in range(1, _SERIES):
        half, whole = half * (k - 0.5) * inverse, whole * k * inverse
        r1[far] -= half
        r2[far] += whole - 2.0 * half
    return r1, r2


def _inverse_moments(Q: ChiSquareMixture, radius: float) -> tuple[Floats, Floats]:
    """Return C E 1/|y| and C**2 E 1/|y|**2, tilted by a column once and twice: (2, d) each.

    With p = v**2 and v = a sinh(u), a the size of 1 / |y|, Gauss-Legendre in u.
    """
    terms = Q._terms
    weight = Q.weights / terms.scale
    size = math.sqrt(0.5 / terms.moments()[0])
    end = 1.0
    while _log_transform(Q, size * math.sinh(end)) > -_END:
        end += 1.0
    node, share = _gauss()
    u = 0.5 * end * (node + 1.0)
    v = size * np.sinh(u)
    measure = 0.5 * end * share * size * np.cosh(u)
    measure *= np.exp([_log_transform(Q, value) for value in v])
    scaled = radius / math.sqrt(terms.scale)
    to_one = measure * (2.0 * scaled / math.sqrt(math.pi))
    to_two = measure * (2.0 * scaled**2) * v
    one, two = np.empty((2, weight.size)), np.empty((2, weight.size))
    rows = 4096
    for start in range(0, weight.size, rows):
        part = slice(start, start + rows)
        tilt = 1.0 / (1.0 + 2.0 * np.outer(weight[part], v**2))
        for power in (1, 2):
            one[power - 1, part] = tilt**power @ to_one
            two[power - 1, part] = tilt**power @ to_two
    return one, two


@cache
def _gauss() -> tuple[Floats, Floats]:
    node, share = np.polynomial.legendre.leggauss(_NODES)
    return node, share


def _log_transform(Q: ChiSquareMixture, v: float) -> float:
    """Return log E exp(-v**2 |y|**2), in units of the largest weight."""
    s = -v * v
    return Q._terms.at_real(s, 1.0 - 2.0 * s)
