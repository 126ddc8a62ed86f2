"""How histograms zoom in on each column's bulk where their counts are noisy.

Where one count is uncertain by a fifteenth of the rows and more, hardly any run of cells stands out
of the noise of all that might (`zoom.py`). So columns' windows follow the runs that their bulk is
likely near (`likely_runs.py`), and columns are asked again where that leaves too much open.

A column that is in one or two of a few cells is far from the center of its window beside its
spread, so many cells come next. These may show most rows in one cell and others apart from it, as
where most have a single value. The window must hold those others too: it stays wider, and few
cells tell whether it holds them.
"""

from __future__ import annotations

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.curator import Searcher
from prolate.estimators.columns import SomeColumns
from prolate.estimators.search.likely_runs import LikelyRuns, likely_runs
from prolate.estimators.search.windows import BITS, Start, Windows
from prolate.queries import Histogram, LinearGrid

__all__ = ["NOISIEST", "NOISY", "LikelyZoom", "zoom_likely"]

NOISY, NOISIEST = 0.07, 0.28
"""Noise of a count, over the rows, from and up to which runs are told by how likely they are."""

_CELLS, _FINE = 12, 96
_MOST_CELLS = 1 << 22  # of many columns' histograms together
_LEVELS = 14
_AGAIN, _AGAIN_RARE, _RARE = 2, 8, 0.1  # looks more, at all or at a few columns
_MOST_SPENT = 0.3  # of the budget, before the last of these
_ASTRAY = 1e-3  # probability that the bulk of any column is outside its next window
_WIDE = 0.9  # probability that the bulk is wide, to be done
_MAYBE_APART, _APART, _SURELY_APART = 0.5, 0.9, 0.999  # probability that rows are apart from it
_AROUND = 12  # of the cells, one in so many is within the run if rows are apart
_SHIFT = 1.0 / 11.0  # half a window that it is wider, so that cells' edges may be anywhere
_GOLDEN, _SILVER = 0.6180339887498949, 0.4142135623730951
_SIGN, _COARSER = 2.0, 0.8  # evidence of rows apart that counts, and what is left for larger cells


def zoom_likely(
    curator: Searcher,
    rows: float,
    start: Start,
    *,
    share: float,
    most_levels: int | None = None,
) -> LikelyZoom:
    """Return windows around columns' bulk.

    Parameters
    ----------
    curator : Searcher
    rows : float
        Number of rows, or a private estimate of it.
    start : Start
    share : float
        Share of mu**2 for a histogram of all columns.
    most_levels : int, optional
    """
    zoom = LikelyZoom(start, rows)
    least = curator.remaining - _MOST_SPENT
    for level in range(_LEVELS if most_levels is None else min(_LEVELS, most_levels)):
        left = np.flatnonzero(~zoom.done)
        if not left.size:
            break
        label = f"location {level + 1}"
        few, many = left[~zoom.fine[left]], left[zoom.fine[left]]
        fine = _FINE if many.size * _FINE <= _MOST_CELLS else _CELLS
        for index, cells in ((few, _CELLS), (many, fine)):
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
    runs, rare = zoom.runs(index, grid, every, noise), max(1.0, _RARE * d)
    for again in range(_AGAIN_RARE):
        unsure = zoom.unsure(index, runs, rare)
        costs = share * unsure.size / d
        most = d if again < _AGAIN else rare
        if not 0 < unsure.size <= most or curator.remaining - costs < least:
            break
        more, std = measured(unsure)
        part = (noise[unsure] ** 2 / (noise[unsure] ** 2 + std**2))[:, np.newaxis]
        every[unsure] += part * (more - every[unsure])
        noise[unsure] = np.hypot(1.0 / noise[unsure], 1.0 / std) ** -1.0
        runs = zoom.runs(index, grid, every, noise)
    zoom.look(index, grid, runs)


