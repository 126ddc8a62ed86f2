"""A target within public bounds: its mean and deviation from a single sum, in which nothing is cut.

A search loses rare values first: of a flag that one row in a hundred has, it sees zeros alone, or
so small a scale that the others are cut as if they were outliers. But the sums of a value within
bounds, and of its square, are as sure for rare values as for others. Where they say that the target
is mostly at its bounds, as a flag is, no value is far out, and cutting it would only take from what
features explain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from prolate.curator import Searcher
from prolate.estimators.moments import SQUARABLE
from prolate.estimators.shares import part_for
from prolate.neighbors import rows_changed
from prolate.queries import Gram

__all__ = ["BoundedTarget", "target_within_bounds"]

_SHARE = (0.002, 0.03), (0.05, 0.1)  # wanted noise of the mean, over the width, and largest share
_CLEAR = 4.0  # standard deviations that show a variance
_FILLED = 0.5  # of the most variance that bounds and a mean allow: values are mostly at the bounds


@dataclass(frozen=True)
class BoundedTarget:
    """A target within public bounds.

    Attributes
    ----------
    ends : (lower, upper)
        The bounds.
    mean, spread : float
        The deviation is at least what noise hides.
    off : float
        Noise of the mean.
    filled : bool
        Whether its values are surely at its bounds, mostly.
    seen : bool
        Whether it surely varies: by more than noise.
    """

    ends: tuple[float, float]
    mean: float
    spread: float
    off: float
    filled: bool
    seen: bool


def target_within_bounds(view: Searcher, rows: float, *, flag: bool) -> BoundedTarget | None:
    """Return what a sum tells of a target, or None if it has no bounds.

    Parameters
    ----------
    view : Searcher
        Of the target alone.
    rows : float
        Number of rows, or a private estimate of it.
    flag : bool
        Whether all values are at one of the bounds, by their type: so their mean tells all.
    """
    if view.bounds is None:
        return None
    lower, upper = (float(bound[0]) for bound in view.bounds)
    half = 0.5 * upper - 0.5 * lower
    middle = lower + half
    if not (SQUARABLE[0] < half < SQUARABLE[1] and abs(middle) < SQUARABLE[1]):
        return None
    rows = max(rows, 1.0)
    query = Gram(np.array([middle]), np.array([half]), 1.0, constant=1.0)
    one = math.sqrt(rows_changed(view.neighbors)) / (view.mu_of(1.0) * rows)
    share = view.remaining * max(part_for(one, *wanted) for wanted in _SHARE)
    measured = view.measure(query, share=share, label="target within bounds")
    # From here on in halves of the width, around the middle.
    matrix, noise = query.matrix(measured.values) / rows, query.noise(measured.std)
    own, off = noise[0] / rows, noise[1] / rows
    mean = min(max(float(matrix[0, 1]), -1.0), 1.0)
    variance, doubt = float(matrix[1, 1]) - mean**2, math.hypot(own, 2.0 * mean * off)
    most = 1.0 - max(abs(mean) - off, 0.0) ** 2
    if flag:
        variance, doubt = 1.0 - mean**2, 2.0 * off
    seen = variance > _CLEAR * doubt
    filled = flag or (seen and variance > _FILLED * (1.0 - mean**2))
    spread = math.sqrt(min(max(variance, min(doubt, most)), most))
    where = middle + half * mean, half * spread, half * off
    return BoundedTarget((lower, upper), *where, filled, seen)
