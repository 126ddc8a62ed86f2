"""A query added up over blocks by several threads.

Integers add up to the same vector in any order, so neither the number of threads nor
which of them reads a block makes a difference. The thread that asks reads the blocks and
reports the progress; the others run the query, whose kernels leave Python's lock alone.

How many threads. `PROLATE_NUM_THREADS`, if it is set. Otherwise one for each core that
this process may use, but no more than `OMP_NUM_THREADS`, which joblib and Spark set for
their workers, as people do who want no threads; and a single one in a process that was
started by Python's `multiprocessing` or by Spark to share the cores with others like it.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import accumulate, chain

import numpy as np
from numpy.typing import NDArray

from prolate.errors import InputError

__all__ = ["add_up", "thread_count"]

Block = NDArray[np.number | np.bool_]
Total = NDArray[np.int64]

_PIECES = 1 << 17, 1 << 19  # cells that a thread takes at a time: less than a millisecond
_COPIES = 1 << 28  # bytes that the threads' own totals may take


def thread_count() -> int:
    """Return how many threads to use.

    Raises
    ------
    InputError
        If the environment variable PROLATE_NUM_THREADS is not a positive whole number.
    """
    wanted = os.environ.get("PROLATE_NUM_THREADS", "").strip()
    if wanted:
        if not (wanted.isascii() and wanted.isdecimal() and int(wanted) > 0):
            raise InputError(
                "The environment variable PROLATE_NUM_THREADS must be a positive whole number; "
                f"it is {wanted!r}."
            )
        return int(wanted)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    allowed = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if allowed.isdecimal() and int(allowed) > 0:
        return min(int(allowed), cores or 1)
    shared = multiprocessing.parent_process() is not None or "pyspark.worker" in sys.modules
    return 1 if shared else cores or 1


def add_up(
    blocks: Iterable[Block],
    add: Callable[[Block, Total], None],
    size: int,
    progress: Callable[[int], None] | None = None,
    *,
    cells: int = 1 << 62,
) -> Total:
    """Return what `add` adds to a vector of `size` zeros, given all blocks.

    Parameters
    ----------
    blocks : iterable of arrays of shape (rows, d)
        Read by the calling thread. They are cut between rows 2 k and 2 k + 1 only.
    add : callable
        Adds the vector of a block to a total; called by several threads at a time, each
        with a total of its own.
    size : int
        Length of the vector.
    progress : callable, optional
        Called by the calling thread with the number of rows done so far, which rises.
    cells : int
        How many numbers there are, where it is known: few are cut into smaller pieces.
    """
    tasks = _tasks(blocks, min(max(_PIECES[0], cells >> 5), _PIECES[1]))
    first, second = next(tasks, []), next(tasks, [])
    total = np.zeros(size, dtype=np.int64)
    count = min(thread_count(), max(1, _COPIES // max(1, 8 * size))) if second else 1
    steps = _rows_done(chain([first, second], tasks), add, total, count)
    for done in accumulate(steps):
        if progress is not None:
            progress(done)
    return total


def _rows_done(
    tasks: Iterable[list[Block]],
    add: Callable[[Block, Total], None],
    total: Total,
    count: int,
) -> Iterator[int]:
    """Do all tasks, with `count` threads; yield numbers of rows as they are done."""
    if count == 1:
        for block in chain.from_iterable(tasks):
            add(block, total)
            yield block.shape[0]
        return
    others = [np.zeros_like(total) for _ in range(count - 1)]
    free = deque([total, *others])

    def work(task: list[Block]) -> int:
        own = free.pop()
        for block in task:
            add(block, own)
        free.append(own)
        return sum(block.shape[0] for block in task)

    with ThreadPoolExecutor(count, "prolate") as pool:
        waiting: deque[Future[int]] = deque()
        for task in tasks:
            if len(waiting) == 2 * count:
                yield waiting.popleft().result()
            waiting.append(pool.submit(work, task))
        for future in waiting:
            yield future.result()
    for other in others:
        total += other


def _tasks(blocks: Iterable[Block], wanted: int) -> Iterator[list[Block]]:
    """Cut large blocks, and put small ones together, to lists of about so many cells."""
    task: list[Block] = []
    cells = 0
    for block in blocks:
        rows = max(2, wanted // block.shape[1] // 2 * 2)
        for start in range(0, block.shape[0], rows):
            task.append(block[start : start + rows])
            cells += task[-1].size
            if cells >= wanted // 2:
                yield task
                task, cells = [], 0
    if task:
        yield task
