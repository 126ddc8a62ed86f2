"""What every source is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from prolate.arrays import Integers
from prolate.errors import InputError
from prolate.sources.threads import Block, Total, add_up

if TYPE_CHECKING:
    from prolate.noise import NumberedBits
    from prolate.sources.kept import Dealing, Thinning
    from prolate.sources.labels import Labels

__all__ = [
    "HELD",
    "Block",
    "Source",
    "adder",
    "position_names",
]

HELD = 1 << 24
"""Cells of tables that are held in memory: 128 MB."""


class Source(ABC):
    """Rows that can be read any number of times, block by block.

    Parameters
    ----------
    columns : tuple of str
        Names of the selected columns, in the order asked for.
    n_rows : int or None
        The number of rows, where it is known without reading them.
    block_bytes : int
        Size of a block, were it float64.

    Attributes
    ----------
    columns : tuple of str
    n_rows : int or None
    rows_per_block : int
        Rows of every block but the last: even, at least two, and the same for every
        kind of source, so that a query over neighboring rows of a block sees the same
        pairs wherever the rows are kept.
    decodes : bool
        Whether each pass makes the blocks anew, which takes longer than most queries. Small
        tables are then held in memory from the second pass on.
    ordered : bool
        Whether rows have places that no other row decides, so that rows may be paired.
    labels : tuple of Labels
        Those of the last columns, if they are labels and no numbers.
    flags : frozenset of str
        Columns whose type says that they hold 0, 1 or nothing, or means of these.
    whole : frozenset of str
        Columns whose type says that they hold whole numbers or nothing, or means of these.
    averaged : bool
        Whether rows are means of other rows.
    left_out : tuple of str
        Columns that nobody named, and that are called as an index of rows is.
    cells : {"", "text", "points"}
        Whether some rows are text, of which a cell that is no number is missing; and whether points
        were read as decimal ones that may all stand between thousands.
    """

    decodes = False
    ordered = True
    labels: tuple[Labels, ...] = ()
    flags: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    averaged: bool = False
    left_out: tuple[str, ...] = ()
    cells: str = ""

    columns: tuple[str, ...]
    n_rows: int | None
    rows_per_block: int
    _held: list[Block] | None = None
    _cells: int | None = None  # of the last whole pass

    def __init__(self, columns: tuple[str, ...], n_rows: int | None, block_bytes: int) -> None:
        self.columns = columns
        self.n_rows = n_rows
        self.rows_per_block = max(2, block_bytes // (8 * len(columns)) // 2 * 2)

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """Yield the rows as dense blocks of shape (rows, columns), afresh in each call.

        A block holds real numbers of any NumPy dtype in native byte order, in any
        memory layout; a missing value is NaN. It may be a view of the user's data:
        read it, never write to it.

        Raises
        ------
        InputError
            If a file is damaged, or has changed since it was opened.
        """

    def pieces(self) -> Iterator[Any]:
        """Yield the rows for those who also read them where they lie: blocks, or `ColumnsInPlace`.

        In order, and in pieces of any size.
        """
        return self.blocks()

    def collect(
        self,
        query: Callable[[Block], Integers],
        size: int,
        progress: Callable[[int], None] | None = None,
    ) -> Integers:
        """Add ``query(block)`` up over all blocks, with all threads that there are.

        Parameters
        ----------
        query : callable
            From a block to an int64 array of shape (size,); a sum over the rows, for blocks
            are cut (between pairs of rows) and joined. Several threads call it at a time:
            the more, the more `effort` it says that a value of a row takes, if it does. Or they
            call its `add_block`, if it has one, with a total to which that of the block is added.
        size : int
            Length of the answer.
        progress : callable, optional
            Called now and then with the number of rows done so far.

        Returns
        -------
        int64 array of shape (size,)
            Zeros if there are no rows. The same for any number of threads.
        """
        add = adder(query)
        cells = None if self.n_rows is None else self.n_rows * len(self.columns)
        effort = getattr(query, "effort", 1)
        if not self.decodes:
            blocks = self.blocks()
        elif getattr(query, "in_place", False) and self._come_soon():
            blocks = self._passing()
        else:
            blocks = self._lasting()
        return add_up(blocks, add, size, progress, cells=cells, effort=effort)

    def _come_soon(self) -> bool:
        """Return whether pieces are read as soon as blocks that were held."""
        return not self._are_few()

    def _are_few(self) -> bool:
        """Return whether blocks are held, as far as is known yet."""
        return self._cells is not None and self._cells <= HELD

    def _passing(self) -> Iterator[Any]:
        """Yield the pieces."""
        cells = 0
        for piece in self.pieces():
            cells += piece.size
            yield piece
        self._cells = cells

    def _lasting(self) -> Iterator[Block]:
        """Yield the blocks; hold them, if a pass was made before and they are few."""
        if self._held is not None:
            yield from self._held
            return
        blocks, cells = [], 0
        hold = self._are_few()
        for block in self.blocks():
            cells += block.size
            if hold:
                blocks.append(block)
            yield block
        self._cells = cells
        self._held = blocks if hold else None

    def counted(self, progress: Callable[[int], None] | None = None) -> int | None:
        """Return the number of rows, where it can be had without their values.

        Parameters
        ----------
        progress : callable, optional
            As for `collect`.
        """
        return self.n_rows

    def thinned(self, keep: Thinning, progress: Callable[[int], None] | None = None) -> Source:
        """Return the rows that `keep` chooses by their numbers, read once.

        Parameters
        ----------
        keep : Thinning
        progress : callable, optional
            As for `collect`.
        """
        from prolate.sources.kept import KeptRows

        return KeptRows(self, keep, progress)

    def dealt(
        self, deal: Dealing, progress: Callable[[int], None] | None = None
    ) -> Callable[[Sequence[int]], Source]:
        """Deal the rows to separate parts by their numbers, and read them once.

        Parameters
        ----------
        deal : Dealing
        progress : callable, optional
            As for `collect`.

        Returns
        -------
        callable
            From numbers of parts to the rows of these, in order.
        """
        from prolate.sources.kept import KeptRows
        from prolate.sources.parts import RowsInParts

        kept = KeptRows(self, deal, progress)
        _, which = deal.both(0, kept.seen)
        return RowsInParts(self, list(kept.blocks()), np.arange(which.size), which)

    def persons(self, most: int | None = None, bits: NumberedBits | None = None) -> Source:
        """Return one row for each person, or at most so many rows; see `prolate.sources.persons`.

        The first of the columns of labels says whose a row is.

        Parameters
        ----------
        most : int, optional
            Keep so many random rows of each person, instead of their mean.
        bits : NumberedBits, optional
            For the choice of these rows.
        """
        from prolate.sources.persons import PersonMeans, PersonRows

        return PersonMeans(self) if most is None or bits is None else PersonRows(self, most, bits)

    def leading(self, count: int, progress: Callable[[int], None] | None = None) -> Source:
        """Return the first `count` rows, for which no more blocks are read than hold them.

        Parameters
        ----------
        count : int
        progress : callable, optional
            As for `collect`.

        Raises
        ------
        InputError
            If the rows have no order of their own.
        """
        from prolate.sources.kept import KeptRows, Leading

        if not self.ordered:
            raise InputError(
                "Rows on Spark have no places of their own, so there are no first ones to "
                "search; leave exchangeable out."
            )
        return KeptRows(self, Leading(count), progress)


def adder(query: Callable[[Block], Total]) -> Callable[[Block, Total], None]:
    """Return what adds the answer of a query for a block to a total, as `Source.collect` says."""
    given: Callable[[Block, Total], None] | None = getattr(query, "add_block", None)
    if given is not None:
        return given

    def add(block: Block, total: Total) -> None:
        answer = query(block)
        if answer.shape != total.shape or answer.dtype != total.dtype:
            raise TypeError(
                f"A query must return int64 of shape {total.shape}; "
                f"got {answer.dtype} of shape {answer.shape}."
            )
        total += answer

    return add


@lru_cache(maxsize=4)  # of a wide table, they take as long as a pass over its sparse rows
def position_names(width: int) -> tuple[str, ...]:
    """Return the names of columns that have none: x0, x1, ...

    Examples
    --------
    >>> position_names(2)
    ('x0', 'x1')
    """
    return tuple(f"x{j}" for j in range(width))
