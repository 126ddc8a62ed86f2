"""Clipped sums of `prolate.queries.kernels`, for numba; imported on first use.

The kernel comes for rows and for columns that lie together in memory: element (i, j) is
flat[i * stride + j], or flat[j * stride + i]. Where `lower`, `upper` or `about` are None,
numba leaves out what they are for.

Most rows have no missing values, and no steps that would be cut. So a row is first taken
for one of these. Its sum of squares tells whether that was right: its terms are integers, or
inf or NaN. A term beyond the cap, inf or NaN makes it more than the cap's square, or NaN; and
below that it is exact, in any order.

No fast-math but where a sum of integers is exact in any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = [
    "clipped_sum_columns",
    "clipped_sum_rows",
    "inside",
    "plus",
]

_EXACT = 2.0**53
_WIDE = 600  # columns from which rows are taken four at a time
_CELLS = 1 << 16  # of columns at a time, in the second-level cache while they are read again


@njit(nogil=True, fastmath={"reassoc"})
def plus(total: float, step: float) -> float:
    return total + step


@njit(nogil=True, fastmath={"reassoc", "contract"})
def _plus_square(total: float, step: float) -> float:
    return total + step * step


@njit(nogil=True)
def inside(x: Any, j: int, lower: Any, upper: Any) -> float:
    value = np.float64(x)
    if lower is not None:
        value = min(max(value, lower[j]), upper[j])
    return value


@njit(nogil=True, error_model="numpy")
def _step(x: Any, j: int, center: Any, gain: Any, lower: Any, upper: Any, about: Any) -> Any:
    """Return a value in steps, not cut; NaN or infinite where the value is."""
    value = inside(x, j, lower, upper)
    if about is not None:
        value = (value - about[j]) * (value - about[j])
    step = np.rint((value - center[j]) * gain[j])
    if lower is not None:
        step += x - x
    return step


@njit(nogil=True, error_model="numpy")
def _cut(x: Any, step: float, cap: float, missing: float) -> float:
    return min(max(step, -cap), cap) if x - x == 0.0 else missing


@njit(nogil=True, error_model="numpy")
def _factor(square: float, d: int, radius: float, middle: float, half: float) -> float:
    """Return what the steps of a row are multiplied by."""
    cap = 2.0 * radius
    root = np.sqrt(square if square < _EXACT else max(d * cap * cap, _EXACT))
    inside = (radius - 0.5 * np.sqrt(float(d))) * (1.0 - 2.0**-40)
    factor: float = 1.0
    if half > 0.0:
        factor = min(max((square - middle) / half, -1.0), 1.0) * (inside / max(root, radius))
    elif not square <= radius * radius:
        factor = inside / root
    return factor


@njit(nogil=True, error_model="numpy")
def _cut_row(row: Any, steps: Any, cap: float, missing: Any) -> float:
    """Cut the steps of a row; return the sum of their squares, cut off at 2**53.

    In any order: sums below that are exact, and those beyond stay beyond, since rounding keeps
    the order of numbers.
    """
    square = 0.0
    for j in range(row.size):
        step = _cut(row[j], np.float64(steps[j]), cap, missing[j])
        steps[j] = step
        square = _plus_square(square, step)  # in double precision, whatever that of `steps`
    return min(square, _EXACT)


@njit(nogil=True, error_model="numpy")
def _finish_row(row: Any, steps: Any, square: float, missing: Any, limits: Any) -> float:
    """Cut a row's steps if need be; return their factor."""
    cap = 2.0 * limits[0]
    if not square <= cap * cap:
        square = _cut_row(row, steps, cap, missing)
    return _factor(square, missing.size, *limits)


@njit(nogil=True, error_model="numpy")
def _add_fours(
    flat: Any,
    stride: int,
    count: int,
    center: Any,
    gain: Any,
    lower: Any,
    upper: Any,
    about: Any,
    missing: Any,
    limits: Any,
    sums: Any,
) -> None:
    """Add rows, four at a time: of wide rows, the public vectors would not stay in the cache.

    Four rows are added while the next are read. Their steps wait in single precision, which
    holds integers up to the cap, 2**24 at most; larger ones stay beyond it, and are cut to it.
    """
    d, (radius, _, half) = missing.size, limits
    one, two = np.zeros(d, np.float32), np.zeros(d, np.float32)
    three, four = np.zeros(d, np.float32), np.zeros(d, np.float32)
    f, g, h, k = 0.0, 0.0, 0.0, 0.0
    short = radius * radius if half <= 0.0 else -1.0
    for first in range(0, count, 4):
        row_one = flat[first * stride : first * stride + d]
        row_two = flat[(first + 1) * stride : (first + 1) * stride + d]
        row_three = flat[(first + 2) * stride : (first + 2) * stride + d]
        row_four = flat[(first + 3) * stride : (first + 3) * stride + d]
        a = b = c = e = 0.0
        for j in range(d):
            pair = np.rint(one[j] * f) + np.rint(two[j] * g)
            sums[j] += pair + (np.rint(three[j] * h) + np.rint(four[j] * k))
            v = _step(row_one[j], j, center, gain, lower, upper, about)
            w = _step(row_two[j], j, center, gain, lower, upper, about)
            x = _step(row_three[j], j, center, gain, lower, upper, about)
            y = _step(row_four[j], j, center, gain, lower, upper, about)
            one[j], two[j], three[j], four[j] = v, w, x, y
            a, b = _plus_square(a, v), _plus_square(b, w)
            c, e = _plus_square(c, x), _plus_square(e, y)
        if max(a, b, c, e) <= short and a + b + c + e == a + b + c + e:
            f, g, h, k = 1.0, 1.0, 1.0, 1.0
            continue
        f = _finish_row(row_one, one, a, missing, limits)
        g = _finish_row(row_two, two, b, missing, limits)
        h = _finish_row(row_three, three, c, missing, limits)
        k = _finish_row(row_four, four, e, missing, limits)
    for j in range(d):
        pair = np.rint(one[j] * f) + np.rint(two[j] * g)
        sums[j] += pair + (np.rint(three[j] * h) + np.rint(four[j] * k))


