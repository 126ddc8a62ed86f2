"""A first mean of rows in which some columns are nearly constant, and what it needs.

It has the same noise in all such columns, so those of the popular values stand far out of
it. `shape.py` learns their spreads from it, and `rare_mean.py` makes it part of the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Measurer
from prolate.estimators.clip import Norms, clipped_sum, measure_norms, safe_cell
from prolate.estimators.expected import Expected, expect
from prolate.estimators.shares import radius_share
from prolate.theory import effective_columns

__all__ = ["FirstMean", "first_mean", "gains", "measure_lengths"]

Floats = NDArray[np.float64]

_DIFFER = 0.45  # columns' gains differ by this part of 1 - G2 / G1 (`rare_mean.py`)
_FEWER = 0.3  # of the rows that a safe radius leaves out
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
    norms, expected, share = measure_lengths(curator, rows, center, spread, spread, share=share)
    few = _FEWER * expected.clipped
    expected = replace(expected, cell=safe_cell(norms, few), clipped=few)
    radius = expected.safe
    total, noise = clipped_sum(curator, center, spread, radius, share=share, label="first mean")
    even, most, differ = gains(expected, radius)
    kept = rows * np.where(np.isnan(bulk), even, 0.5 * (even + most))
    return FirstMean(center + total / kept, noise / kept, bulk, differ)


def gains(expected: Expected, radius: float) -> tuple[float, float, float]:
    """Return G1 and G2 of a radius, and how much the gains of rare columns differ."""
    even, most = expected.mean_factor(radius), expected.long_factor(radius)
    return even, most, _DIFFER * (1.0 - most / even)


def measure_lengths(
    curator: Measurer, rows: float, center: Floats, spread: Floats, scale: Floats, *, share: float
) -> tuple[Norms, Expected, float]:
    """Measure how long the scaled rows are, what to expect, and the share that is left."""
    effective = effective_columns(spread, scale)
    part = radius_share(curator, rows, effective)
    for_norms = max(part, min(_PRECISE * part, _MOST)) * share
    norms = measure_norms(curator, center=center, scale=scale, spread=spread, share=for_norms)
    share = min(share - for_norms, curator.remaining)
    return norms, expect(curator, rows, spread, scale, norms, share=share), share
