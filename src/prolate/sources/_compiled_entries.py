"""The loops of `prolate.sources.entries`, for numba; imported on first use."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["copied", "counted"]

_PIECE = 1 << 13  # numbers at a time: the copies are in the cache when they are looked at again


@njit(nogil=True, cache=True)
def copied(numbers: Any, size: int, out: Any) -> int:
    """Copy the numbers; return how many are no larger than the one before, -1 if any is outside.

    The copies are looked at as well: of the numbers, another thread may write others meanwhile.
    """
    falls, last, before = 0, size - 1, np.int64(-1)
    for first in range(0, out.size, _PIECE):
        given, kept = numbers[first : first + _PIECE], out[first : first + _PIECE]
        outside = np.int64(0)
        for k in range(kept.size):
            number = np.int64(given[k])
            kept[k] = number
            outside |= number | (last - number)  # one of the two is negative
        falls += kept[0] <= before
        before = np.int64(kept[-1])
        for k in range(1, kept.size):
            number = np.int64(kept[k])
            outside |= number | (last - number)
            falls += kept[k] <= kept[k - 1]
        outside |= kept[0] | (last - kept[0])
        if outside < 0:
            return -1
    return falls


@njit(nogil=True, cache=True)
def counted(numbers: Any, counts: Any) -> None:
    """Count each number, none of which may be outside of `counts`."""
    for k in range(numbers.size):
        counts[np.uint64(numbers[k])] += 1  # unsigned: not from the end
