"""Short names for the arrays that most modules work with, and what compiled loops are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "Floats", "Integers", "Limits", "fixed"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]
Limits = tuple[Floats, Floats]
"""The least and the largest values of columns, each of shape (d,)."""


def fixed(given: Any) -> Any:
    """Return a read-only view of an array, or numba would compile loops for both kinds of them."""
    if isinstance(given, np.ndarray):
        given = np.ascontiguousarray(given).view()
        given.flags.writeable = False
    return given
