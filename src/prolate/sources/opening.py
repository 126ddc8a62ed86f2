"""From whatever the user has to a source of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from prolate.errors import InputError, shown
from prolate.sources.arrays import ArraySource, as_array, is_grid, refuse_lists
from prolate.sources.choosing import Columns, Wanted
from prolate.sources.paths import Paths, as_paths
from prolate.sources.source import Source

__all__ = ["open_source", "open_wanted"]

_SUPPORTED = (
    "NumPy arrays; pandas, polars, pyarrow, DuckDB and Ibis tables (anything with "
    "__arrow_c_stream__); scipy.sparse; paths of Parquet, CSV and Arrow files"
)
_DATASET = " Pass the paths of its files, or its .scanner().to_reader()."
_INSTEAD = {
    "dict": " Pass pyarrow.table(data), if it holds columns.",
    "LazyFrame": " Call .collect() on it first.",
    "DuckDBPyConnection": " Pass a query of it, such as connection.sql('from visits').",
    "FileSystemDataset": _DATASET,
    "InMemoryDataset": _DATASET,
    "UnionDataset": _DATASET,
    "Scanner": " Pass its .to_reader().",
}
"""What to pass in the place of what is no table yet."""


def open_source(
    data: object,
    columns: Columns | None = None,
    *,
    block_bytes: int = 4 << 20,
    engine: str | None = None,
    labels: Sequence[str | int] = (),
) -> Source:
    """Open rows for reading, as often as needed.

    Parameters
    ----------
    data : object
        One of:

        - a two-dimensional NumPy array (masked: missing), or what turns into one, such as
          xarray's; or nested lists of numbers, of which booleans are 0 and 1;
        - a pandas, polars or pyarrow table, a DuckDB relation, an Ibis table: anything
          with ``__arrow_c_stream__``; of pandas and polars also a series, a table of one
          column, which is called x0 if it has no name;
        - a scipy.sparse array or matrix;
        - a path or a glob, or a list of them, of Parquet (.parquet, .pq), CSV (.csv,
          .tsv, also .gz) and Arrow (.arrow, .feather, .ipc) files; of a directory, the
          data files directly in it and in folders such as ``year=2024``, which are columns;
        - a Spark data frame, classic or through Spark Connect;
        - a `Source`, which is returned as it is.
    columns : str, int or list of them, optional
        Which columns, in which order; all of them if not given. Columns of arrays and
        sparse arrays are called x0, x1, ...; for these, an integer is a position.
    block_bytes : int
        Rows are handled in blocks of about this size.
    engine : "spark", optional
        Lets the tasks of a Spark cluster read Parquet files.
    labels : sequence of str or int
        Columns of labels (`prolate.sources.labels`), which come after the others.

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
    return open_wanted(data, Wanted(columns, labels), block_bytes=block_bytes, engine=engine)


def open_wanted(
    data: object, wanted: Wanted, *, block_bytes: int = 4 << 20, engine: str | None = None
) -> Source:
    """Open rows as `open_source` does, for whoever asks by other arguments."""
    if isinstance(block_bytes, bool) or not isinstance(block_bytes, int) or block_bytes < 1:
        raise InputError(f"block_bytes must be a positive whole number; got {shown(block_bytes)}.")
    if isinstance(data, Source) and wanted.columns is None and wanted.target is None:
        return data
    kinds = [(kind.__module__.split(".")[0], kind.__name__) for kind in type(data).__mro__]
    if ("pandas", "Series") in kinds or ("polars", "Series") in kinds:
        frame = _frame_of(data)
        return open_wanted(frame, wanted, block_bytes=block_bytes, engine=engine)
    if engine is not None or any(room == "pyspark" for room, _ in kinds):
        return _spark(data, kinds, wanted, block_bytes, engine)
    if as_paths(data):
        from prolate.sources.files import FileSource

        return FileSource(cast("Paths", data), wanted, block_bytes)
    if isinstance(data, np.ndarray):
        return ArraySource(data, wanted, block_bytes)
    if type(data).__module__.startswith("scipy.sparse"):
        from prolate.sources.sparse import SparseSource

        return SparseSource(data, wanted, block_bytes)
    if ("pandas", "DataFrame") in kinds and hasattr(data, "columns"):
        from prolate.sources.frames import pandas_source

        return pandas_source(data, wanted, block_bytes)
    exports = hasattr(data, "__arrow_c_stream__") or hasattr(data, "to_frame")  # others' series
    if exports and not is_grid(data):
        from prolate.sources.arrow import ArrowSource

        return ArrowSource(data, wanted, block_bytes)
    return _plain(data, wanted, block_bytes)


def _frame_of(series: Any) -> object:
    """Return a series of pandas or polars as a table of one column; nothing is copied."""
    nameless = series.name is None or str(series.name) == ""  # pandas.NA equals nothing
    return series.to_frame("x0" if nameless else series.name)


def _plain(data: object, wanted: Wanted, block_bytes: int) -> Source:
    if isinstance(data, list | tuple):
        if len(data) == 0:
            raise InputError("An empty list holds neither rows nor paths.")
        refuse_lists(wanted.labels)
        return ArraySource(as_array(data), wanted, block_bytes)
    if hasattr(data, "__array__"):
        return ArraySource(as_array(data), wanted, block_bytes)
    kind = type(data).__name__
    raise InputError(
        f"Data of type {kind} is not supported.{_INSTEAD.get(kind, '')} Prolate reads {_SUPPORTED}."
    )


def _spark(
    data: object,
    kinds: Sequence[tuple[str, str]],
    wanted: Wanted,
    block_bytes: int,
    engine: str | None,
) -> Source:
    if engine is not None and (not isinstance(engine, str) or engine != "spark"):
        raise InputError(f"engine must be 'spark' or None; got {shown(engine)}.")
    if ("pyspark", "DataFrame") in kinds and hasattr(data, "isStreaming"):
        from prolate.sources.spark_frames import frame_source

        return frame_source(data, wanted, block_bytes)
    paths = as_paths(data)
    if paths and wanted.labels:
        raise InputError(
            "With unit or by, Spark reads data frames and no paths: pass spark.read.parquet(path), "
            "or read the files without Spark."
        )
    if paths:
        from prolate.sources.spark_files import fragment_source

        return fragment_source(cast("Paths", data), wanted, block_bytes)
    raise InputError(
        f"On Spark, Prolate reads data frames and the paths of Parquet files; got "
        f"{type(data).__name__}. From the pandas API on Spark, pass frame.to_spark()."
    )
