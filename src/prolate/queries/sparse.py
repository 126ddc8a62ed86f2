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
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.compiled import WORK, forgiving
from prolate.parallel import in_threads
from prolate.queries import twins
from prolate.sources.sparse_rows import Entries, SparseRows
from prolate.sources.threads import threads_for

__all__ = ["clipped_sum", "farthest", "farthest_cells", "norm_cells", "norms", "selected", "tally"]

Answer = TypeVar("Answer")

_EFFORT = 4  # what an entry takes, in values of dense rows


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


def selected(rows: SparseRows, index: Integers) -> SparseRows | None:
    """Return the same rows of some columns, their numbers rising."""
    module = _compiled()
    if module is None:
        return None
    return rows.some(index, lambda: _some_columns(rows, index, module))


def _some_columns(rows: SparseRows, index: Integers, module: Any) -> SparseRows:
    place = np.full(rows.rest.size, -1)
    place[index] = np.arange(index.size)
    chosen = np.flatnonzero(place[rows.pair_column] >= 0)
    pair_place = np.full(rows.pair_column.size, -1)
    pair_place[chosen] = np.arange(chosen.size)

    @cache
    def entries() -> Entries:
        before = rows.entries()
        counts = _in_parts(rows, lambda *part: module.selected_counts(*part[:2], place))
        starts = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
        columns = places(before, before.columns, place, starts)
        if before.pairs is before.columns and np.array_equal(place, pair_place):
            return Entries(starts, columns, columns)
        return Entries(starts, columns, places(before, before.pairs, pair_place, starts))

    def places(before: Entries, numbers: Integers, place: Integers, starts: Integers) -> Integers:
        found = np.empty(starts[-1], numbers.dtype)

        def part(old: Integers, _columns: Integers, _pairs: Integers) -> None:
            first, last = starts[np.searchsorted(before.starts, old[[0, -1]])]
            module.selected(old, numbers, place, found[first:last])

        _in_parts(rows, part)
        return found

    return SparseRows(
        count=rows.count,
        entries=entries,
        pair_column=place[rows.pair_column[chosen]],
        pair_value=rows.pair_value[chosen],
        pair_count=rows.pair_count[chosen],
        rest=rows.rest[index],
        rest_count=rows.rest_count[index],
    )


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
    more, square_more = integers - rest[here], integers * integers - squares[here]

    # Rounding to the nearest is odd, and many columns' steps are the same but for the sign.
    common = np.flatnonzero(rest)
    of_common, place = np.unique(np.abs(rest_floats[common]), return_inverse=True)
    sign = np.sign(rest[common])

    def part(starts: Integers, columns: Integers, pairs: Integers) -> Integers:
        found = np.zeros(total.size, dtype=np.int64)
        of_rows = module.squares(starts, pairs, square_more, *divmod(square, 1 << 48))
        factors = twins.clip_factors(of_rows, rest.size, radius, middle, half)
        module.add_rows(starts, columns, pairs, floats, more, rest_floats, factors, found)
        found += rest * np.count_nonzero(factors == 1.0)
        factors = factors[(factors != 0.0) & (factors != 1.0)]
        if factors.size:
            found[common] += sign * module.rounded_sums(of_common, factors)[place]
        return found

    for each in _in_parts(rows, part):
        total += each
    return True


def norms(rows: SparseRows, about: Floats, center: Floats, gain: Floats) -> Floats | None:
    """Return `kernels.norms` of the rows, `about` being NaN where no value is moved.

    A row is summed in the order of its columns, between stored ones the squares of the common
    row, unless they are too small to change the sum.
    """
    module = _compiled()
    if module is None:
        return None
    squares, rest = _squares(rows, about, center, gain)
    before = np.concatenate([[0.0], np.cumsum(rest)])

    def part(starts: Integers, columns: Integers, pairs: Integers) -> Floats:
        found: Floats = module.norms(starts, columns, pairs, squares, rest, before, rest.max())
        return found

    return np.concatenate(_in_parts(rows, part))


