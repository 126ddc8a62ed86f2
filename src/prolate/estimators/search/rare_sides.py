"""Both sides of a column of rare values: counts of their rows, and what clipping takes of them.

First octaves are counted. Where their counts fit a shape, it tells of the tail, too; where there
are too few rows to tell, one is taken all the same. Finer cells are counted for two reasons: curves
are laid through the tails of values that no shape fits; and in an octave that holds values which
are all the same, an interval would end far from them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurer, Searcher
from prolate.estimators.lengths.interval import FAR_SPREADS, MOST_AGAIN, IntervalPlan
from prolate.estimators.lengths.likely_shapes import STEPS, LikelyShapes, likely_shapes
from prolate.estimators.lengths.one_column import OneColumn
from prolate.estimators.lengths.side_tail import fit_tail
from prolate.estimators.lengths.sides import Sides, counted_again, few_part
from prolate.estimators.search.deviations import Seen
from prolate.estimators.search.locate import Interval
from prolate.queries import EdgesGrid, Histogram

__all__ = ["rare_sides"]

_BELOW, _ABOVE, _MOST = 1, 2, 24  # octaves around those where values are seen; of these
_FEW, _SOME = 100.0, 30.0  # times the noise of a count: shapes are always taken; sizes are seen


def rare_sides(
    curator: Searcher, sample: Searcher, interval: Interval, found: Seen, *, rows: float
) -> tuple[Sides, float]:
    """Return the tails below and above a bulk, in the data's unit, and what part has a value.

    Parameters
    ----------
    curator, sample : Searcher
        Of all rows of one column, and of those that are searched.
    interval : Interval
        Of the bulk.
    found : Seen
        Where values are seen that are not there.
    rows : float
        Number of all rows.
    """
    apart = found.rows / sample.fraction
    large = _Counted.of(curator, interval, found, apart=apart, steps=1)
    known = _together(found, large.edges) if sample is curator else None
    shaped = large.shaped(found, rows, known=known)
    few = apart < _FEW * large.noise
    if (few or shaped.fit) and not (shaped.alike and apart > _SOME * large.noise):
        return shaped.sides, large.present(rows)
    fine = _Counted.of(curator, interval, found, apart=apart, steps=STEPS)
    sides = fine.shaped(found, rows).sides if few else _by_curves(curator, interval, fine, rows)
    return sides, fine.present(rows)


@dataclass(frozen=True, eq=False)
class _Counted:
    """Noisy counts of the rows between edges on both sides of a bulk.

    Attributes
    ----------
    edges : float64 array of shape (m,)
        Distances from the bulk.
    grid : EdgesGrid
    values : float64 array of shape (2 m + 1,)
    noise, share : float
        Of each count, and of mu**2 for them.
    apart : float
        About how many rows are not at the bulk.
    """

    edges: Floats
    grid: EdgesGrid
    values: Floats
    noise: float
    share: float
    apart: float

    @classmethod
    def of(
        cls, curator: Measurer, interval: Interval, found: Seen, *, apart: float, steps: int
    ) -> _Counted:
        """Count so many cells in an octave, where rows were seen and next to there."""
        octaves = round(float(np.log2(found.high / found.low)))
        first = max(octaves - _MOST, 0) - _BELOW
        places = np.arange(steps * first, steps * (octaves + _ABOVE) + 1) / steps
        edges = np.asarray(found.low * np.exp2(places))
        grid = EdgesGrid(interval.center[:, np.newaxis] + np.concatenate([-edges[::-1], edges]))
        share = few_part(curator, apart) * curator.remaining
        counted = curator.measure(Histogram(grid), share=share, label="sides")
        return cls(edges, grid, counted.values, counted.std, share, apart)

    @property
    def sides(self) -> tuple[Floats, Floats]:
        """Counts of the rows below and above, from near to far."""
        return self.values[: self.edges.size][::-1], self.values[self.edges.size + 1 :]

    def present(self, rows: float) -> float:
        """Return about what part of the rows has a value."""
        return float(np.sum(self.values)) / rows

    def shaped(
        self, found: Seen, rows: float, *, known: tuple[Floats, Floats, float] | None = None
    ) -> LikelyShapes:
        """Return what shapes the values likely have."""
        scales = float(self.edges[0]), found.high
        return likely_shapes(
            self.edges, self.sides, self.noise, rows, scales=scales, apart=self.apart, known=known
        )

    def curved(self, rows: float, *, again: bool = False) -> Sides:
        """Return tails that go on as curves; `again` if they were counted twice."""
        ends, inside = np.append(0.0, self.edges), np.zeros(1)
        counts = [np.append(inside, each) for each in self.sides]
        low, high = (
            fit_tail(ends, each, self.noise, rows, apart=self.apart, rare=True, again=again)
            for each in counts
        )
        return low, high

    def again(self, curator: Measurer) -> _Counted:
        """Return the average with another count of the same cells."""
        most = MOST_AGAIN * curator.remaining
        counts, noise = counted_again(
            curator, self.grid, self.values, self.noise, share=self.share, most=most
        )
        return _Counted(self.edges, self.grid, counts, noise, self.share, self.apart)


def _by_curves(curator: Measurer, interval: Interval, counted: _Counted, rows: float) -> Sides:
    """Return the tails, counted again where they reach far beyond most values, or may hide some."""
    tails = counted.curved(rows)
    column = OneColumn(curator, rows, interval.center, np.ones(1))
    planned = IntervalPlan.of(column, tails, share=curator.remaining)
    both = np.cumsum(np.sum(counted.sides, axis=0))
    usual = float(counted.edges[int(np.argmax(both >= 0.5 * both[-1]))])
    doubtful = tails[0].doubtful or tails[1].doubtful
    if max(planned.left, planned.right) <= FAR_SPREADS * usual and not doubtful:
        return tails
    return counted.again(curator).curved(rows, again=True)


def _together(found: Seen, edges: Floats) -> tuple[Floats, Floats, float]:
    """Return what the large cells among some edges showed of both sides."""
    at = np.flatnonzero((found.edges > 0.9 * edges[0]) & (found.edges < 1.1 * edges[-1]))
    return found.edges[at], found.counts[at[0] : at[-1]], found.noise
