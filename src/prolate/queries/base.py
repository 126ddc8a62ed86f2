"""What a query is.

A query is a pure function from a block of rows to an ``int64`` vector that is a sum
over the rows: ``query(a) + query(b) == query(rows of a, then rows of b)`` (`Pairs` is
the one exception, and says so). Because integers add up exactly, in any order and on
any machine, the l2 sensitivity proved on paper is the sensitivity in the machine.

Each query states ``sensitivity_squared`` for both neighbor relations, an exact integer,
with its proof in the docstring:

- ``"replace"``: one row takes another value; the number of rows is public;
- ``"add-remove"``: one row is there or not; the number of rows is private.

For a query with per-row vectors q(x), these are max |q(x) - q(x')|**2 and max |q(x)|**2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Floats, Integers
from prolate.budget import Neighbors
from prolate.errors import InputError
from prolate.neighbors import rows_changed
from prolate.queries.room import room
from prolate.sources.chosen import ChosenRows
from prolate.sources.columns_in_place import ColumnsInPlace
from prolate.sources.sparse_rows import SparseRows

__all__ = ["Centered", "CountedOnce", "Query", "Wrapped", "check_shift", "check_vectors", "tiles"]

Ends = tuple[Floats | None, Floats | None]
"""What values are cut to before a query reads them, or twice None."""

_TILE = 1 << 16  # cells of a working copy: half a megabyte, inside the second-level cache
_MADE = 1 << 18  # of floats that are made of others for compiled loops, which take little time
_WIDE = 64  # columns: as many as histograms count together
_MOST = 1 << 24  # rows in one go: so many integers up to 2**24 add up exactly in a float


def tiles(
    block: NDArray[np.generic] | ChosenRows | ColumnsInPlace,
    *,
    any_layout: bool,
    in_place: bool = False,
) -> Iterator[Any]:
    """Yield `block` as float64 pieces of an even number of rows (but the last).

    In C order, and so small that they stay in the cache; with `any_layout` in Fortran order
    where that is the block's, and of a block whose rows or columns each lie in one piece of
    memory, as they are and in single precision, too; with `in_place`, too, chosen rows of many
    columns where they lie, and columns that have each memory of their own.
    """
    if in_place and _lies_well(block):
        for start in range(0, len(block), _MOST):
            yield block[start : start + _MOST]
        return
    cells = _MADE if any_layout or isinstance(block, ColumnsInPlace) else _TILE
    step = max(2, cells // block.shape[1] // 2 * 2)
    if isinstance(block, ChosenRows | ColumnsInPlace):
        for start in range(0, len(block), step):
            some = block[start : start + step]
            copy = room("copy", some.shape, some.dtype, some.order)
            some.copy_to(copy)
            yield from tiles(copy, any_layout=any_layout)
        return
    block = np.asarray(block)
    by_column = any_layout and abs(block.strides[0]) < abs(block.strides[1])
    if any_layout and _is_plain(block):
        for start in range(0, block.shape[0], _MOST):
            yield block[start : start + _MOST]
        return
    for start in range(0, block.shape[0], step):
        yield _floats(block[start : start + step], "F" if by_column else "C")


def _floats(rows: NDArray[np.generic], order: Literal["C", "F"]) -> Floats:
    """Return rows as doubles in an order, in this thread's room where they are none."""
    lies = rows.flags.f_contiguous if order == "F" else rows.flags.c_contiguous
    if rows.dtype == np.float64 and rows.dtype.isnative and lies and rows.flags.aligned:
        return np.asarray(rows, np.float64)
    found = room("floats", (rows.shape[0], rows.shape[1]), np.float64, order)
    np.copyto(found, rows, casting="unsafe")
    return found


def _lies_well(rows: object) -> bool:
    """Return whether compiled code can read rows of others where they lie, and quickly.

    Chosen ones that are narrow slow it down.
    """
    if isinstance(rows, ColumnsInPlace):
        return rows.index is None
    return (
        isinstance(rows, ChosenRows)
        and rows.shape[1] >= _WIDE
        and rows.block.flags.c_contiguous
        and _is_plain(rows.block)
    )


def _is_plain(block: NDArray[np.generic]) -> bool:
    """Return whether compiled code can read every row, or every column, as it lies."""
    size, strides = block.itemsize, sorted(block.strides)
    floats = block.dtype in (np.float64, np.float32) and block.dtype.isnative
    floats = floats and block.flags.aligned
    return floats and strides[0] == size and strides[1] % size == 0 and strides[1] > 0


def check_vectors(size: int, **vectors: NDArray[np.generic] | None) -> None:
    """Raise `InputError` unless each vector given has shape (size,) and no NaN.

    Compiled code checks neither, and a wrong answer there has no bounded sensitivity.
    """
    for name, vector in vectors.items():
        if vector is None:
            continue
        if vector.shape != (size,):
            raise InputError(
                f"{name} must be an array of shape ({size},), one number per column; "
                f"got shape {vector.shape}."
            )
        if np.any(np.isnan(vector)):
            raise InputError(f"{name} must be numbers, not NaN.")


