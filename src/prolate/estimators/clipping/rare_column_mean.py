"""The mean, and the variance, of one column whose values are nearly all the same.

What clipping takes off follows from the shapes or curves that counts make likely
(`search/rare_column.py`), and the budget that is left is spent on a sum clipped to the interval
of least noise and doubt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurer
from prolate.estimators.estimate import FoundMean
from prolate.estimators.lengths.interval import NO_MEAN, Clipped, clipped_to_interval
from prolate.estimators.lengths.one_column import OneColumn
from prolate.estimators.search.rare_column import RareColumn
from prolate.neighbors import radii_apart
from prolate.queries import ClippedSum

__all__ = ["RareVariance", "rare_column_mean", "rare_column_variance"]

_SMALLEST = 1e-290  # of a square: those of values within narrow bounds may be no floats


@dataclass(frozen=True, eq=False)
class RareVariance:
    """The variance of such a column.

    Attributes
    ----------
    value, noise_std, clipping_std : float64 arrays of shape (1,)
        With its noise, and what clipping may have taken.
    stretch : float
        Of the sampling error, at most, over the variance.
    details : dict
        Whatever else was found, ready for JSON.
    """

    value: Floats
    noise_std: Floats
    clipping_std: Floats
    stretch: float
    details: dict[str, Any]


def _mean(curator: Measurer, column: RareColumn, *, share: float) -> Clipped:
    return clipped_to_interval(
        OneColumn(curator, column.rows, column.center, np.ones(1)),
        (column.low, column.high),
        missing=column.mean,
        share=share,
    )


def rare_column_mean(curator: Measurer, column: RareColumn, spread: Floats) -> FoundMean:
    """Return the mean, with all of the budget that is left.

    `spread` is what errors are stated in (`mean.py`).
    """
    found = _mean(curator, column, share=curator.remaining)
    off = float(found.value[0] - column.center[0])
    std = np.sqrt(max(column.square - off**2, NO_MEAN * column.square))
    return FoundMean(
        found.value,
        found.noise_std,
        {"radius": 0.5 * (found.left + found.right), "clipped_fraction": found.fraction},
        variation=std / spread,
        clipping_std=np.hypot(found.doubt, found.guessed),
        guessed=found.guessed,
    )


def rare_column_variance(
    curator: Measurer, column: RareColumn, *, mean_share: float
) -> RareVariance:
    """Return the variance.

    The mean squared deviation from the bulk, less the squared deviation of the mean, which a
    part of the budget is for. Squares are all on one side, and so is what they lose, which is
    given back.
    """
    rows, sides = column.rows, (column.low, column.high)
    mean = _mean(curator, column, share=mean_share * curator.remaining)
    share, m = curator.remaining, min(side.reach.size for side in sides)
    reach = np.maximum(*(side.reach[-m:] for side in sides))  # public bounds may leave one no room
    lost, doubt, guessed = (
        np.sum([getattr(side, name)[-m:] for side in sides], axis=0)
        for name in ("lost_square", "doubt_square", "guessed")
    )
    # As in `clipped_to_interval`: from the middle, or from what they are about.
    known = curator.neighbors == "replace"
    around = 0.5 * reach**2 if known else np.full(m, column.square)
    radius = np.maximum(np.maximum(reach**2 - around, around), _SMALLEST)
    per_radius = radii_apart(curator.neighbors) / curator.mu_of(share) / rows
    best = int(np.argmin((per_radius * radius) ** 2 + doubt))
    middle, farthest = around[best : best + 1], reach[best : best + 1]
    query = ClippedSum(
        middle,
        np.ones(1),
        float(radius[best]),
        lower=None if known else column.center - farthest,  # of values, not of their squares
        upper=None if known else column.center + farthest,
        about=column.center,
        missing=column.square - middle,
    )
    measured = curator.measure(query, share=share, label="variance")
    square = middle + query.unit * measured.values / rows + lost[best]
    off = mean.value - column.center
    noise_std = np.hypot(query.unit * measured.std / rows, 2.0 * off * mean.noise_std)
    clipping = np.sqrt(doubt[best]) + 2.0 * np.abs(off) * mean.doubt
    # Fourth powers are at most the square of the radius times squares.
    stretch = float(reach[best]) / math.sqrt(
        max(float(square[0]), NO_MEAN * column.square, _SMALLEST)
    )
    details = {
        "radius": float(reach[best] ** 2),
        "clipped_fraction": float(sum(side.beyond[-m:][best] for side in sides)),
        "mean": mean.value.tolist(),
    }
    clipping = clipping + 2.0 * guessed[best] * reach[best]
    value = square - off**2 + mean.noise_std**2
    return RareVariance(value, noise_std, clipping, stretch, details)
