"""The mean of one skewed column: clipped to an interval that is longer on the side of its tail.

Noise goes with the whole length of an interval, and values hardly ever are on the other side of
the bulk. A histogram shows how many are beyond each distance from a center, on either side, but
noise hides the farthest. So each tail is taken to go on as one of many curves (`curves.py`), some
of which the counts make likelier than others. Averaged over these, what clipping takes off the
mean is known as an expectation, which is given back, and a doubt: the interval is the one of
least noise and doubt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Measurer
from prolate.estimators.lengths.beyond import Beyond, lost_part
from prolate.estimators.lengths.clip import rounding_std
from prolate.estimators.lengths.curves import REACH, curves, curves_without, likely_curves, survival
from prolate.estimators.lengths.expected import Expected
from prolate.estimators.moments import Variation
from prolate.estimators.shares import radii_apart, sides_share
from prolate.queries import ClippedSum, EdgesGrid, Histogram

__all__ = [
    "EDGES",
    "USUAL",
    "Clipped",
    "Tail",
    "clipped_to_interval",
    "fit_tail",
    "interval_mean",
    "reaches",
]

Floats = NDArray[np.float64]

USUAL = 1.25
"""Standard deviations, over mean absolute ones, of normal errors."""

_NEAR = np.arange(9) / 4.0
_FAR = np.array(
    [2.35, 2.8, 3.3, 4, 4.8, 5.8, 7, 8.4, 10, 12, 14.4, 17, 21, 25, 30, 43, 60, 85, 120, 170, 240]
)
EDGES = np.concatenate([_NEAR, _FAR])  # distances from the center, in spreads
_WITHIN = 120.0  # spreads: of values that are surely farther out, these edges see too little
_WRONG = 0.5  # of what is lost: no tail is quite such a curve, ...
_GATHERED = 2.0  # ... and where in a cell values gather is unknown
_CELLS = 2, 4  # that are taken together where values of rare rows gather
_NOT_GIVEN = 2.0  # of what is not given back: it is on one side
_HIDDEN = 0.3  # times the noise of a count: rows that are hidden by it, ...
_SIZES, _ONE_SIZE = 0.7, 0.9  # ... where some gather closer by; part of them that are no such
_ALLOWED = 0.4  # of what rows may take that noise hides, as a standard deviation


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
    mean, square : float
        What the rows on that side add to the mean distance, and to the mean squared one.
    guessed : float64 array of shape (m,)
        What those may take off a mean that are farther out than is likely.
    lost_square, doubt_square : float64 arrays of shape (m,)
        What is likely lost of the mean squared distance, and its variance.
    """

    reach: Floats
    lost: Floats
    doubt: Floats
    beyond: Floats
    mean: float
    square: float
    guessed: Floats
    lost_square: Floats
    doubt_square: Floats


@dataclass(frozen=True, eq=False)
class Clipped:
    """A mean of one column clipped to an interval, with what clipping takes given back.

    Attributes
    ----------
    value, noise_std, doubt, guessed : float64 arrays of shape (1,)
        The mean; the standard deviation of its noise, and of what clipping takes; what may be
        beyond.
    left, right : float
        How far from the center the interval goes, in spreads.
    fraction : float
        Part of the rows that likely are clipped.
    """

    value: Floats
    noise_std: Floats
    doubt: Floats
    guessed: Floats
    left: float
    right: float
    fraction: float


def clipped_to_interval(
    curator: Measurer,
    center: Floats,
    spread: Floats,
    low: Tail,
    high: Tail,
    *,
    rows: float,
    missing: Floats,
    share: float,
) -> Clipped:
    """Return the mean of one column, clipped where noise and doubt are least, for a share.

    A missing value counts as `missing`, of shape (1,), which should be about the mean.

    The sum is of distances from the middle of the interval, which makes it least noisy. But where
    the number of rows is private, a distance of the mean from there would be off by as much as
    that number is: then the sum is of distances from about the mean.
    """
    doubt = low.doubt[:, np.newaxis] + high.doubt
    below, above = low.reach[:, np.newaxis], high.reach
    known = curator.neighbors == "replace"
    around = 0.5 * (above - below) if known else np.zeros_like(doubt) + (missing - center) / spread
    radius = np.maximum(above - around, below + around)
    per_radius = radii_apart(curator.neighbors) / curator.mu_of(share) / rows
    error = (per_radius * radius) ** 2 + doubt
    a, b = np.unravel_index(int(np.argmin(error)), error.shape)
    left, right, reach = float(low.reach[a]), float(high.reach[b]), float(radius[a, b])
    middle = center + around[a, b] * spread
    query = ClippedSum(
        middle,
        spread,
        reach,
        lower=None if known else center - left * spread,
        upper=None if known else center + right * spread,
        missing=missing - middle,
    )
    measured = curator.measure(query, share=share, label="mean")
    value = middle + query.unit * measured.values / rows + (high.lost[b] - low.lost[a]) * spread
    return Clipped(
        value,
        query.unit * measured.noise / rows,
        np.hypot(np.sqrt(doubt[a, b]) * spread, rounding_std(spread, reach)),
        np.hypot(low.guessed[a], high.guessed[b]) * spread,
        left,
        right,
        float(low.beyond[a] + high.beyond[b]),
    )


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
    both = np.concatenate([-EDGES[:0:-1], EDGES])
    grid = EdgesGrid(center[:, np.newaxis] + spread[:, np.newaxis] * both)
    sides = curator.measure(Histogram(grid), share=for_sides, label="sides")
    noise = float(np.max(sides.std))
    low = fit_tail(EDGES, sides.values[: EDGES.size][::-1], noise, rows, apart=rows)
    high = fit_tail(EDGES, sides.values[EDGES.size :], noise, rows, apart=rows)

    share = min(share - for_sides, curator.remaining)
    found = clipped_to_interval(
        curator, center, spread, low, high, rows=rows, missing=center, share=share
    )
    norms, reach = expected.norms, max(found.left, found.right)
    unseen = _unseen(Beyond.of(norms, rows), reach, float(found.noise_std[0] / spread[0]))
    stretch = expected.stretch
    return (
        found.value,
        found.noise_std,
        {
            "hidden": norms.hidden,
            "stretch": stretch,
            "variation": variation.over_spread(stretch),
            "unseen_rows": norms.unseen,
            "clipping_std": np.hypot(found.doubt, unseen * spread),
            "guessed": unseen * spread,
            "radius": 0.5 * (found.left + found.right),
            "clipped_fraction": found.fraction,
        },
    )


