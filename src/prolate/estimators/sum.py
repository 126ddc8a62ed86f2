"""The private sum of bounded columns: the elliptical Gaussian mechanism.

With x_j in [l_j, u_j] and ranges Delta_j = u_j - l_j, noise of standard deviation
Delta_j / (mu b_j), |b| = 1, is mu-GDP (Poulsen, Algorithm 2); b_j proportional to
Delta_j / s_j with s_j = Delta_j**(2 / (p + 2)) is best for an l_p error (PLAN, Lemma C.2).
Here the rows are centered at the middle of the bounds and divided by s_j, so that all of
them lie in a ball of radius |Delta / s| / 2, and the noise is the same in every
coordinate of that ball; it is the same mechanism. s_j = 1 is the plain Gaussian one.
"""

from __future__ import annotations

import math

import numpy as np

from prolate.arrays import Floats, Limits
from prolate.curator import Curator, Measurer, Searcher
from prolate.errors import InputError
from prolate.estimators.estimate import Estimate
from prolate.queries import ClippedSum, Count, radius_over
from prolate.theory import optimal_scale

__all__ = ["bounded_sum", "bounds_of", "centered_sum", "rounding_of", "shape_of"]

_SEEN = 0.1  # standard deviations of noise that do not change an interval


def bounded_sum(curator: Curator, *, error_norm: float, elliptical: bool) -> Estimate:
    """Return the private sum of every column, values cut to the curator's bounds.

    A missing value counts as 0, or as the bound next to 0.

    Under add-remove the number of rows is private. The sum is then either taken around
    the origin, where a row reaches max(|l|, |u|), or around the middle, where it reaches
    Delta / 2 but a noisy count times the middle must be added. With the best split of the
    budget the second has error A + B, where A is the noise of the centered sum and B that
    of count times middle, each at the whole budget; the smaller is taken.

    Parameters
    ----------
    curator : Curator
        With bounds on every column; all of its remaining budget is spent.
    error_norm : float
        The p of the l_p error that is to be small.
    elliptical : bool
        Whether to shape the noise; False is the plain Gaussian mechanism.
    """
    lower, upper = bounds_of(curator)
    middle, half = 0.5 * lower + 0.5 * upper, 0.5 * upper - 0.5 * lower
    absent = np.clip(0.0, lower, upper)
    if curator.neighbors == "replace":
        scale = shape_of(half, error_norm, elliptical=elliptical)
        value, noise_std, step = centered_sum(curator, middle, half, scale, absent)
        rows = float(curator.public_rows())
        rounding = rounding_of(rows * step, noise_std)
        return Estimate(value + rows * middle, noise_std, None, rows, clipping_std=rounding)

    reach = np.maximum(np.abs(lower), np.abs(upper))
    around_origin = _total_noise(reach, error_norm, elliptical)
    around_middle = _total_noise(half, error_norm, elliptical)
    of_count = float(np.linalg.norm(middle))
    both = around_middle + of_count
    if around_origin <= both or both == 0.0:  # 0 where bounds are as small as floats can be
        count_share = 0.01
        center, span = np.zeros_like(middle), reach
    else:
        # Columns without a range need no noise, and still a measurement.
        count_share = min(max(0.01, of_count / both), 1.0 - 1e-6)
        center, span = middle, half
    counted = curator.measure(Count(curator.dimension), share=count_share, label="rows")
    rows = float(counted.values[0])
    scale = shape_of(span, error_norm, elliptical=elliptical)
    value, noise_std, step = centered_sum(curator, center, span, scale, absent)
    noise_std = np.hypot(noise_std, counted.std * np.abs(center))
    rounding = rounding_of(max(0.0, rows) * step, noise_std)
    value = value + rows * center
    return Estimate(value, noise_std, None, max(0.0, rows), clipping_std=rounding)


def shape_of(span: Floats, error_norm: float, *, elliptical: bool = True) -> Floats:
    """Return the scales by which columns that reach so far are divided; 1 unless elliptical."""
    largest = float(span.max())
    if not elliptical or largest < 1e-280:  # too small to be shaped
        return np.ones_like(span)
    # Over the largest: the square of a square of bounds is no float. A column of no range needs
    # no noise; it gets the least that a float can tell apart.
    return largest * optimal_scale(np.maximum(span / largest, 2.0**-60), error_norm)


def _total_noise(span: Floats, error_norm: float, elliptical: bool) -> float:
    """Return the l2 noise of the centered sum at mu = 1."""
    scale = shape_of(span, error_norm, elliptical=elliptical)
    return float(np.linalg.norm(span / scale) * np.linalg.norm(scale))


def centered_sum(
    curator: Measurer,
    center: Floats,
    span: Floats,
    scale: Floats,
    absent: Floats,
    *,
    share: float | None = None,
    about: Floats | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Return the noisy sum of x - center, |x - center| <= span, its noise, and the grid's steps.

    Of (x - about)**2 in place of x, if that is given. `absent` stands in for missing values. All
    that is left is spent, or a share.
    """
    length = float(np.linalg.norm(span / scale))
    radius = max(radius_over(length, span.size), 1e-300)
    query = ClippedSum(center, scale, radius, missing=absent - center, about=about)
    label = "sum" if about is None else "squares"
    share = curator.remaining if share is None else min(share, curator.remaining)
    measured = curator.measure(query, share=share, label=label)
    return query.unit * measured.values, query.unit * measured.noise, query.unit


def rounding_of(step: Floats, noise_std: Floats) -> Floats | None:
    """Return what rounding equal values alike may do, as a deviation, unless noise hides it.

    Each by up to half a step; together, by up to half of `step`.
    """
    error = step / math.sqrt(12.0)
    return error if np.any(error > _SEEN * noise_std) else None


def bounds_of(curator: Searcher) -> Limits:
    """Return the bounds of every column."""
    if curator.bounds is None:
        raise InputError("A bounded sum needs the bounds of every column.")
    return curator.bounds
