"""Covariances of columns with public bounds, and variances of flags."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import prolate

BUDGET = prolate.Budget(epsilon=1, delta=1e-6)
LABEL = "covariance within bounds"


def flags(n: int, parts: list[float], seed: int) -> Any:
    return np.random.default_rng(seed).random((n, len(parts))) < parts


def plain_noise(d: int, n: int) -> float:
    """Noise of a variance by the plain mechanism around the middle of the bounds (0, 1)."""
    return float(np.sqrt(2.0) * (1.0 + d / 4.0) / BUDGET.mu / n)


@pytest.mark.parametrize("n", [3_000, 30_000])
def test_rare_flags_are_not_clipped(n: int) -> None:
    """Errors were 10 to 20 times those of the plain mechanism."""
    parts, errors = [0.5, 0.1, 0.02], []
    for seed in range(8):
        rows = flags(n, parts, seed)
        r = prolate.covariance(rows, budget=BUDGET, seed=seed)
        assert sum(entry.label == LABEL for entry in r.receipt) == 2
        errors.append(np.abs(r.estimate - np.cov(rows.T * 1.0, bias=True)))
    assert np.mean(errors) < plain_noise(3, n)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("typed", [True, False])
def test_noise_is_as_stated(neighbors: Any, typed: bool) -> None:
    """Of 40 releases, also of variances that a mean decides, and beside the diagonal."""
    parts: list[float] = [0.5, 0.2, 0.05] if typed else [0.5, 0.3, 0.2]
    given: Any = {} if typed else {"bounds": (0, 1)}
    scores = []
    for seed in range(40):
        rows = flags(6_000, parts, seed)
        r = prolate.covariance(
            rows if typed else rows * 1.0, budget=BUDGET, neighbors=neighbors, seed=seed, **given
        )
        off = (r.estimate - np.cov(rows.T * 1.0, bias=True)) / r.noise_std
        scores.append(off[np.triu_indices(3)])
    assert np.all(np.abs(np.mean(scores, axis=0)) < 0.8)
    assert 0.7 < np.std(scores) < 1.3
    assert np.mean(np.abs(scores) > 2.0) < 0.12


def test_sampling_errors_are_those_of_flags() -> None:
    rows = flags(200_000, [0.02, 0.5], 1)
    r = prolate.covariance(rows, budget=prolate.Budget(mu=5), seed=1)
    tilt = (1.0 - 0.04) * np.sqrt(0.02 * 0.98 / 200_000)
    assert r.sampling_std[0, 0] == pytest.approx(tilt, rel=0.05)
    assert r.sampling_std[1, 1] < 0.02 * np.sqrt(0.5 / 200_000)
    assert r.sampling_std[0, 1] == pytest.approx(np.sqrt(0.02 * 0.98 * 0.25 / 200_000), rel=0.05)


@pytest.mark.parametrize(
    ("given", "part"), [((0.05, 0.95), 0.5), ((0.1, 0.9), 0.4), ((0.01, 0.3), 0.05)]
)
def test_sampling_errors_of_correlations_are_those_of_flags(given: Any, part: float) -> None:
    """Those of normal rows, 1 - r**2, are too small: a correlation of .9 was held in 18 %."""
    n, (low, high) = 20_000, given
    mean = low * (1.0 - part) + high * part
    covariance = (high - low) * part * (1.0 - part)
    true = covariance / np.sqrt(mean * (1.0 - mean) * part * (1.0 - part))
    held, found, stated = [], [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        group = rng.random(n) < part
        rows = np.column_stack([rng.random(n) < np.where(group, high, low), group])
        r = prolate.covariance(rows, correlation=True, budget=prolate.Budget(mu=20), seed=seed)
        low_end, high_end = r.interval()[0, 1]
        held.append(low_end <= true <= high_end)
        found.append(r.estimate[0, 1])
        stated.append(r.sampling_std[0, 1])
    assert np.mean(held) > 0.8
    assert np.std(found) / np.mean(stated) == pytest.approx(1.0, abs=0.4)


def test_a_correlation_that_stands_out_is_not_drawn_to_the_others() -> None:
    """Of many near 0 it was drawn to 0 with these, by many times its noise."""
    held = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        age = rng.normal(55.0, 18.0, 20_000)
        ill = rng.random(20_000) < np.clip(0.002 * np.exp(0.03 * (age - 18.0)), 0.0, 1.0)
        others = rng.random((20_000, 2)) < [0.5, 0.12]
        rows = np.column_stack([others, ill, np.clip(age, 18.0, 100.0)])
        bounds = ([0, 0, 0, 18], [1, 1, 1, 100])
        r = prolate.covariance(rows, correlation=True, bounds=bounds, budget=BUDGET, seed=seed)
        ends = r.interval()[2, 3]
        held.append(ends[0] <= np.corrcoef(rows.T)[2, 3] <= ends[1])
    assert np.mean(held) > 0.8


def test_the_same_flag_twice_and_its_opposite() -> None:
    one = flags(20_000, [0.3], 1)
    rows = np.column_stack([one, one, ~one])
    r = prolate.covariance(rows, correlation=True, budget=BUDGET, seed=1)
    truth = np.array([[1, 1, -1], [1, 1, -1], [-1, -1, 1]])
    assert np.allclose(r.estimate, truth, atol=0.03)
    assert np.linalg.eigvalsh(r.estimate).min() > -1e-9


def test_columns_that_never_vary_are_not_correlated() -> None:
    rows = np.column_stack([flags(5_000, [0.3], 1), np.zeros(5_000, bool), np.ones(5_000, bool)])
    r = prolate.covariance(rows, budget=BUDGET, seed=3)
    assert np.all(np.abs(np.diag(r.estimate)[1:]) < 5.0 * np.diag(r.noise_std)[1:])
    r = prolate.covariance(rows, correlation=True, budget=BUDGET, seed=3)
    assert np.array_equal(r.estimate, np.eye(3))
    assert np.all(r.noise_std[~np.eye(3, dtype=bool)] > 0.5)


def test_wide_bounds_are_not_filled() -> None:
    """There a search and a clip tell much more."""
    rows = np.random.default_rng(1).normal(45.0, 3.0, (20_000, 3))
    r = prolate.covariance(rows, bounds=(0, 120), budget=BUDGET, seed=1)
    assert sum(entry.label == LABEL for entry in r.receipt) == 1
    assert np.allclose(np.diag(r.estimate), 9.0, rtol=0.05)


@pytest.mark.parametrize("parts", [[0.01, 0.004], [0.03, 0.03], [0.3, 0.02, 0.02]])
def test_a_search_of_rare_values_gives_way_to_the_bounds(parts: list[float]) -> None:
    """Which are not typed: variances were nearly 0, and surely so."""
    for seed in range(5):
        rows = flags(4_000, parts, seed) * 1.0
        r = prolate.covariance(rows, bounds=(0, 1), budget=BUDGET, seed=seed)
        assert sum(entry.label == LABEL for entry in r.receipt) == 2
        assert np.all(np.abs(r.estimate - np.cov(rows.T, bias=True)) < 5.0 * r.noise_std)


@pytest.mark.parametrize("parts", [[0.5], [0.02], [0.5, 0.1, 0.02], [0.3, 0.03] * 8])
def test_the_variance_of_flags_is_told_by_their_mean(parts: list[float]) -> None:
    for seed in range(5):
        rows = flags(5_000, parts, seed)
        r = prolate.variance(rows, budget=BUDGET, seed=seed)
        error = np.abs(r.estimate - rows.var(axis=0))
        allowed = np.hypot(r.noise_std, 0.0 if r.clipping_std is None else r.clipping_std)
        assert np.all(error < 5.0 * allowed + 1e-12)
        assert np.all(r.estimate <= 0.25)
        assert r.details["mean"] == pytest.approx(rows.mean(axis=0), abs=0.1)
    if parts == [0.5]:  # (1 - 2 p) is nearly 0
        assert r.noise_std[0] < 1e-3


def test_flags_of_all_and_none() -> None:
    rows = np.column_stack([np.ones(3_000, bool), np.zeros(3_000, bool)])
    r = prolate.variance(rows, budget=BUDGET, seed=1)
    assert np.all(r.estimate < 5.0 * r.noise_std)
    assert np.all(r.interval()[:, 0] >= 0.0)


def test_rare_values_without_bounds_do_not_end_as_nothing() -> None:
    """Each round clipped them harder: variances ended at a hundredth, or correlations at one."""
    rows = flags(100_000, [0.5, 0.3, 0.1, 0.05, 0.02] * 4, 1) * 1.0
    r = prolate.covariance(rows, budget=BUDGET, seed=1)
    truth = np.cov(rows.T, bias=True)
    size = np.sqrt(np.outer(np.diag(truth), np.diag(truth)))
    assert np.mean(np.abs(r.estimate - truth) / size) < 0.01
