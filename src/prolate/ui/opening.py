"""How a browser is let in: a file that only its user can read, with a key that works once."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from pathlib import Path

from prolate.ui.guard import Guard

__all__ = ["browser_at"]

_PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>Prolate</title>
<p><a href="{address}">Open the page</a>
</html>
"""


@contextlib.contextmanager
def browser_at(here: str, guard: Guard) -> Iterator[bool]:
    """Open the page in a browser, and yield whether that was tried.

    All users of a machine can read with which words a program is started, so a browser is started
    with the name of a file that only its user can read; the file leads on to the page. It is there
    until it was used, or until the end.

    Parameters
    ----------
    here : str
        The address of the server.
    guard : Guard
        Gives the key, and says when it was used.
    """
    try:
        # A browser of snap reads neither hidden folders nor those outside of the home folder.
        folder = Path(tempfile.mkdtemp(prefix="prolate-page-", dir=Path.home()))
    except (OSError, RuntimeError):
        yield False
        return
    try:
        file = _written(folder, here + guard.once(lambda: _remove(folder)))
        if file is not None:
            # Where only one for terminals is found, this returns when the user has left it.
            threading.Thread(target=_show, args=(file.as_uri(), folder), daemon=True).start()
        yield file is not None
    finally:
        _remove(folder)


def _written(folder: Path, address: str) -> Path | None:
    """Return the file that leads to an address, or None if it cannot be made for one user only."""
    file = folder / "open.html"
    try:
        if os.name == "posix" and folder.stat().st_mode & 0o077:
            return None  # on a disk that keeps no modes
        file.touch(mode=0o600, exist_ok=False)
        file.write_text(_PAGE.format(address=address), encoding="utf-8")
    except OSError:
        return None
    return file


def _show(address: str, folder: Path) -> None:
    with contextlib.suppress(Exception):  # the address is printed, too
        if webbrowser.open(address):
            return
    _remove(folder)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
