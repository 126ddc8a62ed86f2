"""Where releases are written: checked beforehand, and whole files only."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from prolate.errors import ReleaseError
from prolate.sources.paths import format_of

__all__ = ["check_writable", "json_text", "replace_file", "write_table", "write_whole"]

_KEPT = (b"SQLite format 3\0", b"PAR1", b"ARROW1")  # how ledgers and files of rows begin


def check_writable(path: str | os.PathLike[str], *, table: bool = False) -> Path:
    """Return the file that writing to `path` would make, or raise `ReleaseError`.

    Links are followed. Only an ordinary file is ever replaced, so that a name
    such as ``/dev/null`` does no harm; and never a ledger. Unless a `table` is to be written,
    no file is that ends like one of rows, or is what a link of such a name leads to: it would
    not be what its name says.
    """
    target = None
    try:
        named = Path(path).expanduser()
        target = named.resolve()
        mode = named.stat().st_mode  # a pipe behind /dev/stdout has no name to be resolved
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        if target is not None and isinstance(error, FileNotFoundError):
            if not table and any(format_of(name) is not None for name in (str(path), target.name)):
                raise ReleaseError(
                    f"Cannot write {str(path)!r}: releases are JSON, and this is a name for a file "
                    f"of rows; choose another, such as {target.with_suffix('.json').name!r}."
                ) from error
            return _check_folder(path, target)
        reason = getattr(error, "strerror", None) or "it is not the name of a file"
        raise ReleaseError(f"Cannot write {str(path)!r}: {reason}.") from error
    if stat.S_ISDIR(mode):
        raise ReleaseError(f"Cannot write {str(path)!r}: it is a folder; name a file in it.")
    if not stat.S_ISREG(mode):
        raise ReleaseError(f"Cannot write {str(path)!r}: it is not an ordinary file.")
    rows = any(format_of(name) is not None for name in (str(path), target.name))
    if (rows and not table) or _is_kept(target):
        raise ReleaseError(
            f"Cannot write {str(path)!r}: it is a ledger or a file of rows, which nothing here "
            "ever replaces; choose another name."
        )
    return _check_folder(path, target)


def _is_kept(target: Path) -> bool:
    try:
        with target.open("rb") as file:
            return file.read(16).startswith(_KEPT)
    except OSError:
        return False  # it may be replaced without being read


def _check_folder(path: str | os.PathLike[str], target: Path) -> Path:
    whose = target.name.removesuffix("-journal")
    if whose != target.name and _is_kept(target.with_name(whose)):
        raise ReleaseError(
            f"Cannot write {str(path)!r}: a ledger uses this name for a journal of its own, and "
            "would delete the file; choose another name."
        )
    if not target.parent.is_dir():
        raise ReleaseError(f"Cannot write {str(path)!r}: its folder does not exist.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise ReleaseError(f"Cannot write {str(path)!r}: its folder is not writable.")
    return target


def json_text(fields: dict[str, Any], path: str | os.PathLike[str] | None) -> str:
    """Return plain values as JSON text, and write it to `path` if one is given."""
    text = json.dumps(fields, indent=2, allow_nan=False) + "\n"
    if path is not None:
        write_whole(path, text)
    return text


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` so that the file is there whole or not at all, for its owner only."""
    _write(path, check_writable(path), text)


def write_table(path: str | os.PathLike[str], text: str) -> None:
    """Write a table of CSV as `write_whole` does; it replaces only one of the same columns."""
    name = str(path).lower()
    if format_of(name) is not None and not name.endswith(".csv"):
        raise ReleaseError(
            f"Cannot write {str(path)!r}: the table is CSV; choose a name that ends in .csv."
        )
    target = check_writable(path, table=True)
    header = text.partition("\n")[0].encode()
    if target.exists() and not _begins(target, header):
        raise ReleaseError(
            f"Cannot write {str(path)!r}: a file is there that is no such table; choose another "
            "name."
        )
    _write(path, target, text)


def _begins(target: Path, header: bytes) -> bool:
    try:
        with target.open("rb") as file:
            return file.readline(len(header) + 1).rstrip(b"\n") == header
    except OSError:
        return False


def _write(path: str | os.PathLike[str], target: Path, text: str) -> None:
    try:
        replace_file(target, text.encode())
    except OSError as error:
        raise ReleaseError(f"Cannot write {str(path)!r}: {error.strerror}.") from error


def replace_file(target: Path, content: bytes, *, shared: bool = False) -> None:
    """Write a file that is there whole or not at all; `shared` with whom the umask lets read it.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    # mkstemp makes the file with mode 0600.
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if shared:
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o666 & ~mask)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
