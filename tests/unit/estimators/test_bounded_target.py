"""Targets that fill their public bounds: what one sum tells of them, and lines that cut nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import prolate
from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.regression import regression
from prolate.estimators.regression.bounded_target import target_within_bounds
from prolate.estimators.regression.remarks import ALIKE, HIDDEN
from prolate.estimators.regression.standard import Standard
from prolate.sources import open_source

NEIGHBORS = ("replace", "add-remove")
BUDGET = Budget(epsilon=1, delta=1e-6)
WITHIN = "target within bounds"


def curator(values: np.ndarray, bounds: tuple[float, float] | None, **given: Any) -> Curator:
    """Return a curator of rows whose last column, alone, is bounded."""
    rows = values if values.ndim == 2 else values[:, np.newaxis]
    if bounds is not None:
        lower, upper = (
            np.append(np.full(rows.shape[1] - 1, s * np.inf), b)
            for s, b in zip((-1.0, 1.0), bounds, strict=True)
        )
        given["bounds"] = lower, upper
    return Curator(open_source(rows), **{"budget": BUDGET, "seed": 1, **given})


def rare(
    n: int, part: float, k: int = 2, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, flags that `part` of the rows have, and how these depend on the features."""
    rng = np.random.default_rng(seed)
    features = np.clip(rng.normal(size=(n, k)), -2.5, 2.5)
    slopes = part * np.array([0.25, -0.15, *[0.0] * (k - 2)])
    return features, rng.random(n) < part + features @ slopes, slopes


# One sum.


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("part", [0.5, 0.05, 0.01])
@pytest.mark.parametrize("flag", [True, False])
def test_a_sum_tells_mean_and_deviation_of_flags(part: float, flag: bool, neighbors: Any) -> None:
    values = (np.random.default_rng(1).random(50_000) < part).astype(np.float64)
    asked = curator(values, (0.0, 1.0), neighbors=neighbors)
    found = target_within_bounds(asked, 50_000.0, flag=flag)
    assert found is not None
    assert found.filled
    assert abs(found.mean - values.mean()) < 5.0 * found.off < 0.01
    assert found.spread == pytest.approx(values.std(), rel=0.2)
    assert [one.label for one in asked.receipt] == [WITHIN]
    assert 1.0 - asked.remaining < 0.04


def test_units_do_not_matter() -> None:
    values = (np.random.default_rng(1).random(20_000) < 0.1).astype(np.float64)
    one = target_within_bounds(curator(values, (0.0, 1.0)), 20_000.0, flag=True)
    other = target_within_bounds(curator(7.0 - 1e6 * values, (7.0 - 1e6, 7.0)), 2e4, flag=True)
    assert one is not None
    assert other is not None
    assert other.spread == pytest.approx(1e6 * one.spread, rel=0.05)
    assert other.mean == pytest.approx(7.0 - 1e6 * one.mean, abs=1e4)


@pytest.mark.parametrize("bounds", [(0.0, 120.0), (0.0, 1e6), (35.0, 45.0)])
def test_numbers_do_not_fill_their_bounds(bounds: tuple[float, float]) -> None:
    values = np.random.default_rng(1).normal(40.0, 1.5, 20_000)
    found = target_within_bounds(curator(values, bounds), 20_000.0, flag=False)
    assert found is not None
    assert not found.filled


def test_what_noise_hides_is_not_said_to_fill_bounds() -> None:
    """Nor that it does not deviate: by as much as noise, it may."""
    filled = 0
    for seed in range(40):
        found = target_within_bounds(
            curator(np.zeros(2000), (0.0, 1.0), seed=seed), 2e3, flag=False
        )
        assert found is not None
        assert found.spread**2 > 0.5 * found.off
        filled += found.filled
    assert filled == 0


