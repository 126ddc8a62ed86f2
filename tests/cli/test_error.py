"""`prolate error`, and the options of the elliptical mechanism, on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.cli import main

Run = Callable[..., tuple[int, str, str]]
ELLIPSE = ("--method", "gaussian-ellipse")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv("PROLATE_DEBUG", raising=False)

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_the_table_for_people(run: Run) -> None:
    code, out, err = run("error", "--rows", 20000, "--columns", 5, "--epsilon", 1, "--delta", 1e-6)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == (
        "Expected error of a private mean (auto): 20,000 rows, 5 columns, epsilon = 1, "
        "delta = 1e-06 (mu = 0.2368), neighbors: replace"
    )
    rows = {line.split()[0]: line.split()[1:3] for line in lines if line.strip()}
    noise, sampling = float(rows["noise"][0]), float(rows["sampling"][0])
    assert sampling == pytest.approx(np.sqrt(5 / 20000), rel=0.01)
    assert 0.001 < noise < sampling
    assert float(rows["both"][0]) == pytest.approx(np.hypot(noise, sampling), rel=0.02)
    assert "for noise below sampling" in out
    assert "no data is read" in out
    assert max(map(len, lines[1:])) <= 100


def test_columns_that_differ(run: Run) -> None:
    start = ("error", "--rows", 20000, "--scale", "15,20000,0.5", "--mu", 0.5, *ELLIPSE)
    printed, as_json = run(*start)[1], json.loads(run(*start, "--json")[1])
    rows = {line.split()[0]: line.split()[1:] for line in printed.splitlines() if line}
    assert "per column" not in printed
    for name, noise in zip("123", as_json["noise_std"], strict=True):
        assert float(rows[name][1]) == pytest.approx(noise, rel=0.01)


def test_json_for_programs_is_what_the_function_returns(run: Run) -> None:
    code, out, _ = run(
        "error", "--rows", 5000, "--columns", 4, "--skew", 1.5, "--scale", 3, "--rho", 0.5,
        "--json", "--target", 0.1, "--clip", "optimal", "--offset", "0.1,0,0,0.2", *ELLIPSE,
    )  # fmt: skip
    assert code == 0
    sigma = 3 * (4 / np.arange(4, 0, -1)) ** 0.75
    forecast = prolate.expected_error(
        n=5000, scale=sigma, budget=Budget(rho=0.5), target=0.1, clip="optimal",
        method="gaussian-ellipse", offset=[0.1, 0, 0, 0.2],
    )  # fmt: skip
    assert json.loads(out) == json.loads(json.dumps(forecast.to_dict()))


def test_booleans(run: Run) -> None:
    code, out, _ = run("error", "--rows", 9000, "--columns", 2, "--booleans", "--mu", 1, "--json")
    assert code == 0
    forecast = prolate.expected_error(n=9000, d=2, booleans=True, budget=Budget(mu=1))
    assert json.loads(out) == json.loads(json.dumps(forecast.to_dict()))
    start = ("error", "--rows", 9000, "--booleans", "--center", "0.1,0.2", "--mu", 1)
    assert "independent booleans" in run(*start)[1]
    assert "leave scale and bounds out" in run(*start, "--scale", 2)[2]


def test_a_target_needs_no_budget(run: Run) -> None:
    start = ("error", "--rows", 5000, "--scale", "1,2,3", *ELLIPSE, "--target", 0.05)
    code, out, _ = run(*start)
    assert code == 0
    assert "budget needed  mu = " in out
    code, out, _ = run(*start, "--delta", 1e-6)
    assert code == 0
    assert "budget needed  epsilon = " in out
    assert "delta = 1e-06" in out
    code, out, _ = run(*start, "--delta", 1e-6, "--epsilon", 1)
    assert code == 0
    assert "epsilon = 1, delta" in out.splitlines()[0]


def test_a_plot_on_request(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    target = tmp_path / "error.png"
    start = ("error", "--rows", 5000, "--columns", 3, "--mu", 1, *ELLIPSE, "--plot")
    code, out, _ = run(*start, target)
    assert code == 0
    assert f"wrote        {target}" in out
    assert target.read_bytes().startswith(b"\x89PNG")
    code, _, err = run(*start, tmp_path / "none" / "error.png")
    assert code == 2
    assert "its folder does not exist" in err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--columns", 2, "--mu", 1), "Missing option '--rows'"),
        (("--rows", 5, "--mu", 1), "Give --columns D, or --scale"),
        (("--rows", 5, "--columns", 0, "--mu", 1), "--columns must be at least 1"),
        (("--rows", 0, "--columns", 2, "--mu", 1), "--rows must be between 1 and"),
        (("--rows", "many", "--columns", 2, "--mu", 1), "'many' is not a valid whole number"),
        (("--rows", 5, "--columns", 2), "State the budget as --epsilon and --delta"),
        (("--rows", 5, "--columns", 2, "--epsilon", 1), "State the budget as"),
        (("--rows", 5, "--columns", 2, "--mu", 1, "--plot", "e.pdf"), "a name that ends in .png"),
        (("--rows", 5, "--columns", 2, "--mu", -1), "mu must be positive"),
        (("--rows", 5, "--columns", 2, "--mu", 1, "--target", 0), "target must be"),
        (("--rows", 5, "--columns", 2, "--target", 1, "--delta", 2), "delta must lie"),
        (("--rows", 5, "--columns", 2, "--mu", 1, "--scale", "a"), "'a' is not a number"),
        (("--rows", 5, "--columns", 2, "--mu", 1, "--scale", 0), "scale must be positive"),
        (("--rows", 5, "--columns", 2, "--mu", 1, "--scale", "1,2,3"), "3 numbers for 2 columns"),
        (("--rows", 5, "--columns", 2, "--mu", 1, "--skew", "nan"), "--skew must be"),
        (("--rows", 5, "--columns", 2, "--mu", 1, "--skew", 1e9), "scale must be positive"),
        (("--rows", 5, "--columns", 2, "--mu", 1, "--method", "best"), "'best' is not one of"),
        (("--rows", 5, "--columns", 2, "--mu", 1, "--method", "gaussian"), "needs the bounds"),
        (("--rows", 5, "--columns", 2, "--mu", 1, "--bounds", "0-1"), "'0-1' is not"),
        (("--rows", 5, "--columns", 2, "--mu", 1, "--clip", 2), "--clip must be"),
        (("--rows", 5, "--columns", 2, "--mu", 1, "--clip", "hard"), "neither auto nor a part"),
        (("--rows", 5, "--columns", 2, "--mu", 1, "--error-norm", 0.5), "--error-norm must be"),
        (("--rows", 5, "--columns", 2, "--mu", 1, "--error-norm", "rel"), "nor the word relative"),
    ],
)
def test_bad_input_gets_one_sentence(run: Run, options: tuple[object, ...], says: str) -> None:
    code, out, err = run("error", *options)
    assert (code, out) == (2, "")
    lines = err.splitlines()
    assert lines[0].startswith("prolate: ")
    assert says in lines[0]
    assert len(lines) == 1 or (len(lines) == 2 and lines[1].startswith("Try 'prolate"))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = np.random.default_rng(0).normal([500.0, 3.0], [100.0, 1.0], size=(2000, 2))
    path = tmp_path / "tests.csv"
    np.savetxt(path, rows, delimiter=",", header="score,grade", comments="")
    return path


def test_the_elliptical_mechanism_on_a_file(run: Run, table: Path) -> None:
    shape = ("--center", "score=500", "--center", "grade=3", "--scale", "score=100")
    shape += ("--scale", "grade=1", *ELLIPSE, "--seed", 1, "--mu", 1, "--json")
    rows = np.loadtxt(table, delimiter=",", skiprows=1)
    for statistic, truth in (("mean", rows.mean(axis=0)), ("sum", rows.sum(axis=0))):
        code, out, _ = run(statistic, table, *shape, "--clip", "optimal")
        assert code == 0
        release = prolate.Release.from_json(out)
        assert release.method == "gaussian-ellipse"
        assert np.all(np.abs(release.estimate - truth) < 7.0 * release.noise_std)
        harder = prolate.Release.from_json(run(statistic, table, *shape, "--clip", 0.3)[1])
        assert np.all(harder.noise_std < release.noise_std)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("mean", *ELLIPSE), "needs a public center and a public scale"),
        (("sum", *ELLIPSE, "--center", 1), "needs a public scale"),
        (("mean", *ELLIPSE, "--center", 1, "--scale", "grade=1"), "no number for column 'score'"),
        (("mean", *ELLIPSE, "--center", "grad=1", "--scale", 1), "Did you mean 'grade'"),
        (("mean", "--center", 1, "--center", 2), "give --center NUMBER once"),
        (("mean", "--center", 1, "--center", "grade=2"), "give --center NUMBER once"),
        (("mean", "--scale", "grade=wide"), "'grade=wide' is not a number"),
        (("mean", "--clip", "optimal"), "use --clip auto"),
        (("sum", "--bounds", "0:1", "--scale", 1), "for --method gaussian-ellipse"),
    ],
)
def test_a_shape_that_is_wrong_gets_one_sentence(
    run: Run, table: Path, options: tuple[object, ...], says: str
) -> None:
    statistic, *rest = options
    code, out, err = run(statistic, table, "--mu", 1, *rest)
    assert (code, out) == (2, "")
    assert says in err.splitlines()[0]


def test_help_teaches(run: Run) -> None:
    code, out, _ = run("error", "--help")
    assert code == 0
    assert "prolate error --rows 20000 --columns 100 --epsilon 1 --delta 1e-6" in out
    assert "--target" in out
    assert "gaussian-ellipse" in run("mean", "--help")[1]
