"""Tails beyond what noisy counts show: curves, and how likely the counts make each.

From where it is surely seen, a tail is taken to go on as

    S(r) = S(r0) exp(-h ((r / r0)**g - 1) / g),

of which exponential (g = 1) and normal (g = 2) tails are cases, power and log-normal ones
nearly so (g toward 0), and such as end somewhere (g large). The counts make some slopes h and
bends g likelier than others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["REACH", "Curves", "LikelyCurves", "curves", "likely_curves", "survival"]

Floats = NDArray[np.float64]

REACH = np.geomspace(1.0, 1000.0, 160)
"""Of a tail, over its start."""

_BENDS = np.array([0.05, 0.15, 0.3, 0.5, 0.75, 1.0, 1.4, 2.0, 3.0, 5.0, 9.0])
_BEND_ODDS = np.array([0.002, 0.004, 0.01, 0.06, 0.3, 0.6, 0.4, 0.2, 0.1, 0.06, 0.06])
_SLOPES = np.append(np.geomspace(0.2, 60.0, 28), np.geomspace(90.0, 1500.0, 7))  # ends, nearly
_USUAL, _RANGE, _ODD = 1.3, 0.6, 0.02  # slopes are log-normal around this, or any
_PART = 0.1  # of the rows, beyond the start; or fewer, ...
_SURE, _PRECISE = 10.0, 100.0  # ... but as many standard deviations of a count, if not as many
_GAP = 0.1  # of the rows beyond a cell that may as well be in it
_MISFIT = 4.0  # standard deviations by which a count may be above the nearest curve


@dataclass(frozen=True, eq=False)
class Curves:
    """Tails from 1 on, one for each slope and bend, and their odds.

    Attributes
    ----------
    odds : float64 array of shape (k,)
    lost, square : float64 arrays of shape (k, m)
        E (r - b)_+ and E (r - b)_+**2 for each b of `REACH`.
    """

    odds: Floats
    lost: Floats
    square: Floats


@dataclass(frozen=True, eq=False)
class LikelyCurves:
    """Which of `curves` a tail likely follows.

    Attributes
    ----------
    start : int
        The edge from which on it does.
    reach : float
        That edge.
    part : float
        Part of the rows beyond it.
    weight : float64 array of shape (k,)
        How likely each curve is.
    lumpy : bool
        Whether rows gather at some distances: no curve fits from where enough rows are counted,
        or hardly any are in the cell before.
    """

    start: int
    reach: float
    part: float
    weight: Floats
    lumpy: bool


@lru_cache(maxsize=1)
def curves() -> Curves:
    """Return the curves that tails are compared with."""
    slopes = np.exp(-0.5 * (np.log(_SLOPES / _USUAL) / _RANGE) ** 2) + _ODD
    odds = np.outer(slopes, _BEND_ODDS).ravel()
    lost = _integral(survival(REACH))
    return Curves(odds / odds.sum(), lost, 2.0 * _integral(lost))


def survival(reach: Floats) -> Floats:
    """Return the parts of the tails beyond some distances, (k, distances)."""
    # Each bend's powers once, not once for each of its curves: they take longest.
    bent = (np.power.outer(reach, _BENDS).T - 1.0) / _BENDS[:, np.newaxis]
    return np.asarray(np.exp(np.multiply.outer(-_SLOPES, bent)).reshape(-1, reach.size))


def likely_curves(edges: Floats, counts: Floats, noise: float, rows: float) -> LikelyCurves:
    """Return which curves a tail follows, by noisy counts between edges and beyond them.

    It starts where a part of the rows is farther out, or as few as are counted precisely, since
    no curve is right for all of a tail; or later, if no curve fits from there on, as where many
    values are the same. No edge before the second is a start.
    """
    above = np.cumsum(counts[::-1])[::-1]
    falling = np.minimum.accumulate(above)
    enough = max(min(_PART * rows, _PRECISE * noise), _SURE * noise)
    first = start = max(int(np.count_nonzero(falling > enough)) - 1, 1)
    while True:
        reach, part = float(edges[start]), min(max(float(above[start]) / rows, 1.0 / rows), 1.0)
        left = part * survival(edges[start:] / reach)
        cells = rows * np.append(left[:, :-1] - left[:, 1:], left[:, -1:], axis=1)
        variance = noise**2 + cells  # rows are a sample of what the curve says
        off = (counts[start:] - cells) / np.sqrt(variance)
        square = np.sum(off**2, axis=1)
        nearest = off[np.argmin(square)]
        if nearest.size == 1 or nearest.max() < _MISFIT:
            break
        start += 1
    lumpy = start > first or bool(counts[first - 1] < _GAP * above[first])
    unlikely = square + np.sum(np.log(variance), axis=1)
    weight = curves().odds * np.exp(-0.5 * (unlikely - unlikely.min()))
    return LikelyCurves(start, reach, part, weight / weight.sum(), lumpy)


def _integral(values: Floats) -> Floats:
    """Return the integrals from each of `REACH` on to the last."""
    steps = 0.5 * (values[:, 1:] + values[:, :-1]) * np.diff(REACH)
    return np.pad(np.cumsum(steps[:, ::-1], axis=1)[:, ::-1], ((0, 0), (0, 1)))
