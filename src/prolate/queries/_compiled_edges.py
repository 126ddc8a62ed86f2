"""Which of rising edges a number reaches, for numba. No fast-math.

Searching some thirty edges takes ten steps that wait for each other. A number's leading bits
say the same but for one step, or none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["look_up", "reached"]

_LARGEST = float(np.finfo(np.float64).max)
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
