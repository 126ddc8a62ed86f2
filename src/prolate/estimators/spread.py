"""How far each column's values spread around a private center.

One histogram of |x - center| in half octaves per column. Its bulk is matched against the
half-normal shape (the best linear test against independent Gaussian noise); cells far out
that stand out of the noise add their second moment, so that rare large values count.

Columns whose values are nearly all the same show no spread by themselves. What they show
together (a rare value in each of many columns) gives them a common scale, and a tenth of
the other columns' average is their least, so that a rare value is let through at little
cost (PLAN, Section 4.6, has such a floor for all columns).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator
from prolate.estimators.locate import Interval, significance
from prolate.queries import Histogram, MagnitudeGrid

__all__ = ["measure_scale"]

Floats = NDArray[np.float64]

_HALVES = 51  # a magnitude's bit pattern >> 51 is its half octave
_BELOW, _CELLS = 40, 160  # half octaves below a resolved interval's half-width, and in all
_CANDIDATES = 8  # scales tried per octave
_TAIL = 3.0  # cells beyond this many bulk scales count as tail
_HALF_IN_SCALES = 3.1  # a resolved interval's half-width over a normal column's scale
_NEAR = 2.0  # octaves around that guess
_LIKELY = 3.5  # standard deviations of noise that a match near the guess must exceed
_GOES_ON = 3.0 * math.sqrt(3.0)  # standard deviations of noise in three cells together
_FLOOR = 0.1
_SMALLEST, _LARGEST = 1e-140, 1e140  # scales whose squares are floats


def measure_scale(curator: Curator, rows: float, interval: Interval, *, share: float) -> Floats:
    """Return each column's scale (about a standard deviation), positive.

    Parameters
    ----------
    curator : Curator
    rows : float
        Number of rows, or a private estimate of it.
    interval : Interval
        Where the columns' values are.
    share : float
        Share of mu**2.

    Returns
    -------
    float64 array of shape (d,)
    """
    d, rows = curator.dimension, max(rows, 1.0)
    first = _first_cells(interval)
    grid = MagnitudeGrid(interval.center, first, _CELLS, _HALVES)
    measured = curator.measure(Histogram(grid), share=share, label="scale")
    counts = measured.values.reshape(d, _CELLS)
    clear = significance(d * _CELLS) * measured.std

    # Cell edges in units of 2**e_j, the same for every column.
    index = np.arange(_CELLS + 1)
    edges = np.where(index % 2 == 0, 1.0, 1.5) * 2.0 ** (index // 2)
    edges[0] = 0.0
    unit = np.ascontiguousarray(first << _HALVES).view(np.float64)
    middle = np.sqrt(edges[:-1] * edges[1:])

    # The bulk. A column whose shape was seen has about a third of its interval as scale.
    scales = 2.0 ** (np.arange(_CANDIDATES * (_CELLS // 2 - 2)) / _CANDIDATES)
    match = counts @ _half_normal(edges, scales).T
    guess = interval.half / unit / _HALF_IN_SCALES
    distance = np.abs(np.log2(scales / guess[:, np.newaxis]))
    match[interval.resolved[:, np.newaxis] & (distance > _NEAR)] = -np.inf
    fit = np.argmax(match, axis=1)
    best = match[np.arange(d), fit]
    seen = (best > clear) | (interval.resolved & (best > _LIKELY * measured.std))
    bulk = np.where(seen, scales[fit], guess)

    # The tail: as far as an octave and a half on still shows rows, and single cells that
    # stand out beyond.
    far = edges[:-1] > _TAIL * bulk[:, np.newaxis]
    ahead = counts + np.pad(counts, ((0, 0), (0, 2)))[:, 1:-1]
    ahead += np.pad(counts, ((0, 0), (0, 2)))[:, 2:]
    goes_on = np.logical_and.accumulate(~far | (ahead > _GOES_ON * measured.std), axis=1)
    tail = np.where(far & (goes_on | (counts > clear)), counts, 0.0) @ middle**2 / rows
    tail = np.maximum(tail, 0.0)
    with np.errstate(over="ignore"):
        scale = np.asarray(np.clip(np.sqrt(bulk**2 + tail) * unit, _SMALLEST, _LARGEST))

    flat = ~interval.resolved & (tail == 0.0)
    if flat.any():
        together = _common_scale(counts[flat], first[flat], rows, measured.std)
        others = _FLOOR * np.where(flat, 0.0, scale).mean()
        scale[flat] = np.maximum(scale[flat], max(together, others))
    return scale


def _first_cells(interval: Interval) -> NDArray[np.int64]:
    """Return an even first half octave for every column, so that all are cut at one mantissa.

    A column without shape is looked at from the largest magnitude of all columns down.
    """
    largest = np.full(interval.half.size, max(interval.reach, float(interval.half.max())))
    top = np.where(interval.resolved, interval.half, largest)
    below = np.where(interval.resolved, _BELOW, _CELLS - 8)
    pattern = (np.ascontiguousarray(top).view(np.int64) >> (_HALVES + 1)) << 1
    return np.asarray(np.maximum(pattern - below, 2))


def _common_scale(counts: Floats, first: NDArray[np.int64], rows: float, noise: float) -> float:
    """Return the root mean square deviation that columns show together, or 0."""
    d, cells = counts.shape
    lowest = int(first.min())
    size = int(first.max()) - lowest + cells
    total, tried = np.zeros(size), np.zeros(size)
    for offset in np.unique(first):
        where = slice(int(offset) - lowest, int(offset) - lowest + cells)
        total[where] += counts[first == offset].sum(axis=0)
        tried[where] += np.count_nonzero(first == offset)
    index = np.arange(lowest, lowest + size)
    magnitude = np.ascontiguousarray(index << _HALVES).view(np.float64) * 1.25
    # The cell that holds the bulk is what the columns have in common, not their spread.
    total[: int(np.argmax(total)) + 1] = 0.0
    clear = total > significance(size) * noise * np.sqrt(tried)
    with np.errstate(over="ignore", invalid="ignore"):
        square = float(np.sum((total * magnitude**2)[clear]) / (rows * d))
    return math.sqrt(min(square, _LARGEST**2))


def _half_normal(edges: Floats, scales: Floats) -> Floats:
    """Return cell probabilities of |N(0, scale**2)|, each row of length one."""
    from scipy.special import erf

    below = erf(edges / (scales[:, np.newaxis] * math.sqrt(2.0)))
    below[:, -1] = 1.0
    shape = np.diff(below, axis=1)
    return np.asarray(shape / np.linalg.norm(shape, axis=1, keepdims=True))
