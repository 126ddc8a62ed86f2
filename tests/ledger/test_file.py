"""A ledger's file: how it is made, who may use it, and the disk it is on."""

from __future__ import annotations

import contextlib
import os
import resource
import sqlite3
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from prolate.budget import Budget
from prolate.errors import InputError, LedgerError
from prolate.ledger import Ledger
from prolate.ledger import file as module

# -- Making and opening -------------------------------------------------------------


def test_a_file_is_private_and_alone(path: Path) -> None:
    Ledger.create(path, limit=Budget(mu=1)).charge(Budget(mu=0.5))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(path.parent.iterdir()) == [path]


def test_no_file_is_overwritten(path: Path) -> None:
    path.write_text("a,b\n")
    with pytest.raises(LedgerError, match="never overwritten"):
        Ledger.create(path, limit=Budget(mu=9))
    assert path.read_text() == "a,b\n"


def test_a_failed_creation_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MACHINES", "CREATE TABLE machines (; ")
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


@pytest.mark.parametrize("path", [3, "a\0b", b"a.ledger", None])
def test_what_is_no_path(path: object) -> None:
    with pytest.raises(InputError, match="needs the path of a file"):
        Ledger(path)  # type: ignore[arg-type]


def test_another_format_is_refused(path: Path) -> None:
    Ledger.create(path, limit=Budget(mu=1))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA user_version = 3")
    with pytest.raises(LedgerError, match=r"format 3, and .* reads only formats 4 and 5"):
        Ledger(path)


# -- Writing ------------------------------------------------------------------------


def test_a_commit_waits_for_the_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Ledger.create(path, limit=Budget(mu=1))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")  # as some tools leave it
    seen = []

    class Connection(sqlite3.Connection):
        def execute(self, statement: str, *parameters: object) -> sqlite3.Cursor:
            if statement == "COMMIT":
                pragmas = ("synchronous", "journal_mode", "fullfsync")
                ask = super().execute
                seen.append([ask(f"PRAGMA {name}").fetchone()[0] for name in pragmas])
            return super().execute(statement, *parameters)

    connect = sqlite3.connect
    monkeypatch.setattr(
        module.sqlite3, "connect", lambda *a, **k: connect(*a, **k, factory=Connection)
    )
    ledger = Ledger(path)
    del seen[:]
    ledger.charge(Budget(mu=0.5))
    ledger.set_limit(Budget(mu=2))
    assert seen == [[3, "delete", 1]] * 2  # 3 is EXTRA


def test_entries_cannot_be_changed_by_mistake(path: Path) -> None:
    Ledger.create(path, limit=Budget(mu=1)).charge(Budget(mu=0.5))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for statement in ("DELETE FROM entries", "UPDATE entries SET mu = '0x1p-9'"):
            with pytest.raises(sqlite3.IntegrityError, match="an entry cannot be"):
                connection.execute(statement)


def test_a_ledger_that_cannot_be_written(path: Path, in_child: Callable[..., str]) -> None:
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


def test_a_file_that_may_not_grow(path: Path, in_child: Callable[..., str]) -> None:
    ledger = Ledger.create(path, limit=Budget(mu=1))
    ledger.charge(Budget(mu=0.1), "before")

    def charge_without_room() -> int:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size,) * 2)
        return ledger.charge(Budget(mu=0.1), "x" * 100_000)

    answer = in_child(charge_without_room)
    assert answer.startswith(f"LedgerError: The ledger {path} cannot be read or written (")
    assert [entry.label for entry in ledger.entries()] == ["before"]


def test_a_disk_that_is_full(small_disk: Path) -> None:
    ledger = Ledger.create(small_disk / "patients.ledger", limit=Budget(mu=9))
    filler = small_disk / "filler"
    charged, refused = [], []
    for free in range(16, -1, -1):  # pages, so that every write of a charge fails once
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass
        os.truncate(filler, max(0, filler.stat().st_size - 4096 * free))
        label = f"{free}" + "x" * 5000
        try:
            ledger.charge(Budget(mu=0.01), label)
        except LedgerError as error:
            refused.append(str(error))
        else:
            charged.append(label)
        with contextlib.suppress(LedgerError):  # it may need room to be read, too
            assert [entry.label for entry in ledger.entries()] == charged
    assert len(charged) >= 3
    assert len(refused) >= 3
    assert all(f"The disk of the ledger {ledger.path} is full" in words for words in refused)
    with pytest.raises(LedgerError, match=r"is full|Cannot make a ledger"):
        Ledger.create(small_disk / "other.ledger", limit=Budget(mu=1))
    assert not (small_disk / "other.ledger").exists()
    filler.unlink()
    assert [entry.label for entry in Ledger(ledger.path).entries()] == charged
    assert ledger.charge(Budget(mu=0.01)) == len(charged) + 1


def test_a_disk_that_is_read_only(small_disk: Path) -> None:
    ledger = Ledger.create(small_disk / "patients.ledger", limit=Budget(mu=9))
    ledger.charge(Budget(mu=1), "before")
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    for change in (lambda: ledger.charge(Budget(mu=1)), lambda: ledger.set_limit(Budget(mu=10))):
        with pytest.raises(LedgerError, match="cannot be written; you need write permission"):
            change()
    assert [entry.label for entry in Ledger(ledger.path).entries()] == ["before"]
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    assert ledger.charge(Budget(mu=1)) == 2
