"""Every public function, on tables and arguments as nobody should pass them.

Each case runs twice, on rows that differ in their values alone: either there is a release both
times, or the same sentence, byte by byte. A release that is not private, of a large budget, is
near what NumPy says of the same numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from fuzz.harness import cases, outcome
from fuzz.tables import (
    CONTAINERS,
    DTYPES,
    LAYOUTS,
    SPICES,
    Array,
    contained,
    laid_out,
    names,
    typed,
    values,
)
from hypothesis import given
from hypothesis import strategies as st

import prolate
from prolate import Budget

BIG = Budget(mu=1e4)
QUICK = ("mean", "mean", "sum", "sum", "sum", "quantile", "count")
SLOW = ("variance", "covariance", "correlation", "regression")

budgets = st.sampled_from([
    {"mu": 1.0}, {"mu": 1e-9}, {"mu": 1e4}, {"mu": 1e9}, {"mu": 5e-324}, {"mu": 1e308},
    {"rho": 1e-12},
    {"rho": 1e12}, {"epsilon": 1, "delta": 1e-6}, {"epsilon": 1e-6, "delta": 1e-300},
    {"epsilon": 300, "delta": 0.999}, {"epsilon": 1e-300, "delta": 1e-6}, {"mu": 0.0},
    {"mu": -1.0}, {"mu": math.nan}, {"epsilon": 1.0}, {}, {"rho": "1"}, {"mu": True},
    {"mu": 1, "rho": 1}, {"epsilon": 1, "delta": 0}, {"epsilon": 0, "delta": 1e-6},
    {"mu": np.float32(1)}, {"mu": 10**400}, {"mu": None}, {"mu": [1]}, {"mu": 1 + 0j},
])  # fmt: skip
bounds = st.sampled_from([
    None, None, None, (0, 1), (-10.0, 10.0), (-1e300, 1e300), (5, 5), (0, 0), (1, 0), (math.nan, 1),
    (0, math.inf), (-1e-320, 1e-320), (-1e-300, 1e300), ([0], [1]), (np.zeros(2), np.ones(2)), "ab",
    (0, 1, 2), 7, {}, {"zz": (0, 1)}, {"a": (0, 1)}, {"x0": (0, 1)}, {0: (0, 1)}, {"x0": 3},
    {"x0": (None, 1)}, ("0", "1"), (True, False), (1e301, 1e302), (None, None), (10**400, 1),
    (-1, 1j), [[0, 1], [2, 3]], {"x0": ([0, 1], 2)}, {"x0": ("a", "b")}, {None: (0, 1)},
    [], ((), ()), {"x0": (0, 1), "x1": (-5, 5)}, object(), {1.5, 2.5}, iter([0, 1]), b"01",
])  # fmt: skip
columns = st.sampled_from([
    None, None, None, None, None, 0, -1, [0], [1, 0], [], (), ["x0"], "x0", "a", ["a", ""], ["zz"],
    [0, 0], True, b"a", {"a": 1}, {"a"}, [None], 1.5, np.int64(0), np.array([0]), [10**30],
    -(10**9),
    [["a"]], iter(["x0"]), "", [True], np.array(["x0"]),
])  # fmt: skip
ARGUMENTS: dict[str, Any] = {
    "neighbors": ["replace", "add-remove", "both", None, 1, ["replace"]],
    "seed": [1, 0, 2**63, 2**400, -1, True, 1.5, "1", np.int64(3), [1]],
    "ledger": [None, "", ".", "\0", 7, "no/such.ledger", b"x", "postgresql://:x@/",
    "x" * 1000],
    "progress": [False, True, None],
    "engine": [None, "dask", 3, ""],
    "unit": [None, 0, "x0", "zz", "", 1.5, [0], True, -1, ("a", "b"), {}],
    "contribution": ["mean", "rows", "all", None, 3],
    "max_rows": [None, 1, 0, -1, 2.5, 10**30, True, "3"],
    "by": [None, 0, "x0", "zz", "", 1.5, [0], True, -1, {}],
    "keys": [None, [], [1, 2], ["1", 1], "ab", [None], [math.nan], [[1]], 5, [""], ["\n"], {1: 2},
             [b"a"], [10**40], [object()], ["\ud800"], np.array([1, 2])],
}  # fmt: skip
SHAPES: dict[str, Any] = {
    "error_norm": [2, 1, 1.5, 50, 1e6, 1e308, math.inf, math.nan, "2", 0.5, None, [2], 10**400, 2j],
    "method": ["auto", "plan", "plan-noscale", "plan-exponential", "gaussian", "gaussian-ellipse",
               "iome", "coinpress", "", None, 3, ["auto"]],
    "clip": ["auto", "optimal", 0.1, 0.0, 1.0, 1e-300, math.nan, "x", None, True, [0.1]],
    "center": [None, 0, [0, 0], {"x0": 1}, {"zz": 1}, math.nan, "a", [[1]], 1e300, 1e301, {}, [],
               {"x0": "a"}, {"x0": [1, 2]}, 1j, 10**400],
    "scale": [None, 1, [1, 1], {"x0": 1}, 0, -1, 1e-200, 1e150, math.inf, "a", {"x0": None}],
}  # fmt: skip


def arguments(known: dict[str, Any]) -> Any:
    """Return up to two arguments with odd values."""
    one = st.sampled_from([(name, value) for name, all_ in known.items() for value in all_])
    return st.lists(one, max_size=2).map(dict)


tables = st.tuples(
    st.sampled_from([0, 1, 2, 3, 8, 40, 200]),
    names,
    st.sampled_from(DTYPES),
    st.sampled_from(LAYOUTS),
    st.sampled_from(CONTAINERS),
    st.sampled_from(SPICES),
    st.sampled_from(SPICES),
    st.integers(0, 10**6),
)


def made(table: tuple[Any, ...], which: int) -> Any:
    """Return the first or second table of a case, which differ in values alone."""
    n, labels, dtype, layout, container, *spices, seed = table
    x = typed(values(seed + which, n, len(labels), spices[which]), dtype)
    return contained(laid_out(x, layout), container, labels)


def call(statistic: str, data: Any, **options: Any) -> Any:
    """Return the release of a statistic."""
    if "budget" in options:
        options["budget"] = Budget(**options["budget"])
    if statistic == "quantile":
        return prolate.quantile(data, options.pop("q", 0.5), **options)
    if statistic == "correlation":
        return prolate.covariance(data, correlation=True, **options)
    if statistic == "regression":
        price = {"epsilon": None, "delta": None, **options.pop("budget").stated}
        own = {k: options.pop(k) for k in ("unit", "contribution", "max_rows") if k in options}
        columns = options.pop("columns", None)
        options = {
            k: v for k, v in options.items() if k not in ("by", "keys", "engine", "progress")
        }
        model = prolate.LinearRegression(**price, **options)
        size = data.shape[0] if hasattr(data, "shape") else 0
        target = columns if isinstance(columns, str) else np.arange(size)
        return model.fit(data, target, **own).release_
    return getattr(prolate, statistic)(data, **options)


def both(statistic: str, table: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Run a case on two tables of one schema, and compare how it ends."""
    ends = []
    for which in (0, 1):
        again = {k: _fresh(v) for k, v in options.items()}
        ends.append(outcome(lambda: call(statistic, made(table, which), **again)))  # noqa: B023
    one, other = (end if isinstance(end, str) else type(end) for end in ends)
    assert one == other


