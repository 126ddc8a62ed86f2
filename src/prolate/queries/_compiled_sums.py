"""Clipped sums of `prolate.queries.kernels`, for numba; imported on first use.

The kernel comes for rows and for columns that lie together in memory: element (i, j) is
flat[i * stride + j], or flat[starts[j] + i]. Where `center`, `lower`, `upper` or `about` are
None, numba leaves out what they are for.

Most rows have no missing values, and no steps that would be cut. So a row is first taken
for one of these. Its sum of squares tells whether that was right: its terms are integers, or
inf or NaN. A term beyond the cap, inf or NaN makes it more than the cap's square, or NaN; and
below that it is exact, in any order.

Rows of a few columns are taken many at a time, and wide rows four at a time. Of all of them, each
value is read once, or all of a row again from a copy: another thread may write others meanwhile,
and what is added must not be longer than what was measured.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from prolate.queries._compiled_prefetch import AHEAD, soon
from prolate.queries._compiled_steps import (
    begin_of,
    cut_row,
    cut_step,
    factor_of,
    plus,
    plus_square,
    repeated,
    step_of,
)
from prolate.queries.doubles import EXACT

__all__ = ["clipped_sum_columns", "clipped_sum_rows"]

_NARROW = 6  # columns up to which several rows are taken at a time
_LINE = 256  # values of them
_CELLS = 1 << 16  # of columns at a time, in the second-level cache while they are read again
_LEAST = 128  # rows of them, or too little of a column would be read in one piece
_COMING = 4  # columns until which one is asked for ahead: of each, a few lines are read at a time


@njit(nogil=True)
def _row(flat: Any, stride: int, i: int, places: Any, d: int) -> Any:
    begin = begin_of(places, stride, i)
    return flat[begin : begin + d]


@njit(nogil=True, error_model="numpy")
def _add_row(row: Any, how: Any, missing: Any, limits: Any, steps: Any, sums: Any) -> None:
    """Add a row that nobody else writes to; `steps` is room for as many."""
    d, (radius, middle, half) = missing.size, limits
    cap, square = 2.0 * radius, 0.0
    for j in range(d):
        steps[j] = step_of(row[j], j, *how)
        square = plus_square(square, steps[j])
    if not square <= cap * cap:
        square = cut_row(row, steps, cap, missing)
    if square <= radius * radius and half <= 0.0:
        for j in range(d):
            sums[j] += steps[j]
        return
    factor = factor_of(square, d, radius, middle, half)
    for j in range(d):
        sums[j] += np.rint(steps[j] * factor)


@njit(nogil=True, error_model="numpy")
def _cut_fours(copies: Any, how: Any, cap: float, missing: Any) -> Any:
    """Put the cut steps of four rows in their place; return their sums of squares.

    Single precision holds them: integers up to the cap, 2**24 at most.
    """
    d = missing.size
    one, two, three, four = copies[:d], copies[d : 2 * d], copies[2 * d : 3 * d], copies[3 * d :]
    a = b = c = e = 0.0
    for j in range(d):
        v = cut_step(one[j], step_of(one[j], j, *how), cap, missing[j])
        w = cut_step(two[j], step_of(two[j], j, *how), cap, missing[j])
        x = cut_step(three[j], step_of(three[j], j, *how), cap, missing[j])
        y = cut_step(four[j], step_of(four[j], j, *how), cap, missing[j])
        one[j], two[j], three[j], four[j] = v, w, x, y
        a, b = plus_square(a, v), plus_square(b, w)
        c, e = plus_square(c, x), plus_square(e, y)
    return min(a, EXACT), min(b, EXACT), min(c, EXACT), min(e, EXACT)


@njit(nogil=True, error_model="numpy")
def _add_fours(
    flat: Any,
    stride: int,
    count: int,
    places: Any,
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

    They are copied while their squares are added up, and then added from the copies, while the
    next four are asked for. Where steps must be cut, these take the copies' place.
    """
    d, (radius, middle, half) = missing.size, limits
    cap, how = 2.0 * radius, (center, gain, lower, upper, about)
    copies = np.empty(4 * d, flat.dtype)
    row_one, row_two = copies[:d], copies[d : 2 * d]
    row_three, row_four = copies[2 * d : 3 * d], copies[3 * d :]
    for first in range(0, count, 4):
        one, two = _row(flat, stride, first, places, d), _row(flat, stride, first + 1, places, d)
        three = _row(flat, stride, first + 2, places, d)
        four = _row(flat, stride, first + 3, places, d)
        a = b = c = e = 0.0
        for j in range(d):
            v, w, x, y = one[j], two[j], three[j], four[j]
            row_one[j], row_two[j], row_three[j], row_four[j] = v, w, x, y
            a = plus_square(a, step_of(v, j, center, gain, lower, upper, about))
            b = plus_square(b, step_of(w, j, center, gain, lower, upper, about))
            c = plus_square(c, step_of(x, j, center, gain, lower, upper, about))
            e = plus_square(e, step_of(y, j, center, gain, lower, upper, about))
        careful = not (max(a, b, c, e) <= cap * cap and a + b + c + e == a + b + c + e)
        if careful:
            a, b, c, e = _cut_fours(copies, how, cap, missing)
        f = factor_of(a, d, radius, middle, half)
        g = factor_of(b, d, radius, middle, half)
        h = factor_of(c, d, radius, middle, half)
        k = factor_of(e, d, radius, middle, half)
        for start in range(0, d, AHEAD):
            stop = min(start + AHEAD, d)
            for i in range(first + 4, min(first + 8, count)):
                soon(flat, begin_of(places, stride, i) + start, AHEAD)
            if careful:
                for j in range(np.uint64(start), np.uint64(stop)):
                    pair = np.rint(row_one[j] * f) + np.rint(row_two[j] * g)
                    sums[j] += pair + (np.rint(row_three[j] * h) + np.rint(row_four[j] * k))
                continue
            for j in range(np.uint64(start), np.uint64(stop)):
                p = np.rint(step_of(row_one[j], j, center, gain, lower, upper, about) * f)
                q = np.rint(step_of(row_two[j], j, center, gain, lower, upper, about) * g)
                r = np.rint(step_of(row_three[j], j, center, gain, lower, upper, about) * h)
                s = np.rint(step_of(row_four[j], j, center, gain, lower, upper, about) * k)
                sums[j] += (p + q) + (r + s)


