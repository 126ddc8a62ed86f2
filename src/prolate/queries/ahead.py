"""The loops over rows compiled ahead of the first large release, for every process."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import time
from typing import Any

import numpy as np

from prolate.arrays import Floats
from prolate.compiled import WORK
from prolate.noise import SystemBits, rounded_gaussian, with_noise
from prolate.queries import kernels, sparse
from prolate.sources.columns_in_place import ColumnsInPlace, columns_of
from prolate.sources.entries import checked, counts
from prolate.sources.sparse_rows import Entries, SparseRows

__all__ = ["compile_loops", "loops"]

_LONG_AGO = 600.0  # seconds after which another process that compiles must have ended
_NOISE = 1 << 12  # samples, for which a key is stretched


def loops() -> list[Callable[[], object]]:
    """Return calls that compile the loops one by one, for the kinds of rows they are for.

    What most releases need comes first.
    """
    many = np.zeros(_NOISE, np.int64)
    found: list[Callable[[], object]] = [partial(rounded_gaussian, 1000, _NOISE, SystemBits())]
    found.append(partial(with_noise, many, many, 1))
    doubles, singles = np.zeros((8, 3)), np.zeros((8, 3), dtype=np.float32)
    found += _of_lines(doubles) + _of_rows(doubles)
    for rows in (singles, np.asfortranarray(doubles), np.asfortranarray(singles)):
        found += _of_lines(rows)
    return found + _of_columns() + _of_entries()


def _of_columns() -> list[Callable[[], object]]:
    rows = [np.zeros((8, 3), dtype, order="F") for dtype in (np.float64, np.float32)]
    columns = [found for each in rows if (found := columns_of(each)) is not None]
    return [partial(ColumnsInPlace.copied, each.at(np.arange(2))) for each in columns]


def _of_lines(rows: kernels.Rows) -> list[Callable[[], object]]:
    d = rows.shape[1]
    zeros, ones, sums = np.zeros(d), np.ones(d), np.zeros(d, dtype=np.int64)
    cells, first = np.zeros((d, 4), dtype=np.int64), np.zeros(d, dtype=np.int64)
    limits = (1.0, 0.0, 0.0, sums)
    add = partial(kernels.clipped_sum, rows, zeros, ones)
    return [
        partial(kernels.pooled_histogram, rows, zeros, first, 52, cells[0]),
        partial(kernels.magnitude_histogram, rows, zeros, first, 52, cells),
        partial(kernels.linear_histogram, rows, zeros, ones, cells),
        partial(kernels.edge_histogram, rows, np.zeros((d, 3)), first, cells),
        partial(add, None, None, None, zeros, *limits),
        partial(kernels.farthest, rows, zeros, ones),
        partial(kernels.norm_cells, rows, zeros, ones, ones[:1]),
        partial(add, None, None, ones, zeros, *limits),
        partial(add, zeros, ones, None, zeros, *limits),
        partial(add, zeros, ones, ones, zeros, *limits),
        partial(kernels.clipped_sum, rows, None, ones, zeros, ones, None, zeros, *limits),
        partial(kernels.norms, rows, zeros, ones),
        partial(kernels.norm_cells, rows, zeros, ones, ones[:1], None, None, ones),
        partial(kernels.norm_cells, rows, zeros, ones, ones[:1], zeros, ones),
        partial(kernels.farthest, rows, zeros, ones, zeros, ones),
        partial(kernels.norm_cells, rows, zeros, ones, ones[:1], zeros, ones, ones),
    ]


def _of_rows(rows: Floats) -> list[Callable[[], object]]:
    d = rows.shape[1]
    zeros, ones, numbers = np.zeros(d), np.ones(d), (1.0, 1.0, 1.0, 1.0)
    steps, factors = np.zeros((len(rows), d + 1)), np.zeros(len(rows))
    return [
        partial(kernels.clipped_steps, rows, zeros, ones, zeros, ones, *numbers, steps, factors),
        partial(kernels.cut, rows, zeros, ones),
        partial(kernels.turn, rows, zeros, np.eye(d)),
        partial(kernels.products, rows, zeros, ones),
    ]


def _of_entries() -> list[Callable[[], object]]:
    """Return calls for entries whose numbers have 32 bits, as SciPy makes them."""
    ones, sums = np.ones(2), np.zeros(2, dtype=np.int64)
    both: Any = np.arange(2, dtype=np.int32)
    entries = Entries(both, both[:1], both[:1])
    rows = SparseRows(
        count=1,
        entries=lambda: entries,
        pair_column=np.zeros(1, dtype=np.int64),
        pair_value=ones[:1],
        pair_count=np.ones(1, dtype=np.int64),
        rest=ones,
        rest_count=np.arange(2),
    )
    nowhere, zeros = np.full(2, np.nan), np.zeros(2)
    clip = (0.5, 0.0, 0.0)  # shorter than the row, whose steps are then rounded
    return [
        partial(checked, both, 2),
        partial(checked, both.astype(np.int64), 2),
        partial(counts, both, 2),
        partial(sparse.clipped_sum, rows, lambda values, _: 3.0 * values, *clip, sums),
        partial(sparse.farthest_cells, rows, zeros, ones, ones[:1]),
        partial(sparse.norm_cells, rows, nowhere, zeros, ones, ones[:1]),
        partial(sparse.norms, rows, nowhere, zeros, ones),
        partial(sparse.farthest, rows, zeros, ones),
        partial(_selected, rows),
    ]


def _selected(rows: SparseRows) -> None:
    some = sparse.selected(rows, np.zeros(1, dtype=np.int64))
    if some is not None:
        some.entries()


def compile_loops(*, aside: bool = False) -> int:
    """Compile and store what is not stored yet; return how many loops there are.

    Parameters
    ----------
    aside : bool
        Leave the cores to others, and do nothing while another process does this.
    """
    WORK.enough = WORK.plenty = -1
    if kernels._loaded("norms_rows") is None:  # numba is not there, or compiles nothing
        return 0
    calls = loops()
    with _alone() if aside else contextlib.nullcontext(True) as alone:
        for call in calls if alone else ():
            call()
    return len(calls)


@contextmanager
def _alone() -> Iterator[bool]:
    """Be the only one, and let others go first; False if there is another."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(5)
    lock = Path(kernels._loaded("norms_rows")._cache.cache_path) / "compiling.lock"  # type: ignore[union-attr]
    with contextlib.suppress(OSError):
        if time() - lock.stat().st_mtime > _LONG_AGO:
            lock.unlink()
    try:
        lock.touch(exist_ok=False)
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        lock.unlink(missing_ok=True)