def _fresh(value: Any) -> Any:
    # An iterator comes only once.
    return iter([0, 1]) if type(value).__name__ == "list_iterator" else value


@cases(500)
@given(st.sampled_from(QUICK), tables, budgets, bounds, columns, arguments({**ARGUMENTS, **SHAPES}))
def test_quick_functions(statistic, table, budget, limits, chosen, more) -> None:
    options = {"budget": budget, "bounds": limits, "columns": chosen, "seed": 1, **more}
    if statistic in ("quantile", "count", "sum") and more.keys() & SHAPES.keys():
        options = {k: v for k, v in options.items() if k not in SHAPES}
    if statistic == "count":
        del options["bounds"]
    both(statistic, table, options)


@cases(25)
@given(st.sampled_from(SLOW), tables, budgets, bounds, columns, arguments(ARGUMENTS))
def test_slow_functions(statistic, table, budget, limits, chosen, more) -> None:
    both(
        statistic,
        table,
        {"budget": budget, "bounds": limits, "columns": chosen, "seed": 1, **more},
    )


@cases(60)
@given(st.sampled_from([
    0.5, [0.5], [0, 1], [], [[0.5]], -0.1, 1.1, math.nan, "0.5", None, [0.5, None], 1j,
    np.float16(0.5),
    [0.5] * 50, True, {}, {0.5}, np.array(0.25), b"1", [0.5, 0.5], object(), 5e-324, 1 - 1e-16,
]), tables)  # fmt: skip
def test_probabilities(q, table) -> None:
    both("quantile", table, {"q": q, "budget": {"mu": 1.0}, "seed": 1})


def numbers_of(x: Array) -> Array:
    """Return what the numbers of a table are: float64, NaN where they are missing."""
    if isinstance(x, np.ma.MaskedArray):
        return np.ma.filled(x.astype(np.float64), np.nan)
    with np.errstate(all="ignore"):
        return np.asarray(x, dtype=np.float64)


good = st.tuples(
    st.sampled_from([200, 333]),
    st.lists(st.sampled_from(["a", "b c", "é",
             'quo"te', "x0", "new\nline", "\u202eright", "nan"]), min_size=1, max_size=4,
             unique=True),
    st.sampled_from([t for t in DTYPES if np.dtype(t).kind in "fiub"]),
    st.sampled_from([way for way in LAYOUTS if way != "all masked"]),
    st.sampled_from(CONTAINERS),
    st.sampled_from(SPICES),
    st.sampled_from(SPICES),
    st.integers(0, 10**6),
)  # fmt: skip


