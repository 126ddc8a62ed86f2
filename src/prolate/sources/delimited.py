r"""Rows of CSV and TSV files, in bounded memory, without errors about values.

CSV files have no schema, so it is taken from the top of the file, and **that much counts as
public**:

- the first line holds the names of the columns; the most frequent of comma, semicolon,
  tab and bar in it is the delimiter, or what a line ``sep=;`` above it says. A line of
  nothing but numbers is taken for a row of a file without names, and refused;
- a column is numeric unless most of the cells that are not missing, in the first rows, are no
  numbers;
- of these rows at most half may have another number of fields than the header. Else the file is
  refused: most likely it has another delimiter, or lines above the names, and a release of nothing
  but missing values would be paid for;
- some cells can be two numbers, such as ``1.234``: which one, the first rows say (`decimals.py`).

These are votes of the first hundred to four thousand rows, the fewer the more columns there are.
Majorities must be larger by two rows or cells, so that none decides where no others do, and none
where the others agree (`docs/privacy.md`).

The first line must be UTF-8. Beyond that and the votes no row causes an error, and no row changes
what is read of another one:

- a cell is a number in the notation of programming languages (``-1.5e3``; spaces
  around it, spaces and apostrophes between thousands, ``inf`` and ``nan`` are allowed; negative
  also ``(1.5)``, ``1.5-``, ``- 1.5`` and one with a minus sign of its own, U+2212), or ``true`` or
  ``false``, read as 1 and 0; any other cell is missing;
- commas part thousands in ``1,234.5`` and ``1,234,567``; in ``1,234``, too, where the delimiter is
  no semicolon, unless the first rows have cells such as ``1,5``, which are missing there;
- where the delimiter is a semicolon, numbers may also have decimal commas (``-1,5e3``), with points
  between thousands (``1.234,5`` and ``1.234.567``). There, ``1.234`` and ``1,234`` may have either;
  where the first rows do not say which, both are decimal, and releases say so of points;
- a line with too few or too many fields is a row of which every cell is missing, *in
  its place*, so that the rows after it stay where they are;
- bytes that are no UTF-8 stand for characters that mean nothing;
- a blank line is no row, except in a file of one column, where it is a missing cell.

Two things remain that one row can do. A quote that is opened and not closed swallows
the lines up to the next quote: there, the file itself does not say what its rows are.
And a line (or a swallowed part) much longer than a stretch is an error.

Arrow parses the text, but stretch by stretch, each of whole lines. Its own reader of streams
reads ahead in another thread: where it was left in the middle, or the file was damaged, it
now and then kept the process from ending.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from prolate.compiled import WORK
from prolate.errors import InputError
from prolate.parallel import in_threads
from prolate.sources.cells import TIED, Marks, are_text, numbers, words
from prolate.sources.decimals import read_decimals
from prolate.sources.files import DataFile
from prolate.sources.header import read_header
from prolate.sources.paths import COMPRESSIONS, name_for_arrow, readable
from prolate.sources.threads import thread_count
from prolate.sources.utf8 import Utf8

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DelimitedFile"]

Answer = TypeVar("Answer")

_MISSING = [
    "", "?", ".", "-", "NA", "N/A", "#N/A", "n/a", "na", "NaN", "nan", "-nan", "NULL", "Null",
    "null", "None", "none",
]  # fmt: skip
_AT_ONCE, _MOST = 2, 32  # stretches that are parsed together, for each thread and in all
_STRETCH, _LONGEST = 1 << 20, 1 << 26  # bytes read at a time, and of a line at most
# Of the first part, which votes: cells, and rows at least and at most.
_TOP_CELLS, _TOP_ROWS = 1 << 16, (100, 1 << 12)


class DelimitedFile(DataFile):
    """A CSV or TSV file, perhaps compressed; see the module for what is read how."""

    kind = "CSV text in UTF-8"
    missing = tuple(_MISSING)

    def __init__(self, path: str) -> None:
        self.path = path
        with readable(path, self.kind):
            with self._bytes() as stream:
                self._header = read_header(path, _first_lines(stream))
            self._delimiter = self._header.delimiter
            names = self._parsed(next(self._stretches()), None)[0].column_names
        self.decimal_commas = self._delimiter == ";"
        if numbers(words(*names), Marks(decimal_commas=self.decimal_commas)).null_count == 0:
            raise InputError(
                f"The first line of {path} must hold the names of the columns; it holds only "
                "numbers. Add a line of names, or pass the rows as a table."
            )
        super().__init__(path, names, None)
        top, malformed, rows = self._top()
        if 2 * malformed > rows + TIED:
            raise InputError(
                f"Most lines of {path} do not have as many fields as its first line, "
                "which must hold the names of the columns. Take away lines above the names."
            )
        self.decimals = read_decimals(top)
        self.unusable = {
            name: "text"
            for name in top.column_names
            if are_text(top.column(name), self._numbers(name, top.column(name)))
        }

    def _top(self) -> tuple[pa.Table, int, int]:
        """Return the first rows as text, how many of them are malformed, and how many there are.

        So many rows as the names say, so that none of them leaves less room for the others.
        Of names that are there twice there are no columns.
        """
        import pyarrow as pa

        columns = self.names if len(set(self.names)) == len(self.names) else ()
        rows = min(max(_TOP_CELLS // len(self.names), _TOP_ROWS[0]), _TOP_ROWS[1])
        found, lost, count = [], 0, 0

        def read(text: bytes) -> tuple[pa.Table, list[int]]:
            return self._parsed(text, columns or None)

        for table, malformed in self._each(read, at_once=1):
            here = _with_missing(table, malformed).slice(0, rows - count)
            lost += sum(place < here.num_rows for place in malformed)
            count += here.num_rows
            found.append(here.select(columns))
            if count == rows:
                break
        return pa.concat_tables(found).combine_chunks(), lost, count

    def _mark(self, name: str) -> str:
        """Behind which mark decimals stand in a column, or nothing."""
        found = self.decimals.own.get(name, "") or self.decimals.rows.mark
        return found or (self.of_all.mark if self.decimal_commas else "")

    def is_unsettled(self, name: str) -> bool:
        """Return whether nothing said what ``1.234`` is in a column that has such cells."""
        return self.decimal_commas and name in self.decimals.doubtful and not self._mark(name)

    def _numbers(self, name: str, cells: pa.Array) -> pa.Array:
        mark = self._mark(name)
        if self.decimal_commas:
            return numbers(cells, Marks(mark == ",", mark == ".", decimal_commas=True))
        return numbers(cells, Marks(commas_between=mark != ","))

    def _bytes(self) -> pa.NativeFile:
        import pyarrow as pa

        ending = Path(self.path.lower()).suffix
        return pa.input_stream(name_for_arrow(self.path), compression=COMPRESSIONS.get(ending))

    def _stretches(self) -> Iterator[bytes]:
        """Yield the file as UTF-8, in stretches of whole lines; the first holds the names."""
        rest = b""
        with self._bytes() as stream:
            text = Utf8(stream)
            text.read(self._header.above)
            while more := text.read(max(_STRETCH, len(rest))):
                rest += more
                end = _end_of_lines(rest, self._delimiter or ",")
                if end:
                    yield rest[:end]
                    rest = rest[end:]
                if len(rest) > _LONGEST:
                    raise InputError(
                        f"{self.path} cannot be read as {self.kind}: a line, or what stands in "
                        f"quotes, has more than {_LONGEST:,} bytes."
                    )
        if rest:
            # Names without an end of their line are names without rows.
            yield rest if b"\n" in rest or b"\r" in rest else rest + b"\n"

    def _parsed(self, text: bytes, columns: Sequence[str] | None) -> tuple[pa.Table, list[int]]:
        """Return the rows of a stretch that begins with names, and the places of malformed ones.

        Of some columns, as text; or of all, of whatever type.
        """
        import pyarrow as pa
        from pyarrow import csv

        malformed: list[int] = []

        def skip(row: Any) -> str:
            malformed.append(row.number - 2)  # row 1 is the header; blank lines do not count
            return "skip"

        # With threads, Arrow does not tell the numbers of malformed rows.
        reading = csv.ReadOptions(block_size=len(text) + 1, use_threads=False)
        parsing = csv.ParseOptions(
            delimiter=self._delimiter or ",",
            newlines_in_values=True,
            ignore_empty_lines=not self._header.is_single,
            invalid_row_handler=skip,
        )
        converting = csv.ConvertOptions(
            include_columns=columns,
            column_types=None if columns is None else dict.fromkeys(columns, "string"),
            null_values=_MISSING,
            strings_can_be_null=True,
            check_utf8=False,
        )
        table = csv.read_csv(pa.BufferReader(text), reading, parsing, converting)
        return table, malformed

    def batches(self, columns: tuple[str, ...], rows: int, size: int) -> Iterator[pa.RecordBatch]:
        """Yield batches of numbers, and labels as text; a malformed row is one of nulls.

        A column of both is there twice, as text the second time.
        """
        import pyarrow as pa

        fields = [
            (name, False) for name in columns if name not in self.labels or name in self.twice
        ]
        fields += [(name, True) for name in columns if name in self.labels]

        def read(text: bytes) -> list[pa.RecordBatch]:
            table, malformed = self._parsed(text, columns)
            found = []
            for batch in _with_missing(table, malformed).combine_chunks().to_batches():
                parts = [
                    batch.column(name) if is_text else self._numbers(name, batch.column(name))
                    for name, is_text in fields
                ]
                found.append(pa.record_batch(parts, [name for name, _ in fields]))
            return found

        for batch in chain.from_iterable(self._each(read)):
            WORK.wait(batch.num_rows * batch.num_columns)
            yield batch

    def count(self, column: str) -> Iterator[int]:
        """Yield how many rows each stretch has, of which only one column is read."""

        def rows(text: bytes) -> int:
            table, malformed = self._parsed(text, [column])
            return int(table.num_rows) + len(malformed)

        return self._each(rows)

    def _each(self, ask: Callable[[bytes], Answer], at_once: int = _MOST) -> Iterator[Answer]:
        """Yield what `ask` says of each stretch, which begins with names; threads ask at once."""
        separator = self._delimiter or ","
        quoted = ('"' + name.replace('"', '""') + '"' for name in self.names)
        names = (separator.join(quoted) + "\n").encode()
        threads = thread_count()
        at_once = min(_AT_ONCE * threads, at_once)
        with readable(self.path, self.kind):
            stretches = self._stretches()
            some = list(islice(stretches, 1))  # which has the names
            while some:
                yield from in_threads(ask, some, threads)
                some = [names + text for text in islice(stretches, at_once)]


def _first_lines(stream: pa.NativeFile) -> bytes:
    """Return so much of a file that the names, and a line above them, are whole, if they may be."""
    top = b""
    while more := stream.read(_STRETCH):
        top += more
        if top.count(b"\n") + top.count(b"\r") > 2 or len(top) > _LONGEST:
            break
    return top


def _end_of_lines(text: bytes, delimiter: str) -> int:
    """Return how many bytes the whole lines at the beginning of `text` are, as Arrow tells them.

    A quote counts where a field begins, up to the next one that is not doubled. If no quote
    opens anything elsewhere, every second one closes what the one before it has opened.
    """
    values = np.frombuffer(text, dtype=np.uint8)
    quotes = np.flatnonzero(values == ord('"'))
    opening = quotes[::2]
    before = values[opening[opening > 0] - 1]
    if not np.all(np.isin(before, np.frombuffer(f'{delimiter}\r\n"'.encode(), dtype=np.uint8))):
        found = _whole_lines(delimiter).match(text)
        return found.end() if found else 0
    end = len(text)
    while True:
        # A carriage return at the end may be the first half of a line's end.
        last = max(text.rfind(b"\n", 0, end), text.rfind(b"\r", 0, min(end, len(text) - 1)))
        inside = int(np.searchsorted(quotes, last))
        if last < 0 or inside % 2 == 0:
            return last + 1
        end = int(quotes[inside - 1])


@cache
def _whole_lines(delimiter: str) -> re.Pattern[bytes]:
    """Return a pattern of lines that are whole, where quotes may also stand inside a field."""
    between = re.escape(delimiter.encode())
    plain = rb"[^" + between + rb"\r\n]*+"
    field = rb'(?:"(?:[^"]|"")*+"' + plain + rb'|(?!")' + plain + rb")"
    line = field + rb"(?:" + between + field + rb")*+(?:\r\n|\n|\r(?!\Z))"
    return re.compile(rb"(?:" + line + rb")*+")


def _with_missing(table: pa.Table, places: Sequence[int]) -> pa.Table:
    """Return the table with rows of nulls, so that they are at `places`, which rise."""
    import pyarrow as pa

    if not places:
        return table
    missing = np.zeros(table.num_rows + len(places), dtype=np.bool_)
    missing[list(places)] = True
    index = np.cumsum(~missing) - 1
    return table.take(pa.array(index, pa.int64(), mask=missing))
