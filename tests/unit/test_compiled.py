"""Compiled loops are loaded when there is enough to do, and it makes no difference."""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import prolate
from prolate import Budget
from prolate.compiled import WORK, Work, forgiving
from prolate.noise import kernels as noise_kernels
from prolate.queries import ahead, kernels, sparse
from prolate.sources import entries


def test_work_adds_up() -> None:
    work = Work(enough=10)
    assert [work.is_enough(values) for values in (4, 6, 1, 0)] == [False, False, True, True]


@pytest.mark.parametrize(("rows", "at_once"), [(60_000, True), (20_000, False)])
def test_a_sample_that_takes_long_to_search_loads_the_loops_at_once(
    rows: int, at_once: bool, monkeypatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(kernels, "_loaded", asked.append)
    monkeypatch.setattr(WORK, "done", 0)
    monkeypatch.setattr(WORK, "enough", 40 * 40 * 11_000)  # the sample has 12,000 rows
    x = np.random.default_rng(1).normal(size=(rows, 40))
    prolate.mean(x, budget=Budget(rho=0.5), seed=1)
    assert ("pooled_histogram_rows" in asked) == at_once, "which is the first one"


@pytest.mark.parametrize("make", [prolate.mean, prolate.variance, prolate.covariance])
def test_the_release_is_the_same_before_and_after(make, monkeypatch) -> None:
    rows = np.random.default_rng(1).normal(3.0, [1.0, 5.0, 0.1, 1e6], (3000, 4))
    release = make(rows, budget=Budget(rho=0.5), seed=1)
    for enough in (1 << 60, WORK.done + 40_000):
        monkeypatch.setattr(WORK, "enough", enough)
        assert make(rows, budget=Budget(rho=0.5), seed=1) == release
    assert WORK.is_enough(0)


@pytest.mark.parametrize(("rows", "loaded"), [(2000, False), (7_000_000, True)])
def test_little_work_loads_no_compiler(rows: int, loaded: bool) -> None:
    kernels.norms(np.zeros((2, 1)), np.zeros(1), np.ones(1))  # stored, if it was not
    noise_kernels.drawn(*np.zeros((3, 8), dtype=np.uint64), 0.0, np.zeros(8, dtype=np.int64))
    code = f"""
import sys
import numpy as np
import prolate
x = np.random.default_rng(0).normal(size=({rows}, 10))
prolate.sum(x, bounds=(-5, 5), budget=prolate.Budget(rho=0.5))
for _ in range(3):
    prolate.mean(x, budget=prolate.Budget(rho=0.5))
heavy = {{"numba", "scipy", "pandas"}} & set(sys.modules)
assert heavy == ({{"numba", *heavy}} if {loaded} else set()), heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_takes_longer_than_sums_adds_up_nonetheless(tmp_path: Path, monkeypatch) -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(5000, 8)), columns=list("abcdefgh"))
    frame.to_parquet(tmp_path / "rows.parquet")
    monkeypatch.setattr(WORK, "done", 0)
    monkeypatch.setattr(WORK, "enough", 1 << 60)
    prolate.quantile(tmp_path / "rows.parquet", q=0.5, budget=Budget(rho=0.5))
    assert WORK.done > 5 * frame.size


@pytest.mark.parametrize(("ending", "waits"), [("parquet", True), ("csv", True), ("arrow", False)])
def test_what_is_decoded_can_wait_for_the_compiler(
    ending: str, waits: bool, tmp_path: Path, monkeypatch
) -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(5000, 8)), columns=list("abcdefgh"))
    file = tmp_path / f"rows.{ending}"
    if ending == "arrow":
        frame.to_feather(file, compression="uncompressed")
    else:
        getattr(frame, f"to_{ending}")(file, index=False)
    monkeypatch.setattr(WORK, "done", 0)
    monkeypatch.setattr(WORK, "enough", 1 << 60)
    for _ in range(5):
        prolate.sum(file, bounds=(-5, 5), budget=Budget(rho=0.5))
    assert (WORK.done < 2 * frame.size) == waits
    before = WORK.done
    monkeypatch.setattr(WORK, "enough", before - 1)  # loaded by now: no going back
    WORK.wait(frame.size)
    assert WORK.done == before


COLD = """
import json, sys
import numpy as np
import prolate
from prolate.compiled import WORK
WORK.enough, WORK.plenty = -1, {plenty}
x = np.random.default_rng(0).normal(size=(400, 3))
release = prolate.mean(x, budget=prolate.Budget(rho=0.5), seed=1)
print(json.dumps([release.estimate.tolist(), WORK.by_numpy, "numba" in sys.modules]))
"""


def cold(folder: Path, plenty: int) -> tuple[list[float], int, bool]:
    """Return a release of a process in which no loop is stored, and how it came about."""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PROLATE_COMPILE": "0"}
    words = [sys.executable, "-c", COLD.format(plenty=plenty)]
    value, by_numpy, loaded = json.loads(subprocess.check_output(words, env=env))
    return value, by_numpy, loaded


def test_what_is_not_stored_is_left_to_numpy(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(400, 3))
    release = prolate.mean(rows, budget=Budget(rho=0.5), seed=1)
    value, by_numpy, loaded = cold(tmp_path, 1 << 60)
    assert value == release.estimate.tolist()
    assert by_numpy > 400 * 3 * 5
    assert not loaded
    assert list(tmp_path.rglob("*.nbi")) == []


def test_after_plenty_of_that_it_is_compiled(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    value, by_numpy, loaded = cold(tmp_path, 400 * 3 * 100)
    assert value == cold(tmp_path, 1 << 60)[0]
    assert by_numpy < 400 * 3 * 200
    assert loaded
    assert list(tmp_path.rglob("*.nbi")) != []


@pytest.fixture
def started(monkeypatch) -> list[list[str]]:
    """Return the commands that a process would be started with."""
    commands: list[list[str]] = []

    class Process:
        returncode = None

        def __init__(self, words: list[str], **_: object) -> None:
            commands.append(words)

        def poll(self) -> None:
            return None

    monkeypatch.setattr(subprocess, "Popen", Process)
    monkeypatch.delenv("PROLATE_COMPILE", raising=False)
    return commands


def test_another_process_compiles_once(started) -> None:
    pytest.importorskip("numba")
    work = Work(enough=-1, plenty=10)
    for _ in range(3):
        with work.or_numpy(5):
            work.check_worth_compiling()
            raise AssertionError("compiled")
    assert (work.by_numpy, len(started)) == (15, 1)
    work.check_worth_compiling()  # after plenty, here
    [command] = started
    assert command[:3] == [sys.executable, "-P", "-c"]
    compile(command[3], "command", "exec")


def test_a_process_that_has_ended_is_not_left_as_a_zombie(started, monkeypatch) -> None:
    pytest.importorskip("numba")
    looked = []
    work = Work(enough=-1, plenty=10)
    with work.or_numpy(5):
        work.check_worth_compiling()
    monkeypatch.setattr(subprocess.Popen, "poll", lambda self: looked.append(self) or 0)
    for _ in range(3):  # though all loops are there by now, and it is asked for no more
        work.is_enough(1)
    assert len(looked) == 1


@pytest.mark.parametrize("where", ["off", "worker", "spark", "embedded", "without numba"])
def test_and_none_where_it_is_not_wanted(where, started, monkeypatch) -> None:
    if where == "off":
        monkeypatch.setenv("PROLATE_COMPILE", "0")
    elif where == "worker":
        monkeypatch.setattr(multiprocessing, "parent_process", object)
    elif where == "spark":
        monkeypatch.setitem(sys.modules, "pyspark.worker", ModuleType("pyspark.worker"))
    elif where == "embedded":
        monkeypatch.setattr(sys, "executable", "/usr/bin/editor")
    else:
        monkeypatch.setattr("prolate.compiled.find_spec", lambda name: None)
    with Work().or_numpy(1):
        Work().check_worth_compiling()
    assert started == []


@pytest.mark.parametrize("name", ["subprocess.Popen", "prolate.compiled.find_spec"])
def test_a_process_that_cannot_be_started_stops_nobody(name, monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise LookupError("not allowed here")

    monkeypatch.setattr(name, refuse)
    monkeypatch.delenv("PROLATE_COMPILE", raising=False)
    work = Work(enough=-1, plenty=10)
    with work.or_numpy(5):
        work.check_worth_compiling()
    assert work.by_numpy == 5


def test_every_loop_is_compiled_ahead() -> None:
    names = {call.func.__name__ for call in ahead.loops()}  # type: ignore[attr-defined]
    of_rows = {"_selected" if name == "selected" else name for name in sparse.__all__} - {"tally"}
    noise = {"rounded_gaussian", "with_noise"}
    assert names == {*kernels.__all__, *of_rows, *entries.__all__, "copied", *noise}


def test_nothing_is_left_to_compile_for_sparse_rows() -> None:
    modules = sparse._compiled(), entries._loops()
    if None in modules:
        pytest.skip("numba is not installed")

    def compiled() -> dict[str, int]:
        return {
            name: len(loop.signatures)
            for module in modules
            for name, loop in vars(module).items()
            if hasattr(loop, "signatures")
        }

    for call in ahead.loops()[-9:]:
        call()
    before = compiled()
    for kind in (np.float64, np.float32):
        rows = sp.random(2000, 50, 0.02, format="csr", rng=0).astype(kind)
        for make in (prolate.mean, prolate.variance, prolate.covariance):
            make(rows, budget=Budget(rho=0.5), seed=1)
        prolate.mean(rows, budget=Budget(rho=0.5), error_norm=1, bounds=(0, 1), seed=1)
    assert compiled() == before


@pytest.mark.parametrize("busy", [False, True])
def test_one_process_compiles_at_a_time(busy: bool, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    code = f"""
from pathlib import Path
from prolate.queries import ahead, kernels
some = ahead.loops()[-1:]
ahead.loops = lambda: some
lock = Path(kernels._loaded("norms_rows")._cache.cache_path) / "compiling.lock"
lock.parent.mkdir(parents=True, exist_ok=True)
if {busy}:
    lock.touch()
assert ahead.compile_loops(aside=True) == 1
assert lock.exists() == {busy}
"""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=env)
    assert (list(tmp_path.rglob("*.nbi")) == []) == busy


@pytest.mark.long
def test_nothing_is_left_to_compile(tmp_path: Path) -> None:
    """Releases of all kinds, with compiled loops alone."""
    pytest.importorskip("numba")
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PROLATE_COMPILE": "0"}
    code = "from prolate.queries.ahead import compile_loops; compile_loops(aside=True)"
    subprocess.run([sys.executable, "-c", code], check=True, env=env)
    code = """
import warnings
import numpy as np
import pandas as pd
import prolate
from prolate.compiled import WORK
warnings.simplefilter("ignore")
WORK.enough = -1
rng, budget = np.random.default_rng(0), prolate.Budget(rho=2.0)
for n, d in ((3000, 4), (40_000, 60)):
    x = rng.normal(size=(n, d))
    x[:, 0] = rng.random(n) < 0.01
    for rows in (x, x.astype(np.float32), np.asfortranarray(x), pd.DataFrame(x)):
        prolate.mean(rows, budget=budget)
        prolate.variance(rows, budget=budget)
        prolate.quantile(rows, q=0.5, budget=budget)
        prolate.sum(rows, bounds=(-1.0, 1.0), budget=budget)
    prolate.covariance(x[:, :4], budget=budget)
    prolate.LinearRegression(None, None, rho=2.0).fit(x[:, :3], x[:, 3])
print(WORK.by_numpy)
"""
    assert int(subprocess.check_output([sys.executable, "-c", code], env=env)) == 0


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


EDITED = """
from numba import njit
from _compiled_helper import once

@njit(cache=True)
def twice(x):
    return once(once(x))
"""
HELPER = """
from numba import njit

@njit(cache=True)
def once(x):
    return {} * x
"""
TWICE = """
import sys
from numba.core.caching import IndexDataCacheFile
import _compiled_loops
from prolate.compiled import forgiving
if "cut off" in sys.argv:
    IndexDataCacheFile._save_data = None
loop = forgiving(_compiled_loops, at_once=True).twice
print(loop(1), sum(loop.stats.cache_hits.values()))
"""


def test_code_of_changed_sources_is_compiled_anew(tmp_path: Path) -> None:
    """One loop is part of another, of a file that is as it was; and all dates are the same."""
    pytest.importorskip("numba")
    env = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    env["PYTHONPATH"] = str(tmp_path)
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    seen = []
    for factor, how in ((2, ""), (2, ""), (3, "cut off"), (3, ""), (3, "")):
        (tmp_path / "_compiled_loops.py").write_text(EDITED)
        (tmp_path / "_compiled_helper.py").write_text(HELPER.format(factor))
        for file in tmp_path.glob("*.py"):
            os.utime(file, (1e9, 1e9))
        words = [sys.executable, "-c", TWICE, how]
        seen.append(subprocess.check_output(words, env=env, text=True).split())
    assert seen == [["4", "0"], ["4", "1"], ["9", "0"], ["9", "0"], ["9", "1"]]


SHARED = """
import _compiled_helper, _compiled_loops
from prolate.compiled import forgiving
forgiving(_compiled_helper)
print(forgiving(_compiled_loops, at_once=True).twice(1))
"""


def test_parts_that_others_may_compile_are_compiled_at_once_where_they_are_needed(
    tmp_path: Path,
) -> None:
    """As of sparse rows, after dense rows, while another process compiles."""
    pytest.importorskip("numba")
    env = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    env |= {"PYTHONPATH": str(tmp_path), "PROLATE_COMPILE": "0"}
    (tmp_path / "_compiled_loops.py").write_text(EDITED)
    (tmp_path / "_compiled_helper.py").write_text(HELPER.format(2))
    words = [sys.executable, "-c", SHARED]
    assert subprocess.check_output(words, env=env, text=True).split() == ["4"]


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
    kinds = "clipped_steps", "clipped_sum_rows", "norms_rows", "magnitude_histogram_rows"
    modules = [sys.modules[kernels._loaded(name).__module__] for name in kinds]  # type: ignore[union-attr]
    stored = [
        loop._cache
        for module in (noise_kernels._loaded(), sparse._compiled(), *modules)
        for loop in vars(module).values()
        if hasattr(loop, "_cache")
    ]
    named = [cache for cache in stored if hasattr(cache, "_cache_file")]
    assert len(named) > 10
    assert all("load_overload" in vars(cache) for cache in named)


def test_numpy_does_all_where_numba_compiles_nothing() -> None:
    """With NUMBA_DISABLE_JIT, as under a debugger, its loops would be Python's."""
    pytest.importorskip("numba")
    code = """
from prolate.noise import kernels as noise
from prolate.queries import ahead, kernels, sparse
from prolate.sources import entries
loaded = kernels._loaded("norms_rows"), noise._loaded(), sparse._compiled(), entries._loops()
assert loaded == (None,) * 4
assert ahead.compile_loops() == 0
"""
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-c", code], check=True, env=env)
