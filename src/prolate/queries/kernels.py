"""The loops over rows: compiled by numba, or in plain NumPy for little work or without numba.

Each kernel has two versions under one name, in one of the `_compiled` modules and in `twins`;
tests hold one against the other. Both give the same integers: every operation on a value is a
correctly rounded one in double precision, in the same order, and sums are either exact or taken
column by column.

Kernels marked *any layout* take rows of either precision, with the values of a row or of a
column side by side, whatever lies between: no copy is made. The others take double
precision in C order. Some rows of a block in C order (`ChosenRows`) are read where they lie by
loops over rows, which are given their places; and columns that each have memory of their own
(`ColumnsInPlace`) by loops over columns, which are given where each one begins.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Floats, Integers, fixed
from prolate.compiled import WORK, forgiving
from prolate.queries import twins
from prolate.sources.chosen import ChosenRows
from prolate.sources.columns_in_place import ColumnsInPlace

__all__ = [
    "clipped_steps",
    "clipped_sum",
    "cut",
    "edge_histogram",
    "farthest",
    "linear_histogram",
    "magnitude_histogram",
    "norm_cells",
    "norms",
    "pooled_histogram",
    "products",
    "turn",
]

Rows = Floats | NDArray[np.float32] | ChosenRows | ColumnsInPlace

_HERE = Path(__file__).parent
_IN_ORDER: Integers = np.empty(0, np.int64)  # places of all rows of a block
_COSTLY = 4  # values of a plain sum, in the time that NumPy takes longer for one of the others


def clipped_sum(
    rows: Rows,
    center: Floats | None,
    gain: Floats,
    lower: Floats | None,
    upper: Floats | None,
    about: Floats | None,
    missing: Floats,
    radius: float,
    middle: float,
    half: float,
    total: Integers,
) -> None:
    """Add every row's vector to `total`; any layout. See `ClippedSum`.

    With `half` > 0, rows are weighted by S, from `middle` - `half` to `middle` + `half`.
    `lower` and `upper` go together. Without a center, only what is beyond them counts.
    """
    vectors = (center, gain, lower, upper, about, missing)
    cost = 1 if about is None else _COSTLY
    _lines("clipped_sum", rows, *vectors, radius, middle, half, out=(total,), cost=cost)


def norms(
    rows: Rows,
    center: Floats,
    gain: Floats,
    lower: Floats | None = None,
    upper: Floats | None = None,
    about: Floats | None = None,
) -> Floats:
    """Return |(v - center) * gain|_2 of each row; any layout. See `NormHistogram`."""
    found: Floats = _lines("norms", rows, center, gain, lower, upper, about)
    return found


def norm_cells(
    rows: Rows,
    center: Floats,
    gain: Floats,
    edges: Floats,
    lower: Floats | None = None,
    upper: Floats | None = None,
    about: Floats | None = None,
) -> Integers:
    """Return how many of the rising `edges` each row's norm reaches; any layout."""
    found: Integers = _lines("norm_cells", rows, center, gain, edges, lower, upper, about)
    unsure = np.flatnonzero(found < 0)
    if unsure.size:
        lengths = norms(_some(rows, unsure), center, gain, lower, upper, about)
        found[unsure] = np.searchsorted(edges, lengths, side="right")
    return found


def farthest(
    rows: Rows,
    center: Floats,
    gain: Floats,
    lower: Floats | None = None,
    upper: Floats | None = None,
) -> tuple[Floats, Integers]:
    """Return each row's largest |(x - center) gain| and the first column that has it; any layout.

    A value that is not finite is at its center.
    """
    found: tuple[Floats, Integers] = _lines("farthest", rows, center, gain, lower, upper)
    return found


def linear_histogram(rows: Rows, low: Floats, per_unit: Floats, total: Integers) -> None:
    """Count each column's values into `total`, (d, cells + 2); any layout. See `LinearGrid`."""
    _lines("linear_histogram", rows, low, per_unit, out=(total,))


def magnitude_histogram(
    rows: Rows, center: Floats, first: Integers, shift: int, total: Integers
) -> None:
    """Count each column's |x - center| into `total`, (d, cells); any layout.

    See `MagnitudeGrid`.
    """
    _lines("magnitude_histogram", rows, center, first, shift, out=(total,))


def pooled_histogram(
    rows: Rows, center: Floats, first: Integers, shift: int, total: Integers
) -> None:
    """Count |x - center| of all columns by bit pattern into `total`, (cells,); any layout."""
    _lines("pooled_histogram", rows, center, first, shift, out=(total,))


def edge_histogram(rows: Rows, edge: Floats, index: Integers, total: Integers) -> None:
    """Count the values of the columns `index` into `total`, (size, edges + 1). See `EdgesGrid`.

    Rows in any layout; the columns may come several times, and must be there.
    """
    _lines("edge_histogram", rows, edge, index, out=(total,))