def check_shift(shift: int) -> None:
    """Raise `InputError` unless a bit pattern can be shifted by `shift`."""
    if not 0 <= shift <= 63:
        raise InputError(f"shift must be between 0 and 63; got {shift}.")


class Query(ABC):
    """An integer vector that is a sum over rows, with a known l2 sensitivity."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Length of the vector."""

    @abstractmethod
    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """Return the squared l2 sensitivity, an exact integer."""

    @abstractmethod
    def add(self, rows: Floats, total: Integers) -> None:
        """Add the vectors of `rows`, (m, d) float64 in C order, to `total`.

        If `any_layout`, of whatever `tiles` yields.
        """

    def add_sparse(self, rows: SparseRows, total: Integers) -> bool:
        """Add the vectors of `rows`, the same integers as from dense rows, to `total`.

        False, and nothing is added, if this query reads only dense rows.
        """
        return False

    def within(self, lower: Floats, upper: Floats) -> Query | None:
        """Return what adds this query's vectors of values cut to [lower_j, upper_j] by itself.

        None, if it cannot; see `Cut`, which asks it of dense rows only.
        """
        return None

    @property
    def any_layout(self) -> bool:
        """Whether `add` reads rows in C or in Fortran order, and in single precision, too."""
        return False

    @property
    def in_place(self) -> bool:
        """Whether `add` reads chosen rows where they lie, too."""
        return False

    @property
    def pairs_rows(self) -> bool:
        """Whether the vector depends on which rows are neighbors."""
        return False

    @property
    def effort(self) -> int:
        """About what a value of a row takes, beside adding it up: more threads for more."""
        return 1

    @property
    @abstractmethod
    def columns(self) -> int:
        """Number of columns d that a block must have."""

    @abstractmethod
    def describe(self) -> str:
        """Return one line for the receipt: what is asked, with its public parameters."""

    def __call__(self, block: NDArray[np.generic]) -> Integers:
        """Return the vector of a block of shape (m, d), any real dtype, any strides."""
        total = np.zeros(self.size, dtype=np.int64)
        self.add_block(block, total)
        return total

    def add_block(
        self, block: NDArray[np.generic] | ChosenRows | ColumnsInPlace, total: Integers
    ) -> None:
        """Add the vector of a block, or of rows chosen from one, to `total`."""
        self._check_shape(block.shape)
        with np.errstate(all="ignore"):
            for rows in tiles(block, any_layout=self.any_layout, in_place=self.in_place):
                self.add(rows, total)

    def of_sparse(self, rows: SparseRows) -> Integers | None:
        """Return the vector of sparse rows, or None if the query reads only dense ones."""
        self._check_shape(rows.shape)
        total = np.zeros(self.size, dtype=np.int64)
        with np.errstate(all="ignore"):
            return total if self.add_sparse(rows, total) else None

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 2 or shape[1] != self.columns:
            raise InputError(
                f"The query is made for rows of {self.columns} columns; "
                f"got an array of shape {shape}."
            )


@dataclass(frozen=True, eq=False)
class Centered(Query):
    """A query on deviations from a center of shape (d,), of rows in any layout."""

    center: Floats

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.center.size

    @property
    def any_layout(self) -> bool:
        """True."""
        return True


@dataclass(frozen=True, eq=False)
class CountedOnce(Centered):
    """A histogram in which each row counts once: it adds 1 to one cell at most.

    Sensitivity. Replacing a row changes two cells by at most 1 each: 2. Adding or removing it
    changes one: 1.
    """

    _ends: Ends = field(default=(None, None), init=False, repr=False)

    @property
    def in_place(self) -> bool:
        """True."""
        return True

    def sensitivity_squared(self, neighbors: Neighbors) -> int:
        """2 for replace, 1 for add-remove."""
        return rows_changed(neighbors)

    def within(self, lower: Floats, upper: Floats) -> Self:
        """Return the histogram of values cut to these bounds."""
        found = copy(self)
        object.__setattr__(found, "_ends", (lower, upper))
        return found


@dataclass(frozen=True, eq=False)
class Wrapped(Query):
    """`query` asked of other rows, which are made of the rows."""

    query: Query

    @property
    def columns(self) -> int:
        """That of `query`."""
        return self.query.columns

    @property
    def size(self) -> int:
        """That of `query`."""
        return self.query.size

    @property
    def pairs_rows(self) -> bool:
        """As `query`."""
        return self.query.pairs_rows

    @property
    def effort(self) -> int:
        """That of `query`."""
        return self.query.effort
