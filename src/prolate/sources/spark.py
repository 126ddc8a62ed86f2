"""Rows on a Spark cluster: the tasks add queries up, and only integers come back.

A query travels to the rows, and each partition answers with one vector of integers and
its number of rows (`prolate.sources.spark_tasks`). Vectors of many partitions are added up
on the cluster first, in a tree. Nothing but data frames is used, so all of this works
through Spark Connect, too. A partition that is read twice, because a worker died, gives
the same vector, and Spark counts it once.

Partitions are numbered, and with the numbers of their rows every row has a number: that
is all that a random sample needs (`Thinning`), so a sample is the one that the same rows
give on one machine, and it stays in the storage of the cluster.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prolate.errors import InputError
from prolate.noise import NumberedBits
from prolate.sources.kept import Leading, Thinning
from prolate.sources.labels import Labels, choose
from prolate.sources.source import Block, Columns, Source
from prolate.sources.spark_tasks import (
    KEPT_SCHEMA,
    SUM_SCHEMA,
    Adding,
    Keeping,
    KeptReader,
    Merging,
    Reader,
    RowReader,
    one_spelling,
    person_mean,
    sentence_of,
    unpack,
)

__all__ = ["SparkSource", "frame_source", "spark_session"]

_CELLS = 1 << 22  # of a sample, for one task
_FAN = 64  # vectors that are added up in one place
_TO_DRIVER = 1 << 26  # bytes of vectors that the driver adds up by itself
_SMALL = 256  # integers of a vector that may come back from every partition
_FAILED = (
    "The Spark job failed. Spark's own log says why; it may quote values of rows, so its message "
    "is not shown here."
)


class SparkSource(Source):
    """Rows that tasks on a Spark cluster read.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        What the tasks get.
    reader : Reader
        What they make of it: rows.
    columns : tuple of str
        Names of the rows' columns.
    block_bytes : int
        Size of a block.
    rows : dict of int, optional
        The number of rows of each partition, by its number, where it is known.
    ordered : bool
        As of every source. Of a data frame it is not true: a join or a sort puts a row
        where its values, and those of others, want it.
    """

    def __init__(
        self,
        frame: Any,
        reader: Reader,
        columns: tuple[str, ...],
        block_bytes: int,
        rows: dict[int, int] | None = None,
        *,
        ordered: bool = False,
    ) -> None:
        super().__init__(columns, None if rows is None else sum(rows.values()), block_bytes)
        self.ordered = ordered
        self._frame, self._reader, self._rows = frame, reader, rows
        self._tasks: int | None = None  # so many are enough, if there are more partitions

    def blocks(self) -> Iterator[Block]:
        """Refuse: rows do not leave the cluster.

        Raises
        ------
        InputError
            Always.
        """
        raise InputError(
            "Rows on Spark stay there. To predict, apply a fitted model where the rows are, for "
            "example with DataFrame.mapInPandas."
        )

    def collect(
        self,
        query: Callable[[Block], NDArray[np.int64]],
        size: int,
        progress: Callable[[int], None] | None = None,
    ) -> NDArray[np.int64]:
        """Add ``query(block)`` up over all partitions, in one job of Spark's.

        Raises
        ------
        InputError
            If the job fails, or the data frame has not the rows that it had before.
        """
        if self._rows is None and size > _SMALL:
            self.collect(_nothing, 0)
        frame = self._frame if self._tasks is None else self._frame.coalesce(self._tasks)
        vectors = frame.mapInArrow(Adding(self._reader, query, size), SUM_SCHEMA)
        if self._rows is not None:
            vectors = _tree(vectors, len(self._rows), size)
        total, rows = unpack(_run(vectors), size)
        if self._rows is None:
            self._rows, self.n_rows = rows, sum(rows.values())
        elif sum(rows.values()) != self.n_rows:
            raise InputError(
                "The Spark data frame has not the rows that it had before; all measurements must "
                "be of the same rows. Write it to files, or call its persist() first."
            )
        if progress is not None:
            progress(sum(rows.values()))
        return total

    def thinned(
        self, keep: Thinning | Leading, progress: Callable[[int], None] | None = None
    ) -> Source:
        """Return the rows that `keep` chooses; they stay in the storage of the cluster."""
        if self._rows is None:
            self.collect(_nothing, 0)
        starts = _starts(self._rows or {})
        kept = self._frame.mapInArrow(Keeping(self._reader, keep, starts), KEPT_SCHEMA).persist()
        width = len(self.columns)
        sample = SparkSource(kept, KeptReader(width), self.columns, 8 * width * self.rows_per_block)
        weakref.finalize(sample, _forget, kept).atexit = False
        sample.collect(_nothing, 0, progress)
        sample._tasks = -(-(sample.n_rows or 1) * width // _CELLS)
        return sample

    def persons(self, most: int | None = None, bits: NumberedBits | None = None) -> Source:
        """Return one row for each person: their own means, made where the rows are.

        Raises
        ------
        InputError
            If rows of each person are wanted instead.
        """
        from pyspark.sql.types import BinaryType, StructField, StructType

        if most is not None:
            raise InputError(
                "On Spark, each person counts with their mean; contribution='rows' is for rows "
                "that are read here."
            )
        width = len(self.columns) - 1
        columns = self.columns[:-1] or ("persons",)
        mark = StructField(f"c{width}", BinaryType())
        spelling = StructType([*self._frame.schema.fields[:width], mark])
        frame = self._frame.mapInArrow(partial(one_spelling, width), spelling)
        grouped = frame.groupBy(f"c{width}")
        schema = ", ".join(f"c{j} double" for j in range(len(columns)))
        means = grouped.applyInArrow(lambda rows: person_mean(width, rows), schema)
        source = SparkSource(means, RowReader(len(columns), 1 << 14), columns, 1)
        source.rows_per_block, source.flags = self.rows_per_block, self.flags
        return source

    def leading(self, count: int, progress: Callable[[int], None] | None = None) -> Source:
        """Return the first `count` rows; they stay in the storage of the cluster.

        Raises
        ------
        InputError
            If the rows have no order of their own.
        """
        if not self.ordered:
            return super().leading(count, progress)
        return self.thinned(Leading(count), progress)


def _nothing(_: Block) -> NDArray[np.int64]:
    return np.zeros(0, dtype=np.int64)


def _starts(rows: dict[int, int]) -> dict[int, int]:
    """Return the number of the first row of each partition.

    Examples
    --------
    >>> _starts({1: 5, 0: 10, 3: 2})
    {0: 0, 1: 10, 3: 15}
    """
    tasks = sorted(rows)
    return dict(zip(tasks, accumulate([0, *(rows[task] for task in tasks)]), strict=False))


def _tree(vectors: Any, tasks: int, size: int) -> Any:
    """Add vectors up on the cluster until few enough are left for the driver."""
    from pyspark.sql.functions import col

    while tasks > _FAN or (tasks > 1 and 8 * tasks * size > _TO_DRIVER):
        tasks = -(-tasks // _FAN)
        group = (col("task") % tasks).cast("int").alias("task")
        # Their sums are few: one partition for each.
        grouped = vectors.select(group, "piece", "words").repartition(tasks, "task")
        vectors = grouped.mapInArrow(Merging(), SUM_SCHEMA)
    return vectors


def _run(frame: Any) -> Any:
    """Return a data frame's rows as Arrow batches; an error quotes none of them."""
    try:
        with _silence():
            return frame.toArrow().to_batches()
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - Spark's message may quote values of rows
        raise InputError(sentence_of(str(error)) or _FAILED) from None


