"""The public functions: arguments, odd data, and what a release says."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import prolate
from prolate import Budget, BudgetError, InputError, Ledger, LedgerError, ProlateError, Release
from prolate.api.count import _names
from prolate.estimators.clipping import allowance
from prolate.terminal import print_release

BUDGET = Budget(rho=0.5)
ROWS = np.random.default_rng(5).normal([20.0, -3.0, 1e6], [4.0, 0.1, 30.0], size=(6000, 3))


def every_function(data, **options):
    """Call each public function on `data`; yield its name and release."""
    bounds = options.pop("bounds", (-1e7, 1e7))
    yield "mean", prolate.mean(data, budget=BUDGET, **options)
    yield "sum", prolate.sum(data, budget=BUDGET, bounds=bounds, **options)
    yield "variance", prolate.variance(data, budget=BUDGET, **options)
    yield "quantile", prolate.quantile(data, [0.25, 0.5], budget=BUDGET, **options)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_estimates_are_near_the_truth(neighbors):
    truth = {
        "mean": ROWS.mean(axis=0),
        "sum": ROWS.sum(axis=0),
        "variance": ROWS.var(axis=0),
        "quantile": np.quantile(ROWS, [0.25, 0.5], axis=0),
    }
    for name, release in every_function(ROWS, neighbors=neighbors, seed=3):
        error = np.abs(release.estimate - truth[name])
        assert np.all(error <= 6.0 * release.noise_std + 1e-3 * np.abs(truth[name])), name
        assert release.statistic == name
        assert release.columns == ("x0", "x1", "x2")
        assert release.neighbors == neighbors
        assert abs(release.n - 6000) <= (0 if neighbors == "replace" else 200)


def test_the_receipt_never_exceeds_the_budget_and_nearly_all_of_it_is_spent():
    for name, release in every_function(ROWS, seed=1):
        spent = sum(entry.mu**2 for entry in release.receipt)
        assert 0.99 * BUDGET.mu**2 < spent <= BUDGET.mu**2 * (1 + 1e-12), name


def test_the_same_seed_gives_the_same_release_and_says_that_it_is_not_private():
    for (_, first), (_, second) in zip(
        every_function(ROWS, seed=9), every_function(ROWS, seed=9), strict=True
    ):
        assert np.array_equal(first.estimate, second.estimate)
        assert not first.private
    fresh = [prolate.mean(ROWS, budget=BUDGET) for _ in range(2)]
    assert not np.array_equal(fresh[0].estimate, fresh[1].estimate)
    assert fresh[0].private


def test_a_quantile_alone_has_one_value_per_column():
    assert prolate.quantile(ROWS, 0.5, budget=BUDGET).estimate.shape == (3,)
    assert prolate.quantile(ROWS, [0.5], budget=BUDGET).estimate.shape == (1, 3)


def test_quantiles_never_cross():
    q = [0.9, 0.1, 0.5, 0.51]
    estimate = prolate.quantile(ROWS[:300], q, budget=BUDGET).estimate
    assert np.all(np.diff(estimate[np.argsort(q)], axis=0) >= 0.0)


ODD = {
    "constant": np.full((500, 2), 7.25),
    "zero": np.zeros((500, 2)),
    "missing": np.full((500, 2), np.nan),
    "infinite": np.full((500, 2), np.inf),
    "largest": np.full((500, 2), 1.7e308) * [1, -1],
    "smallest": np.full((500, 2), 5e-324),
    "both ends": np.tile([[1.7e308], [-1.7e308]], (250, 2)),
    "one row": np.ones((1, 2)),
    "few rows": np.arange(8.0).reshape(4, 2),
    "rare ones": (np.arange(5000).reshape(-1, 1) % 100 == 0) * np.ones((1, 40)),
    "booleans": np.arange(1000).reshape(-1, 2) % 3 == 0,
    "bytes": np.arange(1000, dtype=np.uint8).reshape(-1, 2),
    "half": np.arange(1000, dtype=np.float16).reshape(-1, 2),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_odd_data_gives_finite_numbers_and_no_error(name, neighbors):
    for function, release in every_function(ODD[name], neighbors=neighbors, bounds=(-10, 10)):
        assert np.all(np.isfinite(release.estimate)), function
        assert np.all(np.isfinite(release.noise_std)), function


def test_tilts_that_vanish_beside_tiny_scales_are_no_error(monkeypatch):
    """One in some thousand releases of constants ended after its charge, by a division by zero."""
    monkeypatch.setattr(allowance, "_far_tilt", lambda loss, radius: 5e-324)
    for function in (prolate.mean, prolate.variance):
        release = function(ODD["constant"], budget=BUDGET, seed=892)
        assert np.all(np.isfinite(release.interval(0.95)))


def test_no_rows_is_an_error_only_where_the_number_of_rows_is_public():
    nothing = np.zeros((0, 2))
    with pytest.raises(InputError, match="no rows"):
        prolate.mean(nothing, budget=BUDGET)
    for _, release in every_function(nothing, neighbors="add-remove"):
        assert np.all(np.isfinite(release.estimate))


def test_a_constant_column_comes_back_with_little_noise():
    rows = np.column_stack([ROWS[:, 0], np.full(6000, 7.25)])
    release = prolate.mean(rows, budget=BUDGET, seed=2)
    assert abs(release.estimate[1] - 7.25) < 0.01


def test_missing_cells_move_the_mean_no_more_than_they_justify():
    holes = ROWS.copy()
    rng = np.random.default_rng(1)
    where = rng.random(ROWS.shape) < 0.02
    holes[where] = rng.choice([np.nan, np.inf, -np.inf], size=int(where.sum()))
    release = prolate.mean(holes, budget=BUDGET, seed=4)
    known = np.nanmean(np.where(np.isfinite(holes), holes, np.nan), axis=0)
    spread = ROWS.std(axis=0)
    assert np.all(np.abs(release.estimate - known) <= 6 * release.noise_std + 0.002 * spread)


def test_a_missing_value_counts_as_zero_in_a_sum_or_as_the_bound_next_to_it():
    rows = np.array([[np.nan, np.nan], [2.0, 12.0]] * 5000)
    r = prolate.sum(rows, bounds=([0, 10], [5, 20]), budget=Budget(mu=5), seed=1)
    assert np.all(np.abs(r.estimate - [10000, 5000 * (12 + 10)]) < 6 * r.noise_std)


def test_values_are_cut_to_public_bounds():
    release = prolate.mean(ROWS, budget=BUDGET, bounds={"x0": (0, 10)}, seed=1)
    cut = np.clip(ROWS[:, 0], 0, 10).mean()
    assert abs(release.estimate[0] - cut) < 6 * release.noise_std[0] + 0.05
    quantile = prolate.quantile(ROWS, 0.9, budget=BUDGET, bounds={"x0": (0, 10)}, seed=1)
    assert quantile.estimate[0] == pytest.approx(10)


def test_columns_are_chosen_by_name_and_position():
    release = prolate.mean(ROWS, budget=BUDGET, columns=["x2", 0], seed=1)
    assert release.columns == ("x2", "x0")
    assert release.estimate[0] == pytest.approx(1e6, rel=1e-3)


@pytest.mark.parametrize("method", ["plan", "plan-noscale"])
def test_plan_is_near_the_truth_and_says_what_universe_it_took(method):
    release = prolate.mean(ROWS[:, :2], budget=BUDGET, method=method, seed=6)
    assert np.all(
        np.abs(release.estimate - ROWS[:, :2].mean(axis=0)) < 8 * release.noise_std + 0.05
    )
    assert "universe" in release.warnings[0]
    bounded = prolate.mean(ROWS[:, :2], budget=BUDGET, method=method, bounds=(-100, 100), seed=6)
    assert not bounded.warnings


def test_plan_refuses_add_remove():
    with pytest.raises(InputError, match="replace"):
        prolate.mean(ROWS, budget=BUDGET, method="plan", neighbors="add-remove")


def test_the_plain_gaussian_mechanism_has_the_noise_of_its_formula():
    release = prolate.mean(ROWS, budget=BUDGET, method="gaussian", bounds=(-1e7, 1e7))
    expected = np.sqrt(3) * 2e7 / BUDGET.mu / 6000
    assert release.noise_std == pytest.approx([expected] * 3, rel=1e-5)


BAD_DATA = {
    "text": (np.array([["a", "b"]]), "holds text"),
    "objects": (np.array([[object(), 1]], dtype=object), "holds object"),
    "complex": (np.array([[1 + 1j, 2]]), "complex"),
    "one dimension": (np.arange(5.0), r"reshape\(-1, 1\)"),
    "three dimensions": (np.zeros((2, 2, 2)), "two dimensions"),
    "no columns": (np.zeros((5, 0)), "column"),
    "a number": (3.0, "float is not supported"),
    "None": (None, "NumPy"),
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_data_is_refused_with_a_sentence(name):
    data, text = BAD_DATA[name]
    for function in (prolate.mean, prolate.variance):
        with pytest.raises(InputError, match=text):
            function(data, budget=BUDGET)


def test_relative_errors_are_alike_whatever_the_units(capsys) -> None:
    size = np.array([1e-3, 1.0, 100.0, 1e5])
    rows = np.random.default_rng(3).normal(2.0 * size, size, size=(20_000, 4))
    budget = Budget(epsilon=1, delta=1e-6)
    shaped = prolate.mean(rows, budget=budget, seed=0)
    release = prolate.mean(rows, budget=budget, error_norm="relative", seed=0)
    noise, usual = release.noise_std / size, shaped.noise_std / size
    assert noise.max() < 2.5 * noise.min()  # 1.4 times in the median, 2.2 in the worst of 60
    assert usual.max() > 100.0 * usual.min()
    assert np.abs(release.estimate - rows.mean(axis=0)) / size == pytest.approx(0.0, abs=0.02)
    assert release.error_norm == "relative"
    assert Release.from_json(release.to_json()).error_norm == "relative"
    print_release(shaped, level=0.95, receipt=False)
    assert "error_norm='relative'" in " ".join(capsys.readouterr().out.split())
    print_release(release, level=0.95, receipt=False)
    said = " ".join(capsys.readouterr().out.split())
    assert "errors relative to spreads" in said
    assert "error_norm='relative'" not in said
    baskets = np.random.default_rng(0).random((20_000, 40)) < 0.05
    rare = prolate.mean(baskets, budget=budget, error_norm="relative", seed=0)
    assert rare.estimate == pytest.approx(baskets.mean(axis=0), abs=0.02)


BAD_ARGUMENTS = {
    "budget": ({"budget": 1.0}, BudgetError, "prolate.Budget"),
    "column": ({"columns": ["x9"]}, InputError, "x9"),
    "columns": ({"columns": []}, InputError, "column"),
    "norm": ({"error_norm": 0.5}, InputError, "p >= 1"),
    "norm type": ({"error_norm": "two"}, InputError, "p >= 1"),
    "norm text": ({"error_norm": "2"}, InputError, "p >= 1"),
    "norm flag": ({"error_norm": True}, InputError, "p >= 1"),
    "norm array": ({"error_norm": np.ones(1)}, InputError, "p >= 1"),
    "neighbors": ({"neighbors": "swap"}, InputError, "add-remove"),
    "method": ({"method": "plam"}, InputError, "Did you mean 'plan'"),
    "seed": ({"seed": -1}, InputError, "non-negative"),
    "bounds order": ({"bounds": (2, 1)}, InputError, "lower <= upper"),
    "bounds nan": ({"bounds": (0, np.nan)}, InputError, "finite"),
    "bounds shape": ({"bounds": ([0, 0], 1)}, InputError, "one per column"),
    "bounds column": ({"bounds": {"x7": (0, 1)}}, InputError, "x7"),
    "bounds pair": ({"bounds": 5}, InputError, "pair"),
    "bounds text": ({"bounds": ("a", "b")}, InputError, "numbers"),
    "bounds none": ({"bounds": (0, None)}, InputError, "bounds must be numbers; got None"),
    "bounds masked": ({"bounds": (np.ma.masked, 1)}, InputError, "numbers"),
    "bounds wanted": ({"method": "gaussian"}, InputError, "bounds"),
}


@pytest.mark.parametrize("name", BAD_ARGUMENTS)
def test_bad_arguments_are_refused_with_a_sentence(name):
    options, error, text = BAD_ARGUMENTS[name]
    with pytest.raises(error, match=text):
        prolate.mean(ROWS, **{"budget": BUDGET, **options})


NEEDED = {
    "mean": {},
    "sum": {"bounds": (0, 1)},
    "variance": {},
    "quantile": {"q": 0.5},
    "covariance": {},
    "count": {},
    "regress": {"target": "x2"},
}
ALONG = {"keys": {"by": "x0"}, "contribution": {"unit": "x0"}}
ALONG["max_rows"] = {"unit": "x0", "contribution": "rows"}


@pytest.mark.parametrize("function", NEEDED)
@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist, lambda rows: rows[:, 0]])
def test_rows_in_the_place_of_another_argument_are_not_repeated(function, kind):
    rows = np.random.default_rng(6).normal(size=(6, 3))
    for name in inspect.signature(getattr(prolate, function)).parameters:
        if name == "data" or (name == "keys" and np.ndim(kind(rows)) == 1):  # which are keys
            continue
        given = {"budget": BUDGET} | NEEDED[function] | ALONG.get(name, {}) | {name: kind(rows)}
        with pytest.raises(ProlateError) as refusal:
            getattr(prolate, function)(rows, **given)
        assert not any(f"{abs(value):.4f}"[:6] in str(refusal.value) for value in rows.flat)


@pytest.mark.parametrize(
    ("q", "got"),
    [
        (1.5, "got 1.5"),
        ([-0.1], "of type list"),
        ([], "got an empty list"),
        ("0.5", "got '0.5'"),  # text, a flag and what is masked were numbers, 0.5, 1 and 0
        (["0.5"], "of type list"),
        (True, "got True"),
        ([False, 0.5], "of type list"),
        (np.array([True]), "of type ndarray"),
        (np.ma.masked, "of type MaskedConstant"),
        (np.ma.array([0.5, 0.2], mask=[0, 1]), "of type MaskedArray"),
        (np.array([0.5 + 0j]), "of type ndarray"),
        (np.nan, "got nan"),
        ([[0.5]], "of type list"),
        ([[0.5], [0.1, 0.2]], "of type list"),
    ],
)
def test_bad_quantiles_are_refused(q, got):
    with pytest.raises(InputError, match=f"between 0 and 1, .*{got}"):
        prolate.quantile(ROWS, q, budget=BUDGET)


@pytest.mark.parametrize("q", [0.5, np.float32(0.5), Decimal("0.5"), np.array(0.5), Fraction(1, 2)])
def test_a_quantile_may_be_a_number_of_any_library(q):
    found = prolate.quantile(ROWS, q, budget=BUDGET, seed=1)
    assert found == prolate.quantile(ROWS, 0.5, budget=BUDGET, seed=1)
    several = prolate.quantile(ROWS, np.ma.array([q, 1]), budget=BUDGET, seed=1)
    assert several.quantile_labels == [0.5, 1.0]


def test_a_sum_needs_bounds_of_every_column():
    with pytest.raises(InputError, match=r"'x1'.*none are given"):
        prolate.sum(ROWS, bounds={"x0": (0, 1)}, budget=BUDGET)


def test_centers_and_scales_that_do_not_fit_the_columns_cost_nothing(tmp_path):
    """What is wrong with them is known without a row, so no budget may be spent on it."""
    ledger = Ledger.create(tmp_path / "ledger.db", limit=Budget(rho=1))
    frame = pd.DataFrame({"age": ROWS[:, 0], "ward": "a"})
    shapes: list[dict[str, Any]] = [
        {"center": {"ag": 1}, "scale": 1},
        {"center": [1, 2, 3], "scale": 1},
        {"center": 0, "scale": -1},
        {"center": np.nan, "scale": 1},
    ]
    for shape, groups, method in itertools.product(
        shapes, [{}, {"by": "ward", "keys": ["a"]}], ["auto", "gaussian-ellipse"]
    ):
        for function in [prolate.mean] if method == "auto" else [prolate.mean, prolate.sum]:
            given = {"columns": "age", "method": method, **shape, **groups}
            with pytest.raises(InputError, match=r"^(center|scale) "):
                function(frame, budget=BUDGET, ledger=ledger, **given)
    assert ledger.spent is None


@pytest.mark.parametrize("method", ["plan", "plan-exponential", "iome", "coinpress"])
def test_methods_that_need_the_number_of_rows_cost_nothing_where_it_is_private(tmp_path, method):
    """Whatever makes it private: it was charged first, and called add-remove where it was not."""
    ledger = Ledger.create(tmp_path / "ledger.db", limit=Budget(rho=1))
    frame = pd.DataFrame({"age": ROWS[:, 0], "ward": "a", "who": range(len(ROWS))})
    hidden: list[dict[str, Any]] = [{"neighbors": "add-remove"}]
    if not method.startswith("plan"):  # which is refused for another reason there
        hidden += [
            {"by": "ward", "keys": ["a"]},
            {"unit": "who", "contribution": "rows", "max_rows": 2},
            {"unit": "who", "neighbors": "add-remove"},
        ]
    for given in hidden:
        with pytest.raises(InputError, match=f"^method='{method}' needs a public number of rows"):
            prolate.mean(
                frame,
                columns="age",
                method=method,
                bounds=(0, 50),
                budget=BUDGET,
                ledger=ledger,
                **given,
            )
    assert ledger.spent is None


def test_the_ledger_is_charged_before_rows_are_read_and_can_refuse(tmp_path):
    ledger = Ledger.create(tmp_path / "ledger.db", limit=Budget(rho=1.1))
    for _, _ in zip(range(2), every_function(ROWS, ledger=tmp_path / "ledger.db"), strict=False):
        pass
    assert ledger.spent is not None
    assert ledger.spent.rho == pytest.approx(1.0)
    with pytest.raises(LedgerError, match="limit"):
        prolate.mean(ROWS, budget=BUDGET, ledger=ledger)


FACES = [
    prolate.count,
    functools.partial(prolate.mean, columns=["x0"]),
    functools.partial(prolate.variance, columns=["x0"]),
    functools.partial(prolate.covariance, columns=["x0", "x1"]),
    functools.partial(prolate.sum, columns=["x0"], bounds=(-1e7, 1e7)),
    functools.partial(prolate.quantile, columns=["x0"], q=0.5),
    functools.partial(prolate.regress, target="x0", features=["x1"]),
]


@pytest.mark.parametrize("first", ["replace", "add-remove"])
@pytest.mark.parametrize("unit", [None, "who"])
def test_a_ledger_takes_releases_that_hide_the_same(tmp_path, first, unit):
    """Whatever the statistic; and a number of rows, too, which costs nothing."""
    ledger = Ledger.create(tmp_path / "ledger.db", limit=Budget(rho=100))
    data = pa.table(
        {"x0": ROWS[:, 0], "x1": ROWS[:, 1], "who": [*"abc"] * 2000, "group": [*"ab"] * 3000}
    )
    given = {"budget": BUDGET, "ledger": ledger}
    (other,) = {"replace", "add-remove"} - {first}
    counted = prolate.count(data, neighbors=first, unit=unit, **given)
    assert (ledger.spent is None) is bool(counted.noise_std[0] == 0.0) is (first == "replace")
    assert (ledger.neighbors, ledger.unit) == (first, unit)
    for face in FACES:
        for neighbors, whose in ((other, unit), (first, None if unit else "who")):
            with pytest.raises(
                LedgerError, match="Costs can be added up only if all releases hide the same"
            ):
                face(data, neighbors=neighbors, unit=whose, **given)
    with pytest.raises(
        LedgerError, match="Costs can be added up only if all releases hide the same"
    ):
        prolate.count(data, by="group", keys=["a"], neighbors=other, **given)
    assert len(ledger.entries()) == 1
    prolate.mean(data, columns=["x0"], neighbors=first, unit=unit, **given)
    assert len(ledger.entries()) == 2


@pytest.mark.parametrize("stated", [False, True])
def test_how_many_rows_there_are_is_not_told_before_a_ledger_has_agreed(tmp_path, capfd, stated):
    """Neither that there are none, nor by a bar: for an add-remove ledger it is private."""
    ledger = Ledger.create(
        tmp_path / "ledger.db", limit=Budget(rho=9), neighbors="add-remove" if stated else None
    )
    if not stated:
        ledger.charge(Budget(rho=1), neighbors="add-remove")
    entries = len(ledger.entries())
    (tmp_path / "none.csv").write_text("x\n")
    (tmp_path / "some.csv").write_text("x\n" + "1\n" * 54_321)
    for face in (prolate.mean, prolate.variance, prolate.count):
        for name in ("none.csv", "some.csv"):
            with pytest.raises(LedgerError, match="all releases hide the same"):
                face(tmp_path / name, budget=BUDGET, ledger=ledger, progress=True)
    assert "54,321" not in "".join(capfd.readouterr())
    assert len(ledger.entries()) == entries


@pytest.mark.parametrize("unit", [None, "who"])
def test_a_count_that_is_public_says_that_nothing_was_charged(unit):
    given = {"budget": prolate.Budget(epsilon=1, delta=1e-6), "unit": unit}
    table = pa.table({"x": [1.0, 2.0, 3.0], "who": ["a", "b", "b"]})
    counted = prolate.count(table, **given)
    what = "rows" if unit is None else "persons"
    assert repr(counted).startswith(
        f"Public count, {3 - (unit is not None)} {what}, nothing charged"
    )
    assert counted.guarantee.startswith(f"The number of {what} is public")
    page = counted.to_html()
    assert "epsilon = 1 " not in counted.guarantee + repr(counted)
    assert "nothing was charged" in page
    assert "Where the budget went" not in page
    assert "differential privacy" not in page
    noisy = prolate.count(table, neighbors="add-remove", **given)
    assert "nothing" not in repr(noisy) + noisy.guarantee
    seeded = prolate.count(table, seed=1, **given)
    assert repr(seeded).startswith("NOT PRIVATE (seeded) count")
    assert seeded.guarantee.startswith("No privacy is guaranteed")


def test_a_ledger_that_has_decided_nothing_does_so_before_rows_are_counted(tmp_path):
    ledger = Ledger.create(tmp_path / "ledger.db", limit=Budget(rho=9))
    (tmp_path / "none.csv").write_text("x\n")
    for _ in range(2):
        with pytest.raises(InputError, match="no rows"):
            prolate.mean(tmp_path / "none.csv", budget=BUDGET, ledger=ledger)
    counted = prolate.count(tmp_path / "none.csv", budget=BUDGET, ledger=ledger)
    assert counted.estimate.tolist() == [0.0]
    assert ledger.neighbors == "replace"
    assert [entry.rho for entry in ledger.entries()] == pytest.approx([BUDGET.rho, 0.0])


def test_bad_arguments_cost_nothing(tmp_path):
    ledger = Ledger.create(tmp_path / "ledger.db", limit=Budget(rho=1))
    with pytest.raises(InputError):
        prolate.mean(ROWS, budget=BUDGET, ledger=ledger, method="plam")
    with pytest.raises(InputError):
        prolate.mean(ROWS, budget=BUDGET, ledger=ledger, bounds=(2, 1))
    assert ledger.spent is None


def test_progress_is_reported():
    seen = []
    prolate.mean(ROWS, budget=BUDGET, progress=lambda *report: seen.append(report))
    labels = [label for label, _, _ in seen]
    assert labels[0] == "magnitude of all columns"
    assert labels[-1] == "mean"
    assert seen[-1][1:] == (6000, 6000)


@pytest.mark.parametrize("groups", [{}, {"by": "x1", "keys": [0]}])
@pytest.mark.parametrize("unit", [None, "x2"])
def test_progress_does_not_show_whether_there_are_rows(groups, unit):
    """Under add-remove that is private, and a bar shows labels."""

    def shown(n: int) -> list[str]:
        labels: list[str] = []
        given = {"budget": BUDGET, "neighbors": "add-remove", "unit": unit, **groups}
        prolate.count(np.zeros((n, 3)), progress=lambda *step: labels.append(step[0]), **given)
        return list(dict.fromkeys(labels))

    assert shown(0) == shown(1) != []


@pytest.mark.parametrize("progress", ["yes", 1, [], {"bar": True}])
def test_progress_that_tells_nobody_is_refused(progress):
    with pytest.raises(InputError, match="progress must be True, False, or a function"):
        prolate.mean(ROWS, budget=BUDGET, progress=progress)


def test_a_rotation_that_was_not_looked_for_is_said():
    for given in ({"error_norm": 1}, {"error_norm": "relative"}):
        warnings = prolate.mean(ROWS, budget=BUDGET, rotation="auto", **given).warnings
        assert any("No rotation was looked for" in warning for warning in warnings)
    alike = ROWS / [4.0, 0.1, 30.0]
    assert not prolate.mean(alike, budget=BUDGET, rotation="auto").warnings


def test_few_rows_are_said_to_be_few():
    rows = np.random.default_rng(2).normal(size=(400, 60))
    assert "few" in prolate.mean(rows, budget=BUDGET).warnings[0]
    assert not prolate.mean(ROWS / [4.0, 0.1, 30.0], budget=BUDGET).warnings


def test_quantiles_of_few_rows_that_are_lost_are_said_not_to_be_used():
    """Where noise hides how large values are, a median may be any: seeded, so never by chance."""
    lost, said = 0, 0
    for n in (20, 50):
        for seed in range(20):
            rows = np.random.default_rng(seed).normal(1985.0, 10.0, (n, 1))
            r = prolate.quantile(rows, 0.5, budget=Budget(epsilon=1, delta=1e-6), seed=seed)
            wild = abs(float(r.estimate.ravel()[0]) - 1985.0) > 100.0
            lost += wild
            said += wild and any("do not use" in warning for warning in r.warnings)
    assert lost == said > 5


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"clip": 1.5}, "between 0 and 1"),
        ({"clip": "hard"}, "'auto'"),
        ({"center": [1.0, 2.0]}, r"one per column \(3\)"),
        ({"center": np.nan}, "finite"),
        ({"center": "middle"}, "numbers"),
        ({"scale": [1, 0, 1]}, "positive"),
        ({"rotation": "always"}, "'auto' or None"),
        ({"clip": 0.1, "method": "plan"}, "for method='auto'"),
        ({"rotation": "auto", "method": "iome"}, "for method='auto'"),
    ],
)
def test_bad_help_is_refused(options, text):
    with pytest.raises(InputError, match=text):
        prolate.mean(ROWS, budget=BUDGET, **options)


def test_bounds_of_two_columns_are_not_taken_for_those_of_all() -> None:
    rows, budget = np.ones((10, 2)), Budget(rho=1)
    refused = [
        [(0, 300), (0, 300)],
        [(0, 300), (0, 200)],
        [(0, 20), (0, 200)],  # would be nothing but 0, and anything up to 200
        ((0, 20), (0, 200)),
        ((0, 0.5), (1, 4)),  # as other libraries write them
        [[0, 5], [10, 200]],
        np.array([[0, 5], [10, 200]]),
    ]
    for bounds in refused:
        with pytest.raises(InputError, match="name the columns: bounds="):
            prolate.sum(rows, bounds=bounds, budget=budget)
    lower, upper = np.zeros(2), np.array([2.0, 3.0])
    taken = [([0, 1], [2, 1]), [[0, 0], [2, 3]], [lower, upper], (lower, upper), ([0, 0.5], [1, 4])]
    for bounds in taken:
        made = prolate.sum(rows, bounds=bounds, budget=Budget(mu=1e3), seed=1)
        assert made.estimate == pytest.approx([10, 10], abs=0.1)


def test_columns_may_be_named_by_number_everywhere() -> None:
    rows = np.random.default_rng(0).normal(5.0, 1.0, (500, 1))
    made = prolate.mean(
        pd.DataFrame({7: rows[:, 0]}),
        columns=[7],
        bounds={7: (0, 10)},
        center={7: 5.0},
        scale={7: 1.0},
        budget=Budget(mu=100),
        seed=1,
    )
    assert made.estimate[0] == pytest.approx(rows.mean(), abs=0.01)


def test_whole_numbers_may_be_numpys_and_exchangeable_is_true_or_false() -> None:
    data = pd.DataFrame({"x": np.arange(100.0), "p": np.arange(100) // 2})
    options = {"columns": "x", "unit": "p", "contribution": "rows", "budget": Budget(rho=1)}
    prolate.mean(data, max_rows=np.int64(2), seed=1, **options)
    with pytest.raises(InputError, match="max_rows"):
        prolate.mean(data, max_rows=2.0, **options)
    with pytest.raises(InputError, match="exchangeable must be True or False"):
        prolate.mean(np.ones((9, 1)), budget=Budget(rho=1), exchangeable="no")
    with pytest.raises(InputError, match="correlation must be True or False; got 'no'"):
        prolate.covariance(np.ones((9, 2)), budget=Budget(rho=1), correlation="no")
    for fit in (
        lambda: prolate.regress(data, "x", budget=Budget(rho=1), fit_intercept="no"),
        lambda: prolate.LinearRegression(fit_intercept=None).fit(data, "x"),
    ):
        with pytest.raises(InputError, match="fit_intercept must be True or False"):
            fit()


def test_no_number_of_a_nested_list_is_an_error() -> None:
    """Whether a value is too large for a double is private."""
    for odd in (10**400, Decimal("sNaN"), None, 2**70):
        made = prolate.mean([[1.0], [5]] * 49 + [[1.0], [odd]], budget=Budget(rho=1), seed=1)
        assert made.n == 100
    with pytest.raises(InputError):
        prolate.mean([[1.0], [2, 3]], budget=Budget(rho=1))


class Odd(float):
    """A number whose own methods raise, and quote it."""

    def __float__(self) -> float:
        raise ZeroDivisionError(repr(self))


def test_no_number_of_another_library_is_an_error() -> None:
    """Of lists and of arrays of Python objects; it counts as missing."""
    rows = [[float(i), float(i % 3)] for i in range(100)]
    rows[5][1] = Odd(5.0)
    assert prolate.mean(rows, budget=Budget(rho=1), seed=1).n == 100
    objects = np.array(rows, dtype=object)
    for X, y in ((rows, np.ones(100)), (objects, np.ones(100)), (np.ones((100, 1)), objects[:, 1])):
        prolate.LinearRegression(rho=1, seed=1).fit(X, y)


def test_quantiles_at_an_end_are_said_to_be_anywhere() -> None:
    rows = np.random.default_rng(0).normal(170.0, 10.0, (20_000, 1))
    for q, said in ((0.0, True), (1.0, True), (0.5, False), (0.05, False)):
        made = prolate.quantile(rows, q, budget=Budget(mu=5.0), seed=1)
        assert any("nearer to the least or the largest" in each for each in made.warnings) == said
    empty = np.full((20_000, 1), np.nan)
    assert prolate.quantile(empty, 0.5, budget=Budget(mu=5.0), seed=1).warnings


@pytest.mark.parametrize("make", [prolate.mean, prolate.variance])
def test_columns_that_others_drown_are_named(make: Callable[..., Release]) -> None:
    """A variance was 0 +- 760, of 150, with no word about the incomes beside it."""
    rng = np.random.default_rng(1)
    costs = {f"cost {year}": rng.normal(9e4, 8e3, 6000) for year in range(5)}
    table = pd.DataFrame({"smoker": rng.random(6000) < 0.3, **costs})
    budget = Budget(epsilon=1, delta=1e-6)
    alike = prolate.mean(table, columns=["smoker"], budget=budget, seed=1)
    for made in (alike, make(table, budget=budget, error_norm="relative", seed=1)):
        assert not any("'relative'" in warning for warning in made.warnings)
    drowned = make(table, budget=budget, seed=1)
    assert any("of 'smoker'" in w and "error norm 'relative'" in w for w in drowned.warnings)


def test_columns_that_could_be_more_certain_are_named() -> None:
    """Ages beside costs: their intervals were three times as wide as with relative errors."""
    rng = np.random.default_rng(1)
    ages = rng.normal(48.0, 16.0, 12_000).clip(18.0, 95.0)
    table = pd.DataFrame({"age": ages, "cost": rng.lognormal(7.0, 1.0, 12_000)})
    budget = Budget(epsilon=1, delta=1e-6)
    for seed in range(5):
        made = prolate.mean(table, budget=budget, seed=seed)
        [said] = [each for each in made.warnings if "'relative'" in each]
        assert "the mean of 'age' much less certain than sampling" in said
        made = prolate.mean(table, budget=budget, error_norm="relative", seed=seed)
        assert not any("'relative'" in each for each in made.warnings)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_sums_that_others_drown_are_named(neighbors: Any) -> None:
    """A sum was 66,000 +- 36,000, of 1,500, with no word about the incomes beside it."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"smoker": rng.random(3000) < 0.3, "income": rng.uniform(0, 1e6, 3000)})
    given: dict[str, Any] = {
        "bounds": {"income": (0, 1e6)},
        "budget": Budget(mu=0.03),
        "neighbors": neighbors,
    }
    for seed in range(20):  # whatever the noise makes of it
        [said] = prolate.sum(table, **given, seed=seed).warnings
        assert "hides the sum of 'smoker'. The error norm 'relative'" in said
        assert not prolate.sum(table, **given, error_norm="relative", seed=seed).warnings
    given["budget"] = Budget(mu=1e3)
    assert not any("hides" in said for said in prolate.sum(table, **given, seed=1).warnings)


