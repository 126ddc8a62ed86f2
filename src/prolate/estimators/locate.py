"""Where each column's values are, privately: no bounds, no scale given.

First a histogram of |x| at the float format's own exponents finds an interval that holds
the bulk of the values. Then histograms of equal cells zoom in: each finds the *shorth*
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
from prolate.estimators.pooling import pooled_posterior
from prolate.estimators.shares import rows_changed
from prolate.queries import Histogram, LinearGrid, MagnitudeGrid

__all__ = ["SCALES", "Interval", "find_magnitudes", "locate", "significance"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SCALES = 3.1
"""Half the width of an interval, in standard deviations of a normal column."""

_GROUPS = 54  # a magnitude's bit pattern >> 54 is its group of four octaves
_CELLS = 512
_BULK = 0.7  # a run of cells must hold this part of the column's rows
_STILL = 0.5  # the same where a first run was a single cell: no second thoughts from noise
_ENTERS, _LEAVES = 2.0, 3.0  # standard deviations of a count by which a value is single
_ENOUGH = 6  # cells in a run that is resolved
_RUN = 0.8  # where noise allows no run so long: this part of the longest it allows
_BITS = 27  # of zoom: centers up to a few million spreads away are found
_LOST = 1e-6  # probability that noise alone makes any cell or run stand out
_UNLIKELY = 1e-3  # posterior probability of a magnitude that is left aside
_USUAL = 8.0  # octaves from one at which a magnitude is e times less likely, by itself
_MOST_CELLS = 1 << 24  # of all histograms of one measurement together
_TINY = 2.0**-900


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


def significance(tests: int, lost: float = _LOST) -> float:
    """Return how many standard deviations noise exceeds once in 1 / `lost` such searches."""
    return math.sqrt(2.0 * math.log(tests / lost))


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
        Bounds on all columns save the first histogram.
    rows : float
        Number of rows, or a private estimate of it.
    magnitude_share, share : float
        Shares of mu**2 for the first histogram and for each of the others.
    most_levels : int, optional
        At most so many of the others.
    lost : float
        Probability that noise alone makes any run of cells stand out.

    Returns
    -------
    Interval
    """
    d = curator.dimension
    lower, upper = curator.bounds or (np.full(d, -np.inf), np.full(d, np.inf))
    found = bool(np.all(np.isfinite(lower) & np.isfinite(upper)))
    farthest = np.maximum(np.abs(lower), np.abs(upper))
    if not found:
        largest, seen, found = find_magnitudes(curator, rows, share=magnitude_share)
        farthest = np.minimum(seen, farthest)
        lower, upper = np.clip(-largest, lower, upper), np.clip(largest, lower, upper)
    clear = _clear_run(curator, rows, share, lost)
    cells = int(min(max(12, 8 * clear), _CELLS, _MOST_CELLS // d))
    enough = min(_ENOUGH, max(2, round(_RUN * clear)))

    center, half = 0.5 * lower + 0.5 * upper, np.maximum(0.5 * upper - 0.5 * lower, _TINY)
    narrow = half <= 4.0 * _TINY
    done = narrow
    sharp, single = np.zeros((2, d), dtype=np.bool_)
    levels = math.ceil(_BITS / math.log2(cells / 3))
    for level in range(levels if most_levels is None else min(levels, most_levels)):
        if done.all():
            break
        grid = LinearGrid(center - half, half / (cells / 2), cells)
        measured = curator.measure(Histogram(grid), share=share, label=f"location {level + 1}")
        counts = measured.values.reshape(d, -1)[:, 1:-1]
        bulk = np.where(narrow, _STILL, _BULK)
        start, length = _shorth(counts, measured.std, rows, bulk, lost)
        # A cell that surely holds half of the rows is a single value if a part of it does, too.
        highest = np.argmax(counts, axis=1)
        spare = (counts[np.arange(d), highest] - _STILL * rows) / measured.std
        single = np.where(single, spare > -_LEAVES, sharp & (spare > _ENTERS))
        sharp = spare > _ENTERS
        start, length = np.where(single, highest, start), np.where(single, 1, length)
        zoom = (length > 0) & ~done
        middle, wide = _window(grid, counts, start, length)
        center = np.where(zoom, middle, center)
        half = np.where(zoom, wide, half)
        narrow = np.where(done, narrow, zoom & (length == 1))
        # Done: the shape is seen; or nothing stands out; or the last bits are reached.
        flat = half <= np.abs(center) * 2.0**-44
        done = done | (length >= enough) | (length == 0) | flat
    return Interval(center, half, narrow, found, farthest)


def _clear_run(curator: Searcher, rows: float, share: float, lost: float) -> float:
    """Return how many cells a run may have whose `_BULK` still stands out of the noise."""
    noise = math.sqrt(rows_changed(curator.neighbors) * curator.dimension) / curator.mu_of(share)
    return (_BULK * rows / (noise * significance(curator.dimension * 1000, lost))) ** 2


def find_magnitudes(
    curator: Searcher,
    rows: float,
    *,
    share: float,
    center: Floats | None = None,
) -> tuple[Floats, Floats, bool]:
    """Find how far from `center` (0) the values are, from the float format's own exponents.

    Returns
    -------
    largest : float64 array of shape (d,)
        Most values of a column have |x - center| <= largest / 2.
    farthest : float64 array of shape (d,)
        The same of the farthest values that stand out of the noise.
    found : bool
        Whether any magnitude stands out, in all columns together.
    """
    d = curator.dimension
    cells = 1 << (63 - _GROUPS)
    origin = np.zeros(d) if center is None else center
    grid = MagnitudeGrid(origin, np.zeros(d, dtype=np.int64), cells, _GROUPS)
    measured = curator.measure(Histogram(grid), share=share, label="magnitude")
    counts = measured.values.reshape(d, cells)
    seen = np.where(counts > significance(d * cells) * measured.std, counts, 0.0)

    # Where a column alone shows nothing, all columns together show what is likely.
    together = counts.sum(axis=0)
    likely = together > significance(cells) * measured.std * math.sqrt(d)
    found = bool(likely.any())
    # Where noise hides everything, magnitudes near one are likelier than others.
    octaves = np.abs(np.arange(cells) - cells // 2) * 2.0 ** (_GROUPS - 52)
    prior = -octaves / _USUAL
    evidence = (together - 0.5 * _BULK * rows) * _BULK * rows / (d * measured.std**2)
    likely[np.argmax(evidence + prior)] = True
    nothing = ~seen.any(axis=1)
    if nothing.any():
        bulk = _BULK * rows
        fit = (counts[nothing] * bulk - 0.5 * bulk**2) / measured.std**2
        fit += prior
        fit[:, ~likely] = -np.inf
        offset = np.zeros(fit.shape[0], dtype=np.int64)
        seen[nothing] = pooled_posterior(fit, offset, width=1) > _UNLIKELY

    above = np.cumsum(seen[:, ::-1], axis=1)[:, ::-1]
    top = np.count_nonzero(above > 0.1 * above[:, :1], axis=1)
    last = np.count_nonzero(above > 0.0, axis=1)
    edges = np.clip(grid.edges(0)[:-1], _TINY, 1.0 / _TINY)
    largest, farthest = (2.0 * edges[np.minimum(place, cells - 1)] for place in (top, last))
    return largest, farthest, found


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
