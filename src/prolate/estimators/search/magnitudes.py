"""How large each column's values are, privately, from the float format's own exponents.

First a histogram of all columns' magnitudes together, for hardly any budget: which
magnitudes are there at all. Then one histogram per column over just these, so that a
million columns need a dozen cells each; and for columns that are beyond, one over the rest.

Where the columns together show none, each is asked about every magnitude: cells cost nothing. Then
`likely_groups.py` tells which are likely, and of which columns one is as good as sure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.curator import Searcher
from prolate.estimators.columns import SomeColumns
from prolate.estimators.present import PresentView, find_present
from prolate.estimators.search.likely_groups import likely_groups
from prolate.estimators.shares import pooled_share, present_location, significance
from prolate.queries import Histogram, MagnitudeGrid, PooledHistogram

__all__ = ["BULK", "TINY", "Magnitudes", "are_mostly_zero", "find_magnitudes"]

BULK = 0.7
"""A run of cells is a column's bulk if it holds this part of its rows."""

TINY = 2.0**-900
"""No interval is narrower."""

_SHIFT = 54  # a magnitude's bit pattern >> 54 is its group of four octaves
_GROUPS = 1 << (63 - _SHIFT)
_USUAL = 8.0  # octaves from one at which a magnitude is e times less likely, by itself
_SURE = 3.0  # standard deviations of a count by which the bulk is zero
_UNLIKELY = 0.05  # probability of all larger magnitudes that are left aside, where none is seen
_SURPRISE = 1e-4  # how likely a magnitude is, by itself, that no column shows
_APART = 4.0  # standard deviations of a count that is believed where such magnitudes are there
_PRESENT = 0.8  # of the rows in groups that are seen, or there are others
_HINT = 1.5  # standard deviations of a count where others may be
_SOME = 0.11  # of the rows are taken to be there: more than `_reach` leaves aside
_RARELY = 1e-3  # probability that noise alone makes a column larger than all columns show
_MORE = 2.0  # times the share that is worth another search of columns with missing values
_MANY = 0.4  # of the rows, whose magnitude is surely seen
_EVERY_CELLS = 1 << 20  # at most, where columns are asked about every group
_OFTEN, _MOSTLY = 0.25, 0.5  # of the rows, and of the columns
_BELOW, _BELOW_CELLS = 10, 1 << 19  # groups below those seen, and at most so many in all


def are_mostly_zero(curator: Searcher, rows: float) -> bool:
    """Return whether most values of all columns together are 0, for hardly any budget."""
    d = curator.dimension
    counts, _ = _pooled(curator, np.zeros(d), pooled_share(curator, rows))
    return bool(counts[0] > _MOSTLY * rows * d)


@dataclass(frozen=True, eq=False)
class _Common:
    """Which groups of octaves the columns together show.

    Attributes
    ----------
    low, high : int
        The first and last group that a column may be in; the first holds all below it.
    likely : bool array of shape (groups,)
    prior : float64 array of shape (groups,)
        How likely each is for a value of any column, as a logarithm.
    zero, found : bool
        Whether exact zeros, and any group, stand out of the noise.
    usual : int
        The group that most values are in.
    sums : float64 array of shape (groups,), optional
        The values counted in each group, if none stands out and columns are to be asked about all.
    noise : float
        Of these.
    """

    low: int
    high: int
    likely: Bools
    prior: Floats
    zero: bool
    found: bool
    usual: int
    sums: Floats | None = None
    noise: float = math.inf


@dataclass(frozen=True, eq=False)
class Magnitudes:
    """How far from their centers the columns' values are.

    Attributes
    ----------
    largest : float64 array of shape (d,)
        Most values of a column have |x - center| <= largest / 2.
    farthest : float64 array of shape (d,)
        The same of the farthest values that stand out of the noise.
    sure : float64 array of shape (d,)
        As `largest`, of values other than 0 that surely stand out, if these are many of the
        column; inf for others.
    zero : bool array of shape (d,)
        Whether the bulk is a single value, the center.
    found : bool array of shape (d,)
        Whether it is known how large a column is: a magnitude stands out in all columns together,
        or is as good as sure in this one.
    widest : float
        As `largest`, of all columns together.
    part : float64 array of shape (d,), optional
        Of each column's values that are there, where some are missing.
    absent : bool array of shape (d,)
        Which columns have as good as none.
    """

    largest: Floats
    farthest: Floats
    sure: Floats
    zero: Bools
    found: Bools
    widest: float
    part: Floats | None
    absent: Bools


