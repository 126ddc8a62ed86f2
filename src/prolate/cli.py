"""The command `prolate`: arguments in, a release out, one plain sentence when it cannot be.

Everything goes through the public face.  All that can be wrong is checked
before a release is made, because a release that cannot be shown has still been
paid for.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import click

from prolate._cli_covariance import covariance
from prolate._cli_error import error
from prolate._cli_options import (
    budget_options,
    exchangeable_option,
    group_options,
    norm_option,
    quantile_option,
    read_budget,
    release_options,
    shape_options,
    unit_options,
)
from prolate._cli_regress import regress
from prolate._cli_release import release_and_print
from prolate._cli_report import report, show
from prolate._cli_reproduce import reproduce
from prolate._cli_ui import ui
from prolate._cli_words import in_options
from prolate._release_groups import GroupedRelease
from prolate._release_words import printable
from prolate.budget import Budget
from prolate.errors import ProlateError
from prolate.ledger import Ledger
from prolate.ledger.address import hide_passwords
from prolate.release import Release, installed_version

__all__ = ["main"]

_BAD_INPUT, _INTERNAL, _INTERRUPTED = 2, 1, 130
_ENTRY_FIELDS = ("id", "label", "mu", "rho", "composition", "time", "delta")


def _examples(*lines: str) -> str:
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


_COMPLETION = """\b
For completion with the tab key, add to ~/.bashrc (in ~/.zshrc: zsh_source):
  eval "$(_PROLATE_COMPLETE=bash_source prolate)\""""


