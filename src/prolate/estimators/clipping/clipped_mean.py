"""The mean of rows that are clipped as it is best for them: steps 3 to 5 of `mean.py`.

Where rows are many, all but the last sum is asked of a sample of them. Its mean is no nearer to
that of all rows than sampling allows: it is what they are clipped around, for a small part of the
budget. Otherwise the first mean counts too, and so does the center that the searches found: the
answer is their average, weighted by what error is expected of each.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Measurer
from prolate.estimators.clipping.allowance import allowance_of_mean
from prolate.estimators.clipping.averages import Answer, average, with_center
from prolate.estimators.clipping.first_look import expected_lengths
from prolate.estimators.clipping.loss import Loss
from prolate.estimators.clipping.tilt import clump_share, measure_tilt, tilt_share
from prolate.estimators.estimate import FoundMean
from prolate.estimators.lengths.clip import clipped_sum, rounding_std
from prolate.estimators.lengths.expected import Radii
from prolate.estimators.lengths.interval import interval_mean, reaches
from prolate.estimators.lengths.norms import MeasuredNorms
from prolate.estimators.moments import MOMENTS, measure_variation
from prolate.estimators.search.shape import Shape
from prolate.estimators.shares import radius_share
from prolate.theory import effective_columns

__all__ = ["clipped_mean"]

Floats = NDArray[np.float64]

_MOST_TILT = 0.2  # part of a sum's budget that tells to which side clumps are
_FIRST = 0.12  # part of the first mean, ...
_FIRST_OF_SAMPLE = 0.02  # ... or of a sample's


def clipped_mean(
    curator: Measurer,
    shape: Shape,
    scale: Floats,
    *,
    share: float,
    sample: Measurer,
    far: tuple[float, float] = (0.0, 0.0),
    norms: MeasuredNorms | None = None,
) -> FoundMean:
    """Return the mean, for a share of mu**2.

    Parameters
    ----------
    curator : Measurer
    shape : Shape
    scale : float64 array of shape (d,)
        What deviations are divided by before rows are clipped.
    share : float
    sample : Measurer
        Of the rows that are searched: a random sample, or the curator itself.
    far : two floats
        How many rows are known to be far out, and how far, in units of `scale`: the noise of
        the rows' lengths may hide them.
    norms : MeasuredNorms, optional
        What a first look at the lengths of the rows that are searched showed.
    """
    for_first = _FIRST if sample is curator else _FIRST_OF_SAMPLE
    rows, part = shape.rows, sample.fraction
    few = part * rows
    effective = effective_columns(shape.spread, scale)
    for_tilt, for_variation = tilt_share(effective) * share, MOMENTS * share

    # Step 3.
    expected, for_sum = expected_lengths(
        curator,
        sample,
        shape,
        scale,
        part=part,
        for_radius=radius_share(sample, few, effective) * share,
        share=share - for_tilt - for_variation,
        known=norms,
    )
    norms = expected.norms
    if expected.clumps.any():
        more = max(min(clump_share(expected), _MOST_TILT) * for_sum - for_tilt, 0.0)
        for_tilt, for_sum = for_tilt + more, for_sum - more
    known = far[1] if far[1] > expected.safe and far[0] > expected.clipped else 0.0

    # Step 4. Not clipped as hard as symmetric rows would allow, as long as that is not known.
    rough = expected.off_square(shape.center_off, shape.spread, scale)
    symmetric = expected.best_radius(lambda radius: rough * expected.cut(radius) ** 2)
    careful = max(norms.nearest_edge(np.sqrt(symmetric * expected.safe)), known)

    def around(asked: Measurer, center: Floats, radius: float, part: float, label: str) -> Answer:
        share = min(part * for_sum, asked.remaining)
        total, noise = clipped_sum(asked, center, scale, radius, share=share, label=label)
        kept = (rows if asked is curator else few) * expected.mean_factor(radius)
        return Answer(center + total / kept, noise / kept, radius)

    first = around(sample, shape.center, careful, for_first, "first mean")
    off = np.minimum(first.noise, shape.spread)
    if sample is not curator:
        off = np.hypot(off, shape.spread / np.sqrt(few))
    tilt = measure_tilt(
        sample, first.value, shape.spread, scale, expected, share=for_tilt, rows=few, off=off
    )

    # Step 5. The first mean is off by its noise, and by what clipping left of the center's.
    loss = Loss(expected, tilt, shape.spread, scale)
    left = expected.off_square(off, shape.spread, scale) + rough * expected.cut(careful) ** 2

    def bias_square(radius: Radii) -> Radii:
        return loss.doubt_square(radius) + left * expected.cut(radius) ** 2

    radius = max(expected.best_radius(bias_square), known)
    variation = measure_variation(
        sample,
        few,
        first.value,
        shape.spread,
        scale,
        noise=expected.noise * radius / expected.mean_factor(radius) / np.sqrt(part) * scale,
        safe=expected.safe,
        share=for_variation,
    )
    if scale.size == 1 and tilt.clear and reaches(expected, shape.spread, scale):
        share = min((1.0 - for_first) * for_sum, curator.remaining)
        return interval_mean(curator, first.value, shape.spread, expected, variation, share=share)
    mean = around(curator, first.value, radius, 1.0 - for_first, "mean")
    mean = replace(mean, value=mean.value + loss.lost(radius))
    value, noise_std, bias = mean.value, mean.noise, expected.unit * np.sqrt(bias_square(radius))
    if sample is curator:
        first = replace(first, value=first.value + loss.lost(careful))
        value, noise_std, bias = average(first, mean, expected.unit, bias_square)
        if shape.center_noise is not None:
            value, noise_std = with_center(value, noise_std, shape.center, shape.center_noise)
    allowed = allowance_of_mean(loss, bias=bias, radius=radius)
    rounding = rounding_std(scale, max(careful, radius))
    details = {
        "stretch": allowed.stretch,
        "unseen_rows": norms.unseen,
        "radius": radius,
        "safe_radius": expected.safe,
        "mean_factor": expected.mean_factor(radius),
        "clipped_fraction": norms.fraction_above(radius, rows),
    }
    return FoundMean(
        value,
        noise_std,
        details,
        variation=variation.over_spread(allowed.stretch),
        clipping_std=np.hypot(allowed.clipping_std, rounding),
        guessed=allowed.guessed,
        hidden=norms.hidden or norms.apart > 0.0,
    )
