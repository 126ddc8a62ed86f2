"""Spreads that are nearer to the standard deviations, where errors count relative to these.

The spread of a column is that of its bulk, and of values that are seen far out. For an error that
is relative to all of a standard deviation, columns with longer tails than others get too little of
the noise, and the others too much. One sum of all columns' squares says by how much, as far as
its noise lets see.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prolate.estimators.moments import measure_variation
from prolate.estimators.search.shape import Shape

__all__ = ["with_variances"]

_SHARE = 0.02  # of mu**2
_DIFFER = 0.5  # variance of what squares are to be, over those of the spreads
_LEAST, _MOST = 0.25, 6.0  # of them


def with_variances(shape: Shape) -> Shape:
    """Return the shape with spreads by all columns' squares; constant and rare ones stay.

    Parameters
    ----------
    shape : Shape
        Of several columns; its sample is asked.
    """
    vary = shape.varies & ~shape.of_rare
    if np.count_nonzero(vary) < 2:
        return shape
    sample, spread = shape.sample, shape.spread
    variation = measure_variation(
        sample,
        shape.searched,
        shape.center,
        spread,
        spread,
        noise=np.zeros(spread.size),
        safe=0.0,
        share=_SHARE * sample.remaining,
    )
    believed = _DIFFER / (_DIFFER + variation.doubt**2)
    square = np.clip(1.0 + believed * (variation.square - 1.0), _LEAST, _MOST)
    return replace(shape, spread=np.where(vary, np.sqrt(square), 1.0) * spread)
