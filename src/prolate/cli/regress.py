"""The command `prolate regress`: a private linear regression of the rows of files."""

from __future__ import annotations

from typing import Any

import click

import prolate
from prolate.cli.help import examples
from prolate.cli.options import group_options, release_options, unit_options
from prolate.cli.release import release_and_print
from prolate.cli.values import NUMBER, read_column, read_columns

__all__ = ["regress"]


@click.command(
    epilog=examples(
        "prolate regress patients.parquet --target cost --epsilon 1 --delta 1e-6",
        "prolate regress patients.parquet --target cost --features age,weight --rho 0.5",
        "prolate regress 'year-*.csv' --target cost --mu 1 --ledger patients.ledger -o fit.json",
        "prolate regress unit.csv --target y --method adassp --bounds 0:1 --mu 1",
        "prolate regress visits.csv --target cost -f age --by ward --epsilon 1 --delta 1e-6",
    )
)
@click.option(
    "--target",
    required=True,
    callback=read_column,
    metavar="COLUMN",
    help="The column to explain.",
)
@click.option(
    "-f",
    "--features",
    multiple=True,
    callback=read_columns,
    metavar="A,B,...",
    help="Columns to explain it by (default: all others); may be repeated.",
)
@click.option(
    "--method",
    type=click.Choice(["auto", "ssp", "adassp", "adassp-fixed"]),
    default="auto",
    show_default=True,
    help="auto is Prolate's own; the others are published ones, for comparison.",
)
@click.option(
    "--accounting",
    type=click.Choice(["joint", "basic"]),
    default="joint",
    show_default=True,
    help="For the published methods: one Gaussian release, or parts as published.",
)
@click.option(
    "--intercept/--no-intercept",
    "fit_intercept",
    default=True,
    show_default=True,
    help="Whether the line may miss the origin.",
)
@click.option(
    "--alpha", type=NUMBER, metavar="A", help="For auto: the penalty on the coefficients."
)
@click.option(
    "--intervals/--no-intervals",
    default=True,
    show_default=True,
    help="Whether the table has confidence intervals.",
)
@release_options
@unit_options
@group_options
def regress(*, target: str, intervals: bool, **options: Any) -> None:
    """Release a private linear regression of one column on others.

    No bounds, no centering and no scaling are needed; bounds that are public help, and are
    for the target, too: if it is a flag of numbers 0 and 1, say so with --bounds TARGET=0:1,
    since CSV files do not. Files are read in blocks, so they may be larger than memory.
    """
    release_and_print(
        lambda data, **given: prolate.regress(data, target, **given), options, intervals=intervals
    )


# The columns are those of --target and --features.
regress.params = [option for option in regress.params if option.name != "columns"]
