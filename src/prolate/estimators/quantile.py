"""Private quantiles, several of several columns at once: no bounds needed.

A search in nine steps. Each counts the rows between some edges, per quantile and column, up
to noise, and goes on where the wanted rank may be (`ranks/`). Later steps have more of the
budget. Where rows are many, the first steps look at a sample of them. Where they are few, coarse
counts tell where columns are, and two or three steps follow around there.

Steps that look at the same cells are measured once. The price is that of K histograms, K the
number of different tables of cells, whatever the data are.
"""

from __future__ import annotations

import math

import numpy as np

from prolate.arrays import Bools, Floats, Limits
from prolate.curator import Curator
from prolate.estimators.counting import count_rows
from prolate.estimators.estimate import Estimate
from prolate.estimators.present import ABSENT, MISSING
from prolate.estimators.ranks.cells import Cells
from prolate.estimators.ranks.search import Found, RankSearch
from prolate.estimators.ranks.start import cells_around, mostly_lost
from prolate.estimators.search.place import locate_coarsely
from prolate.estimators.shares import sample_rows
from prolate.neighbors import rows_changed
from prolate.queries import EdgesGrid, Histogram, Selected

__all__ = ["quantile"]

_STEPS = 9
# Rows are few if a count's noise is more than this part of them, or than this part of those
# beyond a quantile, and more than this one. Then so many steps follow; or so many, if it is more.
_NOISY, _NOISY_END, _FINE = 0.01, 0.1, 0.001
_SHARED = 3  # quantiles of a column within bounds, for which its place is worth its price
_MOST_COLUMNS = 128  # whose places are looked for: more would take long
_STEPS_OF_FEW, _STEPS_OF_FEWER, _NOISIER = 3, 2, 0.025
_GROWTH = 1.5  # a step's share over that of the one before
_ROUGH = 0.03  # noise, over the rows, that is enough to begin with
_FIRST = np.ldexp(1.0, [-120, -30, -10, 0, 7, 14, 24, 40, 128])  # edges, if no bounds are known
_MOST, _FEWEST = 16, 5  # cells
_ROWS_OF_CELL = 2.0  # that a cell should hold, over the noise of its count
# Where rows are many, the first steps look at a sample: of so many rows; of this multiple of a
# count's noise; and of as many as are counted in no time.
_ON_SAMPLE = 6
_GROWTH_AFTER = 3.0
_ROUGH_IN_SAMPLE = 0.01
_ENOUGH_NOISE = 1000.0  # rows of a sample, over the noise of a count
_AT_ONCE = 2048  # quantiles whose covariances are worked out together
_SMALL = 0.03  # noise of ranks, over the rows, that is said to be much
_HIDDEN, _HIDDEN_FROM_ALL = 0.1, 0.05  # that may hide even how large values are
_HOPELESS = 0.125  # noise of one count of each column, that does hide it if its place is unsure
# Standard deviations of noise from the least or largest value; where few rows were expected.
_NEAR_END, _RIGHT_AT_END = 6.0, 3.0
_CLEARLY = 6.0  # standard deviations of a count, and parts of the rows, ...
_LEAST_MISSING = 0.02  # ... that are surely missing
_LOST = (
    ", which may hide even the rough size of the values: do not use these numbers. More rows, a "
    "larger budget or bounds would help."
)
_END = (
    "A quantile is nearer to the least or the largest value than noise can resolve: the released "
    "number may be anywhere beyond the values around it. Ask for a quantile farther from the ends; "
    "more rows or a larger budget would also help."
)
_FEW_VALUES = (
    "Many rows share the value of a quantile: the released number may be the value next to it, and "
    "the interval may be too narrow to include the right one."
)


def quantile(curator: Curator, probabilities: Floats) -> Estimate:
    """Return the private quantiles.

    Parameters
    ----------
    curator : Curator
        All of its remaining budget is spent.
    probabilities : float64 array of shape (q,)
        In [0, 1].

    Returns
    -------
    Estimate
        With arrays of shape (q, d). Its `noise_std` and `sampling_std` are those of the
        rank over the density of rows around the quantile, which is read off the same
        measurements.
    """
    d, wanted = curator.dimension, probabilities.size
    rows = count_rows(curator, again=True)
    probability = np.repeat(probabilities, d)
    one_count = _noise_of(curator, d) / max(rows, 1.0)
    searches, few, lost = _search(curator, probability, rows)
    found = [search.found() for search in searches]
    value = np.concatenate([some.value for some in found])
    noise_std, sampling_std = _stds(searches, found, probability, max(rows, 1.0))
    if few and lost and one_count > _HOPELESS:
        noise_std = np.full(value.size, np.inf)
    if curator.bounds is not None:
        lower, upper = (np.tile(bound, wanted) for bound in curator.bounds)
        value = np.clip(value, lower, upper)
        noise_std = np.minimum(noise_std, upper - lower)
        sampling_std = np.minimum(sampling_std, upper - lower)
    shape = (wanted, d)
    absent, there = _present(curator, found, rows, few=few)
    noise_std = np.where(np.tile(absent, wanted), np.inf, noise_std)
    return Estimate(
        value=_sorted(value.reshape(shape), probabilities),
        noise_std=noise_std.reshape(shape),
        sampling_std=sampling_std.reshape(shape),
        rows=rows,
        warnings=_warnings(found, probability, rows, absent, few=few, lost=lost),
        details={"rank_noise": _rank_noise(found), **there},
    )


