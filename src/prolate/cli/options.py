"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from prolate.cli.values import (
    NUMBER,
    WHOLE,
    read_bounds,
    read_by_column,
    read_clip,
    read_column,
    read_columns,
    read_labels,
    read_level,
    read_norm,
    read_quantiles,
)

__all__ = [
    "budget_options",
    "clip_option",
    "exchangeable_option",
    "group_options",
    "level_option",
    "norm_option",
    "quantile_option",
    "release_options",
    "shape_options",
    "show_options",
    "unit_options",
]

F = TypeVar("F", bound=Callable[..., Any])


def _together(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


budget_options = _together(
    click.option("--epsilon", type=NUMBER, help="Budget: epsilon, together with --delta."),
    click.option("--delta", type=NUMBER, help="Budget: delta, between 0 and 1."),
    click.option("--rho", type=NUMBER, help="Budget: rho of zero-concentrated privacy."),
    click.option("--mu", type=NUMBER, help="Budget: mu of Gaussian privacy."),
)
level_option = click.option(
    "--level",
    type=NUMBER,
    default=0.95,
    show_default=True,
    callback=read_level,
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
        callback=read_columns,
        metavar="A,B,...",
        help="Columns to use (default: all); may be repeated. '\"A,B\"' is one.",
    ),
    click.option(
        "--bounds",
        multiple=True,
        callback=read_bounds,
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
        help="Also write the release as JSON, to a file that does not exist yet.",
    ),
    click.option("--overwrite", is_flag=True, help="Let -o replace a file that exists."),
    click.option("--seed", type=WHOLE, help="For tests: repeatable, and NOT PRIVATE."),
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
        callback=read_column,
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
        type=WHOLE,
        metavar="K",
        help="With --contribution rows: so many random rows of each person.",
    ),
)
group_options = _together(
    click.option(
        "--by",
        multiple=True,
        callback=read_columns,
        metavar="A,B,...",
        help="One release for each group of rows: those with equal labels in these columns.",
    ),
    click.option(
        "--key",
        "keys",
        multiple=True,
        callback=read_labels,
        metavar="A,B,...",
        help="The groups, written as in the rows; of two columns, A,B is one; a label with a comma "
        "is '\"A,B\"'. Without it, large ones are found (--delta).",
    ),
)
exchangeable_option = click.option(
    "--exchangeable",
    is_flag=True,
    help="The rows' order says nothing: of many rows, the first are searched.",
)
norm_option = click.option(
    "--error-norm",
    default="2",
    show_default=True,
    callback=read_norm,
    metavar="P",
    help="Shape the noise for the l_P error, P >= 1; or 'relative', for columns of many units.",
)
quantile_option = click.option(
    "-q",
    "--q",
    "q",
    multiple=True,
    required=True,
    callback=read_quantiles,
    metavar="Q,...",
    help="Which quantiles, such as 0.5 or 0.25,0.75; may be repeated.",
)
clip_option = click.option(
    "--clip",
    default="auto",
    show_default=True,
    callback=read_clip,
    metavar="PART",
    help="The part of the rows to clip; or auto; or, for gaussian-ellipse, optimal.",
)
shape_options = _together(
    clip_option,
    click.option(
        "--center",
        multiple=True,
        callback=read_by_column,
        metavar="[COLUMN=]NUMBER",
        help="A public center of one column, or of all; may be repeated.",
    ),
    click.option(
        "--scale",
        multiple=True,
        callback=read_by_column,
        metavar="[COLUMN=]NUMBER",
        help="A public standard deviation of one column, or of all; may be repeated.",
    ),
)
