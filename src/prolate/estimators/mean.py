"""The private mean: no bounds, no center, no scale needed.

1. Find each column's center and spread (`search/learn.py`).
2. Divide deviations from the center by spread**(2 / (p + 2)): the best shape of noise for
   an l_p error (PLAN, Lemma C.2), of spreads no smaller than is likely (`search/alike.py`);
   for relative errors, of spreads by all columns' squares (`search/variances.py`).
3. Measure how long the scaled rows are: this may show that spreads were too small
   (`clipping/first_look.py`). So find a radius that is safe for any data, and one that is best
   if the rows are symmetric.
4. A first mean of rows clipped between these two, and, around it, how the rows' direction goes
   with their length, so how far they are from symmetric.
5. A second mean, around the first, clipped to the radius that is best for these rows. Where they
   are clearly skewed, what clipping likely takes is given back.

Steps 3 to 5 are `clipping/clipped_mean.py`. Where rows are many, steps 1 to 4 see a random sample
of them, and step 5 is one pass over all.

Some tables are summed otherwise:

- few columns, or few rows, that are best summed within their public bounds, as flags are
  (`search/within.py`, `within_bounds.py`);
- correlated columns, along their principal axes, where that is asked for (`rotation.py`);
- a single column whose values are nearly all the same (`search/rare_column.py`), or in so few rows
  that its tails cannot be seen (`clipping/rough_mean.py`), or that is clearly skewed, which is
  clipped to an interval, longer on the side of its tail (`lengths/interval.py`);
- a few columns of different kinds, each clipped between ends of its own, those of rare values as
  tables of their own, those that are alike together (`clipping/kinds.py`);
- a few columns that reach much farther than the others, one that is much larger than all of them
  (`search/apart.py`), or one that proves, in step 4, to be the only skewed one
  (`clipping/long_columns.py`): these are a table of their own, with a part of the budget;
- baskets and the like, in which most columns are nearly constant, and their other values on one
  side or alike: such rows are far from symmetric (`clipping/rare_mean.py`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator, Measurer, Searcher, Table
from prolate.estimators.clipping.clipped_mean import clipped_mean
from prolate.estimators.clipping.ends import mean_between_ends
from prolate.estimators.clipping.first_look import with_first_look
from prolate.estimators.clipping.fixed_clip import CLIPPED, fixed_clip_mean
from prolate.estimators.clipping.kinds import Kinds, find_kinds
from prolate.estimators.clipping.rare_mean import UNSURE, mostly_rare_mean, with_rare_shrunk
from prolate.estimators.clipping.rough_mean import rough_column_mean
from prolate.estimators.clipping.stated import stated
from prolate.estimators.counting import count_rows
from prolate.estimators.estimate import Estimate, FoundMean
from prolate.estimators.lengths.norms import MeasuredNorms
from prolate.estimators.portion import Portion
from prolate.estimators.rotation import find_rotation, turned_mean
from prolate.estimators.search.alike import likely_scale
from prolate.estimators.search.apart import (
    are_heavy,
    heavy_portion,
    joined,
    ruling_portion,
    with_shape,
)
from prolate.estimators.search.learn import learn_shape
from prolate.estimators.search.rare_column import rare_column_mean
from prolate.estimators.search.shape import Shape
from prolate.estimators.search.variances import with_variances
from prolate.estimators.search.within import (
    FEW_COLUMNS,
    are_apart,
    are_bounded,
    fill_bounds,
    is_hopeless,
    part_of_flags,
    seen_flags,
    window_within,
)
from prolate.estimators.shares import plan_shares
from prolate.estimators.within_bounds import mean_within
from prolate.theory import RELATIVE, optimal_scale

__all__ = ["Clip", "mean"]

Floats = NDArray[np.float64]
Clip = float | Literal["auto"]

_AWAY = 2.5  # standard deviations of a first mean that is not that of a single value
_LOST = 0.2  # of a spread: so little is that of the bulk
_NOT_TURNED = "No rotation was looked for: it needs the l2 error (error_norm=2)."


def mean(
    curator: Curator,
    *,
    error_norm: float = 2.0,
    clip: Clip = "auto",
    center: Floats | None = None,
    scale: Floats | None = None,
    rotate: bool = False,
) -> Estimate:
    """Return the private mean of every column.

    Parameters
    ----------
    curator : Curator
        All of its remaining budget is spent.
    error_norm : float
        The p of the l_p error that is to be small.
    clip : "auto" or float
        ``"auto"`` chooses the radius from measurements; a number is the part of the rows
        that are clipped.
    center, scale : float64 arrays of shape (d,), optional
        Public centers and scales; what is given is not searched.
    rotate : bool
        Whether to look for correlated columns, and to sum along their principal axes,
        where the rows can pay for it and an l_2 error is wanted.
    """
    given = clip != "auto" or center is not None or scale is not None
    if curator.are_flags and curator.dimension <= FEW_COLUMNS and not given:
        return mean_within(curator, rows=count_rows(curator), error_norm=error_norm)
    rows = count_rows(curator, again=True)
    if not given:
        bounded, beside = are_bounded(curator), error_norm == RELATIVE and not rotate
        few = curator.dimension <= FEW_COLUMNS and bounded  # searched below
        flags = curator.which_flags if few else seen_flags(curator, rows, beside=beside)
        if bounded and is_hopeless(curator, rows, flags=bool(flags.all())):
            return mean_within(curator, rows=rows, error_norm=error_norm)
        if beside and are_apart(curator, rows, flags):
            return replace(_mean_beside_flags(curator, rows, np.flatnonzero(flags)), rows=rows)
    found = _mean(
        curator,
        rows,
        error_norm=error_norm,
        clip=clip,
        center=center,
        scale=scale,
        rotate=rotate,
    )
    if "bounds_only" in found.details:  # all rows, which were counted again
        return found
    return replace(found, rows=rows)


def _mean(
    table: Table,
    rows: float,
    *,
    error_norm: float,
    clip: Clip = "auto",
    center: Floats | None = None,
    scale: Floats | None = None,
    rotate: bool = False,
) -> Estimate:
    """Return the mean of a table of so many rows, or about so many."""
    bounded = clip == "auto" and center is None and scale is None and are_bounded(table)
    window = None
    if bounded and table.dimension <= FEW_COLUMNS and plan_shares(table, rows).small:
        window = window_within(table, rows)
        if window is None:
            return mean_within(table, rows=rows, error_norm=error_norm)
    # Step 1.
    curator, shape = learn_shape(
        table,
        rows,
        center=center,
        scale=scale,
        relative=error_norm == RELATIVE,
        coarsely=True,
        window=window,
    )
    if bounded and fill_bounds(table, shape):
        return mean_within(table, rows=rows, error_norm=error_norm)
    return _mean_of_all(
        curator, shape, error_norm=error_norm, clip=clip, scale=scale, rotate=rotate
    )


def _mean_beside_flags(curator: Curator, rows: float, flags: NDArray[np.int64]) -> Estimate:
    """Return the mean of columns of which some are summed within their bounds."""
    part = part_of_flags(flags.size, curator.dimension)
    portion = Portion.of(curator, flags, part, sample=curator)
    theirs = mean_within(portion, rows=rows, error_norm=RELATIVE)
    theirs = replace(theirs, clipping_std=np.zeros(flags.size))
    index = np.setdiff1d(np.arange(curator.dimension), flags)
    others = _mean(Portion.of(curator, index, 1.0, sample=curator), rows, error_norm=RELATIVE)
    return joined(flags, theirs, others)


def _mean_of_all(
    curator: Searcher,
    shape: Shape,
    *,
    error_norm: float,
    clip: Clip,
    scale: Floats | None,
    rotate: bool,
) -> Estimate:
    """Return the mean of the columns of a shape, together or apart."""
    if clip != "auto":
        shape = shape.saying(CLIPPED)
    if rotate and error_norm != 2.0:
        shape = shape.saying(_NOT_TURNED)
    elif rotate:
        axes = find_rotation(curator, shape)
        if axes is not None:
            along = partial(_mean_clipped, clip=clip, error_norm=error_norm)
            return turned_mean(axes, shape, along)
    if clip != "auto" or scale is not None:
        return _mean_of_some(curator, shape, error_norm=error_norm, clip=clip, scale=scale)
    if shape.rare is not None:
        return stated(shape, rare_column_mean(curator, shape.rare, shape.spread))
    if shape.rough:
        return stated(shape, rough_column_mean(curator, shape))
    ruling = ruling_portion(curator, shape, error_norm)
    if ruling is not None:
        return _mean_of_tables(curator, shape, ruling, error_norm=error_norm)
    return _mean_of_others(curator, shape, error_norm=error_norm)


def _mean_of_others(curator: Searcher, shape: Shape, *, error_norm: float) -> Estimate:
    """Return the mean of columns of a shape of which none rules."""
    kinds = find_kinds(curator, shape, error_norm)
    if kinds is not None:
        return _mean_of_kinds(curator, shape, kinds, error_norm=error_norm)
    heavy = heavy_portion(curator, shape, error_norm)
    if heavy is not None:
        return _mean_of_tables(curator, shape, heavy, error_norm=error_norm)
    return _mean_of_some(curator, shape, error_norm=error_norm)


def _mean_of_kinds(curator: Searcher, shape: Shape, kinds: Kinds, *, error_norm: float) -> Estimate:
    """Return the mean of columns of which some are clipped by themselves."""
    left, ends, found = curator.remaining, kinds.ends, []
    for column, part in zip(kinds.rare.tolist(), kinds.parts.tolist(), strict=True):
        portion = Portion.of(curator, np.array([column]), part * left, sample=shape.sample)
        found.append((portion.index, _mean_of_rare(portion, shape, error_norm=error_norm)))
    apart = np.append(kinds.rare, ends.index)
    others = np.setdiff1d(np.arange(shape.spread.size), apart)
    if ends.index.size:
        part = kinds.part * left if others.size else 1.0
        portion = Portion.of(curator, ends.index, part, sample=shape.sample)
        known = replace(shape.of(ends.index), sample=portion.sampled())
        own = stated(known, mean_between_ends(portion, known, ends, error_norm))
        found.append((ends.index, own))
    if others.size:
        rest = with_shape(Portion.of(curator, others, 1.0, sample=shape.sample), shape)
        found.append((others, _mean_of_some(*rest, error_norm=error_norm)))
    index, total = found.pop()
    for own_index, own in found:
        both = np.sort(np.append(index, own_index))
        index, total = both, joined(np.searchsorted(both, own_index), own, total)
    return total


def _mean_of_rare(portion: Portion, shape: Shape, *, error_norm: float) -> Estimate:
    """Return the mean of a column of rare values; by a first mean, if no others are seen."""
    table, known = with_shape(portion, shape)
    searched, own = learn_shape(table, known.rows)
    found = _mean_of_all(
        searched, own, error_norm=error_norm, clip="auto", scale=None, rotate=False
    )
    first, constant = known.first, own.constant is not None and bool(own.constant.all())
    if first is None or not (constant or own.spread[0] < _LOST * known.spread[0]):
        return found
    away = np.abs(first.value - first.bulk) > _AWAY * first.noise
    value = np.where(away, first.value, found.value)
    return stated(known, FoundMean(value, first.noise, {}, clipping_std=np.zeros(1)))


def _mean_of_tables(
    curator: Searcher, shape: Shape, apart: Portion, *, error_norm: float
) -> Estimate:
    """Return the mean of columns of which some are a table of their own."""
    table, known = with_shape(apart, shape)
    if are_heavy(shape, apart.index):  # what is known of them may be of their bulk alone
        theirs = _mean(table, known.rows, error_norm=error_norm)
    else:
        theirs = _mean_of_some(table, known, error_norm=error_norm)
    index = np.setdiff1d(np.arange(shape.spread.size), apart.index)
    others = with_shape(Portion.of(curator, index, 1.0, sample=shape.sample), shape)
    return joined(apart.index, theirs, _mean_of_others(*others, error_norm=error_norm))


def _mean_of_some(
    curator: Searcher,
    shape: Shape,
    *,
    error_norm: float,
    clip: Clip = "auto",
    scale: Floats | None = None,
) -> Estimate:
    """Return the mean of columns of a shape, none of which are a table of their own."""
    first = shape.first
    if first is not None and first.mostly_rare and clip == "auto":
        found = mostly_rare_mean(curator, shape, first, error_norm)
        return stated(shape.saying(UNSURE), found)

    # Step 2.
    def weigh(shape: Shape) -> Floats:
        if scale is not None:
            return optimal_scale(scale, error_norm)
        return likely_scale(shape.spread, error_norm, constant=shape.constant, part=shape.part)

    norms, relative = None, error_norm == RELATIVE
    if scale is None and relative:
        shape = with_variances(shape)
    if scale is None and clip == "auto":
        shape, norms = with_first_look(shape, weigh, share=curator.remaining, relative=relative)
    # Steps 3 to 5.
    found = _mean_clipped(
        curator,
        shape,
        weigh(shape),
        clip=clip,
        error_norm=error_norm,
        norms=norms,
        table=curator,
    )
    if first is not None:
        found = with_rare_shrunk(first, found, error_norm)
    return stated(shape, found)


def _mean_clipped(
    curator: Measurer,
    shape: Shape,
    scale: Floats,
    *,
    clip: Clip,
    error_norm: float,
    norms: MeasuredNorms | None = None,
    table: Searcher | None = None,
) -> FoundMean:
    """Return the mean, with all that is left, of rows clipped as it is best or as asked."""
    share = curator.remaining
    if clip != "auto":
        return fixed_clip_mean(curator, shape, scale, share=share, fraction=clip)
    return clipped_mean(
        curator, shape, scale, share=share, error_norm=error_norm, norms=norms, table=table
    )