def _search(
    curator: Curator, probability: Floats, rows: float
) -> tuple[list[RankSearch], bool, bool]:
    """Look where the quantiles are; all of the budget is spent.

    Also returned is whether rows are few, and whether not even their rough size may be known.
    """
    d, budget = curator.dimension, curator.remaining
    one_row = _noise_of(curator, probability.size)
    noise = one_row / max(rows, 1.0)
    away = float(np.minimum(probability, 1.0 - probability).min())
    few = noise > max(_FINE, min(_NOISY, _NOISY_END * away)) and d <= _MOST_COLUMNS
    bounded = curator.bounds is not None and bool(np.isfinite(curator.bounds).all())
    few &= not bounded or probability.size >= _SHARED * d
    steps, first, lost = _STEPS, None, not bounded
    edge = _first_edges(curator.bounds, d)
    if few:
        steps = _STEPS_OF_FEWER if noise > _NOISIER else _STEPS_OF_FEW
        interval = locate_coarsely(curator, rows)
        first = cells_around(interval, curator.bounds, rows)
        edge, lost = first.edge, not bounded and mostly_lost(interval)
    enough = sample_rows(curator, noise=one_row, enough=_ENOUGH_NOISE)
    sample = curator if few else curator.sampled(enough, rows)
    roughly = 0 if sample is curator else _ON_SAMPLE
    total = rows if curator.neighbors == "replace" else None
    pieces = [slice(k, k + _AT_ONCE) for k in range(0, probability.size, _AT_ONCE)]
    searches: list[RankSearch] = []
    column = np.arange(probability.size) % d
    edge = edge[column]
    noise_of = noise / sample.fraction, noise
    for step in range(steps):
        share = _share(step, steps, roughly, noise_of, budget, curator.remaining)
        if searches:
            between = np.concatenate([search.between for search in searches])
            fraction = sample.fraction if step < roughly else 1.0
            each = one_row * math.sqrt(budget / share) / fraction
            parts = round(float(np.median(between)) / (_ROWS_OF_CELL * each))
            for search in searches:
                search.narrow(min(max(parts, _FEWEST), _MOST))
            edge = np.concatenate([search.edge for search in searches])
        table = sample if step < roughly else curator
        counts, std = _count(table, edge, share, f"quantile {step + 1}")
        # The rows of a sample are there by chance.
        expected = np.concatenate([search.expected for search in searches] or [counts])
        variance = std**2 + np.maximum(expected, 0.0) * (1.0 / table.fraction - 1.0)
        for search, k in zip(searches, pieces, strict=False):
            search.see(counts[k], variance[k])
        if not searches:
            seen = (
                Cells.around_all(edge, counts, variance)
                if first is None
                else first.of(column).surprised(counts, variance).seen(counts, variance)
            )
            searches = [RankSearch(seen.of(k), probability[k], total) for k in pieces]
    return searches, few, lost


def _noise_of(curator: Curator, tables: int) -> float:
    """Return the noise of the counts of so many tables, if they had all of the budget."""
    changed = rows_changed(curator.neighbors) * tables
    return math.sqrt(changed) / curator.mu_of(curator.remaining)


def _share(
    step: int, steps: int, roughly: int, noise_of: tuple[float, float], budget: float, left: float
) -> float:
    """Return the share of a step: enough to see roughly, and later ever more of what is left.

    Of so many `steps`, `roughly` so many are of a sample. `noise_of` is the noise of a count over
    the rows of the sample, and of all, if it had all of the budget.
    """
    later = steps - step
    if step < roughly:
        return min(budget * (noise_of[0] / _ROUGH_IN_SAMPLE) ** 2, left / later)
    enough = min(budget * (noise_of[1] / _ROUGH) ** 2, left / later)
    growth = (_GROWTH_AFTER if roughly else _GROWTH) ** np.arange(later)
    return min(max(left / float(growth.sum()), enough), left)


