"""PLAN as published (Aumüller, Lebeda, Nelson, Pagh 2024), spending what it says.

Algorithm 1 with the center, scales, radius and budget split of Listing 1 and Section 7.2;
private quantiles by the noisy binary search of its analysis (Lemmas 2.8 and 2.9), whose
steps are Gaussian counts. The published code tripled the data and used an add-remove
sensitivity under replace-one, and so spent 3.75 times the rho it claimed; here every count
goes through the curator with its proved sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator
from prolate.errors import InputError
from prolate.estimators.estimate import Estimate
from prolate.queries import ClippedSum, CountBelow, NormsBelow, Pairs, Query
from prolate.theory import optimal_scale

__all__ = ["plan"]

Floats = NDArray[np.float64]

_UNIVERSE = 2.0**20  # the paper's M where no bounds are given
_PREPROCESSING = 0.25  # of rho, for center and scales (Section 7.2)
_CENTER = 0.25  # of that, for the center (Listing 1)
_RADIUS = 0.25  # of the rest, for the radius
_BETA = 0.1  # failure probability (Section 7.1), a third for each part
_FINER = 4  # steps past log2(M): a resolution of 1/16 where the paper has 1


def plan(curator: Curator, *, error_norm: float = 2.0, scaling: bool = True) -> Estimate:
    """Return PLAN's mean of every column.

    Parameters
    ----------
    curator : Curator
        With ``neighbors="replace"``; all of its remaining budget is spent. The paper's M,
        the largest value that may occur, is its largest finite bound, or 2**20.
    error_norm : float
        The p of the l_p error.
    scaling : bool
        False is the variant of Section 6, without scales.
    """
    if curator.neighbors != "replace":
        raise InputError(
            "PLAN is defined for neighbors='replace' (its Section 1); "
            "use method='auto' for 'add-remove'."
        )
    universe = _universe(curator)
    rows, d = float(curator.public_rows()), curator.dimension
    preprocessing = _PREPROCESSING * curator.remaining
    center_share = preprocessing * (_CENTER if scaling else 1.0)
    radius_share = _RADIUS * (curator.remaining - preprocessing)

    # Line 4: a private median of every column.
    center = _median(curator, -universe, universe, CountBelow, rows / 2, center_share, "center")

    # Listing 1, estimateStd: the median of |x - x'| / sqrt 2 over pairs, then Wilson-Hilferty.
    spread = np.ones(d)
    if scaling:

        def pairs_below(points: Floats) -> Query:
            return Pairs(CountBelow(points, magnitude=True))

        middle = _median(
            curator,
            0.0,
            math.sqrt(2.0) * universe,
            pairs_below,
            (rows // 2) / 2,
            preprocessing - center_share,
            "scale",
        )
        spread = middle / math.sqrt((7.0 / 9.0) ** 3)
        spread = spread + spread.sum() / d

    # Lines 3, 5 and 6: the radius that leaves about k rows longer.
    scale = optimal_scale(spread, error_norm)
    typical = float(np.linalg.norm(spread / scale))
    longest = typical * math.sqrt(math.log(max(rows, 3.0)) * math.log(3.0 / _BETA))
    if not scaling:
        longest = universe * math.sqrt(d)
    steps = _steps(longest)
    rank_error = math.sqrt(steps * math.log(3.0 * steps / _BETA) / curator.mu_of(radius_share) ** 2)
    rank = max(rows / 2, rows - math.sqrt(rows) - rank_error)

    def norms_below(points: Floats) -> Query:
        return NormsBelow(center, 1.0 / scale, float(points[0]))

    radius = _median(curator, 0.0, longest, norms_below, rank, radius_share, "radius", size=1)[0]

    # Lines 7 and 8: clip, sum, add noise, scale back.
    lower, upper = np.full(d, -universe), np.full(d, universe)
    query = ClippedSum(center, scale, float(radius), lower=lower, upper=upper)
    measured = curator.measure(query, share=curator.remaining, label="mean")
    return Estimate(
        value=center + query.unit * measured.values / rows,
        noise_std=query.unit * measured.std / rows,
        sampling_std=spread / math.sqrt(rows) if scaling else None,
        rows=rows,
        warnings=()
        if curator.bounds is not None
        else (f"PLAN's universe is taken as -{universe:g} to {universe:g}: no bounds were given.",),
        details={"radius": float(radius), "universe": universe},
    )


def _universe(curator: Curator) -> float:
    finite = [abs(b) for side in curator.bounds or () for b in side if math.isfinite(b)]
    return max(finite) if any(finite) else _UNIVERSE


def _steps(width: float) -> int:
    return max(12, math.ceil(math.log2(width)) + 1 + _FINER)


def _median(
    curator: Curator,
    low: float,
    high: float,
    query: Callable[[Floats], Query],
    rank: float,
    share: float,
    label: str,
    *,
    size: int | None = None,
) -> Floats:
    """PrivQuantile by binary search (Lemma 2.8): the value of a rank, in every column."""
    d = curator.dimension if size is None else size
    lows, highs = np.full(d, low), np.full(d, high)
    steps = _steps(high - low)
    for step in range(steps):
        middle = 0.5 * (lows + highs)
        part = min(share / steps, curator.remaining)
        count = curator.measure(query(middle), share=part, label=f"{label} {step + 1}")
        below = count.values < rank
        lows, highs = np.where(below, middle, lows), np.where(below, highs, middle)
    return np.asarray(0.5 * (lows + highs))
