"""How far out is what a line leaves of the target: noisy counts of both its tails."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from prolate.estimators.lengths.one_column import OneColumn
from prolate.estimators.lengths.side_tail import SideTail
from prolate.estimators.lengths.sides import measure_sides
from prolate.estimators.regression.rows import StandardRows
from prolate.estimators.regression.slopes import Slopes
from prolate.estimators.rotation import TurnedCurator

__all__ = ["ACROSS", "ALONG", "Tails", "left_by", "less_sure"]

ALONG, ACROSS = 1.5, 0.5
"""Length of what a cut takes from products with features, over what it takes off heavy tails.

About: with the line, as tails mostly go with it, and with features beside it.
"""

_OUT = 3.0  # deviations that are far
_FAR = 30.0  # deviations that no normal value is away
_SEEN = 0.25  # of what may be there at most, beyond what likely is: half a deviation of its noise


def left_by(rows: StandardRows, slopes: Slopes) -> tuple[TurnedCurator, float]:
    """Return what slopes leave of the target as a single column, in the target's units.

    And its deviation in standard units.
    """
    standard = rows.standard
    unit = float(standard.scale[-1])
    center = standard.center.copy()
    center[-1] += unit * slopes.value[-1]
    coef = slopes.value[:-1] * unit / standard.scale[:-1]
    matrix = np.append(-coef, 1.0)[:, np.newaxis]
    noise = slopes.noise[:-1, :-1]
    width = math.sqrt(slopes.rest + max(float(np.sum(noise * slopes.features)), 0.0))
    return TurnedCurator(rows.curator, center, matrix, np.array([unit * width])), width


@dataclass(frozen=True, eq=False)
class Tails:
    """Both tails of what a line leaves.

    Attributes
    ----------
    low, high : SideTail
        In its deviations.
    width : float
        Its deviation, in standard units, as cuts are.
    """

    low: SideTail
    high: SideTail
    width: float

    @classmethod
    def measure(cls, rows: StandardRows, slopes: Slopes, *, share: float) -> Tails:
        """Return what counts tell of some rows, for a share of mu**2."""
        left, width = left_by(rows, slopes)
        column = OneColumn(left, rows.count, np.zeros(1), left.spread)
        return cls(*measure_sides(column, share=share), width)

    def moved(self, cut: float) -> tuple[float, float]:
        """Return what a cut at -+ `cut` likely takes off the mean, squared, and its variance."""
        lost, doubt = self._lost(cut)
        return self.width**2 * (lost[1] - lost[0]) ** 2, self.width**2 * (doubt[0] + doubt[1])

    def taken(self, cut: float) -> tuple[float, float]:
        """Return what a cut likely takes off both sides together, and its variance."""
        lost, doubt = self._lost(cut)
        return self.width * (lost[0] + lost[1]), self.width**2 * (doubt[0] + doubt[1])

    def more(self, cut: float) -> tuple[float, float]:
        """Return by how much more a cut takes than off normal values, and its variance."""
        from scipy.special import ndtr

        lost, doubt = self._lost(cut)
        at = min(cut / self.width, _FAR)
        normal = math.exp(-0.5 * at**2) / math.sqrt(2.0 * math.pi) - at * float(ndtr(-at))
        more = max(lost[0] + lost[1] - 2.0 * normal, 0.0)
        return self.width * more, self.width**2 * (doubt[0] + doubt[1])

    def surely_more(self, cut: float) -> float:
        """Return by how much more a cut takes than off normal values, as far as that is sure."""
        more, doubt = self.more(cut)
        return more**3 / max(more**2 + doubt, 1e-300)

    @property
    def stand_out(self) -> bool:
        """Whether more rows are far out than normal ones, by more than noise."""
        from scipy.special import ndtr

        sides = self.low, self.high
        beyond, most = (
            sum(
                float(np.interp(_OUT, one.reach, each))
                for one, each in zip(sides, both, strict=True)
            )
            for both in ([one.beyond for one in sides], [one.most for one in sides])
        )
        return beyond - 2.0 * float(ndtr(-_OUT)) > _SEEN * (most - beyond)

    def beside(self, slopes: Slopes, cut: float, other: float) -> Slopes:
        """Return slopes of a target that is cut at one place, as those of one cut at another.

        They are as much less sure as the places may differ by.
        """
        return less_sure(slopes, self.surely_more(cut) - self.surely_more(other))

    def _lost(self, cut: float) -> tuple[list[float], list[float]]:
        at, sides = cut / self.width, (self.low, self.high)
        return (
            [float(np.interp(at, one.reach, one.lost)) for one in sides],
            [float(np.interp(at, one.reach, one.doubt)) for one in sides],
        )


def less_sure(slopes: Slopes, more: float) -> Slopes:
    """Return slopes from which a cut may have taken what it does where it takes so much more."""
    k, noise = slopes.mean.size, slopes.noise.copy()
    own = slopes.value[:k]
    line = slopes.features @ own
    square = max(float(line @ line), 1e-300)
    noise[:k, :k] += (ALONG * more) ** 2 * np.outer(own, own) / square
    noise[:k, :k] += (ACROSS * more) ** 2 * np.linalg.pinv(slopes.features, hermitian=True)
    return replace(slopes, noise=noise)
