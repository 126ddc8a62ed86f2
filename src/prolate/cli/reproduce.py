"""The command `prolate reproduce`: measure a figure of a paper, print it, keep it."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prolate import terminal
from prolate.cli.help import examples
from prolate.cli.values import WHOLE
from prolate.errors import InputError
from prolate.release.files import check_writable, replace_file

if TYPE_CHECKING:
    from prolate import papers

__all__ = ["reproduce"]

_ANCHORS, _DATA = Path("../shared/anchors"), Path("../shared/data")


@click.command(
    epilog=examples(
        "prolate reproduce --list",
        "prolate reproduce plan-3a --quick",
        "prolate reproduce plan-5b --kosarak kosarak.dat --output-dir figures",
        "prolate reproduce kalaja-4.2 --data uci",
    )
)
@click.argument("name", required=False, metavar="NAME")
@click.option("--list", "list_all", is_flag=True, help="Print the names that there are.")
@click.option(
    "--runs",
    type=WHOLE,
    metavar="N",
    help="Runs of each setting (default: 10; 100 for plan-table-2; fewer with --quick).",
)
@click.option("--quick", is_flag=True, help="Fewer points and runs: under a minute.")
@click.option(
    "--output-dir",
    default=".",
    metavar="DIR",
    show_default=True,
    help="Where the CSV and the PNG go.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON, no table.")
@click.option("--anchors", metavar="DIR", help="Published numbers, to compare with.")
@click.option(
    "--data", metavar="DIR", help="Folder of basket files (5b, 5c, 9), or of UCI sets (kalaja)."
)
@click.option("--kosarak", metavar="PATH", help="The Kosarak baskets, for 5b and 9.")
@click.option("--pos", metavar="PATH", help="The point-of-sale baskets, for 5c and 9.")
def reproduce(
    name: str | None,
    *,
    list_all: bool,
    runs: int | None,
    quick: bool,
    output_dir: str,
    as_json: bool,
    anchors: str | None,
    data: str | None,
    kosarak: str | None,
    pos: str | None,
) -> None:
    """Measure a figure or table of a paper, and draw it.

    Prints a table, and writes NAME.csv and NAME.png.
    """
    from prolate import papers  # which no other command needs

    if list_all:
        _print_names(as_json=as_json)
        return
    if name is None:
        raise click.UsageError("Name a figure or table, such as plan-3a; --list prints them all.")
    chosen = papers.entry(name)
    papers.need_matplotlib()
    folder = _folder(output_dir)
    targets = [check_writable(folder / f"{name}.{ending}", table=True) for ending in ("csv", "png")]
    with _bar() as progress:
        options = papers.Options(
            runs=runs,
            quick=quick,
            jobs=min(2, os.cpu_count() or 1),
            anchors=_given_or_found(anchors, _ANCHORS),
            data=_given_or_found(data, _DATA / chosen.folder),
            kosarak=None if kosarak is None else Path(kosarak),
            pos=None if pos is None else Path(pos),
            progress=progress,
        )
        table = chosen.measure(options)
    replace_file(targets[0], table.to_csv().encode(), shared=True)
    replace_file(targets[1], chosen.draw(table), shared=True)
    if as_json:
        click.echo(json.dumps(table.to_dict(), indent=2, allow_nan=False))
        return
    _print(table, chosen.show(table), targets)


def _print(table: papers.Table, shown: Sequence[papers.Table], written: Sequence[Path]) -> None:
    from prolate import papers

    out = terminal.console()
    for part in shown:
        out.print(part.title, style="bold", soft_wrap=True)
        cells = [[papers.in_words(cell) for cell in row] for row in part.rows]
        left = [i for i, cell in enumerate(part.rows[0]) if isinstance(cell, str)]
        terminal.print_table(out, list(part.columns), cells, tuple(left))
        out.print()
    notes = [("note", note) for part in shown for note in part.notes if note not in table.notes]
    notes += [("note", note) for note in table.notes]
    notes += [("wrote", str(path)) for path in written]
    terminal.print_notes(out, notes)


def _print_names(*, as_json: bool) -> None:
    from prolate import papers

    names = {name: entry.summary for name, entry in papers.CATALOG.items()}
    if as_json:
        click.echo(json.dumps(names, indent=2))
        return
    width = max(map(len, names))
    for name, summary in names.items():
        click.echo(f"{name:{width}}  {summary}")


@contextlib.contextmanager
def _bar() -> Iterator[papers.Progress | None]:
    """Give a callable that drives a bar on standard error, or None if that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as rich

    columns = (
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(bar_width=None),
        rich.TaskProgressColumn(),
        rich.TimeElapsedColumn(),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=terminal.console(sys.stderr), transient=True) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda label, done, total: bar.update(
            task, description=label, completed=done, total=total
        )


def _folder(path: str) -> Path:
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"Cannot make the folder {path!r}: {reason}.") from error
    return folder


def _given_or_found(given: str | None, usual: Path) -> Path | None:
    if given is not None:
        if not Path(given).is_dir():
            raise InputError(f"There is no folder {given!r}.")
        return Path(given)
    return usual if usual.is_dir() else None
