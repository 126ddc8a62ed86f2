"""`--unit`, `--by` and `--key` of the commands, and `prolate count`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import prolate
from prolate import Budget, GroupedRelease, Release
from prolate.cli import main

rng = np.random.default_rng(6)
N = 5000
VISITS = pd.DataFrame(
    {
        "patient_id": [f"p{i}" for i in rng.integers(0, 1500, N)],
        "region": rng.choice(["north", "south"], N),
        "age": rng.normal(50, 9, N),
        "cost": rng.normal(9, 2, N),
    }
)
SECRET = "p77"


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    VISITS.to_csv(path, index=False)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert SECRET not in out + err
    return out + err


@pytest.mark.parametrize(
    "command",
    [
        ["mean", "-c", "age,cost"],
        ["sum", "-c", "age", "--bounds", "0:120"],
        ["variance", "-c", "age,cost"],
        ["quantile", "-c", "age", "-q", "0.5"],
        ["covariance", "-c", "age,cost"],
        ["regress", "--target", "cost", "-f", "age"],
        ["count", "--neighbors", "add-remove"],
    ],
)
def test_persons(command: list[str], visits: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, *rest = command
    out = run(capsys, name, visits, *rest, "--unit", "patient_id", "--mu", "1")
    assert "patient_id (one person's mean counts once)" in out
    assert "any one person" in out
    rows = ["--contribution", "rows", "--max-rows", "2", "--json"]
    out = run(capsys, name, visits, *rest, "--unit", "patient_id", "--mu", "1", *rows)
    unit = Release.from_json(out).unit
    assert unit is not None
    assert unit.max_rows == 2


@pytest.mark.parametrize("keys", [["--key", "north", "--key", "west"], []])
def test_groups(
    keys: list[str], visits: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "groups.json"
    given = ["--by", "region", "--epsilon", "1", "--delta", "1e-6", *keys, "-o", str(path)]
    out = run(capsys, "mean", visits, "-c", "age,cost", *given, "--receipt")
    assert "a noisy count of the group" in out
    assert "Receipt" in out
    found = GroupedRelease.from_json(path)
    assert list(found.groups) == (["north", "west"] if keys else ["north", "south"])
    shown = run(capsys, "show", str(path))
    assert shown.splitlines()[0] == out.splitlines()[0]
    assert json.loads(run(capsys, "show", str(path), "--json"))["schema"] == "prolate.groups"
    run(capsys, "report", str(path), "-o", str(tmp_path / "r.html"))
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Private mean of 2 columns by region" in page
    assert SECRET not in page


def test_groups_of_two_columns(visits: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = pd.read_csv(visits)
    given = ["count", visits, "--mu", "9", "--json"]
    ages = [str(age) for age in table["age"][:2]]
    keys = ["--key", f"north,{ages[0]}", "--key", f"south,{ages[1]}"]
    pairs = [("north", ages[0]), ("south", ages[1])]
    for by in (["--by", "region,age"], ["--by", "region", "--by", "age"]):
        made = GroupedRelease.from_json(run(capsys, *given, *by, *keys))
        assert (made.by, list(made.groups)) == (("region", "age"), pairs)
    out = run(capsys, *given[:-1], *by, *keys)
    assert out.splitlines()[2].split()[:3] == ["region", "age", "count"]
    said = run(capsys, *given, *by, "--key", "north", code=2)
    assert "each --key names one group by 2 labels, such as --key north,f" in said
    said = run(capsys, *given, *by, code=2)
    assert "needs a budget with a delta" in said


def test_lines_of_groups(visits: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lines.json"
    given = ["--target", "cost", "-f", "age", "--by", "region", "--key", "north", "--key", "nobody"]
    out = run(capsys, "regress", visits, *given, "--mu", "9", "-o", str(path))
    assert "Private regression of cost on 1 feature by region: 2 groups (keys given)" in out
    assert "warning" in out
    assert "95% interval" in out
    assert GroupedRelease.from_json(path).columns == ("age", "intercept")
    out = run(capsys, "regress", visits, *given, "--mu", "9", "--no-intervals")
    assert "95% interval" not in out


def test_counts_say_that_columns_make_no_difference(
    visits: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`-c age` was taken, and silently counted rows where age was missing."""
    named, plain = (
        run(capsys, "count", visits, "--mu", "1", *more) for more in (["-c", "age"], [])
    )
    assert "All rows are counted, also those where a column has no value" in named
    assert "All rows are counted" not in plain
    asked = run(capsys, "count", "--help")
    assert "Makes no difference: rows are counted" in " ".join(asked.split())


def test_counts(visits: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "count", visits, "--by", "region", "--key", "north", "--mu", "1")
    assert "Private count by region: 1 group (keys given)" in out
    out = run(capsys, "count", visits, "--by", "region", "--epsilon", "1", "--delta", "1e-300")
    assert out


def test_sums_of_persons_point_to_totals(visits: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["sum", visits, "-c", "age", "--bounds", "0:120", "--unit", "patient_id", "--mu", "1"]
    advice = "--contribution rows --max-rows K"
    assert advice in run(capsys, *given)
    assert advice not in run(capsys, *given, "--contribution", "rows", "--max-rows", "2")


def test_one_quantile_of_groups_is_called_the_same_everywhere(
    visits: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was "1 quantile" in Python, and "quantile" on the command line, or so."""
    keys, budget = ["north", "south"], Budget(mu=1)
    one = prolate.quantile(visits, [0.5], columns="age", by="region", keys=keys, budget=budget)
    assert one.headline().startswith("Private quantile of 1 column by region")
    given = ["--by", "region", "--key", "north", "--key", "south", "--mu", "1", "-c", "age"]
    assert "quantile of 1 column by region" in run(capsys, "quantile", visits, "-q", "0.5", *given)


def test_no_group(visits: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = tmp_path / "few.csv"
    VISITS[:4].to_csv(few, index=False)
    out = run(capsys, "count", str(few), "--by", "region", "--epsilon", "1", "--delta", "1e-6")
    assert "No group is surely large enough" in out


def test_mistakes(visits: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = run(capsys, "mean", visits, "-c", "age", "--unit", "patient", "--mu", "1", code=2)
    assert "There is no column 'patient'" in said
    said = run(capsys, "mean", visits, "-c", "age", "--by", "region", "--mu", "1", code=2)
    assert "delta" in said
