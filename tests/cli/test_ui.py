"""`prolate ui`: it prints an address, serves it, and ends on Ctrl-C without losing a release."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from prolate import Budget, Ledger, Release
from prolate.cli import main
from prolate.ui import opening, serve
from prolate.ui.desk import Desk

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "src" / "prolate" / "data" / "rand_hie.parquet"


def ask(address: str, fields: Any = None) -> Any:
    body = None if fields is None else json.dumps(fields).encode()
    with urllib.request.urlopen(urllib.request.Request(address, body), timeout=60) as answer:
        return json.loads(answer.read())


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent in another way there")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_release_that_nobody_fetched_is_printed_at_the_end(
    tmp_path: Path, sent: signal.Signals
) -> None:
    Ledger.create(tmp_path / "p.ledger", limit=Budget(rho=1))
    words = [sys.executable, "-m", "prolate", "ui", DATA, "--no-browser"]
    words += ["--ledger", tmp_path / "p.ledger"]
    with subprocess.Popen(
        [str(word) for word in words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT / "src",
    ) as page:  # fmt: skip
        try:
            first = page.stdout.readline() if page.stdout else ""
            found = re.fullmatch(r"The page is at (http://127\.0\.0\.1:\d+/[\w-]{43}/)\n", first)
            assert found
            address = found.group(1)
            with pytest.raises(urllib.error.HTTPError, match="403"):
                ask(address[:-2] + "/state")
            plan = {"statistic": "sum", "columns": ["mdvis"], "bounds": {"mdvis": [0, 80]}}
            plan |= {"neighbors": "replace", "epsilon": 1, "delta": 1e-6}
            ticket = ask(address + "review", plan)["ticket"]
            ask(address + "release", {"ticket": ticket})
            while ask(address + "state")["runs"][0]["state"] == "running":
                time.sleep(0.1)
            page.send_signal(sent)
            out, err = page.communicate(timeout=60)
        finally:
            page.kill()
    assert page.returncode == 0
    assert err == ""
    assert "The page has ended." in out
    release = Release.from_json(out[out.index("{") :])
    assert release.columns == ("mdvis",)
    assert [entry.label for entry in Ledger(tmp_path / "p.ledger").entries()] == ["sum of mdvis"]


def test_a_browser_that_takes_its_time_is_served_meanwhile(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One for terminals returns only when its user leaves it."""
    pages = []

    def browse(address: str) -> bool:
        try:
            pages.append(read(leads_to(address)))
        finally:
            signal.raise_signal(signal.SIGINT)
        return True

    monkeypatch.setattr(opening.webbrowser, "open", browse)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert main(["ui", str(DATA)]) == 0
    assert "<html" in pages[0]
    assert "The page has ended." in capsys.readouterr().out


def read(address: str) -> str:
    with urllib.request.urlopen(address, timeout=30) as answer:
        return answer.read().decode()


def leads_to(address: str) -> str:
    found = re.search(r"url=(http://127\.0\.0\.1:\d+/[\w-]{32})\"", read(address))
    assert found
    return found[1]


def test_no_other_user_can_read_what_a_browser_is_started_with(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """All may read the words that a program is started with, and the key was among them."""
    seen: list[Any] = []

    def browse(address: str) -> bool:
        try:
            file = Path(urllib.request.url2pathname(address.removeprefix("file://")))
            modes = [stat.S_IMODE(place.stat().st_mode) for place in (file, file.parent)]
            key = leads_to(address)
            seen.extend([address, modes, key, "<html" in read(key), file.exists()])
            with pytest.raises(urllib.error.HTTPError, match="403"):
                read(key)
        finally:
            signal.raise_signal(signal.SIGINT)
        return True

    monkeypatch.setattr(opening.webbrowser, "open", browse)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert main(["ui", str(DATA)]) == 0
    address, modes, key, entered, left = seen
    assert address.startswith("file://")
    assert key.rsplit("/", 1)[1] not in address
    if os.name == "posix":
        assert modes == [0o600, 0o700]
    assert (entered, left, list(tmp_path.iterdir())) == (True, False, [])
    assert key not in capsys.readouterr().out


@pytest.mark.parametrize("opens", [False, True])
def test_no_file_is_left_where_no_browser_reads_it(
    opens: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    left: list[bool] = []

    def browse(address: str) -> bool:
        threading.Timer(0.5, lambda: (left.append(any(tmp_path.iterdir())), end())).start()
        return opens

    def end() -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(opening.webbrowser, "open", browse)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert main(["ui", str(DATA)]) == 0
    assert (left, list(tmp_path.iterdir())) == ([opens], [])


@pytest.mark.parametrize("what", ["home", "file", "mode"])
def test_no_browser_is_opened_where_no_file_can_be_written(
    what: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object, **given: object) -> None:
        raise OSError("no room")

    def make(**given: Any) -> str:
        (tmp_path / "open").mkdir()
        (tmp_path / "open").chmod(0o755)
        return str(tmp_path / "open")

    def run(**given: object) -> None:
        raise KeyboardInterrupt

    started: list[str] = []
    monkeypatch.setattr(opening.webbrowser, "open", started.append)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / ("nowhere" if what == "home" else ""))
    if what == "file":
        monkeypatch.setattr(Path, "touch", refuse)
    elif what == "mode":
        monkeypatch.setattr(opening.tempfile, "mkdtemp", make)
    monkeypatch.setattr(serve, "server", lambda guard: SimpleNamespace(run=run))
    assert main(["ui", str(DATA)]) == 0
    shown = capsys.readouterr().out
    assert re.match(r"The page is at http://127\.0\.0\.1:\d+/[\w-]{43}/\n", shown)
    assert "No browser is opened" in shown
    assert started == []
    assert list(tmp_path.iterdir()) == []


def test_giving_a_release_up_prints_the_others_and_ends_at_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At its usual end, the interpreter aborts while a thread is reading a file."""

    class Reading(threading.Thread):
        def join(self, timeout: float | None = None) -> None:
            raise KeyboardInterrupt

    class Made:
        def to_json(self) -> str:
            return "paid for\n"

    def leave(code: int) -> None:
        raise SystemExit(code)

    runs = [
        SimpleNamespace(state="running", thread=Reading(), error="", release=None, fetched=False),
        SimpleNamespace(state="done", thread=None, error="", release=Made(), fetched=False),
    ]
    monkeypatch.setattr(os, "_exit", leave)
    with pytest.raises(SystemExit, match="130"):
        serve._end(cast("Desk", SimpleNamespace(runs=lambda: runs)))
    shown = capsys.readouterr()
    assert shown.out.endswith("paid for\n")
    assert "given up" in shown.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere.parquet"], "nowhere.parquet"),
        ([str(DATA), "--ledger", "nowhere.ledger"], "nowhere.ledger"),
        ([str(DATA), "--port", "70000"], "70000"),
    ],
)
def test_what_will_not_do_is_said_at_once(
    capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert main(["ui", *words, "--no-browser"]) == 2
    shown = capsys.readouterr()
    assert sentence in shown.err
    assert shown.out == ""


def test_a_missing_library_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["ui", str(DATA), "--no-browser"]) == 2
    assert "pip install 'prolate[ui]'" in capsys.readouterr().err
