"""Queries on rows that are first mapped to other rows: rotated, made positive, measured.

A map here takes each row by itself to one row, with public parameters. So replacing,
adding or removing one row does the same to one mapped row, and the sensitivity of the
mapped query is that of `query`, for both neighbor relations.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import cast

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.budget import Neighbors
from prolate.errors import InputError
from prolate.queries import kernels, sparse
from prolate.queries.base import Wrapped, check_vectors
from prolate.queries.histogram import Histogram
from prolate.sources.chosen import ChosenRows
from prolate.sources.columns_in_place import ColumnsInPlace
from prolate.sources.sparse_rows import SparseRows

__all__ = ["Magnitudes", "Mapped", "Norms", "Rotated", "Selected", "rotate_back"]

_CELLS = 1 << 18  # of chosen columns at a time: histograms read some hundred rows together


@dataclass(frozen=True, eq=False)
class Mapped(Wrapped):
    """A query on rows that are mapped, each by itself, to other rows."""

    @abstractmethod
    def map(self, rows: Floats) -> Floats:
        """Return the mapped rows, in the same order."""

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """Return that of `query`."""
        return self.query.sensitivity_squared(neighbors)

    def add(self, rows: Floats, total: Integers) -> None:
        """Ask `query` of the mapped rows of a tile."""
        self.query.add(np.ascontiguousarray(self.map(rows)), total)


@dataclass(frozen=True, eq=False)
class Magnitudes(Mapped):
    """`query` asked of |x_j|.

    Sensitivity. That of `query`: each row is mapped by itself.
    """

    def map(self, rows: Floats) -> Floats:
        """Return the absolute values."""
        return np.abs(rows)

    def describe(self) -> str:
        """Return one line for the receipt."""
        return f"{self.query.describe()}, of absolute values"


@dataclass(frozen=True, eq=False)
class Selected(Mapped):
    """`query` asked of some of the columns, which may come several times.

    Sensitivity. That of `query`: each row is mapped by itself.
    """

    index: Integers
    width: int

    def __post_init__(self) -> None:
        """Check the shapes."""
        check_vectors(self.query.columns, index=self.index)
        if np.any(self.index < 0) or np.any(self.index >= self.width):
            raise InputError(f"index must point into the {self.width} columns.")

    @property
    def columns(self) -> int:
        """Number of columns to choose from."""
        return self.width

    @property
    def any_layout(self) -> bool:
        """As `query`: few values are copied, not whole rows."""
        return self.query.any_layout

    @property
    def in_place(self) -> bool:
        """As `any_layout`: few values are copied."""
        return self.query.any_layout

    def within(self, lower: Floats, upper: Floats) -> Selected | None:
        """Return it for a query that cuts values by itself."""
        query = self.query.within(lower[self.index], upper[self.index])
        return None if query is None else Selected(query, self.index, self.width)

    def map(self, rows: Floats) -> Floats:
        """Return the chosen columns, in the order in which the rows lie in memory."""
        if isinstance(rows, ChosenRows | ColumnsInPlace):
            return rows.columns(self.index)
        if abs(rows.strides[0]) < abs(rows.strides[1]):
            return np.asarray(rows.T[self.index].T)  # `take` would copy all columns first
        return np.asarray(np.take(rows, self.index, axis=1, mode="clip"))

    def add(self, rows: Floats, total: Integers) -> None:
        """Ask `query` of the chosen columns of some rows at a time, which stay in the cache."""
        counts = isinstance(self.query, Histogram) and not isinstance(rows, ChosenRows)
        if counts and cast("Histogram", self.query).add_columns(rows, self.index, total):
            return
        step = max(2, _CELLS // max(self.index.size, 1) // 2 * 2)
        for start in range(0, len(rows), step):
            self.query.add(self.map(rows[start : start + step]), total)

    def add_sparse(self, rows: SparseRows, total: Integers) -> bool:
        """Ask `query` of the chosen columns, where they are in order, or are counted."""
        if np.any(np.diff(self.index) <= 0):
            if not isinstance(self.query, Histogram):
                return False
            return self.query.add_chosen(rows, self.index, total)
        some = sparse.selected(rows, self.index)
        return some is not None and self.query.add_sparse(some, total)

    def describe(self) -> str:
        """Return one line for the receipt."""
        if np.unique(self.index).size < self.index.size:
            return f"{self.query.describe()}, {self.index.size} times, of {self.width} columns"
        return f"{self.query.describe()}, of {self.index.size} of {self.width} columns"


@dataclass(frozen=True, eq=False)
class Norms(Mapped):
    """`query`, made for one column, asked of |(x - center) * gain|_2.

    A value that is not finite counts as no deviation from the center.

    Sensitivity. That of `query`: each row is mapped by itself.
    """

    center: Floats
    gain: Floats

    def __post_init__(self) -> None:
        """Check the vectors' shapes."""
        check_vectors(self.center.size, center=self.center, gain=self.gain)
        if self.query.columns != 1:
            raise InputError("The query on norms must be made for one column.")

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.center.size

    @property
    def any_layout(self) -> bool:
        """True: `query` sees the norms alone."""
        return True

    def map(self, rows: Floats) -> Floats:
        """Return the norms, (m, 1)."""
        return kernels.norms(rows, self.center, self.gain)[:, np.newaxis]

    def add_sparse(self, rows: SparseRows, total: Integers) -> bool:
        """Ask `query` of the norms."""
        about = np.full(self.center.size, np.nan)
        norms = sparse.norms(rows, about, self.center, self.gain)
        if norms is not None:
            self.query.add(norms[:, np.newaxis], total)
        return norms is not None

    def describe(self) -> str:
        """Return one line for the receipt."""
        return f"{self.query.describe()}, of the centered and scaled rows' norms"


