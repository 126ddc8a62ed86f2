"""The loops over rows: compiled by numba, or in plain NumPy for little work or without numba.

Each kernel has two versions under one name, in `_compiled`, `_compiled_histograms` or
`_compiled_sums`, and in `twins`; tests hold one against the other. Both give the same
integers: every operation on a value is a correctly rounded one in double precision, in the
same order, and sums are either exact or taken column by column.

Kernels marked *any layout* take rows of either precision, with the values of a row or of a
column side by side, whatever lies between: no copy is made. The others take double
precision in C order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prolate.compiled import WORK, forgiving
from prolate.queries import twins

__all__ = [
    "clipped_steps",
    "clipped_sum",
    "cut",
    "farthest",
    "key_histogram",
    "linear_histogram",
    "magnitude_histogram",
    "norms",
    "pooled_histogram",
    "products",
    "turn",
]

Rows = NDArray[np.float64] | NDArray[np.float32]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def clipped_sum(
    rows: Rows,
    center: Floats,
    gain: Floats,
    lower: Floats | None,
    upper: Floats | None,
    about: Floats | None,
    missing: Floats,
    inner: float,
    outer: float,
    most: float,
    middle: float,
    half: float,
    total: Integers,
) -> None:
    """Add every row's vector to `total`; any layout. See `ClippedSum` and `NestedSum`.

    Rows are clipped to `inner` steps. With `most` > 0, what clipping to `outer` leaves on
    follows, of `most` steps at most. With `half` > 0, rows are weighted by S, from
    `middle` - `half` to `middle` + `half`. `lower` and `upper` go together.
    """
    by_row = _across(rows)
    kernel = _compiled("clipped_sum_rows" if by_row else "clipped_sum_columns", rows)
    vectors = (center, gain, lower, upper, about, missing)
    numbers = (inner, outer, most, middle, half)
    if kernel is None:
        twins.clipped_sum(_double(rows), *vectors, *numbers, total)
    else:
        flat, stride = _flat(rows, by_row)
        kernel(flat, stride, rows.shape[0], *map(_fixed, vectors), *numbers, total)


def norms(rows: Rows, center: Floats, gain: Floats, about: Floats | None) -> Floats:
    """Return |(v - center) * gain|_2 of each row; any layout. See `NormHistogram`."""
    by_row = _across(rows)
    kernel = _compiled("norms_rows" if by_row else "norms_columns", rows)
    if kernel is None:
        return twins.norms(_double(rows), center, gain, about)
    flat, stride = _flat(rows, by_row)
    found: Floats = kernel(flat, stride, rows.shape[0], _fixed(center), _fixed(gain), _fixed(about))
    return found


def farthest(rows: Rows, center: Floats, gain: Floats) -> tuple[Floats, Integers]:
    """Return each row's largest |(x - center) gain| and the first column that has it; any layout.

    A value that is not finite is at its center.
    """
    by_row = _across(rows)
    kernel = _compiled("farthest_rows" if by_row else "farthest_columns", rows)
    if kernel is None:
        return twins.farthest(_double(rows), center, gain)
    flat, stride = _flat(rows, by_row)
    found: tuple[Floats, Integers] = kernel(
        flat, stride, rows.shape[0], _fixed(center), _fixed(gain)
    )
    return found


def linear_histogram(rows: Rows, low: Floats, width: Floats, cells: int, total: Integers) -> None:
    """Count each column's values into `total`, (d, cells + 2); any layout. See `LinearGrid`."""
    by_row = _across(rows)
    kernel = _compiled("linear_histogram_rows" if by_row else "linear_histogram_columns", rows)
    if kernel is None:
        twins.linear_histogram(_double(rows), low, width, cells, total)
    else:
        flat, stride = _flat(rows, by_row)
        kernel(flat, stride, rows.shape[0], _fixed(low), _fixed(width), total)


