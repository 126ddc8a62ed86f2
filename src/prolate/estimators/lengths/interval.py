"""The mean of one skewed column: clipped to an interval that is longer on the side of its tail.

Noise goes with the whole length of an interval, and values hardly ever are on the other side of
the bulk. What clipping takes off the mean on either side is known from noisy counts as an
expectation, which is given back, and a doubt (`sides.py`): the interval is the one of least noise
and doubt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurement
from prolate.estimators.estimate import FoundMean
from prolate.estimators.lengths.beyond import Beyond
from prolate.estimators.lengths.clip import rounding_std
from prolate.estimators.lengths.expected import Expected
from prolate.estimators.lengths.one_column import OneColumn
from prolate.estimators.lengths.sides import SEEN_WITHIN, Sides, measure_sides, sides_part
from prolate.estimators.lengths.unseen import Unseen
from prolate.estimators.moments import Variation
from prolate.neighbors import radii_apart
from prolate.queries import ClippedSum

__all__ = [
    "FAR_SPREADS",
    "MOST_AGAIN",
    "NO_MEAN",
    "Clipped",
    "IntervalPlan",
    "clipped_to_interval",
    "interval_mean",
    "reaches",
    "skewed_mean",
]

FAR_SPREADS = 14.0
"""Spreads, or usual distances: noise that makes an interval longer is dear."""

MOST_AGAIN = 0.5
"""Part of what is left, at most, for sides that are counted again."""

NO_MEAN = 0.1
"""Part of a mean square that is no mean, at least."""

_CLUMPS = 6.0  # of them, beyond which lengths showed rows that are together
_CHOSEN = 0.7  # part of what is beyond nearer ends, that may be beyond those that were chosen
_SMALLEST = 1e-290  # of a radius, in the data's unit: bounds may leave no room, or hardly any


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
    fraction, most : float
        Part of the rows that likely are clipped, and at most.
    """

    value: Floats
    noise_std: Floats
    doubt: Floats
    guessed: Floats
    left: float
    right: float
    fraction: float
    most: float


@dataclass(frozen=True)
class IntervalPlan:
    """The interval of least noise and doubt, in spreads from the center.

    Attributes
    ----------
    ends : tuple of two int
        Which distances of both sides it ends at.
    left, right, around, radius : float
        These; and what the sum is of distances from, and their largest.
    """

    ends: tuple[int, int]
    left: float
    right: float
    around: float
    radius: float

    @classmethod
    def of(
        cls,
        column: OneColumn,
        sides: Sides,
        *,
        share: float,
        around: float | None = None,
        unseen: Floats | float = 0.0,
    ) -> IntervalPlan:
        """Return that for a share, around somewhere, or around the interval's middle.

        What rows may take that the sides do not show, for each pair of ends, is a doubt, too.
        """
        low, high = sides
        doubt = low.doubt[:, np.newaxis] + high.doubt + np.square(unseen)
        below, above = low.reach[:, np.newaxis], high.reach
        middle = 0.5 * (above - below) if around is None else np.full_like(doubt, around)
        radius = np.maximum(above - middle, below + middle)
        curator = column.curator
        per_radius = radii_apart(curator.neighbors) / curator.mu_of(share) / column.rows
        error = (per_radius * radius) ** 2 + doubt
        a, b = (int(k) for k in np.unravel_index(int(np.argmin(error)), error.shape))
        left, right = float(low.reach[a]), float(high.reach[b])
        return cls((a, b), left, right, float(middle[a, b]), float(radius[a, b]))


def clipped_to_interval(
    column: OneColumn,
    sides: Sides,
    *,
    missing: Floats,
    share: float,
    counted: bool = False,
    unseen: Floats | float = 0.0,
) -> Clipped:
    """Return the mean of one column, clipped where noise and doubt are least, for a share.

    A missing value counts as `missing`, of shape (1,), which should be about the mean.

    The sum is of distances from the middle of the interval, which makes it least noisy. But where
    the number of rows is private, or was `counted`, a distance of the mean from there would be off
    by as much as that number is: then the sum is of distances from about the mean.
    """
    (low, high), center, spread = sides, column.center, column.spread
    known = column.curator.neighbors == "replace" and not counted
    off = None if known else float((missing - center)[0] / spread[0])
    planned = IntervalPlan.of(column, sides, share=share, around=off, unseen=unseen)
    (a, b), left, right = planned.ends, planned.left, planned.right
    reach = max(planned.radius, _SMALLEST / min(float(spread[0]), 1.0))
    middle = center + planned.around * spread
    query = ClippedSum(
        middle,
        spread,
        reach,
        lower=None if known else center - left * spread,
        upper=None if known else center + right * spread,
        missing=missing - middle,
    )
    measured = column.curator.measure(query, share=share, label="mean")
    value = middle + query.unit * measured.values / column.rows
    return Clipped(
        value + (high.lost[b] - low.lost[a]) * spread,
        query.unit * measured.noise / column.rows,
        np.hypot(np.sqrt(low.doubt[a] + high.doubt[b]) * spread, rounding_std(spread, reach)),
        np.hypot(low.guessed[a], high.guessed[b]) * spread,
        left,
        right,
        float(low.beyond[a] + high.beyond[b]),
        float(low.most[a] + high.most[b]),
    )


