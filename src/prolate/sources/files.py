"""Rows of Parquet, CSV and Arrow files, in bounded memory.

A file is read anew for every pass, and never as a whole: Parquet page by page, Arrow
through a memory map (a compressed Arrow file: one record batch at a time), CSV by
stretches of text (`prolate.sources.delimited`). Of Parquet columns that are encoded by
a dictionary, Arrow keeps the compressed pages until the row group ends. A file that
changes between two passes is an error, for then the measurements would not be of one
data set.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from prolate.compiled import WORK
from prolate.errors import InputError
from prolate.sources.arrow import BatchSource, nested_columns, unusable_columns
from prolate.sources.labels import Labels, choose
from prolate.sources.paths import FileStamp, find_files, format_of, readable
from prolate.sources.source import Columns, listed

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ArrowFile", "DataFile", "FileSource", "ParquetDataFile", "parquet_batches"]

_LARGE_BATCH = 1 << 28  # bytes of an Arrow file
_BATCH_ROWS = 1 << 14  # a Parquet batch is copied into a block while still in the cache


class DataFile(ABC):
    """One file: its schema, and its rows as often as needed.

    Parameters
    ----------
    path : str
    names : sequence of str
        All its columns.
    unusable : mapping from str to str
        Those that are not numeric, each with its type.
    n_rows : int or None
        The number of rows, where the file says it.

    Attributes
    ----------
    nested : dict
        The columns that cannot be labels, each with its type.
    labels : tuple of str
        The columns that are read as labels.
    missing : collection of str
        What stands for a missing value.
    """

    kind: str
    labels: tuple[str, ...] = ()
    missing: Collection[str] = ()

    def __init__(
        self, path: str, names: Sequence[str], unusable: Mapping[str, str], n_rows: int | None
    ) -> None:
        self.path = path
        self.names = tuple(names)
        self.unusable = dict(unusable)
        self.nested: dict[str, str] = {}
        self.n_rows = n_rows

    @abstractmethod
    def batches(self, columns: tuple[str, ...], rows: int, size: int) -> Iterator[pa.RecordBatch]:
        """Yield batches with, at least, `columns`, of about `rows` rows or `size` bytes."""

    def count(self, column: str) -> Iterator[int]:
        """Yield numbers of rows that add up to the file's, given a column that can be read."""
        yield from (batch.num_rows for batch in self.batches((column,), 1 << 16, 1 << 22))


class ParquetDataFile(DataFile):
    """A Parquet file.

    Attributes
    ----------
    group_rows : tuple of int
        The number of rows of each row group.
    """

    kind = "Parquet"

    def __init__(self, path: str) -> None:
        from pyarrow.parquet import ParquetFile

        with readable(path, self.kind), ParquetFile(path) as file:
            schema, about = file.schema_arrow, file.metadata
            super().__init__(path, schema.names, unusable_columns(schema), about.num_rows)
            self.nested = nested_columns(schema)
            groups = range(about.num_row_groups)
            self.group_rows = tuple(about.row_group(group).num_rows for group in groups)

    def batches(self, columns: tuple[str, ...], rows: int, size: int) -> Iterator[pa.RecordBatch]:
        """Yield batches, decoded page by page."""
        return parquet_batches(self.path, columns, rows, size)