def norm_cells(
    rows: SparseRows, about: Floats, center: Floats, gain: Floats, edges: Floats
) -> Integers | None:
    """Return how many of the rising `edges` each row's norm reaches.

    Q is the exact sum of a row's squares q_j (the same floating-point numbers here and
    there), B that of the common row, u = 2**-53. The dense sum differs from Q by at most
    about d u Q. The sum of B and of the row's k differences, whose magnitudes sum up within
    B + Q, differs from Q by at most (d + k + 2) u (2 B + Q), in any order. So both lie within
    2 (d + k + 4) u (2 B + Q) of each other; twice that is taken, which covers the roundings of
    an edge's square and of a root, too. Where an edge's square is so near, the row is summed
    again, in the order of its columns.
    """
    module = _compiled()
    if module is None:
        return None
    squares, rest = _squares(rows, about, center, gain)
    before = np.concatenate([[0.0], np.cumsum(rest)])
    more = squares - rest[rows.pair_column]

    def part(starts: Integers, columns: Integers, pairs: Integers) -> Integers:
        found: Integers = module.norm_cells(
            starts, columns, pairs, squares, more, rest, before, rest.max(), edges
        )
        return found

    return np.concatenate(_in_parts(rows, part))


def _squares(
    rows: SparseRows, about: Floats, center: Floats, gain: Floats
) -> tuple[Floats, Floats]:
    """Return what the pairs, and values that are not stored, add to the square of a norm."""

    def square(values: Floats, columns: Integers) -> Floats:
        squared = ~np.isnan(about[columns])
        moved = np.where(squared, (values - about[columns]) * (values - about[columns]), values)
        y = (moved - center[columns]) * gain[columns]
        return np.where(np.isfinite(values), y * y, 0.0)

    return rows.evaluate(square)


def farthest(rows: SparseRows, center: Floats, gain: Floats) -> tuple[Floats, Integers] | None:
    """Return each row's largest |(x_j - center_j) gain_j|, and the first column that has it.

    A value that is not finite is at its center.
    """
    module = _compiled()
    if module is None:
        return None
    distances, which = zip(*_farthest(rows, center, gain, module.farthest), strict=True)
    return np.concatenate(distances), np.concatenate(which)


def farthest_cells(
    rows: SparseRows, center: Floats, gain: Floats, edges: Floats
) -> Integers | None:
    """Return how many of the rising `edges` the first of these reaches."""
    module = _compiled()
    if module is None:
        return None
    return np.concatenate(_farthest(rows, center, gain, module.farthest_cells, edges))


def _farthest(
    rows: SparseRows, center: Floats, gain: Floats, loop: Callable[..., Answer], *more: Floats
) -> list[Answer]:
    """Return what a loop says of parts of the rows, given how far values and the rest are."""

    def deviation(values: Floats, columns: Integers) -> Floats:
        far = np.abs((values - center[columns]) * gain[columns])
        return np.where(np.isfinite(values) & ~np.isnan(far), far, 0.0)

    values, rest = rows.evaluate(deviation)
    descending = np.argsort(-rest, kind="stable")  # of equals the first column is the first
    return _in_parts(rows, lambda *part: loop(*part, values, rest, descending, *more))


def _in_parts(
    rows: SparseRows, ask: Callable[[Integers, Integers, Integers], Answer]
) -> list[Answer]:
    """Return what `ask` says of the starts, columns and pairs of one stretch of rows per thread."""
    entries = rows.entries()
    WORK.is_enough(entries.columns.size)  # counts: these loops are compiled in any case
    starts, columns, pairs = entries.starts, entries.columns, entries.pairs
    threads = threads_for(_EFFORT * columns.size)
    if threads == 1:
        return [ask(starts, columns, pairs)]
    cuts = np.searchsorted(starts, np.linspace(0, columns.size, threads + 1)[1:-1])
    ends = [0, *cuts.tolist(), starts.size - 1]
    stretches = [starts[a : b + 1] for a, b in pairwise(ends)]
    return in_threads(lambda some: ask(some, columns, pairs), stretches, threads)


@cache
def _compiled() -> Any | None:
    """Return the compiled loops, or None where numba is not there or compiles nothing."""
    try:
        from prolate.queries import _compiled_sparse as module
    except (ImportError, RuntimeError):  # not installed, or no folder for its cache
        return None
    return forgiving(module, at_once=True)  # there is nothing else for entries
