"""What a place that keeps ledgers must do, and what every such place needs."""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from prolate.ledger.account import Account
from prolate.ledger.books import Books

__all__ = ["PATIENCE", "Store", "busy", "damaged", "one_operation"]

PATIENCE = 30.0  # seconds to wait for another process

# Database libraries keep locks and connections per process, in memory that a fork
# would copy half way through an operation.
one_operation = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=one_operation.acquire,
        after_in_parent=one_operation.release,
        after_in_child=one_operation.release,
    )


class Store(Protocol):
    """A place that keeps a ledger; its errors are `LedgerError`, in plain sentences."""

    @property
    def place(self) -> Path | str:
        """Where it is, fit to be shown: without a password."""

    def create(self, account: Account) -> None:
        """Make the ledger; it must not exist."""

    def transaction(self, *, write: bool) -> AbstractContextManager[Books]:
        """Return one transaction: committed, and on the disk, when the block ends.

        An error inside the block undoes everything.
        """

    def absent(self) -> str:
        """Return the sentence for a ledger that `Books.read` does not find."""

    def adopt(self) -> None:
        """Let this machine, and no other, use the ledger."""


def damaged(place: object) -> str:
    """Return the sentence for a ledger that is not whole."""
    return (
        f"The ledger {place} is damaged, so what was spent is not known; "
        "restore it from a copy that holds every charge."
    )


def busy(place: object) -> str:
    """Return the sentence for a ledger that stayed locked."""
    return (
        f"Another process kept the ledger {place} locked for {PATIENCE:g} seconds; "
        "try again when it is done."
    )
