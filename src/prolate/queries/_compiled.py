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
_LARGE = 50  # entries of a matrix by which rows are turned in pairs


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
    factors: Any,
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
        factors[i] = 1.0
        if square > radius * radius:
            factors[i] = inner / np.sqrt(square)
            for j in range(first, last):
                steps[i, j] = np.rint(steps[i, j] * factors[i])


@njit(nogil=True, cache=True)
def cut(rows: Any, lower: Any, upper: Any) -> Any:
    found = np.empty(rows.shape)
    for i in range(rows.shape[0]):
        for j in range(lower.size):
            x = rows[i, j]
            inside = lower[j] if x < lower[j] else min(x, upper[j])
            found[i, j] = inside if x - x == 0.0 else x
    return found


@njit(nogil=True)
def _deviation(x: float, center: float) -> float:
    return x - center if x - x == 0.0 else 0.0


@njit(nogil=True)
def _turn_pairs(rows: Any, count: int, center: Any, matrix: Any, out: Any) -> None:
    """Turn two rows, by four columns at a time; each sum is in the order of the columns."""
    columns, width = matrix.shape
    fours = columns // 4 * 4
    away = np.empty((2, columns))
    for i in range(0, count, 2):
        for j in range(columns):
            away[0, j] = _deviation(rows[i, j], center[j])
            away[1, j] = _deviation(rows[i + 1, j], center[j])
        for j in range(0, fours, 4):
            a, b, c, d = away[0, j], away[0, j + 1], away[0, j + 2], away[0, j + 3]
            p, q, r, s = away[1, j], away[1, j + 1], away[1, j + 2], away[1, j + 3]
            for k in range(width):
                w, x, y, z = matrix[j, k], matrix[j + 1, k], matrix[j + 2, k], matrix[j + 3, k]
                out[i, k] = out[i, k] + a * w + b * x + c * y + d * z
                out[i + 1, k] = out[i + 1, k] + p * w + q * x + r * y + s * z
        for j in range(fours, columns):
            for k in range(width):
                out[i, k] += away[0, j] * matrix[j, k]
                out[i + 1, k] += away[1, j] * matrix[j, k]


@njit(nogil=True, cache=True)
def turn(rows: Any, center: Any, matrix: Any) -> Any:
    m, d = rows.shape
    out = np.zeros((m, matrix.shape[1]))
    pairs = m // 2 * 2 if matrix.size >= _LARGE else 0
    _turn_pairs(rows, pairs, center, matrix, out)
    for i in range(pairs, m):
        for j in range(d):
            deviation = _deviation(rows[i, j], center[j])
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
