"""The loop of `prolate.sources.columns_in_place`, for numba; imported on first use."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["gathered"]

_NEAR = 4  # rows from one to the next, up to which several are on a line of the cache
_AT_ONCE, _ROWS = 8, 64  # columns, of whose lines so many rows are copied before others are read


@njit(nogil=True, cache=True)
def gathered(flat: Any, starts: Any, places: Any, out: Any) -> None:
    """Copy the values at `places` of each column, flat[starts[j] + place], into rows.

    Where rows are far from each other, row by row: many values are then on their way from memory
    at a time, and bring those of the next row with them. Unsigned, so that nothing is asked of a
    place.
    """
    count, d = places.size, starts.size
    near = count > 0 and places[-1] - places[0] < _NEAR * count
    width = min(_AT_ONCE, d) if near else d
    for first in range(0, count, _ROWS):
        last = min(first + _ROWS, count)
        for begin in range(0, d, width):
            end = min(begin + width, d)
            for i in range(np.uint64(first), np.uint64(last)):
                place, row = np.uint64(places[i]), out[i]
                for j in range(np.uint64(begin), np.uint64(end)):
                    row[j] = flat[np.uint64(starts[j]) + place]
