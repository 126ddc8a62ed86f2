"""The private mean: no bounds, no center, no scale needed.

1. Find each column's bulk (`locate`), a better center inside it (`refine_center`), and its
   spread (`measure_scale`; of columns that are nearly constant, `rare.py`).
2. Divide deviations from the center by spread**(2 / (p + 2)): the best shape of noise for
   an l_p error (PLAN, Lemma C.2).
3. Measure how long the scaled rows are, and how their direction goes with their length;
   so find a radius that is safe for any data, and the best one for these (`radius.py`).
4. A first mean of rows clipped to the safe radius, with a part of what is left; then a
   second, around the first, clipped to the best radius, with the rest. The answer is their
   average, weighted by inverse variance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator
from prolate.estimators.estimate import Estimate
from prolate.estimators.locate import SCALES, locate
from prolate.estimators.radius import best_radius, measure_norms, safe_cell
from prolate.estimators.rare import common_spread, own_spread
from prolate.estimators.shares import Shares, count_rows, plan_shares
from prolate.estimators.spread import SMALLEST, measure_scale
from prolate.queries import ClippedSum
from prolate.theory import effective_columns, optimal_scale

__all__ = ["Shape", "clipped_mean", "learn_shape", "mean"]

Floats = NDArray[np.float64]

_CUT = 3.5  # spreads at which values are cut for the rough center
_ROUGH = 1.3  # radius of the rough mean, over the square root of d
_ROUNDS = 3  # of center and spread, where the first is too rough
_ROUGHNESS = 0.35  # noise of a center, in spreads, that is good enough
_RARE = 0.08  # part of the rough mean of columns of rare values
_FLOOR = 0.1  # least spread of a nearly constant column, over the other columns' average
_FIRST = 0.12  # part of the first mean
_TILT = 0.6  # part of the tilted sum, over the effective number of columns, ...
_LEAST_TILT, _MOST_TILT = 0.02, 0.06  # ... within these
_DOUBT = 0.5  # standard deviations of noise that count as tilt


@dataclass(frozen=True, eq=False)
class Shape:
    """What the searches found: the rows' number, centers and spreads, and what it cost."""

    rows: float
    center: Floats
    spread: Floats
    shares: Shares
    warnings: tuple[str, ...]


def mean(curator: Curator, *, error_norm: float = 2.0) -> Estimate:
    """Return the private mean of every column.

    Parameters
    ----------
    curator : Curator
        All of its remaining budget is spent.
    error_norm : float
        The p of the l_p error that is to be small.
    """
    shape = learn_shape(curator)
    scale = optimal_scale(shape.spread, error_norm)
    value, noise_std, details = clipped_mean(curator, shape, scale, share=curator.remaining)
    return Estimate(
        value=value,
        noise_std=noise_std,
        sampling_std=shape.spread / np.sqrt(shape.rows),
        rows=shape.rows,
        warnings=shape.warnings,
        details=details,
    )


def learn_shape(curator: Curator) -> Shape:
    """Step 1: number of rows, center and spread of every column."""
    rows = count_rows(curator)
    shares = plan_shares(curator, rows)
    interval = locate(curator, rows, magnitude_share=shares.magnitude, share=shares.location)
    center, spread = interval.center, interval.half / SCALES
    narrow, common, step = interval.narrow, 0.0, np.zeros(spread.size)
    if narrow.any():
        common, far = common_spread(curator, rows, interval, share=shares.rare)
        step = np.where(narrow, far, 0.0)
    if not narrow.all():
        for _ in range(_ROUNDS):
            center, noise = refine_center(curator, rows, center, spread, share=shares.center)
            found = replace(interval, center=center)
            reach = float(step.max())
            seen, own = measure_scale(curator, rows, found, reach=reach, share=shares.scale)
            spread = np.where(narrow, spread, seen)
            roughness = np.minimum(noise / spread, 10.0)[~narrow]
            if np.sqrt(np.mean(roughness**2)) < _ROUGHNESS:
                break
        least = max(common, _FLOOR * float(np.mean(np.where(narrow, 0.0, spread))))
        spread = np.where(narrow, np.maximum(seen, least), spread)
        step = np.where((own > 0.0) & (step > 0.0), own, step)
    elif common > 0.0:
        spread = np.full(spread.size, common)
    # The bulk of a nearly constant column is known no better than to within its interval.
    spread = np.maximum(spread, np.where(narrow, interval.half / SCALES, 0.0))
    spread = np.maximum(spread, SMALLEST)
    if step.any():
        center, spread = weigh_rare(curator, rows, center, spread, step, shares)
    return Shape(rows, center, spread, shares, _warnings(curator, shares, found=interval.found))


def _warnings(curator: Curator, shares: Shares, *, found: bool) -> tuple[str, ...]:
    if not found:
        lost = (
            "The rows are too few for this budget to find even how large the values are: do not "
            "use these numbers. Bounds would help."
        )
        return (lost,)
    if shares.small:
        few = (
            f"The rows are few for this budget and {curator.dimension} columns: the searches' "
            f"counts are noisy by {100 * shares.count_error:.0f} % of the rows, so centers and "
            "scales are rough. More rows, fewer columns, a larger budget or bounds would help."
        )
        return (few,)
    return ()


