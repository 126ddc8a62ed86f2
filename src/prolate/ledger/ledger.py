"""The ledger as users see it: create it, open it, charge it, read it, change its limit."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from prolate.budget import Budget, Neighbors, check_neighbors
from prolate.calls import explained
from prolate.errors import BudgetError, InputError, LedgerError, shown
from prolate.ledger.account import Account, check_keys_delta
from prolate.ledger.address import Address, address, resolved
from prolate.ledger.books import Books
from prolate.ledger.entry import Charge, Entry, Promise
from prolate.ledger.file import FileStore
from prolate.ledger.limit_change import LimitChange
from prolate.ledger.postgres import PostgresStore
from prolate.ledger.store import Store

__all__ = ["Ledger"]


class Ledger:
    """The privacy budget of one data set: a limit, and the charges against it.

    Parameters
    ----------
    path : str or path-like
        A file that `Ledger.create` made, on a local disk of this machine. Or, for teams, the
        URL of a PostgreSQL database, ``"postgresql://user@host/database"``, with ``#name`` at
        the end if the database has several ledgers. The password is best kept in ``~/.pgpass``
        or ``PGPASSWORD``; one in the URL is never shown, stored or pickled.

    Attributes
    ----------
    dataset : str
        The name that was given to `create`.

    Raises
    ------
    LedgerError
        Here and in every method: if the ledger does not exist, is not a ledger, is damaged, is
        of another version or machine, may not be accessed, is locked for more than 30 seconds,
        or is on a full disk. After an error in `charge` nothing may be released, although the
        charge may have been written.

    Notes
    -----
    The sum of ``mu**2`` is exact. Because charges are rounded, it may exceed that of the limit
    by a factor of at most 1 + 1e-12, over the whole life of the ledger.

    Finding out which groups there are has a cost of its own, paid from a part of delta that is
    set aside beforehand (`prolate.ledger.account`).

    All releases of a ledger have the same kind of guarantee. A release with another `neighbors`
    or `unit` is refused, because its cost cannot be added to the others
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
    >>> print(ledger)  # doctest: +ELLIPSIS
    Ledger('...', limit: rho = 1 (mu = 1.415), spent: mu = 1.225 (rho = 0.75), remaining: ...)
    """

    __slots__ = ("_store", "dataset")

    def __init__(self, path: str | os.PathLike[str] | Address) -> None:
        self._store = _store(path)
        self.dataset = self.account().dataset

    @classmethod
    @explained(
        "prolate.Ledger.create('patients.ledger', limit=prolate.Budget(epsilon=1, delta=1e-6))"
    )
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
            A file that does not exist yet, in a directory that does; or the URL of a database
            that has no ledger of this name yet.
        limit : Budget
            What all releases of the data set may cost together.
        dataset : str
            A name for the data set.
        keys_delta : float
            The part of the limit's delta that is set aside for finding out which groups there
            are; the rest is for everything else. With 0, the default, releases by group need
            `keys`.
        neighbors : {"replace", "add-remove"}, optional
            What all releases must hide, as for `prolate.mean`. If only `unit` is given, it is
            ``"replace"``. If neither is given, the first charge decides both.
        unit : str, optional
            The column that says which person each row belongs to, if releases must protect
            persons.

        Returns
        -------
        Ledger

        Raises
        ------
        LedgerError
            If the ledger already exists or cannot be made.
        InputError
            If `neighbors` or `unit` is invalid.
        BudgetError
            If `keys_delta` is not smaller than the limit's delta, or the limit has no delta.
        """
        _check_budget("limit", limit)
        _check_text("dataset", dataset)
        aside = check_keys_delta(limit, keys_delta)
        stated = None if neighbors is unit is None else _promise(neighbors or "replace", unit)
        _store(path).create(Account(dataset, limit, keys_delta=aside, stated=stated))
        return cls(path)

    @classmethod
    def adopt(cls, path: str | os.PathLike[str]) -> Ledger:
        """Open a ledger file that was moved here from another machine for good.

        Afterwards only this machine can use the file. Do this only if no other machine still
        has a copy, because the budget could be spent again from each copy.
        """
        _store(path).adopt()
        return cls(path)

    @property
    def path(self) -> Path | str:
        """The absolute path of the file, or the URL without password and options."""
        return self._store.place

    @property
    def limit(self) -> Budget:
        """What all charges may cost together."""
        return self.account().limit

    @property
    def spent(self) -> Budget | None:
        """What all charges cost together, or None if nothing.

        What finding groups cost (`spent_delta`) is in it as `Budget.keys_delta`, so that nothing
        is promised at deltas that are too small for it.
        """
        return self.account().cost

    @property
    def neighbors(self) -> Neighbors | None:
        """Which change to one row or person all releases hide, or None if not yet decided."""
        promise = self.promise
        return None if promise is None else promise.neighbors

    @property
    def unit(self) -> str | None:
        """The column that says who the protected persons are; None if rows are protected."""
        promise = self.promise
        return None if promise is None else promise.unit

    @property
    def promise(self) -> Promise | None:
        """`neighbors` and `unit` together, or None if not yet decided."""
        return self.account().promise

    @property
    def keys_delta(self) -> float:
        """The part of the limit's delta that is set aside for finding groups."""
        return self.account().keys_delta

    @property
    def spent_delta(self) -> float:
        """How much of `keys_delta` has been spent on finding groups, rounded up."""
        return self.account().spent_delta

    @property
    def remaining(self) -> Budget | None:
        """The largest charge that still fits, or None if nothing does.

        It is for one more release of the same composition as the ledger's. If all releases so
        far were Gaussian, less may be left for a release that is only rho-zCDP.
        """
        return self.account().remaining

    def entries(self) -> tuple[Entry, ...]:
        """Return all charges, oldest first."""
        return self.account().entries

    def limit_changes(self) -> tuple[LimitChange, ...]:
        """Return all changes of the limit, oldest first.

        Each has its number and time, the limit before and after, and how many charges there
        were before it. Like charges, changes are only ever added. Those that versions of Prolate
        before format 5 of ledgers made are missing, because these recorded none.
        """
        return self.account().changes

    def charge(
        self,
        budget: Budget | None,
        label: str = "",
        *,
        delta: float = 0.0,
        neighbors: Neighbors = "replace",
        unit: str | None = None,
    ) -> int:
        """Charge a release that is about to be made, and return the id of the new entry.

        When this returns, the charge is stored safely: it survives crashes and power cuts.

        Parameters
        ----------
        budget : Budget or None
            What the release costs. None if everything released is public under `neighbors`.
        label : str
            What is released.
        delta : float
            What finding out which groups there are costs in addition to `budget`, at least 0
            and below 1; of the budget of such a release, twice its `keys_delta`.
        neighbors : {"replace", "add-remove"}
            What the release hides, as for `prolate.mean`.
        unit : str, optional
            The column that says who the protected persons are. By default rows are protected.

        Returns
        -------
        int
            1, 2, 3, ... in the order of the charges.

        Raises
        ------
        LedgerError
            If the charge does not fit within the limit, or the release hides something other
            than earlier ones. Nothing is charged then.
        InputError, BudgetError
            If an argument is invalid. Nothing is charged then.
        """
        if budget is not None:
            _check_budget("budget", budget)
        _check_text("label", label)
        _check_delta(delta)
        _check_keys(budget, delta)
        charge = Charge(budget, _promise(neighbors, unit), delta)
        with self._store.transaction(write=True) as books:
            account = self._account(books)
            if not account.fits(charge):
                raise LedgerError(account.refusal(charge, self.path))
            after = account.charged(charge, label, _now())
            books.add(after)
        return after.entries[-1].id

    def set_limit(self, limit: Budget, *, keys_delta: float | None = None) -> LimitChange | None:
        """Set another limit, which must not be below what is already spent.

        It holds as if it had been the limit from the beginning, provided that the choice of it
        does not depend on what was released. The change is recorded for good (`limit_changes`).

        Parameters
        ----------
        limit : Budget
            What all releases may cost together.
        keys_delta : float, optional
            The part of its delta for finding groups. By default it stays as it is.

        Returns
        -------
        LimitChange or None
            What is recorded. None if the limit is this one already, which is no change.

        Raises
        ------
        LedgerError
            If more than `limit` is already spent. The old limit then stays.
        BudgetError
            If `keys_delta` is not smaller than the limit's delta, or the limit has no delta.
        """
        _check_budget("limit", limit)
        with self._store.transaction(write=True) as books:
            account = self._account(books)
            aside = account.keys_delta if keys_delta is None else keys_delta
            aside = check_keys_delta(limit, aside)
            if not account.allows(limit, aside):
                raise LedgerError(account.limit_refusal(limit, aside, self.path))
            if (limit, aside) == (account.limit, account.keys_delta):
                return None
            after = account.limited(limit, aside, _now())
            books.set_limit(after)
        return after.changes[-1]

    def __repr__(self) -> str:
        what = repr(str(self.path))
        if isinstance(self._store, FileStore):  # of a server it could take long
            with suppress(LedgerError, OSError):  # as where the file is gone
                told = self.account().told().items()
                what = ", ".join([what, *(f"{name}: {words}" for name, words in told)])
        return f"Ledger({what})"

    def account(self) -> Account:
        """Return all that the ledger holds, at one moment."""
        with self._store.transaction(write=False) as books:
            return self._account(books)

    def _account(self, books: Books) -> Account:
        account = books.read()
        if account is None:
            raise LedgerError(self._store.absent())
        return account


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _store(path: str | os.PathLike[str] | Address) -> Store:
    where = address(path)
    return PostgresStore(where) if isinstance(where, Address) else FileStore(resolved(where))


def _check_budget(name: str, value: object) -> None:
    if not isinstance(value, Budget):
        raise InputError(
            f"{name} must be a Budget, such as Budget(epsilon=1, delta=1e-6); got {shown(value)}."
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
        raise BudgetError(f"delta must be a number from 0 to below 1; got {shown(value)}.")


def _check_keys(budget: Budget | None, delta: float) -> None:
    least = 0.0 if budget is None else 2.0 * budget.keys_delta
    if delta < least:
        raise BudgetError(
            "This is the budget of a release that found out which groups there are, which took "
            f"up to {least:g} of delta: charge that, too, with delta={least:g}."
        )


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise InputError(f"{name} must be a string; got {shown(value)}.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name} must be text that UTF-8 can hold; got {shown(value)}.") from None
    if "\0" in value:
        raise InputError(f"{name} must be text without NUL characters; got {shown(value)}.")
