"""Rows of pandas data frames.

A frame's index is no column, and names need not be text, so its columns are taken
one by one instead of through its Arrow export; a block at a time, so that nothing is
copied as a whole. A frame that is one array to pandas is read as that array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from prolate.errors import InputError
from prolate.sources.arrays import WHOLE, ArraySource
from prolate.sources.arrow import is_numeric
from prolate.sources.choosing import Schema, Wanted, choose, index_beside
from prolate.sources.filling import Stretch, numbers_of, whole
from prolate.sources.label_types import LabelType, type_of_numpy
from prolate.sources.labels import Labels, is_label
from prolate.sources.source import Source
from prolate.sources.table import TableSource

__all__ = ["pandas_source"]


def pandas_source(frame: Any, wanted: Wanted, block_bytes: int) -> Source:
    """Return the rows of a frame, as those of an array where pandas holds one."""
    source = PandasSource(frame, wanted, block_bytes)
    if source.array is None:
        return source
    return ArraySource.of_columns(source.array, source, source.positions)


class PandasSource(TableSource):
    """Rows of a pandas DataFrame, without its index.

    Parameters
    ----------
    frame : pandas.DataFrame of shape (n, d)
        Columns of NumPy, nullable, Arrow or sparse types of numbers. A label that is not
        text becomes text: 2024 is "2024".
    wanted : Wanted
        Which columns; an integer is what pandas calls a label.
    block_bytes : int
        Size of a block.

    Raises
    ------
    InputError
        If two columns have the same name, or a selected column is not numeric or the index.
    """

    def __init__(
        self,
        frame: Any,
        wanted: Wanted,
        block_bytes: int,
    ) -> None:
        names = [str(label) for label in frame.columns]
        unusable, nested = {}, {}
        dtypes = list(frame.dtypes)
        for j, (name, dtype) in enumerate(zip(names, dtypes, strict=True)):
            kind = _unusable(frame, j, dtype)
            if kind is not None:
                unusable[name] = kind
                arrow = getattr(dtype, "pyarrow_dtype", None)
                if dtype.kind == "c" or (arrow is not None and not is_label(arrow)):
                    nested[name] = kind
        _check_index(frame, names, wanted)
        values, marks = choose(wanted, Schema(names, "the DataFrame", unusable, nested))
        chosen = (*values, *marks)
        super().__init__(chosen, len(frame), block_bytes)
        self.left_out = index_beside(wanted.columns, names, chosen)
        where = {name: j for j, name in enumerate(names)}
        self.labels = tuple(Labels(kind=_label_type(dtypes[where[name]])) for name in marks)
        self.flags = frozenset(name for name in values if _is_flag(dtypes[where[name]]))
        self.whole = frozenset(name for name in values if dtypes[where[name]].kind in WHOLE)
        positions = [where[name] for name in chosen]
        self.positions = None if positions == list(range(len(names))) else positions
        self.array = None if marks or len(set(dtypes)) != 1 else _array(frame)
        numbers = [] if self.array is not None else [_column(frame, where[name]) for name in values]
        self._rows = Stretch(
            len(frame), numbers, [_Marks(frame.iloc[:, where[name]]) for name in marks]
        )

    def _stretches(self) -> list[Stretch]:
        return [self._rows]


class _Marks:
    """Labels, some of which are Arrow's values."""

    def __init__(self, series: Any) -> None:
        self._series = series

    def __getitem__(self, here: slice) -> Any:
        """Return some of them."""
        return _labels(self._series.iloc[here])


class _Sparse:
    """Numbers of a sparse column, some of which are an array."""

    def __init__(self, series: Any) -> None:
        self._series = series

    def __getitem__(self, here: Any) -> Any:
        """Return some of them, as Arrow's values."""
        return _arrow(self._series.iloc[here])