def refine_center(
    curator: Curator, rows: float, center: Floats, spread: Floats, *, share: float
) -> tuple[Floats, Floats]:
    """Return the mean of values cut to `_CUT` spreads around `center`, and its noise.

    Cutting each value by itself keeps a column whose center is far off from swallowing
    the others: such a column moves towards its values, and the others hardly notice.
    """
    radius = _ROUGH * np.sqrt(spread.size)
    reach = _CUT * spread
    query = ClippedSum(center, spread, radius, lower=center - reach, upper=center + reach)
    measured = curator.measure(query, share=share, label="center")
    moved = np.clip(query.unit * measured.values / rows, -reach, reach)
    return center + moved, query.unit * measured.std / rows


def weigh_rare(
    curator: Curator, rows: float, center: Floats, spread: Floats, step: Floats, shares: Shares
) -> tuple[Floats, Floats]:
    """Return better centers and spreads of columns of rare values, from a rough mean."""
    share = _RARE * curator.remaining
    norms = measure_norms(
        curator, center=center, scale=spread, spread=spread, share=shares.radius * share
    )
    sensitivity = 2.0 if curator.neighbors == "replace" else 1.0
    clipped = sensitivity * np.sqrt(spread.size) / curator.mu_of(share)
    radius = float(norms.edges[safe_cell(norms, clipped)])
    total, noise = _clipped_sum(curator, center, spread, radius, share=share, label="rare values")
    moved, noise = total / rows, noise / rows
    surely = (step > 0.0) & (np.abs(moved) > 2.0 * noise)
    return np.where(surely, center + moved, center), own_spread(moved, noise, step, spread)


def clipped_mean(
    curator: Curator, shape: Shape, scale: Floats, *, share: float
) -> tuple[Floats, Floats, dict[str, Any]]:
    """Return steps 3 and 4 with a share of mu**2: the mean, its noise, and what was found."""
    rows, spread = shape.rows, shape.spread
    effective = effective_columns(spread, scale)
    radius_share = shape.shares.radius * share
    tilt_share = min(max(_TILT / effective, _LEAST_TILT), _MOST_TILT) * share
    sum_share = share - radius_share - tilt_share

    # Step 3.
    sensitivity = 2.0 if curator.neighbors == "replace" else 1.0
    per_radius = sensitivity / curator.mu_of(sum_share)
    clipped = per_radius * np.sqrt(effective)
    norms = measure_norms(
        curator, center=shape.center, scale=scale, spread=spread, share=radius_share
    )
    cell = safe_cell(norms, clipped)
    safe = float(norms.edges[cell])
    tilt, tilt_noise = _clipped_sum(
        curator, shape.center, scale, safe, share=tilt_share, label="tilt", tilt=norms.typical
    )
    unit = float(np.max(np.abs(spread)))  # keeps squares within the range of floats
    tilt, tilt_noise = tilt / unit / rows, tilt_noise / unit / rows
    surplus = max(0.0, float(np.sum(tilt**2) - np.sum(tilt_noise**2)))
    doubt = _DOUBT * np.sqrt(2.0 * np.sum(tilt_noise**4))
    radius, factor = best_radius(
        norms,
        cell,
        rows=rows,
        clipped=clipped,
        noise_square=float(np.sum((per_radius / rows * scale / unit) ** 2)),
        spread_square=float(np.sum((spread / unit) ** 2)),
        tilt_square=surplus + float(doubt),
    )

    # Step 4.
    total, noise = _clipped_sum(
        curator, shape.center, scale, safe, share=_FIRST * sum_share, label="first mean"
    )
    first, first_noise = shape.center + total / rows, noise / rows
    rest = min((1.0 - _FIRST) * sum_share, curator.remaining)
    total, noise = _clipped_sum(curator, first, scale, radius, share=rest, label="mean")
    second, second_noise = first + total / rows / factor, noise / rows / factor
    weight = first_noise**2 / (first_noise**2 + second_noise**2)
    value = (1.0 - weight) * first + weight * second
    details = {
        "radius": radius,
        "safe_radius": safe,
        "mean_factor": factor,
        "clipped_fraction": norms.fraction_above(radius, rows),
    }
    return value, np.sqrt(weight) * second_noise, details


def _clipped_sum(
    curator: Curator,
    center: Floats,
    scale: Floats,
    radius: float,
    *,
    share: float,
    label: str,
    tilt: float | None = None,
) -> tuple[Floats, Floats]:
    """Return the noisy sum of clipped deviations in the data's unit, and its noise."""
    query = ClippedSum(center, scale, radius, tilt=tilt)
    measured = curator.measure(query, share=share, label=label)
    return query.unit * measured.values, query.unit * measured.std
