"""What clipping may have taken off a mean, beyond what is seen: an allowance for intervals.

The radius is chosen so that few rows are beyond it, as far as the noise of their count
lets see. Symmetric rows lose nothing there, but skewed ones do, all on one side. How skewed
rows are is the tilt's bias at a radius where many are clipped, over what they would lose
there if all of them were on one side. How many are farther out is extrapolated from the
part of the tail that is surely seen, as a power: tails of finite moments fall faster, so
that is rather too much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.estimators.clip import Norms
from prolate.estimators.expected import Expected, Tilt

__all__ = [
    "SKEWED",
    "Allowance",
    "Beyond",
    "allowance_of_difference",
    "allowance_of_mean",
    "lost_part",
    "stretch_beyond",
]

Floats = NDArray[np.float64]

SKEWED = (
    "The rows are skewed, and too few for this budget to show what clipping takes from their "
    "mean: its intervals are made wider by a guess, and may still be too narrow. More rows or a "
    "larger budget would help, and quantiles are surer."
)
"""The warning where intervals rest on what was not seen."""

_SURE = 3.0  # standard deviations that a count must exceed to be seen
_TOP = 0.6  # at most this part of the rows is the tail
_POWERS = (1.6, 30.0)  # of the tail
_UNSEEN_POWER = 2.0  # where hardly anything of it is seen
_USUAL_POWER = 2.2  # where it is only seen that there is one
_PART = 0.6  # of what may be lost, as a standard deviation
_KNOWN = 2.0  # times the bias that was extrapolated, in columns that show it themselves
_MOST = 12.0  # times the noise, or a typical length: wider intervals say nothing
_MOST_STRETCH = 10.0
_STEPS = 200  # of an integral


@dataclass(frozen=True, eq=False)
class Beyond:
    """The tail of the rows' lengths, a power's beyond a radius where it is surely seen.

    Attributes
    ----------
    norms : Norms
    rows : float
    start : float
        The farthest edge that rows are surely beyond.
    part : float
        Part of the rows that are.
    power : float
        Beyond, the part falls as radius**-power.
    """

    norms: Norms
    rows: float
    start: float
    part: float
    power: float

    @classmethod
    def of(cls, norms: Norms, rows: float) -> Beyond:
        """Return the tail that a histogram of norms shows."""
        edges, above = norms.edges, norms.above
        falling = np.maximum.accumulate(above[::-1])[::-1]
        sure = np.flatnonzero(falling > _SURE * _noise(norms))
        tail = sure[falling[sure] < _TOP * rows]
        cell = int(tail[-1] if tail.size else sure[-1] if sure.size else 0)
        start, part = float(edges[cell]), min(max(float(falling[cell]) / rows, 1.0 / rows), 0.9)
        middle = float(np.interp(-0.5 * rows, -falling, edges))
        power = _UNSEEN_POWER
        if part < 0.45 and start > 1.05 * middle:
            power = math.log(0.5 / part) / math.log(start / middle)
        return cls(norms, rows, start, part, float(np.clip(power, *_POWERS)))

    def fraction(self, radius: float) -> float:
        """Return about what part of the rows is beyond a radius, at most what may be there."""
        edges = self.norms.edges
        seen = np.maximum.accumulate(np.maximum(self.norms.above, 0.0)[::-1])[::-1]
        if radius < self.start:
            return float(np.interp(radius, edges, seen)) / self.rows
        most = float(np.interp(radius, edges, seen + _noise(self.norms)))
        return float(min(self.part * (radius / self.start) ** -self.power, most / self.rows))

    def lost(self, radius: float) -> float:
        """Return the mean length that is beyond a radius: all that clipping can take."""
        start = max(radius, self.start)
        tail = self.fraction(start) * start / (self.power - 1.0)
        return tail + self._inside(radius, 0)

    def square(self, radius: float) -> float:
        """Return the mean squared length of the rows beyond a radius, 0 for the others."""
        start = max(radius, self.start)
        tail = self.fraction(start) * start**2 * self.power / max(self.power - 2.0, 0.5)
        if radius >= self.start:
            return tail
        ends = self.fraction(radius) * radius**2 - self.fraction(start) * start**2
        return max(tail + ends + 2.0 * self._inside(radius, 1), 0.0)

    def _inside(self, radius: float, power: int) -> float:
        """Return the integral of r**power times `fraction`, from a radius to the start."""
        step = max(self.start - radius, 0.0) / _STEPS
        middles = radius + step * (np.arange(_STEPS) + 0.5)
        return step * sum(float(r) ** power * self.fraction(float(r)) for r in middles)


def _noise(norms: Norms) -> Floats:
    """Return the standard deviations of `norms.above`."""
    return np.asarray(norms.noise * np.sqrt(np.arange(norms.edges.size, 0, -1)))


def lost_part(beyond: Beyond, radius: float, noise: float, promised: float) -> float:
    """Return what one-sided rows may lose by clipping, as a standard deviation of a length.

    Parameters
    ----------
    beyond : Beyond
    radius : float
    noise : float
        Of one scaled column.
    promised : float
        The root mean square length that the columns' scales promise.
    """
    return min(_PART * beyond.lost(radius), max(_MOST * noise, promised))


def stretch_beyond(beyond: Beyond, radius: float, promised: Floats) -> float:
    """Return the rows' root mean square length over the promised one of each column.

    Inside the radius as counted, and beyond it as extrapolated.
    """
    edges, counts = beyond.norms.edges, beyond.norms.counts
    inside = int(np.searchsorted(edges, radius, side="right"))
    middle = np.concatenate([[0.5 * edges[0]], np.sqrt(edges[:-1] * edges[1:])])[:inside]
    mass = np.maximum(counts[:inside], 0.0) / beyond.rows
    square = float(mass @ middle**2) + beyond.square(radius)
    return min(math.sqrt(square) / float(np.linalg.norm(promised)), _MOST_STRETCH)


@dataclass(frozen=True, eq=False)
class Allowance:
    """What intervals of a mean allow for.

    Attributes
    ----------
    clipping_std : float64 array of shape (d,)
        For what clipping may have taken.
    guessed : float64 array of shape (d,)
        The part of it that rests on rows that were not seen.
    stretch : float
        Of the sampling error, over what the scales promise.
    """

    clipping_std: Floats
    guessed: Floats
    stretch: float


def allowance_of_mean(
    expected: Expected,
    tilt: Tilt,
    spread: Floats,
    scale: Floats,
    *,
    bias: float,
    radii: tuple[float, float],
) -> Allowance:
    """Return what to allow for in a mean of rows clipped to the second of two radii.

    Parameters
    ----------
    expected : Expected
    tilt : Tilt
    spread, scale : float64 arrays of shape (d,)
    bias : float
        Length of the bias that the tilt predicts, in the data's unit.
    radii : tuple of two float
        Of the first mean, which is clipped harder or as hard, and of the second.
    """
    length, mass = expected.lengths
    along, worth = _along(expected, spread, scale)
    seen = worth * float(mass @ np.maximum(length - radii[0], 0.0))
    tilted = expected.unit * math.sqrt(expected.bias_square(radii[0], tilt))
    skew = min(1.0, tilted / seen) if seen > 0.0 else 0.0

    beyond = Beyond.of(expected.norms, expected.rows)
    noise = expected.noise * radii[1] / expected.mean_factor(radii[1])
    promised = float(np.linalg.norm(spread / scale))
    unseen = skew * worth * lost_part(beyond, radii[1], noise, promised)
    clipping_std = max(bias, unseen) * along
    if tilt.shown is not None:
        clipping_std = np.maximum(clipping_std, _KNOWN * bias * tilt.shown)

    return Allowance(clipping_std, unseen * along, _stretch(expected, beyond, skew))


def allowance_of_difference(
    expected: Expected,
    spread: Floats,
    scale: Floats,
    *,
    bias: float,
    kept: float,
    radii: tuple[float, float],
) -> Allowance:
    """Return what to allow for in a mean between those of rows clipped to two radii.

    Parameters
    ----------
    expected : Expected
    spread, scale : float64 arrays of shape (d,)
    bias : float
        Length of what the two means likely differ by, in the data's unit, without noise.
    kept : float
        Part of that difference that is still in the answer.
    radii : tuple of two float
        Of the two means, the smaller one first.
    """
    along, worth = _along(expected, spread, scale)
    beyond = Beyond.of(expected.norms, expected.rows)
    between = worth * (beyond.lost(radii[0]) - beyond.lost(radii[1]))
    skew = min(1.0, bias / between) if between > 0.0 else 0.0
    # Were the tail a power's, this is how what is lost beyond the larger radius goes with that.
    farther = bias / ((radii[1] / radii[0]) ** (_USUAL_POWER - 1.0) - 1.0)
    unseen = _PART * min(farther, worth * beyond.lost(radii[1]))
    clipping_std = math.hypot(kept * bias, unseen) * along
    return Allowance(clipping_std, clipping_std, _stretch(expected, beyond, skew))


def _along(expected: Expected, spread: Floats, scale: Floats) -> tuple[Floats, float]:
    """Return how columns share a bias, and what a scaled length is worth along it."""
    along = expected.along(spread, scale)
    return along, 1.0 / float(np.linalg.norm(along / scale))


def _stretch(expected: Expected, beyond: Beyond, skew: float) -> float:
    """Return the stretch of the sampling error, with the tail as far as rows are skewed."""
    length, mass = expected.lengths
    square = float(mass[:-1] @ length[:-1] ** 2) + skew**2 * beyond.square(expected.safe)
    stretch = math.sqrt(square) / expected.norms.typical
    return max(expected.stretch, min(stretch, _MOST_STRETCH))
