"""`prolate reproduce`: what it prints, what it writes, what it refuses."""

from __future__ import annotations

import csv
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from prolate import papers
from prolate.cli import main

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.delenv("PROLATE_DEBUG", raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main(["reproduce", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_list_names_every_figure(run: Run) -> None:
    code, out, err = run("--list")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == list(papers.CATALOG)
    code, out, _ = run("--list", "--json")
    assert list(json.loads(out)) == list(papers.CATALOG)


def test_without_docstrings_a_figure_has_a_name_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """As under python -OO."""
    one = papers.entry("plan-6")
    monkeypatch.setattr(one.measure, "__doc__", None)
    assert one.summary == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["plan-3"], "Did you mean 'plan-3"),
        (["figure 6"], "--list"),
        ([], "Name a figure or table"),
        (["plan-6", "--runs", "0"], "runs must be at least 1"),
        (["plan-6", "--runs", "many"], "not a valid whole number"),
        (["plan-5b"], "--kosarak PATH"),
        (["plan-5b", "--kosarak", "none.dat"], "There is no file 'none.dat'"),
        (["plan-3a", "--anchors", "nowhere"], "There is no folder 'nowhere'"),
        (["plan-5c", "--data", "nowhere"], "There is no folder 'nowhere'"),
        (["plan-6", "--output-dir", "a-file"], "Cannot make the folder 'a-file'"),
    ],
)
def test_bad_arguments_are_one_sentence(run: Run, arguments: list[str], sentence: str) -> None:
    Path("a-file").write_text("")
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err
    assert [path.name for path in Path().iterdir()] == ["a-file"]


def test_figure_6_is_printed_and_written(run: Run) -> None:
    code, out, err = run("plan-6", "--output-dir", "new/folder")
    assert (code, err) == (0, "")
    assert "least second moment (p = 2)" in out
    assert f"{Path.cwd()}/new/folder/plan-6.csv" in out
    folder = Path("new/folder")
    assert sorted(path.name for path in folder.iterdir()) == ["plan-6.csv", "plan-6.png"]
    with (folder / "plan-6.csv").open(newline="") as lines:
        records = list(csv.DictReader(lines))
    assert records[0]["scaling"] == "no scaling"
    assert float(records[2]["rms l2"]) == pytest.approx(5.0)
    assert (folder / "plan-6.png").read_bytes()[:4] == b"\x89PNG"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((folder / "plan-6.csv").stat().st_mode) == 0o666 & ~umask


def test_json_is_all_that_is_printed(run: Run) -> None:
    code, out, _ = run("plan-6", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["name"] == "plan-6"
    assert len(found["rows"]) == 4
    assert Path("plan-6.png").is_file()


def test_no_matplotlib_is_said_before_anything_is_measured(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, err = run("plan-3a")
    assert code == 2
    assert "pip install 'prolate[plot]'" in err


def test_published_numbers_and_baskets_are_found_beside_the_project(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("anchors", "data/sparse"):
        Path("../shared", name).mkdir(parents=True)
    seen: list[papers.Options] = []

    def measure(options: papers.Options) -> papers.Table:
        """Figure 3a: nothing."""
        seen.append(options)
        return papers.reproduce("plan-6", options)

    six = papers.CATALOG["plan-6"]
    monkeypatch.setitem(papers.CATALOG, "plan-3a", papers.Entry(measure, six.draw, six.show))
    assert run("plan-3a", "--quick", "--runs", 7)[0] == 0
    assert run("plan-3a", "--anchors", "..", "--data", ".")[0] == 0
    shared = Path("../shared")
    assert (seen[0].anchors, seen[0].data) == (shared / "anchors", shared / "data" / "sparse")
    assert (seen[0].quick, seen[0].runs, seen[0].progress) == (True, 7, None)
    assert (seen[1].anchors, seen[1].data) == (Path(".."), Path())
    assert 1 <= seen[0].jobs <= 2


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "prolate", "reproduce", *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "src")}


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in tasks.read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc to see processes")
def test_an_interrupt_leaves_no_file_and_no_process(tmp_path: Path) -> None:
    work = subprocess.Popen(
        command("plan-4c"), cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    started: list[int] = []
    while len(started) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
        started = children(work.pid)
    time.sleep(1.0)
    started = children(work.pid)
    work.send_signal(signal.SIGINT)  # not to the group: its children must be ended by it
    _, err = work.communicate(timeout=30)
    assert work.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []
    if os.cpu_count() != 1:
        assert started
    while any(Path(f"/proc/{pid}").is_dir() for pid in started) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(Path(f"/proc/{pid}").is_dir() for pid in started)


@pytest.mark.long
@pytest.mark.parametrize("name", list(papers.CATALOG))
def test_every_figure_has_a_quick_form(name: str, tmp_path: Path, shared_data: Path) -> None:
    done = subprocess.run(
        command(name, "--quick", "--data", str(shared_data / papers.entry(name).folder)),
        cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    records = list(csv.DictReader((tmp_path / f"{name}.csv").read_text().splitlines()))
    assert len(records) >= 4
    if "noise_error" in records[0]:
        # Never worse than PLAN, up to the spread of few runs.
        ours = [float(r["over_plan"]) for r in records if r["method"] == "Prolate"]
        assert max(ours) < 1.3