@njit(nogil=True, cache=True, error_model="numpy")
def clipped_sum_rows(
    flat: Any,
    stride: int,
    count: int,
    center: Any,
    gain: Any,
    lower: Any,
    upper: Any,
    about: Any,
    missing: Any,
    radius: float,
    middle: float,
    half: float,
    total: Any,
) -> None:
    d, cap = center.size, 2.0 * radius
    steps = np.empty(d)
    sums = np.zeros(d)
    fours = count // 4 * 4 if d >= _WIDE else 0
    limits = (radius, middle, half)
    _add_fours(flat, stride, fours, center, gain, lower, upper, about, missing, limits, sums)
    for i in range(fours, count):
        row = flat[i * stride : i * stride + d]
        square = 0.0
        for j in range(d):
            steps[j] = _step(row[j], j, center, gain, lower, upper, about)
            square = _plus_square(square, steps[j])
        if not square <= cap * cap:
            square = _cut_row(row, steps, cap, missing)
        if square <= radius * radius and half <= 0.0:
            for j in range(d):
                sums[j] += steps[j]
            continue
        factor = _factor(square, d, radius, middle, half)
        for j in range(d):
            sums[j] += np.rint(steps[j] * factor)
    for j in range(d):
        total[j] += np.int64(sums[j])


@njit(nogil=True, error_model="numpy")
def _square_columns(flat: Any, stride: int, how: Any, square: Any, sums: Any) -> None:
    """Set the sums of squares of rows, and of columns, of steps that are not cut."""
    square[:] = 0.0
    for j in range(sums.size):
        column = flat[j * stride : j * stride + square.size]
        part = 0.0
        for i in range(square.size):
            step = _step(column[i], j, *how)
            square[i] += step * step
            part = plus(part, step)
        sums[j] = part


@njit(nogil=True, error_model="numpy")
def _cut_columns(flat: Any, stride: int, how: Any, cap: float, missing: Any, square: Any) -> None:
    """Set the sums of squares of rows of cut steps, cut off at 2**53."""
    square[:] = 0.0
    for j in range(missing.size):
        column = flat[j * stride : j * stride + square.size]
        for i in range(square.size):
            step = _cut(column[i], _step(column[i], j, *how), cap, missing[j])
            square[i] = min(square[i] + step * step, _EXACT)


@njit(nogil=True, error_model="numpy")
def _add_columns(
    flat: Any, stride: int, how: Any, cap: float, missing: Any, factors: Any, total: Any
) -> None:
    """Add steps times factors, rounded; cut before that where `cap` is positive."""
    for j in range(missing.size):
        column = flat[j * stride : j * stride + factors.size]
        part = 0.0
        if cap > 0.0:
            for i in range(factors.size):
                step = _cut(column[i], _step(column[i], j, *how), cap, missing[j])
                part = plus(part, np.rint(step * factors[i]))
        else:
            for i in range(factors.size):
                part = plus(part, np.rint(_step(column[i], j, *how) * factors[i]))
        total[j] += np.int64(part)


@njit(nogil=True, cache=True, error_model="numpy")
def clipped_sum_columns(
    flat: Any,
    stride: int,
    count: int,
    center: Any,
    gain: Any,
    lower: Any,
    upper: Any,
    about: Any,
    missing: Any,
    radius: float,
    middle: float,
    half: float,
    total: Any,
) -> None:
    d, cap = center.size, 2.0 * radius
    how = (center, gain, lower, upper, about)
    height = max(64, min(512, _CELLS // d))
    squares, factors = np.empty(height), np.empty(height)
    sums = np.empty(d)
    for first in range(0, count, height):
        rows = min(height, count - first)
        part, square, factor = flat[first:], squares[:rows], factors[:rows]
        _square_columns(part, stride, how, square, sums)
        careful, short = False, half <= 0.0
        for i in range(rows):
            careful |= not square[i] <= cap * cap
            short &= square[i] <= radius * radius
        if short:
            for j in range(d):
                total[j] += np.int64(sums[j])
            continue
        if careful:
            _cut_columns(part, stride, how, cap, missing, square)
        for i in range(rows):
            factor[i] = _factor(square[i], d, radius, middle, half)
        _add_columns(part, stride, how, cap if careful else 0.0, missing, factor, total)
