"""The command `prolate error`: the error to expect, from public numbers only."""

from __future__ import annotations

import json
import math
from typing import Any

import click
import numpy as np

from prolate import terminal
from prolate.cli.help import examples
from prolate.cli.options import budget_options, clip_option, norm_option
from prolate.cli.values import NUMBER, WHOLE, read_budget, read_numbers, read_range
from prolate.forecast import METHODS, expected_error, views
from prolate.forecast.question import MOST_ROWS
from prolate.release.files import check_writable, replace_file

__all__ = ["error"]

_SOON = 1000  # columns for which the rows needed are computed in seconds


@click.command(
    epilog=examples(
        "prolate error --rows 20000 --columns 100 --epsilon 1 --delta 1e-6",
        "prolate error --rows 20000 --columns 100 --skew 1.5 --delta 1e-6 --target 0.01",
        "prolate error --rows 5000 --scale 15,30,2.5 --rho 0.5 --plot error.png",
    )
)
@click.option("--rows", type=WHOLE, required=True, metavar="N", help="Number of rows.")
@click.option("--columns", type=WHOLE, metavar="D", help="Number of columns.")
@click.option(
    "--scale",
    callback=read_numbers,
    metavar="S[,S,...]",
    help="Standard deviations: of all columns, or of each (default: 1).",
)
@click.option(
    "--skew",
    type=NUMBER,
    default=0.0,
    show_default=True,
    metavar="A",
    help="Unequal columns: the variance of column j is (D / (D - j))^A times the scale's.",
)
@budget_options
@click.option("--target", type=NUMBER, metavar="E", help="A wanted error: which budget buys it?")
@click.option(
    "--method", type=click.Choice(METHODS), default="auto", show_default=True, help="As for mean."
)
@norm_option
@click.option(
    "--neighbors",
    type=click.Choice(["replace", "add-remove"]),
    default="replace",
    show_default=True,
    help="What is hidden: a row's values, or also its presence.",
)
@clip_option
@click.option(
    "--center",
    callback=read_numbers,
    metavar="C[,C,...]",
    help="Where the means lie (default: ten standard deviations from 0).",
)
@click.option(
    "--offset",
    callback=read_numbers,
    metavar="T[,T,...]",
    help="For gaussian-ellipse: how far its public centers are from the means.",
)
@click.option(
    "--bounds", metavar="LOW:HIGH", help="Public bounds of all columns; gaussian needs them."
)
@click.option(
    "--booleans",
    is_flag=True,
    help="All columns are booleans, true in the parts that --center says (default: half).",
)
@click.option("--plot", metavar="FILE", help="Also draw the error against the rows (PNG).")
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON, no table.")
def error(
    *,
    rows: int,
    columns: int | None,
    scale: float | list[float] | None,
    skew: float,
    bounds: str | None,
    plot: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Say what error a private mean would have, without any data.

    The rows are taken to be normal, with independent columns. Errors are in the unit of the
    scale: with the default scale of 1, in standard deviations.
    """
    if not 1 <= rows <= MOST_ROWS:
        raise click.UsageError(f"--rows must be between 1 and 2**38; got {rows}.")
    given = {name: options.pop(name) for name in ("epsilon", "delta", "rho", "mu")}
    price = None
    only_delta = {name for name, value in given.items() if value is not None} <= {"delta"}
    if options["target"] is None or not only_delta:
        price = read_budget(**given)
    if plot is not None:
        if not plot.lower().endswith(".png"):
            raise click.UsageError("--plot draws PNG; choose a name that ends in .png.")
        from prolate.papers import style

        style.need_matplotlib()
        check_writable(plot)
    with np.errstate(over="ignore"):
        forecast = expected_error(
            n=rows,
            d=columns,
            scale=_scales(columns, scale, skew, booleans=options["booleans"]),
            budget=price,
            delta=given["delta"],
            bounds=None if bounds is None else read_range(bounds),
            **options,
        )
    if plot is not None:
        figure, [[axes]] = style.axes_grid([1.4], 1)
        forecast.plot(axes)
        style.tidy(axes)
        replace_file(check_writable(plot), style.png(figure), shared=True)
    if as_json:
        click.echo(json.dumps(forecast.to_dict(), indent=2, allow_nan=False))
        return
    out = terminal.console()
    out.print(views.headline(forecast), style="bold", soft_wrap=True)
    out.print()
    header, cells = views.cells(forecast)
    terminal.print_table(out, header, cells, left=(0, len(header) - 1))
    out.print()
    header, cells = views.column_cells(forecast)
    if cells:
        terminal.print_table(out, header, cells)
        out.print()
    notes = views.notes(forecast, wait=forecast.columns <= _SOON)
    terminal.print_notes(out, notes if plot is None else [*notes, ("wrote", plot)])


def _scales(
    columns: int | None, scale: float | list[float] | None, skew: float, *, booleans: bool
) -> Any:
    """Return the standard deviations that the options state."""
    if not math.isfinite(skew):
        raise click.BadParameter(f"--skew must be a finite number; got {skew:g}.")
    if booleans and skew == 0.0:
        return scale  # which are none of them
    size = len(scale) if isinstance(scale, list) else columns
    if size is None:
        raise click.UsageError("Give --columns D, or --scale with a number for each column.")
    if size < 1:
        raise click.UsageError(f"--columns must be at least 1; got {size}.")
    ratio = (size / np.arange(size, 0, -1)) ** (0.5 * skew)
    return ratio * (1.0 if scale is None else np.array(scale))
