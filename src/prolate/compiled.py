"""When compiled loops are loaded: after plain NumPy has done as much work as loading costs.

Loading numba and the loops takes most of a second in every process, and compiling them ten,
once on a machine. Both kinds of loops give the same integers, so small work does without.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["WORK", "Work", "forgiving"]


@dataclass
class Work:
    """What NumPy's loops have done in this process.

    Attributes
    ----------
    done : int
        Values that were read or drawn.
    enough : int
        So many that loading is worth it: half a second's.
    """

    done: int = 0
    enough: int = 1 << 24

    def is_enough(self, values: int) -> bool:
        """Add `values` to what was done; return whether compiled loops are worth loading."""
        self.done += values
        return self.done > self.enough


WORK = Work()


def forgiving(module: Any) -> Any:
    """Return a module of compiled loops, which are compiled anew where what is stored is damaged.

    numba stores them beside their source, or in a folder of the user. A power cut, a full disk
    or another version may leave what it cannot read, and it would fail when a loop is first
    called: after the charge, and in every run.
    """
    for loop in vars(module).values():
        cache: Any = getattr(loop, "_cache", None)
        if hasattr(cache, "load_overload") and "load_overload" not in vars(cache):
            cache.load_overload = _or_none(cache.load_overload, cache.flush)
            cache.save_overload = _or_none(cache.save_overload)
    return module


def _or_none(
    function: Callable[..., Any], otherwise: Callable[[], object] = lambda: None
) -> Callable[..., Any]:
    def calm(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception:  # noqa: BLE001 - a pickle may raise anything
            with contextlib.suppress(Exception):
                otherwise()
            return None

    return calm
