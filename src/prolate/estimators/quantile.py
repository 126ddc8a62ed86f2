"""Private quantiles, several of several columns at once: no bounds needed.

A search in nine steps. Each counts the rows between some edges, per quantile and column, up
to noise, and goes on where the wanted rank may be: into cells that hold, as far as is known,
equally many rows, since ranks are what noise blurs. What all counts together say of the ranks
at the edges is worked out by `Cells`; later steps have more of the budget, and fewer cells.

Steps that look at the same cells are measured once. The price is that of K histograms, K the
number of different tables of cells, whatever the data are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator
from prolate.estimators.cells import Cells, value_at
from prolate.estimators.estimate import Estimate
from prolate.estimators.shares import count_rows, rows_changed
from prolate.queries import EdgesGrid, Histogram, Selected

__all__ = ["quantile"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_STEPS = 9
_GROWTH = 1.5  # a step's share over that of the one before
_ROUGH = 0.03  # noise, over the rows, that is enough to begin with
_FIRST = np.ldexp(
    1.0, [-256, -64, -16, 0, 6, 12, 24, 40, 128]
)  # edges of the first step, if none are known
_MOST, _FEWEST = 16, 5  # cells
_ROWS_OF_CELL = 2.0  # that a cell should hold, over the noise of its count
_SURELY = 3.0  # standard deviations of a rank before it is taken to be elsewhere
_CLEARLY = 5.0  # standard deviations of noise before rows are taken to share a value
_ALIKE = 3.0  # times as many rows in a cell as they would be if they did not
_AT_ONCE = 4096  # tables of cells, of which covariances are held
_SMALL = 0.03  # noise of ranks, over the rows, that is said to be much
_HIDDEN = 0.05  # that may hide even how large values are
_NEAR_END = 5.0  # standard deviations of noise from the least or largest value
_LOST = (
    ", which may hide even how large the values are: do not use these numbers. More rows, a larger "
    "budget or bounds would help."
)
_END = (
    "A quantile is nearer to the least or the largest value than noise can tell: its number may "
    "be anywhere beyond the values around it. Ask for one farther inside; more rows or a larger "
    "budget would help, too."
)
_FEW_VALUES = (
    "Many rows share the value of a quantile: it may be the next value to it, and its interval "
    "may be too narrow to say so."
)


@dataclass(frozen=True, eq=False)
class _Look:
    """What is known of K quantiles after a step.

    Attributes
    ----------
    cells : Cells
        Of each quantile.
    expected : float64 array of shape (K, m)
        Rows in each cell, as they were expected before the step.
    excess, std : float64 arrays of shape (K, m + 1)
        How many rows more than wanted are below each edge, and how sure that is.
    first, last : int64 arrays of shape (K,)
        The cells that the quantiles may be in.
    """

    cells: Cells
    expected: Floats
    excess: Floats
    std: Floats
    first: Integers
    last: Integers

    @classmethod
    def at(cls, cells: Cells, probability: Floats, expected: Floats, total: float | None) -> _Look:
        """Return what is known of the quantiles of these probabilities."""
        excess, std = (cells if total is None else cells.totalling(total)).excess(probability)
        reached = excess[:, 1:] >= -_SURELY * std[:, 1:]
        begun = excess[:, :-1] <= _SURELY * std[:, :-1]
        most = reached.shape[1] - 1
        first = np.where(reached.any(axis=1), np.argmax(reached, axis=1), most)
        last = np.where(begun.any(axis=1), most - np.argmax(begun[:, ::-1], axis=1), 0)
        return cls(cells, expected, excess, std, np.minimum(first, last), np.maximum(first, last))

    @property
    def between(self) -> Floats:
        """Rows in the cells that the quantiles may be in, shape (K,)."""
        return np.maximum(_of(self.excess, self.last + 1) - _of(self.excess, self.first), 0.0)


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
    rows = count_rows(curator)
    probability = np.repeat(probabilities, d)
    looks = _search(curator, probability, rows)
    value, rank_noise, width, alike = _found(looks[-1])
    present = np.clip(looks[-1].cells.rows.sum(axis=1), 1.0, max(rows, 1.0))
    sampling = np.sqrt(probability * (1.0 - probability) * present)
    with np.errstate(over="ignore", invalid="ignore"):
        per_rank = _per_rank(looks, value, np.hypot(rank_noise, sampling))
        noise_std = np.hypot(per_rank * rank_noise, width)
        sampling_std = per_rank * sampling
    if curator.bounds is not None:
        lower, upper = (np.tile(bound, wanted) for bound in curator.bounds)
        value = np.clip(value, lower, upper)
        noise_std = np.minimum(noise_std, upper - lower)
        sampling_std = np.minimum(sampling_std, upper - lower)
    rank = probability * present
    near = np.minimum(rank, present - rank) < _NEAR_END * rank_noise
    shape = (wanted, d)
    return Estimate(
        value=_sorted(value.reshape(shape), probabilities),
        noise_std=noise_std.reshape(shape),
        sampling_std=sampling_std.reshape(shape),
        rows=rows,
        warnings=_warnings(curator, rank_noise, rows, near=bool(near.any()), alike=alike),
        details={"rank_noise": float(np.median(rank_noise))},
    )


def _warnings(
    curator: Curator, rank_noise: Floats, rows: float, *, near: bool, alike: bool
) -> tuple[str, ...]:
    """Return what to say of quantiles whose ranks are so noisy."""
    found: list[str] = []
    noise = float(np.median(rank_noise)) / max(rows, 1.0)
    if noise > _SMALL:
        lost = noise > _HIDDEN and curator.bounds is None
        count = rank_noise.size
        found.append(
            f"The rows are few for this budget and {count} quantile{'' if count == 1 else 's'}: "
            f"ranks are noisy by {100 * noise:.0f} % of the rows{_LOST if lost else '.'}"
        )
    elif near:
        found.append(_END)
    return (*found, _FEW_VALUES) if alike else tuple(found)


def _search(curator: Curator, probability: Floats, rows: float) -> list[_Look]:
    """Return what is known after each step, of each quantile of each column in turn."""
    d = curator.dimension
    column = np.tile(np.arange(d), probability.size // d)
    edge = _first_edges(curator.bounds, d)[column]
    total = rows if curator.neighbors == "replace" else None
    looks: list[_Look] = []
    for step in range(_STEPS):
        share = _share(curator, step, probability.size, rows)
        counts, variance = _count(curator, column, edge, share, f"quantile {step + 1}")
        if step == 0:
            cells = Cells.around_all(edge, counts, variance)
            expected = np.full((len(edge), edge.shape[1] - 1), np.inf)
        else:
            expected, cells = cells.rows[:, 1:-1], cells.seen(counts, variance)
        looks.append(look := _Look.at(cells, probability, expected, total))
        if step + 1 < _STEPS:
            share = _share(curator, step + 1, probability.size, rows)
            noise = math.sqrt(rows_changed(curator.neighbors) * len(edge)) / curator.mu_of(share)
            parts = round(float(np.median(look.between)) / (_ROWS_OF_CELL * noise))
            cells = cells.cut(look.first, look.last, min(max(parts, _FEWEST), _MOST))
            edge = cells.edge
    return looks


def _first_edges(bounds: tuple[Floats, Floats] | None, d: int) -> Floats:
    """Return the edges of the first step, shape (d, m + 1): no row is beyond them."""
    edge = np.tile(np.concatenate([[-np.inf], -_FIRST[::-1], [0.0], _FIRST, [np.inf]]), (d, 1))
    if bounds is None:
        return edge
    lower, upper = (bound[:, np.newaxis] for bound in bounds)
    known = np.isfinite(upper - lower)
    with np.errstate(invalid="ignore"):
        evenly = lower + (upper - lower) * np.linspace(0.0, 1.0, edge.shape[1])
    edge = np.where(known, evenly, np.clip(edge, lower, upper))
    edge[:, -1] = np.nextafter(upper[:, 0], np.inf)
    return np.maximum.accumulate(edge, axis=1)


def _share(curator: Curator, step: int, quantiles: int, rows: float) -> float:
    """Return the share of a step: enough to see roughly, then more and more of what is left."""
    later = _GROWTH ** np.arange(_STEPS - step)
    one_row = math.sqrt(rows_changed(curator.neighbors) * quantiles) / curator.mu_of(1.0)
    enough = (one_row / (_ROUGH * max(rows, 1.0))) ** 2
    most = curator.remaining / later.size
    return max(curator.remaining / float(later.sum()), min(enough, most))


def _count(
    curator: Curator, column: Integers, edge: Floats, share: float, label: str
) -> tuple[Floats, float]:
    """Return noisy counts of the cells of each quantile, (K, m + 2), and their noise's variance."""
    tables, where = np.unique(np.column_stack([column, edge]), axis=0, return_inverse=True)
    index = tables[:, 0].astype(np.int64)
    query: Histogram | Selected = Histogram(EdgesGrid(tables[:, 1:]))
    shape = query.shape
    if index.size != curator.dimension:
        query = Selected(query, index, curator.dimension)
    measured = curator.measure(query, share=min(share, curator.remaining), label=label)
    return measured.values.reshape(shape)[where.reshape(-1)], measured.std**2


