"""What a ledger does, in a file and on a PostgreSQL server alike."""

from __future__ import annotations

import copy
import os
import pickle
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import prolate
from prolate.budget import Budget
from prolate.curator.rows import Rows
from prolate.errors import BudgetError, InputError, LedgerError
from prolate.ledger import Entry, Ledger, store
from prolate.ledger import ledger as module

ROWS = np.arange(300.0).reshape(100, 3) % 7


def shown(place: str) -> str:
    """Return a place as messages have it."""
    return place if "://" not in place else f"postgresql://prolate@{place.partition('@')[2]}"


# -- Creating and opening ---------------------------------------------------------


def test_a_new_ledger_is_empty_and_remembers(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = Budget(epsilon=1, delta=1e-6)
    made = Ledger.create(place, limit=limit, dataset="patients")
    monkeypatch.setenv("PGPASSWORD", "planted-s3cret/password")  # a pickle holds none
    pickled = pickle.loads(pickle.dumps(made))
    for ledger in (made, Ledger(place), copy.deepcopy(made), pickled):
        assert ledger.dataset == "patients"
        assert ledger.limit == limit
        assert ledger.spent is None
        assert ledger.remaining == Budget(mu=limit.mu)
        assert ledger.entries() == ()
        assert str(ledger.path) == shown(place)
        assert repr(ledger).startswith(f"Ledger({shown(place)!r}")


def test_a_ledger_in_a_file_says_what_is_left(place: str) -> None:
    ledger = Ledger.create(place, limit=Budget(epsilon=2, delta=1e-6))
    ledger.charge(Budget(epsilon=1, delta=1e-6))
    if "://" in place:  # it could take long to reach the server
        assert repr(ledger) == f"Ledger({shown(place)!r})"
        return
    assert repr(ledger) == (
        f"Ledger({place!r}, limit: epsilon = 2, delta = 1e-06 (mu = 0.4484), "
        "spent: epsilon = 1 at delta = 1e-06 (mu = 0.2368, rho = 0.02802), "
        "remaining: epsilon = 1.673 at delta = 1e-06 (mu = 0.3807, rho = 0.07248))"
    )
    Path(place).unlink()
    assert repr(ledger) == f"Ledger({place!r})"
    Path(place).write_text("nothing of a ledger")
    assert repr(ledger) == f"Ledger({place!r})"


def test_a_ledger_is_never_overwritten(place: str) -> None:
    Ledger.create(place, limit=Budget(mu=1)).charge(Budget(mu=0.5))
    with pytest.raises(LedgerError, match="exists, and a ledger is never overwritten"):
        Ledger.create(place, limit=Budget(mu=9))
    assert Ledger(place).limit == Budget(mu=1)


def test_an_absent_ledger_is_not_made(place: str) -> None:
    for _ in range(2):
        with pytest.raises(LedgerError, match=r"There is no ledger at .* make one with"):
            Ledger(place)


def test_wrong_arguments(place: str) -> None:
    with pytest.raises(InputError, match="limit must be a Budget"):
        Ledger.create(place, limit=1.0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="dataset must be a string"):
        Ledger.create(place, limit=Budget(mu=1), dataset=3)  # type: ignore[arg-type]
    with pytest.raises(LedgerError, match="There is no ledger"):
        Ledger(place)
    ledger = Ledger.create(place, limit=Budget(mu=1))
    with pytest.raises(InputError, match="budget must be a Budget"):
        ledger.charge(0.5)  # type: ignore[arg-type]
    for bad in ("\udc80", "a\0b"):
        with pytest.raises(InputError, match="label must be text"):
            ledger.charge(Budget(mu=0.5), bad)
    with pytest.raises(BudgetError, match="positive and finite"):
        ledger.charge(Budget.from_dict({"mu": 0.0, "composition": "gdp", "stated": {"mu": 1.0}}))
    assert ledger.entries() == ()


# -- Charging ---------------------------------------------------------------------


def test_a_charge_is_an_entry(place: str) -> None:
    ledger = Ledger.create(place, limit=Budget(mu=2))
    before = datetime.now(UTC) - timedelta(seconds=1)
    assert ledger.charge(Budget(epsilon=1, delta=1e-6), "mean of \N{SNOWMAN}'; --") == 1
    assert ledger.charge(Budget(rho=0.3)) == 2
    first, second = Ledger(place).entries()
    mu = Budget(epsilon=1, delta=1e-6).mu
    assert first == Entry(1, "mean of \N{SNOWMAN}'; --", mu, mu * mu / 2, "gdp", first.time)
    assert (second.id, second.label, second.mu) == (2, "", Budget(rho=0.3).mu)
    assert before <= datetime.fromisoformat(first.time) <= datetime.now(UTC)
    assert datetime.fromisoformat(first.time).utcoffset() == timedelta(0)


def test_squares_add_up(place: str) -> None:
    ledger = Ledger.create(place, limit=Budget(mu=5))
    ledger.charge(Budget(mu=3))
    assert ledger.spent == Budget(mu=3)
    assert ledger.remaining == Budget(mu=4)
    ledger.charge(Budget(mu=4))
    assert ledger.spent == Budget(mu=5)
    assert ledger.remaining is None
    with pytest.raises(LedgerError, match="nothing more fits"):
        ledger.charge(Budget(mu=0.001))
    assert len(ledger.entries()) == 2


def test_ten_tenths_fit_and_no_eleventh(place: str) -> None:
    tenth = Budget(rho=0.1)
    ledger = Ledger.create(place, limit=Budget(rho=1.0))
    assert [ledger.charge(tenth) for _ in range(10)] == list(range(1, 11))
    assert ledger.remaining is None
    for more in (tenth, Budget(rho=1e-11)):
        with pytest.raises(LedgerError):
            ledger.charge(more)
    assert len(ledger.entries()) == 10


def test_clocks_may_jump(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger.create(place, limit=Budget(rho=1.0))
    moments = (datetime(year, 1, 1, tzinfo=UTC) for year in (2031, 1970, 9999, 1))

    class Clock:
        @staticmethod
        def now(zone: object) -> datetime:
            return next(moments)

    monkeypatch.setattr(module, "datetime", Clock)
    for wrong in (time.time, time.monotonic):
        monkeypatch.setattr(time, wrong.__name__, lambda: -1e9)
    assert [ledger.charge(Budget(rho=0.25), str(turn)) for turn in range(4)] == [1, 2, 3, 4]
    with pytest.raises(LedgerError, match="nothing more fits"):
        ledger.charge(Budget(rho=0.25))
    entries = Ledger(place).entries()
    assert [(entry.label, entry.time[:4]) for entry in entries] == [
        ("0", "2031"), ("1", "1970"), ("2", "9999"), ("3", "0001")
    ]  # fmt: skip


@pytest.mark.parametrize(
    "release",
    [
        lambda **more: prolate.mean(ROWS, budget=Budget(mu=1), **more),
        lambda **more: prolate.mean(ROWS, budget=Budget(mu=1), neighbors="add-remove", **more),
        lambda **more: prolate.sum(ROWS, budget=Budget(mu=1), bounds=(0, 9), **more),
        lambda **more: prolate.variance(ROWS, budget=Budget(mu=1), **more),
        lambda **more: prolate.quantile(ROWS, 0.5, budget=Budget(mu=1), **more),
        lambda **more: prolate.covariance(ROWS, budget=Budget(mu=1), **more),
        lambda **more: prolate.LinearRegression(mu=1, **more).fit(ROWS, ROWS[:, 0]),
    ],
)
def test_nothing_is_measured_before_the_charge_is_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch, release: Callable[..., object]
) -> None:
    ledger = Ledger.create(path, limit=Budget(mu=1))
    happened: list[object] = []
    read = Rows.report  # asked for whenever rows are read

    def watched(rows: Rows, label: str) -> object:
        happened.append(Ledger(path).spent)
        return read(rows, label)

    monkeypatch.setattr(Rows, "report", watched)
    release(ledger=ledger)
    assert happened
    assert set(happened) == {Budget(mu=1)}
    del happened[:]
    with pytest.raises(LedgerError, match="nothing more fits"):
        release(ledger=ledger)
    assert happened == []


def test_a_refused_charge_leaves_no_trace(place: str) -> None:
    ledger = Ledger.create(place, limit=Budget(mu=1))
    ledger.charge(Budget(mu=0.6), "first")
    before = ledger.entries()
    with pytest.raises(LedgerError):
        ledger.charge(Budget(mu=0.9), "second")
    assert ledger.entries() == before
    assert ledger.charge(Budget(mu=0.1), "third") == 2


def test_a_zcdp_charge_at_first_lowers_the_limit_for_all(place: str) -> None:
    limit = Budget(epsilon=1, delta=1e-6)
    low = limit.for_zcdp()
    assert low.rho < 0.9 * limit.rho
    ledger = Ledger.create(place, limit=limit)
    with pytest.raises(LedgerError, match="counts in rho because"):
        ledger.charge(Budget(rho=0.5 * (low.rho + limit.rho)).for_zcdp())
    ledger.charge(Budget(rho=0.75 * low.rho).for_zcdp())
    with pytest.raises(LedgerError, match="counts in rho because"):
        ledger.charge(Budget(rho=0.26 * low.rho))
    spent, remaining = ledger.spent, ledger.remaining
    assert spent is not None
    assert remaining is not None
    assert spent.composition == remaining.composition == "zcdp"
    assert spent.rho == pytest.approx(0.75 * low.rho)
    assert remaining.rho == pytest.approx(0.25 * low.rho)
    ledger.charge(Budget(mu=remaining.mu))
    assert ledger.remaining is None
    assert [entry.composition for entry in ledger.entries()] == ["zcdp", "gdp"]


def test_no_zcdp_charge_after_a_gaussian_one(place: str) -> None:
    ledger = Ledger.create(place, limit=Budget(epsilon=1, delta=1e-6))
    ledger.charge(Budget(rho=1e-4))
    with pytest.raises(LedgerError, match="must be decided before the first release"):
        ledger.charge(Budget(rho=1e-4).for_zcdp())
    assert len(ledger.entries()) == 1


def test_a_refusal_says_limit_spent_asked_and_largest(place: str) -> None:
    ledger = Ledger.create(place, limit=Budget(rho=1.0))
    with pytest.raises(LedgerError) as refused:
        ledger.charge(Budget(mu=2))
    assert str(refused.value) == (
        f"A charge of mu = 2 (rho = 2) exceeds the budget in {shown(place)}: the limit is "
        "rho = 1 (mu = 1.415), nothing is spent, and at most mu = 1.41421 (rho = 1) still fits."
    )
    ledger.charge(Budget(rho=0.75))
    with pytest.raises(LedgerError) as refused:
        ledger.charge(Budget(rho=0.5))
    message = str(refused.value)
    assert "mu = 1.22475 (rho = 0.75) is spent" in message
    # What the message says still fits does, as it is printed.
    assert "at most mu = 0.707106 (rho = 0.25) still fits" in message
    ledger.charge(Budget(mu=0.707106))


def test_the_limit_may_move_but_not_below_what_is_spent(place: str) -> None:
    ledger = Ledger.create(place, limit=Budget(mu=1))
    ledger.charge(Budget(mu=0.5))
    ledger.set_limit(Budget(mu=0.5))
    assert ledger.limit == Budget(mu=0.5)
    assert ledger.remaining is None
    with pytest.raises(LedgerError, match=r"cannot become mu = 0\.4, because mu = 0\.5 \(rho"):
        ledger.set_limit(Budget(mu=0.4))
    assert Ledger(place).limit == Budget(mu=0.5)
    ledger.set_limit(Budget(epsilon=8, delta=1e-9))
    assert Ledger(place).limit == Budget(epsilon=8, delta=1e-9)
    ledger.charge(Budget(mu=0.5))


def test_the_limit_of_a_zcdp_ledger_is_checked_in_rho(place: str) -> None:
    ledger = Ledger.create(place, limit=Budget(rho=1.0))
    limit = Budget(epsilon=1, delta=1e-6)
    ledger.charge(Budget(mu=0.99 * limit.mu).for_zcdp())
    with pytest.raises(LedgerError, match="is spent already"):
        ledger.set_limit(limit)
    ledger.set_limit(Budget(mu=limit.mu))


# -- Others that use it at the same time --------------------------------------------


def test_a_lock_held_too_long(place: str, hold: Callable[..., None], monkeypatch) -> None:
    ledger = Ledger.create(place, limit=Budget(mu=1))
    monkeypatch.setattr(store, "PATIENCE", 0.2)
    with hold(place), pytest.raises(LedgerError, match=r"locked for 0\.2 seconds; try again"):
        ledger.charge(Budget(mu=0.5))
    assert ledger.charge(Budget(mu=0.5)) == 1


def test_a_lock_held_for_a_moment_is_waited_for(place: str, hold: Callable[..., None]) -> None:
    ledger = Ledger.create(place, limit=Budget(mu=1))
    with hold(place, seconds=0.5):
        started = time.monotonic()
        assert ledger.charge(Budget(mu=0.5)) == 1
        assert time.monotonic() - started > 0.2


def test_one_ledger_on_both_sides_of_a_fork(place: str, in_child: Callable[..., str]) -> None:
    ledger = Ledger.create(place, limit=Budget(mu=1))
    ledger.charge(Budget(mu=0.1), "parent")
    assert in_child(lambda: ledger.charge(Budget(mu=0.1), "child")) == "2"
    assert ledger.charge(Budget(mu=0.1), "parent") == 3
    assert [entry.label for entry in ledger.entries()] == ["parent", "child", "parent"]


def test_threads_share_one_ledger(place: str) -> None:
    ledger = Ledger.create(place, limit=Budget(rho=1.0))
    refused: list[str] = []

    def spend() -> None:
        try:
            for _ in range(3):
                ledger.charge(Budget(rho=0.1))
        except LedgerError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ledger.entries()) == 10
    assert refused
    assert all("nothing more fits" in message for message in refused)


