"""Blocks of float64, filled column by column with Arrow's values, or with what lies like them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Floats, Integers
from prolate.sources.columns_in_place import ColumnsInPlace, columns_in_place, lies_well
from prolate.sources.dictionaries import decoded

if TYPE_CHECKING:
    import pyarrow as pa

    from prolate.sources.labels import Labels

__all__ = ["LEAST", "Stretch", "fill", "filled_blocks", "numbers_of", "some_of", "whole"]

LEAST = 1 << 15
"""Cells of a stretch: smaller ones are read sooner when they are joined."""


@dataclass(frozen=True, eq=False)
class Stretch:
    """Some rows of a table, whose values of each column are together.

    Attributes
    ----------
    count : int
        How many rows.
    numbers : sequence
        The values of each column of numbers: an array of NumPy's or Arrow's, or what gives one
        for a slice or an array of places.
    marks : sequence
        The same of columns of labels.
    """

    count: int
    numbers: Sequence[Any]
    marks: Sequence[Any] = ()

    @property
    def precision(self) -> np.dtype[Any]:
        """Single, if loops can read all columns in it; else double."""
        single = np.dtype(np.float32)
        alike = all(lies_well(given, single) for given in self.numbers)
        return single if alike else np.dtype(np.float64)

    def others(self, dtype: np.dtype[Any]) -> list[int]:
        """Return which columns are not numbers of a precision that loops can read."""
        return [j for j, given in enumerate(self.numbers) if not lies_well(given, dtype)]

    def in_place(self, dtype: np.dtype[Any]) -> ColumnsInPlace:
        """Return the rows for loops, others of whose columns are made of those of another kind."""
        columns, others = list(self.numbers), self.others(dtype)
        made = np.empty((len(others), self.count))
        for column, j in zip(made, others, strict=True):
            fill(column, some_of(columns[j], slice(0, self.count)))
            columns[j] = column
        return columns_in_place(columns)


def filled_blocks(
    stretches: Iterable[Stretch],
    rows_per_block: int,
    labels: Sequence[Labels] = (),
    places: Integers | None = None,
) -> Iterator[Floats]:
    """Cut and join stretches into column-major blocks of `rows_per_block` rows, save the last.

    The last columns are read by `labels`, if there are any. With `places`, ascending, only the rows
    there are read.
    """
    block: Floats | None = None
    filled = done = 0
    for stretch in stretches:
        chosen = None if places is None else _within(places, done, done + stretch.count)
        count, done = stretch.count if chosen is None else chosen.size, done + stretch.count
        values, start = len(stretch.numbers), 0
        while start < count:
            if block is None:
                width = values + len(stretch.marks)
                block, filled = np.empty((rows_per_block, width), order="F"), 0
            take = min(rows_per_block - filled, count - start)
            here: slice | Integers = slice(start, start + take)
            here = here if chosen is None else chosen[here]
            columns = block.T[:, filled : filled + take]
            for column, given in zip(columns, stretch.numbers, strict=False):
                fill(column, some_of(given, here))
            for column, given, label in zip(columns[values:], stretch.marks, labels, strict=True):
                column[:] = label.numbers(some_of(given, here))
            filled += take
            start += take
            if filled == rows_per_block:
                yield block
                block = None
    if block is not None:
        yield block[:filled]


def _within(places: Integers, start: int, end: int) -> Integers:
    """Return those of ascending places from `start` to `end`, from `start` on."""
    first, last = np.searchsorted(places, (start, end))
    return places[first:last] - start


def numbers_of(values: pa.Array | pa.ChunkedArray) -> Any:
    """Return numbers as an array of NumPy's where they lie, if none is missing; else as given.

    From that, some are copied ten times as quickly, which counts where blocks have few rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> numbers_of(pa.array([1, 2, 3])[1:])
    array([2, 3])
    """
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray) and values.num_chunks == 1:
        values = values.chunk(0)
    lying = isinstance(values, pa.Array) and _dtype(values.type) is not None
    return _lying(values) if lying and not values.null_count else values


def some_of(values: Any, here: slice | Integers) -> Any:
    """Return some of a column's values, from one place to another or at places of their own."""
    if isinstance(values, np.ndarray):
        return values[here]
    if isinstance(here, slice) or not hasattr(values, "take"):
        return whole(values[here])
    import pyarrow as pa

    try:
        return whole(values.take(pa.array(here)))
    except pa.ArrowNotImplementedError:  # such as of runs
        numbers = np.empty(len(values))
        fill(numbers, whole(values))
        return numbers[here]


def whole(values: Any) -> Any:
    """Return Arrow's values as one array."""
    return values.combine_chunks() if hasattr(values, "combine_chunks") else values


def fill(target: Floats, values: NDArray[np.generic] | pa.Array) -> None:
    """Write numbers, or numeric Arrow values, into a column, NaN for null."""
    if isinstance(values, np.ndarray):
        target[:] = values
        return
    import pyarrow as pa

    kind = values.type
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        fill(target, decoded(values))
    elif values.null_count == len(values):
        target.fill(np.nan)
    elif pa.types.is_boolean(kind) or _dtype(kind) is not None:
        if pa.types.is_boolean(kind):
            target[:] = _bits(values.buffers()[1], values.offset, len(values))
        else:
            target[:] = _lying(values)
        if values.null_count:
            present = _bits(values.buffers()[0], values.offset, len(values))
            np.copyto(target, np.nan, where=present == 0)
    else:
        # safe=False: an integer above 2**53 is rounded; it must not be an error.
        target[:] = values.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy()


def _lying(values: pa.Array) -> NDArray[np.generic]:
    """Return numbers where they lie; what is null is anything."""
    if len(values) == 0:  # then there may be no memory
        return np.empty(0, _dtype(values.type))
    dtype = _dtype(values.type)
    return np.frombuffer(values.buffers()[1], dtype, len(values), values.offset * dtype.itemsize)


@lru_cache(maxsize=64)
def _dtype(kind: pa.DataType) -> Any:
    """Return what NumPy calls a type of integers or floats, or None for another type."""
    import pyarrow as pa

    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return np.dtype(kind.to_pandas_dtype()) if numbers else None


def _bits(buffer: pa.Buffer, start: int, count: int) -> NDArray[np.uint8]:
    """Return some bits of a buffer, which lie in Arrow's order."""
    first, before = divmod(start, 8)
    octets = np.frombuffer(buffer, np.uint8, -(-(before + count) // 8), first)
    return np.unpackbits(octets, bitorder="little")[before : before + count]
