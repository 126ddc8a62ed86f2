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
from fuzz.arguments import (
    ARGUMENTS,
    SHAPES,
    arguments,
    both,
    bounds,
    budgets,
    columns,
    fresh,
    good,
    numbers_and_table,
    tables,
)
from fuzz.harness import cases, outcome
from hypothesis import given
from hypothesis import strategies as st

import prolate
from prolate import Budget

BIG = Budget(mu=1e4)
QUICK = ("mean", "mean", "sum", "sum", "sum", "quantile", "count")
SLOW = ("variance", "covariance", "correlation", "regression")


def call(statistic: str, data: Any, options: dict[str, Any]) -> Any:
    """Return the release of a statistic."""
    options = fresh(options)
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


@cases(350)
@given(st.sampled_from(QUICK), tables, budgets, bounds, columns, arguments({**ARGUMENTS, **SHAPES}))
def test_quick_functions(statistic, table, budget, limits, chosen, more) -> None:
    options = {"budget": budget, "bounds": limits, "columns": chosen, "seed": 1, **more}
    if statistic in ("quantile", "count", "sum") and more.keys() & SHAPES.keys():
        options = {k: v for k, v in options.items() if k not in SHAPES}
    if statistic == "count":
        del options["bounds"]
    both(lambda data: call(statistic, data, options), table)


@cases(25)
@given(st.sampled_from(SLOW), tables, budgets, bounds, columns, arguments(ARGUMENTS))
def test_slow_functions(statistic, table, budget, limits, chosen, more) -> None:
    options = {"budget": budget, "bounds": limits, "columns": chosen, "seed": 1, **more}
    both(lambda data: call(statistic, data, options), table)


@cases(60)
@given(st.sampled_from([
    0.5, [0.5], [0, 1], [], [[0.5]], -0.1, 1.1, math.nan, "0.5", None, [0.5, None], 1j,
    np.float16(0.5),
    [0.5] * 50, True, {}, {0.5}, np.array(0.25), b"1", [0.5, 0.5], object(), 5e-324, 1 - 1e-16,
]), tables)  # fmt: skip
def test_probabilities(q, table) -> None:
    options = {"q": q, "budget": {"mu": 1.0}, "seed": 1}
    both(lambda data: call("quantile", data, options), table)


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
    keys = ["a", "b", "é", "nan", "1", "\u202e", "none"]
    release = outcome(lambda: prolate.count(data, by="g", keys=keys, budget=BIG, seed=1))
    stripped = pd.Series([None if x is None else x.strip(" ") for x in labels])
    stripped[stripped == "1.0"] = "1"  # one number is one label
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