def test_no_fork_happens_within_an_operation(place: str, hold: Callable[..., None]) -> None:
    ledger = Ledger.create(place, limit=Budget(mu=1))
    done: list[int] = []
    with hold(place, seconds=0.6):
        thread = threading.Thread(target=lambda: done.append(ledger.charge(Budget(mu=0.1))))
        thread.start()
        time.sleep(0.2)  # the thread waits for the lock now
        assert done == []
        child = os.fork()
        if child == 0:
            os._exit(0 if done else 1)  # the fork had to wait for the charge
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        thread.join()


# -- Deltas ---------------------------------------------------------------------------


def test_deltas_are_kept_and_refused(place: str) -> None:
    limit = Budget(epsilon=1, delta=1e-6)
    with pytest.raises(BudgetError, match="keys_delta"):
        Ledger.create(place, limit=limit, keys_delta=1e-6)
    ledger = Ledger.create(place, limit=limit, keys_delta=1e-7)
    assert ledger.charge(Budget(mu=0.01), "counts by ward", delta=6e-8) == 1
    for again in (ledger, Ledger(place)):
        assert (again.keys_delta, again.spent_delta) == (1e-7, 6e-8)
        assert [entry.delta for entry in again.entries()] == [6e-8]
        with pytest.raises(LedgerError, match=r"sets aside for that, delta = 4e-08 is left"):
            again.charge(Budget(mu=0.01), delta=6e-8)
        assert again.spent == Budget(mu=0.01).with_keys(6e-8)
        with pytest.raises(BudgetError, match="Nothing is guaranteed at a delta of 1e-09"):
            again.spent.epsilon_at(1e-9)
    assert ledger.charge(Budget(mu=0.01)) == 2
    with pytest.raises(LedgerError, match=r"for finding groups, is spent already"):
        ledger.set_limit(Budget(epsilon=1, delta=1e-6), keys_delta=5e-8)
    with pytest.raises(BudgetError, match="keys_delta"):
        ledger.set_limit(Budget(rho=1))
    ledger.set_limit(Budget(epsilon=1, delta=1e-5))
    assert ledger.keys_delta == 1e-7
    ledger.set_limit(Budget(epsilon=1, delta=1e-5), keys_delta=2e-7)
    ledger.charge(Budget(mu=0.01), delta=6e-8)
    with pytest.raises(LedgerError, match="of which delta = 2e-07 is for finding groups"):
        ledger.charge(Budget(mu=1))
    for wrong in (-1e-9, 1.0, float("nan"), "1e-9", True):
        with pytest.raises(BudgetError, match="delta must be"):
            ledger.charge(Budget(mu=0.01), delta=wrong)  # type: ignore[arg-type]
    assert len(ledger.entries()) == 3


