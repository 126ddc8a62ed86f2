"""Where a column's values are and how far they deviate, for products of columns.

A regression wants means and standard deviations, of skewed columns and of those that are
mostly one value, too, and no column that by a scale far too small drowns all others. So
here a scale is a root mean square deviation, as far out as rows are surely seen. Features of
which only a single value is seen have what the rows tell that are farthest out in them
(`rare_features.py`), or, if that is nothing, a scale so large that they count for nothing.

1. Find each column's bulk (`locate`).
2. A histogram of |x - center| in half octaves: its bulk is matched against the half-normal
   shape, and its second moment is a lower bound of the noisy one (`_deviation`). Features whose
   rows are far longer than that says have a floor (`search/floor.py`).
3. A mean of values cut to `_REACH` deviations, then the mean square around it.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from prolate.arrays import Bools, Floats, Integers
from prolate.curator import Searcher
from prolate.estimators.columns import SomeColumns
from prolate.estimators.moments import SQUARABLE
from prolate.estimators.regression.rare_features import with_rare_values
from prolate.estimators.search.center import refine_center
from prolate.estimators.search.floor import with_floor
from prolate.estimators.search.half_octaves import (
    CANDIDATES,
    HALF_OCTAVE,
    HalfOctaves,
    even_half_octave,
)
from prolate.estimators.search.locate import SCALES, WITHIN, Interval, locate
from prolate.estimators.search.pooling import pooled_posterior
from prolate.estimators.search.spread import LARGEST, SMALLEST, half_normal_fit
from prolate.queries import ClippedSum, Histogram

__all__ = ["standardize"]

_LOCATE = 0.5  # part of the share for step 1, which can do with coarser counts
_LEVELS = 4  # of its zoom, at most
_ACCIDENT = 0.02  # probability that noise alone makes a run of cells stand out
_CELLS = 160  # half octaves
_DOWN = 45  # octaves below the largest values seen at which the histogram begins
_TINY = 1e-250
_NEXT_TO_NOTHING = 2.0**-30  # of other columns' values
_NARROWER, _WIDER = 4.0, 3.0  # octaves that a scale may be from what its interval says
_SURE, _SURE_ANYWHERE, _NEVER = 4.5, 6.0, 1e9  # standard deviations that show a moment
_OCTAVES = 8.0  # from one, that need a standard deviation more where a single value was seen
_LOWER = 2.5  # of them, by which it is lowered
_BEYOND = 3  # half octaves that rare values may reach beyond the last that are seen
_REACH = 8.0  # deviations at which values are cut for the mean square
_MOST = 10.0  # times by which the mean square may differ from what step 2 says, ...
_LESS_RARE = 2.0  # ... or be less, of rare values: their squares are far above their mean, and cut
_LEFT = 0.25  # of the budget that is left, for each measurement of step 3
_RADIUS = 3.0  # of the squares' norm, over that of normal rows


def standardize(
    view: Searcher, rows: float, *, share: float, target: bool = False
) -> tuple[Floats, Floats, Bools]:
    """Return the mean and the standard deviation of every column, roughly, and which were seen.

    Of the others, only a single value was.

    Parameters
    ----------
    view : Searcher
        Its columns are asked.
    rows : float
        Number of rows, or a private estimate of it.
    share : float
        Share of mu**2 of every measurement: three to eight of them.
    target : bool
        A column of which only a single value is seen gets a small scale instead.
    """
    interval = locate(
        view,
        rows,
        magnitude_share=_LOCATE * share,
        share=_LOCATE * share,
        most_levels=_LEVELS,
        accident=_ACCIDENT,
        each=False,  # zeros beside numbers, as flags have, would seem to be tiny numbers
    )
    if not target:
        interval = _with_zeros(view, rows, interval, share=share)
    spread = _deviation(view, rows, interval, share=share, target=target)
    if target:
        seen = spread > 0.0
        spread = np.where(seen, spread, interval.half / SCALES)
        spread = np.clip(spread, SMALLEST, LARGEST)
    else:
        spread, unseen = with_rare_values(view, rows, interval, spread)
        spread = np.clip(np.where(spread > 0.0, spread, LARGEST), SMALLEST, LARGEST)
        seen = ~unseen
        spread, _ = with_floor(view, rows, interval.center, spread, wide=spread < LARGEST)
        share = min(share, _LEFT * view.remaining)  # long rows may have cost something
    less = np.where(interval.narrow, _LESS_RARE, _MOST)
    spread = _mean_square(view, rows, interval.center, spread, less, share=share)
    center, _ = refine_center(view, rows, interval.center, spread, share=share)
    return center, spread, seen


def _with_zeros(view: Searcher, rows: float, interval: Interval, *, share: float) -> Interval:
    """Return the intervals, of columns whose bulk is 0 as a single value, too.

    Where counts are coarse, values that are 0 are told from tiny ones by nothing yet.
    """
    tiny = interval.half < _NEXT_TO_NOTHING * np.max(interval.farthest)
    tiny &= ~interval.narrow & (np.abs(interval.center) <= interval.half)
    if not tiny.any():
        return interval
    some = SomeColumns(view, np.flatnonzero(tiny))
    smaller = np.maximum(_NEXT_TO_NOTHING * interval.half[tiny], _TINY)
    halves = HalfOctaves(smaller.view(np.int64) >> HALF_OCTAVE, 2)  # or smaller, or 0
    query = Histogram(halves.grid(np.zeros(smaller.size)))
    measured = some.measure(query, share=share * smaller.size / tiny.size, label="zeros")
    zero = np.zeros_like(tiny)
    zero[tiny] = measured.values.reshape(-1, 2)[:, 0] > 0.5 * rows
    center = np.where(zero, 0.0, interval.center)
    return replace(interval, center=center, narrow=interval.narrow | zero)


def _mean_square(
    view: Searcher, rows: float, center: Floats, spread: Floats, less: Floats, *, share: float
) -> Floats:
    """Return the root mean square deviation of values cut to `_REACH` spreads.

    Its square is less than that of `spread` by a factor of `less` at most.
    """
    size = np.clip(spread, *SQUARABLE) ** 2
    reach = _REACH * spread
    query = ClippedSum(
        size,
        size,
        _RADIUS * math.sqrt(2.0 * spread.size),
        lower=center - reach,
        upper=center + reach,
        about=center,
    )
    measured = view.measure(query, share=share, label="scale again")
    square = size + query.unit * measured.values / rows
    return np.where(size == spread**2, np.sqrt(np.clip(square, size / less, size * _MOST)), spread)


def _deviation(
    view: Searcher, rows: float, interval: Interval, *, share: float, target: bool
) -> Floats:
    """Return about the root mean square deviation from the intervals' centers; 0: not seen."""
    d, rows, narrow = view.dimension, max(rows, 1.0), interval.narrow
    halves = HalfOctaves(_first_cells(interval), _CELLS)
    grid = halves.grid(interval.center)
    measured = view.measure(Histogram(grid), share=share, label="scale")
    counts, noise = measured.values.reshape(d, _CELLS), measured.std
    unit, edges = halves.unit, halves.edges
    middle = np.sqrt(edges[:-1] * edges[1:])

    bulk = np.zeros(d)
    if not narrow.all():
        wide, scales = ~narrow, halves.scales
        fit = half_normal_fit(counts[wide], noise, rows, edges, scales)
        guess = np.clip(interval.half[wide] / SCALES / unit[wide], scales[0], scales[-1])
        octaves = np.log2(scales / guess[:, np.newaxis])
        fit[(octaves < -_NARROWER) | (octaves > _WIDER)] = -np.inf
        bulk[wide] = pooled_posterior(fit, halves.offset[wide], width=CANDIDATES - 1) @ scales

    # The second moment up to each cell. The last holds whatever is beyond, and does not count,
    # nor does the bulk of a narrow column, which is a single value.
    single = narrow[:, np.newaxis] & (
        middle * unit[:, np.newaxis] <= WITHIN * interval.half[:, np.newaxis]
    )
    square = np.append(middle[:-1] ** 2, 0.0)
    moment = np.cumsum(np.where(single, 0.0, counts) * square, axis=1)
    doubt = noise * np.sqrt(np.cumsum(square**2))
    sure = _surely(interval, middle * unit[:, np.newaxis], target=target)
    lower = np.where(moment > sure * doubt, moment - _LOWER * doubt, 0.0)
    seen = lower.max(axis=1)
    # Of rare values the nearest are seen first: too large a scale does less harm than too
    # small a one.
    last = np.minimum(np.argmax(lower, axis=1) + _BEYOND, _CELLS - 2)
    upper = (moment + doubt)[np.arange(d), last]
    seen = np.where(narrow & (seen > 0.0), np.maximum(seen, upper), seen)
    with np.errstate(over="ignore"):
        return np.asarray(np.sqrt(np.maximum(bulk**2, seen / rows)) * unit)


