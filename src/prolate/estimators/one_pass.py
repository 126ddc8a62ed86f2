"""The mean of many rows in a single pass, with everything else learned from a sample.

As `mean.py`, but for its first mean: a sample's, for a small part of the budget, since the sample
itself is no nearer to the mean of all rows. It is what the rows are clipped around.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator
from prolate.estimators.allowance import allowance_of_mean
from prolate.estimators.clip import clipped_sum, rounding_std, sampled_norms
from prolate.estimators.expected import expect
from prolate.estimators.loss import Loss
from prolate.estimators.moments import MOMENTS, measure_variation
from prolate.estimators.shape import Shape
from prolate.estimators.shares import radius_share
from prolate.estimators.tilt import measure_tilt, tilt_share
from prolate.theory import effective_columns

__all__ = ["one_pass_mean"]

Floats = NDArray[np.float64]

_FIRST = 0.02  # part of the sample's mean


def one_pass_mean(
    curator: Curator, shape: Shape, scale: Floats, *, share: float
) -> tuple[Floats, Floats, dict[str, Any]]:
    """Return the mean, its noise, and what was found, for a share of mu**2."""
    sample, rows = shape.sample, shape.rows
    few = rows * sample.fraction
    effective = effective_columns(shape.spread, scale)
    for_radius = radius_share(sample, few, effective) * share
    norms = sampled_norms(
        sample, center=shape.center, scale=scale, spread=shape.spread, share=for_radius
    )
    for_tilt, for_first = tilt_share(effective) * share, _FIRST * share
    for_variation = MOMENTS * share
    share = min(share - for_radius, curator.remaining) - for_variation - for_tilt - for_first
    expected = expect(curator, rows, shape.spread, scale, norms, share=share)

    careful = norms.nearest_edge(np.sqrt(expected.best_radius() * expected.safe))
    total, noise = clipped_sum(
        sample, shape.center, scale, careful, share=for_first, label="first mean"
    )
    kept = few * expected.mean_factor(careful)
    center = shape.center + total / kept
    off = np.hypot(np.minimum(noise / kept, shape.spread), shape.spread / np.sqrt(few))
    tilt = measure_tilt(
        sample, center, shape.spread, scale, expected, share=for_tilt, rows=few, off=off
    )
    loss = Loss(expected, tilt, shape.spread, scale)
    left = expected.off_square(off, shape.spread, scale)

    def bias_square(radius: float) -> float:
        return loss.doubt_square(radius) + left * expected.cut(radius) ** 2

    radius = expected.best_radius(bias_square)
    variation = measure_variation(
        sample,
        few,
        center,
        shape.spread,
        scale,
        noise=expected.noise * np.sqrt(rows / few) * radius * scale,
        safe=expected.safe,
        share=for_variation,
    )
    total, noise = clipped_sum(
        curator, center, scale, radius, share=min(share, curator.remaining), label="mean"
    )
    kept = rows * expected.mean_factor(radius)
    bias = expected.unit * math.sqrt(bias_square(radius))
    allowed = allowance_of_mean(loss, bias=bias, radius=radius)
    details = {
        "stretch": allowed.stretch,
        "variation": variation.over_spread(allowed.stretch),
        "unseen_rows": norms.unseen,
        "clipping_std": np.hypot(allowed.clipping_std, rounding_std(scale, radius)),
        "guessed": allowed.guessed,
        "radius": radius,
        "safe_radius": expected.safe,
        "mean_factor": expected.mean_factor(radius),
        "clipped_fraction": norms.fraction_above(radius, rows),
        "sampled": sample.fraction,
    }
    return center + total / kept + loss.lost(radius), noise / kept, details
