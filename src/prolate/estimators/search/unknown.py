"""Centers and spreads of columns of which nothing is public.

Columns whose bulk is seen to be spread are searched in turns: a better center inside of where it
is (`refine_center`), and the spread around that (`measure_scale`). Those that are nearly constant
are learned from their rare values (`rare.py`), and values far out from the rows that have them
(`farthest.py`, `floor.py`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Searcher
from prolate.estimators.columns import SomeColumns
from prolate.estimators.search.center import refine_center, roughness_of
from prolate.estimators.search.farthest import with_farthest
from prolate.estimators.search.first_mean import are_mostly, first_mean
from prolate.estimators.search.floor import with_far_values
from prolate.estimators.search.locate import SCALES, Interval
from prolate.estimators.search.rare import (
    RareValues,
    common_side,
    joined,
    likely_steps,
    own_spread,
    rare_values,
    with_usual_steps,
)
from prolate.estimators.search.rare_column import RareColumn, gap_of_one, rare_column
from prolate.estimators.search.shape import Shape
from prolate.estimators.search.spread import LARGEST, SMALLEST, measure_scale
from prolate.estimators.shares import Shares
from prolate.estimators.shrink import shrink

__all__ = ["search_columns"]

_ROUNDS = 3  # of center and spread, where the first is too rough
_ROUGHNESS = 0.35  # noise of a center, in spreads, that is good enough
_FARTHER = 2.0  # times its spread so far: around a center inside of that, which may be far off
_RARE, _RARE_LEAST = 0.12, 0.012  # part of the first mean of columns of rare values
_MOSTLY = 0.5  # of the columns
_LARGEST = 0.5  # spread of values that are 0 or one, over one
_SKEWED = 0.5  # probability of a tail that is not seen, so that a cut beside it takes too much
_FLOOR = 0.1  # least spread of a nearly constant column, over what others usually have
_ALONE = (
    "Each column showed a single value. Noise would hide other values in up to about {:.3g} % of "
    "the rows: intervals of means and variances allow for such as are 1 away from a whole number, "
    "or as far from another one as that is from 0, and other intervals do not. More rows, a larger "
    "budget or bounds would help."
)


def search_columns(
    curator: Searcher,
    all_rows: float,
    sample: Searcher,
    shares: Shares,
    interval: Interval,
    *,
    relative: bool,
) -> Shape:
    """Find centers and spreads inside the columns' intervals.

    Of a nearly constant column, by how spread the others are on average; or, where errors count
    `relative` to the spreads, usually.
    """
    if interval.narrow.size == 1:
        return _search_one(curator, all_rows, sample, shares, interval)
    rows, narrow = all_rows * sample.fraction, interval.narrow
    rare = RareValues(np.zeros(narrow.size), np.zeros_like(narrow), np.zeros(narrow.size))
    if narrow.any():
        rare = rare_values(
            sample,
            rows,
            interval,
            share=shares.rare,
            again=shares.rare_again,
            relative=relative,
        )
        if np.mean(narrow) > _MOSTLY and not relative:
            interval, rare = joined(interval, rare)
            narrow = interval.narrow
    common = rare.spread
    if relative:
        rare, common = with_usual_steps(rare)
    step, center = rare.step.copy(), interval.center.copy()
    spread = np.full(narrow.size, common)
    center_noise, roughness = None, 0.0
    if not narrow.all():
        center, spread, center_noise, roughness = _search_wide(
            sample,
            rows,
            interval,
            shares,
            common=common,
            reach=float(step.max()),
            relative=relative,
        )
    likely = np.minimum(np.maximum(spread, rare.seen), _LARGEST * step)
    spread = np.where(step > 0.0, likely, spread)
    # The bulk of a nearly constant column is known no better than to within its interval.
    spread = np.maximum(spread, np.where(narrow, interval.half / SCALES, 0.0))
    spread = np.clip(spread, SMALLEST, LARGEST)
    seen, heavy = np.zeros(narrow.size), np.zeros_like(narrow)
    # Columns of rare values alone are all alike, unless these are of several sizes.
    looked = np.flatnonzero(~narrow | rare.mixed | (np.mean(narrow) <= _MOSTLY))
    if looked.size and not shares.crowded:
        least = 1.0 if interval.part is None else float(interval.part.min())
        view = sample if looked.size == narrow.size else SomeColumns(sample, looked)
        raised, floored, heavy[looked] = with_far_values(
            view, rows, center[looked], spread[looked], wide=~narrow[looked], least=least
        )
        if center_noise is not None:
            center_noise[looked[floored]] = np.inf  # it was the bulk's
        seen[looked] = np.where(raised > spread[looked], raised, 0.0)
        spread[looked] = raised
        step[looked] = np.where(
            step[looked] > 0.0, np.maximum(step[looked], raised / _LARGEST), 0.0
        )
    warnings = shares.warnings(found=interval.found)
    constant = narrow & (step == 0.0)
    hidden = min(rare.hidden_rows / max(rows, 1.0), 1.0) if constant.all() else 0.0
    if constant.all() and not warnings:
        warnings = (_ALONE.format(100.0 * hidden),)
    shape = Shape(
        all_rows,
        sample,
        center,
        spread,
        roughness,
        warnings,
        constant=constant,
        hidden_part=hidden,
        heavy=heavy,
    )
    if not step.any():
        return replace(shape, center_noise=center_noise)
    return _with_first_mean(curator, shape, interval, replace(rare, step=step), seen)


def _search_one(
    curator: Searcher, rows: float, sample: Searcher, shares: Shares, interval: Interval
) -> Shape:
    """Find the center and spread of a single column.

    Or how far values are from its bulk: where that is nearly all of them, and where there is a gap.
    """
    warnings = shares.warnings(found=interval.found)
    if not interval.narrow[0]:
        few = rows * sample.fraction
        center, spread, noise, roughness = _search_wide(
            sample, few, interval, shares, common=0.0, reach=0.0
        )
        spread = np.clip(spread, SMALLEST, LARGEST)
        likely = interval.skewed is not None and interval.skewed[0] > _SKEWED
        rough = interval.doubt is not None and (shares.rough or likely)
        tails = not (rough or shares.crowded)  # can be seen
        gap = gap_of_one(sample, few, center, spread) if tails else 0.0
        if gap == 0.0:
            if tails:
                spread, _ = with_farthest(sample, few, center, spread)
            shape = Shape(rows, sample, center, spread, roughness, warnings, center_noise=noise)
            tail = 1.0 if interval.tail is None else float(interval.tail[0])
            return replace(shape, unseen_tail=tail if rough else 0.0)
        interval = replace(interval, center=center, half=gap * spread, narrow=~interval.narrow)
    found = rare_column(curator, sample, interval, rows=rows)
    spread = interval.half / SCALES
    if isinstance(found, RareColumn):
        spread = np.clip(np.maximum(spread, np.sqrt(found.square)), SMALLEST, LARGEST)
        return Shape(rows, sample, found.mean, spread, 0.0, warnings, rare_column=found)
    spread = np.clip(spread, SMALLEST, LARGEST)
    hidden = min(found / max(rows, 1.0), 1.0)
    if not warnings or (interval.doubt is not None and np.any(interval.found)):
        warnings = (*warnings, _ALONE.format(100.0 * hidden))
    shape = Shape(rows, sample, interval.center, spread, 0.0, warnings)
    return replace(shape, constant=interval.narrow, hidden_part=hidden)


def _search_wide(
    sample: Searcher,
    rows: float,
    interval: Interval,
    shares: Shares,
    *,
    common: float,
    reach: float,
    relative: bool = False,
) -> tuple[Floats, Floats, Floats | None, float]:
    """Return centers, spreads, the centers' noise, and how rough it is.

    Where most columns are narrow, the others are searched by themselves; narrow columns have
    the spread that is `common` to them, or more.
    """
    narrow = interval.narrow
    center, spread = interval.center.copy(), interval.half / SCALES
    noise, seen, rounds = np.full(narrow.size, np.inf), np.zeros(narrow.size), _ROUNDS
    if interval.doubt is not None:  # no other counts tell more
        noise, seen, rounds = interval.doubt, np.where(narrow, 0.0, spread), 0
    mostly = np.mean(narrow) > _MOSTLY
    index = np.flatnonzero(~narrow) if mostly else np.arange(narrow.size)
    again = index
    for _ in range(rounds):
        view = SomeColumns(sample, again) if again.size < narrow.size else sample
        part = again.size / narrow.size
        center[again], noise[again] = refine_center(
            view,
            rows,
            center[again],
            spread[again],
            share=part * shares.center,
            crowded=shares.crowded,
        )
        seen[again] = measure_scale(
            view, rows, interval.at(center, again), reach=reach, share=part * shares.scale
        )
        seen[again] = np.maximum(seen[again], interval.least_spread[again])
        farther = again[(seen > _FARTHER * spread)[again] & ~narrow[again]]
        spread[again] = np.where(narrow[again], spread[again], seen[again])
        roughness = roughness_of(noise[~narrow], spread[~narrow])
        if roughness < _ROUGHNESS:
            again = farther[: 0 if shares.crowded else None]
        if not again.size:
            break
    wide = ~narrow
    roughness = roughness_of(noise[wide], spread[wide])
    told = not shares.crowded or interval.doubt is not None
    center_noise = np.where(narrow, np.inf, noise) if told and not mostly else None
    usual = float(np.median(seen[wide]) if relative else np.sum(seen[wide]) / narrow.size)
    least = max(common, _FLOOR * usual)
    spread = np.where(wide, spread, np.maximum(seen, least))
    return center, spread, center_noise, roughness


def _with_first_mean(
    curator: Searcher, shape: Shape, interval: Interval, values: RareValues, seen: Floats
) -> Shape:
    """Return the shape with a first mean, and the spreads of rare values that it tells.

    Or those that are `seen` by the rows' farthest columns, where values may be on both sides.
    """
    step, rare = values.step, values.step > 0.0
    bulk = np.where(rare, interval.center, np.nan)
    mostly, side = are_mostly(rare), None
    # Few such columns make little of the error.
    share = _RARE if mostly else max(_RARE * float(np.mean(rare)) ** 2, _RARE_LEAST)
    share *= curator.remaining
    if curator.neighbors == "replace" and mostly:
        side = common_side(curator, shape.sample, interval)
    first = first_mean(
        curator,
        shape.rows,
        shape.center,
        shape.spread,
        bulk=bulk,
        rare=values,
        side=side,
        share=share,
    )
    away = np.zeros(step.size)
    away[rare] = shrink((first.value - bulk)[rare], first.noise[rare], median=False)
    away = np.clip(away, -step, step)  # no mean is farther than the values
    square = values.spread**2 * np.count_nonzero(interval.narrow)
    step = likely_steps(away, first.noise, step, values.own, square)
    first = replace(first, step=step)
    if side is None and np.count_nonzero(rare) > 1:  # one shares with no other
        spread = own_spread(away, first.noise, step, shape.spread, both_sides=square)
        spread = np.maximum(spread, seen)
    else:
        spread = own_spread(away, first.noise, step, shape.spread)
    spread = np.clip(spread, SMALLEST, LARGEST)
    others = first.value if first.of_all else shape.center
    noise = first.noise if first.of_all else shape.center_noise
    center = np.where(rare, interval.center + away, others)
    return replace(shape, center=center, center_noise=noise, spread=spread, first=first)