def parquet_batches(
    path: str,
    columns: tuple[str, ...],
    rows: int,
    size: int,
    groups: Sequence[int] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a Parquet file, or of some of its row groups, decoded page by page."""
    from pyarrow.parquet import ParquetFile

    # Without a buffer size, Arrow loads whole column chunks: a row group at a time.
    buffer = min(1 << 16, max(1 << 13, size // len(columns)))
    with (
        readable(path, ParquetDataFile.kind),
        ParquetFile(path, buffer_size=buffer, pre_buffer=False) as file,
    ):
        for batch in file.iter_batches(
            batch_size=min(rows, _BATCH_ROWS), columns=list(columns), row_groups=groups
        ):
            WORK.wait(batch.num_rows * batch.num_columns)
            yield batch


class ArrowFile(DataFile):
    """An Arrow IPC file (Feather version 2), of the file or the streaming format."""

    kind = "Arrow"

    def __init__(self, path: str) -> None:
        import pyarrow as pa

        with readable(path, self.kind), pa.OSFile(path) as file:
            self._random_access = file.read(6) == b"ARROW1"
            file.seek(0)
            reader = self._open(file, None)
            self._mapped = self._random_access and file.size() > _LARGE_BATCH * max(
                1, reader.num_record_batches
            )
            schema = reader.schema
            super().__init__(path, schema.names, unusable_columns(schema), self._count(path))
            self.nested = nested_columns(schema)

    def _bytes(self) -> pa.NativeFile:
        """Open the file; mapped only where a batch could take much memory.

        Whoever shortens a mapped file, as writing it anew does, kills the process that reads it.
        """
        import pyarrow as pa

        return pa.memory_map(self.path) if self._mapped else pa.OSFile(self.path)

    def _open(self, file: pa.NativeFile, fields: list[int] | None) -> pa.RecordBatchReader:
        from pyarrow import ipc

        options = ipc.IpcReadOptions(included_fields=fields)
        opener = ipc.open_file if self._random_access else ipc.open_stream
        return opener(file, options=options)

    def _count(self, path: str) -> int | None:
        if not self._random_access:
            return None
        from pyarrow import dataset

        return int(dataset.dataset(path, format="ipc").count_rows())

    def batches(self, columns: tuple[str, ...], rows: int, size: int) -> Iterator[pa.RecordBatch]:
        """Yield the record batches as they were written."""
        fields = sorted(self.names.index(name) for name in columns)
        with readable(self.path, self.kind), self._bytes() as file:
            reader = self._open(file, fields)
            if self._random_access:
                for number in range(reader.num_record_batches):
                    yield _sound(reader.get_batch(number))
            else:
                yield from map(_sound, reader)


def _sound(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch that does not point out of its memory, as a damaged file's may."""
    for column in batch.columns:
        _check(column)
    return batch


def _check(values: pa.Array) -> None:
    import pyarrow as pa

    kind = values.type
    # Whether bytes are UTF-8, a time is one of a day, or an index is one of the words
    # (`decoded` sees to it), is no matter of soundness: a row could decide it.
    if isinstance(values, pa.ExtensionArray):
        _check(values.storage)
        return
    if pa.types.is_dictionary(kind):
        _check(values.dictionary)
        return
    if pa.types.is_run_end_encoded(kind):
        values.validate()
        values.run_ends.validate(full=True)
        _check(values.values)
        return
    if pa.types.is_string(kind):
        values = values.view(pa.binary())
    elif pa.types.is_large_string(kind):
        values = values.view(pa.large_binary())
    elif kind == pa.string_view():
        values = values.view(pa.binary_view())
    values.validate(full=not (pa.types.is_primitive(kind) or pa.types.is_decimal(kind)))


def _open_file(path: str) -> DataFile:
    kind = format_of(path)
    if kind == "Parquet":
        return ParquetDataFile(path)
    if kind == "Arrow":
        return ArrowFile(path)
    from prolate.sources.delimited import DelimitedFile

    return DelimitedFile(path)


class FileSource(BatchSource):
    """Rows of one or more data files with the same columns.

    Parameters
    ----------
    paths : iterable of path
        Files, globs, or directories (the data files directly in them).
    columns : str or iterable of str, optional
        Which columns, in which order.
    block_bytes : int
        Size of a block; reading takes a few times as much.
    labels : sequence of str
        Columns of labels, which come last.

    Raises
    ------
    InputError
        If a file does not exist, cannot be read, or has other columns than the first
        one; or if a selected column is not numeric.
    """

    def __init__(
        self,
        paths: Iterable[str | os.PathLike[str]],
        columns: Columns | None,
        block_bytes: int,
        labels: Sequence[str | int] = (),
    ) -> None:
        self._size = block_bytes
        self._files: list[DataFile] = []
        self._stamps: list[FileStamp] = []
        values: tuple[str, ...] = ()
        marks: tuple[str, ...] = ()
        for path in find_files(paths):
            self._stamps.append(FileStamp.of(path))
            file = _open_file(path)
            if self._files:
                _check_same(self._files[0], file)
                columns, labels = values, marks
            values, marks = choose(
                columns,
                labels,
                file.names,
                unusable=file.unusable,
                nested=file.nested,
                where=path,
            )
            file.labels = marks
            self._files.append(file)
        missing = {text for file in self._files for text in file.missing}
        self.labels = tuple(Labels(missing) for _ in marks)
        counts = [file.n_rows for file in self._files]
        known = [count for count in counts if count is not None]
        n_rows = sum(known) if len(known) == len(counts) else None
        super().__init__((*values, *marks), n_rows, block_bytes)

    def counted(self, progress: Callable[[int], None] | None = None) -> int:
        """Return the number of rows, of which one column is read at most."""
        if self.n_rows is None:
            done = 0
            for file, stamp in zip(self._files, self._stamps, strict=True):
                _check_unchanged(file, stamp)
                known = None if file.n_rows is None else [file.n_rows]
                for rows in known or file.count(self.columns[0]):
                    done += rows
                    if progress is not None:
                        progress(done)
                _check_unchanged(file, stamp)
            self.n_rows = done
        return self.n_rows

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for file, stamp in zip(self._files, self._stamps, strict=True):
            _check_unchanged(file, stamp)
            columns = tuple(dict.fromkeys(self.columns))
            yield from file.batches(columns, self.rows_per_block, self._size)
            _check_unchanged(file, stamp)


def _check_same(first: DataFile, file: DataFile) -> None:
    missing = [name for name in first.names if name not in set(file.names)]
    extra = [name for name in file.names if name not in set(first.names)]
    if missing or extra:
        differences = [
            f"{what} {listed(names, 4)}"
            for what, names in (("lacks", missing), ("has", extra))
            if names
        ]
        raise InputError(
            f"{file.path} has other columns than {first.path}: it {' and '.join(differences)}. "
            "Files read together must have the same columns."
        )


def _check_unchanged(file: DataFile, stamp: FileStamp) -> None:
    if FileStamp.of(file.path) != stamp:
        raise InputError(
            f"{file.path} has changed since it was opened; all measurements must be of the "
            "same rows. Start again, and leave the file alone meanwhile."
        )