def test_the_budget_of_groups_that_were_found_is_charged_with_its_delta(tmp_path: Path) -> None:
    rows = pa.table({"g": ["a"] * 3000 + ["b"] * 3000, "v": np.arange(6000.0)})
    made = prolate.mean(rows, by="g", budget=Budget(epsilon=1, delta=1e-6))
    ledger = Ledger.create(
        tmp_path / "a.ledger", limit=Budget(epsilon=2, delta=1e-5), keys_delta=1e-6
    )
    for delta in (0.0, 0.5e-6):
        with pytest.raises(BudgetError, match="delta=1e-06"):
            ledger.charge(made.budget, delta=delta)
    assert ledger.spent is None
    assert ledger.charge(made.budget, delta=1e-6) == 1
    assert prolate.mean(rows, columns=["v"], budget=made.budget, ledger=ledger).n == 6000
    assert [entry.delta for entry in ledger.entries()] == [1e-6, 0.0]


def test_a_ledger_that_sets_nothing_aside_says_what_to_do(place: str) -> None:
    ledger = Ledger.create(place, limit=Budget(rho=1))
    with pytest.raises(LedgerError, match=r"sets none aside.*keys_delta.*give the groups: keys="):
        ledger.charge(Budget(mu=0.01), delta=1e-9)
    assert ledger.entries() == ()


