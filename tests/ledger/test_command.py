"""`prolate ledger` and `--ledger`, with a file and with a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prolate import Budget, Ledger
from prolate.cli import main
from prolate.ledger import file
from prolate.ledger.host import Host

SECRET = "planted-s3cret"


@pytest.fixture
def rows(tmp_path: Path) -> str:
    (tmp_path / "rows.csv").write_text("age\n" + "41\n42\n" * 50)
    return str(tmp_path / "rows.csv")


def test_a_ledger_from_making_to_refusal(place: str, rows: str, tmp_path: Path, capfd: Any) -> None:
    assert main(["ledger", "create", place, "--rho", "1"]) == 0
    mean = ["mean", rows, "--ledger", place, "-o", str(tmp_path / "mean.json")]
    assert main([*mean, "--rho", "0.75"]) == 0
    assert main([*mean, "--rho", "0.75"]) == 2
    assert main(["ledger", "limit", place, "--rho", "2"]) == 0
    assert main([*mean, "--rho", "0.75"]) == 0
    assert main(["ledger", "create", place, "--rho", "1"]) == 2
    assert main(["ledger", "show", place]) == 0
    capfd.readouterr()
    assert main(["ledger", "show", place, "--json"]) == 0
    said = capfd.readouterr()
    assert [round(entry["rho"], 9) for entry in json.loads(said.out)["entries"]] == [0.75] * 2


def test_passwords_stay_in(
    server: Any, rows: str, tmp_path: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.url("command")
    absent = server.url("absent")
    release = str(tmp_path / "mean.json")
    for debug in ("", "1"):
        monkeypatch.setenv("PROLATE_DEBUG", debug)
        for command in (
            ["ledger", "create", url, "--rho", "1"],
            ["ledger", "create", url, "--rho", "1"],
            ["ledger", "create", url, url, "--rho", "1"],
            ["ledger", "show", url],
            ["ledger", "show", url, "--json"],
            ["ledger", "show", absent],
            ["ledger", "show", url.replace("postgresql", "mysql")],
            ["ledger", "limit", url, "--rho", "2"],
            ["ledger", "adopt", url],
            ["mean", rows, "--rho", "0.1", "--ledger", url, "-o", release],
            ["mean", rows, "--rho", "9", "--ledger", url],
            ["mean", rows, "--rho", "1", "--ledger", absent],
            ["mean", url, "--rho", "1"],
            ["mean", rows, "--rho", url],
        ):
            main(command)
    said = capfd.readouterr()
    assert "postgresql://prolate@127.0.0.1" in said.out
    assert "postgresql://prolate@127.0.0.1" in said.err
    assert SECRET not in said.out
    assert SECRET not in said.err
    assert SECRET not in Path(release).read_text()


def test_a_moved_file_is_adopted(path: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Ledger.create(path, limit=Budget(mu=1)).charge(Budget(mu=0.5))
    monkeypatch.setattr(file, "this_host", lambda: Host("m", "b", "eve"))
    assert main(["ledger", "show", str(path)]) == 2
    assert "`prolate ledger adopt`" in capfd.readouterr().err
    assert main(["ledger", "adopt", str(path)]) == 0
    assert f"The ledger {path} belongs to this machine now" in capfd.readouterr().out
    assert main(["ledger", "show", str(path)]) == 0
