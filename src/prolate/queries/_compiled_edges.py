"""Which of rising edges numbers reach, for numba. No fast-math.

Searching some thirty edges takes ten steps that wait for each other. A number's leading bits
say the same but for one step, or none. Of many numbers, those that reach an edge are counted
edge by edge, several numbers at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from prolate.queries._compiled_lanes import LANES
from prolate.queries._compiled_steps import begin_of
from prolate.queries.doubles import LARGEST

__all__ = ["edge_histogram_columns", "edge_histogram_rows", "look_up", "reached"]

_AT_ONCE = 1 << 11  # numbers, which stay in the first-level cache while edges take turns
_RATIO = 32  # of numbers to those between the first edge and the last, where these are few
_SHIFT = 49  # bits of a number that are left aside: eight parts are left of every octave


@njit(nogil=True)
def look_up(edges: Any) -> Any:
    """Return what `reached` needs of the edges.

    These between infinite ones; how many of them the smallest number with the same leading
    bits reaches; and which leading bits the table begins with, one place after its start.
    """
    between = np.full(edges.size + 2, np.inf)
    between[0] = -np.inf
    between[1:-1] = edges
    ends = np.zeros(2)
    if edges.size > 0:
        ends += np.array([max(edges[0], 0.0), max(edges[-1], 0.0)])  # -0 becomes 0
    lowest, highest = ends.view(np.int64) >> _SHIFT
    table = np.zeros(highest - lowest + 2, np.int64)
    smallest = (np.arange(lowest, highest + 1) << _SHIFT).view(np.float64)
    count = 0
    for place in range(smallest.size):
        while count < edges.size and edges[count] <= smallest[place]:
            count += 1
        table[place + 1] = count
    return between, table, lowest


@njit(nogil=True)
def reached(tables: Any, value: float) -> Any:
    """Return how many edges a number that is not negative reaches; if it is none, any."""
    between, table, lowest = tables
    value = min(value, LARGEST)
    place = (np.float64(value).view(np.int64) >> _SHIFT) - lowest + 1
    cell = np.uint64(table[np.uint64(min(max(place, 0), table.size - 1))])
    # One step without a branch, which could not be foreseen; hardly ever more.
    cell += np.uint64(between[cell + np.uint64(1)] <= value)  # unsigned: not from the end
    while between[cell + np.uint64(1)] <= value:
        cell += np.uint64(1)
    return np.int64(cell)


@njit(nogil=True)
def _finite(x: Any) -> Any:
    """Return a value, or no number if it is infinite."""
    return np.float64(x) + np.float64(x - x)


@njit(nogil=True)
def _reaching(values: Any, edge: Any) -> int:
    """Return how many values reach an edge."""
    reaching = 0
    for i in range(values.size):
        reaching += values[i] >= edge
    return reaching


@njit(nogil=True)
def _count(values: Any, edge: Any, table: Any, few: Any) -> None:
    """Count the values that are numbers into the cells between rising edges.

    Where those between the first edge and the last are few, they are put into `few`.
    """
    numbers, last = _reaching(values, -np.inf), edge.size
    if last == 0:
        table[0] += numbers
        return
    below, above = numbers - _reaching(values, edge[0]), _reaching(values, edge[last - 1])
    table[0] += below
    table[last] += above
    inside = numbers - below - above
    if _RATIO * inside < values.size:
        _put(values, edge[0], edge[last - 1], few)
        _count_inside(few[:inside], edge, 0, inside, table)
    else:
        _count_inside(values, edge, above, above + inside, table)


@njit(nogil=True)
def _put(values: Any, low: float, high: float, few: Any) -> None:
    """Put the values from `low` on and below `high` into `few`, and at most one more."""
    found = 0
    for start in range(0, values.size, LANES):
        some = values[start : start + LANES]
        here = 0
        for i in range(some.size):
            here += (some[i] >= low) & (some[i] < high)
        if here > 0:
            for i in range(some.size):  # without a branch, which could not be foreseen
                few[np.uint64(found)] = some[i]
                found += (some[i] >= low) & (some[i] < high)


@njit(nogil=True)
def _count_inside(values: Any, edge: Any, above: int, every: int, table: Any) -> None:
    """Count values between the first edge, which `every` reach, and the last, which `above` do.

    From the edge in the middle in both directions, as far as there are values.
    """
    middle = edge.size // 2
    here = _reaching(values, edge[middle])
    k, reaching = middle + 1, here
    while reaching > above:
        beyond = _reaching(values, edge[k])
        table[k] += reaching - beyond
        reaching, k = beyond, k + 1
    k = middle
    while here < every:
        below = _reaching(values, edge[k - 1])
        table[k] += below - here
        here, k = below, k - 1


@njit(nogil=True, cache=True)
def edge_histogram_rows(
    flat: Any, stride: int, count: int, places: Any, edge: Any, index: Any, total: Any
) -> None:
    values = np.empty(min(count, _AT_ONCE))
    few = np.empty(values.size // _RATIO + 2)
    for first in range(0, count, _AT_ONCE):
        some = values[: min(_AT_ONCE, count - first)]
        for j in range(index.size):
            if j == 0 or index[j] != index[j - 1]:
                for i in range(some.size):
                    begin = begin_of(places, stride, first + i)
                    some[i] = _finite(flat[begin + index[j]])
            _count(some, edge[j], total[j], few)


@njit(nogil=True, cache=True)
def edge_histogram_columns(
    flat: Any, starts: Any, count: int, edge: Any, index: Any, total: Any
) -> None:
    values = np.empty(min(count, _AT_ONCE))
    few = np.empty(values.size // _RATIO + 2)
    for first in range(0, count, _AT_ONCE):
        some = values[: min(_AT_ONCE, count - first)]
        for j in range(index.size):
            if j == 0 or index[j] != index[j - 1]:
                for i in range(some.size):
                    some[i] = _finite(flat[starts[index[j]] + first + i])
            _count(some, edge[j], total[j], few)
