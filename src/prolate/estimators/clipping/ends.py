"""Means of columns that are clipped each between ends of its own.

The ends are those of least noise and doubt: what clipping takes off a mean is known, by counts of
both sides, as an expectation, which is given back, and a doubt (`lengths/side_tail.py`). All are
summed together, as bounded columns are (`sum.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prolate.arrays import Bools, Floats, Integers
from prolate.curator import Measurer
from prolate.estimators.clipping.column_sides import ColumnSides
from prolate.estimators.estimate import FoundMean
from prolate.estimators.lengths.clip import rounding_std
from prolate.estimators.lengths.interval import NO_MEAN
from prolate.estimators.search.shape import Shape
from prolate.queries import ClippedSum, radius_over
from prolate.theory import RELATIVE, optimal_scale

__all__ = ["UNITS", "Ends", "best_ends", "mean_between_ends", "reach_of"]

UNITS = 0.25, 9.0
"""Mean squares, in squared spreads, that are believed."""

_ROUNDS = 4  # of finding ends by what all columns need
_USUAL = 3.0  # spreads from the middle to an end, to begin with
_SMALLEST = 1e-3  # spreads from the middle to an end


@dataclass(frozen=True, eq=False)
class Ends:
    """Where columns are clipped, each by itself.

    Attributes
    ----------
    index : int64 array of shape (k,)
        The columns.
    left, right : float64 arrays of shape (k,)
        How far below and above the centers, in spreads.
    lost, doubt, guessed : float64 arrays of shape (k,)
        What that takes off the means, in spreads: what is expected, its variance, and what those
        values may that are farther out than is likely.
    square : float64 array of shape (k,)
        Mean squares around the centers, in squared spreads.
    most : float64 array of shape (k,)
        Part of the rows that are clipped, at most.
    """

    index: Integers
    left: Floats
    right: Floats
    lost: Floats
    doubt: Floats
    guessed: Floats
    square: Floats
    most: Floats

    def of(self, which: Bools) -> Ends:
        """Return those of some of the columns."""
        return Ends(*(each[which] for each in vars(self).values()))

    def sides(self, index: Integers) -> tuple[Floats, Floats]:
        """Return how far below and above the centers some of the columns are clipped."""
        at = np.searchsorted(self.index, index)
        return self.left[at], self.right[at]


def reach_of(left: Floats, right: Floats, *, known: bool) -> Floats:
    """Return how far values are from where they are summed around, at most.

    That is the middle of the ends, if the number of rows is known, or else the center.
    """
    reach = 0.5 * (left + right) if known else np.maximum(left, right)
    return np.asarray(np.maximum(reach, _SMALLEST))


def best_ends(
    sides: ColumnSides,
    size: Floats,
    *,
    bounds: tuple[Integers, Floats, Floats],
    others: float,
    per_row: float,
    known: bool,
) -> Ends:
    """Return the ends that make noise and doubt least, of the l_2 error.

    All columns together have noise (per_row S)**2, where S is the sum of their reaches, so it
    grows by 2 per_row**2 S with each of these.

    Parameters
    ----------
    sides : ColumnSides
    size : float64 array of shape (d,)
        Of the spreads of all columns, over the largest.
    bounds : tuple of an int64 array and two float64 arrays, of shape (k,)
        Columns that end at their public bounds, and how far these are, in spreads.
    others : float
        The sum of the reaches of all other columns.
    per_row : float
        Noise of a mean of values within a ball of radius 1.
    known : bool
        Whether the number of rows is.
    """
    fixed, *far = bounds
    others += float(size[fixed] @ reach_of(*far, known=known))
    total = others + _USUAL * float(np.sum(size[sides.index]))
    found = np.zeros((7, sides.index.size))
    for _ in range(_ROUNDS):
        for i, (low, high) in enumerate(sides.tails):
            reach = reach_of(low.reach[:, np.newaxis], high.reach, known=known)
            price = 2.0 * total / size[sides.index[i]] * per_row**2
            error = price * reach + low.doubt[:, np.newaxis] + high.doubt
            a, b = (int(k) for k in np.unravel_index(int(np.argmin(error)), error.shape))
            found[:, i] = (
                low.reach[a],
                high.reach[b],
                high.lost[b] - low.lost[a],
                high.doubt[b] + low.doubt[a],
                np.hypot(high.guessed[b], low.guessed[a]),
                high.square + low.square,
                high.most[b] + low.most[a],
            )
        total = others + float(size[sides.index] @ reach_of(found[0], found[1], known=known))
    nothing, one = np.zeros((3, fixed.size)), np.ones(fixed.size)
    exact = np.vstack([*far, nothing, one, 0.0 * one])
    index, both = np.append(fixed, sides.index), np.hstack([exact, found])
    order = np.argsort(index)
    return Ends(index[order], *both[:, order])


def mean_between_ends(curator: Measurer, shape: Shape, ends: Ends, error_norm: float) -> FoundMean:
    """Return the mean of the columns that have these ends, with all that is left.

    Parameters
    ----------
    curator : Measurer
        Of these columns.
    shape : Shape
        Of these.
    ends : Ends
    error_norm : float
        The p of the l_p error that is to be small, or `RELATIVE`.
    """
    known, spread = curator.neighbors == "replace", shape.spread
    reach = reach_of(ends.left, ends.right, known=known)
    around = 0.5 * (ends.right - ends.left) if known else np.zeros_like(reach)
    middle = shape.center + around * spread
    if error_norm == RELATIVE:  # to standard deviations
        unit = np.sqrt(np.clip(ends.square, *UNITS))
        scale = spread * unit * np.sqrt(reach / unit)
    else:
        largest = float(np.max(spread))  # a square of a spread may be no float
        scale = largest * optimal_scale(reach * spread / largest, error_norm)
    radius = radius_over(float(np.linalg.norm(reach * spread / scale)), reach.size)
    query = ClippedSum(
        middle,
        scale,
        radius,
        lower=shape.center - ends.left * spread,
        upper=shape.center + ends.right * spread,
        missing=shape.center - middle,
    )
    measured = curator.measure(query, share=curator.remaining, label="mean")
    value = middle + query.unit * measured.values / shape.rows + ends.lost * spread
    off = (value - shape.center) / spread
    doubt = np.hypot(np.sqrt(ends.doubt) * spread, rounding_std(scale, radius))
    return FoundMean(
        value,
        query.unit * measured.noise / shape.rows,
        {
            "radius": radius,
            "clipped_fraction": float(np.max(ends.most)),
            "columns_apart": reach.size,
        },
        variation=np.sqrt(np.maximum(ends.square - off**2, NO_MEAN * ends.square)),
        clipping_std=np.hypot(doubt, ends.guessed * spread),
        guessed=ends.guessed * spread,
    )
