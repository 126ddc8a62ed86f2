"""Separate parts of the rows of a source, in memory: each row in one of them, or in none.

A part is not copied: queries read its rows where they lie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Integers
from prolate.sources.chosen import ChosenRows
from prolate.sources.source import Block, Source, adder
from prolate.sources.threads import add_up

__all__ = ["PartOfRows", "RowsInParts"]

_AT_ONCE = 1 << 17  # cells of a block


class PartOfRows(Source):
    """Some rows of blocks that stay in memory.

    Parameters
    ----------
    source : Source
        Whose rows they are.
    pieces : sequence of ChosenRows
    """

    def __init__(self, source: Source, pieces: Sequence[ChosenRows]) -> None:
        super().__init__(source.columns, sum(map(len, pieces)), 8 * _AT_ONCE)
        self.ordered, self.averaged = source.ordered, source.averaged
        self.flags, self.whole = source.flags, source.whole
        self._pieces = [piece for piece in pieces if len(piece)]

    def blocks(self) -> Iterator[Block]:
        """Yield copies of the rows."""
        step = self.rows_per_block
        for piece in self._pieces:
            for start in range(0, len(piece), step):
                yield piece[start : start + step].copied()

    def collect(
        self,
        query: Callable[[Block], NDArray[np.int64]],
        size: int,
        progress: Callable[[int], None] | None = None,
    ) -> NDArray[np.int64]:
        """Add ``query(block)`` up; one that has an `add_block` reads the rows where they lie."""
        if not hasattr(query, "add_block"):
            return super().collect(query, size, progress)
        cells, effort = (self.n_rows or 0) * len(self.columns), getattr(query, "effort", 1)
        pieces = cast("list[Any]", self._pieces)
        return add_up(pieces, adder(query), size, progress, cells=cells, effort=effort)


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
        by_part = np.argsort(which, kind="stable")
        ends = np.cumsum(np.bincount(which, minlength=256))[:-1]
        self._parts = np.split(rows[by_part], ends)
        self._starts = np.cumsum([0, *(block.shape[0] for block in blocks)])

    def __call__(self, parts: Sequence[int]) -> Source:
        """Return the rows of some parts, in order."""
        mine = np.sort(np.concatenate([self._parts[part] for part in set(parts)]))
        ends = np.searchsorted(mine, self._starts)
        pieces = [
            ChosenRows(block, mine[ends[k] : ends[k + 1]] - self._starts[k])
            for k, block in enumerate(self._blocks)
        ]
        return PartOfRows(self._source, pieces)
