"""Which value has a given rank, on a grid too fine to be counted at once.

`Curator.select` answers a `Ranks` by the exponential mechanism; the counts that it needs
on the way are those of `NodeHistogram`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.budget import Neighbors
from prolate.errors import InputError
from prolate.neighbors import rows_changed
from prolate.noise import FAN, LEVELS, Cell
from prolate.queries import twins
from prolate.queries.base import Query

__all__ = ["NodeHistogram", "Ranks"]

_LAST = FAN**LEVELS - 1
_UNIT = 1 << 20  # ranks are compared in 2**-20 of a row


@dataclass(frozen=True, eq=False)
class NodeHistogram(Query):
    """The counts of some nodes of the tree of cells, one node of one column each.

    The cell of x in column j is floor((x - low_j) / width_j), cut to 0 and FAN**LEVELS - 1;
    it grows with x, because each of these floating-point operations does. A node of level
    l is FAN**(LEVELS - l) cells in a row, and is counted in FAN parts. Node h is
    ``nodes[h]`` of column ``index[h]``. A value that is not finite is in no cell.

    Sensitivity. A row adds 1 to at most one part of each of the H nodes: 2 H for replace,
    H for add-remove, as for `Histogram`.
    """

    low: Floats
    width: Floats
    index: Integers
    nodes: Sequence[Cell]

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.low.size

    @property
    def shape(self) -> tuple[int, int]:
        """(H, FAN)."""
        return len(self.nodes), FAN

    @property
    def size(self) -> int:
        """Number of parts in all."""
        return len(self.nodes) * FAN

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """2 H for replace, H for add-remove."""
        return rows_changed(neighbors) * len(self.nodes)

    def add(self, rows: Floats, total: Integers) -> None:
        """Count the rows of a tile."""
        values = rows[:, self.index]
        with np.errstate(all="ignore"):
            place = np.floor((values - self.low[self.index]) / self.width[self.index])
        counted = np.isfinite(values)
        cell = np.clip(np.where(counted, place, 0.0), 0.0, float(_LAST)).astype(np.int64)
        level = np.array([node[0] for node in self.nodes])
        first = np.array([node[1] for node in self.nodes]) * FAN
        part = cell // FAN ** (LEVELS - 1 - level) - first
        counted &= (part >= 0) & (part < FAN)
        twins.tally(part, counted, total.reshape(self.shape))

    def describe(self) -> str:
        """Return one line for the receipt."""
        return f"histograms of {len(self.nodes)} nodes in {FAN} parts each"


def _as_it_is(query: Query) -> Query:
    return query


@dataclass(frozen=True, eq=False)
class Ranks:
    """Where the `quantile` of each of K columns lies, between low_k and high_k.

    The answer is one of FAN**LEVELS = 2**40 equal cells per column. A cell with B finite
    values below it and U below or in it, of m in all, has the utility
    -max(B - quantile m, quantile m - U, 0): how many rows lie between the cell and the
    wanted rank (Smith 2011; Kaplan, Schnapp, Stemmer 2022).

    Sensitivity of the utility. Write t = quantile m.

    - add-remove: a finite value above a cell leaves B and U and raises t by `quantile`; one
      below raises B and U by 1 and t by `quantile`; one inside does the first to B and the
      second to U. So B - t and t - U each change by at most
      D = max(quantile, 1 - quantile), and so does the maximum. A missing value changes
      nothing.
    - replace: a finite value that becomes missing, or the other way, is the case above.
      One that becomes another finite value leaves t, and moves B and U by at most 1. So
      D = 1, **not** max(quantile, 1 - quantile): a median taken with that for replace
      spends four times the rho that it says.

    The distance handed to the mechanism is floor(-utility / D), computed in integers. Two
    numbers that differ by at most 1 have floors that differ by at most 1.

    Attributes
    ----------
    low, high : float64 arrays of shape (K,)
        Public ends; values beyond them count as at them.
    quantile : float
        In [0, 1], taken to the nearest multiple of 2**-20.
    of : callable
        From a query on K columns to the same query on what the ranks are of, such as
        `Pairs` or ``lambda query: Norms(query, center, gain)``.
    """

    low: Floats
    high: Floats
    quantile: float
    of: Callable[[Query], Query] = _as_it_is

    def __post_init__(self) -> None:
        """Check the ends, which are public."""
        width = self._width
        if not (np.all(np.isfinite(self.low)) and np.all(np.isfinite(width)) and np.all(width > 0)):
            raise InputError("Ranks need finite ends, low < high, that a float can tell apart.")

    @property
    def count(self) -> int:
        """Number of columns K: so many independent choices are made."""
        return self.low.size

    @property
    def _width(self) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray((self.high - self.low) / FAN**LEVELS)

    @property
    def _wanted(self) -> int:
        return round(self.quantile * _UNIT)

    def histogram(self, index: Sequence[int], nodes: Sequence[Cell]) -> Query:
        """Return the query for the counts of `nodes` of the columns `index`."""
        where = np.asarray(index, dtype=np.int64)
        return self.of(NodeHistogram(self.low, self._width, where, nodes))

    def distance(
        self, below: Integers, upto: Integers, rows: int, neighbors: Neighbors
    ) -> Integers:
        """Return floor(-utility / D) of cells with so many rows below and up to them."""
        wanted = self._wanted * rows
        one = _UNIT if neighbors == "replace" else max(self._wanted, _UNIT - self._wanted)
        off = np.maximum(below * _UNIT - wanted, wanted - upto * _UNIT)
        return np.asarray(np.maximum(off, 0) // one)

    def sensitivity(self, neighbors: Neighbors) -> float:
        """Return D, the sensitivity of each column's utility, in rows."""
        return 1.0 if neighbors == "replace" else max(self._wanted, _UNIT - self._wanted) / _UNIT

    def values(self, cells: Sequence[int]) -> Floats:
        """Return the middles of the chosen cells."""
        return np.asarray(self.low + (np.asarray(cells, dtype=np.float64) + 0.5) * self._width)

    def describe(self) -> str:
        """Return one line for the receipt."""
        return (
            f"exponential mechanism, not Gaussian, charged in rho: "
            f"quantile {self._wanted / _UNIT:.6g} on 2**40 cells, {self.count} times"
        )