def _found(look: _Look) -> tuple[Floats, Floats, Floats, bool]:
    """Return the quantiles, the noise of their ranks, how unsure they are within their cells.

    And whether many rows clearly share the value of one.
    """
    cell = np.count_nonzero(look.excess[:, 1:-1] < 0.0, axis=1)
    start, stop = _of(look.excess, cell), _of(look.excess, cell + 1)
    part = np.clip(-start / np.where(stop > start, stop - start, np.inf), 0.0, 1.0)
    lower, upper = _of(look.cells.edge, cell), _of(look.cells.edge, cell + 1)
    value = value_at(lower, upper, part)
    held, unsure = _of(look.cells.rows, cell + 1), _of(look.cells.std, cell + 1)
    alike = (held > _CLEARLY * unsure) & (held > _ALIKE * _of(look.expected, cell))
    for k in np.flatnonzero(alike):
        value[k] = _shortest(float(lower[k]), float(upper[k]))
    noise = np.hypot(
        (1.0 - part) * _of(look.std, cell) + part * _of(look.std, cell + 1),
        np.sqrt(np.maximum(held, 0.0) * part * (1.0 - part)),
    )
    with np.errstate(over="ignore", invalid="ignore"):
        width = (upper - lower) / math.sqrt(12.0)
    return value, noise, width, bool(alike.any())