def interval_mean(
    column: OneColumn,
    expected: Expected,
    variation: Variation,
    *,
    share: float,
    known: Measurement | None = None,
) -> FoundMean:
    """Return the mean of one skewed column, for a share of mu**2.

    Parameters
    ----------
    column : OneColumn
    expected : Expected
        Says how far out rows are.
    variation : Variation
        The column's variance.
    share : float
    known : Measurement, optional
        Of both sides of the same rows, which is paid already.
    """
    norms, stretch = expected.norms, expected.stretch
    apart = norms.edges > _CLUMPS * norms.typical
    found, unseen, square = skewed_mean(
        column,
        Beyond.of(norms, expected.rows),
        unit=norms.typical,  # one spread
        share=share,
        clumps=bool(np.any(expected.clumps[1:] & apart)),
        known=known,
    )
    details = {
        "stretch": stretch,
        "unseen_rows": norms.unseen,
        "radius": 0.5 * (found.left + found.right),
        "clipped_fraction": found.fraction,
    }
    return FoundMean(
        found.value,
        found.noise_std,
        details,
        variation=np.maximum(variation.over_spread(stretch), np.sqrt(square)),
        clipping_std=np.hypot(found.doubt, unseen),
        guessed=unseen,
        hidden=norms.hidden,
        unseen_rows=norms.unseen,
    )


def skewed_mean(
    column: OneColumn,
    beyond: Beyond,
    *,
    unit: float,
    others: float = 0.0,
    share: float,
    clumps: bool = False,
    known: Measurement | None = None,
) -> tuple[Clipped, Floats, float]:
    """Return the mean of a column clipped by what both its sides show, for a share of mu**2.

    And what rows may take that the sides do not show, as a deviation (`unseen.py`); and the
    values' mean square around the mean, in squared spreads.

    Parameters
    ----------
    column : OneColumn
    beyond : Beyond
        The tail of the lengths that were measured.
    unit, others : float
        A spread of the column, and how long rows are by other columns, in the unit of lengths.
    share : float
    clumps : bool
        Whether lengths showed rows that are together far out: all are then counted again.
    known : Measurement, optional
        Of both sides of the same rows, which is paid already.
    """
    curator, center, spread = column.curator, column.center, column.spread
    left, hidden = curator.remaining, Unseen(beyond, unit, others)
    for_sides = sides_part(curator, column.rows, share) * share

    def far(sides: Sides) -> bool:
        unseen = hidden.feared(*sides)
        planned = IntervalPlan.of(column, sides, share=share - for_sides, unseen=unseen)
        return clumps or max(planned.left, planned.right) > FAR_SPREADS

    most = MOST_AGAIN * (share - for_sides)
    sides = measure_sides(column, share=for_sides, most=most, far=far, known=known)
    share = min(share - (left - curator.remaining), curator.remaining)
    near = IntervalPlan.of(column, sides, share=share)
    low, high = sides
    unseen = hidden.feared(low, high)
    found = clipped_to_interval(column, sides, missing=center, share=share, unseen=unseen)
    noise = float(found.noise_std[0] / spread[0])
    beyond_ends = hidden.beyond(max(found.left, found.right), found.most, noise=noise)
    # Ends are chosen where little seems to be beyond, and may seem so by noise.
    most = float(low.most[near.ends[0]] + high.most[near.ends[1]])
    nearer = hidden.beyond(max(near.left, near.right), most, noise=noise)
    taken = max(beyond_ends, _CHOSEN * nearer)
    square, off = low.square + high.square, float((found.value - center)[0] / spread[0])
    return found, taken * spread, max(square - off**2, NO_MEAN * square)


def reaches(expected: Expected) -> bool:
    """Return whether a column's values lie where its sides would be counted."""
    return expected.safe <= SEEN_WITHIN * float(expected.spread[0] / expected.scale[0])