def _surely(interval: Interval, size: Floats, *, target: bool) -> Floats:
    """Return how many standard deviations show that there are deviations of a size.

    The farther beyond what was seen so far, the more: one false alarm there would drown
    everything else. Where only zeros were seen, rows tell of features (`rare_features.py`); but a
    target may deviate by anything, and likeliest by about one.
    """
    usual = np.where(interval.narrow, interval.farthest, interval.half)[:, np.newaxis]
    known = usual > _TINY
    with np.errstate(divide="ignore"):
        beyond = np.log2(size / np.where(known, usual, 1.0))
        from_one = np.abs(np.log2(size))
    sure = np.where(known, _SURE + np.maximum(beyond, 0.0), _NEVER)
    if not target:
        return sure
    anywhere = np.minimum(_SURE + from_one / _OCTAVES, _SURE_ANYWHERE)
    return np.where(interval.narrow[:, np.newaxis], np.minimum(sure, anywhere), sure)


def _first_cells(interval: Interval) -> Integers:
    """Return an even first half octave for every column."""
    seen = np.where(interval.farthest > _TINY, interval.farthest, 1.0)
    top = np.where(interval.narrow, seen, interval.half)
    most = ((1 << 63) - 1 >> HALF_OCTAVE) - _CELLS - 4
    return np.asarray(np.clip(even_half_octave(top) - 2 * _DOWN, 2, most // 2 * 2))