def find_magnitudes(
    curator: Searcher,
    rows: float,
    *,
    share: float,
    center: Floats | None = None,
    least: float = 1.0,
    each: bool = True,
) -> Magnitudes:
    """Find how far from `center` (0) the values are.

    Parameters
    ----------
    curator : Searcher
    rows : float
        Number of rows, or a private estimate of it.
    share : float
        Share of mu**2 for the columns' histograms; at most three times that is spent, unless
        many values are missing: then the others are searched again, for more.
    center : float64 array of shape (d,), optional
    least : float
        Part of a column's values that is there at least, where the curator says as if all were.
    each : bool
        Whether each column is asked about every magnitude where all together show none.
    """
    d = curator.dimension
    origin = np.zeros(d) if center is None else center
    common = _find_common(curator, rows, origin, share, least, each)
    grid = MagnitudeGrid(origin, np.full(d, common.low), common.high - common.low + 2, _SHIFT)
    query = Histogram(grid, missing=True)
    measured = curator.measure(query, share=share, label="magnitude")
    # Groups are few, and all columns are looked at together: so these lie side by side.
    every = np.asfortranarray(measured.values.reshape(query.shape))
    counts, noise = every[:, :-1], measured.std
    part, absent = find_present(curator, rows, every[:, -1], noise)
    if part is not None:
        least = float(part.min())
        larger = present_location(curator, share, least)
        if larger > _MORE * share:
            table = PresentView(curator, rows, part)
            again = find_magnitudes(
                table, rows, share=larger, center=center, least=least, each=each
            )
            return replace(again, part=part, absent=absent)
        counts, noise = counts / part[:, np.newaxis], noise / least
    if common.sums is not None:
        both = (counts, noise), (common.sums, common.noise)
        top, known = likely_groups(*both, rows=rows, prior=common.prior)
        largest = 2.0 * np.clip(grid.edges(0), TINY, 1.0 / TINY)[top + 1]
        sure, zero = np.full(d, np.inf), np.zeros(d, dtype=np.bool_)
        widest = float(largest.max())
        return Magnitudes(largest, largest, sure, zero, known, widest, part, absent)
    doubt = significance(d * grid.cells) * noise
    seen = np.where(counts > doubt, counts, 0.0)
    nothing = ~seen.any(axis=1)
    if nothing.any():
        seen[nothing] = _likely(counts[nothing], noise, rows, common)
    # Where zeros are seen, the lowest group is the value 0, not numbers that are tiny.
    alone = (seen[:, 0] > 0.0) & ~seen[:, 1:].any(axis=1)
    sure = counts[:, 0] - BULK * rows > _SURE * noise
    zero = np.asarray(common.zero & (alone | sure))
    near = _surely_near(seen, grid, rows)
    more = _with_hidden(seen, counts, noise, rows, common)
    if np.mean(zero) > _MOSTLY:  # then many zeros in others are no accident
        zero |= counts[:, 0] > _OFTEN * rows
        seen[~zero] = more[~zero]
    else:
        seen, zero = more, zero & (sure | ~more[:, 1:].any(axis=1))
    beyond = np.flatnonzero(seen[:, -1])

    largest, farthest = _reach(seen, grid)
    farthest[zero & ~seen[:, 1:].any(axis=1)] = TINY  # zeros are nowhere
    if beyond.size and common.high + 1 < _GROUPS:
        view, before = SomeColumns(curator, beyond), seen[beyond, :-1]
        reach = _with_larger(view, origin[beyond], before, common, share=share * beyond.size / d)
        largest[beyond], farthest[beyond] = reach
    widest = max(float(largest.max()), 2.0 * float(grid.edges(0)[common.high + 1 - common.low]))
    widest = min(widest, 1.0 / TINY)
    found = np.full(d, common.found)
    return Magnitudes(largest, farthest, near, zero, found, widest, part, absent)


def _with_larger(
    view: SomeColumns, origin: Floats, seen: Floats, common: _Common, *, share: float
) -> tuple[Floats, Floats]:
    """Return `_reach` of columns with values in larger groups than all columns show."""
    d, groups = view.dimension, _GROUPS - common.high - 1
    rest = MagnitudeGrid(origin, np.full(d, common.high + 1), groups, _SHIFT)
    further = view.measure(Histogram(rest), share=share, label="larger magnitudes")
    counts = further.values.reshape(d, groups)
    # The next magnitudes are likelier than those far out.
    tests = d * 2.0 ** np.minimum(np.arange(1, groups + 1), 20)
    accident = np.sqrt(2.0 * np.log(tests / _RARELY)) * further.std
    every = np.concatenate([seen, np.where(counts > accident, counts, 0.0)], axis=1)
    return _reach(every, MagnitudeGrid(origin, np.full(d, common.low), every.shape[1], _SHIFT))


def _surely_near(seen: Floats, grid: MagnitudeGrid, rows: float) -> Floats:
    """Return `Magnitudes.sure`; where values are larger than all columns show, nothing is."""
    numbers = seen.copy(order="K")
    numbers[:, 0] = 0.0
    known = (numbers.sum(axis=1) > _MANY * rows) & (numbers[:, -1] == 0.0)
    return np.where(known, _reach(numbers, grid)[0], np.inf)