def clipped_steps(
    rows: Floats,
    lower: Floats,
    upper: Floats,
    center: Floats,
    gain: Floats,
    constant: float,
    radius: float,
    cap: float,
    target: float,
    steps: Floats,
    factors: Floats,
) -> None:
    """Write every row's clipped integer vector into `steps`, and its factor; see `Gram`."""
    numbers = (constant, radius, cap, target)
    _rows("clipped_steps", rows, lower, upper, center, gain, *numbers, out=(steps, factors))


def cut(rows: Floats, lower: Floats, upper: Floats) -> Floats:
    """Return the rows with finite values cut to [lower_j, upper_j]; see `Cut`."""
    found: Floats = _rows("cut", rows, lower, upper)
    return found


def turn(rows: Floats, center: Floats, matrix: Floats) -> Floats:
    """Return (x - center) @ matrix of each row, missing values counting as the center."""
    found: Floats = _rows("turn", rows, center, matrix)
    return found


def products(rows: Floats, center: Floats, scale: Floats) -> Floats:
    """Return the products of the scaled columns of each row; see `Products`."""
    found: Floats = _rows("products", rows, center, scale)
    return found


def _lines(
    name: str, rows: Rows, *given: Any, out: tuple[Any, ...] = (), cost: int = _COSTLY
) -> Any:
    """Return what the loop `name` says of rows of any layout; `out` is written."""
    if isinstance(rows, ColumnsInPlace) and rows.index is not None:
        rows = rows.copied()
    block: Any = rows.block if isinstance(rows, ChosenRows) else rows
    work = cost * rows.size
    by_row = not isinstance(block, ColumnsInPlace) and _across(block)
    kernel = _compiled(f"{name}_rows" if by_row else f"{name}_columns", work)
    if kernel is not None:
        where: tuple[Any, ...] = (*(_flat(block) if by_row else _columns(block)), rows.shape[0])
        if by_row:
            where += (fixed(rows.index if isinstance(rows, ChosenRows) else _IN_ORDER),)
        with WORK.or_numpy(work):
            return kernel(*where, *map(fixed, given), *out)
    return getattr(twins, name)(np.asarray(rows, dtype=np.float64), *given, *out)


def _rows(name: str, rows: Floats, *given: Any, out: tuple[Any, ...] = ()) -> Any:
    """Return what the loop `name` says of rows in C order; `out` is written."""
    work = _COSTLY * rows.size
    kernel = _compiled(name, work)
    if kernel is not None:
        with WORK.or_numpy(work):
            return kernel(fixed(rows), *map(fixed, given), *out)
    return getattr(twins, name)(rows, *given, *out)


def _some(rows: Rows, places: Integers) -> Rows:
    if isinstance(rows, ChosenRows):
        return ChosenRows(rows.block, rows.index[places])
    if isinstance(rows, ColumnsInPlace):
        return rows.at(places if rows.index is None else rows.index[places])
    return rows[places]


def _across(rows: Floats) -> bool:
    """Return whether the values of each row lie side by side; else those of each column do."""
    down, across = (stride == rows.itemsize for stride in rows.strides)
    return not down if rows.shape[1] == 1 else across


def _columns(rows: Floats | ColumnsInPlace) -> tuple[Floats, Integers]:
    """Return memory, and where in it each column begins."""
    if isinstance(rows, ColumnsInPlace):
        flat, starts = rows.memory()
    else:
        flat, stride = _flat(rows.T)
        starts = stride * np.arange(rows.shape[1])
    return fixed(flat), fixed(starts)


def _flat(lines: Floats) -> tuple[Floats, int]:
    """Return the memory from the first value to the last, and the step between its lines."""
    count, length = lines.shape
    stride = lines.strides[0] // lines.itemsize if count > 1 else length
    if stride == length or lines.size == 0:
        return fixed(lines.reshape(-1)), stride
    size = (count - 1) * stride + length
    return fixed(np.lib.stride_tricks.as_strided(lines, (size,), (lines.itemsize,))), stride


def _compiled(name: str, work: int) -> Callable[..., Any] | None:
    """Return the compiled kernel `name`, or None where NumPy is to do so much work."""
    return _loaded(name) if WORK.is_enough(work, _HERE) else None


@cache
def _loaded(name: str) -> Callable[..., Any] | None:
    """Return the compiled kernel `name`, or None where numba is not there or compiles nothing."""
    try:
        from prolate.queries import (
            _compiled,
            _compiled_edges,
            _compiled_histograms,
            _compiled_lengths,
            _compiled_sums,
        )
    except (ImportError, RuntimeError):  # not installed, or no folder for its cache
        return None
    modules = (
        _compiled,
        _compiled_edges,
        _compiled_histograms,
        _compiled_lengths,
        _compiled_sums,
    )
    module = forgiving(next(module for module in modules if name in module.__all__))
    kernel: Callable[..., Any] | None = getattr(module, name, None)
    return kernel
