"""The command as a process: on a terminal, in a pipe, interrupted."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# The face is replaced: these tests are about terminals, signals and pipes.
STUB = """
import sys, time
import numpy as np
import prolate
from prolate.cli import main
from prolate.release import Release

def mean(data, *, budget, progress, **options):
    if callable(progress):
        for done in range(0, 1001, 100):
            progress("reading", done, 1000)
            time.sleep(0.03)
    if data == "slow":
        print("started", file=sys.stderr, flush=True)
        time.sleep(60)
    d = int(data) if data.isdigit() else 3
    return Release(statistic="mean", estimate=np.zeros(d), columns=[f"c{i}" for i in range(d)],
                   noise_std=np.ones(d), n=10, budget=budget, neighbors="replace", method="auto")

prolate.mean = mean
sys.exit(main())
"""


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    script = tmp_path / "stub.py"
    script.write_text(STUB)
    return [sys.executable, str(script)]


def environment(**more: str) -> dict[str, str]:
    keep = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "NO_COLOR", "COLUMNS")}
    return {**keep, "PYTHONPATH": str(ROOT / "src"), "TERM": "xterm", "LINES": "24", **more}


def on_terminal(arguments: list[str]) -> tuple[int, str]:
    """Run with standard output and error on a pseudo-terminal of 24 lines, 100 columns."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        arguments, stdin=follower, stdout=follower, stderr=follower,
        env=environment(COLUMNS="100"),
    )  # fmt: skip
    os.close(follower)
    chunks = []
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([leader], [], [], 1)[0]:
            try:
                chunk = os.read(leader, 65536)
            except OSError:  # Linux: the other side is closed
                break
            if not chunk:
                break
            chunks.append(chunk)
        elif process.poll() is not None:
            break
    os.close(leader)
    return process.wait(timeout=10), b"".join(chunks).decode()


def test_on_a_terminal_there_is_a_progress_bar(command: list[str]) -> None:
    code, text = on_terminal([*command, "mean", "x", "--mu", "1"])
    assert code == 0
    assert "reading" in text
    assert "1,000 rows" in text
    assert "left out here" not in text


def test_on_a_terminal_a_long_table_is_cut_in_its_middle(command: list[str]) -> None:
    code, text = on_terminal([*command, "mean", "150", "--mu", "1"])
    assert code == 0
    assert "... 130 more ..." in text
    assert "in a pipe or a file every row is printed" in text
    for name, shown in (("c9 ", True), ("c10 ", False), ("c139 ", False), ("c140 ", True)):
        assert (name in text) == shown


def test_in_a_pipe_there_is_only_text(command: list[str]) -> None:
    done = subprocess.run(
        [*command, "mean", "150", "--mu", "1"],
        capture_output=True, text=True, env=environment(), timeout=60, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert done.stdout.count("\nc") == 151  # the header and every column
    assert not any(line != line.rstrip() for line in done.stdout.splitlines())


def test_names_that_a_terminal_cannot_show_do_no_harm(command: list[str]) -> None:
    done = subprocess.run(
        [*command, "mean", "3", "--mu", "1"],
        capture_output=True, text=True, env=environment(PYTHONIOENCODING="ascii"), timeout=60,
        check=True,
    )  # fmt: skip
    assert "? noise" in done.stdout


def test_a_broken_pipe_is_silent(command: list[str]) -> None:
    process = subprocess.Popen(
        [*command, "mean", "5000", "--mu", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 1


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupting_leaves_no_file(
    command: list[str], tmp_path: Path, sent: signal.Signals, code: int
) -> None:
    output = tmp_path / "r.json"
    process = subprocess.Popen(
        [*command, "mean", "slow", "--mu", "1", "-o", str(output)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    assert process.stderr is not None
    assert process.stderr.readline() == "started\n"
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert out == ""
    assert err.strip().splitlines() == [
        "prolate: interrupted; no half-written file is left, and a charged ledger stays charged."
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["stub.py"]
