"""The command `prolate`: `entry` starts it; its commands are in modules of their names.

Those that release statistics of columns are together in `statistics`, and `show` is in `report`.
They share `options`, how their `values` are read, and the layout of their `help`; what is done to
make a release and print it (`release`), and advice that names options (`words`).
"""

from collections.abc import Sequence

__all__ = ["main"]

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; see `prolate.cli.entry.main`.

    Loading it takes a moment, in which Ctrl-C ends it without a word.
    """
    try:
        from prolate.cli import entry
    except KeyboardInterrupt:
        return _INTERRUPTED
    return entry.main(arguments)
