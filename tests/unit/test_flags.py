"""What types say: booleans have public bounds, 0 and 1, and some columns hold whole numbers."""

from __future__ import annotations

import collections
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import scipy.sparse

import prolate
from prolate.curator import Curator
from prolate.errors import InputError
from prolate.sources import open_source
from prolate.sources.paired import open_features, open_pair

BUDGET = prolate.Budget(epsilon=1, delta=1e-6)
RNG = np.random.default_rng(0)
FLAGS = RNG.random((3000, 2)) < [0.5, 0.02]
VALUES = [True, False, None]


def same(one: prolate.Release, other: prolate.Release) -> bool:
    return one.estimate.tolist() == other.estimate.tolist()


@pytest.mark.parametrize(
    "data",
    [
        pa.table({"a": pa.array(VALUES), "b": [1, 0, 1]}),
        pa.table({"a": pa.array(VALUES).dictionary_encode(), "b": [1.0, 0, 1]}),
        pl.DataFrame({"a": VALUES, "b": [1, 0, 1]}),
        pd.DataFrame({"a": [True, False, True], "b": [1, 0, 1]}),
        pd.DataFrame({"a": pd.array(VALUES, "boolean"), "b": pd.array([1, 0, None], "Int8")}),
        pd.DataFrame({"a": pd.array(VALUES, pd.ArrowDtype(pa.bool_())), "b": [1, 0, 1]}),
        pd.DataFrame({"a": pd.arrays.SparseArray([True, False, False]), "b": [1, 0, 1]}),
    ],
    ids=["arrow", "dictionary", "polars", "pandas", "nullable", "arrow-backed", "sparse"],
)
def test_the_schema_says_which_columns_are_flags(data: Any, tmp_path: Path) -> None:
    assert open_source(data).flags == {"a"}
    assert open_source(data, ["b"]).flags == set()
    assert open_source(data, ["b"], labels=["a"]).flags == set()
    if isinstance(data, pa.Table):
        pq.write_table(data, tmp_path / "a.parquet")
        pyarrow.feather.write_feather(data, tmp_path / "b.arrow", compression="uncompressed")
        assert open_source(tmp_path).flags == {"a"}
        pq.write_table(data.set_column(0, "a", [[1, 0, 1]]), tmp_path / "c.parquet")
        assert open_source(tmp_path).flags == set()  # 0 and 1 in one of the files


WHOLE = {"i": [1, 2, 3], "b": [True, False, True], "f": [1.0, 2, 3]}


@pytest.mark.parametrize(
    "data",
    [
        pa.table(WHOLE),
        pa.table({name: pa.array(values).dictionary_encode() for name, values in WHOLE.items()}),
        pl.DataFrame(WHOLE),
        pd.DataFrame(WHOLE),
        pd.DataFrame(WHOLE).astype({"i": "Int64", "b": "boolean", "f": "Float64"}),
        pd.DataFrame(WHOLE).astype({"i": "int8[pyarrow]", "b": "bool[pyarrow]"}),
        pd.DataFrame({name: pd.arrays.SparseArray(values) for name, values in WHOLE.items()}),
    ],
    ids=["arrow", "dictionary", "polars", "pandas", "nullable", "arrow-backed", "sparse"],
)
def test_the_schema_says_which_columns_hold_whole_numbers(data: Any, tmp_path: Path) -> None:
    assert open_source(data).whole == {"i", "b"}
    assert open_source(data, ["f", "b"], labels=["i"]).whole == {"b"}
    if isinstance(data, pa.Table):
        pq.write_table(data, tmp_path / "a.parquet")
        pyarrow.feather.write_feather(data, tmp_path / "b.arrow", compression="uncompressed")
        assert open_source(tmp_path).whole == {"i", "b"}
        (tmp_path / "c.csv").write_text("i,b,f\n1,1,1\n")  # whose types are read off its rows
        assert open_source(tmp_path).whole == set()


