"""PLAN for binary data (Aumüller, Lebeda, Nelson, Pagh 2024, Sections 5.2, 7.1 and 7.2.2).

Rows are sets of items, 0 or 1 in d columns, and the l_1 error counts. A first private
mean q gives the variances q (1 - q), kept above about d**-0.4 (Lemma 5.3); rows are scaled
by sigma**(-2/3), clipped around the origin and summed.

Where paper and published code differ, this follows the code, whose results the paper shows:
a tenth of rho for the first mean (Table 1: a quarter) and 1/d of the rest for the radius,
ten steps of binary search, no regularization of sigma, and the universe of the radius
|sigma**(-2/3)|_2, which no row exceeds (Table 1 has |sigma**(2/3)|_2, which is shorter than
a usual row of the paper's own synthetic data).
"""

from __future__ import annotations

import math

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Curator
from prolate.errors import InputError
from prolate.estimators.estimate import Estimate
from prolate.queries import ClippedSum, CountBelow, Cut, Norms, Query, radius_over
from prolate.rivals.common import binary_search, need_replace
from prolate.theory import optimal_scale

__all__ = ["plan_binary"]

_STEPS = 10


def plan_binary(
    curator: Curator,
    *,
    preprocessing: float = 0.1,
    scaling: bool = True,
    std: Floats | None = None,
) -> Estimate:
    """Return binary PLAN's mean of every column, shaped for the l_1 error.

    Parameters
    ----------
    curator : Curator
        With ``neighbors="replace"``; all of its remaining budget is spent. Values are cut
        to [0, 1]; a missing one counts as 0.
    preprocessing : float
        Share of the budget for the first mean; Table 1 of the paper says 0.25.
    scaling : bool
        False is the variant without scales.
    std : float64 array of shape (d,), optional
        Standard deviations that are public knowledge. The first mean is not taken then.
    """
    need_replace(curator, "PLAN")
    if not 0.0 < preprocessing < 1.0:
        raise InputError(f"preprocessing must lie between 0 and 1; got {preprocessing:g}.")
    rows, d = float(curator.public_rows()), curator.dimension
    if std is not None and not (std.shape == (d,) and np.all(np.isfinite(std) & (std > 0.0))):
        raise InputError(f"std must be {d} positive numbers, one per column.")
    zeros, ones = np.zeros(d), np.ones(d)

    spread = ones
    if scaling and std is not None:
        spread = std + std.sum() / d
    elif scaling:
        # The Gaussian mechanism: rows lie within sqrt(d) / 2 of the middle of the cube.
        half = np.full(d, 0.5)
        ball = radius_over(0.5 * math.sqrt(d), d)
        cube = ClippedSum(half, ones, ball, lower=zeros, upper=ones, missing=-half)
        share = preprocessing * curator.remaining
        first = curator.measure(cube, share=share, label="first mean")
        floor = min(d**-0.4, 0.5)
        q = np.clip(0.5 + cube.unit * first.values / rows, floor, 1.0 - floor)
        spread = np.sqrt(q * (1.0 - q))

    scale = optimal_scale(spread, 1.0) if scaling else ones
    radius_share = curator.remaining / max(d, 2)
    rank_error = math.sqrt(2.0 * _STEPS * math.log(_STEPS)) / curator.mu_of(radius_share)
    rank = max(rows / 2, rows - math.sqrt(rows) - rank_error)

    def norms_below(points: Floats) -> Query:
        return Cut(Norms(CountBelow(points), zeros, 1.0 / scale), zeros, ones)

    radius = float(
        binary_search(
            curator,
            np.zeros(1),
            np.full(1, float(np.linalg.norm(1.0 / scale))),
            norms_below,
            rank,
            share=radius_share,
            steps=_STEPS,
            label="radius",
        )[0]
    )
    query = ClippedSum(zeros, scale, radius, lower=zeros, upper=ones)
    measured = curator.measure(query, share=curator.remaining, label="mean")
    return Estimate(
        value=query.unit * measured.values / rows,
        noise_std=query.unit * measured.std / rows,
        sampling_std=spread / math.sqrt(rows) if scaling else None,
        rows=rows,
        details={"radius": radius},
    )
