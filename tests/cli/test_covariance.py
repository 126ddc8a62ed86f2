"""`prolate covariance` on the command line, and `prolate show` of what it makes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import prolate
from prolate.cli import main

Run = Callable[..., tuple[int, str, str]]
MU = ("--mu", 5, "--seed", 1)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv("PROLATE_DEBUG", raising=False)

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    x = np.random.default_rng(0).normal(size=(3000, 3))
    x[:, 1] += 2.0 * x[:, 0]
    path = tmp_path / "rows.csv"
    np.savetxt(path, x, delimiter=",", header="age,cost,weight", comments="")
    return path


def test_prints_a_matrix(run, rows) -> None:
    code, out, _ = run("covariance", rows, *MU, "--receipt")
    assert code == 0
    lines = out.splitlines()
    head = next(line for line in lines if line.startswith("covariance"))
    assert head.split() == ["covariance", "age", "cost", "weight"]
    cost = next(line for line in lines if line.startswith("cost"))
    assert float(cost.split()[1]) == pytest.approx(2.0, abs=0.2)
    assert "rough covariance" in out


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_a_matrix_has_intervals_below_it(run, rows, tmp_path, level) -> None:
    """It had none, though vectors have, and --level changed nothing."""
    _, out, _ = run("covariance", rows, *MU, "--level", level, "-o", tmp_path / "r.json")
    release = prolate.Release.from_json(tmp_path / "r.json")
    for i, j in ((0, 0), (0, 1), (1, 1), (2, 2)):
        name = f"{release.columns[i]} with {release.columns[j]}"
        line = next(line for line in out.splitlines() if line.startswith(name))
        low, high = (float(end) for end in line.removeprefix(name).split()[1::2])
        noise = release.noise_std[i, j]
        assert (low, high) == pytest.approx(release.interval(level)[i, j], abs=noise)
    assert f"{100 * level:g}% interval  for the covariance of the population" in out
    _, out, _ = run("covariance", rows, *MU, "--correlation", "-c", "age,cost")
    assert [line.split()[:3] for line in out.splitlines() if line.startswith("age with")] == [
        ["age", "with", "cost"]
    ]


def test_json_holds_the_matrix_and_is_shown_again(run, rows, tmp_path) -> None:
    stored = tmp_path / "r.json"
    command = ("covariance", rows, *MU, "--correlation", "-c", "age,cost", "--json", "-o", stored)
    code, out, _ = run(*command)
    assert code == 0
    fields = json.loads(out)
    assert fields["statistic"] == "correlation"
    assert np.shape(fields["estimate"]) == (2, 2)
    assert fields["estimate"][0][0] == 1.0
    code, out, _ = run("show", stored)
    assert code == 0
    assert "correlation of 2 columns" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "State the budget"),
        (("--mu", 1, "-c", "nowhere"), "nowhere"),
        (("--mu", 1, "--method", "plan"), "No such option"),
    ],
)
def test_bad_input_is_one_sentence(run, rows, arguments, sentence) -> None:
    code, out, err = run("covariance", rows, *arguments)
    assert (code, out) == (2, "")
    assert sentence in err
