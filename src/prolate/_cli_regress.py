"""The command `prolate regress`: a private linear regression of the rows of files."""

from __future__ import annotations

from typing import Any

import click

from prolate._cli_options import _columns, release_options, unit_options
from prolate._cli_release import release_and_print
from prolate.budget import Budget
from prolate.release import Release

__all__ = ["regress"]


@click.command(
    epilog=(
        "\b\nExamples:\n"
        "  prolate regress patients.parquet --target cost --epsilon 1 --delta 1e-6\n"
        "  prolate regress patients.parquet --target cost --features age,weight --rho 0.5\n"
        "  prolate regress 'year-*.csv' --target cost --mu 1 --ledger patients.ledger -o fit.json\n"
        "  prolate regress unit.csv --target y --method adassp --bounds 0:1 --mu 1"
    )
)
@click.option("--target", required=True, metavar="COLUMN", help="The column to explain.")
@click.option(
    "-f",
    "--features",
    multiple=True,
    callback=_columns,
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
@click.option("--alpha", type=float, metavar="A", help="For auto: the penalty on the coefficients.")
@click.option(
    "--intervals/--no-intervals",
    default=True,
    show_default=True,
    help="Whether the table has confidence intervals.",
)
@release_options
@unit_options
def regress(*, target: str, features: list[str] | None, intervals: bool, **options: Any) -> None:
    """Release a private linear regression of one column on others.

    No bounds, no centering and no scaling are needed; bounds that are public help, and are
    for the target, too. Files are read in blocks, so they may be larger than memory.
    """

    def make(data: Any, *, budget: Budget, progress: Any, engine: Any, **given: Any) -> Release:
        from prolate.regression import LinearRegression

        whose = {name: given.pop(name) for name in ("unit", "contribution", "max_rows")}
        price: dict[str, Any] = {"epsilon": None, "delta": None, **budget.stated}
        model = LinearRegression(**price, **given)
        fitted = model.fit(
            data, target, features=features, progress=progress, engine=engine, **whose
        )
        return fitted.release_

    release_and_print(make, options, intervals=intervals)


# The columns are those of --target and --features.
regress.params = [option for option in regress.params if option.name != "columns"]
