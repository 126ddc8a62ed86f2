"""The command `prolate`: arguments in, a release out, one plain sentence when it cannot be.

Its commands are in the modules beside this one, and go through the public face. All that can be
wrong is checked before a release is made, because a release that cannot be shown has still
been paid for.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from typing import TextIO

import click

from prolate.cli.compile import compile_
from prolate.cli.demo import demo
from prolate.cli.error import error
from prolate.cli.help import Group, examples
from prolate.cli.ledger import ledger
from prolate.cli.regress import regress
from prolate.cli.report import report, show
from prolate.cli.reproduce import reproduce
from prolate.cli.statistics import count, covariance, mean, quantile, sum_, variance
from prolate.cli.ui import ui
from prolate.cli.words import in_options
from prolate.errors import ProlateError
from prolate.ledger.address import hide_passwords
from prolate.release import installed_version
from prolate.release.words import printable

__all__ = ["explain", "main"]

_BAD_INPUT, _INTERNAL = 2, 1
_INTERRUPTED, _READER_LEFT, _TERMINATED = 130, 141, 143  # as shells count what signals end

_COMPLETION = """\b
For completion with the tab key, add to ~/.bashrc (in ~/.zshrc: zsh_source):
  eval "$(_PROLATE_COMPLETE=bash_source prolate)\""""


@click.group(
    cls=Group,
    invoke_without_command=True,
    context_settings={"max_content_width": 96, "help_option_names": ["-h", "--help"]},
    epilog=examples(
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


for _command in (
    mean,
    sum_,
    quantile,
    variance,
    count,
    demo,
    ledger,
    covariance,
    regress,
    show,
    report,
    error,
    reproduce,
    ui,
    compile_,
):
    cli.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    0, 1 (the fault is ours), 2 (it is yours), 130 (Ctrl-C), 141 (nobody reads on, such as
    `head`) or 143 (SIGTERM).
    """
    _open_streams()
    sys.stdout = _whole(sys.stdout)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a name that the terminal cannot show
    debug = os.environ.get("PROLATE_DEBUG", "") not in {"", "0"}
    terminated: list[int] = []
    try:
        with _stopped_by_sigterm(terminated), warnings.catch_warnings():
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
        if isinstance(error, SystemExit) and os.environ.get("_PROLATE_COMPLETE"):
            return int(error.code or 0)
        if isinstance(error, SystemExit | BrokenPipeError):
            _be_silent()  # SystemExit is how click and rich answer a broken pipe
            return _READER_LEFT
        code, sentence = explain(error)
        with contextlib.suppress(OSError):
            sentence = hide_passwords(" ".join(sentence.split()))
            if isinstance(error, ProlateError):
                sentence = in_options(sentence)
            click.echo(f"prolate: {printable(sentence)}", err=True)
            if isinstance(error, click.UsageError) and error.ctx is not None:
                click.echo(f"Try '{error.ctx.command_path} --help'.", err=True)
        _drop_unwritten()
        return _TERMINATED if code == _INTERRUPTED and terminated else code


def _open_streams() -> None:
    """Put something in the place of streams that were closed, so that no file takes it.

    Nothing can be written to the standard output then, and whoever tries is told.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "w" if name == "stderr" else "r"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def _whole(stream: TextIO) -> TextIO:
    """Return a stream that writes all or raises.

    With PYTHONUNBUFFERED, Python's own does not look how much of a text was written, so that a
    disk that is full takes the beginning of a release, and nobody is told.
    """
    if not isinstance(getattr(stream, "buffer", None), io.RawIOBase):
        return stream
    return open(stream.fileno(), "w", buffering=1, encoding=stream.encoding, closefd=False)


@contextlib.contextmanager
def _stopped_by_sigterm(terminated: list[int]) -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does, and note it: files and terminal are tidied."""
    if threading.current_thread() is not threading.main_thread():
        yield  # others may not say what a signal does
        return

    def stop(number: int, _frame: object) -> None:
        terminated.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def explain(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the sentence for whatever went wrong."""
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return _INTERRUPTED, (
            "interrupted; no half-written file is left, and a charged ledger stays charged."
        )
    if isinstance(error, click.ClickException):
        return _BAD_INPUT, error.format_message()
    if isinstance(error, ProlateError):
        return _BAD_INPUT, str(error)
    if isinstance(error, OSError):
        closed = isinstance(error, io.UnsupportedOperation)
        reason = error.strerror or ("standard output is closed" if closed else type(error).__name__)
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


def _be_silent() -> None:
    """Say nothing about what cannot be written, at exit either."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _drop_unwritten() -> None:
    """Drop what cannot be written: Python would try again at exit, and end with 120."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _be_silent()
