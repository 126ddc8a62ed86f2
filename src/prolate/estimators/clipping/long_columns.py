"""A few skewed columns among others that are not: sums of their own, clipped to intervals.

Of an income beside ages and heights, the longest rows are long by the income, and clipping takes
it. But the tilt is told by all rows, most of which are long by other columns: what the income loses
is foreseen at a half to an eighth of what it is (`loss.py`). So where few columns alone show a
tilt, and what clipping may take from them is much beside the noise, each has a part of the budget
for an interval (`lengths/interval.py`); the others are then as symmetric as they are without these,
and may be clipped harder. Flags tilt, too, but end where their other value is: beyond it, they lose
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Bools, Floats, Integers
from prolate.curator import Searcher
from prolate.estimators.clipping.tilt import Tilt
from prolate.estimators.estimate import FoundMean
from prolate.estimators.joined import scattered
from prolate.estimators.lengths.beyond import Beyond
from prolate.estimators.lengths.expected import Expected
from prolate.estimators.lengths.interval import skewed_mean
from prolate.estimators.lengths.one_column import OneColumn
from prolate.estimators.lengths.sides import is_precise
from prolate.estimators.portion import LEAST, Portion
from prolate.estimators.search.apart import with_shape
from prolate.estimators.search.shape import Shape

__all__ = ["LongColumns", "long_columns", "means_apart"]

_SHOWN = 6.0  # standard deviations of its tilt
_MOST = 2  # such columns: of several, the tilt foretells what they lose
_OTHERS_TILT = 0.4  # squared tilt of all others, over that of each of these, at most
_MOST_OF = 0.8  # of the squared length of all rows: else the tilt tells of it
_REACH, _OTHERS = 2.5, 0.5  # spreads beyond root mean squares that rows reach, about
_DEAR = 1.2  # square of the error of all sums, over that of their noise


@dataclass(frozen=True)
class LongColumns:
    """Columns that are each summed by themselves.

    Attributes
    ----------
    index : int64 array of shape (k,)
        In order.
    part : float64 array of shape (k,)
        Of a budget, that each needs.
    """

    index: Integers
    part: Floats


def long_columns(
    table: Searcher, shape: Shape, expected: Expected, tilt: Tilt, *, radius: float, share: float
) -> LongColumns | None:
    """Return the only columns that are skewed, if they are better summed each by itself.

    Parameters
    ----------
    table : Searcher
    shape : Shape
    expected : Expected
        Says how long the scaled rows are.
    tilt : Tilt
    radius : float
        Where all columns together would be clipped.
    share : float
        Of mu**2, for their sum.
    """
    scale = expected.scale
    size = shape.spread / scale
    unit = float(np.max(size))  # squares of squares of sizes would not be floats
    size, radius = size / unit, radius / unit
    ends = _end_within(shape, scale * unit, radius)
    stands = np.abs(tilt.row) / tilt.own
    stands[ends | (size**2 > _MOST_OF * np.sum(size**2))] = 0.0
    if not tilt.clear or stands.max() < _SHOWN or (expected.clumps.any() and not ends.any()):
        return None
    scaled = expected.unit / scale / unit
    square = np.where(ends, 0.0, (tilt.row * scaled) ** 2 - (tilt.own * scaled) ** 2)
    length, mass = expected.lengths
    beyond = float(mass @ np.maximum(length / unit - radius, 0.0))
    noise = expected.noise * radius / expected.mean_factor(radius * unit) * np.linalg.norm(size)
    best, least = None, math.inf
    most = min(_MOST, int(np.count_nonzero(stands >= _SHOWN)), size.size - 1)
    for count in range(1, most + 1):
        index = np.sort(np.argsort(-stands)[:count])
        others = float(np.sum(square) - np.sum(square[index]))
        if others > _OTHERS_TILT * np.min(square[index]):
            continue
        own, all_others = _needs(size, index)
        total = float(np.sum(own)) + all_others
        # What they lose together is shared as their tilts are.
        tilted = np.sqrt(np.maximum(square[index], 0.0))
        risk = beyond * float(np.linalg.norm(size[index] * tilted / np.sum(tilted)))
        better = noise**2 + risk**2 > _DEAR * (expected.noise * total) ** 2
        part = own / total
        # The more columns, the surer: they would be as well foreseen together.
        each = float(part.min()) * share / count
        precise = is_precise(table, float(np.min(shape.present)), each)
        if better and precise and total < least:
            best, least = LongColumns(index, part), total
    return best


def _end_within(shape: Shape, scale: Floats, radius: float) -> Bools:
    """Return which columns are flags whose rows, by these alone, are within a radius."""
    first = shape.first
    if first is None or first.several:
        return np.zeros(scale.size, dtype=np.bool_)
    return first.rare & (np.nan_to_num(first.step) / scale < radius)


def _needs(size: Floats, index: Integers) -> tuple[Floats, float]:
    """Return about how noisy some columns' sums are, and that of the others, in any metric."""
    others = np.delete(size, index)
    reach = np.linalg.norm(others) + _OTHERS * np.max(others)
    own, together = (1.0 + _REACH) * size[index] ** 2, float(reach * np.linalg.norm(others))
    least = LEAST * (float(np.sum(own)) + together)
    return np.maximum(own, least), max(together, least)


def means_apart(
    table: Searcher,
    shape: Shape,
    expected: Expected,
    long: LongColumns,
    *,
    share: float,
    others: Callable[[Searcher, Shape, Floats], FoundMean],
) -> FoundMean:
    """Return the mean of some columns each by itself and of the others, for a share of mu**2.

    Parameters
    ----------
    table : Searcher
    shape : Shape
        Whose centers are a first mean.
    expected : Expected
    long : LongColumns
    share : float
    others : callable
        Returns the mean of the others, of which a table, a shape and scales are given, by all of
        their budget.
    """
    share = min(share, table.remaining)
    scale = expected.scale
    size = shape.spread / scale
    places: list[Integers] = []
    parts: list[tuple[Floats | float, ...]] = []
    for column, part in zip(long.index.tolist(), long.part.tolist(), strict=True):
        portion = Portion.of(table, np.array([column]), part * share, sample=shape.sample)
        own, known = with_shape(portion, shape)
        alone, unseen, square = skewed_mean(
            OneColumn(own, known.rows, known.center, known.spread),
            Beyond.of(expected.norms, known.rows),
            unit=float(size[column]),
            others=float(np.linalg.norm(np.delete(size, column))),
            share=1.0,
        )
        guessed = np.hypot(alone.guessed, unseen)
        doubt = np.hypot(alone.doubt, guessed)
        places.append(portion.index)
        parts.append((alone.value, alone.noise_std, math.sqrt(square), doubt, guessed))
    rest = np.delete(np.arange(scale.size), long.index)
    left = (1.0 - float(np.sum(long.part))) * share
    portion = Portion.of(table, rest, left, sample=shape.sample)
    found = others(*with_shape(portion, shape), scale[rest])
    places.append(rest)
    losses = (0.0 if each is None else each for each in (found.clipping_std, found.guessed))
    parts.append((found.value, found.noise_std, found.variation, *losses))
    value, noise, variation, clipping, guessed = (
        scattered(places, each) for each in zip(*parts, strict=True)
    )
    return replace(
        found,
        value=value,
        noise_std=noise,
        variation=variation,
        clipping_std=clipping,
        guessed=guessed,
        details={**found.details, "columns_apart": long.index.size},
    )
