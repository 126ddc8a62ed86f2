"""The private mean: no bounds, no center, no scale needed.

1. Find each column's bulk (`locate`) and its spread (`measure_scale`), then a better
   center: a rough mean of values cut to a few spreads around the first one.
2. Divide deviations from the center by spread**(2 / (p + 2)): the best shape of noise for
   an l_p error (PLAN, Lemma C.2).
3. Find the radius that leaves few enough rows longer (`measure_radius`).
4. Clip, sum, add noise with all that is left of the budget, and scale back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator
from prolate.estimators.estimate import Estimate
from prolate.estimators.locate import locate
from prolate.estimators.radius import measure_radius
from prolate.estimators.shares import Shares, count_rows, plan_shares
from prolate.estimators.spread import measure_scale
from prolate.queries import ClippedSum
from prolate.theory import optimal_scale

__all__ = ["Shape", "clipped_mean", "learn_shape", "mean"]

Floats = NDArray[np.float64]

_CUT = 3.5  # spreads
_ROUGH = 1.3  # radius of the rough mean, over the square root of d


@dataclass(frozen=True, eq=False)
class Shape:
    """What the searches found: the rows' number, center and spread, and what it cost."""

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
    interval = locate(curator, rows, share=shares.histogram)
    spread = measure_scale(curator, rows, interval, share=shares.histogram)
    center = refine_center(curator, rows, interval.center, spread, share=shares.histogram)
    warnings: tuple[str, ...] = ()
    if not interval.found:
        lost = (
            "The rows are too few for this budget to find even how large the values are: do not "
            "use these numbers. Bounds would help."
        )
        warnings = (lost,)
    elif shares.small:
        few = (
            f"The rows are few for this budget and {curator.dimension} columns: the searches' "
            f"counts are noisy by {100 * shares.count_error:.0f} % of the rows, so centers and "
            "scales are rough. More rows, fewer columns, a larger budget or bounds would help."
        )
        warnings = (few,)
    return Shape(rows, center, spread, shares, warnings)


def refine_center(
    curator: Curator, rows: float, center: Floats, spread: Floats, *, share: float
) -> Floats:
    """Return the mean of values cut to `_CUT` spreads around `center`, all columns alike.

    Cutting each value by itself keeps a column whose center is far off from swallowing
    the others: such a column moves towards its values, and the others hardly notice.
    """
    radius = _ROUGH * np.sqrt(spread.size)
    reach = _CUT * spread
    query = ClippedSum(center, spread, radius, lower=center - reach, upper=center + reach)
    measured = curator.measure(query, share=share, label="center")
    return np.asarray(center + np.clip(query.unit * measured.values / rows, -reach, reach))


def clipped_mean(
    curator: Curator,
    shape: Shape,
    scale: Floats,
    *,
    share: float,
    label: str = "mean",
    about: Floats | None = None,
) -> tuple[Floats, Floats, dict[str, float]]:
    """Return steps 3 and 4 with a share: the mean of clipped rows, its noise, the radius."""
    radius_share = shape.shares.radius * share
    sum_share = share - radius_share
    radius, clipped = measure_radius(
        curator,
        shape.rows,
        center=shape.center,
        scale=scale,
        spread=shape.spread,
        share=radius_share,
        final_share=sum_share,
        about=about,
    )
    query = ClippedSum(shape.center, scale, radius, about=about)
    measured = curator.measure(query, share=min(sum_share, curator.remaining), label=label)
    value = shape.center + query.unit * measured.values / shape.rows
    noise_std = query.unit * measured.std / shape.rows
    return value, noise_std, {"radius": radius, "clipped_fraction": clipped}
