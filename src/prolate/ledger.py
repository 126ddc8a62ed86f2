"""What a data set has spent, in a file that crashes and races cannot cheat.

A ledger is a SQLite file for one data set: a limit, and one entry per charge.
A release is charged before it is measured, so a crash can waste budget and
never hide it.  What makes that true:

- a charge reads the entries, decides and writes within one ``BEGIN IMMEDIATE``
  transaction, so that two processes cannot both take the last of the budget;
- it returns only after a commit with a rollback journal and
  ``synchronous=EXTRA``, which survives a kill and a loss of power;
- every operation has a connection of its own and no fork happens during one,
  so a ledger may be used from threads and on both sides of a fork;
- entries are only ever added, under consecutive numbers, and a ledger with a
  gap is refused.

Sums are exact.  mu is stored as the hexadecimal float it is, and mu**2 adds up
as a fraction.  While every entry is Gaussian the rule is
``sum(mu_i**2) <= limit.mu**2``; from the first one that is only rho-zCDP on it
is ``sum(rho_i) <= limit.for_zcdp().rho``, which is the same sum (rho is half of
mu**2) under a limit that may be lower.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context
from fractions import Fraction
from pathlib import Path

from prolate.budget import Budget, Composition
from prolate.errors import BudgetError, InputError, LedgerError

__all__ = ["Entry", "Ledger"]

_APPLICATION = 0x50524F4C  # "PROL", in the header of the file
_VERSION = 1  # of the tables below
_PATIENCE = 30.0  # seconds to wait for another process
_SMALLEST, _LARGEST = 1e-9, 1e4  # the mu that a Budget can have
# Relative, on the sum of squares: ten charges of rho = 0.1 fit a limit of 1,
# although the stored floats add up to a little more.
_SLACK = Fraction(1, 10**12)

_TABLES = f"""
CREATE TABLE ledger (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    dataset TEXT NOT NULL,
    budget TEXT NOT NULL
);
CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    label TEXT NOT NULL,
    mu TEXT NOT NULL,
    composition TEXT NOT NULL CHECK (composition IN ('gdp', 'zcdp')),
    time TEXT NOT NULL
);
CREATE TRIGGER entries_are_not_changed BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'an entry cannot be changed'); END;
CREATE TRIGGER entries_are_not_removed BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'an entry cannot be removed'); END;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
"""

# SQLite keeps its locks per process, in memory that a fork would copy half way
# through an operation.
_operation = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_operation.acquire,
        after_in_parent=_operation.release,
        after_in_child=_operation.release,
    )


@dataclass(frozen=True)
class Entry:
    """One charge of a ledger.

    Attributes
    ----------
    id : int
        1, 2, 3, ... in the order of the charges.
    label : str
        What was released.
    mu, rho : float
        What it cost, as mu-GDP and as ``rho = mu**2 / 2``.
    composition : {"gdp", "zcdp"}
        ``"gdp"`` if every step was Gaussian, else only `rho` is meant.
    time : str
        When it was charged: UTC, ISO 8601.
    """

    id: int
    label: str
    mu: float
    rho: float
    composition: Composition
    time: str


class Ledger:
    """The budget of one data set: a limit, and what was charged against it.

    Parameters
    ----------
    path : str or path-like
        A file that `Ledger.create` made, on a local disk.

    Attributes
    ----------
    path : pathlib.Path
        The file, absolute.
    dataset : str
        The name that was given to `create`.

    Raises
    ------
    LedgerError
        Here and in every method, if the file is absent, not a ledger, damaged,
        of another version, not permitted, or locked for more than 30 seconds.

    Notes
    -----
    The sum of ``mu**2`` is exact; it may exceed the limit's by a factor of
    1 + 1e-12, once in the life of the ledger, for the rounding of the charges.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/patients.ledger"
    >>> ledger = Ledger.create(path, limit=Budget(rho=1.0), dataset="patients")
    >>> ledger.charge(Budget(rho=0.75), "mean of age")
    1
    >>> round(ledger.remaining.rho, 6)
    0.25
    """

    __slots__ = ("dataset", "path")

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = _resolved(path)
        with _connection(self.path) as connection:
            if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
                raise LedgerError(_damaged(self.path))
            _read(connection, self.path)
            self.dataset = str(connection.execute("SELECT dataset FROM ledger").fetchone()[0])

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, limit: Budget, dataset: str = "") -> Ledger:
        """Make a new ledger, readable and writable by its owner only.

        Parameters
        ----------
        path : str or path-like
            A file that does not exist, in a directory that does.
        limit : Budget
            What all releases of the data set may cost together.
        dataset : str
            A name for the data set.

        Raises
        ------
        LedgerError
            If the file exists or cannot be made.
        """
        _check_budget("limit", limit)
        _check_text("dataset", dataset)
        place = _resolved(path)
        try:
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            raise LedgerError(
                f"{place} exists, and a ledger is never overwritten; "
                "open it with Ledger(path), or choose another name."
            ) from None
        except OSError as error:
            raise LedgerError(f"Cannot make a ledger at {place}: {error.strerror}.") from error
        try:
            with _connection(place, new=True) as connection:
                connection.executescript(f"BEGIN IMMEDIATE;{_TABLES}")
                connection.execute(
                    "INSERT INTO ledger VALUES (1, ?, ?)", (dataset, json.dumps(limit.to_dict()))
                )
                connection.execute("COMMIT")
        except BaseException:
            place.unlink(missing_ok=True)
            raise
        return cls(place)

    @property
    def limit(self) -> Budget:
        """What all charges may cost together."""
        return self._read()[0]

    @property
    def spent(self) -> Budget | None:
        """What all charges cost together, or None before the first."""
        entries = self._read()[1]
        return _budget(math.sqrt(_total(entries)), _composition(entries)) if entries else None

    @property
    def remaining(self) -> Budget | None:
        """The largest charge that still fits, or None if nothing does.

        It is meant for one more release of the ledger's own composition: on a
        ledger of Gaussian releases, one that is only rho-zCDP may have less.
        """
        limit, entries = self._read()
        composition = _composition(entries)
        left = _left(limit, entries, composition)
        return _budget(left, composition) if left else None

    def charge(self, budget: Budget, label: str = "") -> int:
        """Charge a release that is about to be made, and return its entry's id.

        When this returns, the charge is on the disk and is never forgotten.

        Parameters
        ----------
        budget : Budget
            What the release costs.
        label : str
            What is released.

        Raises
        ------
        LedgerError
            If the charge does not fit within the limit. Nothing is charged then.
        """
        _check_budget("budget", budget)
        _check_text("label", label)
        with _connection(self.path) as connection:
            connection.execute("BEGIN IMMEDIATE")
            limit, entries = _read(connection, self.path)
            composition = _composition([*entries, budget])
            if not _fits(_total([*entries, budget]), limit, composition):
                raise LedgerError(_refusal(self.path, limit, entries, budget))
            number = len(entries) + 1
            now = datetime.now(UTC).isoformat(timespec="seconds")
            connection.execute(
                "INSERT INTO entries (id, label, mu, composition, time) VALUES (?, ?, ?, ?, ?)",
                (number, label, budget.mu.hex(), budget.composition, now),
            )
            connection.execute("COMMIT")
        return number

    def entries(self) -> tuple[Entry, ...]:
        """Return all charges, oldest first."""
        return self._read()[1]

    def set_limit(self, limit: Budget) -> None:
        """Set another limit, which may not be below what is spent.

        Raises
        ------
        LedgerError
            If more than `limit` is spent already. The old limit stays then.
        """
        _check_budget("limit", limit)
        with _connection(self.path) as connection:
            connection.execute("BEGIN IMMEDIATE")
            _, entries = _read(connection, self.path)
            composition = _composition(entries)
            spent = _total(entries)
            if not _fits(spent, limit, composition):
                raise LedgerError(
                    f"The limit of {self.path} cannot become {_limit(limit, composition)}, because "
                    f"{_cost(math.sqrt(spent), composition)} is spent already."
                )
            connection.execute("UPDATE ledger SET budget = ?", (json.dumps(limit.to_dict()),))
            connection.execute("COMMIT")

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def _read(self) -> tuple[Budget, tuple[Entry, ...]]:
        with _connection(self.path) as connection:
            connection.execute("BEGIN")  # both tables at one moment
            return _read(connection, self.path)


def _total(charges: Iterable[Entry | Budget]) -> Fraction:
    """Return the exact sum of mu**2."""
    return sum((Fraction(charge.mu) ** 2 for charge in charges), Fraction(0))


def _composition(charges: Iterable[Entry | Budget]) -> Composition:
    return "zcdp" if any(charge.composition == "zcdp" for charge in charges) else "gdp"


def _allowed(limit: Budget, composition: Composition) -> Fraction:
    """Return the exact mu**2 that `limit` allows."""
    return Fraction(limit.mu if composition == "gdp" else limit.for_zcdp().mu) ** 2


def _fits(total: Fraction, limit: Budget, composition: Composition) -> bool:
    return total <= _allowed(limit, composition) * (1 + _SLACK)


def _left(limit: Budget, entries: Iterable[Entry], composition: Composition) -> float:
    """Return the largest mu that still fits, or 0 if only slack or less is left."""
    allowed = _allowed(limit, composition)
    left = allowed - _total(entries)
    mu = math.sqrt(left) if left > allowed * _SLACK else 0.0
    return mu if mu >= _SMALLEST else 0.0


def _budget(mu: float, composition: Composition) -> Budget:
    # The rounding of a root must not push it out of what a Budget may be.
    budget = Budget(mu=min(max(mu, _SMALLEST), _LARGEST))
    return budget if composition == "gdp" else budget.for_zcdp()


def _limit(limit: Budget, composition: Composition) -> str:
    return str(limit if composition == "gdp" else limit.for_zcdp())


def _cost(mu: float, composition: Composition, *, rounding: str = ROUND_HALF_EVEN) -> str:
    six = Context(prec=6, rounding=rounding).create_decimal_from_float
    rho = f"rho = {float(six(0.5 * mu * mu)):g}"
    return rho if composition == "zcdp" else f"mu = {float(six(mu)):g} ({rho})"


def _refusal(path: Path, limit: Budget, entries: tuple[Entry, ...], asked: Budget) -> str:
    composition = _composition([*entries, asked])
    spent = f"{_cost(math.sqrt(_total(entries)), composition)} is" if entries else "nothing is"
    left = _left(limit, entries, composition)
    # Rounded down, so that what is said to fit does.
    largest = _cost(left, composition, rounding=ROUND_FLOOR)
    most = f"at most {largest} still fits" if left else "nothing more fits"
    why = " It counts in rho because not every step is Gaussian." if composition == "zcdp" else ""
    return (
        f"A charge of {_cost(asked.mu, composition)} exceeds the budget in {path}: the limit is "
        f"{_limit(limit, composition)}, {spent} spent, and {most}.{why}"
    )


def _check_budget(name: str, value: object) -> None:
    if not isinstance(value, Budget):
        raise InputError(
            f"{name} must be a Budget, such as Budget(epsilon=1, delta=1e-6); got {value!r}."
        )
    if not (math.isfinite(value.mu) and value.mu > 0.0):
        raise BudgetError(f"{name} must have a positive and finite mu; got {value.mu}.")


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise InputError(f"{name} must be a string; got {value!r}.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name} must be text that UTF-8 can hold; got {value!r}.") from None


def _resolved(path: str | os.PathLike[str]) -> Path:
    try:
        return Path(path).resolve()
    except (TypeError, ValueError, OSError, RuntimeError) as error:
        raise InputError(f"A ledger needs the path of a file; got {path!r} ({error}).") from error


@contextlib.contextmanager
def _connection(path: Path, *, new: bool = False) -> Iterator[sqlite3.Connection]:
    """Open the ledger for one operation; what is not committed by its end is undone."""
    with _operation:
        try:
            # mode=rw never makes a file.  The rollback journal is SQLite's default:
            # unlike a write-ahead log it leaves all that was spent in the one file.
            connection = sqlite3.connect(
                f"{path.as_uri()}?mode=rw", uri=True, timeout=_PATIENCE, isolation_level=None
            )
            with contextlib.closing(connection):
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute("PRAGMA fullfsync = ON")
                if not new:
                    _check_kind(connection, path)
                yield connection
        except sqlite3.Error as error:
            raise LedgerError(_explain(path, error)) from error


def _check_kind(connection: sqlite3.Connection, path: Path) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != _APPLICATION:
        raise LedgerError(_stranger(path))
    if version != _VERSION:
        raise LedgerError(
            f"{path} is a ledger of format {version}, and this version of Prolate reads only "
            f"format {_VERSION}; open it with the version that made it."
        )


def _read(connection: sqlite3.Connection, path: Path) -> tuple[Budget, tuple[Entry, ...]]:
    """Return the limit and all entries, or raise LedgerError if they are not whole."""
    try:
        (stored,) = connection.execute("SELECT budget FROM ledger").fetchone()
        limit = Budget.from_dict(json.loads(stored))
        _check_budget("limit", limit)
        rows = connection.execute(
            "SELECT id, label, mu, composition, time FROM entries ORDER BY id"
        )
        entries = tuple(_entry(*row) for row in rows)
        last = connection.execute("SELECT max(seq) FROM sqlite_sequence").fetchone()[0] or 0
        if [entry.id for entry in entries] != list(range(1, last + 1)):
            raise ValueError("entries are missing")
    except (BudgetError, TypeError, ValueError) as error:
        raise LedgerError(_damaged(path)) from error
    return limit, entries


def _entry(number: int, label: str, mu: str, composition: Composition, time: str) -> Entry:
    exact = float.fromhex(mu)
    if not (math.isfinite(exact) and exact > 0.0):
        raise ValueError("an entry has no cost")
    if composition not in ("gdp", "zcdp"):
        raise ValueError("an entry has no composition")
    return Entry(number, label, exact, 0.5 * exact * exact, composition, time)


def _damaged(path: Path) -> str:
    return (
        f"The ledger {path} is damaged, so what was spent is not known; "
        "restore it from a copy that holds every charge."
    )


def _stranger(path: Path) -> str:
    return f"{path} is not a ledger; make one at another path with Ledger.create."


def _explain(path: Path, error: sqlite3.Error) -> str:
    """Return what went wrong, in a sentence for the person who chose `path`."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return (
            f"Another process kept the ledger {path} locked for {_PATIENCE:g} seconds; "
            "try again when it is done."
        )
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
        return _damaged(path)
    if code == sqlite3.SQLITE_FULL:
        return f"The disk of the ledger {path} is full; free some space, then try again."
    return f"The ledger {path} cannot be read or written ({error}); check the disk and the file."
