"""Parquet files read by the tasks of a Spark job: row groups travel as numbers, not as rows.

Spark's own reader would unpack a file in Java and hand the rows over to Python one batch
at a time, which takes several times as long as reading them here. So each task gets a
list of row groups instead, and reads them with Arrow. Every machine must see the files
under the same paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prolate.errors import InputError
from prolate.sources.arrow import dense_blocks
from prolate.sources.choosing import Wanted
from prolate.sources.files import FileSource, ParquetDataFile, parquet_batches
from prolate.sources.partitions import with_keys
from prolate.sources.paths import FileStamp, Paths
from prolate.sources.source import Block
from prolate.sources.spark import SparkSource
from prolate.sources.spark_session import spark_session

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["fragment_source"]

_LEAST, _MOST = 1 << 22, 1 << 30  # cells that are worth a task, and that are enough for one
_TASKS_PER_CORE = 4
_MOST_TASKS = 1 << 17
_CORES = 64  # where Spark does not say how many there are


@dataclass(frozen=True)
class _File:
    """A file as every machine sees it: inodes differ from one to the other."""

    path: str
    size: int
    modified: int
    keys: Mapping[str, pa.Scalar] = field(compare=False)
    spare: str = field(compare=False)

    @classmethod
    def of(cls, path: str, keys: Mapping[str, pa.Scalar], spare: str) -> _File:
        stamp = FileStamp.of(path)
        return cls(path, stamp.size, stamp.modified, keys, spare)

    def read(
        self, columns: tuple[str, ...], rows: int, size: int, groups: range
    ) -> Iterator[pa.RecordBatch]:
        """Yield batches of some row groups, with the columns of folders."""

        def batches(own: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
            return parquet_batches(self.path, own, rows, size, groups)

        return with_keys(batches, columns, self.keys, self.spare)


@dataclass(frozen=True)
class FragmentReader:
    """The rows of row groups.

    Attributes
    ----------
    files : tuple of _File
    tasks : tuple
        For each task its fragments: (number of the file, first row group, end).
    columns : tuple of str
    rows_per_block : int
    block_bytes : int
    """

    files: tuple[_File, ...]
    tasks: tuple[tuple[tuple[int, int, int], ...], ...]
    columns: tuple[str, ...]
    rows_per_block: int
    block_bytes: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Block]:
        """Yield the rows of the tasks whose numbers stand in `batches`."""
        return dense_blocks(self._rows(batches), self.columns, self.rows_per_block)

    def _rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                for number, first, end in self.tasks[task]:
                    file = self.files[number]
                    _check_unchanged(file)
                    yield from file.read(
                        self.columns, self.rows_per_block, self.block_bytes, range(first, end)
                    )
                    _check_unchanged(file)


def _check_unchanged(file: _File) -> None:
    if _File.of(file.path, file.keys, file.spare) != file:
        raise InputError(
            f"{file.path} has changed since it was opened, or is another file on another machine; "
            "all measurements must be of the same rows."
        )


def fragment_source(paths: Paths, wanted: Wanted, block_bytes: int) -> SparkSource:
    """Open Parquet files for reading by the tasks of a Spark cluster.

    Parameters
    ----------
    paths : path or list of paths
        As for `FileSource`; this machine and the workers must see the same files there.
    wanted : Wanted
        Which columns.
    block_bytes : int
        Size of a block.

    Raises
    ------
    InputError
        As for `FileSource`; and if a file is not Parquet, or Spark does not start.
    """
    found = FileSource(paths, wanted, block_bytes)
    groups: list[tuple[int, int, int]] = []  # number of the file, row group, rows
    for number, file in enumerate(found._files):
        if not isinstance(file, ParquetDataFile):
            raise InputError(
                f"{file.path} is not a Parquet file, and Spark's tasks read parts of Parquet "
                "files only; read it with Spark, and pass the data frame."
            )
        groups += [(number, group, rows) for group, rows in enumerate(file.group_rows)]
    session = spark_session()
    cells = len(found.columns) * sum(rows for *_, rows in groups)
    tasks = list(_tasks(groups, _enough(cells, _cores(session)) // len(found.columns)))
    reader = FragmentReader(
        files=tuple(
            _File.of(str(Path(file.path).absolute()), file.keys, file.spare)
            for file in found._files
        ),
        tasks=tuple(_joined(task) for task in tasks),
        columns=found.columns,
        rows_per_block=found.rows_per_block,
        block_bytes=block_bytes,
    )
    numbers = session.range(0, len(tasks), 1, max(1, len(tasks)))
    rows = {number: sum(rows for *_, rows in task) for number, task in enumerate(tasks)}
    even = not any(start % 2 for start in accumulate(rows.values()) if start != found.n_rows)
    source = SparkSource(numbers, reader, found.columns, block_bytes, rows, ordered=even)
    source.flags, source.whole, source.left_out = found.flags, found.whole, found.left_out
    return source


def _cores(session: Any) -> int:
    try:
        return int(session.sparkContext.defaultParallelism)
    except Exception:  # noqa: BLE001 - Spark Connect has no such thing, and says so in many ways
        return _CORES


def _enough(cells: int, cores: int) -> int:
    """Return how many cells a task should have."""
    share = min(max(cells // (_TASKS_PER_CORE * cores), _LEAST), _MOST)
    return max(share, cells // _MOST_TASKS)


def _tasks(groups: list[tuple[int, int, int]], enough: int) -> Iterator[list[tuple[int, int, int]]]:
    """Cut row groups, in order, into tasks of at least `enough` rows.

    They are cut between the rows 2 k and 2 k + 1, where that does not make them much larger:
    then pairs of neighboring rows are those of the whole.
    """
    task: list[tuple[int, int, int]] = []
    filled = done = 0
    for group in groups:
        task.append(group)
        filled += group[-1]
        done += group[-1]
        if filled >= 3 * enough or (filled >= enough and done % 2 == 0):
            yield task
            task, filled = [], 0
    if task:
        yield task


def _joined(task: list[tuple[int, int, int]]) -> tuple[tuple[int, int, int], ...]:
    """Return runs of row groups: number of the file, first row group, end.

    Examples
    --------
    >>> _joined([(0, 2, 100), (0, 3, 100), (1, 0, 100)])
    ((0, 2, 4), (1, 0, 1))
    """
    runs: list[tuple[int, int, int]] = []
    for number, group, _ in task:
        if runs and runs[-1][0] == number:
            runs[-1] = (number, runs[-1][1], group + 1)
        else:
            runs.append((number, group, group + 1))
    return tuple(runs)
