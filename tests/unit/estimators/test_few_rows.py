"""Means of rows so few that noise hides whether they are skewed."""

from __future__ import annotations

import numpy as np
import pytest

import prolate
from prolate.estimators.search import place as place_module

BUDGET = prolate.Budget(epsilon=1, delta=1e-6)


@pytest.mark.parametrize("n", [600, 800])
def test_skewed_rows_that_are_few_are_not_missed_without_a_warning(n: int) -> None:
    """Of 800 log-normal rows, 19 of 60 intervals missed the mean without a word."""
    for seed in range(20):
        rows = np.random.default_rng(seed).lognormal(6.0, 1.0, (n, 1))
        assert prolate.mean(rows, budget=BUDGET, seed=seed).warnings


def test_many_rows_are_not_warned_of() -> None:
    for n in (2000, 20_000):
        rows = np.random.default_rng(1).normal(50.0, 10.0, (n, 1))
        assert not prolate.mean(rows, budget=BUDGET, seed=1).warnings


@pytest.mark.parametrize(
    ("n", "p"), [(100, 0.3), (200, 0.05), (400, 0.05), (400, 0.3), (800, 0.05)]
)
def test_few_flags_within_bounds_are_not_lost(n: int, p: float) -> None:
    """They were searched nevertheless, and off by 5 to 15 times the noise of a bounded sum."""
    noise = 1.0 / (BUDGET.mu * n)
    off, held = [], []
    for seed in range(40):
        rows = (np.random.default_rng(seed).random((n, 1)) < p).astype(float)
        made = prolate.mean(rows, bounds=(0, 1), budget=BUDGET, seed=seed)
        low, high = made.interval(0.95)[0]
        off.append(made.estimate[0] - rows.mean())
        held.append(low <= p <= high)
        assert 0.0 <= made.estimate[0] <= 1.0
        assert not made.warnings
    assert np.sqrt(np.mean(np.square(off))) < 2.5 * noise
    assert np.mean(held) > 0.85


def test_few_rows_within_bounds_state_how_much_they_vary() -> None:
    rng = np.random.default_rng(3)
    stated = [
        prolate.mean(rng.normal(50, 15, (400, 1)), bounds=(0, 120), budget=BUDGET, seed=seed)
        for seed in range(20)
    ]
    assert 0.6 < np.mean([made.sampling_std[0] for made in stated]) < 1.1  # 15 / sqrt(400)


def test_few_rows_within_bounds_are_as_many_as_were_counted_again() -> None:
    rows = np.random.default_rng(3).uniform(0.0, 10.0, (100, 2))
    for seed in range(10):
        made = prolate.mean(rows, bounds=(0, 10), budget=BUDGET, neighbors="add-remove", seed=seed)
        again = next(each for each in made.receipt if each.label == "rows again")
        assert abs(made.n - 100) < 5.0 * again.noise_std


def test_missing_values_are_not_the_middle_of_bounds() -> None:
    rng = np.random.default_rng(3)
    found = []
    for seed in range(40):
        rows = (rng.random((400, 1)) < 0.05).astype(float)
        rows[rng.random((400, 1)) < 0.3] = np.nan
        made = prolate.mean(rows, bounds=(0, 1), budget=BUDGET, neighbors="add-remove", seed=seed)
        found.append(made.estimate[0])
    assert abs(np.median(found) - 0.05) < 0.04
    empty = prolate.mean(np.full((300, 1), np.nan), bounds=(0, 1), budget=BUDGET, seed=1)
    assert np.isfinite(empty.estimate[0])


def test_few_rows_of_many_columns_are_searched() -> None:
    rows = np.random.default_rng(1).normal(50, 10, (1500, 10))
    made = prolate.mean(rows, bounds=(0, 1000), budget=BUDGET, seed=1)
    assert np.max(np.abs(made.estimate - rows.mean(axis=0))) < 5.0


@pytest.mark.parametrize("n", [120, 240])
def test_small_groups_within_bounds_are_held_by_their_intervals(n: int) -> None:
    """Their number of rows is private, and its noise a part of the mean's."""
    rng = np.random.default_rng(1)
    off, said, held = [], [], []
    for seed in range(40):
        rows = (rng.random((n, 1)) < 0.1).astype(float)
        made = prolate.mean(rows, bounds=(0, 1), budget=BUDGET, neighbors="add-remove", seed=seed)
        low, high = made.interval(0.95)[0]
        off.append(made.estimate[0] - rows.mean())
        said.append(made.noise_std[0])
        held.append(low <= 0.1 <= high)
    assert np.mean(held) > 0.85
    assert np.sqrt(np.mean(np.square(off))) < 1.5 * np.median(said)
    assert np.median(said) < 8.0 / n


def test_the_plain_mechanism_states_the_noise_of_a_private_number_of_rows() -> None:
    """Of flags that few rows have, it stated a quarter of its noise."""
    rows = (np.random.default_rng(1).random((1000, 1)) < 0.05).astype(float)
    given = {"bounds": (0, 1), "budget": BUDGET, "neighbors": "add-remove", "method": "gaussian"}
    made = [prolate.mean(rows, seed=seed, **given) for seed in range(60)]
    off = np.array([one.estimate[0] - rows.mean() for one in made])
    assert 0.7 < np.std(off) / np.mean([one.noise_std[0] for one in made]) < 1.3


@pytest.mark.parametrize("statistic", [prolate.mean, prolate.variance])
def test_what_is_lost_has_no_interval(statistic) -> None:
    """Of 20 rows nothing is found: intervals were .01 wide, and a warning said not to use them."""
    rows = np.random.default_rng(0).lognormal(3.0, 1.0, (20, 1))
    made = statistic(rows, budget=prolate.Budget(epsilon=1, delta=1e-6), seed=1)
    assert any("do not use" in warning for warning in made.warnings)
    low, high = made.interval(0.95)[0]
    assert low < -1e300 or (statistic is prolate.variance and low == 0.0)
    assert high > 1e300
    assert "inf" not in made.to_json()


@pytest.mark.long
def test_looks_at_a_single_column_show_its_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Visits of 500 people, of whom 70 % have none."""

    def error() -> float:
        found = []
        for seed in range(100):
            rng = np.random.default_rng(seed)
            rows = np.where(rng.random(500) < 0.7, 0.0, rng.geometric(0.3, 500))[:, np.newaxis]
            budget = prolate.Budget(epsilon=1, delta=1e-6)
            made = prolate.mean(rows, budget=budget, seed=seed)
            found.append(abs(made.estimate[0] - rows.mean()) / rows.std())
        return float(np.median(found))

    assert error() < 0.115
    monkeypatch.setattr(place_module, "_PRECISE", place_module._CHEAP)  # a planted fault
    assert error() > 0.135
