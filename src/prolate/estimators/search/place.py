"""Where a column's values are and how far they spread, from as few counts as can tell.

For budgets that leave only coarse counts. A first histogram finds how large the values are.
Then histograms of equal cells are matched against curves of every place, width and kind, all of
them together: the answer is the mean of the posterior, wide where the counts say little. Only
columns whose width is not yet seen are asked again, in narrower windows.

A single value that most have leads into ever narrower ones. That others are apart from it shows
in the counts beyond these windows, little in each, but in all of them (`_apart`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Bools, Floats, Limits
from prolate.curator import Searcher
from prolate.estimators.columns import SomeColumns
from prolate.estimators.present import find_present, present_view
from prolate.estimators.search.locate import SCALES, Interval
from prolate.estimators.search.looks import MISFIT, Look, match, narrower, wider
from prolate.estimators.search.pooling import pooled_posterior
from prolate.estimators.search.spread import LARGEST, SMALLEST
from prolate.estimators.shares import FEW_ALIKE, one_row_noise, part_for
from prolate.neighbors import rows_changed
from prolate.queries import Histogram, MagnitudeGrid

__all__ = ["Place", "locate_coarsely", "place"]

_GROUPS = 54  # a magnitude's bit pattern >> 54 is its group of four octaves
_USUAL = 4.0  # octaves from one at which a magnitude is e times less likely
_SURE = 0.8  # posterior probability that most values are no larger
_ZOOMS = 8  # histograms, at most: years need four, a place a million deviations away seven
_WIDER = 12.0 / 11.0  # the first window, so that no round number is at an edge of its cells
_SEEN = 0.75  # cells per standard deviation, that show a width
_UNSEEN = 4.0  # times the width of a column, if it is never seen how narrow it is
_REACH = 4.0  # deviations that are half the next window
_APART, _SURELY_APART = 3.3, 4.0  # standard deviations of values apart, in the end and at once
_BEHIND = 0.75  # of the rows beyond a window: it missed the column
_LEAST_APART = 0.1  # of the rows
_TINY = 1e-130
# Spreads by which a center may be off, or it is not found; noise of a count, over the rows, that
# may look like any place.
_UNSURE, _HOPELESS = 0.9, 0.22
_HOPELESS_OF_MANY = 0.25  # the same of many columns, each of which is likely where others are
# Wanted noise, as a fraction of the rows, and largest share: of the first histogram, of each of the
# others, of these where they are cheap, and of one column's tails. And the most for all of these.
_FIRST, _EACH, _CHEAP, _PRECISE, _MOST = (0.15, 0.25), (0.12, 0.15), (0.08, 0.05), (0.03, 0.1), 0.6


@dataclass(frozen=True, eq=False)
class Place:
    """What is known of every column.

    Attributes
    ----------
    center, spread : float64 arrays of shape (d,)
    doubt : float64 array of shape (d,)
        Standard deviation of the error in `center`, over `spread`.
    narrow : bool array of shape (d,)
        Whether all values that were seen are as good as equal.
    skewed : float64 array of shape (d,)
        How likely there is a tail on one side.
    tail : float64 array of shape (d,)
        Part of the rows that make that tail, if there is one.
    """

    center: Floats
    spread: Floats
    doubt: Floats
    narrow: Bools
    skewed: Floats
    tail: Floats


def place(
    view: SomeColumns,
    rows: float,
    *,
    magnitude_share: float,
    share: float,
    most: float,
    window: Limits | None = None,
) -> Place:
    """Find places and widths.

    Parameters
    ----------
    view : SomeColumns
    rows : float
    magnitude_share, share : float
        Shares of mu**2: of the first histogram and of each of the others, if of all columns.
    most : float
        Share of all the others together, at most.
    window : pair of float64 arrays of shape (d,), optional
        The ends of the first windows, if they are known.
    """
    d = view.dimension
    center, half = _window(view, rows, magnitude_share, window)
    spread, doubt, skewed = half / 2.0, half.copy(), np.zeros(d)
    tail = np.ones(d)
    seen: list[Look] = []
    settled = np.zeros(d, dtype=np.bool_)
    for level in range(_ZOOMS):
        open_ = np.flatnonzero(~settled)
        part = share * open_.size / d  # for the same noise
        if not 0.0 < part <= most:
            break
        most -= part
        seen.append(_look(view, rows, center, half, open_, part, level))
        here = [look.of(open_) for look in seen]
        found = match(here)
        center[open_], spread[open_] = found.center, found.spread
        doubt[open_], skewed[open_], tail[open_] = found.doubt, found.skewed, found.tail
        inside = np.abs(center - seen[-1].center)[open_] < half[open_]  # or it was left behind
        resolved = inside & (spread[open_] > _SEEN * here[-1].cell)
        settled[open_] = resolved | (_apart(here, _SURELY_APART, d) > 0.0)
        behind = np.zeros(d, dtype=np.bool_)
        behind[open_] = here[-1].beyond > _BEHIND
        seen[-1].noise[behind] = np.inf  # it tells nothing but that these are elsewhere
        settled &= ~behind
        wanted = narrower(half, _REACH * np.maximum(spread, doubt))
        half = np.where(settled, half, wanted)
        if behind.any():
            center[behind], half[behind] = wider(seen[-1].of(np.flatnonzero(behind)))
            doubt[behind] = half[behind]
    apart = _apart(seen, _APART, d)
    settled |= apart > 0.0
    wide = np.hypot(np.maximum(spread, apart), doubt)
    wide = np.clip(np.where(settled, wide, _UNSEEN * wide), SMALLEST, LARGEST)
    return Place(center, wide, np.minimum(doubt / wide, 1.0), ~settled, skewed, tail)


def locate_coarsely(
    curator: Searcher,
    rows: float,
    window: Limits | None = None,
    *,
    tails: bool = False,
) -> Interval:
    """Find each column's center and bulk, as `locate` does, by likely centers and spreads.

    Parameters
    ----------
    curator : Searcher
    rows : float
        Number of rows, or a private estimate of it.
    window : pair of float64 arrays of shape (d,), optional
        Where most values are known to be.
    tails : bool
        Whether how a single column's tails go on matters, too: that takes more.
    """
    d = curator.dimension
    part, absent = find_present(curator, rows, roughly=False)  # a cheap count would show nothing
    least = 1.0 if part is None else float(part.min())
    magnitude_share, share, most = _shares(curator, least * rows, tails=tails)
    noise = math.sqrt(rows_changed(curator.neighbors) * d) / (curator.mu_of(share) * least * rows)
    hopeless = noise > (_HOPELESS_OF_MANY if d > FEW_ALIKE else _HOPELESS)
    found = place(
        SomeColumns(present_view(curator, rows, part), np.arange(d)),
        rows,
        magnitude_share=magnitude_share,
        share=share,
        most=most,
        window=window,
    )
    lower, upper = curator.bounds or (np.full(d, -np.inf), np.full(d, np.inf))
    center = np.where(absent, np.clip(0.0, lower, upper), found.center)
    interval = Interval(
        center,
        half=SCALES * found.spread,
        narrow=found.narrow | absent,
        found=(not hopeless) & (found.doubt < _UNSURE),
        farthest=np.abs(center) + SCALES * found.spread,
        least_spread=np.zeros(d),
        absent=absent,
        part=part,
        doubt=found.doubt * found.spread,
        skewed=found.skewed,
        tail=found.tail,
    )
    return _within_bounds(interval, curator.bounds) if not hopeless else interval


def _within_bounds(interval: Interval, bounds: Limits | None) -> Interval:
    """Return the intervals, those of columns that were not found as wide as public bounds allow.

    Noise hides where such a column is (most values may be 0, or 1), but not how large its values
    are, which is public: none deviate by more than half of the way between the bounds.
    """
    if bounds is None or np.all(interval.found):
        return interval
    known = np.isfinite(bounds).all(axis=0)
    lower, upper = (np.where(known, bound, 0.0) for bound in bounds)
    middle, half = 0.5 * lower + 0.5 * upper, 0.5 * upper - 0.5 * lower
    lost = ~(interval.found | interval.absent) & (half > 0.0)
    center, doubt = np.where(lost, middle, interval.center), interval.doubt
    wide = np.where(lost, SCALES * half, interval.half)
    return replace(
        interval,
        center=center,
        half=wide,
        narrow=interval.narrow & ~lost,
        found=interval.found | lost,
        farthest=np.where(lost, np.abs(center) + wide, interval.farthest),
        doubt=None if doubt is None else np.where(lost, half / math.sqrt(3.0), doubt),
    )


def _shares(curator: Searcher, rows: float, *, tails: bool) -> tuple[float, float, float]:
    """Return the shares of the first histogram, of each other, and of these together."""
    left = curator.remaining
    noise = one_row_noise(curator, rows) * math.sqrt(curator.dimension)
    cheap = _PRECISE if tails and curator.dimension == 1 else _CHEAP
    each = max(part_for(noise, *_EACH), part_for(noise, *cheap))
    return left * part_for(noise, *_FIRST), left * each, left * _MOST


def _window(
    view: Searcher, rows: float, share: float, window: Limits | None
) -> tuple[Floats, Floats]:
    """Return the middle and half the width of where values may be."""
    d = view.dimension
    lower, upper = window or view.bounds or (np.full(d, -np.inf), np.full(d, np.inf))
    if not np.all(np.isfinite(lower) & np.isfinite(upper)):
        top = np.clip(_magnitudes(view, rows, share), _TINY, 1.0 / _TINY)
        lower, upper = np.clip(-top, lower, upper), np.clip(top, lower, upper)
    center = 0.5 * lower + 0.5 * upper
    half = _WIDER * (0.5 * upper - 0.5 * lower)
    return center, np.maximum(half, np.maximum(_TINY, 1e-12 * np.abs(center)))


def _magnitudes(view: Searcher, rows: float, share: float) -> Floats:
    """Return how large most values of each column are, from the float format's own exponents."""
    d, cells = view.dimension, 1 << (63 - _GROUPS)
    grid = MagnitudeGrid(np.zeros(d), np.zeros(d, dtype=np.int64), cells, _GROUPS)
    measured = view.measure(Histogram(grid), share=share, label="magnitude")
    parts = measured.values.reshape(d, cells) / rows
    before = np.concatenate([np.zeros((d, 1)), parts[:, :-1]], axis=1)
    # Values in one cell, in it and the one before, or in it and near 0.
    splits = [(1.0, 0.0, 0.0), (0.5, 0.5, 0.0), (0.25, 0.75, 0.0), (0.4, 0.0, 0.6), (0.2, 0.0, 0.8)]
    fits = [
        parts * here + before * near + parts[:, :1] * none - 0.5 * (here**2 + near**2 + none**2)
        for here, near, none in splits
    ]
    noise = (measured.std / rows) ** 2 + MISFIT**2
    octaves = np.abs(np.arange(cells) - cells // 2) * 2.0 ** (_GROUPS - 52)
    fit = np.logaddexp.reduce(np.array(fits) / noise, axis=0) - octaves / _USUAL
    offset = np.zeros(d, dtype=np.int64)
    if d > 1:
        likely = pooled_posterior(fit, offset, width=1)
    else:
        likely = np.exp(fit - fit.max())
        likely /= likely.sum()
    place = np.argmax(np.cumsum(likely, axis=1) >= _SURE, axis=1)
    edges = np.clip(grid.edges(0)[1:], _TINY, 1.0 / _TINY)
    return np.asarray(edges[place])


def _look(
    view: SomeColumns,
    rows: float,
    center: Floats,
    half: Floats,
    asked: NDArray[np.intp],
    share: float,
    level: int,
) -> Look:
    """Count some columns in their windows."""
    some = SomeColumns(view.curator, view.index[asked])
    query = Histogram(Look.grid(center[asked], half[asked]))
    measured = some.measure(query, share=share, label=f"place {level + 1}")
    counts = measured.values.reshape(asked.size, -1)
    parts, noise = np.zeros((view.dimension, counts.shape[1])), np.full(view.dimension, np.inf)
    parts[asked], noise[asked] = counts / rows, measured.std / rows
    return Look(center.copy(), half, parts, noise)


def _apart(seen: list[Look], sure: float, columns: int) -> Floats:
    """Return how much columns deviate, by the values that all narrow windows leave out; 0: none.

    These values are beyond one window, not beyond the one before. Of all that are possible the
    likeliest is taken, if the counts beyond it are above 0 by so many standard deviations, or more
    where columns are many.
    """
    if len(seen) < 2:
        return np.zeros(1)
    beyond = np.array([look.beyond for look in seen])
    weight = np.array([0.5 / look.noise**2 for look in seen])
    half = np.log2([look.half for look in seen])
    total = np.cumsum((weight * beyond)[::-1], axis=0)[-2::-1]  # from the second window on
    weights = np.maximum(np.cumsum(weight[::-1], axis=0)[-2::-1], _TINY)
    part, sureness = np.maximum(total / weights, 0.0), total / np.sqrt(weights)
    far = 0.5 * (half[:-1] + half[1:])
    likely = 0.5 * np.maximum(sureness, 0.0) ** 2 - np.abs(far) / _USUAL
    best = np.argmax(likely, axis=0), np.arange(beyond.shape[1])
    # Of many columns, noise makes some look so.
    surely = math.sqrt(sure**2 + 2.0 * math.log(columns))
    found = (sureness[best] > surely) & (part[best] > _LEAST_APART)
    return np.where(found, np.sqrt(part[best]) * 2.0 ** far[best], 0.0)