def numbers_and_table(table: tuple[Any, ...]) -> tuple[Array, Any]:
    n, labels, dtype, layout, container, spice, _, seed = table
    if container == "list":
        layout = "c"  # a masked cell would be None
    if spice == "nan" and layout == "zero stride":
        spice = "plain"  # all rows are the first one, which may have no number
    x = laid_out(typed(values(seed, n, len(labels), spice), dtype), layout)
    return numbers_of(x), contained(x, container, labels)


@cases(150)
@given(good, st.sampled_from([(0, 1), (-10, 10), (-3, 100), (5, 8), (-1e-3, 1e-3), (-1e9, 1e9)]))
def test_sums_are_right(table, limits) -> None:
    x, data = numbers_and_table(table)
    release = outcome(lambda: prolate.sum(data, bounds=limits, budget=BIG, seed=1))
    usual = np.clip(0.0, *limits)
    cleaned = np.clip(np.where(np.isfinite(x), x, usual), *limits)
    # What is not finite may count as the bound on its side as well.
    low = np.where(np.isneginf(x), limits[0], cleaned).sum(axis=0)
    high = np.where(np.isposinf(x), limits[1], cleaned).sum(axis=0)
    room = 6 * release.noise_std + 1e-6 * len(x) * max(map(abs, limits))
    assert np.all(release.estimate >= low - room)
    assert np.all(release.estimate <= high + room)


@cases(60)
@given(good, st.sampled_from(["replace", "add-remove"]))
def test_means_are_right(table, neighbors) -> None:
    table = (*table[:5], {"constant": "constant", "nan": "nan"}.get(table[5], "plain"), *table[6:])
    x, data = numbers_and_table(table)
    release = outcome(lambda: prolate.mean(data, budget=BIG, neighbors=neighbors, seed=1))
    spread = np.nanstd(x, axis=0)
    room = 6 * release.noise_std + 0.5 * spread + 1e-3 * np.abs(x[np.isfinite(x)]).max(initial=0)
    assert np.all(np.abs(release.estimate - np.nanmean(x, axis=0)) <= room)


@cases(60)
@given(good, st.sampled_from([0.1, 0.25, 0.5, 0.9]))
def test_quantiles_are_right(table, q) -> None:
    table = (*table[:5], {"nan": "nan"}.get(table[5], "plain"), *table[6:])
    x, data = numbers_and_table(table)
    release = outcome(lambda: prolate.quantile(data, q, budget=BIG, seed=1))
    for j, found in enumerate(release.estimate):
        known = np.sort(x[np.isfinite(x[:, j]), j])
        near = 1e-2 * max(np.ptp(known), abs(found), 1e-9)
        assert np.mean(known < found - near) <= q + 0.05
        assert np.mean(known <= found + near) >= q - 0.05


@cases(40)
@given(st.lists(st.sampled_from(["a", " a", "b", "", None, "é", "nan", "1", "1.0", "\u202e",
"x\0"]),
                min_size=30, max_size=60), st.booleans())  # fmt: skip
def test_groups_are_counted(labels, as_pandas) -> None:
    import pandas as pd
    import pyarrow as pa

    table = pa.table({"g": pa.array(labels, pa.string()), "v": range(len(labels))})
    data = table.to_pandas() if as_pandas else table
    keys = ["a", "b", "é", "nan", "1", "1.0", "\u202e", "none"]
    release = outcome(lambda: prolate.count(data, by="g", keys=keys, budget=BIG, seed=1))
    stripped = pd.Series([None if x is None else x.strip(" ") for x in labels])
    for key in keys:
        assert release[key].estimate[0] == pytest.approx((stripped == key).sum(), abs=0.01)


@cases(30)
@given(st.fixed_dictionaries({}, optional={
    "n": st.sampled_from([100, 1, 0, -1, 2**38, 2**39, 1e3, 1.5, "9", None, True, math.nan]),
    "d": st.sampled_from([1, 2, 0, -1, 1.0, "2", None, True, [1]]),
    "scale": st.sampled_from([None, 1, [1, 2], 0, math.inf, "x", [], [[1]], {"x0": 1}, 1e-139,
    1e139]),
    "bounds": bounds,
    "target": st.sampled_from([None, 0.0, -1, math.nan, math.inf, "1", [1]]),
    "delta": st.sampled_from([None, 0, 1, 1e-6, math.nan, "1"]),
    "offset": st.sampled_from([None, 0, 1, "a", math.nan]),
    "method": st.sampled_from(["gaussian-ellipse", "gaussian", "best", None]),
    "error_norm": st.sampled_from(SHAPES["error_norm"]),
    "clip": st.sampled_from(SHAPES["clip"]),
}), budgets)  # fmt: skip
def test_forecasts(options, budget) -> None:
    options = {"n": 100, "d": 1, "method": "gaussian-ellipse", **options}

    def forecast() -> Any:
        found = prolate.expected_error(budget=Budget(**budget), **options)
        assert np.isfinite(found.noise)
        assert str(found)
        return prolate.sum([[0.0]], bounds=(0, 1), budget=BIG, seed=1)

    outcome(forecast)
