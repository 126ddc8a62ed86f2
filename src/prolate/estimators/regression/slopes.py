"""Slopes of unclipped rows from moments of clipped ones, and how sure they are.

Where only the features are clipped, least squares has other slopes than on unclipped rows, by a
factor for each axis (`correction.py`). Rows that are shortened as a whole, with their constant and
target, need no correction (`weighted.py`).

The covariance has three parts: noise, as if the noisy matrix were the true one (first order);
an allowance for what the correction may be wrong by; and sampling error, with the same
residual variance for all rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Floats
from prolate.estimators.lengths.norms import MeasuredNorms
from prolate.estimators.regression.bounded import clip_doubt
from prolate.estimators.regression.correction import correction, weights
from prolate.estimators.regression.line import Moments, spread_of_noise
from prolate.estimators.regression.standard import Middles

__all__ = ["Slopes", "true_slopes", "weighted_slopes"]

_EXPLAINED = 2.0  # of the target's variance, that an axis which noise hides may stand for
_SMALLER = 0.1  # of what noise hides, that rows vary by along an axis, at least
_LEAST = 0.02  # of the target's variance, that is always left unexplained
# Part of the correction by which it may be wrong, and how much more where lengths are not
# those of normal rows.
_WRONG, _WRONG_UNLIKE = 0.7, 4.0
# Mean square that clipped normal features have, and the least that is believed of rare ones;
# standard deviations of noise that do not show these.
_USUAL, _LEAST_KEPT, _SURELY = 0.7, 0.25, 2.0


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
    hidden_covariance : float64 array of shape (k + 1, k + 1)
        Covariance of what axes may hold that noise hides, beyond `noise`: the same of all that are
        averaged.
    """

    value: Floats
    noise: Floats
    sampling: Floats
    features: Floats
    mean: Floats
    rest: float
    hidden_covariance: Floats


@dataclass(frozen=True, eq=False)
class _Correction:
    """What the slopes of clipped rows are, beside those of unclipped ones.

    Attributes
    ----------
    factor : float64 array of shape (k,)
        By which they are larger, along each axis.
    doubt : float64 array of shape (k,)
        By which part of the slopes that may be wrong.
    rows, of_slopes : float
        How many unclipped rows would have the same sampling error of the level, and of the slopes
        on features that are as spread as the clipped ones.
    each : float64 array of shape (k,), optional
        By which part the slope of each feature may be wrong.
    together : sequence of float64 arrays of shape (k,)
        By which parts slopes may be wrong, all of them at once.
    variance : float64 array of shape (k,), optional
        Of the features, about, if it is not 1.
    """

    factor: Floats
    doubt: Floats
    rows: float
    of_slopes: float
    each: Floats | None = None
    together: Sequence[Floats] = ()
    variance: Floats | None = None


def weighted_slopes(
    moments: Moments,
    *,
    rows: float,
    radius: float,
    cut: float,
    norms: MeasuredNorms,
    like: Slopes,
    variance: Floats | None = None,
    constant: float = 0.0,
) -> Slopes:
    """Return the slopes of rows that were shortened as a whole, to a radius.

    Parameters
    ----------
    moments : Moments
        Per weight of the rows, which are weighted by f**2.
    rows, radius, cut, norms
        As of `true_slopes`.
    like : Slopes
        What is known of the features: their covariance and mean.
    variance : float64 array of shape (k,), optional
        Of the features, about, if it is not 1.
    constant : float
        If it is not 0, the first feature is this one.
    """
    whole, square, fourth = weights(norms, radius)
    k = moments.mean.size
    none = _Correction(
        np.ones(k),
        np.zeros(k),
        rows * whole,
        rows * whole * square / fourth,
        variance=variance,
    )
    found = _corrected(moments, lambda _: none, cut=cut)
    if constant > 0.0:
        found = _at_zero(found, constant)
    return replace(found, features=like.features, mean=like.mean)


def true_slopes(
    moments: Moments,
    *,
    rows: float,
    radius: float,
    cut: float,
    norms: MeasuredNorms,
    ridge: float = 0.0,
    middles: Middles | None = None,
) -> Slopes:
    """Return the slopes of unclipped rows, from features that were clipped by themselves.

    Parameters
    ----------
    moments : Moments
        Of features clipped to `radius`, and a target cut to -+ `cut`, which may be infinite.
    rows : float
    radius, cut : float
    norms : MeasuredNorms
        Of the features.
    ridge : float
        Added to the variances: shrinks the slopes.
    middles : Middles, optional
        Where some features are around the middles of bounds.
    """
    each, variance = _rare_doubt(moments), None
    together: list[Floats] = []
    if middles is not None:
        of_middles, together = clip_doubt(middles, norms, radius)
        each, variance = np.where(middles.which, of_middles, each), middles.variance

    def of(variances: Floats) -> _Correction:
        factor, unlike, unsure = correction(variances, norms, radius, rows)
        wrong = (_WRONG + _WRONG_UNLIKE * unlike) * (factor - 1.0)
        doubt = np.hypot(wrong, unsure)
        return _Correction(factor, doubt, rows, rows, each, together, variance)

    return _corrected(moments, of, cut=cut, ridge=ridge)


