"""What every function of public numbers asks of its arguments."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from prolate.arrays import Floats
from prolate.errors import InputError

__all__ = ["offset_like", "positive", "probability", "scaled_like"]


def positive(values: ArrayLike, name: str) -> Floats:
    """Return a list of positive numbers as an array, or raise `InputError`."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers.") from error
    if array.ndim != 1 or array.size == 0 or not np.all((array > 0.0) & np.isfinite(array)):
        raise InputError(f"{name} must be a list of positive, finite numbers.")
    return array


def scaled_like(b: ArrayLike, spread: Floats) -> Floats:
    """Return b as an array with a number for each column."""
    scaling = positive(b, "b")
    if scaling.shape != spread.shape:
        raise InputError(
            f"b must have a number for each column: {spread.size}; got {scaling.size}."
        )
    return scaling


def offset_like(center_offset: ArrayLike, spread: Floats) -> Floats:
    """Return the offset as an array with a number for each column."""
    try:
        shift = np.asarray(center_offset, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("center_offset must be numbers.") from error
    if shift.shape not in ((), spread.shape) or not np.all(np.isfinite(shift)):
        raise InputError(
            f"center_offset must be one finite number, or one for each of {spread.size} columns."
        )
    return np.broadcast_to(shift, spread.shape)


def probability(clip: float | None) -> float:
    """Return a clipping probability, or raise `InputError`."""
    if clip is None or not 0.0 < clip < 1.0:
        raise InputError(f"clip must lie between 0 and 1, both excluded; got {clip}.")
    return float(clip)
