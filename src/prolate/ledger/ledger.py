"""The ledger that a user holds: create, open, charge, look, change the limit."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from prolate.budget import Budget, Neighbors, check_neighbors
from prolate.errors import BudgetError, InputError, LedgerError
from prolate.ledger.account import Account, check_keys_delta
from prolate.ledger.address import Address, address, resolved
from prolate.ledger.books import Books
from prolate.ledger.entry import Charge, Entry, Promise
from prolate.ledger.file import FileStore
from prolate.ledger.postgres import PostgresStore
from prolate.ledger.store import Store

__all__ = ["Ledger"]


class Ledger:
    """The budget of one data set: a limit, and what was charged against it.

    Parameters
    ----------
    path : str or path-like
        A file that `Ledger.create` made, on a local disk of this machine; or, for
        teams, ``"postgresql://user@host/database"``, with ``#name`` where the database
        has several. The password is best kept in ``~/.pgpass`` or ``PGPASSWORD``; one
        in the URL is never shown, stored or pickled.

    Attributes
    ----------
    dataset : str
        The name that was given to `create`.

    Raises
    ------
    LedgerError
        Here and in every method, if the ledger is absent, not a ledger, damaged, of
        another version or machine, not permitted, locked for more than 30 seconds, or
        on a disk that is full. Nothing may be released after an error of `charge`,
        although the charge may have been written.

    Notes
    -----
    The sum of ``mu**2`` is exact; it may exceed the limit's by a factor of
    1 + 1e-12, once in the life of the ledger, for the rounding of the charges.
    What finding groups costs is part of a delta that is set aside beforehand
    (`prolate.ledger.account`). All releases of a ledger hide the same: those of another
    `neighbors` or `unit` are refused, because their prices do not add up
    (`prolate.ledger.entry`).

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

    __slots__ = ("_store", "dataset")

    def __init__(self, path: str | os.PathLike[str] | Address) -> None:
        self._store = _store(path)
        self.dataset = self._read().dataset

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str] | Address,
        *,
        limit: Budget,
        dataset: str = "",
        keys_delta: float = 0.0,
        neighbors: Neighbors | None = None,
        unit: str | None = None,
    ) -> Ledger:
        """Make a new ledger: a file that only its owner can use, or rows in a database.

        Parameters
        ----------
        path : str or path-like
            A file that does not exist, in a directory that does; or the URL of a
            database that has no ledger of this name yet.
        limit : Budget
            What all releases of the data set may cost together.
        dataset : str
            A name for the data set.
        keys_delta : float
            The part of the limit's delta that is set aside for finding out which groups
            there are; the rest is for all else. Without it, groups must be given.
        neighbors : {"replace", "add-remove"}, optional
            What all releases are to hide, as for `prolate.mean`: ``"replace"`` by default where
            `unit` is given. Without both, the first charge decides.
        unit : str, optional
            The column that says whose a row is, where persons are to be protected.

        Raises
        ------
        LedgerError
            If the ledger exists or cannot be made.
        InputError
            If `neighbors` or `unit` is none.
        BudgetError
            If `keys_delta` is not less than the limit's delta, or there is none.
        """
        _check_budget("limit", limit)
        _check_text("dataset", dataset)
        aside = check_keys_delta(limit, keys_delta)
        stated = None if neighbors is unit is None else _promise(neighbors or "replace", unit)
        _store(path).create(Account(dataset, limit, keys_delta=aside, stated=stated))
        return cls(path)

    @classmethod
    def adopt(cls, path: str | os.PathLike[str]) -> Ledger:
        """Open a ledger's file that was moved here from another machine, for good.

        From then on this machine can use it, and no other. Only do so when no other
        machine still has the file: each copy of it would be spent anew.
        """
        _store(path).adopt()
        return cls(path)

    @property
    def path(self) -> Path | str:
        """The file, absolute; or the URL, without password and options."""
        return self._store.place

    @property
    def limit(self) -> Budget:
        """What all charges may cost together."""
        return self._read().limit

    @property
    def spent(self) -> Budget | None:
        """What all charges cost together, or None before the first; see `spent_delta`."""
        return self._read().spent

    @property
    def neighbors(self) -> Neighbors | None:
        """What may happen to whom all releases protect, or None before that is decided."""
        promise = self.promise
        return None if promise is None else promise.neighbors

    @property
    def unit(self) -> str | None:
        """The column of the persons whom all releases protect; None is a row."""
        promise = self.promise
        return None if promise is None else promise.unit

    @property
    def promise(self) -> Promise | None:
        """Both together: what all releases hide, or None before that is decided."""
        return self._read().promise

    @property
    def keys_delta(self) -> float:
        """The part of the limit's delta that is set aside for finding groups."""
        return self._read().keys_delta

    @property
    def spent_delta(self) -> float:
        """What finding groups has cost of `keys_delta`, rounded up."""
        return self._read().spent_delta

    @property
    def remaining(self) -> Budget | None:
        """The largest charge that still fits, or None if nothing does.

        It is meant for one more release of the ledger's own composition: on a
        ledger of Gaussian releases, one that is only rho-zCDP may have less.
        """
        return self._read().remaining

    def entries(self) -> tuple[Entry, ...]:
        """Return all charges, oldest first."""
        return self._read().entries

    def charge(
        self,
        budget: Budget | None,
        label: str = "",
        *,
        delta: float = 0.0,
        neighbors: Neighbors = "replace",
        unit: str | None = None,
    ) -> int:
        """Charge a release that is about to be made, and return its entry's id.

        When this returns, the charge is on the disk and is never forgotten.

        Parameters
        ----------
        budget : Budget or None
            What the release costs; None where it tells only what is public under `neighbors`.
        label : str
            What is released.
        delta : float
            What it costs beside `budget`, for finding out which groups there are: from
            0 to below 1.
        neighbors : {"replace", "add-remove"}
            What the release hides, as for `prolate.mean`.
        unit : str, optional
            The column of whom it protects; a row by default.

        Raises
        ------
        LedgerError
            If the charge does not fit within the limit, or the release hides something else
            than those before; nothing is charged then.
        """
        if budget is not None:
            _check_budget("budget", budget)
        _check_text("label", label)
        _check_delta(delta)
        charge = Charge(budget, _promise(neighbors, unit), delta)
        with self._store.transaction(write=True) as books:
            account = self._account(books)
            if not account.fits(charge):
                raise LedgerError(account.refusal(charge, self.path))
            now = datetime.now(UTC).isoformat(timespec="seconds")
            after = account.charged(charge, label, now)
            books.add(after)
        return after.entries[-1].id

    def set_limit(self, limit: Budget, *, keys_delta: float | None = None) -> None:
        """Set another limit, which may not be below what is spent.

        It is kept as if it had stood from the beginning, if the choice of it does not depend
        on what was released.

        Parameters
        ----------
        limit : Budget
            What all releases may cost together.
        keys_delta : float, optional
            The part of its delta for finding groups; what it was by default.

        Raises
        ------
        LedgerError
            If more than `limit` is spent already. The old limit stays then.
        BudgetError
            If `keys_delta` is not less than the limit's delta, or there is none.
        """
        _check_budget("limit", limit)
        with self._store.transaction(write=True) as books:
            account = self._account(books)
            aside = account.keys_delta if keys_delta is None else keys_delta
            aside = check_keys_delta(limit, aside)
            if not account.allows(limit, aside):
                raise LedgerError(account.limit_refusal(limit, aside, self.path))
            books.set_limit(replace(account, limit=limit, keys_delta=aside))

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def _read(self) -> Account:
        with self._store.transaction(write=False) as books:
            return self._account(books)

    def _account(self, books: Books) -> Account:
        account = books.read()
        if account is None:
            raise LedgerError(self._store.absent())
        return account


