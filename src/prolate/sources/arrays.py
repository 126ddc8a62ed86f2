"""Rows of NumPy arrays, and of what turns into one."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Floats, Integers
from prolate.compiled import WORK
from prolate.errors import InputError
from prolate.sources.choosing import Schema, Wanted, choose
from prolate.sources.columns_in_place import ColumnsInPlace, columns_of
from prolate.sources.label_types import type_of_numpy
from prolate.sources.labels import Labels, encoded
from prolate.sources.source import Block, Source, position_names

if TYPE_CHECKING:
    from prolate.sources.kept import Dealing, Thinning

__all__ = [
    "WHOLE",
    "ArraySource",
    "as_array",
    "check_numbers",
    "is_grid",
    "no_numbers",
    "plain",
    "refuse_lists",
    "to_floats",
    "without_masks",
]

_NUMBERS = (Real, Decimal, np.bool_, type(None), type(np.ma.masked))
_MISSING = {"NAType", "NaTType"}  # of pandas, which need not be loaded

WHOLE = "biu"
"""The kinds of NumPy's types of whole numbers."""

_ARRAYS = "__array__", "__array_interface__", "__array_struct__", "__dlpack__"
_LARGER = 8  # times a block: a sample's blocks, and those from which one is copied


class ArraySource(Source):
    """Rows of a two-dimensional array of real numbers or booleans.

    The array is not copied: a block is a slice of its rows, in native byte order, and
    with NaN where a masked array is masked. Columns are named x0, x1, ... and may be
    asked for by position.

    Parameters
    ----------
    array : array of shape (n, d)
        Any real numeric or boolean dtype, any strides, masked or not.
    wanted : Wanted
        Which columns.
    block_bytes : int
        Size of a block, were it float64.

    Raises
    ------
    InputError
        If the array is not two-dimensional, has no columns, or is not of real numbers.
    """

    def __init__(
        self,
        array: NDArray[np.generic],
        wanted: Wanted,
        block_bytes: int,
    ) -> None:
        # What a subclass says of its rows may not be so.
        masked = isinstance(array, np.ma.MaskedArray)
        memory = np.ma.getdata(array, subok=False)
        array = np.ma.MaskedArray(memory, np.ma.getmask(array)) if masked else memory
        _check_shape(array)
        check_numbers(array.dtype)
        names = position_names(array.shape[1])
        values: tuple[str, ...] = names
        marks: tuple[str, ...] = ()
        if not (names and wanted.is_all):
            values, marks = choose(wanted, Schema(names, "the array", by_position=True))
        chosen = (*values, *marks)
        super().__init__(chosen, array.shape[0], block_bytes)
        self._array = array
        self.labels = tuple(Labels(kind=type_of_numpy(array.dtype)) for _ in marks)
        if array.dtype == np.bool_:
            self.flags = frozenset(values)
        if array.dtype.kind in WHOLE:
            self.whole = frozenset(values)
        self._index = None if chosen == names else np.array([int(name[1:]) for name in chosen])

    _places: Integers | None = None  # of the rows, unless they are all

    def blocks(self) -> Iterator[Block]:
        """Yield slices of rows."""
        count = self._array.shape[0] if self._places is None else self._places.size
        for start in range(0, count, self.rows_per_block):
            here: Any = slice(start, start + self.rows_per_block)
            rows = self._array[here if self._places is None else self._places[here]]
            rows = rows if self._index is None else rows[:, self._index]
            block = plain(rows)
            if self.labels:
                marks = rows[:, -len(self.labels) :]  # a masked block is one of floats
                whole = plain(np.ma.getdata(marks))
                block = encoded(block, self.labels, whole, np.ma.getmask(marks))
            yield block

    def thinned(self, keep: Thinning, progress: Callable[[int], None] | None = None) -> Source:
        """Return the rows that `keep` chooses."""
        pieces = self._pieces()
        larger = copy.copy(self)
        larger.rows_per_block *= _LARGER
        if pieces is None or not _are_quick(pieces):
            return super(ArraySource, larger).thinned(keep, progress)
        from prolate.sources.kept import copied_rows, kept_places

        larger._array = copied_rows(pieces, kept_places(keep, self._array.shape[0]))
        larger.n_rows = larger._array.shape[0]
        WORK.foresee(larger._array.size, self._array.size)
        if progress is not None:
            progress(self._array.shape[0])
        return larger

    def dealt(
        self, deal: Dealing, progress: Callable[[int], None] | None = None
    ) -> Callable[[Sequence[int]], Source]:
        """Deal the rows to separate parts, which are not copied."""
        if self.labels:  # whose numbers follow from the order of all rows
            return super().dealt(deal, progress)
        from prolate.sources.parts import dealt_in_memory

        return dealt_in_memory(self, deal, self._pieces(), self._some, progress)

    def _pieces(self) -> list[Block | ColumnsInPlace] | None:
        """Return the rows where they lie, if queries can read some of them there."""
        array = self._array
        if self._index is not None or self.labels or not _is_block(array):
            return None
        columns = None if array.flags.c_contiguous else columns_of(array)
        return [plain(array) if columns is None else columns]

    def _some(self, places: Integers) -> ArraySource:
        """Return some of the rows, which are made blocks of as they are read."""
        some = copy.copy(self)
        some._places, some.n_rows = places, places.size
        return some

    @classmethod
    def of_columns(cls, rows: NDArray[np.generic], like: Source, index: Any = None) -> ArraySource:
        """Return rows of an array, or their columns `index`, called as those of another source."""
        found = cls(rows, Wanted(index), 8 * len(like.columns) * like.rows_per_block)
        names = dict(zip(found.columns, like.columns, strict=True))
        found.flags, found.whole = (
            frozenset(names[name] for name in kind) for kind in (found.flags, found.whole)
        )
        found.columns, found.left_out = like.columns, like.left_out
        return found