def _with_hidden(
    seen: Floats, counts: Floats, noise: float, rows: float, common: _Common
) -> Floats:
    """Return what is seen, and where others of a column's values may be if that is too few rows.

    A column that is 0 in half of its rows, and spread over several groups in the others,
    shows the zeros alone. A group too many costs some looks; one too few, the column.
    """
    few = seen.sum(axis=1) < _PRESENT * rows
    may = common.likely[common.low : common.low + counts.shape[1]] & (counts > _HINT * noise)
    missing = rows - np.where(may | (seen > 0.0), counts, 0.0).sum(axis=1)
    may[missing > (1.0 - BULK) * rows, common.usual - common.low] = True
    some = np.maximum(counts, _SOME * rows)
    return np.where(may & few[:, np.newaxis], np.maximum(seen, some), seen)


def _likely(counts: Floats, noise: float, rows: float, common: _Common) -> Bools:
    """Return the groups that columns may be in which show none surely."""
    groups = slice(common.low, common.low + counts.shape[1])
    usual = common.likely[groups].copy()
    bulk = BULK * rows
    fit = (counts * bulk - 0.5 * bulk**2) / noise**2 + common.prior[groups]
    fit[:, ~usual] = -np.inf
    mass = np.exp(fit - fit.max(axis=1, keepdims=True))
    above = np.cumsum(mass[:, ::-1], axis=1)[:, ::-1]
    largest = np.count_nonzero(above > _UNLIKELY * above[:, :1], axis=1) - 1
    # The values of a column may lie in two groups, neither of which holds the bulk; and in
    # the last, which is for columns unlike all others.
    usual[-1] = True
    apart = (counts > _APART * noise) & usual
    return np.asarray(apart | (np.arange(counts.shape[1]) == largest[:, np.newaxis]))


def _find_common(
    curator: Searcher, rows: float, origin: Floats, share: float, least: float, each: bool
) -> _Common:
    """Return which groups of octaves all columns together show."""
    d, share = curator.dimension, min(share, pooled_share(curator, least * rows))
    sums, of_sums = _pooled(curator, origin, share)
    counts, noise = sums / d, of_sums / d
    likely = counts > significance(_GROUPS) * noise
    zero, found = bool(likely[0]), bool(likely.any())
    if each and not found and d * _GROUPS <= _EVERY_CELLS:
        return _Common(0, _GROUPS - 2, likely, _by_itself(), zero, found, 0, sums, of_sums)
    bulk = BULK * rows
    prior = _by_itself() + np.log(np.maximum(counts / max(rows, 1.0), _SURPRISE))
    if not (zero and counts[0] > bulk):  # the others may be anywhere, and count for little
        fit = (counts * bulk - 0.5 * bulk**2) / noise**2 + prior
        likely[1 + np.argmax(fit[1:])] = True
    groups = np.flatnonzero(likely)
    below = min(max(_BELOW_CELLS // d, 1), _BELOW)
    positive = groups[groups > 0] if groups[-1] > 0 else groups
    low = max(int(positive[0]) - below, 0)
    likely[low] |= likely[0]  # the first group holds all below it, zeros too
    prior[low] = max(prior[low], prior[0])
    high = min(int(groups[-1]) + 1, _GROUPS - 2)
    first = max(low, 1)  # zeros are not numbers
    usual = first + int(np.argmax(counts[first : high + 1])) if first <= high else high
    return _Common(low, high, likely, prior, zero, found, usual)


def _pooled(curator: Searcher, origin: Floats, share: float) -> tuple[Floats, float]:
    """Return how many values of all columns each group has, and the noise of that."""
    d = curator.dimension
    grid = MagnitudeGrid(origin, np.zeros(d, dtype=np.int64), _GROUPS, _SHIFT)
    label = "magnitude of all columns"
    measured = curator.measure(PooledHistogram(grid), share=share, label=label)
    return measured.values.astype(np.float64), measured.std


def _by_itself() -> Floats:
    """Return how likely each group is, as a logarithm: near one, or 0, likelier than others."""
    octaves = np.abs(np.arange(_GROUPS) - _GROUPS // 2) * 2.0 ** (_SHIFT - 52)
    octaves[0] = 0.0
    return np.asarray(-octaves / _USUAL)


def _reach(seen: Floats, grid: MagnitudeGrid) -> tuple[Floats, Floats]:
    """Return twice how far most values, and the farthest, are from the center."""
    above = seen.copy(order="F")
    for group in reversed(range(seen.shape[1] - 1)):
        above[:, group] += above[:, group + 1]
    top = np.count_nonzero(above > 0.1 * above[:, :1], axis=1)
    last = np.count_nonzero(above > 0.0, axis=1)
    edges = np.clip(grid.edges(0), TINY, 1.0 / TINY)
    return 2.0 * edges[top], 2.0 * edges[last]
