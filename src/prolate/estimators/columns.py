"""Views of a curator, and one of some of the columns, so that searches can be made for them."""

from __future__ import annotations

from dataclasses import dataclass

from prolate.arrays import Integers, Limits
from prolate.budget import Neighbors
from prolate.curator import Measurement, Searcher
from prolate.queries import Query, Selected

__all__ = ["SameColumns", "SomeColumns", "View"]


@dataclass(frozen=True, eq=False)
class View:
    """A curator's rows and budget, of which something else is measured."""

    curator: Searcher

    @property
    def neighbors(self) -> Neighbors:
        """Those of the curator."""
        return self.curator.neighbors

    @property
    def remaining(self) -> float:
        """That of the curator."""
        return self.curator.remaining

    @property
    def fraction(self) -> float:
        """That of the curator."""
        return self.curator.fraction

    def mu_of(self, share: float) -> float:
        """Return that of the curator."""
        return self.curator.mu_of(share)


@dataclass(frozen=True, eq=False)
class SameColumns(View):
    """A view of all of a curator's columns."""

    @property
    def dimension(self) -> int:
        """Number of columns."""
        return self.curator.dimension

    @property
    def bounds(self) -> Limits | None:
        """Public bounds."""
        return self.curator.bounds


@dataclass(frozen=True, eq=False)
class SomeColumns(View):
    """A curator that measures the columns `index`, in that order.

    Its shares are those of the whole budget: a row counts once in every column asked, so
    fewer columns have better counts for the same share.
    """

    index: Integers

    @property
    def dimension(self) -> int:
        """Number of these columns."""
        return self.index.size

    @property
    def bounds(self) -> Limits | None:
        """Public bounds of these columns."""
        bounds = self.curator.bounds
        return None if bounds is None else (bounds[0][self.index], bounds[1][self.index])

    def measure(self, query: Query, *, share: float, label: str) -> Measurement:
        """Measure `query` of these columns."""
        chosen = Selected(query, self.index, self.curator.dimension)
        return self.curator.measure(chosen, share=share, label=label)
