"""The column numbers of stored entries: copied, looked at, and counted.

By compiled loops where numba is there, because NumPy takes six times as long to count.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from prolate.arrays import Integers, fixed
from prolate.compiled import forgiving

__all__ = ["checked", "counts"]

_SHORT = np.iinfo(np.int32)


def checked(numbers: Integers, size: int) -> tuple[Integers, int] | None:
    """Return a copy, of 32 bits if these do, and how many are no larger than the one before.

    None if any number is not in [0, size). Nobody else can write into the copy.
    """
    short = max(size, numbers.size) <= _SHORT.max
    dtype: Any = np.int32 if short else np.int64
    loops = _loops()
    if loops is not None:
        copy = np.empty(numbers.size, dtype)
        falls = int(loops.copied(fixed(numbers), size, copy))
        return None if falls < 0 else (copy, falls)
    copy = numbers.copy()
    if copy.size and not (copy.min() >= 0 and copy.max() < size):
        return None
    return copy.astype(dtype), int(np.count_nonzero(copy[1:] <= copy[:-1]))


def counts(numbers: Integers, size: int) -> Integers:
    """Return how often each number below `size` is there; none may be outside of that."""
    found, loops = np.zeros(size, dtype=np.int64), _loops()
    if loops is not None:
        loops.counted(fixed(numbers), found)
        return found
    return np.bincount(numbers, minlength=size).astype(np.int64, copy=False)


@cache
def _loops() -> Any | None:
    """Return the compiled loops, or None where numba is not there or compiles nothing."""
    try:
        from prolate.sources import _compiled_entries as module
    except (ImportError, RuntimeError):  # not installed, or no folder for its cache
        return None
    return forgiving(module, at_once=True)  # queries need compiled loops for entries, too
