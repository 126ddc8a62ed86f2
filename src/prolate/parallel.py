"""What threads share: the parts of a piece of work, and attributes that any of them computes.

To start a thread and to see it end takes as long as half a million values are added up in, and a
release has some twenty pieces of work for threads. So one that has done its piece waits for
another for a while.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

__all__ = ["Aside", "asides", "computed_once", "in_threads"]

Part = TypeVar("Part")
Answer = TypeVar("Answer")

_PATIENCE = 1.0  # seconds that a thread waits for more work


class computed_once(Generic[Answer]):  # noqa: N801 - a decorator, like `property`
    """An attribute that is computed when it is asked for, and kept; no lock is held meanwhile.

    `functools.cached_property` has one in Python 3.11, which all objects of a class share. In a
    process that is forked while another thread computes, nobody would ever release it.
    """

    def __init__(self, function: Callable[[Any], Answer]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance: object, owner: type) -> Answer:
        if instance is None:  # asked of the class, as by what documents it
            return self  # type: ignore[return-value]
        answer = self.function(instance)
        instance.__dict__[self.function.__name__] = answer  # which is looked at first from now on
        return answer


class Aside:
    """Work that another thread does, if it gets to it before whoever asks needs it no more.

    Parameters
    ----------
    work : callable
        Raises nothing.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._turn, self._end = Lock(), Lock()
        self._end.acquire()

    def begin(self) -> None:
        """Do the work, unless it has been ended; asked by the other thread."""
        if self._turn.acquire(blocking=False):
            try:
                self._work()
            finally:
                self._end.release()

    def end(self) -> None:
        """Wait for work that was begun; what was not never will be."""
        if not self._turn.acquire(blocking=False):
            self._end.acquire()


_waiting: list[SimpleQueue[Aside]] = []  # one for each thread without work

if hasattr(os, "register_at_fork"):  # the threads are not forked with it
    os.register_at_fork(after_in_child=_waiting.clear)


def asides(works: Iterable[Callable[[], None]]) -> list[Aside]:
    """Have each piece of work done by a thread of its own; by fewer, where no more can be started.

    That is at a limit of the system, or while the interpreter ends, when the executors of
    `concurrent.futures` refuse. By then a release may have been paid for, so whoever asks works as
    well.
    """
    found = []
    for work in works:
        aside = Aside(work)
        try:
            _waiting.pop().put(aside)
        except IndexError:
            mine: SimpleQueue[Aside] = SimpleQueue()
            mine.put(aside)  # no argument of the thread's, which would hold rows while it lasts
            try:
                Thread(target=_serve, args=(mine,), name="prolate", daemon=True).start()
            except RuntimeError:
                break
        found.append(aside)
    return found


def _serve(mine: SimpleQueue[Aside]) -> None:
    """Do what is asked for, until nothing is within the time that a thread waits."""
    while True:
        try:
            aside = mine.get(timeout=_PATIENCE)
        except Empty:
            try:
                _waiting.remove(mine)
            except ValueError:  # somebody has just taken it, to put work in
                aside = mine.get()
            else:
                return
        aside.begin()
        del aside  # it holds rows
        _waiting.append(mine)


def in_threads(work: Callable[[Part], Answer], parts: Sequence[Part], count: int) -> list[Answer]:
    """Return what `work` says of each part, in the order of the parts.

    The thread that asks works as well.

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

    others = asides([take] * (min(count, len(parts)) - 1))
    take()
    for other in others:
        other.end()
    if faults:
        raise faults[0]
    return [answers[place] for place in range(len(parts))]
