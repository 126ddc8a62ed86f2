"""Every change of a limit leaves a trace: by file and by server, also in ledgers of format 4."""

from __future__ import annotations

import contextlib
import dataclasses
import sqlite3
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from prolate.budget import Budget
from prolate.errors import LedgerError
from prolate.ledger import Ledger, LimitChange
from prolate.ledger.account import Account
from prolate.ledger.books import Books
from prolate.ledger.entry import Charge, Promise

SMALL, LARGE = Budget(epsilon=1, delta=1e-6), Budget(epsilon=2, delta=1e-6)


def make_older(path: Path) -> None:
    """Make of a ledger in a file one of format 4, as it was before changes were recorded."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TABLE limits")
        connection.execute("UPDATE ledgers SET version = 4")
        connection.execute("PRAGMA user_version = 4")


def test_every_change_is_recorded_in_order(place: str) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    ledger = Ledger.create(place, limit=SMALL)
    assert ledger.limit_changes() == ()
    ledger.charge(Budget(mu=0.01))
    first = ledger.set_limit(LARGE, keys_delta=2e-7)
    ledger.charge(Budget(mu=0.01))
    second = ledger.set_limit(Budget(epsilon=1.5, delta=1e-6))
    third = Ledger(place).set_limit(Budget(rho=1), keys_delta=0.0)
    assert isinstance(first, LimitChange)
    assert Ledger(place).limit_changes() == (first, second, third)
    assert before <= datetime.fromisoformat(first.time) <= datetime.now(UTC)
    time = first.time
    assert first == LimitChange(1, time, 1, SMALL, LARGE, 0.0, 2e-7)
    assert second == LimitChange(
        2, second.time, 2, LARGE, Budget(epsilon=1.5, delta=1e-6), 2e-7, 2e-7
    )
    assert (third.old, third.new, third.new_keys_delta) == (second.new, Budget(rho=1), 0.0)
    assert len(ledger.entries()) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.charges = 0  # type: ignore[misc]


def test_what_changes_nothing_is_not_recorded(place: str) -> None:
    ledger = Ledger.create(place, limit=SMALL)
    assert ledger.set_limit(Budget(epsilon=1, delta=1e-6)) is None
    ledger.charge(Budget(mu=0.1))
    with pytest.raises(LedgerError, match="is spent already"):
        ledger.set_limit(Budget(mu=0.05))
    assert Ledger(place).limit_changes() == ()
    # The same number in other words is another limit.
    assert ledger.set_limit(Budget(mu=SMALL.mu)) is not None


def test_changes_at_once_are_all_recorded(place: str) -> None:
    ledger = Ledger.create(place, limit=Budget(mu=1))
    limits = [Budget(mu=2 + number / 8) for number in range(8)]
    threads = [threading.Thread(target=ledger.set_limit, args=(limit,)) for limit in limits]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    changes = ledger.limit_changes()
    assert [change.id for change in changes] == list(range(1, 9))
    assert sorted(change.new.mu for change in changes) == [limit.mu for limit in limits]
    old = [change.old for change in changes]
    assert old == [Budget(mu=1), *(change.new for change in changes[:-1])]
    assert ledger.limit == changes[-1].new


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM {limits} WHERE ledger = '{name}'",
        "DELETE FROM {limits} WHERE ledger = '{name}' AND id = 2",
        "UPDATE {limits} SET id = 3 WHERE ledger = '{name}' AND id = 2",
        "UPDATE {limits} SET time = '' WHERE ledger = '{name}' AND id = 1",
        "UPDATE {limits} SET charges = 0 WHERE ledger = '{name}' AND id = 1",
        "UPDATE {limits} SET old_budget = new_budget WHERE ledger = '{name}' AND id = 1",
        "UPDATE {limits} SET new_budget = old_budget WHERE ledger = '{name}' AND id = 1",
        "UPDATE {limits} SET new_budget = '[]' WHERE ledger = '{name}' AND id = 1",
        "UPDATE {limits} SET old_keys_delta = '0x1p-30' WHERE ledger = '{name}' AND id = 1",
        "UPDATE {limits} SET new_keys_delta = 'much' WHERE ledger = '{name}' AND id = 1",
        "UPDATE {ledgers} SET version = 4 WHERE name = '{name}'",
    ],
)
def test_a_change_that_was_changed_is_refused(
    place: str, behind: Callable[..., None], statement: str
) -> None:
    ledger = Ledger.create(place, limit=SMALL)
    ledger.charge(Budget(mu=0.01))
    ledger.set_limit(LARGE)
    ledger.set_limit(SMALL)
    behind(place, statement)
    for use in (ledger.limit_changes, lambda: ledger.set_limit(LARGE), lambda: Ledger(place)):
        with pytest.raises(LedgerError, match="is damaged"):
            use()


def test_changes_cannot_be_removed_by_mistake(place: str, request: Any) -> None:
    Ledger.create(place, limit=SMALL).set_limit(LARGE)
    if "://" in place:
        import psycopg

        for statement in ("DELETE FROM", "TRUNCATE"):
            with pytest.raises(psycopg.Error, match="cannot be changed or removed"):
                request.getfixturevalue("server").run(f"{statement} prolate.limits")
        return
    with contextlib.closing(sqlite3.connect(place)) as connection:
        for statement in ("DELETE FROM limits", "UPDATE limits SET charges = 7"):
            with pytest.raises(sqlite3.IntegrityError, match="an entry cannot be"):
                connection.execute(statement)


# --- formats ----------------------------------------------------------------------------------


def test_the_seal_of_format_4_stays() -> None:
    promise = Promise("replace", "id")
    account = Account("patients", SMALL, keys_delta=2e-7, stated=promise)
    charge = Charge(Budget(rho=0.001), promise, 1e-7)
    account = account.charged(charge, "mean of age", "2026-01-01T00:00:00+00:00")
    assert account.seal() == "c9de8460cfeb0495d6d90da6c2a27e705c897e9399dbbf417509d12fb203216c"
    assert account.limited(SMALL, 2e-7, "").seal() != account.seal()


def test_a_file_of_format_4_records_from_its_next_change(path: Path) -> None:
    ledger = Ledger.create(path, limit=SMALL)
    ledger.charge(Budget(mu=0.01))
    make_older(path)
    ledger.charge(Budget(mu=0.01))
    assert ledger.limit_changes() == ()
    with contextlib.closing(sqlite3.connect(path)) as connection:  # so older programs go on
        assert connection.execute("PRAGMA user_version").fetchone() == (4,)
    change = ledger.set_limit(LARGE)
    ledger.set_limit(SMALL)
    assert change is not None
    assert (change.id, change.charges, change.old, change.new) == (1, 2, SMALL, LARGE)
    assert len(Ledger(path).limit_changes()) == 2
    with contextlib.closing(sqlite3.connect(path)) as connection:  # and refuse it
        assert connection.execute("PRAGMA user_version").fetchone() == (5,)
        with pytest.raises(sqlite3.IntegrityError, match="an entry cannot be"):
            connection.execute("DELETE FROM limits")


def test_a_file_of_format_4_is_renewed_as_a_whole_or_not_at_all(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger.create(path, limit=SMALL)
    make_older(path)
    monkeypatch.setattr(Books, "_head", lambda *account: 1 / 0)  # all else is written
    with pytest.raises(ZeroDivisionError):
        ledger.set_limit(LARGE)
    monkeypatch.undo()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (4,)
    assert (ledger.limit, ledger.limit_changes()) == (SMALL, ())


def test_a_server_of_format_4_records_from_the_next_change(server: Any) -> None:
    import psycopg

    server.run("CREATE DATABASE older", "CREATE ROLE reader LOGIN PASSWORD 'x'")
    server.run("ALTER ROLE reader PASSWORD 'planted-s3cret/password'")
    url, analyst = (
        server.url("one", user=user).replace("/postgres#", "/older#")
        for user in ("prolate", "reader")
    )
    ledger = Ledger.create(url, limit=SMALL)
    with psycopg.connect(url.partition("#")[0], autocommit=True) as connection:
        for statement in (
            "DROP TABLE prolate.limits",
            "UPDATE prolate.ledgers SET version = 4",
            "GRANT USAGE ON SCHEMA prolate TO reader",
            "GRANT SELECT ON prolate.ledgers, prolate.entries TO reader",
            "GRANT INSERT ON prolate.entries TO reader",
            "GRANT UPDATE (seal) ON prolate.ledgers TO reader",
        ):
            connection.execute(statement)
    assert Ledger(analyst).charge(Budget(mu=0.01)) == 1
    assert Ledger(analyst).limit_changes() == ()
    assert ledger.set_limit(LARGE) is not None
    # Who could charge before still can, and sees the change.
    assert Ledger(analyst).charge(Budget(mu=0.01)) == 2
    assert [change.new for change in Ledger(analyst).limit_changes()] == [LARGE]
    with pytest.raises(LedgerError, match="does not allow this user"):
        Ledger(analyst).set_limit(SMALL)
    assert len(Ledger.create(f"{url}-2", limit=SMALL).limit_changes()) == 0


def test_a_later_format_is_not_called_damage(server: Any, path: Path) -> None:
    ledgers = [Ledger.create(where, limit=SMALL) for where in (server.url("later"), path)]
    server.run("UPDATE prolate.ledgers SET version = 6 WHERE name = 'later'")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA user_version = 6")
    for ledger in ledgers:
        with pytest.raises(LedgerError, match=r"of format 6, .* reads only formats 4 and 5; open"):
            ledger.entries()
