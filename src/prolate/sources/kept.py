"""A random part of the rows of another source, held in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Integers
from prolate.compiled import WORK
from prolate.noise import PARTS, NumberedBits
from prolate.parallel import in_threads
from prolate.sources.columns_in_place import ColumnsInPlace
from prolate.sources.source import Block, Source
from prolate.sources.threads import threads_for

__all__ = [
    "Choices",
    "Dealing",
    "KeptRows",
    "Leading",
    "Thinning",
    "copied_rows",
    "kept_places",
    "placed",
]

_AT_ONCE = 1 << 25  # bytes of memory: NumPy asks for large pages, which come in a third of the time
_CHOICES = 1 << 18  # rows that are chosen from at once
_PIECE = 1 << 20  # cells that a thread copies at a time


@dataclass(frozen=True)
class Thinning:
    """Which rows to keep: each with probability part / `PARTS`, by its number alone.

    Attributes
    ----------
    bits : NumberedBits
    part : int
        From 0 to `PARTS`.
    """

    bits: NumberedBits
    part: int

    @property
    def probability(self) -> float:
        """With which a row is kept, to within 2**-64."""
        return self.part / PARTS

    def __call__(self, start: int, count: int) -> Integers:
        """Return the numbers of those kept among `count` rows from number `start`."""
        return self.bits.chosen(start, count, self.part)


@dataclass(frozen=True)
class Dealing:
    """Which rows go to which of several parts: each to one of them, or to none, by its number.

    Attributes
    ----------
    bits : NumberedBits
    part : int
        Of `PARTS`: the probability that a row goes to any.
    parts : int
        How many there are, a power of two: as likely as each other.
    """

    bits: NumberedBits
    part: int
    parts: int

    @property
    def each(self) -> float:
        """The probability that a row goes to a given part."""
        return self.part / PARTS / self.parts

    def __call__(self, start: int, count: int) -> Integers:
        """Return the numbers of those dealt among `count` rows from number `start`."""
        return self.both(start, count)[0]

    def both(self, start: int, count: int) -> tuple[Integers, NDArray[np.uint8]]:
        """Return these numbers, and to which parts they go."""
        return self.bits.dealt(start, count, self.part, self.parts)


@dataclass(frozen=True)
class Leading:
    """Which rows to keep: the first so many, after which no more are read."""

    count: int

    def __call__(self, start: int, count: int) -> Integers:
        """Return the numbers of those kept among `count` rows from number `start`."""
        return np.arange(start, min(start + count, self.count))


class Choices:
    """Which rows of one block after another to keep, found for many blocks at once.

    Parameters
    ----------
    keep : Thinning, Dealing or Leading
    start : int
        The number of the first block's first row.
    """

    def __init__(self, keep: Thinning | Dealing | Leading, start: int = 0) -> None:
        self._keep = keep
        self.done = start
        self._known = start  # rows before this one are chosen or not
        self._chosen = np.empty(0, np.int64)

    def next(self, count: int) -> Integers:
        """Return the places of rows to keep in the next block, of `count` rows."""
        start, self.done = self.done, self.done + count
        if self.done > self._known:
            size = max(self.done - self._known, _CHOICES)
            self._chosen = np.concatenate([self._chosen, self._keep(self._known, size)])
            self._known += size
        here, self._chosen = np.split(self._chosen, [np.searchsorted(self._chosen, self.done)])
        return here - start


class KeptRows(Source):
    """The rows of `source` that `keep` chooses, read once.

    Parameters
    ----------
    source : Source
    keep : Thinning, Dealing or Leading
    progress : callable, optional
        Called after each block with the number of rows read so far.

    Attributes
    ----------
    seen : int
        Rows that were read.
    """

    def __init__(
        self,
        source: Source,
        keep: Thinning | Dealing | Leading,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__(source.columns, 0, 1)
        self.ordered = source.ordered
        wanted = _AT_ONCE // (8 * len(source.columns)) // 2 * 2
        self.rows_per_block = max(source.rows_per_block, wanted)
        self._blocks: list[Block] = []
        self.n_rows = used = 0
        choices = Choices(keep)
        for block in source.pieces():
            chosen = choices.next(block.shape[0])
            used = self._append(block, chosen, used)
            self.n_rows += chosen.size
            if progress is not None:
                progress(choices.done)
            if isinstance(keep, Leading) and choices.done >= keep.count:
                break
        self.seen = choices.done
        if self._blocks:
            self._blocks[-1] = self._blocks[-1][:used]
        WORK.foresee(self.n_rows * len(source.columns))

    def _append(self, block: Block | ColumnsInPlace, chosen: NDArray[np.intp], used: int) -> int:
        """Copy rows behind the `used` ones of the last block; return how many are used then."""
        dtype = np.dtype(np.float32 if block.dtype == np.float32 else np.float64)
        while chosen.size:
            if not self._blocks or used == self.rows_per_block:
                self._blocks.append(np.empty((self.rows_per_block, block.shape[1]), dtype))
                used = 0
            last = self._blocks[-1]
            if last.dtype != dtype:  # a column has missing values in some blocks only
                self._blocks[-1] = last = last.astype(np.float64)
            here, chosen = np.split(chosen, [self.rows_per_block - used])
            room = last[used : used + here.size]
            if isinstance(block, ColumnsInPlace):
                _gather(block.at(here), room)
            elif block.dtype == last.dtype and block.flags.c_contiguous:
                np.take(block, here, axis=0, out=room, mode="clip")
            else:  # of which `take` would copy the whole block first
                room[:] = block[here]
            used += here.size
        return used

    def blocks(self) -> Iterator[Block]:
        """Yield the kept rows."""
        yield from self._blocks


def _gather(rows: ColumnsInPlace, room: Block) -> None:
    """Write rows to where there is room for them, of either precision."""
    if rows.dtype == room.dtype:
        rows.copy_to(room)
    else:
        room[:] = rows.copied()


def kept_places(keep: Thinning, count: int) -> Integers:
    """Return the places of the rows that `keep` chooses of `count` rows."""
    starts = range(0, count, _CHOICES)
    found = [keep(start, min(_CHOICES, count - start)) for start in starts]
    return np.concatenate([np.empty(0, np.int64), *found])


def copied_rows(pieces: Sequence[Block | ColumnsInPlace], places: Integers) -> Block:
    """Return a copy of some rows of pieces that lie one behind the other, made by all threads.

    Parameters
    ----------
    pieces : sequence of arrays in C order, or of columns in place
        Of one dtype.
    places : int64 array of shape (m,)
        Of the rows, ascending.

    Returns
    -------
    array of shape (m, d)
        In one piece of memory, which takes two thirds of the time of many.
    """
    d = pieces[0].shape[1]
    copies, step = np.empty((places.size, d), pieces[0].dtype), max(_PIECE // d, 1)
    work: list[tuple[Block | ColumnsInPlace, Integers, Block]] = []
    for piece, local, first in placed(pieces, places):
        for start in range(0, local.size, step):
            some = local[start : start + step]
            work.append((piece, some, copies[first + start : first + start + some.size]))

    def copy(part: tuple[Block | ColumnsInPlace, Integers, Block]) -> None:
        piece, some, out = part
        if isinstance(piece, ColumnsInPlace):
            piece.at(some).copy_to(out)
        else:
            np.take(piece, some, axis=0, out=out, mode="clip")

    in_threads(copy, work, threads_for(copies.size))
    return copies


def placed(
    pieces: Sequence[Block | ColumnsInPlace], places: Integers
) -> Iterator[tuple[Block | ColumnsInPlace, Integers, int]]:
    """Yield pieces, the places within each, and how many places are before these."""
    start = 0
    for piece in pieces:
        first, last = np.searchsorted(places, (start, start + piece.shape[0])).tolist()
        yield piece, places[first:last] - start, first
        start += piece.shape[0]
