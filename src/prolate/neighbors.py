"""How far apart what is asked of two neighbors can be, in rows and in radii."""

from __future__ import annotations

import math

from prolate.budget import Neighbors

__all__ = ["radii_apart", "rows_changed"]


def rows_changed(neighbors: Neighbors) -> int:
    """Return how many rows differ between two neighbors: one goes, and under replace one comes.

    If it is k, a sum of rows clipped to norm C has l2 sensitivity k C, and a histogram in
    which each row counts once has sqrt(k).

    Examples
    --------
    >>> rows_changed("replace"), rows_changed("add-remove")
    (2, 1)
    """
    return 2 if neighbors == "replace" else 1


def radii_apart(neighbors: Neighbors, *, one_sided: bool = False) -> float:
    """Return how far apart sums of clipped rows of two neighbors are at most, over the radius.

    Two rows that deviate to the same side in every column are never opposite each other.

    Examples
    --------
    >>> radii_apart("replace"), radii_apart("add-remove")
    (2.0, 1.0)
    >>> radii_apart("replace", one_sided=True) == 2**0.5
    True
    """
    changed = float(rows_changed(neighbors))
    return math.sqrt(changed) if one_sided else changed
