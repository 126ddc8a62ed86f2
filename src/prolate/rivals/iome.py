"""Instance-optimal mean estimation (Huang, Liang, Yi 2021), spending what it says.

A random rotation spreads every row evenly over its coordinates; a private median of every
rotated coordinate is the center; a private quantile of the distances to it is the radius;
rows are clipped, summed with Gaussian noise and rotated back. The rotation is public
randomness: flipped signs, then a Hadamard matrix, on rows filled up with zeros to a power
of two.

Settings as in PLAN's comparison (Section 7.2), which made them more robust than the
original's: 20 steps of binary search, a quarter of rho for the center; of the rest, a
hundredth for the radius, as in its code. Two things are made more robust still, since a
rival that fails by chance is no rival:

- the published code searches rotated medians within +-R / sqrt(D), R the largest norm, and
  for binary data within 0 and R / sqrt(D), which loses half of them. Here it is
  R sqrt(2 ln(4 D) / D), which holds nearly all of them even if the center is as long as R;
- the radius is to leave out 4 sqrt(d / (2 rho)) rows and some standard deviations of a
  noisy count, so that no count misleads the search while all rows are shorter. PLAN's
  authors take 2 ("twice the offset"), which still goes wrong once in 40 such counts where
  d is small; here it is sqrt(2 ln(10 T)) for T counts, 3.3 for 20.
"""

from __future__ import annotations

import math

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Curator
from prolate.errors import InputError
from prolate.estimators.estimate import Estimate
from prolate.queries import ClippedSum, CountBelow, Norms, Query, Rotated, rotate_back
from prolate.rivals.common import (
    binary_search,
    need_replace,
    noted_universe,
    search_steps,
    universe,
)

__all__ = ["iome"]

_PREPROCESSING = 0.25
_RADIUS = 0.01  # of the rest
_STEPS = 20


def iome(
    curator: Curator,
    *,
    longest: float | None = None,
    radius_share: float = _RADIUS,
    offset: float | None = None,
    steps: int | None = None,
    rotation: int = 0,
) -> Estimate:
    """Return IOME's mean of every column.

    Parameters
    ----------
    curator : Curator
        With ``neighbors="replace"``; all of its remaining budget is spent.
    longest : float, optional
        R, the largest norm that a row may have: by default M sqrt(d), with M the largest
        finite bound of the curator, or 2**20.
    radius_share : float
        Share for the radius of what the center leaves.
    offset : float, optional
        Standard deviations of a noisy count in the offset of the radius; 2 is PLAN's.
    steps : int, optional
        Halvings of each binary search: 20, or as many as PLAN takes where that is more.
    rotation : int
        Seed of the public signs.
    """
    need_replace(curator, "IOME")
    noted = () if longest is not None else noted_universe(curator, universe(curator), None)
    if longest is None:
        longest = universe(curator) * math.sqrt(curator.dimension)
    if not 0.0 < longest < math.inf:
        raise InputError(f"longest must be positive and finite; got {longest:g}.")
    rows, d = float(curator.public_rows()), curator.dimension
    length = 1 << (d - 1).bit_length()
    signs = np.random.default_rng(rotation).choice([-1.0, 1.0], size=length)

    def rotated(query: Query, missing: Floats) -> Query:
        return Rotated(query, signs, missing)

    # A private median of every rotated coordinate; missing values count as 0.
    edge = np.full(length, longest * math.sqrt(2.0 * math.log(4.0 * length) / length))
    center = binary_search(
        curator,
        -edge,
        edge,
        lambda points: rotated(CountBelow(points), np.zeros(d)),
        rows / 2,
        share=_PREPROCESSING * curator.remaining,
        steps=steps or max(_STEPS, search_steps(2.0 * float(edge[0]))),
        label="center",
    )
    missing = rotate_back(center, signs, d)

    # The radius: all rows but the offset are shorter.
    share = radius_share * curator.remaining
    halvings = steps or max(_STEPS, search_steps(longest))
    sure = math.sqrt(2.0 * math.log(10.0 * halvings)) if offset is None else offset
    left_out = 4.0 * math.sqrt(length) / curator.mu_of(curator.remaining - share)
    left_out += sure * math.sqrt(halvings) / curator.mu_of(share)
    one = np.ones(length)
    radius = float(
        binary_search(
            curator,
            np.zeros(1),
            np.full(1, longest),
            lambda points: rotated(Norms(CountBelow(points), center, one), missing),
            max(rows / 2, rows - left_out),
            share=share,
            steps=halvings,
            label="radius",
        )[0]
    )

    clipped = ClippedSum(center, one, radius)
    measured = curator.measure(rotated(clipped, missing), share=curator.remaining, label="mean")
    value = center + clipped.unit * measured.values / rows
    return Estimate(
        value=rotate_back(value, signs, d),
        noise_std=np.full(d, clipped.unit[0] * measured.std / rows),
        sampling_std=None,
        rows=rows,
        warnings=noted,
        details={"radius": radius, "longest": longest, "rotated_columns": length},
    )
