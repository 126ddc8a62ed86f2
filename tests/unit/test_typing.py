"""What type checkers make of the public face: mistakes are found, and results have their types."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import prolate
from prolate.api import options

ROOT = Path(__file__).resolve().parents[2]

USER = """
from pathlib import Path
from typing import assert_type

import numpy as np

import prolate
from prolate import Budget, GroupedRelease, Release

rows, budget = np.zeros((9, 2)), Budget(epsilon=1, delta=1e-6)

def report(what: str, done: int, of: int | None) -> bool:
    return True

def either(by: str | None) -> Release | GroupedRelease:
    return prolate.mean(rows, budget=budget, by=by)

class Line(prolate.LinearRegression):
    pass

assert_type(prolate.mean(rows, budget=budget, ledger=Path("a"), progress=report), Release)
assert_type(prolate.mean(rows, budget=budget, by="ward", keys=["north"]), GroupedRelease)
assert_type(prolate.sum(rows, budget=budget, bounds={"a": (0, 1)}), Release)
assert_type(prolate.variance(rows, budget=budget, exchangeable=True), Release)
assert_type(prolate.quantile(rows, [0.5], budget=budget, by=["a", "b"]), GroupedRelease)
assert_type(prolate.covariance(rows, budget=budget, correlation=True), Release)
assert_type(prolate.count(rows, budget=budget, unit="who"), Release)
assert_type(prolate.regress(rows, "x1", budget=budget, features="x0"), Release)
assert_type(Line(mu=1).fit(rows, rows[:, 0]), Line)

prolate.mean(rows)  # wrong: no budget
prolate.mean(rows, budget=1.0)  # wrong
prolate.mean(rows, budget)  # wrong: by its place
prolate.mean(rows, bugdet=budget)  # wrong
prolate.mean(rows, budget=budget, neighbors="swap")  # wrong
prolate.sum(rows, budget=budget, rotation="auto")  # wrong: of mean
prolate.quantile(rows, budget=budget)  # wrong: no q
prolate.count(rows, budget=budget, bounds=(0, 1))  # wrong
prolate.regress(rows, budget=budget)  # wrong: no target
"""


@pytest.mark.parametrize(
    "name", ["count", "covariance", "mean", "quantile", "regress", "sum", "variance"]
)
def test_both_signatures_have_all_options(name: str) -> None:
    own = inspect.signature(getattr(prolate, name)).parameters
    stated = get_type_hints(getattr(options, f"{name.capitalize()}Options"))
    assert set(own) == {"data", "by", *stated} | {"quantile": {"q"}, "regress": {"target"}}.get(
        name, set()
    )


def test_a_type_checker_finds_mistakes(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(USER)
    cache = ROOT / ".mypy_cache"
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context",
         "--cache-dir", cache, tmp_path / "user.py"],
        cwd=ROOT / "src", capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    wrong = {at for at, line in enumerate(USER.splitlines(), 1) if "# wrong" in line}
    assert found == wrong, done.stdout + done.stderr
