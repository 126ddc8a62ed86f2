"""Some rows of a block, read where they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Integers

__all__ = ["ChosenRows"]

_COSTLY = 8  # values that are copied in rows, in the time that a single one takes


@dataclass(frozen=True, eq=False)
class ChosenRows:
    """Some rows of a block, not copied; cut, and taken for an array, as an array would be.

    Attributes
    ----------
    block : array of shape (n, d)
        In C order.
    index : int64 array of shape (m,)
        The places of the rows, in order.
    """

    block: NDArray[Any]
    index: Integers

    @property
    def shape(self) -> tuple[int, int]:
        """(m, d)."""
        return self.index.size, int(self.block.shape[1])

    @property
    def size(self) -> int:
        """Number of values."""
        return self.index.size * int(self.block.shape[1])

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.index.size

    def __getitem__(self, here: slice) -> ChosenRows:
        """Return some of the rows."""
        return ChosenRows(self.block, self.index[here])

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the block."""
        return self.block.dtype

    order: ClassVar[Literal["C", "F"]] = "C"
    """Of what they are copied to."""

    def copied(self) -> NDArray[Any]:
        """Return the rows as a block of their own."""
        return np.asarray(self.block[self.index])  # `take` would copy the whole of some blocks

    def copy_to(self, out: NDArray[Any]) -> None:
        """Copy the rows to an array of their shape and type, in C order."""
        if self.block.flags.c_contiguous and self.block.dtype.isnative:
            np.take(self.block, self.index, axis=0, out=out, mode="clip")
        else:
            out[:] = self.block[self.index]

    def columns(self, index: Integers) -> NDArray[Any]:
        """Return some columns as a block of their own."""
        if _COSTLY * index.size < self.block.shape[1]:
            return np.asarray(self.block[self.index[:, np.newaxis], index])
        return np.take(self.copied(), index, axis=1, mode="clip")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return what NumPy makes of them: a copy."""
        return self.copied().astype(dtype or self.block.dtype, copy=False)
