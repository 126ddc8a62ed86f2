"""Counts of bytes, many columns at a time, for the loops that numba compiles.

Where cells are few, values are counted `LANES` columns at a time, without tables. A cell is
a byte, 0 for no cell and k for cell k - 1, and in each column the sum over rows of min(byte, k)
less that of min(byte, k - 1) is the number of rows in cell k - 1 or above. It is less than 256,
so bytes are enough for the sums, which may overflow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["AT_ONCE", "LANES", "LINES", "count_lines"]

LANES = 64
"""Bytes of a line."""

LINES = 248
"""Lines that are counted at a time: a multiple of 8, below 256."""

AT_ONCE = 8
"""Lines that are added up at once."""


@njit(nogil=True)
def _least(cells: Any, lane: int, k: Any) -> Any:
    """Return the sum of min(byte, k) over lines, modulo 256."""
    total = np.uint8(0)
    for line in range(AT_ONCE):
        byte = cells[line * LANES + lane]
        total = np.uint8(total + min(byte, k))
    return total


@njit(nogil=True)
def count_lines(found: Any, lines: int, columns: int, sums: Any, total: Any) -> None:
    """Count lines of bytes into `total`; lane j belongs to column j modulo its length."""
    full = -(-lines // AT_ONCE) * AT_ONCE
    found[lines * LANES : full * LANES] = np.uint8(0)
    largest = np.uint8(0)
    for place in range(full * LANES):
        largest = max(largest, found[place])
    last = np.int64(largest)  # the cells above are empty
    if last == 0:
        return
    for k in range(1, last + 2, 4):
        a, b, c, e = np.uint8(k), np.uint8(k + 1), np.uint8(k + 2), np.uint8(k + 3)
        here = sums[k * LANES : (k + 4) * LANES]
        here[:] = np.uint8(0)
        for line in range(0, full, AT_ONCE):
            cells = found[line * LANES : (line + AT_ONCE) * LANES]
            for j in range(LANES):
                two, three, four = j + LANES, j + 2 * LANES, j + 3 * LANES
                here[j] = np.uint8(here[j] + _least(cells, j, a))
                here[two] = np.uint8(here[two] + _least(cells, j, b))
                here[three] = np.uint8(here[three] + _least(cells, j, c))
                here[four] = np.uint8(here[four] + _least(cells, j, e))
    for k in range(1, last + 1):
        before, here = sums[(k - 1) * LANES : k * LANES], sums[k * LANES : (k + 1) * LANES]
        after = sums[(k + 1) * LANES : (k + 2) * LANES]
        for j in range(LANES):  # a sum is not needed any more: its place takes the count
            before[j] = np.uint8(np.uint8(here[j] - before[j]) - np.uint8(after[j] - here[j]))
    for j in range(columns):
        table = total[j % len(total)]
        for k in range(last):
            table[k] += sums[k * LANES + j]
    sums[:LANES] = np.uint8(0)