@pytest.mark.parametrize(
    "bounds", [None, (0.0, np.inf), (-np.inf, 0.0), (1.0, 1.0), (0.0, 1e-200), (-1e200, 1e200)]
)
def test_without_usable_bounds_nothing_is_asked(bounds: tuple[float, float] | None) -> None:
    asked = curator(np.zeros(100), bounds)
    assert target_within_bounds(asked, 100.0, flag=False) is None
    assert not asked.receipt


def test_no_value_within_the_bounds_is_cut() -> None:
    center, scale = np.array([3.0, 0.01]), np.array([1.0, 0.1])
    units = Standard(center, scale, np.ones(1, dtype=bool), 0.3, True, ends=(0.0, 1.0))
    assert 9.9 < units.reach < 9.92
    assert units.reach_beside(2.0, np.array([0.01]), 0.0) == pytest.approx(units.reach + 0.02)
    assert 10.0 < units.reach_beside(2.0, np.array([3.0]), 0.0) < 10.02
    free = Standard(center, scale, np.ones(1, dtype=bool), 0.3, True)
    assert math.isinf(free.reach)
    assert math.isinf(free.reach_beside(2.0, np.array([0.01]), 0.0))
    radius = 2.0
    query = units.query(radius, 3.0, units.reach)
    matrix = query.matrix(query(np.array([[3.0, 1.0]])).astype(np.float64))
    weight = units.weight(radius, units.reach)
    assert matrix[2, 2] == pytest.approx((weight * 9.9) ** 2, rel=1e-3)


# Whole fits.


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("part", [0.05, 0.01])
def test_slopes_of_a_rare_target_are_told(part: float, neighbors: Any) -> None:
    """They were unknown at 1 %, and a quarter of what they are at 5 %."""
    n, held, ratios = 50_000, [], []
    for seed in range(6):
        features, target, slopes = rare(n, part, seed=seed)
        model = prolate.LinearRegression(mu=BUDGET.mu, seed=seed, neighbors=neighbors)
        release = model.fit(features, target).release_
        ends = release.interval()[:2]
        assert np.all(np.diff(ends) < part)  # wide, but it says something
        held.append((ends[:, 0] <= slopes) & (slopes <= ends[:, 1]))
        ratios.append(model.coef_ @ slopes / (slopes @ slopes))
        assert not release.warnings
        middle = model.coef_ @ features.mean(axis=0) + model.intercept_
        assert middle == pytest.approx(target.mean(), abs=0.1 * part + 0.001)
    assert np.mean(held) > 0.8
    assert np.median(ratios) == pytest.approx(1.0, abs=0.3)


def test_types_and_bounds_say_the_same() -> None:
    features, target, _ = rare(5000, 0.1)
    given = {"budget": BUDGET, "seed": 3}
    told = [
        prolate.LinearRegression(mu=BUDGET.mu, seed=3, bounds=bounds).fit(features, values).release_
        for values, bounds in ((target, None), (target.astype(np.int8), {"y": (0, 1)}))
    ]
    assert told[0].estimate.tolist() == told[1].estimate.tolist()
    table = {"a": features[:, 0], "b": features[:, 1], "y": target}
    again = prolate.regress(pa.table(table), "y", **given)  # type: ignore[call-overload]
    assert again.estimate.tolist() == told[0].estimate.tolist()


def test_a_target_that_does_not_fill_its_bounds_is_searched() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(20_000, 2))
    target = np.clip(40.0 + features @ [5.0, -3.0] + 10.0 * rng.normal(size=20_000), 0.0, 120.0)
    rows = np.column_stack([features, target])
    for bounds, ended in ((0.0, 120.0), True), ((0.0, 1e6), True), (None, False):
        asked = curator(rows, bounds)
        line = regression(asked)
        labels = [one.label for one in asked.receipt]
        assert (WITHIN in labels) == ended
        assert "scale again" in labels
        assert line.coef == pytest.approx([5.0, -3.0], abs=0.7)


