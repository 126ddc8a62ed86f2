"""How far squared deviations reach: where to clip them, what that takes, how much they vary.

The histogram of norms shows the tail as far as its noise allows. Beyond, it is taken to be
a power's, as far as it is seen; and never shorter than that of normal rows, whose squares
are worked out from the private scales. Nearer than that they are clipped only where the counts
show that this takes little: squares of bounded values do not reach as far as those of normal ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from prolate.arrays import Floats
from prolate.estimators.lengths.norms import MeasuredNorms, fraction_radius, safe_cell

__all__ = ["NORMAL_TAIL", "SquareRadius", "square_radius"]

NORMAL_TAIL = 2.0
"""A squared normal number is beyond x about as often as e**(-x / this)."""

_VALUES = 1 << 21  # normal numbers
_FEWEST, _MOST = 1 << 10, 1 << 18  # rows of them
_USUAL = 0.05  # part of the rows beyond the radius from which the tail is extrapolated
_SEEN = 3.0  # standard deviations of noise that a count must exceed
_MANY = 1.0  # the same, of rows beyond the radius
_POWERS = (1.5, 20.0)  # of the tail
_INSIDE = 0.5  # part of the rows that are within any radius
_DOUBT = 0.5  # of the noise of what the counts say is lost: it may be so much


@dataclass(frozen=True, eq=False)
class SquareRadius:
    """Where to clip, and what it does.

    Attributes
    ----------
    radius : float
        In scaled units.
    lost : float64 array of shape (d,)
        About how much clipping takes off the mean of the scaled rows.
    stretch : float
        The rows' root mean square length over that of normal rows.
    """

    radius: float
    lost: Floats
    stretch: float


def square_radius(norms: MeasuredNorms, size: Floats, clipped: float, rows: float) -> SquareRadius:
    """Return where to clip squares so that about `clipped` of `rows` rows are.

    Parameters
    ----------
    norms : MeasuredNorms
        Of the scaled squares around their size.
    size : float64 array of shape (d,)
        Private variances, over the scale.
    clipped : float
        How many rows may be clipped: what they lose is then about as large as the noise.
    rows : float
        Number of rows.
    """
    part = min(clipped / rows, 0.5)
    normal = _normal_rows(size)
    unsorted = np.sqrt(np.einsum("ij,ij->i", normal, normal))
    length = np.sort(unsorted)
    thin = NORMAL_TAIL * float(size.max())
    known = max(part, 10.0 / length.size)
    radius = float(np.quantile(length, 1.0 - known)) + thin * math.log(known / part)
    excess = thin

    usual, above = fraction_radius(norms, _USUAL, rows), norms.above / rows
    surely = norms.above > _SEEN * norms.above_noise
    sure = np.flatnonzero(surely & (above < 0.6 * _USUAL) & (norms.edges > usual))
    power = math.inf
    if sure.size:
        far, seen = float(norms.edges[sure[-1]]), float(above[sure[-1]])
        power = float(np.clip(math.log(_USUAL / seen) / math.log(far / usual), *_POWERS))
        reached = usual * (_USUAL / part) ** (1.0 / power)
        if reached > radius:
            radius, excess = reached, reached / (max(power, 2.0) - 1.0)
    radius = min(radius, float(norms.edges[-1]))
    cell = int(np.searchsorted(norms.edges, radius))
    if norms.above[cell] > clipped + _MANY * norms.above_noise[cell]:
        safe = float(norms.edges[safe_cell(norms, clipped)])  # the tail begins far beyond most rows
        radius, excess = max(radius, safe), max(excess, safe)
    stretch = _stretch(norms, length, radius, part, excess)
    radius, lost = _nearer(norms, radius, part * excess, clipped, rows)
    far = unsorted >= np.quantile(length, 0.99)
    direction = np.abs(normal[far]).mean(axis=0) / unsorted[far].mean()
    return SquareRadius(radius, lost * direction, stretch)


def _nearer(
    norms: MeasuredNorms, radius: float, lost: float, clipped: float, rows: float
) -> tuple[float, float]:
    """Return a radius up to this one, and what clipping takes there: with the noise, it is least.

    Rows between the two lose what the counts say, or what their noise may hide.
    """
    edges = norms.edges
    last = int(np.searchsorted(edges, radius))  # the first edge that is not within
    first = int(np.searchsorted(edges, fraction_radius(norms, _INSIDE, rows)))
    if first >= last:
        return radius, lost
    ends = np.append(edges[first:last], radius)
    between = norms.counts[first + 1 : last + 1]
    away = np.maximum(0.5 * (ends[:-1] + ends[1:]) - ends[:, np.newaxis], 0.0)
    seen, doubt = away @ between, norms.noise * np.linalg.norm(away, axis=1)
    taken = np.maximum(seen, _DOUBT * doubt)
    taken = lost + np.maximum.accumulate(taken[::-1])[::-1] / rows
    error = np.hypot(clipped / rows * ends, taken)
    best = int(np.argmin(error))
    return float(ends[best]), float(taken[best])


def _normal_rows(size: Floats) -> Floats:
    """Return squares of normal rows around their size: public but for the private scales."""
    count = min(max(_VALUES // size.size, _FEWEST), _MOST)
    draw = _squares if count * size.size <= _VALUES else _squares.__wrapped__  # too many to keep
    return np.asarray(draw(count, size.size) * size)


@lru_cache(maxsize=1)  # drawing them takes longer than a pass over a million rows
def _squares(count: int, d: int) -> Floats:
    found = np.asarray(np.random.default_rng(0).standard_normal((count, d)) ** 2 - 1.0)
    found.flags.writeable = False
    return found


def _stretch(
    norms: MeasuredNorms, length: Floats, radius: float, part: float, excess: float
) -> float:
    """Return the root mean square length over that of normal rows."""
    inside = int(np.searchsorted(norms.edges, radius, side="right"))
    middle = norms.middles[:inside]
    mass = np.maximum(norms.counts[:inside], 0.0)
    mass = (1.0 - part) * mass / max(float(mass.sum()), 1.0)
    square = float(mass @ middle**2) + part * (radius**2 + 2.0 * radius * excess)
    return max(1.0, math.sqrt(square / float(np.mean(length**2))))
