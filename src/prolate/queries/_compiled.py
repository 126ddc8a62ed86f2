"""The kernels of `prolate.queries.kernels`, for numba; imported on first use.

No fast-math but where a sum of integers is exact in any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = [
    "clipped_steps",
    "cut",
    "products",
    "turn",
]

_LANES = 32


@njit(nogil=True, fastmath={"reassoc"})
def _exact_square(steps: Any, start: int, stop: int) -> float:
    total = 0.0
    for j in range(start, stop):
        total += steps[j] * steps[j]
    return total


@njit(nogil=True, cache=True)
def clipped_steps(
    rows: Any,
    lower: Any,
    upper: Any,
    center: Any,
    gain: Any,
    constant: float,
    radius: float,
    cap: float,
    target: float,
    steps: Any,
) -> None:
    d = center.size
    first = steps.shape[1] - d
    last = first + d - (1 if target >= 0.0 else 0)
    inner = (radius - 0.5 * np.sqrt(float(last - first))) * (1.0 - 2.0**-40)
    for i in range(rows.shape[0]):
        if first > 0:
            steps[i, 0] = constant
        for j in range(d):
            x = rows[i, j]
            most = cap if first + j < last else target
            step = np.rint((min(max(x, lower[j]), upper[j]) - center[j]) * gain[j])
            steps[i, first + j] = min(max(step, -most), most) if x - x == 0.0 else 0.0
        square = 0.0
        for start in range(first, last, _LANES):
            square += _exact_square(steps[i], start, min(start + _LANES, last))
        if square > radius * radius:
            factor = inner / np.sqrt(square)
            for j in range(first, last):
                steps[i, j] = np.rint(steps[i, j] * factor)


@njit(nogil=True, cache=True)
def cut(rows: Any, lower: Any, upper: Any) -> Any:
    found = np.empty(rows.shape)
    for i in range(rows.shape[0]):
        for j in range(lower.size):
            x = rows[i, j]
            inside = lower[j] if x < lower[j] else min(x, upper[j])
            found[i, j] = inside if x - x == 0.0 else x
    return found


@njit(nogil=True, cache=True)
def turn(rows: Any, center: Any, matrix: Any) -> Any:
    m, d = rows.shape
    out = np.zeros((m, matrix.shape[1]))
    for i in range(m):
        for j in range(d):
            x = rows[i, j]
            deviation = x - center[j] if x - x == 0.0 else 0.0
            for k in range(matrix.shape[1]):
                out[i, k] += deviation * matrix[j, k]
    return out


@njit(nogil=True, cache=True)
def products(rows: Any, center: Any, scale: Any) -> Any:
    m, d = rows.shape
    out = np.empty((m, d * (d + 1) // 2))
    z = np.empty(d)
    for i in range(m):
        for j in range(d):
            x = rows[i, j]
            value = (x - center[j]) / scale[j] if x - x == 0.0 else 0.0
            z[j] = min(max(value, -1e100), 1e100)
        place = 0
        for j in range(d):
            out[i, place] = z[j] * z[j]
            heavy = z[j] * np.sqrt(2.0)
            for k in range(j + 1, d):
                out[i, place + k - j] = heavy * z[k]
            place += d - j
    return out
