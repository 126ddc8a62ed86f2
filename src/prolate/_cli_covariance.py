"""The command `prolate covariance`: the private covariance matrix of files' columns."""

from __future__ import annotations

from typing import Any

import click

from prolate._cli_options import exchangeable_option, group_options, release_options, unit_options
from prolate._cli_release import release_and_print

__all__ = ["covariance"]


@click.command(
    epilog=(
        "\b\nExamples:\n"
        "  prolate covariance patients.parquet --epsilon 1 --delta 1e-6\n"
        "  prolate covariance patients.parquet --correlation --rho 0.5 -c age,weight,income"
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
    import prolate

    release_and_print(prolate.covariance, options)