def magnitude_histogram(
    rows: Rows, center: Floats, first: Integers, shift: int, total: Integers
) -> None:
    """Count each column's |x - center| into `total`, (d, cells); any layout.

    See `MagnitudeGrid`.
    """
    by_row = _across(rows)
    name = "magnitude_histogram_rows" if by_row else "magnitude_histogram_columns"
    kernel = _compiled(name, rows)
    if kernel is None:
        twins.magnitude_histogram(_double(rows), center, first, shift, total)
    else:
        flat, stride = _flat(rows, by_row)
        kernel(flat, stride, rows.shape[0], _fixed(center), _fixed(first), shift, total)


def pooled_histogram(
    rows: Floats, center: Floats, first: Integers, shift: int, total: Integers
) -> None:
    """Count |x - center| of all columns by bit pattern into `total`, (cells,)."""
    kernel = _compiled("pooled_histogram", rows) or twins.pooled_histogram
    kernel(rows, center, first, shift, total)


def key_histogram(
    rows: Floats, index: Integers, first: Integers, shift: int, total: Integers
) -> None:
    """Count the order-preserving keys of columns `index` into `total`; see `KeyHistogram`."""
    kernel = _compiled("key_histogram", rows) or twins.key_histogram
    kernel(rows, _fixed(index), _fixed(first), shift, total)


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
) -> None:
    """Write every row's clipped integer vector into `steps`; see `Gram`."""
    kernel = _compiled("clipped_steps", rows) or twins.clipped_steps
    kernel(rows, lower, upper, center, gain, constant, radius, cap, target, steps)


def cut(rows: Floats, lower: Floats, upper: Floats) -> Floats:
    """Return the rows with finite values cut to [lower_j, upper_j]; see `Cut`."""
    kernel: Callable[..., Floats] = _compiled("cut", rows) or twins.cut
    return kernel(rows, _fixed(lower), _fixed(upper))


def turn(rows: Floats, center: Floats, matrix: Floats) -> Floats:
    """Return (x - center) @ matrix of each row, missing values counting as the center."""
    kernel: Callable[..., Floats] = _compiled("turn", rows) or twins.turn
    return kernel(rows, center, matrix)


def products(rows: Floats, center: Floats, scale: Floats) -> Floats:
    """Return the products of the scaled columns of each row; see `Products`."""
    kernel: Callable[..., Floats] = _compiled("products", rows) or twins.products
    return kernel(rows, center, scale)


def _across(rows: Rows) -> bool:
    """Return whether the values of each row lie side by side; else those of each column do."""
    down, across = (stride == rows.itemsize for stride in rows.strides)
    return not down if rows.shape[1] == 1 else across


def _flat(rows: Rows, by_row: bool) -> tuple[Rows, int]:
    """Return the memory from the first value to the last, and the step between its lines."""
    lines = rows if by_row else rows.T
    count, length = lines.shape
    stride = lines.strides[0] // rows.itemsize if count > 1 else length
    if stride == length or rows.size == 0:
        return _fixed(lines.reshape(-1)), stride
    size = (count - 1) * stride + length
    return _fixed(np.lib.stride_tricks.as_strided(lines, (size,), (rows.itemsize,))), stride


def _fixed(array: Any) -> Any:
    """Return a read-only view, or numba would compile for both kinds of arrays."""
    if array is not None:
        array = np.ascontiguousarray(array).view()
        array.flags.writeable = False
    return array


def _double(rows: Rows) -> Floats:
    return np.asarray(rows, dtype=np.float64)


def _compiled(name: str, rows: Rows) -> Callable[..., Any] | None:
    """Return the compiled kernel `name`, or None where NumPy is to do the work."""
    return _loaded(name) if WORK.is_enough(rows.size) else None


@cache
def _loaded(name: str) -> Callable[..., Any] | None:
    """Return the compiled kernel `name`, or None where numba is not installed."""
    try:
        from prolate.queries import _compiled, _compiled_histograms, _compiled_sums
    except (ImportError, RuntimeError):  # not installed, or no folder for its cache
        return None
    modules = _compiled, _compiled_histograms, _compiled_sums
    module = next(module for module in modules if name in module.__all__)
    kernel: Callable[..., Any] = getattr(forgiving(module), name)
    return kernel
