"""Rows of scipy.sparse matrices and arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from prolate.errors import InputError
from prolate.sources.arrays import check_numbers
from prolate.sources.source import Block, Columns, Source, choose_columns, position_names

__all__ = ["SparseSource"]


class SparseSource(Source):
    """Rows of a sparse matrix, of any format; an entry that is not stored is zero.

    The matrix is brought into CSR format once, and each block of rows is made dense on
    its own. Columns are named x0, x1, ... and may be asked for by position.

    Parameters
    ----------
    matrix : scipy.sparse array or matrix of shape (n, d)
        Any format, any real numeric or boolean dtype.
    columns : str, int or iterable of them, optional
        Which columns, in which order.
    block_bytes : int
        Size of a block, were it dense and float64.

    Raises
    ------
    InputError
        If it is not two-dimensional, has no columns, or is not of real numbers.

    Examples
    --------
    >>> import scipy.sparse
    >>> source = SparseSource(scipy.sparse.eye_array(3), ["x2", 0], 1 << 20)
    >>> next(source.blocks()).tolist()
    [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
    """

    def __init__(self, matrix: Any, columns: Columns | None, block_bytes: int) -> None:
        if matrix.ndim != 2:
            raise InputError(
                f"The sparse array must have two dimensions, rows and columns; "
                f"it has {matrix.ndim} (shape {matrix.shape})."
            )
        check_numbers(matrix.dtype)
        names = position_names(matrix.shape[1])
        chosen = choose_columns(columns, names, where="the sparse array", by_position=True)
        super().__init__(chosen, int(matrix.shape[0]), block_bytes)
        rows = matrix.tocsr()
        if chosen != names:
            rows = rows[:, np.array([int(name[1:]) for name in chosen])]
        self._rows = rows

    def blocks(self) -> Iterator[Block]:
        """Yield chunks of rows, made dense."""
        for start in range(0, self._rows.shape[0], self.rows_per_block):
            block = self._rows[start : start + self.rows_per_block].toarray()
            yield block.astype(np.float64) if block.dtype == np.longdouble else block
