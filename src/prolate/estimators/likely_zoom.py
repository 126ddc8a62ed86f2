"""How histograms zoom in on each column's bulk where their counts are noisy.

Where one count is uncertain by a twentieth of the rows and more, hardly any run of cells stands out
of the noise of all that might (`zoom.py`). But most columns' bulk is in some run, and one run is
likelier than another by what is in it. So each column has a posterior over runs, with how
long they are a priori told by all columns together (`likely_runs`); it is asked again as long as
that leaves open where its bulk is, unless it is likely as wide as the window.

A column that is in one or two of a few cells is far from 0 beside its spread, so many cells come
next. Of columns that have many values outside of the next window, zooming in on a single
value would lose these: they go back.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Searcher
from prolate.estimators.columns import SomeColumns
from prolate.estimators.magnitudes import TINY
from prolate.queries import Histogram, LinearGrid

__all__ = ["NOISY", "LikelyZoom", "zoom_likely"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]

NOISY = 0.055
"""Noise of a count, over the rows, from which on runs are told by how likely they are."""

_CELLS, _FINE = 12, 96
_LEVELS = 14
_AGAIN, _MOST_SPENT = 2, 0.3  # looks more, as long as all cost no more of the budget
_BITS = 27  # of zoom: centers up to a few million spreads away are found
_AT_BOUND = 2.0**-40  # part of a first window's half that is left to values at a bound
_ENOUGH = 2  # cells of a run that need no closer look
_UNSURE = 0.9  # probability of wide columns below which others are asked again
_PARTS = np.array([0.98, 0.9, 0.8, 0.7, 0.6, 0.5])  # of the rows that may be in a run
_BEFORE = 3.0  # as if so many columns had nearly all there
_MAYBE_FEW, _FEW = 0.5, 0.9  # probability of fewer: asked again; and no run
_ASTRAY = 1e-3  # probability that the bulk of any column is outside its next window
_NOISIER = 0.1  # noise of a count, over the rows, where wide columns are told from longer runs
_ROUNDS, _TINY = 100, 1e-3


def zoom_likely(
    curator: Searcher,
    rows: float,
    lower: Floats,
    upper: Floats,
    *,
    bounded: tuple[Bools, Bools],
    share: float,
    most_levels: int | None = None,
) -> LikelyZoom:
    """Return windows around columns' bulk that began as `lower` to `upper`.

    Parameters
    ----------
    curator : Searcher
    rows : float
        Number of rows, or a private estimate of it.
    lower, upper : float64 arrays of shape (d,)
        The first windows.
    bounded : pair of bool arrays of shape (d,)
        Whether no value is below, or above.
    share : float
        Share of mu**2 for a histogram of all columns.
    most_levels : int, optional
    """
    zoom = LikelyZoom(lower, upper, rows, bounded=bounded)
    least = curator.remaining - _MOST_SPENT
    for level in range(_LEVELS if most_levels is None else min(_LEVELS, most_levels)):
        left = np.flatnonzero(~zoom.done)
        if not left.size:
            break
        label = f"location {level + 1}"
        for index, cells in ((left[~zoom.fine[left]], _CELLS), (left[zoom.fine[left]], _FINE)):
            if index.size:
                _look(curator, zoom, index, cells, share=share, label=label, least=least)
    return zoom


def _look(
    curator: Searcher,
    zoom: LikelyZoom,
    index: Integers,
    cells: int,
    *,
    share: float,
    label: str,
    least: float,
) -> None:
    """Look at the histograms of some columns, and again at those that leave too much open."""
    d, grid = curator.dimension, zoom.grid(index, cells)

    def measured(some: Integers) -> tuple[Floats, float]:
        here = index[some]
        view = curator if here.size == d else SomeColumns(curator, here)
        query = Histogram(LinearGrid(grid.low[some], grid.width[some], cells))
        found = view.measure(query, share=share * here.size / d, label=label)
        return found.values.reshape(here.size, -1).copy(), found.std

    every, std = measured(np.arange(index.size))
    noise = np.full(index.size, std)
    for _ in range(_AGAIN):
        unsure = np.flatnonzero(zoom.unsure(index, every, noise))
        if not unsure.size or curator.remaining - share * unsure.size / d < least:
            break
        more, std = measured(unsure)
        part = (noise[unsure] ** 2 / (noise[unsure] ** 2 + std**2))[:, np.newaxis]
        every[unsure] += part * (more - every[unsure])
        noise[unsure] = np.hypot(1.0 / noise[unsure], 1.0 / std) ** -1.0
    zoom.look(index, grid, every, noise)


class LikelyZoom:
    """The columns' windows, and what was seen in them.

    Parameters
    ----------
    lower, upper : float64 arrays of shape (d,)
        The first windows.
    rows : float
        Number of rows, or a private estimate of it.
    bounded : pair of bool arrays of shape (d,)
        Whether no value is below, or above.

    Attributes
    ----------
    center, half : float64 arrays of shape (d,)
        The windows are center -+ half.
    narrow : bool array of shape (d,)
        Whether the bulk is a single value, as far as was seen.
    done : bool array of shape (d,)
        Which columns need no further look.
    fine : bool array of shape (d,)
        Which of the others have many cells next.
    """

    def __init__(
        self, lower: Floats, upper: Floats, rows: float, *, bounded: tuple[Bools, Bools]
    ) -> None:
        self._rows, self._bounded = max(rows, 1.0), np.stack(bounded, axis=1)
        self.center = 0.5 * lower + 0.5 * upper
        self.half = np.maximum(0.5 * upper - 0.5 * lower, TINY)
        self.narrow = self.half <= 4.0 * TINY
        self.done = self.narrow.copy()
        self.half = np.where(self._bounded.any(axis=1), (1.0 - _AT_BOUND) * self.half, self.half)
        self._least = self.half * 2.0**-_BITS
        self.fine, self._zoomed = np.zeros((2, self.done.size), dtype=np.bool_)

    def grid(self, index: Integers, cells: int) -> LinearGrid:
        """Return the cells of the windows of some columns."""
        low = (self.center - self.half)[index]
        return LinearGrid(low, (self.half / (cells / 2))[index], cells)

    def unsure(self, index: Integers, every: Floats, noise: Floats) -> Bools:
        """Return of which columns the histograms leave open where the bulk is."""
        _, length, wide, few = self._runs(self._counts(index, every), noise)
        unsure = np.where(length > 0, few > _MAYBE_FEW, wide < _UNSURE)
        return np.asarray(unsure & ~self.done[index])

    def look(self, index: Integers, grid: LinearGrid, every: Floats, noise: Floats) -> None:
        """Zoom in on what the histograms of some columns show."""
        start, length, wide, _ = self._runs(self._counts(index, every), noise)
        found, few, open_ = length > 0, wide < 0.5, ~self.done[index]
        zoom = open_ & found
        inside, window = index[zoom], _window(grid, start, length)
        self.center[inside], self.half[inside] = (part[zoom] for part in window)
        self._zoomed[inside] = True
        self.narrow[index[open_]] = (found & few & (length == 1))[open_]
        seen = np.where(found, ~few, ~self.fine[index])
        self.done[index] |= seen | (self.half[index] < self._least[index])
        self.fine[index] = zoom & few

    def _counts(self, index: Integers, every: Floats) -> Floats:
        """Return counts in the cells; values at bounds are in the first or last."""
        first = ~self._zoomed[index]
        at_bound = np.where(self._bounded[index] & first[:, np.newaxis], every[:, [0, -1]], 0.0)
        counts = every[:, 1:-1].copy()
        counts[:, [0, -1]] += at_bound
        return counts

    def _runs(self, counts: Floats, noise: Floats) -> tuple[Integers, Integers, Floats, Floats]:
        return likely_runs(counts, noise, self._rows, _ASTRAY / self.center.size)


def likely_runs(
    counts: Floats, noise: Floats, rows: float, astray: float
) -> tuple[Integers, Integers, Floats, Floats]:
    """Return the shortest run of each column that the bulk is likely near, and if it is wide.

    Parameters
    ----------
    counts : float64 array of shape (d, cells)
    noise : float64 array of shape (d,)
        Their standard deviations.
    rows : float
    astray : float
        Probability that the bulk is not within a run or as far from it as that is long.

    Returns
    -------
    start, length : int64 arrays of shape (d,)
        Length 0 if there is none.
    wide : float64 array of shape (d,)
        Probability that the bulk is in more than two cells, or, where there is no run, in more
        than a part of all.
    few : float64 array of shape (d,)
        Probability that many of the rows are in no run: of a single value and others.
    """
    d, cells = counts.shape
    steps = np.concatenate([np.zeros((d, 1)), np.cumsum(counts, axis=1)], axis=1)
    lengths = sorted({round(2 ** (k / 2)) for k in range(int(2 * math.log2(cells)) + 1)})
    longest = cells // 6
    fits, kind_of = [], []
    for run in lengths:
        within = steps[:, run:] - steps[:, :-run]
        for mass in _PARTS if run <= longest else _PARTS[:1]:
            fit = (within - 0.5 * mass * rows) * mass * rows / (run * noise[:, np.newaxis] ** 2)
            fits.append(fit - math.log(fit.shape[1]))
            kind_of.append((run, mass))
    kinds = np.stack([np.logaddexp.reduce(fit, axis=1) for fit in fits], axis=1)
    sizes, parts = np.array(kind_of).T
    nearly_all = parts == _PARTS[0]
    prior, whole = _common(kinds, _BEFORE * nearly_all / nearly_all.sum())
    likely = np.concatenate(
        [np.exp(fit + prior[k] - whole[:, np.newaxis]) for k, fit in enumerate(fits)], axis=1
    )
    places = [fit.shape[1] for fit in fits]
    at = np.concatenate([np.arange(count) for count in places])
    size, part = np.repeat(sizes, places), np.repeat(parts, places)
    few = likely[:, part < _PARTS[0]].sum(axis=1)
    start, length = np.zeros((2, d), dtype=np.int64)
    for run in lengths[: np.searchsorted(lengths, longest, side="right")]:
        those = likely[:, size == run].reshape(d, -1, cells + 1 - run).sum(axis=1)
        best = np.argmax(those, axis=1)[:, np.newaxis]
        near = (at >= best - run) & (at + size <= best + 2 * run)
        good = (np.sum(likely * near, axis=1) > 1.0 - astray) & (few < _FEW) & (length == 0)
        start[good], length[good] = best[good, 0], run
    most = np.where(noise < _NOISIER * rows, cells // 12, longest)
    most = np.where(length > 0, _ENOUGH, most)
    wide = np.sum(likely * (size > most[:, np.newaxis]), axis=1)
    return start, length, np.where(few > _FEW, 1.0, wide), few


def _common(kinds: Floats, before: Floats) -> tuple[Floats, Floats]:
    """Return how likely kinds are by how all columns fit them, and how well each column fits.

    From and as logarithms, by expectation maximization, as if some columns had been seen before.
    """
    d, many = kinds.shape
    best = kinds.max(axis=1)
    fits, prior = np.exp(kinds - best[:, np.newaxis]), np.full(many, 1.0 / many)
    for _ in range(_ROUNDS):
        prior *= (1.0 / (fits @ prior)) @ fits
        prior = (prior + before + _TINY) / (d + before.sum() + many * _TINY)
    return np.log(prior), np.log(fits @ prior) + best


def _window(grid: LinearGrid, start: Integers, length: Integers) -> tuple[Floats, Floats]:
    """Return the center of three times the run, and half of that window's width."""
    return grid.low + grid.width * (start + 0.5 * length), grid.width * 1.5 * length
