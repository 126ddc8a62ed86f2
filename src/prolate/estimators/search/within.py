"""Where most values of columns within public bounds are, and whether they fill these.

If they do, a sum within the bounds is best (`within_bounds.py`).
"""

from __future__ import annotations

import numpy as np

from prolate.arrays import Floats, Limits
from prolate.curator import Searcher
from prolate.estimators.search.shape import Shape
from prolate.estimators.shares import one_row_noise, part_for
from prolate.queries import Histogram, LinearGrid

__all__ = [
    "FEW_BOUNDED",
    "are_bounded",
    "fill_bounds",
    "window_within",
]


_SHARE = 0.09, 0.1  # wanted noise of each look, and its largest share
_CELLS, _RUNS = (24, 64, 64), (3, 4, 4)  # of each look; and how many may hold most rows
_NOISY = 1.0 / 22.0  # noise of a count, over the rows, that tells nothing
_FULL, _BOUND = 0.5, 2.0  # of the rows in a cell: a single value; at a bound, deviations less
_MOST, _SURELY = 0.7, 1.0  # of the rows, and so many deviations of noise more
_REACHES = 7.0  # spreads between bounds, of a column that is best summed within these, ...
# ... or of a few, where a search may lose rare values; or noise over the spreads that is little.
_RARE_REACHES, _LITTLE = 20.0, 0.01

FEW_BOUNDED = 4
"""So many are summed within public bounds where rows are few, or a search says little."""


def are_bounded(curator: Searcher) -> bool:
    """Return whether every column has public bounds."""
    return curator.bounds is not None and bool(np.all(np.isfinite(curator.bounds)))


def window_within(curator: Searcher, rows: float) -> Limits | None:
    """Return the lower and upper ends of where most values of each column are, or None.

    None where a sum within the bounds tells more, or may: where values of a column spread over more
    than a small part of these, or most of them are a single one, as of flags, so that the others
    make the mean.

    Parameters
    ----------
    curator : Searcher
        With bounds on every column.
    rows : float
        Their number, or a private estimate of it.
    """
    if curator.bounds is None:
        return None
    lower, upper = curator.bounds
    left, root = curator.remaining, float(np.sqrt(curator.dimension))
    if root * one_row_noise(curator, rows, left) > _NOISY:
        return None
    share = left * part_for(root * one_row_noise(curator, rows), *_SHARE)
    for level, (each, run) in enumerate(zip(_CELLS, _RUNS, strict=True)):
        width = (upper - lower) / each
        if np.any(width <= 1e-12 * np.maximum(np.abs(lower), np.abs(upper))):
            break
        query = Histogram(LinearGrid(lower, width, each))
        measured = curator.measure(query, share=share, label=f"within {level + 1}")
        counts = measured.values.reshape(lower.size, -1)
        parts, noise = counts[:, 1:-1] / rows, measured.std / rows
        # Beyond the bounds, values are cut to these.
        first, last = lower <= curator.bounds[0], upper >= curator.bounds[1]
        parts[:, 0] += np.where(first, counts[:, 0] / rows, 0.0)
        parts[:, -1] += np.where(last, counts[:, -1] / rows, 0.0)
        start, cells = _shortest_run(parts, noise, run)
        if level == 0 and not np.all(np.isfinite(cells)):
            break
        if not np.any(np.isfinite(cells)):
            one = np.max(np.where(np.stack([first, last], axis=1), parts[:, [0, -1]], 0.0), axis=1)
            single = (parts.max(axis=1) > _FULL) | (one > _FULL - _BOUND * noise)
            return None if single.any() else (lower, upper)
        # As much again on either side; a column that fills its window keeps it.
        some = np.where(np.isfinite(cells), cells, 0.0)
        low = np.where(some > 0.0, lower + width * (start - some), lower)
        high = np.where(some > 0.0, lower + width * (start + 2.0 * some), upper)
        lower, upper = np.maximum(low, curator.bounds[0]), np.minimum(high, curator.bounds[1])
    return None


def fill_bounds(curator: Searcher, shape: Shape) -> bool:
    """Return whether bounded columns are best summed within these, by what was found of them.

    That is a single column spread about as far as its bounds, a few columns with rare values that
    are not spread much less, and columns of which nothing but a single value was seen.
    """
    if curator.bounds is None:
        return False
    if not shape.varies.any():
        return True
    width = curator.bounds[1] - curator.bounds[0]
    if shape.spread.size == 1:
        return shape.rare_column is None and bool(width[0] < _REACHES * shape.spread[0])
    if shape.spread.size > FEW_BOUNDED or not shape.has_rare:
        return False
    noise = 0.5 * width * one_row_noise(curator, shape.rows) * np.sqrt(width.size)
    little = (width < _RARE_REACHES * shape.spread) | (noise < _LITTLE * shape.spread)
    return bool(np.all(~shape.varies | little))


def _shortest_run(parts: Floats, noise: float, most: int) -> tuple[Floats, Floats]:
    """Return the first cell and the length of the shortest run of most rows; infinite if none.

    Of runs of `most` cells or fewer.
    """
    total = np.cumsum(np.pad(parts, [(0, 0), (1, 0)]), axis=1)
    start, length = np.zeros(len(parts)), np.full(len(parts), np.inf)
    for run in range(most, 0, -1):
        sums = total[:, run:] - total[:, :-run]
        found = sums.max(axis=1) > _MOST + _SURELY * np.sqrt(run) * noise
        start = np.where(found, np.argmax(sums, axis=1), start)
        length = np.where(found, float(run), length)
    return start, length
