"""What most of many small numbers are, when their noise is about as large.

The means of many columns of rare values, such as the items of baskets, are nearly all
close to the bulk's value, or to each other. Their distribution can be seen in all of them
together: it is what, with each one's own noise, explains the measurements best. It is
found by a few rounds of expectation-maximization on a logarithmic grid, from even weights;
few, so that it stays smooth unless many columns insist. Each column's answer is then the
mean of its posterior, or the median for an error that counts distances. It is arithmetic
on noisy measurements, and a column that stands out is left as it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["shrink"]

Floats = NDArray[np.float64]

_STANDS_OUT = 16.0  # standard deviations
_SMALLEST = 0.1  # first step of the grid, over the least noise
_GRID = 150  # steps on each side of 0
_ROUNDS = 12
_FEWEST = 16  # columns that show a distribution
_AT_ONCE = 4096  # columns; as many are enough to find the distribution


def shrink(moved: Floats, noise: Floats, *, median: bool) -> Floats:
    """Return what `moved` is likely to be without its noise.

    Parameters
    ----------
    moved, noise : float64 arrays of shape (m,)
        Measured distances from a value that most share, and their noise.
    median : bool
        Whether to return posterior medians, instead of means.

    Returns
    -------
    float64 array of shape (m,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> shrunk = shrink(rng.normal(size=1000), np.ones(1000), median=True)
    >>> bool(np.abs(shrunk).mean() < 0.2)
    True
    """
    small = np.abs(moved) < _STANDS_OUT * noise
    if np.count_nonzero(small) < _FEWEST:
        return moved
    y, std = moved[small], noise[small]
    half = np.geomspace(_SMALLEST * std.min(), np.abs(y).max() + 2.0 * std.max(), _GRID)
    grid = np.concatenate([-half[::-1], [0.0], half])
    prior = np.full(grid.size, 1.0 / grid.size)
    some = slice(None, None, -(-y.size // _AT_ONCE))
    for _ in range(_ROUNDS):
        prior = _posterior(y[some], std[some], grid, prior).mean(axis=0)
    answer = _medians if median else _means
    parts = [slice(k, k + _AT_ONCE) for k in range(0, y.size, _AT_ONCE)]
    found = [answer(_posterior(y[k], std[k], grid, prior), grid) for k in parts]
    result = moved.copy()
    result[small] = np.concatenate(found)
    return result


def _posterior(y: Floats, std: Floats, grid: Floats, prior: Floats) -> Floats:
    """Return every number's weights on the grid, (m, grid)."""
    z = (y[:, np.newaxis] - grid) / std[:, np.newaxis]
    nearest = np.min(np.abs(z), axis=1, keepdims=True)
    mass = prior * np.exp(0.5 * (nearest**2 - z**2))
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))


def _means(posterior: Floats, grid: Floats) -> Floats:
    return np.asarray(posterior @ grid)


def _medians(posterior: Floats, grid: Floats) -> Floats:
    """Return medians, each grid point's weight spread evenly up to halfway to the next."""
    edges = np.concatenate([grid[:1], 0.5 * (grid[1:] + grid[:-1]), grid[-1:]])
    below, row = np.cumsum(posterior, axis=1), np.arange(posterior.shape[0])
    place = np.argmax(below >= 0.5, axis=1)
    here = posterior[row, place]
    inside = 1.0 - (below[row, place] - 0.5) / here
    spread = edges[place] + inside * (edges[place + 1] - edges[place])
    return np.where(grid[place] == 0.0, 0.0, spread)
