"""Where a few columns of different kinds are best clipped, each by itself, and which are not.

Rows of flags, incomes and heights are not well clipped by their length: the income makes it, the
flags tilt it. Counts of each column's values show where that column is best clipped, and what is
lost there (`lengths/side_tail.py`): a flag at its two values, an income far out on one side. That
costs a part of the budget for each column that goes with the length of its interval, and all of
these add up. Columns that are alike on both sides need less together, clipped by the length of
their rows. And if all are alike, on one side, too, what clipping takes is well foreseen. So these
are clipped together, and other columns are divided as makes the whole need least
(docs/accuracy.md):

- some are clipped between ends of their own: public bounds where they are near, or those of least
  noise and doubt;
- those whose values are nearly all the same are tables of their own, since the counts hide how far
  the others are;
- the rest are clipped together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Searcher
from prolate.estimators.clipping.column_sides import ColumnSides, measure_column_sides
from prolate.estimators.clipping.ends import UNITS, Ends, best_ends, reach_of
from prolate.estimators.neighbors import radii_apart
from prolate.estimators.search.shape import Shape
from prolate.estimators.shares import one_row_noise, share_for
from prolate.theory import RELATIVE

__all__ = ["Kinds", "find_kinds"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]

_MOST_COLUMNS = 20  # of more, rows clipped together are the better
_SHARE, _LEAST_SHARE = (0.003, 0.08), 0.04  # of the counts: wanted noise, over the rows, and most
_NOISY = 0.0045  # of the rows: counts of so much noise tell too little
_AGAIN, _MOST_AGAIN = 0.06, 0.15  # share of a second count, for each column; of all, at most
_UNSURE, _FAR = 0.5, 8.0  # doubt over the noise, and spreads to an end, that are worth it, ...
_MATTERS = 0.3  # ... of columns that need such a part of what they do on average
_NEAR, _STEPS = 1.3, 0.7  # half of what public bounds are apart, in spreads, or in steps
_DEVIATIONS = 2.5  # of squared lengths, at which rows are clipped together, about
_SKEWED = 1.25  # times how uneven columns are, by which rows clipped together need more
_UNEVEN = 10.0  # times a kurtosis, by how much more uneven a column is than those with it
_ALONE = 1.3  # times half a step, that a column of rare values needs
_LITTLE, _OF_LITTLE = 0.03, 10.0  # of what all need: such a table finds nothing; its kurtosis
_ALIKE, _BETTER = 8.0, 0.9  # kurtoses over each other; what a division needs, over all together
_FEWEST = 1e-6  # part of the rows that have a rare value
_SMALLEST = 1e-100  # size, over the largest


def _usual(square: Floats, uneven: Floats) -> float:
    """Return how uneven columns are on average, by what they add to squared lengths."""
    return float(np.average(uneven, weights=square))


@dataclass(frozen=True, eq=False)
class Kinds:
    """Which columns are clipped each by itself, and which are tables of their own.

    Attributes
    ----------
    ends : Ends
    rare : int64 array
        Columns whose values are nearly all the same.
    part : float
        Of the budget, that all of `ends` need.
    parts : float64 array
        Of the budget, that each of `rare` needs.
    """

    ends: Ends
    rare: Integers
    part: float
    parts: Floats


def find_kinds(curator: Searcher, shape: Shape, error_norm: float) -> Kinds | None:
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
    bounded, rare = _bounded(shape), _rare(shape)
    index = np.flatnonzero(~bounded & ~rare)
    if not index.size:
        return None
    few = float(np.min(shape.present)) * sample.fraction
    noise = np.sqrt(index.size) * one_row_noise(sample, few, sample.remaining)
    share = max(share_for(noise, *_SHARE), _LEAST_SHARE)
    if noise / np.sqrt(share) > _NOISY:
        return None
    sides = measure_column_sides(shape, index, share=share * sample.remaining)
    if sides is None or sides.too_far.any():
        return None
    per_row = radii_apart(curator.neighbors) / curator.mu_of(curator.remaining) / shape.rows
    columns = _Columns(
        shape, bounded, rare, error_norm, per_row, known=curator.neighbors == "replace"
    )
    division = columns.divided(sides)
    if not division.apart.size:
        return None
    again = columns.worth_again(sides, division)
    if again.any():
        share = min(_AGAIN * np.count_nonzero(again), _MOST_AGAIN)
        sides = sides.again(again, share=share * sample.remaining)
        division = columns.divided(sides)
    return division.kinds(rare)


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


def _rare(shape: Shape) -> Bools:
    """Return which columns have so few values that are not all the same."""
    bounded = _bounded(shape)
    if shape.first is None:
        return np.zeros_like(bounded)
    return np.asarray(shape.first.rare & ~bounded)


@dataclass(frozen=True, eq=False)
class _Division:
    """How columns are divided.

    Attributes
    ----------
    ends : Ends
        Of all columns but rare ones.
    size : float64 array of shape (d,)
        Of what errors count in, over the largest.
    needs : float64 array of shape (d,)
        What each column needs by itself.
    total : float
        What all need, so divided.
    apart : int64 array
        The columns that are not clipped together.
    """

    ends: Ends
    size: Floats
    needs: Floats
    total: float
    apart: Integers

    def kinds(self, rare: Bools) -> Kinds | None:
        """Return the division as parts of the budget."""
        if not self.apart.size:
            return None
        ends = self.ends.of(np.isin(self.ends.index, self.apart))
        own = self.apart[rare[self.apart]]
        part = float(np.sum(self.needs[ends.index])) / self.total
        return Kinds(ends, own, part, self.needs[own] / self.total)


@dataclass(frozen=True, eq=False)
class _Columns:
    """What decides how columns are divided, besides their sides.

    Attributes
    ----------
    shape : Shape
    bounded, rare : bool arrays of shape (d,)
    error_norm : float
    per_row : float
        Noise of a mean of values within a ball of radius 1, for all that is left.
    known : bool
        Whether the number of rows is.
    """

    shape: Shape
    bounded: Bools
    rare: Bools
    error_norm: float
    per_row: float
    known: bool

    @property
    def power(self) -> float:
        """Of errors: needs add up for it."""
        norm = 2.0 if self.error_norm == RELATIVE else self.error_norm
        return 2.0 * norm / (norm + 2.0)

    def divided(self, sides: ColumnSides) -> _Division:
        """Return the division that needs least."""
        d, power = self.shape.spread.size, self.power
        size = np.ones(d) if self.error_norm == RELATIVE else self.shape.spread
        size, unit = np.maximum(size / np.max(size), _SMALLEST), np.ones(d)
        reach, kurtosis = self._reach_of_rare(), np.full(d, np.inf)
        ends = self._ends(sides, size, reach)
        unit[sides.index], kurtosis[sides.index] = sides.moments(*ends.sides(sides.index))
        if self.error_norm == RELATIVE:  # to standard deviations, not spreads
            size = 1.0 / np.sqrt(np.clip(unit, *UNITS))
            ends = self._ends(sides, size, reach)
            unit[sides.index], kurtosis[sides.index] = sides.moments(*ends.sides(sides.index))
        reach[ends.index] = reach_of(ends.left, ends.right, known=self.known)
        needs = (size * reach) ** power
        left, right = ends.sides(sides.index)
        uneven = np.zeros(d)
        uneven[sides.index] = np.abs(right - left) / (right + left)
        little = self.rare & (needs < _LITTLE * np.sum(needs))
        together, total = self._together(size**power, unit, kurtosis, uneven, needs, little)
        kurtosis, uneven = self._with_rare(kurtosis, uneven)
        if np.max(kurtosis) < _ALIKE * np.min(kurtosis):
            alike = self._needed(size**power, unit, kurtosis, uneven)
            if total > _BETTER * alike:
                together = np.ones(d, dtype=np.bool_)
        return _Division(ends, size, needs, total, np.flatnonzero(~together))

    def _together(
        self,
        weight: Floats,
        unit: Floats,
        kurtosis: Floats,
        uneven: Floats,
        needs: Floats,
        little: Bools,
    ) -> tuple[Bools, float]:
        """Return which columns are best clipped together, and what all columns then need."""
        order = np.argsort(
            np.where(little, 0.0, kurtosis * (1.0 + _UNEVEN * uneven)), kind="stable"
        )
        kurtosis = np.where(little, _OF_LITTLE, kurtosis)
        least = int(np.count_nonzero(little))
        best, total = np.zeros(weight.size, dtype=np.bool_), float(np.sum(needs))
        if least:
            total = np.inf
        for count in range(least or 2, weight.size + 1):
            chosen = order[:count]
            if not np.all(np.isfinite(kurtosis[chosen])):
                break
            usual = _usual(weight[chosen] * unit[chosen], uneven[chosen])
            needed = self._needed(weight[chosen], unit[chosen], kurtosis[chosen], uneven[chosen])
            needed *= 1.0 + _SKEWED * usual
            needed += float(np.sum(needs)) - float(np.sum(needs[chosen]))
            if needed < total:
                best, total = np.isin(np.arange(weight.size), chosen), needed
        return best, total

    def _needed(self, weight: Floats, unit: Floats, kurtosis: Floats, uneven: Floats) -> float:
        """Return what columns need that are clipped together, as symmetric rows are."""
        square = weight * unit
        odd = 1.0 + _UNEVEN * np.maximum(uneven - _usual(square, uneven), 0.0)
        varies = np.sqrt(np.sum(square**2 * (odd * kurtosis - 1.0)))
        length = np.sqrt(np.sum(square) + _DEVIATIONS * varies)
        noises = float(np.sum(weight)) ** (1.0 - 0.5 * self.power)
        return float(length**self.power * noises)

    def _with_rare(self, kurtosis: Floats, uneven: Floats) -> tuple[Floats, Floats]:
        """Return kurtoses and how uneven columns are, those of rare values as of flags."""
        first = self.shape.first
        if first is None or not self.rare.any():
            return kurtosis, uneven
        away = np.abs(first.value - first.bulk)[self.rare] / first.step[self.rare]
        kurtosis, uneven = kurtosis.copy(), uneven.copy()
        kurtosis[self.rare], uneven[self.rare] = 1.0 / np.clip(away, _FEWEST, 1.0), 1.0
        return kurtosis, uneven

    def _reach_of_rare(self) -> Floats:
        """Return what columns of rare values reach by themselves, in spreads; of others 0."""
        reach, first = np.zeros(self.rare.size), self.shape.first
        if first is not None:
            step = first.step[self.rare] / self.shape.spread[self.rare]
            reach[self.rare] = _ALONE * step * (0.5 if self.known else 1.0)
        return reach

    def _ends(self, sides: ColumnSides, size: Floats, reach: Floats) -> Ends:
        """Return the ends of all columns but rare ones."""
        shape, fixed = self.shape, np.flatnonzero(self.bounded)
        left = right = np.zeros(fixed.size)
        if shape.sample.bounds is not None:
            lower, upper = (each[fixed] for each in shape.sample.bounds)
            center, spread = shape.center[fixed], shape.spread[fixed]
            left, right = (np.maximum(x, 0.0) / spread for x in (center - lower, upper - center))
        return best_ends(
            sides,
            size,
            bounds=(fixed, left, right),
            others=float(size[self.rare] @ reach[self.rare]),
            per_row=self.per_row,
            known=self.known,
        )

    def worth_again(self, sides: ColumnSides, division: _Division) -> Bools:
        """Return which of the counted columns are worth another count.

        Those apart that matter, and whose doubt is much beside the noise, or ends are far.
        """
        left, right = division.ends.sides(sides.index)
        needs, total = division.needs[sides.index], division.total
        reach = reach_of(left, right, known=self.known)
        noise = self.per_row * np.sqrt(reach * total / division.size[sides.index])
        doubt = division.ends.doubt[np.searchsorted(division.ends.index, sides.index)]
        unsure = (np.sqrt(doubt) > _UNSURE * noise) | (np.maximum(left, right) > _FAR)
        matters = needs > _MATTERS * total / division.needs.size
        apart = np.isin(sides.index, division.apart)
        return np.asarray((sides.doubtful | unsure) & matters & apart)
