"""Rows whose columns each lie in memory of their own, read where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Integers, fixed
from prolate.compiled import WORK, forgiving

__all__ = ["ColumnsInPlace", "columns_in_place", "columns_of", "lies_well"]

_HERE = Path(__file__).parent
_FLOATS = np.dtype(np.float64), np.dtype(np.float32)


@dataclass(frozen=True, eq=False)
class ColumnsInPlace:
    """Rows of columns that are not copied; cut, and taken for an array, as an array would be.

    Attributes
    ----------
    addresses : int64 array of shape (d,)
        Where the values of each column begin; they lie side by side.
    dtype : numpy.dtype
        Single or double precision, for all columns.
    count : int
        How many values each has.
    owner : object
        To whom the memory belongs, as long as he lives.
    index : int64 array of shape (m,), optional
        The places of the rows, in order; all, if it is not given.
    """

    addresses: Integers
    dtype: np.dtype[Any]
    count: int
    owner: object
    index: Integers | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(m, d)."""
        return self.count if self.index is None else self.index.size, self.addresses.size

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self) * self.addresses.size

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.shape[0]

    def __getitem__(self, here: slice) -> ColumnsInPlace:
        """Return some of the rows."""
        if self.index is not None:
            return replace(self, index=self.index[here])
        start, stop, _ = here.indices(self.count)
        addresses = self.addresses + start * self.dtype.itemsize
        return replace(self, addresses=addresses, count=max(stop - start, 0))

    def at(self, places: Integers) -> ColumnsInPlace:
        """Return the rows at some places, of all rows."""
        return replace(self, index=places)

    def columns(self, index: Integers) -> ColumnsInPlace:
        """Return some columns, which may come several times."""
        return replace(self, addresses=self.addresses[index])

    def memory(self) -> tuple[NDArray[Any], Integers]:
        """Return memory from the first value of any column on, and where in it each one begins.

        What lies between the columns belongs to others.
        """
        base, size = int(self.addresses.min()), self.dtype.itemsize
        starts = (self.addresses - base) // size
        length = int(starts.max()) + self.count
        return np.asarray(_Memory(self.owner, base, length, self.dtype)), starts

    def copied(self) -> NDArray[Any]:
        """Return the rows as a block of their own."""
        out = np.empty(self.shape, self.dtype, self.order)
        self.copy_to(out)
        return out

    @property
    def order(self) -> Literal["C", "F"]:
        """Of what rows are copied to: that in which it takes less time, for chosen ones C."""
        return "F" if self.index is None else "C"

    def copy_to(self, out: NDArray[Any]) -> None:
        """Copy the rows to an array of their shape and type, in their order."""
        flat, starts = self.memory()
        loops = _loops() if self.index is not None and WORK.is_enough(self.size, _HERE) else None
        if loops is not None:
            with WORK.or_numpy(self.size):
                loops.gathered(*map(fixed, (flat, starts, self.index)), out)
                return
        here = slice(None) if self.index is None else self.index
        for j, start in enumerate(starts.tolist()):
            out[:, j] = flat[start : start + self.count][here]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return what NumPy makes of them: a copy."""
        return self.copied().astype(dtype or self.dtype, copy=False)


class _Memory:
    """Memory that NumPy may read as an array, as long as the array lives."""

    def __init__(self, owner: object, address: int, length: int, dtype: np.dtype[Any]) -> None:
        self._owner = owner
        self.__array_interface__ = {
            "version": 3,
            "data": (address, True),
            "shape": (length,),
            "typestr": dtype.str,
        }


def columns_in_place(columns: Sequence[NDArray[Any]]) -> ColumnsInPlace:
    """Return rows of columns of one dtype, each of which `lies_well`."""
    addresses = np.array([_address(column) for column in columns])
    return ColumnsInPlace(addresses, columns[0].dtype, columns[0].size, tuple(columns))


def lies_well(column: object, dtype: np.dtype[Any]) -> bool:
    """Return whether loops can read a column where it lies, as numbers of this precision."""
    return (
        isinstance(column, np.ndarray)
        and column.dtype == dtype
        and column.ndim == 1
        and (column.size < 2 or column.strides[0] == dtype.itemsize)
        and column.flags.aligned
    )


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def columns_of(array: NDArray[Any]) -> ColumnsInPlace | None:
    """Return the rows of an array of floats whose columns each lie in one piece, or None."""
    if array.shape[0] < 2 or array.strides[0] != array.itemsize or array.dtype not in _FLOATS:
        return None
    if not array.flags.aligned or array.strides[1] % array.itemsize:
        return None
    addresses = _address(array) + array.strides[1] * np.arange(array.shape[1])
    return ColumnsInPlace(addresses, array.dtype, array.shape[0], array)


@cache
def _loops() -> Any | None:
    """Return the compiled loop's module, or None where numba is not there or compiles nothing."""
    try:
        from prolate.sources import _compiled_columns as module
    except (ImportError, RuntimeError):  # not installed, or no folder for its cache
        return None
    return forgiving(module)
