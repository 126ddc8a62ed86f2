"""Rows that differ from one common row in few entries, and what queries may ask of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.sources.entries import counts

__all__ = ["Entries", "SparseReader", "SparseRows"]

_SHORT = np.iinfo(np.int32)
_PIECE = 1 << 16  # values at a time: the working copies stay in the cache
_SAMPLE = 1 << 12  # entries in which new values are looked for, at first


@dataclass(frozen=True, eq=False)
class Entries:
    """The stored entries of m rows.

    Attributes
    ----------
    starts : integer array of shape (m + 1,)
        Row i's entries are those from starts_i to starts_(i + 1) - 1, its columns rising.
    columns, pairs : integer arrays of shape (entries,)
        Column of each entry, and its pair: a column and a value.
    """

    starts: Integers
    columns: Integers
    pairs: Integers


@dataclass(frozen=True, eq=False)
class SparseRows:
    """m rows of d columns: stored entries, and one value per column for the others.

    Baskets hold the same few values again and again, so an entry does not hold its value:
    it points to one of K *pairs* of a column and a value. What is worked out for a value is
    worked out once per pair; where all values differ, each entry is a pair of its own.

    Attributes
    ----------
    count : int
        m.
    entries : callable
        Returns the stored entries; queries that only count need none.
    pair_column, pair_value, pair_count : arrays of shape (K,)
        Column and value (float64) of each pair, and how many entries are it, maybe none.
    rest, rest_count : arrays of shape (d,)
        The value (float64, finite) of a column where nothing is stored, and in how many
        rows that is.
    """

    count: int
    entries: Callable[[], Entries]
    pair_column: Integers
    pair_value: Floats
    pair_count: Integers
    rest: Floats
    rest_count: Integers
    _some: list[tuple[Integers, SparseRows]] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def from_csr(cls, matrix: Any) -> SparseRows:
        """Return the rows of a scipy.sparse matrix in canonical CSR format.

        Examples
        --------
        >>> import scipy.sparse
        >>> rows = SparseRows.from_csr(scipy.sparse.csr_array([[0, 1], [1, 1], [0, 1]]))
        >>> rows.pair_value.tolist(), rows.pair_count.tolist(), rows.rest_count.tolist()
        ([1.0, 1.0], [1, 3], [2, 0])
        """
        (m, d), columns, starts = matrix.shape, matrix.indices, matrix.indptr
        with np.errstate(all="ignore"):
            value = np.ascontiguousarray(matrix.data, dtype=np.float64)
        stored = counts(columns, d)
        if max(d, value.size) <= _SHORT.max:  # half as much to read in each pass
            columns, starts = (each.astype(np.int32, copy=False) for each in (columns, starts))
        distinct = _few_values(value.view(np.int64), value.size // (2 * d))
        if distinct is None:
            pairs, pair_column = np.arange(value.size, dtype=columns.dtype), columns
            pair_value, pair_count = value, np.ones(value.size, dtype=np.int64)
        else:
            pairs, pair_count = columns, stored
            if distinct.size > 1:
                which = np.searchsorted(distinct, value.view(np.int64))
                # Another thread may have written others since.
                which = np.minimum(which, distinct.size - 1).astype(columns.dtype)
                pairs = columns + d * which  # fewer than half of the entries
                pair_count = counts(pairs, d * distinct.size)
            pair_column = np.tile(np.arange(d), distinct.size)
            pair_value = np.repeat(distinct.view(np.float64), d)
        entries = Entries(starts, columns, pairs)
        return cls(
            count=m,
            entries=lambda: entries,
            pair_column=pair_column,
            pair_value=pair_value,
            pair_count=pair_count,
            rest=np.zeros(d),
            rest_count=m - stored,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """(m, d)."""
        return self.count, self.rest.size

    def evaluate(self, function: Callable[[Floats, Integers], Floats]) -> tuple[Floats, Floats]:
        """Return ``function(values, columns)`` of the pairs, (K,), and of `rest`, (d,)."""
        answers = np.empty(self.pair_value.size)
        for start in range(0, answers.size, _PIECE):
            here = slice(start, start + _PIECE)
            answers[here] = function(self.pair_value[here], self.pair_column[here])
        return answers, function(self.rest, np.arange(self.rest.size))

    def some(self, index: Integers, select: Callable[[], SparseRows]) -> SparseRows:
        """Return ``select()``, the same rows of the columns `index`; of the last ones, again."""
        for kept, rows in self._some[:]:
            if np.array_equal(kept, index):
                return rows
        rows = select()
        self._some[:] = [(index.copy(), rows)]
        return rows

    def replaced(self, function: Callable[[Floats, Integers], Floats]) -> SparseRows:
        """Return the same rows with every value x of column j replaced by a function of both."""
        values, rest = self.evaluate(function)
        return replace(self, pair_value=values, rest=rest)

    def counted(self) -> Iterator[tuple[Integers, Floats, Integers]]:
        """Yield all m d values, in pieces: columns, values, and how often each is there."""
        for start in range(0, self.pair_value.size, _PIECE):
            here = slice(start, start + _PIECE)
            yield self.pair_column[here], self.pair_value[here], self.pair_count[here]
        yield np.arange(self.rest.size), self.rest, self.rest_count


@runtime_checkable
class SparseReader(Protocol):
    """A query that may be able to read sparse rows."""

    def of_sparse(self, rows: SparseRows) -> Integers | None:
        """Return the answer that the dense rows would get, or None if it must see those."""


def _few_values(patterns: Integers, most: int) -> Integers | None:
    """Return all bit patterns, sorted, unless there are more than `most` of them."""
    if most > 0 and np.all(patterns == patterns[:1]):  # baskets
        return patterns[:1]
    distinct, left, sample = patterns[:0], patterns, _SAMPLE
    while left.size:
        here, before = left[:sample], distinct.size
        distinct = np.union1d(distinct, here)
        if distinct.size > most:
            return None
        left = left[sample:]
        if 2 * (distinct.size - before) > here.size:  # most are new: there may be too many
            sample *= 4
            continue
        place = np.minimum(np.searchsorted(distinct, left), distinct.size - 1)
        left = left[distinct[place] != left]
    return distinct
