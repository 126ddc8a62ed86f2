"""How far rare values are, of columns that larger ones hide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.estimators.search.rare import (
    RareValues,
    likely_steps,
    own_spread,
    with_usual_steps,
)

SEEN = 8
STEP = np.geomspace(1.0, 1e-4, 40)
OWN = np.arange(40) < SEEN
SO_FAR = np.where(OWN, STEP, 1.0)
NOISE = np.full(40, 1e-9)


def square(part: np.ndarray, step: np.ndarray) -> float:
    return float(part @ step**2)


def test_alike_parts_tell_steps():
    part = np.full(40, 0.2)
    found = likely_steps(part * STEP, NOISE, SO_FAR, OWN, square(part, STEP))
    assert found == pytest.approx(STEP, rel=0.5)


def test_alike_steps_stay():
    """All squares are not explained by the columns that are seen; or steps do not differ."""
    part = np.geomspace(0.4, 1e-4, 40)
    step = np.ones(40)
    found = likely_steps(part, NOISE, step, OWN, square(part, step))
    assert found == pytest.approx(step, rel=0.3)
    hidden = likely_steps(0.2 * STEP, NOISE, SO_FAR, OWN, 2.5 * square(np.full(40, 0.2), STEP))
    np.testing.assert_array_equal(hidden, SO_FAR)


def test_what_is_seen_stays():
    part = np.full(40, 0.2)
    found = likely_steps(part * STEP, NOISE, SO_FAR, OWN, square(part, STEP))
    np.testing.assert_array_equal(found[:SEEN], STEP[:SEEN])


@pytest.mark.parametrize("shown", [0, 1, 2])
def test_few_columns_tell_nothing(shown):
    noise = np.where(np.arange(40) < shown, 1e-9, 1.0)
    found = likely_steps(0.2 * STEP, noise, SO_FAR, OWN, square(np.full(40, 0.2), STEP))
    np.testing.assert_array_equal(found, SO_FAR)


def test_no_step_is_larger_than_before_or_nearer_than_the_mean():
    noise = np.full(40, 1e-3)
    found = likely_steps(0.2 * STEP, noise, SO_FAR, OWN, 0.2 * square(np.full(40, 0.2), STEP))
    assert np.all(found <= SO_FAR)
    assert np.all(found >= np.minimum(np.maximum(0.2 * STEP, 1e-4), SO_FAR))
    nothing = likely_steps(np.zeros(3), np.ones(3), np.zeros(3), np.zeros(3, bool), 0.0)
    assert not nothing.any()


def flags_of_both_signs(n: int = 20_000) -> np.ndarray:
    rng = np.random.default_rng(0)
    part = np.geomspace(0.3, 0.03, 12)
    return np.where(rng.random((n, 12)) < part, rng.choice([-1.0, 1.0], (n, 12)), 0.0)


def test_spreads_of_values_on_both_sides_are_shared_out():
    rows = flags_of_both_signs()
    square, noise = float(np.mean(np.sum(rows**2, axis=1))), np.full(12, 1e-3)
    found = own_spread(rows.mean(axis=0), noise, np.ones(12), np.ones(12), both_sides=square)
    assert np.sqrt(np.mean(found**2)) == pytest.approx(np.sqrt(np.mean(rows.var(axis=0))), rel=0.1)
    unknown = own_spread(rows.mean(axis=0), noise, np.ones(12), np.ones(12))
    assert np.all(unknown < 0.3 * rows.std(axis=0))


def test_spreads_of_values_on_one_side_stay():
    rows = np.abs(flags_of_both_signs())
    square, noise = float(np.mean(np.sum(rows**2, axis=1))), np.full(12, 1e-3)
    known = own_spread(rows.mean(axis=0), noise, np.ones(12), np.ones(12))
    assert known == pytest.approx(rows.std(axis=0), rel=0.05)
    found = own_spread(rows.mean(axis=0), noise, np.ones(12), np.ones(12), both_sides=square)
    np.testing.assert_array_equal(found, known)


def test_usual_steps_are_not_those_of_the_largest_values() -> None:
    step, own = np.array([1.0, 4.0, 1000.0, 700.0, 0.0]), np.array([1, 1, 1, 0, 0]) > 0
    values = RareValues(step, own, np.zeros(5), spread=70.0, mixed=True, common=700.0)
    found, spread = with_usual_steps(values)
    np.testing.assert_allclose(found.step, [1.0, 4.0, 1000.0, 4.0, 0.0])
    assert spread == pytest.approx(0.4)
    for known in (np.zeros(5) > 0.0, step > 0.0):  # nothing to go by; nothing to be told
        same = replace(values, own=known)
        assert with_usual_steps(same) == (same, 70.0)


@pytest.mark.parametrize("part", [0.0, 0.003])
def test_noise_of_a_nearly_constant_column_is_not_that_of_large_numbers(part: float) -> None:
    """In relative errors. By their average spread it would be .006."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        flag = rng.random((20_000, 1)) < part
        rows = np.hstack([flag, 10.0 ** np.arange(-3.0, 4) * rng.normal(2.0, 1.0, (20_000, 7))])
        release = prolate.mean(rows, budget=Budget(rho=0.5), error_norm="relative", seed=seed)
        assert release.noise_std[0] < 0.002
        assert abs(release.estimate[0] - flag.mean()) < 0.004
