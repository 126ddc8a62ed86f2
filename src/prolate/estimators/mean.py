"""The private mean: no bounds, no center, no scale needed.

1. Find each column's center and spread (`search/learn.py`).
2. Divide deviations from the center by spread**(2 / (p + 2)): the best shape of noise for
   an l_p error (PLAN, Lemma C.2), of spreads no smaller than is likely (`search/alike.py`);
   for relative errors, of spreads by all columns' squares (`search/variances.py`).
3. Measure how long the scaled rows are: this may show that spreads were too small
   (`clipping/first_look.py`). So find a radius that is safe for any data, and one that is best
   if the rows are symmetric.
4. A first mean of rows clipped between these two, and, around it, how the rows' direction goes
   with their length, so how far they are from symmetric; where that tells little, by the tails of
   single columns (`clipping/column_tails.py`).
5. A second mean, around the first, clipped to the radius that is best for these rows. Where they
   are clearly skewed, what clipping likely takes is given back.
6. Columns that are alike are drawn towards each other (`partial_pooling.py`).

Steps 2 to 6 are `clipping/together.py`. Where rows are many, steps 1 to 4 see a random sample of
them, and step 5 is one pass over all.

Some tables are summed otherwise:

- few columns, or few rows, that are best summed within their public bounds, as flags are
  (`search/flags.py`, `search/within.py`, `within_bounds.py`);
- those of special columns (`tables.py`):

  - correlated columns, along their principal axes, where that is asked for (`rotation.py`);
  - a single column whose values are nearly all the same (`search/rare_column.py`), or in so few
    rows that its tails cannot be seen (`clipping/rough_mean.py`);
  - a few columns of different kinds, each clipped between ends of its own, those of rare values as
    tables of their own, those that are alike together (`clipping/kinds.py`);
  - a few columns that reach much farther than the others, or one that is much larger than all of
    them: a table of their own, with a part of the budget (`search/apart.py`);

- a single column that proves to be skewed, in step 4: it is clipped to an interval, longer on the
  side of its tail (`lengths/interval.py`); and so are one or two that are the only skewed ones of a
  table (`clipping/long_columns.py`);
- baskets and the like, in which most columns are nearly constant, and their other values on one
  side or alike: such rows are far from symmetric (`clipping/rare_mean.py`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prolate.arrays import Bools
from prolate.curator import Curator, Table
from prolate.estimators.asked import PLAIN, Asked
from prolate.estimators.clipping.fixed_clip import CLIPPED
from prolate.estimators.counting import count_rows
from prolate.estimators.estimate import Estimate
from prolate.estimators.search.far import TOO_FAR, too_far
from prolate.estimators.search.flags import are_apart, seen_flags, too_few_to_search
from prolate.estimators.search.learn import learn_shape
from prolate.estimators.search.within import FEW_BOUNDED, are_bounded, fill_bounds, window_within
from prolate.estimators.shares import plan_shares
from prolate.estimators.tables import Case, mean_beside_flags, mean_by_ways
from prolate.estimators.within_bounds import mean_within

__all__ = ["mean"]


def mean(curator: Curator, asked: Asked = PLAIN) -> Estimate:
    """Return the private mean of every column; all that remains of the budget is spent."""
    few = curator.dimension <= FEW_BOUNDED
    if curator.are_flags and few and not asked.given:
        return mean_within(curator, rows=count_rows(curator), error_norm=asked.error_norm)
    rows = count_rows(curator, again=True)
    if asked.given:
        return _searched(curator, rows, asked)
    bounded, beside = are_bounded(curator), asked.relative and not asked.rotate
    counted = few and bounded  # where it is searched
    flags = curator.which_flags if counted else seen_flags(curator, rows, beside=beside)
    if bounded and too_few_to_search(curator, rows, flags=bool(flags.all())):
        return mean_within(curator, rows=rows, error_norm=asked.error_norm)
    if beside and are_apart(curator, rows, flags):
        index = np.flatnonzero(flags)
        return mean_beside_flags(curator, rows, index, asked, _searched)
    return _searched(curator, rows, asked)


def _searched(table: Table, rows: float, asked: Asked) -> Estimate:
    """Return the mean of a table of so many rows, or about so many, that is searched first."""
    bounded, window = are_bounded(table) and not asked.given, None
    if bounded and table.dimension <= FEW_BOUNDED and plan_shares(table, rows).small:
        window = window_within(table, rows)
        if window is None:
            return mean_within(table, rows=rows, error_norm=asked.error_norm)
    # Step 1.
    searched, shape = learn_shape(
        table,
        rows,
        center=asked.center,
        scale=asked.scale,
        relative=asked.relative,
        coarsely=True,
        window=window,
        own_rows=True,
    )
    if bounded and fill_bounds(table, shape):
        return mean_within(table, rows=rows, error_norm=asked.error_norm)
    if asked.clip != "auto":
        shape = shape.saying(CLIPPED)
    # Steps 2 to 6.
    found = replace(mean_by_ways(Case(searched, shape, asked, _searched)), rows=rows)
    far = too_far(shape.center, shape.spread) & ~shape.unknown  # of which noise says anything
    return _unknown_where(far, found) if far.any() and asked.center is None else found


def _unknown_where(far: Bools, found: Estimate) -> Estimate:
    """Return an estimate that says nothing of columns of too large numbers."""
    noise = found.noise_std
    warnings = (TOO_FAR,) if far.all() else (*found.warnings, TOO_FAR)
    return replace(
        found,
        noise_std=None if noise is None else np.where(far, np.inf, noise),
        warnings=warnings,
    )
