"""How far each column's values spread around a private center.

One histogram of |x - center| in half octaves per column. Its bulk is matched against the
half-normal shape (the best linear test against independent Gaussian noise); cells far out
that stand out of the noise add their second moment, so that rare large values count.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator
from prolate.estimators.locate import Interval, significance
from prolate.queries import Histogram, MagnitudeGrid

__all__ = ["floor_scale", "measure_scale"]

Floats = NDArray[np.float64]

_HALVES = 51  # a magnitude's bit pattern >> 51 is its half octave
_BELOW, _ABOVE = 40, 128  # half octaves around the interval's half-width
_CANDIDATES = 8  # scales tried per octave
_TAIL = 3.0  # cells beyond this many bulk scales count as tail
_HALF_IN_SCALES = 3.1  # a resolved interval's half-width over a normal column's scale
_NEAR = 2.0  # octaves around that guess
_LIKELY = 3.5  # standard deviations of noise that a match near the guess must exceed
_FLOOR = 0.1


def measure_scale(
    curator: Curator, rows: float, interval: Interval, *, share: float
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return each column's scale (about a standard deviation), and where none was seen.

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
    scale : float64 array of shape (d,)
        Positive.
    flat : bool array of shape (d,)
        Columns whose values all lie within the finest cell.
    """
    d = curator.dimension
    # An even number of half octaves: every column's cells are cut at the same mantissas.
    pattern = (np.ascontiguousarray(interval.half).view(np.int64) >> (_HALVES + 1)) << 1
    first = np.maximum(pattern - _BELOW, 2)
    grid = MagnitudeGrid(interval.center, first, _BELOW + _ABOVE, _HALVES)
    measured = curator.measure(Histogram(grid), share=share, label="scale")
    counts = measured.values.reshape(d, grid.cells)

    # Cell edges in units of 2**e_j, the same for every column.
    index = np.arange(grid.cells + 1)
    edges = np.where(index % 2 == 0, 1.0, 1.5) * 2.0 ** (index // 2)
    edges[0] = 0.0
    scales = 2.0 ** (np.arange(_CANDIDATES * (grid.cells // 2 - 2)) / _CANDIDATES)
    match = counts @ _half_normal(edges, scales).T
    # A column whose shape was seen has about a third of its interval's half-width as scale.
    guess = interval.half / _unit(first) / _HALF_IN_SCALES
    distance = np.abs(np.log2(scales / guess[:, np.newaxis]))
    match[interval.resolved[:, np.newaxis] & (distance > _NEAR)] = -np.inf
    fit = np.argmax(match, axis=1)
    seen = match[np.arange(d), fit] > significance(d * scales.size) * measured.std
    seen |= interval.resolved & (match[np.arange(d), fit] > _LIKELY * measured.std)
    bulk = np.where(seen, scales[fit], guess)

    middle = np.sqrt(edges[:-1] * edges[1:])
    far = edges[:-1] > _TAIL * bulk[:, np.newaxis]
    many = far & (counts > significance(d * grid.cells) * measured.std)
    tail = (np.where(many, counts, 0.0) * middle**2).sum(axis=1) / max(rows, 1.0)
    flat = seen & (fit < _CANDIDATES) & (tail == 0.0)
    return np.sqrt(bulk**2 + tail) * _unit(first), flat


def floor_scale(scale: Floats, flat: NDArray[np.bool_]) -> Floats:
    """Return scales in which a column without visible spread has a tenth of the average's.

    Such a column may still hold rare values that no histogram of this budget shows; the
    floor lets them through at little cost (PLAN, Section 4.6, has it for all columns).
    """
    if flat.all():
        return scale
    return np.where(flat, np.maximum(scale, _FLOOR * np.where(flat, 0.0, scale).mean()), scale)


def _unit(first: NDArray[np.int64]) -> Floats:
    """Return 2**e_j, where each column's cells begin."""
    return np.ascontiguousarray(first << _HALVES).view(np.float64)


def _half_normal(edges: Floats, scales: Floats) -> Floats:
    """Return cell probabilities of |N(0, scale**2)|, each row of length one."""
    from scipy.special import erf

    below = erf(edges / (scales[:, np.newaxis] * math.sqrt(2.0)))
    below[:, -1] = 1.0
    shape = np.diff(below, axis=1)
    return np.asarray(shape / np.linalg.norm(shape, axis=1, keepdims=True))
