"""A few columns of different kinds are clipped each between ends of its own."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pandas as pd
import pytest

import prolate
from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.clipping import column_sides, division, ends, kinds
from prolate.estimators.clipping.kinds import find_kinds
from prolate.estimators.estimate import Estimate
from prolate.estimators.search.first_mean import FirstMean
from prolate.estimators.search.learn import learn_shape
from prolate.estimators.search.shape import Shape
from prolate.sources import open_source
from prolate.theory import RELATIVE

TABLES = import_module("prolate.estimators.tables")
BUDGET = Budget(epsilon=1.0, delta=1e-6)


def table(seed: int, rows: int = 20_000) -> np.ndarray:
    """Return flags, amounts, counts, grades and two normal columns."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [
            rng.random(rows) < 0.52,
            np.exp(rng.normal(7.5, 1.2, rows)),
            rng.random((rows, 2)) < [0.12, 0.01],
            rng.poisson(2.0, rows),
            rng.integers(1, 6, rows),
            rng.normal(130.0, 20.0, (rows, 2)),
        ]
    ).astype(float)


def errors_of(rows: list[np.ndarray], **options) -> tuple[np.ndarray, np.ndarray]:
    """Return errors, over the columns' standard deviations, and those over what is stated."""
    errors, stated = [], []
    for seed, each in enumerate(rows):
        made = prolate.mean(each, budget=BUDGET, error_norm="relative", seed=seed, **options)
        off = made.estimate - np.nanmean(np.asarray(each, dtype=float), axis=0)
        errors.append(off / np.nanstd(np.asarray(each, dtype=float), axis=0))
        stated.append(off / np.hypot(made.noise_std, made.clipping_std))
    return np.array(errors), np.array(stated)


