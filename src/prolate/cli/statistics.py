"""The commands that release statistics of columns, or count rows."""

from __future__ import annotations

from typing import Any

import click

import prolate
from prolate.cli.help import examples
from prolate.cli.options import (
    exchangeable_option,
    group_options,
    norm_option,
    quantile_option,
    release_options,
    shape_options,
    unit_options,
)
from prolate.cli.release import release_and_print

__all__ = ["count", "covariance", "mean", "quantile", "sum_", "variance"]


@click.command(
    epilog=examples(
        "prolate mean patients.parquet --epsilon 1 --delta 1e-6",
        "prolate mean patients.parquet --rho 0.5 -c age,income --bounds age=0:120",
        "prolate mean 'year-*.csv' --mu 1 --ledger patients.ledger -o mean.json",
        "prolate mean tests.csv --mu 1 --method gaussian-ellipse --center 500 --scale 100",
        "prolate mean visits.csv --mu 1 --unit patient_id --by region --key north,south",
    )
)
@release_options
@unit_options
@group_options
@exchangeable_option
@norm_option
@click.option(
    "--method",
    default="auto",
    show_default=True,
    help="auto, plan, gaussian, gaussian-ellipse, ...",
)
@shape_options
@click.option(
    "--rotation",
    type=click.Choice(["auto"]),
    help="Measure correlations where that pays, and sum along the principal axes.",
)
def mean(**options: Any) -> None:
    """Release the private mean of each column.

    No bounds, no center and no scale are needed; bounds that are public help.
    """
    release_and_print(prolate.mean, options)


@click.command(
    "sum",
    epilog=examples(
        "prolate sum sales.csv --bounds 0:500 --rho 0.5",
        "prolate sum sales.csv -c price,items --bounds price=0:500 --bounds items=0:20 --mu 1",
    ),
)
@release_options
@unit_options
@group_options
@norm_option
@click.option(
    "--method",
    type=click.Choice(["auto", "gaussian", "gaussian-ellipse"]),
    default="auto",
    show_default=True,
)
@shape_options
def sum_(**options: Any) -> None:
    """Release the private sum of each column.

    Values outside their bounds are moved to the nearer one. The method gaussian-ellipse takes
    public centers and scales instead, and clips rows.
    """
    release_and_print(prolate.sum, options)


@click.command(
    epilog=examples(
        "prolate quantile patients.parquet -q 0.5 --epsilon 1 --delta 1e-6",
        "prolate quantile patients.parquet -q 0.25,0.5,0.75 -c income --mu 1",
    )
)
@release_options
@unit_options
@group_options
@quantile_option
def quantile(q: tuple[float, ...], **options: Any) -> None:
    """Release private quantiles of each column."""
    wanted = q[0] if len(q) == 1 else list(q)
    release_and_print(lambda data, **given: prolate.quantile(data, wanted, **given), options)


@click.command(
    epilog=examples(
        "prolate variance patients.parquet --epsilon 1 --delta 1e-6",
        "prolate variance patients.parquet --rho 0.5 -c age,income",
    )
)
@release_options
@unit_options
@group_options
@exchangeable_option
@norm_option
def variance(**options: Any) -> None:
    """Release the private variance of each column."""
    release_and_print(prolate.variance, options)


@click.command(
    epilog=examples(
        "prolate count visits.csv --by region --epsilon 1 --delta 1e-6",
        "prolate count visits.csv --by region --key north,south --mu 1",
        "prolate count visits.csv --by region,sex --key north,f --key north,m --mu 1",
        "prolate count visits.csv --unit patient_id --neighbors add-remove --mu 1",
    )
)
@release_options
@unit_options
@group_options
def count(**options: Any) -> None:
    """Release the private number of rows or persons, in each group.

    All rows are counted, also those with missing values.
    Without groups and with neighbors replace, the number is public, and printed as it is.
    """
    release_and_print(prolate.count, options)


# Rows have no bounds, and all of them are counted, whatever columns are named.
count.params = [option for option in count.params if option.name != "bounds"]
for option in count.params:
    if isinstance(option, click.Option) and option.name == "columns":
        option.help = "Makes no difference: rows are counted, also where values are missing."


@click.command(
    epilog=examples(
        "prolate covariance patients.parquet --epsilon 1 --delta 1e-6",
        "prolate covariance patients.parquet --correlation --rho 0.5 -c age,weight,income",
    )
)
@click.option("--correlation", is_flag=True, help="Release correlations instead.")
@exchangeable_option
@release_options
@unit_options
@group_options
def covariance(**options: Any) -> None:
    """Release the private covariance of every two columns.

    No bounds and no scaling are needed; bounds that are public help.
    """
    release_and_print(prolate.covariance, options)
