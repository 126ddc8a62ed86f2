"""The private mean of rows of which a fixed part is clipped, as asked."""

from __future__ import annotations

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurer
from prolate.estimators.estimate import FoundMean
from prolate.estimators.lengths.clip import clipped_sum
from prolate.estimators.lengths.norms import fraction_radius, measure_norms
from prolate.estimators.moments import MOMENTS, measure_variation
from prolate.estimators.search.shape import Shape
from prolate.estimators.shares import radius_part
from prolate.neighbors import radii_apart
from prolate.theory import effective_columns

__all__ = ["CLIPPED", "fixed_clip_mean"]

CLIPPED = (
    "A fixed fraction of the rows is clipped, and what that removes from the mean is not measured: "
    "if the rows are skewed, its intervals may be too narrow. clip='auto' allows for it."
)
"""The warning that goes with every such mean."""


def fixed_clip_mean(
    curator: Measurer,
    shape: Shape,
    scale: Floats,
    *,
    share: float,
    fraction: float,
) -> FoundMean:
    """Return the mean, for a share of mu**2.

    How much columns vary is asked of the sample; how many rows are clipped, of all.
    """
    sample, part = shape.sample, shape.sample.fraction
    effective = effective_columns(shape.spread, scale)
    for_radius = radius_part(curator, shape.rows, effective) * share
    norms = measure_norms(
        curator, center=shape.center, scale=scale, spread=shape.spread, share=for_radius
    )
    radius = fraction_radius(norms, fraction, shape.rows)
    for_variation = MOMENTS * share
    rest = share - for_radius - for_variation
    noise = radii_apart(curator.neighbors) / curator.mu_of(rest) / shape.rows * radius * scale
    variation = measure_variation(
        sample,
        shape.searched,
        shape.center,
        shape.spread,
        scale,
        noise=noise / np.sqrt(part),
        safe=radius,
        share=for_variation,
    )
    rest = min(rest, curator.remaining)
    total, noise = clipped_sum(curator, shape.center, scale, radius, share=rest, label="mean")
    return FoundMean(
        shape.center + total / shape.rows,
        noise / shape.rows,
        {"radius": radius, "clipped_fraction": fraction},
        variation=variation.over_spread(1.0),
        hidden=norms.hidden,
    )
