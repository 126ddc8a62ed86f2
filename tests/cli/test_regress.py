"""`prolate regress` on the command line, and `prolate show` of what it makes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import prolate
from prolate import Budget, Release
from prolate.cli import main
from prolate.curator import Curator
from prolate.estimators import regression as own
from prolate.estimators.regression.linear_fit import LinearFit

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
    rng = np.random.default_rng(0)
    x = rng.normal([40.0, 70.0], [10.0, 15.0], size=(3000, 2))
    cost = x @ [3.0, -1.0] + 20.0 + rng.normal(size=3000)
    path = tmp_path / "rows.csv"
    table = np.column_stack([x[:, 0], cost, x[:, 1]])
    np.savetxt(path, table, delimiter=",", header="age,cost,weight", comments="")
    return path


@pytest.fixture
def stated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a method in the place of our own that states its errors."""

    def regression(curator: Curator, **_: Any) -> LinearFit:
        std = np.array([0.5, 0.25, 8.0])
        return LinearFit(
            coef=np.array([3.0, -1.0]),
            intercept=20.0,
            rows=3000.0,
            covariance=np.diag(4.0 * std**2),
            noise_std=std,
        )

    monkeypatch.setattr(own, "regression", regression)


def lines_of(text: str) -> dict[str, str]:
    return {line.split(maxsplit=1)[0]: line for line in text.splitlines() if line.strip()}


def test_the_table_has_coefficients_noise_and_intervals(run: Run, rows: Path, stated: None) -> None:
    code, out, err = run("regress", rows, "--target", "cost", "--epsilon", 1, "--delta", 1e-6)
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == (
        "Private regression of cost on 2 features, 3,000 rows, epsilon = 1, delta = 1e-06 "
        "(mu = 0.2368), neighbors: replace"
    )
    lines = lines_of(out)
    assert lines["column"].split() == (
        ["column", "coefficient", "±", "noise", "±", "sampling", "95%", "interval"]
    )
    assert lines["age"].split() == ["age", "3.00", "0.50", "0.87", "1.04", "to", "4.96"]
    assert lines["weight"].split()[:3] == ["weight", "-1.00", "0.25"]
    assert lines["intercept"].split()[:3] == ["intercept", "20.0", "8.0"]
    assert "the coefficients of least squares in the population" in out
    assert max(map(len, out.splitlines()[1:])) <= 100

    code, out, _ = run("regress", rows, "--target", "cost", *MU, "--no-intervals")
    assert code == 0
    assert "interval" not in out
    _, out, _ = run("regress", rows, "--target", "cost", *MU, "--intervals", "--level", 0.5)
    assert "50% interval" in out


def test_json_and_show_hold_the_whole_release(
    run: Run, rows: Path, stated: None, tmp_path: Path
) -> None:
    target = tmp_path / "fit.json"
    code, out, err = run("regress", rows, "--target", "cost", *MU, "--json", "-o", target)
    assert (code, err) == (
        0,
        "prolate: NOT PRIVATE: made with a seed. For tests only; do not publish.\n",
    )
    release = Release.from_json(out)
    assert release == Release.from_json(target)
    assert json.loads(out)["error_covariance"][2][2] == 256.0
    assert release.columns == ("age", "weight", "intercept")
    assert release.budget == Budget(mu=5)
    code, shown, _ = run("show", target, "--receipt")
    assert code == 0
    assert lines_of(shown)["age"].split()[:3] == ["age", "3.00", "0.50"]


def test_a_real_fit_is_that_of_the_class(run: Run, rows: Path) -> None:
    options: tuple[object, ...] = ("regress", rows, "--target", "cost", *MU, "--json")
    for method in ("auto", "ssp", "adassp", "adassp-fixed"):
        code, out, _ = run(*options, "--method", method, "--bounds", "-200:400")
        assert code == 0
        model = prolate.LinearRegression(mu=5, seed=1, method=method, bounds=(-200, 400))
        assert Release.from_json(out) == model.fit(rows, "cost").release_
    code, out, _ = run(*options, "--features", "weight", "--rho", 1)
    assert code == 2
    code, out, _ = run(*options, "--features", "weight,age", "--no-intercept", "--alpha", 2)
    assert code == 0
    assert Release.from_json(out).columns == ("weight", "age", "intercept")
    assert Release.from_json(out).details["fit_intercept"] is False


