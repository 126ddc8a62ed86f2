"""A ledger on a PostgreSQL server, for any number of machines.

A charge locks the ledger's row before it reads the entries, under READ
COMMITTED, so that it sees every charge before it; entries are numbered, and no
number is taken twice.  ``synchronous_commit`` is on for the transaction whatever
the server's usual is, and a server with ``fsync`` or ``full_page_writes`` off is
refused.  When the connection is lost within a commit, nobody knows whether the
charge stands: that is an error, and is not tried again, so nothing is released
and at worst budget is wasted.

The tables are in the schema ``prolate`` of the database, one row of ``ledgers``
for each ledger.  Who may charge needs ``USAGE`` on the schema, ``SELECT`` on the
tables, ``INSERT`` on ``entries`` and ``UPDATE (seal)`` on ``ledgers``; without
``UPDATE (budget)`` they cannot change the limit.  The table ``limits`` is missing
where only earlier versions made ledgers: whoever makes or changes one then makes it,
and who may read ``entries`` may read it, so that nobody who charges is locked out.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prolate.errors import InputError, LedgerError
from prolate.ledger import store
from prolate.ledger.account import Account
from prolate.ledger.address import Address
from prolate.ledger.books import Books, Damaged, Newer, limits_table, tables, unreadable

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine
    from sqlalchemy.exc import SQLAlchemyError

__all__ = ["PostgresStore"]

# A dead network must not look like a slow server for ever.
_CONNECT = {
    "connect_timeout": "10",
    "keepalives_idle": "15",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
_SETTINGS = """SELECT
    set_config('synchronous_commit', CASE current_setting('synchronous_commit')
        WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true),
    set_config('lock_timeout', :patience, true),
    set_config('idle_in_transaction_session_timeout', :patience, true),
    current_setting('fsync'), current_setting('full_page_writes')"""
_GUARDS = (
    """CREATE FUNCTION prolate.refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'an entry cannot be changed or removed'; END $$""",
    """CREATE TRIGGER entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON prolate.entries
    FOR EACH STATEMENT EXECUTE FUNCTION prolate.refuse()""",
)
_GUARD = """CREATE TRIGGER limits_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON prolate.limits
    FOR EACH STATEMENT EXECUTE FUNCTION prolate.refuse()"""
_GRANTS = """SELECT 'ALL', quote_ident(pg_get_userbyid(relowner))
    FROM pg_class WHERE oid = to_regclass('prolate.entries')
    UNION SELECT 'SELECT',
    CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END
    FROM pg_class, aclexplode(relacl)
    WHERE oid = to_regclass('prolate.entries') AND privilege_type = 'SELECT'"""
_MAKING = 0x50524F4C  # an advisory lock, for two that make the schema at once


@dataclass(frozen=True)
class PostgresStore:
    """The ledger at an address."""

    address: Address

    @property
    def place(self) -> str:
        """The URL, without its password."""
        return self.address.place

    def create(self, account: Account) -> None:
        """Make the schema and its tables if they are missing, and the ledger."""
        with self._begin(write=True) as connection:
            _execute(connection, f"SELECT pg_advisory_xact_lock({_MAKING})")
            if _execute(connection, "SELECT to_regclass('prolate.ledgers') IS NULL")[0][0]:
                if _execute(connection, "SELECT to_regnamespace('prolate') IS NULL")[0][0]:
                    _execute(connection, "CREATE SCHEMA prolate")
                for statement in (*tables("prolate"), *_GUARDS):
                    _execute(connection, statement)
            _renew(connection)
            books = self._books(connection, lock="")
            if books.read() is not None:
                raise LedgerError(
                    f"{self.place} exists, and a ledger is never overwritten; open it with "
                    f"Ledger(url), or choose another name: {self.place.partition('#')[0]}#name."
                )
            books.open(account)

    @contextlib.contextmanager
    def transaction(self, *, write: bool) -> Iterator[Books]:
        """Give the only writer's, or a reader's, view of one moment."""
        with self._begin(write=write) as connection:
            yield self._books(connection, lock=" FOR UPDATE" if write else "")

    def absent(self) -> str:
        """Return the sentence for a server without this ledger."""
        return f"There is no ledger at {self.place}; make one with Ledger.create."

    def adopt(self) -> None:
        """Refuse: every machine may use it already."""
        raise InputError(
            f"The ledger {self.place} belongs to no machine, so any may use it without this."
        )

    def _books(self, connection: Connection, *, lock: str) -> Books:
        return Books(
            execute=lambda statement, parameters: _execute(connection, statement, parameters),
            schema="prolate",
            name=self.address.ledger,
            renew=lambda: _renew(connection),
            lock=lock,
        )

    @contextlib.contextmanager
    def _begin(self, *, write: bool) -> Iterator[Connection]:
        engine = _engine(self.address.url)
        from sqlalchemy.exc import SQLAlchemyError

        with store.one_operation:
            try:
                with engine.connect() as connection:
                    # A reader's two queries see one moment; a writer's second one sees
                    # everything up to when it got the lock.
                    level = "READ COMMITTED" if write else "REPEATABLE READ"
                    connection.execution_options(isolation_level=level)
                    if write:
                        self._prepare(connection)
                    yield connection
                    if write:
                        self._commit(connection)
            except SQLAlchemyError as error:
                # "from None": what the libraries say may quote the URL.
                raise LedgerError(self._explain(error)) from None
            except Newer as error:
                raise LedgerError(unreadable(self.place, *error.args)) from error
            except Damaged as error:
                raise LedgerError(store.damaged(self.place)) from error

    def _prepare(self, connection: Connection) -> None:
        _execute(connection, "SET TRANSACTION READ WRITE")
        patience = f"{store.PATIENCE * 1000:.0f}ms"
        ((*_, fsync, pages),) = _execute(connection, _SETTINGS, {"patience": patience})
        if (fsync, pages) != ("on", "on"):
            raise LedgerError(
                f"The server of {self.place} runs with fsync = {fsync} and full_page_writes = "
                f"{pages}, so a loss of power could make it forget charges; set both to on."
            )

    def _commit(self, connection: Connection) -> None:
        from sqlalchemy.exc import SQLAlchemyError

        try:
            connection.commit()
        except SQLAlchemyError:
            raise LedgerError(
                f"The connection to {self.place} was lost while a change was being committed, so "
                "the ledger may be charged; nothing is released. `prolate ledger show` tells what "
                "was charged. A charge cannot be undone."
            ) from None

    def _explain(self, error: SQLAlchemyError) -> str:
        """Return what went wrong, in a sentence that holds no password."""
        cause = getattr(error, "orig", None)
        code = getattr(cause, "sqlstate", None) or ""
        if code in ("42P01", "3F000"):  # no table, no schema
            return self.absent()
        if code == "42703":  # no such column
            return (
                f"The tables of {self.place} are of another format than this version of Prolate "
                "reads; use the version that made them, or another database."
            )
        if code in ("55P03", "40P01"):  # lock timeout, deadlock
            return store.busy(self.place)
        if code == "42501":
            return (
                f"The ledger {self.place} does not allow this user to do that; ask its owner for "
                "permission."
            )
        if code == "25006":
            return f"The ledger {self.place} cannot be written: the server is read-only."
        if code == "53100":
            return f"The disk of the ledger {self.place} is full; free some space, then try again."
        if code == "28P01" or "password" in str(cause):
            return (
                f"The server of {self.place} needs a password, or does not accept this one; give "
                "it in ~/.pgpass, in the environment variable PGPASSWORD, or in the URL."
            )
        what = getattr(getattr(cause, "diag", None), "message_primary", None)
        words = f" ({what})" if what else ""
        return (
            f"The ledger {self.place} cannot be reached, read or written{words}; check the URL, "
            "the server and the network."
        )


def _renew(connection: Connection) -> None:
    """Make the table of changes of limits where it is missing, for all who use the others."""
    _execute(connection, f"SELECT pg_advisory_xact_lock({_MAKING})")
    if not _execute(connection, "SELECT to_regclass('prolate.limits') IS NULL")[0][0]:
        return
    for statement in (limits_table("prolate"), _GUARD):
        _execute(connection, statement)
    for right, who in _execute(connection, _GRANTS):
        _execute(connection, f"GRANT {right} ON prolate.limits TO {who}")


@functools.lru_cache(maxsize=16)
def _engine(url: str) -> Engine:
    """Return SQLAlchemy's engine, which keeps no connection from one operation to the next."""
    try:
        import sqlalchemy
        from sqlalchemy.exc import SQLAlchemyError

        try:
            made = sqlalchemy.make_url(url)
            given = made.query
            return sqlalchemy.create_engine(
                made,
                poolclass=sqlalchemy.NullPool,
                hide_parameters=True,
                connect_args={
                    **{name: value for name, value in _CONNECT.items() if name not in given},
                    "client_encoding": "utf8",
                    "prepare_threshold": None,
                },
            )
        except SQLAlchemyError:
            raise InputError(
                "The URL of a ledger must have the form postgresql://user@host/database."
            ) from None
    except ImportError as error:
        raise InputError(
            f"A PostgreSQL ledger needs {error.name or 'psycopg'}, which is not installed; "
            "run: pip install 'prolate[postgres]'"
        ) from error


def _execute(
    connection: Connection, statement: str, parameters: dict[str, object] | None = None
) -> Sequence[Sequence[Any]]:
    from sqlalchemy import text

    result = connection.execute(text(statement), parameters or {})
    return result.all() if result.returns_rows else ()
