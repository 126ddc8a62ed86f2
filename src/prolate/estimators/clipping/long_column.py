"""One skewed column among others that are not: a sum of its own, clipped to an interval.

Of an income beside ages and heights, the longest rows are long by the income, and clipping takes
it. But the tilt is told by all rows, most of which are long by other columns: what the income loses
is foreseen at a half to an eighth of what it is (`loss.py`). So where one column alone shows a
tilt, and what clipping may take from it is much beside the noise, it has a part of the budget for
an interval (`lengths/interval.py`); the others are then as symmetric as they are without it, and
may be clipped harder.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Searcher
from prolate.estimators.clipping.tilt import Tilt
from prolate.estimators.estimate import FoundMean
from prolate.estimators.lengths.beyond import Beyond
from prolate.estimators.lengths.expected import Expected
from prolate.estimators.lengths.interval import skewed_mean
from prolate.estimators.lengths.sides import is_precise
from prolate.estimators.portion import Portion
from prolate.estimators.search.shape import Shape

__all__ = ["LongColumn", "long_column", "two_means"]

Floats = NDArray[np.float64]

_SHOWN = 6.0  # standard deviations of its tilt
_OTHERS_TILT = 0.4  # squared tilt of all others, over its own, at most
_MOST_OF = 0.4  # of the squared length of all rows: else the tilt tells of it
_REACH, _OTHERS = 2.5, 0.5  # spreads beyond root mean squares that rows reach, about
_DEAR = 1.2  # square of the error of two sums, over that of their noise


@dataclass(frozen=True)
class LongColumn:
    """A column, and the part of a budget that its own sum needs."""

    index: int
    part: float


def long_column(
    table: Searcher,
    shape: Shape,
    scale: Floats,
    expected: Expected,
    tilt: Tilt,
    *,
    radius: float,
    share: float,
) -> LongColumn | None:
    """Return the only column that is skewed, if it is better summed by itself.

    Parameters
    ----------
    table : Searcher
    shape : Shape
    scale : float64 array of shape (d,)
    expected : Expected
        Says how long the scaled rows are.
    tilt : Tilt
    radius : float
        Where all columns together would be clipped.
    share : float
        Of mu**2, for their sum.
    """
    size = shape.spread / scale
    unit = float(np.max(size))  # squares of squares of sizes would not be floats
    size, radius = size / unit, radius / unit
    few = size**2 <= _MOST_OF * np.sum(size**2)
    stands = np.where(few, np.abs(tilt.row) / tilt.own, 0.0)
    column = int(np.argmax(stands))
    if not tilt.clear or stands[column] < _SHOWN or shape.part is not None:
        return None
    scaled = expected.unit / scale / unit
    square = (tilt.row * scaled) ** 2 - (tilt.own * scaled) ** 2
    rest = float(np.sum(square) - square[column])
    if rest > _OTHERS_TILT * square[column] or expected.clumps.any():
        return None
    own, all_others = _needs(size, column)
    part = own / (own + all_others)
    length, mass = expected.lengths
    noise = expected.noise * radius / expected.mean_factor(radius * unit) * np.linalg.norm(size)
    risk = size[column] * float(mass @ np.maximum(length / unit - radius, 0.0))
    better = noise**2 + risk**2 > _DEAR * (expected.noise * (own + all_others)) ** 2
    if not better or not is_precise(table, shape.rows, part * share):
        return None
    return LongColumn(column, part)


def _needs(size: Floats, column: int) -> tuple[float, float]:
    """Return about how noisy a column's sum is, and that of the others, in units of any metric."""
    others = np.delete(size, column)
    reach = np.linalg.norm(others) + _OTHERS * np.max(others)
    own = (1.0 + _REACH) * size[column]
    return float(own * size[column]), float(reach * np.linalg.norm(others))


def two_means(
    table: Searcher,
    shape: Shape,
    scale: Floats,
    expected: Expected,
    long: LongColumn,
    *,
    share: float,
    others: Callable[[Portion], FoundMean],
) -> FoundMean:
    """Return the mean of a column by itself and of the others, for a share of mu**2.

    Parameters
    ----------
    table : Searcher
    shape : Shape
        Whose centers are a first mean.
    scale : float64 array of shape (d,)
    expected : Expected
    long : LongColumn
    share : float
    others : callable
        Returns the mean of some columns, by all of their budget.
    """
    share = min(share, table.remaining)
    index, rest = np.array([long.index]), np.delete(np.arange(scale.size), long.index)
    own = Portion.of(table, index, long.part * share, sample=shape.sample)
    size = shape.spread / scale
    alone, unseen, square = skewed_mean(
        own,
        shape.center[index],
        shape.spread[index],
        Beyond.of(expected.norms, shape.rows),
        unit=float(size[long.index]),
        others=float(np.linalg.norm(size[rest])),
        share=1.0,
    )
    guessed = np.hypot(alone.guessed, unseen)
    found = others(Portion.of(table, rest, (1.0 - long.part) * share, sample=shape.sample))

    def both(one: float | Floats, other: Any) -> Floats:
        return np.insert(np.broadcast_to(other, rest.shape), long.index, one)

    return replace(
        found,
        value=both(alone.value, found.value),
        noise_std=both(alone.noise_std, found.noise_std),
        variation=both(math.sqrt(square), found.variation),
        clipping_std=both(np.hypot(alone.doubt, guessed), found.clipping_std),
        guessed=both(guessed, found.guessed),
        details={**found.details, "columns_apart": 1},
    )
