"""The tables of a ledger inside one transaction, the same wherever they are kept.

Numbers are stored as text, mu and delta as the hexadecimal floats they are, so that SQLite and
PostgreSQL give back what they were given.  The seal is `Account.seal`, written
together with what it covers.

Ledgers of format 4 record no changes of their limit. They are read as they are, and become of
the present format when their limit is changed, so that no older program, which would leave no
trace, changes it again.
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
from prolate.ledger.limit_change import LimitChange

__all__ = [
    "READABLE",
    "VERSION",
    "Books",
    "Damaged",
    "Newer",
    "limits_table",
    "tables",
    "unreadable",
]

# Of the tables below. None of 1, without seal and machines, 2, without deltas, and 3, without
# what is promised, was published; 4 has no changes of the limit.
VERSION = 5
READABLE = (4, VERSION)


class Damaged(Exception):  # noqa: N818 (a finding, put in words where the place is known)
    """What is stored is not what was written."""


class Newer(Damaged):
    """What is stored is of a format that this version does not know; its only argument."""


@dataclass(frozen=True, kw_only=True)
class Books:
    """What one transaction can do.

    Attributes
    ----------
    execute : callable
        Runs a statement with parameters ``:name`` and returns its rows.
    schema, name : str
        Where the tables are, and which ledger of them is meant.
    renew : callable
        Makes what a ledger of an earlier format lacks, but for its row.
    lock : str
        Added to the first query, so that whoever reads to write excludes the others.
    """

    execute: Callable[[str, dict[str, object]], Sequence[Sequence[Any]]]
    schema: str
    name: str
    renew: Callable[[], None]
    lock: str = ""

    def read(self) -> Account | None:
        """Return everything, or None if there is no such ledger.

        Raises
        ------
        Damaged
            If it is not whole, or is of a later format (`Newer`).
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
        if isinstance(version, int) and version > VERSION:
            raise Newer(version)
        changed = self._changes() if version == VERSION else ()
        try:
            if version not in READABLE:
                raise ValueError("another version")
            limit = Budget.from_dict(json.loads(budget))
            entries = tuple(_entry(*row) for row in rows)
            aside = check_keys_delta(limit, float.fromhex(keys_delta))
            stated = None if neighbors is unit is None else _promise(neighbors, unit)
            changes = tuple(_change(*row) for row in changed)
            account = Account(dataset, limit, entries, aside, stated, changes)
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
        """Write the limit of `account` and its last change, of which all else is written."""
        ((version,),) = self.execute(
            f"SELECT version FROM {self.schema}.ledgers WHERE name = :name",  # noqa: S608
            {"name": self.name},
        )
        if version != VERSION:
            self.renew()
            self.execute(
                f"UPDATE {self.schema}.ledgers SET version = :version WHERE name = :name",  # noqa: S608
                {"name": self.name, "version": VERSION},
            )
        last = account.changes[-1]
        self.execute(
            f"INSERT INTO {self.schema}.limits (ledger, id, time, charges, "  # noqa: S608
            "old_budget, new_budget, old_keys_delta, new_keys_delta) VALUES "
            "(:name, :id, :time, :charges, "
            ":old_budget, :new_budget, :old_keys_delta, :new_keys_delta)",
            {
                "name": self.name,
                "id": last.id,
                "time": last.time,
                "charges": last.charges,
                "old_budget": json.dumps(last.old.to_dict()),
                "new_budget": json.dumps(last.new.to_dict()),
                "old_keys_delta": last.old_keys_delta.hex(),
                "new_keys_delta": last.new_keys_delta.hex(),
            },
        )
        self.execute(
            f"UPDATE {self.schema}.ledgers SET budget = :budget, keys_delta = :keys_delta, "  # noqa: S608
            "seal = :seal WHERE name = :name",
            self._head(account),
        )

    def _changes(self) -> Sequence[Sequence[Any]]:
        return self.execute(
            "SELECT id, time, charges, "  # noqa: S608
            "old_budget, new_budget, old_keys_delta, new_keys_delta "
            f"FROM {self.schema}.limits WHERE ledger = :name ORDER BY id",
            {"name": self.name},
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
    """Return the statements that make the two tables that ledgers of all formats have."""
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


def limits_table(schema: str) -> str:
    """Return the statement that makes the third table, with the changes of limits."""
    return f"""CREATE TABLE {schema}.limits (
    ledger TEXT NOT NULL,
    id INTEGER NOT NULL,
    time TEXT NOT NULL,
    charges INTEGER NOT NULL,
    old_budget TEXT NOT NULL,
    new_budget TEXT NOT NULL,
    old_keys_delta TEXT NOT NULL,
    new_keys_delta TEXT NOT NULL,
    PRIMARY KEY (ledger, id)
)"""


def unreadable(place: object, version: object) -> str:
    """Return the sentence for a ledger of a format that this version does not read."""
    formats = " and ".join(map(str, READABLE))
    return (
        f"{place} is a ledger of format {version}, and this version of Prolate reads only formats "
        f"{formats}; open it with the version that made it, or a later one."
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


def _change(
    number: object, time: object, charges: object, old: str, new: str, aside: str, aside_now: str
) -> LimitChange:
    if not (isinstance(number, int) and isinstance(charges, int) and isinstance(time, str)):
        raise TypeError("a change has no number, charges or time")
    before, now = (Budget.from_dict(json.loads(budget)) for budget in (old, new))
    return LimitChange(
        number, time, charges, before, now, float.fromhex(aside), float.fromhex(aside_now)
    )


def _promise(neighbors: Neighbors, unit: str | None) -> Promise:
    if neighbors not in ("replace", "add-remove") or not isinstance(unit, str | None):
        raise ValueError("nothing is promised")
    return Promise(neighbors, unit)
