"""Slopes of unclipped rows from moments of clipped ones, and how sure they are.

Least squares on features T = clip(z) has other slopes than on z: theta = E[T T']^-1 E[T z'] b
for slopes b. For normal rows the eigenvectors stay what they are, because the clip is round,
and along each of them theta is b times E[T_i z_i] / E[T_i**2], a number above one that
`_normal_axes` works out. How long the rows really are is known from the histogram of norms;
where it surely tells another factor than normal rows would have, that is taken, for all axes
in proportion.

The covariance has three parts: noise, as if the noisy matrix were the true one (first order);
an allowance for what the correction may be wrong by; and sampling error, with the same
residual variance for all rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from prolate.estimators.lengths.norms import MeasuredNorms
from prolate.estimators.regression.line import Moments, spread_of_noise

__all__ = ["FARTHER", "Slopes", "attenuation", "average", "mean_square", "true_slopes"]

Floats = NDArray[np.float64]

FARTHER = 2.0
"""Times the longest length that is believed, at which rows that are surely there are cut."""

_DRAWS = 4096
_ROUNDS = 60
_CLOSE = 1e-6
_MOST = 0.98  # of the squared radius, that clipped variances add up to
_EXPLAINED = 2.0  # of the target's variance, that an axis which noise hides may stand for
_LEAST = 0.02  # of the target's variance, that is always left unexplained
# Part of the correction by which it may be wrong, and how much more where lengths are not
# those of normal rows.
_WRONG, _WRONG_UNLIKE = 0.2, 4.0
# Standard deviations of a count of rows that are surely there: of several cells, or of one.
_SURE, _CLEAR = 2.0, 3.5
_MOST_APART = 1e9  # so that numbers stay finite


@dataclass(frozen=True, eq=False)
class Slopes:
    """Slopes for standardized features, and the target at their center.

    Attributes
    ----------
    value : float64 array of shape (k + 1,)
    noise : float64 array of shape (k + 1, k + 1)
        Covariance of privacy noise, and of what clipping may have done.
    sampling : float64 array of shape (k + 1, k + 1)
        Covariance of the sampling error.
    features : float64 array of shape (k, k)
        Covariance of the unclipped features.
    mean : float64 array of shape (k,)
        Of the features.
    rest : float
        Variance of what the slopes leave of the target.
    """

    value: Floats
    noise: Floats
    sampling: Floats
    features: Floats
    mean: Floats
    rest: float


def attenuation(norms: MeasuredNorms, radius: float, longest: float) -> float:
    """Return about how much larger slopes on rows clipped to a radius are.

    E |z| |T| / E |T|**2 of the rows, T = z clipped to `radius`, |z| <= `longest`: so it is for
    rows that are elliptical.
    """
    return _ratio(*_lengths(norms, longest), radius)


def _ratio(middle: Floats, part: Floats, radius: float) -> float:
    clipped = np.minimum(middle, radius)
    return float(np.sum(part * middle * clipped) / np.sum(part * clipped**2))


def _farther(norms: MeasuredNorms, lengths: Floats, radius: float, longest: float) -> float:
    """Return by what part slopes may surely be larger than elliptical rows' are.

    Those have E |z| |T| / E |T|**2. Others may have up to E |z|**2 / E |z| |T|, if they are around
    0: that is var z / cov(T, z), at least cov(T, z) / var T by Cauchy's and Schwarz's inequality.
    Counted is what is between the two beyond what it is for rows of these `lengths`, and what noise
    of the counts explains.
    """
    edges = np.concatenate([[0.0], norms.edges, [np.inf]])
    rows = max(float(norms.counts.sum()), 1.0)
    like = replace(norms, counts=np.histogram(lengths, edges)[0] * (rows / lengths.size))
    gaps, doubts = [], []
    for one in (norms, like):
        middle, part = _lengths(one, longest, surely=True)
        kept = middle * np.minimum(middle, radius)
        along = float(np.sum(part * kept))
        most = float(np.sum(part * middle**2)) / along
        terms = np.where(part > 0.0, middle**2 - most * kept, 0.0)
        gaps.append(most / _ratio(middle, part, radius))
        doubts.append(norms.noise / rows * float(np.linalg.norm(terms)) / along / most)
    return max(gaps[0] / gaps[1] - 1.0 - _SURE * doubts[0], 0.0)


def mean_square(norms: MeasuredNorms, radius: float, longest: float) -> float:
    """Return E |T|**2."""
    middle, part = _lengths(norms, longest)
    return float(np.sum(part * np.minimum(middle, radius) ** 2))


def true_slopes(
    moments: Moments,
    *,
    rows: float,
    radius: float,
    cut: float,
    norms: MeasuredNorms,
    longest: float,
    ridge: float = 0.0,
) -> Slopes:
    """Return the slopes of unclipped rows.

    Parameters
    ----------
    moments : Moments
        Of features clipped to `radius`, and a target cut to -+ `cut`.
    rows : float
    radius, cut : float
    norms : MeasuredNorms
        Of the features.
    longest : float
        No row is longer.
    ridge : float
        Added to the variances: shrinks the slopes.
    """
    k = moments.mean.size
    values, axes = np.linalg.eigh(moments.features)
    doubt = spread_of_noise(moments)
    raised = np.maximum(values, doubt) + ridge
    along = axes.T @ moments.both
    theta = along / raised
    start = np.zeros(k) if moments.start is None else axes.T @ moments.start
    explained = 2.0 * theta @ along - theta @ (values * theta)
    variance = max(moments.target, _LEAST)
    left = max(variance - max(explained, 0.0), _LEAST * variance)
    square, whole = float(theta @ theta), float((start + theta) @ (start + theta))

    factor, unlike, unsure = _correction(raised, norms, radius, longest, rows)
    kept = _kept(variance, cut)
    wrong = _WRONG + _WRONG_UNLIKE * unlike
    turn = axes / factor
    noise = moments.noise_both**2 + moments.noise**2 * square
    spread = noise * np.eye(k) + moments.noise**2 * np.outer(theta, theta)
    spread /= np.outer(raised, raised) * kept**2
    # Along axes that noise hides, or may hide, the slope is as likely as those of the others.
    surely = np.maximum(values - math.sqrt(2.0) * moments.noise, 0.0)
    hidden = 1.0 - surely / raised
    prior = _EXPLAINED * variance / max(float(np.sum(raised)), 1e-300)
    doubtful = (wrong * (factor - 1.0)) ** 2 + unsure**2
    spread += np.diag(prior * hidden**2 + doubtful * whole / k)
    slopes = turn @ (start + theta / kept)

    # Where rows lie, if they are symmetric; else clipping moves their mean.
    place = float(np.mean(factor)) * moments.mean
    value = np.append(slopes, moments.target_mean - place @ slopes)
    level = np.vstack([np.eye(k), -place])
    moved = min(1.0, 2.0 - 2.0 / float(np.mean(factor))) * np.linalg.norm(place * slopes)
    noise_level = moments.noise_target_mean**2 + moments.noise_mean**2 * whole + moved**2
    noisy = level @ (turn @ spread @ turn.T) @ level.T
    noisy[k, k] += noise_level
    sampling = level @ ((turn * (left / rows / raised)) @ turn.T) @ level.T
    sampling[k, k] += left / rows
    return Slopes(
        value=value,
        noise=noisy,
        sampling=sampling,
        features=(axes * (raised * factor**2)) @ axes.T,
        mean=place,
        rest=left,
    )


def average(found: Sequence[Slopes]) -> Slopes:
    """Return the average with the least noise; all the rest is that of the last.

    Where they differ by more than their noise, as clipping may do more than is known, it is raised
    to what they differ by: Birge's ratio.
    """
    if len(found) == 1:
        return found[0]
    precisions = [np.linalg.pinv(one.noise, hermitian=True) for one in found]
    noise = np.linalg.pinv(np.sum(precisions, axis=0), hermitian=True)
    value = noise @ np.sum(
        [p @ one.value for p, one in zip(precisions, found, strict=True)], axis=0
    )
    apart = [one.value - value for one in found]
    squares = sum(float(a @ p @ a) for a, p in zip(apart, precisions, strict=True))
    ratio = squares / (value.size * (len(found) - 1))
    return replace(found[-1], value=value, noise=noise * min(max(1.0, ratio), _MOST_APART))


def _correction(
    variances: Floats, norms: MeasuredNorms, radius: float, longest: float, rows: float
) -> tuple[Floats, float, float]:
    """Return by how much the slopes of clipped rows are too large, along each axis.

    And by what part that factor surely differs from the one of normal rows; and by what part it may
    be wrong, as rows are surely not elliptical, and as counts of lengths are noisy.
    """
    along, lengths = _normal_axes(variances, radius)
    edges = np.concatenate([[0.0], norms.edges, [np.inf]])
    like = np.histogram(lengths, edges)[0] / lengths.size
    middle, part = _lengths(norms, longest)
    clipped = np.minimum(middle, radius)

    away = _ratio(middle, part, radius) / _ratio(middle, like, radius) - 1.0
    there = middle < longest
    terms = np.where(there, middle * clipped - _ratio(middle, part, radius) * clipped**2, 0.0)
    doubt = norms.noise / rows * np.linalg.norm(terms) / np.sum(part * clipped**2)
    sure = away**2 / max(away**2 + doubt**2, 1e-300)
    unsure = math.hypot(_farther(norms, lengths, radius, longest), math.sqrt(sure) * doubt)
    return along * (1.0 + away * sure), abs(away * sure), unsure


def _normal_axes(variances: Floats, radius: float) -> tuple[Floats, Floats]:
    """Return E[T_i z_i] / E[T_i**2] of normal rows, and their lengths.

    Parameters
    ----------
    variances : float64 array of shape (k,)
        E[T_i**2] along the principal axes; those of z are found from them.
    """
    squares = np.random.default_rng(0).standard_normal((_DRAWS, variances.size)) ** 2
    squares /= squares.mean(axis=0)
    wanted = variances * min(1.0, _MOST * radius**2 / float(variances.sum()))
    free = wanted
    for _ in range(_ROUNDS):
        length = np.sqrt(squares @ free)
        kept = np.minimum(1.0, radius / np.maximum(length, 1e-300))
        step = wanted * _DRAWS / np.maximum(free * (kept**2 @ squares), 1e-300)
        free = free * np.clip(step, 0.5, 2.0)
        if np.all(np.abs(step - 1.0) < _CLOSE):
            break
    return (kept @ squares) / (kept**2 @ squares), length


def _kept(variance: float, cut: float) -> float:
    """Return E[clip(y) y] / E[y**2] of a normal y whose cut values have this variance."""
    from scipy.special import erf

    spread = math.sqrt(variance)
    for _ in range(10):
        ratio = cut / spread / math.sqrt(2.0)
        inside = float(erf(ratio))
        square = inside - 2.0 / math.sqrt(math.pi) * ratio * math.exp(-(ratio**2))
        square += 2.0 * ratio**2 * (1.0 - inside)
        spread = min(math.sqrt(variance / max(square, 0.1)), 2.0 * cut)
    return inside


def _lengths(
    norms: MeasuredNorms, longest: float, *, surely: bool = False
) -> tuple[Floats, Floats]:
    """Return a length in the middle of each cell, and what part of the rows has it.

    Of tails, only what is surely there, if `surely`: far out, noise would be worth much.
    """
    edges = norms.edges
    middle = np.concatenate([[0.7 * edges[0]], np.sqrt(edges[:-1] * edges[1:]), [1.2 * edges[-1]]])
    clear = np.where(norms.counts > _CLEAR * norms.noise, norms.counts, 0.0)
    counts = np.where((middle < longest) | surely, norms.counts, clear)
    middle = np.minimum(middle, FARTHER * longest)
    above = np.append(np.cumsum(counts[::-1])[::-1], 0.0)
    if surely:
        cells = np.arange(above.size)[::-1]
        alone = np.append(np.cumsum(clear[::-1])[::-1], 0.0)
        above = np.where(above > _SURE * norms.noise * np.sqrt(cells), above, alone)
    falling = np.minimum.accumulate(np.maximum(above, 0.0))
    part = -np.diff(falling)
    total = float(part.sum())
    return middle, part / total if total > 0.0 else np.full(middle.size, 1.0 / middle.size)
