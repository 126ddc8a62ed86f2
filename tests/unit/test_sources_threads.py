"""Threads: the same sums for any number of them, and no more of them than there should be."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from prolate.errors import InputError
from prolate.queries import ClippedSum, Histogram, LinearGrid, NormHistogram, Pairs, Together
from prolate.sources import Source, open_source
from prolate.sources.threads import add_up, ignoring, one_blas_thread, thread_count, threads_for

COLUMNS = 8
ROWS = np.random.default_rng(5).normal(size=(100_001, COLUMNS))  # four pieces, an odd last row
THREADS = [1, 2, 3, 7]


def together() -> Together:
    zeros, ones = np.zeros(COLUMNS), np.ones(COLUMNS)
    return Together(
        (
            ClippedSum(zeros, ones, 3.0),
            NormHistogram(zeros, ones, np.linspace(1.0, 5.0, 40)),
            Histogram(LinearGrid(zeros - 3.0, ones / 8, 48)),
            Pairs(ClippedSum(zeros, ones, 3.0)),
        )
    )


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROLATE_NUM_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("block_bytes", [1 << 12, 1 << 20, 1 << 24])
def test_any_number_of_threads_adds_up_the_same_integers(threads, block_bytes, monkeypatch) -> None:
    query = together()
    monkeypatch.setenv("PROLATE_NUM_THREADS", str(threads))
    monkeypatch.setattr("prolate.sources.threads._SPREAD", 1)
    done: list[int] = []
    found = open_source(ROWS, block_bytes=block_bytes).collect(query, query.size, done.append)
    assert np.array_equal(found, query(ROWS))
    assert done == sorted(set(done))
    assert done[-1] == len(ROWS)


@pytest.mark.parametrize("threads", THREADS)
def test_so_many_threads_take_part_and_one_reads(threads, monkeypatch) -> None:
    monkeypatch.setenv("PROLATE_NUM_THREADS", str(threads))
    meeting = threading.Barrier(threads, timeout=30)
    readers, reporters, workers, totals = set(), set(), set(), set()

    def blocks() -> Iterator[np.ndarray]:
        for _ in range(2 * threads):
            readers.add(threading.get_ident())
            yield np.ones((1 << 16, 4))

    def add(block: np.ndarray, total: np.ndarray) -> None:
        workers.add(threading.get_ident())
        totals.add(id(total))
        meeting.wait()
        total += block.sum(axis=0).astype(np.int64)

    total = add_up(blocks(), add, 4, lambda done: reporters.add(threading.get_ident()))
    assert total.tolist() == [2 * threads << 16] * 4
    assert readers == reporters == {threading.get_ident()}
    assert len(workers) == len(totals) == threads


def test_few_rows_and_huge_totals_are_left_to_one_thread(monkeypatch) -> None:
    monkeypatch.setenv("PROLATE_NUM_THREADS", "4")
    seen: set[int] = set()

    def add(block: np.ndarray, total: np.ndarray) -> None:
        seen.add(threading.get_ident())

    add_up([np.ones((1 << 10, 4))] * 3, add, 4)
    add_up([np.ones((1 << 16, 4))] * 8, add, 1 << 27)  # a gigabyte, and not one for each
    assert seen == {threading.get_ident()}


def test_little_work_gets_few_threads(monkeypatch) -> None:
    monkeypatch.setenv("PROLATE_NUM_THREADS", "16")
    counts = [threads_for(1 << power) for power in range(16, 31)]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (1, 16)
    workers: dict[int, set[int]] = {1: set(), 100: set()}
    meeting = threading.Barrier(8, timeout=30)

    def add(effort: int, block: np.ndarray, total: np.ndarray) -> None:
        workers[effort].add(threading.get_ident())
        if effort > 1:
            meeting.wait()

    for effort in workers:
        blocks = [np.ones((1 << 16, 4))] * 8
        add_up(blocks, partial(add, effort), 4, cells=1 << 21, effort=effort)
    assert len(workers[1]) <= 3
    assert len(workers[100]) == 8


def test_small_blocks_are_joined_and_large_ones_cut_between_pairs() -> None:
    seen: list[int] = []
    add_up([np.ones((1 << 20, 3))], lambda block, total: seen.append(len(block)), 1)
    assert len(seen) > 4
    assert all(count % 2 == 0 for count in seen)
    done: list[int] = []
    add_up([np.ones((2, 1 << 10))] * 1000, lambda block, total: None, 1, done.append)
    assert len(done) < 40
    assert done[-1] == 2000


def test_a_fault_of_any_thread_is_raised(monkeypatch) -> None:
    monkeypatch.setenv("PROLATE_NUM_THREADS", "2")

    def add(block: np.ndarray, total: np.ndarray) -> None:
        raise InputError("no")

    def blocks() -> Iterator[np.ndarray]:
        yield from [np.ones((1 << 16, 4))] * 8
        raise InputError("changed")

    with pytest.raises(InputError, match="no"):
        add_up([np.ones((1 << 16, 4))] * 8, add, 4)
    with pytest.raises(InputError, match="changed"):
        add_up(blocks(), lambda block, total: None, 4)
    source: Source = open_source(ROWS)
    with pytest.raises(TypeError, match="int64 of shape"):
        source.collect(lambda block: block.sum(axis=0), COLUMNS)


def test_the_number_of_threads(monkeypatch) -> None:
    cores = thread_count()
    assert cores >= 1
    monkeypatch.setenv("OMP_NUM_THREADS", "1,1")
    assert thread_count() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", str(cores + 1))
    assert thread_count() == cores
    monkeypatch.setenv("OMP_NUM_THREADS", "what")
    assert thread_count() == cores
    monkeypatch.setenv("PROLATE_NUM_THREADS", "5")
    assert thread_count() == 5
    for wrong in ("0", "-1", "two", "1.5", "²"):
        monkeypatch.setenv("PROLATE_NUM_THREADS", wrong)
        with pytest.raises(InputError, match="PROLATE_NUM_THREADS must be a positive whole number"):
            thread_count()


def test_a_process_among_others_has_one_thread() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(thread_count) == 1


def test_no_thread_outlives_a_progress_that_raises(monkeypatch) -> None:
    """Kept until the interpreter ends, as that of a script is, the error kept them alive."""
    monkeypatch.setenv("PROLATE_NUM_THREADS", "4")

    def progress(rows: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as kept:
        add_up([np.ones((1 << 16, 4))] * 8, lambda block, total: None, 4, progress)
    assert kept.tb is not None
    wait_for_threads()


def wait_for_threads() -> None:
    """Wait until no thread waits for work."""
    for thread in threading.enumerate():
        if thread.name == "prolate":
            thread.join(60)
            assert not thread.is_alive()


def test_threads_that_cannot_be_started_are_done_without(monkeypatch) -> None:
    expected = open_source(ROWS).collect(together(), together().size)
    wait_for_threads()
    monkeypatch.setenv("PROLATE_NUM_THREADS", "4")
    monkeypatch.setattr("prolate.sources.threads._SPREAD", 1)
    start, started = threading.Thread.start, []

    def only_one(thread: threading.Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", only_one)
    np.testing.assert_array_equal(open_source(ROWS).collect(together(), together().size), expected)
    assert len(started) == 1


def test_matrix_products_keep_to_one_thread_whoever_asks_and_only_then() -> None:
    def counts() -> set[int]:
        return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as other:
        before = counts()
        other.submit(one_blas_thread.__enter__).result()
        with one_blas_thread:
            assert counts() <= {1}
            other.submit(one_blas_thread.__exit__).result()
            assert counts() <= {1}
        assert counts() == before


def test_numpy_ignores_errors_in_a_call_and_not_after_one_within_it() -> None:
    @ignoring("over", "invalid")
    def work(depth: int) -> dict[str, str]:
        return work(depth - 1) if depth else np.geterr()

    with np.errstate(all="raise"):
        before = np.geterr()
        assert work(1) == before | {"over": "ignore", "invalid": "ignore"}
        assert np.geterr() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_waits_for_whoever_changes_the_threads_of_products() -> None:
    with ThreadPoolExecutor(1) as other:
        other.submit(one_blas_thread._lock.acquire).result()
        release = threading.Timer(0.2, one_blas_thread._lock.release)
        release.start()
        child = os.fork()
        if child == 0:
            os._exit(0 if one_blas_thread._lock.acquire(timeout=0) else 1)
        assert os.waitpid(child, 0)[1] == 0
        release.join()
