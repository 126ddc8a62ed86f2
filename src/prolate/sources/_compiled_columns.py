"""The loop of `prolate.sources.columns_in_place`, for numba; imported on first use."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["gathered"]


@njit(nogil=True, cache=True)
def gathered(flat: Any, starts: Any, places: Any, out: Any) -> None:
    """Copy the values at `places` of each column, flat[starts[j] + place], into rows.

    Row by row: many values are then on their way from memory at a time, and bring those of the
    next row with them. Unsigned, so that nothing is asked of a place.
    """
    count, d = np.uint64(places.size), np.uint64(starts.size)
    for i in range(count):
        place, row = np.uint64(places[i]), out[i]
        for j in range(d):
            row[j] = flat[np.uint64(starts[j]) + place]
