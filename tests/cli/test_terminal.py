"""The command as a process: on a terminal, in a pipe, interrupted."""

from __future__ import annotations

import os
import pty
import resource
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import prolate
from prolate import Release

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
    if data in ("slow", "told"):
        print("started", file=sys.stderr, flush=True)
        time.sleep(60) if data == "slow" else sys.stdin.read()
    if data == "quick":
        print("made", file=sys.stderr, flush=True)
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


@pytest.mark.parametrize(
    ("options", "label", "total"),
    [
        ({}, "magnitude", 900),
        ({"neighbors": "add-remove"}, "magnitude", None),
        ({"by": "ward", "keys": ["a", "b"]}, "rows of all groups", None),
        ({"by": "ward", "keys": ["a", "b"]}, "groups", 2),
    ],
)
def test_a_bar_has_no_part_where_the_number_of_rows_is_private(
    options, label, total, monkeypatch
) -> None:
    """Of how many rows a block is a part told how many there are."""
    totals = {}

    class Bar:
        def __init__(self, *columns, **options) -> None: ...

        def __enter__(self):
            return self

        def __exit__(self, *error) -> None: ...

        def add_task(self, label, *, total, rows):
            totals[label] = total
            return label

        def update(self, task, *, completed, total, rows) -> None:
            totals[task] = totals[task] or total

    monkeypatch.setattr("rich.progress.Progress", Bar)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    table = pa.table({"x": np.arange(900.0), "ward": ["a", "b", "b"] * 300})
    prolate.mean(table, columns="x", budget=prolate.Budget(mu=1), progress=True, **options)
    assert totals[label] == total


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


def test_a_reader_that_has_enough_is_no_fault(command: list[str]) -> None:
    for words in ([], ["--json"]):
        process = subprocess.Popen(
            [*command, "mean", "5000", "--mu", "1", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(timeout=60) == 141  # as of programs that SIGPIPE ends


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_release_that_does_not_fit_is_on_standard_error(
    command: list[str], tmp_path: Path, unbuffered: str
) -> None:
    with (tmp_path / "r.json").open("w") as file:
        done = subprocess.run(
            [*command, "mean", "5000", "--mu", "1", "--json"],
            stdout=file, stderr=subprocess.PIPE, text=True, check=False,
            env=environment(PYTHONUNBUFFERED=unbuffered),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, 1 << 14)),
        )  # fmt: skip
    assert done.returncode == 2
    assert Release.from_json(done.stderr[: done.stderr.rindex("}") + 1]).n == 10
    assert "prolate: The release cannot be printed (File too large)." in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is full")
def test_what_cannot_be_written_is_said_once(command: list[str]) -> None:
    """A short table waits in Python's buffer, and Python writes that at exit."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*command, "mean", "3", "--mu", "1"],
            stdout=full, stderr=subprocess.PIPE, text=True, env=environment(), check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert Release.from_json(done.stderr[: done.stderr.rindex("}") + 1]).n == 10
    assert len(done.stderr[done.stderr.rindex("}") :].splitlines()) == 2  # one sentence


def test_nothing_is_released_where_nobody_reads(command: list[str], tmp_path: Path) -> None:
    def run(*words: str) -> tuple[int, str]:
        reads, writes = os.pipe()
        os.close(reads)
        process = subprocess.run(
            [*command, "mean", "quick", "--mu", "1", *words],
            stdout=writes, stderr=subprocess.PIPE, text=True, env=environment(), check=False,
        )  # fmt: skip
        os.close(writes)
        return process.returncode, process.stderr

    code, said = run()
    assert (code, len(said.splitlines())) == (2, 1)
    assert said.startswith("prolate: Nobody reads standard output any more, so nothing is released")
    assert run("-o", str(tmp_path / "r.json")) == (141, "made\n")
    assert Release.from_json(tmp_path / "r.json").n == 10


def test_a_release_that_nobody_waited_for_is_on_standard_error(command: list[str]) -> None:
    process = subprocess.Popen(
        [*command, "mean", "told", "--mu", "1"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment(),
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stderr.readline() == "started\n"
    process.stdout.close()
    process.stdin.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 2
    assert Release.from_json(said[: said.rindex("}") + 1]).n == 10
    assert "prolate: The release cannot be printed (nobody reads standard output). It is" in said


LOADING = """
import os, signal, sys
from prolate.cli import main
assert not {"numpy", "click"} & sys.modules.keys()  # or there would be no moment to be ready for

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
sys.exit(main(["demo"]))
"""


def test_interrupting_while_it_loads_needs_no_words(tmp_path: Path) -> None:
    script = tmp_path / "prolate"  # as it is called where it is installed
    script.write_text(LOADING)
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True, text=True, env=environment(), timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


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
