"""Where a column's values are and how far they spread, from as few counts as can tell.

For budgets that leave only coarse counts. A first histogram finds how large the values are
(`find_magnitudes`). Then histograms of equal cells are matched against normal curves of every
place and width, all of them together: the answer is the mean of the posterior, wide where
the counts say little. Only columns whose width is not yet seen are asked again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Searcher
from prolate.estimators.columns import SomeColumns
from prolate.estimators.search.pooling import pooled_posterior
from prolate.estimators.search.spread import LARGEST, SMALLEST
from prolate.queries import Histogram, LinearGrid, MagnitudeGrid

__all__ = ["Place", "place"]

Floats = NDArray[np.float64]

_GROUPS = 54  # a magnitude's bit pattern >> 54 is its group of four octaves
_USUAL = 4.0  # octaves from one at which a magnitude is e times less likely
_SURE = 0.8  # posterior probability that most values are no larger
_CELLS = 12  # of a histogram
_PLACES = 49  # candidates in a window
_WIDTHS = 2.0 ** np.arange(-7.0, 0.01, 0.5)  # over half the window
_MISFIT = 0.03  # of the rows, by which a cell may differ from a normal curve's
_SEEN = 0.75  # cells per standard deviation, that show a width
_UNSEEN = 4.0  # times the width of a column, if it is never seen how narrow it is
_NARROWEST, _REACH = 0.1, 3.0  # half of the next window: of this one; deviations
_TINY = 1e-130


@dataclass(frozen=True, eq=False)
class Place:
    """What is known of every column.

    Attributes
    ----------
    center, spread : float64 arrays of shape (d,)
    doubt : float64 array of shape (d,)
        Standard deviation of the error in `center`, over `spread`.
    """

    center: Floats
    spread: Floats
    doubt: Floats


def place(
    view: SomeColumns,
    rows: float,
    *,
    magnitude_share: float,
    share: float,
    levels: int,
) -> Place:
    """Find places and widths.

    Parameters
    ----------
    view : SomeColumns
    rows : float
    magnitude_share, share : float
        Shares of mu**2: of the first histogram and of each of the others.
    levels : int
        How many of the others, at most.
    """
    d = view.dimension
    center, half = _window(view, rows, magnitude_share)
    spread, doubt = half / 2.0, half
    seen: list[tuple[LinearGrid, Floats, Floats]] = []
    asked = np.ones(d, dtype=np.bool_)
    settled = np.zeros(d, dtype=np.bool_)
    for level in range(levels):
        if not asked.any():
            break
        grid = LinearGrid(center - half, half * (2.0 / _CELLS), _CELLS)
        seen.append((grid, *_ask(view, rows, grid, asked, share, level)))
        center, spread, doubt = _match(seen, center, half)
        settled |= asked & (spread > _SEEN * grid.width)
        asked &= ~settled
        near = _REACH * np.maximum(spread, doubt)
        half = np.where(asked, np.clip(near, _NARROWEST * half, half), half)
    wide = np.hypot(spread, doubt)
    wide = np.clip(np.where(settled, wide, _UNSEEN * wide), SMALLEST, LARGEST)
    return Place(center, wide, np.minimum(doubt / wide, 1.0))


def _window(view: Searcher, rows: float, share: float) -> tuple[Floats, Floats]:
    """Return the middle and half the width of where values may be."""
    d = view.dimension
    lower, upper = view.bounds or (np.full(d, -np.inf), np.full(d, np.inf))
    if not np.all(np.isfinite(lower) & np.isfinite(upper)):
        top = np.clip(_magnitudes(view, rows, share), _TINY, 1.0 / _TINY)
        lower, upper = np.clip(-top, lower, upper), np.clip(top, lower, upper)
    center = 0.5 * lower + 0.5 * upper
    return center, np.maximum(0.5 * upper - 0.5 * lower, np.maximum(_TINY, 1e-12 * np.abs(center)))


def _magnitudes(view: Searcher, rows: float, share: float) -> Floats:
    """Return how large most values of each column are, from the float format's own exponents."""
    d, cells = view.dimension, 1 << (63 - _GROUPS)
    grid = MagnitudeGrid(np.zeros(d), np.zeros(d, dtype=np.int64), cells, _GROUPS)
    measured = view.measure(Histogram(grid), share=share, label="magnitude")
    parts = measured.values.reshape(d, cells) / rows
    before = np.concatenate([np.zeros((d, 1)), parts[:, :-1]], axis=1)
    # Values in one cell, in it and the one before, or in it and near 0.
    splits = [(1.0, 0.0, 0.0), (0.5, 0.5, 0.0), (0.25, 0.75, 0.0), (0.4, 0.0, 0.6), (0.2, 0.0, 0.8)]
    fits = [
        parts * here + before * near + parts[:, :1] * none - 0.5 * (here**2 + near**2 + none**2)
        for here, near, none in splits
    ]
    noise = (measured.std / rows) ** 2 + _MISFIT**2
    octaves = np.abs(np.arange(cells) - cells // 2) * 2.0 ** (_GROUPS - 52)
    fit = np.logaddexp.reduce(np.array(fits) / noise, axis=0) - octaves / _USUAL
    offset = np.zeros(d, dtype=np.int64)
    if d > 1:
        likely = pooled_posterior(fit, offset, width=1)
    else:
        likely = np.exp(fit - fit.max())
        likely /= likely.sum()
    place = np.argmax(np.cumsum(likely, axis=1) >= _SURE, axis=1)
    edges = np.clip(grid.edges(0)[1:], _TINY, 1.0 / _TINY)
    return np.asarray(edges[place])


def _ask(
    view: SomeColumns,
    rows: float,
    grid: LinearGrid,
    asked: NDArray[np.bool_],
    share: float,
    level: int,
) -> tuple[Floats, Floats]:
    """Return each cell's part of the rows, and its noise: infinite where nothing was asked."""
    some = SomeColumns(view.curator, view.index[asked])
    query = Histogram(LinearGrid(grid.low[asked], grid.width[asked], grid.cells))
    measured = some.measure(query, share=share, label=f"place {level + 1}")
    parts, noise = np.zeros((view.dimension, grid.size)), np.full(view.dimension, np.inf)
    parts[asked] = measured.values.reshape(-1, grid.size) / rows
    noise[asked] = measured.std / rows
    return parts, noise


def _match(
    seen: list[tuple[LinearGrid, Floats, Floats]], center: Floats, half: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the posterior's center, spread, and doubt of the center."""
    from scipy.special import ndtr

    d = center.size
    places = np.linspace(-1.0, 1.0, _PLACES)
    # As likely in every octave, of places and widths.
    whole = np.abs((center / half)[:, np.newaxis] + places)[:, np.newaxis, :]
    fit = -np.log(whole + _WIDTHS[:, np.newaxis])
    for grid, parts, noise in seen:
        low = (grid.low - center) / half
        edges = low[:, np.newaxis] + (grid.width / half)[:, np.newaxis] * np.arange(grid.cells + 1)
        for number, width in enumerate(_WIDTHS):
            below = ndtr((edges[:, np.newaxis, :] - places[:, np.newaxis]) / width)
            ends = np.zeros((d, _PLACES, 1))
            curve = np.diff(np.concatenate([ends, below, ends + 1.0], axis=2), axis=2)
            match = np.einsum("dpc,dc->dp", curve, parts) - 0.5 * np.sum(curve**2, axis=2)
            fit[:, number] += match / (noise**2 + _MISFIT**2)[:, np.newaxis]
    fit -= fit.max(axis=(1, 2), keepdims=True)
    posterior = np.exp(fit)
    posterior /= posterior.sum(axis=(1, 2), keepdims=True)
    where, how = posterior.sum(axis=1), posterior.sum(axis=2)
    middle = where @ places
    doubt = np.sqrt(np.maximum(where @ places**2 - middle**2, 0.0))
    return center + half * middle, half * np.exp(how @ np.log(_WIDTHS)), half * doubt
