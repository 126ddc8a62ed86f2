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

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from prolate.arrays import Integers
from prolate.errors import InputError
from prolate.noise import NumberedBits
from prolate.sources.kept import Dealing, Leading, Thinning
from prolate.sources.labels import text_of
from prolate.sources.source import Block, Source
from prolate.sources.spark_storage import persisted
from prolate.sources.spark_tasks import (
    DEALT_SCHEMA,
    KEPT_SCHEMA,
    MARK,
    OTHER_ROWS,
    SUM_SCHEMA,
    Adding,
    Dealt,
    Keeping,
    KeptReader,
    Merging,
    Packing,
    Reader,
    RowReader,
    Sealing,
    one_person,
    one_spelling,
    person_mean,
    sentence_of,
    unpack,
)

__all__ = ["SparkSource"]

_CELLS = 1 << 22  # of stored rows, for one task
_FEW = 1 << 24  # cells of a data frame that are stored: 128 MB in all
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
        self._frame, self._reader = frame, reader
        self._rows = rows  # of `_frame`; None until there was a pass over it
        self._whole: SparkSource | None = None  # whose storage `_frame` is a part of
        self._seal: int | None = None  # of these rows, if they must be the very same ones

    @classmethod
    def stored(cls, packed: Any, columns: tuple[str, ...], rows_per_block: int) -> SparkSource:
        """Return the rows of a data frame of packed ones, which go to the cluster's storage."""
        source = cls(packed, KeptReader(len(columns)), columns, 8 * len(columns) * rows_per_block)
        source._frame = persisted(packed, source)
        return source

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
        query: Callable[[Block], Integers],
        size: int,
        progress: Callable[[int], None] | None = None,
    ) -> Integers:
        """Add ``query(block)`` up over all partitions, in one job of Spark's.

        Raises
        ------
        InputError
            If the job fails, or the data frame has not the rows that it had before.
        """
        if self.n_rows is None and size > _SMALL:
            self.collect(_nothing, 0)
        self._store_few()
        if self._rows is None and size > _SMALL:
            self.collect(_nothing, 0)
        frame, tasks = self._frame, len(self._rows or ())
        if self._is_stored and self._rows is not None:
            enough = max(1, -(-(self.n_rows or 0) * len(self.columns) // _CELLS))
            if enough < tasks:
                frame, tasks = frame.coalesce(enough), enough
        sealed = self._seal is not None
        adding, numbers = Adding(self._reader, query, size, sealed), size + sealed
        vectors = frame.mapInArrow(adding, SUM_SCHEMA)
        if self._rows is not None:
            vectors = _tree(vectors, tasks, numbers)
        total, rows = unpack(_run(vectors), numbers)
        self._check_seal(total[size:])
        total = total[:size]
        if self.n_rows is None:
            self.n_rows = sum(rows.values())
        elif sum(rows.values()) != self.n_rows:
            raise InputError(OTHER_ROWS)
        if self._rows is None:
            self._rows = rows
        if progress is not None:
            progress(sum(rows.values()))
        return total

    def _check_seal(self, found: Integers) -> None:
        """Raise `InputError` if these are not the very rows that were stored at first.

        Of the same rows in another order, each number, and so each part, has another row.
        """
        if self._seal is not None and (int(found[0]) - self._seal) % (1 << 64):
            raise InputError(OTHER_ROWS)

    @property
    def _is_stored(self) -> bool:
        return isinstance(self._reader, KeptReader)

    def _store_few(self) -> None:
        """Put the rows of a data frame into the cluster's storage, if they are known to be few."""
        width = len(self.columns)
        if isinstance(self._reader, RowReader) and 0 < (self.n_rows or 0) * width <= _FEW:
            packed = self._frame.mapInArrow(Packing(self._reader), KEPT_SCHEMA)
            self._reader, self._rows = KeptReader(width), None
            self._frame = persisted(packed, self)

    def thinned(
        self, keep: Thinning | Leading, progress: Callable[[int], None] | None = None
    ) -> Source:
        """Return the rows that `keep` chooses; they stay in the storage of the cluster."""
        if self._rows is None:
            self.collect(_nothing, 0)
        places = _places(self._rows or {})
        kept = self._frame.mapInArrow(Keeping(self._reader, keep, places), KEPT_SCHEMA)
        sample = SparkSource.stored(kept, self.columns, self.rows_per_block)
        sample.collect(_nothing, 0, progress)
        return sample

    def dealt(
        self, deal: Dealing, progress: Callable[[int], None] | None = None
    ) -> Callable[[Sequence[int]], Source]:
        """Deal the rows to separate parts; they stay in the cluster's storage."""
        if self._rows is None:
            self.collect(_nothing, 0)
        packed = self._frame.mapInArrow(
            Dealt(self._reader, deal, _places(self._rows or {})), DEALT_SCHEMA
        )
        every = SparkSource.stored(packed, self.columns, self.rows_per_block)
        every._rows = dict.fromkeys(self._rows or {}, 0)  # its tasks
        size = 2 * deal.parts
        seals = every._frame.mapInArrow(Sealing(deal.parts), SUM_SCHEMA)
        total, _ = unpack(_run(_tree(seals, len(every._rows), size)), size)
        counts = total[: deal.parts] // (8 * len(self.columns))
        if progress is not None:
            progress(int(counts.sum()))
        return partial(_some_parts, every, counts, total[deal.parts :])

    def persons(self, most: int | None = None, bits: NumberedBits | None = None) -> Source:
        """Return one row for each person: their own means, made where the rows are.

        Raises
        ------
        InputError
            If rows of each person are wanted instead.
        """
        if most is not None:
            raise InputError(
                "On Spark, each person counts with their mean; contribution='rows' is for rows "
                "that are read here."
            )
        width = len(self.columns) - 1
        columns = self.columns[:-1] or ("persons",)
        grouped = self._spelled(one_person).groupBy(f"c{width}")
        schema = ", ".join(f"c{j} double" for j in range(len(columns)))
        mark = MARK  # another one where the tasks are
        means = grouped.applyInArrow(lambda rows: person_mean(width, mark, rows), schema)
        packing = Packing(RowReader(len(columns), self.rows_per_block))
        packed = means.mapInArrow(packing, KEPT_SCHEMA)
        source = SparkSource.stored(packed, columns, self.rows_per_block)
        source.flags, source.whole, source.averaged = self.flags, self.whole, True
        return source

    def grouped(self, keys: Sequence[object]) -> SparkSource:
        """Return the rows with one of some labels in their last column, in the cluster's storage.

        A plan that gives a row another label each time it runs would put the row into several
        groups, of which each is measured as if it were all there is. So it runs once for all.
        """
        from pyspark.sql.functions import col

        labels = [text_of(key).encode() for key in keys]
        rows = self._spelled(one_spelling).filter(col(f"c{len(self.columns) - 1}").isin(labels))
        source = self._with(rows, self.columns)
        source._frame = persisted(rows, source)
        return source

    def group(self, key: object) -> SparkSource:
        """Return the rows, of those from `grouped`, with a label, and without their last column."""
        from pyspark.sql.functions import col, lit

        width = len(self.columns) - 1
        rows = self._frame.filter(col(f"c{width}") == lit(text_of(key).encode()))
        # Where there is nothing but the groups, they are what is counted.
        rows = rows.drop(f"c{width}") if width else rows.select(lit(0.0).alias("c0"))
        return self._with(rows, self.columns[:-1] or ("rows",))

    def _with(self, rows: Any, columns: tuple[str, ...]) -> SparkSource:
        """Return a source of other rows, in blocks of as many."""
        source = SparkSource(rows, RowReader(len(columns), self.rows_per_block), columns, 1)
        source.rows_per_block = self.rows_per_block
        source.flags, source.whole = self.flags, self.whole
        return source

    def _spelled(self, spelling: Callable[..., Any]) -> Any:
        """Return the data frame with the labels of its last column written by `spelling`."""
        from pyspark.sql.types import BinaryType, StructField, StructType

        width = len(self.columns) - 1
        mark = StructField(f"c{width}", BinaryType())
        schema = StructType([*self._frame.schema.fields[:width], mark])
        return self._frame.mapInArrow(partial(spelling, width, MARK), schema)

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


def _some_parts(
    stored: SparkSource, counts: Integers, seals: Integers, parts: Sequence[int]
) -> SparkSource:
    """Return the rows of some parts of a stored data frame, which stays as long as they do."""
    from pyspark.sql.functions import col

    found, mine = copy.copy(stored), list(set(parts))
    found._frame = stored._frame.filter(col("part").isin(mine))
    found.n_rows, found._whole = int(counts[mine].sum()), stored
    found._seal = sum(seals[mine].tolist())
    return found


def _nothing(_: Block) -> Integers:
    return np.zeros(0, dtype=np.int64)


def _places(rows: dict[int, int]) -> dict[int, range]:
    """Return the numbers of the rows of each partition, given how many each has.

    Examples
    --------
    >>> _places({1: 5, 0: 10, 3: 2})
    {0: range(0, 10), 1: range(10, 15), 3: range(15, 17)}
    """
    tasks = sorted(rows)
    ends = accumulate(rows[task] for task in tasks)
    return {task: range(end - rows[task], end) for task, end in zip(tasks, ends, strict=True)}


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
