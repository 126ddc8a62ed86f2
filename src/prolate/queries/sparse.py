"""The sums of queries over `SparseRows`, at the cost of the stored entries.

Each gives the very integers that the dense rows would. An entry that is not stored holds
its column's `rest`, so what it adds is known once for all rows; a row adds how its stored
entries differ from that. Integers make that exact. A norm is a sum of floating-point
numbers, whose last bits depend on the order: it is only asked on which side of some edges
it lies, and where rounding could move it across one, it is summed again in the dense order.

Loops over entries are compiled; without numba these functions return None, and the query
reads dense rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prolate.sources.sparse_rows import SparseRows

__all__ = ["clipped_sum", "farthest", "norms", "tally"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def tally(
    rows: SparseRows,
    cells: Callable[[Floats, Integers], Integers],
    total: Integers,
    histograms: Integers | None = None,
) -> None:
    """Count all finite values into `total`, (K, cells).

    Parameters
    ----------
    rows : SparseRows
    cells : callable
        From values and their columns to the numbers of their cells.
    total : int64 array of shape (K, cells)
    histograms : integer array of shape (d,), optional
        Which histogram a column is counted into, -1 for none. By default its own.
    """
    for columns, values, count in rows.counted():
        counted = np.isfinite(values) & (count > 0)
        place = columns if histograms is None else histograms[columns]
        counted &= place >= 0
        cell = cells(values[counted], columns[counted])
        np.add.at(total, (place[counted], cell), count[counted])


def clipped_sum(
    rows: SparseRows,
    steps: Callable[[Floats, Integers], Floats],
    radius: float,
    middle: float,
    half: float,
    total: Integers,
) -> bool:
    """Add `kernels.clipped_sum` of the rows, given what a value of a column is in steps.

    The sum of squares of a row is one of integers below 2**48, cut off at 2**53: it is the
    smaller of that and the exact sum, whatever the order, since once a partial sum has
    reached the cut the sum stays there, and below it each is exact. Here it is kept exactly,
    in two integers, so that it may also fall.
    """
    module = _compiled()
    if module is None:
        return False
    floats, rest_floats = rows.evaluate(steps)
    rest = rest_floats.astype(np.int64)
    squares = rest * rest
    square = (int(np.sum(squares >> 24)) << 24) + int(np.sum(squares & ((1 << 24) - 1)))
    integers, here = floats.astype(np.int64), rows.pair_column
    factors = np.empty(rows.shape[0])
    used = module.clipped_sum(
        rows.starts,
        rows.columns,
        rows.pairs,
        floats,
        integers - rest[here],
        integers * integers - squares[here],
        rest_floats,
        *divmod(square, 1 << 48),
        radius,
        middle,
        half,
        total,
        factors,
    )
    total += rest * (factors.size - used)
    if used and squares.any():
        # Rounding to the nearest is odd, and many columns' steps are the same but for the sign.
        steps_of_some, place = np.unique(np.abs(rest_floats), return_inverse=True)
        sums = module.rounded_sums(steps_of_some, factors[:used]).astype(np.int64)
        total += np.sign(rest) * sums[place]
    return True


def norms(
    rows: SparseRows, about: Floats, center: Floats, gain: Floats, edges: Floats | None = None
) -> Floats | None:
    """Return `kernels.norms` of the rows, exactly or up to rounding that no edge can tell.

    Q is the exact sum of a row's squares q_j (the same floating-point numbers here and
    there), B that of the common row, u = 2**-53. The dense sum differs from Q by at most
    about d u Q. The sum of B and of the row's k differences, whose magnitudes sum up within
    B + Q, differs from Q by at most (d + k + 2) u (2 B + Q). So both lie within
    2 (d + k + 4) u (2 B + Q) of each other; twice that is taken. Where an edge is so near,
    the row is summed again, as a dense one: in the order of its columns, between stored
    ones the squares of the common row, unless they are too small to change the sum.

    Parameters
    ----------
    rows : SparseRows
    about, center, gain : float64 arrays of shape (d,)
        As for `kernels.norms`.
    edges : float64 array, optional
        Rising. By default every norm is exact.
    """
    module = _compiled()
    if module is None:
        return None

    def square(values: Floats, columns: Integers) -> Floats:
        squared = ~np.isnan(about[columns])
        moved = np.where(squared, (values - about[columns]) * (values - about[columns]), values)
        y = (moved - center[columns]) * gain[columns]
        return np.where(np.isfinite(values), y * y, 0.0)

    squares, rest = rows.evaluate(square)
    before = np.concatenate([[0.0], np.cumsum(rest)])
    found: Floats = module.norms(
        rows.starts,
        rows.columns,
        rows.pairs,
        squares,
        squares - rest[rows.pair_column],
        rest,
        before,
        np.zeros(0) if edges is None else edges,
        edges is None or before[-1] == 0.0,
    )
    return found


def farthest(rows: SparseRows, center: Floats, gain: Floats) -> Floats | None:
    """Return each row's largest |(x_j - center_j) gain_j|; values not finite count as 0."""
    module = _compiled()
    if module is None:
        return None

    def deviation(values: Floats, columns: Integers) -> Floats:
        far = np.abs((values - center[columns]) * gain[columns])
        return np.where(np.isfinite(values) & ~np.isnan(far), far, 0.0)

    values, rest = rows.evaluate(deviation)
    descending = np.argsort(-rest)
    found: Floats = module.farthest(rows.starts, rows.columns, rows.pairs, values, rest, descending)
    return found


@cache
def _compiled() -> Any | None:
    """Return the compiled loops, or None where numba is not installed."""
    try:
        from prolate.queries import _compiled_sparse as module
    except (ImportError, RuntimeError):  # not installed, or no folder for its cache
        return None
    return module
