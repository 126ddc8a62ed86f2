"""Regressions on features that are mostly one value, or next to nothing: categories, topics.

Four fifths of the target's variance are the features'. Rows and noise are seeded, so a run gives
what the last one gave, and no chance is left.
"""

from __future__ import annotations

import numpy as np
import pytest

import prolate
from prolate.estimators.regression import correction, rare_features, search, standardize
from prolate.estimators.regression import fit as own_fit

N = 20_000


def categories(rng: np.random.Generator) -> np.ndarray:
    """Five normal features, and a flag for each but one of twenty categories."""
    flags = np.eye(20)[rng.integers(0, 20, N)][:, 1:]
    return np.hstack([rng.normal(size=(N, 5)), flags])


def topics(rng: np.random.Generator) -> np.ndarray:
    return rng.dirichlet(np.full(40, 0.1), N)


def rounded(rng: np.random.Generator) -> np.ndarray:
    """Amounts that three rows in ten have; the others have what rounding left."""
    amounts = np.where(rng.random((N, 20)) < 0.3, rng.exponential(size=(N, 20)), 0.0)
    return amounts + 1e-6 * rng.normal(size=(N, 20))


def left(rows_of) -> float:
    """Return the part of the target's variance that predictions leave, median of three fits."""
    rng, found = np.random.default_rng(0), []
    X = rows_of(rng)
    told = X @ (rng.normal(size=X.shape[1]) / X.std(axis=0))
    y = told + 0.5 * told.std() * rng.normal(size=N)
    for seed in range(3):
        model = prolate.LinearRegression(epsilon=1, delta=1e-6, seed=seed).fit(X, y)
        found.append(np.mean((y - model.predict(X)) ** 2) / np.var(y))
    print("left:", np.round(found, 3))
    return float(np.median(found))


def test_categories(monkeypatch):
    """A flag is 1 in a twentieth of the rows, of which single columns show nothing."""
    assert left(categories) < 0.22
    monkeypatch.setattr(
        standardize,
        "with_rare_values",
        lambda view, rows, interval, spread: (spread, spread <= 0.0),
    )
    assert left(categories) > 0.4  # a planted fault


def test_flags_of_units_decades_apart(monkeypatch):
    """They have the slopes that they would have if all were of one unit."""
    units = 10.0 ** np.linspace(-4.0, 5.0, 10)

    def slopes() -> np.ndarray:
        """Return the slopes over the true ones, of five fits."""
        found = []
        for seed in range(5):
            rng = np.random.default_rng([seed, 5])
            X = (rng.random((N, 10)) < 0.05).astype(float)
            y = 2.0 * X.sum(axis=1) + rng.normal(size=N)
            model = prolate.LinearRegression(epsilon=1, delta=1e-6, seed=seed).fit(X * units, y)
            found.append(model.coef_ * units / 2.0)
        print("slopes:", np.round(np.median(found, axis=0), 2))
        return np.array(found)

    assert np.all(np.abs(np.median(slopes(), axis=0) - 1.0) < 0.4)
    monkeypatch.setattr(rare_features, "_LOOKS", 0)
    assert np.mean(np.abs(slopes()) < 0.1) > 0.2  # a planted fault: a common scale alone


@pytest.mark.parametrize(("rows_of", "most"), [(topics, 0.35), (rounded, 0.4)])
def test_features_that_are_mostly_next_to_nothing(rows_of, most, monkeypatch):
    assert left(rows_of) < most

    def nothing(view, rows, center, spread, *, wide):
        return spread, np.zeros_like(wide)

    monkeypatch.setattr(standardize, "with_floor", nothing)
    assert left(rows_of) > 0.5  # a planted fault


def test_the_slope_of_a_flag_that_few_rows_have(monkeypatch):
    """Its rows are far out, and all to one side: clipped, they seem to have a steep slope."""

    def slopes() -> float:
        """Return the largest error of any, over what is small beside the slope."""
        found = []
        for seed in range(6):
            rng = np.random.default_rng(seed)
            X = np.column_stack([rng.random(50_000) < 0.02, rng.normal(size=50_000)])
            y = X @ [20.0, 2.0] + rng.normal(10.0, 5.0, 50_000)
            model = prolate.LinearRegression(mu=1, seed=seed).fit(X, y)
            found.append(model.coef_)
        return float(np.max(np.abs(np.array(found) - [20.0, 2.0]) / [4.0, 0.3]))

    assert slopes() < 1.0
    monkeypatch.setattr(standardize, "_LESS_RARE", 10.0)
    monkeypatch.setattr(correction, "_farther", lambda *_: 0.0)
    monkeypatch.setattr(own_fit, "weighted_part", lambda *_: 0.0)
    assert slopes() > 1.0  # planted faults


def test_zeros_are_not_taken_for_tiny_numbers(monkeypatch):
    """Where counts are coarse, a flag's zeros seem to be anything that is small."""

    def steep() -> int:
        """Return how many of twelve fits have a slope that is far too steep."""
        found = 0
        for seed in range(12):
            rng = np.random.default_rng([seed, 1])
            X = np.column_stack([rng.normal(size=1400), rng.random((1400, 2)) < [0.2, 0.47]])
            y = X @ [1.0, 3.0, -2.0] + rng.normal(size=1400)
            model = prolate.LinearRegression(epsilon=0.5, delta=1e-6, seed=seed).fit(X, y)
            found += np.abs(model.coef_).max() > 100.0
        return found

    assert steep() == 0
    monkeypatch.setattr(standardize, "_NEXT_TO_NOTHING", 0.0)
    assert steep() >= 3  # a planted fault


def test_a_target_that_three_rows_in_ten_have():
    """Where most values are 0, nothing is known of how far out the others are, not even roughly."""
    found = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 2)), (rng.random(300) < 0.3).astype(float)
        model = prolate.LinearRegression(epsilon=3, delta=1e-6, seed=seed).fit(X, y)
        found.append(np.mean((y - model.predict(X)) ** 2) / np.var(y))
    print("left:", np.round(found, 2))
    assert np.sum(np.array(found) > 1.2) <= 4  # 1.43 where all are predicted to be 0


@pytest.mark.long
@pytest.mark.parametrize("part", [0.05, 0.02])
def test_slopes_of_a_target_that_few_rows_have(part, monkeypatch):
    """A boolean: its ones are no outliers, and not hidden by noise."""
    slopes = part * np.array([0.2, -0.12, 0.6])

    def fits() -> tuple[float, float]:
        held, steep = [], []
        for seed in range(30):
            rng = np.random.default_rng([seed, 3])
            X = np.column_stack([np.clip(rng.normal(size=(N, 2)), -2.5, 2.5), rng.random(N) < 0.3])
            y = rng.random(N) < part + (X - [0.0, 0.0, 0.3]) @ slopes
            model = prolate.LinearRegression(epsilon=1, delta=1e-6, seed=seed).fit(X, y)
            ends = model.intervals()[:-1]
            told = np.isfinite(ends).all(axis=1)
            held.append(told & (ends[:, 0] <= slopes) & (slopes <= ends[:, 1]))
            steep.append(model.coef_[2] / slopes[2])
        print("held, slope over the true one:", np.mean(held), np.mean(steep))
        return float(np.mean(held)), float(np.mean(steep))

    held, steep = fits()
    assert held > 0.85
    assert steep == pytest.approx(1.0, abs=0.2)
    monkeypatch.setattr(search, "target_within_bounds", lambda view, rows, *, flag: None)
    held, steep = fits()  # a planted fault
    assert held < 0.85 or steep < 0.6