def rms(errors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


@pytest.mark.long
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_errors_are_smaller_than_of_columns_clipped_together(neighbors, monkeypatch) -> None:
    rows = [table(seed) for seed in range(10)]
    errors, stated = errors_of(rows, neighbors=neighbors)
    assert np.mean(np.abs(stated) < 1.96) > 0.9
    assert np.max(np.abs(stated)) < 5.0
    monkeypatch.setattr(TABLES, "find_kinds", lambda *_: None)  # a planted fault
    together, _ = errors_of(rows, neighbors=neighbors)
    print(neighbors, rms(errors), rms(together))
    assert rms(errors) < 0.75 * rms(together)


@pytest.mark.long
def test_columns_that_are_alike_are_clipped_together(monkeypatch) -> None:
    """Cut normal columns, some of them rare values: one by one they had 1.7 times the error."""

    def errors() -> float:
        found = []
        for seed in range(10):
            normal = np.random.default_rng(seed).standard_normal((8000, 12))
            rows = np.maximum(normal, np.linspace(-0.8, 0.3, 12))
            made = prolate.mean(rows, budget=Budget(rho=0.4), seed=seed)
            found.append(made.estimate - rows.mean(axis=0))
        return rms(np.array(found))

    together = errors()
    monkeypatch.setattr(division, "_ALIKE", 0.0)  # a planted fault
    apart = errors()
    print(together, apart)
    assert together < 0.75 * apart


def test_what_clipping_likely_takes_is_given_back() -> None:
    rows = table(0)[:, :2]
    one, index = np.ones(2), np.arange(2)
    shape = Shape(
        len(rows), Curator(open_source(rows), BUDGET), rows.mean(axis=0), rows.std(axis=0), 0.1
    )

    def found(lost: np.ndarray) -> np.ndarray:
        curator = Curator(open_source(rows), BUDGET, seed=3)
        cut = ends.Ends(index, one, one, lost, 0.0 * one, 0.0 * one, one, 0.0 * one)
        return ends.mean_between_ends(curator, shape, cut, 2.0).value

    given = np.array([0.25, -0.5])
    assert found(given) - found(0.0 * given) == pytest.approx(given * shape.spread)


def test_columns_with_missing_values(monkeypatch) -> None:
    rows = []
    for seed in range(6):
        made = table(seed, 40_000)
        made[np.random.default_rng(seed).random(len(made)) < 0.4, 1] = np.nan
        rows.append(made)
    errors, stated = errors_of(rows)
    assert np.mean(np.abs(stated) < 1.96) > 0.9
    assert rms(errors) < 0.008
    monkeypatch.setattr(kinds, "_NOISY", 0.0)  # a planted fault: they are never counted
    assert rms(errors_of(rows)[0]) > 1.2 * rms(errors)


def test_columns_that_are_alike_stay_together() -> None:
    rng = np.random.default_rng(3)
    for rows in (rng.uniform(size=(20_000, 8)), rng.standard_normal((20_000, 8))):
        made = prolate.mean(rows, budget=Budget(rho=0.1), seed=1)
        assert "columns_apart" not in made.details
    for rows in (rng.standard_normal((20_000, 41)), table(0, 2_000)):  # many; and noisy counts
        made = prolate.mean(rows, budget=BUDGET, seed=1, error_norm="relative")
        assert all(entry.label != "sides of columns" for entry in made.receipt)


@pytest.mark.long
def test_booleans_end_at_their_values(monkeypatch) -> None:
    """As known from their types: then none of the budget is for where they are."""

    def frame(seed: int) -> pd.DataFrame:
        rng, rows = np.random.default_rng(seed), 20_000
        made = {"rare": rng.random(rows) < 0.01, "flag": rng.random(rows) < 0.3}
        made |= {"age": rng.normal(40.0, 12.0, rows), "cost": rng.lognormal(size=rows)}
        return pd.DataFrame(made)

    rows = [frame(seed) for seed in range(24)]
    errors, stated = errors_of(rows)
    assert np.mean(np.abs(stated) < 1.96) > 0.9
    monkeypatch.setattr(kinds, "_bounded", lambda shape: np.zeros(4, dtype=bool))  # a planted fault
    searched, _ = errors_of(rows)
    print("booleans", rms(errors[:, :2]), "searched", rms(searched[:, :2]))
    assert rms(errors[:, :2]) < rms(searched[:, :2])


def test_ends_are_no_farther_than_public_bounds() -> None:
    rows = table(1)
    curator = Curator(
        open_source(rows), BUDGET, seed=0, bounds=(np.full(8, -np.inf), np.full(8, 1e4))
    )
    _, shape = learn_shape(curator, len(rows), relative=True)
    found = find_kinds(curator, shape, RELATIVE)
    assert found is not None
    assert 1 in found.ends.index
    at = found.ends.index
    upper = shape.center[at] + found.ends.right * shape.spread[at]
    assert np.all(upper <= 1e4 * (1 + 1e-12))


def test_the_whole_budget_is_spent_once() -> None:
    for options in ({}, {"error_norm": 1.0}, {"error_norm": "relative"}):
        made = prolate.mean(table(1), budget=BUDGET, seed=1, **options)
        assert sum(entry.share for entry in made.receipt) == pytest.approx(1.0)
        assert np.all(np.isfinite(made.noise_std))


@pytest.mark.parametrize("p", [1.0, 2.0, 100.0, "relative"])
@pytest.mark.parametrize("unit", [1e-80, 1e80])
def test_in_any_unit(p: float | str, unit: float) -> None:
    rows = table(0)
    made = prolate.mean(unit * rows, budget=BUDGET, error_norm=p, seed=0)
    assert np.all(np.isfinite(made.estimate))
    off = np.abs(made.estimate - unit * rows.mean(axis=0))
    assert np.all(off < 6.0 * np.hypot(made.noise_std, made.clipping_std))


@pytest.mark.parametrize("kind", ["normal", "one is exponential"])
def test_columns_whose_counts_noise_explains_have_no_ends(kind: str) -> None:
    """Nor are curves fitted to their tails, which takes longer than to read a million rows."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20_000, 6))
    if kind == "one is exponential":
        rows[:, 2] = rng.exponential(size=20_000)
    curator = Curator(open_source(rows), Budget(rho=0.5), seed=0)
    _, shape = learn_shape(curator, len(rows))
    sides = column_sides.measure_column_sides(shape, np.arange(6), share=0.05)
    assert (sides is not None) == (kind == "one is exponential")


def test_moments_are_those_of_the_values() -> None:
    rows = np.random.default_rng(0).normal(3.0, 2.0, (100_000, 2))
    rows[:, 1] = np.random.default_rng(1).exponential(size=100_000)
    curator = Curator(open_source(rows), Budget(rho=5.0), seed=0)
    _, shape = learn_shape(curator, len(rows))
    sides = column_sides.measure_column_sides(shape, np.arange(2), share=0.5)
    assert sides is not None
    square, kurtosis = sides.moments(np.full(2, 200.0), np.full(2, 200.0))
    spread = rows.std(axis=0) / shape.spread
    assert square == pytest.approx(spread**2, rel=0.1)
    assert kurtosis == pytest.approx([3.0, 9.0], rel=0.25)
    near, _ = sides.moments(np.ones(2), np.ones(2))
    assert np.all(near < 0.8 * square)


def estimate(value: float, noise: float) -> Estimate:
    """Return a mean of one column."""
    return Estimate(np.array([value]), np.array([noise]), None, 1e4, clipping_std=np.zeros(1))


@pytest.mark.parametrize(
    ("found", "kept"),
    [
        (estimate(0.0, 0.001), True),  # it has lost what the first mean has seen
        (estimate(0.02, 0.002), False),  # they agree
        (estimate(0.3, 0.01), False),  # the first one has lost what this has seen
        (estimate(0.5, 0.3), True),  # they agree, but this one is next to nothing
    ],
)
def test_first_means_of_rare_values_that_are_lost_are_kept(found: Estimate, kept: bool) -> None:
    part, noise = np.array([0.025]), np.array([0.002])
    first = FirstMean(part, noise, np.zeros(1), np.ones(1), None, 0.1, several=False, lost=0.0)
    rows = np.zeros((100, 1))
    shape = Shape(
        100, Curator(open_source(rows), BUDGET), np.zeros(1), np.full(1, 0.1), 0.1, first=first
    )
    told = TABLES._unless_lost(shape, found)
    assert told.value[0] == (0.025 if kept else found.value[0])
    assert told.noise_std[0] == (0.002 if kept else found.noise_std[0])
