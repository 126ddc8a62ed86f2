"""Units for features that fill their public bounds, as flags do.

A flag that 2 % of the rows have is 7 deviations from its mean in these. So these rows are clipped,
and by more than others. But around the middle of its bounds a flag is as far in all rows, and none
is long by it. With half the width of the bounds w and a deviation sigma, its unit is
sqrt(sigma w): so the squares of all flags add up to the sum of w / sigma, in every row, and of all
units these give slopes the least noise in all.

The mean is far from the middle, so that the constant beside the features is larger
(`standard.py`), and noise of the mean counts. Rare flags make all rows long: they are treated so
only where noise is small all the same.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from prolate.arrays import Floats, Limits
from prolate.estimators.lengths.norms import MeasuredNorms
from prolate.estimators.regression.correction import factors
from prolate.estimators.regression.standard import Middles, Standard
from prolate.estimators.search.spread import LARGEST, SMALLEST

__all__ = ["around_middles", "clip_doubt"]

_FILLED, _APART = 0.5, 0.5  # of the variance, and mean square from the middle, of values at bounds
_NOTHING = 2.0**-30  # of half the width: a deviation that flags' zeros have for that of numbers
# Rows times mu that pay for a feature, over the squared length that rows have with it, times w over
# sigma: so the noise of its variance, over that, is small.
_PAYS = 50.0
_FEWEST = 4.0  # rows times mu that the rarer value is taken to have, at least
_NEARER = 0.25  # of a deviation, which its mean may say is too large, at least


def around_middles(standard: Standard, bounds: Limits | None, enough: float) -> Standard:
    """Return units in which features that fill their bounds are around the middles of these.

    Parameters
    ----------
    standard : Standard
        With all features around their means.
    bounds : (lower, upper), optional
        Public bounds of features and target.
    enough : float
        Rows times mu.
    """
    if bounds is None:
        return standard
    width = bounds[1][:-1] - bounds[0][:-1]
    known = np.isfinite(width) & (width > SMALLEST)
    lower, upper = (
        np.where(known, bound[:-1], other) for bound, other in zip(bounds, (-1.0, 1.0), strict=True)
    )
    middle, half = 0.5 * lower + 0.5 * upper, 0.5 * upper - 0.5 * lower
    center, scale = standard.center[:-1], standard.scale[:-1]
    # Of all values within bounds of this mean, those at the bounds deviate most.
    most = np.sqrt(np.maximum(upper - center, 0.0)) * np.sqrt(np.maximum(center - lower, 0.0))
    filled = known & (scale < LARGEST) & (scale > math.sqrt(_FILLED) * most)
    filled &= np.hypot(center - middle, scale) > math.sqrt(_APART) * half
    # Rows of which nothing can be told are not looked for.
    least = 2.0 * half * math.sqrt(min(_FEWEST / max(enough, 1.0), 0.25))
    spread = np.minimum(np.minimum(scale, np.maximum(most, _NEARER * scale)), half)
    spread = np.maximum(spread, least)
    scale = np.where(known & (scale < _NOTHING * half), np.maximum(scale, least), scale)

    steep = half / np.where(filled, spread, half)
    order = np.argsort(np.where(filled, steep, np.inf), kind="stable")
    length = np.cumsum(steep[order]) + np.arange(order.size)[::-1]  # squared; of others it is 1
    filled[order] &= _PAYS * length * steep[order] <= enough
    if not filled.any():
        return replace(standard, scale=np.append(scale, standard.scale[-1]))
    unit = np.sqrt(spread) * np.sqrt(half)
    return replace(
        standard,
        center=np.append(np.where(filled, middle, center), standard.center[-1]),
        scale=np.append(np.where(filled, unit, scale), standard.scale[-1]),
        middles=Middles(
            filled,
            mean=np.where(filled, np.clip(center - middle, -half, half) / unit, 0.0),
            variance=np.where(filled, spread / half, 1.0),
        ),
    )


def clip_doubt(
    middles: Middles, norms: MeasuredNorms, radius: float
) -> tuple[Floats, list[Floats]]:
    """Return by which part each slope of a feature around a middle may be wrong.

    And by which parts all of these may be wrong together, and all others.

    Rows are clipped as they are long by the others, by f = radius / |z|. Were f the same in all
    rows, all slopes would be 1 / f times as large. But as it varies, so does f times the mean of a
    feature, beside which the deviations of few rows are small.
    """
    first, second = factors(norms, radius)
    each = max(second - first**2, 0.0) * middles.mean**2 / middles.variance
    more = first / second - 1.0
    return each, [np.where(kind, more, 0.0) for kind in (middles.which, ~middles.which)]
