"""PLAN as published (Aumüller, Lebeda, Nelson, Pagh 2024), spending what it says.

Algorithm 1 with the center, scales, radius and budget split of Listing 1 and Section 7.2.
Private quantiles are found by the noisy binary search of its analysis (Lemmas 2.8 and
2.9), whose steps are Gaussian counts, or by the exponential mechanism of its experiments
(Kaplan, Schnapp, Stemmer 2022), which is charged in rho. The published code tripled the
data and used an add-remove sensitivity under replace-one, and so spent 3.75 times the rho
it claimed; here everything goes through the curator with its proved sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Curator
from prolate.errors import InputError
from prolate.estimators.estimate import Estimate
from prolate.queries import (
    ClippedSum,
    CountBelow,
    Magnitudes,
    Norms,
    Pairs,
    Query,
    Ranks,
)
from prolate.rivals.common import (
    binary_search,
    need_replace,
    noted_universe,
    search_steps,
    universe,
)
from prolate.theory import optimal_scale

__all__ = ["Search", "plan"]

Search = Literal["binary", "exponential"]

_PREPROCESSING = 0.25  # of rho, for center and scales (Section 7.2)
_CENTER = 0.25  # of that, for the center (Listing 1)
_RADIUS = 0.25  # of the rest, for the radius
_BETA = 0.1  # failure probability (Section 7.1), a third for each part


def plan(
    curator: Curator,
    *,
    error_norm: float = 2.0,
    scaling: bool = True,
    search: Search = "binary",
    std: Floats | None = None,
    universe_size: float | None = None,
) -> Estimate:
    """Return PLAN's mean of every column.

    Parameters
    ----------
    curator : Curator
        With ``neighbors="replace"``; all of its remaining budget is spent.
    error_norm : float
        The p of the l_p error.
    scaling : bool
        False is the variant of Section 6, without scales.
    search : {"binary", "exponential"}
        How private quantiles are found; ``"exponential"`` needs a curator with a budget
        in zCDP (`Budget.for_zcdp`).
    std : float64 array of shape (d,), optional
        Standard deviations that are public knowledge: PLAN with oracle variances. Nothing
        is spent on scales then; the preprocessing budget all goes to the center.
    universe_size : float, optional
        The paper's M, the largest value that may occur: by default the curator's largest
        finite bound, or 2**20.
    """
    need_replace(curator, "PLAN")
    d = curator.dimension
    if std is not None and not (std.shape == (d,) and np.all(np.isfinite(std) & (std > 0.0))):
        raise InputError(f"std must be {d} positive numbers, one per column.")
    largest = universe(curator, universe_size)
    rows = float(curator.public_rows())
    find = _binary if search == "binary" else _exponential
    preprocessing = _PREPROCESSING * curator.remaining
    estimate_scale = scaling and std is None
    center_share = preprocessing * (_CENTER if estimate_scale else 1.0)
    radius_share = _RADIUS * (curator.remaining - preprocessing)

    # Line 4: a private median of every column.
    edge = np.full(d, largest)
    center = find(curator, -edge, edge, _columns, (0.5, rows), center_share, "center")

    # Listing 1, estimateStd: the median of |x - x'| / sqrt 2 over pairs, then Wilson-Hilferty.
    spread = np.ones(d)
    if estimate_scale:
        widest = math.sqrt(2.0) * edge
        share = preprocessing - center_share
        of_pairs = find(curator, 0.0 * edge, widest, _pairs, (0.5, rows // 2), share, "scale")
        spread = of_pairs / math.sqrt((7.0 / 9.0) ** 3)
    elif scaling and std is not None:
        spread = std
    if scaling:
        spread = spread + spread.sum() / d

    # Lines 3, 5 and 6: the radius that leaves about k rows longer.
    scale = optimal_scale(spread, error_norm)
    typical = float(np.linalg.norm(spread / scale))
    longest = typical * math.sqrt(math.log(max(rows, 3.0)) * math.log(3.0 / _BETA))
    if not scaling:
        longest = largest * math.sqrt(d)
    steps = math.log(2.0 * largest) if search == "exponential" else search_steps(longest)
    steps = max(1.0, steps)
    rank_error = math.sqrt(steps * math.log(3.0 * steps / _BETA)) / curator.mu_of(radius_share)
    kept = max(0.5, 1.0 - (math.sqrt(rows) + rank_error) / rows)

    def norms(query: Query) -> Query:
        return Norms(query, center, 1.0 / scale)

    none, most = np.zeros(1), np.full(1, longest)
    radius = float(find(curator, none, most, norms, (kept, rows), radius_share, "radius")[0])

    # Lines 7 and 8: clip, sum, add noise, scale back.
    query = ClippedSum(center, scale, radius, lower=-edge, upper=edge)
    measured = curator.measure(query, share=curator.remaining, label="mean")
    return Estimate(
        value=center + query.unit * measured.values / rows,
        noise_std=query.unit * measured.std / rows,
        sampling_std=spread / math.sqrt(rows) if scaling else None,
        rows=rows,
        warnings=noted_universe(curator, largest, universe_size),
        details={"radius": radius, "universe": largest, "search": search},
    )


Of = Callable[[Query], Query]


def _columns(query: Query) -> Query:
    return query


def _pairs(query: Query) -> Query:
    return Pairs(Magnitudes(query))


def _binary(
    curator: Curator,
    low: Floats,
    high: Floats,
    of: Of,
    target: tuple[float, float],
    share: float,
    label: str,
) -> Floats:
    quantile, rows = target
    return binary_search(
        curator,
        low,
        high,
        lambda points: of(CountBelow(points)),
        quantile * rows,
        share=share,
        steps=search_steps(float(np.max(high - low))),
        label=label,
    )


def _exponential(
    curator: Curator,
    low: Floats,
    high: Floats,
    of: Of,
    target: tuple[float, float],
    share: float,
    label: str,
) -> Floats:
    ranks = Ranks(low, high, target[0], of)
    return curator.select(ranks, share=share, label=label).values
