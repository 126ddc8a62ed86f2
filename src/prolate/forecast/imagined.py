"""Rows that are only imagined: independent normal columns, of which sums are known.

An estimator asks a curator, and a curator asks a source to add a query up over its rows.
`ImaginedRows` is a source that has no rows. It says what the sum over n normal rows would
be: counts are their expectations (a search's own noise is far above their fluctuation),
counts of norms are drawn, and a sum of clipped rows is its expectation (`theory.clipped`)
with the fluctuation that clipping adds. So the estimators themselves, budget, shares, noise
and all, can be rehearsed without data, however many rows there are.

The rows' own mean is taken to be `center` exactly: errors are measured against it. Only the
mean of a sample of them is off, as chance has it. Public bounds hold all values, so a sum that
clips no row within these clips none. What is neglected: that a query cuts single columns at twice
the radius, missing values, and how values gather at their bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from prolate.arrays import Floats, Integers, Limits
from prolate.errors import InputError
from prolate.forecast.moments import (
    LONG,
    SHORT,
    clipped,
    cut_moments,
    in_units,
    mixture,
    multinomial,
    normal_cdf,
    tilted,
)
from prolate.queries import (
    RADIUS,
    ClippedSum,
    Count,
    CountBelow,
    Cut,
    EdgesGrid,
    FarthestHistogram,
    Histogram,
    LinearGrid,
    Magnitudes,
    NormHistogram,
    Norms,
    Pairs,
    PooledHistogram,
    Query,
    Selected,
)
from prolate.queries.grids import Grid
from prolate.sources import Dealing, Source, Thinning
from prolate.sources.source import Block, position_names

__all__ = ["ImaginedRows"]

_CHUNK = 1 << 22  # cells of a histogram worked out at a time
_FAR, _STEPS = 6, 8  # octaves beyond which no normal value is taken to be, and steps in each
_INFINITY_BITS = 0x7FF0 << 48


class ImaginedRows(Source):
    """n imagined rows of independent normal columns.

    Parameters
    ----------
    n : int
    center, spread : float64 arrays of shape (d,)
        Means and standard deviations.
    fluctuation : float64 array of shape (d,)
        Standard normal numbers: how these rows, their mean aside, differ from other ones.
        All clipped sums share them, as they would share the rows.
    seed : int
        For what else is drawn. The same seed draws nearly the same for nearly as many rows.
    bounds : (lower, upper), optional
        Public bounds, float64 arrays of shape (d,).

    Attributes
    ----------
    answer : int64 array
        The last sum.
    """

    def __init__(
        self,
        n: int,
        center: Floats,
        spread: Floats,
        fluctuation: Floats,
        seed: int,
        bounds: Limits | None = None,
    ) -> None:
        super().__init__(position_names(center.size), n, 1 << 20)
        self._n = n
        self._center = center
        self._spread = spread
        self._fluctuation = fluctuation
        self._bounds = bounds
        self._seed = seed
        self._drawn = 0
        self.answer: Integers = np.zeros(0, dtype=np.int64)

    def blocks(self) -> Iterator[Block]:
        """Refuse: there is nothing to read."""
        raise InputError("Imagined rows cannot be read, only added up.")

    def collect(
        self,
        query: Callable[[Block], Integers],
        size: int,
        progress: Callable[[int], None] | None = None,
    ) -> Integers:
        """Return what `query` would add up to, one of those that are understood."""
        with np.errstate(all="ignore"):
            self.answer = np.rint(self._answer(query)).astype(np.int64)
        return self.answer.copy()

    def thinned(self, keep: Thinning, progress: Callable[[int], None] | None = None) -> Source:
        """Return so many fewer rows, around a mean of their own."""
        return self._some(keep.probability)

    def _some(self, part: float) -> ImaginedRows:
        n = max(1, round(self._n * part))
        off = np.sqrt(1.0 / n - 1.0 / self._n) * self._draw().standard_normal(self._center.size)
        return self._like(n, self._center + off * self._spread)

    def dealt(
        self, deal: Dealing, progress: Callable[[int], None] | None = None
    ) -> Callable[[Sequence[int]], Source]:
        """Return what imagines so many fewer rows, around a mean of their own."""
        return lambda parts: self._some(deal.each * len(parts))

    def _like(self, n: int, center: Floats, index: Integers | slice = slice(None)) -> ImaginedRows:
        """Return n rows like these around other centers, or of some columns."""
        bounds = None if self._bounds is None else (self._bounds[0][index], self._bounds[1][index])
        each = center[index], self._spread[index], self._fluctuation[index]
        return ImaginedRows(n, *each, int(self._draw().integers(1 << 62)), bounds)

    def _draw(self) -> np.random.Generator:
        """Return a generator of its own for each draw: what one takes moves no other."""
        self._drawn += 1
        return np.random.default_rng([self._seed, self._drawn])

    def _answer(self, query: object) -> Floats:
        if isinstance(query, Cut):  # bounds are taken to hold all values
            return self._answer(query.query)
        if isinstance(query, Selected):
            return self._like(self._n, self._center, query.index)._answer(query.query)
        if isinstance(query, Pairs):
            each = 0.0 * self._center, self._spread, self._fluctuation
            return ImaginedRows(self._n // 2, *each, 0)._answer(query.query)
        if isinstance(query, ClippedSum):
            if query.beyond:
                return self._beyond_sum(query)
            return self._clipped_sum(query) if query.about is None else self._squares_sum(query)
        counts = self._counts(query)
        if counts is None:
            name = query.describe() if isinstance(query, Query) else repr(query)
            raise InputError(f"What this would find in rows is not foreseen: {name}.")
        return counts

    def _counts(self, query: object) -> Floats | None:
        if isinstance(query, Count):
            return np.array([float(self._n)])
        if isinstance(query, Histogram):
            counts = self._histogram(query.grid)
            if query.missing:
                counts = np.pad(counts.reshape(-1, query.grid.size), ((0, 0), (0, 1))).ravel()
            return counts
        if isinstance(query, PooledHistogram):
            return np.asarray(self._histogram(query.grid).reshape(-1, query.size).sum(axis=0))
        if isinstance(query, NormHistogram) and query.about is None:
            return self._norm_histogram(query)
        if isinstance(query, FarthestHistogram):
            return self._farthest(query)
        if isinstance(query, CountBelow):
            return self._n * self._below(query.points)
        if isinstance(query, Magnitudes) and isinstance(query.query, CountBelow):
            return self._n * self._within(query.query.points)
        if isinstance(query, Norms) and isinstance(query.query, CountBelow):
            return self._n * self._shorter(query.center, query.gain, query.query.points)
        return None

    # --- counts ------------------------------------------------------------------------------

    def _below(self, points: Floats) -> Floats:
        return normal_cdf((points - self._center) / self._spread)

    def _within(self, points: Floats) -> Floats:
        return np.maximum(self._below(points) - self._below(-points), 0.0)

    def _histogram(self, grid: Grid) -> Floats:
        d, cells = self._center.size, grid.size
        result = np.empty((d, cells))
        step = max(1, _CHUNK // cells)
        for start in range(0, d, step):
            part = slice(start, start + step)
            result[part] = np.diff(np.rint(self._n * self._up_to_edges(grid, part)), axis=1)
        return result.ravel()

    def _up_to_edges(self, grid: Grid, part: slice) -> Floats:
        """Return the probabilities below each cell's edges, from 0 to 1, of some columns."""
        center, spread = self._center[part, np.newaxis], self._spread[part, np.newaxis]
        if isinstance(grid, LinearGrid):
            places = np.arange(grid.cells + 1)
            edges = grid.low[part, np.newaxis] + grid.width[part, np.newaxis] * places
            below = normal_cdf((edges - center) / spread)
            return np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1)))
        if isinstance(grid, EdgesGrid):
            below = normal_cdf((grid.edge[part] - center) / spread)
            return np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1)))
        patterns = grid.first[part, np.newaxis] + np.arange(grid.cells + 1)
        largest = _INFINITY_BITS >> grid.shift
        edges = (np.minimum(patterns, largest) << grid.shift).view(np.float64)
        edges[patterns > largest] = np.inf
        edges[:, 0], edges[:, -1] = 0.0, np.inf
        off = grid.center[part, np.newaxis] - center
        above = normal_cdf((off + edges) / spread)
        return np.maximum(above - normal_cdf((off - edges) / spread), 0.0)

    def _norm_histogram(self, query: NormHistogram) -> Floats:
        if query.farthest:
            reach = query.edges[:, np.newaxis] / query.gain
            inside = normal_cdf((query.center + reach - self._center) / self._spread)
            inside = inside - normal_cdf((query.center - reach - self._center) / self._spread)
            inside[:, query.gain == 0.0] = 1.0
            below = np.exp(np.sum(np.log(inside), axis=1))
        else:
            below = self._shorter(query.center, query.gain, query.edges)
        below = np.maximum.accumulate(np.clip(below, 0.0, 1.0))
        cells = np.diff(np.concatenate([[0.0], below, [1.0]]))
        return multinomial(self._n, cells / cells.sum(), self._draw())

    def _farthest(self, query: FarthestHistogram) -> Floats:
        """Return expected counts: of each column, as it passes an edge, that it is the first."""
        edges = np.exp2(np.arange(min(query.octaves, _FAR) * _STEPS + 1) / _STEPS)
        edges[-1] = np.inf if query.octaves <= _FAR else edges[-1]
        inside = np.empty((edges.size, query.columns))
        for k, edge in enumerate(edges):
            reach = edge / query.gain
            below = normal_cdf((query.center + reach - self._center) / self._spread)
            inside[k] = below - normal_cdf((query.center - reach - self._center) / self._spread)
        inside = np.clip(np.where(query.gain > 0.0, inside, 1.0), 1e-300, 1.0)
        logs = np.log(inside)
        middle = 0.5 * (logs[1:] + logs[:-1])
        others = np.exp(middle.sum(axis=1)[:, np.newaxis] - middle)
        passes = (np.diff(inside, axis=0) * others).reshape(-1, _STEPS, query.columns).sum(axis=1)
        found = np.zeros((query.columns, query.octaves))
        found[:, : len(passes)] = self._n * passes.T
        return found.ravel()

    def _shorter(self, center: Floats, gain: Floats, lengths: Floats) -> Floats:
        """Return the part of the rows with |(x - center) * gain| <= each length."""
        if gain.size == 1 and gain[0] > 0.0:
            reach = lengths / gain[0]
            inside = self._below(center + reach) - self._below(center - reach)
            return np.where(lengths < 0.0, 0.0, np.maximum(inside, 0.0))
        mean, spread, typical = in_units((self._center - center) * gain, self._spread * gain)
        if typical == 0.0:
            return (lengths > 0.0).astype(np.float64)
        x = (lengths / typical) ** 2
        within = (x > SHORT) & (x < LONG)
        below = np.where(x >= LONG, 1.0, 0.0)
        below[within] = mixture(mean, spread).cdf(x[within])
        return below

    # --- sums --------------------------------------------------------------------------------

    def _clipped_sum(self, query: ClippedSum) -> Floats:
        mean, spread = self._center, self._spread
        if query.lower is not None or query.upper is not None:
            mean, spread = cut_moments(mean, spread, query.lower, query.upper)
        mean, spread, typical = in_units((mean - query.center) / query.scale, spread / query.scale)
        unit = typical / query.radius
        if typical == 0.0:
            return np.zeros_like(mean)
        if query.tilt is None and self._reach(query) <= query.radius:
            kept, extra = mean, np.zeros_like(mean)
        elif query.tilt is None:
            kept, extra = clipped(mean, spread, 1.0 / unit)
        else:
            low, high = query.tilt
            kept, extra = tilted(mean, spread, 1.0 / unit, (low / typical, high / typical))
        total = self._n * kept + np.sqrt(self._n * extra) * self._fluctuation
        most = float(self._n)  # rounding aside, no sum is larger, in units of the radius
        return np.clip(total * unit, -most, most) * RADIUS

    def _reach(self, query: ClippedSum) -> float:
        """Return how long a row within the bounds may be."""
        if self._bounds is None:
            return np.inf
        lower, upper = self._bounds
        far = np.maximum(query.center - lower, upper - query.center)
        return float(np.linalg.norm(far / query.scale))

    def _beyond_sum(self, query: ClippedSum) -> Floats:
        """Return the expected sum of what is beyond some ends; hardly any row is clipped."""
        inside, _ = cut_moments(self._center, self._spread, query.lower, query.upper)
        total = self._n * (self._center - inside) / query.scale / query.radius
        return np.clip(total, -float(self._n), float(self._n)) * RADIUS

    def _squares_sum(self, query: ClippedSum) -> Floats:
        """Return the sum of squared deviations; hardly any is taken to be clipped."""
        off = 0.0 if query.about is None else self._center - query.about
        square = self._spread**2 + off**2
        total = self._n * (square - query.center) / query.scale / query.radius
        return np.clip(total, -float(self._n), float(self._n)) * RADIUS
