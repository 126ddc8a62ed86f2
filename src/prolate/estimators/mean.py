"""The private mean: no bounds, no center, no scale needed.

1. Find each column's center and spread (`learn_shape`).
2. Divide deviations from the center by spread**(2 / (p + 2)): the best shape of noise for
   an l_p error (PLAN, Lemma C.2).
3. Measure how long the scaled rows are, and how their direction goes with their length;
   so find a radius that is safe for any data, and the best one for these (`clip.py`).
4. A first mean of rows clipped to the safe radius, with a part of what is left; then a
   second, around the first, clipped to the best radius, with the rest. The answer is their
   average, weighted by inverse variance.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator, Measurer
from prolate.estimators.clip import (
    best_radius,
    clipped_sum,
    fraction_radius,
    measure_norms,
    safe_cell,
)
from prolate.estimators.estimate import Estimate
from prolate.estimators.rotation import TurnedCurator, find_rotation
from prolate.estimators.shape import Shape, learn_shape
from prolate.estimators.shares import radius_share
from prolate.estimators.shrink import shrink
from prolate.theory import effective_columns, optimal_scale

__all__ = ["Clip", "clipped_mean", "mean"]

Floats = NDArray[np.float64]
Clip = float | Literal["auto"]

_FIRST = 0.12  # part of the first mean
_TILT = 0.6  # part of the tilted sum, over the effective number of columns, ...
_LEAST_TILT, _MOST_TILT = 0.004, 0.06  # ... within these
_DOUBT = 0.5  # standard deviations of noise that count as tilt


def mean(
    curator: Curator,
    *,
    error_norm: float = 2.0,
    clip: Clip = "auto",
    center: Floats | None = None,
    scale: Floats | None = None,
    rotate: bool = False,
) -> Estimate:
    """Return the private mean of every column.

    Parameters
    ----------
    curator : Curator
        All of its remaining budget is spent.
    error_norm : float
        The p of the l_p error that is to be small.
    clip : "auto" or float
        ``"auto"`` chooses the radius from measurements; a number is the part of the rows
        that are clipped.
    center, scale : float64 arrays of shape (d,), optional
        Public centers and scales; what is given is not searched.
    rotate : bool
        Whether to look for correlated columns, and to sum along their principal axes,
        where the rows can pay for it and an l_2 error is wanted (`rotation.py`).
    """
    shape = learn_shape(curator, center=center, scale=scale)
    turned = find_rotation(curator, shape) if rotate and error_norm == 2.0 else None
    if turned is not None:
        return _turned_mean(turned, shape, clip)
    weights = optimal_scale(shape.spread, error_norm)
    value, noise_std, details = clipped_mean(
        curator, shape, weights, share=curator.remaining, clip=clip
    )
    if shape.rare is not None:
        rare = ~np.isnan(shape.rare)
        moved = value[rare] - shape.rare[rare]
        value[rare] = shape.rare[rare] + shrink(moved, noise_std[rare], median=error_norm < 2.0)
        details["shrunk_columns"] = int(np.count_nonzero(rare))
    return Estimate(
        value=value,
        noise_std=noise_std,
        sampling_std=shape.spread / np.sqrt(shape.rows),
        rows=shape.rows,
        warnings=shape.warnings,
        details=details,
    )


def clipped_mean(
    curator: Measurer, shape: Shape, scale: Floats, *, share: float, clip: Clip = "auto"
) -> tuple[Floats, Floats, dict[str, Any]]:
    """Return steps 3 and 4 with a share of mu**2: the mean, its noise, and what was found."""
    if clip != "auto":
        return _fixed_clip(curator, shape, scale, share=share, fraction=clip)
    rows, spread = shape.rows, shape.spread
    effective = effective_columns(spread, scale)
    for_radius = radius_share(curator, rows, effective) * share
    tilt_share = min(max(_TILT * effective**-0.75, _LEAST_TILT), _MOST_TILT) * share
    sum_share = share - for_radius - tilt_share

    # Step 3.
    sensitivity = 2.0 if curator.neighbors == "replace" else 1.0
    per_radius = sensitivity / curator.mu_of(sum_share)
    clipped = per_radius * np.sqrt(effective)
    norms = measure_norms(
        curator, center=shape.center, scale=scale, spread=spread, share=for_radius
    )
    cell = safe_cell(norms, clipped)
    safe = float(norms.edges[cell])
    between = (fraction_radius(norms, 0.95, rows), fraction_radius(norms, 0.05, rows))
    between = (between[0], max(between[1], 1.02 * between[0]))
    tilt, tilt_noise = clipped_sum(
        curator, shape.center, scale, safe, share=tilt_share, label="tilt", tilt=between
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
        tilt=between,
        tilt_square=surplus + float(doubt),
    )

    # Step 4.
    total, noise = clipped_sum(
        curator, shape.center, scale, radius, share=_FIRST * sum_share, label="first mean"
    )
    first, first_noise = shape.center + total / rows / factor, noise / rows / factor
    rest = min((1.0 - _FIRST) * sum_share, curator.remaining)
    total, noise = clipped_sum(curator, first, scale, radius, share=rest, label="mean")
    second, second_noise = first + total / rows / factor, noise / rows / factor
    value, noise_std = _average((first, first_noise), (second, second_noise))
    details = {
        "radius": radius,
        "safe_radius": safe,
        "mean_factor": factor,
        "clipped_fraction": norms.fraction_above(radius, rows),
    }
    return value, noise_std, details


def _average(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return the average of two independent answers by inverse variance, and its noise."""
    (value, noise), (other, other_noise) = first, second
    weight = 1.0 / (1.0 + (other_noise / noise) ** 2)  # of the other
    return (1.0 - weight) * value + weight * other, np.sqrt(weight) * other_noise


def _turned_mean(curator: TurnedCurator, shape: Shape, clip: Clip) -> Estimate:
    """Return the mean from sums along the principal axes."""
    axes = replace(shape, center=np.zeros(shape.spread.size), spread=curator.spread, rare=None)
    value, noise_std, details = clipped_mean(
        curator, axes, optimal_scale(axes.spread, 2.0), share=curator.remaining, clip=clip
    )
    return Estimate(
        value=shape.center + curator.matrix @ value,
        noise_std=np.sqrt(curator.matrix**2 @ noise_std**2),
        sampling_std=shape.spread / np.sqrt(shape.rows),
        rows=shape.rows,
        warnings=shape.warnings,
        details={**details, "rotated": True},
    )


def _fixed_clip(
    curator: Measurer, shape: Shape, scale: Floats, *, share: float, fraction: float
) -> tuple[Floats, Floats, dict[str, Any]]:
    """Return the mean of rows of which about `fraction` are clipped."""
    effective = effective_columns(shape.spread, scale)
    for_radius = radius_share(curator, shape.rows, effective) * share
    norms = measure_norms(
        curator, center=shape.center, scale=scale, spread=shape.spread, share=for_radius
    )
    radius = fraction_radius(norms, fraction, shape.rows)
    rest = min(share - for_radius, curator.remaining)
    total, noise = clipped_sum(curator, shape.center, scale, radius, share=rest, label="mean")
    details = {"radius": radius, "clipped_fraction": fraction}
    return shape.center + total / shape.rows, noise / shape.rows, details
