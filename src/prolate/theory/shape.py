"""The shape of Gaussian noise that is best for an l_p error (PLAN, Appendix C).

Rows are divided by s_j in coordinate j before a Gaussian is added that is the same in
every coordinate, and multiplied by s_j afterwards. For coordinates of sensitivity (or
spread) Delta_j, the p-th moment of the error is least for s_j = Delta_j**(2 / (p + 2)).

As p falls to 0 that becomes Delta_j itself: noise in proportion to each coordinate's spread,
which makes the product of all errors least, and so the relative ones alike, whatever the units.
"""

from __future__ import annotations

import math

import numpy as np

from prolate.arrays import Floats

__all__ = ["RELATIVE", "effective_columns", "error_unit", "noise_moment", "optimal_scale"]

RELATIVE = 0.0
"""Stands for "relative" instead of a p >= 1: errors count relative to the column's spread."""


def optimal_scale(spread: Floats, error_norm: float) -> Floats:
    """Return the scales of the best noise, s_j = spread_j**(2 / (p + 2)) (PLAN, Lemma C.2).

    Divide coordinate j by s_j, add equal noise to every coordinate, and multiply by s_j.

    Parameters
    ----------
    spread : float64 array of shape (d,)
        Sensitivity, range or standard deviation of each coordinate, positive.
    error_norm : float
        The p >= 1 of the l_p error to make small, or `RELATIVE`.

    Returns
    -------
    float64 array of shape (d,)

    Examples
    --------
    >>> optimal_scale(np.array([1.0, 16.0]), 2).tolist()
    [1.0, 4.0]
    >>> optimal_scale(np.array([1.0, 16.0]), RELATIVE).tolist()
    [1.0, 16.0]
    """
    return np.asarray(spread ** (2.0 / (error_norm + 2.0)))


def error_unit(scale: Floats, error_norm: float) -> Floats:
    """Return units of the columns in which an l_2 error is small when the l_p error is.

    With errors e_j in proportion to the scales s_j, as those of noise are, a small part of e_j**2
    changes the sum of all e_j**p by as much as it changes that of all (e_j / u_j)**2, where
    u_j = s_j**(1 - p / 2).

    Parameters
    ----------
    scale : float64 array of shape (d,)
        Of the noise, such as `optimal_scale`; positive.
    error_norm : float
        The p >= 1, or `RELATIVE`.

    Returns
    -------
    float64 array of shape (d,)
        1 for the largest scale.

    Examples
    --------
    >>> error_unit(np.array([1.0, 4.0]), 2).tolist()
    [1.0, 1.0]
    >>> error_unit(np.array([1.0, 4.0]), RELATIVE).tolist()
    [0.25, 1.0]
    >>> error_unit(np.array([1.0, 4.0]), 4).tolist()
    [4.0, 1.0]
    """
    return np.asarray((scale / np.max(scale)) ** (1.0 - error_norm / 2.0))


def noise_moment(noise_std: Floats, error_norm: float) -> float:
    """Return E |N|_p**p for independent normal N_j with mean 0 (PLAN, Lemma C.1).

    Parameters
    ----------
    noise_std : float64 array of shape (d,)
        Standard deviations of the N_j.
    error_norm : float
        The p.

    Examples
    --------
    >>> noise_moment(np.array([3.0, 4.0]), 2)
    25.0
    """
    p = error_norm
    constant = 2.0 ** (p / 2.0) * math.gamma((p + 1.0) / 2.0) / math.sqrt(math.pi)
    return float(round(constant, 15) * np.sum(noise_std**p))


def effective_columns(spread: Floats, scale: Floats) -> float:
    """Return the effective number of columns, between 1 and d.

    Noise of C in every coordinate of the scaled rows has norm C |scale|_2 once scaled back. A
    typical row of scaled length C has norm C |spread|_2 / |spread / scale|_2. The result is the
    square of their quotient: d for equal columns, and few if few columns dominate.

    Parameters
    ----------
    spread : float64 array of shape (d,)
        Spread of each column.
    scale : float64 array of shape (d,)
        What each column is divided by.

    Examples
    --------
    >>> effective_columns(np.ones(4), np.ones(4))
    4.0
    """
    ratio = spread / scale
    ratio, scale = ratio / ratio.max(), scale / scale.max()
    return float(np.sum(ratio**2) * np.sum(scale**2) / np.sum((scale * ratio) ** 2))
