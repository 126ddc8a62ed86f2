"""Compiled loops are loaded when there is enough to do, and it makes no difference."""

from __future__ import annotations

import importlib.util
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.compiled import WORK, Work, forgiving
from prolate.noise import kernels as noise_kernels
from prolate.queries import kernels, sparse


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


LOOPS = """
from numba import njit

@njit(cache=True)
def doubled(x):
    return 2 * x
"""


def loaded(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("loops", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [b"", b"no pickle"])
def test_damaged_code_is_compiled_anew(
    ending: str, left: bytes, tmp_path: Path, monkeypatch
) -> None:
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")  # beside the source
    file = tmp_path / "loops.py"
    file.write_text(LOOPS)
    assert loaded(file).doubled(2) == 4
    [stored] = (tmp_path / "__pycache__").glob(f"*.{ending}")
    stored.write_bytes(left)
    with pytest.raises((EOFError, pickle.UnpicklingError)):  # as a power cut leaves it
        loaded(file).doubled(2)
    assert forgiving(forgiving(loaded(file))).doubled(2) == 4
    assert loaded(file).doubled(2) == 4  # and is stored whole again


def test_code_that_cannot_be_stored_runs(tmp_path: Path, monkeypatch) -> None:
    pytest.importorskip("numba")
    file = tmp_path / "loops.py"
    file.write_text(LOOPS)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    module = loaded(file)
    monkeypatch.setattr(os, "replace", full)
    assert forgiving(module).doubled(2) == 4
    assert list((tmp_path / "__pycache__").glob("*.nb?")) == []


def test_all_compiled_loops_are_so() -> None:
    pytest.importorskip("numba")
    noise, queries = noise_kernels._loaded(), kernels._loaded("clipped_steps")
    assert queries is not None
    stored = [
        loop._cache
        for module in (noise, sys.modules[queries.__module__], sparse._compiled())
        for loop in vars(module).values()
        if hasattr(loop, "_cache")
    ]
    stored.append(kernels._loaded("clipped_sum_rows")._cache)  # type: ignore[union-attr]
    named = [cache for cache in stored if hasattr(cache, "_cache_file")]
    assert len(named) > 10
    assert all("load_overload" in vars(cache) for cache in named)
