"""What most of many small numbers are, when their noise is about as large.

The means of many columns of rare values, such as the items of baskets, are nearly all
close to the bulk's value, or to each other. Their distribution can be seen in all of them
together: it is what, with each one's own noise, explains the measurements best. It is
found by a few rounds of expectation-maximization on a logarithmic grid, from a small part at 0 and
even weights elsewhere; few, so that it stays smooth unless many columns insist. Each column's
answer is then the mean of its posterior, or the median for an error that counts distances. It
is arithmetic on noisy measurements, and a column that stands out is left as it is.

Columns of nearly the same noise and distance have nearly the same answer. So it is worked
out at the corners of a table, those with columns around them, and read off between them.

Where all that is known of a few numbers is how long they are together, and how much of that is
noise, they are shrunk in proportion (`kept_part`).
"""

from __future__ import annotations

import numpy as np

from prolate.arrays import Floats, Integers

__all__ = ["kept_part", "shrink"]

_STANDS_OUT = 16.0  # standard deviations
_SMALLEST = 0.1  # first step of the grid, over the least noise
_GRID = 50  # steps on each side of 0
_AT_ZERO = 0.03  # of the columns, at first
_ROUNDS = 17
_STRIDE, _MOST = 1.8, 4.0  # a round goes as far as so many, for weights that it multiplies by less
_FEWEST = 16  # columns that show a distribution
_STEP = 0.25  # of the table, in standard deviations
_OCTAVES = 0.5  # the same in octaves of noise
_LARGEST = float(np.finfo(np.float32).max)


def kept_part(square: float, noise_square: float) -> float:
    """Return James and Stein's factor for a vector of a squared length, so much of it noise.

    Examples
    --------
    >>> kept_part(4.0, 1.0), kept_part(4.0, 5.0), kept_part(0.0, 1.0)
    (0.75, 0.0, 0.0)
    """
    return max(0.0, 1.0 - noise_square / max(square, 1e-300))


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
    corners, part, at, std_at, columns = _table(y, std)
    # In single precision, which is far finer than the table, and whose exponentials are quick.
    unit = std.min()
    finer, points = unit / std_at, np.clip(grid / unit, -_LARGEST, _LARGEST)
    far = np.multiply.outer(finer.astype(np.float32), points.astype(np.float32))
    far -= (at / std_at).astype(np.float32)[:, np.newaxis]
    far *= far
    far -= far.min(axis=1, keepdims=True)
    many = columns.astype(np.float32)
    likelihood = np.exp(np.float32(-0.5) * far)
    prior = np.full(grid.size, (1.0 - _AT_ZERO) / (2 * _GRID), dtype=np.float32)
    prior[_GRID] = _AT_ZERO
    for _ in range(_ROUNDS):
        better = (many / (likelihood @ prior)) @ likelihood / y.size
        prior *= np.minimum(better, _MOST) ** _STRIDE
        prior /= prior.sum()
    posterior = likelihood * prior
    posterior /= posterior.sum(axis=1, keepdims=True)
    answer = _medians(posterior, grid) if median else posterior @ grid

    result = moved.copy()
    result[small] = np.sum(part * answer[corners], axis=0)
    return result


def _table(y: Floats, std: Floats) -> tuple[Integers, Floats, Floats, Floats, Floats]:
    """Return four corners around each column and their parts, (4, m), and what they are.

    That is the distance and the noise at each corner, and how many columns it stands for.
    """
    octaves = np.log2(std / std.min())
    widest = float(octaves.max())
    steps = int(np.ceil(widest / _OCTAVES))
    fine = widest / steps if steps else 1.0
    unit = std.min() * 2.0 ** (np.arange(steps + 2) * fine)
    first = np.minimum((octaves / fine).astype(np.int64), max(steps - 1, 0))
    above = octaves / fine - first
    width = int(4.0 * _STANDS_OUT / _STEP)
    corners, part = np.empty((4, y.size), dtype=np.int64), np.empty((4, y.size))
    # The same distance on both levels, each between two multiples of its own step.
    for level, near in enumerate((1.0 - above, above)):
        along = y / (unit[first + level] * _STEP)
        low = np.floor(along)
        corner = (first + level) * width + low.astype(np.int64) + width // 2
        corners[2 * level : 2 * level + 2] = corner, corner + 1
        part[2 * level : 2 * level + 2] = near * (low + 1.0 - along), near * (along - low)
    columns = np.bincount(corners.ravel(), part.ravel()).astype(np.float64)
    used = np.flatnonzero(columns)
    place = np.zeros(columns.size, dtype=np.int64)
    place[used] = np.arange(used.size)
    std_at = unit[used // width]
    at = (used % width - width // 2) * _STEP * std_at
    return place[corners], part, at, std_at, columns[used]


def _medians(posterior: Floats, grid: Floats) -> Floats:
    """Return medians, each grid point's weight spread evenly up to halfway to the next."""
    edges = np.concatenate([grid[:1], 0.5 * (grid[1:] + grid[:-1]), grid[-1:]])
    below, row = np.cumsum(posterior, axis=1), np.arange(posterior.shape[0])
    place = np.argmax(below >= 0.5, axis=1)
    here = posterior[row, place]
    inside = 1.0 - (below[row, place] - 0.5) / here
    spread = edges[place] + inside * (edges[place + 1] - edges[place])
    return np.where(grid[place] == 0.0, 0.0, spread)
