"""Rows of Arrow IPC files, which may be damaged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prolate.sources.files import DataFile
from prolate.sources.paths import name_for_arrow, readable

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ArrowFile"]

_LARGE_BATCH = 1 << 28  # bytes


class ArrowFile(DataFile):
    """An Arrow IPC file (Feather version 2), of the file or the streaming format."""

    kind = "Arrow"

    def __init__(self, path: str) -> None:
        import pyarrow as pa

        with readable(path, self.kind), pa.OSFile(name_for_arrow(path)) as file:
            self._random_access = file.read(6) == b"ARROW1"
            file.seek(0)
            reader = self._open(file, None)
            self._mapped = self._random_access and file.size() > _LARGE_BATCH * max(
                1, reader.num_record_batches
            )
            super().__init__(path, reader.schema.names, self._count(path), reader.schema)

    def _bytes(self) -> pa.NativeFile:
        """Open the file; mapped only where a batch could take much memory.

        Whoever shortens a mapped file, as writing it anew does, kills the process that reads it.
        """
        import pyarrow as pa

        name = name_for_arrow(self.path)
        return pa.memory_map(name) if self._mapped else pa.OSFile(name)

    def _open(self, file: pa.NativeFile, fields: list[int] | None) -> pa.RecordBatchReader:
        from pyarrow import ipc

        options = ipc.IpcReadOptions(included_fields=fields)
        opener = ipc.open_file if self._random_access else ipc.open_stream
        return opener(file, options=options)

    def _count(self, path: str) -> int | None:
        if not self._random_access:
            return None
        import pyarrow as pa
        from pyarrow import dataset

        no_columns = pa.schema([])  # Arrow opens no file whose columns share a name otherwise
        file = dataset.dataset(name_for_arrow(path), schema=no_columns, format="ipc")
        return int(file.count_rows())

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
