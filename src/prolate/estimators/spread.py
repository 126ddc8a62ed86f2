"""How far each column's values spread around a private center.

One histogram of |x - center| in half octaves per column. Its bulk is matched against the
half-normal shape, with what the other columns' scales are as a prior; cells further out
that clearly hold rows add their second moment, so that rare large values count.

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
from prolate.estimators.pooling import pooled_posterior
from prolate.queries import Histogram, MagnitudeGrid

__all__ = ["measure_scale"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_HALVES = 51  # a magnitude's bit pattern >> 51 is its half octave
_BELOW, _CELLS = 40, 160  # half octaves below an interval's half-width, and in all
_CANDIDATES = 8  # scales tried per octave
_PRIOR_WIDTH = 13  # candidates that the prior is smoothed over
_LEAST_PRESENT = 0.3  # at least this part of a column's values is taken to be there
_TAIL = 3.0  # cells beyond this many bulk scales count as tail
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
    counts, noise = measured.values.reshape(d, _CELLS), measured.std

    # Cell edges in units of 2**e_j, the same for every column.
    index = np.arange(_CELLS + 1)
    edges = np.where(index % 2 == 0, 1.0, 1.5) * 2.0 ** (index // 2)
    edges[0] = 0.0
    unit = np.ascontiguousarray(first << _HALVES).view(np.float64)
    middle = np.sqrt(edges[:-1] * edges[1:])

    # The bulk.
    scales = 2.0 ** (np.arange(_CANDIDATES * (_CELLS // 2 - 2)) / _CANDIDATES)
    fit = _half_normal_fit(counts, noise, rows, edges, scales)
    offset = (first // 2) * _CANDIDATES  # first counts half octaves
    posterior = pooled_posterior(fit, offset, width=_PRIOR_WIDTH)
    bulk = np.exp(posterior @ np.log(scales))

    # The tail: as far as an octave and a half on still shows rows, and single cells that
    # stand out beyond.
    far = edges[:-1] > _TAIL * bulk[:, np.newaxis]
    padded = np.pad(counts, ((0, 0), (0, 2)))
    ahead = counts + padded[:, 1:-1] + padded[:, 2:]
    goes_on = np.logical_and.accumulate(~far | (ahead > _GOES_ON * noise), axis=1)
    clear = counts > significance(d * _CELLS) * noise
    tail = np.maximum(np.where(far & (goes_on | clear), counts, 0.0) @ middle**2 / rows, 0.0)
    with np.errstate(over="ignore"):
        scale = np.asarray(np.clip(np.sqrt(bulk**2 + tail) * unit, _SMALLEST, _LARGEST))

    flat = interval.narrow & (tail == 0.0)
    if flat.any():
        together = _common_scale(counts[flat], first[flat], rows, noise)
        others = _FLOOR * np.where(flat, 0.0, scale).mean()
        scale[flat] = np.maximum(scale[flat], max(together, others))
    return scale


def _first_cells(interval: Interval) -> Integers:
    """Return an even first half octave for every column, so that all are cut at one mantissa.

    A column without shape is looked at from the largest magnitude of all columns down.
    """
    largest = max(interval.reach, float(interval.half.max()))
    top = np.where(interval.narrow, largest, interval.half)
    below = np.where(interval.narrow, _CELLS - 8, _BELOW)
    pattern = (np.ascontiguousarray(top).view(np.int64) >> (_HALVES + 1)) << 1
    return np.asarray(np.maximum(pattern - below, 2))


def _half_normal_fit(
    counts: Floats, noise: float, rows: float, edges: Floats, scales: Floats
) -> Floats:
    """Return the log-likelihood of every scale, (d, scales), the number present profiled out."""
    from scipy.special import erf

    below = erf(edges / (scales[:, np.newaxis] * math.sqrt(2.0)))
    below[:, -1] = 1.0
    shape = np.diff(below, axis=1)
    match, square = counts @ shape.T, np.sum(shape**2, axis=1)
    present = np.clip(match / square, _LEAST_PRESENT * rows, rows)
    return np.asarray((present * match - 0.5 * present**2 * square) / noise**2)


def _common_scale(counts: Floats, first: Integers, rows: float, noise: float) -> float:
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
