"""What the tasks of a Spark job do with rows, where the rows are.

A task gets the record batches of one partition, and gives back integers: the vector of a
query, and the number of rows, packed into records that are small enough for any channel
between machines. Rows leave a task only for the storage of the cluster (`Keeping`).

What a task raises goes into Spark's logs, so it says what is public and nothing else.
"""

from __future__ import annotations

import hashlib
import math
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.errors import InputError
from prolate.sources.arrow import dense_blocks
from prolate.sources.filling import fill
from prolate.sources.kept import Choices, Dealing, Leading, Thinning
from prolate.sources.labels import spelled
from prolate.sources.source import Block, Source
from prolate.sources.spellings import person_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "DEALT_SCHEMA",
    "KEPT_SCHEMA",
    "MARK",
    "OTHER_ROWS",
    "SUM_SCHEMA",
    "Adding",
    "Dealt",
    "Keeping",
    "KeptReader",
    "Merging",
    "Packing",
    "Reader",
    "RowReader",
    "Sealing",
    "one_person",
    "one_spelling",
    "person_mean",
    "sentence_of",
    "unpack",
]

SUM_SCHEMA = "task int, piece int, words binary"
KEPT_SCHEMA = "rows binary"
DEALT_SCHEMA = "part int, rows binary"

OTHER_ROWS = (
    "The Spark data frame has not the rows that it had before; all measurements must be of the "
    "same rows. Write it to files, or call its persist() or checkpoint() first."
)

_PIECE = 1 << 17  # integers in a record: a megabyte
MARK = secrets.token_hex(16)
"""What stands around words for `sentence_of`: tasks are told, and rows cannot know it."""

_NEEDED = ("numba", "numpy", "prolate", "pyarrow", "scipy")


# --- readers -----------------------------------------------------------------------------------


class Reader(Protocol):
    """From the batches of a partition to its rows, in order; picklable."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Block]:
        """Yield the rows as blocks."""


@dataclass(frozen=True)
class RowReader:
    """Rows that Spark hands over, its columns called c0, c1, ... (Spark reads more into names)."""

    width: int
    rows_per_block: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Block]:
        """Yield the rows of a partition."""
        names = tuple(f"c{j}" for j in range(self.width))
        return dense_blocks(batches, names, self.rows_per_block)


@dataclass(frozen=True)
class KeptReader:
    """Rows that `Keeping` or `Packing` has stored."""

    width: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Block]:
        """Yield the rows of a partition."""
        for batch in batches:
            for rows in batch.column("rows"):
                yield np.frombuffer(rows.as_buffer(), "<f8").reshape(-1, self.width)


class _Partition(Source):
    """The rows of one partition, which come once, and are counted."""

    def __init__(self, blocks: Iterator[Block], *, sealed: bool) -> None:
        super().__init__(("",), None, 1)
        self._coming, self._sealed, self.seal = blocks, sealed, 0

    def blocks(self) -> Iterator[Block]:
        self.n_rows = 0
        for block in self._coming:
            self.n_rows += block.shape[0]
            if self._sealed:
                self.seal += _seal(block)
            yield block


# --- work --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Task:
    mark: str = field(default_factory=lambda: MARK, init=False, repr=False)


@dataclass(frozen=True)
class Adding(_Task):
    """Add a query up over the rows of a partition; the last integer is their number.

    The one before it is the seal of the blocks, if that is asked for.
    """

    reader: Reader
    query: Callable[[Block], Integers]
    size: int
    sealed: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the vector of a partition, in pieces."""
        with _public_words(self.mark):
            rows = _Partition(self.reader(batches), sealed=self.sealed)
            vector = rows.collect(self.query, self.size)
            last = [_wrapped(rows.seal)] if self.sealed else []
            yield from _pack(_task(), np.append(vector, np.array([*last, rows.n_rows or 0])))


@dataclass(frozen=True)
class Merging(_Task):
    """Add vectors up that have the same number of a task."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield one vector for each number."""
        with _public_words(self.mark):
            sums: dict[tuple[int, int], Integers] = {}
            for task, piece, words in _records(batches):
                if (task, piece) in sums:
                    sums[task, piece] += words
                else:
                    sums[task, piece] = words.copy()
            for (task, piece), words in sums.items():
                yield _record(task, piece, words)


