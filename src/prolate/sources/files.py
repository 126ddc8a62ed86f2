"""Rows of Parquet, CSV and Arrow files, in bounded memory.

A file is read anew for every pass, and never as a whole: Parquet page by page, Arrow
one record batch at a time (through a memory map, if these are large), CSV by
stretches of text (`prolate.sources.delimited`). Of Parquet columns that are encoded by
a dictionary, Arrow keeps the compressed pages until the row group ends. A file that
changes between two passes is an error, for then the measurements would not be of one
data set.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from prolate.compiled import WORK
from prolate.errors import InputError, listed
from prolate.sources.arrow import (
    BatchSource,
    flag_columns,
    label_types,
    nested_columns,
    unusable_columns,
    whole_columns,
)
from prolate.sources.choosing import Schema, Wanted, choose, index_beside, without_index
from prolate.sources.decimals import Decimals, Votes
from prolate.sources.label_types import LabelType, common_type
from prolate.sources.labels import Labels
from prolate.sources.partitions import keys_of, with_keys
from prolate.sources.paths import (
    FileStamp,
    Paths,
    find_parts,
    format_of,
    name_for_arrow,
    readable,
)
from prolate.sources.spellings import are_rounded, clash, kinds_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DataFile", "FileSource", "ParquetDataFile", "first_file", "parquet_batches"]

_BATCH_ROWS = 1 << 14  # a Parquet batch is read while still in the cache
_WIDE_ROWS, _LARGER = 1 << 11, 8  # of many columns, each of which takes its time; times a block


class DataFile(ABC):
    """One file: its schema, and its rows as often as needed.

    Parameters
    ----------
    path : str
    names : sequence of str
        All its columns; those of its folders come after its own.
    n_rows : int or None
        The number of rows, where the file says it.
    schema : pyarrow.Schema, optional
        Their types, where the file says them.

    Attributes
    ----------
    unusable : dict
        The columns that are not numeric, each with its type.
    nested : dict
        The columns that cannot be labels, each with its type.
    label_types : dict
        What values the labels of its own columns are, where their types say it.
    kinds : dict
        How its own columns spell values, where they have types; see `prolate.sources.spellings`.
    labels : tuple of str
        The columns that are read as labels.
    twice : frozenset of str
        Those of them that are read as numbers, too.
    missing : collection of str
        What stands for a missing value.
    decimal_commas : bool
        Whether numbers most likely have decimal commas, by what delimits them.
    decimals : Decimals
        What its first part says of that.
    of_all : Votes
        What rows of all files of the data set say.
    flags, whole : frozenset of str
        The columns that are booleans, and those of whole numbers, by their types.
    keys : dict
        The columns that its folders hold, each with its only value.
    spare : str
        A column of its own that costs little to read.
    """

    kind: str
    labels: tuple[str, ...] = ()
    twice: frozenset[str] = frozenset()
    missing: Collection[str] = ()
    decimal_commas: bool = False
    decimals: Decimals = Decimals()
    of_all: Votes = Votes()
    flags: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()

    def __init__(
        self, path: str, names: Sequence[str], n_rows: int | None, schema: pa.Schema | None = None
    ) -> None:
        self.path = path
        self.names = tuple(names)
        self.n_rows = n_rows
        self.unusable: dict[str, str] = {}
        self.nested: dict[str, str] = {}
        self.label_types: dict[str, LabelType] = {}
        self.kinds: dict[str, str] = dict.fromkeys(names, "other")
        if schema is not None:
            self.unusable, self.nested = unusable_columns(schema), nested_columns(schema)
            self.flags, self.whole = flag_columns(schema), whole_columns(schema)
            self.label_types, self.kinds = label_types(schema), kinds_of(schema)
        self.keys: dict[str, pa.Scalar] = {}
        self.spare = next((name for name in names if name not in self.unusable), "".join(names[:1]))

    def is_unsettled(self, name: str) -> bool:
        """Return whether nothing said what ``1.234`` is in a column that has such cells."""
        return False

    def add_keys(self, keys: Mapping[str, pa.Scalar]) -> None:
        """Add the columns that folders hold, but for those that the file has itself."""
        if not self.names:
            return
        self.keys = {name: value for name, value in keys.items() if name not in self.names}
        self.kinds |= dict.fromkeys(self.keys, "other")
        self.names += tuple(self.keys)
        self.unusable |= {
            name: "text in the names of folders"
            for name, value in self.keys.items()
            if str(value.type) == "string"
        }

    def label_type(self, name: str) -> LabelType:
        """Return what values the labels of a column are; names of folders hold whole numbers."""
        if name in self.keys and name not in self.unusable:
            return "integer"
        return self.label_types.get(name, "text")

    def read(self, columns: Sequence[str], rows: int, size: int) -> Iterator[pa.RecordBatch]:
        """Yield batches as `batches` does, with the columns of folders."""
        if self.keys.keys().isdisjoint(columns):
            return self.batches(tuple(columns), rows, size)
        return with_keys(lambda own: self.batches(own, rows, size), columns, self.keys, self.spare)

    @abstractmethod
    def batches(self, columns: tuple[str, ...], rows: int, size: int) -> Iterator[pa.RecordBatch]:
        """Yield batches with, at least, `columns` of its own: about `rows` rows or `size` bytes."""

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

        with readable(path, self.kind), ParquetFile(name_for_arrow(path)) as file:
            schema, about = file.schema_arrow, file.metadata
            super().__init__(path, schema.names, about.num_rows, schema)
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
        ParquetFile(name_for_arrow(path), buffer_size=buffer, pre_buffer=False) as file,
    ):
        rows = min(max(rows, min(_WIDE_ROWS, _LARGER * rows)), _BATCH_ROWS)
        for batch in file.iter_batches(batch_size=rows, columns=list(columns), row_groups=groups):
            WORK.wait(batch.num_rows * batch.num_columns)
            yield batch


def first_file(data: Paths) -> DataFile:
    """Return the first of the files that `data` stands for, for its columns.

    Raises
    ------
    InputError
        As `FileSource` does.
    """
    parts = find_parts(data)
    file = _open_file(parts[0].path)
    file.add_keys(keys_of(parts)[0])
    return file


def _open_file(path: str) -> DataFile:
    kind = format_of(path)
    if kind == "Parquet":
        return ParquetDataFile(path)
    if kind == "Arrow":
        from prolate.sources.arrow_file import ArrowFile

        return ArrowFile(path)
    from prolate.sources.delimited import DelimitedFile

    return DelimitedFile(path)


class FileSource(BatchSource):
    """Rows of one or more data files that have the same columns, or those that are asked for.

    Parameters
    ----------
    paths : path or list of paths
        Files, globs, or directories (the data files directly in them, and in folders such as
        ``year=2024``).
    wanted : Wanted
        Which columns. Every file must have those that are named, and may have any others.
    block_bytes : int
        Size of a block; reading takes a few times as much.

    Raises
    ------
    InputError
        If a file does not exist, cannot be read, or lacks a selected column (where none are
        named, if it has other columns than the first one); or if a selected column is
        not numeric.
    """

    def __init__(self, paths: Paths, wanted: Wanted, block_bytes: int) -> None:
        self._size = block_bytes
        self._files: list[DataFile] = []
        self._stamps: list[FileStamp] = []
        values: tuple[str, ...] = ()
        marks: tuple[str, ...] = ()
        are_named = wanted.columns is not None
        targets = 0 if wanted.target is None else 1
        parts = find_parts(paths)
        for path, keys in zip((part.path for part in parts), keys_of(parts), strict=True):
            self._stamps.append(FileStamp.of(path))
            file = _open_file(path)
            file.add_keys(keys)
            if self._files:
                if not are_named:
                    _check_same(self._files[0], file, wanted)
                wanted = replace(wanted, columns=values[: len(values) - targets], labels=marks)
            values, marks = choose(wanted, Schema(file.names, path, file.unusable, file.nested))
            file.labels, file.twice = marks, frozenset(values).intersection(marks)
            self._files.append(file)
        votes = sum((file.decimals.rows for file in self._files), Votes())
        for file in self._files:
            file.of_all = votes
        self.labels = tuple(map(self._labels_of, marks))
        self.flags = frozenset(values).intersection(*(file.flags for file in self._files))
        self.whole = frozenset(values).intersection(*(file.whole for file in self._files))
        if any(format_of(file.path) not in ("Parquet", "Arrow") for file in self._files):
            unsettled = any(file.is_unsettled(name) for file in self._files for name in values)
            self.cells = "points" if unsettled else "text"
        counts = [file.n_rows for file in self._files]
        known = [count for count in counts if count is not None]
        n_rows = sum(known) if len(known) == len(counts) else None
        super().__init__((*values, *marks), n_rows, block_bytes)
        every = dict.fromkeys(name for file in self._files for name in file.names)
        self.left_out = () if are_named else index_beside(None, every, self.columns)

    def _labels_of(self, name: str) -> Labels:
        files = self._files
        kinds = [(file.path, file.kinds[name]) for file in files if name in file.kinds]
        return Labels(
            {text for file in files if name not in file.keys for text in file.missing},
            decimal_commas=any(file.decimal_commas for file in files),
            whole=all(name in file.keys and name not in file.unusable for file in files),
            kind=common_type(file.label_type(name) for file in files),
            rounded=are_rounded([kind for _, kind in kinds]),
            clash=clash(name, kinds),
        )

    def counted(self, progress: Callable[[int], None] | None = None) -> int:
        """Return the number of rows, of which one column is read at most."""
        if self.n_rows is None:
            done = 0
            for file, stamp in zip(self._files, self._stamps, strict=True):
                _check_unchanged(file, stamp)
                known = None if file.n_rows is None else [file.n_rows]
                for rows in known or file.count(file.spare):
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
            yield from file.read(columns, self.rows_per_block, self._size)
            _check_unchanged(file, stamp)


def _check_same(first: DataFile, file: DataFile, wanted: Wanted) -> None:
    missing = [name for name in without_index(first.names) if name not in set(file.names)]
    extra = [name for name in without_index(file.names) if name not in set(first.names)]
    if missing or extra:
        differences = [
            f"{what} {listed(names, 4)}"
            for what, names in (("lacks", missing), ("has", extra))
            if names
        ]
        lacked = {*missing, *first.unusable, *file.unusable, wanted.target}
        common = [name for name in without_index(first.names) if name not in lacked]
        remedy = (
            f", or choose from those that both have: {wanted.argument}=[{listed(common, 40)}]"
            if common
            else ""
        )
        raise InputError(
            f"{file.path} has other columns than {first.path}: it {' and '.join(differences)}. "
            f"Files read together must have the same columns{remedy}."
        )


def _check_unchanged(file: DataFile, stamp: FileStamp) -> None:
    if FileStamp.of(file.path) != stamp:
        raise InputError(
            f"{file.path} has changed since it was opened; all measurements must be of the "
            "same rows. Start again, and leave the file alone meanwhile."
        )
