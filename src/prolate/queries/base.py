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

import numpy as np
from numpy.typing import NDArray

from prolate.budget import Neighbors
from prolate.errors import InputError
from prolate.sources.sparse_rows import SparseRows

__all__ = ["Query", "check_shift", "check_vectors", "tiles"]

_TILE = 1 << 16  # cells of a working copy: half a megabyte, inside the second-level cache


def tiles(block: NDArray[np.generic], columns: int) -> Iterator[NDArray[np.float64]]:
    """Yield `block` as C-ordered float64 pieces of an even number of rows (but the last)."""
    rows = max(2, _TILE // max(1, columns) // 2 * 2)
    for start in range(0, block.shape[0], rows):
        yield np.ascontiguousarray(block[start : start + rows], dtype=np.float64)


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
    def add(self, rows: NDArray[np.float64], total: NDArray[np.int64]) -> None:
        """Add the vectors of `rows`, (m, d) float64 in C order, to `total`."""

    def add_sparse(self, rows: SparseRows, total: NDArray[np.int64]) -> bool:
        """Add the vectors of `rows`, the same integers as from dense rows, to `total`.

        False, and nothing is added, if this query reads only dense rows.
        """
        return False

    @property
    @abstractmethod
    def columns(self) -> int:
        """Number of columns d that a block must have."""

    @abstractmethod
    def describe(self) -> str:
        """Return one line for the receipt: what is asked, with its public parameters."""

    def __call__(self, block: NDArray[np.generic]) -> NDArray[np.int64]:
        """Return the vector of a block of shape (m, d), any real dtype, any strides."""
        self._check_shape(block.shape)
        total = np.zeros(self.size, dtype=np.int64)
        with np.errstate(over="ignore", invalid="ignore"):
            for rows in tiles(block, self.columns):
                self.add(rows, total)
        return total

    def of_sparse(self, rows: SparseRows) -> NDArray[np.int64] | None:
        """Return the vector of sparse rows, or None if the query reads only dense ones."""
        self._check_shape(rows.shape)
        total = np.zeros(self.size, dtype=np.int64)
        with np.errstate(over="ignore", invalid="ignore"):
            return total if self.add_sparse(rows, total) else None

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 2 or shape[1] != self.columns:
            raise InputError(
                f"The query is made for rows of {self.columns} columns; "
                f"got an array of shape {shape}."
            )
