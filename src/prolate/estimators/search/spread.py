"""How far each column's values spread around a private center.

One histogram of |x - center| in half octaves per column. Its bulk is matched against the
half-normal shape, with what the other columns' scales are as a prior; cells further out
that clearly hold rows add their second moment, so that rare large values count.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from prolate.arrays import Bools, Floats, Integers
from prolate.curator import Searcher
from prolate.estimators.search.half_octaves import CANDIDATES, HalfOctaves, even_half_octave
from prolate.estimators.search.locate import SCALES, WITHIN, Interval
from prolate.estimators.search.pooling import pooled_pieces
from prolate.estimators.shares import significance
from prolate.queries import Histogram

__all__ = ["LARGEST", "NARROWEST", "SMALLEST", "half_normal_fit", "measure_scale"]

SMALLEST, LARGEST = 1e-140, 1e140
"""Scales are kept within these, so that their squares are floats."""


_BELOW, _CELLS = 24, 64  # half octaves below an interval's half-width, and in all
_RARE_BELOW, _RARE_CELLS = 152, 160  # the same where columns are narrow, below `reach`
_NARROWER, _WIDER = 4.0, 3.0  # octaves that a scale may be from what its interval says
NARROWEST = 11.0
"""The most octaves that a scale is looked for below what its interval says."""

_PRIOR_WIDTH = 7  # candidates that the prior is smoothed over
_LEAST_PRESENT = 0.3  # at least this part of a column's values is taken to be there
_TAIL = 3.0  # cells beyond this many bulk scales count as tail
_erf = np.frompyfunc(math.erf, 1, 1)  # importing SciPy takes longer than these few values
_AT_ONCE = 1 << 8  # columns, whose working copies stay in the caches
_GOES_ON = 3.0 * math.sqrt(3.0)  # standard deviations of noise in three cells together


def measure_scale(
    curator: Searcher,
    rows: float,
    interval: Interval,
    *,
    reach: float | Floats,
    share: float,
    narrower: float = _NARROWER,
) -> Floats:
    """Return each column's scale (about a standard deviation).

    Parameters
    ----------
    curator : Searcher
    rows : float
        Number of rows, or a private estimate of it.
    interval : Interval
        Where the columns' values are.
    reach : float, or float64 array of shape (d,)
        Where rare values of narrow columns are looked for: up to this far from the bulk.
    share : float
        Share of mu**2.
    narrower : float
        How many octaves narrower than its interval says a column may be, at most `NARROWEST`.

    Returns
    -------
    float64 array of shape (d,)
        0 for narrow columns of which nothing else was seen.
    """
    d, rows = curator.dimension, max(rows, 1.0)
    cells = _RARE_CELLS if interval.narrow.any() else _CELLS
    halves = HalfOctaves(_first_cells(interval, reach), cells)
    grid = halves.grid(interval.center)
    measured = curator.measure(Histogram(grid), share=share, label="scale")
    counts, noise = measured.values.reshape(d, cells), measured.std
    unit, edges, scales = halves.unit, halves.edges, halves.scales

    # The bulk.
    bulk = np.ones(d)
    wide = np.flatnonzero(~interval.narrow)
    if wide.size:
        guess = interval.half[wide] / SCALES / unit[wide]
        window = round(CANDIDATES * (_WIDER + narrower)) + 1
        start = np.ceil(CANDIDATES * (np.log2(guess) - narrower)).astype(np.int64)
        start = np.clip(start, 0, scales.size - window)

        def tried(some: Integers) -> Integers:
            return np.asarray(start[some][:, np.newaxis] + np.arange(window))

        def fit(some: Integers) -> Floats:
            return half_normal_fit(counts[wide[some]], noise, rows, edges, scales, tried(some))

        for some, posterior in pooled_pieces(fit, halves.offset[wide] + start, width=_PRIOR_WIDTH):
            bulk[wide[some]] = np.sum(posterior * scales[tried(some)], axis=1)

    scale = np.empty(d)
    clear = significance(d * cells) * noise
    # What lies within a narrow column's interval is its bulk, not rare.
    within = WITHIN * interval.half / unit
    for begin in range(0, d, _AT_ONCE):
        here = slice(begin, begin + _AT_ONCE)
        scale[here] = _with_tail(
            counts[here],
            noise,
            rows,
            clear,
            edges,
            bulk[here],
            within[here],
            ~interval.narrow[here],
        )
    with np.errstate(over="ignore"):
        return np.minimum(scale * unit, LARGEST)


def _with_tail(
    counts: Floats,
    noise: float,
    rows: float,
    clear: float,
    edges: Floats,
    bulk: Floats,
    within: Floats,
    wide: Bools,
) -> Floats:
    """Return scales from the bulks' scales, all in the unit of the edges."""
    middle, counts = np.sqrt(edges[:-1] * edges[1:])[:, np.newaxis], np.ascontiguousarray(counts.T)

    # Inside, the second moment itself where it clearly exceeds that of the shape.
    far = edges[:-1, np.newaxis] > _TAIL * bulk
    square = np.where(far, 0.0, middle**2)
    moment = np.sum(counts * square, axis=0) - 2.0 * noise * np.sqrt(np.sum(square**2, axis=0))
    inside = np.maximum(bulk**2, moment / rows)

    # The tail: as far as an octave and a half on still shows rows, and single cells that
    # stand out beyond.
    ahead = counts.copy()
    ahead[:-1] += counts[1:]
    ahead[:-2] += counts[2:]
    goes_on = np.logical_and.accumulate(~far | (ahead > _GOES_ON * noise), axis=0)
    goes_on &= wide
    far &= wide | (middle > within)
    held = np.where(far & (goes_on | (counts > clear)), counts, 0.0)
    tail = np.maximum(np.sum(held * middle**2, axis=0) / rows, 0.0)
    return np.asarray(np.sqrt(np.where(wide, inside, 0.0) + tail))


def _first_cells(interval: Interval, reach: float | Floats) -> Integers:
    """Return an even first half octave for every column."""
    top = np.where(interval.narrow, reach, interval.half)
    below = np.where(interval.narrow, _RARE_BELOW, _BELOW)
    return np.asarray(np.maximum(even_half_octave(top) - below, 2))


def half_normal_fit(
    counts: Floats,
    noise: float,
    rows: float,
    edges: Floats,
    scales: Floats,
    tried: Integers | None = None,
) -> Floats:
    """Return the log-likelihood of scales, the number present profiled out.

    Of all of them, (d, scales), or of those that are `tried` for each column, (d, m).
    """
    shape = _shapes(edges.tobytes(), scales.tobytes())
    squares = np.sum(shape**2, axis=1)
    width = scales.size if tried is None else tried.shape[1]
    fit = np.empty((counts.shape[0], width))
    for start in range(0, len(fit), _AT_ONCE):
        here = slice(start, start + _AT_ONCE)
        match, square = counts[here] @ shape.T, squares
        if tried is not None:
            match, square = np.take_along_axis(match, tried[here], axis=1), squares[tried[here]]
        present = np.clip(match / square, _LEAST_PRESENT * rows, rows)
        fit[here] = (present * match - 0.5 * present**2 * square) / noise**2
    return fit


@lru_cache(maxsize=8)  # the same for most tables
def _shapes(edges: bytes, scales: bytes) -> Floats:
    """Return the part of half-normal values of each scale in each cell."""
    ends, sizes = np.frombuffer(edges), np.frombuffer(scales)
    below = np.asarray(_erf(ends / (sizes[:, np.newaxis] * math.sqrt(2.0))), dtype=np.float64)
    below[:, -1] = 1.0
    return np.diff(below, axis=1)
