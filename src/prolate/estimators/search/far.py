"""Columns of numbers so large that searches and sums cannot hold them."""

from __future__ import annotations

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.estimators.search.spread import LARGEST

__all__ = ["TOO_FAR", "too_far"]

TOO_FAR = (
    "Values beyond about 1e140 are too large here, so nothing is known of their columns: rescale "
    "these columns."
)
"""The warning where there are such columns."""

_NEARLY = 0.1  # of the largest spread


def too_far(center: Floats, spread: Floats) -> Bools:
    """Return which columns have centers, or spreads, about as large as any spread can be.

    Examples
    --------
    >>> too_far(np.array([1e200, 0.0, 1e100]), np.array([1.0, 1e140, 1e99])).tolist()
    [True, True, False]
    """
    return np.asarray(np.maximum(np.abs(center), spread) >= _NEARLY * LARGEST)