def reaches(expected: Expected, spread: Floats, scale: Floats) -> bool:
    """Return whether a column's values lie where its sides would be counted."""
    return expected.safe <= _WITHIN * float(spread[0] / scale[0])


def _unseen(beyond: Beyond, reach: float, noise: float) -> float:
    """Return what rows may take that the counts do not show, as a deviation, in spreads."""
    typical = beyond.norms.typical  # one spread
    return lost_part(beyond, reach * typical, noise * typical, typical, part=_ALLOWED) / typical


def fit_tail(
    edges: Floats,
    counts: Floats,
    noise: float,
    rows: float,
    *,
    apart: float,
    rare: bool = False,
) -> Tail:
    """Return one side's tail, by noisy counts of the rows between `edges` and beyond them.

    About `apart` of the rows are not all at the center. Where these are `rare`, they may well be
    of a few sizes, which no curve fits, and hardly any left to tell how they go on: then cells are
    taken together, and tails end where all but one of their values likely do.
    """
    cells = _CELLS if rare else ()
    found = likely_curves(edges, counts, noise, rows, apart=apart, together=cells)
    start, reach, part = found.start, found.reach, found.part
    weight, farther = found.weight, found.weight * part
    seen = float(counts[start:].sum())
    gather = rare and found.lumpy
    endless = known = curves()
    if rare:
        known = curves_without(1.0 / max(seen, noise))
    wrong = _GATHERED if gather else _WRONG
    hidden = _SIZES if gather and seen < _ONE_SIZE * float(counts.sum()) else _HIDDEN
    # An interval ends at an edge: where in a cell its rows are is unknown, and all may be at one
    # place.
    at = edges[start:] / reach

    def likely(each: Floats) -> tuple[Floats, Floats, Floats]:
        """Return what is lost, by what that is for each curve, its variance, and what is left out.

        Heavy tails of rare rows are seldom right, but then wrong by much: so the usual error.
        """
        lost = farther @ each
        doubt = (weight * (part**2 + found.unsure**2)) @ each**2 - lost**2
        most = np.maximum(doubt, 0.0)
        if rare:
            unsure = found.unsure[:, np.newaxis] * each / USUAL
            off = np.hypot(part[:, np.newaxis] * each - lost, unsure)
            doubt = np.minimum((USUAL * (weight @ off)) ** 2, most)
        doubt = np.maximum(doubt, 0.0)
        total = doubt + (wrong * lost) ** 2
        return (
            np.interp(at, REACH, lost),
            np.interp(at, REACH, total),
            np.interp(at, REACH, most - doubt),
        )

    lost, doubt, left_out = likely(reach * known.lost)
    lost_square, doubt_square, _ = likely(reach**2 * (known.square + 2.0 * REACH * known.lost))
    chance = np.interp(at, REACH, reach**2 / rows * (farther @ known.square))
    not_given = np.interp(at, REACH, reach * (farther @ (endless.lost - known.lost)))
    middles, inside = 0.5 * (edges[:start] + edges[1 : start + 1]), np.maximum(counts[:start], 0.0)
    square = reach**2 * (farther @ (1.0 + 2.0 * known.lost[:, 0] + known.square[:, 0]))
    return Tail(
        reach=edges[start:],
        lost=lost,
        doubt=doubt + chance,
        beyond=farther @ survival(at),
        mean=float(inside @ middles / rows + reach * (farther @ (1.0 + known.lost[:, 0]))),
        square=float(inside @ middles**2 / rows + square),
        guessed=hidden * noise / rows * edges[start:] + _NOT_GIVEN * not_given + np.sqrt(left_out),
        lost_square=lost_square,
        doubt_square=doubt_square,
    )