def _check_index(frame: Any, names: Sequence[str], wanted: Wanted) -> None:
    """Raise `InputError` if a column that is asked for is the index, which is not read."""
    columns = [wanted.columns] if isinstance(wanted.columns, str) else wanted.columns
    asked = [*(columns if isinstance(columns, list | tuple) else ()), *wanted.labels, wanted.target]
    asked = [name for name in asked if isinstance(name, str | int)]
    levels = [name for name in frame.index.names if name is not None and str(name) not in names]
    for name in levels:
        if name in asked:
            raise InputError(
                f"{str(name)!r} is the index of the DataFrame, not a column; pass "
                "frame.reset_index()."
            )


def _array(frame: Any) -> Any:
    """Return all values as one array, if that is what pandas holds: then nothing is copied."""
    if not _is_plain(frame.dtypes.iloc[0]):
        return None
    first = frame.iloc[:1]
    if not np.shares_memory(first.to_numpy(), first.iloc[:, 0].to_numpy()):
        return None
    return frame.to_numpy()


def _column(frame: Any, position: int) -> Any:
    """Return a column of numbers as an array of NumPy or Arrow that is no copy, if there is one."""
    series = frame.iloc[:, position]
    if _is_plain(series.dtype):
        return series.to_numpy()
    if _is_sparse(series):
        return _Sparse(series)
    import pyarrow as pa

    return numbers_of(pa.array(series, from_pandas=True))


def _is_plain(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf"


def _is_flag(dtype: Any) -> bool:
    """Return whether a type of pandas is one of booleans."""
    inner = getattr(dtype, "subtype", dtype)  # of sparse columns
    return str(inner).partition("[")[0] in ("bool", "boolean")


def _label_type(dtype: Any) -> LabelType:
    """Return the type of labels of a column of pandas'."""
    return "boolean" if _is_flag(dtype) else type_of_numpy(dtype)


def _unusable(frame: Any, position: int, dtype: Any) -> str | None:
    """Return the type of a column, or None if it is numeric."""
    if isinstance(dtype, np.dtype):
        if dtype.kind == "O":
            return "of type object"
        return None if dtype.kind in "biuf" else f"of type {dtype}"
    if str(dtype) == "category":  # pandas decides by the values of which type categories are
        return "of type category (if categories are numbers, convert it with column.astype(float))"
    inner = getattr(dtype, "subtype", None)
    if isinstance(inner, np.dtype) and str(dtype).startswith("Sparse"):
        return None if inner.kind in "biuf" else f"of type Sparse[{inner}]"
    try:
        numeric = is_numeric(_arrow(frame.iloc[:0, position]).type)
    except Exception:  # noqa: BLE001 - a type that Arrow does not know is not numeric
        numeric = False
    return None if numeric else f"of type {str(dtype)[:60]}"


def _labels(series: Any) -> Any:
    """Return labels as Arrow values, each whatever the others are."""
    import pyarrow as pa

    if str(series.dtype).startswith(("period", "interval")):
        series = series.astype("category")
    if series.dtype == "category":
        codes = series.cat.codes.to_numpy()
        texts = pa.array(map(_text, series.cat.categories), pa.large_binary())
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), texts)
    if series.dtype != object:
        try:
            return _arrow(series)
        except (pa.ArrowException, TypeError, ValueError):
            series = series.astype(object)
    return pa.array(map(_text, series), pa.large_binary())


def _text(value: object) -> bytes | None:
    """Return a Python object as the text of a label, or None if it is none."""
    from prolate.sources.labels import text_of

    if isinstance(value, str):
        return value.encode(errors="surrogatepass")
    if value is None or isinstance(value, bytes):
        return value  # UTF-8 or not
    try:
        return text_of(value).encode()
    except Exception:  # noqa: BLE001 - an object's own methods may raise anything, and quote it
        return None


def _is_sparse(series: Any) -> bool:
    return str(series.dtype).startswith("Sparse")


def _arrow(series: Any) -> Any:
    import pyarrow as pa

    if _is_sparse(series):
        series = series.sparse.to_dense()
    return whole(pa.array(series, from_pandas=True))
