"""The intercept from the mean of what the slopes leave of the target.

A Gram matrix holds the mean of the cut target, which is not that of the target where its errors
are skewed, and of clipped features, which is not theirs where they are skewed. By least squares
the intercept is the mean of y - x @ slopes, whatever the slopes: a single column, whose mean is
taken as that of any skewed column, clipped to an interval with what clipping takes given back
(`lengths/interval.py`). The intercept of the Gram matrices counts, too, by its noise and by what
its own cut takes as far as the tails tell.

The tails tell of the slopes, too: what the cuts take is missing in them as far as features explain
how far out values are, which nothing tells. So a part of it counts as their error.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator
from prolate.estimators.lengths.interval import clipped_to_interval
from prolate.estimators.lengths.side_tail import SideTail
from prolate.estimators.lengths.sides import measure_sides
from prolate.estimators.regression.slopes import Slopes
from prolate.estimators.regression.standard import Standard
from prolate.estimators.rotation import TurnedCurator

__all__ = ["SKEWED", "with_level"]

Floats = NDArray[np.float64]

SKEWED = (
    "The residuals of the target are skewed. The line goes through the mean of the rows, but its "
    "slopes are those of values that are not far out. If the features also explain the values far "
    "out, the intervals of the slopes are too narrow, and so is that of an intercept far from the "
    "rows."
)
"""The warning where the cut of the target surely takes more from one side than from the other."""

_SIDES = 0.3  # part of the share for a histogram of both sides
_CLEARLY = 0.02  # spreads that the cut takes from the mean
_EXPLAINED = 0.5  # part of what it takes off heavy tails, that features may explain


def with_level(
    curator: Curator,
    sample: Curator,
    rows: float,
    standard: Standard,
    slopes: Slopes,
    *,
    cut: float,
    counted: bool,
) -> tuple[Slopes, bool]:
    """Return slopes with an intercept that skewed errors do not move, with all that is left.

    And whether these errors are surely skewed. The slopes' own errors are raised where tails are
    heavy.

    Parameters
    ----------
    curator : Curator
    sample : Curator
        Of the rows of which the tails are counted.
    rows : float
        All of them.
    standard : Standard
    slopes : Slopes
        In standard units.
    cut : float
        Where the Gram matrix cut what its mean is of, in standard units.
    counted : bool
        Whether `rows` was measured.
    """
    unit = float(standard.scale[-1])
    center = standard.center.copy()
    center[-1] += unit * slopes.value[-1]
    coef = slopes.value[:-1] * unit / standard.scale[:-1]
    matrix = np.append(-coef, 1.0)[:, np.newaxis]
    noise = slopes.noise[:-1, :-1]
    width = math.sqrt(slopes.rest + max(float(np.sum(noise * slopes.features)), 0.0))
    spread, zero = np.array([unit * width]), np.zeros(1)

    searched = TurnedCurator(sample, center, matrix, spread)
    few, share = rows * sample.fraction, _SIDES * curator.remaining
    low, high = measure_sides(searched, zero, spread, few, share=share)
    lost, doubt = (width**2 * part for part in _lost(low, high, cut / width))
    surely, errors = max(lost - doubt, 0.0), slopes.noise.copy()
    more = _EXPLAINED * width * _more(low, high, cut / width)
    errors[:-1, :-1] += more**2 * np.linalg.pinv(slopes.features, hermitian=True)
    skewed = surely > (_CLEARLY * width) ** 2
    if sample is not curator and not skewed:  # not worth one more pass over many rows
        errors[-1, -1] += lost + doubt
        return replace(slopes, noise=errors), False
    left = TurnedCurator(curator, center, matrix, spread)
    found = clipped_to_interval(
        left,
        zero,
        spread,
        low,
        high,
        rows=rows,
        missing=zero,
        share=curator.remaining,
        counted=counted,
    )

    own, there = _own(slopes.noise), float(found.value[0]) / unit
    here = float(np.hypot(found.noise_std[0], found.doubt[0])) / unit
    weight = (own + surely) / (own + surely + here**2)
    value = slopes.value.copy()
    value[-1] += weight * there
    errors[-1, -1] += (weight * here) ** 2 + (1.0 - weight) ** 2 * (own + lost + doubt) - own
    return replace(slopes, value=value, noise=errors), skewed


def _own(noise: Floats) -> float:
    """Return the variance of the intercept that the errors of the slopes do not explain."""
    cross = noise[-1, :-1]
    explained = float(cross @ np.linalg.pinv(noise[:-1, :-1], hermitian=True) @ cross)
    return max(float(noise[-1, -1]) - explained, 0.0)


def _lost(low: SideTail, high: SideTail, cut: float) -> tuple[float, float]:
    """Return the square of what a cut at -+ `cut` likely takes off the mean, and its variance."""
    sides = [
        (np.interp(cut, one.reach, one.lost), np.interp(cut, one.reach, one.doubt))
        for one in (low, high)
    ]
    return float((sides[1][0] - sides[0][0]) ** 2), float(sides[0][1] + sides[1][1])


def _more(low: SideTail, high: SideTail, cut: float) -> float:
    """Return by how much more a cut at -+ `cut` takes off values than off normal ones.

    As far as that is surely so.
    """
    from scipy.special import ndtr

    lost = sum(float(np.interp(cut, one.reach, one.lost)) for one in (low, high))
    doubt = sum(float(np.interp(cut, one.reach, one.doubt)) for one in (low, high))
    normal = math.exp(-0.5 * cut**2) / math.sqrt(2.0 * math.pi) - cut * float(ndtr(-cut))
    more = max(lost - 2.0 * normal, 0.0)
    return more**3 / max(more**2 + doubt, 1e-300)
