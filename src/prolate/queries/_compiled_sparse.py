"""The loops of `prolate.queries.sparse`, for numba; imported on first use. No fast-math."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from prolate.queries._compiled_edges import look_up, reached
from prolate.queries.doubles import DOUBT, EXACT, LARGEST

__all__ = [
    "add_rows",
    "farthest",
    "farthest_cells",
    "norm_cells",
    "norms",
    "rounded_sums",
    "selected",
    "selected_counts",
    "squares",
]

_PART = 1 << 13  # squares below 2**48 that sum within 2**61
_BITS = 48
_MASK = (1 << _BITS) - 1
_BITS_OF_ROW = 62
_ROUND = 1.5 * EXACT / 2.0  # adding it rounds smaller numbers to the nearest integer
_COLUMNS = 512  # columns at a time, in the first-level cache
_ROWS = 1 << 28  # rows at a time: their steps, up to 2**24 each, are exact in a float


@njit(nogil=True, cache=True)
def selected_counts(starts: Any, columns: Any, place: Any) -> Any:
    """Return how many entries of each row are in columns that have a place >= 0."""
    counts = np.empty(starts.size - 1, np.int64)
    for i in range(counts.size):
        count = 0
        for k in range(starts[i], starts[i + 1]):
            count += place[np.uint64(columns[np.uint64(k)])] >= 0  # unsigned: not from the end
        counts[i] = count
    return counts


@njit(nogil=True, cache=True)
def selected(starts: Any, numbers: Any, place: Any, out: Any) -> None:
    """Set `out` to the places of the entries' numbers that have one, as many as there are."""
    last = 0
    for k in range(starts[0], starts[-1]):
        if last == out.size:
            break
        here = place[np.uint64(numbers[np.uint64(k)])]
        out[np.uint64(last)] = here  # until one is to be kept: branches, nobody could foresee
        last += here >= 0


@njit(nogil=True, cache=True)
def squares(starts: Any, pairs: Any, more: Any, high: int, low: int) -> Any:
    """Return each row's exact sum of squares, cut off at 2**53.

    That of the common row is high * 2**48 + low, and `more` is what pairs differ from it.
    """
    out = np.empty(starts.size - 1)
    for i in range(out.size):
        above, below = high, low
        for start in range(starts[i], starts[i + 1], _PART):
            part = 0
            for k in range(start, min(start + _PART, starts[i + 1])):
                part += more[np.uint64(pairs[np.uint64(k)])]  # unsigned: not from the end
            below += part
            above += below >> _BITS
            below &= _MASK
        out[i] = float((above << _BITS) + below) if above < 32 else EXACT
    return out


@njit(nogil=True, cache=True)
def add_rows(
    starts: Any,
    columns: Any,
    pairs: Any,
    steps: Any,
    more: Any,
    rest: Any,
    factors: Any,
    total: Any,
) -> None:
    """Add what stored entries differ from the rest, by `more`; times factors, both rounded."""
    for i in range(factors.size):
        factor = factors[i]
        if factor == 0.0:
            continue
        if factor == 1.0:
            for k in range(starts[i], starts[i + 1]):
                here = np.uint64(k)
                total[np.uint64(columns[here])] += more[np.uint64(pairs[here])]
            continue
        for k in range(starts[i], starts[i + 1]):
            here = np.uint64(k)
            j = np.uint64(columns[here])
            step = np.rint(steps[np.uint64(pairs[here])] * factor) - np.rint(rest[j] * factor)
            total[j] += np.int64(step)


@njit(nogil=True, cache=True)
def rounded_sums(rest: Any, factors: Any) -> Any:
    """Return the sum of rint(rest_j * factor) over the factors, in [-1, 1], for each j.

    Exact for any number of rows. A step rest_j is an integer within +-2**24 (`CAP`), so what a
    row adds is, too, and floats add up `_ROWS` of them exactly, within 2**52. These sums are
    added as integers, modulo 2**64: so whatever is in between, the query's total is right as
    soon as it fits 64 bits itself.
    """
    total = np.zeros(rest.size, np.int64)
    for first in range(0, factors.size, _ROWS):
        rows = factors[first : first + _ROWS]
        for start in range(0, rest.size, _COLUMNS):
            some = rest[start : start + _COLUMNS]
            sums = np.zeros(some.size)
            for i in range(rows.size):
                factor = rows[i]
                for j in range(some.size):
                    sums[j] += (some[j] * factor + _ROUND) - _ROUND
            for j in range(some.size):
                total[start + j] += np.int64(sums[j])
    return total


@njit(nogil=True, cache=True)
def norms(
    starts: Any, columns: Any, pairs: Any, squares: Any, rest: Any, before: Any, most: float
) -> Any:
    """Return each row's norm, exactly; see `prolate.queries.sparse.norms`."""
    out = np.empty(starts.size - 1)
    for i in range(out.size):
        square = _in_order(starts[i], starts[i + 1], columns, pairs, squares, rest, before, most)
        out[i] = min(np.sqrt(square), LARGEST)
    return out


