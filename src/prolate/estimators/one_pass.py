"""The mean of many rows in a single pass, with everything else learned from a sample.

The sample shows how long rows are, but not the longest of all rows, and not what clipping
would take off a mean of skewed rows: its center is rough, and a tilt must be clear to count.
So the one pass over all rows measures two sums: of rows clipped to the radius C that seems the
best, and the *excess*, what clipping to a larger radius C' would leave on. Each gives a mean:

    first  = center + sum / (n f(C)),    second = center + (sum + excess) / (n f(C')),

with f(C) = E min(1, C / |y|). They agree where rows are symmetric; where they differ by more
than their noise explains, clipping to C is biased, and the answer moves to the second, by
as much as the difference's size allows (positive-part James and Stein).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator
from prolate.estimators.allowance import allowance_of_difference
from prolate.estimators.clip import Norms, fraction_radius, sampled_norms
from prolate.estimators.expected import expect, measure_tilt, tilt_share
from prolate.estimators.moments import MOMENTS, measure_variation
from prolate.estimators.shape import Shape
from prolate.estimators.shares import radius_share
from prolate.queries import NestedSum
from prolate.theory import effective_columns

__all__ = ["one_pass_mean"]

Floats = NDArray[np.float64]

_PART = 0.25  # sensitivity of the excess, over that of the sum
_AT_MOST, _AT_LEAST = 2.0, 1.1  # the larger radius over the smaller one
_USUAL = 0.05  # part of the rows beyond the radius from which the tail is extrapolated
_RARE = 0.03  # at most this part of them is beyond the radius to which it is known, ...
_SEEN = 5.0  # ... and at least so many standard deviations of the count's noise
_UNSEEN = 1.5  # the larger radius over the usual one where the tail is not seen
_SHOWN = 3.0  # standard deviations at which a column shows its own difference
_HALF = 0.5  # standard deviations of noise that count as a difference in the intervals
_DOUBT = 3.0  # times the squared noise of a single column that is taken for noise, too


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
    outer = _farthest(norms, expected.clipped / rows, rows)
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
    radius = max(radius, outer / _AT_MOST)
    outer = max(outer, _AT_LEAST * radius)

    variation = measure_variation(
        sample,
        few,
        shape.center,
        shape.spread,
        scale,
        noise=expected.noise * np.sqrt(rows / few) * outer * scale,
        safe=outer,
        share=for_variation,
    )
    query = NestedSum(shape.center, scale, radius, outer, _PART)
    measured = curator.measure(query, share=min(share, curator.remaining), label="mean")
    total, excess = measured.values.reshape(2, -1)
    kept = rows * expected.mean_factor(radius)
    kept_more = rows * expected.mean_factor(outer)
    first = query.unit * total / kept
    second = (query.unit * total + query.excess_unit * excess) / kept_more

    # The difference is a multiple of the same noise in every column, but for its scale.
    own, more = query.unit * (1.0 / kept_more - 1.0 / kept), query.excess_unit / kept_more
    noise = measured.std * np.hypot(own, more) / expected.unit
    difference = (second - first) / expected.unit
    square = float(np.sum(noise**2))
    explained = square + _DOUBT * np.sqrt(2.0) * float(np.sum(noise**4)) / square
    weight = max(0.0, 1.0 - explained / max(float(np.sum(difference**2)), explained))
    value = shape.center + first + weight * (second - first)
    noise_std = measured.std * np.hypot(query.unit / kept + weight * own, weight * more)

    # What the two means likely differ by: more than the noise explains, and half its doubt.
    surplus = max(float(np.sum(difference**2)) - square, 0.0)
    likely = surplus + _HALF * np.sqrt(2.0 * float(np.sum(noise**4)))
    shown = np.where(np.abs(difference) > _SHOWN * noise, np.abs(difference), 0.0)
    allowed = allowance_of_difference(
        expected,
        shape.spread,
        scale,
        bias=expected.unit * float(np.sqrt(likely)),
        shown=expected.unit * shown,
        kept=1.0 - weight,
        radii=(radius, outer),
    )
    details = {
        "stretch": allowed.stretch,
        "variation": variation.over_spread(allowed.stretch),
        "unseen_rows": norms.unseen,
        "clipping_std": allowed.clipping_std,
        "guessed": allowed.guessed,
        "radius": (1.0 - weight) * radius + weight * outer,
        "safe_radius": outer,
        "mean_factor": (1.0 - weight) * kept / rows + weight * kept_more / rows,
        "clipped_fraction": norms.fraction_above(radius, rows),
        "sampled": sample.fraction,
    }
    return value, noise_std, details


def _farthest(norms: Norms, fraction: float, rows: float) -> float:
    """Return a radius that about `fraction` of the rows exceed, were the tail a power's.

    The tail goes from the radius that `_USUAL` of the rows exceed to the farthest edge that
    rows are surely beyond.
    """
    usual, part = fraction_radius(norms, _USUAL, rows), norms.above / rows
    noise = norms.noise / rows * np.sqrt(np.arange(part.size, 0, -1))
    sure = np.flatnonzero((part > _SEEN * noise) & (part < _RARE) & (norms.edges > usual))
    if not sure.size:
        return _UNSEEN * usual
    far, seen = float(norms.edges[sure[-1]]), max(float(part[sure[-1]]), fraction)
    power = math.log(seen / fraction) / math.log(_USUAL / seen)
    return float(min(far * (far / usual) ** power, norms.edges[-1]))
