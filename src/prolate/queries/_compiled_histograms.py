"""Histograms of `prolate.queries.kernels`, for numba; imported on first use. No fast-math.

Each comes for rows and for columns that lie together in memory: element (i, j) is
flat[i * stride + j], or flat[starts[j] + i].

Where cells are few, values are counted as `_compiled_lanes.py` says, many columns at a time.
Where there are more cells, places in tables are worked out for some hundred rows, several values
at once, and then counted in `LANES` columns at a time. Each table begins with a place for what is
in no cell, so that nothing is asked of a value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from prolate.queries._compiled_lanes import AT_ONCE, LANES, LINES, count_lines
from prolate.queries._compiled_prefetch import AHEAD, soon
from prolate.queries._compiled_steps import begin_of, repeated

__all__ = [
    "linear_histogram_columns",
    "linear_histogram_rows",
    "magnitude_histogram_columns",
    "magnitude_histogram_rows",
    "pooled_histogram_columns",
    "pooled_histogram_rows",
]

_WIDE = 32 * LANES  # columns at a time, whose cells stay in the second-level cache
_FEW = 32  # cells, or three times as many of magnitudes, which are mostly empty
_LEAST = 4  # lines for each cell; of fewer, adding their sums up would take longer
_CELLS = 1 << 17  # values at a time, whose cells stay in the second-level cache


@njit(nogil=True, error_model="numpy")
def _cell(x: Any, one: float, two: Any, last: int, shift: Any) -> Any:
    """Return the cell of a value, -1 for none.

    Of equal cells, from `one` on and `two` to the unit, if `shift` is None; else of the magnitudes
    |x - one| whose bits, shifted, are `two` and more.
    """
    if shift is None:
        place = (np.float64(x) - one) * two + 1.0
        # One instruction each, which `max` and `min` are not; 0 for no number.
        place = place if place > 0.0 else 0.0  # noqa: FURB136
        place = place if place < last else np.float64(last)
        return np.int32(place if x - x == 0.0 else -1.0)
    pattern = np.float64(abs(x - one)).view(np.int64)
    cell = np.int32(min(max((pattern >> shift) - two, 0), last))
    return cell if x - x == 0.0 else np.int32(-1)


@njit(nogil=True)
def _few_rows(
    flat: Any, stride: int, count: int, places: Any, one: Any, two: Any, shift: Any, total: Any
) -> None:
    """Count rows, so many of which make a line that the lanes are full."""
    d, size = total.shape
    rows = _rows_in_line(d, stride, places)
    length = rows * d
    ones, twos = repeated(one, length), repeated(two, length)
    wide = min(length, _WIDE)
    found = np.zeros(-(-wide // LANES) * LINES * LANES, np.uint8)  # some lanes stay empty
    sums = np.zeros((size + 5) * LANES, np.uint8)
    every, step = -(-count // rows), rows * stride
    begins = np.empty(2 * AT_ONCE, np.int64)
    end = flat.size if places.size else (count - 1) * stride + d
    for first in range(0, every, LINES):
        lines = min(LINES, every - first)
        for begin in range(0, length, wide):
            stop = min(begin + wide, length)
            for line in range(0, lines, AT_ONCE):
                for i in range(begins.size):  # of these lines, and of those that come next
                    begins[i] = begin_of(places, step, min(first + line + i, every - 1))
                for start in range(begin, stop, LANES):
                    place = (start - begin) * LINES
                    last = min(start + LANES, stop)
                    some, others = ones[start:last], twos[start:last]
                    for i in range(line, min(line + AT_ONCE, lines)):
                        at = begins[i - line] + start
                        soon(flat, begins[i - line + AT_ONCE] + start, LANES)
                        values = flat[at : min(at + last - start, end)]
                        out = found[place + i * LANES : place + (i + 1) * LANES]
                        for j in range(values.size):
                            out[j] = np.uint8(
                                _cell(values[j], some[j], others[j], size - 1, shift) + 1
                            )
                        for j in range(values.size, last - start):
                            out[j] = np.uint8(0)
            for start in range(begin, stop, LANES):
                tile = found[(start - begin) * LINES : (start - begin + LANES) * LINES]
                columns = min(LANES, stop - start)
                count_lines(tile, lines, columns, sums, total[start:])


@njit(nogil=True)
def _most(shift: Any) -> int:
    """Return how many cells are few."""
    return _FEW if shift is None else 3 * _FEW


@njit(nogil=True)
def _rows_in_line(d: int, stride: int, places: Any) -> int:
    """Return how many rows fill the lanes, where there is nothing between them."""
    return max(1, LANES // d) if stride == d and not places.size else 1


@njit(nogil=True)
def _rows(
    flat: Any, stride: int, count: int, places: Any, one: Any, two: Any, shift: Any, total: Any
) -> None:
    """Count the values of rows: see `_cell`."""
    d, size = total.shape
    length = _rows_in_line(d, stride, places) * d
    full = -(-length // LANES) * LANES / length
    if size * full <= _most(shift) and count * d >= _LEAST * size * length:
        _few_rows(flat, stride, count, places, one, two, shift, total)
        return
    if count < size:  # tables of their own would take longer
        found = np.empty(d, np.int32)
        for i in range(count):
            begin = begin_of(places, stride, i)
            row = flat[begin : begin + d]
            for j in range(d):
                found[j] = _cell(row[j], one[j], two[j], size - 1, shift)
            for j in range(d):
                if found[j] >= 0:
                    total[j, np.uint32(found[j])] += 1
        return
    for begin in range(0, d, _WIDE):
        stop = min(begin + _WIDE, d)
        some, others, counts = one[begin:stop], two[begin:stop], total[begin:stop]
        _many_rows(flat[begin:], stride, count, places, some, others, shift, counts)


@njit(nogil=True)
def _many_rows(
    flat: Any, stride: int, count: int, places: Any, one: Any, two: Any, shift: Any, total: Any
) -> None:
    """Count rows, so many of which are taken at a time that the lanes are full."""
    d, size = total.shape
    rows = _rows_in_line(d, stride, places)
    length, table = rows * d, size + 1
    ones, twos, starts = repeated(one, length), repeated(two, length), np.empty(length, np.int32)
    for j in range(length):
        starts[j] = j % d % LANES * table + 1
    tables = np.zeros(d * table, np.int32)
    height = max(1, min(count // rows, _CELLS // length))
    found = np.empty(height * length, np.int32)
    for first in range(0, -(-count // rows), height):
        lines = min(height, -(-count // rows) - first)
        left, how = (count - first * rows) * d, (ones, twos, starts, size - 1, shift)
        here = flat if places.size else flat[first * rows * stride :]
        _find_places(here, rows * stride, places[first:], left, lines, how, found)
        for start in range(0, length, LANES):
            stop = min(start + LANES, length)
            some_tables = tables[start * table : min(stop, d) * table]
            for i in range(lines):
                cells = found[i * length + start : i * length + stop]
                for j in range(cells.size):
                    some_tables[np.uint32(cells[j])] += 1  # unsigned: not from the end
    for j in range(d):
        for k in range(size):
            total[j, k] += tables[j * table + 1 + k]


@njit(nogil=True)
def _find_places(
    flat: Any, step: int, places: Any, left: int, lines: int, how: Any, found: Any
) -> None:
    """Write where in tables the values of lines count; the last line may not be full."""
    ones, twos, starts, last, shift = how
    length = ones.size
    for i in range(lines):
        at, after = begin_of(places, step, i), begin_of(places, step, min(i + 1, lines - 1))
        to, full = i * length, min(length, left - i * length)
        for start in range(0, length, AHEAD):
            stop = min(start + AHEAD, length)
            soon(flat, after + start, AHEAD)
            values, out = flat[at + start : at + min(stop, full)], found[to + start : to + stop]
            some, others, tables = ones[start:stop], twos[start:stop], starts[start:stop]
            for j in range(values.size):
                out[j] = _cell(values[j], some[j], others[j], last, shift) + tables[j]
            for j in range(values.size, out.size):
                out[j] = 0


@njit(nogil=True)
def _columns(
    flat: Any, starts: Any, count: int, one: Any, two: Any, shift: Any, total: Any
) -> None:
    """Count the values of columns: see `_cell`."""
    d, size = total.shape
    few = size <= _most(shift) and count >= _LEAST * size * LANES
    most = LINES * LANES if few else _CELLS
    found = np.empty(min(count, most), dtype=np.int32)
    cells, sums = np.zeros(LINES * LANES, np.uint8), np.zeros((size + 5) * LANES, np.uint8)
    for j in range(d):
        table = total[j]
        for first in range(0, count, most):
            rows = min(most, count - first)
            column = flat[starts[j] + first : starts[j] + first + rows]
            if few:
                for i in range(rows):
                    cells[i] = np.uint8(_cell(column[i], one[j], two[j], size - 1, shift) + 1)
                lines = -(-rows // LANES)
                cells[rows : lines * LANES] = np.uint8(0)
                count_lines(cells, lines, LANES, sums, total[j : j + 1])
                continue
            for i in range(rows):
                found[i] = _cell(column[i], one[j], two[j], size - 1, shift)
            for i in range(rows):
                here = found[np.uint64(i)]
                if here >= 0:
                    table[np.uint64(here)] += 1


@njit(nogil=True, cache=True)
def linear_histogram_rows(
    flat: Any, stride: int, count: int, places: Any, low: Any, per_unit: Any, total: Any
) -> None:
    _rows(flat, stride, count, places, low, per_unit, None, total)


@njit(nogil=True, cache=True)
def linear_histogram_columns(
    flat: Any, starts: Any, count: int, low: Any, per_unit: Any, total: Any
) -> None:
    _columns(flat, starts, count, low, per_unit, None, total)


@njit(nogil=True, cache=True)
def magnitude_histogram_rows(
    flat: Any,
    stride: int,
    count: int,
    places: Any,
    center: Any,
    start: Any,
    shift: int,
    total: Any,
) -> None:
    _rows(flat, stride, count, places, center, start, shift, total)


@njit(nogil=True, cache=True)
def magnitude_histogram_columns(
    flat: Any, starts: Any, count: int, center: Any, start: Any, shift: int, total: Any
) -> None:
    _columns(flat, starts, count, center, start, shift, total)


@njit(nogil=True, cache=True)
def pooled_histogram_rows(
    flat: Any,
    stride: int,
    count: int,
    places: Any,
    center: Any,
    first: Any,
    shift: int,
    total: Any,
) -> None:
    d, most = center.size, LINES * LANES
    rows = _rows_in_line(d, stride, places)
    length, end = rows * d, flat.size if places.size else (count - 1) * stride + d
    centers, firsts = repeated(center, length), repeated(first, length)
    found = np.empty(max(most, length), dtype=np.int32)
    filled = 0
    for line in range(0, count, rows):
        if filled + length > found.size:
            _count_together(found[:filled], total)
            filled = 0
        at = begin_of(places, stride, line)
        after = begin_of(places, stride, min(line + rows, count - 1))
        stop = min(length, end - at)
        for start in range(0, stop, AHEAD):
            soon(flat, after + start, AHEAD)
            values = flat[at + start : min(at + start + AHEAD, at + stop)]
            some, lows = centers[start : start + AHEAD], firsts[start : start + AHEAD]
            out = found[filled + start : filled + start + values.size]
            for j in range(values.size):
                out[j] = _cell(values[j], some[j], lows[j], total.size - 1, shift)
        filled += stop
    _count_together(found[:filled], total)


@njit(nogil=True, cache=True)
def pooled_histogram_columns(
    flat: Any, starts: Any, count: int, center: Any, first: Any, shift: int, total: Any
) -> None:
    most = LINES * LANES
    found = np.empty(min(count, most), dtype=np.int32)
    for j in range(center.size):
        for start in range(0, count, most):
            rows = min(most, count - start)
            column = flat[starts[j] + start : starts[j] + start + rows]
            for i in range(rows):
                found[i] = _cell(column[i], center[j], first[j], total.size - 1, shift)
            _count_together(found[:rows], total)


@njit(nogil=True)
def _count_together(found: Any, total: Any) -> None:
    """Count cells, -1 for none: by bytes, if they are close to each other.

    So many at a time as make up `LINES` lines.
    """
    most = LINES * LANES
    for start in range(0, found.size, most):
        _count_some(found[start : start + most], total)


@njit(nogil=True)
def _count_some(found: Any, total: Any) -> None:
    low, top = np.int32(total.size), np.int32(-1)
    for place in range(found.size):
        low, top = min(low, found[place]), max(top, found[place])
    if top - low >= 3 * _FEW:
        # Neighboring values often share a cell: two tables take turns, and do not wait.
        tables = np.zeros((2, total.size + 1), np.int64)
        for place in range(found.size):
            tables[place & 1, found[place] + 1] += 1
        for k in range(total.size):
            total[k] += tables[0, k + 1] + tables[1, k + 1]
        return
    lines = -(-found.size // LANES)
    cells = np.zeros(-(-lines // AT_ONCE) * AT_ONCE * LANES, np.uint8)
    for place in range(found.size):
        cells[place] = np.uint8(found[place] - low + 1)
    sums, counts = np.zeros((3 * _FEW + 5) * LANES, np.uint8), np.zeros((1, 3 * _FEW), np.int64)
    count_lines(cells, lines, LANES, sums, counts)
    for k in range(top - low + 1):
        if low + k >= 0:
            total[low + k] += counts[0, k]
