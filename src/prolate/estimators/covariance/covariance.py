"""The private covariance, or correlation, matrix: no bounds needed.

1. Find each column's center and spread (`learn_shape`), and divide by the spreads.
2. Rounds of a rough covariance in coordinates in which the one before is the identity,
   until it is known along every axis or nothing more can be learned: correlated columns
   can have variances along some axes that are far below the noise of the first round.
3. Where columns' or axes' spreads differ much, and axes are many, a covariance in
   coordinates of spreads S**(1/4): best in Frobenius norm (`moment.py`).
4. With the rest, a covariance in coordinates of one spread: best in Mahalanobis norm. The
   answer is the average of the last two measurements, by inverse variance, its eigenvalues
   without what noise adds (`spectrum.py`), and none of them negative.
5. Where the lengths of rows are not those of normal ones, variances also from the squares of
   single columns, which are clipped much later (`diagonal.py`). What the clip takes of long rows
   that are not elliptical is told by a layer of them, and given back (`layer.py`).

Where the noise of d**2 products drowns all correlations at the first sight, steps 2 to 4
give way to: the variances alone, with a part of the budget; all products, with the rest; and
eigenvalues that are drawn together as far as they are noise. The covariance of a single column is
its variance (`variance.py`).

Where every column has public bounds, and these are not much wider than its values, as of flags,
nothing is searched nor clipped (`within.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.curator import Curator
from prolate.errors import listed
from prolate.estimators.covariance.diagonal import squares_part, with_squares
from prolate.estimators.covariance.lengths import Lengths
from prolate.estimators.covariance.matrix import matrix_of
from prolate.estimators.covariance.moment import (
    Frame,
    Moment,
    Standardized,
    combine,
    gram_noise,
    measure_lengths,
    measure_moment,
)
from prolate.estimators.covariance.rough import rough_rounds, whitening
from prolate.estimators.covariance.spectrum import Spectrum
from prolate.estimators.covariance.within import Within
from prolate.estimators.estimate import Estimate
from prolate.estimators.moments import SQUARABLE
from prolate.estimators.present import MISSING, Whole, whole_rows
from prolate.estimators.search.learn import learn_shape
from prolate.estimators.variance import UNSURE, variance
from prolate.queries import ClippedSum

__all__ = ["covariance"]

_FAR = (
    "Values beyond about 1e70 cannot be multiplied here, so the numbers of their columns are "
    "wrong: rescale these columns."
)
_HEAVY = (
    "Some rows are far longer than the others, or clipping may have removed much of them: a few "
    "rows may dominate the variances, and correlations are those of the other rows. Quantiles are "
    "more reliable."
)
_HIDDEN = 0.2  # noise of a column's correlations, in the median of the other columns
_GUESS = 4.0  # the same as `UNSURE`, of what is beside the diagonal
# Noise of variances within public bounds, where values are rare, or some rows far out, that is less
# than what a clip would take.
_RARE, _FAR_ROWS = 0.8, 0.15
_DROWNED = 0.5  # spread of the identity's eigenvalues by noise that leaves only variances
_ROUGH = 0.2  # the same, wanted of a rough round, ...
_LEAST, _MOST = 0.01, 0.08  # ... and its share of what the searches leave
_ROUNDS, _CHEAP = 5, 0.07  # so many at most, or more for this part of what the searches leave
_WORTH = 1.5  # noise in Frobenius norm, over the least, at which step 3 is made
_FEWEST = 5.0  # effective axes: of fewer, lengths differ, and the clip takes too much
_FROBENIUS = 0.2  # its share
_BIAS = 0.3  # of what clipping took: may be wrong in the moment before the last
_VARIANCES = 0.12  # share of the variances alone
_CUT, _NORM = 3.0, 1.3  # spreads at which values are cut for them; radius over sqrt(d)


def covariance(curator: Curator, *, correlation: bool = False) -> Estimate:
    """Return the private covariance of every two columns (divided by n), shape (d, d).

    Parameters
    ----------
    curator : Curator
        All of its remaining budget is spent.
    correlation : bool
        Whether to return correlations instead.
    """
    if curator.dimension == 1 and not correlation:
        return _as_matrix(variance(curator))
    whole = whole_rows(curator)
    found = _nothing(whole) if whole.absent.all() else _of_whole(whole, correlation=correlation)
    return _without(whole.absent, found) if whole.absent.any() else found


def _nothing(whole: Whole) -> Estimate:
    """Return what is known of columns without values."""
    zeros = np.zeros((whole.absent.size, whole.absent.size))
    return Estimate(value=zeros, noise_std=zeros + np.inf, sampling_std=zeros, rows=whole.every)


def _without(absent: Bools, found: Estimate) -> Estimate:
    """Return what is known where some columns have hardly any values."""
    unknown, alone = absent | absent[:, np.newaxis], np.eye(absent.size, dtype=np.bool_)
    return replace(
        found,
        value=np.where(unknown & ~alone, 0.0, found.value),
        noise_std=None if found.noise_std is None else np.where(unknown, np.inf, found.noise_std),
        warnings=tuple(dict.fromkeys((MISSING, *found.warnings))),
    )


def _of_whole(whole: Whole, *, correlation: bool) -> Estimate:
    """Return the covariance of rows of which no value is missing."""
    curator, rows, every = whole.curator, whole.rows, whole.every
    within = Within.of(curator, rows, whole.noise)
    if within is not None and within.pays():
        return _of_bounded(within, every, correlation=correlation)
    _, shape = learn_shape(curator, rows, relative=True)
    spread = np.clip(shape.spread, *SQUARABLE)
    if within is not None and within.pays(shape, most=_RARE if shape.has_rare else 0.0):
        return _of_bounded(within, every, correlation=correlation)
    table = Standardized(
        curator, rows, shape.center, spread, variances=not correlation, guessed=shape.constant
    )
    d, left = shape.spread.size, curator.remaining
    edge = 2.0 * np.sqrt(d) * d * gram_noise(curator, table.rows, left)
    if edge > _DROWNED:
        table, found, lengths = _drowned(table, share=_VARIANCES * left)
        rounds, warnings = 0, (*shape.warnings, _few(edge))
    else:
        part = min(max((edge / _ROUGH) ** 2, _LEAST), _MOST)
        known, rough, rounds = rough_rounds(table, part * left, max(_ROUNDS, int(_CHEAP / part)))
        before = _wide(table, known, rough)
        frame = whitening(known, before.mean)
        lengths = measure_lengths(table, frame, share=curator.remaining)
        if within is not None and lengths.far and within.pays(shape, most=_FAR_ROWS):
            return _of_bounded(within, every, correlation=correlation)
        last = _last(table, frame, lengths)
        found = combine(before, last, bias=_BIAS * (1.0 - before.factor))
        warnings = shape.warnings
    warnings = (*warnings, *shape.single_valued(curator.columns))
    if np.any(shape.spread > SQUARABLE[1]):
        warnings = (*warnings, _FAR)
    matrix = matrix_of(table, found)
    if squares_part(table, lengths) > 0.0:
        matrix = with_squares(matrix, found.mean, lengths)
    correlations = matrix.correlations()
    errors = correlations if correlation else matrix.covariances()
    if edge <= _DROWNED:
        warnings = (*warnings, *_hidden(curator.columns, correlations.noise))
    most = np.where(np.eye(d, dtype=np.bool_), UNSURE, _GUESS)
    if lengths.far or np.any(errors.clipping > most * np.hypot(errors.noise, errors.sampling)):
        warnings = (*warnings, _HEAVY)
    unknown = shape.unknown | shape.unknown[:, np.newaxis]
    return Estimate(
        value=np.where(unknown & ~np.eye(d, dtype=np.bool_), 0.0, errors.value),
        noise_std=np.where(unknown, np.inf, errors.noise),
        sampling_std=errors.sampling,
        clipping_std=errors.clipping,
        rows=every,
        warnings=warnings,
        details={
            "rounds": rounds,
            "radius": found.radius,
            "moment_factor": found.factor,
            "sampling": "as for normal data, times what their products' tails are longer",
            "stretch": float(np.max(matrix.stretch)),
        },
    )


def _of_bounded(within: Within, every: float, *, correlation: bool) -> Estimate:
    """Return the covariance that is measured within public bounds."""
    matrix = within.matrix()
    correlations = matrix.correlations()
    errors = correlations if correlation else matrix.covariances()
    return Estimate(
        value=errors.value,
        noise_std=errors.noise,
        sampling_std=errors.sampling,
        rows=every,
        warnings=_hidden(within.curator.columns, correlations.noise),
        details={
            "clip": "none: within the bounds",
            "sampling": "as for normal data, times what their products' tails are longer",
            "stretch": float(np.max(matrix.stretch)),
        },
    )


def _as_matrix(found: Estimate) -> Estimate:
    """Return the variance of a single column as a matrix."""

    def one(part: Floats | None) -> Floats | None:
        return None if part is None else part.reshape(1, 1)

    return replace(
        found,
        value=found.value.reshape(1, 1),
        noise_std=one(found.noise_std),
        sampling_std=one(found.sampling_std),
        clipping_std=one(found.clipping_std),
    )


def _hidden(names: Sequence[str], noise: Floats) -> tuple[str, ...]:
    """Return what to say of columns whose correlations with most others noise hides."""
    if len(names) == 1:
        return ()
    others = noise[~np.eye(len(names), dtype=np.bool_)].reshape(len(names), -1)
    columns = np.flatnonzero(np.median(others, axis=1) > _HIDDEN)
    if not columns.size:
        return ()
    which = listed([names[j] for j in columns.tolist()], 3)
    return (f"Noise hides most correlations of {which}: their noise_std is above {_HIDDEN:g}.",)


def _few(edge: float) -> str:
    return (
        f"The rows are few for this budget and so many columns: noise spreads the eigenvalues of "
        f"the correlations by {edge:.1f}, so correlations are mostly unknown and drawn towards "
        "what they have in common. More rows, fewer columns or a larger budget would help."
    )


def _wide(table: Standardized, known: Spectrum, rough: Moment) -> Moment:
    """Return a moment that is best in Frobenius norm, or the rough one where it would not help."""
    half = _half_whitening(table, known, rough.mean)
    if half is None:
        return rough
    share = _FROBENIUS * table.curator.remaining
    return measure_moment(table, half, share=share, label="covariance, wide", wide=True)


def _last(table: Standardized, frame: Frame, lengths: Lengths) -> Moment:
    """Return the last moment, and leave what variances apart need."""
    share = (1.0 - squares_part(table, lengths)) * table.curator.remaining
    return measure_moment(table, frame, share=share, label="covariance", lengths=lengths)


def _half_whitening(table: Standardized, known: Spectrum, mean: Floats) -> Frame | None:
    """Return axes of spreads S**(1/4) in the data's units.

    None where they would not help.
    """
    spread = table.spread / table.spread.max()
    size = np.hypot(known.values, known.edge)
    root = spread[:, np.newaxis] * known.vectors * np.sqrt(size)
    vectors, lengths, _ = np.linalg.svd(root)
    lengths = np.maximum(lengths, 1e-12 * lengths[0])
    effective = np.sum(lengths) ** 2 / np.sum(lengths**2)
    if not _FEWEST < effective < spread.size / _WORTH:
        return None
    axes = spread[:, np.newaxis] * vectors / np.sqrt(lengths)
    likely = np.maximum(known.values, 0.25 * known.edge)
    variances = np.sum((known.vectors.T @ axes) ** 2 * likely[:, np.newaxis], axis=0)
    return Frame(axes, variances, mean)


def _drowned(table: Standardized, *, share: float) -> tuple[Standardized, Moment, Lengths]:
    """Return better spreads, from the variances alone, and the products of all columns."""
    curator, spread = table.curator, table.spread
    d, square = spread.size, spread**2
    query = ClippedSum(
        square,
        np.sqrt(2.0) * square,
        _NORM * np.sqrt(d),
        about=table.center,
        lower=table.center - _CUT * spread,
        upper=table.center + _CUT * spread,
    )
    measured = curator.measure(query, share=share, label="variances")
    ratio = 1.0 + query.unit * measured.values / table.rows / square
    noise = float(query.unit[0] * measured.std / table.rows / square[0])
    ratio = np.maximum(ratio, min(noise, 1.0))
    table = replace(table, spread=spread * np.sqrt(ratio))
    frame = Frame.plain(d)
    lengths = measure_lengths(table, frame, share=curator.remaining)
    every = _last(table, frame, lengths)
    value, variance = every.matrix, every.variance / every.axes[0, 0] ** 4
    # The variances are 1 in these units, up to their noise: they are better known from before.
    before, here = (noise / ratio) ** 2, 2.0 * np.diag(variance)
    weight = here / (before + here)
    value[np.diag_indices(d)] = weight + (1.0 - weight) * np.diag(value)
    return table, replace(every, axes=np.eye(d), value=value, variance=variance), lengths