def test_of_lists_nothing_says_that_they_hold_whole_numbers() -> None:
    assert open_source(np.ones((3, 2), int)).whole == {"x0", "x1"}
    assert open_source(scipy.sparse.eye_array(3, dtype=int)).whole == {"x0", "x1", "x2"}
    for lists in ([[1, 2], [3, 4]], [[True, False]], [[1, 2], [3, 0.5]], [[1, None]]):
        assert open_source(lists).whole == open_features(lists).whole == set()
    rows = np.random.default_rng(0).poisson(3.0, (3000, 1))
    given = {"budget": BUDGET, "seed": 1}
    assert prolate.quantile(rows, 0.53, **given).noise_std[0] == 0.0
    assert prolate.quantile(rows.tolist(), 0.53, **given).noise_std[0] > 0.0


def test_of_arrays_the_dtype_says_it() -> None:
    assert open_source(FLAGS, [1]).flags == {"x1"}
    assert open_source(np.ma.masked_array(FLAGS, mask=FLAGS)).flags == {"x0", "x1"}
    assert open_source(FLAGS.astype(np.int8)).flags == set()
    for form in (scipy.sparse.csr_array, scipy.sparse.csr_matrix, scipy.sparse.coo_array):
        assert open_source(form(FLAGS)).flags == {"x0", "x1"}
        assert open_source(form(FLAGS), [1]).flags == {"x1"}
        assert open_source(form(FLAGS.astype(float))).flags == set()
        assert open_source(form(FLAGS), [1], labels=[0]).flags == {"x1"}
    dense = prolate.mean(FLAGS, budget=BUDGET, seed=1)
    sparse = prolate.mean(scipy.sparse.csr_array(FLAGS), budget=BUDGET, seed=1)
    assert np.array_equal(sparse.interval(), dense.interval())
    assert np.array_equal(sparse.estimate, dense.estimate)


@pytest.mark.parametrize("odd", [None, 0.5, 2, 10**30, [True, False]])
def test_lists_have_no_types(odd: Any) -> None:
    """Else one value, such as a missing one, would decide whether there are bounds, or an error."""
    lists = FLAGS.tolist()
    row = odd if isinstance(odd, list) else [odd, True]
    others = [row, *lists[1:]]
    given = {"budget": BUDGET, "seed": 1}
    for rows in (lists, others):
        assert open_source(rows).flags == set()
        assert "bounds" not in prolate.mean(rows, **given).details
        with pytest.raises(InputError, match="needs the bounds"):
            prolate.sum(rows, **given)
        for X, y in ((rows, [each[0] for each in rows]), (FLAGS * 1.0, [each[0] for each in rows])):
            model = prolate.LinearRegression(mu=1, seed=1).fit(X, y)
            assert "bounds" not in model.release_.details
    assert same(prolate.mean(lists, **given), prolate.mean(FLAGS * 1.0, **given))


def test_csv_files_have_no_types(tmp_path: Path) -> None:
    pyarrow.csv.write_csv(pa.table({"a": [True, False]}), tmp_path / "a.csv")
    assert open_source(tmp_path).flags == set()


@pytest.mark.parametrize("function", [prolate.mean, prolate.variance, prolate.covariance])
def test_releases_are_those_within_bounds(function: Any) -> None:
    """But for second moments: flags are their own squares."""
    given = {"budget": BUDGET, "seed": 1}
    rows = np.tile(FLAGS, 3)
    implied = function(rows, **given)
    assert same(implied, function(rows, bounds=(0, 1), **given))
    assert same(implied, function(rows.astype(np.int8), bounds=(0, 1), **given))
    assert not same(implied, function(rows * 1.0, bounds=(0, 1), **given))
    assert not same(implied, function(rows * 1.0, **given))
    assert implied.details["bounds"] == [0.0, 1.0]
    # Nothing is cut that its type keeps within the bounds.
    assert not any("cut" in entry.query for entry in implied.receipt)
    narrow = function(rows, bounds=(0, 0.5), **given)
    assert all("cut" in entry.query for entry in narrow.receipt)
    free = {f"x{j}": (-np.inf, np.inf) for j in range(6)}
    assert same(function(rows, bounds=free, **given), function(rows * 1.0, **given))


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_the_mean_of_a_few_flags_is_a_sum_within_their_bounds(neighbors: Any) -> None:
    """They need no search, and its errors were up to eight times as large."""
    rows = np.random.default_rng(1).random((40_000, 4)) < [0.01, 0.1, 0.3, 0.5]
    given = {"budget": BUDGET, "neighbors": neighbors, "seed": 1}
    r = prolate.mean(rows, **given)
    assert r.details["bounds_only"]
    assert len(r.receipt) < 7
    assert np.all(np.abs(r.estimate - rows.mean(axis=0)) < 5.0 * r.noise_std)
    assert np.all(r.noise_std < 1.3 / BUDGET.mu / 40_000 * 2.0)  # of 4 columns, twice that of one
    assert not r.warnings
    for more in ({"center": 0.5}, {"clip": 0.1}, {"bounds": (0, 5000)}):
        assert "bounds_only" not in prolate.mean(rows, **given, **more).details


