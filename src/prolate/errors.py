"""Every error that Prolate raises on purpose.

An error says what was wrong, what is allowed and what to do. Only public facts cause it
(the schema, the arguments, the budget), never the values of private rows, so an error
message reveals nothing private.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = [
    "BudgetError",
    "InputError",
    "LedgerError",
    "ProlateError",
    "ReleaseError",
    "did_you_mean",
]


class ProlateError(Exception):
    """Base class of all errors that Prolate raises on purpose."""


class InputError(ProlateError, ValueError):
    """An argument or a schema that Prolate cannot work with."""


class BudgetError(ProlateError, ValueError):
    """A privacy budget that is invalid or used up."""


class LedgerError(ProlateError):
    """A ledger that refuses a charge, or cannot be read or written."""


class ReleaseError(ProlateError, ValueError):
    """A stored release that this version cannot read."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the nearest of `known`, or ``""``.

    Examples
    --------
    >>> did_you_mean("incme", ["age", "income"])
    " Did you mean 'income'?"
    """
    near = get_close_matches(name, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
