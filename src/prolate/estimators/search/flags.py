"""Which columns are flags, and which rows are too few to be searched, so that a sum is best.

Of columns within public bounds. A search finds rare values only where it sees them, which takes the
more rows the more columns share a count's noise; a sum within bounds is as noisy for all.
"""

from __future__ import annotations

import numpy as np

from prolate.arrays import Bools
from prolate.curator import Curator, Searcher
from prolate.estimators.columns import SomeColumns
from prolate.estimators.shares import one_row_noise, part_for
from prolate.neighbors import radii_apart
from prolate.queries import Histogram, LinearGrid

__all__ = ["are_apart", "part_of_flags", "seen_flags", "too_few_to_search"]

# Noise of a sum within bounds, over half of their width, from which on no search does better; of
# flags times the squared number of columns, for each neighbor relation.
_BESIDE = 0.004  # at least, where flags are beside others
_SEARCHED = 2.0  # share of a column that is searched, over that of a flag
_TOO_FEW, _OF_FLAGS = 0.18, {"replace": 6e-5, "add-remove": 1.5e-4}

_AT_ENDS, _TOO_NOISY = (0.06, 0.05), 0.2  # wanted noise of that look, largest share, and noise
_CLOSE, _SURE = 1e-9, 2.0  # to an end, and deviations of noise


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
    share = left * part_for(root * one_row_noise(curator, rows, left), *_AT_ENDS)
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


def too_few_to_search(curator: Searcher, rows: float, *, flags: bool) -> bool:
    """Return whether a sum of all columns within their bounds is best, whatever a search found."""
    d, left = curator.dimension, curator.remaining
    if flags:
        return _few_for_flags(curator, rows, d, left)
    return _noise_within(curator, rows, d, left) > _TOO_FEW


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
    most = min(max(_OF_FLAGS[curator.neighbors] * flags**2, least), _TOO_FEW)
    return _noise_within(curator, rows, flags, share) > most


def _noise_within(curator: Searcher, rows: float, columns: int, share: float) -> float:
    """Return the noise of columns' sums within bounds for a share, over half of their widths."""
    apart = radii_apart(curator.neighbors) * float(np.sqrt(columns))
    return apart / (curator.mu_of(share) * max(rows, 1.0))