@njit(nogil=True, cache=True)
def norm_cells(
    starts: Any,
    columns: Any,
    pairs: Any,
    squares: Any,
    more: Any,
    rest: Any,
    before: Any,
    most: float,
    edges: Any,
) -> Any:
    """Return how many edges each row's norm reaches; see `prolate.queries.sparse.norm_cells`."""
    out = np.empty(starts.size - 1, np.int64)
    base = before[rest.size]
    # A row's square is compared, which no root needs to be taken for.
    tables = look_up(edges * np.abs(edges))
    between = tables[0]
    for i in range(out.size):
        first, stop = starts[i], starts[i + 1]
        one = two = three = four = 0.0  # sums that do not wait for each other
        fours = first + (stop - first) // 4 * 4
        for k in range(first, fours, 4):
            here = np.uint64(k)  # unsigned: not from the end
            one += more[np.uint64(pairs[here])]
            two += more[np.uint64(pairs[here + np.uint64(1)])]
            three += more[np.uint64(pairs[here + np.uint64(2)])]
            four += more[np.uint64(pairs[here + np.uint64(3)])]
        for k in range(fours, stop):
            one += more[np.uint64(pairs[np.uint64(k)])]
        square = base + ((one + two) + (three + four))
        doubt = (rest.size + (stop - first) + 4) * DOUBT * (3.0 * base + abs(square))
        cell = reached(tables, square)
        if not (between[cell] < square - doubt and square + doubt < between[cell + 1]):
            square = _in_order(first, stop, columns, pairs, squares, rest, before, most)
            cell = np.searchsorted(edges, min(np.sqrt(square), LARGEST), "right")
        out[i] = cell
    return out


@njit
def _in_order(
    first: int,
    stop: int,
    columns: Any,
    pairs: Any,
    squares: Any,
    rest: Any,
    before: Any,
    most: float,
) -> float:
    """Return the sum of a row's squares, column by column, from stored entry to stored entry."""
    square, place = 0.0, 0
    for k in range(first, stop + 1):
        j = columns[k] if k < stop else rest.size
        if place == 0:
            square = before[j]
        elif most > square * 2.0**-54:  # else each is below half a unit in the last place
            for between in range(place, j):
                square += rest[between]
        if k < stop:
            square += squares[pairs[k]]
        place = j + 1
    return square


@njit(nogil=True)
def _first_missing(found: Any, size: int) -> int:
    """Return the first of `size` bits that is not set, `size` if all are."""
    place = 0
    while place < size and (found >> place) & 1:
        place += 1
    return place


@njit(nogil=True, cache=True)
def farthest_cells(
    starts: Any, columns: Any, pairs: Any, values: Any, rest: Any, descending: Any, edges: Any
) -> Any:
    """Return how many edges each row's largest value reaches, of those of `farthest`."""
    out = np.empty(starts.size - 1, np.int64)
    most, tables = rest[descending[0]], look_up(edges)
    for i in range(out.size):
        first, stop = starts[i], starts[i + 1]
        one = two = -1.0  # that do not wait for each other
        twos = first + (stop - first) // 2 * 2
        for k in range(first, twos, 2):
            here = np.uint64(k)  # unsigned: not from the end
            one = max(one, values[np.uint64(pairs[here])])
            two = max(two, values[np.uint64(pairs[here + np.uint64(1)])])
        if twos < stop:
            one = max(one, values[np.uint64(pairs[np.uint64(twos)])])
        largest = max(one, two)
        if largest < most:
            for place in range(rest.size):
                j = descending[place]
                if rest[j] <= largest or not _is_stored(columns, first, stop, j):
                    largest = max(largest, rest[j])
                    break
        out[i] = reached(tables, largest)
    return out


@njit(nogil=True)
def _is_stored(columns: Any, first: int, stop: int, column: int) -> bool:
    """Return whether a row's columns, which rise from `first` to before `stop`, have this one."""
    low, high = first, stop
    while low < high:
        middle = (low + high) // 2
        if columns[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low < stop and columns[low] == column


@njit(nogil=True, cache=True)
def farthest(starts: Any, columns: Any, pairs: Any, values: Any, rest: Any, descending: Any) -> Any:
    """Return each row's largest value, of `values` and of the rest where none is stored.

    And the first column that has it.
    """
    out, which = np.empty(starts.size - 1), np.empty(starts.size - 1, dtype=np.int64)
    stored = np.full(rest.size, -1)
    # Which of the columns with the largest rest are stored, a bit for each.
    first = min(_BITS_OF_ROW, rest.size)
    bits = np.zeros(rest.size, np.int64)
    for place in range(first):
        bits[descending[place]] = np.int64(1) << place
    for i in range(out.size):
        largest, column, found = -1.0, np.int64(0), np.int64(0)
        for k in range(starts[i], starts[i + 1]):
            value = values[np.uint64(pairs[np.uint64(k)])]
            j = np.int64(columns[np.uint64(k)])
            if value > largest or (value == largest and j < column):
                largest, column = value, j
            found |= bits[np.uint64(j)]
        place = _first_missing(found, first)
        if place == first and first < rest.size:
            for k in range(starts[i], starts[i + 1]):
                stored[columns[k]] = i
            while place < rest.size and stored[descending[place]] == i:
                place += 1
        if place < rest.size:
            j = np.int64(descending[place])
            if rest[j] > largest or (rest[j] == largest and j < column):
                largest, column = rest[j], j
        out[i], which[i] = largest, column
    return out, which