class LikelyZoom(Windows):
    """Windows that follow runs of cells which the bulk is likely near.

    Attributes
    ----------
    fine : bool array of shape (d,)
        Which of the columns that are not done have many cells next.
    """

    def __init__(self, start: Start, rows: float) -> None:
        super().__init__(start, rows)
        self._least = self.half * 2.0**-BITS
        self._looks = 0
        free = np.flatnonzero(~self._bounded.any(axis=1) & ~self.narrow)
        self.center[free], self.half[free] = self._shifted(free, self.center[free], self.half[free])
        self._evidence = np.zeros(self.done.size)  # of rows apart from the bulk
        self._seen_in = np.full(self.done.size, np.inf)  # cells of this width
        self.fine, self._zoomed = np.zeros((2, self.done.size), dtype=np.bool_)

    def runs(self, index: Integers, grid: LinearGrid, every: Floats, noise: Floats) -> LikelyRuns:
        """Return what runs the counts show; values at bounds are in the first or last cell."""
        at_bound = self._bounded[index] & ~self._zoomed[index, np.newaxis]
        counts = every[:, 1:-1].copy()
        counts[:, [0, -1]] += np.where(at_bound, every[:, [0, -1]], 0.0)
        before = self._evidence[index]
        # What is apart in cells is apart in smaller ones; in larger ones it may not be.
        no_larger = grid.width <= 1.01 * self._seen_in[index]
        before = np.where(no_larger, before, np.minimum(0.5 * before, _COARSER))
        astray = _ASTRAY / self.center.size
        return likely_runs(counts, noise, self._rows, astray=astray, evidence=before)

    def unsure(self, index: Integers, runs: LikelyRuns, rare: float) -> Integers:
        """Return of which columns it is open where the values are.

        If these are no more than `rare`, also where it is open only whether many are apart.
        """
        left = ~self.done[index]
        maybe = (runs.apart > _MAYBE_APART) & (runs.apart < _SURELY_APART)
        nowhere = (runs.length == 0) & (runs.wide < _WIDE) & (runs.apart < _MAYBE_APART)
        unsure = left & (nowhere | maybe)
        if unsure.sum() > rare:
            unsure &= nowhere | (runs.barely > _MAYBE_APART)
        return np.flatnonzero(unsure)

    def look(self, index: Integers, grid: LinearGrid, runs: LikelyRuns) -> None:
        """Zoom in on the runs of some columns."""
        most = np.where(self._evidence[index] > _SIGN, _MAYBE_APART, _APART)
        self._remember(index, grid, runs.evidence)
        fine, left = self.fine[index], ~self.done[index]
        small, apart = runs.wide < _WIDE, runs.apart > _APART
        found = (runs.length > 0) & (fine | (runs.apart <= most))
        zoom = left & found
        near = np.where(apart, np.maximum(runs.length, grid.cells // _AROUND), runs.length)
        center = grid.low + grid.width * (runs.start + 0.5 * runs.length)
        half = 1.5 * grid.width * near
        zoomed = self._shifted(index[zoom], center[zoom], half[zoom])
        self.center[index[zoom]], self.half[index[zoom]] = zoomed
        self._zoomed[index[zoom]] = True
        finer = found & small & ~apart
        self.narrow[index[left]] = (finer & (runs.length == 1))[left]
        seen = np.where(found, ~small & ~apart, ~fine)
        self.done[index] |= seen | (self.half[index] < self._least[index])
        self.fine[index] = left & finer

    def _shifted(self, index: Integers, center: Floats, half: Floats) -> tuple[Floats, Floats]:
        """Return windows that hold these, with a cell's edge at no round number."""
        self._looks += 1
        along = np.modf((index + 1) * _GOLDEN + self._looks * _SILVER)[0] * 2.0 - 1.0
        return center + _SHIFT * along * half, (1.0 + _SHIFT) * half

    def _remember(self, index: Integers, grid: LinearGrid, evidence: Floats) -> None:
        """Keep the evidence of rows apart from the bulk."""
        no_larger = grid.width <= 1.01 * self._seen_in[index]
        better = no_larger | (evidence > self._evidence[index])
        self._evidence[index] = np.where(better, np.maximum(evidence, 0.0), self._evidence[index])
        self._seen_in[index] = np.where(better, grid.width, self._seen_in[index])
