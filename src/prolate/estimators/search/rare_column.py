"""What the values of one column are like that are nearly all the same, as flags or amounts are.

A column like that has no spread to go by. Histograms of a few large cells, each more precise than
the one before, show that some values are elsewhere, and about how far; others, on which sides
(`rare_sides.py`). Its mean is in `clipping/rare_column_mean.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Searcher
from prolate.estimators.lengths.side_tail import SideTail
from prolate.estimators.search.deviations import bulk_reach, deviations_of_one
from prolate.estimators.search.locate import Interval
from prolate.estimators.search.rare_sides import rare_sides
from prolate.estimators.shares import length_share, significance
from prolate.queries import NormHistogram

__all__ = [
    "RareColumn",
    "gap_of_one",
    "rare_column",
]

_NEAREST, _APART, _GAPS = 16.0, 4, 10  # where gaps may begin: spreads, octaves apart, how many
_PRESENT = 0.05  # of the rows, at least


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