@pytest.mark.parametrize("columns", [3, 6])
def test_means_of_flags_are_parts_of_the_rows(columns: int) -> None:
    """Noise leads beyond 0 and 1; no interval that is cut there covers less often."""
    rows = np.random.default_rng(1).random((900, columns)) < 0.02
    outside = 0
    for seed in range(12):
        r = prolate.mean(rows, budget=prolate.Budget(mu=0.1), seed=seed)
        assert np.all((r.estimate >= 0.0) & (r.estimate <= 1.0))
        ends = r.interval()
        assert np.all((ends >= 0.0) & (ends <= 1.0) & (np.diff(ends) > 0.0))
        free = prolate.Release.from_dict({**r.to_dict(), "details": {}}).interval()
        np.testing.assert_array_equal(ends, np.clip(free, 0.0, 1.0))
        outside += np.count_nonzero(r.estimate == 0.0)
        assert "to 0." in repr(r) or "to 1." in repr(r)
        assert "-0" not in repr(r).split("\n", 2)[2]
    assert outside > 2
    within = prolate.mean(rows * 100.0, bounds=(0, 100), budget=prolate.Budget(mu=0.1), seed=3)
    assert np.all((within.interval() >= 0.0) & (within.interval() <= 100.0))
    plain = prolate.mean(
        rows, bounds=(0, 1), method="gaussian", budget=prolate.Budget(mu=0.05), seed=1
    )
    total = prolate.sum(rows, budget=prolate.Budget(mu=0.05), seed=1)
    np.testing.assert_allclose(plain.estimate, total.estimate / 900, atol=1e-5)  # as published
    assert plain.estimate.min() < 0.0
    assert np.all((total.interval() >= 0.0) & (total.interval() <= 900.0))


def errors_of_flags(rows: Any, seeds: int, **given: Any) -> tuple[np.ndarray, np.ndarray]:
    """Errors of means of the first five columns, over their deviations, and what is stated."""
    off, stated = [], []
    for seed in range(seeds):
        frame = rows(np.random.default_rng(seed))
        release = prolate.mean(frame, budget=BUDGET, seed=seed, **given)
        unit = frame.std(axis=0).to_numpy()
        off.append((release.estimate - frame.mean(axis=0).to_numpy()) / unit)
        stated.append(
            np.hypot(
                release.noise_std, 0.0 if release.clipping_std is None else release.clipping_std
            )
            / unit
        )
    return np.array(off)[:, :5], np.array(stated)[:, :5]


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("rows", [100, 300, 1000])
def test_means_of_several_flags_of_few_rows_are_sums(rows: int, neighbors: Any) -> None:
    """A search lost rare ones: of five, a third to three quarters of the intervals held."""

    def frame(rng: np.random.Generator) -> pd.DataFrame:
        return pd.DataFrame(rng.random((rows, 5)) < [0.62, 0.22, 0.05, 0.5, 0.1]).astype(bool)

    given = {"neighbors": neighbors, "error_norm": "relative"}
    off, stated = errors_of_flags(frame, 12, **given)
    assert np.mean(np.abs(off) < 2.0 * stated) > 0.85
    apart = 2.0 if neighbors == "replace" else 1.0
    noise = 0.5 * apart * np.sqrt(5) / (BUDGET.mu * rows)
    assert np.median(np.abs(off)) < 2.5 * noise / np.sqrt(0.1 * 0.9)


