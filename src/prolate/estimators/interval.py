"""The mean of one skewed column: clipped to an interval that is longer on the side of its tail.

Noise goes with the whole length of an interval, and values hardly ever are on the other side of
the bulk. A histogram shows how many are beyond each distance from a center, on either side, but
noise hides the farthest. So each tail is taken to go on, from where it is surely seen, as

    S(r) = S(r0) exp(-h ((r / r0)**g - 1) / g),

of which exponential (g = 1) and normal (g = 2) tails are cases, power and log-normal ones
nearly so (g toward 0), and such as end somewhere (g large). The counts make some slopes h and
bends g likelier than others. Averaged over these, what clipping takes off the mean is known as
an expectation, which is given back, and a doubt: the interval is the one of least noise and
doubt.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Measurer
from prolate.estimators.beyond import Beyond, lost_part
from prolate.estimators.clip import rounding_std
from prolate.estimators.expected import Expected
from prolate.estimators.moments import Variation
from prolate.estimators.shares import radii_apart, sides_share
from prolate.queries import ClippedSum, EdgesGrid, Histogram

__all__ = ["Tail", "fit_tail", "interval_mean", "reaches"]

Floats = NDArray[np.float64]

_NEAR = np.arange(9) / 4.0
_FAR = np.array([2.35, 2.8, 3.3, 4, 4.8, 5.8, 7, 8.4, 10, 12, 14.4, 17, 21, 25, 30, 43, 60])
_EDGES = np.concatenate([_NEAR, _FAR])  # distances from the center, in spreads
_BENDS = np.array([0.05, 0.15, 0.3, 0.5, 0.75, 1.0, 1.4, 2.0, 3.0, 5.0, 9.0])
_BEND_ODDS = np.array([0.002, 0.004, 0.01, 0.06, 0.3, 0.6, 0.4, 0.2, 0.1, 0.06, 0.06])
_SLOPES = np.geomspace(0.2, 60.0, 28)
_USUAL, _RANGE, _ODD = 1.3, 0.6, 0.02  # slopes are log-normal around this, or any
_PART, _SURE = 0.1, 10.0  # of the rows, and standard deviations, that are beyond the start
_MISFIT = 4.0  # standard deviations by which a count may be above the nearest curve
_WITHIN = 30.0  # spreads: of values that are surely farther out, these edges see too little
_WRONG = 0.5  # of what is lost: no tail is quite such a curve
_ALLOWED = 0.4  # of what rows may take that noise hides, as a standard deviation
_REACH = np.geomspace(1.0, 1000.0, 160)  # of a tail, over its start


@dataclass(frozen=True, eq=False)
class Tail:
    """What clipping at some distances from the center takes off a mean, on one side.

    Attributes
    ----------
    reach : float64 array of shape (m,)
        The distances, in spreads.
    lost : float64 array of shape (m,)
        What is likely lost of the mean, in spreads.
    doubt : float64 array of shape (m,)
        Its variance.
    beyond : float64 array of shape (m,)
        Part of the rows that likely are farther out.
    """

    reach: Floats
    lost: Floats
    doubt: Floats
    beyond: Floats


def interval_mean(
    curator: Measurer,
    center: Floats,
    spread: Floats,
    expected: Expected,
    variation: Variation,
    *,
    share: float,
) -> tuple[Floats, Floats, dict[str, Any]]:
    """Return the mean of one skewed column, its noise, and what was found, for a share of mu**2.

    Parameters
    ----------
    curator : Measurer
        Of one column.
    center, spread : float64 arrays of shape (1,)
        Of the bulk; spreads are the unit of all distances.
    expected : Expected
        Says how many rows there are, and how far out.
    variation : Variation
        The column's variance.
    share : float
    """
    rows = expected.rows
    for_sides = sides_share(curator, rows, share) * share
    edges = np.concatenate([-_EDGES[:0:-1], _EDGES])
    grid = EdgesGrid(center[:, np.newaxis] + spread[:, np.newaxis] * edges)
    sides = curator.measure(Histogram(grid), share=for_sides, label="sides")
    noise = float(np.max(sides.std))
    low = fit_tail(sides.values[: _EDGES.size][::-1], noise, rows)
    high = fit_tail(sides.values[_EDGES.size :], noise, rows)

    share = min(share - for_sides, curator.remaining)
    per_length = 0.5 * radii_apart(curator.neighbors) / curator.mu_of(share) / rows
    error = (per_length * (low.reach[:, np.newaxis] + high.reach)) ** 2
    error = error + low.doubt[:, np.newaxis] + high.doubt
    a, b = np.unravel_index(int(np.argmin(error)), error.shape)
    left, right = float(low.reach[a]), float(high.reach[b])
    half = 0.5 * (left + right)
    middle = center + 0.5 * (right - left) * spread
    # A missing value counts as the center, and not as the middle of the interval.
    query = ClippedSum(middle, spread, half, missing=center - middle)
    measured = curator.measure(query, share=share, label="mean")
    noise_std = query.unit * measured.std / rows
    value = middle + query.unit * measured.values / rows + (high.lost[b] - low.lost[a]) * spread

    norms = expected.norms
    unseen = _unseen(Beyond.of(norms, rows), max(left, right), float(noise_std[0] / spread[0]))
    doubt = np.sqrt(low.doubt[a] + high.doubt[b] + unseen**2) * spread
    stretch = expected.stretch
    return (
        value,
        noise_std,
        {
            "hidden": norms.hidden,
            "stretch": stretch,
            "variation": variation.over_spread(stretch),
            "unseen_rows": norms.unseen,
            "clipping_std": np.hypot(doubt, rounding_std(spread, half)),
            "guessed": unseen * spread,
            "radius": half,
            "clipped_fraction": float(low.beyond[a] + high.beyond[b]),
        },
    )


def reaches(expected: Expected, spread: Floats, scale: Floats) -> bool:
    """Return whether a column's values lie where its sides would be counted."""
    return expected.safe <= _WITHIN * float(spread[0] / scale[0])


