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

from prolate.arrays import Bools, Floats
from prolate.theory import RELATIVE, optimal_scale

__all__ = ["are_alike", "likely_scale", "likely_spread", "raised_spread"]

_UPPER = 0.9  # quantile of the spreads, beside the median, ...
_DEVIATIONS = 1.28  # ... and how far apart these are, in standard deviations of a normal shape
# So many of them below the median is what is likely at least; and at most so many times what
# a spread seems to be.
_USUAL = (1.5, np.inf)
_RELATIVE = (3.0, 4.0)
_ENOUGH = 10  # columns, perhaps of different units, that tell how much they differ, ...
_ALIKE = 16.0  # ... if the larger and the smaller quarter are at most so many times apart
_LEAST_PART = 0.25  # of a column that is there: its values are no longer, beside whole columns


def likely_scale(
    spread: Floats,
    error_norm: float,
    *,
    constant: Bools | None = None,
    part: Floats | None = None,
) -> Floats:
    """Return what rows are divided by before they are clipped, given the columns' spreads.

    For an error relative to the spreads less is raised, and nothing beside few columns, or such as
    likely are of different units: if a column is as little spread as it seems, all of that is
    error. Columns that are `constant`, as far as was seen, stay.

    Where only a `part` of a column is there, its sum is divided by that, and so is its noise. The
    smaller its scale, the less that is; but then its values make rows long, which are clipped, and
    of skewed values it is not foreseen what that takes from this column alone. So for p = 2 it is
    part**(1/4) times as large; for long symmetric rows, part**(1/2) would be best.

    Examples
    --------
    >>> likely_scale(np.array([1.0, 1.0, 0.01, 1.0]), 2.0).tolist()
    [1.0, 1.0, 1.0, 1.0]
    >>> likely_scale(np.ones(3), 2.0, part=np.array([1.0, 0.5, 0.1])).round(2).tolist()
    [1.0, 0.84, 0.71]
    """
    likely = raised_spread(spread, error_norm, constant=constant)
    if part is None:
        return optimal_scale(likely, error_norm)
    root = np.sqrt(np.maximum(part, _LEAST_PART))
    return root * optimal_scale(likely / root, error_norm)


def raised_spread(
    spread: Floats, error_norm: float, *, constant: Bools | None = None, squares: bool = False
) -> Floats:
    """Return the likely spreads of columns, for an error in this norm; constant ones stay.

    Or those whose `squares` are to be summed, which are raised by no more than values are.

    Examples
    --------
    >>> spread = np.array([0.01] + 9 * [1.0])
    >>> raised_spread(spread, 0.0)[:2].tolist()
    [0.04, 1.0]
    >>> raised_spread(spread, 0.0, squares=True)[:2].tolist()
    [0.02, 1.0]
    """
    below, most = _RELATIVE if error_norm == RELATIVE else _USUAL
    most = np.sqrt(most) if squares else most
    vary = np.ones(spread.size, dtype=np.bool_) if constant is None else ~constant
    likely, some = spread.copy(), spread[vary]
    if error_norm == RELATIVE and not (some.size >= _ENOUGH and are_alike(some)):
        return likely
    if some.size:
        likely[vary] = likely_spread(some, below, most)
    return likely


def are_alike(spread: Floats) -> bool:
    """Return whether columns of these spreads may well be of one unit.

    Examples
    --------
    >>> are_alike(np.array([1.0, 2.0, 3.0, 1000.0]))
    True
    >>> are_alike(np.array([0.1, 0.2, 30.0, 1000.0]))
    False
    """
    lower, upper = np.quantile(np.log(spread), [0.25, 0.75])
    return bool(upper - lower < np.log(_ALIKE))


def likely_spread(spread: Floats, below: float = _USUAL[0], most: float = _USUAL[1]) -> Floats:
    """Return spreads, those raised that are unlikely to be so small beside the others.

    Parameters
    ----------
    spread : float64 array of shape (d,)
        Private standard deviations, of which each may miss a part.
    below : float
        How many standard deviations below the median is likely at least.
    most : float
        At most so many times its own spread a column is given.

    Examples
    --------
    >>> likely_spread(np.array([1.0, 2.0, 4.0, 0.01])).round(2).tolist()
    [1.0, 2.0, 4.0, 0.53]
    >>> likely_spread(np.array([1.0, 10.0, 100.0, 1000.0])).round(2).tolist()
    [1.24, 10.0, 100.0, 1000.0]
    """
    middle, upper = np.quantile(np.log(spread), [0.5, _UPPER])
    least = np.exp(middle - below * (upper - middle) / _DEVIATIONS)
    return np.asarray(np.maximum(spread, np.minimum(least, most * spread)))
