"""What the other columns say of a spread that noise may hide a part of.

A column whose rare values are far out seems less spread than it is, as long as noise hides
them; none seems more spread. Where columns are alike, as standardized ones are, one that
seems much less spread than the others likely is such a column. Rows are clipped as a whole,
and a scale that is too small makes them all long, while one that is too large costs no more
than its own part of the noise. So scales are not taken below what is likely.

How much columns differ is told by the half that seems more spread: the other half may hide
something. Where they differ by decades, hardly any is raised.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prolate.theory import RELATIVE, optimal_scale

__all__ = ["likely_scale", "likely_spread"]

Floats = NDArray[np.float64]

_UPPER = 0.9  # quantile of the spreads, beside the median, ...
_DEVIATIONS = 1.28  # ... and how far apart these are, in standard deviations of a normal shape
_BELOW = 1.5  # of them, below the median: what is likely at least
_MOST = 1024.0  # times a spread: what seems less spread yet is constant, or of another kind


def likely_scale(spread: Floats, error_norm: float) -> Floats:
    """Return what rows are divided by before they are clipped, given the columns' spreads.

    For an error relative to the spreads each column counts as much, and none is raised.

    Examples
    --------
    >>> likely_scale(np.array([1.0, 1.0, 0.01, 1.0]), 2.0).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    if error_norm != RELATIVE:
        spread = likely_spread(spread)
    return optimal_scale(spread, error_norm)


def likely_spread(spread: Floats) -> Floats:
    """Return spreads, those raised that are unlikely to be so small beside the others.

    Parameters
    ----------
    spread : float64 array of shape (d,)
        Private standard deviations, of which each may miss a part.

    Examples
    --------
    >>> likely_spread(np.array([1.0, 2.0, 4.0, 0.01])).round(2).tolist()
    [1.0, 2.0, 4.0, 0.53]
    >>> likely_spread(np.array([1.0, 10.0, 100.0, 1000.0])).round(2).tolist()
    [1.24, 10.0, 100.0, 1000.0]
    """
    middle, upper = np.quantile(np.log(spread), [0.5, _UPPER])
    least = np.exp(middle - _BELOW * (upper - middle) / _DEVIATIONS)
    return np.asarray(np.maximum(spread, np.minimum(least, _MOST * spread)))
