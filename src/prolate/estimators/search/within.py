"""Whether columns are best summed within their public bounds.

They are if their values fill these, or are too few to show that they do not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator, Searcher
from prolate.estimators.columns import SomeColumns
from prolate.estimators.neighbors import radii_apart
from prolate.estimators.search.shape import Shape
from prolate.estimators.shares import one_row_noise, share_for
from prolate.queries import Histogram, LinearGrid

__all__ = [
    "FEW_COLUMNS",
    "are_apart",
    "are_bounded",
    "fill_bounds",
    "is_hopeless",
    "part_of_flags",
    "seen_flags",
    "window_within",
]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Window = tuple[Floats, Floats]

_SHARE = 0.09, 0.1  # wanted noise of each look, and its largest share
_CELLS, _RUNS = (24, 64, 64), (3, 4, 4)  # of each look; and how many may hold most rows
_NOISY = 1.0 / 22.0  # noise of a count, over the rows, that tells nothing
_FULL, _BOUND = 0.5, 2.0  # of the rows in a cell: a single value; at a bound, deviations less
_MOST, _SURELY = 0.7, 1.0  # of the rows, and so many deviations of noise more
_REACHES = 7.0  # spreads between bounds, of a column that is best summed within these, ...
# ... or of a few, where a search may lose rare values; or noise over the spreads that is little.
_RARE_REACHES, _LITTLE = 20.0, 0.01

# Noise of a sum within bounds, over half of their width, from which on no search does better; of
# flags times the squared number of columns, for each neighbor relation.
_BESIDE = 0.004  # at least, where flags are beside others
_SEARCHED = 2.0  # share of a column that is searched, over that of a flag
_HOPELESS, _OF_FLAGS = 0.18, {"replace": 6e-5, "add-remove": 1.5e-4}

_AT_ENDS, _TOO_NOISY = (0.06, 0.05), 0.2  # wanted noise of that look, largest share, and noise
_CLOSE, _SURE = 1e-9, 2.0  # to an end, and deviations of noise

FEW_COLUMNS = 4
"""So many are summed within public bounds where rows are few, or a search says little."""


def are_bounded(curator: Searcher) -> bool:
    """Return whether every column has public bounds."""
    return curator.bounds is not None and bool(np.all(np.isfinite(curator.bounds)))


def seen_flags(curator: Curator, rows: float, *, beside: bool = False) -> Bools:
    """Return which columns are flags, by their types or as counts show: shape (d,).

    Numbers within 0 and 1 are counted that are neither, but only where rows are so few that flags
    are best summed within these bounds, and all columns may be flags.

    Parameters
    ----------
    curator : Curator
    rows : float
        Their number, or a private estimate of it.
    beside : bool
        Whether to look for flags beside other columns, too.
    """
    known = curator.which_flags
    if curator.bounds is None:
        return known
    maybe = ~known & (curator.bounds[0] == 0.0) & (curator.bounds[1] == 1.0)
    index = np.flatnonzero(maybe)
    all_may = bool(np.all(known | maybe))
    if not index.size or not (beside or all_may):
        return known
    left, root = curator.remaining, float(np.sqrt(index.size))
    if not _few_for_flags(curator, rows, index.size, left, least=0.0 if all_may else _BESIDE):
        return known
    share = left * share_for(root * one_row_noise(curator, rows, left), *_AT_ENDS)
    noise = one_row_noise(curator, rows, share)  # of all columns together
    if noise > _TOO_NOISY:
        return known
    start = np.full(index.size, _CLOSE)
    query = Histogram(LinearGrid(start, 1.0 - 2.0 * start, 1))
    measured = SomeColumns(curator, index).measure(query, share=share, label="between 0 and 1")
    between = measured.values.reshape(query.shape)[:, 1] / max(rows, 1.0)
    if root * noise > _TOO_NOISY:
        between = np.full(index.size, np.mean(between))
    else:
        noise *= root
    seen = known.copy()
    seen[index] = between < 0.5 - _SURE * noise
    return seen


def is_hopeless(curator: Searcher, rows: float, *, flags: bool) -> bool:
    """Return whether rows with public bounds are too few to search for anything narrower.

    Rare flags are told by a search that sees them, which takes the more rows the more columns
    share a count's noise; a sum within bounds is as noisy for all.
    """
    d, left = curator.dimension, curator.remaining
    if flags:
        return _few_for_flags(curator, rows, d, left)
    return _noise_within(curator, rows, d, left) > _HOPELESS


def are_apart(curator: Curator, rows: float, flags: Bools) -> bool:
    """Return whether flags are a table of their own, since rows are too few to search for them.

    Where others are beside them, and errors are relative: these are small for neither unless both
    are told.
    """
    count = int(np.count_nonzero(flags))
    if not 0 < count < flags.size:
        return False
    share = part_of_flags(count, flags.size) * curator.remaining
    return _few_for_flags(curator, rows, count, share, least=_BESIDE)


def part_of_flags(flags: int, columns: int) -> float:
    """Return the part of a budget for flags among some columns: others must be searched, too."""
    return flags / (flags + _SEARCHED * (columns - flags))


def _few_for_flags(
    curator: Searcher, rows: float, flags: int, share: float, *, least: float = 0.0
) -> bool:
    """Return whether rows are so few that so many flags are best summed within their bounds."""
    most = min(max(_OF_FLAGS[curator.neighbors] * flags**2, least), _HOPELESS)
    return _noise_within(curator, rows, flags, share) > most


def _noise_within(curator: Searcher, rows: float, columns: int, share: float) -> float:
    """Return the noise of columns' sums within bounds for a share, over half of their widths."""
    apart = radii_apart(curator.neighbors) * float(np.sqrt(columns))
    return apart / (curator.mu_of(share) * max(rows, 1.0))


def window_within(curator: Searcher, rows: float) -> Window | None:
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
    share = left * share_for(root * one_row_noise(curator, rows), *_SHARE)
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
    if shape.constant is not None and bool(shape.constant.all()):
        return True
    width = curator.bounds[1] - curator.bounds[0]
    if shape.spread.size == 1:
        return shape.rare is None and bool(width[0] < _REACHES * shape.spread[0])
    if shape.spread.size > FEW_COLUMNS or not shape.has_rare:
        return False
    alone = np.zeros(width.size, np.bool_) if shape.constant is None else shape.constant
    noise = 0.5 * width * one_row_noise(curator, shape.rows) * np.sqrt(width.size)
    little = (width < _RARE_REACHES * shape.spread) | (noise < _LITTLE * shape.spread)
    return bool(np.all(alone | little))


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