def _count(curator: Curator, edge: Floats, share: float, label: str) -> tuple[Floats, float]:
    """Return noisy counts of rows between the edges of each quantile, and beyond; their noise.

    Of all rows, of which the curator's may be a sample.
    """
    column = np.arange(len(edge)) % curator.dimension
    tables, where = np.unique(np.column_stack([column, edge]), axis=0, return_inverse=True)
    index = tables[:, 0].astype(np.int64)
    histogram = Histogram(EdgesGrid(tables[:, 1:]))
    whole = index.size == curator.dimension  # tables are in the order of their columns
    query = histogram if whole else Selected(histogram, index, curator.dimension)
    measured = curator.measure(query, share=share, label=label)
    counts = measured.values.reshape(histogram.shape)[where.reshape(-1)]
    return counts / curator.fraction, measured.std / curator.fraction


def _stds(
    searches: list[RankSearch], found: list[Found], probability: Floats, most: float
) -> tuple[Floats, Floats]:
    """Return the standard deviations of the privacy noise and of sampling."""
    noise, sampling = [], []
    start = 0
    for search, some in zip(searches, found, strict=True):
        p = probability[start : (start := start + some.value.size)]
        drawn = np.sqrt(p * (1.0 - p) * np.minimum(some.present, most))
        with np.errstate(over="ignore"):
            per_rank = search.per_rank(some, np.hypot(some.rank_noise, drawn))
            noise.append(np.hypot(per_rank * some.rank_noise, some.unsure))
            sampling.append(per_rank * drawn)
    return np.concatenate(noise), np.concatenate(sampling)


def _rank_noise(found: list[Found]) -> float:
    """Return the usual noise of a rank, in rows."""
    return float(np.median(np.concatenate([some.rank_noise for some in found])))


def _present(
    curator: Curator, found: list[Found], rows: float, *, few: bool
) -> tuple[Bools, dict[str, dict[str, float]]]:
    """Return which columns have hardly any values, and counts of those with missing ones.

    All counts of a column add up to the number of its values, with about the noise of a rank. Of
    few rows, they begin with what is expected.
    """
    d = curator.dimension
    present = np.concatenate([some.present for some in found]).reshape(-1, d).mean(axis=0)
    noise = np.concatenate([some.rank_noise for some in found]).reshape(-1, d).max(axis=0)
    clear = rows - present > np.maximum(_CLEARLY * noise, _LEAST_MISSING * rows)
    absent = clear & (present < np.minimum(_CLEARLY * noise, ABSENT * rows))
    if few:
        return absent, {}
    each = zip(curator.columns, present.tolist(), clear.tolist(), strict=True)
    values = {name: min(count, rows) for name, count, some in each if some}
    return absent, {"values": values} if values else {}


def _warnings(
    found: list[Found],
    probability: Floats,
    rows: float,
    absent: Bools,
    *,
    few: bool,
    lost: bool,
) -> tuple[str, ...]:
    """Return what to say of quantiles that may be far off, or of values that many rows share."""
    noise = _rank_noise(found) / max(rows, 1.0)
    present = np.concatenate([some.present for some in found])
    away = np.minimum(probability, 1.0 - probability) * present
    said: list[str] = []
    if noise > _SMALL:
        lost &= noise > (_HIDDEN if few else _HIDDEN_FROM_ALL)
        count = probability.size
        said.append(
            f"The rows are few for this budget and {count} quantile{'' if count == 1 else 's'}: "
            f"the noise of ranks is {100 * noise:.0f} % of the rows{_LOST if lost else '.'}"
        )
    near = _RIGHT_AT_END if few or noise > _SMALL else _NEAR_END
    there = ~np.resize(absent, probability.size)  # what is not there has no end
    ends = away <= near * np.concatenate([some.rank_noise for some in found])
    if np.any(ends & there):
        said.append(_END)
    if absent.any():
        said.append(MISSING)
    if np.any(np.concatenate([some.alike for some in found]) & there):
        said.append(_FEW_VALUES)
    return tuple(said)


def _first_edges(bounds: Limits | None, d: int) -> Floats:
    """Return the edges of the first step, shape (d, m + 1): no row is beyond them."""
    edge = np.tile(np.concatenate([[-np.inf], -_FIRST[::-1], [0.0], _FIRST, [np.inf]]), (d, 1))
    if bounds is None:
        return edge
    lower, upper = (bound[:, np.newaxis] for bound in bounds)
    known = np.isfinite(lower) & np.isfinite(upper)
    with np.errstate(over="ignore", invalid="ignore"):
        part = np.linspace(0.0, 1.0, edge.shape[1])
        evenly = lower * (1.0 - part) + upper * part
    edge = np.where(known, evenly, np.clip(edge, lower, upper))
    edge[:, 0], edge[:, -1] = lower[:, 0], np.nextafter(upper[:, 0], np.inf)
    return np.maximum.accumulate(edge, axis=1)


def _sorted(values: Floats, probabilities: Floats) -> Floats:
    """Return the values with larger quantiles never below smaller ones of their column."""
    order = np.argsort(probabilities, kind="stable")
    result = np.empty_like(values)
    result[order] = np.sort(values, axis=0)
    return result