@dataclass(frozen=True, eq=False)
class Rotated(Mapped):
    """`query` asked of H S x: signs flipped by S, then rotated by the Hadamard matrix H.

    Rows of d columns are filled up with zeros to the length D of `signs`, a power of two
    that `query` is made for. A value that is not finite is first replaced by `missing`.

    Sensitivity. That of `query`: each row is mapped by itself, in the same way wherever it
    stands: the butterflies of the fast transform add one pair of numbers at a time.
    """

    signs: Floats
    missing: Floats

    def __post_init__(self) -> None:
        """Check the lengths."""
        length = self.signs.size
        if length & (length - 1) or not 0 < self.missing.size <= length:
            raise InputError("A Hadamard rotation needs a power of two of signs, one per column.")
        if self.query.columns != length:
            raise InputError(f"The rotated query must be made for {length} columns.")

    @property
    def columns(self) -> int:
        """Number of columns before the rotation."""
        return self.missing.size

    def map(self, rows: Floats) -> Floats:
        """Return the rotated rows, (m, D)."""
        padded = np.zeros((self.signs.size, rows.shape[0]))
        padded[: rows.shape[1]] = np.where(np.isfinite(rows), rows, self.missing).T
        with np.errstate(over="ignore", invalid="ignore"):
            return _hadamard(padded * self.signs[:, np.newaxis]).T

    def describe(self) -> str:
        """Return one line for the receipt."""
        return f"{self.query.describe()}, of rows rotated to {self.signs.size} columns"


def rotate_back(vector: Floats, signs: Floats, dimension: int) -> Floats:
    """Return the first `dimension` entries of S H `vector`, which undoes `Rotated`."""
    return np.asarray((_hadamard(vector[:, np.newaxis].copy())[:, 0] * signs)[:dimension])


def _hadamard(columns: Floats) -> Floats:
    """Multiply (D, m) by the orthogonal Hadamard matrix, in D log2 D additions per column."""
    length, count = columns.shape
    half = 1
    while half < length:
        pairs = columns.reshape(length // (2 * half), 2, half, count)
        columns = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1)
        half *= 2
    return columns.reshape(length, count) * (1.0 / math.sqrt(length))
