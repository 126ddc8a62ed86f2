"""Work shared out among threads: every part once, and by one thread where there are no others."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from prolate.noise import SeededBits, rounded_gaussian
from prolate.parallel import in_threads


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