@contextmanager
def _silence() -> Iterator[None]:
    """Keep pyspark from logging the message of an error, which may quote values of rows."""
    from pyspark.logger import PySparkLogger

    names = "DataFrameQueryContextLogger", "SQLQueryContextLogger"
    loggers = [PySparkLogger.getLogger(name) for name in names]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def _forget(kept: Any) -> None:
    with suppress(Exception):  # the session may have ended
        kept.unpersist()


def frame_source(
    frame: Any, columns: Columns | None, block_bytes: int, labels: Sequence[str | int] = ()
) -> SparkSource:
    """Open a Spark data frame.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Classic or through Spark Connect.
    columns : str or iterable of str, optional
        Which columns, in which order.
    block_bytes : int
        Size of a block.
    labels : sequence of str
        The column that says whose a row is, if there is one.

    Raises
    ------
    InputError
        If it is a stream, or a selected column is not numeric.
    """
    from pyspark.sql.types import (
        BinaryType,
        BooleanType,
        CharType,
        DatetimeType,
        DayTimeIntervalType,
        NullType,
        NumericType,
        StringType,
        VarcharType,
    )

    if frame.isStreaming:
        raise InputError(
            "A streaming data frame has no end; write its rows to a table and pass that."
        )
    fields = frame.schema.fields
    numbers = NumericType | BooleanType | NullType
    words = StringType | CharType | VarcharType | BinaryType | DatetimeType | DayTimeIntervalType
    names = [field.name for field in fields]
    unusable, nested = (
        {
            field.name: f"of type {field.dataType.simpleString()[:60]}"
            for field in fields
            if not isinstance(field.dataType, allowed)
        }
        for allowed in (numbers, numbers | words)
    )
    chosen, marks = choose(
        columns, labels, names, unusable=unusable, nested=nested, where="the Spark DataFrame"
    )
    # Spark takes dots and the case of names for what it likes, so columns are numbered.
    numbered = frame.toDF(*(f"column{j}" for j in range(len(names))))
    where = [f"column{names.index(name)}" for name in (*chosen, *marks)]
    parts = [numbered[old].alias(f"c{j}") for j, old in enumerate(where)]
    width = max(1, len(chosen))
    reader = RowReader(width, max(1, block_bytes // (8 * width)))
    source = SparkSource(numbered.select(*parts), reader, (*chosen, *marks), block_bytes)
    source.labels = tuple(Labels() for _ in marks)
    kinds = {field.name: field.dataType for field in fields}
    source.flags = frozenset(name for name in chosen if isinstance(kinds[name], BooleanType))
    return source


def spark_session() -> Any:
    """Return the session in use, or start one, as Spark's own settings say.

    Raises
    ------
    InputError
        If there is no pyspark, or Spark does not start.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError(
            "Spark needs pyspark; install it with: pip install 'prolate[spark]'."
        ) from None
    try:
        return SparkSession.getActiveSession() or _start(SparkSession.builder.appName("prolate"))
    except Exception as error:  # noqa: BLE001 - of many kinds
        raise InputError(
            f"Spark did not start ({type(error).__name__}). It needs Java 17 or newer, or, for "
            "Spark Connect, the server that SPARK_REMOTE names."
        ) from None


def _start(builder: Any) -> Any:
    if not os.environ.get("SPARK_REMOTE"):
        if "SPARK_ENV_LOADED" not in os.environ:  # not by spark-submit: most likely local
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        # What Spark logs of a failed task may quote values of rows.
        builder = builder.config("spark.log.level", "FATAL")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
    return builder.getOrCreate()
