"""Clipped rows of `prolate.queries.kernels`, step by step, for numba. See `_compiled_sums`.

No fast-math but where a sum of integers is exact in any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from prolate.queries.doubles import EXACT

__all__ = [
    "begin_of",
    "cut_row",
    "cut_step",
    "factor_of",
    "inside",
    "plus",
    "plus_square",
    "repeated",
    "step_of",
]


@njit(nogil=True)
def begin_of(places: Any, stride: int, i: int) -> Any:
    """Return where row i begins: of chosen rows, that of its place; else there are no places."""
    return (places[i] if places.size else i) * stride


@njit(nogil=True, fastmath={"reassoc"})
def plus(total: float, step: float) -> float:
    return total + step


@njit(nogil=True, fastmath={"reassoc", "contract"})
def plus_square(total: float, step: float) -> float:
    return total + step * step


@njit(nogil=True)
def inside(x: Any, j: int, lower: Any, upper: Any) -> float:
    value = np.float64(x)
    if lower is not None:
        value = min(max(value, lower[j]), upper[j])
    return value


@njit(nogil=True, error_model="numpy")
def step_of(x: Any, j: int, center: Any, gain: Any, lower: Any, upper: Any, about: Any) -> Any:
    """Return a value in steps, not cut; NaN or infinite where the value is.

    Without a center, only what is beyond `lower` and `upper` counts.
    """
    value = inside(x, j, lower, upper)
    if center is None:
        return np.rint((np.float64(x) - value) * gain[j]) + (x - x)
    if about is not None:
        value = (value - about[j]) * (value - about[j])
    step = np.rint((value - center[j]) * gain[j])
    if lower is not None:
        step += x - x
    return step


@njit(nogil=True, error_model="numpy")
def cut_step(x: Any, step: float, cap: float, missing: float) -> float:
    return min(max(step, -cap), cap) if x - x == 0.0 else missing


@njit(nogil=True, error_model="numpy")
def factor_of(square: float, d: int, radius: float, middle: float, half: float) -> float:
    """Return what the steps of a row are multiplied by."""
    cap = 2.0 * radius
    root = np.sqrt(square if square < EXACT else max(d * cap * cap, EXACT))
    inside = (radius - 0.5 * np.sqrt(float(d))) * (1.0 - 2.0**-40)
    factor: float = 1.0
    if half > 0.0:
        factor = min(max((square - middle) / half, -1.0), 1.0) * (inside / max(root, radius))
    elif not square <= radius * radius:
        factor = inside / root
    return factor


@njit(nogil=True, error_model="numpy")
def cut_row(row: Any, steps: Any, cap: float, missing: Any) -> float:
    """Cut the steps of a row; return the sum of their squares, cut off at 2**53.

    In any order: sums below that are exact, and those beyond stay beyond, since rounding keeps
    the order of numbers.
    """
    square = 0.0
    for j in range(row.size):
        step = cut_step(row[j], np.float64(steps[j]), cap, missing[j])
        steps[j] = step
        square = plus_square(square, step)  # in double precision, whatever that of `steps`
    return min(square, EXACT)


@njit(nogil=True)
def repeated(vector: Any, length: int) -> Any:
    """Return a public vector, or None, again and again, for rows that lie side by side."""
    out = vector
    if vector is not None:  # with a return for either, numba would look for None at every use
        out = np.empty(length, vector.dtype)
        for j in range(length):
            out[j] = vector[j % vector.size]
    return out
