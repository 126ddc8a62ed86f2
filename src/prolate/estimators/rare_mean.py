"""The mean of rows in which most columns are nearly constant, such as baskets.

Such rows deviate to one side of the bulk, so clipping takes from their mean: a long row
has more to deviate in, and is shortened most. If rows were long only because they have
more of the same, a column's mean, as a distance from the bulk, would be multiplied by

    G2 = E |y|**2 min(1, C / |y|) / E |y|**2,

and by G1 = E min(1, C / |y|) if length said nothing about the column. Both follow from the
histogram of norms; what the columns have in common, a gain between the two, shows in a
first mean and is undone. What is left differs from column to column by a part of
1 - G2 / G1 that was .1 to .65 for all baskets looked at, and hardly depends on the radius C.
The first mean's popular columns decide the gain, and unpopular ones, which are found in long
rows, differ more from it. So each radius has an expected error, and the best one is taken.

The first mean has the same noise in all such columns: the popular ones stand far out of
it. The second is scaled by what the first one says. Each column's answer is their average,
by what error is expected of each, shrunk (`shrink.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Measurer
from prolate.estimators.clip import clipped_sum
from prolate.estimators.first_mean import FirstMean, gains, measure_lengths
from prolate.estimators.shape import Shape
from prolate.estimators.shrink import shrink

__all__ = ["rare_mean"]

Floats = NDArray[np.float64]

_DROWNED = 3.0  # times more do gains differ, where a column's mean is far below its noise


def rare_mean(
    curator: Measurer, shape: Shape, first: FirstMean, scale: Floats, *, error_norm: float
) -> tuple[Floats, Floats, dict[str, Any]]:
    """Return the mean, its noise before shrinking, and what was found; all budget is spent."""
    center, bulk = shape.center, first.bulk
    rare = ~np.isnan(bulk)
    away = np.where(rare, center - bulk, 0.0)
    size = np.abs(away)
    doubted = size * (1.0 + _DROWNED / (1.0 + (size / first.noise) ** 2))
    # Around its mean, a column that is half here and half there has no bulk to deviate from.
    elsewhere = away**2 / np.maximum(away**2 + shape.spread**2, 1e-300)  # part of the rows
    one_sided = np.maximum(1.0 - 2.0 * elsewhere, 0.0)
    norms, expected, share = measure_lengths(
        curator, shape.rows, center, shape.spread, scale, share=curator.remaining
    )
    known = _weight(first.noise, first.differ * doubted)
    known += np.where(rare, _weight(size, 0.0), 0.0)  # by shrinking

    def bias(radius: float) -> Floats:
        even, _, differ = gains(expected, radius)
        # Other columns are around their centers: no more than what clipping takes off.
        return np.where(rare, differ * one_sided * doubted, (1.0 - even) * shape.spread)

    def error(radius: float) -> float:
        noise = expected.noise * radius / expected.mean_factor(radius) * scale
        weight = known + _weight(noise, bias(radius))
        return float(np.sum((1.0 / (np.sqrt(weight) * expected.unit)) ** error_norm))

    radius = float(min(norms.edges[: expected.cell + 1], key=error))
    total, noise = clipped_sum(curator, center, scale, radius, share=share, label="mean")
    even, most, _ = gains(expected, radius)
    moved = total / shape.rows + even * away  # from the bulk, or from the center
    alike = one_sided**2 / first.noise
    gain = _gain(moved * alike, away * alike, first.differ, most, even)
    factor = np.where(rare, even - one_sided * (even - gain), even)
    second, noise = center - away + moved / factor, noise / shape.rows / factor

    before, now = _weight(first.noise, first.differ * doubted), _weight(noise, bias(radius))
    weight = now / (before + now)  # of the second
    value = (1.0 - weight) * first.value + weight * second
    noise = np.hypot((1.0 - weight) * first.noise, weight * noise)
    value[rare] = bulk[rare] + shrink(
        value[rare] - bulk[rare], noise[rare], median=error_norm < 2.0
    )
    details = {
        "radius": radius,
        "safe_radius": expected.safe,
        "mean_factor": gain,
        "clipped_fraction": norms.fraction_above(radius, shape.rows),
        "shrunk_columns": int(np.count_nonzero(rare)),
    }
    return value, noise, details


def _gain(moved: Floats, away: Floats, differ: float, most: float, even: float) -> float:
    """Return the gain between `most` and `even` that makes `away` to `moved`.

    Both are distances in units of the first mean's noise. What the first mean says is as good
    as its noise and its own gains allow; where it says little, the middle is taken.
    """
    alike = float(np.sum(away**2))
    middle, doubt = 0.5 * (even + most), 0.25 * (even - most)
    if alike == 0.0:
        return middle
    seen, error = float(np.sum(moved * away)) / alike, differ**2 + 1.0 / alike
    gain = middle + (seen - middle) * doubt**2 / (doubt**2 + error) if doubt > 0.0 else even
    return min(max(gain, most), even)


def _weight(noise: Floats, bias: Floats | float) -> Floats:
    """Return the inverse of the mean squared error."""
    return 1.0 / np.maximum(noise**2 + bias**2, 1e-300)
