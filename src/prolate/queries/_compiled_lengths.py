"""How long rows are, of `prolate.queries.kernels`, for numba; imported on first use.

Each kernel comes for rows and for columns that lie together in memory: element (i, j) is
flat[i * stride + j], or flat[starts[j] + i]. Where `lower`, `upper` or `about` are None,
numba leaves out what they are for.

A norm is the root of a sum in the order of the columns. The cell that it is in can be told from
a sum in any order, which several columns at once are added up for, unless that is so near an
edge's square that their roundings count. No fast-math but in such sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from prolate.queries._compiled_edges import look_up, reached
from prolate.queries._compiled_prefetch import AHEAD, soon
from prolate.queries._compiled_steps import begin_of, inside, plus
from prolate.queries.doubles import DOUBT, LARGEST

__all__ = [
    "farthest_columns",
    "farthest_rows",
    "norm_cells_columns",
    "norm_cells_rows",
    "norms_columns",
    "norms_rows",
]

_CELLS = 1 << 16  # of columns at a time, in the second-level cache while they are read again
_WIDE = 2400  # bytes of a row from which on four are taken at a time
_NARROW = 32  # columns up to which the farthest is looked for one by one
_AT_ONCE = 64  # columns


@njit(nogil=True, error_model="numpy")
def _square(x: Any, j: int, center: Any, gain: Any, lower: Any, upper: Any, about: Any) -> float:
    value = inside(x, j, lower, upper)
    if about is not None:
        value = (value - about[j]) * (value - about[j])
    y = (value - center[j]) * gain[j]
    return y * y if x - x == 0.0 else 0.0


@njit(nogil=True, cache=True, error_model="numpy")
def norms_rows(
    flat: Any,
    stride: int,
    count: int,
    places: Any,
    center: Any,
    gain: Any,
    lower: Any,
    upper: Any,
    about: Any,
) -> Any:
    d, how = center.size, (center, gain, lower, upper, about)
    out = np.zeros(count)
    squares = np.empty((4, d))  # four sums in turn, so that none waits for itself
    for first in range(0, count, 4):
        rows = min(4, count - first)
        for k in range(rows):
            begin = begin_of(places, stride, first + k)
            row = flat[begin : begin + d]
            for j in range(d):
                squares[k, j] = _square(row[j], j, *how)
        if rows == 4:
            a = b = c = e = 0.0
            for j in range(d):
                a += squares[0, j]
                b += squares[1, j]
                c += squares[2, j]
                e += squares[3, j]
            out[first], out[first + 1], out[first + 2], out[first + 3] = a, b, c, e
        else:
            for k in range(rows):
                for j in range(d):
                    out[first + k] += squares[k, j]
    for i in range(count):
        out[i] = min(np.sqrt(out[i]), LARGEST)
    return out


@njit(nogil=True, error_model="numpy")
def _square_columns(flat: Any, starts: Any, how: Any, squares: Any) -> None:
    """Add each row's squares up, in the order of the columns."""
    d, count = how[0].size, squares.size
    height = max(128, min(512, _CELLS // d))
    for first in range(0, count, height):
        rows = min(height, count - first)
        square = squares[first : first + rows]
        for j in range(d):
            column = flat[starts[j] + first : starts[j] + first + rows]
            for i in range(rows):
                square[i] += _square(column[i], j, *how)


@njit(nogil=True, cache=True, error_model="numpy")
def norms_columns(
    flat: Any,
    starts: Any,
    count: int,
    center: Any,
    gain: Any,
    lower: Any,
    upper: Any,
    about: Any,
) -> Any:
    out = np.zeros(count)
    _square_columns(flat, starts, (center, gain, lower, upper, about), out)
    for i in range(count):
        out[i] = min(np.sqrt(out[i]), LARGEST)
    return out


@njit(nogil=True)
def _sure_cells(squares: Any, edges: Any, columns: int) -> Any:
    """Return how many edges each row's sum of squares reaches the squares of, -1 if in doubt.

    Two sums of d squares, each off the exact one by at most d u of it (u = 2**-53), differ by
    less than 2 (d + 4) u. Twice that is taken, which covers the roundings of an edge's square
    and of a root, too.
    """
    between, table, lowest = look_up(edges * np.abs(edges))
    out, doubts = np.empty(squares.size, np.int64), (columns + 4.0) * DOUBT
    for i in range(squares.size):
        square = squares[i]
        cell = reached((between, table, lowest), square)
        here, doubt = np.uint64(cell), doubts * square
        sure = (between[here] < square - doubt) & (square + doubt < between[here + np.uint64(1)])
        out[i] = cell if sure else -1
    return out


@njit(nogil=True, cache=True, error_model="numpy")
def norm_cells_rows(
    flat: Any,
    stride: int,
    count: int,
    places: Any,
    center: Any,
    gain: Any,
    edges: Any,
    lower: Any,
    upper: Any,
    about: Any,
) -> Any:
    d = center.size
    squares = np.empty(count)
    wide = d * flat.itemsize >= _WIDE
    fours = count // 4 * 4 if wide else 0  # for which the public vectors are read once
    for first in range(0, fours, 4):
        at, by, on, to = (
            begin_of(places, stride, first),
            begin_of(places, stride, first + 1),
            begin_of(places, stride, first + 2),
            begin_of(places, stride, first + 3),
        )
        row_one, row_two = flat[at : at + d], flat[by : by + d]
        row_three, row_four = flat[on : on + d], flat[to : to + d]
        a = b = c = e = 0.0
        for start in range(0, d, AHEAD):
            stop = min(start + AHEAD, d)
            for k in range(first + 4, min(first + 8, count)):
                soon(flat, begin_of(places, stride, k) + start, AHEAD)
            for j in range(np.uint64(start), np.uint64(stop)):
                a = plus(a, _square(row_one[j], j, center, gain, lower, upper, about))
                b = plus(b, _square(row_two[j], j, center, gain, lower, upper, about))
                c = plus(c, _square(row_three[j], j, center, gain, lower, upper, about))
                e = plus(e, _square(row_four[j], j, center, gain, lower, upper, about))
        squares[first], squares[first + 1], squares[first + 2], squares[first + 3] = a, b, c, e
    for i in range(fours, count):
        begin, square = begin_of(places, stride, i), 0.0
        row = flat[begin : begin + d]
        for j in range(d):
            square = plus(square, _square(row[j], j, center, gain, lower, upper, about))
        squares[i] = square
    return _sure_cells(squares, edges, d)


@njit(nogil=True, cache=True, error_model="numpy")
def norm_cells_columns(
    flat: Any,
    starts: Any,
    count: int,
    center: Any,
    gain: Any,
    edges: Any,
    lower: Any,
    upper: Any,
    about: Any,
) -> Any:
    d, how = center.size, (center, gain, lower, upper, about)
    squares = np.zeros(count)
    _square_columns(flat, starts, how, squares)
    return _sure_cells(squares, edges, d)


@njit(nogil=True)
def _distance(x: Any, j: int, center: Any, gain: Any, lower: Any, upper: Any) -> float:
    """Return |(x - center) gain|, 0 for a value that is not finite, or if that is no number."""
    y = abs((inside(x, j, lower, upper) - center[j]) * gain[j])
    y = y if x - x == 0.0 else 0.0
    return y if y == y else 0.0  # noqa: PLR0124


@njit(nogil=True)
def _first_of(bits: Any, pattern: int) -> Any:
    """Return the first place of a pattern that is there: of many, so many are compared at once."""
    for start in range(0, bits.size, _AT_ONCE):
        some = bits[start : start + _AT_ONCE]
        here = False
        for j in range(some.size):
            here |= some[j] == pattern
        if here:
            place = 0
            while some[place] != pattern:
                place += 1
            return start + place
    return bits.size


@njit(nogil=True)
def _largest(bits: Any) -> Any:
    """Return the largest of the bit patterns of numbers that are not negative: that of the largest.

    Integers, since compilers look for several of them at once.
    """
    most = np.int64(0)
    for j in range(bits.size):
        most = max(most, bits[j])
    return most


@njit(nogil=True, cache=True, error_model="numpy")
def farthest_rows(
    flat: Any,
    stride: int,
    count: int,
    places: Any,
    center: Any,
    gain: Any,
    lower: Any,
    upper: Any,
) -> Any:
    d = center.size
    farthest, which = np.empty(count), np.empty(count, dtype=np.int64)
    away = np.empty(d)
    bits, patterns = away.view(np.int64), farthest.view(np.int64)
    for i in range(count):
        begin, after = begin_of(places, stride, i), begin_of(places, stride, min(i + 1, count - 1))
        row = flat[begin : begin + d]
        if d <= _NARROW:
            most, place = -1.0, 0
            for j in range(d):
                y = _distance(row[j], j, center, gain, lower, upper)
                place = j if y > most else place
                most = max(most, y)
            farthest[i], which[i] = most, place
            continue
        for start in range(0, d, AHEAD):
            stop = min(start + AHEAD, d)
            soon(flat, after + start, AHEAD)
            for j in range(np.uint64(start), np.uint64(stop)):
                away[j] = _distance(row[j], j, center, gain, lower, upper)
        pattern = _largest(bits)
        patterns[i], which[i] = pattern, _first_of(bits, pattern)
    return farthest, which


@njit(nogil=True, cache=True, error_model="numpy")
def farthest_columns(
    flat: Any, starts: Any, count: int, center: Any, gain: Any, lower: Any, upper: Any
) -> Any:
    farthest, which = np.full(count, -1.0), np.zeros(count, dtype=np.int64)
    height = max(128, min(512, _CELLS // center.size))
    for first in range(0, count, height):
        rows = min(height, count - first)
        most, place = farthest[first : first + rows], which[first : first + rows]
        for j in range(center.size):
            column = flat[starts[j] + first : starts[j] + first + rows]
            for i in range(rows):
                y = _distance(column[i], j, center, gain, lower, upper)
                place[i] = j if y > most[i] else place[i]
                most[i] = max(most[i], y)
    return farthest, which
