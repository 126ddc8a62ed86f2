"""Every error that Prolate raises on purpose.

An error says what was wrong, what is allowed and what to do. Only public facts cause it
(the schema, the arguments, the budget), never the values of private rows, so an error
message reveals nothing private.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from numbers import Number

__all__ = [
    "BudgetError",
    "CallError",
    "InputError",
    "LedgerError",
    "ProlateError",
    "ReleaseError",
    "did_you_mean",
    "listed",
    "shown",
]

_SCALARS = str | bytes | bool | int | float | complex | Number | None
_SHORT = 80  # characters of a text that is shown


class ProlateError(Exception):
    """Base class of all errors that Prolate raises on purpose."""


class InputError(ProlateError, ValueError):
    """An argument or a schema that Prolate cannot work with."""


class CallError(InputError, TypeError):
    """A call with an argument that a function does not have, or without one that it needs."""


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


def listed(names: Collection[str], most: int = 8) -> str:
    """Return names as they stand in an error.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    first = [repr(name) for name in list(names)[:most]]
    rest = len(names) - len(first)
    return ", ".join(first) + (f" and {rest} more" if rest else "")


def shown(value: object) -> str:
    """Return a wrong argument as an error shows it: one number or word, or what else its type is.

    Whoever mixes up arguments passes rows where something else belongs, and errors reach logs.

    Examples
    --------
    >>> shown(1.5), shown([170.2, 70.1])
    ('1.5', 'an object of type list')
    """
    text = repr(value) if isinstance(value, _SCALARS) else ""
    return text if 0 < len(text) <= _SHORT else f"an object of type {type(value).__name__}"
