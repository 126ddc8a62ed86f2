"""Separate parts of the rows, of which measurements cost what the dearest part does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from prolate.curator.account import Account
from prolate.curator.rows import Rows
from prolate.measurement import Place

__all__ = ["Parts"]


@dataclass(frozen=True, eq=False)
class Parts:
    """Separate parts of the rows, some of which are measured at a time.

    Attributes
    ----------
    rows : callable
        From numbers of parts to their rows.
    dealt : int
        Their number in the account.
    fraction : float
        The probability with which a row goes to a given part.
    every : int
        How many parts there are.
    count : int
        How many are measured at a time.
    """

    rows: Callable[[Sequence[int]], Rows]
    dealt: int
    fraction: float
    every: int
    count: int = 1

    def pay(self, shares: Sequence[float], account: Account) -> tuple[Place, Rows]:
        """Spend shares on those parts on which least was spent; return which, and their rows."""
        parts = account.spend_apart(self.dealt, self.count, *shares)
        return Place(self.dealt, parts), self.rows(parts)
