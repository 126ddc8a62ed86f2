"""The command `prolate ledger`: what data sets have spent, in files or on servers."""

from __future__ import annotations

import json

import click

from prolate import terminal
from prolate.budget import Neighbors
from prolate.cli.help import Group, examples
from prolate.cli.options import budget_options
from prolate.cli.values import NUMBER, read_budget
from prolate.ledger import Ledger
from prolate.ledger.words import limit_in_words
from prolate.release.words import printable

__all__ = ["ledger"]

_ENTRY_FIELDS = (
    "id", "label", "mu", "rho", "composition", "time", "delta", "neighbors", "unit"
)  # fmt: skip


@click.group(
    cls=Group,
    invoke_without_command=True,
    epilog=examples(
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
    type=NUMBER,
    metavar="PART",
    help="The part of --delta for finding out which groups there are (--by without --key).",
)


@ledger.command(
    epilog=examples(
        "prolate ledger create patients.ledger --epsilon 1 --delta 1e-6 --dataset patients",
        "prolate ledger create visits.ledger --epsilon 1 --delta 1e-6 --keys-delta 5e-7",
        "prolate ledger create visits.ledger --epsilon 1 --delta 1e-6 --unit patient_id",
    ),
)
@click.argument("path")
@budget_options
@_keys_delta
@click.option("--dataset", default="", help="A name for the data set.")
@click.option(
    "--neighbors",
    type=click.Choice(["replace", "add-remove"]),
    help="What all releases must hide; otherwise the first decides.",
)
@click.option("--unit", metavar="COLUMN", help="Whom all releases must protect.")
def create(
    path: str,
    dataset: str,
    keys_delta: float | None,
    neighbors: Neighbors | None,
    unit: str | None,
    **budget: float | None,
) -> None:
    """Make a new ledger; none is ever replaced.

    All its releases hide the same: those of other --neighbors or another --unit are refused,
    because their prices do not add up.
    """
    limit = read_budget(**budget)
    book = Ledger.create(
        path,
        limit=limit,
        dataset=dataset,
        keys_delta=keys_delta or 0.0,
        neighbors=neighbors,
        unit=unit,
    )
    said = limit_in_words(limit, book.keys_delta)
    click.echo(f"Made the ledger {_shown(book)} with the limit {said}.")


@ledger.command(
    epilog=examples(
        "prolate ledger show patients.ledger", "prolate ledger show patients.ledger --json"
    ),
)
@click.argument("path")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON, no table.")
def show(path: str, as_json: bool) -> None:
    """Print what is spent, what is left and why: every charge, and every change of the limit."""
    book = Ledger(path)
    if not as_json:
        terminal.print_ledger(book)
        return
    account = book.account()
    spent, remaining, promise = account.spent, account.remaining, account.promise
    entries = [{name: getattr(e, name) for name in _ENTRY_FIELDS} for e in account.entries]
    fields = {
        "dataset": book.dataset,
        "neighbors": None if promise is None else promise.neighbors,
        "unit": None if promise is None else promise.unit,
        "limit": account.limit.to_dict(),
        "keys_delta": account.keys_delta,
        "room": account.room.to_dict(),  # the limit, beside the delta that is set aside
        "spent": account.cost.to_dict() if account.cost else None,
        "spent_epsilon": account.epsilon(spent, account.limit) if spent else None,
        "spent_delta": account.spent_delta,
        "remaining": remaining.to_dict() if remaining else None,
        "remaining_epsilon": account.epsilon(remaining, account.limit) if remaining else None,
        "entries": entries,
        "limit_changes": [
            {**vars(change), "old": change.old.to_dict(), "new": change.new.to_dict()}
            for change in account.changes
        ],
    }
    click.echo(json.dumps(fields, indent=2, allow_nan=False))


@ledger.command(epilog=examples("prolate ledger limit patients.ledger --epsilon 2 --delta 1e-6"))
@click.argument("path")
@budget_options
@_keys_delta
def limit(path: str, keys_delta: float | None, **budget: float | None) -> None:
    """Set another limit, not below what is spent.

    It must not be chosen by what was released. The ledger keeps a record of the change for good,
    which `prolate ledger show` prints.
    """
    limit = read_budget(**budget)
    book = Ledger(path)
    change = book.set_limit(limit, keys_delta=keys_delta)
    if change is None:
        said = limit_in_words(limit, book.keys_delta)
        click.echo(f"The limit of {_shown(book)} is already {said}.")
        return
    old = limit_in_words(change.old, change.old_keys_delta)
    new = limit_in_words(change.new, change.new_keys_delta)
    click.echo(f"The limit of {_shown(book)} is now {new}; it was {old}. The change is recorded.")


@ledger.command(epilog=examples("prolate ledger adopt patients.ledger"))
@click.argument("path")
def adopt(path: str) -> None:
    """Let this machine, and no other, use a file that was moved here.

    Only do so when no other machine has the file any more: each copy would be spent anew.
    """
    click.echo(f"The ledger {_shown(Ledger.adopt(path))} belongs to this machine now.")


def _shown(book: Ledger) -> str:
    return printable(str(book.path))
