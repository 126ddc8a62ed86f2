"""How the values of options are read.

Each reader raises `click.BadParameter` or `click.UsageError` with one sentence.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from typing import Any

import click

from prolate.budget import Budget

__all__ = [
    "NUMBER",
    "WHOLE",
    "read_bounds",
    "read_budget",
    "read_by_column",
    "read_clip",
    "read_column",
    "read_columns",
    "read_keys",
    "read_labels",
    "read_level",
    "read_norm",
    "read_numbers",
    "read_quantiles",
    "read_range",
]


NUMBER, WHOLE = type(click.FLOAT)(), type(click.INT)()
NUMBER.name, WHOLE.name = "number", "whole number"
"""Types of options, as errors and help texts call them."""

_EMPTY = re.compile(r'(?:^|(?<=,))""(?=,|$)')


def read_budget(
    epsilon: float | None, delta: float | None, rho: float | None, mu: float | None
) -> Budget:
    """Return the budget that the options state, in exactly one currency."""
    given = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu}
    stated = {name: value for name, value in given.items() if value is not None}
    if set(stated) not in ({"epsilon", "delta"}, {"rho"}, {"mu"}):
        got = " ".join(f"--{name}" for name in stated) or "none"
        raise click.UsageError(
            "State the budget as --epsilon and --delta, or as --rho, or as --mu; "
            f"got {got}. Example: --epsilon 1 --delta 1e-6."
        )
    return Budget(**stated)


def _names(values: Sequence[str], what: str) -> list[str] | None:
    """Return the names of ``a,b`` and ``"c,d"``: quotes keep a comma in a name.

    ``""`` is the empty name, as the first column has in files that pandas writes with an index.
    """
    try:
        names = [name for value in values for row in csv.reader([value]) for name in row]
    except csv.Error:
        raise click.BadParameter(
            f"a {what} with a line break in it must stand in double quotes."
        ) from None
    meant = sum(len(_EMPTY.findall(value)) for value in values)
    if names.count("") > meant or (values and not names):
        raise click.BadParameter(f"a {what} is empty; write them as a,b,c, without spaces.")
    return names or None


def read_columns(
    _context: click.Context, _parameter: click.Parameter, values: Sequence[str]
) -> Any:
    """Return the names of columns, or None for all."""
    return _names(values, "column name")


def read_range(text: str, whole: str | None = None) -> tuple[float, float]:
    """Return the ends of LOW:HIGH."""
    whole = text if whole is None else whole
    try:
        low, high = (float(end) for end in text.split(":"))
    except ValueError:
        raise click.BadParameter(
            f"{whole!r} is not COLUMN=LOW:HIGH or LOW:HIGH, such as age=0:120."
        ) from None
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise click.BadParameter(f"{whole!r} needs two finite numbers, LOW not above HIGH.")
    return low, high


def _unquoted(name: str) -> str:
    """Return a name without the quotes that it may stand in, as lists of names have them."""
    quoted = len(name) > 1 and name[0] == name[-1] == '"'
    return name[1:-1].replace('""', '"') if quoted else name


def read_column(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Any:
    """Return the name of a column, or None."""
    return None if value is None else _unquoted(value)


def read_bounds(_context: click.Context, _parameter: click.Parameter, values: Sequence[str]) -> Any:
    """Return one (low, high), or a dict of them by column; ``=0:1`` is of the empty name."""
    by_column: dict[str, tuple[float, float]] = {}
    overall: list[tuple[float, float]] = []
    for value in values:
        name, equals, ends = value.rpartition("=")
        name = _unquoted(name)
        if not equals:
            overall.append(read_range(ends, value))
        elif name in by_column:
            raise click.BadParameter(f"{value!r} names a column that has bounds already.")
        else:
            by_column[name] = read_range(ends, value)
    if len(overall) > 1 or (overall and by_column):
        raise click.BadParameter(
            "give either LOW:HIGH once, for all columns, or COLUMN=LOW:HIGH for each."
        )
    return overall[0] if overall else by_column or None


def read_by_column(
    _context: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> float | dict[str, float] | None:
    """Return a number, or a dict of them by column."""
    name_of_option = f"--{parameter.name}"
    found: dict[str, float] = {}
    for value in values:
        name, _, number = value.rpartition("=")
        name = _unquoted(name)
        if name in found or (found and ("" in found or not name)):
            raise click.BadParameter(
                f"give {name_of_option} NUMBER once, for all columns, or COLUMN=NUMBER for each."
            )
        found[name] = _number(number, value)
    return found.get("", found) if found else None


def read_numbers(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> float | list[float] | None:
    """Return a number, or the list of A,B,C."""
    if value is None:
        return None
    found = [_number(part, value) for part in value.split(",")]
    return found[0] if len(found) == 1 else found


def _number(text: str, whole: str, wrong: str = "not a number where one is wanted") -> float:
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter(f"{whole!r} is {wrong}.") from None


def read_clip(_context: click.Context, _parameter: click.Parameter, value: str) -> float | str:
    """Return a number, or one of two words."""
    wrong = "neither auto nor a part of the rows, such as 0.05 (or optimal, for gaussian-ellipse)"
    return value if value in ("auto", "optimal") else _number(value, value, wrong)


def read_norm(_context: click.Context, _parameter: click.Parameter, value: str) -> float | str:
    """Return a number, or one word."""
    wrong = "neither a number of at least 1, such as 2, nor the word relative"
    return value if value == "relative" else _number(value, value, wrong)


def read_labels(_context: click.Context, _parameter: click.Parameter, values: Sequence[str]) -> Any:
    """Return the labels that each --key names, or None if there is none."""
    return [tuple(_names([value], "key") or ()) for value in values] or None


def read_keys(columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> list[Any]:
    """Return the groups that the options --key name: several each, or the labels of one."""
    if len(columns) == 1:
        return [key for row in rows for key in row]
    if any(len(row) != len(columns) for row in rows):
        raise click.UsageError(
            f"With {len(columns)} columns in --by, each --key names one group by {len(columns)} "
            "labels, such as --key north,f --key north,m."
        )
    return list(rows)


def read_level(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    """Return a confidence."""
    if not 0.0 < value < 1.0:
        raise click.BadParameter(
            f"{value:g} does not lie strictly between 0 and 1; use for example 0.95."
        )
    return value


def read_quantiles(
    _context: click.Context, _parameter: click.Parameter, values: Sequence[str]
) -> tuple[float, ...]:
    """Return the quantiles of ``0.25,0.5`` and ``0.75``."""
    found = []
    for text in ",".join(values).split(","):
        try:
            q = float(text)
        except ValueError:
            q = math.nan
        if not 0.0 <= q <= 1.0:
            raise click.BadParameter(
                f"{text!r} is not a number from 0 to 1; use -q 0.5 for the median."
            )
        found.append(q)
    return tuple(found)
