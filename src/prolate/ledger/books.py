"""The two tables of a ledger inside one transaction, the same wherever they are kept.

Numbers are stored as text, mu and delta as the hexadecimal floats they are, so that SQLite and
PostgreSQL give back what they were given.  The seal is `Account.seal`, written
together with what it covers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from prolate.budget import Budget, Composition, Neighbors
from prolate.errors import BudgetError
from prolate.ledger.account import Account, check_keys_delta
from prolate.ledger.entry import Entry, Promise

__all__ = ["VERSION", "Books", "Damaged", "tables"]

# Of the tables below. None of 1, without seal and machines, 2, without deltas, and 3, without
# what is promised, was published.
VERSION = 4


class Damaged(Exception):  # noqa: N818 (a finding, put in words where the place is known)
    """What is stored is not what was written."""


@dataclass(frozen=True, kw_only=True)
class Books:
    """What one transaction can do.

    Attributes
    ----------
    execute : callable
        Runs a statement with parameters ``:name`` and returns its rows.
    schema, name : str
        Where the tables are, and which ledger of them is meant.
    lock : str
        Added to the first query, so that whoever reads to write excludes the others.
    """

    execute: Callable[[str, dict[str, object]], Sequence[Sequence[Any]]]
    schema: str
    name: str
    lock: str = ""

    def read(self) -> Account | None:
        """Return everything, or None if there is no such ledger.

        Raises
        ------
        Damaged
            If it is not whole.
        """
        head = self.execute(
            "SELECT version, dataset, budget, keys_delta, neighbors, unit, seal "  # noqa: S608
            f"FROM {self.schema}.ledgers WHERE name = :name{self.lock}",
            {"name": self.name},
        )
        if not head:
            return None
        rows = self.execute(
            "SELECT id, label, mu, composition, time, delta, neighbors, unit "  # noqa: S608
            f"FROM {self.schema}.entries WHERE ledger = :name ORDER BY id",
            {"name": self.name},
        )
        ((version, dataset, budget, keys_delta, neighbors, unit, seal),) = head
        try:
            if version != VERSION:
                raise ValueError("another version")
            limit = Budget.from_dict(json.loads(budget))
            entries = tuple(_entry(*row) for row in rows)
            aside = check_keys_delta(limit, float.fromhex(keys_delta))
            stated = None if neighbors is unit is None else _promise(neighbors, unit)
            account = Account(dataset, limit, entries, aside, stated)
            if account.seal() != seal:
                raise ValueError("something was changed")
        except (ArithmeticError, AttributeError, BudgetError, TypeError, ValueError) as error:
            raise Damaged from error
        return account

    def open(self, account: Account) -> None:
        """Write a new ledger."""
        self.execute(
            f"INSERT INTO {self.schema}.ledgers "  # noqa: S608
            "(name, version, dataset, budget, keys_delta, neighbors, unit, seal) VALUES "
            "(:name, :version, :dataset, :budget, :keys_delta, :neighbors, :unit, :seal)",
            {
                "version": VERSION,
                "dataset": account.dataset,
                "neighbors": None if account.stated is None else account.stated.neighbors,
                "unit": None if account.stated is None else account.stated.unit,
                **self._head(account),
            },
        )

    def add(self, account: Account) -> None:
        """Write the last entry of `account`, of which all others are written."""
        last = account.entries[-1]
        self.execute(
            f"INSERT INTO {self.schema}.entries "  # noqa: S608
            "(ledger, id, label, mu, composition, time, delta, neighbors, unit) VALUES "
            "(:name, :id, :label, :mu, :composition, :time, :delta, :neighbors, :unit)",
            {
                "name": self.name,
                "id": last.id,
                "label": last.label,
                "mu": last.mu.hex(),
                "composition": last.composition,
                "time": last.time,
                "delta": last.delta.hex(),
                "neighbors": last.neighbors,
                "unit": last.unit,
            },
        )
        self.execute(
            f"UPDATE {self.schema}.ledgers SET seal = :seal WHERE name = :name",  # noqa: S608
            {"name": self.name, "seal": account.seal()},
        )

    def set_limit(self, account: Account) -> None:
        """Write the limit of `account`, of which all else is written."""
        self.execute(
            f"UPDATE {self.schema}.ledgers SET budget = :budget, keys_delta = :keys_delta, "  # noqa: S608
            "seal = :seal WHERE name = :name",
            self._head(account),
        )

    def _head(self, account: Account) -> dict[str, object]:
        budget = json.dumps(account.limit.to_dict())
        return {
            "name": self.name,
            "budget": budget,
            "keys_delta": account.keys_delta.hex(),
            "seal": account.seal(),
        }


def tables(schema: str) -> tuple[str, ...]:
    """Return the statements that make the two tables."""
    return (
        f"""CREATE TABLE {schema}.ledgers (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    dataset TEXT NOT NULL,
    budget TEXT NOT NULL,
    keys_delta TEXT NOT NULL,
    neighbors TEXT,
    unit TEXT,
    seal TEXT NOT NULL
)""",
        f"""CREATE TABLE {schema}.entries (
    ledger TEXT NOT NULL,
    id INTEGER NOT NULL,
    label TEXT NOT NULL,
    mu TEXT NOT NULL,
    composition TEXT NOT NULL CHECK (composition IN ('gdp', 'zcdp')),
    time TEXT NOT NULL,
    delta TEXT NOT NULL,
    neighbors TEXT NOT NULL,
    unit TEXT,
    PRIMARY KEY (ledger, id)
)""",
    )


def _entry(
    number: object,
    label: object,
    mu: str,
    composition: Composition,
    time: object,
    delta: str,
    neighbors: Neighbors,
    unit: str | None,
) -> Entry:
    exact, failing = float.fromhex(mu), float.fromhex(delta)
    if not (math.isfinite(exact) and exact >= 0.0 and 0.0 <= failing < 1.0):
        raise ValueError("an entry has no cost")
    if composition not in ("gdp", "zcdp"):
        raise ValueError("an entry has no composition")
    if not (isinstance(number, int) and isinstance(label, str) and isinstance(time, str)):
        raise TypeError("an entry has no number, label or time")
    _promise(neighbors, unit)
    rho = 0.5 * exact * exact
    return Entry(number, label, exact, rho, composition, time, failing, neighbors, unit)


def _promise(neighbors: Neighbors, unit: str | None) -> Promise:
    if neighbors not in ("replace", "add-remove") or not isinstance(unit, str | None):
        raise ValueError("nothing is promised")
    return Promise(neighbors, unit)
