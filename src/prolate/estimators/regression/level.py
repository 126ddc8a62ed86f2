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

from dataclasses import replace

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Curator
from prolate.estimators.lengths.interval import clipped_to_interval
from prolate.estimators.lengths.one_column import OneColumn
from prolate.estimators.regression.rows import StandardRows
from prolate.estimators.regression.slopes import Slopes
from prolate.estimators.regression.tails import Tails, left_by, less_sure

__all__ = ["SKEWED", "with_level"]

SKEWED = (
    "The residuals of the target are skewed. The line goes through the mean of the rows, but its "
    "slopes are those of values that are not far out. If the features also explain the values far "
    "out, the intervals of the slopes are too narrow, and so is that of an intercept far from the "
    "rows."
)
"""The warning where the cut of the target surely takes more from one side than from the other."""

_SIDES = 0.3  # part of the share for a histogram of both sides
_CLEARLY = 0.02  # spreads that the cut takes from the mean


def with_level(
    rows: StandardRows,
    sample: Curator,
    slopes: Slopes,
    *,
    cut: float,
    counted: bool,
    told: bool,
) -> tuple[Slopes, bool]:
    """Return slopes with an intercept that skewed errors do not move, with all that is left.

    And whether these errors are surely skewed. The slopes' own errors are raised where tails are
    heavy.

    Parameters
    ----------
    rows : StandardRows
        All of them.
    sample : Curator
        Of the rows whose tails are counted.
    slopes : Slopes
        In standard units.
    cut : float
        Where the Gram matrix cut what its mean is of, in standard units.
    counted : bool
        Whether their number was measured.
    told : bool
        Whether the slopes have what cuts took, and its doubt (`cut_off.py`).
    """
    curator = rows.curator
    left, width = left_by(rows, slopes)
    tails = Tails.measure(rows.sampled(sample), slopes, share=_SIDES * curator.remaining)
    lost, doubt = tails.moved(cut)
    surely = max(lost - doubt, 0.0)
    errors = (slopes if told else less_sure(slopes, tails.surely_more(cut))).noise.copy()
    skewed = surely > (_CLEARLY * width) ** 2
    if sample is not curator and not skewed:  # not worth one more pass over many rows
        errors[-1, -1] += lost + doubt
        return replace(slopes, noise=errors), False
    found = clipped_to_interval(
        OneColumn(left, rows.count, np.zeros(1), left.spread),
        (tails.low, tails.high),
        missing=np.zeros(1),
        share=curator.remaining,
        counted=counted,
    )

    unit = float(rows.standard.scale[-1])
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
