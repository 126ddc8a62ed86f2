"""What threads share: the parts of a piece of work, and attributes that any of them computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Thread
from typing import Any, Generic, TypeVar

__all__ = ["computed_once", "in_threads"]

Part = TypeVar("Part")
Answer = TypeVar("Answer")


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
