"""The number of rows: public, or a measurement like any other."""

from __future__ import annotations

import numpy as np

from prolate.curator import Curator
from prolate.queries import Count

__all__ = ["ROWS_SHARE", "count_rows", "counted_rows"]

ROWS_SHARE = 0.01  # for a private number of rows
_UNCOUNTED, _ROWS_AGAIN = 0.15, 0.06  # noise of these, over them, and a share to count them again


def count_rows(curator: Curator, *, again: bool = False) -> float:
    """Return the number of rows: public, or measured if it is private (at least 1).

    Once more for a larger share, if it is asked for and noise is a large part of the first count.
    """
    if curator.neighbors == "replace":
        return float(curator.public_rows())
    first = curator.measure(Count(curator.dimension), share=ROWS_SHARE, label="rows")
    rows = float(first.values[0])
    if again and first.std > _UNCOUNTED * rows:
        share = _ROWS_AGAIN * curator.remaining
        second = curator.measure(Count(curator.dimension), share=share, label="rows again")
        weights = np.array([first.std, second.std]) ** -2.0
        rows = float(np.average([rows, float(second.values[0])], weights=weights))
    return max(1.0, rows)


def counted_rows(curator: Curator) -> tuple[float, float]:
    """Return the same, and its noise: 0 where the number is public."""
    rows = count_rows(curator)
    return rows, curator.receipt[-1].std if curator.neighbors == "add-remove" else 0.0