def _per_rank(looks: list[_Look], value: Floats, rank_std: Floats) -> Floats:
    """Return how far apart values are around each quantile, per rank; infinite where not seen.

    The mean of both sides, each over twice the standard deviation of the rank, where an
    interval ends, or over one where no more rows are seen.
    """
    found = np.full(value.size, np.inf)
    for reach in (rank_std, 2.0 * rank_std):
        low, high = (_where(looks, sign * reach) for sign in (-1.0, 1.0))
        width = (high / 2 - low / 2) / reach  # halved first, against overflow
        found = np.where(np.isfinite(width), width, found)
    return found


def _where(looks: list[_Look], level: Floats) -> Floats:
    """Return up to where so many rows more than wanted are: by the finest look that shows it."""
    found = np.full(level.size, np.nan)
    moved = np.zeros(level.size)
    finer: _Look | None = None
    for look in reversed(looks):
        excess = np.maximum.accumulate(look.excess, axis=1)
        if finer is not None:
            # Finer looks know better how many rows are below the end that both share.
            end = np.where(level < 0.0, look.first, look.last + 1)
            known = np.where(level < 0.0, ends[0], ends[1])
            moved = known - _of(excess, end)
        excess = excess + moved[:, np.newaxis]
        ends = excess[:, 0], excess[:, -1]
        cell = np.clip(np.sum(excess <= level[:, np.newaxis], axis=1) - 1, 0, excess.shape[1] - 2)
        start, stop = _of(excess, cell), _of(excess, cell + 1)
        part = np.clip((level - start) / np.where(stop > start, stop - start, 1.0), 0.0, 1.0)
        here = value_at(_of(look.cells.edge, cell), _of(look.cells.edge, cell + 1), part)
        shown = np.isnan(found) & (ends[0] <= level) & (level <= ends[1])
        found = np.where(shown, here, found)
        finer = look
    return found


def _shortest(lower: float, upper: float) -> float:
    """Return the number with the fewest decimal digits from `lower` to below `upper`."""
    if lower <= 0.0 < upper:
        return 0.0
    middle = lower / 2 + upper / 2
    for digits in range(17):
        for near in (middle, lower, upper):
            value = float(f"{near:.{digits}e}")
            if lower <= value < upper:
                return value
    return lower


def _of(values: Floats, index: Integers) -> Floats:
    """Return one value of each row."""
    return np.take_along_axis(values, index[:, np.newaxis], axis=1)[:, 0]


def _sorted(values: Floats, probabilities: Floats) -> Floats:
    """Return the values with larger quantiles never below smaller ones of their column."""
    order = np.argsort(probabilities, kind="stable")
    result = np.empty_like(values)
    result[order] = np.sort(values, axis=0)
    return result
