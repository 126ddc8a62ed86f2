"""The search for values of wanted ranks, through counts of rows between edges.

Each look sharpens what is known of the ranks at the edges (`Cells`), and the next one is at
the cells that the wanted rank may be in, cut so that they hold, as far as is known, equally
many rows: ranks are what noise blurs, not values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Bools, Floats, Integers
from prolate.estimators.ranks.cells import Cells, value_at

__all__ = ["Found", "RankSearch"]

_SURELY = 3.0  # standard deviations of a rank before it is taken to be elsewhere
_CLEARLY = 5.0  # standard deviations of noise before rows are taken to share a value
_NOTHING = 1e-30  # so near 0 are no other numbers that many rows share
_LOPSIDED = 2.0  # times as wide as the other side, which then is not seen in an interval
_WHOLE = 1.03  # so that an interval of 95 % (1.96 standard deviations) reaches what is seen at two
_ALIKE = 3.0  # times as many rows in a cell as they would be if they did not


@dataclass(frozen=True, eq=False)
class Found:
    """What a search has found of K quantiles; arrays of shape (K,).

    Attributes
    ----------
    value : float64 array
        The quantiles.
    rank_noise : float64 array
        Standard deviation of the noise of their ranks, in rows.
    unsure : float64 array
        Standard deviation of where in their cells they are.
    present : float64 array
        Rows whose value is there.
    alike : bool array
        Whether clearly many rows share the value.
    """

    value: Floats
    rank_noise: Floats
    unsure: Floats
    present: Floats
    alike: Bools


@dataclass(frozen=True, eq=False)
class _Look:
    """Edges of cells, and how many rows more than wanted are below each: shape (K, m + 1).

    `first` and `last`, of shape (K,), are the cells that the quantiles may be in.
    """

    edge: Floats
    excess: Floats
    std: Floats
    first: Integers
    last: Integers


class RankSearch:
    """The search for K quantiles.

    Parameters
    ----------
    cells : Cells
        What is believed of the rows, beyond whose edges there are none.
    probability : float64 array of shape (K,)
    total : float, optional
        The number of rows, if it is known: some may have no value.
    """

    def __init__(self, cells: Cells, probability: Floats, total: float | None) -> None:
        self._probability, self._total = probability, total
        self._cells = cells
        self._expected = np.full((len(cells.edge), cells.edge.shape[1] - 1), np.inf)
        self._looks: list[_Look] = []
        self._judge()

    @property
    def edge(self) -> Floats:
        """Where to look next: edges of shape (K, m + 1)."""
        return self._cells.edge

    @property
    def expected(self) -> Floats:
        """Rows to expect below the edges, between them and beyond, shape (K, m + 2)."""
        return np.maximum(self._cells.rows, 0.0)

    @property
    def between(self) -> Floats:
        """Rows in the cells that the quantiles may be in, shape (K,)."""
        look = self._looks[-1]
        return np.maximum(_of(look.excess, look.last + 1) - _of(look.excess, look.first), 0.0)

    def see(self, counts: Floats, variance: Floats) -> None:
        """Learn from noisy counts between the edges, and beyond: arrays of shape (K, m + 2)."""
        self._expected = self._cells.rows[:, 1:-1]
        self._cells = self._cells.seen(counts, variance)
        self._judge()

    def _judge(self) -> None:
        """Note where the quantiles may be."""
        cells = self._cells if self._total is None else self._cells.totalling(self._total)
        excess, std = cells.excess(self._probability)
        excess = _rising(excess)
        reached = excess[:, 1:] >= -_SURELY * std[:, 1:]
        begun = excess[:, :-1] <= _SURELY * std[:, :-1]
        most = reached.shape[1] - 1
        first = np.where(reached.any(axis=1), np.argmax(reached, axis=1), most)
        last = np.where(begun.any(axis=1), most - np.argmax(begun[:, ::-1], axis=1), 0)
        ends = np.minimum(first, last), np.maximum(first, last)
        self._looks.append(_Look(cells.edge, excess, std, *ends))

    def narrow(self, parts: int) -> None:
        """Cut the cells that the quantiles may be in into so many."""
        look = self._looks[-1]
        self._cells = self._cells.cut(look.first, look.last, parts)

    def found(self) -> Found:
        """Return the quantiles, by all that was seen."""
        cells, look, cell = self._cells, self._looks[-1], self._crossing()
        part = _part(look.excess, cell, np.zeros(cell.size))
        lower, upper = cells.ends(cell)
        value = value_at(lower, upper, part)
        held = np.maximum(_of(cells.rows, cell + 1), 0.0)
        alike = held > _ALIKE * _of(self._expected, cell)
        alike &= held > _CLEARLY * _of(cells.std, cell + 1)
        for k in np.flatnonzero(alike):
            value[k] = _shortest(float(lower[k]), float(upper[k]))
        edges = (1.0 - part) * _of(look.std, cell) + part * _of(look.std, cell + 1)
        noise = np.sqrt(edges**2 + held * part * (1.0 - part))
        with np.errstate(over="ignore"):
            unsure = (upper - lower) / np.sqrt(12.0)
        unsure = np.where(alike & (value == 0.0) & (unsure < _NOTHING), 0.0, unsure)
        return Found(value, noise, unsure, np.maximum(cells.rows.sum(axis=1), 1.0), alike)

    def _crossing(self) -> Integers:
        """Return the cells that the quantiles are in."""
        return np.asarray(np.count_nonzero(self._looks[-1].excess[:, 1:-1] < 0.0, axis=1))

    def per_rank(self, found: Found, rank_std: Floats) -> Floats:
        """Return how far apart values are around each quantile, per rank; infinite where unseen.

        The mean of both sides, each over twice `rank_std`, of shape (K,), where an interval
        ends, or over that once where no more rows are seen. Where one side is much wider, as
        beside a gap, it is that one.
        """
        last, cell = self._looks[-1], self._crossing()
        edge, k = last.edge.copy(), np.flatnonzero(found.alike)
        edge[k, cell[k]] = edge[k, cell[k] + 1] = found.value[k]  # which all rows of the cell have
        looks = [*self._looks[:-1], replace(last, edge=edge)]
        result = np.full(rank_std.size, np.inf)
        for reach in (rank_std, 2.0 * rank_std):
            with np.errstate(over="ignore", invalid="ignore"):
                up, down = (_reached(looks, side * reach) for side in (1.0, -1.0))
                less, more = np.sort([up - found.value, found.value - down], axis=0)
                width = (
                    np.where(more > _LOPSIDED * less, _WHOLE * more, more / 2 + less / 2) / reach
                )
            result = np.where(np.isfinite(width), width, result)
        return result


def _reached(looks: list[_Look], level: Floats) -> Floats:
    """Return the values below which so many rows more than wanted are; NaN where unseen.

    Each is read off the last look that shows it. Beyond its ends, the look before it says
    how many more rows there are.
    """
    level = _among(looks[0].excess, level)
    found, up = np.full(level.size, np.nan), level > 0.0
    start = stop = np.zeros(level.size)
    for look in reversed(looks):
        excess = look.excess.copy()
        if look is not looks[-1]:
            known = np.where(up, stop, start)
            excess += (known - _of(excess, np.where(up, look.last + 1, look.first)))[:, np.newaxis]
        start, stop = excess[:, 0], excess[:, -1]
        cell = np.sum(excess <= level[:, np.newaxis], axis=1) - 1
        cell = np.clip(cell, 0, excess.shape[1] - 2)
        part = _part(excess, cell, level)
        value = value_at(_of(look.edge, cell), _of(look.edge, cell + 1), part)
        shown = np.isnan(found) & np.where(up, level <= stop, start <= level)
        found = np.where(shown, value, found)
        if not np.isnan(found).any():
            break
    return found


def _among(excess: Floats, level: Floats) -> Floats:
    """Return levels beyond which a row is, at least, if one is beyond the quantile itself."""
    least, most = excess[:, 0] + 1.0, excess[:, -1] - 1.0
    return np.clip(level, np.where(least < 0.0, least, -np.inf), np.where(most > 0.0, most, np.inf))


def _rising(values: Floats) -> Floats:
    """Return the nearest rows of values that never fall (isotonic regression, by min and max)."""
    size = values.shape[1]
    sums = np.concatenate([np.zeros((len(values), 1)), np.cumsum(values, axis=1)], axis=1)
    first, last = np.arange(size)[:, np.newaxis], np.arange(size)
    means = (sums[:, np.newaxis, 1:] - sums[:, :-1, np.newaxis]) / np.maximum(last - first + 1, 1)
    means[:, first > last] = np.inf
    least = np.minimum.accumulate(means[:, :, ::-1], axis=2)[:, :, ::-1]  # of runs that end later
    least[:, first > last] = -np.inf
    return np.asarray(least.max(axis=1))


def _part(excess: Floats, cell: Integers, level: Floats) -> Floats:
    """Return which part of each cell is below a level of excess."""
    start, stop = _of(excess, cell), _of(excess, cell + 1)
    return np.clip((level - start) / np.where(stop > start, stop - start, np.inf), 0.0, 1.0)


def _of(values: Floats, index: Integers) -> Floats:
    """Return one value of each row."""
    return np.asarray(values[np.arange(len(values)), index])


def _shortest(lower: float, upper: float) -> float:
    """Return the number with the fewest decimal digits from `lower` to below `upper`.

    Examples
    --------
    >>> _shortest(169.3699, 169.3703), _shortest(-0.5, 2.0)
    (169.37, 0.0)
    """
    if lower <= 0.0 < upper:
        return 0.0
    middle = lower / 2 + upper / 2
    for digits in range(17):
        for near in (middle, lower, upper):
            value = float(f"{near:.{digits}e}")
            if lower <= value < upper:
                return value
    return lower
