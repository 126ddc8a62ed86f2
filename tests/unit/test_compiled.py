"""Compiled loops are loaded when there is enough to do, and it makes no difference."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.compiled import WORK, Work


def test_work_adds_up() -> None:
    work = Work(enough=10)
    assert [work.is_enough(values) for values in (4, 6, 1, 0)] == [False, False, True, True]


@pytest.mark.parametrize("make", [prolate.mean, prolate.variance, prolate.covariance])
def test_the_release_is_the_same_before_and_after(make, monkeypatch) -> None:
    rows = np.random.default_rng(1).normal(3.0, [1.0, 5.0, 0.1, 1e6], (3000, 4))
    release = make(rows, budget=Budget(rho=0.5), seed=1)
    for enough in (1 << 60, WORK.done + 40_000):
        monkeypatch.setattr(WORK, "enough", enough)
        assert make(rows, budget=Budget(rho=0.5), seed=1) == release
    assert WORK.is_enough(0)


@pytest.mark.parametrize(("rows", "loaded"), [(2000, False), (2_000_000, True)])
def test_little_work_loads_no_compiler(rows: int, loaded: bool) -> None:
    code = f"""
import sys
import numpy as np
import prolate
x = np.random.default_rng(0).normal(size=({rows}, 10))
prolate.sum(x, bounds=(-5, 5), budget=prolate.Budget(rho=0.5))
prolate.mean(x, budget=prolate.Budget(rho=0.5))
prolate.mean(x, budget=prolate.Budget(rho=0.5))
heavy = {{"numba", "scipy", "pandas"}} & set(sys.modules)
assert heavy == ({{"numba", *heavy}} if {loaded} else set()), heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True)
