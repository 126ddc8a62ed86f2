"""A query added up over blocks by several threads.

Integers add up to the same vector in any order, so neither the number of threads nor
which of them adds a block makes a difference. The thread that asks reads the blocks and
reports the progress; the others run the query, whose kernels leave Python's lock alone, and
so does the one that asks while the others have enough to do.

How many threads. `PROLATE_NUM_THREADS`, if it is set. Otherwise one for each core that
this process may use, but no more than `OMP_NUM_THREADS`, which joblib and Spark set for
their workers, as people do who want no threads; and a single one in a process that was
started by Python's `multiprocessing` or by Spark to share the cores with others like it.
Little work gets fewer: another thread takes about half a millisecond of the others' time, so
that of W milliseconds of work about the root of 2 W threads are best.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ContextDecorator, closing, contextmanager, nullcontext, suppress
from functools import lru_cache, partial
from itertools import accumulate, chain
from math import isqrt
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Integers
from prolate.errors import InputError
from prolate.parallel import Aside, asides

__all__ = ["add_up", "ignoring", "one_blas_thread", "thread_count", "threads_for"]

Block = NDArray[np.number | np.bool_]
Total = Integers
Task = list[Block]

# Cells that a thread takes at a time, half a millisecond's work: of fewer than a few million an
# eighth, but at least so many; of more, a sixteenth, where so many are in memory in any case.
_LEAST, _PIECE, _MOST = 1 << 18, 1 << 19, 1 << 21
_STOCK = 2  # tasks for each other thread
_COPIES = 1 << 28  # bytes that the threads' own totals may take
_SPREAD = 1 << 19  # cells, for four times as many of which twice as many threads are used


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


def threads_for(cells: int) -> int:
    """Return how many threads to use for so many cells; see the module.

    Examples
    --------
    >>> [threads_for(cells) <= most for cells, most in ((1 << 18, 1), (1 << 20, 2), (1 << 24, 6))]
    [True, True, True]
    """
    return min(thread_count(), 1 + isqrt(cells // _SPREAD))


def add_up(
    blocks: Iterable[Block],
    add: Callable[[Block, Total], None],
    size: int,
    progress: Callable[[int], None] | None = None,
    *,
    cells: int | None = None,
    effort: int = 1,
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
    cells : int, optional
        How many numbers there are, where it is known: few are cut into smaller pieces, and
        left to fewer threads.
    effort : int
        How many times as long as a sum `add` takes.
    """
    tasks = _tasks(blocks, _PIECE if cells is None else _wanted(cells))
    first, second = next(tasks, []), next(tasks, [])
    total = np.zeros(size, dtype=np.int64)
    most = thread_count() if cells is None else threads_for(cells * effort)
    count = min(most, max(1, _COPIES // max(1, 8 * size))) if second else 1
    found = chain(filter(None, [first, second]), tasks)
    # Whoever keeps what `progress` raises keeps the steps as well. So their threads end here: when
    # the interpreter ends, nobody can wait for them any more.
    with closing(_rows_done(found, add, total, count)) as steps:
        for done in accumulate(steps):
            if progress is not None:
                progress(done)
    return total


class _OneBlasThread(ContextDecorator):
    """A limit on the whole process, which goes when the last that needs it has ended."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._before: list[tuple[Any, int]] = []
        if hasattr(os, "register_at_fork"):  # a lock that another thread holds would stay locked
            os.register_at_fork(
                before=self._lock.acquire,
                after_in_parent=self._lock.release,
                after_in_child=self._lock.release,
            )

    def __enter__(self) -> None:
        with self._lock:
            if not self._before:
                found = _blas_libraries(len(sys.modules))
                self._before = [(library, library.num_threads) for library in found]
                for library, _ in self._before:
                    _limit(library, 1)
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                for library, threads in self._before:
                    _limit(library, threads)
                self._before = []


@lru_cache(maxsize=1)
def _blas_libraries(_modules: int) -> list[Any]:
    """Return them, looked for again when there are more modules, with which they are loaded."""
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def _limit(library: Any, threads: int) -> None:
    """Set the number of threads of a library, whichever thread has set it last.

    From version 3.8 on, threadpoolctl lets a single thread set it, and ignores all others.
    """
    getattr(library, "_real_set_num_threads", library.set_num_threads)(threads)


one_blas_thread = _OneBlasThread()
"""Matrix products of NumPy run in the thread that asks for them, as long as this lasts.

Threads of their own spin while they wait for the next product, on the cores that the threads
here need: small private means took twice as long.
"""


@contextmanager
def ignoring(*kinds: str) -> Iterator[None]:
    """Have NumPy ignore kinds of floating-point errors, such as "over"; as a decorator, too.

    And have SciPy's special functions ignore all, if somebody else may have set them to raise.

    NumPy's own `errstate` is one object for all calls of what it decorates. Before NumPy 2, what
    one call had found was what another gave back, of another thread or within the first.
    """
    # Not loaded for this, or by another thread just now: then nobody has.
    special = getattr(sys.modules.get("scipy.special"), "errstate", None)
    others = nullcontext() if special is None else special(all="ignore")
    with np.errstate(**dict.fromkeys(kinds, "ignore")), others:  # type: ignore[arg-type]
        yield


def _rows_done(
    tasks: Iterable[Task],
    add: Callable[[Block, Total], None],
    total: Total,
    count: int,
) -> Generator[int]:
    """Do all tasks, with `count` threads; yield numbers of rows as they are done."""
    if count == 1:
        for block in chain.from_iterable(tasks):
            add(block, total)
            yield block.shape[0]
        return
    with _Crew(add, [np.zeros_like(total) for _ in range(count - 1)]) as crew:
        crew.start()
        for task in tasks:
            crew.stock.put(task)
            while crew.has_enough() and crew.help(total):
                pass
            yield from crew.rows_done()
        while crew.help(total):
            yield from crew.rows_done()
    yield from crew.rows_done()
    for other in crew.totals:
        total += other


class _Crew:
    """Threads that do the tasks in stock, each adding to a total of its own.

    A thread that sleeps until another wakes it loses more time than a task takes. So the
    thread that fills the stock helps with a task whenever the others have enough.
    """

    def __init__(self, add: Callable[[Block, Total], None], totals: list[Total]) -> None:
        self.totals = totals
        self.stock: SimpleQueue[Task | None] = SimpleQueue()
        self._add = add
        self._rows: SimpleQueue[int] = SimpleQueue()
        self._faults: list[BaseException] = []
        self._others: list[Aside] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _type: object, fault: BaseException | None, _trace: object) -> None:
        if fault is not None:
            self._faults.append(fault)  # so that nobody begins another task
        for _ in self.totals:
            self.stock.put(None)
        for other in self._others:
            other.end()
        if fault is None:
            self._check()

    def start(self) -> None:
        """Start the threads, or as many as there can be: the one that asks works as well."""
        self._others = asides(partial(self._work, own) for own in self.totals)

    def has_enough(self) -> bool:
        """Return whether there are tasks for all others while one thread helps."""
        return self.stock.qsize() > _STOCK * len(self._others)

    def help(self, total: Total) -> bool:
        """Do a task; return whether there was one."""
        try:
            task = self.stock.get_nowait()
        except Empty:
            return False
        if task is not None:
            self._do(task, total)
        return True

    def rows_done(self) -> Iterator[int]:
        """Yield the numbers of rows that were done since; raise what another thread raised."""
        self._check()
        with suppress(Empty):
            while True:
                yield self._rows.get_nowait()

    def _work(self, own: Total) -> None:
        try:
            while (task := self.stock.get()) is not None and not self._faults:
                self._do(task, own)
        except BaseException as fault:  # noqa: BLE001 - the thread that asks raises it again
            self._faults.append(fault)

    def _do(self, task: Task, total: Total) -> None:
        for block in task:
            self._add(block, total)
        self._rows.put(sum(block.shape[0] for block in task))

    def _check(self) -> None:
        if self._faults:
            raise self._faults[0]


def _wanted(cells: int) -> int:
    return max(_LEAST, min(cells >> 3, max(_PIECE, min(cells >> 4, _MOST))))


def _tasks(blocks: Iterable[Block], wanted: int) -> Iterator[Task]:
    """Cut large blocks to pieces of about so many cells, and put small ones together to lists."""
    enough = min(wanted, _PIECE) // 2
    task: Task = []
    cells = 0
    for block in blocks:
        pieces = max(1, round(block.size / wanted))  # as large as each other: none is a few rows
        rows = 2 * max(1, -(-block.shape[0] // (2 * pieces)))
        for start in range(0, block.shape[0], rows):
            task.append(block[start : start + rows])
            cells += task[-1].size
            if cells >= enough:
                yield task
                task, cells = [], 0
    if task:
        yield task
