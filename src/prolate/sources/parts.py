"""Separate parts of the rows of a source, in memory: each row in one of them, or in none.

A part is not copied: queries read its rows where they lie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Integers
from prolate.compiled import WORK
from prolate.sources.chosen import ChosenRows
from prolate.sources.columns_in_place import ColumnsInPlace
from prolate.sources.kept import Dealing, placed
from prolate.sources.source import Block, Source, adder
from prolate.sources.threads import add_up

__all__ = ["PartOfRows", "RowsInParts", "dealt_in_memory"]

_AT_ONCE = 1 << 17  # cells of a block
_OF_PARTS = 8  # rows that are dealt, to those of a question


class PartOfRows(Source):
    """Some rows of blocks that stay in memory.

    Parameters
    ----------
    source : Source
        Whose rows they are.
    pieces : sequence of ChosenRows or ColumnsInPlace
    """

    def __init__(self, source: Source, pieces: Sequence[ChosenRows | ColumnsInPlace]) -> None:
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
        query: Callable[[Block], Integers],
        size: int,
        progress: Callable[[int], None] | None = None,
    ) -> Integers:
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
    blocks : sequence of arrays in C order, or of ColumnsInPlace
        One behind the other.
    rows : int64 array of shape (m,)
        The places of the rows in all blocks together, ascending.
    which : uint8 array of shape (m,)
        The part of each.
    """

    def __init__(
        self,
        source: Source,
        blocks: Sequence[Block | ColumnsInPlace],
        rows: Integers,
        which: NDArray[np.uint8],
    ) -> None:
        self._source, self._blocks = source, blocks
        by_part = np.argsort(which, kind="stable")
        ends = np.cumsum(np.bincount(which, minlength=256))[:-1]
        self._parts = np.split(rows[by_part], ends)

    def __call__(self, parts: Sequence[int]) -> Source:
        """Return the rows of some parts, in order."""
        mine = np.sort(np.concatenate([self._parts[part] for part in set(parts)]))
        pieces = [
            block.at(local) if isinstance(block, ColumnsInPlace) else ChosenRows(block, local)
            for block, local, _ in placed(self._blocks, mine)
        ]
        return PartOfRows(self._source, pieces)


def dealt_in_memory(
    source: Source,
    deal: Dealing,
    blocks: Sequence[Block | ColumnsInPlace] | None,
    some: Callable[[Integers], Source],
    progress: Callable[[int], None] | None,
) -> Callable[[Sequence[int]], Source]:
    """Deal rows in memory to separate parts, which are read where they lie.

    Parameters
    ----------
    source : Source
        Whose rows they are.
    deal : Dealing
    blocks : sequence of arrays in C order, or of ColumnsInPlace, optional
        All rows, if queries read some of them where they lie.
    some : callable
        From places to a source of the rows there: what is read if there are no `blocks`.
    progress : callable, optional
        As for `Source.collect`.
    """
    count = source.n_rows or 0
    rows, which = deal.both(0, count)
    WORK.foresee(rows.size // _OF_PARTS * len(source.columns), count * len(source.columns))
    if progress is not None:
        progress(count)
    if blocks is None:
        return lambda parts: some(rows[np.isin(which, parts)])
    return RowsInParts(source, blocks, rows, which)
