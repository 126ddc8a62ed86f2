"""The command `prolate compile`: what the first large release on a machine would wait for."""

from __future__ import annotations

from importlib.util import find_spec

import click

from prolate.cli.help import examples
from prolate.errors import InputError

__all__ = ["compile_"]


@click.command("compile", epilog=examples("prolate compile"))
def compile_() -> None:
    """Compile the loops over rows ahead, as when an image of a machine is built.

    Otherwise that is done beside the first large release, which is slower until then. Those
    for sparse tables are compiled when they are first needed.
    """
    from prolate.queries.ahead import compile_loops

    count = compile_loops()
    if count == 0 and find_spec("numba") is not None:
        raise InputError(
            "Compiled loops cannot be stored: numba is told to compile nothing "
            "(NUMBA_DISABLE_JIT), or neither Prolate's folder nor one of the user may be written. "
            "Name one that may, in the environment variable NUMBA_CACHE_DIR, here and for every "
            "release."
        )
    if count == 0:
        click.echo("numba is not installed: NumPy does all work.")
    else:
        click.echo(f"Compiled {count} loops; they are stored for every process to come.")
