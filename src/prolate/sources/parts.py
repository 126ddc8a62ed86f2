"""Separate parts of the rows of a source, held in memory: each row in one of them, or in none.

A part is not copied. Its rows are gathered a few at a time, by the thread that adds them up, into
a piece of memory that stays in its caches.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Integers
from prolate.sources.source import Block, Source, adder
from prolate.sources.threads import add_up

__all__ = ["PartOfRows", "RowsInParts"]

_AT_ONCE = 1 << 18  # cells


@dataclass(frozen=True, eq=False)
class _Places:
    """Rows of a block, not gathered yet; as far as `add_up` cuts them, a block themselves."""

    block: Block
    index: Integers

    @property
    def shape(self) -> tuple[int, int]:
        return self.index.size, self.block.shape[1]

    @property
    def size(self) -> int:
        return self.index.size * int(self.block.shape[1])

    def __getitem__(self, here: slice) -> _Places:
        return _Places(self.block, self.index[here])


class PartOfRows(Source):
    """Some rows of blocks that stay in memory.

    Parameters
    ----------
    source : Source
        Whose rows they are.
    pieces : sequence of (block, int64 array)
        Blocks in C order, each with the places of the rows in it, ascending.
    """

    def __init__(self, source: Source, pieces: Sequence[tuple[Block, Integers]]) -> None:
        super().__init__(source.columns, sum(index.size for _, index in pieces), 1)
        self.rows_per_block = max(2, _AT_ONCE // len(source.columns) // 2 * 2)
        self.ordered, self.averaged = source.ordered, source.averaged
        self.flags, self.whole = source.flags, source.whole
        self._pieces = [_Places(block, index) for block, index in pieces if index.size]

    def blocks(self) -> Iterator[Block]:
        """Yield the rows, gathered."""
        step = self.rows_per_block
        for piece in self._pieces:
            for start in range(0, piece.index.size, step):
                yield piece.block[piece.index[start : start + step]]

    def collect(
        self,
        query: Callable[[Block], NDArray[np.int64]],
        size: int,
        progress: Callable[[int], None] | None = None,
    ) -> NDArray[np.int64]:
        """Add ``query(block)`` up; rows are gathered by the threads that do."""
        add, mine, step = adder(query), threading.local(), self.rows_per_block

        def add_places(places: Any, total: NDArray[np.int64]) -> None:
            block, room = places.block, getattr(mine, "rows", None)
            if room is None or room.dtype != block.dtype:
                mine.rows = room = np.empty((step, block.shape[1]), block.dtype)
            for start in range(0, places.index.size, step):
                index = places.index[start : start + step]
                rows = room[: index.size]
                np.take(block, index, axis=0, out=rows, mode="clip")
                add(rows, total)

        cells = (self.n_rows or 0) * len(self.columns)
        effort = getattr(query, "effort", 1)
        pieces = cast("list[Block]", self._pieces)
        return add_up(pieces, add_places, size, progress, cells=cells, effort=effort)


class RowsInParts:
    """Rows that were dealt to separate parts.

    Parameters
    ----------
    source : Source
        Whose rows they are.
    blocks : sequence of arrays
        In C order, one behind the other.
    rows : int64 array of shape (m,)
        The places of the rows in all blocks together, ascending.
    which : uint8 array of shape (m,)
        The part of each.
    """

    def __init__(
        self, source: Source, blocks: Sequence[Block], rows: Integers, which: NDArray[np.uint8]
    ) -> None:
        self._source, self._blocks = source, blocks
        self._rows, self._which = rows, which
        self._starts = np.cumsum([0, *(block.shape[0] for block in blocks)])

    def __call__(self, parts: Sequence[int]) -> Source:
        """Return the rows of some parts, in order."""
        chosen = np.zeros(256, np.bool_)
        chosen[list(parts)] = True
        mine = self._rows[chosen[self._which]]
        ends = np.searchsorted(mine, self._starts)
        pieces = [
            (block, mine[ends[k] : ends[k + 1]] - self._starts[k])
            for k, block in enumerate(self._blocks)
        ]
        return PartOfRows(self._source, pieces)
