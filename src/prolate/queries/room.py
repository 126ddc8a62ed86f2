"""Room for working copies, which each thread keeps: to ask the system for it takes longer."""

from __future__ import annotations

import threading
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["room"]

_MOST = 1 << 22  # bytes that are kept

_KEPT = threading.local()


def room(
    name: str, shape: tuple[int, int], dtype: DTypeLike = np.float64, order: Literal["C", "F"] = "C"
) -> NDArray[Any]:
    """Return an array to write into, which is this thread's until it asks for that name again.

    Examples
    --------
    >>> here = room("example", (2, 3))
    >>> np.shares_memory(here, room("example", (3, 2))), room("example", (2, 3), order="F").shape
    (True, (2, 3))
    """
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    if size > _MOST:
        return np.empty(shape, dtype, order)
    kept: NDArray[np.uint8] | None = getattr(_KEPT, name, None)
    if kept is None or kept.size < size:
        kept = np.empty(size, np.uint8)
        setattr(_KEPT, name, kept)
    return np.ndarray(shape, dtype, kept, order=order)
