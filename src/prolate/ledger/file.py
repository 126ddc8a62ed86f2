"""A ledger in a SQLite file on a local disk, for one machine.

A commit goes through a rollback journal with ``synchronous=EXTRA``: the entry
is on the disk before the journal is removed, and that removal is before the
commit returns.  Unlike a write-ahead log, this leaves all that was spent in the
one file.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prolate.errors import LedgerError
from prolate.ledger import store
from prolate.ledger.account import Account
from prolate.ledger.books import (
    READABLE,
    VERSION,
    Books,
    Damaged,
    limits_table,
    tables,
    unreadable,
)
from prolate.ledger.host import Host, meet, this_host

__all__ = ["FileStore"]

_APPLICATION = 0x50524F4C  # "PROL", in the header of the file
_MACHINES = """CREATE TABLE main.machines (
    id INTEGER PRIMARY KEY,
    machine TEXT NOT NULL,
    boot TEXT NOT NULL,
    name TEXT NOT NULL,
    time TEXT NOT NULL
)"""


def _guards(table: str) -> tuple[str, ...]:
    return tuple(
        f"CREATE TRIGGER main.{table}_are_not_{done} BEFORE {what} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, 'an entry cannot be {done}'); END"
        for what, done in (("UPDATE", "changed"), ("DELETE", "removed"))
    )


@dataclass(frozen=True)
class FileStore:
    """The ledger at a path, which is absolute."""

    place: Path

    def create(self, account: Account) -> None:
        """Make the file, readable and writable by its owner only."""
        try:
            os.close(os.open(self.place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            raise LedgerError(
                f"{self.place} exists, and a ledger is never overwritten; "
                "open it with Ledger(path), or choose another name."
            ) from None
        except OSError as error:
            raise LedgerError(f"Cannot make a ledger at {self.place}: {error.strerror}.") from error
        try:
            with self._connection(new=True) as connection:
                connection.execute("BEGIN IMMEDIATE")
                for statement in (*tables("main"), _MACHINES, *_guards("entries")):
                    connection.execute(statement)
                _renew(connection)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                _settle(connection, this_host())
                _books(connection).open(account)
                connection.execute("COMMIT")
        except BaseException:
            self.place.unlink(missing_ok=True)
            raise

    @contextlib.contextmanager
    def transaction(self, *, write: bool) -> Iterator[Books]:
        """Give the only writer's, or a reader's, view of one moment."""
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            if self._meet(connection) == "restarted" and write:
                _settle(connection, this_host())
            yield _books(connection)
            connection.execute("COMMIT")

    def absent(self) -> str:
        """Return the sentence for damage: every file that is a ledger holds one."""
        return store.damaged(self.place)

    def adopt(self) -> None:
        """Write this machine down as the one that uses the file."""
        with self._connection(any_machine=True) as connection:
            connection.execute("BEGIN IMMEDIATE")
            _settle(connection, this_host())
            connection.execute("COMMIT")

    @contextlib.contextmanager
    def _connection(
        self, *, new: bool = False, any_machine: bool = False
    ) -> Iterator[sqlite3.Connection]:
        """Open the file for one operation; what is not committed by its end is undone."""
        with store.one_operation:
            if _is_pipe(self.place):
                raise LedgerError(_stranger(self.place))  # opening it would wait for a writer
            try:
                if not (new or any_machine):
                    self._peek()
                # mode=rw never makes a file.
                with contextlib.closing(self._open("mode=rw")) as connection:
                    connection.execute("PRAGMA journal_mode = DELETE")  # whatever a tool set
                    connection.execute("PRAGMA synchronous = EXTRA")
                    connection.execute("PRAGMA fullfsync = ON")
                    if not new:
                        self._check_kind(connection)
                    yield connection
            except sqlite3.Error as error:
                raise LedgerError(_explain(self.place, error)) from error
            except (Damaged, UnicodeDecodeError) as error:
                raise LedgerError(store.damaged(self.place)) from error

    def _open(self, how: str) -> sqlite3.Connection:
        return sqlite3.connect(
            f"{self.place.as_uri()}?{how}",
            uri=True,
            timeout=store.PATIENCE,
            isolation_level=None,
        )

    def _peek(self) -> None:
        """Refuse the file of another machine, without locks and without changing anything.

        Where locks do not hold, merely opening it could undo what the other machine is
        about to commit.  An unlocked look may fail; then the proper one follows.
        """
        with (
            contextlib.suppress(sqlite3.Error, Damaged, UnicodeDecodeError),
            contextlib.closing(self._open("mode=ro&immutable=1")) as connection,
        ):
            self._meet(connection)

    def _meet(self, connection: sqlite3.Connection) -> str:
        rows = connection.execute("SELECT machine, boot, name FROM main.machines ORDER BY id")
        seen = [Host(*row) for row in rows]
        if not seen:
            raise Damaged
        met = meet(seen, this_host())
        if met == "other":
            raise LedgerError(
                f"The ledger {self.place} belongs to another machine, {seen[-1].name}; two that "
                "share a file could both spend the last of its budget. If it was moved here for "
                "good (or if this is a container on a machine that was restarted), run `prolate "
                "ledger adopt` on it; to share a budget among machines, use a PostgreSQL ledger."
            )
        return met

    def _check_kind(self, connection: sqlite3.Connection) -> None:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if application != _APPLICATION:
            raise LedgerError(_stranger(self.place))
        if version not in READABLE:
            raise LedgerError(unreadable(self.place, version))


def _books(connection: sqlite3.Connection) -> Books:
    def execute(statement: str, parameters: dict[str, object]) -> Sequence[Sequence[Any]]:
        return connection.execute(statement, parameters).fetchall()

    return Books(execute=execute, schema="main", name="", renew=lambda: _renew(connection))


def _renew(connection: sqlite3.Connection) -> None:
    """Make what a ledger of format 4 lacks."""
    for statement in (limits_table("main"), *_guards("limits")):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _settle(connection: sqlite3.Connection, host: Host) -> None:
    connection.execute(
        "INSERT INTO main.machines (machine, boot, name, time) VALUES (?, ?, ?, ?)",
        (host.machine, host.boot, host.name, datetime.now(UTC).isoformat(timespec="seconds")),
    )


def _is_pipe(path: Path) -> bool:
    """Return whether there is a named pipe at a path."""
    try:
        return path.is_fifo()
    except OSError:
        return False


def _stranger(path: Path) -> str:
    return f"{path} is not a ledger; make one at another path with Ledger.create."


def _explain(path: Path, error: sqlite3.Error) -> str:
    """Return what went wrong, in a sentence for the person who chose `path`."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return store.busy(path)
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return (
            f"The ledger {path} cannot be written; you need write permission "
            "for the file and for its directory."
        )
    if code == sqlite3.SQLITE_CANTOPEN:
        if not os.path.exists(path):  # noqa: PTH110 (Path.exists may raise PermissionError)
            return f"There is no ledger at {path}; make one with Ledger.create."
        return (
            f"The ledger {path} cannot be opened; it must be a file, and you need permission "
            "to read it and to write in its directory."
        )
    if code == sqlite3.SQLITE_NOTADB:
        return _stranger(path)
    if code == sqlite3.SQLITE_CORRUPT:
        return store.damaged(path)
    if code == sqlite3.SQLITE_FULL:
        return f"The disk of the ledger {path} is full; free some space, then try again."
    return f"The ledger {path} cannot be read or written ({error}); check the disk and the file."
