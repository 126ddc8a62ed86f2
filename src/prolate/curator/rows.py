"""The rows behind a curator, all of them or a sample, and exact sums over them.

Nothing here is private: what comes out is for the curator alone, which adds the noise.

Why a sample is no less private. Measurements of a sample are charged as those of all rows
are, with the same sensitivities; no amplification is claimed, and the size of a sample is
not looked at.

- **Random rows.** Each row is kept with some probability, whatever the others, by secret fair
  bits (`prolate.noise.NumberedBits`: fair for whoever does not know the key). Given for all
  rows whether they are kept, neighbors have samples that are neighbors or equal, so that a
  measurement of the sample is as private as one of all rows with the same sensitivity; and a
  mixture over choices that do not depend on the rows is no less private (hockey-stick
  divergences are jointly convex). This holds for any order of the rows: choices that are
  independent of each other can be assigned to a row wherever it stands.
- **Separate parts.** Each row goes to one of several parts, or to none, by bits of its own in the
  same way. Neighbors differ in one part at most; `prolate.curator.account` says what all parts
  together cost.
- **The first m rows.** Replacing a row replaces one of them, or none. Adding or removing a
  row shifts others, so that one of the first m is replaced; or, if there are fewer than m,
  added or removed. So `neighbors` of such a sample is always ``"replace"``, each sensitivity
  is the larger of both, and its number of rows is private.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Bools, Integers, Limits
from prolate.budget import Neighbors
from prolate.errors import InputError
from prolate.measurement import Progress
from prolate.noise import NumberedBits
from prolate.parallel import computed_once
from prolate.queries import Count, Cut, Query, WholeRows
from prolate.sources import Dealing, Source, Thinning

__all__ = ["Rows", "cuts_of"]


def cuts_of(bounds: Limits | None, source: Source) -> Limits | None:
    """Return the bounds that values of a source may exceed: booleans do not exceed 0 to 1."""
    if bounds is None or not source.flags:
        return bounds
    lower, upper = bounds
    flag = np.array([name in source.flags for name in source.columns])
    flag &= (lower <= 0.0) & (upper >= 1.0)
    lower, upper = np.where(flag, -np.inf, lower), np.where(flag, np.inf, upper)
    return (lower, upper) if np.isfinite([lower, upper]).any() else None


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """All rows of a source, or a sample of them.

    Attributes
    ----------
    source : Source
    neighbors : {"replace", "add-remove"}
        What may happen to one of these rows.
    bounds : (lower, upper) or None
        Public bounds, float64 arrays of shape (d,).
    cuts : (lower, upper) or None
        Those that values may exceed; every query sees values cut to them.
    progress : callable or None
        Called as rows are read.
    fraction : float
        The probability with which each row was kept: 1 but for samples.
    leading : bool
        Whether these are the first rows of others; see the module.
    whole : bool array of shape (d,) or None
        Rows of which a value of these columns is missing are left out.
    """

    source: Source
    neighbors: Neighbors
    bounds: Limits | None = None
    cuts: Limits | None = None
    progress: Progress | None = None
    fraction: float = 1.0
    leading: bool = False
    whole: Bools | None = None

    def fit(self, query: Query) -> Query:
        """Return the query on values within the bounds, if it can be asked of these rows."""
        if self.cuts is not None:
            query = Cut(query, *self.cuts)
        if self.whole is not None:
            query = WholeRows(query, self.whole)
        columns = len(self.source.columns)
        if query.columns != columns:
            raise InputError(
                f"The query is made for {query.columns} columns; the data has {columns}."
            )
        if query.pairs_rows and not self.source.ordered:
            raise InputError(
                "This method pairs neighboring rows, and rows on Spark have no places of their "
                "own; use method='auto'."
            )
        return query

    def sensitivity_squared(self, query: Query) -> int:
        """Return the squared sensitivity of a query on these rows; see the module."""
        square = query.sensitivity_squared(self.neighbors)
        return max(square, query.sensitivity_squared("add-remove")) if self.leading else square

    def sum(self, query: Query, label: str) -> Integers:
        """Return the sum of a query over the rows: exact, so not to be shown."""
        return self.source.collect(query, query.size, self.report(label))

    @computed_once
    def count(self) -> int:
        """The number of rows; only the curator knows whether it is public."""
        known = self.source.n_rows
        if known is None:
            known = self.source.counted(self.report("rows"))
        return int(self.sum(Count(len(self.source.columns)), "rows")[0]) if known is None else known

    def describe(self, query: Query) -> str:
        """Return one line: what is asked, and of which part of the rows."""
        if self.fraction == 1.0:
            return query.describe()
        kind = "the first" if self.leading else "a random sample of"
        return f"{query.describe()}, of {kind} {100.0 * self.fraction:.3g} % of the rows"

    def thinned(self, bits: NumberedBits, part: int) -> Rows:
        """Return a random sample, which has each row with probability part / `PARTS`."""
        keep = Thinning(bits, part)
        source = self.source.thinned(keep, self.report("sample"))
        return replace(self, source=source, fraction=self.fraction * keep.probability)

    def dealt(self, bits: NumberedBits, part: int, parts: int) -> Callable[[Sequence[int]], Rows]:
        """Deal each row to one of several parts with probability part / `PARTS`, or to none.

        Returns what makes rows of some of these parts.
        """
        deal = Dealing(bits, part, parts)
        source_of = self.source.dealt(deal, self.report("sample"))

        def some(numbers: Sequence[int]) -> Rows:
            fraction = self.fraction * deal.each * len(numbers)
            return replace(self, source=source_of(numbers), fraction=fraction)

        return some

    def first(self, count: int, rows: float) -> Rows:
        """Return the first `count` of about so many rows."""
        return replace(
            self,
            source=self.source.leading(count, self.report("sample")),
            neighbors="replace",
            fraction=self.fraction * (count / rows),
            leading=True,
        )

    def report(self, label: str) -> Callable[[int], None] | None:
        """Return what tells `progress` how many rows are read."""
        if self.progress is None:
            return None
        progress, rows = self.progress, self.source.n_rows

        def report(done: int) -> None:
            progress(label, done, rows)

        report(0)  # of no rows, nothing else is told, and whether there are some is private
        return report
