"""How far rows reach beyond a clipping radius: the tail of their lengths.

How many rows are farther out than can be counted is extrapolated from the part of the tail
that is surely seen, as a power: tails of finite moments fall faster, so that is rather too
much. Its last octave says how steep it is; before that, such tails are flatter.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats
from prolate.estimators.lengths.norms import MeasuredNorms, fraction_radius

__all__ = ["MOST_STRETCH", "PART", "Beyond", "lost_part", "normal_loss", "stretch_beyond"]

PART = 0.6
"""Of what may be lost, as a standard deviation."""

MOST_STRETCH = 10.0
"""Of a sampling error, over what the scales promise."""

_SURE, _APART = 3.0, 4.5  # standard deviations that a count must exceed to be seen; far from others
_SHOWN = 2.0  # deviations by which fewer rows are beyond a radius, or more
_ALIKE, _MOST_ROWS = 1.3, 0.8  # lengths of most rows are no shorter than the middle one over that
_NOISY = 0.01  # of the rows: of noisier counts little is sure, and intervals are wide
_TOP = 0.6  # at most this part of the rows is the tail
_POWERS = (1.6, 100.0)  # of the tail
_UNSEEN_POWER = 2.0  # where hardly anything of it is seen
_OCTAVE = 2.0
_MOST = 12.0  # times the noise, or a typical length: wider intervals say nothing
_STEPS = 200  # of an integral


@dataclass(frozen=True, eq=False)
class Beyond:
    """The tail of the rows' lengths, a power's beyond a radius where it is surely seen.

    Attributes
    ----------
    norms : MeasuredNorms
    rows : float
    start : float
        The farthest edge that rows are surely beyond.
    part : float
        Part of the rows that are.
    power : float
        Beyond, the part falls as radius**-power.
    """

    norms: MeasuredNorms
    rows: float
    start: float
    part: float
    power: float

    @classmethod
    def of(cls, norms: MeasuredNorms, rows: float) -> Beyond:
        """Return the tail that a histogram of norms shows."""
        edges, above = norms.edges, norms.above
        falling = np.maximum.accumulate(above[::-1])[::-1]
        joined = np.interp(edges / _OCTAVE, edges, falling) > _OCTAVE * falling
        alone = ~joined & (norms.above_noise < _NOISY * rows)
        limit = np.where(alone, _APART, _SURE) * norms.above_noise
        sure = np.flatnonzero(falling > limit)
        tail = sure[falling[sure] < _TOP * rows]
        cell = int(tail[-1] if tail.size else sure[-1] if sure.size else 0)
        start, part = float(edges[cell]), min(max(float(falling[cell]) / rows, 1.0 / rows), 0.9)
        power = _power_of(norms, falling, rows, cell, part)
        return cls(norms, rows, start, part, float(np.clip(power, *_POWERS)))

    def fraction(self, radius: float) -> float:
        """Return about what part of the rows is beyond a radius, at most what may be there."""
        return float(self._fractions(np.array([radius]))[0])

    def _fractions(self, radius: Floats) -> Floats:
        edges = self.norms.edges
        seen = np.maximum.accumulate(np.maximum(self.norms.above, 0.0)[::-1])[::-1]
        most = np.interp(radius, edges, seen + self.norms.above_noise) / self.rows
        tail = self.part * (np.maximum(radius, self.start) / self.start) ** -self.power
        inside = np.interp(radius, edges, seen) / self.rows
        return np.where(radius < self.start, inside, np.minimum(tail, most))

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
        middles: Floats = np.asarray(radius + step * (np.arange(_STEPS) + 0.5))
        return step * float(np.sum(middles**power * self._fractions(middles)))


def _power_of(norms: MeasuredNorms, falling: Floats, rows: float, cell: int, part: float) -> float:
    """Return the power of the tail from an edge on that a part of the rows is surely beyond.

    By the octave before it. Where lengths are nearly alike, as of many columns, by the middle one,
    or by where rows surely fall to half of that part.
    """
    edges, doubt = norms.edges, _SHOWN * norms.above_noise
    start, middle = float(edges[cell]), float(np.interp(-0.5 * rows, -falling, edges))
    alike = np.interp(middle / _ALIKE, edges, falling - doubt) > _MOST_ROWS * rows
    shown = alike and start > middle and falling[cell] + doubt[cell] < 0.5 * rows
    if shown or (part < 0.45 and start > 1.05 * middle):
        near = max(middle, start / _OCTAVE)
        before = min(float(np.interp(near, edges, falling)) / rows, 0.5)
        return math.log(max(before, part) / part) / math.log(start / near)
    most = (falling + doubt)[cell + 1 :] / rows
    fewer = np.flatnonzero(most < 0.5 * part)
    if not alike or not fewer.size:
        return _UNSEEN_POWER
    after = int(fewer[0])
    least = max(float(most[after]), 1.0 / rows)
    return math.log(part / least) / math.log(float(edges[cell + 1 + after]) / start)


def lost_part(
    beyond: Beyond, radius: float, noise: float, promised: float, *, part: float = PART
) -> float:
    """Return what one-sided rows may lose by clipping, as a standard deviation of a length.

    Parameters
    ----------
    beyond : Beyond
    radius : float
    noise : float
        Of one scaled column.
    promised : float
        The root mean square length that the columns' scales promise.
    part : float
        Of what is beyond the radius.
    """
    return min(part * beyond.lost(radius), max(_MOST * noise, promised))


def stretch_beyond(beyond: Beyond, radius: float, promised: Floats) -> float:
    """Return the rows' root mean square length over the promised one of each column.

    Inside the radius as counted, and beyond it as extrapolated.
    """
    norms = beyond.norms
    inside = int(np.searchsorted(norms.edges, radius, side="right"))
    middle, mass = norms.middles[:inside], np.maximum(norms.counts[:inside], 0.0) / beyond.rows
    square = float(mass @ middle**2) + beyond.square(radius)
    return min(math.sqrt(square) / float(np.linalg.norm(promised)), MOST_STRETCH)


def normal_loss(beyond: Beyond, square: Floats, radius: float) -> float:
    """Return the mean length beyond a radius of normal rows that are usually as long.

    Parameters
    ----------
    beyond : Beyond
    square : float64 array of shape (d,)
        Squared private scales of the scaled columns.
    radius : float
    """
    # Squared lengths are about gamma, and their cube roots normal (Wilson, Hilferty 1931).
    half = 0.5 / float(np.sum((square / np.sum(square)) ** 2))
    normal = statistics.NormalDist()
    z = np.array([normal.inv_cdf((step + 0.5) / _STEPS) for step in range(_STEPS)])
    length = np.maximum(1.0 - 1.0 / (9.0 * half) + z / (3.0 * math.sqrt(half)), 0.0) ** 1.5
    usual = fraction_radius(beyond.norms, 0.5, beyond.rows) / float(np.median(length))
    return float(np.mean(np.maximum(usual * length - radius, 0.0)))
