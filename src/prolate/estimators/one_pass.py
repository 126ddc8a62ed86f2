"""The mean of many rows in a single pass, with everything else learned from a sample.

The sample shows how long rows are, but not the longest of all rows, and not what clipping
would take off a mean of skewed rows: its center is rough, and a tilt must be clear to count.
So the one pass over all rows measures sums at two radii (`nested.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator
from prolate.estimators.allowance import allowance_of_difference
from prolate.estimators.clip import rounding_std, sampled_norms
from prolate.estimators.expected import expect, measure_tilt, tilt_share
from prolate.estimators.moments import MOMENTS, measure_variation
from prolate.estimators.nested import nested_mean, radii_to_compare
from prolate.estimators.shape import Shape
from prolate.estimators.shares import radius_share
from prolate.theory import effective_columns

__all__ = ["one_pass_mean"]

Floats = NDArray[np.float64]


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
    for_variation, for_tilt = MOMENTS * share, tilt_share(effective) * share
    share = min(share - for_radius, curator.remaining) - for_variation - for_tilt
    expected = expect(curator, rows, shape.spread, scale, norms, share=share)
    # The center is off by a part of each column's spread, of which clipping takes some away:
    # along a row, where the columns share its square as they share that of all rows.
    length = (shape.spread / scale) ** 2
    off = shape.spread / expected.unit * length / float(np.sum(length))
    rough = shape.roughness**2 + 1.0 / few
    off_square = float(np.sum(off**2)) * rough
    tilt = measure_tilt(
        sample,
        shape.center,
        shape.spread,
        scale,
        replace(expected, rows=few),
        share=for_tilt,
        off_square=rough,
    )
    radius = expected.best_radius(
        lambda tried: off_square * expected.cut(tried) ** 2 + expected.bias_square(tried, tilt)
    )
    radii = radii_to_compare(expected, radius)
    variation = measure_variation(
        sample,
        few,
        shape.center,
        shape.spread,
        scale,
        noise=expected.noise * np.sqrt(rows / few) * radii[1] * scale,
        safe=radii[1],
        share=for_variation,
    )
    found = nested_mean(
        curator,
        shape.center,
        shape.spread,
        scale,
        expected,
        tilt,
        usual=expected.best_radius(),
        radii=radii,
        share=min(share, curator.remaining),
    )
    allowed = allowance_of_difference(expected, shape.spread, scale, found)
    details = {
        "stretch": allowed.stretch,
        "variation": variation.over_spread(allowed.stretch),
        "unseen_rows": norms.unseen,
        "clipping_std": np.hypot(allowed.clipping_std, rounding_std(scale, found.radii[1])),
        "guessed": allowed.guessed,
        "radius": found.radius,
        "safe_radius": found.radii[1],
        "mean_factor": expected.mean_factor(found.radius),
        "clipped_fraction": norms.fraction_above(radii[0], rows),
        "sampled": sample.fraction,
    }
    return found.value, found.noise, details
