"""The commands that read a stored release: print it, or write its report."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from prolate.cli.help import examples
from prolate.cli.options import level_option, show_options
from prolate.cli.release import print_whole
from prolate.errors import ReleaseError
from prolate.release import GroupedRelease, Release
from prolate.release.files import check_writable
from prolate.release.groups import SCHEMA
from prolate.release.json import read_json
from prolate.release.words import printable

__all__ = ["report", "show"]


@click.command(
    epilog=examples(
        "prolate show mean.json --receipt",
        "prolate mean patients.parquet --mu 1 --json | prolate show -",
    )
)
@click.argument("release", type=click.Path(), metavar="RELEASE.json")
@show_options
def show(release: str, level: float, receipt: bool, as_json: bool) -> None:
    """Print a stored release (a dash: from standard input)."""
    print_whole(_read(release), level=level, receipt=receipt, as_json=as_json)


@click.command(
    epilog=examples(
        "prolate report mean.json -o mean.html",
        "prolate report mean.json -o mean.html --level 0.99",
        "prolate mean patients.parquet --mu 1 --json | prolate report - -o mean.html",
    )
)
@click.argument("release", type=click.Path(), metavar="RELEASE.json")
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    required=True,
    metavar="FILE.html",
    help="Where to write the page (a dash: to standard output).",
)
@level_option
def report(release: str, output: str, level: float) -> None:
    """Write a stored release, or those of groups, as a page to read and print.

    The page says what was released and how sure it is, what is guaranteed, where the budget
    went, and how to make it again. It is one file that needs no network.
    RELEASE.json may be a dash: standard input. Whoever may see the
    release may see the page: it is made from nothing else.
    """
    if Path(output).suffix.lower() not in ("", ".html", ".htm"):
        raise ReleaseError(
            f"Cannot write {output!r}: a report is a page of HTML; name it "
            f"{Path(output).with_suffix('.html').name!r}, which any browser prints as PDF."
        )
    if output != "-" and check_writable(output) == Path(release).resolve():
        raise ReleaseError("The page would replace the release that it shows; name another file.")
    found = _read(release)
    text = found.to_html(None if output == "-" else output, level=level)
    if output == "-":
        click.echo(text, nl=False)
    else:
        click.echo(f"Wrote {printable(output)}.")


def _read(release: str) -> Release | GroupedRelease:
    source: str | Path = Path(release)
    if release == "-":
        source = sys.stdin.read()
        if not source.lstrip().startswith("{"):
            raise ReleaseError("Standard input holds no release; pipe `prolate ... --json` to it.")
    fields = read_json(source)
    if isinstance(fields, dict) and fields.get("schema") == SCHEMA:
        return GroupedRelease.from_dict(fields)
    return Release.from_dict(fields)
