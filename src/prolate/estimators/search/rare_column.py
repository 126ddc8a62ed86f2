"""The mean of one column whose values are nearly all the same, as flags or amounts are.

A column like that has no spread to go by. Histograms of a few large cells, each more precise than
the one before, show that some values are elsewhere, and about how far; others, on which sides
(`rare_sides.py`). What clipping takes off follows from the shapes or curves that the counts make
likely, and the budget that is left is spent on a sum clipped to the interval of least noise and
doubt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurer, Searcher
from prolate.estimators.estimate import FoundMean
from prolate.estimators.lengths.interval import NO_MEAN, Clipped, clipped_to_interval
from prolate.estimators.lengths.one_column import OneColumn
from prolate.estimators.lengths.side_tail import SideTail
from prolate.estimators.search.deviations import bulk_reach, deviations_of_one
from prolate.estimators.search.locate import Interval
from prolate.estimators.search.rare_sides import rare_sides
from prolate.estimators.shares import length_share, significance
from prolate.neighbors import radii_apart
from prolate.queries import ClippedSum, NormHistogram

__all__ = [
    "RareColumn",
    "RareVariance",
    "gap_of_one",
    "rare_column",
    "rare_column_mean",
    "rare_column_variance",
]

_NEAREST, _APART, _GAPS = 16.0, 4, 10  # where gaps may begin: spreads, octaves apart, how many
_PRESENT = 0.05  # of the rows, at least
_SMALLEST = 1e-290  # of a square: those of values within narrow bounds may be no floats


@dataclass(frozen=True, eq=False)
class RareColumn:
    """What the values of a column are like that are not at its bulk.

    Attributes
    ----------
    center : float64 array of shape (1,)
        Of the bulk.
    rows : float
        Number of all rows.
    low, high : SideTail
        Of both sides, in the data's unit.
    present : float
        About what part of the rows has a value.
    """

    center: Floats
    rows: float
    low: SideTail
    high: SideTail
    present: float

    @property
    def mean(self) -> Floats:
        """About the mean of the values: what a missing one counts as."""
        return self.center + (self.high.mean - self.low.mean) / self.present

    @property
    def square(self) -> float:
        """About their mean squared deviation from the bulk."""
        return (self.low.square + self.high.square) / self.present


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


def gap_of_one(view: Searcher, rows: float, center: Floats, spread: Floats) -> float:
    """Return how far out a gap is in the values of a single column, in spreads; 0 if none is seen.

    Beyond it are more values than within a factor of 16 before it.
    """
    edges = _NEAREST * np.exp2(_APART * np.arange(_GAPS))
    query = NormHistogram(center, 1.0 / spread, edges)
    measured = view.measure(query, share=length_share(view, rows), label="long rows")
    counts = measured.values[:-1]
    beyond = (rows - np.cumsum(counts))[1:]
    noise = measured.std * np.sqrt(np.arange(2, counts.size + 1))
    # Noise that pretends to be a gap would be dear: values are then looked for far out alone.
    gaps = np.flatnonzero((beyond > significance(_GAPS) * noise) & (beyond > counts[1:]))
    return float(edges[gaps[0]]) if gaps.size else 0.0


def rare_column(
    curator: Searcher, sample: Searcher, interval: Interval, *, rows: float
) -> RareColumn | float:
    """Return what the values of the only column are like that are not at its bulk.

    Or, if none are seen, how many in a row of large cells noise may hide.

    Parameters
    ----------
    curator, sample : Searcher
        Of all rows, and of those that are searched.
    interval : Interval
        Of the bulk.
    rows : float
        Number of all rows.
    """
    found = deviations_of_one(sample, interval)
    if not found.rows > 0.0:
        return found.least / sample.fraction
    tails, present = rare_sides(curator, sample, interval, found, rows=rows)
    bulk, rooms = bulk_reach(interval), (np.inf, np.inf)
    if curator.bounds is not None:
        lower, upper = curator.bounds
        rooms = float(interval.center[0] - lower[0]), float(upper[0] - interval.center[0])
    low, high = (tail.within(room, least=bulk) for tail, room in zip(tails, rooms, strict=True))
    return RareColumn(interval.center, rows, low, high, min(max(present, _PRESENT), 1.0))


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
