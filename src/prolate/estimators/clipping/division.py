"""How a few columns are best divided: clipped between ends of their own, or all together.

Clipped each by itself, columns need parts of the budget that go with the lengths of their
intervals, and add up. Clipped together, those that are alike on both sides need less, and tails on
one side more. What clipping takes beyond what counts foresee is a doubt, which counts as noise
does. Columns whose rare values hide in the noise of counts have no such ends: by themselves, they
are tables of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prolate.arrays import Bools, Floats, Integers
from prolate.estimators.clipping.column_sides import ColumnSides
from prolate.estimators.clipping.ends import UNITS, Ends, best_ends, reach_of
from prolate.estimators.portion import LEAST
from prolate.estimators.search.shape import Shape
from prolate.theory import RELATIVE

__all__ = ["Columns", "Division"]

_UNSURE, _FAR = 0.5, 8.0  # doubt over the noise, and spreads to an end, that are worth it, ...
_MATTERS = 0.3  # ... of columns that need such a part of what they do on average
_DEVIATIONS = 2.5  # of squared lengths, at which rows are clipped together, about
_SKEWED = 1.25  # times how uneven columns are, by which rows clipped together need more
_UNEVEN = 10.0  # times a kurtosis, by how much more uneven a column is than those with it
_ALONE = 1.3  # times half a step, that a column of rare values needs
_LITTLE, _OF_LITTLE = 0.03, 10.0  # of what all need: such a table finds nothing; its kurtosis
_ALIKE, _BETTER = 8.0, 0.9  # kurtoses over each other; what a division needs, over all together
_SHOWN, _LIKELY = 30.0, 1.0  # noises of counts that show a part of the rows; of a first mean
_MOST, _OF_ALL = 0.1, 0.25  # of the budget, to show a column's rare values; all that are hidden
_FEWEST = 1e-6  # part of the rows that have a rare value
_SMALLEST = 1e-100  # size, over the largest


@dataclass(frozen=True, eq=False)
class Division:
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
    apart : bool array of shape (d,)
        Which columns are not clipped together.
    """

    ends: Ends
    size: Floats
    needs: Floats
    total: float
    apart: Bools

    @property
    def ends_apart(self) -> Ends:
        """Those of the columns that are not clipped together."""
        return self.ends.of(self.apart[self.ends.index])

    @property
    def rare_apart(self) -> Integers:
        """Those of the columns that have no ends."""
        return np.setdiff1d(np.flatnonzero(self.apart), self.ends.index)

    def part_of(self, index: Integers) -> float:
        """Return the part of the budget that some of the columns need; all leave some to others."""
        part = float(np.sum(self.needs[index])) / self.total
        return (part + LEAST * index.size) / (1.0 + LEAST * (self.needs.size + 1))


@dataclass(frozen=True, eq=False)
class Columns:
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

    def divided(self, sides: ColumnSides, *, doubted: bool = True) -> Division:
        """Return the division of least noise and, unless it does not count, doubt."""
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
        doubt = np.zeros(d)
        if doubted:
            doubt[ends.index] = size[ends.index] ** 2 * ends.doubt
        needs = np.maximum(needs, self._least_parts() * np.sum(needs))
        little = self.rare & (needs < _LITTLE * np.sum(needs))
        apart, total = self._apart(size**power, unit, kurtosis, uneven, needs, doubt, little)
        kurtosis, uneven = self._with_rare(kurtosis, uneven)
        if np.max(kurtosis) < _ALIKE * np.min(kurtosis):
            alike = self._needed(size**power, unit, kurtosis, uneven)
            if self._with_doubt(total, doubt[apart]) > _BETTER * alike:
                apart = np.zeros(d, dtype=np.bool_)
        return Division(ends, size, needs, total, apart)

    def _apart(
        self,
        weight: Floats,
        unit: Floats,
        kurtosis: Floats,
        uneven: Floats,
        needs: Floats,
        doubt: Floats,
        little: Bools,
    ) -> tuple[Bools, float]:
        """Return which columns are best not clipped together, and what all columns then need.

        Noise and doubt decide; only noise goes with what they need.
        """
        order = np.argsort(
            np.where(little, 0.0, kurtosis * (1.0 + _UNEVEN * uneven)), kind="stable"
        )
        kurtosis = np.where(little, _OF_LITTLE, kurtosis)
        fewest, whole = int(np.count_nonzero(little)), float(np.sum(needs))
        best, total, least = np.ones(weight.size, dtype=np.bool_), whole, np.inf
        if not fewest:
            least = self._with_doubt(total, doubt)
        for count in range(fewest or 2, weight.size + 1):
            chosen = order[:count]
            if not np.all(np.isfinite(kurtosis[chosen])):
                break
            apart = ~np.isin(np.arange(weight.size), chosen)
            usual = _usual(weight[chosen] * unit[chosen], uneven[chosen])
            needed = self._needed(weight[chosen], unit[chosen], kurtosis[chosen], uneven[chosen])
            needed *= 1.0 + _SKEWED * usual
            needed += whole - float(np.sum(needs[chosen]))
            with_doubt = self._with_doubt(needed, doubt[apart])
            if with_doubt < least:
                best, total, least = apart, needed, with_doubt
        return best, total

    def _with_doubt(self, needed: float, doubt: Floats) -> float:
        """Return what would have as much noise as what columns need, and their doubts, have."""
        square = needed ** (2.0 / self.power) + float(np.sum(doubt)) / self.per_row**2
        return float(square ** (0.5 * self.power))

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

    def _least_parts(self) -> Floats:
        """Return what parts of the budget show the values of rare columns; of others 0.

        However little they count for the error, no column is lost.
        """
        parts, first = np.zeros(self.rare.size), self.shape.first
        if first is None:
            return parts
        away = np.abs(first.value - first.bulk)
        some = self.rare & (away > _LIKELY * first.noise)
        one_row = self.per_row * (np.sqrt(0.5) if self.known else 1.0)
        shown = _SHOWN * one_row * first.step[some] / (away - first.noise)[some]
        parts[some] = np.minimum(shown**2, _MOST)
        return parts * min(1.0, _OF_ALL / max(float(np.sum(parts)), _FEWEST))

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

    def worth_again(self, sides: ColumnSides, division: Division) -> Bools:
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
        apart = division.apart[sides.index]
        return np.asarray((sides.doubtful | unsure) & matters & apart)


def _usual(square: Floats, uneven: Floats) -> float:
    """Return how uneven columns are on average, by what they add to squared lengths."""
    return float(np.average(uneven, weights=square))
