"""What must be known of the rows before they can be summed well: where, and how spread.

First each column's bulk (`locate.py`), then centers and spreads inside of that (`unknown.py`).
What is public is not searched. Where rows are many, a random sample of them is searched.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prolate.arrays import Floats, Limits
from prolate.curator import Searcher, Table
from prolate.estimators.columns import SomeColumns
from prolate.estimators.present import MISSING, find_present, most_present, present_rows
from prolate.estimators.search.center import refine_center, roughness_of
from prolate.estimators.search.floor import with_far_values
from prolate.estimators.search.locate import SCALES, Interval, locate, lost_columns
from prolate.estimators.search.magnitudes import are_mostly_zero, find_magnitudes
from prolate.estimators.search.own_rows import rows_of_questions
from prolate.estimators.search.place import locate_coarsely
from prolate.estimators.search.shape import Shape
from prolate.estimators.search.spread import LARGEST, NARROWEST, SMALLEST, measure_scale
from prolate.estimators.search.unknown import search_columns
from prolate.estimators.shares import Shares, plan_shares, sample_rows

__all__ = ["learn_shape"]

_GIVEN = 0.1  # how rough a center is taken to be that was given
_AGAIN, _ALMOST = 2, 1.0  # times that scales are looked for again; octaves from the narrowest


def learn_shape(
    curator: Table,
    rows: float,
    *,
    center: Floats | None = None,
    scale: Floats | None = None,
    relative: bool = False,
    coarsely: bool = False,
    window: Limits | None = None,
    own_rows: bool = False,
) -> tuple[Searcher, Shape]:
    """Return what is to be summed, as if no values were missing, and what it is like.

    A single column has the rows only in which it is there: the shape says how many.

    Parameters
    ----------
    curator : Table
    rows : float
        Their number, or a private estimate of it.
    center, scale : float64 arrays of shape (d,), optional
        Public centers and scales; what is given is not searched.
    relative : bool
        Whether errors count relative to the columns' spreads.
    coarsely : bool
        Whether few rows are searched by all that coarse counts tell: of centers that is much, of
        spreads, and so of variances, little.
    window : pair of float64 arrays of shape (d,), optional
        Where most values of few rows are known to be.
    own_rows : bool
        Whether questions may be asked of rows of their own, where rows are wide and many: then
        what is left for the last sum is known no sooner than all are asked.
    """
    enough = sample_rows(curator)
    own = rows_of_questions(curator, rows, enough) if own_rows else None
    sample = curator.sampled(enough, rows) if own is None else own
    few = rows * sample.fraction
    shares = plan_shares(sample, few)
    before = sample.remaining
    searched_all = center is None and scale is None
    if coarsely and searched_all and _are_coarse(sample, few, shares):
        interval = locate_coarsely(sample, few, window, tails=True)
    else:
        interval = _interval(sample, few, shares, center, scale)
    if interval.doubt is not None:  # that was dear
        shares = shares.of_rest(sample.remaining / before)
    if interval.part is not None:  # counts are noisier by as much
        shares = plan_shares(sample, few, float(interval.part.min()))
    table = present_rows(curator, rows, interval.part)
    searched = table if sample is curator else present_rows(sample, few, interval.part)
    if interval.part is not None:  # there are no more rows than one of the columns has
        most = most_present(interval.part)
        part = None if curator.dimension == 1 else interval.part / most
        rows, interval = most * rows, replace(interval, part=part)
    if searched_all:
        shape = search_columns(table, rows, searched, shares, interval, relative=relative)
    else:
        shape = _with_given(rows, searched, shares, interval, center, scale)
    if interval.absent.any():
        # What is not there shows no single value.
        said = () if interval.absent.all() else shape.warnings
        shape = replace(shape, absent=interval.absent, warnings=(*said, MISSING))
    return table, replace(shape, part=interval.part, lost=lost_columns(interval))


def _are_coarse(sample: Searcher, rows: float, shares: Shares) -> bool:
    """Return whether coarse counts of single columns tell most; of baskets all together do."""
    return shares.coarse and not (shares.many and are_mostly_zero(sample, rows))


def _interval(
    sample: Searcher, rows: float, shares: Shares, center: Floats | None, scale: Floats | None
) -> Interval:
    """Return where values are, as far as it is not public."""
    if center is None:
        return locate(sample, rows, magnitude_share=shares.magnitude, share=shares.location)
    nowhere, none = np.zeros(center.size, dtype=np.bool_), np.zeros(center.size)
    if scale is None:
        size = find_magnitudes(sample, rows, share=shares.magnitude, center=center)
        reach = size.largest, nowhere, size.found, size.farthest
        return Interval(center, *reach, none, size.absent, size.part)
    part, absent = find_present(sample, rows)
    return Interval(center, SCALES * scale, nowhere, True, none, none, absent, part)


def _with_given(
    rows: float,
    sample: Searcher,
    shares: Shares,
    interval: Interval,
    center: Floats | None,
    scale: Floats | None,
) -> Shape:
    """Return the shape where centers, or spreads, or both are public."""
    few, warnings = rows * sample.fraction, shares.warnings(found=interval.found)
    if center is not None and scale is not None:
        return Shape(rows, sample, center, scale, _GIVEN)
    if scale is not None:
        middle, noise = refine_center(
            sample, few, interval.center, interval.half / SCALES, share=shares.center
        )
        off = roughness_of(noise, scale)
        return Shape(rows, sample, middle, scale, off, warnings, center_noise=noise)
    center = interval.center
    spread = _scale_around(sample, few, interval, share=shares.scale)
    spread = np.clip(spread, SMALLEST, LARGEST)
    heavy, wide = np.zeros(spread.size, dtype=np.bool_), ~interval.narrow
    if not shares.crowded:
        least = 1.0 if interval.part is None else float(interval.part.min())
        spread, _, heavy = with_far_values(sample, few, center, spread, wide=wide, least=least)
    return Shape(rows, sample, center, spread, _GIVEN, warnings, heavy=heavy)


def _scale_around(sample: Searcher, rows: float, interval: Interval, *, share: float) -> Floats:
    """Return the columns' spreads around public centers.

    No locations are searched, so intervals may be much too wide: by how large values are beside
    those of other columns, noise may say anything.
    """
    spread = np.zeros(interval.half.size)
    left = np.arange(spread.size)
    for _ in range(1 + _AGAIN):
        view = sample if left.size == spread.size else SomeColumns(sample, left)
        here, part = interval.at(interval.center, left), left.size / spread.size
        spread[left] = measure_scale(
            view, rows, here, reach=0.0, share=share * part, narrower=NARROWEST
        )
        narrowed = np.log2(np.maximum(interval.half, SMALLEST) / SCALES)
        wide = narrowed - np.log2(np.maximum(spread, SMALLEST))
        left = np.flatnonzero(~interval.narrow & (wide > NARROWEST - _ALMOST))
        if not left.size:
            break
        half = interval.half.copy()
        half[left] = SCALES * spread[left]
        interval = replace(interval, half=half)
    return spread