# -- Promises -------------------------------------------------------------------------


def test_the_first_charge_decides_what_is_promised(place: str) -> None:
    ledger = Ledger.create(place, limit=Budget(mu=1))
    assert (ledger.neighbors, ledger.unit) == (None, None)
    assert ledger.charge(Budget(mu=0.1), neighbors="add-remove", unit="id") == 1
    for again in (ledger, Ledger(place)):
        assert (again.neighbors, again.unit) == ("add-remove", "id")
        for other in ({}, {"unit": "id"}, {"neighbors": "add-remove"}):
            with pytest.raises(LedgerError, match=r"hide whether one person \(id\) is there, and"):
                again.charge(Budget(mu=0.1), **other)
    assert ledger.charge(Budget(mu=0.1), neighbors="add-remove", unit="id") == 2
    assert {(entry.neighbors, entry.unit) for entry in ledger.entries()} == {("add-remove", "id")}


def test_what_is_promised_can_be_stated_beforehand(place: str) -> None:
    ledger = Ledger.create(place, limit=Budget(mu=1), unit="\N{SNOWMAN}'; --")
    for again in (ledger, Ledger(place)):
        assert (again.neighbors, again.unit) == ("replace", "\N{SNOWMAN}'; --")
        with pytest.raises(LedgerError, match="is for releases that hide what one person"):
            again.charge(Budget(mu=0.1))
    ledger.set_limit(Budget(mu=2))
    assert ledger.unit == "\N{SNOWMAN}'; --"
    assert ledger.charge(Budget(mu=0.1), unit="\N{SNOWMAN}'; --") == 1