def test_sums_near_0_are_not_said_to_be_drowned() -> None:
    """Noise in proportion to their range would hide them, too."""
    rows = np.random.default_rng(1).uniform([-1, 8], [1, 10], (3000, 2))
    bounds = ([-1, 8], [1, 10])
    assert not prolate.sum(rows, bounds=bounds, budget=Budget(mu=0.03), seed=1).warnings


@pytest.mark.parametrize("columns", [["x"], ["city", "x"], ["city"]])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_rows_of_a_stream_that_can_be_read_once_are_counted(columns: list[str], neighbors) -> None:
    table = pa.table({"city": ["a", "b"] * 50, "x": np.arange(100.0)}).select(columns)
    budget = Budget(mu=50)
    assert round(prolate.count(table.to_reader(), budget=budget, neighbors=neighbors).n) == 100


def test_rows_of_a_query_with_text_are_counted() -> None:
    connection = duckdb.connect()  # of older versions, a query does not keep it open
    query = connection.sql("select 'a' city, range x from range(50)")
    assert prolate.count(query, budget=Budget(mu=1)).n == 50


def test_rows_of_files_that_share_only_text_are_counted(tmp_path: Path) -> None:
    pd.DataFrame({"new": ["p"], "who": ["a"]}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"who": ["b", "c"], "old": [1, 2]}).to_parquet(tmp_path / "b.parquet")
    assert prolate.count(tmp_path, budget=Budget(mu=1)).n == 3


