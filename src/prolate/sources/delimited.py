r"""Rows of CSV and TSV files, in bounded memory, without errors about values.

CSV files have no schema, so it is taken from the top of the file, and **the top counts
as public**:

- the first line holds the names of the columns; the most frequent of comma, semicolon,
  tab and bar in it is the delimiter. A line of nothing but numbers is taken for a row of
  a file without names, and refused;
- a column is numeric if at least half of the cells that are not missing, in the first
  stretch of the file (a million bytes), are numbers; in that stretch at least half of
  the lines must have as many fields as the header.

The first line must be UTF-8. After that no row causes an error, and no row changes what is
read of another one:

- a cell is a number in the notation of programming languages (``-1.5e3``; spaces
  around it, ``inf`` and ``nan`` are allowed), or ``true`` or ``false``, read as 1 and 0;
  any other cell is missing;
- a line with too few or too many fields is a row of which every cell is missing, *in
  its place*, so that the rows after it stay where they are;
- bytes that are no UTF-8 stand for characters that mean nothing;
- a blank line is no row, except in a file of one column, where it is a missing cell.

Two things remain that one row can do. A quote that is opened and not closed swallows
the lines up to the next quote: there, the file itself does not say what its rows are.
And a line (or a swallowed part) much longer than a stretch is an error.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prolate.errors import InputError
from prolate.sources.files import DataFile
from prolate.sources.paths import COMPRESSIONS, readable
from prolate.sources.utf8 import Utf8

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DelimitedFile", "numbers"]

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_NOT_FINITE = r"^[+-]?(?i:inf|infinity|nan)$"
_MISSING = [
    "", "?", ".", "-", "NA", "N/A", "#N/A", "n/a", "na", "NaN", "nan", "-nan", "NULL", "Null",
    "null", "None", "none",
]  # fmt: skip
_STRETCHES = (1 << 20, 1 << 22, 1 << 24, 1 << 26)  # bytes; the first in which a line fits


def numbers(cells: pa.Array) -> pa.Array:
    """Return text as float64, null where it is not a number.

    Whether a cell is a number depends on that cell alone.

    Examples
    --------
    >>> import pyarrow as pa
    >>> numbers(pa.array([" 1.5", "2e3", "true", "12 km", None])).to_pylist()
    [1.5, 2000.0, 1.0, None, None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return cells.cast(pa.float64())  # quick, and all or nothing
    except pa.ArrowInvalid:
        pass
    cells = pc.ascii_trim_whitespace(cells)
    lower = pc.ascii_lower(cells)
    known = pc.or_(
        pc.match_substring_regex(cells, _NUMBER), pc.match_substring_regex(cells, _NOT_FINITE)
    )
    text = pc.if_else(known, cells, pa.scalar(None, pa.string()))
    text = pc.if_else(pc.equal(lower, "true"), "1", text)
    text = pc.if_else(pc.equal(lower, "false"), "0", text)
    return text.cast(pa.float64())


class DelimitedFile(DataFile):
    """A CSV or TSV file, perhaps compressed; see the module for what is read how."""

    kind = "CSV text in UTF-8"

    def __init__(self, path: str) -> None:
        self.path = path
        with readable(path, self.kind):
            header = self._header()
        if not header.strip():
            raise InputError(f"{path} is empty; its first line must hold column names.")
        self._delimiter = _delimiter(header)
        with readable(path, self.kind):
            self._stretch, names = self._names()
        if all(number.is_valid for number in _numbers_of(names)):
            raise InputError(
                f"The first line of {path} must hold the names of the columns; it holds only "
                "numbers. Add a line of names, or pass the rows as a table."
            )
        super().__init__(path, names, {}, None)
        if len(set(names)) == len(names):
            self.unusable = self._unusable()

    def _bytes(self) -> pa.NativeFile:
        import pyarrow as pa

        ending = Path(self.path.lower()).suffix
        return pa.input_stream(self.path, compression=COMPRESSIONS.get(ending))

    def _header(self) -> str:
        """Return the first line, as far as the first stretch of the file goes."""
        with self._bytes() as stream:
            top = re.split(rb"[\r\n]", stream.read(_STRETCHES[0]), maxsplit=1)[0]
        return top.decode("utf-8-sig")

    @contextmanager
    def _reader(
        self, stretch: int, columns: Sequence[str] | None, malformed: deque[int]
    ) -> Iterator[pa.RecordBatchReader]:
        """Open the file, `columns` as text; collect the positions of malformed rows."""
        from pyarrow import csv

        def skip(row: Any) -> str:
            malformed.append(row.number - 2)  # row 1 is the header; blank lines do not count
            return "skip"

        # With threads, Arrow does not tell the numbers of malformed rows.
        reading = csv.ReadOptions(block_size=stretch, use_threads=False)
        parsing = csv.ParseOptions(
            delimiter=self._delimiter or ",",
            newlines_in_values=True,
            ignore_empty_lines=self._delimiter is not None,
            invalid_row_handler=skip,
        )
        converting = csv.ConvertOptions(
            include_columns=columns,
            column_types=None if columns is None else dict.fromkeys(columns, "string"),
            null_values=_MISSING,
            strings_can_be_null=True,
            check_utf8=False,
        )
        with (
            self._bytes() as stream,
            csv.open_csv(Utf8(stream), reading, parsing, converting) as reader,
        ):
            yield reader

    def _names(self) -> tuple[int, list[str]]:
        """Return the names, and the length of stretch that the first lines fit in.

        Arrow reads up to 32 stretches ahead, so the shortest one is best.
        """
        import pyarrow as pa

        for stretch in _STRETCHES:
            try:
                with self._reader(stretch, None, deque()) as reader:
                    return stretch, list(reader.schema.names)
            except pa.ArrowInvalid:
                if stretch == _STRETCHES[-1]:
                    raise
        raise AssertionError  # not reached

    def _unusable(self) -> dict[str, str]:
        """Return the columns of the first stretch that are not numeric."""
        malformed: deque[int] = deque()
        cells: dict[str, pa.Array] = {}
        rows = 0
        with (
            readable(self.path, self.kind),
            self._reader(self._stretch, self.names, malformed) as reader,
        ):
            first = next(iter(reader), None)
            if first is not None:
                rows = first.num_rows
                cells = dict(zip(self.names, first.columns, strict=True))
        # The reader may be ahead: only malformed rows before the last good one are in
        # the first stretch for sure.
        early = sum(1 for good, at in enumerate(malformed) if rows == 0 or at - good < rows)
        if early > rows:
            raise InputError(
                f"Most lines of {self.path} do not have as many fields as its first line, "
                "which must hold the names of the columns."
            )
        return {name: "text" for name, column in cells.items() if not _mostly_numbers(column)}

    def batches(self, columns: tuple[str, ...], rows: int, size: int) -> Iterator[pa.RecordBatch]:
        """Yield batches of numbers, and labels as text; a malformed row is one of nulls."""
        import pyarrow as pa

        malformed: deque[int] = deque()
        missing = pa.record_batch([pa.nulls(1)] * len(columns), names=list(columns))
        position = 0
        with (
            readable(self.path, self.kind),
            self._reader(self._stretch, columns, malformed) as reader,
        ):
            for text in reader:
                cells = zip(columns, text.columns, strict=True)
                read = [part if name in self.labels else numbers(part) for name, part in cells]
                batch = pa.record_batch(read, list(columns))
                start = 0
                while start < batch.num_rows:
                    if malformed and malformed[0] == position:
                        malformed.popleft()
                        yield missing
                        position += 1
                        continue
                    take = batch.num_rows - start
                    if malformed:
                        take = min(take, malformed[0] - position)
                    yield batch.slice(start, take)
                    start += take
                    position += take
            for _ in malformed:
                yield missing


def _delimiter(header: str) -> str | None:
    """Return the most frequent delimiter outside quotes, or None if there is none."""
    bare = re.sub(r'"[^"]*"', "", header)
    best = max(",;\t|", key=bare.count)
    return best if best in bare else None


def _numbers_of(names: Sequence[str]) -> pa.Array:
    import pyarrow as pa

    return numbers(pa.array(names, pa.string()))


def _mostly_numbers(cells: pa.Array) -> bool:
    present = len(cells) - cells.null_count
    valid = len(cells) - numbers(cells).null_count
    return bool(2 * valid >= present)
