"""Rows of regression: the features first, in order, and the target as the last column.

They come as features and a target side by side, which are joined one block at a time, or
as one table that has the target among its columns. Nothing is copied as a whole, but for
arrays of Python objects and a target that is not a NumPy array.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Floats
from prolate.errors import InputError
from prolate.sources.arrays import (
    WHOLE,
    ArraySource,
    as_array,
    check_numbers,
    has_type,
    no_numbers,
    refuse_lists,
    to_floats,
    without_masks,
)
from prolate.sources.choosing import Wanted
from prolate.sources.opening import open_source, open_wanted
from prolate.sources.paths import as_paths
from prolate.sources.source import Block, Source

__all__ = [
    "DIFFERENT_ROWS",
    "PairedSource",
    "is_table",
    "open_features",
    "open_pair",
    "open_table",
    "read_target",
]

DIFFERENT_ROWS = "X and y have different numbers of rows; every row of X needs its y."

_BLOCK_BYTES = 16 << 20
_JOINED_BYTES = 1 << 20  # of an array: what is joined stays in the cache until it is read


class EntryError(InputError, TypeError):
    """An array of Python objects that holds something else than numbers."""


class PairedSource(Source):
    """Rows of features, each with the value of a target after them.

    Parameters
    ----------
    features : Source
        Of k columns; its number of rows is known.
    target : Source
        Of one column and as many rows, cut into blocks when it is read.
    name : str
        Of the target.

    Examples
    --------
    >>> X, y = np.arange(6.0).reshape(3, 2), np.array([[7.0], [8.0], [9.0]])
    >>> source = PairedSource(open_source(X), open_source(y), "y")
    >>> source.columns, next(source.blocks()).tolist()
    (('x0', 'x1', 'y'), [[0.0, 1.0, 7.0], [2.0, 3.0, 8.0], [4.0, 5.0, 9.0]])
    """

    def __init__(self, features: Source, target: Source, name: str) -> None:
        super().__init__((*features.columns, name), features.n_rows, _JOINED_BYTES)
        # Any even size of blocks makes the same pairs of neighboring rows.
        if isinstance(features, ArraySource):
            features.rows_per_block = self.rows_per_block
        self.rows_per_block = target.rows_per_block = features.rows_per_block
        self._features, self._target = features, target
        self.labels = features.labels
        self.flags = features.flags | ({name} if target.flags else set())
        self.whole = features.whole | ({name} if target.whole else set())
        self.left_out = features.left_out
        both = features.cells, target.cells
        self.cells = "points" if "points" in both else max(both)
        self.decodes = features.decodes or target.decodes

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of float64, in the memory layout of the features."""
        for rows, values in zip(self._features.blocks(), self._target.blocks(), strict=True):
            by_column = rows.flags.f_contiguous and not rows.flags.c_contiguous
            shape = (rows.shape[0], rows.shape[1] + 1)
            block = np.empty(shape, order="F" if by_column else "C")
            block[:, :-1] = rows
            block[:, -1:] = values
            yield block


class ReorderedSource(Source):
    """The columns of another source in another order; labels stay last."""

    def __init__(self, source: Source, places: Sequence[int]) -> None:
        columns = tuple(source.columns[place] for place in places)
        super().__init__(columns, source.n_rows, _BLOCK_BYTES)
        self.rows_per_block = source.rows_per_block
        self._source, self._index = source, list(places)
        self.labels, self.left_out = source.labels, source.left_out
        self.cells = source.cells
        self.flags, self.whole = source.flags, source.whole
        self.decodes = source.decodes

    def blocks(self) -> Iterator[Block]:
        """Yield reordered copies of the blocks."""
        for rows in self._source.blocks():
            yield rows[:, self._index]


def is_table(data: object) -> bool:
    """Return whether `data` is a table with named columns."""
    return hasattr(type(data), "columns") or (  # a LazyFrame warns if itself is asked
        hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__array__")
    )


def open_features(X: object, labels: Sequence[str | int] = ()) -> Source:
    """Open the rows of a matrix or a table of features.

    Beyond what `open_source` takes, an array of Python objects will do if all of them are
    real numbers or None. For such an array, which has no schema, the types of the entries
    are taken for one.

    Raises
    ------
    InputError
        If it is no table of numbers, or has no columns.
    """
    if as_paths(X) or is_table(X):
        return open_wanted(X, Wanted(labels=labels, argument="X"))
    if not hasattr(X, "tocsr"):
        if not has_type(X) or getattr(getattr(X, "dtype", None), "kind", "") == "O":
            refuse_lists(labels)
        X = _array(X, "X")
    data: Any = X
    if data.dtype.kind == "c":
        raise InputError(
            "Complex data not supported: pass the real and imaginary parts of X as "
            "features of their own."
        )
    if data.ndim != 2:
        raise InputError(
            f"X must have two dimensions, rows and features; it has {data.ndim}. Reshape "
            "your data either using array.reshape(-1, 1) if it has a single feature, or "
            "array.reshape(1, -1) if it is a single row."
        )
    if data.shape[1] == 0:
        raise InputError(
            f"X has 0 feature(s) (shape={data.shape}) while a minimum of 1 is required."
        )
    return open_source(data, labels=labels)


