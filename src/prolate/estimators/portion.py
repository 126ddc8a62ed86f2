"""Some of the columns with a part of the budget: a table of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

from prolate.arrays import Integers
from prolate.curator import Measurement, Searcher
from prolate.estimators.columns import SomeColumns
from prolate.queries import Query

__all__ = ["LEAST", "Portion"]

LEAST = 1e-6
"""Part of a budget that tables leave to others, however little these matter beside them."""


@dataclass(frozen=True, eq=False)
class Portion(SomeColumns):
    """A table of the columns `index`, in that order, that has a part of another one's budget.

    Its shares are those of that part.

    Attributes
    ----------
    curator : Searcher
    index : int64 array
    part : float
        Of mu**2.
    before : float
        What was left of the table's when this one began.
    sample : Searcher
        Of the table's rows, or the table: drawn once, since it holds all columns.
    """

    part: float
    before: float
    sample: Searcher

    @classmethod
    def of(cls, table: Searcher, index: Integers, part: float, *, sample: Searcher) -> Portion:
        """Return a table of some columns with a part of mu**2, at most what is left."""
        return cls(table, index, min(part, table.remaining), table.remaining, sample)

    @property
    def remaining(self) -> float:
        """The share of the part that is left."""
        spent = self.before - self.curator.remaining
        return max(self.part - spent, 0.0) / self.part

    def mu_of(self, share: float) -> float:
        """Return the mu that a share of the part makes."""
        return self.curator.mu_of(share * self.part)

    def measure(self, query: Query, *, share: float, label: str) -> Measurement:
        """Measure `query` of these columns."""
        share = min(share * self.part, self.curator.remaining)
        return super().measure(query, share=share, label=label)

    def sampled(self, wanted: float | None = None, rows: float | None = None) -> Portion:
        """Return the same columns of the table's sample, whatever is wanted."""
        return self if self.sample is self.curator else replace(self, curator=self.sample)
