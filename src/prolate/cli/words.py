"""Advice in the terms of the command: errors are written for Python, options are what is typed."""

from __future__ import annotations

import ast
import re
import shlex
from typing import Any

from prolate.report.repeat import field_of

__all__ = ["in_options"]

_TEXT = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_VALUE = rf"{_TEXT}|\[[^\]]*\]|\([^)]*\)|\{{[^}}]*\}}|True|False|\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_NAMES = (
    "accounting", "alpha", "bounds", "by", "center", "clip", "columns", "contribution", "delta",
    "epsilon", "error_norm", "exchangeable", "features", "fit_intercept", "keys", "max_rows",
    "method", "mu", "neighbors", "rho", "scale", "target", "unit",
)  # fmt: skip
_BUDGET = re.compile(r"(?:prolate\.)?Budget\(([^()]*)\)")
_GIVEN = re.compile(rf"(?<![\w.'\"/-])({'|'.join(_NAMES)})=({_VALUE})")
# Words that say nothing else in English; in quotes they are somebody's own.
_ALONE = {
    "error_norm": "--error-norm",
    "keys_delta": "--keys-delta",
    "max_rows": "--max-rows",
    "Ledger.create": "prolate ledger create",
    "Ledger(path)": "--ledger PATH",
}
_FIRST = re.compile(
    rf"(?:^|(?<=\. ))({'|'.join(set(_NAMES) - {'fit_intercept', 'keys'})})(?= must )"
)
_COMMA = re.compile(r"Did you mean '([^']*,[^']*)'\?")
_WORDS = re.compile(rf"(?<![\w.'\"/-])({'|'.join(map(re.escape, _ALONE))})(?![\w'\"])")


def in_options(sentence: str) -> str:
    """Return a sentence with the options of the command in place of Python's arguments.

    Examples
    --------
    >>> in_options("Give the groups: keys=['north', 'far east'].")
    "Give the groups: --key north --key 'far east'."
    >>> in_options("A budget with a delta, such as Budget(epsilon=1, delta=1e-6); max_rows=5.")
    'A budget with a delta, such as --epsilon 1 --delta 1e-6; --max-rows 5.'
    >>> in_options("clip must be 'auto'. The scale must be known.")
    "--clip must be 'auto'. The scale must be known."
    """
    found = _BUDGET.sub(lambda call: call[1].replace(", ", " "), sentence)
    found = _GIVEN.sub(lambda given: _option(given[1], given[2]), found)
    found = _COMMA.sub(lambda name: f"A comma needs two pairs of quotes: '\"{name[1]}\"'.", found)
    found = _WORDS.sub(lambda word: _ALONE[word[1]], found).replace("; got None.", ".")
    return _FIRST.sub(lambda name: f"--{name[1]}", found)


def _option(name: str, text: str) -> str:
    if name == "fit_intercept":
        return "--intercept" if text == "True" else "--no-intercept"
    if text == "True":
        return f"--{name}"
    option = f"--{name.replace('_', '-')}"
    value, rest = _value(text)
    if name == "keys":
        rows = [key if isinstance(key, tuple) else (key,) for key in value]
        named = [",".join(field_of(str(label)) for label in row) for row in rows]
        return " ".join(f"--key {shlex.quote(row)}" for row in named) or "--key KEY"
    if isinstance(value, list) and name == "by":
        return " ".join(f"--by {shlex.quote(field_of(column))}" for column in value)
    if name in ("columns", "features"):
        names = value if isinstance(value, list) else [value]
        every = [*map(field_of, map(str, names)), *["..."] * rest]
        return f"{option} {shlex.quote(','.join(every)) if every else 'A,B'}"
    if isinstance(value, dict):
        return " ".join(
            f"{option} {shlex.quote(f'{field_of(str(column))}={_plain(one)}')}"
            for column, one in value.items()
        )
    is_name = name in ("target", "unit") and isinstance(value, str)
    return f"{option} {shlex.quote(field_of(value) if is_name else _plain(value))}"


def _value(text: str) -> tuple[Any, bool]:
    """Return what a literal says, and whether there is more that it does not say."""
    try:
        return (text if text[0].isdigit() else ast.literal_eval(text)), False
    except (SyntaxError, ValueError):  # 'a', 'b' and 3 more
        return [ast.literal_eval(one) for one in re.findall(_TEXT, text)], True


def _plain(value: object) -> str:
    return ":".join(map(str, value)) if isinstance(value, tuple) else str(value)
