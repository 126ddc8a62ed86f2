"""The parts of a piece of work, done by several threads, or by as many as there can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Thread
from typing import TypeVar

__all__ = ["in_threads"]

Part = TypeVar("Part")
Answer = TypeVar("Answer")


def in_threads(work: Callable[[Part], Answer], parts: Sequence[Part], count: int) -> list[Answer]:
    """Return what `work` says of each part, in the order of the parts.

    The thread that asks works as well, so the parts get done where no other can be started: at
    a limit of the system, or while the interpreter ends, when the executors of
    `concurrent.futures` refuse. By then the release may have been paid for.

    Parameters
    ----------
    work : callable
        Called by several threads at a time. What it raises is raised, and no part is begun then.
    parts : sequence
    count : int
        How many threads may work.

    Examples
    --------
    >>> in_threads(lambda part: part * part, [1, 2, 3], 2)
    [1, 4, 9]
    """
    answers: dict[int, Answer] = {}
    faults: list[BaseException] = []
    places = iter(range(len(parts)))  # no two threads are given the same one

    def take() -> None:
        try:
            for place in places:
                if faults:
                    return
                answers[place] = work(parts[place])
        except BaseException as fault:  # noqa: BLE001 - the thread that asks raises it again
            faults.append(fault)

    threads = []
    for _ in range(min(count, len(parts)) - 1):
        thread = Thread(target=take, name="prolate", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            break
        threads.append(thread)
    take()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return [answers[place] for place in range(len(parts))]