@pytest.mark.parametrize("rows", [300, 1500])
def test_flags_beside_numbers_are_summed_apart_where_rows_are_few(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of relative errors: theirs were up to ten times as large, and so were those of numbers."""

    def frame(rng: np.random.Generator) -> pd.DataFrame:
        flags = pd.DataFrame(rng.random((rows, 5)) < [0.62, 0.22, 0.05, 0.5, 0.1])
        amounts = np.exp(9.0 + 0.8 * rng.standard_normal(rows))
        return flags.astype(bool).assign(age=rng.normal(50, 12, rows), amount=amounts)

    off, stated = errors_of_flags(frame, 10, error_norm="relative")
    assert np.mean(np.abs(off) < 2.0 * stated) > 0.85
    error = np.sqrt(np.mean(off**2))
    means = import_module("prolate.estimators.mean")
    monkeypatch.setattr(means, "are_apart", lambda *_: False)  # a planted fault
    off, _ = errors_of_flags(frame, 10, error_norm="relative")
    assert np.sqrt(np.mean(off**2)) > 1.5 * error


def test_where_rows_are_many_flags_are_searched_with_the_others() -> None:
    rng = np.random.default_rng(0)
    frame = (
        pd.DataFrame(rng.random((20_000, 5)) < 0.02).astype(bool).assign(x=rng.normal(size=20_000))
    )
    release = prolate.mean(frame, budget=BUDGET, seed=1, error_norm="relative")
    labels = [one.label for one in release.receipt]
    assert "sum" not in labels  # within their bounds
    few = prolate.mean(frame[:2000], budget=BUDGET, seed=1, error_norm="relative")
    assert "sum" in [one.label for one in few.receipt]


def test_rare_flags_that_are_numbers_are_not_lost_within_their_bounds() -> None:
    """A search sees 200 rows of 20,000 or not: the mean was .0011 or .011, for .01."""
    for seed in range(8):
        rows = np.random.default_rng(seed).random((20_000, 3)) < [0.52, 0.12, 0.01]
        r = prolate.mean(rows * 1.0, bounds=(0, 1), budget=BUDGET, seed=seed)
        assert np.all(np.abs(r.estimate - rows.mean(axis=0)) < 0.003)


@pytest.mark.parametrize("rows", [300, 1000, 3000])
def test_numbers_that_counts_show_to_be_flags_are_summed_within_their_bounds(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in CSV files, which have no booleans: errors were two to seven times as large."""

    def frame(rng: np.random.Generator) -> pd.DataFrame:
        return pd.DataFrame(rng.random((rows, 6)) < [0.5, 0.3, 0.1, 0.2, 0.05, 0.05]).astype(float)

    given = {"bounds": (0, 1), "error_norm": "relative"}
    off, stated = errors_of_flags(frame, 10, **given)
    assert np.mean(np.abs(off) < 2.0 * stated) > 0.85
    error = np.sqrt(np.mean(off**2))
    flags = import_module("prolate.estimators.search.flags")
    monkeypatch.setattr(flags, "_TOO_NOISY", 0.0)  # a planted fault: nothing is counted
    lost, _ = errors_of_flags(frame, 10, **given)
    assert np.sqrt(np.mean(lost**2)) > (1.2 if rows < 3000 else 0.9) * error


def test_numbers_between_0_and_1_are_not_flags() -> None:
    rows = np.random.default_rng(1).beta(40, 160, (2000, 6))
    release = prolate.mean(rows, budget=BUDGET, bounds=(0, 1), seed=1)
    assert "between 0 and 1" in [one.label for one in release.receipt]
    assert "bounds_only" not in release.details
    assert np.all(np.abs(release.estimate - rows.mean(axis=0)) < 0.005)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("part", [0.0, 0.3])
def test_variances_of_numbers_that_are_flags(neighbors: Any, part: float) -> None:
    """Of 2 % in 3,000 rows a search made .25 of the variance, held in 70 %."""
    off = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = (rng.random((3000, 2)) < [0.02, 0.3]) * 1.0
        rows[rng.random(3000) < part] = np.nan
        given = {"budget": BUDGET, "neighbors": neighbors, "seed": seed}
        r = prolate.variance(rows, bounds=(0, 1), **given)
        off.append((r.estimate - np.nanvar(rows, axis=0)) / np.hypot(r.noise_std, 1e-9))
        assert r.details["bounds_only"]
        assert np.all(r.noise_std < 0.015)
    assert np.sqrt(np.mean(np.square(off))) < 1.6
    assert np.abs(np.mean(off)) < 1.0


@pytest.mark.parametrize(("rows", "part"), [(5000, 0.1), (1000, 0.3), (20_000, 0.4)])
def test_missing_flags_do_not_draw_a_mean_to_the_middle(rows: int, part: float) -> None:
    """Where a count did not notice them, they did by up to a tenth of the way, without a word."""
    off = []
    for seed in range(20):
        rng = np.random.default_rng([seed, rows])
        flags = pd.Series(rng.random(rows) < 0.05).astype("boolean")
        flags = flags.mask(rng.random(rows) < part)
        r = prolate.mean(pd.DataFrame({"f": flags}), budget=BUDGET, seed=seed)
        off.append((r.estimate[0] - flags.mean()) / r.noise_std[0])
    assert np.abs(np.mean(off)) < 1.5
    assert np.sqrt(np.mean(np.square(off))) < 2.0


def test_quantiles_and_sums() -> None:
    given = {"budget": BUDGET, "seed": 1}
    assert same(
        prolate.quantile(FLAGS, 0.3, **given),
        prolate.quantile(FLAGS * 1.0, 0.3, bounds=(0, 1), **given),
    )
    total = prolate.sum(FLAGS, **given)
    assert same(total, prolate.sum(FLAGS * 1.0, bounds=(0, 1), **given))
    frame = pd.DataFrame({"f": FLAGS[:, 0], "age": RNG.integers(0, 90, 3000)})
    mixed = prolate.sum(frame, bounds={"age": (0, 100)}, **given)
    both = {"age": (0, 100), "f": (0, 1)}
    assert same(mixed, prolate.sum(frame.astype(float), bounds=both, **given))
    for bounds in (None, {"f": (0, 1)}, {}):
        with pytest.raises(InputError, match=r"needs the bounds|bounds of column 'age'"):
            prolate.sum(frame, bounds=bounds, **given)


def test_published_methods_and_counts_get_what_is_given() -> None:
    given = {"budget": BUDGET, "seed": 1}
    for method in ("plan", "iome"):
        plain = prolate.mean(FLAGS * 1.0, method=method, **given)
        assert same(prolate.mean(FLAGS, method=method, **given), plain)
    assert same(  # which needs bounds of all columns
        prolate.mean(FLAGS, method="gaussian", **given),
        prolate.mean(FLAGS * 1.0, method="gaussian", bounds=(0, 1), **given),
    )
    model = prolate.LinearRegression(method="adassp", seed=1)
    plain = model.fit(FLAGS * 1.0, FLAGS[:, 0]).coef_.tolist()
    assert model.fit(FLAGS, FLAGS[:, 0]).coef_.tolist() == plain
    assert "bounds" not in prolate.count(FLAGS, **given).details


def test_persons_groups_and_targets() -> None:
    frame = pd.DataFrame(
        {"f": FLAGS[:, 0], "who": np.arange(3000) % 900, "g": np.arange(3000) % 2, "y": FLAGS[:, 1]}
    )
    plain = frame.astype({"f": float, "y": float})
    given = {"budget": BUDGET, "seed": 1, "columns": ["f"]}
    for more in ({"unit": "who"}, {"unit": "who", "contribution": "rows", "max_rows": 2}):
        both = (
            prolate.mean(frame, **given, **more),
            prolate.mean(plain, bounds=(0, 1), **given, **more),
        )
        assert same(*both) == ("max_rows" not in more)  # a person's mean is no flag
    for more in ({}, {"unit": "who"}):
        groups = prolate.mean(frame, by="g", keys=[0, 1], **given, **more)
        other = prolate.mean(plain, by="g", keys=[0, 1], bounds=(0, 1), **given, **more)
        assert all(same(groups[key], other[key]) == ("unit" in more) for key in ("0", "1"))
        assert groups["0"].details["bounds"] == [0.0, 1.0]
    model = prolate.LinearRegression(seed=1).fit(frame, "y", features=["f"])
    assert model.release_.details["bounds"] == [0.0, 1.0]
    model = prolate.LinearRegression(seed=1).fit(FLAGS[:, :1], FLAGS[:, 1])
    assert model.release_.details["bounds"] == [0.0, 1.0]
    model = prolate.LinearRegression(seed=1).fit(FLAGS[:, :1], FLAGS[:, 1] * 1.0)
    assert model.release_.details["bounds"] == {"x0": [0.0, 1.0]}


@pytest.mark.parametrize(
    "target",
    [
        pd.Series(FLAGS[:, 1], name="y"),
        pd.Series(FLAGS[:, 1], name="y", dtype="boolean"),
        pd.DataFrame({"y": FLAGS[:, 1]}),
        pl.Series("y", FLAGS[:, 1]),
        pa.table({"y": FLAGS[:, 1]}),
    ],
)
def test_a_target_beside_features_keeps_its_type(target: Any) -> None:
    """Series and tables were read as numbers, so that booleans lost their public bounds."""
    model = prolate.LinearRegression(seed=1).fit(FLAGS[:, :1], target)
    assert model.release_.details["bounds"] == [0.0, 1.0]
    other = prolate.LinearRegression(seed=1).fit(FLAGS[:, :1], FLAGS[:, 1])
    assert model.coef_.tolist() == other.coef_.tolist()
    counts = pd.Series(np.arange(3000) % 7, name="n")
    assert open_pair(FLAGS[:, :1] * 1.0, counts).whole == {"n"}
    assert open_pair(FLAGS[:, :1] * 1.0, counts * 0.5).whole == frozenset()


def test_objects_of_pandas_are_refused_with_what_to_do() -> None:
    """The advice was for numbers, and left booleans without their public bounds."""
    frame = pd.DataFrame({"a": [True, False, None] * 500, "x": 1.0})
    assert frame["a"].dtype == object
    with pytest.raises(InputError, match=r"column\.astype\('boolean'\)") as refused:
        prolate.mean(frame, columns=["a"], budget=BUDGET)
    assert "columns=['x']" in str(refused.value)
    frame["a"] = frame["a"].astype("boolean")
    assert prolate.mean(frame, columns=["a"], budget=BUDGET).details["bounds"] == [0.0, 1.0]
    whole = frame.assign(a=[True, False, True] * 500)  # of the type "bool": the same bounds
    assert prolate.mean(whole, columns=["a"], budget=BUDGET).details["bounds"] == [0.0, 1.0]


def test_other_sequences_have_no_types_either() -> None:
    """One value decided that a target was one of booleans, and so what was measured."""
    values = [bool(flag) for flag in FLAGS[:, 0]]
    for kind in (list, tuple, collections.deque, collections.UserList):
        for given in (values, [0.5, *values[1:]]):
            assert open_pair(FLAGS * 1.0, kind(given)).flags == frozenset()
    assert open_pair(FLAGS * 1.0, pa.array(values)).flags == {"y"}


def test_types_of_many_columns_are_looked_up_in_one_set() -> None:
    """A mean of 28,000 columns with bounds made it anew for each, and took 108 seconds."""

    class Names(frozenset[str]):
        joined = 0

        def __or__(self, other: Any) -> Any:
            Names.joined += 1
            return frozenset(self) | other

    source = open_source(FLAGS)
    source.flags = Names(source.flags)
    curator = Curator(source, BUDGET, bounds=(np.zeros(2), np.ones(2)))
    assert curator.are_flags
    assert Names.joined == 1
