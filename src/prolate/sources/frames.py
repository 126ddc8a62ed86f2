"""Rows of pandas data frames.

A frame's index is no column, and names need not be text, so its columns are taken
one by one instead of through its Arrow export; a block at a time, so that nothing is
copied as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from prolate.sources.arrow import fill, is_numeric
from prolate.sources.labels import Labels, choose, is_label
from prolate.sources.source import Block, Columns, Source

__all__ = ["PandasSource"]


class PandasSource(Source):
    """Rows of a pandas DataFrame, without its index.

    Parameters
    ----------
    frame : pandas.DataFrame of shape (n, d)
        Columns of NumPy, nullable, Arrow, sparse or categorical types of numbers. A
        label that is not text becomes text: 2024 is "2024".
    columns : str, int or iterable of them, optional
        Which columns, in which order; an integer is a label.
    block_bytes : int
        Size of a block.
    labels : sequence of str or int
        Columns of labels, which come last.

    Raises
    ------
    InputError
        If two columns have the same name, or a selected column is not numeric.
    """

    def __init__(
        self,
        frame: Any,
        columns: Columns | None,
        block_bytes: int,
        labels: Sequence[str | int] = (),
    ) -> None:
        names = [str(label) for label in frame.columns]
        unusable, nested = {}, {}
        for j, name in enumerate(names):
            kind = _unusable(frame.iloc[:0, j])
            if kind is not None:
                unusable[name] = kind
                arrow = getattr(frame.dtypes.iloc[j], "pyarrow_dtype", None)
                if arrow is not None and not is_label(arrow):
                    nested[name] = kind
        values, marks = choose(
            columns, labels, names, unusable=unusable, nested=nested, where="the DataFrame"
        )
        chosen = (*values, *marks)
        super().__init__(chosen, len(frame), block_bytes)
        where = {name: j for j, name in enumerate(names)}
        self.labels = tuple(Labels() for _ in marks)
        self._frame = frame
        self._positions = [where[name] for name in chosen]

    def blocks(self) -> Iterator[Block]:
        """Yield column-major blocks of float64."""
        for start in range(0, len(self._frame), self.rows_per_block):
            stop = min(start + self.rows_per_block, len(self._frame))
            block = np.empty((stop - start, len(self._positions)), order="F")
            values = len(self._positions) - len(self.labels)
            for j, position in enumerate(self._positions):
                series = self._frame.iloc[start:stop, position]
                if j >= values:
                    block[:, j] = self.labels[j - values].numbers(_labels(series))
                elif isinstance(series.dtype, np.dtype):
                    block[:, j] = series.to_numpy()
                else:
                    fill(block[:, j], _arrow(series))
            yield block


def _unusable(empty: Any) -> str | None:
    """Return the type of a column (given without its rows), or None if it is numeric."""
    dtype = empty.dtype
    if isinstance(dtype, np.dtype):
        if dtype.kind == "O":
            return "of type object (convert it with pandas.to_numeric)"
        return None if dtype.kind in "biuf" else f"of type {dtype}"
    try:
        numeric = is_numeric(_arrow(empty).type)
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


def _arrow(series: Any) -> Any:
    import pyarrow as pa

    if str(series.dtype).startswith("Sparse"):
        series = series.sparse.to_dense()
    values = pa.array(series, from_pandas=True)
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
