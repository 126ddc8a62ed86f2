"""The command `prolate ui`: a page to plan, pay for and read a release."""

from __future__ import annotations

import click

from prolate.cli.help import examples

__all__ = ["ui"]

_PORT = click.IntRange(0, 65535)
_PORT.name = "port"  # in errors


@click.command(
    epilog=examples(
        "prolate ui patients.parquet --ledger patients.ledger",
        "prolate ui sales.csv --port 8000 --no-browser",
    )
)
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option(
    "--ledger",
    metavar="PATH",
    help="Charge releases to this ledger: a file, or postgresql://user@host/database.",
)
@click.option(
    "--port",
    type=_PORT,
    default=0,
    show_default=True,
    help="Where the page listens; 0 takes a free port.",
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def ui(file: str, ledger: str | None, port: int, no_browser: bool) -> None:
    """Open a local page to plan a release, see its expected error, and make it.

    Only this machine can reach the page, and only with the token in its address. Ctrl-C ends
    it. It needs two more libraries: pip install 'prolate[ui]'.
    """
    from prolate.ui.serve import serve

    serve(file, ledger=ledger, port=port, browser=not no_browser)
