"""Where a few columns of different kinds are best clipped, each by itself, and which are not.

Rows of flags, incomes and heights are not well clipped by their length: the income makes it, the
flags tilt it. Counts of each column's values show where that column is best clipped, and what is
lost there (`lengths/side_tail.py`): a flag at its two values, an income far out on one side. That
costs a part of the budget for each column that goes with the length of its interval, and all of
these add up. Columns that are alike on both sides need less together, clipped by the length of
their rows. And if all are alike, on one side, too, what clipping takes is well foreseen. So these
are clipped together, and other columns are divided as makes noise and doubt of the whole least
(docs/accuracy.md):

- some are clipped between ends of their own: public bounds where they are near, or those of least
  noise and doubt;
- some whose values are nearly all the same are tables of their own, if the counts would hide the
  others;
- the rest are clipped together.
"""

from __future__ import annotations

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.curator import Searcher
from prolate.estimators.clipping.column_sides import measure_column_sides
from prolate.estimators.clipping.division import Columns, Division
from prolate.estimators.search.shape import Shape
from prolate.estimators.shares import one_row_noise, part_for
from prolate.neighbors import radii_apart

__all__ = ["find_kinds"]

_MOST_COLUMNS = 20  # of more, rows clipped together are the better
_SHARE, _LEAST_SHARE = (0.003, 0.08), 0.04  # of the counts: wanted noise, over the rows, and most
_NOISY = 0.0045  # of the rows: counts of so much noise tell too little
_AGAIN, _MOST_AGAIN = 0.06, 0.15  # share of a second count, for each column; of all, at most
_NEAR, _STEPS = 1.3, 0.7  # half of what public bounds are apart, in spreads, or in steps
_UNSURE = 2.0  # times the noise of a first mean
_SHOWN = 6.0  # times the noise of a count: rare values that are so many are counted as others are


def find_kinds(curator: Searcher, shape: Shape, error_norm: float) -> Division | None:
    """Return which columns are best clipped each by itself.

    None if none are, or counts tell too little.

    Parameters
    ----------
    curator : Searcher
    shape : Shape
        Whose sample is asked.
    error_norm : float
        The p of the l_p error that is to be small, or `RELATIVE`.
    """
    d, sample = shape.spread.size, shape.sample
    mostly_rare = shape.first is not None and shape.first.mostly_rare
    if not 2 <= d <= _MOST_COLUMNS or shape.unknown.any() or mostly_rare:
        return None
    bounded = _bounded(shape)
    few = float(np.min(shape.present)) * sample.fraction
    noise = one_row_noise(sample, few, sample.remaining)
    rare = shape.of_rare & ~bounded
    _, if_all = _count_of(int(np.count_nonzero(~bounded)), noise)
    rare &= ~(_rare_parts(shape) > _SHOWN * if_all)
    index = np.flatnonzero(~bounded & ~rare)
    if not index.size:
        return None
    share, noise = _count_of(index.size, noise)
    if noise > _NOISY:
        return None
    sides = measure_column_sides(shape, index, share=share * sample.remaining)
    if sides is None or sides.too_far.any():
        return None
    per_row = radii_apart(curator.neighbors) / curator.mu_of(curator.remaining) / shape.rows
    columns = Columns(
        shape, bounded, rare, error_norm, per_row, known=curator.neighbors == "replace"
    )
    division = columns.divided(sides, doubted=False)  # another count may tell more
    if not division.apart.any():
        return None
    again = columns.worth_again(sides, division)
    if again.any():
        share = min(_AGAIN * np.count_nonzero(again), _MOST_AGAIN)
        sides = sides.again(again, share=share * sample.remaining)
    division = columns.divided(sides)
    return division if division.apart.any() else None


def _count_of(columns: int, noise: float) -> tuple[float, float]:
    """Return the share of a count of columns, and its noise, over the rows.

    Of one cell of a single column, all that is left would buy so much noise.
    """
    noise *= np.sqrt(columns)
    share = max(part_for(noise, *_SHARE), _LEAST_SHARE)
    return share, noise / np.sqrt(share)


def _bounded(shape: Shape) -> Bools:
    """Return which columns end at their public bounds, about."""
    bounds = shape.sample.bounds
    if bounds is None:
        return np.zeros(shape.spread.size, dtype=np.bool_)
    half = 0.5 * bounds[1] - 0.5 * bounds[0]
    near = half < _NEAR * shape.spread
    if shape.first is not None:
        step = np.where(shape.first.rare, shape.first.step, 0.0)
        near |= half < _STEPS * step
    return np.asarray(near)


def _rare_parts(shape: Shape) -> Floats:
    """Return what part of the values others likely are at least; 0 where all may be."""
    first, parts = shape.first, np.zeros(shape.spread.size)
    if first is not None:
        rare = first.rare
        away = np.abs(first.value - first.bulk) - _UNSURE * first.noise
        parts[rare] = away[rare] / first.step[rare]
    return parts
