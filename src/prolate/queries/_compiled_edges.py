"""Which of rising edges numbers reach, for numba. No fast-math.

Searching some thirty edges takes ten steps that wait for each other. A number's leading bits
say the same but for one step, or none. Of many numbers, those that reach an edge are counted
edge by edge, several numbers at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["edge_histogram_columns", "edge_histogram_rows", "look_up", "reached"]

_LARGEST = float(np.finfo(np.float64).max)
_AT_ONCE = 1 << 10  # numbers, which stay in the first-level cache while edges take turns
_CACHED = 1 << 12  # numbers, of rows that are read column by column
_FEWEST = 1 << 7
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
    value = min(value, _LARGEST)
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
def _count(values: Any, edge: Any, table: Any) -> None:
    """Count the values that are numbers into the cells between rising edges.

    From the edge in the middle in both directions, as far as there are values.
    """
    every, middle = _reaching(values, -np.inf), edge.size // 2
    here = _reaching(values, edge[middle]) if edge.size else every
    above, k = here, middle + 1
    while above > 0 and k < edge.size:
        beyond = _reaching(values, edge[k])
        table[k] += above - beyond
        above, k = beyond, k + 1
    table[edge.size] += above
    k = middle
    while here < every and k > 0:
        below = _reaching(values, edge[k - 1])
        table[k] += below - here
        here, k = below, k - 1
    table[0] += every - here


@njit(nogil=True, cache=True)
def edge_histogram_rows(flat: Any, stride: int, count: int, edge: Any, total: Any) -> None:
    d = edge.shape[0]
    most = max(_FEWEST, min(_AT_ONCE, _CACHED // d))
    values = np.empty(min(count, most))
    for first in range(0, count, most):
        some = values[: min(most, count - first)]
        for j in range(d):
            for i in range(some.size):
                some[i] = _finite(flat[(first + i) * stride + j])
            _count(some, edge[j], total[j])


@njit(nogil=True, cache=True)
def edge_histogram_columns(flat: Any, stride: int, count: int, edge: Any, total: Any) -> None:
    values = np.empty(min(count, _AT_ONCE))
    for j in range(edge.shape[0]):
        for first in range(0, count, _AT_ONCE):
            some = values[: min(_AT_ONCE, count - first)]
            for i in range(some.size):
                some[i] = _finite(flat[j * stride + first + i])
            _count(some, edge[j], total[j])
