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

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Measurer
from prolate.estimators.clip import Norms, clipped_sum, measure_norms, safe_cell
from prolate.estimators.expected import Expected, expect
from prolate.estimators.shares import radius_share
from prolate.estimators.shrink import shrink
from prolate.theory import effective_columns

if TYPE_CHECKING:
    from prolate.estimators.shape import Shape

__all__ = ["FirstMean", "first_mean", "rare_mean"]

Floats = NDArray[np.float64]

_DIFFER = 0.45  # columns' gains differ by this part of 1 - G2 / G1
_DROWNED = 3.0  # times more, where a column's mean is far below its noise
_FEWER = 0.3  # of the rows that a safe radius leaves out, for the first mean
_PRECISE, _MOST = 10.0, 0.02  # share of the norms, over the usual one, and the most


@dataclass(frozen=True, eq=False)
class FirstMean:
    """A first mean, in which columns of rare values have one noise.

    Attributes
    ----------
    value, noise : float64 arrays of shape (d,)
        The mean, and the standard deviation of its noise.
    bulk : float64 array of shape (d,)
        The bulk's value of columns of rare values, NaN for others.
    differ : float
        How much the columns' gains differ.
    """

    value: Floats
    noise: Floats
    bulk: Floats
    differ: float

    @property
    def mostly_rare(self) -> bool:
        """Whether more than half of the columns are of rare values."""
        return bool(np.mean(~np.isnan(self.bulk)) > 0.5)


def first_mean(
    curator: Measurer, rows: float, center: Floats, spread: Floats, *, bulk: Floats, share: float
) -> FirstMean:
    """Return a first mean, scaled by `spread`, for a share of mu**2."""
    norms, expected, share = _lengths(curator, rows, center, spread, spread, share=share)
    few = _FEWER * expected.clipped
    expected = replace(expected, cell=safe_cell(norms, few), clipped=few)
    radius = expected.safe
    total, noise = clipped_sum(curator, center, spread, radius, share=share, label="first mean")
    even, most = expected.mean_factor(radius), expected.long_factor(radius)
    kept = rows * np.where(np.isnan(bulk), even, 0.5 * (even + most))
    return FirstMean(center + total / kept, noise / kept, bulk, _DIFFER * (1.0 - most / even))


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
    part = away**2 / np.maximum(away**2 + shape.spread**2, 1e-300)
    one_sided = np.maximum(1.0 - 2.0 * part, 0.0)
    norms, expected, share = _lengths(
        curator, shape.rows, center, shape.spread, scale, share=curator.remaining
    )
    known = _weight(first.noise, first.differ * doubted)
    known += np.where(rare, _weight(size, 0.0), 0.0)  # by shrinking

    def bias(radius: float) -> Floats:
        even, most = expected.mean_factor(radius), expected.long_factor(radius)
        differ = _DIFFER * (1.0 - most / even)
        # Other columns are around their centers: no more than what clipping takes off.
        return np.where(rare, differ * one_sided * doubted, (1.0 - even) * shape.spread)

    def error(radius: float) -> float:
        noise = expected.noise * radius / expected.mean_factor(radius) * scale
        weight = known + _weight(noise, bias(radius))
        return float(np.sum((weight**-0.5 / expected.unit) ** error_norm))

    radius = float(min(norms.edges[: expected.cell + 1], key=error))
    total, noise = clipped_sum(curator, center, scale, radius, share=share, label="mean")
    even, most = expected.mean_factor(radius), expected.long_factor(radius)
    moved = total / shape.rows + even * away  # from the bulk, or from the center
    alike = one_sided**2 / first.noise
    gain = _gain(moved * alike, away * alike, first.differ, most, even)
    factor = np.where(rare, even - one_sided * (even - gain), even)
    second, noise = center - away + moved / factor, noise / shape.rows / factor

    before, now = _weight(first.noise, first.differ * doubted), _weight(noise, bias(radius))
    part = now / (before + now)
    value = (1.0 - part) * first.value + part * second
    noise = np.hypot((1.0 - part) * first.noise, part * noise)
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


def _lengths(
    curator: Measurer, rows: float, center: Floats, spread: Floats, scale: Floats, *, share: float
) -> tuple[Norms, Expected, float]:
    """Measure how long the scaled rows are, what to expect, and the share that is left."""
    effective = effective_columns(spread, scale)
    part = radius_share(curator, rows, effective)
    for_norms = max(part, min(_PRECISE * part, _MOST)) * share
    norms = measure_norms(curator, center=center, scale=scale, spread=spread, share=for_norms)
    share = min(share - for_norms, curator.remaining)
    return norms, expect(curator, rows, spread, scale, norms, share=share), share
