"""What clipping takes off the mean of skewed rows: so that it can be given back.

Long rows of skewed columns point to one side, and the longer they are, the more they do: about

    E[y | |y|] = a (|y| - E |y|),

along a direction that the tilted sum shows (`tilt.py`), with the a that gives it. Exponential,
gamma, log-normal, Weibull and Pareto columns, two or hundreds, alike or not, lose by clipping
what this says within a third or so. Less skewed ones lose up to twice as much, since only their
longest rows point to that side: it is told by the length of the mean tilted row. Where that is
hardly tilted, rows may as well point to one side and, farther out, to the other, as amounts with
many zeros do: then nothing is given back, but for what single columns' tails tell
(`column_tails.py`).

How long the rows are that noise hides is taken from the curves that their counts make likely
(`Expected.tails`): an expectation, which is given back, and a doubt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats
from prolate.estimators.clipping.column_tails import ColumnTails
from prolate.estimators.clipping.tilt import Tilt
from prolate.estimators.lengths.expected import Expected, Radii, kept_parts
from prolate.parallel import computed_once

__all__ = ["Loss"]

_WRONG, _FEW = 0.5, 4.0  # of what is lost: rows of a few columns are not quite like that, ...
_VERY_WRONG = 1.5  # ... and of many still less
_USUAL, _POWER = 0.54, 1.2  # tilt of rows that lose just that, over the most; as a power of it, ...
_LEAST, _MOST = 0.8, 2.5  # ... others lose more or less: if more than that, it is not known, ...
_FARTHEST = 4.0  # ... but may be as much as this
_LEAST_GAIN = 1e-6  # of the tilted weight: rows that all seem equally long show nothing


@dataclass(frozen=True, eq=False)
class Loss:
    """What clipping skewed rows to a radius takes off their mean.

    Attributes
    ----------
    expected : Expected
    tilt : Tilt
    tails : ColumnTails, optional
        What single columns lose, where the tilt does not foresee it.
    """

    expected: Expected
    tilt: Tilt
    tails: ColumnTails | None = None

    @computed_once
    def row(self) -> Floats:
        """The mean tilted row in the data's unit, without the part that is likely noise."""
        row, noise = self.tilt.row, self.tilt.row_noise
        return self.expected.unit * (1.0 - noise**2 / float(np.sum(row**2))) * row

    @computed_once
    def times(self) -> float:
        """What rows lose, over what they would if they pointed aside in proportion."""
        if self.expected.clumps.any():
            return 1.0
        length, mass = self.expected.lengths
        scale = self.expected.scale
        row, each = self.row / scale, self.expected.spread / scale
        tilted = float(np.hypot.reduce(row))  # whose squares may vanish
        if not tilted > 0.0:
            return math.inf
        square = (each / np.max(each)) ** 2
        columns = float(np.sum(square)) / float(np.sum((row / tilted) ** 2 * square))
        most = float(mass @ (length * np.abs(self.tilt.measured(length))))
        return max(_LEAST, math.pow(_USUAL * most / (tilted * math.sqrt(columns)), _POWER))

    @computed_once
    def foreseen(self) -> bool:
        """Whether rows are skewed enough to say what they lose."""
        return self.tilt.clear and self.times < _MOST

    @computed_once
    def _moments(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return parts of lengths times their excess to the power 0, 1 and 2, and the slopes."""
        length, mass, _ = self.expected.tails
        excess = length / (mass @ length)[:, np.newaxis] - 1.0
        clumps = int(np.count_nonzero(self.expected.clumps))
        if clumps:  # these rows point aside, and no others
            excess[:, :-clumps] = 0.0
            excess[:, -clumps:] += 1.0
        first = mass * excess
        gain = np.maximum(first @ self.tilt.measured(length), _LEAST_GAIN)
        slope = (min(self.times, _FARTHEST) if self.tilt.clear else 1.0) / gain
        if self._tilted > 0.0:  # no row points aside by more than its length
            most = mass @ length
            if self.foreseen and not clumps:  # in root mean square
                varied = np.maximum(np.sum(first * excess, axis=1), 1e-300)
                most = np.sqrt(mass @ length**2 / varied)
            slope = np.minimum(slope, most / self._tilted)
        return mass, first, first * excess, slope

    @computed_once
    def _tilted(self) -> float:
        """Scaled length that the mean tilted row likely has."""
        if self.foreseen:
            return float(np.hypot.reduce(self.row / self.expected.scale))
        along = self.expected.unit * self.expected.along
        return math.sqrt(self.tilt.square) * float(np.hypot.reduce(along / self.expected.scale))

    @computed_once
    def _wrong(self) -> float:
        """How wrong what is lost may be, over it.

        The more, the more columns make rows long, and the more of it only the longest rows lose.
        """
        wrong = min(_WRONG * math.sqrt(max(self.expected.columns / _FEW, 1.0)), _VERY_WRONG)
        return wrong * max(self.times, 1.0)

    def _slopes(self, radius: Radii) -> tuple[Radii, Radii]:
        """Return what is lost, over the mean tilted row, and its variance."""
        length, _, weight = self.expected.tails
        mass, first, second, slope = self._moments
        kept = kept_parts(radius, length)
        factor = kept @ mass.T
        each = slope * (first.sum(axis=1) - (kept @ first.T) / factor)
        lost: Radii = each @ weight
        # Rows are a sample of what the curves say, too.
        chance = second.sum(axis=1) - 2.0 * (kept @ second.T) / factor
        chance = slope**2 * (chance + (kept**2 @ second.T) / factor**2) / self.expected.rows
        apart = each - np.expand_dims(lost, -1)
        variance: Radii = (apart**2 + np.maximum(chance, 0.0)) @ weight
        return lost, variance

    def lost(self, radius: float) -> Floats:
        """Return what clipping to a radius likely takes off the mean, in the data's unit.

        Nothing, where that is not foreseen, nor told by tails.
        """
        if self.foreseen:
            return self._slopes(radius)[0] * self.row
        return np.zeros(self.row.size) if self.tails is None else self.tails.lost(radius)[0]

    def doubt_square(self, radius: Radii) -> Radii:
        """Return the squared l2 norm of what that is wrong by, in `Expected.unit`."""
        slope, variance = self._slopes(radius)
        if not self.foreseen:
            return self.tilt.square * (slope**2 + variance)
        square, noise = float(np.sum(self.tilt.row**2)), self.tilt.row_noise**2
        left = noise + self._wrong**2 * max(square - noise, 0.0)
        return left * slope**2 + square * variance
