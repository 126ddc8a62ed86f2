"""The mean of columns that are clipped together, by the length of their rows.

Steps 2 to 6 of `mean.py`.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurer, Searcher
from prolate.estimators.asked import Asked
from prolate.estimators.clipping.clipped_mean import clipped_mean
from prolate.estimators.clipping.first_look import with_first_look
from prolate.estimators.clipping.fixed_clip import fixed_clip_mean
from prolate.estimators.clipping.rare_mean import mostly_rare_mean, unsure, with_rare_shrunk
from prolate.estimators.clipping.stated import stated
from prolate.estimators.estimate import Estimate, FoundMean
from prolate.estimators.lengths.norms import MeasuredNorms
from prolate.estimators.partial_pooling import with_columns_pooled
from prolate.estimators.search.alike import likely_scale
from prolate.estimators.search.shape import Shape
from prolate.estimators.search.variances import with_variances
from prolate.theory import optimal_scale

__all__ = ["clipped_as_asked", "mean_together"]


def mean_together(table: Searcher, shape: Shape, asked: Asked) -> Estimate:
    """Return the mean of columns of a shape, with all that is left, clipped together."""
    first, chosen = shape.first, asked.scale is None and asked.clip == "auto"
    if first is not None and first.mostly_rare and asked.clip == "auto":
        found = mostly_rare_mean(table, shape, first, asked.error_norm)
        return stated(shape.saying(unsure(found)), found)
    # Step 2.
    weigh = partial(_weigh, asked=asked)
    norms = None
    if asked.scale is None and asked.relative:
        shape = with_variances(shape)
    if chosen:
        left = table.remaining
        shape, norms = with_first_look(shape, weigh, share=left, relative=asked.relative)
    # Steps 3 to 5.
    found = clipped_as_asked(table, shape, weigh(shape), asked, norms=norms, table=table)
    # Step 6.
    if asked.clip == "auto":
        found = _pooled(found, shape, known=asked.center is not None)
    if first is not None:
        found = with_rare_shrunk(first, found, asked.error_norm)
    return stated(shape, found)


def _pooled(found: FoundMean, shape: Shape, *, known: bool) -> FoundMean:
    """Return a mean with columns drawn together that are alike, or off known centers alike."""
    sampling = found.variation * shape.spread / np.sqrt(shape.present)
    which = shape.varies & ~shape.unknown & ~shape.of_rare
    return with_columns_pooled(found, sampling, which, center=shape.center if known else None)


def _weigh(shape: Shape, *, asked: Asked) -> Floats:
    """Return what deviations are divided by."""
    if asked.scale is not None:
        return optimal_scale(asked.scale, asked.error_norm)
    return likely_scale(shape.spread, asked.error_norm, constant=shape.constant, part=shape.part)


def clipped_as_asked(
    curator: Measurer,
    shape: Shape,
    scale: Floats,
    asked: Asked,
    *,
    norms: MeasuredNorms | None = None,
    table: Searcher | None = None,
) -> FoundMean:
    """Return the mean, with all that is left, of rows clipped as it is best, or as asked.

    Parameters
    ----------
    curator : Measurer
    shape : Shape
    scale : float64 array of shape (d,)
    asked : Asked
    norms : MeasuredNorms, optional
        What a first look at the lengths of the rows that are searched showed.
    table : Searcher, optional
        The curator, if some of its columns may be summed by themselves.
    """
    share, norm = curator.remaining, asked.error_norm
    if asked.clip != "auto":
        return fixed_clip_mean(curator, shape, scale, share=share, fraction=asked.clip)
    return clipped_mean(
        curator, shape, scale, share=share, error_norm=norm, norms=norms, table=table
    )
