"""A line from a noisy Gram matrix.

The matrix holds, per row and in standard units, the covariance S of the clipped features, the
covariance g of features and target, and their means. Noise of standard deviation s lies on
every entry of S (sqrt 2 s on its diagonal) and s_g on those of g. So the normal equations
S theta = g hold up to noise of standard deviation sqrt(s_g**2 + s**2 |theta|**2) in every
direction. With a prior of the same size in every direction, the best theta shrinks along the
eigenvectors of S: by p / (p**2 + c**2) instead of 1 / p, for an eigenvalue p, with
c**2 = k s**2 + s_g**2 tr(S) / R2, where R2 is the part of the target's variance that the
features explain: AdaSSP's lambda, per eigenvector, and without a release of its own. For
tr(S) / R2 stands the square of the radius that features are clipped to, which tr(S) cannot exceed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Floats
from prolate.estimators.search.spread import LARGEST
from prolate.estimators.shrink import kept_part
from prolate.queries import Gram

__all__ = [
    "Line",
    "Moments",
    "add_round",
    "drawn",
    "fit_line",
    "gram_per_row",
    "read_moments",
    "read_with_constant",
    "spread_of_noise",
]

_REST = 0.1  # squared length of what is left of the slopes, over that of all of them
_FLOOR = 0.5  # least eigenvalue, over c: noise alone makes them smaller, or negative


@dataclass(frozen=True, eq=False)
class Moments:
    """Second moments of clipped features and target, per row, around their means.

    Attributes
    ----------
    features : float64 array of shape (k, k)
    both : float64 array of shape (k,)
        Of features and target.
    target : float
    mean : float64 array of shape (k,)
        Of the features.
    target_mean : float
    radius : float
        Of the features.
    noise, noise_both, noise_target, noise_mean, noise_target_mean : float
        Standard deviations: of `features` off the diagonal (sqrt 2 as much on it), of `both`,
        and so on.
    start : float64 array of shape (k,), optional
        Slopes that were taken off the target; `both` and `target` are of what is left,
        `target_mean` of the whole target.
    """

    features: Floats
    both: Floats
    target: float
    mean: Floats
    target_mean: float
    radius: float
    noise: float
    noise_both: float
    noise_target: float
    noise_mean: float
    noise_target_mean: float
    start: Floats | None = None


@dataclass(frozen=True, eq=False)
class Line:
    """Slopes for standardized, clipped features.

    Attributes
    ----------
    slopes : float64 array of shape (k,)
    gain : float
        By how much the mean square error is below the cut target's variance, as far as the noisy
        moments tell (Stein's estimate of it: unbiased).
    doubt : float
        Standard deviation of the noise in `gain`.
    """

    slopes: Floats
    gain: float
    doubt: float


def read_moments(
    query: Gram,
    values: Floats,
    std: float,
    rows: float,
    weight: float,
    off: float,
    place: Floats | float = 0.0,
) -> Moments:
    """Return the moments that a Gram matrix with a target holds: around 0 without a constant.

    Parameters
    ----------
    query : Gram
    values, std
        Its measurement.
    rows : float
    weight : float
        By which the standardized target was multiplied.
    off : float
        How far the target's mean may be from 0.
    place : float64 array of shape (k,), or 0
        Where the features' means are, about: by their noise moments are noisier.
    """
    matrix = gram_per_row(query, values, rows)
    noise, more = query.noise(std)[1] / rows, 1.0
    if query.constant > 0.0:
        more += float(np.mean(np.square(place))) / query.constant**2
        mean, noise_mean = matrix[0, 1:] / query.constant, noise / query.constant
        matrix = matrix[1:, 1:]
        mean[:-1] *= kept_part(float(mean[:-1] @ mean[:-1]), (mean.size - 1) * noise_mean**2)
        mean[-1] *= off**2 / (off**2 + (noise_mean / weight) ** 2)
    else:
        mean, noise_mean = np.zeros(matrix.shape[0]), 0.0
    around = matrix - np.outer(mean, mean)
    return Moments(
        features=around[:-1, :-1],
        both=around[:-1, -1] / weight,
        target=around[-1, -1] / weight**2,
        mean=mean[:-1],
        target_mean=mean[-1] / weight,
        radius=query.radius,
        noise=more * noise,
        noise_both=math.sqrt(more) * noise / weight,
        noise_target=query.noise(std)[0] / rows / weight**2,
        noise_mean=noise_mean,
        noise_target_mean=noise_mean / weight,
    )


def read_with_constant(
    query: Gram, values: Floats, std: float, rows: float, weight: float
) -> Moments:
    """Return the moments that a Gram matrix holds around 0, the constant being the first feature.

    No matter where the features' means are, noise is the same of all.
    """
    matrix = gram_per_row(query, values, rows)
    noise = query.noise(std)[1] / rows
    return Moments(
        features=matrix[:-1, :-1],
        both=matrix[:-1, -1] / weight,
        target=matrix[-1, -1] / weight**2,
        mean=np.zeros(matrix.shape[0] - 1),
        target_mean=0.0,
        radius=math.hypot(query.radius, query.constant),
        noise=noise,
        noise_both=noise / weight,
        noise_target=query.noise(std)[0] / rows / weight**2,
        noise_mean=0.0,
        noise_target_mean=0.0,
    )


def gram_per_row(query: Gram, values: Floats, rows: float) -> Floats:
    """Return the Gram matrix that was measured, per row.

    Features whose scale makes them 0 in every row have a variance of 1 by themselves in place of
    the noise: it would pass for something that the others may be turned to.
    """
    matrix = query.matrix(values) / rows
    nothing = 1 + np.flatnonzero(query.scale[:-1] >= LARGEST) - (query.constant == 0.0)
    matrix[nothing], matrix[:, nothing] = 0.0, 0.0
    matrix[nothing, nothing] = 1.0
    return matrix


def spread_of_noise(moments: Moments) -> float:
    """Return c: eigenvalues below it are hidden by noise."""
    size = moments.mean.size * (1.0 if moments.start is None else _REST)
    square = size * moments.noise**2 + (moments.noise_both * moments.radius) ** 2
    return max(math.sqrt(square), 1e-150)


def fit_line(moments: Moments, *, ridge: float | None = None) -> Line:
    """Return the slopes, shrunk along the eigenvectors of the features' covariance.

    Parameters
    ----------
    moments : Moments
    ridge : float, optional
        Shrink by 1 / (p + ridge) instead, p raised to what noise hides.
    """
    values, axes = np.linalg.eigh(moments.features)
    along = axes.T @ moments.both
    trace = max(float(np.sum(values)), 0.0)
    hidden = spread_of_noise(moments)
    floor = _FLOOR * hidden
    raised = np.maximum(values, floor)
    if ridge is None:
        factor = raised / (raised**2 + hidden**2)
        slope = (hidden**2 - raised**2) / (raised**2 + hidden**2) ** 2
    else:
        factor = 1.0 / (raised + ridge)
        slope = -(factor**2)
    slope = np.where(values > floor, slope, 0.0)
    theta = factor * along
    # Stein: what the same noise in the slopes and in the moments adds to the gain.
    apart = values[:, np.newaxis] - values
    same = np.abs(apart) <= 1e-9 * max(trace, 1e-300)
    ratio = (factor[:, np.newaxis] - factor) / np.where(same, 1.0, apart)
    ratio = np.where(same, slope[:, np.newaxis], ratio)
    quadratic = float(theta @ (values * theta)) - 2.0 * moments.noise**2 * float(
        np.sum(along * theta * (ratio.sum(axis=1) + np.diag(ratio)))
    )
    linear = float(theta @ along) - moments.noise_both**2 * float(factor.sum())
    size = float(np.linalg.norm(theta))
    doubt = size * math.hypot(2.0 * moments.noise_both, math.sqrt(2.0) * moments.noise * size)
    slopes = axes @ theta if moments.start is None else moments.start + axes @ theta
    return Line(slopes, 2.0 * linear - quadratic, doubt)


def drawn(line: Line, moments: Moments) -> Line:
    """Return a line drawn to 0 as far as its gain is less than what it seems to explain.

    The shrinkage of `fit_line` is for features that explain much of the target. Of rare flags they
    rarely do, and a line that is mostly noise predicts worse than the mean. For slopes times t the
    gain is 2 t l - t**2 q, which is largest at t = l / q; here it is told by 2 l - q, and by q.
    """
    explains = float(line.slopes @ moments.features @ line.slopes)
    if explains <= 0.0:
        return line
    part = min(max(0.5 + 0.5 * line.gain / explains, 0.0), 1.0)
    return replace(line, slopes=part * line.slopes)


def add_round(first: Moments, line: Line, second: Moments, value: float) -> Moments:
    """Return the moments of two rounds, the second of what a line from the first leaves.

    The second does not see the noise of `first.features` times the slopes; that of its own
    falls on what is still to be found of them alone.

    Parameters
    ----------
    first : Moments
    line : Line
        From `first`.
    second : Moments
        Its target is what the line leaves.
    value : float
        Of the line, where all features are 0.
    """
    slopes = line.slopes
    here, there = first.noise**-2, second.noise**-2
    features = (here * first.features + there * second.features) / (here + there)
    seen = first.noise_both**2 + first.noise**2 * float(slopes @ slopes)
    old, new = 1.0 / seen, second.noise_both**-2
    left = first.both - first.features @ slopes
    return replace(
        second,
        features=features,
        both=(old * left + new * second.both) / (old + new),
        target_mean=value + second.target_mean + float(second.mean @ slopes),
        noise=(here + there) ** -0.5,
        noise_both=(old + new) ** -0.5,
        start=slopes,
    )