@njit(nogil=True, error_model="numpy")
def _finish_line(
    row: Any, steps: Any, lengths: Any, missing: Any, limits: Any, factors: Any
) -> None:
    """Cut the steps of rows that lie side by side, if need be; set the factor of each step.

    To pass narrow rows to `_add_row` would take longer than to finish them.
    """
    d, cap = missing.size, 2.0 * limits[0]
    for i in range(lengths.size):
        square, begin, end = lengths[i], i * d, i * d + d
        if not square <= cap * cap:
            square = cut_row(row[begin:end], steps[begin:end], cap, missing)
        factors[begin:end] = factor_of(square, d, *limits)


@njit(nogil=True, error_model="numpy")
def _add_narrow(
    flat: Any,
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
    """Add rows with nothing between them, as many at a time as make up a line."""
    d, (radius, _, half) = missing.size, limits
    rows = _LINE // d
    length, short = rows * d, radius * radius if half <= 0.0 else -1.0
    how = (repeated(center, length), repeated(gain, length), repeated(lower, length))
    more = (repeated(upper, length), repeated(about, length))
    steps, squares, factors = np.empty(length), np.empty(length), np.ones(length)
    lengths, together, row = np.empty(rows), np.zeros(length), np.empty(length, flat.dtype)
    for first in range(0, count, rows):
        row[:] = flat[first * d : first * d + length]
        for j in range(length):
            steps[j] = step_of(row[j], j, *how, *more)
            squares[j] = steps[j] * steps[j]
        all_short = True
        for i in range(rows):
            square = 0.0
            for j in range(i * d, i * d + d):
                square += squares[j]
            lengths[i] = square
            all_short &= square <= short
        if not all_short:
            _finish_line(row, steps, lengths, missing, limits, factors)
            for j in range(length):
                steps[j] = np.rint(steps[j] * factors[j])
        for j in range(length):
            together[j] += steps[j]
    for j in range(length):
        sums[j % d] += together[j]


@njit(nogil=True, cache=True, error_model="numpy")
def clipped_sum_rows(
    flat: Any,
    stride: int,
    count: int,
    places: Any,
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
    d = missing.size
    steps = np.empty(d)
    sums = np.zeros(d)
    limits, done = (radius, middle, half), 0
    if d <= _NARROW and stride == d and not places.size:
        done = count // (_LINE // d) * (_LINE // d)
        _add_narrow(flat, done, center, gain, lower, upper, about, missing, limits, sums)
    else:
        done = count // 4 * 4
        vectors = (center, gain, lower, upper, about, missing)
        _add_fours(flat, stride, done, places, *vectors, limits, sums)
    how = (center, gain, lower, upper, about)
    copy = np.empty(d, flat.dtype)
    for i in range(done, count):
        copy[:] = _row(flat, stride, i, places, d)
        _add_row(copy, how, missing, limits, steps, sums)
    for j in range(d):
        total[j] += np.int64(sums[j])


@njit(nogil=True, error_model="numpy")
def _square_columns(flat: Any, starts: Any, how: Any, square: Any, sums: Any, steps: Any) -> None:
    """Set the sums of squares of rows, and of columns, of steps that are not cut; and the steps.

    These wait in single precision; see `_add_fours`.
    """
    square[:] = 0.0
    for j in range(sums.size):
        column, kept = flat[starts[j] : starts[j] + square.size], steps[j, : square.size]
        soon(flat, starts[min(j + _COMING, sums.size - 1)], square.size)
        part = 0.0
        for i in range(square.size):
            step = step_of(column[i], j, *how)
            kept[i] = step
            square[i] += step * step
            part = plus(part, step)
        sums[j] = part


@njit(nogil=True, error_model="numpy")
def _add_steps(steps: Any, factors: Any, total: Any) -> None:
    """Add steps times factors, rounded."""
    for j in range(total.size):
        kept, part = steps[j, : factors.size], 0.0
        for i in range(factors.size):
            part = plus(part, np.rint(np.float64(kept[i]) * factors[i]))
        total[j] += np.int64(part)


@njit(nogil=True, error_model="numpy")
def _cut_columns(flat: Any, starts: Any, how: Any, cap: float, missing: Any, square: Any) -> None:
    """Set the sums of squares of rows of cut steps, cut off at 2**53."""
    square[:] = 0.0
    for j in range(missing.size):
        column = flat[starts[j] : starts[j] + square.size]
        for i in range(square.size):
            step = cut_step(column[i], step_of(column[i], j, *how), cap, missing[j])
            square[i] = min(square[i] + step * step, EXACT)


@njit(nogil=True, error_model="numpy")
def _add_cut(
    flat: Any, starts: Any, how: Any, cap: float, missing: Any, factors: Any, total: Any
) -> None:
    """Add cut steps times factors, rounded."""
    for j in range(missing.size):
        column, part = flat[starts[j] : starts[j] + factors.size], 0.0
        for i in range(factors.size):
            step = cut_step(column[i], step_of(column[i], j, *how), cap, missing[j])
            part = plus(part, np.rint(step * factors[i]))
        total[j] += np.int64(part)


@njit(nogil=True, cache=True, error_model="numpy")
def clipped_sum_columns(
    flat: Any,
    starts: Any,
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
    d, cap = missing.size, 2.0 * radius
    how = (center, gain, lower, upper, about)
    height = max(_LEAST, min(512, _CELLS // d))
    squares, factors = np.empty(height), np.empty(height)
    sums, steps = np.empty(d), np.empty((d, height), np.float32)
    copy, places = np.empty(d * height, flat.dtype), np.arange(d) * height
    for first in range(0, count, height):
        rows = min(height, count - first)
        part, square, factor = flat[first:], squares[:rows], factors[:rows]
        _square_columns(part, starts, how, square, sums, steps)
        careful, short = False, half <= 0.0
        for i in range(rows):
            careful |= not square[i] <= cap * cap
            short &= square[i] <= radius * radius
        if short:
            for j in range(d):
                total[j] += np.int64(sums[j])
            continue
        if careful:
            for j in range(d):
                copy[places[j] : places[j] + rows] = part[starts[j] : starts[j] + rows]
            _cut_columns(copy, places, how, cap, missing, square)
        for i in range(rows):
            factor[i] = factor_of(square[i], d, radius, middle, half)
        if careful:
            _add_cut(copy, places, how, cap, missing, factor, total)
        else:
            _add_steps(steps, factor, total)