def _is_block(array: NDArray[np.generic]) -> bool:
    """Return whether an array is a block as it is; see `plain`."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    return array.dtype.isnative and type(array) is np.ndarray and (kind != "f" or size in (4, 8))


def _are_quick(pieces: Sequence[Block | ColumnsInPlace]) -> bool:
    """Return whether some rows of pieces are copied in about the time that reading them takes."""
    return all(
        isinstance(piece, ColumnsInPlace) or (piece.dtype.kind == "f" and piece.flags.c_contiguous)
        for piece in pieces
    )


def plain(rows: NDArray[np.generic]) -> Block:
    """Return rows in a dtype that compiled code knows: native, and no odd floats."""
    if isinstance(rows, np.ma.MaskedArray):
        masked, values = np.ma.getmask(rows), np.ma.getdata(rows, subok=False)
        if masked is not np.ma.nomask:
            return np.where(masked, np.nan, values.astype(np.float64))
        rows = values
    dtype = rows.dtype
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        with np.errstate(all="ignore"):
            return rows.astype(np.float64)
    return rows.astype(dtype.newbyteorder("="), copy=False)


def check_numbers(dtype: np.dtype[np.generic]) -> None:
    """Raise `InputError` unless `dtype` is of real numbers or booleans."""
    if dtype.kind in "biuf":
        return
    if dtype.names is not None:
        raise InputError(
            "A structured array is not supported; pass a table instead, for example "
            "pandas.DataFrame(array)."
        )
    hint = {
        "c": "pass real and imaginary parts as columns of their own",
        "O": "convert it, for example with array.astype(float)",
        "M": "convert the times to numbers first, such as days since 2000-01-01: "
        "(array - np.datetime64('2000-01-01')) / np.timedelta64(1, 'D')",
        "m": "convert the durations to numbers first: array / np.timedelta64(1, 's')",
    }.get(dtype.kind, "convert it, for example with array.astype(float)")
    what = {"O": "object", "U": "text", "S": "bytes", "T": "text"}.get(dtype.kind, dtype.name)
    raise InputError(
        f"The array holds {what}, not real numbers (integers, floats or booleans); {hint}."
    )


def _check_shape(array: NDArray[np.generic]) -> None:
    if array.dtype.names is not None:
        check_numbers(array.dtype)
    if array.ndim == 2:
        return
    hint = {
        0: "one number is not a data set",
        1: "for one column of n rows, pass array.reshape(-1, 1)",
    }.get(array.ndim, "make every row one vector, for example array.reshape(len(array), -1)")
    raise InputError(
        f"The array must have two dimensions, rows and columns; it has {array.ndim}: {hint}."
    )


def no_numbers(entries: Iterable[object]) -> type | None:
    """Return the first type among Python's objects that is none of a number, or None.

    What stands for a missing number is one: it may not decide whether there is an error.
    """
    for kind in {type(entry) for entry in entries}:
        missing = kind.__name__ in _MISSING and kind.__module__.startswith("pandas.")
        if not (issubclass(kind, _NUMBERS) or missing):
            return kind
    return None


def to_floats(objects: NDArray[Any]) -> Floats:
    """Return Python's numbers as doubles: NaN, if missing or none, which no error may tell."""
    found = np.fromiter(map(_to_float, objects.flat), np.float64, objects.size)
    return found.reshape(objects.shape)