def _unseen(beyond: Beyond, reach: float, noise: float) -> float:
    """Return what rows may take that the counts do not show, as a deviation, in spreads."""
    typical = beyond.norms.typical  # one spread
    return lost_part(beyond, reach * typical, noise * typical, typical, part=_ALLOWED) / typical


def fit_tail(counts: Floats, noise: float, rows: float) -> Tail:
    """Return one side's tail, by noisy counts of the rows between `_EDGES` and beyond them.

    It starts where a part of the rows is farther out, or later if no curve fits from there on,
    as where many values are the same.
    """
    above = np.cumsum(counts[::-1])[::-1]
    falling = np.minimum.accumulate(above)
    start = max(int(np.count_nonzero(falling > max(_PART * rows, _SURE * noise))) - 1, 1)
    curves = _curves()
    while True:
        reach, part = float(_EDGES[start]), min(max(float(above[start]) / rows, 1.0 / rows), 1.0)
        survival = part * curves.survival(_EDGES[start:] / reach)
        cells = rows * np.append(survival[:, :-1] - survival[:, 1:], survival[:, -1:], axis=1)
        variance = noise**2 + cells  # rows are a sample of what the curve says
        off = (counts[start:] - cells) / np.sqrt(variance)
        square = np.sum(off**2, axis=1)
        nearest = off[np.argmin(square)]
        if nearest.size == 1 or nearest.max() < _MISFIT:
            break
        start += 1
    unlikely = square + np.sum(np.log(variance), axis=1)
    weight = curves.odds * np.exp(-0.5 * (unlikely - unlikely.min()))
    weight /= weight.sum()

    wrong = np.hypot(_WRONG, noise * np.sqrt(counts.size - start) / (rows * part))
    lost = part * reach * (weight @ curves.lost)
    doubt = (part * reach) ** 2 * (weight @ curves.lost**2) - lost**2
    doubt = doubt + part * reach**2 / rows * (weight @ curves.square) + (wrong * lost) ** 2
    # An interval ends at an edge: where in a cell its rows are is unknown, and all may be at one
    # place.
    at = _EDGES[start:] / reach
    doubt = np.interp(at, _REACH, np.maximum(doubt, 0.0))
    return Tail(_EDGES[start:], np.interp(at, _REACH, lost), doubt, weight @ survival)


@dataclass(frozen=True, eq=False)
class _Curves:
    """Tails from 1 on, one for each slope and bend, and their odds.

    Attributes
    ----------
    slope, bend : float64 arrays of shape (k, 1)
    odds : float64 array of shape (k,)
    lost, square : float64 arrays of shape (k, m)
        E (r - b)_+ and E (r - b)_+**2 for each b of `_REACH`.
    """

    slope: Floats
    bend: Floats
    odds: Floats
    lost: Floats
    square: Floats

    def survival(self, reach: Floats) -> Floats:
        """Return the parts of the tails beyond some distances."""
        return np.asarray(np.exp(-self.slope * (reach**self.bend - 1.0) / self.bend))


@lru_cache(maxsize=1)
def _curves() -> _Curves:
    slope, bend = (each.reshape(-1, 1) for each in np.meshgrid(_SLOPES, _BENDS, indexing="ij"))
    slopes = np.exp(-0.5 * (np.log(_SLOPES / _USUAL) / _RANGE) ** 2) + _ODD
    odds = np.outer(slopes, _BEND_ODDS).ravel()
    nothing = np.empty((0, 0))
    bare = _Curves(slope, bend, odds / odds.sum(), nothing, nothing)
    lost = _integral(bare.survival(_REACH))
    return _Curves(slope, bend, bare.odds, lost, 2.0 * _integral(lost))


def _integral(values: Floats) -> Floats:
    """Return the integrals from each of `_REACH` on to the last."""
    steps = 0.5 * (values[:, 1:] + values[:, :-1]) * np.diff(_REACH)
    return np.pad(np.cumsum(steps[:, ::-1], axis=1)[:, ::-1], ((0, 0), (0, 1)))