def open_pair(X: object, y: object, labels: Sequence[str | int] = ()) -> Source:
    """Open features and a target that were given side by side; columns of labels come last.

    Raises
    ------
    InputError
        If either is not what it should be, or they differ in their numbers of rows.
    """
    if y is None:
        raise InputError(
            "This regression requires y to be passed, but the target y is None; give the "
            "target's values, or the name of its column."
        )
    if as_paths(X) or type(X).__module__.startswith("pyspark."):
        raise InputError(
            "With files, and with Spark, y must be the name of the target's column, such as "
            f"fit(path, 'y'); got {type(y).__name__}."
        )
    features = open_features(X, labels=labels)
    target = _open_target(y)
    if features.n_rows != target.n_rows:
        raise InputError(DIFFERENT_ROWS)
    name = getattr(y, "name", None)
    name = name if isinstance(name, str) and name else "y"
    while name in features.columns:
        name += "_target"
    pair = PairedSource(features, target, name)
    if not labels:
        return pair
    k = len(features.columns) - len(labels)
    return ReorderedSource(
        pair, [*range(k), len(features.columns), *range(k, len(features.columns))]
    )


def open_table(
    data: object,
    target: str | int,
    features: str | Sequence[str] | None,
    engine: str | None = None,
    labels: Sequence[str | int] = (),
) -> Source:
    """Open a table that has the target among its columns; it is handed out as the last one.

    Parameters
    ----------
    data : table
        As for `open_source`.
    target : str or int
        Its column.
    features : str or sequence of str, optional
        The columns to use, in order; all the others by default.
    engine, labels
        As for `open_source`.

    Raises
    ------
    InputError
        If a column is unknown or not numeric, or there is no feature.
    """
    return open_wanted(data, Wanted(features, labels, target, "features"), engine=engine)


def read_target(y: object) -> NDArray[np.generic]:
    """Return the values of a target as an array of shape (n, 1) and a real dtype.

    Raises
    ------
    InputError
        If it is not one number for each row.
    """
    table = _column_of_table(y)
    if table is not None:
        return _values(table)
    one = isinstance(y, str | bytes | int | float | dict | set | frozenset | None)
    if one or as_paths(y):
        raise InputError(
            "y must be one number for each row, or the name of a column of X, as text; got "
            f"{type(y).__name__}."
        )
    array = _array(y, "y")
    with _about_target():
        check_numbers(array.dtype)
    if array.ndim == 2 and array.shape[1] == 1:
        return array
    if array.ndim != 1:
        _check_width(array.shape[1] if array.ndim == 2 else 0, array.ndim)
    return array.reshape(-1, 1)


def _open_target(y: object) -> Source:
    """Return the values of a target as one column in memory, with what its type says."""
    table = _column_of_table(y)
    if table is None:
        return ArraySource(read_target(y), Wanted(), _BLOCK_BYTES)
    source = ArraySource(_values(table), Wanted(), _BLOCK_BYTES)
    source.flags = frozenset(source.columns if table.flags else ())
    source.whole = frozenset(source.columns if table.whole else ())
    return source


def _column_of_table(y: object) -> Source | None:
    """Return a series, or a table of one column, opened; None if it is neither."""
    if hasattr(y, "to_frame"):  # a series of pandas or polars
        y = y.to_frame()
    if not is_table(y):
        return None
    with _about_target():
        source = open_source(y)
    _check_width(len(source.columns))
    return source


@contextmanager
def _about_target() -> Iterator[None]:
    """Say that what is wrong with numbers, or with a table, is wrong with y."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"y must hold numbers. {error}") from None


def _values(source: Source) -> Floats:
    with np.errstate(all="ignore"):  # of a NaN that signals, in single precision
        return np.concatenate([np.zeros((0, 1)), *source.blocks()])


def _check_width(width: int, dimensions: int = 2) -> None:
    if dimensions == 2 and width == 1:
        return
    found = f"{width} columns" if dimensions == 2 else f"{dimensions} dimensions"
    raise InputError(
        f"y must be one number for each row, y should be a 1d array; it has {found}. Fit one "
        "regression for each target; each spends a budget of its own."
    )


def _array(data: object, what: str) -> NDArray[np.generic]:
    """Return what is no table as an array; Python objects that are numbers as float64."""
    array: NDArray[Any]
    if isinstance(data, np.ndarray):
        array = data
    else:
        try:
            array = np.asarray(data if has_type(data) else without_masks(data))
        except Exception:  # noqa: BLE001 - whatever another library raises may quote values
            array = as_array(data)  # raises, and says why
    if array.dtype.kind != "O":
        untyped = array.dtype.kind in WHOLE and not has_type(data)  # see `as_array`
        return array.astype(np.float64) if untyped else array
    bad = no_numbers(array.flat)
    if bad is not None:
        raise EntryError(
            "Every entry of an array argument must be a number, not a string or another thing "
            f"that is no number; {what} holds an entry of type {bad.__name__}."
        )
    return to_floats(array)
