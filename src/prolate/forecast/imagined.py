"""Rows that are only imagined: independent normal columns, of which sums are known.

An estimator asks a curator, and a curator asks a source to add a query up over its rows.
`ImaginedRows` is a source that has no rows. It says what the sum over n normal rows would
be: counts are their expectations (a search's own noise is far above their fluctuation),
counts of norms are drawn, and a sum of clipped rows is its expectation (`theory.clipped`)
with the fluctuation that clipping adds. So the estimators themselves, budget, shares, noise
and all, can be rehearsed without data, however many rows there are.

The rows' own mean is taken to be `center` exactly: errors are measured against it. Only the
mean of a sample of them is off, as chance has it. What is neglected: that a query cuts single
columns at twice the radius, and missing values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prolate.errors import InputError
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
from prolate.sources import Source, Thinning
from prolate.sources.source import Block, position_names

if TYPE_CHECKING:
    from prolate.theory import ChiSquareMixture

__all__ = ["ImaginedRows"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_CHUNK = 1 << 22  # cells of a histogram worked out at a time
_NODES = 400  # quantiles of the squared norm that stand for its distribution
_SMALLEST = 1e-6  # variance over the squared distance of the center
_NARROW = 1e-5  # part of the squared length that varies, below which rows are equally long
_SHORT, _LONG = 1e-10, 1e4  # squared lengths, over their mean, beyond which there are no rows
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
        For what else is drawn.

    Attributes
    ----------
    answer : int64 array
        The last sum.
    """

    def __init__(
        self, n: int, center: Floats, spread: Floats, fluctuation: Floats, seed: int
    ) -> None:
        super().__init__(position_names(center.size), n, 1 << 20)
        self._n = n
        self._center = center
        self._spread = spread
        self._fluctuation = fluctuation
        self._draw = np.random.default_rng(seed)
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
        n = max(1, round(self._n * keep.probability))
        off = np.sqrt(1.0 / n - 1.0 / self._n) * self._draw.standard_normal(self._center.size)
        return self._like(n, self._center + off * self._spread)

    def _like(self, n: int, center: Floats, index: Integers | slice = slice(None)) -> ImaginedRows:
        """Return n rows like these around other centers, or of some columns."""
        return ImaginedRows(n, center[index], self._spread[index], self._fluctuation[index], 0)

    def _answer(self, query: object) -> Floats:
        if isinstance(query, Cut):  # bounds are taken to hold all values
            return self._answer(query.query)
        if isinstance(query, Selected):
            return self._like(self._n, self._center, query.index)._answer(query.query)
        if isinstance(query, Pairs):
            return self._like(self._n // 2, 0.0 * self._center)._answer(query.query)
        if isinstance(query, ClippedSum):
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
        return _normal_cdf((points - self._center) / self._spread)

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
            below = _normal_cdf((edges - center) / spread)
            return np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1)))
        if isinstance(grid, EdgesGrid):
            below = _normal_cdf((grid.edge[part] - center) / spread)
            return np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1)))
        patterns = grid.first[part, np.newaxis] + np.arange(grid.cells + 1)
        largest = _INFINITY_BITS >> grid.shift
        edges = (np.minimum(patterns, largest) << grid.shift).view(np.float64)
        edges[patterns > largest] = np.inf
        edges[:, 0], edges[:, -1] = 0.0, np.inf
        off = grid.center[part, np.newaxis] - center
        above = _normal_cdf((off + edges) / spread)
        return np.maximum(above - _normal_cdf((off - edges) / spread), 0.0)

    def _norm_histogram(self, query: NormHistogram) -> Floats:
        if query.farthest:
            reach = query.edges[:, np.newaxis] / query.gain
            inside = _normal_cdf((query.center + reach - self._center) / self._spread)
            inside = inside - _normal_cdf((query.center - reach - self._center) / self._spread)
            inside[:, query.gain == 0.0] = 1.0
            below = np.exp(np.sum(np.log(inside), axis=1))
        else:
            below = self._shorter(query.center, query.gain, query.edges)
        below = np.maximum.accumulate(np.clip(below, 0.0, 1.0))
        cells = np.diff(np.concatenate([[0.0], below, [1.0]]))
        return self._draw.multinomial(self._n, cells / cells.sum()).astype(np.float64)

    def _farthest(self, query: FarthestHistogram) -> Floats:
        """Return expected counts: of each column, as it passes an edge, that it is the first."""
        edges = np.exp2(np.arange(min(query.octaves, _FAR) * _STEPS + 1) / _STEPS)
        edges[-1] = np.inf if query.octaves <= _FAR else edges[-1]
        inside = np.empty((edges.size, query.columns))
        for k, edge in enumerate(edges):
            reach = edge / query.gain
            below = _normal_cdf((query.center + reach - self._center) / self._spread)
            inside[k] = below - _normal_cdf((query.center - reach - self._center) / self._spread)
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
        mean, spread, typical = _in_units((self._center - center) * gain, self._spread * gain)
        if typical == 0.0:
            return (lengths > 0.0).astype(np.float64)
        x = (lengths / typical) ** 2
        within = (x > _SHORT) & (x < _LONG)
        below = np.where(x >= _LONG, 1.0, 0.0)
        below[within] = _mixture(mean, spread).cdf(x[within])
        return below

    # --- sums --------------------------------------------------------------------------------

    def _clipped_sum(self, query: ClippedSum) -> Floats:
        mean, spread = self._center, self._spread
        if query.lower is not None or query.upper is not None:
            mean, spread = _cut_moments(mean, spread, query.lower, query.upper)
        mean, spread, typical = _in_units((mean - query.center) / query.scale, spread / query.scale)
        unit = typical / query.radius
        if typical == 0.0:
            return np.zeros_like(mean)
        if query.tilt is None:
            kept, extra = _clipped(mean, spread, 1.0 / unit)
        else:
            low, high = query.tilt
            kept, extra = _tilted(mean, spread, 1.0 / unit, (low / typical, high / typical))
        total = self._n * kept + np.sqrt(self._n * extra) * self._fluctuation
        most = float(self._n)  # rounding aside, no sum is larger, in units of the radius
        return np.clip(total * unit, -most, most) * RADIUS

    def _squares_sum(self, query: ClippedSum) -> Floats:
        """Return the sum of squared deviations; hardly any is taken to be clipped."""
        off = 0.0 if query.about is None else self._center - query.about
        square = self._spread**2 + off**2
        total = self._n * (square - query.center) / query.scale / query.radius
        return np.clip(total, -float(self._n), float(self._n)) * RADIUS


