"""A mean from sums at two radii: whether clipping to the smaller one is biased, and then less so.

One measurement tells the sum of rows clipped to a radius C, and the *excess*: what clipping
to a larger radius C' would leave on. Each gives a mean:

    first  = center + sum / (n f(C)),    second = center + (sum + excess) / (n f(C')),

with f(C) = E min(1, C / |y|). They agree where rows are symmetric; where they differ by more
than their noise explains, clipping to C is biased, and the answer moves to the second.

With the part p of the sum's sensitivity for the excess, and C' = (1 + q) C, the noise is that of
clipping to C times sqrt(1 + p**2) for the first mean, and about times
sqrt((1 + p**2) (1 + q**2 / p**2)) for the second. For p**2 = q that is 1 + q: the second is no
noisier than if C' had been known to be the radius, and the first as if it were sqrt(C C').
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Measurer
from prolate.estimators.clip import Norms, fraction_radius
from prolate.estimators.expected import Expected, Tilt
from prolate.estimators.skew import feared_bias
from prolate.queries import NestedSum

__all__ = ["NestedMean", "nested_mean", "radii_to_compare"]

Floats = NDArray[np.float64]

_PART = 0.75  # of the part of the excess for which the second mean has the least noise
_AT_LEAST, _AT_MOST = 1.1, 3.0  # the larger radius over the smaller one
_BELIEVED = 0.3  # of a bias that is feared
_USUAL = 0.05  # part of the rows beyond the radius from which the tail is extrapolated
_RARE = 0.03  # at most this part of them is beyond the radius to which it is known, ...
_SEEN = 5.0  # ... and at least so many standard deviations of the count's noise
_LIGHT, _HEAVY = 1.3, 0.8  # exponents of a tail, between normal and log-normal ones
_UNSEEN = 1.5  # the larger radius over the usual one where the tail is not seen
_SHOWN = 3.0  # standard deviations at which a column shows its own difference
_HALF = 0.5  # standard deviations of noise that count as a difference in the intervals
_DOUBT = 3.0  # standard deviations of the squared noise that are taken for noise, too, ...
_CLEAR = 1.0  # ... and where rows are known to be skewed


@dataclass(frozen=True, eq=False)
class NestedMean:
    """A mean between those of rows clipped to two radii.

    Attributes
    ----------
    value, noise : float64 arrays of shape (d,)
        The mean, and the standard deviation of its noise.
    radii : tuple of two float
    weight : float
        Of the second mean.
    bias : float
        Length of what the two means likely differ by.
    shown : float64 array of shape (d,)
        What they differ by in columns that clearly show it, 0 in others.
    """

    value: Floats
    noise: Floats
    radii: tuple[float, float]
    weight: float
    bias: float
    shown: Floats

    @property
    def radius(self) -> float:
        """What rows are clipped to, on average."""
        return (1.0 - self.weight) * self.radii[0] + self.weight * self.radii[1]


def radii_to_compare(expected: Expected, radius: float) -> tuple[float, float]:
    """Return a radius, not much too small, and a larger one that few enough rows exceed."""
    outer = _farthest(expected.norms, expected.clipped / expected.rows, expected.rows)
    outer = min(outer, _AT_MOST * expected.safe)
    radius = max(radius, outer / _AT_MOST)
    return radius, max(outer, _AT_LEAST * radius)


def nested_mean(
    curator: Measurer,
    center: Floats,
    spread: Floats,
    scale: Floats,
    expected: Expected,
    tilt: Tilt,
    *,
    usual: float,
    radii: tuple[float, float],
    share: float,
) -> NestedMean:
    """Measure the mean at two radii, for a share of mu**2.

    Parameters
    ----------
    curator : Measurer
    center, spread, scale : float64 arrays of shape (d,)
    expected : Expected
        Says how many rows there are, and what is kept of them.
    tilt : Tilt
    usual : float
        A radius beyond which the tilt shows how skewed rows are.
    radii : tuple of two float
    share : float
    """
    radius, outer = radii
    feared = feared_bias(expected, tilt, spread, scale, usual=usual, radius=radius)
    part = min(_PART * math.sqrt(outer / radius - 1.0), 1.0)
    query = NestedSum(center, scale, radius, outer, part)
    measured = curator.measure(query, share=share, label="mean")
    total, excess = measured.values.reshape(2, -1)
    kept = expected.rows * expected.mean_factor(radius)
    kept_more = expected.rows * expected.mean_factor(outer)
    first = query.unit * total / kept
    second = (query.unit * total + query.excess_unit * excess) / kept_more

    # The difference is a multiple of the same noise in every column, but for its scale.
    own, more = query.unit * (1.0 / kept_more - 1.0 / kept), query.excess_unit / kept_more
    noise = measured.std * np.hypot(own, more) / expected.unit
    difference = (second - first) / expected.unit
    square, found = float(np.sum(noise**2)), float(np.sum(difference**2))
    varies = math.sqrt(2.0 * float(np.sum(noise**4)))
    explained = square + (_CLEAR if feared > 0.0 else _DOUBT) * varies
    believed = float(np.square(_BELIEVED * feared / expected.unit))
    weight = 1.0 - (explained / max(found, explained)) ** 2
    weight = max(weight, believed / (believed + square))
    # More than the noise explains, and half its doubt.
    likely = max(found - square, 0.0) + _HALF * varies
    bias = expected.unit * math.sqrt(likely)
    shown = np.where(np.abs(difference) > _SHOWN * noise, np.abs(difference), 0.0)
    return NestedMean(
        value=center + first + weight * (second - first),
        noise=measured.std * np.hypot(query.unit / kept + weight * own, weight * more),
        radii=(radius, outer),
        weight=weight,
        bias=bias,
        shown=expected.unit * shown,
    )


def _farthest(norms: Norms, fraction: float, rows: float) -> float:
    """Return a radius that about `fraction` of the rows exceed, as far as the tail shows.

    The tail goes from the radius that `_USUAL` of the rows exceed to the farthest edge that
    rows are surely beyond. Further out, -log of the part beyond a radius goes as a power of it
    (2 of normal rows, 1 of exponential ones); where that is small, halfway to a power's tail.
    """
    usual, part = fraction_radius(norms, _USUAL, rows), norms.above / rows
    noise = norms.noise / rows * np.sqrt(np.arange(part.size, 0, -1))
    sure = np.flatnonzero((part > _SEEN * noise) & (part < _RARE) & (norms.edges > usual))
    if not sure.size:
        return _UNSEEN * usual
    far, seen = float(norms.edges[sure[-1]]), float(part[sure[-1]])
    if fraction >= seen:
        return fraction_radius(norms, fraction, rows)
    octaves = math.log(far / usual)
    exponent = math.log(math.log(seen) / math.log(_USUAL)) / octaves
    light = math.log(math.log(fraction) / math.log(seen)) / exponent
    heavy = octaves * math.log(seen / fraction) / math.log(_USUAL / seen)
    weight = 0.5 * min(max((_LIGHT - exponent) / (_LIGHT - _HEAVY), 0.0), 1.0)
    return far * math.exp((1.0 - weight) * light + weight * heavy)