def test_a_method_without_errors_shows_what_it_has(run: Run, rows: Path, tmp_path: Path) -> None:
    target = tmp_path / "fit.json"
    start = ("regress", rows, "--target", "cost", "--method", "ssp", "--bounds", "-200:400")
    code, out, _ = run(*start, "--epsilon", 1, "--delta", 1e-6, "--accounting", "basic",
                       "-o", target)  # fmt: skip
    assert code == 0
    assert lines_of(out)["column"].split() == ["column", "coefficient"]
    assert "none: method 'ssp' does not state the errors" in out
    code, shown, _ = run("show", target)
    assert (code, shown) == (0, out)  # also what is said of a CSV file


def test_a_ledger_is_charged(run: Run, rows: Path, tmp_path: Path) -> None:
    book = tmp_path / "rows.ledger"
    assert run("ledger", "create", book, "--mu", 6)[0] == 0
    start = ("regress", rows, "--target", "cost", "--ledger", book, "--mu", 5)
    assert run(*start)[0] == 0
    code, out, err = run(*start)
    assert (code, out) == (2, "")
    assert err.startswith("prolate: ")
    assert [entry.mu for entry in prolate.Ledger(book).entries()] == [5.0]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--mu", 1), "Missing option '--target'"),
        (("--target", "cost"), "State the budget as"),
        (("--target", "cos", "--mu", 1), "Did you mean 'cost'"),
        (("--target", "cost", "--features", "ages", "--mu", 1), "Did you mean 'age'"),
        (("--target", "cost", "--features", "cost", "--mu", 1), "cannot be one of the features"),
        (("--target", "cost", "--features", "age,,", "--mu", 1), "a column name is empty"),
        (("--target", "cost", "--columns", "age", "--mu", 1), "No such option"),
        (("--target", "cost", "--method", "best", "--mu", 1), "'best' is not one of"),
        (("--target", "cost", "--alpha", -1, "--mu", 1), "alpha must be"),
        (("--target", "cost", "--accounting", "basic", "--mu", 1), "published methods"),
        (("--target", "cost", "--bounds", "z=0:1", "--mu", 1), "not used: 'z'"),
        (("--target", "cost", "--mu", 1, "-o", "none/x.json"), "its folder does not exist"),
    ],
)
def test_bad_input_gets_one_sentence(
    run: Run, rows: Path, options: tuple[object, ...], says: str
) -> None:
    code, out, err = run("regress", rows, *options)
    assert (code, out) == (2, "")
    assert says in err.splitlines()[0]


def test_a_rare_flag_as_target_is_told_to_have_bounds(run: Run, tmp_path: Path) -> None:
    """CSV files have no booleans, and the warning did not say what helps."""
    rng = np.random.default_rng(3)
    age = rng.normal(50, 15, 4000).round()
    table = np.column_stack([age, rng.random(4000) < 0.03 * np.exp(0.03 * (age - 50))])
    path = tmp_path / "people.csv"
    np.savetxt(path, table, delimiter=",", header="age,disease", comments="", fmt="%d")
    start = ("regress", path, "--target", "disease", "--mu", 0.24, "--seed", 1)
    remedy = "--bounds disease=0:1"
    assert remedy in " ".join(run(*start)[1].split())
    out = run(*start, *remedy.split())[1]
    assert "inf" not in lines_of(out)["age"]
    assert "warning" not in out


def test_help_teaches(run: Run) -> None:
    code, out, _ = run("regress", "--help")
    assert code == 0
    assert "prolate regress patients.parquet --target cost --epsilon 1 --delta 1e-6" in out
    assert "--features" in out
    assert "--columns" not in out
    assert "regress" in run("--help")[1]
