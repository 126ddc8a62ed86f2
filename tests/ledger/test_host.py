"""A file serves one machine: restarts and containers of it, and no other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import prolate
from prolate.budget import Budget
from prolate.errors import InputError, LedgerError
from prolate.ledger import Ledger
from prolate.ledger import file as module
from prolate.ledger import host as marks
from prolate.ledger.host import Host, meet, this_host

ADA = Host("machine a", "boot a1", "ada")
ADA_AGAIN = Host("machine a", "boot a2", "ada")
EVE = Host("machine e", "boot e1", "eve")
CLONE = Host("machine a", "boot c1", "clone")
BOX = Host("", "boot a1", "3f2a9c")  # a container on ada
BOX_AGAIN = Host("", "boot a2", "77aa01")
MAC = Host("machine m", "", "mac")


@pytest.mark.parametrize(
    ("seen", "here", "met"),
    [
        ([ADA], ADA, "same"),
        ([ADA], BOX, "same"),
        ([BOX], ADA, "same"),
        ([ADA], ADA_AGAIN, "restarted"),
        ([ADA, ADA_AGAIN], ADA_AGAIN, "same"),
        ([ADA, ADA_AGAIN], ADA, "other"),
        ([ADA], EVE, "other"),
        ([ADA, EVE], ADA, "other"),
        ([ADA, EVE], ADA_AGAIN, "other"),
        ([ADA, EVE, ADA], ADA, "same"),
        ([ADA], CLONE, "restarted"),  # the first time it cannot be told
        ([ADA, CLONE], ADA, "other"),
        ([BOX], BOX_AGAIN, "other"),
        ([ADA], BOX_AGAIN, "other"),
        ([MAC], MAC, "same"),
        ([MAC], ADA, "other"),
        ([ADA], MAC, "other"),
        ([Host("", "", "")], Host("", "", ""), "same"),
    ],
)
def test_who_is_who(seen: list[Host], here: Host, met: str) -> None:
    assert meet(seen, here) == met


def test_this_machine_has_marks_that_stay_and_tell_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert this_host() == this_host()
    assert this_host().machine or this_host().boot
    for name in ("boot", "machine"):
        (tmp_path / name).write_text(f"the {name}\n")
    monkeypatch.setattr(marks, "_BOOT", tmp_path / "boot")
    monkeypatch.setattr(marks, "_MACHINE", (tmp_path / "none", tmp_path / "machine"))
    here = this_host()
    assert len({here.machine, here.boot}) == 2
    assert "the" not in here.machine + here.boot
    (tmp_path / "machine").write_text("uninitialized\n")
    monkeypatch.setattr(sys, "platform", "linux")
    assert this_host() == Host("", here.boot, here.name)
    (tmp_path / "boot").unlink()
    monkeypatch.setattr(marks.platform, "node", lambda: "ada")
    assert this_host().machine
    assert this_host().boot == ""


@pytest.fixture
def be(monkeypatch: pytest.MonkeyPatch):
    return lambda host: monkeypatch.setattr(module, "this_host", lambda: host)


def test_another_machine_is_refused_until_it_adopts(path: Path, be) -> None:
    be(ADA)
    ledger = Ledger.create(path, limit=Budget(mu=1))
    ledger.charge(Budget(mu=0.25))
    before = path.read_bytes()
    be(EVE)
    uses = (
        lambda: Ledger(path),
        ledger.entries,
        lambda: ledger.charge(Budget(mu=0.25)),
        lambda: ledger.set_limit(Budget(mu=2)),
    )
    for use in uses:
        with pytest.raises(LedgerError, match=r"another machine, ada; .*ledger adopt"):
            use()
    assert path.read_bytes() == before
    assert Ledger.adopt(path).charge(Budget(mu=0.25)) == 2
    be(ADA)
    with pytest.raises(LedgerError, match="belongs to another machine, eve"):
        ledger.charge(Budget(mu=0.25))


def test_a_restart_is_remembered(path: Path, be) -> None:
    be(ADA)
    ledger = Ledger.create(path, limit=Budget(mu=1))
    be(ADA_AGAIN)
    assert ledger.entries() == ()
    assert [ledger.charge(Budget(mu=0.25)) for _ in range(2)] == [1, 2]
    be(BOX_AGAIN)
    assert ledger.charge(Budget(mu=0.25)) == 3
    be(ADA)  # a boot that is over does not come back: this is a copy of the machine
    with pytest.raises(LedgerError, match="another machine"):
        ledger.charge(Budget(mu=0.25))


def test_another_machine_does_not_undo_what_is_being_written(path: Path, be) -> None:
    # Where locks do not hold, the journal of a transaction that goes on looks like
    # one that a crash left behind, and SQLite would undo it on opening the file.
    import sqlite3

    be(ADA)
    ledger = Ledger.create(path, limit=Budget(mu=1))
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("BEGIN IMMEDIATE")
    for number in range(1, 40):
        connection.execute(
            "INSERT INTO entries VALUES ('', ?, ?, '0x1p-2', 'gdp', '', '0x0p+0', 'replace', NULL)",
            (number, "x" * 3000),
        )
    files = [path, Path(f"{path}-journal")]
    contents = [file.read_bytes() for file in files]
    connection.close()
    for file, content in zip(files, contents, strict=True):
        file.write_bytes(content)
    be(EVE)
    for use in (lambda: Ledger(path), lambda: ledger.charge(Budget(mu=0.25))):
        with pytest.raises(LedgerError, match="another machine"):
            use()
        assert [file.read_bytes() for file in files] == contents
    be(ADA)
    assert ledger.entries() == ()  # here it is a crash, and undone
    assert not files[1].exists()


def test_adopting_has_its_limits(path: Path, server) -> None:
    with pytest.raises(LedgerError, match="There is no ledger"):
        Ledger.adopt(path)
    path.write_text("a,b\n")
    with pytest.raises(LedgerError, match="is not a ledger"):
        Ledger.adopt(path)
    with pytest.raises(InputError, match="belongs to no machine"):
        Ledger.adopt(server.url("adopted"))


@pytest.mark.skipif(
    sys.platform != "linux" or os.getuid() != 0 or not shutil.which("unshare"),
    reason="only the superuser of a Linux machine can make one look like two",
)
def test_two_machines_in_earnest(path: Path, tmp_path: Path) -> None:
    Ledger.create(path, limit=Budget(mu=1)).charge(Budget(mu=0.25))
    (tmp_path / "mark").write_text("0123456789abcdef\n")
    disguise = "".join(
        f"mount --bind {tmp_path}/mark {file} && "
        for file in ("/proc/sys/kernel/random/boot_id", "/etc/machine-id")
        if Path(file).exists()
    )
    script = (
        "import sys; from prolate import Budget, Ledger\n"
        "print(Ledger(sys.argv[1]).charge(Budget(mu=0.25)))"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(prolate.__file__).parents[1])}

    def charge(before: str) -> subprocess.CompletedProcess[str]:
        command = f'{before}exec "$0" -c "$1" "$2"'
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", command, sys.executable, script, str(path)],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )

    here = charge("")
    if "unshare" in here.stderr:
        pytest.skip("this machine does not let the superuser make it look like another")
    assert here.stdout == "2\n"
    there = charge(disguise)
    assert there.returncode == 1
    assert "belongs to another machine" in there.stderr
    assert len(Ledger(path).entries()) == 2
