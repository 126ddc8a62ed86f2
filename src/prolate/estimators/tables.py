"""Tables that are not best clipped together as they are: the ways to their means, in order.

Each way is a function of a table and of what the searches found of it. It returns the table's mean
if the table is one of its kind, or else None, and the next way is tried. Where a way divides the
table, the means of its parts are found by the ways that may still apply to these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from prolate.arrays import Integers
from prolate.curator import Curator, Searcher, Table
from prolate.estimators.asked import Asked
from prolate.estimators.clipping.ends import mean_between_ends
from prolate.estimators.clipping.kinds import find_kinds
from prolate.estimators.clipping.rare_column_mean import rare_column_mean
from prolate.estimators.clipping.rough_mean import rough_column_mean
from prolate.estimators.clipping.stated import stated
from prolate.estimators.clipping.together import clipped_as_asked, mean_together
from prolate.estimators.estimate import Estimate
from prolate.estimators.joined import join
from prolate.estimators.portion import Portion
from prolate.estimators.rotation import find_rotation, turned_mean
from prolate.estimators.search.apart import are_heavy, heavy_portion, ruling_portion, with_shape
from prolate.estimators.search.flags import part_of_flags
from prolate.estimators.search.learn import learn_shape
from prolate.estimators.search.shape import Shape
from prolate.estimators.within_bounds import mean_within

__all__ = ["Case", "mean_beside_flags", "mean_by_ways"]

Search = Callable[[Table, float, Asked], Estimate]

_LOST = 4.0  # standard deviations between a mean and a first one, that has seen more
_UNSURE = 20.0  # times a first mean's noise
_NOT_TURNED = "No rotation was looked for: it needs the l2 error (error_norm=2)."


@dataclass(frozen=True, eq=False)
class Case:
    """A table whose mean is asked, and what the searches found of it.

    Attributes
    ----------
    table : Searcher
        All that remains of its budget is spent.
    shape : Shape
    asked : Asked
    search : callable
        Returns the mean of a table of so many rows of which nothing is known yet.
    """

    table: Searcher
    shape: Shape
    asked: Asked
    search: Search

    def part(self, index: Integers, part: float) -> Portion:
        """Return some columns with a part of the budget."""
        return Portion.of(self.table, index, part, sample=self.shape.sample)

    def rest(self, index: Integers) -> Case:
        """Return the case of some columns, with all that is left."""
        table, shape = with_shape(self.part(index, 1.0), self.shape)
        return replace(self, table=table, shape=shape)

    def clipped_together(self) -> Estimate:
        """Return the mean of rows clipped by their length."""
        return mean_together(self.table, self.shape, self.asked)


Way = Callable[[Case], Estimate | None]


def mean_by_ways(case: Case) -> Estimate:
    """Return the mean of a table."""
    return _first_of(_EVERY, case)


def mean_beside_flags(
    curator: Curator, rows: float, flags: Integers, asked: Asked, search: Search
) -> Estimate:
    """Return the mean of columns of which some are summed within their bounds, unsearched."""
    part = part_of_flags(flags.size, curator.dimension)
    portion = Portion.of(curator, flags, part, sample=curator)
    theirs = mean_within(portion, rows=rows, error_norm=asked.error_norm)
    theirs = replace(theirs, clipping_std=np.zeros(flags.size))
    index = np.setdiff1d(np.arange(curator.dimension), flags)
    others = search(Portion.of(curator, index, 1.0, sample=curator), rows, asked)
    return join([(index, others), (flags, theirs)])


def _first_of(ways: Sequence[Way], case: Case) -> Estimate:
    """Return the mean by the first way that fits; of columns clipped together if none does."""
    for way in ways:
        found = way(case)
        if found is not None:
            return found
    return case.clipped_together()


def _turned(case: Case) -> Estimate | None:
    """Of correlated columns, along their principal axes, if that is asked for."""
    asked, shape, axes = case.asked, case.shape, None
    if not asked.rotate:
        return None
    plain = replace(asked, rotate=False)
    if asked.error_norm != 2.0:
        shape = shape.saying(_NOT_TURNED)
    else:
        axes = find_rotation(case.table, shape)
    if axes is None:
        return mean_by_ways(replace(case, shape=shape, asked=plain))
    return turned_mean(axes, shape, partial(clipped_as_asked, asked=plain))


def _as_given(case: Case) -> Estimate | None:
    """Of columns whose clip or scale is given: by the length of their rows."""
    given = case.asked.clip != "auto" or case.asked.scale is not None
    return case.clipped_together() if given else None


def _single(case: Case) -> Estimate | None:
    """Of a single column whose values are nearly all the same, or whose tails cannot be seen."""
    table, shape = case.table, case.shape
    if shape.rare_column is not None:
        return stated(shape, rare_column_mean(table, shape.rare_column, shape.spread))
    return stated(shape, rough_column_mean(table, shape)) if shape.unseen_tail else None


def _ruled(case: Case) -> Estimate | None:
    """Of a table whose error is that of one column, nearly."""
    ruling = ruling_portion(case.table, case.shape, case.asked.error_norm)
    return None if ruling is None else _divided(case, ruling)


def _heavy(case: Case) -> Estimate | None:
    """Of a table of which a few columns reach much farther than the others."""
    heavy = heavy_portion(case.table, case.shape, case.asked.error_norm)
    return None if heavy is None else _divided(case, heavy)


def _divided(case: Case, apart: Portion) -> Estimate:
    """Return the mean of columns of which some are a table of their own."""
    shape, asked = case.shape, Asked(case.asked.error_norm)
    table, known = with_shape(apart, shape)
    if are_heavy(shape, apart.index):  # what is known of them may be of their bulk alone
        theirs = case.search(table, known.rows, asked)
    else:
        theirs = mean_together(table, known, asked)
    index = np.setdiff1d(np.arange(shape.spread.size), apart.index)
    others = _first_of((_of_kinds, _heavy), case.rest(index))
    return join([(index, others), (apart.index, theirs)])


def _of_kinds(case: Case) -> Estimate | None:
    """Of a few columns of different kinds, of which some are clipped by themselves."""
    shape, norm = case.shape, case.asked.error_norm
    division = find_kinds(case.table, shape, norm)
    if division is None:
        return None
    left, ends, found = case.table.remaining, division.ends_apart, []
    for column in division.rare_apart.tolist():
        index = np.array([column])
        found.append((index, _of_rare(case, case.part(index, division.part_of(index) * left))))
    others = np.flatnonzero(~division.apart)
    if ends.index.size:
        part = division.part_of(ends.index) * left if others.size else 1.0
        portion = case.part(ends.index, part)
        known = replace(shape.of(ends.index), sample=portion.sampled())
        own = mean_between_ends(portion, known, ends, norm)
        found.append((ends.index, _unless_lost(known, stated(known, own))))
    if others.size:
        rest = case.rest(others)
        found.append((others, _unless_lost(rest.shape, rest.clipped_together())))
    return join([found[-1], *found[:-1]])


def _of_rare(case: Case, portion: Portion) -> Estimate:
    """Return the mean of a column of rare values, which is searched anew."""
    table, known = with_shape(portion, case.shape)
    searched, shape = learn_shape(table, known.rows)
    plain = Asked(case.asked.error_norm)
    found = mean_by_ways(replace(case, table=searched, shape=shape, asked=plain))
    return _unless_lost(known, found)


def _unless_lost(shape: Shape, found: Estimate) -> Estimate:
    """Return it, with first means of rare values that it has lost, or of which it knows less."""
    first = shape.first
    if first is None or found.noise_std is None or found.clipping_std is None:
        return found
    near, far = (np.abs(each - first.bulk) for each in (found.value, first.value))
    lost = far - near > _LOST * np.hypot(found.noise_std, first.noise)
    unsure = (found.noise_std > _UNSURE * first.noise) & (
        np.abs(found.value - first.value) < _LOST * found.noise_std
    )
    better = first.rare & (lost | unsure)
    if not better.any():
        return found
    sampling_std = shape.spread / np.sqrt(shape.present)
    if found.sampling_std is not None:
        sampling_std = np.where(better, sampling_std, found.sampling_std)
    return replace(
        found,
        value=np.where(better, first.value, found.value),
        noise_std=np.where(better, first.noise, found.noise_std),
        sampling_std=sampling_std,
        clipping_std=np.where(better, 0.0, found.clipping_std),
        warnings=shape.warnings if better.all() else found.warnings,
    )


_EVERY: tuple[Way, ...] = (_turned, _as_given, _single, _ruled, _of_kinds, _heavy)