def _in_units(mean: Floats, spread: Floats) -> tuple[Floats, Floats, float]:
    """Return means and spreads over the root mean square length of a row, and that length."""
    largest = float(max(np.abs(mean).max(), spread.max()))
    if not 0.0 < largest < np.inf:
        return mean, spread, 0.0
    mean, spread = mean / largest, spread / largest
    length = float(np.sqrt(np.sum(mean**2 + spread**2)))
    return mean / length, spread / length, largest * length


def _clipped(mean: Floats, spread: Floats, radius: float) -> tuple[Floats, Floats]:
    """Return E f y, f = min(1, C / |y|), and its variance over rows whose mean is known.

    With h = 1 - f and g = E y h / E y, which is E y**2 h / E y**2 where E y = 0: knowing the
    mean of y takes the regression of f y on y away, and leaves E y**2 h**2 - g**2 E y**2.
    """
    from prolate.theory.clipped import lost_moments

    if radius**2 > _LONG:
        return mean, np.zeros_like(mean)
    if float(np.sum(spread**2)) < _NARROW or radius**2 < _SHORT:
        return mean * min(1.0, radius), np.zeros_like(mean)
    norm = _mixture(mean, spread)
    lost, _ = lost_moments(norm, np.ones_like(mean), radius)
    _, square = lost_moments(norm, mean, radius)
    extra = square - lost**2 * (spread**2 + mean**2)
    return mean * (1.0 - lost), np.maximum(np.nan_to_num(extra), 0.0)


def _tilted(
    mean: Floats, spread: Floats, radius: float, between: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return the same for a row weighted by its length, from a gamma of the same moments."""
    from scipy.special import gammaincinv

    norm = _mixture(mean, spread)
    shape = norm.mean**2 / norm.var
    square = gammaincinv(shape, (np.arange(_NODES) + 0.5) / _NODES) * (norm.mean / shape)
    low, high = between[0] ** 2, between[1] ** 2
    width = max(high - low, 1e-300)
    weight = np.clip((2.0 * square - low - high) / width, -1.0, 1.0)
    weight = weight * np.minimum(1.0, radius / np.sqrt(square))
    slope = 2.0 / width * float(np.mean((square > low) & (square < high)))
    with_y = float(np.mean(square * weight) / np.mean(square))
    with_both = float(np.mean(square * weight**2) / np.mean(square))
    kept = mean * (float(np.mean(weight)) + 2.0 * spread**2 * slope)
    return kept, spread**2 * max(with_both - with_y**2, 0.0)


def _mixture(mean: Floats, spread: Floats) -> ChiSquareMixture:
    """Return the distribution of |y|**2."""
    from prolate.theory import ChiSquareMixture

    weights = np.maximum(spread**2, _SMALLEST * mean**2)
    here = weights > 0.0
    return ChiSquareMixture(weights, np.where(here, mean**2 / np.where(here, weights, 1.0), 0.0))


def _cut_moments(
    mean: Floats, spread: Floats, lower: Floats | None, upper: Floats | None
) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of normal values cut to [lower, upper]."""
    a = np.full_like(mean, -np.inf) if lower is None else (lower - mean) / spread
    b = np.full_like(mean, np.inf) if upper is None else (upper - mean) / spread
    below, above, inside = _normal_cdf(a), _normal_cdf(-b), _normal_cdf(b) - _normal_cdf(a)
    at_a, at_b = _normal_pdf(a), _normal_pdf(b)
    low, high = np.where(below > 0.0, a, 0.0), np.where(above > 0.0, b, 0.0)
    first = low * below + high * above + at_a - at_b
    second = low**2 * below + high**2 * above + inside
    second += np.where(at_a > 0.0, a * at_a, 0.0) - np.where(at_b > 0.0, b * at_b, 0.0)
    deviation = np.sqrt(np.maximum(second - first**2, 0.0))
    return mean + spread * first, spread * deviation


def _normal_cdf(x: Floats) -> Floats:
    from scipy.special import ndtr

    return np.asarray(ndtr(x))


def _normal_pdf(x: Floats) -> Floats:
    return np.asarray(np.exp(-0.5 * x**2) / np.sqrt(2.0 * np.pi))
