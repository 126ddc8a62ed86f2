"""What single columns' squares tell of rows whose lengths are not those of normal rows.

Clipped rows lose products as their lengths say only if they are elliptical, and rows far out are
too few to say how long they are. Squares of single columns can be clipped much later for the same
noise (`clipping/squares.py`). A fifth of the last budget goes there, half where rows are far out,
and every row and column of the covariance matrix is scaled: it stays semidefinite, and its
correlations remain. A tenth goes there in any case: one skewed column of many is not seen in the
lengths of rows. If correlations alone are asked for, the squares say only how much they vary.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from prolate.arrays import Floats
from prolate.estimators.clipping.squares import Squares, mean_squares, squares_stretch
from prolate.estimators.covariance.lengths import Lengths
from prolate.estimators.covariance.matrix import Matrix
from prolate.estimators.covariance.moment import Standardized
from prolate.theory import RELATIVE

__all__ = ["squares_part", "with_squares"]

# Shares of the squares, where rows are far out or else unlike normal ones; of how much they vary.
_SQUARES, _UNLIKE_SQUARES, _STRETCH = 0.5, 0.2, 0.02
_USUAL_SQUARES = 0.1  # of rows like normal ones
_FARTHER = 1.5  # times the usual radius, of many columns: one may have a longer tail than others
_SMALLEST = 0.25  # variance around which squares are summed
_CLEAR, _SURE = 2.5, 3.5  # standard deviations of noise; of rows like normal ones
_SAME = 1.5  # of them, by which columns may differ that do not
_MOST_STRETCH = 5.0  # of covariances


def squares_part(table: Standardized, lengths: Lengths) -> float:
    """Return the part of what is left that `with_squares` needs."""
    if not table.variances:
        return _STRETCH if lengths.unlike > 0.0 else 0.0
    if lengths.unlike > 0.0:
        return _SQUARES if lengths.far else _UNLIKE_SQUARES
    return _USUAL_SQUARES


def with_squares(matrix: Matrix, mean: Floats, lengths: Lengths) -> Matrix:
    """Return the matrix with its sampling error, and its variances, by what is left of the budget.

    Parameters
    ----------
    matrix : Matrix
    mean : float64 array of shape (d,)
        Of (row - center) / spread.
    lengths : Lengths
        Those of the rows.
    """
    table, variance = matrix.table, np.diag(matrix.value)
    center = table.center + table.spread * mean
    unit = table.spread**2
    size = np.maximum(variance, _SMALLEST) * unit
    curator, share = table.curator, table.curator.remaining
    if table.variances:
        squares = mean_squares(
            curator,
            center,
            size,
            rows=table.rows,
            share=share,
            error_norm=RELATIVE,
            farther=min(math.sqrt(variance.size / 2.0), _FARTHER),
        )
        outside = lengths.outside if lengths.far else 0.0
        # Of rows like normal ones, products tell more, but of a column that surely lost some.
        usual = lengths.unlike == 0.0 and variance.size > 2
        matrix = _rescaled(matrix, squares.over(unit), outside, usual=usual)
        own = squares.stretch
    else:
        own = np.array([squares_stretch(curator, center, size, rows=table.rows, share=share)])
    # What lengths vary by, beyond single columns, is by their products.
    d, stretch = variance.size, float(np.min(own))
    products = (lengths.fourth * d**2 - 2.0 * d * stretch**2 - d) / max(d * (d - 1.0), 1.0)
    stretches = np.full((d, d), min(math.sqrt(max(products, 1.0)), _MOST_STRETCH))
    np.fill_diagonal(stretches, own)
    return replace(matrix, stretch=stretches)


def _without_noise(moved: Floats, noise: Floats) -> Floats:
    """Return what columns are moved by, drawn together as far as they may differ by noise alone.

    Where correlations are strong, small differences spoil the small eigenvalues.
    """
    common = float(np.median(moved))
    apart = moved - common
    may = np.minimum(_SAME * noise, np.abs(apart))
    return np.asarray(common + apart * (1.0 - (may / np.maximum(np.abs(apart), 1e-300)) ** 2))


def _rescaled(matrix: Matrix, squares: Squares, outside: float, *, usual: bool = False) -> Matrix:
    """Return the matrix with the average of its variances and those of the squares."""
    own, noise = np.diag(matrix.value), np.diag(matrix.noise)
    other = np.maximum(squares.value, 0.0)
    # Products are clipped harder than squares, so they have lost as much, and more where it shows.
    more, doubt = np.maximum(other - own, 0.0), np.hypot(noise, squares.noise_std)
    clear = np.where(squares.long, 0.0, _SURE if usual else _CLEAR)
    more = np.sqrt(np.maximum(more**2 - (clear * doubt) ** 2, 0.0))
    lost = np.max([matrix.clipping, more, outside * own], axis=0)
    first, second = noise**2 + lost**2, squares.noise_std**2
    weight = np.where(usual & (more == 0.0), 0.0, first / (first + second))  # of the squares
    variance = (1.0 - weight) * own + weight * other
    unseen = outside * own - np.maximum(variance - own, 0.0)  # by the squares, too
    clipping = np.maximum((1.0 - weight) * lost + weight * squares.clipping_std, unseen)
    usable = (own > 0.0) & (variance > 0.0)
    before, after = np.where(usable, own, 1.0), np.where(usable, variance, 1.0)
    moved = 0.5 * np.log(after / before)
    of_own = (1.0 / before - (1.0 - weight) / after) * noise
    times = np.exp(
        _without_noise(moved, 0.5 * np.hypot(of_own, weight * squares.noise_std / after))
    )
    both = np.outer(times, times)
    spread = matrix.noise * both
    np.fill_diagonal(spread, np.hypot((1.0 - weight) * noise, weight * squares.noise_std))
    return replace(
        matrix,
        value=matrix.value * both,
        noise=spread,
        k=None if matrix.k is None else matrix.k * both,
        clipping=clipping,
        lost=min(float(np.sum(lost)) / max(float(np.sum(variance)), 1e-300), 1.0),
    )
