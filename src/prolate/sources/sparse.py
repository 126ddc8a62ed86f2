"""Rows of scipy.sparse matrices and arrays."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from prolate.arrays import Integers
from prolate.errors import InputError
from prolate.parallel import computed_once
from prolate.sources.arrays import WHOLE, check_numbers
from prolate.sources.choosing import Schema, Wanted, choose
from prolate.sources.entries import checked
from prolate.sources.kept import Dealing, Thinning
from prolate.sources.label_types import type_of_numpy
from prolate.sources.labels import Labels, encoded
from prolate.sources.source import Block, Source, position_names
from prolate.sources.sparse_rows import SparseReader, SparseRows

__all__ = ["SparseSource"]


class SparseSource(Source):
    """Rows of a sparse matrix, of any format; an entry that is not stored is zero.

    The matrix is brought into CSR format once. A query that can read sparse rows sees all
    of them at once; for the others, each block of rows is made dense on its own. Columns
    are named x0, x1, ... and may be asked for by position.

    Parameters
    ----------
    matrix : scipy.sparse array or matrix of shape (n, d)
        Any format, any real numeric or boolean dtype.
    wanted : Wanted
        Which columns.
    block_bytes : int
        Size of a block, were it dense and float64.

    Raises
    ------
    InputError
        If it is not two-dimensional, has no columns, is not of real numbers, or is
        damaged.

    Examples
    --------
    >>> import scipy.sparse
    >>> source = SparseSource(scipy.sparse.eye_array(3), Wanted(["x2", 0]), 1 << 20)
    >>> next(source.blocks()).tolist()
    [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
    """

    def __init__(
        self,
        matrix: Any,
        wanted: Wanted,
        block_bytes: int,
    ) -> None:
        if matrix.ndim != 2:
            raise InputError(
                f"The sparse array must have two dimensions, rows and columns; "
                f"it has {matrix.ndim}."
            )
        check_numbers(matrix.dtype)
        names = position_names(matrix.shape[1])
        chosen = values = names
        if not (names and wanted.is_all):
            schema = Schema(names, "the sparse array", by_position=True)
            values, marks = choose(wanted, schema)
            chosen = (*values, *marks)
            self.labels = tuple(Labels(kind=type_of_numpy(matrix.dtype)) for _ in marks)
        super().__init__(chosen, int(matrix.shape[0]), block_bytes)
        if matrix.dtype.kind in WHOLE:
            self.whole = frozenset(values)
        if matrix.dtype.kind == "b":
            self.flags = frozenset(values)
        rows = _checked(matrix)
        if chosen != names:
            rows = _canonical(rows[:, np.array([int(name[1:]) for name in chosen])])
        self._rows = rows

    def blocks(self) -> Iterator[Block]:
        """Yield chunks of rows, made dense."""
        for start in range(0, self._rows.shape[0], self.rows_per_block):
            block = self._rows[start : start + self.rows_per_block].toarray()
            block = block.astype(np.float64) if block.dtype == np.longdouble else block
            yield encoded(block, self.labels) if self.labels else block

    def collect(
        self,
        query: Callable[[Block], Integers],
        size: int,
        progress: Callable[[int], None] | None = None,
    ) -> Integers:
        """Add ``query(block)`` up over all blocks, from the stored entries if it can do that."""
        answer = query.of_sparse(self._sparse_rows) if isinstance(query, SparseReader) else None
        if answer is None:
            return super().collect(query, size, progress)
        if progress is not None:
            progress(self._rows.shape[0])
        return answer

    def thinned(self, keep: Thinning, progress: Callable[[int], None] | None = None) -> Source:
        """Return the rows that `keep` chooses by their numbers, sparse as well."""
        rows = self._rows.shape[0]
        kept = self._of(keep(0, rows))
        if progress is not None:
            progress(rows)
        return kept

    def dealt(
        self, deal: Dealing, progress: Callable[[int], None] | None = None
    ) -> Callable[[Sequence[int]], Source]:
        """Deal the rows to separate parts by their numbers, sparse as well."""
        rows = self._rows.shape[0]
        numbers, which = deal.both(0, rows)
        if progress is not None:
            progress(rows)
        return lambda parts: self._of(numbers[np.isin(which, parts)])

    def _of(self, rows: Integers) -> SparseSource:
        """Return a source of copies of some rows."""
        kept = copy.copy(self)
        kept.__dict__.pop("_sparse_rows", None)
        kept._rows = self._rows[rows]
        kept.n_rows = int(kept._rows.shape[0])
        return kept

    @computed_once
    def _sparse_rows(self) -> SparseRows:
        return SparseRows.from_csr(self._rows)


def _checked(matrix: Any) -> Any:
    """Return a canonical CSR matrix, of which all entries are inside, and stay there.

    Compiled loops trust that they are, and another thread may write into the user's arrays.
    """
    kind, shape = type(matrix), matrix.shape
    try:
        if matrix.format == "csr":
            return _checked_rows(kind((matrix.data, matrix.indices, matrix.indptr), shape=shape))
        if matrix.format == "coo":
            places = tuple(axis.copy() for axis in matrix.coords)
            rows = kind((matrix.data, places), shape=shape)  # it looks when it is made
        elif matrix.format in ("csc", "bsr"):
            rows = kind((matrix.data, matrix.indices.copy(), matrix.indptr.copy()), shape=shape)
            rows.check_format()
        else:
            rows = matrix.copy().tocsr()
            rows.check_format()
        return _canonical(rows.tocsr())
    except (IndexError, TypeError, ValueError):
        raise InputError(
            "The sparse array is damaged: an entry is outside of its shape, or its arrays do not "
            "fit together. Its method check_format() says more."
        ) from None


def _checked_rows(given: Any) -> Any:
    """Return the same for a CSR matrix, whose arrays are the user's."""
    starts = given.indptr.copy()
    size = int(starts[-1])
    found = checked(given.indices[:size], given.shape[1])
    if starts[0] != 0 or np.any(starts[1:] < starts[:-1]) or found is None:
        raise ValueError
    columns, falls = found
    if columns.size != size:
        raise ValueError
    starts = starts.astype(columns.dtype, copy=False)  # or SciPy would copy the columns again
    rows = type(given)((given.data[:size], columns, starts), shape=given.shape)
    first = starts[:-1][starts[1:] > starts[:-1]][1:]  # of rows: there columns may fall
    if falls == np.count_nonzero(columns[first] <= columns[first - 1]):
        rows.has_canonical_format = True
        return rows
    return _canonical(rows)


def _canonical(rows: Any) -> Any:
    """Return a CSR matrix with each row's columns rising, none of them twice."""
    # Made anew, it does not believe what an earlier look at the matrix has found: a column
    # that is stored twice in a row would be counted twice, and sensitivities be wrong.
    rows = type(rows)((rows.data, rows.indices, rows.indptr), shape=rows.shape)
    if not rows.has_canonical_format:
        # Entries stored twice are added in the order in which they are stored, as in
        # `toarray`: going back and forth sorts without changing that order.
        rows = rows.tocsc().tocsr()
        rows.sum_duplicates()
    return rows
