"""The command `prolate compile`: what the first large release on a machine would wait for."""

from __future__ import annotations

import click

from prolate.cli.help import examples

__all__ = ["compile_"]


@click.command("compile", epilog=examples("prolate compile"))
def compile_() -> None:
    """Compile the loops over rows ahead, as when an image of a machine is built.

    Otherwise that is done beside the first large release, which is slower until then. Those
    for sparse tables are compiled when they are first needed.
    """
    from prolate.queries.ahead import compile_loops

    count = compile_loops()
    if count == 0:
        click.echo("numba is not installed: NumPy does all work.")
    else:
        click.echo(f"Compiled {count} loops; they are stored for every process to come.")
