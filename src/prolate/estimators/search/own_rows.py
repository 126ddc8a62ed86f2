"""What is searched of many rows: a sample of them, or rows of its own for each question.

All questions to a sample are paid for by its rows. Where wide rows are many, each question is asked
of rows of its own instead, random ones that hardly any other question is asked of, so that a row
pays for one or two (`Curator.apart`). A question to fewer rows than the sample's costs more, for
the same noise beside their number, but it costs other rows. So the budget is the same, and a third
of the values are read. Of narrow rows a sample stays in the caches, and is read as fast.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from prolate.curator import Curator, Measurement, Searcher, Table
from prolate.estimators.columns import SameColumns
from prolate.queries import Query

__all__ = ["rows_of_questions"]

_PARTS = 64
_DEALT = 3.6, 8.0  # rows in all parts, over a sample's: at least, and at most
_OF_ALL = 0.9  # of the rows, at most
_VALUES = 1 << 22, 5 << 24  # of a sample, at least; of all parts, at most: 670 MB
_PRICE = 0.24  # share of mu**2 that a question costs, times the former
_LEAST = 0.3  # rows of a question, over a sample's


@dataclass(frozen=True, eq=False)
class _OwnRows(SameColumns):
    """A sample, of which each question is asked of fewer rows, of its own, with the same noise.

    Attributes
    ----------
    curator : Curator
        Of separate parts of the rows.
    part : float
        Of all rows, that the sample has.
    price : float
        Share of mu**2 that a question costs, or about so much.
    """

    curator: Curator
    part: float
    price: float

    @property
    def fraction(self) -> float:
        """The part of all rows that the sample has."""
        return self.part

    def measure(self, query: Query, *, share: float, label: str) -> Measurement:
        """Measure `query` of some parts, and return what that says of the sample."""
        wanted = max(math.sqrt(share / self.price), _LEAST) * self.part
        asked = self.curator.some(min(math.ceil(wanted / self.curator.fraction), _PARTS))
        times = self.part / asked.fraction
        share = min(share * times**2, asked.remaining)
        found = asked.measure(query, share=share, label=label)
        values, std = times * found.values, times * found.std
        return replace(found, values=values, std=std, fraction=self.part)


def rows_of_questions(table: Table, rows: float, enough: float) -> Searcher | None:
    """Return what seems a sample of `enough` rows, but has rows of its own for each question.

    None, if that is not possible, or gains nothing.
    """
    least, most = _DEALT
    times = min(most, _OF_ALL * rows / enough, _VALUES[1] / (enough * table.dimension))
    if times < least or enough * table.dimension < _VALUES[0]:
        return None
    if not isinstance(table, Curator) or table.exchangeable:
        return None
    parts = table.apart(times * enough, rows, _PARTS)
    return _OwnRows(parts, enough / rows, _PRICE / times)
