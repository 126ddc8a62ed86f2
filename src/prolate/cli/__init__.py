"""The command `prolate`: `entry` starts it; its commands are in modules of their names.

Those that release statistics of columns are together in `statistics`, and `show` is in `report`.
They share `options`, how their `values` are read, and the layout of their `help`; what is done to
make a release and print it (`release`), and advice that names options (`words`).
"""

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

__all__ = ["main"]

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; see `prolate.cli.entry.main`."""
    with _ended_by_interrupts():
        from prolate.cli.entry import main as run
    return run(arguments)


@contextmanager
def _ended_by_interrupts() -> Iterator[None]:
    """Let Ctrl-C end the process without a word: nothing has begun, and modules take a moment.

    An exception would be lost where Python calls back while it imports.
    """
    before = signal.getsignal(signal.SIGINT)
    usual = before is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
