"""Tables of which some values are missing, seen as if none were.

A missing value counts as no deviation from a center. So sums and counts of a column of which a
part is missing are those of the others alone, over the number of all rows, which draws means to
the centers, and hides the bulk where it is less than most of the rows. The first histogram of each
column counts missing values, too (`search/magnitudes.py`). Where it clearly shows some, those that
are there are counted once more, and what is measured of a column is divided by their part: as if
the missing ones were like the others. So it is with means that leave missing values out.

Rows are as many as there are values of the column of which least is missing, as if the others had
no values: a single column, or columns that are missing together, are as precise as their rows
alone. Without values, a row has no length; where columns are missing independently, rows of any
length are left out instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.curator import Curator, Measurement, Searcher
from prolate.estimators.columns import SameColumns
from prolate.estimators.counting import counted_rows
from prolate.estimators.portion import Portion
from prolate.estimators.shares import fewest_values, present_share, whole_share
from prolate.estimators.shrink import kept_part
from prolate.queries import (
    ClippedSum,
    Count,
    CountBelow,
    FarthestHistogram,
    Histogram,
    NormHistogram,
    OneSidedSum,
    PooledHistogram,
    Products,
    Query,
    Selected,
    Turned,
)

__all__ = [
    "MISSING",
    "PresentRows",
    "PresentView",
    "Whole",
    "find_present",
    "most_present",
    "present_portion",
    "present_rows",
    "present_view",
    "whole_rows",
]

_CLEARLY = 4.0  # standard deviations of a count
_SURELY = 3.0  # the same, of a single one
_LEAST = 0.02  # part of the rows that is worth another measurement
_MOSTLY = 0.6  # of the rows
_SOME = 0.4  # of them, that one taken to have none surely has not
_FEW = 0.2  # of the rows, as a number for which parts below a tenth are counted

ABSENT = 0.1
"""Part of the rows: a column with fewer values is as good as without any."""

MISSING = "Nearly all values of a column are missing: do not use its numbers."
"""The warning where a column has hardly any values."""


@dataclass(frozen=True, eq=False)
class PresentView(SameColumns):
    """A view whose columns' sums and counts are over the part that is there of each.

    Attributes
    ----------
    curator : Searcher
    rows : float
        Its number of rows, or a private estimate of it.
    part : float64 array of shape (d,)
    """

    rows: float
    part: Floats

    def measure(self, query: Query, *, share: float, label: str) -> Measurement:
        """Measure `query`, and divide what it says of a column by the part that is there."""
        measured = self.curator.measure(query, share=share, label=label)
        part = _part_of_values(query, self.part)
        if part is None:
            return measured
        others = self.rows * _of_missing(query)  # if all values were missing
        values, each = others + (measured.values - others) / part, measured.std / part
        if isinstance(query, Histogram) and query.missing:  # none are, for who asks here
            last = _missing_cells(query)
            values[last] = measured.values[last] - self.rows * (1.0 - part[last])
        return replace(measured, values=values, std=float(each.max()), each=each)


@dataclass(frozen=True, eq=False)
class PresentRows(SameColumns):
    """A view of fewer rows: as many as the column has values of which least is missing.

    Attributes
    ----------
    curator : Searcher
    rows, missing : float
        How many rows the curator has, and how many are left out.
    """

    rows: float
    missing: float

    def sampled(self, wanted: float | None = None, rows: float | None = None) -> PresentRows:
        """Return the same of the sample of its portion, whatever is wanted."""
        if not isinstance(self.curator, Portion):
            return self
        sample = self.curator.sampled()
        if sample is self.curator:
            return self
        part = sample.fraction
        return PresentRows(sample, part * self.rows, part * self.missing)

    def measure(self, query: Query, *, share: float, label: str) -> Measurement:
        """Measure `query`, and take off what rows without values count for."""
        measured = self.curator.measure(query, share=share, label=label)
        asked = query.query if isinstance(query, Selected | Turned) else query
        if isinstance(asked, NormHistogram):
            return self._shorter(measured, alone=query.columns == 1)
        values = measured.values - self.missing * _of_missing(query)
        if isinstance(asked, Histogram) and asked.missing:
            values[_missing_cells(asked)] -= self.missing
        return replace(measured, values=values)

    def _shorter(self, measured: Measurement, *, alone: bool) -> Measurement:
        """Return a histogram of lengths without the rows of length 0, and then of any length."""
        counts = measured.values.copy()
        without = self.missing if alone else float(np.clip(counts[0], 0.0, self.missing))
        counts[0] -= without
        part = (self.rows - self.missing) / (self.rows - without)
        return replace(measured, values=part * counts, std=part * measured.std)


def present_rows(curator: Searcher, rows: float, part: Floats | None) -> Searcher:
    """Return a view as if no values were missing, of as many rows as `most_present` says."""
    if part is None:
        return curator
    most = most_present(part)
    fewer = PresentRows(curator, rows, (1.0 - most) * rows) if most < 1.0 else curator
    return fewer if part.size == 1 else PresentView(fewer, most * rows, part / most)


def most_present(part: Floats | None) -> float:
    """Return the part of its values that is there of the column of which least is missing."""
    return 1.0 if part is None else float(part.max())


def present_portion(portion: Portion, rows: float, part: float) -> PresentRows:
    """Return a portion of one column, a part of whose `rows` values is there, as such a view."""
    table, sample = (
        each.curator if isinstance(each, PresentView) else each
        for each in (portion.curator, portion.sample)
    )
    alone = replace(portion, curator=table, sample=sample)
    return PresentRows(alone, rows, (1.0 - part) * rows)


def present_view(curator: Searcher, rows: float, part: Floats | None) -> Searcher:
    """Return a view of which these parts are there: the curator, if None."""
    return curator if part is None else PresentView(curator, rows, part)


def find_present(
    curator: Searcher,
    rows: float,
    missing: Floats | None = None,
    noise: float = 0.0,
    *,
    least: float | None = None,
    roughly: bool = True,
) -> tuple[Floats | None, Bools]:
    """Return the part of each column that is there, and which columns are missing as good as all.

    The part is None if none are clearly missing; for columns that have no values, it is the others'
    largest.

    Parameters
    ----------
    curator : Searcher
    rows : float
        Number of rows, or a private estimate of it.
    missing : float64 array of shape (d,), optional
        Private counts of missing values; if they are not given, they are counted first.
    noise : float
        Of each of these.
    least : float, optional
        Part of a column's values without which it is taken to have none; by default, as many as
        a search can do with, or a tenth.
    roughly : bool
        Whether that first count is a cheap one.
    """
    query = CountBelow(np.full(curator.dimension, np.inf))
    if missing is None:
        share = present_share(curator, rows, roughly=roughly)
        counted = curator.measure(query, share=share, label="present")
        missing, noise = rows - counted.values, counted.std
    clearly = missing > max(_CLEARLY * noise, _LEAST * rows)
    together = max(_CLEARLY * noise * np.sqrt(missing.size), _LEAST * rows * missing.size)
    if float(np.sum(missing)) > together:
        clearly = np.ones_like(clearly)
    if not clearly.any():
        return None, clearly
    seem = float(np.clip(np.min(1.0 - missing / rows), _FEW, 1.0))  # of the rows
    counted = curator.measure(query, share=present_share(curator, seem * rows), label="present")
    found, noise = counted.values / rows, counted.std / rows
    if least is None and np.any((found > noise) & (found < ABSENT)):  # a few are there, or none
        share = present_share(curator, _FEW * rows)
        again = curator.measure(query, share=share, label="present")
        weight = noise**2 / (noise**2 + (again.std / rows) ** 2)
        found = found + weight * (again.values / rows - found)
        noise *= math.sqrt(1.0 - weight)
    if least is None:
        least = min(ABSENT, fewest_values(curator) / rows + _SURELY * noise)
    absent = (found < least) & (found < _SOME - 2.0 * noise)
    clearly |= found < 1.0 - max(_CLEARLY * noise, _LEAST)
    # As far as they differ by no more than noise, columns have alike parts.
    others = found[~absent] if not absent.all() else found
    middle, apart = float(np.mean(others)), float(np.var(others))
    likely = middle + kept_part(apart, noise**2) * (found - middle)
    part = np.where(clearly & ~absent, np.clip(likely, least, 1.0), 1.0)
    if absent.any() and not absent.all():
        part[absent] = part[~absent].max()
    return (part if np.any(part < 1.0) else None), absent


def _missing_cells(query: Histogram) -> slice:
    """Return where a vector with cells of missing values has these."""
    _, cells = query.shape
    return slice(cells - 1, None, cells)


def _part_of_values(query: Query, part: Floats) -> Floats | None:
    """Return the part that is there of what each value of a query is of; None if of rows."""
    if isinstance(query, Selected):
        return _part_of_values(query.query, part[query.index])
    if isinstance(query, ClippedSum | OneSidedSum | CountBelow):
        return part
    if isinstance(query, Histogram):
        return np.repeat(part, query.shape[1])
    if isinstance(query, FarthestHistogram):
        return np.repeat(part, query.octaves)
    if isinstance(query, PooledHistogram):
        return np.full(query.size, np.mean(part))
    return None


def _of_missing(query: Query) -> Floats | float:
    """Return what a sum counts a row for whose values are all missing."""
    if isinstance(query, Selected):
        return _of_missing(query.query)
    if isinstance(query, Turned | Products):
        return query(np.full((1, query.columns), np.nan)).astype(np.float64)
    if isinstance(query, Count):
        return 1.0
    if isinstance(query, ClippedSum) and query.missing is not None:
        return np.asarray(query.missing / query.unit)
    return 0.0


@dataclass(frozen=True, eq=False)
class Whole:
    """Rows of which no value is missing, for what is asked of several columns together.

    Attributes
    ----------
    curator : Curator
        Of these rows; of all, where none are clearly missing.
    rows, every : float
        How many they are, and all are.
    noise : float
        Of how many they are, 0 where that is public.
    absent : bool array of shape (d,)
        Columns of which so few values are there that they do not count.
    """

    curator: Curator
    rows: float
    every: float
    noise: float
    absent: Bools


def whole_rows(curator: Curator) -> Whole:
    """Return the rows of which no value is missing, and count them."""
    whole, (every, unsure) = curator.whole(), counted_rows(curator)
    absent = np.zeros(curator.dimension, dtype=np.bool_)

    def counted(*, roughly: bool = False) -> tuple[float, float]:
        share = whole_share(curator, every, roughly=roughly)
        found = whole.measure(Count(curator.dimension), share=share, label="whole rows")
        return float(found.values[0]), found.std

    first, noise = counted(roughly=True)
    if every - first < max(_SURELY * math.hypot(noise, unsure), 1.0):
        return Whole(curator, every, every, unsure, absent)
    some = every > curator.dimension + _CLEARLY * unsure  # there may be no rows
    if some and first < _MOSTLY * every and curator.dimension > 1:
        _, absent = find_present(curator, every)
        if absent.all():
            return Whole(curator, every, every, unsure, absent)
        if absent.any():
            whole, noise = curator.whole(~absent), math.inf
    again, fine = counted()
    weight = 1.0 if math.isinf(noise) else noise**2 / (noise**2 + fine**2)
    number = min(max(1.0, first + weight * (again - first)), every)
    return Whole(whole, number, every, math.sqrt(weight) * fine, absent)