def test_a_target_of_which_only_one_value_is_seen_has_what_its_bounds_say() -> None:
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=(20_000, 2)), rng.random(20_000) < 0.003])
    lost = regression(curator(rows.astype(np.float64), None))
    assert lost.warnings[0].startswith(HIDDEN)
    known = regression(curator(rows.astype(np.float64), (0.0, 1.0)))
    assert known.warnings == (ALIKE,)
    assert known.covariance is not None
    assert np.all(np.sqrt(np.diag(known.covariance)) < 0.01)
    assert np.all(np.abs(known.coef) < 3.0 * np.sqrt(np.diag(known.covariance)[:2]))


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_the_intercept_of_a_rare_target_is_told(neighbors: Any) -> None:
    """It was cut to where noise showed rows: a tenth to a half of what it is, and held in none."""
    held, off = [], []
    for seed in range(10):
        features, target, _ = rare(10_000, 0.02, seed=seed)
        model = prolate.LinearRegression(mu=BUDGET.mu, seed=seed, neighbors=neighbors)
        model.fit(features, target)
        low, high = model.intervals()[-1]
        held.append(low <= 0.02 <= high)
        off.append(model.intercept_ - 0.02)
    assert np.mean(held) > 0.8
    assert abs(np.mean(off)) < 0.004


def test_bounds_far_beyond_what_is_seen_tell_nothing_of_a_target() -> None:
    """Noise as wide as the bounds went into predictions, and no warning was left."""
    rng = np.random.default_rng(0)
    features = rng.uniform(-1.0, 1.0, (1000, 3))
    amounts = np.where(rng.random(1000) < 0.02, rng.exponential(1000.0, 1000), 0.0)
    rows = np.column_stack([features, amounts])
    line = regression(curator(rows, (0.0, 1e5)))
    assert line.warnings == (ALIKE,)
    assert line.covariance is not None
    assert np.all(np.diag(line.covariance) > amounts.var())
    predicted = line.predict(features)
    assert np.ptp(predicted) == 0.0
    assert abs(predicted[0] - amounts.mean()) < 10.0 * amounts.std()
    assert line.details["predicts"]["value"] == predicted[0]


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_the_mean_of_few_flags_is_that_within_bounds(neighbors: Any) -> None:
    errors = []
    for seed in range(20):
        features, target, _ = rare(60, 0.4, k=6, seed=seed)
        model = prolate.LinearRegression(epsilon=0.7, seed=seed, neighbors=neighbors)
        model.fit(features, target)
        assert not model.coef_.any()
        errors.append(model.intercept_ - target.mean())
    assert np.max(np.abs(errors)) < 0.25  # it was anything up to thousands


def test_a_line_through_the_origin_does_not_cut_a_rare_target_either() -> None:
    rng = np.random.default_rng(0)
    features = np.abs(rng.normal(size=(50_000, 2))) < [0.3, 1.0]
    target = rng.random(50_000) < features @ [0.08, 0.03]
    best = np.linalg.lstsq(features.astype(np.float64), target.astype(np.float64))[0]
    model = prolate.LinearRegression(epsilon=1, seed=1, fit_intercept=False).fit(features, target)
    assert model.intercept_ == 0.0
    assert model.coef_ == pytest.approx(best, abs=0.02)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(-1e140, 1e140), (0.0, 1e-200), (0.0, 5e-324), (0.0, np.inf), (1.0, 1.0), (1e10, 1e10 + 1e-5)],
)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_no_bounds_of_a_target_are_an_error(
    lower: float, upper: float, fit_intercept: bool
) -> None:
    rng = np.random.default_rng(0)
    ends = np.where(rng.random(500) < 0.3, lower, min(upper, 1e140))
    rows = np.column_stack([rng.normal(size=(500, 2)), ends])
    for mu in (1e-3, 0.3, 30.0):
        line = regression(
            curator(rows, (lower, upper), budget=Budget(mu=mu)), fit_intercept=fit_intercept
        )
        assert np.all(np.isfinite(line.coef))
        assert np.all(np.isfinite(line.predict(rows[:, :-1])))
