"""When compiled loops are loaded: after plain NumPy has done as much work as loading costs.

Loading numba and the loops takes most of a second in every process, and compiling them ten,
once on a machine. Both kinds of loops give the same integers, so small work does without.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["WORK", "Work"]


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