def test_names_of_columns_are_found_where_any_attribute_is_a_column() -> None:
    """Through Spark Connect, frame.column_names is a column, and cannot be listed."""

    class Column:
        def __iter__(self) -> Any:
            raise TypeError("Column is not iterable.")

    class Frame:
        columns = ("city", 7, "x")

        def __getattr__(self, name: str) -> Any:
            return Column()

    assert _names(Frame()) == ["city", "x"]
    rows = {"a": ["x"], "b": ["y"]}
    for data in (pd.DataFrame(rows), pa.table(rows), pl.DataFrame(rows)):
        assert _names(data) == ["a", "b"]


def test_a_release_says_that_an_index_was_left_out() -> None:
    frame = pd.DataFrame({"Unnamed: 0": range(400), "a": 1.0, "b": 2.0, "g": "x"})
    budget = Budget(epsilon=1, delta=1e-6)
    for r in (
        prolate.mean(frame.drop(columns="g"), budget=budget),
        prolate.mean(frame, budget=budget, by="g", keys=["x"]).groups["x"],
        prolate.regress(frame.drop(columns="g"), "a", budget=budget),
        prolate.LinearRegression().fit(frame[["Unnamed: 0", "a"]], frame.b).release_,
    ):
        assert r.columns[0] in ("a", "b")
        assert r.warnings[-1].startswith("Left out as an index of the rows: 'Unnamed: 0'.")
    named = prolate.mean(frame, columns=["Unnamed: 0", "a"], budget=budget)
    assert named.columns == ("Unnamed: 0", "a")
    assert not any("Left out" in warning for warning in named.warnings)
    assert prolate.count(frame, budget=budget).warnings == ()
