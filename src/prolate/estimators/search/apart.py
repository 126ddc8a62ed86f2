"""Columns that are a table of their own: a few that reach much farther, or one that rules.

A heavy column among others, as incomes are, is clipped with them where rows of the others end,
and loses most of its mean; its own far values are worth a wide interval, the others' are not. Two
sums, each for a part of the budget, are as precise as one: noise goes with the radius, and the
squares of both radii add up to that of rows of all columns. So heavy columns are a table of their
own (`Portion`), which is searched anew.

So is a column whose unit makes it so large that nearly all of the error is its own, as that of an
income in cents beside ages is: alone, none of the budget for it goes to others, and a single column
that is skewed is clipped to an interval. What the search has found of it is kept.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prolate.arrays import Bools, Floats, Integers
from prolate.curator import Searcher, Table
from prolate.estimators.portion import Portion
from prolate.estimators.present import present_portion
from prolate.estimators.search.shape import Shape
from prolate.theory import RELATIVE

__all__ = [
    "are_heavy",
    "heavy_columns",
    "heavy_portion",
    "ruling_portion",
    "with_shape",
]

_MOST = 3  # columns, or a quarter of all, or one
_RAISED, _ALIKE = 2.5, 1.6  # times as spread as their bulk; others that are not
_FARTHER = 4.0  # spreads
_REACH = 12.0  # spreads that their values are summed within, about
_LEAST_PART, _MOST_PART = 0.02, 0.6  # of the budget
_RULES, _RULED = 0.9, 0.01  # parts of what all columns need: one's that rules; others', at least


def heavy_columns(raised: Floats, reach: Floats, *, wide: Bools) -> Bools:
    """Return which columns are heavy, if the others are not at all.

    Parameters
    ----------
    raised : float64 array of shape (d,)
        How many times as spread columns are as their bulk.
    reach : float64 array of shape (d,)
        How far values were seen, in spreads. Those at two places are seen hardly farther than
        spreads say.
    wide : bool array of shape (d,)
        Which columns' bulk is not a single value.

    Examples
    --------
    >>> wide, reach = np.ones(3, dtype=bool), np.full(3, 8.0)
    >>> heavy_columns(np.array([1.0, 7.0, 1.3]), reach, wide=wide).tolist()
    [False, True, False]
    >>> heavy_columns(np.array([2.0, 7.0, 3.0]), reach, wide=wide).tolist()
    [False, False, False]
    """
    heavy = wide & (raised > _RAISED)
    most = min(_MOST, max(heavy.size // 4, 1))
    alike = np.all(raised[wide & ~heavy] < _ALIKE)
    if np.count_nonzero(heavy) > most or not alike or not np.all(reach[heavy] > _FARTHER):
        return np.zeros(heavy.size, dtype=np.bool_)
    return heavy


def ruling_portion(table: Searcher, shape: Shape, error_norm: float) -> Portion | None:
    """Return the column that rules, with the part of the budget it needs; None if none does."""
    needs = _needs(*_sizes(shape, error_norm))
    if shape.heavy is None or needs.size == 1 or not np.max(needs) > _RULES:
        return None
    return _portion(table, shape, needs, needs > _RULES, most=1.0 - _RULED)


def heavy_portion(table: Searcher, shape: Shape, error_norm: float) -> Portion | None:
    """Return the heavy columns, with the part of the budget they need.

    That makes the errors of both tables together least, about. None if there are none, or if so
    little is at stake that it would not pay for their search.
    """
    if shape.heavy is None or shape.spread.size == 1 or not shape.heavy.any():
        return None
    size, norm = _sizes(shape, error_norm)
    needs = _needs(np.where(shape.heavy, _REACH, 1.0) * size, norm)
    return _portion(table, shape, needs, shape.heavy, most=_MOST_PART)


def _sizes(shape: Shape, error_norm: float) -> tuple[Floats, float]:
    """Return what errors are over, and the p of the l_p error of these that is to be small."""
    if error_norm == RELATIVE:
        return np.ones(shape.spread.size), 2.0
    return shape.spread, error_norm


def _portion(
    table: Searcher, shape: Shape, needs: Floats, apart: Bools, *, most: float
) -> Portion | None:
    """Return some columns with the part of the budget they need, if that pays for a search."""
    part = min(float(np.sum(needs[apart])), most)
    if part < _LEAST_PART:
        return None
    return Portion.of(table, np.flatnonzero(apart), part * table.remaining, sample=shape.sample)


def _needs(size: Floats, error_norm: float) -> Floats:
    """Return the parts of mu**2 that make the l_p error least, of columns summed one by one."""
    needs = (size / np.max(size)) ** (2.0 * error_norm / (error_norm + 2.0))
    return np.asarray(needs / np.sum(needs))


def are_heavy(shape: Shape, index: Integers) -> bool:
    """Return whether any of some columns are heavy."""
    return shape.heavy is not None and bool(shape.heavy[index].any())


def with_shape(portion: Portion, shape: Shape) -> tuple[Table, Shape]:
    """Return a portion, and what is known of it, of which more may be asked.

    Of a single column with missing values, a view of the rows that it is in.
    """
    known = replace(shape.of(portion.index), sample=portion.sampled())
    if known.part is None or portion.index.size > 1:
        return portion, known
    part = float(known.part[0])
    table = present_portion(portion, known.rows, part)
    return table, replace(known, rows=part * known.rows, sample=table.sampled(), part=None)