def _store(path: str | os.PathLike[str] | Address) -> Store:
    where = address(path)
    return PostgresStore(where) if isinstance(where, Address) else FileStore(resolved(where))


def _check_budget(name: str, value: object) -> None:
    if not isinstance(value, Budget):
        raise InputError(
            f"{name} must be a Budget, such as Budget(epsilon=1, delta=1e-6); got {value!r}."
        )
    if not (math.isfinite(value.mu) and value.mu > 0.0):
        raise BudgetError(f"{name} must have a positive and finite mu; got {value.mu}.")


def _promise(neighbors: object, unit: str | None) -> Promise:
    if unit is not None:
        _check_text("unit", unit)
        if not unit.strip():
            raise InputError("unit must be the name of a column; got nothing, or only spaces.")
    return Promise(check_neighbors(neighbors), unit)


def _check_delta(value: object) -> None:
    if not (isinstance(value, float | int) and 0.0 <= value < 1.0) or isinstance(value, bool):
        raise BudgetError(f"delta must be a number from 0 to below 1; got {value!r}.")


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise InputError(f"{name} must be a string; got {value!r}.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name} must be text that UTF-8 can hold; got {value!r}.") from None
    if "\0" in value:
        raise InputError(f"{name} must be text without NUL characters; got {value!r}.")
