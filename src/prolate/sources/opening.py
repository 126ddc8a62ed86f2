"""From whatever the user has to a source of rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from prolate.errors import InputError
from prolate.sources.arrays import ArraySource, as_array
from prolate.sources.source import Columns, Source

__all__ = ["open_source"]

_SUPPORTED = (
    "NumPy arrays; pandas, polars, pyarrow, DuckDB and Ibis tables (anything with "
    "__arrow_c_stream__); scipy.sparse; paths of Parquet, CSV and Arrow files"
)


def open_source(
    data: object, columns: Columns | None = None, *, block_bytes: int = 16 << 20
) -> Source:
    """Open rows for reading, as often as needed.

    Parameters
    ----------
    data : object
        One of:

        - a two-dimensional NumPy array (masked: missing), or nested lists of numbers;
        - a pandas, polars or pyarrow table, a DuckDB relation, an Ibis table: anything
          with ``__arrow_c_stream__``;
        - a scipy.sparse array or matrix;
        - a path or a glob, or a list of them, of Parquet (.parquet, .pq), CSV (.csv,
          .tsv, also .gz) and Arrow (.arrow, .feather, .ipc) files; of a directory, the
          data files directly in it;
        - a `Source`, which is returned as it is.
    columns : str, int or list of them, optional
        Which columns, in which order; all of them if not given. Columns of arrays and
        sparse arrays are called x0, x1, ...; for these, an integer is a position.
    block_bytes : int
        Rows are handled in blocks of about this size.

    Returns
    -------
    Source

    Raises
    ------
    InputError
        If `data` is of another kind or shape, a file cannot be read, or a column is
        unknown or not numeric.

    Examples
    --------
    >>> source = open_source(np.arange(6.0).reshape(3, 2), columns=["x1"])
    >>> source.columns, source.n_rows
    (('x1',), 3)
    >>> source.collect(lambda block: block.sum(axis=0).astype(np.int64), 1)
    array([9])
    """
    if isinstance(block_bytes, bool) or not isinstance(block_bytes, int) or block_bytes < 1:
        raise InputError(f"block_bytes must be a positive whole number; got {block_bytes!r}.")
    if isinstance(data, Source) and columns is None:
        return data
    kinds = [(kind.__module__.split(".")[0], kind.__name__) for kind in type(data).__mro__]
    if any(room == "pyspark" for room, _ in kinds):
        raise InputError(
            "Spark data frames are not supported yet; write the rows to Parquet files and "
            "pass their path."
        )
    if isinstance(data, str | os.PathLike):
        return _files([data], columns, block_bytes)
    if isinstance(data, np.ndarray):
        return ArraySource(data, columns, block_bytes)
    if type(data).__module__.startswith("scipy.sparse"):
        from prolate.sources.sparse import SparseSource

        return SparseSource(data, columns, block_bytes)
    if ("pandas", "DataFrame") in kinds:
        from prolate.sources.frames import PandasSource

        return PandasSource(data, columns, block_bytes)
    if hasattr(data, "__arrow_c_stream__"):
        from prolate.sources.arrow import ArrowSource

        return ArrowSource(data, columns, block_bytes)
    return _plain(data, columns, block_bytes)


def _plain(data: object, columns: Columns | None, block_bytes: int) -> Source:
    if isinstance(data, list | tuple):
        if len(data) == 0:
            raise InputError("An empty list holds neither rows nor paths.")
        if all(isinstance(entry, str | os.PathLike) for entry in data):
            return _files(data, columns, block_bytes)
        return ArraySource(as_array(data), columns, block_bytes)
    if hasattr(data, "__array__"):
        return ArraySource(as_array(data), columns, block_bytes)
    lazy = " Call .collect() on it first." if type(data).__name__ == "LazyFrame" else ""
    raise InputError(
        f"Data of type {type(data).__name__} is not supported.{lazy} Prolate reads {_SUPPORTED}."
    )


def _files(paths: Sequence[Any], columns: Columns | None, block_bytes: int) -> Source:
    from prolate.sources.files import FileSource

    return FileSource(paths, columns, block_bytes)
