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

At most four columns that all have public bounds are summed within these (`sum.py`), if they are
flags, which spread as far as their bounds, or if their rows are few and a look does not show most
of them in a small part of the bounds (`search/within.py`). So is a single column that is found to
be spread about as far as these. Four kinds of tables are summed otherwise, too. Of a single column
in so few rows that its tails cannot be seen, values are cut near where they likely are
(`clipping/rough_mean.py`); in somewhat more rows, too, if it is likely skewed. One that is clearly
skewed is clipped to an interval, longer on the side of its tail (`lengths/interval.py`), and so is
one whose values are nearly all the same, as flags of unknown bounds are (`search/rare_column.py`),
with no first mean.
Where most columns are nearly constant, and their other values on one side or alike, as in baskets,
rows are far from symmetric: `clipping/rare_mean.py` takes the place of the steps from 3 on for
these columns. And a few columns that reach much farther than the others, or one that is much larger
than all of them, are a table of their own, with a part of the budget (`search/apart.py`). So is one
that proves, in step 4, to be the only skewed one (`clipping/long_column.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator, Measurer, Searcher, Table
from prolate.estimators.clipping.allowance import SKEWED
from prolate.estimators.clipping.clipped_mean import clipped_mean
from prolate.estimators.clipping.first_look import with_first_look
from prolate.estimators.clipping.fixed_clip import CLIPPED, fixed_clip_mean
from prolate.estimators.clipping.rare_mean import UNSURE, rare_mean
from prolate.estimators.clipping.rough_mean import rough_mean
from prolate.estimators.columns import SomeColumns
from prolate.estimators.estimate import Estimate, FoundMean
from prolate.estimators.lengths.norms import MeasuredNorms
from prolate.estimators.portion import Portion
from prolate.estimators.rotation import AxesCurator, find_rotation
from prolate.estimators.search.alike import likely_scale
from prolate.estimators.search.apart import are_heavy, joined, portion_apart, with_shape
from prolate.estimators.search.first_mean import FirstMean, view_of
from prolate.estimators.search.learn import learn_shape
from prolate.estimators.search.rare_column import rare_column_mean
from prolate.estimators.search.shape import Shape
from prolate.estimators.search.variances import with_variances
from prolate.estimators.search.within import window_within
from prolate.estimators.shares import count_rows, plan_shares
from prolate.estimators.shrink import shrink
from prolate.estimators.sum import mean_within
from prolate.theory import RELATIVE, optimal_scale

__all__ = ["Clip", "mean"]

Floats = NDArray[np.float64]
Clip = float | Literal["auto"]

HIDDEN = (
    "Most values of a column are equal, and noise hides how far the other values are from that "
    "one: do not use its numbers. More rows, a larger budget or bounds would help."
)
NOT_TURNED = "No rotation was looked for: it needs the l2 error (error_norm=2)."
_LEAST_PART = 1e-4  # of columns of which some are of rare values and others not
_NARROW = 4  # columns, few rows of which are better not searched where bounds are public
_WITHIN = 7.0  # spreads between bounds, of a column that is best summed within these
_UNSEEN = 0.1  # of the rows, beyond which noise may hide what makes a mean
_FEW = (
    "The rows are few for this budget: noise may hide where {:.0f} % of them lie. If these lie on "
    "one side, as in skewed columns, the mean is off by more than its interval says. More rows, a "
    "larger budget or bounds would help, and quantiles are more reliable."
)


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
        where the rows can pay for it and an l_2 error is wanted (`rotation.py`).
    """
    given = clip != "auto" or center is not None or scale is not None
    flags = curator.are_flags and curator.dimension <= _NARROW and not given
    rows = count_rows(curator, again=not flags)
    if flags:
        return mean_within(curator, rows=rows, error_norm=error_norm)
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
    bounded = clip == "auto" and center is None and scale is None and _are_bounded(table)
    few = bounded and table.dimension <= _NARROW and plan_shares(table, rows).small
    window = window_within(table, rows) if few else None
    if few and window is None:
        return mean_within(table, rows=rows, error_norm=error_norm)
    curator, shape = learn_shape(
        table,
        rows,
        center=center,
        scale=scale,
        relative=error_norm == RELATIVE,
        coarsely=True,
        window=window,
    )
    if bounded and (_shows_nothing(shape) or _reaches(table, shape)):
        return mean_within(table, rows=rows, error_norm=error_norm)
    told = (CLIPPED,) * (clip != "auto") + (NOT_TURNED,) * (rotate and error_norm != 2.0)
    shape = replace(shape, warnings=(*shape.warnings, *told))
    turned = find_rotation(curator, shape) if rotate and error_norm == 2.0 else None
    if turned is not None:
        return _turned_mean(turned, shape, clip)
    if shape.rare is not None and clip == "auto":
        return _stated(shape, rare_column_mean(curator, shape.rare, shape.spread))
    if shape.rough and clip == "auto":
        return _stated(shape, _rough_mean(curator, shape))
    apart = portion_apart(curator, shape, error_norm) if clip == "auto" else None
    if apart is not None:
        table, known = with_shape(apart, shape)
        if are_heavy(shape, apart.index):  # what is known of them may be of their bulk alone
            theirs = _mean(table, known.rows, error_norm=error_norm)
        else:
            theirs = _mean_of(table, known, error_norm=error_norm)
        others = np.setdiff1d(np.arange(shape.spread.size), apart.index)
        rest = Portion.of(curator, others, 1.0, sample=shape.sample)
        found = _mean_of(*with_shape(rest, shape), error_norm=error_norm)
        return joined(apart.index, theirs, found)
    return _mean_of(curator, shape, error_norm=error_norm, clip=clip, scale=scale)


def _rough_mean(curator: Searcher, shape: Shape) -> FoundMean:
    """Return the mean of a single column of which no tails can be seen."""
    found = rough_mean(curator, shape.rows, shape.center, shape.spread, shape.roughness)
    details = {"radius": found.cut * float(shape.spread[0])}
    value, noise, taken = (np.array([each]) for each in (found.value, found.noise_std, found.taken))
    return FoundMean(value, noise, details, clipping_std=taken, guessed=taken)


def _shows_nothing(shape: Shape) -> bool:
    """Return whether every column seems to be a single value."""
    return shape.constant is not None and bool(shape.constant.all())


def _reaches(table: Table, shape: Shape) -> bool:
    """Return whether a single column is spread about as far as its bounds."""
    if shape.spread.size > 1 or shape.rare is not None or table.bounds is None:
        return False
    lower, upper = table.bounds
    return bool(upper[0] - lower[0] < _WITHIN * shape.spread[0])


def _are_bounded(curator: Table) -> bool:
    """Return whether every column has public bounds."""
    return curator.bounds is not None and bool(np.all(np.isfinite(curator.bounds)))


def _mean_of(
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
        found = _mostly_rare_mean(curator, shape, first, error_norm)
        shape = replace(shape, warnings=(*shape.warnings, UNSURE))
    else:

        def weigh(shape: Shape) -> Floats:
            if scale is not None:
                return optimal_scale(scale, error_norm)
            return likely_scale(shape.spread, error_norm, constant=shape.constant, part=shape.part)

        norms = None
        if scale is None and error_norm == RELATIVE:
            shape = with_variances(shape)
        if scale is None and clip == "auto":
            shape, norms = with_first_look(
                shape, weigh, share=curator.remaining, relative=error_norm == RELATIVE
            )
        found = _clipped_mean(
            curator,
            shape,
            weigh(shape),
            clip=clip,
            sample=shape.sample,
            error_norm=error_norm,
            norms=norms,
            table=curator,
        )
        if first is not None:
            rare, median = first.rare, error_norm < 2.0
            moved = shrink((found.value - first.bulk)[rare], found.noise_std[rare], median=median)
            value = found.value.copy()
            value[rare] = first.bulk[rare] + moved
            details = {**found.details, "shrunk_columns": int(np.count_nonzero(rare))}
            found = replace(found, value=value, details=details)
    return _stated(shape, found)


def _clipped_mean(
    curator: Measurer,
    shape: Shape,
    scale: Floats,
    *,
    clip: Clip,
    sample: Measurer,
    error_norm: float = 2.0,
    norms: MeasuredNorms | None = None,
    table: Searcher | None = None,
) -> FoundMean:
    """Return steps 3 to 5 with all that is left, or the mean of rows that are clipped as asked."""
    share = curator.remaining
    if clip != "auto":
        return fixed_clip_mean(curator, shape, scale, share=share, fraction=clip, sample=sample)
    far = (0.0, 0.0) if shape.first is None else shape.first.far(shape.rows, scale)
    return clipped_mean(
        curator,
        shape,
        scale,
        share=share,
        sample=sample,
        far=far,
        error_norm=error_norm,
        norms=norms,
        table=table,
    )


def _mostly_rare_mean(
    curator: Searcher, shape: Shape, first: FirstMean, error_norm: float
) -> FoundMean:
    """Return the mean where most columns are of rare values; the others by themselves."""
    size, apart = shape.spread, np.ones(shape.spread.size)
    if first.side is not None:  # rows are clipped around the bulk
        away = np.where(first.rare, shape.center - first.bulk, 0.0)
        size = np.hypot(size, away)
        apart = np.where(first.rare, 1.0, np.sqrt(2.0))  # a row from another, in its length
    scale = optimal_scale(size, error_norm)
    some, others = np.flatnonzero(first.rare), np.flatnonzero(~first.rare)
    value, noise, clipping = np.zeros((3, size.size))
    if others.size:
        # With these shares of mu**2 the noise of both together is least.
        needs = apart ** (2.0 * error_norm / (error_norm + 2.0)) * (size / scale) ** 2
        part = float(needs[others].sum() / needs.sum())
        share = curator.remaining * min(max(part, _LEAST_PART), 1.0 - _LEAST_PART)
        view = SomeColumns(curator, others)
        sample = view if shape.sample is curator else SomeColumns(shape.sample, others)
        bulk = clipped_mean(
            view,
            shape.of(others),
            scale[others],
            share=share,
            sample=sample,
            error_norm=error_norm,
        )
        value[others], noise[others] = bulk.value, bulk.noise_std
        clipping[others] = bulk.clipping_std
    rare = rare_mean(
        view_of(curator, some),
        shape.of(some),
        first.of(some),
        scale[some],
        share=curator.remaining,
        error_norm=error_norm,
    )
    value[some], noise[some], clipping[some] = rare.value, rare.noise_std, rare.clipping_std
    return FoundMean(value, noise, rare.details, clipping_std=clipping)


def _stated(shape: Shape, found: FoundMean) -> Estimate:
    """Return the estimate with its errors; skewed rows vary more than their bulk."""
    sampling_std = found.variation * shape.spread / np.sqrt(shape.present)
    noise_std = np.where(shape.unknown, np.inf, found.noise_std)
    guessed = 0.0 if found.guessed is None else found.guessed
    # Where rows are few, it is said already, and that they are skewed is not known.
    hidden = (HIDDEN,) if found.hidden else ()
    part = found.details.get("unseen_rows", 0.0) / max(shape.rows, 1.0)
    unseen: tuple[str, ...] = ()
    if not shape.warnings and not hidden:
        if part > _UNSEEN:
            unseen = (_FEW.format(100.0 * min(part, 1.0)),)
        elif np.any(guessed > np.hypot(noise_std, sampling_std)):
            unseen = (SKEWED,)
    return Estimate(
        value=found.value,
        noise_std=noise_std,
        sampling_std=sampling_std,
        clipping_std=found.clipping_std,
        rows=shape.rows,
        warnings=(*shape.warnings, *hidden, *unseen),
        details=found.details,
    )


def _turned_mean(curator: AxesCurator, shape: Shape, clip: Clip) -> Estimate:
    """Return the mean from sums along the principal axes."""
    zeros = np.zeros(shape.spread.size)
    # What was seen of columns says nothing of axes.
    axes = replace(shape, center=zeros, spread=curator.spread, center_noise=None, first=None)
    scale = optimal_scale(axes.spread, 2.0)
    found = _clipped_mean(curator, axes, scale, clip=clip, sample=curator)

    part = 1.0 if shape.part is None else shape.part

    def turned(std: Floats) -> Floats:
        return np.sqrt(curator.matrix**2 @ std**2) / part

    return _stated(
        shape,
        FoundMean(
            shape.center + curator.matrix @ found.value,
            turned(found.noise_std),
            {**found.details, "rotated": True},
            variation=turned(found.variation * curator.spread) * np.sqrt(part) / shape.spread,
            clipping_std=None if found.clipping_std is None else turned(found.clipping_std),
            guessed=None if found.guessed is None else turned(found.guessed),
            hidden=found.hidden,
        ),
    )
