"""How many rows are in each of some rising cells, as far as noisy counts say.

The counts are taken to be jointly normal. Each measurement sharpens them, as in a Kalman
filter; then cells that do not matter are taken together, and those that do are cut. Of a cell
with C rows, the parts with shares f of its width hold C f, give or take the covariance
(C**2 / (1 + `_EVEN`) + C) (diag(f) - f f'): that of a Dirichlet distribution, whose mean the
rows follow by chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats, Integers

__all__ = ["Cells", "part_of", "value_at"]

_EVEN = 6.0  # how evenly rows are taken to lie in a cell: as if so many had shown it
_SHAPED = 50.0  # the same of rows whose shape is known
_MISSING = 0.3  # of the rows that are expected may have no value
_SURPRISE = 3.5  # standard deviations by which a count shows that more was there than expected
_SURELY = 3.0  # standard deviations of noise before rows are taken to be missing
# Of a cell around 0, values are even within so many times its nearer end, or this part of it.
_BROAD, _DEEP = 100.0, 0.1
_LARGEST, _TINY = float(np.finfo(np.float64).max), float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Cells:
    """What is believed of K tables of counts, of m cells and one beyond either end each.

    Attributes
    ----------
    edge : float64 array of shape (K, m + 1)
        Rising; a cell holds its lower edge, not its upper one.
    rows : float64 array of shape (K, m + 2)
        Expected numbers of rows below the first edge, in each cell, and from the last edge on.
    covariance : float64 array of shape (K, m + 2, m + 2)
        Of these numbers.
    """

    edge: Floats
    rows: Floats
    covariance: Floats

    @classmethod
    def around_all(cls, edge: Floats, counts: Floats, variance: Floats) -> Cells:
        """Return what noisy counts say of cells beyond which there are no rows."""
        known = np.ones(counts.shape[1])
        known[[0, -1]] = 0.0
        return cls(edge, known * counts, (known * variance)[:, :, np.newaxis] * np.eye(known.size))

    @classmethod
    def expected(cls, edge: Floats, share: Floats, apart: Floats, total: float) -> Cells:
        """Return what is believed of about `total` rows before any are counted.

        A cell's share of the rows is expected to be `share`, of shape (K, m); `apart` is the
        covariance of the shares, of shape (K, m, m), as far as the rows' shape is unknown.
        """
        alike = share[:, :, np.newaxis] * share[:, np.newaxis]
        uneven = share[:, :, np.newaxis] * np.eye(share.shape[1]) - alike
        covariance = total**2 * (apart + uneven / (1.0 + _SHAPED) + _MISSING**2 * alike)
        covariance += total * uneven
        ends = ((0, 0), (1, 1))
        return cls(edge, np.pad(total * share, ends), np.pad(covariance, (*ends, (1, 1))))

    @property
    def std(self) -> Floats:
        """Standard deviations of `rows`."""
        return np.asarray(np.sqrt(np.maximum(np.diagonal(self.covariance, 0, 1, 2), 0.0)))

    def of(self, index: Integers | slice) -> Cells:
        """Return what is believed of some of the tables."""
        return Cells(self.edge[index], self.rows[index], self.covariance[index])

    def ends(self, cell: Integers) -> tuple[Floats, Floats]:
        """Return both edges of one cell of each table; `cell` has the shape (K,)."""
        each = np.arange(len(cell))
        return self.edge[each, cell], self.edge[each, cell + 1]

    def seen(self, counts: Floats, variance: Floats) -> Cells:
        """Return what is believed once noisy counts of the same cells are known, too."""
        noisy = self.covariance + variance[:, :, np.newaxis] * np.eye(self.rows.shape[1])
        gain = np.swapaxes(np.linalg.solve(noisy, self.covariance), 1, 2)
        rows = self.rows + _times(gain, counts - self.rows)
        covariance = self.covariance - gain @ self.covariance
        return Cells(self.edge, rows, 0.5 * (covariance + np.swapaxes(covariance, 1, 2)))

    def surprised(self, counts: Floats, variance: Floats) -> Cells:
        """Return what is believed if cells may hold as many rows as noisy counts clearly show."""
        more = counts - self.rows
        sure = more > _SURPRISE * np.sqrt(np.diagonal(self.covariance, 0, 1, 2) + variance)
        sure[:, [0, -1]] = False  # nothing is beyond the ends
        wider = np.where(sure, more, 0.0)[:, :, np.newaxis] ** 2 * np.eye(more.shape[1])
        return Cells(self.edge, self.rows, self.covariance + wider)

    def totalling(self, total: float) -> Cells:
        """Return what is believed if there are `total` rows in all, where that may well be."""
        ones = self.covariance.sum(axis=2)
        variance = ones.sum(axis=1)
        missing = total - self.rows.sum(axis=1)
        known = (variance > 0.0) & (np.abs(missing) <= _SURELY * np.sqrt(np.abs(variance)))
        part = known / np.where(known, variance, 1.0)
        rows = self.rows + ones * (missing * part)[:, np.newaxis]
        less = part[:, np.newaxis, np.newaxis] * ones[:, :, np.newaxis] * ones[:, np.newaxis]
        return Cells(self.edge, rows, self.covariance - less)

    def excess(self, probability: Floats) -> tuple[Floats, Floats]:
        """Return how many rows more than wanted are below each edge, and how sure that is.

        Wanted is `probability`, of shape (K,), times all rows. Both results have the shape
        (K, m + 1); the second is a standard deviation.
        """
        m = self.edge.shape[1] - 1
        below = np.arange(m + 2) <= np.arange(m + 1)[:, np.newaxis]
        weight = below - probability[:, np.newaxis, np.newaxis]
        variance = np.sum(weight @ self.covariance * weight, axis=2)
        return _times(weight, self.rows), np.sqrt(np.maximum(variance, 0.0))

    def cut(self, first: Integers, last: Integers, parts: int) -> Cells:
        """Return `parts` cells in place of the cells `first` to `last`, each of shape (K,).

        As far as is known, each holds as many rows. Those outside are beyond the ends.
        """
        edge = self._cuts(first, last, parts)
        lower, upper = self.edge[:, np.newaxis, :-1], self.edge[:, np.newaxis, 1:]
        before = part_of(lower, upper, edge[:, :, np.newaxis])  # of each cell, below each cut
        share = np.zeros((len(edge), parts + 2, self.rows.shape[1]))
        share[:, 0, 0] = share[:, -1, -1] = 1.0
        share[:, 0, 1:-1] = before[:, 0]
        share[:, 1:-1, 1:-1] = np.diff(before, axis=1)
        share[:, -1, 1:-1] = 1.0 - before[:, -1]
        likely = np.maximum(self.rows, 0.0)
        uneven = (likely**2 + self.std**2) / (1.0 + _EVEN) + likely
        uneven *= share.max(axis=1) < 1.0  # whole cells are as sure as before
        across = np.swapaxes(share, 1, 2)
        covariance = share @ (self.covariance - uneven[:, :, np.newaxis] * np.eye(uneven.shape[1]))
        covariance = covariance @ across + _times(share, uneven)[:, :, np.newaxis] * np.eye(
            parts + 2
        )
        return Cells(edge, _times(share, self.rows), covariance)

    def _cuts(self, first: Integers, last: Integers, parts: int) -> Floats:
        """Return edges from that of cell `first` on between which equally many rows are likely."""
        each, cell = np.arange(len(first))[:, np.newaxis], np.arange(self.edge.shape[1] - 1)
        first, last = first[:, np.newaxis], last[:, np.newaxis]
        likely = np.maximum(self.rows, 0.0) + 0.5 * self.std + np.finfo(np.float64).tiny
        likely = np.where((cell >= first) & (cell <= last), likely[:, 1:-1], 0.0)
        below = np.cumsum(likely, axis=1)
        level = below[:, -1:] * (np.arange(1, parts) / parts)
        here = np.sum(below[:, np.newaxis, :] <= level[:, :, np.newaxis], axis=2)
        here = np.clip(here, first, last)
        part = np.clip((level - below[each, here]) / likely[each, here] + 1.0, 0.0, 1.0)
        inner = value_at(self.edge[each, here], self.edge[each, here + 1], part)
        found = [self.edge[each, first], inner, self.edge[each, last + 1]]
        return np.maximum.accumulate(np.concatenate(found, axis=1), axis=1)


def value_at(lower: Floats, upper: Floats, part: Floats) -> Floats:
    """Return the value below which is this part of a cell's width.

    Widths are those of asinh, in units of the nearer end: about even where both ends are near
    each other, and logarithms where they are far apart.

    Examples
    --------
    >>> import numpy as np
    >>> lower, upper = np.array([6.0, 1.0, -8.0]), np.array([8.0, 1024.0, 8.0])
    >>> value_at(lower, upper, np.full(3, 0.5)).round(1).tolist()
    [7.0, 35.2, 0.0]
    """
    scale = _Scale(lower, upper)
    return np.clip(scale.value(scale.start + part * (scale.stop - scale.start)), lower, upper)


def part_of(lower: Floats, upper: Floats, value: Floats) -> Floats:
    """Return which part of a cell's width is below a value: 0 or 1, if it is not in the cell.

    Examples
    --------
    >>> import numpy as np
    >>> lower, upper = np.array([6.0, 1.0, -8.0]), np.array([8.0, 1024.0, 8.0])
    >>> part_of(lower, upper, np.array([7.0, 35.1, 99.0])).round(1).tolist()
    [0.5, 0.5, 1.0]
    """
    scale = _Scale(lower, upper)
    inside = scale.place(np.clip(value, lower, upper)) - scale.start
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.clip(inside / (scale.stop - scale.start), 0.0, 1.0)
    return np.where(value >= upper, 1.0, np.where(value <= lower, 0.0, part))


class _Scale:
    """Where values of cells lie on scales on which rows may lie evenly; see `value_at`."""

    def __init__(self, lower: Floats, upper: Floats) -> None:
        least, most = np.sort(np.abs([lower, upper]), axis=0)
        through = (lower <= 0.0) & (upper >= 0.0)
        unit = np.where(through, np.where(least > 0.0, _BROAD * least, _DEEP * most), least)
        self._unit = np.clip(unit, 1e-300 * np.minimum(most, _LARGEST) + _TINY, _LARGEST)
        self.start, self.stop = self.place(lower), self.place(upper)

    def place(self, value: Floats) -> Floats:
        """Return where a value of a cell is on its scale: a logarithm, but even within a unit."""
        return np.asarray(np.arcsinh(np.clip(value, -_LARGEST, _LARGEST) / self._unit))

    def value(self, place: Floats) -> Floats:
        """Return the value at such a place."""
        with np.errstate(over="ignore"):
            return np.asarray(self._unit * np.sinh(place))


def _times(matrix: Floats, vector: Floats) -> Floats:
    """Return the products of K matrices and vectors."""
    return (matrix @ vector[:, :, np.newaxis])[:, :, 0]