def _to_float(value: Any) -> float:
    if value is None or value is np.ma.masked:  # of which NumPy warns
        return float("nan")
    try:
        return float(value)
    except Exception:  # noqa: BLE001 - too large, or a number whose own methods raise, and quote it
        return float("nan")


def without_masks(rows: Any) -> list[Any]:
    """Return nested lists with NaN for what is masked.

    NumPy warns of each such value, so that warnings would tell how many there are; and of an array
    in a list it forgets the mask.

    Examples
    --------
    >>> without_masks([[1, np.ma.masked], [2, 3]])
    [[1, nan], [2, 3]]
    """
    return [_without_mask(row) for row in rows]


def _without_mask(row: Any) -> Any:
    if isinstance(row, np.ma.MaskedArray):  # np.ma.masked is one, too
        return plain(row) if row.dtype.kind in "biuf" else row
    if isinstance(row, list | tuple) and any(value is np.ma.masked for value in row):
        return [np.nan if value is np.ma.masked else value for value in row]
    return row


def refuse_lists(labels: Sequence[str | int]) -> None:
    """Raise `InputError` where columns of lists, or of Python's objects, are to be labels.

    They have no types: one value decides that all of them are doubles, in which long numbers,
    and so persons, are one.
    """
    if labels:
        raise InputError(
            "Lists and arrays of Python objects have no types, so they cannot say whose a row is, "
            "or which group it is in; pass an array of numbers or a table, such as a "
            "pandas.DataFrame."
        )


def has_type(data: object) -> bool:
    """Return whether an object says of what type its numbers are, as arrays do.

    Of lists, and of other sequences of Python's objects, one value decides that.
    """
    return any(hasattr(type(data), name) for name in _ARRAYS)


def is_grid(data: object) -> bool:
    """Return whether an object is an array of several dimensions, and no table.

    Some arrays, such as xarray's, export an Arrow stream, too: with a row for each of their cells,
    so that what is protected would be a cell.
    """
    kind = type(data)  # of an object itself, names of coordinates may be attributes
    if hasattr(kind, "columns") or not (hasattr(kind, "ndim") and hasattr(kind, "__array__")):
        return False
    return bool(getattr(data, "ndim", 1) != 1)


def _of_lists(data: Any) -> NDArray[np.generic]:
    """Return nested lists as an array of doubles.

    By their type, booleans have bounds, and whole numbers are known to be some; whether all of a
    list are is private.
    """
    data = without_masks(data)
    try:
        array = np.asarray(data)
    except Exception:  # noqa: BLE001 - too large, or a number's own methods raise; or rows differ
        array = np.array(data, dtype=object)
    if array.dtype != object:
        return array.astype(np.float64) if array.dtype.kind in WHOLE else array
    if no_numbers(array.flat) is not None:
        raise TypeError
    return to_floats(array)


def as_array(data: object) -> NDArray[np.generic]:
    """Return nested lists, or an object with ``__array__``, as an array.

    Raises
    ------
    InputError
        If that gives no array of real numbers.
    """
    try:
        array = np.asarray(data) if has_type(data) else _of_lists(data)
    except Exception:  # noqa: BLE001 - whatever another library raises may quote values
        kind = type(data)
        needs = "every row must hold the same number of numbers."
        if hasattr(kind, "detach"):
            needs = "pass tensor.detach().cpu().numpy(), of bfloat16 tensor.float() likewise."
        elif hasattr(kind, "__dlpack__"):
            needs = "pass a copy of it that NumPy can read, in the computer's own memory."
        raise InputError(f"This {kind.__name__} does not turn into an array: {needs}") from None
    check_numbers(array.dtype)
    return array
