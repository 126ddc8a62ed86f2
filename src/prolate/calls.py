"""What is said of a call that does not fit a function: what is wrong, and what to write instead.

Python's own `TypeError` says the first alone. The functions that users call have keyword-only
arguments, so that such calls are the first mistakes of many.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import ParamSpec, TypeVar

from prolate.errors import CallError, did_you_mean

__all__ = ["explained"]

P = ParamSpec("P")
R = TypeVar("R")

_CURRENCIES = ("epsilon", "delta", "rho", "mu")  # of a budget: near to no other name

_NO_WEIGHTS = "; rows cannot be weighted (of a weighted mean, see docs/guides/mean.md)"
_ABSENT = {"weights": _NO_WEIGHTS, "sample_weight": _NO_WEIGHTS}  # known from other libraries


def explained(example: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator: calls that do not fit the signature raise `CallError`.

    Parameters
    ----------
    example : str
        A call that is right.

    Examples
    --------
    >>> @explained("area(width=2, height=3)")
    ... def area(*, width, height): return width * height
    >>> area(width=2, height=3)
    6
    >>> area(2, 3)
    Traceback (most recent call last):
    prolate.errors.CallError: area() takes no arguments by position. Write area(width=2, height=3).
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                signature.bind(*args, **kwargs)
            except TypeError:
                wrong = _wrong(signature, args, kwargs)
                name = function.__qualname__.removesuffix(".__init__")
                end = "" if wrong.endswith("?") else "."
                raise CallError(f"{name}() {wrong}{end} Write {example}.") from None
            return function(*args, **kwargs)

        return call

    return decorate


def _wrong(
    signature: inspect.Signature, args: Sequence[object], kwargs: Mapping[str, object]
) -> str:
    """Return what is wrong with the arguments of a call."""
    taken = dict(signature.parameters)
    first = args[0] if taken.pop("self", None) or taken.pop("cls", None) else None
    mine = first if first is None or isinstance(first, type) else type(first)
    given = len(args) - (mine is not None)
    for name in kwargs:
        if name not in taken:
            if mine is not None and name in inspect.signature(mine).parameters:
                return f"has no argument {name!r}; {mine.__name__}({name}=...) has"
            if name in _ABSENT:
                return f"has no argument {name!r}{_ABSENT[name]}"
            hint = "" if name in _CURRENCIES else did_you_mean(name, taken)
            return f"has no argument {name!r}.{hint}".removesuffix(".")
    named = inspect.Parameter.KEYWORD_ONLY
    by_position = [name for name, one in taken.items() if one.kind is not named]
    if given > len(by_position):
        count = len(by_position)
        return f"takes only {count} by position" if count else "takes no arguments by position"
    there = {*by_position[:given], *kwargs}
    needed = [
        name
        for name, one in taken.items()
        if one.default is inspect.Parameter.empty and name not in there
    ]
    if needed:
        return f"needs {' and '.join(needed)}"
    return f"got {next(name for name in by_position[:given] if name in kwargs)!r} twice"
