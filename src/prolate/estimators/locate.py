"""Where each column's values are, privately: no bounds, no scale given.

First `find_magnitudes` finds an interval around 0 that holds the bulk of the values. Then
histograms of equal cells zoom in: each finds the *shorth*
(the shortest run of cells that holds most rows, a robust location), and the next one
looks at three times that run, until the run has enough cells to see the shape.

A run counts only if it stands out of the noise over all runs that were tried, so a
column is never lost to noise: where the noise is too large, its interval stays wide.
Everything after a measurement is arithmetic on its noisy counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Searcher
from prolate.estimators.columns import SomeColumns
from prolate.estimators.magnitudes import BULK, TINY, find_magnitudes
from prolate.estimators.shares import rows_changed, significance
from prolate.queries import Histogram, LinearGrid

__all__ = ["SCALES", "Interval", "locate"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SCALES = 3.1
"""Half the width of an interval, in standard deviations of a normal column."""

_CELLS = 512
_STILL = 0.5  # the same where a first run was a single cell: no second thoughts from noise
_ENTERS, _LEAVES = 2.0, 3.0  # standard deviations of a count by which a value is single, ...
_SHARP = 0.08  # ... where counts are no noisier than this part of the rows
_ENOUGH = 6  # cells in a run that is resolved
_RUN = 0.8  # where noise allows no run so long: this part of the longest it allows
_FEWER = 0.75  # of the columns, or fewer, are measured without the others
_BITS = 27  # of zoom: centers up to a few million spreads away are found
_LOST = 1e-6  # probability that noise alone makes any cell or run stand out
_MOST_CELLS = 1 << 24  # of all histograms of one measurement together


@dataclass(frozen=True, eq=False)
class Interval:
    """Where values are, per column.

    Attributes
    ----------
    center, half : float64 arrays of shape (d,)
        Most values are in center -+ half, about `SCALES` standard deviations.
    narrow : bool array of shape (d,)
        Whether the bulk is a single value, as far as the search could see.
    found : bool
        Whether any magnitude stood out of the noise at all.
    farthest : float64 array of shape (d,)
        How far from 0 values were seen.
    """

    center: Floats
    half: Floats
    narrow: NDArray[np.bool_]
    found: bool
    farthest: Floats
    least: Floats

    def at(self, center: Floats, index: Integers) -> Interval:
        """Return the intervals of some columns, around other centers."""
        half, narrow, farthest = self.half[index], self.narrow[index], self.farthest[index]
        return Interval(center[index], half, narrow, self.found, farthest, self.least[index])


def locate(
    curator: Searcher,
    rows: float,
    *,
    magnitude_share: float,
    share: float,
    most_levels: int | None = None,
    lost: float = _LOST,
) -> Interval:
    """Find each column's center and bulk.

    Parameters
    ----------
    curator : Searcher
        Bounds on all columns save the search for magnitudes.
    rows : float
        Number of rows, or a private estimate of it.
    magnitude_share, share : float
        Shares of mu**2 for `find_magnitudes` and for each histogram.
    most_levels : int, optional
        At most so many histograms.
    lost : float
        Probability that noise alone makes any run of cells stand out.

    Returns
    -------
    Interval
    """
    d = curator.dimension
    lost_probability = lost
    lower, upper = curator.bounds or (np.full(d, -np.inf), np.full(d, np.inf))
    found = bool(np.all(np.isfinite(lower) & np.isfinite(upper)))
    farthest = np.maximum(np.abs(lower), np.abs(upper))
    constant = np.zeros(d, dtype=np.bool_)
    if not found:
        size = find_magnitudes(curator, rows, share=magnitude_share)
        found, constant = size.found, size.zero & (lower <= 0.0) & (upper >= 0.0)
        farthest = np.minimum(size.farthest, farthest)
        lower, upper = np.clip(-size.largest, lower, upper), np.clip(size.largest, lower, upper)
        lower, upper = np.where(constant, 0.0, lower), np.where(constant, 0.0, upper)
    clear = _clear_run(curator, rows, share, lost)
    cells = int(min(max(12, 8 * clear), _CELLS, _MOST_CELLS // d))
    enough = min(_ENOUGH, max(2, round(_RUN * clear)))

    center, half = 0.5 * lower + 0.5 * upper, np.maximum(0.5 * upper - 0.5 * lower, TINY)
    narrow = half <= 4.0 * TINY
    done = narrow.copy()
    sharp, single = np.zeros((2, d), dtype=np.bool_)
    tops = np.zeros((2, d))
    far_part, far_off = np.zeros((2, d))
    before = np.stack([center, half])  # windows that surely hold the bulk
    levels = math.ceil(_BITS / math.log2(cells / 3))
    for level in range(levels if most_levels is None else min(levels, most_levels)):
        index = np.flatnonzero(~done)
        if not index.size:
            break
        # Columns that are done are left out where they are many: for the same noise, fewer
        # columns cost less.
        if index.size > _FEWER * d:
            index = np.arange(d)
        view = curator if index.size == d else SomeColumns(curator, index)
        grid = LinearGrid((center - half)[index], (half / (cells / 2))[index], cells)
        measured = view.measure(
            Histogram(grid), share=share * index.size / d, label=f"location {level + 1}"
        )
        all_counts = measured.values.reshape(index.size, -1)
        counts = all_counts[:, 1:-1]
        outside = all_counts[:, 0] + all_counts[:, -1]
        bulk = np.where(narrow[index], _STILL, BULK)
        part = np.maximum(outside - 2.5 * np.sqrt(2) * measured.std, 0.0) / max(rows, 1)
        away = half[index] / 1.5
        kept, distance = far_part[index], far_off[index]
        kept = np.where(away <= distance, np.minimum(kept, part), kept)
        better = part * away**2 > kept * distance**2
        far_part[index], far_off[index] = np.where(better, part, kept), np.where(better, away, distance)
        start, length = _shorth(counts, measured.std, rows, bulk, lost_probability)
        # A cell that surely holds half of the rows is a single value if a part of it does, too.
        highest = np.argmax(counts, axis=1)
        most = counts.max(axis=1)
        spare = (most - _STILL * rows) / measured.std
        stays = (spare > -_LEAVES) & (most - outside > -2.0 * measured.std)
        alone = np.where(single[index], stays, sharp[index] & (spare > _ENTERS))
        alone &= measured.std < _SHARP * rows
        # Too many rows are elsewhere: what was taken for the bulk was not.
        lost = ~alone & ~done[index] & (level > 0) & (outside > (1.0 - BULK) * rows)
        single[index], sharp[index] = alone, (spare > _ENTERS) & ~lost
        start, length = np.where(alone, highest, start), np.where(alone, 1, length)
        back = index[lost]
        center[back], half[back] = before[:, back]
        tops[:, back] = 0.0
        narrow[back] = False
        zoom = (length > 0) & ~done[index] & ~lost
        middle, wide = _window(grid, counts, start, length)
        moved = index[zoom]
        first, cells_ = _shorth(counts, measured.std, rows, np.full(index.size, .85), lost_probability)
        few = cells_ < 2
        first, cells_ = np.where(few, start, first), np.where(few, 2, cells_)
        sound = zoom & ((level == 0) | (outside <= (1.0 - BULK) * rows))
        before[:, index[sound]] = np.stack(_window(grid, counts, first, cells_))[:, sound]
        tops[:, index[sound]] = 0.0
        unsound = zoom & ~sound
        tops[:, index[unsound]] += np.stack([most, np.ones(index.size)])[:, unsound]
        center[moved], half[moved] = middle[zoom], wide[zoom]
        narrow[moved] = length[zoom] == 1
        narrow[index[(length == 0) & ~done[index] & ~lost]] = False
        # Done: the shape is seen; or nothing stands out; or the last bits are reached.
        flat = half[index] <= np.abs(center[index]) * 2.0**-44
        done[index] |= ~lost & ((length >= enough) | (length == 0) | flat)
    least = np.where(tops[1] > 0, tops[0] < 0.4 * rows * tops[1], ~done & ~single)
    print("CHAIN", np.flatnonzero(tops[1]>0), (tops[0]/np.maximum(tops[1],1)/rows)[tops[1]>0]) if __import__("os").environ.get("DBG") else None
    left = least
    far_part = np.where(narrow & ~left, 0.0, far_part)
    center[left], half[left], narrow[left] = before[0, left], before[1, left], False
    return Interval(center, half, narrow, found, farthest, np.sqrt(far_part) * far_off)


def _clear_run(curator: Searcher, rows: float, share: float, lost: float) -> float:
    """Return how many cells a run may have whose `BULK` still stands out of the noise."""
    noise = math.sqrt(rows_changed(curator.neighbors) * curator.dimension) / curator.mu_of(share)
    return (BULK * rows / (noise * significance(curator.dimension * 1000, lost))) ** 2


def _shorth(
    counts: Floats, noise: float, rows: float, bulk: Floats, lost: float
) -> tuple[Integers, Integers]:
    """Return the first cell and the length of each column's shortest run; length 0 if none."""
    d, cells = counts.shape
    steps = np.concatenate([np.zeros((d, 1)), np.cumsum(counts, axis=1)], axis=1)
    present = np.full(d, rows)
    if noise * math.sqrt(cells) < 0.1 * rows:  # some values may be missing
        present = np.clip(steps[:, -1], 0.05 * rows, rows)
    lengths = sorted({round(2 ** (k / 3)) for k in range(int(3 * math.log2(cells)) + 1)})
    stands_out = significance(d * cells * len(lengths), lost) * noise
    start = np.zeros(d, dtype=np.int64)
    length = np.zeros(d, dtype=np.int64)
    for run in lengths:
        mass = steps[:, run:] - steps[:, :-run]
        best = np.argmax(mass, axis=1)
        most = mass[np.arange(d), best]
        good = (length == 0) & (most >= bulk * present) & (most >= stands_out * math.sqrt(run))
        start[good], length[good] = best[good], run
    return start, length


def _window(
    grid: LinearGrid, counts: Floats, start: Integers, length: Integers
) -> tuple[Floats, Floats]:
    """Return the center of three times the run, and half of that window's width."""
    index = np.arange(grid.cells)
    low, high = start - length, start + 2 * length
    inside = (index >= low[:, np.newaxis]) & (index < high[:, np.newaxis])
    mass = np.where(inside, counts, 0.0)
    centroid = (mass * (index + 0.5)).sum(axis=1) / np.maximum(mass.sum(axis=1), 1.0)
    # A run of few cells says where the values are only to within the run.
    middle = start + 0.5 * length
    place = np.where(length < _ENOUGH, middle, np.clip(centroid, start, start + length))
    return grid.low + grid.width * place, grid.width * 1.5 * np.maximum(length, 1)
