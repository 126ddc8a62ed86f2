"""Fifty processes at once, processes killed at any point, servers that crash.

Each scenario runs in a fresh interpreter without threads, which forks the
processes that spend.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

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

place, processes, parts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ledger = Ledger(place)
part = Budget(rho=1 / parts)
start, ready = os.pipe()
children = []
for number in range(processes):
    child = os.fork()
    if child == 0:
        os.close(ready)
        os.read(start, 1)  # all begin when the parent closes its end
        failure, turn = "", 0
        while turn <= parts and (not failure or "try again" in failure):  # waiting may be long
            try:
                ledger.charge(part, f"{number}.{turn}")
                turn += 1
            except LedgerError as error:
                failure = str(error)
        if "nothing more fits" not in failure:
            print(failure, file=sys.stderr, flush=True)
        os._exit(0 if "nothing more fits" in failure else 1)
    children.append(child)
os.close(ready)
print(*(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
"""

# Two processes spend as fast as they can; each writes a line only after its
# charge returned, and so before anything could be released.  Both are killed at
# a random moment, again and again, until enough kills struck between charges that
# returned.  How long a charge takes depends on the disk, so they live longer
# after a turn in which none returned, and shorter after any other.
KILL = """
import os, random, signal, sys, time
from prolate.budget import Budget
from prolate.ledger import Ledger

place, side, kills = sys.argv[1], sys.argv[2], int(sys.argv[3])
ledger = Ledger(place)
small = Budget(mu=0.01)
killed = torn = written = 0
longest = 0.06
while killed < kills or written <= 20 * kills:  # a line has at most 40 bytes
    children = []
    for number in range(2):
        child = os.fork()
        if child == 0:
            line = os.open(side, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            for count in range(1_000_000):
                label = f"{killed}.{number}.{count}"
                os.write(line, f"{ledger.charge(small, label)} {label}\\n".encode())
        children.append(child)
    time.sleep(random.uniform(0.0, longest))
    for child in children:
        os.kill(child, signal.SIGKILL)
    ended = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert ended == [-signal.SIGKILL] * 2, ended
    torn += os.path.exists(place + "-journal")  # killed within a transaction
    killed, before = killed + 2, written
    written = os.path.getsize(side) if os.path.exists(side) else 0
    longest *= 1.5 if written == before else 0.9
print(killed, torn)
"""

# One process spends until the server is gone.
SPEND = """
import sys
from prolate.budget import Budget
from prolate.errors import LedgerError
from prolate.ledger import Ledger

ledger = Ledger(sys.argv[1])
try:
    while True:
        print(ledger.charge(Budget(mu=0.01)), flush=True)
except LedgerError:
    pass
"""


def run(script: str, *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env={**os.environ, "PYTHONPATH": SOURCE},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("parts", [60, pytest.param(500, marks=pytest.mark.long)])
def test_fifty_processes_take_exactly_what_fits(place: str, parts: int) -> None:
    limit = Budget(rho=1.0)
    ledger = Ledger.create(place, limit=limit)
    assert run(RACE, place, 50, parts).split() == ["0"] * 50  # each was refused in the end
    entries = ledger.entries()
    assert len(entries) == parts
    assert len({entry.label for entry in entries}) == parts
    assert sum(entry.rho for entry in entries) <= limit.rho * (1 + 1e-12)
    assert ledger.remaining is None


@pytest.mark.parametrize("kills", [20, pytest.param(400, marks=pytest.mark.long)])
def test_no_charge_is_forgotten_when_processes_are_killed(
    place: str, tmp_path: Path, kills: int
) -> None:
    side = tmp_path / "returned.txt"
    Ledger.create(place, limit=Budget(mu=100))
    killed, torn = map(int, run(KILL, place, side, kills).split())
    ledger = Ledger(place)
    ledger.charge(Budget(mu=0.01))  # behind whatever a killed process left with the server
    charged = {f"{entry.id} {entry.label}" for entry in ledger.entries()}
    returned = side.read_text().splitlines()
    print(f"{killed} kills, {torn} within a transaction; {len(returned)} charges returned")
    assert len(returned) > kills / 2
    assert set(returned) <= charged
    # A kill between a commit and the line that reports it wastes one charge a process.
    assert len(charged) - 1 - len(returned) <= killed


@pytest.mark.parametrize("crashes", [2, pytest.param(40, marks=pytest.mark.long)])
def test_no_charge_is_forgotten_when_the_server_crashes(server: Any, crashes: int) -> None:
    url = server.url(f"crashed-{crashes}")
    ledger = Ledger.create(url, limit=Budget(mu=100))
    # Elsewhere, a commit may return before it is on the disk; here it may not.
    server.run("ALTER ROLE prolate SET synchronous_commit = off")
    returned: list[int] = []
    try:
        for _ in range(crashes):
            server.crash()
            server.start(wal_writer_delay="10s")
            with subprocess.Popen(
                [sys.executable, "-c", SPEND, url],
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": SOURCE},
            ) as spender:
                assert spender.stdout is not None
                returned += [int(spender.stdout.readline()) for _ in range(3)]
                time.sleep(0.1)
                server.crash()
                returned += map(int, spender.stdout.read().split())
            server.start()
    finally:
        server.run("ALTER ROLE prolate RESET synchronous_commit")
    charged = [entry.id for entry in ledger.entries()]
    print(f"{crashes} crashes; {len(returned)} charges returned, {len(charged)} are kept")
    assert len(set(returned)) == len(returned)
    assert set(returned) <= set(charged)
    assert len(charged) - len(returned) <= crashes
