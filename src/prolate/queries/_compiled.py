"""The kernels of `prolate.queries.kernels`, for numba; imported on first use.

No fast-math but where a sum of integers is exact in any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = [
    "clipped_steps",
    "clipped_sum",
    "key_histogram",
    "linear_histogram",
    "magnitude_histogram",
    "norms",
    "products",
    "turn",
]

_LANES = 32
_EXACT = 2.0**53
_LARGEST = float(np.finfo(np.float64).max)


@njit(nogil=True, cache=True, fastmath={"reassoc"})
def _exact_square(steps: Any, start: int, stop: int) -> float:
    total = 0.0
    for j in range(start, stop):
        total += steps[j] * steps[j]
    return total


@njit(nogil=True, cache=True)
def clipped_sum(
    rows: Any,
    lower: Any,
    upper: Any,
    about: Any,
    center: Any,
    gain: Any,
    missing: Any,
    radius: float,
    middle: float,
    half: float,
    total: Any,
) -> None:
    d = center.size
    cap = 2.0 * radius
    inner = (radius - 0.5 * np.sqrt(float(d))) * (1.0 - 2.0**-40)
    steps = np.empty(d)
    for i in range(rows.shape[0]):
        for j in range(d):
            x = rows[i, j]
            value = min(max(x, lower[j]), upper[j])
            deviation = value - about[j]
            if about[j] == about[j]:  # NaN: not given
                value = deviation * deviation
            step = np.rint((value - center[j]) * gain[j])
            step = min(max(step, -cap), cap)
            steps[j] = step if x - x == 0.0 else missing[j]
        square = 0.0
        for start in range(0, d, _LANES):
            square = min(square + _exact_square(steps, start, min(start + _LANES, d)), _EXACT)
        if half <= 0.0 and square <= radius * radius:
            for j in range(d):
                total[j] += np.int64(steps[j])
            continue
        weight = min(max((square - middle) / half, -1.0), 1.0) if half > 0.0 else 1.0
        if square >= _EXACT:
            square = max(d * cap * cap, _EXACT)
        factor = weight * (inner / np.sqrt(max(square, radius * radius)))
        for j in range(d):
            total[j] += np.int64(np.rint(steps[j] * factor))


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
def linear_histogram(rows: Any, low: Any, width: Any, cells: int, total: Any) -> None:
    for i in range(rows.shape[0]):
        for j in range(low.size):
            x = rows[i, j]
            if x - x == 0.0:
                place = np.floor((x - low[j]) / width[j])
                if place != place:  # noqa: PLR0124
                    place = 0.0
                place = min(max(place, -1.0), float(cells))
                total[j, np.int64(place) + 1] += 1


@njit(nogil=True, cache=True)
def magnitude_histogram(rows: Any, center: Any, first: Any, shift: int, total: Any) -> None:
    d = center.size
    last = total.shape[1] - 1
    magnitude = np.empty(d)
    for i in range(rows.shape[0]):
        for j in range(d):
            magnitude[j] = abs(rows[i, j] - center[j])
        patterns = magnitude.view(np.int64)
        for j in range(d):
            x = rows[i, j]
            if x - x == 0.0:
                cell = (patterns[j] >> shift) - first[j]
                total[j, min(max(cell, 0), last)] += 1


@njit(nogil=True, cache=True)
def key_histogram(rows: Any, index: Any, first: Any, shift: int, total: Any) -> None:
    last = total.shape[1] - 2
    patterns = rows.view(np.int64)
    for i in range(rows.shape[0]):
        for k in range(index.size):
            x = rows[i, index[k]]
            if x - x == 0.0:
                key = patterns[i, index[k]]
                if key < 0:
                    key = -(key & np.int64(2**63 - 1))
                cell = (key >> shift) - first[k]
                total[k, min(max(cell, -1), last) + 1] += 1


@njit(nogil=True, cache=True)
def norms(rows: Any, about: Any, center: Any, gain: Any) -> Any:
    out = np.empty(rows.shape[0])
    for i in range(rows.shape[0]):
        square = 0.0
        for j in range(center.size):
            x = rows[i, j]
            if x - x == 0.0:
                value = x
                if about[j] == about[j]:  # NaN: not given
                    value = (x - about[j]) * (x - about[j])
                y = (value - center[j]) * gain[j]
                square += y * y
        out[i] = min(np.sqrt(square), _LARGEST)
    return out


@njit(nogil=True, cache=True)
def turn(rows: Any, center: Any, matrix: Any) -> Any:
    m, d = rows.shape
    out = np.zeros((m, d))
    for i in range(m):
        for j in range(d):
            x = rows[i, j]
            deviation = x - center[j] if x - x == 0.0 else 0.0
            for k in range(d):
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