class _Group(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order in which they are taught


# --- commands ----------------------------------------------------------------------------------


@click.group(
    cls=_Group,
    invoke_without_command=True,
    context_settings={"max_content_width": 96, "help_option_names": ["-h", "--help"]},
    epilog=_examples(
        "prolate demo",
        "prolate mean patients.parquet --epsilon 1 --delta 1e-6",
        "prolate sum sales.csv --bounds price=0:500 --rho 0.5 -c price",
        "prolate quantile patients.parquet -q 0.25,0.5,0.75 --mu 1",
        "prolate regress patients.parquet --target cost --epsilon 1 --delta 1e-6",
        "prolate report mean.json -o mean.html",
        "prolate error --rows 20000 --columns 100 --epsilon 1 --delta 1e-6",
        "prolate ledger create patients.ledger --epsilon 1 --delta 1e-6",
    )
    + "\n\n"
    + _COMPLETION,
)
@click.option("--version", is_flag=True, help="Print the version.")
@click.pass_context
def cli(ctx: click.Context, version: bool) -> None:
    """Private counts, sums, means, variances, covariances, quantiles, regressions of a file's rows.

    FILE is Parquet, CSV or Arrow; several files, or a quoted glob, are one data set.
    """
    if version:
        click.echo(f"prolate {installed_version()}")
        ctx.exit()
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@cli.command(
    epilog=_examples(
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
def mean(**options: Any) -> None:
    """Release the private mean of each column.

    No bounds, no center and no scale are needed; bounds that are public help.
    """
    _release("mean", options)


@cli.command(
    "sum",
    epilog=_examples(
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
    if options["bounds"] is None and options["method"] != "gaussian-ellipse":
        raise click.UsageError(
            "A sum needs public bounds: --bounds LOW:HIGH, or --bounds COLUMN=LOW:HIGH "
            "for every column."
        )
    _release("sum", options)


@cli.command(
    epilog=_examples(
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
    _release("quantile", options, q[0] if len(q) == 1 else list(q))


@cli.command(
    epilog=_examples(
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
    _release("variance", options)


@cli.command(
    epilog=_examples(
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

    Without groups and with neighbors replace, the number is public, and printed as it is.
    """
    _release("count", options)


# Rows have no bounds.
count.params = [option for option in count.params if option.name != "bounds"]


@cli.command(epilog=_examples("prolate demo", "prolate demo --epsilon 0.5 --json"))
@click.option("--epsilon", type=float, default=1.0, show_default=True, help="Budget: epsilon.")
@click.option("--delta", type=float, default=1e-6, show_default=True, help="Budget: delta.")
@click.option("--json", "as_json", is_flag=True, help="Print the release as JSON, no table.")
def demo(epsilon: float, delta: float, as_json: bool) -> None:
    """Release the means of real health records."""
    from prolate import demo as work
    from prolate import terminal

    budget = Budget(epsilon=epsilon, delta=delta)
    with terminal.progress_bar() as progress:
        release = work.run(budget, progress)
    if as_json:
        click.echo(release.to_json(), nl=False)
    else:
        terminal.print_demo(release, work.true_means(), epsilon=epsilon, delta=delta)


@cli.group(
    cls=_Group,
    invoke_without_command=True,
    epilog=_examples(
        "prolate ledger create patients.ledger --epsilon 1 --delta 1e-6 --dataset patients",
        "prolate mean patients.parquet --rho 0.005 --ledger patients.ledger",
        "prolate ledger show patients.ledger",
        "prolate ledger create postgresql://ann@db.example.org/privacy --rho 1",
    ),
)
@click.pass_context
def ledger(ctx: click.Context) -> None:
    """Keep account of what a data set has spent.

    PATH is a file on this machine, or postgresql://user@host/database for a team; add #name
    where a database has several ledgers. Passwords are best kept in ~/.pgpass or PGPASSWORD.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


_keys_delta = click.option(
    "--keys-delta",
    type=float,
    metavar="PART",
    help="The part of --delta for finding out which groups there are (--by without --key).",
)


@ledger.command(
    "create",
    epilog=_examples(
        "prolate ledger create patients.ledger --epsilon 1 --delta 1e-6 --dataset patients",
        "prolate ledger create visits.ledger --epsilon 1 --delta 1e-6 --keys-delta 5e-7",
    ),
)
@click.argument("path")
@budget_options
@_keys_delta
@click.option("--dataset", default="", help="A name for the data set.")
def ledger_create(
    path: str, dataset: str, keys_delta: float | None, **budget: float | None
) -> None:
    """Make a new ledger; none is ever replaced."""
    limit = read_budget(**budget)
    book = Ledger.create(path, limit=limit, dataset=dataset, keys_delta=keys_delta or 0.0)
    click.echo(f"Made the ledger {_shown(book)} with the limit {limit}{_aside(book)}.")


@ledger.command(
    "show",
    epilog=_examples(
        "prolate ledger show patients.ledger", "prolate ledger show patients.ledger --json"
    ),
)
@click.argument("path")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON, no table.")
def ledger_show(path: str, as_json: bool) -> None:
    """Print what is spent, what is left and why."""
    book = Ledger(path)
    if not as_json:
        from prolate import terminal

        terminal.print_ledger(book)
        return
    spent, remaining = book.spent, book.remaining
    entries = [{name: getattr(e, name) for name in _ENTRY_FIELDS} for e in book.entries()]
    fields = {
        "dataset": book.dataset,
        "limit": book.limit.to_dict(),
        "keys_delta": book.keys_delta,
        "spent": spent.to_dict() if spent else None,
        "spent_delta": book.spent_delta,
        "remaining": remaining.to_dict() if remaining else None,
        "entries": entries,
    }
    click.echo(json.dumps(fields, indent=2, allow_nan=False))


@ledger.command(
    "limit", epilog=_examples("prolate ledger limit patients.ledger --epsilon 2 --delta 1e-6")
)
@click.argument("path")
@budget_options
@_keys_delta
def ledger_limit(path: str, keys_delta: float | None, **budget: float | None) -> None:
    """Set another limit, not below what is spent.

    It must not be chosen by what was released.
    """
    limit = read_budget(**budget)
    book = Ledger(path)
    book.set_limit(limit, keys_delta=keys_delta)
    click.echo(f"The limit of {_shown(book)} is now {limit}{_aside(book)}.")


@ledger.command("adopt", epilog=_examples("prolate ledger adopt patients.ledger"))
@click.argument("path")
def ledger_adopt(path: str) -> None:
    """Let this machine, and no other, use a file that was moved here.

    Only do so when no other machine has the file any more: each copy would be spent anew.
    """
    click.echo(f"The ledger {_shown(Ledger.adopt(path))} belongs to this machine now.")


def _aside(book: Ledger) -> str:
    part = book.keys_delta
    return f", of which delta = {part:g} is for finding groups" if part else ""


def _shown(book: Ledger) -> str:
    return printable(str(book.path))


cli.add_command(covariance)
cli.add_command(regress)
cli.add_command(show)
cli.add_command(report)
cli.add_command(error)
cli.add_command(reproduce)
cli.add_command(ui)


# --- work --------------------------------------------------------------------------------------


def _release(statistic: str, options: dict[str, Any], *positional: Any) -> None:
    import prolate

    face: Callable[..., Release | GroupedRelease] = getattr(prolate, statistic)
    for name, usual in (("clip", "auto"), ("center", None), ("scale", None)):
        if name in options and options[name] == usual:
            del options[name]
    release_and_print(
        lambda data, **given: face(data, *positional, **given),
        options,
    )


# --- the way out -------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, 1 (ours), 2 (yours) or 130 (Ctrl-C)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a name that the terminal cannot show
    debug = os.environ.get("PROLATE_DEBUG", "") not in {"", "0"}
    try:
        with warnings.catch_warnings():
            if not debug:  # a library's warning may quote values of rows
                warnings.simplefilter("ignore")
            code = cli.main(
                None if arguments is None else list(arguments),
                prog_name="prolate",
                standalone_mode=False,
            )
            sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except BaseException as error:  # noqa: BLE001 -- the last place where one can be put in words
        if debug:
            click.echo(hide_passwords(traceback.format_exc()), err=True, nl=False)
        if isinstance(error, SystemExit) and error.code == 0:
            return 0  # of shell completion
        if isinstance(error, SystemExit | BrokenPipeError):
            return _reader_left()  # SystemExit is how click and rich answer a broken pipe
        code, sentence = _explain(error)
        with contextlib.suppress(OSError):
            sentence = hide_passwords(" ".join(sentence.split()))
            if isinstance(error, ProlateError):
                sentence = in_options(sentence)
            click.echo(f"prolate: {printable(sentence)}", err=True)
            if isinstance(error, click.UsageError) and error.ctx is not None:
                click.echo(f"Try '{error.ctx.command_path} --help'.", err=True)
        return code


def _explain(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the sentence for whatever went wrong."""
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return _INTERRUPTED, (
            "interrupted; no half-written file is left, and a charged ledger stays charged."
        )
    if isinstance(error, click.ClickException):
        words = error.format_message().replace("is not a valid float", "is not a number")
        return _BAD_INPUT, words.replace("is not a valid integer", "is not a whole number")
    if isinstance(error, ProlateError):
        return _BAD_INPUT, str(error)
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        if error.filename is None:
            return _BAD_INPUT, f"a file could not be read or written: {reason}."
        return _BAD_INPUT, f"{error.filename}: {reason}."
    if isinstance(error, MemoryError):
        return _BAD_INPUT, "there is not enough memory for this; use fewer columns (--columns)."
    # The message of an unforeseen error may quote private values: it is not shown.
    return _INTERNAL, (
        f"stopped by an internal error ({type(error).__name__}); please report it. "
        "PROLATE_DEBUG=1 shows where it happened, and may show data."
    )


def _reader_left() -> int:
    """Be silent about a broken pipe, at exit as well."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _INTERNAL


if __name__ == "__main__":
    sys.exit(main())
