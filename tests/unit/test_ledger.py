"""The ledger's sums, limits, file and messages; races and kills are in tests/audit."""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import resource
import sqlite3
import stat
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolate import ledger as module
from prolate.budget import Budget
from prolate.errors import BudgetError, InputError, LedgerError
from prolate.ledger import Entry, Ledger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "patients.ledger"


@contextlib.contextmanager
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file behind the ledger's back, without its triggers and checks."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
        connection.execute(f"DROP TRIGGER {name}")
    with contextlib.closing(connection):
        yield connection


def in_child(work: Callable[[], object], *, user: int | None = None) -> str:
    """Run `work` in a fork, as another user if asked, and return what came of it."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # A runner of tests may have threads; the child uses none of their locks.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            if user is not None and os.getuid() == 0:
                os.setuid(user)
            answer = repr(work())
        except BaseException as error:  # noqa: BLE001 (the parent looks at it)
            answer = f"{type(error).__name__}: {error}"
        os.write(writer, answer.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read().decode()
    os.waitpid(child, 0)
    return answer


# -- Creating and opening ---------------------------------------------------------


def test_a_new_ledger_is_empty_private_and_remembers(path: Path) -> None:
    limit = Budget(epsilon=1, delta=1e-6)
    made = Ledger.create(path, limit=limit, dataset="patients")
    again = Ledger(str(path))
    for ledger in (made, again, pickle.loads(pickle.dumps(made))):
        assert ledger.dataset == "patients"
        assert ledger.limit == limit
        assert ledger.spent is None
        assert ledger.remaining == Budget(mu=limit.mu)
        assert ledger.entries() == ()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(path.parent.iterdir()) == [path]


def test_a_ledger_is_never_overwritten(path: Path) -> None:
    Ledger.create(path, limit=Budget(mu=1)).charge(Budget(mu=0.5))
    with pytest.raises(LedgerError, match="exists, and a ledger is never overwritten"):
        Ledger.create(path, limit=Budget(mu=9))
    assert Ledger(path).limit == Budget(mu=1)
    path.with_name("data.csv").write_text("a,b\n")
    with pytest.raises(LedgerError, match="never overwritten"):
        Ledger.create(path.with_name("data.csv"), limit=Budget(mu=9))
    assert path.with_name("data.csv").read_text() == "a,b\n"


def test_a_failed_creation_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_TABLES", "CREATE TABLE ledger (; ")
    with pytest.raises(LedgerError, match="cannot be read or written"):
        Ledger.create(path, limit=Budget(mu=1))
    assert list(path.parent.iterdir()) == []


def test_a_relative_path_is_fixed_when_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ledger = Ledger.create("odd ?name#1%.ledger", limit=Budget(mu=1))
    monkeypatch.chdir("/")
    assert ledger.charge(Budget(mu=0.5)) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["odd ?name#1%.ledger"]


@pytest.mark.parametrize("text", ["", "age,income\n1,2\n", "x" * 5000])
def test_another_file_is_not_a_ledger(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(LedgerError, match="is not a ledger"):
        Ledger(path)
    assert path.read_text() == text


def test_another_database_is_not_a_ledger(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE ledger (budget TEXT)")
    with pytest.raises(LedgerError, match="is not a ledger"):
        Ledger(path)


def test_what_is_absent_is_not_made(path: Path) -> None:
    for absent in (path, path / "deeper" / "x.ledger"):
        with pytest.raises(LedgerError, match=r"There is no ledger at .* make one with"):
            Ledger(absent)
    with pytest.raises(LedgerError, match=r"cannot be opened; it must be a file"):
        Ledger(path.parent)
    with pytest.raises(LedgerError, match=r"Cannot make a ledger .* No such file or directory\."):
        Ledger.create(path / "deeper" / "x.ledger", limit=Budget(mu=1))
    assert list(path.parent.iterdir()) == []


def test_a_ledger_that_vanishes_is_missed(path: Path) -> None:
    ledger = Ledger.create(path, limit=Budget(mu=1))
    path.unlink()
    with pytest.raises(LedgerError, match="There is no ledger"):
        ledger.charge(Budget(mu=0.5))
    assert not path.exists()


def test_wrong_arguments(path: Path) -> None:
    with pytest.raises(InputError, match="limit must be a Budget"):
        Ledger.create(path, limit=1.0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="dataset must be a string"):
        Ledger.create(path, limit=Budget(mu=1), dataset=3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="needs the path of a file"):
        Ledger(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="needs the path of a file"):
        Ledger("a\0b")
    assert not path.exists()
    ledger = Ledger.create(path, limit=Budget(mu=1))
    with pytest.raises(InputError, match="budget must be a Budget"):
        ledger.charge(0.5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="label must be text"):
        ledger.charge(Budget(mu=0.5), "\udc80")
    with pytest.raises(BudgetError, match="positive and finite"):
        ledger.charge(
            Budget.from_dict({"mu": math.nan, "composition": "gdp", "stated": {"mu": 1.0}})
        )
    assert ledger.entries() == ()


# -- Charging ---------------------------------------------------------------------


def test_a_charge_is_an_entry(path: Path) -> None:
    ledger = Ledger.create(path, limit=Budget(mu=2))
    before = datetime.now(UTC) - timedelta(seconds=1)
    assert ledger.charge(Budget(epsilon=1, delta=1e-6), "mean of \N{SNOWMAN}'; --") == 1
    assert ledger.charge(Budget(rho=0.3)) == 2
    first, second = Ledger(path).entries()
    mu = Budget(epsilon=1, delta=1e-6).mu
    assert first == Entry(1, "mean of \N{SNOWMAN}'; --", mu, mu * mu / 2, "gdp", first.time)
    assert (second.id, second.label, second.mu) == (2, "", Budget(rho=0.3).mu)
    assert before <= datetime.fromisoformat(first.time) <= datetime.now(UTC)
    assert datetime.fromisoformat(first.time).utcoffset() == timedelta(0)


def test_squares_add_up(path: Path) -> None:
    ledger = Ledger.create(path, limit=Budget(mu=5))
    ledger.charge(Budget(mu=3))
    assert ledger.spent == Budget(mu=3)
    assert ledger.remaining == Budget(mu=4)
    ledger.charge(Budget(mu=4))
    assert ledger.spent == Budget(mu=5)
    assert ledger.remaining is None
    with pytest.raises(LedgerError, match="nothing more fits"):
        ledger.charge(Budget(mu=0.001))
    assert len(ledger.entries()) == 2


def test_ten_tenths_fit_and_no_eleventh(path: Path) -> None:
    tenth = Budget(rho=0.1)
    ledger = Ledger.create(path, limit=Budget(rho=1.0))
    assert [ledger.charge(tenth) for _ in range(10)] == list(range(1, 11))
    assert ledger.remaining is None
    for more in (tenth, Budget(rho=1e-11)):
        with pytest.raises(LedgerError):
            ledger.charge(more)
    assert len(ledger.entries()) == 10


def test_equal_parts_fit_although_their_floats_add_up_to_more(path: Path) -> None:
    limit = Budget(rho=0.5)
    assert limit.mu == 1
    over = [n for n in range(2, 40) if n * Fraction(Budget(rho=0.5 / n).mu) ** 2 > 1]
    assert over
    parts = over[0]
    ledger = Ledger.create(path, limit=limit)
    for _ in range(parts):
        ledger.charge(Budget(rho=0.5 / parts))
    assert ledger.remaining is None


def test_the_slack_is_a_trillionth_and_no_more(path: Path) -> None:
    for number, (factor, fits) in enumerate([(1 + 0.9e-12, True), (1 + 1.1e-12, False)]):
        ledger = Ledger.create(path.with_suffix(f".{number}"), limit=Budget(rho=1.0))
        asked = Budget(rho=factor)
        if fits:
            ledger.charge(asked)
        else:
            with pytest.raises(LedgerError):
                ledger.charge(asked)


def test_small_charges_are_not_lost_beside_a_large_one(path: Path) -> None:
    # In floats 1e8 + 2.5e-9 == 1e8, so that each of these would look free.
    ledger = Ledger.create(path, limit=Budget(mu=1e4))
    ledger.charge(Budget(mu=1e4))
    small = Budget(mu=5e-5)
    slack = 40_000  # of them are 1e-12 of the limit
    with raw(path) as connection:
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO entries (label, mu, composition, time) VALUES ('', ?, 'gdp', '')",
            [(small.mu.hex(),)] * (slack - 2),
        )
        connection.execute("COMMIT")
    charged = 0
    with contextlib.suppress(LedgerError):
        while charged < 10:
            ledger.charge(small)
            charged += 1
    assert 1 <= charged <= 2


@given(
    limit=st.floats(1e-6, 1e3),
    shares=st.lists(st.tuples(st.floats(1e-3, 1.2), st.booleans()), min_size=1, max_size=6),
)
def test_spent_and_remaining_always_make_the_limit(
    tmp_path_factory: pytest.TempPathFactory,
    limit: float,
    shares: list[tuple[float, bool]],
) -> None:
    ledger = Ledger.create(tmp_path_factory.mktemp("l") / "x", limit=Budget(mu=limit))
    exact = Fraction(0)
    for share, zcdp in shares:
        budget = Budget(mu=limit * share)
        asked = budget.for_zcdp() if zcdp else budget
        would = exact + Fraction(asked.mu) ** 2
        if would <= Fraction(limit) ** 2 * (1 + Fraction(1, 10**12)):
            ledger.charge(asked)
            exact = would
        else:
            with pytest.raises(LedgerError):
                ledger.charge(asked)
    spent, remaining = ledger.spent, ledger.remaining
    total = (spent.rho if spent else 0.0) + (remaining.rho if remaining else 0.0)
    assert total == pytest.approx(limit**2 / 2, rel=3e-12)
    if remaining:
        ledger.charge(remaining)
        assert ledger.remaining is None


# -- Releases that are only zCDP ---------------------------------------------------


def test_one_zcdp_charge_lowers_the_limit_for_all(path: Path) -> None:
    limit = Budget(epsilon=1, delta=1e-6)
    low = limit.for_zcdp()
    assert low.rho < 0.9 * limit.rho
    ledger = Ledger.create(path, limit=limit)
    ledger.charge(Budget(rho=0.5 * low.rho))
    remaining = ledger.remaining
    assert remaining is not None
    assert remaining.composition == "gdp"
    assert remaining.rho == pytest.approx(limit.rho - 0.5 * low.rho)
    # What would fit as a Gaussian release does not fit as a zCDP one.
    with pytest.raises(LedgerError, match="counts in rho because"):
        ledger.charge(remaining.for_zcdp())
    ledger.charge(Budget(rho=0.25 * low.rho).for_zcdp())
    # From here on the lower limit holds for Gaussian releases too.
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
    assert [entry.composition for entry in ledger.entries()] == ["gdp", "zcdp", "gdp"]


def test_a_zcdp_charge_of_the_whole_limit_fits(path: Path) -> None:
    limit = Budget(epsilon=1, delta=1e-6)
    ledger = Ledger.create(path, limit=limit)
    ledger.charge(limit.for_zcdp())
    assert ledger.spent is not None
    assert ledger.spent.rho == pytest.approx(limit.for_zcdp().rho, rel=1e-14)
    assert ledger.remaining is None


def test_no_zcdp_charge_after_gaussians_above_its_limit(path: Path) -> None:
    limit = Budget(epsilon=1, delta=1e-6)
    ledger = Ledger.create(path, limit=limit)
    ledger.charge(Budget(rho=0.95 * limit.rho))
    with pytest.raises(LedgerError, match="nothing more fits"):
        ledger.charge(Budget(rho=1e-9).for_zcdp())
    ledger.charge(Budget(rho=0.04 * limit.rho))


# -- Messages ---------------------------------------------------------------------


def test_a_refusal_says_limit_spent_asked_and_largest(path: Path) -> None:
    ledger = Ledger.create(path, limit=Budget(rho=1.0))
    with pytest.raises(LedgerError) as refused:
        ledger.charge(Budget(mu=2))
    assert str(refused.value) == (
        f"A charge of mu = 2 (rho = 2) exceeds the budget in {path}: the limit is "
        "rho = 1 (mu = 1.414), nothing is spent, and at most mu = 1.41421 (rho = 1) still fits."
    )
    ledger.charge(Budget(rho=0.75))
    with pytest.raises(LedgerError) as refused:
        ledger.charge(Budget(rho=0.5))
    message = str(refused.value)
    assert "mu = 1.22474 (rho = 0.75) is spent" in message
    # What the message says still fits does, as it is printed.
    assert "at most mu = 0.707106 (rho = 0.25) still fits" in message
    ledger.charge(Budget(mu=0.707106))


def test_a_lock_held_too_long(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger.create(path, limit=Budget(mu=1))
    monkeypatch.setattr(module, "_PATIENCE", 0.2)
    with raw(path) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        for use in (lambda: ledger.charge(Budget(mu=0.5)), ledger.entries, lambda: Ledger(path)):
            with pytest.raises(LedgerError, match=r"locked for 0\.2 seconds; try again"):
                use()
        connection.execute("ROLLBACK")
    assert ledger.charge(Budget(mu=0.5)) == 1


def test_a_lock_held_for_a_moment_is_waited_for(path: Path) -> None:
    ledger = Ledger.create(path, limit=Budget(mu=1))
    with contextlib.closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        timer = threading.Timer(0.3, connection.rollback)
        timer.start()
        started = time.monotonic()
        assert ledger.charge(Budget(mu=0.5)) == 1
        assert time.monotonic() - started > 0.25
        timer.join()


def test_a_ledger_that_cannot_be_written(path: Path) -> None:
    # The superuser may write anything, so another user tries.
    ledger = Ledger.create(path, limit=Budget(mu=1))
    ledger.charge(Budget(mu=0.5))
    folder = path.parent
    for part in (folder, *folder.parents[:3]):
        if part.stat().st_uid == os.getuid() and part != Path("/tmp"):
            part.chmod(0o755)
    path.chmod(0o444)
    folder.chmod(0o555)
    try:
        assert "mu=0.5" in in_child(lambda: ledger.spent, user=65534)
        answer = in_child(lambda: ledger.charge(Budget(mu=0.5)), user=65534)
        assert answer.startswith(f"LedgerError: The ledger {path} cannot be written; you need")
        path.chmod(0o000)
        answer = in_child(lambda: ledger.spent, user=65534)
        assert answer.startswith(f"LedgerError: The ledger {path} cannot be opened; it must")
        answer = in_child(lambda: Ledger.create(folder / "new", limit=Budget(mu=1)), user=65534)
        assert answer == f"LedgerError: Cannot make a ledger at {folder}/new: Permission denied."
    finally:
        folder.chmod(0o755)
        path.chmod(0o600)
    assert len(ledger.entries()) == 1


def test_a_disk_that_is_full(path: Path) -> None:
    ledger = Ledger.create(path, limit=Budget(mu=1))
    ledger.charge(Budget(mu=0.1), "before")

    def charge_without_room() -> int:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size,) * 2)
        return ledger.charge(Budget(mu=0.1), "x" * 100_000)

    answer = in_child(charge_without_room)
    assert answer.startswith(f"LedgerError: The ledger {path} cannot be read or written (")
    assert [entry.label for entry in ledger.entries()] == ["before"]

    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    assert module._explain(path, full).startswith(f"The disk of the ledger {path} is full")


# -- Damage -----------------------------------------------------------------------


def spoil_pages(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for start in range(4096, len(content), 4096):
        content[start : start + 64] = b"\xff" * 64
    path.write_bytes(content)


def cut_off(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 4096)


def sql(statement: str) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        with raw(path) as connection:
            connection.execute(statement)

    return spoil


@pytest.mark.parametrize(
    "spoil",
    [
        spoil_pages,
        cut_off,
        sql("DELETE FROM entries WHERE id = 2"),
        sql("DELETE FROM entries WHERE id = 3"),
        sql("DELETE FROM entries"),
        sql("DELETE FROM ledger"),
        sql("UPDATE entries SET mu = 'nan' WHERE id = 2"),
        sql("UPDATE entries SET mu = '-0x1p-2' WHERE id = 2"),
        sql("UPDATE entries SET mu = 'much' WHERE id = 2"),
        sql("UPDATE entries SET mu = x'00' WHERE id = 2"),
        sql("UPDATE entries SET composition = 'free' WHERE id = 2"),
        sql("UPDATE ledger SET budget = '{}'"),
        sql("UPDATE ledger SET budget = '[1]'"),
        sql("UPDATE ledger SET budget = '{'"),
        sql("UPDATE ledger SET budget = replace(budget, '1.0', 'NaN')"),
        sql("UPDATE ledger SET budget = replace(budget, '1.0', '-1.0')"),
    ],
)
def test_a_damaged_ledger_is_refused(path: Path, spoil: Callable[[Path], None]) -> None:
    ledger = Ledger.create(path, limit=Budget(mu=1))
    for _ in range(3):
        ledger.charge(Budget(mu=0.25))
    spoil(path)
    for use in (lambda: ledger.charge(Budget(mu=0.25)), lambda: Ledger(path)):
        with pytest.raises(LedgerError, match=r"is damaged, so what was spent is not known"):
            use()


def test_damage_outside_the_entries_is_seen_when_opening(path: Path) -> None:
    Ledger.create(path, limit=Budget(mu=1))
    sql("UPDATE ledger SET only = 2")(path)
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger(path)


def test_an_entry_cannot_be_changed_by_mistake(path: Path) -> None:
    Ledger.create(path, limit=Budget(mu=1)).charge(Budget(mu=0.5))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for statement in ("DELETE FROM entries", "UPDATE entries SET mu = '0x1p-9'"):
            with pytest.raises(sqlite3.IntegrityError, match="an entry cannot be"):
                connection.execute(statement)


def test_another_format_is_refused(path: Path) -> None:
    Ledger.create(path, limit=Budget(mu=1))
    with raw(path) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(LedgerError, match=r"format 2, and .* reads only format 1"):
        Ledger(path)


# -- Changing the limit -----------------------------------------------------------


def test_the_limit_may_move_but_not_below_what_is_spent(path: Path) -> None:
    ledger = Ledger.create(path, limit=Budget(mu=1))
    ledger.charge(Budget(mu=0.5))
    ledger.set_limit(Budget(mu=0.5))
    assert ledger.limit == Budget(mu=0.5)
    assert ledger.remaining is None
    with pytest.raises(LedgerError, match=r"cannot become mu = 0\.4, because mu = 0\.5 \(rho"):
        ledger.set_limit(Budget(mu=0.4))
    assert Ledger(path).limit == Budget(mu=0.5)
    ledger.set_limit(Budget(epsilon=8, delta=1e-9))
    assert Ledger(path).limit == Budget(epsilon=8, delta=1e-9)
    ledger.charge(Budget(mu=0.5))


def test_the_limit_of_a_zcdp_ledger_is_checked_in_rho(path: Path) -> None:
    ledger = Ledger.create(path, limit=Budget(rho=1.0))
    limit = Budget(epsilon=1, delta=1e-6)
    ledger.charge(Budget(mu=0.99 * limit.mu).for_zcdp())
    with pytest.raises(LedgerError, match="is spent already"):
        ledger.set_limit(limit)
    ledger.set_limit(Budget(mu=limit.mu))


# -- Forks and threads ------------------------------------------------------------


def test_one_ledger_on_both_sides_of_a_fork(path: Path) -> None:
    ledger = Ledger.create(path, limit=Budget(mu=1))
    ledger.charge(Budget(mu=0.1), "parent")
    assert in_child(lambda: ledger.charge(Budget(mu=0.1), "child")) == "2"
    assert ledger.charge(Budget(mu=0.1), "parent") == 3
    assert [entry.label for entry in ledger.entries()] == ["parent", "child", "parent"]


def test_threads_share_one_ledger(path: Path) -> None:
    ledger = Ledger.create(path, limit=Budget(rho=1.0))
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
