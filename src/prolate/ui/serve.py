"""The life of the page: a socket of this machine, a browser, and an end that loses nothing."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import sys
from typing import TYPE_CHECKING, Any

import click

from prolate.errors import InputError
from prolate.ledger import Ledger
from prolate.ui.desk import Desk
from prolate.ui.guard import Guard
from prolate.ui.opening import browser_at
from prolate.ui.schema import read_schema

if TYPE_CHECKING:
    import uvicorn

__all__ = ["listen", "serve", "server"]

_INTERRUPTED = 130


def serve(path: str, *, ledger: str | None, port: int, browser: bool) -> None:
    """Serve the page until Ctrl-C (or SIGTERM, in `prolate.cli`), on the loopback address only.

    Parameters
    ----------
    path : str
        The data.
    ledger : str or None
        What releases are charged to.
    port : int
        0 takes one that is free.
    browser : bool
        Whether to open the page in a browser.

    Raises
    ------
    InputError
        If the data, or the port, will not do, or a library is missing.
    LedgerError
        If the ledger cannot be read.
    """
    try:
        import uvicorn  # noqa: F401  where it is missing, that is said first

        from prolate.ui.app import make_app

        schema = read_schema(path)
        book = None if ledger is None else Ledger(ledger)
        desk = Desk(book)
        app = make_app(schema, book, desk)
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise InputError(
            "The page needs two more libraries; install them with: pip install 'prolate[ui]'."
        ) from None
    with listen(port) as listener:
        token = secrets.token_urlsafe(32)
        here = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        guard = Guard(app, token, listener.getsockname()[1])
        click.echo(f"The page is at {here}{token}/\nCtrl-C ends it. Keep the address to yourself.")
        sys.stdout.flush()
        opening = browser_at(here, guard) if browser else contextlib.nullcontext(True)
        # The socket listens already, so a browser that is quicker than the server waits.
        with contextlib.suppress(KeyboardInterrupt), opening as tried:
            if not tried:
                click.echo(
                    "No browser is opened, because no file that only you can read can be written "
                    "to your home folder."
                )
                sys.stdout.flush()
            server(guard).run(sockets=[listener])
    _end(desk)


def server(guard: Guard) -> uvicorn.Server:
    """Return a server that logs nothing: an address holds the token, a traceback values."""
    import uvicorn

    config: Any = uvicorn.Config(
        guard, log_config=None, log_level="critical", access_log=False, lifespan="off",
        server_header=False, proxy_headers=False, timeout_graceful_shutdown=2,
    )  # fmt: skip
    return uvicorn.Server(config)


def listen(port: int) -> socket.socket:
    """Return a socket that listens on this machine's own address; port 0 is any free one."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(64)
    except (OSError, OverflowError):
        listener.close()
        raise InputError(
            f"The port {port} of this machine cannot be used; choose another, or 0 for a free one."
        ) from None
    return listener


def _end(desk: Desk) -> None:
    """Wait for a release that is being made, and print those that nobody has fetched."""
    click.echo("The page has ended.")
    given_up = False
    running = [run for run in desk.runs() if run.state == "running"]
    for run in running:
        click.echo("A release is being made; waiting for it. Ctrl-C once more gives it up.")
        sys.stdout.flush()
        try:
            if run.thread is not None:
                run.thread.join()
        except KeyboardInterrupt:
            given_up = True
        if run.error:
            click.echo(run.error, err=True)
    lost = [run.release for run in desk.runs() if run.release is not None and not run.fetched]
    if lost:
        click.echo("Here is what was released and never downloaded, because its budget is spent:")
    for release in lost:
        click.echo(release.to_json(), nl=False)
    if given_up:
        click.echo("The release was given up; if it was charged, it stays charged.", err=True)
        sys.stdout.flush()
        # A thread that Arrow is in when the interpreter ends makes it abort.
        os._exit(_INTERRUPTED)
