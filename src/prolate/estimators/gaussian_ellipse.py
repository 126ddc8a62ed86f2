"""The elliptical Gaussian mechanism for rows with public centers and scales.

Poulsen's Algorithm 3 (20 January 2023), with its erratum mended and one norm more:

1. y = (x - c) * b, with b_j = 1 / sqrt(sigma_j sum(sigma)) (Lemma 4.1), or the best shape
   for another l_p error, b_j proportional to sigma_j**(-2 / (p + 2)) (PLAN, Lemma C.2);
2. clip every y to the norm C, the quantile of |y| that a normal row exceeds with a given
   probability: one in n, or the best (`prolate.theory.clipping`);
3. add N(0, (D / mu)**2) to every column of the sum of the clipped y;
4. sum of x = n c + (what came out) / b, and the mean is c + (what came out) / (b n).

The draft's pseudo-code adds c before it divides by b, and so scales the center too.

Privacy. A clipped y has norm at most C, so the sum of step 3 has sensitivity D = 2 C where
a row is replaced, and C where one is added or removed. c, b and C are public, or, where n
is private, made of public numbers and of a noisy count that was charged for. Step 4 is
arithmetic on that sum and on n: public under replace, and under add-remove the noisy count,
of sensitivity 1. The curator charges each; their mu squares add up to the budget's. Nothing
of this takes the rows to be normal: that is only where the accuracy comes from.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from prolate.arrays import Floats
from prolate.budget import Neighbors
from prolate.curator import Curator
from prolate.estimators.counting import count_rows, counted_rows
from prolate.estimators.estimate import Estimate
from prolate.queries import ClippedSum, Count
from prolate.theory import optimal_scale

__all__ = ["Clipping", "clipping_radius", "elliptical_mean", "elliptical_sum", "scaling"]

Clipping = float | Literal["auto", "optimal"]


def elliptical_mean(
    curator: Curator,
    *,
    center: Floats,
    scale: Floats,
    error_norm: float = 2.0,
    clip: Clipping = "auto",
) -> Estimate:
    """Return the private mean of rows around public centers with public scales.

    A missing value counts as its column's center. Where the number of rows is private, its noise
    is a part of the mean's, as far as the mean is from the center.

    Parameters
    ----------
    curator : Curator
        All of its remaining budget is spent.
    center, scale : float64 arrays of shape (d,)
        c and sigma. A center that is off costs accuracy, not privacy.
    error_norm : float
        The p of the l_p error that is to be small.
    clip : float, "auto" or "optimal"
        The probability of clipping a normal row; ``"auto"`` is one in n, as in the papers.
    """
    rows, unsure = counted_rows(curator)
    b = scaling(scale, error_norm)
    mu = curator.mu_of(curator.remaining)
    radius, part = clipping_radius(scale, b, rows, mu, curator.neighbors, clip)
    total, noise = _clipped_sum(curator, center, b, radius)
    noise = np.hypot(noise, np.abs(total) * unsure / rows)
    return Estimate(
        value=center + total / rows,
        noise_std=noise / rows,
        sampling_std=scale / math.sqrt(rows),
        rows=rows,
        details={"radius": radius, "clipped_fraction": part},
    )


def elliptical_sum(
    curator: Curator,
    *,
    center: Floats,
    scale: Floats,
    error_norm: float = 2.0,
    clip: Clipping = "auto",
) -> Estimate:
    """Return the private sum of rows around public centers with public scales.

    A missing value counts as its column's center.

    Under add-remove the number of rows N is private. The sum is then N c + (sum of x - c):
    the second part has noise of length A at the whole budget, and N c has |c| / mu = B. A
    share s for the count makes A**2 / (1 - s) + B**2 / s, which is least, (A + B)**2, at
    s = B / (A + B). Or rows are clipped around the origin, where no count is needed: with
    the radius that at most one normal row around c in n exceeds (there clipping is bias),
    noise of length A'. The smaller is taken. Either way a hundredth goes to a first count,
    for C and the release; both counts make one, weighted by what they cost.

    Parameters
    ----------
    curator, center, scale, error_norm, clip
        As for `elliptical_mean`.
    """
    rows = count_rows(curator)
    b = scaling(scale, error_norm)
    mu = curator.mu_of(curator.remaining)
    radius, part = clipping_radius(scale, b, rows, mu, curator.neighbors, clip)
    details = {"radius": radius, "clipped_fraction": part}
    if curator.neighbors == "replace":
        total, noise = _clipped_sum(curator, center, b, radius)
        return Estimate(rows * center + total, noise, None, rows, details=details)

    from prolate.theory import exact_radius

    of_count, length = math.hypot(*center), float(np.linalg.norm(1.0 / b))
    both = radius * length + of_count
    offset = math.hypot(*(center * b))
    if offset * length <= both:
        part = min(part, 1.0 / rows)
        # So far off, what is not exact is nothing: at most a radius more than is needed.
        far = offset > 1e8 * radius
        wide = offset + radius if far else exact_radius(scale, part, b=b, center_offset=center)
        if wide * length <= both:
            total, noise = _clipped_sum(curator, np.zeros_like(center), b, wide)
            details = {"radius": wide, "clipped_fraction": part}
            return Estimate(total, noise, None, rows, details=details)
    first = curator.receipt[-1]
    share = curator.remaining * min(max(of_count / both, 1e-6), 1.0 - 1e-6)  # all get some
    counted = curator.measure(Count(curator.dimension), share=share, label="rows again")
    weight = counted.share / (counted.share + first.share)
    number = weight * float(counted.values[0]) + (1.0 - weight) * float(first.values[0])
    doubt = math.hypot(weight * counted.std, (1.0 - weight) * first.std)
    total, noise = _clipped_sum(curator, center, b, radius)
    noise = np.hypot(noise, doubt * np.abs(center))
    return Estimate(number * center + total, noise, None, max(0.0, number), details=details)


def scaling(scale: Floats, error_norm: float) -> Floats:
    """Return b, with E |y|**2 = 1: that of Lemma 4.1 where p = 2.

    Examples
    --------
    >>> scaling(np.array([4.0, 1.0, 4.0]), 2.0).round(4).tolist()
    [0.1667, 0.3333, 0.1667]
    """
    b = 1.0 / optimal_scale(scale / scale.max(), error_norm)
    return np.asarray(b / np.linalg.norm(b * scale))


def clipping_radius(
    scale: Floats, b: Floats, rows: float, mu: float, neighbors: Neighbors, clip: Clipping
) -> tuple[float, float]:
    """Return C and the probability that a normal row around the center is longer."""
    from prolate.theory import ClippedMean

    plan = ClippedMean(scale, n=rows, mu=mu, b=b, neighbors=neighbors)
    if clip == "optimal":
        best = plan.best()
        return best.radius, best.clip
    part = min(1.0 / rows, 0.5) if clip == "auto" else clip
    return plan.radius(part), part


def _clipped_sum(
    curator: Curator, center: Floats, b: Floats, radius: float
) -> tuple[Floats, Floats]:
    """Return the noisy sum of clipped x - c from all that is left, and its noise."""
    query = ClippedSum(center, 1.0 / b, radius)
    measured = curator.measure(query, share=curator.remaining, label="sum")
    return query.unit * measured.values, query.unit * measured.std
