"""Sums of clipped rows, and what rounding them may do."""

from __future__ import annotations

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurer
from prolate.queries import RADIUS, ClippedSum, OneSidedSum

__all__ = ["clipped_sum", "rounding_std"]


def clipped_sum(
    curator: Measurer,
    center: Floats,
    scale: Floats,
    radius: float,
    *,
    share: float,
    label: str,
    tilt: tuple[float, float] | None = None,
    side: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Return the noisy sum of clipped deviations in the data's unit, and its noise.

    With `side`, 1 or -1 for each column, of deviations to that side of the center alone.
    """
    query: ClippedSum | OneSidedSum
    if side is None:
        query = ClippedSum(center, scale, radius, tilt=tilt)
    else:
        query = OneSidedSum(center, scale, radius, side)
    measured = curator.measure(query, share=share, label=label)
    return query.unit * measured.values, query.unit * measured.noise


def rounding_std(scale: Floats, radius: float) -> Floats:
    """Return what rounding rows to the grid of `clipped_sum` may do to a mean, as a deviation.

    Rows of one value are all rounded alike: by up to half a step, which does not average out.
    """
    return np.asarray(scale * (radius / RADIUS / np.sqrt(12.0)))