def test_wrong_promises(place: str) -> None:
    wrongs = (
        {"neighbors": "swap"},
        {"unit": 3},
        {"unit": " "},
        {"unit": "a\0b"},
        {"neighbors": ["replace"]},
    )
    for wrong in wrongs:
        with pytest.raises(InputError, match=r"neighbors must be|unit must be"):
            Ledger.create(place, limit=Budget(mu=1), **wrong)  # type: ignore[arg-type]
    ledger = Ledger.create(place, limit=Budget(mu=1))
    for wrong in wrongs:
        with pytest.raises(InputError, match=r"neighbors must be|unit must be"):
            ledger.charge(Budget(mu=0.1), **wrong)  # type: ignore[arg-type]
    assert ledger.entries() == ()


def test_what_costs_nothing_is_an_entry(place: str) -> None:
    ledger = Ledger.create(place, limit=Budget(mu=1))
    assert ledger.charge(None, "count of rows") == 1
    assert (ledger.spent, ledger.neighbors) == (None, "replace")
    assert ledger.charge(Budget(mu=1)) == 2
    assert ledger.charge(None) == 3
    assert ledger.spent == Budget(mu=1)


def test_entries_say_which_columns_were_released_and_that_a_seed_is_not_private(
    tmp_path: Path,
) -> None:
    book = Ledger.create(tmp_path / "p.ledger", limit=Budget(mu=9))
    rows = np.random.default_rng(1).normal(size=(2000, 6))
    prolate.mean(rows[:, :1], budget=Budget(mu=1), ledger=book)
    prolate.variance(rows, budget=Budget(mu=1), ledger=book, seed=0)
    prolate.count(rows, budget=Budget(mu=1), ledger=book)
    assert [entry.label for entry in book.entries()] == [
        "mean of x0",
        "variance of x0, x1, x2, x3 and 2 more (seeded: NOT PRIVATE)",
        "count of rows",
    ]
