"""The options of the command line: what they are called, and how they are read.

Each reader raises `click.BadParameter` or `click.UsageError` with one sentence.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from prolate.budget import Budget

__all__ = [
    "budget_options",
    "clip_option",
    "exchangeable_option",
    "group_options",
    "level_option",
    "norm_option",
    "numbers",
    "quantile_option",
    "read_budget",
    "read_keys",
    "read_range",
    "release_options",
    "shape_options",
    "show_options",
    "unit_options",
]

F = TypeVar("F", bound=Callable[..., Any])


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
    """Return the names of ``a,b`` and ``"c,d"``: quotes keep a comma in a name."""
    try:
        names = [name for value in values for row in csv.reader([value]) for name in row]
    except csv.Error:
        raise click.BadParameter(
            f"a {what} with a line break in it must stand in double quotes."
        ) from None
    if any(not name for name in names) or (values and not names):
        raise click.BadParameter(f"a {what} is empty; write them as a,b,c, without spaces.")
    return names or None


def _columns(_context: click.Context, _parameter: click.Parameter, values: Sequence[str]) -> Any:
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


def _bounds(_context: click.Context, _parameter: click.Parameter, values: Sequence[str]) -> Any:
    """Return one (low, high), or a dict of them by column."""
    by_column: dict[str, tuple[float, float]] = {}
    overall: list[tuple[float, float]] = []
    for value in values:
        name, equals, ends = value.rpartition("=")
        if not equals:
            overall.append(read_range(ends, value))
        elif not name or name in by_column:
            raise click.BadParameter(f"{value!r} names no column, or one that has bounds already.")
        else:
            by_column[name] = read_range(ends, value)
    if len(overall) > 1 or (overall and by_column):
        raise click.BadParameter(
            "give either LOW:HIGH once, for all columns, or COLUMN=LOW:HIGH for each."
        )
    return overall[0] if overall else by_column or None


def _by_column(
    _context: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> float | dict[str, float] | None:
    """Return a number, or a dict of them by column."""
    name_of_option = f"--{parameter.name}"
    found: dict[str, float] = {}
    for value in values:
        name, _, number = value.rpartition("=")
        if name in found or (found and ("" in found or not name)):
            raise click.BadParameter(
                f"give {name_of_option} NUMBER once, for all columns, or COLUMN=NUMBER for each."
            )
        found[name] = _number(number, value)
    return found.get("", found) if found else None


def numbers(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> float | list[float] | None:
    """Return a number, or the list of A,B,C."""
    if value is None:
        return None
    found = [_number(part, value) for part in value.split(",")]
    return found[0] if len(found) == 1 else found


def _number(text: str, whole: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter(f"{whole!r} is not a number where one is wanted.") from None


def _clip(_context: click.Context, _parameter: click.Parameter, value: str) -> float | str:
    return value if value in ("auto", "optimal") else _number(value, value)


def _keys(_context: click.Context, _parameter: click.Parameter, values: Sequence[str]) -> Any:
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


def _level(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    if not 0.0 < value < 1.0:
        raise click.BadParameter(
            f"{value:g} does not lie strictly between 0 and 1; use for example 0.95."
        )
    return value


def _quantiles(
    _context: click.Context, _parameter: click.Parameter, values: Sequence[str]
) -> tuple[float, ...]:
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


def _together(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


budget_options = _together(
    click.option("--epsilon", type=float, help="Budget: epsilon, together with --delta."),
    click.option("--delta", type=float, help="Budget: delta, between 0 and 1."),
    click.option("--rho", type=float, help="Budget: rho of zero-concentrated privacy."),
    click.option("--mu", type=float, help="Budget: mu of Gaussian privacy."),
)
level_option = click.option(
    "--level",
    type=float,
    default=0.95,
    show_default=True,
    callback=_level,
    help="Confidence of the intervals.",
)
show_options = _together(
    level_option,
    click.option("--receipt", is_flag=True, help="Also print every measurement and its cost."),
    click.option("--json", "as_json", is_flag=True, help="Print the release as JSON, no table."),
)
release_options = _together(
    click.argument("files", nargs=-1, type=click.Path(), required=True, metavar="FILE..."),
    budget_options,
    click.option(
        "-c",
        "--columns",
        multiple=True,
        callback=_columns,
        metavar="A,B,...",
        help="Columns to use (default: all); may be repeated.",
    ),
    click.option(
        "--bounds",
        multiple=True,
        callback=_bounds,
        metavar="[COLUMN=]LOW:HIGH",
        help="Public bounds of one column, or of all; may be repeated.",
    ),
    click.option(
        "--neighbors",
        type=click.Choice(["replace", "add-remove"]),
        default="replace",
        show_default=True,
        help="What is hidden: a row's values, or also its presence.",
    ),
    click.option(
        "--ledger",
        metavar="PATH",
        help="Charge the release to this ledger: a file, or postgresql://user@host/database.",
    ),
    click.option(
        "-o",
        "--output",
        type=click.Path(),
        metavar="PATH",
        help="Also write the release as JSON.",
    ),
    click.option("--seed", type=int, help="For tests: repeatable, and NOT PRIVATE."),
    click.option(
        "--spark",
        "engine",
        flag_value="spark",
        help="Let the tasks of a Spark cluster read the (Parquet) files.",
    ),
    show_options,
)
unit_options = _together(
    click.option(
        "--unit",
        metavar="COLUMN",
        help="Protect persons, not rows: COLUMN says whose a row is.",
    ),
    click.option(
        "--contribution",
        type=click.Choice(["mean", "rows"]),
        default="mean",
        show_default=True,
        help="With --unit: each person counts with their mean, or with some of their rows.",
    ),
    click.option(
        "--max-rows",
        type=int,
        metavar="K",
        help="With --contribution rows: so many random rows of each person.",
    ),
)
group_options = _together(
    click.option(
        "--by",
        multiple=True,
        callback=_columns,
        metavar="A,B,...",
        help="One release for each group of rows: those with equal labels in these columns.",
    ),
    click.option(
        "--key",
        "keys",
        multiple=True,
        callback=_keys,
        metavar="A,B,...",
        help="The groups; of two columns, A,B is one. Without it, large ones are found (--delta).",
    ),
)
exchangeable_option = click.option(
    "--exchangeable",
    is_flag=True,
    help="The rows' order says nothing: of many rows, the first are searched.",
)
norm_option = click.option(
    "--error-norm",
    type=float,
    default=2.0,
    show_default=True,
    metavar="P",
    help="Shape the noise for the l_P error, P >= 1.",
)
quantile_option = click.option(
    "-q",
    "--q",
    "q",
    multiple=True,
    required=True,
    callback=_quantiles,
    metavar="Q,...",
    help="Which quantiles, such as 0.5 or 0.25,0.75; may be repeated.",
)
clip_option = click.option(
    "--clip",
    default="auto",
    show_default=True,
    callback=_clip,
    metavar="PART",
    help="The part of the rows to clip; or auto; or, for gaussian-ellipse, optimal.",
)
shape_options = _together(
    clip_option,
    click.option(
        "--center",
        multiple=True,
        callback=_by_column,
        metavar="[COLUMN=]NUMBER",
        help="A public center of one column, or of all; may be repeated.",
    ),
    click.option(
        "--scale",
        multiple=True,
        callback=_by_column,
        metavar="[COLUMN=]NUMBER",
        help="A public standard deviation of one column, or of all; may be repeated.",
    ),
)
