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
    mean = ["mean", rows, "--ledger", place, "-o", str(tmp_path / "mean.json"), "--overwrite"]
    assert main([*mean, "--rho", "0.75"]) == 0
    assert main([*mean, "--rho", "0.75"]) == 2
    assert main(["ledger", "limit", place, "--rho", "2"]) == 0
    assert main([*mean, "--rho", "0.75"]) == 0
    assert main(["ledger", "create", place, "--rho", "1"]) == 2
    said = capfd.readouterr().out
    assert "is now rho = 2 (mu = 2); it was rho = 1 (mu = 1.415). The change is recorded." in said
    assert main(["ledger", "limit", place, "--rho", "2"]) == 0
    assert "is already rho = 2 (mu = 2)." in capfd.readouterr().out
    assert main(["ledger", "show", place]) == 0
    shown = capfd.readouterr().out.split("\n\n")[-1].splitlines()
    assert " ".join(shown[0].split()) == "change time (UTC) after charge old limit new limit"
    assert "rho = 1 (mu = 1.415)  rho = 2 (mu = 2)" in shown[1]
    assert len(shown) == 2
    assert main(["ledger", "show", place, "--json"]) == 0
    fields = json.loads(capfd.readouterr().out)
    assert [round(entry["rho"], 9) for entry in fields["entries"]] == [0.75] * 2
    [change] = fields["limit_changes"]
    assert (change["id"], change["charges"]) == (1, 1)
    assert (change["old_keys_delta"], change["new_keys_delta"]) == (0.0, 0.0)
    limits = [Budget.from_dict(change[which]) for which in ("old", "new")]
    assert limits == [Budget(rho=1), Budget(rho=2)]


def test_groups_are_found_from_what_is_set_aside(
    place: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.csv").write_text("ward\n" + "north\nsouth\n" * 900)
    count = ["count", str(tmp_path / "rows.csv"), "--by", "ward", "--ledger", place]
    assert main(["ledger", "create", place, "--rho", "1"]) == 0
    assert main([*count, "--epsilon", "0.5", "--delta", "1e-7"]) == 2
    said = capfd.readouterr().err
    assert "sets none aside for that" in said
    assert "with a --keys-delta that is part of delta" in said
    assert "Or give the groups: --key north --key south." in said
    assert main(["ledger", "limit", place, "--rho", "1", "--keys-delta", "1e-7"]) == 2
    assert "--keys-delta is a part of the limit's delta" in capfd.readouterr().err
    limit = ["--epsilon", "1", "--delta", "1e-6", "--keys-delta", "2e-7"]
    assert main(["ledger", "limit", place, *limit]) == 0
    assert "of which delta = 2e-07 is for finding groups" in capfd.readouterr().out
    assert main([*count, "--epsilon", "0.5", "--delta", "1e-7"]) == 0
    assert "count by ward: 2 groups (keys found privately)" in capfd.readouterr().out
    assert main([*count, "--epsilon", "0.5", "--delta", "1e-6"]) == 2
    assert "delta = 1e-07 is left" in capfd.readouterr().err
    assert main(["ledger", "show", place]) == 0
    shown = capfd.readouterr().out
    assert "finding them has cost delta = 1e-07 of 2e-07 that is set aside" in shown
    assert "epsilon = 1, delta = 1e-06 (mu = 0.2368), of which delta = 2e-07 is for" in shown
    assert "at delta = 8e-07 (mu = " in shown
    assert main(["ledger", "show", place, "--json"]) == 0
    fields = json.loads(capfd.readouterr().out)
    assert (fields["keys_delta"], fields["spent_delta"]) == (2e-7, 1e-7)
    assert Budget.from_dict(fields["spent"]).keys_delta == 1e-7
    assert [entry["delta"] for entry in fields["entries"]] == [1e-7]
    squares = [fields[part]["mu"] ** 2 for part in ("room", "spent", "remaining", "limit")]
    assert squares[0] == pytest.approx(squares[1] + squares[2])
    assert squares[0] < squares[3]
    assert 0.0 < fields["spent_epsilon"] < 1.0
    assert 0.0 < fields["remaining_epsilon"] < 1.0
    other = f"{place}-other" if "://" in place else str(tmp_path / "other.ledger")
    assert main(["ledger", "create", other, *limit]) == 0
    assert "of which delta = 2e-07 is for finding groups" in capfd.readouterr().out


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