def one_spelling(
    width: int, mark: str, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Write the labels in column `width` as `prolate.sources.labels` does: 7.0, +7 and 7 as 7."""
    return _labels_as(lambda text: text, width, mark, batches)


def one_person(
    width: int, mark: str, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Write the labels in column `width` as `prolate.sources.spellings` does: 7.50 as 7.5."""
    return _labels_as(person_text, width, mark, batches)


def _labels_as(
    write: Callable[[bytes], bytes], width: int, mark: str, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    with _public_words(mark):
        for batch in batches:
            texts, places = spelled(batch.column(width))
            texts = [None if text is None else write(text) for text in texts]
            labels = pa.array(texts, pa.binary()).take(pa.array(places))
            columns = [*batch.columns[:width], labels]
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def person_mean(width: int, mark: str, rows: pa.Table) -> pa.Table:
    """Make one row of the rows of a person: the mean of each column's finite values.

    Sums are exact before they are rounded once, so that the order in which the rows arrive
    makes no difference.
    """
    import pyarrow as pa

    with _public_words(mark):
        means = {} if width else {"c0": pa.array([0.0])}  # there is only the person to count
        for j in range(width):
            values = np.empty(rows.num_rows)
            fill(values, pa.concat_arrays(rows.column(j).chunks))
            means[f"c{j}"] = pa.array([_mean(values[np.isfinite(values)])], pa.float64())
        return pa.table(means)


def _mean(values: Floats) -> float | None:
    """Return the mean, or None where there is none: of no values, or of a sum beyond all floats."""
    if not values.size:
        return None
    numbers = values.tolist()
    try:
        return math.fsum(numbers) / values.size
    except OverflowError:  # on the way, in this order; in another one it need not be
        pass
    try:
        return float(sum(map(Fraction, numbers))) / values.size
    except OverflowError:
        return None


@dataclass(frozen=True)
class Keeping(_Task):
    """Keep some of the rows of a partition.

    Attributes
    ----------
    reader : Reader
    keep : Thinning or Leading
    places : dict
        The numbers of the rows of each partition, as an earlier pass has counted them.
    """

    reader: Reader
    keep: Thinning | Leading
    places: dict[int, range]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows that stay, packed."""
        with _public_words(self.mark):
            for _, rows in _kept_rows(self.reader(batches), self.keep, self.places):
                yield _packed(rows)


@dataclass(frozen=True)
class Dealt(_Task):
    """Keep some of the rows of a partition, each in one of several parts.

    Attributes
    ----------
    reader : Reader
    deal : Dealing
    places : dict
        As of `Keeping`.
    """

    reader: Reader
    deal: Dealing
    places: dict[int, range]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows that stay, packed, part by part."""
        import pyarrow as pa

        with _public_words(self.mark):
            start = self.places.get(_task(), range(0)).start
            for numbers, rows in _kept_rows(self.reader(batches), self.deal, self.places):
                first = start + int(numbers[0])
                count = start + int(numbers[-1]) + 1 - first
                _, which = self.deal.both(first, count)
                for part in np.unique(which).tolist():
                    packed = _packed(rows[which == part]).column(0)
                    names = {"part": pa.array([part], pa.int32()), "rows": packed}
                    yield pa.RecordBatch.from_pydict(names)


@dataclass(frozen=True)
class Sealing(_Task):
    """Count the bytes of each of so many parts that a partition has stored, and add seals up.

    First come the counts, then the seals, and last the number of records.
    """

    parts: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the vector of a partition."""
        with _public_words(self.mark):
            counts, seals, records = [0] * self.parts, [0] * self.parts, 0
            for batch in batches:
                for part, rows in zip(batch.column("part"), batch.column("rows"), strict=True):
                    counts[part.as_py()] += rows.as_buffer().size
                    seals[part.as_py()] += _seal(rows.as_buffer())
                    records += 1
            vector = [*counts, *map(_wrapped, seals), records]
            yield from _pack(_task(), np.array(vector, dtype=np.int64))


def _seal(rows: Any) -> int:
    """Return a number that tells stored rows from others, or from the same in another order."""
    return int.from_bytes(hashlib.blake2b(rows, digest_size=8).digest(), "little")


def _wrapped(seal: int) -> int:
    """Return a sum of seals as 64 bits with a sign, as sums of int64 wrap around."""
    return (seal + (1 << 63)) % (1 << 64) - (1 << 63)


def _kept_rows(
    blocks: Iterator[Block], keep: Thinning | Dealing | Leading, places: dict[int, range]
) -> Iterator[tuple[Integers, Block]]:
    """Yield the places, in the partition, of rows that are kept, and the rows, block by block.

    A row beyond those that were counted would have the number, and so the secret bits, of a
    row of the next partition: two rows would be in the sample, or out of it, together. So a
    partition that has other rows than before is an error.
    """
    numbers = places.get(_task(), range(0))
    choices = Choices(keep, numbers.start)
    end = keep.count if isinstance(keep, Leading) else math.inf
    for block in blocks if choices.done < end else ():
        before = choices.done - numbers.start
        chosen = choices.next(block.shape[0])
        if choices.done > numbers.stop:
            raise InputError(OTHER_ROWS)
        if chosen.size > 0:
            yield before + chosen, block[chosen]
        if choices.done >= end:
            return
    if choices.done < min(numbers.stop, end):
        raise InputError(OTHER_ROWS)


@dataclass(frozen=True)
class Packing(_Task):
    """Pack all rows of a partition for passes to come."""

    reader: Reader

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows, packed."""
        with _public_words(self.mark):
            for block in self.reader(batches):
                yield _packed(block)


def _packed(rows: Block) -> pa.RecordBatch:
    """Return rows as a record of float64 in binary."""
    import pyarrow as pa

    raw = np.ascontiguousarray(rows, dtype="<f8").tobytes()
    return pa.RecordBatch.from_pydict({"rows": pa.array([raw], pa.binary())})


def _task() -> int:
    """Return the number of the partition."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


# --- vectors on their way ------------------------------------------------------------------------


def _pack(task: int, vector: Integers) -> Iterator[pa.RecordBatch]:
    for piece, start in enumerate(range(0, vector.size, _PIECE)):
        yield _record(task, piece, vector[start : start + _PIECE])


def _record(task: int, piece: int, words: Integers) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_pydict(
        {
            "task": pa.array([task], pa.int32()),
            "piece": pa.array([piece], pa.int32()),
            "words": pa.array([words.astype("<i8").tobytes()], pa.binary()),
        }
    )


def _records(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, int, Integers]]:
    for batch in batches:
        for task, piece, words in zip(*(batch.column(j) for j in range(3)), strict=True):
            integers = np.frombuffer(words.as_buffer(), "<i8").astype(np.int64, copy=False)
            yield task.as_py(), piece.as_py(), integers


def unpack(batches: Iterable[pa.RecordBatch], size: int) -> tuple[Integers, dict[int, int]]:
    """Return the sum of vectors of `size` integers, and the number of rows of each task."""
    total = np.zeros(size + 1, dtype=np.int64)
    rows: dict[int, int] = {}
    for task, piece, words in _records(batches):
        total[piece * _PIECE : piece * _PIECE + words.size] += words
        if piece == size // _PIECE:  # the one with the last integer
            rows[task] = int(words[-1])
    return total[:-1], rows


# --- errors --------------------------------------------------------------------------------------


@contextmanager
def _public_words(mark: str) -> Iterator[None]:
    """Turn any error into one that quotes no row, marked so that `sentence_of` finds it."""
    try:
        yield
    except InputError as error:
        words = str(error)
    except Exception as error:  # noqa: BLE001 - its message may quote values of rows
        words = f"A task on Spark failed ({type(error).__name__})."
    else:
        return
    raise RuntimeError(f"<{mark}>{words}</{mark}>") from None


def sentence_of(message: str) -> str | None:
    """Return what is public in the message of Spark's error, if anything is.

    Examples
    --------
    >>> sentence_of(f"PythonException: ... RuntimeError: <{MARK}>It is damaged.</{MARK}> ...")
    'It is damaged.'
    """
    found = re.search(f"<{MARK}>(.*?)</{MARK}>", message, re.DOTALL)
    if found:
        return found[1]
    lacking = re.search(r"ModuleNotFoundError: No module named '(\w+)", message)
    if lacking and lacking[1] in _NEEDED:
        return (
            f"The Python of Spark's workers has no package {lacking[1]!r}. Install prolate there, "
            "or name the right Python by the environment variable PYSPARK_PYTHON."
        )
    return None
