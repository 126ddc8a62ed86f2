"""Values with gaps between them, as of counts: cells are joined, so that each holds some.

Smooth tails that fall to nothing between two values seem to end there. So where cells are clearly
empty before others that are not, the cells from the middle of one gap to that of the next are
joined, and, beyond the last value that is seen, as many as are as wide.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from prolate.arrays import Floats, Integers

__all__ = ["SURE", "joined_cells"]

_EMPTY = 0.05  # of the rows beyond, at most, that a cell in a gap may have
SURE = 6.0
"""Standard deviations of a count: rows that the cells of a gap do not have."""

_NOTHING = 2.5  # of them: counts that may well be of no rows
_NEAR = 2.0  # where cells are narrow enough to tell values apart


def joined_cells(edges: Floats, counts: Floats, noise: float) -> Integers | None:
    """Return which edges are left if cells of one value each are joined; None if there are no gaps.

    Parameters
    ----------
    edges : float64 array of shape (m,)
    counts : float64 array of shape (m,)
        Of rows between these, and beyond the last.
    noise : float

    Examples
    --------
    >>> edges = np.arange(9) / 2.0
    >>> counts = np.array([500.0, 0, 0, 300, 0, 0, 90, 0, 10])
    >>> edges[joined_cells(edges, counts, 5.0)].tolist()
    [0.0, 1.0, 2.5, 4.0]
    """
    above = np.cumsum(counts[::-1])[::-1]
    full = np.flatnonzero(counts > SURE * noise)
    if full.size < 2:
        return None
    empty = counts < np.maximum(_EMPTY * above, _NOTHING * noise)
    pairs = list(pairwise(full.tolist()))
    gaps = [(a, b) for a, b in pairs if b > a + 1 and bool(np.all(empty[a + 1 : b]))]
    near = [(a, b) for a, b in pairs if edges[b] < _NEAR]
    if not gaps or len(gaps) < len(near):  # some are next to each other
        return None
    middles = 0.5 * (edges + np.append(edges[1:], edges[-1]))
    apart = [float(middles[b] - middles[a]) for a, b in gaps]
    step = float(np.median(apart))
    kept = [0, *(_nearest(edges, 0.5 * (middles[a] + middles[b]), a + 1) for a, b in gaps)]
    at = float(middles[full[-1]]) + 0.5 * step
    while at <= edges[-1]:
        k = _nearest(edges, at, max(kept[-1], int(full[-1])) + 1)
        kept.append(k)
        at = max(float(edges[k]), at) + step
        if k == edges.size - 1:
            break
    return np.unique(kept)


def _nearest(edges: Floats, at: float, least: int) -> int:
    """Return which edge is nearest to a place, `least` or a later one."""
    return max(int(np.argmin(np.abs(edges - at))), min(least, edges.size - 1))
