"""Whether decimals stand behind points or commas in a CSV file: votes of its rows.

Cells such as ``1,5`` and ``1.234,5`` say so of themselves. Only ``1.234`` and ``1,234`` do not:
they are what other cells of their column say; if these say nothing, what the rows say; and if those
say nothing, what the rows of all files say that are read together. A row that has a decimal comma
votes for commas, since programs write points beside them. Columns of text say nothing.

A vote is clear where there are more for one mark than for the other: more by two at least, and by
over a hundredth of all rows. So no row decides alone where the others agree, and none where no
other votes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from prolate.arrays import Bools
from prolate.sources.cells import Marks, are_text, decimal_marks, numbers

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Decimals", "Votes", "read_decimals"]

_ANY = Marks(decimal_commas=True)
_PART, _FEWEST = 0.01, 1  # of the rows, that more than so many must be


@dataclass(frozen=True)
class Votes:
    """How rows vote.

    Attributes
    ----------
    points, commas : int
        Rows that vote for each mark.
    rows : int
        All, also those that do not vote.
    """

    points: int = 0
    commas: int = 0
    rows: int = 0

    def __add__(self, other: Votes) -> Votes:
        """Return the votes of both."""
        return Votes(self.points + other.points, self.commas + other.commas, self.rows + other.rows)

    @property
    def mark(self) -> str:
        """The mark that is decided on, or nothing.

        Examples
        --------
        >>> Votes(100, 1, 1000).mark, Votes(0, 1, 10).mark, Votes(0, 2, 10).mark
        ('.', '', ',')
        """
        more = self.commas - self.points
        if not _are_many(abs(more), self.rows):
            return ""
        return "," if more > 0 else "."


@dataclass(frozen=True)
class Decimals:
    """What the first part of a file says of decimals.

    Attributes
    ----------
    own : dict of str
        The mark of each column, or nothing.
    rows : Votes
        Those of the rows.
    doubtful : frozenset of str
        Columns that have cells such as ``1.234``, and no mark.
    """

    own: Mapping[str, str] = field(default_factory=dict)
    rows: Votes = Votes()
    doubtful: frozenset[str] = frozenset()


def read_decimals(top: pa.Table) -> Decimals:
    """Return what the first part of a file says, given as text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found = read_decimals(pa.table({"a": ["1,5", "2", "3,25"], "b": ["1.234", "1.234", "x"]}))
    >>> found.own, found.rows, set(found.doubtful)
    ({'a': ',', 'b': ''}, Votes(points=0, commas=2, rows=3), {'b'})
    """
    own, doubtful, count = {}, set(), top.num_rows
    pointed, comma = np.zeros((2, count), dtype=np.bool_)
    for name in top.column_names:
        cells = top.column(name)
        points, commas, either = decimal_marks(cells)
        if (points.any() or commas.any()) and are_text(cells, numbers(cells, _ANY)):
            continue
        own[name] = Votes(_count(points), _count(commas), count).mark
        if not own[name] and _are_many(_count(either), count):
            doubtful.add(name)
        pointed |= points
        comma |= commas
    rows = Votes(_count(pointed & ~comma), _count(comma), count)
    return Decimals(own, rows, frozenset(doubtful))


def _count(found: Bools) -> int:
    return int(np.count_nonzero(found))


def _are_many(some: int, rows: int) -> bool:
    return some > max(_PART * rows, _FEWEST)