def _corrected(
    moments: Moments,
    correction_of: Callable[[Floats], _Correction],
    *,
    cut: float,
    ridge: float = 0.0,
) -> Slopes:
    """Return slopes, given what clipping does where features are so spread along their axes."""
    k = moments.mean.size
    values, axes = np.linalg.eigh(moments.features)
    raised = np.maximum(values, spread_of_noise(moments)) + ridge
    along = axes.T @ moments.both
    theta = along / raised
    start = np.zeros(k) if moments.start is None else axes.T @ moments.start
    explained = 2.0 * theta @ along - theta @ (values * theta)
    variance = max(moments.target, _LEAST)
    left = max(variance - max(explained, 0.0), _LEAST * variance)
    square, whole = float(theta @ theta), float((start + theta) @ (start + theta))

    clip = correction_of(raised)
    factor, kept = clip.factor, _kept(variance, cut)
    turn = axes / factor
    noise = moments.noise_both**2 + moments.noise**2 * square
    spread = noise * np.eye(k) + moments.noise**2 * np.outer(theta, theta)
    spread /= np.outer(raised, raised) * kept**2
    # Along axes that noise hides, or may hide, the slope is as likely as those of the others.
    surely = np.maximum(values - math.sqrt(2.0) * moments.noise, 0.0)
    prior: Floats | float = _EXPLAINED * variance / max(float(np.sum(raised)), 1e-300)
    if clip.variance is not None:
        prior = _EXPLAINED * variance / k * ((axes**2).T @ (1.0 / clip.variance))
    alike = prior * (1.0 - surely / raised) ** 2
    spread += np.diag(alike + clip.doubt**2 * whole / k)
    # Or such an axis explains as much as the others, however little rows vary along it. And noise
    # that chooses the axes is that of a matrix, whose eigenvalues spread with the root of k.
    surely = np.maximum(values - math.sqrt(max(k, 2)) * moments.noise, 0.0)
    least = np.maximum(surely, _SMALLER * raised)
    alone = _EXPLAINED * variance / (k * np.maximum(least, 1e-300)) * (1.0 - surely / raised) ** 4
    hidden = np.maximum(alone - alike, 0.0)
    slopes = turn @ (start + theta / kept)

    # Where rows lie, if they are symmetric; else clipping moves their mean.
    place = float(np.mean(factor)) * moments.mean
    value = np.append(slopes, moments.target_mean - place @ slopes)
    level = np.vstack([np.eye(k), -place])
    moved = min(1.0, 2.0 - 2.0 / float(np.mean(factor))) * float(np.linalg.norm(place * slopes))
    around = axes @ start - float(np.mean(factor)) * slopes  # times the mean, in the level
    noise_level = moments.noise_target_mean**2 + moved**2
    noise_level += moments.noise_mean**2 * float(around @ around)
    noise_slopes = turn @ spread @ turn.T
    if clip.each is not None:
        noise_slopes[np.diag_indices(k)] += (clip.each * slopes) ** 2
    for part in clip.together:
        noise_slopes += np.outer(part * slopes, part * slopes)
    noisy = level @ noise_slopes @ level.T
    noisy[k, k] += noise_level
    sampling = level @ ((turn * (left / clip.of_slopes / raised)) @ turn.T) @ level.T
    sampling[k, k] += left / clip.rows
    return Slopes(
        value=value,
        noise=noisy,
        sampling=sampling,
        features=(axes * (raised * factor**2)) @ axes.T,
        mean=place,
        rest=left,
        hidden_covariance=level @ ((turn * hidden) @ turn.T) @ level.T,
    )


def _at_zero(found: Slopes, constant: float) -> Slopes:
    """Return slopes and what the target is where features are 0, that of the constant times it."""
    turn = np.roll(np.eye(found.value.size)[:-1], -1, axis=0)
    turn[-1] *= constant
    return replace(
        found,
        value=turn @ found.value,
        noise=turn @ found.noise @ turn.T,
        sampling=turn @ found.sampling @ turn.T,
        hidden_covariance=turn @ found.hidden_covariance @ turn.T,
    )


def _rare_doubt(moments: Moments) -> Floats:
    """Return by which part slopes may be too large of features that few rows deviate in.

    These rows are long by that feature, and so clipped by more than others: to a part c of it, of
    which the clipped feature's mean square is the square, as its deviation is known to be about 1.
    Slopes are too large by 1 / c.
    """
    square = np.diag(moments.features) + _SURELY * math.sqrt(2.0) * moments.noise
    kept = np.sqrt(np.clip(square / _USUAL, _LEAST_KEPT, 1.0))
    return np.asarray(1.0 / kept - 1.0)


def _kept(variance: float, cut: float) -> float:
    """Return E[clip(y) y] / E[y**2] of a normal y whose cut values have this variance."""
    from scipy.special import erf

    if math.isinf(cut):
        return 1.0
    spread = math.sqrt(variance)
    for _ in range(10):
        ratio = cut / spread / math.sqrt(2.0)
        inside = float(erf(ratio))
        square = inside - 2.0 / math.sqrt(math.pi) * ratio * math.exp(-(ratio**2))
        square += 2.0 * ratio**2 * (1.0 - inside)
        spread = min(math.sqrt(variance / max(square, 0.1)), 2.0 * cut)
    return inside
