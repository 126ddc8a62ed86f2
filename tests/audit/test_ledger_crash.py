"""Processes that race for the last of a budget, and processes killed at any point.

Each scenario runs in a fresh interpreter without threads, which forks the
processes that spend.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import prolate
from prolate.budget import Budget
from prolate.ledger import Ledger

SOURCE = str(Path(prolate.__file__).parents[1])

RACE = """
import os, sys
from prolate.budget import Budget
from prolate.errors import LedgerError
from prolate.ledger import Ledger

path, processes = sys.argv[1], int(sys.argv[2])
ledger = Ledger(path)
fiftieth = Budget(rho=0.02)
start, ready = os.pipe()
children = []
for number in range(processes):
    child = os.fork()
    if child == 0:
        os.close(ready)
        os.read(start, 1)  # all begin when the parent closes its end
        failure = ""
        try:
            for turn in range(50):
                ledger.charge(fiftieth, f"{number}.{turn}")
        except LedgerError as error:
            failure = str(error)
        os._exit(0 if "nothing more fits" in failure else 1)
    children.append(child)
os.close(ready)
print(*(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
"""

# Two processes spend as fast as they can; each writes a line only after its
# charge returned.  Both are killed at a random moment, again and again, until
# enough kills struck between charges that returned.  How long a charge takes
# depends on the disk, so they live longer where none returned.
KILL = """
import os, random, signal, sys, time
from prolate.budget import Budget
from prolate.ledger import Ledger

path, side, kills = sys.argv[1], sys.argv[2], int(sys.argv[3])
ledger = Ledger(path)
small = Budget(mu=0.01)
torn = turn = written = 0
longest = 0.06
while turn < kills or written <= 40 * kills:  # a line has at most 40 bytes
    children = []
    for number in range(2):
        child = os.fork()
        if child == 0:
            line = os.open(side, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            for count in range(1_000_000):
                label = f"{turn}.{number}.{count}"
                os.write(line, f"{ledger.charge(small, label)} {label}\\n".encode())
        children.append(child)
    time.sleep(random.uniform(0.0, longest))
    for child in children:
        os.kill(child, signal.SIGKILL)
    ended = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert ended == [-signal.SIGKILL] * 2, ended
    torn += os.path.exists(path + "-journal")  # killed within a transaction
    turn, before = turn + 1, written
    written = os.path.getsize(side) if os.path.exists(side) else 0
    longest *= 1.5 if written == before else 1.0
print(turn, torn)
"""


def run(script: str, *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": SOURCE},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_racing_processes_take_exactly_what_fits(tmp_path: Path) -> None:
    path = tmp_path / "raced.ledger"
    limit = Budget(rho=1.0)
    ledger = Ledger.create(path, limit=limit)
    assert run(RACE, path, 8).split() == ["0"] * 8  # each was refused in the end
    entries = ledger.entries()
    assert len(entries) == 50
    assert len({entry.label for entry in entries}) == 50
    assert sum(entry.rho for entry in entries) <= limit.rho * (1 + 1e-12)
    assert ledger.remaining is None


@pytest.mark.parametrize("kills", [30, pytest.param(200, marks=pytest.mark.long)])
def test_no_charge_is_forgotten_when_processes_are_killed(tmp_path: Path, kills: int) -> None:
    path, side = tmp_path / "killed.ledger", tmp_path / "returned.txt"
    Ledger.create(path, limit=Budget(mu=100))
    killed, torn = map(int, run(KILL, path, side, kills).split())
    ledger = Ledger(path)  # checks the file's integrity, and that no number is missing
    charged = {f"{entry.id} {entry.label}" for entry in ledger.entries()}
    returned = side.read_text().splitlines()
    print(f"{killed} kills, {torn} within a transaction; {len(returned)} charges returned")
    assert len(returned) > kills
    assert set(returned) <= charged
    # A kill between a commit and the line that reports it wastes one charge a process.
    assert len(charged) - len(returned) <= 2 * killed
    assert ledger.charge(Budget(mu=0.01)) == len(charged) + 1
