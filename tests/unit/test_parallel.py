"""Work shared out among threads: every part once, and by one thread where there are no others."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest

import prolate
from prolate import parallel
from prolate.noise import SeededBits, rounded_gaussian
from prolate.parallel import asides, computed_once, in_threads


@pytest.mark.parametrize("count", [1, 2, 5, 100])
def test_answers_come_in_the_order_of_the_parts(count: int) -> None:
    meet = threading.Barrier(min(count, 20))

    def work(part: int) -> int:
        if part < meet.parties:
            meet.wait(20)  # so many do work at the same time
        return part * part

    assert in_threads(work, range(20), count) == [part * part for part in range(20)]
    assert in_threads(work, [], count) == []


def test_a_fault_is_raised_and_no_part_begun_after_it() -> None:
    begun = []

    def work(part: int) -> None:
        begun.append(part)
        raise ValueError(part)

    with pytest.raises(ValueError, match=r"[01]"):
        in_threads(work, range(1000), 2)
    assert len(begun) <= 2


def test_noise_is_drawn_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of the interpreter, too, a release that was paid for gets its noise."""
    expected = rounded_gaussian(1000, 100_000, SeededBits(1))

    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    drawn = rounded_gaussian(1000, 100_000, SeededBits(1), threads=4)
    np.testing.assert_array_equal(drawn, expected)


def test_a_thread_that_has_done_its_work_gets_more() -> None:
    """Starting one for each pass takes a tenth of a small release."""
    seen = set()
    for _ in range(20):
        begun = threading.Event()

        def work(begun: threading.Event = begun) -> None:
            seen.add(threading.get_ident())
            begun.set()

        (aside,) = asides([work])
        assert begun.wait(60)
        aside.end()
        while not parallel._waiting:
            time.sleep(0.001)
    assert threading.get_ident() not in seen
    assert len(seen) < 10  # a new one, where the last had waited long enough


def test_work_is_waited_for_once_it_has_begun_and_never_begins_later() -> None:
    begun, go, done = threading.Event(), threading.Event(), []

    def work() -> None:
        begun.set()
        go.wait(60)
        done.append(1)

    (aside,) = asides([work])
    begun.wait(60)
    threading.Timer(0.1, go.set).start()
    aside.end()
    assert done == [1]
    late = parallel.Aside(lambda: done.append(2))
    late.end()
    late.begin()
    assert done == [1]


def test_threads_that_wait_hold_no_rows() -> None:
    class Rows:
        """What work may refer to."""

    meet = threading.Barrier(2)
    for _ in range(2):  # of a new thread, and of one that has waited
        rows = Rows()
        kept = weakref.ref(rows)
        in_threads(lambda _, rows=rows: meet.wait(60) and rows and None, range(2), 2)
        while not parallel._waiting:
            time.sleep(0.001)
        del rows
        gc.collect()
        assert kept() is None


def test_threads_that_wait_in_vain_end() -> None:
    asides([lambda: None])
    others = [thread for thread in threading.enumerate() if thread.name == "prolate"]
    for thread in others:
        thread.join(60)
    assert not [thread for thread in others if thread.is_alive()]
    assert in_threads(lambda part: part, range(3), 2) == [0, 1, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_does_not_count_on_threads_that_are_not_there() -> None:
    asides([lambda: None])
    while not parallel._waiting:
        time.sleep(0.001)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        meet = threading.Barrier(2)
        right = in_threads(lambda part: meet.wait(30) and part, range(2), 2)
        os._exit(0 if len(right) == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0


class Slow:
    """Another thread waits in it until it is let go."""

    begun, go = threading.Event(), threading.Event()
    asked = 0

    def __init__(self, *, waits: bool) -> None:
        self.waits = waits

    @computed_once
    def answer(self) -> int:
        """What is computed."""
        self.asked += 1
        if self.waits:
            self.begun.set()
            self.go.wait()
        return 42


def test_an_attribute_is_computed_once() -> None:
    slow = Slow(waits=False)
    assert (slow.answer, slow.answer, slow.asked) == (42, 42, 1)
    assert Slow.answer.__doc__ == "What is computed."


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_computes_what_another_thread_was_computing() -> None:
    """With a lock for all objects of the class it would wait for ever."""
    other = threading.Thread(target=lambda: Slow(waits=True).answer)
    other.start()
    Slow.begun.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if Slow(waits=False).answer == 42 else 1)
    status = os.waitpid(child, 0)[1]
    Slow.go.set()
    other.join()
    assert status == 0


def test_nothing_is_cached_under_a_lock() -> None:
    files = Path(prolate.__file__).parent.rglob("*.py")
    assert [file for file in files if "import cached_property" in file.read_text("utf-8")] == []
