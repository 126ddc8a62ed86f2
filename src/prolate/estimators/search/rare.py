"""Columns whose values are nearly all the same, such as the items of baskets.

Their bulk shows no spread. What matters is how often, and how far away, the other values
are, and a histogram of every column would cost much to show so little. But rows show it
cheaply, together: how far a row is from the bulk in its farthest such column, and in all
of them. A row is one row, so each of these two histograms costs a single count. Where such
values are of several sizes, as amounts beside flags, rows tell the columns' own, too
(`farthest.py`).

Then a first mean, with the spread that these columns have in common, tells their own: if
the mean is q step away from the bulk, a part q is elsewhere, with variance q (1 - q)
step**2 (PLAN, Section 7.1, for binary data). Columns whose step no row shows, since larger
values hide theirs, have likely ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.curator import Searcher
from prolate.estimators.search.deviations import coarse_deviations, deviations
from prolate.estimators.search.farthest import own_steps
from prolate.estimators.search.locate import WITHIN, Interval
from prolate.estimators.search.longest import longest_columns
from prolate.estimators.search.magnitudes import TINY
from prolate.estimators.search.spread import SMALLEST
from prolate.queries import Cut, NormHistogram

__all__ = [
    "RareValues",
    "common_side",
    "joined",
    "likely_steps",
    "own_spread",
    "rare_values",
    "with_usual_steps",
]

_SURELY = 3.0  # times as many as stand out: fewer may hide others
_SIDE = 0.01  # part of the budget that is left, for each of at most two counts
_FEW = 3.0  # standard deviations of such a count
_LOOK, _CLEAR = 0.001, 5.0  # the same for a sample
_LEAST = 0.1  # of its noise: how little a mean is taken to be from the bulk
_MOST = 0.5  # of a column's rows are elsewhere
_HELD = (0.5, 0.7)  # part of all rare values' squares: from here to there, the others are smaller
_SHOWN, _FEWEST = 2.0, 3  # standard deviations of a mean that is seen, and such columns
_NOTHING = 2.0**-8  # of a usual step: a bulk that is no wider is next to nothing
_SMALLEST_STEP = 2.0**-34  # of those of all columns together
_UNSURE = (0.1, 0.2)  # of logarithms: of parts, and of steps, from octaves


@dataclass(frozen=True, eq=False)
class RareValues:
    """What narrow columns' rare values are like.

    Attributes
    ----------
    step : float64 array of shape (d,)
        How far they are from the bulk, in rows where they are farthest: of single columns
        where that is seen, or of all. 0 for columns that are not narrow, and for all of them
        if no row deviates, as far as the noise lets see.
    own : bool array of shape (d,)
        Which columns' steps are their own.
    seen : float64 array of shape (d,)
        Spreads that these columns have at least.
    spread : float
        Root mean square deviation from the bulk, over rows and narrow columns.
    mixed : bool
        Whether they are of several sizes.
    common : float
        The step of all of them together, where they are of several sizes.
    hidden_rows : float
        How many rows may have some that noise hides, where none are seen.
    """

    step: Floats
    own: Bools
    seen: Floats
    spread: float = 0.0
    mixed: bool = False
    common: float = 0.0
    hidden_rows: float = 0.0


def rare_values(
    curator: Searcher,
    rows: float,
    interval: Interval,
    *,
    share: float,
    again: float,
    relative: bool = False,
) -> RareValues:
    """Return what narrow columns' rare values are like, for two shares of mu**2, or some more.

    Where these show few rows, or none, two other shares follow. Where all columns are narrow and
    show no other values, nothing else is left to be found, and half of what is left is spent on it.
    """
    narrow = interval.narrow
    farthest, every = deviations(curator, interval, share=share)
    if again > 0.0 and farthest.rows < _SURELY * farthest.least:
        farthest, every = deviations(curator, interval, share=again)
    if not farthest.rows > 0.0:
        if narrow.all():
            share = 0.25 * curator.remaining
        farthest = every = coarse_deviations(curator, interval, share=2.0 * share)
    if not farthest.rows > 0.0:
        nothing = np.zeros(narrow.size)
        return RareValues(nothing, nothing > 0.0, nothing, hidden_rows=farthest.least)
    spread = float(np.sqrt(every.square / (max(rows, 1.0) * np.count_nonzero(narrow))))
    common = float(np.sqrt(farthest.square / farthest.rows))
    step = np.where(narrow, common, 0.0)
    if farthest.octaves == 1:
        return RareValues(step, narrow, np.zeros(narrow.size), spread)
    step, own, seen = own_steps(
        curator, rows, interval.center, interval.half, step, relative=relative
    )
    found = RareValues(step, own, seen, spread, mixed=True, common=common)
    if not relative or np.all(own[step > 0.0]):
        return found
    part = min(farthest.rows / max(rows, 1.0), 1.0)
    return _with_longest(curator, rows, interval, found, part=part)


def _with_longest(
    curator: Searcher, rows: float, interval: Interval, rare: RareValues, *, part: float
) -> RareValues:
    """Return it with the steps of columns whose own are not seen in single octaves.

    For errors relative to spreads: the others would have the step of all rare values together,
    which may be a thousand times theirs. A `part` of the rows has some.
    """
    left = (rare.step > 0.0) & ~rare.own
    beyond = np.where(left, np.maximum(WITHIN * interval.half, TINY), np.inf)
    least = _SMALLEST_STEP * rare.common
    size, parts = longest_columns(
        curator, rows, interval.center, beyond=beyond, part=part, least=least
    )
    found = size > 0.0
    return replace(
        rare,
        step=np.where(found, size, rare.step),
        own=rare.own | found,
        seen=np.where(found, size * np.sqrt(parts), rare.seen),
    )


def joined(interval: Interval, rare: RareValues) -> tuple[Interval, RareValues]:
    """Return both with columns taken for narrow whose bulk is next to nothing beside rare values.

    For where most columns are narrow: of the others, one that lies within a tiny interval is likely
    of the same kind, though the values of its bulk are not exactly the same.
    """
    if not rare.step.any():
        return interval, rare
    usual = float(np.median(rare.step[interval.narrow]))
    joins = ~interval.narrow & (interval.half < _NOTHING * usual)
    step = np.where(joins, rare.common or usual, rare.step)
    return replace(interval, narrow=interval.narrow | joins), replace(rare, step=step)


def with_usual_steps(rare: RareValues) -> tuple[RareValues, float]:
    """Return it with usual steps of columns that show none, and the spread that goes with these.

    For errors relative to spreads: by the steps of all rare values together, which are mostly those
    of large numbers, a flag beside amounts would have as much noise as these.
    """
    others = (rare.step > 0.0) & ~rare.own
    if not (rare.own & (rare.step > 0.0)).any() or not others.any():
        return rare, rare.spread
    usual = float(np.median(rare.step[rare.own & (rare.step > 0.0)]))
    less = min(usual / rare.common, 1.0) if rare.common > 0.0 else 1.0
    step = np.where(others, less * rare.step, rare.step)
    return replace(rare, step=step), less * rare.spread


def common_side(curator: Searcher, sample: Searcher, interval: Interval) -> Floats | None:
    """Return to which side of their bulk narrow columns deviate, if hardly any row does not.

    First 1, above it, is tried where the bulk is 0 or less, and -1, towards 0, where it is
    more: so baskets deviate, and amounts. Then the other way round. Rows that deviate to the
    other side are counted, unless bounds leave no room for any, or a sample clearly has some;
    noise may hide about as many as clipping may leave out.
    """
    narrow = interval.narrow
    toward = np.where(interval.center > 0.0, -1.0, 1.0)
    bulk = max(4.0 * float(np.hypot.reduce(interval.half[narrow])), TINY)
    norms = NormHistogram(
        interval.center, np.where(narrow, 1.0, 0.0), np.array([bulk]), farthest=True
    )
    looks = [(curator, _SIDE, _FEW)]
    if sample is not curator:
        looks.insert(0, (sample, _LOOK, _CLEAR))
    for side in (toward, -toward):
        lower = np.where(side > 0.0, -np.inf, interval.center)
        upper = np.where(side > 0.0, interval.center, np.inf)
        if curator.bounds is not None:
            low, high = np.maximum(lower, curator.bounds[0]), np.minimum(upper, curator.bounds[1])
            if np.all((high - low)[narrow] < bulk):
                return side
        others = Cut(norms, lower, upper)
        for asked, part, few in looks:
            share = part * curator.remaining
            found = asked.measure(others, share=share, label="rare values on the other side")
            if found.values[1] >= few * found.std:
                break
        else:
            return side
    return None


def likely_steps(moved: Floats, noise: Floats, step: Floats, own: Bools, square: float) -> Floats:
    """Return how far rare values are, likely ones for columns whose own are not seen.

    These were taken to be as far as all of them together. But if the columns that are seen
    hold most of the squares, the others' values are smaller. Of a mean that is q step away
    from the bulk, how much is due to the step is told by how much steps differ among the
    columns that are seen, and parts q (a regression of logarithms).

    Parameters
    ----------
    moved, noise : float64 arrays of shape (d,)
        How far the first mean is from the bulk, and its noise.
    step : float64 array of shape (d,)
        How far rare values are, so far; 0 where there are none.
    own : bool array of shape (d,)
        Which columns' steps are their own.
    square : float
        Mean over rows of the sum of all rare values' squared deviations.
    """
    away, others = np.abs(moved), (step > 0.0) & ~own
    shown = own & (away > _SHOWN * noise)
    if not others.any() or np.count_nonzero(shown) < _FEWEST:
        return step
    held = float(away[own] @ step[own]) / max(square, SMALLEST**2)
    smaller = float(np.clip((held - _HELD[0]) / (_HELD[1] - _HELD[0]), 0.0, 1.0))
    size, part = np.log(step[shown]), np.log(np.minimum(away[shown] / step[shown], _MOST))
    parts = float(np.var(part)) + _UNSURE[0] ** 2
    sizes = max(float(np.var(size)) - _UNSURE[1] ** 2, 0.0) + _UNSURE[0] ** 2
    least = np.maximum(away, _LEAST * noise)[others]
    usual = float(np.mean(size + part))
    likely = np.mean(size) + sizes / (sizes + parts) * (np.log(least) - usual)
    nearer = step[others] * np.exp(smaller * np.minimum(likely - np.log(step[others]), 0.0))
    found = step.copy()
    found[others] = np.minimum(np.maximum(nearer, least / _MOST), step[others])
    return found


def own_spread(
    moved: Floats,
    noise: Floats,
    step: Floats,
    spread: Floats,
    *,
    both_sides: float = 0.0,
) -> Floats:
    """Return each column's spread from its first mean.

    Values on both sides of the bulk cancel in the mean. Where means explain less than half of
    the squares, what they do not is shared out, as if values were as frequent in all columns.

    Parameters
    ----------
    moved, noise : float64 arrays of shape (d,)
        How far the first mean is from the bulk, and its noise; a tenth of that is taken to
        be the least.
    step, spread : float64 arrays of shape (d,)
        How far rare values are, 0 where there are none; the spread so far.
    both_sides : float
        Mean over rows of the sum of all rare values' squared deviations, where these may be on
        both sides of the bulk; 0 where they are not.
    """
    rare = step > 0.0
    part = np.maximum(np.abs(moved), _LEAST * noise) / np.where(rare, step, 1.0)
    if both_sides > 0.0:
        left = both_sides - 2.0 * float(np.abs(moved[rare]) @ step[rare])
        part = part + max(left, 0.0) / float(step @ step)
    part = np.clip(part, 0.0, _MOST)
    return np.where(rare, np.sqrt(part * (1.0 - part)) * step, spread)
