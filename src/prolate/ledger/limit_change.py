"""What a ledger writes down when somebody sets another limit."""

from __future__ import annotations

from dataclasses import dataclass

from prolate.budget import Budget

__all__ = ["LimitChange"]


@dataclass(frozen=True)
class LimitChange:
    """One change of a ledger's limit.

    Attributes
    ----------
    id : int
        1, 2, 3, ... in the order of the changes.
    time : str
        When it was made: UTC, in ISO 8601, by the clock of the machine that made it.
    charges : int
        How many charges there were before it. Unlike `time`, this depends on no clock.
    old, new : Budget
        The limit before and after.
    old_keys_delta, new_keys_delta : float
        The part of its delta that was set aside for finding groups, before and after.
    """

    id: int
    time: str
    charges: int
    old: Budget
    new: Budget
    old_keys_delta: float = 0.0
    new_keys_delta: float = 0.0
