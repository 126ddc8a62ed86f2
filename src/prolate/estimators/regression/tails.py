"""How far out is what a line leaves of the target: noisy counts of both its tails."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator
from prolate.estimators.lengths.side_tail import SideTail
from prolate.estimators.lengths.sides import measure_sides
from prolate.estimators.regression.slopes import Slopes
from prolate.estimators.regression.standard import Standard
from prolate.estimators.rotation import TurnedCurator

__all__ = ["Tails", "left_by"]

Floats = NDArray[np.float64]


def left_by(curator: Curator, standard: Standard, slopes: Slopes) -> tuple[TurnedCurator, float]:
    """Return what slopes leave of the target as a single column, in the target's units.

    And its deviation in standard units.
    """
    unit = float(standard.scale[-1])
    center = standard.center.copy()
    center[-1] += unit * slopes.value[-1]
    coef = slopes.value[:-1] * unit / standard.scale[:-1]
    matrix = np.append(-coef, 1.0)[:, np.newaxis]
    noise = slopes.noise[:-1, :-1]
    width = math.sqrt(slopes.rest + max(float(np.sum(noise * slopes.features)), 0.0))
    return TurnedCurator(curator, center, matrix, np.array([unit * width])), width


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
    def measure(
        cls, sample: Curator, rows: float, standard: Standard, slopes: Slopes, *, share: float
    ) -> Tails:
        """Return what counts tell of so many rows, for a share of mu**2."""
        left, width = left_by(sample, standard, slopes)
        low, high = measure_sides(left, np.zeros(1), left.spread, rows, share=share)
        return cls(low, high, width)

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
        at = cut / self.width
        normal = math.exp(-0.5 * at**2) / math.sqrt(2.0 * math.pi) - at * float(ndtr(-at))
        more = max(lost[0] + lost[1] - 2.0 * normal, 0.0)
        return self.width * more, self.width**2 * (doubt[0] + doubt[1])

    def surely_more(self, cut: float) -> float:
        """Return by how much more a cut takes than off normal values, as far as that is sure."""
        more, doubt = self.more(cut)
        return more**3 / max(more**2 + doubt, 1e-300)

    def _lost(self, cut: float) -> tuple[list[float], list[float]]:
        at, sides = cut / self.width, (self.low, self.high)
        return (
            [float(np.interp(at, one.reach, one.lost)) for one in sides],
            [float(np.interp(at, one.reach, one.doubt)) for one in sides],
        )
