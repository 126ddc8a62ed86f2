"""How large values are, where counts in each column are so noisy that they show little."""

from __future__ import annotations

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.search import magnitudes
from prolate.estimators.search.magnitudes import find_magnitudes
from prolate.sources import open_source

rng = np.random.default_rng(0)


def found_in(rows: np.ndarray, mu: float, seed: int) -> magnitudes.Magnitudes:
    curator = Curator(open_source(rows), Budget(mu=mu), seed=seed)
    return find_magnitudes(curator, float(len(rows)), share=0.04)


def flags(n: int, d: int) -> np.ndarray:
    """A tenth of the columns is one in every second row, the others hardly ever."""
    often = np.where(np.arange(d) < 0.1 * d, 0.5, 0.01)
    return (rng.random((n, d)) < often).astype(float)


def found_zero() -> float:
    """Return the smallest part of columns that are seen to be 0 of those that nearly are.

    Counts in each are noisy by a fifth of the rows.
    """
    rows = flags(4_096, 2_048)
    mu = np.sqrt(2.0 * 2_048) / (0.22 * 4_096 * np.sqrt(0.04))
    zero = np.array([found_in(rows, mu, seed).zero for seed in range(30)])
    return float(np.mean(zero[:, 205:], axis=1).min())


@pytest.mark.long
def test_columns_that_are_mostly_zero_together_are_so_each(monkeypatch) -> None:
    assert found_zero() > 0.97
    by_itself = magnitudes._by_itself

    def as_tiny_numbers() -> np.ndarray:
        """A planted fault: zeros are as unlikely as 1e-308."""
        prior = by_itself()
        prior[0] = prior[1]
        return prior

    monkeypatch.setattr(magnitudes, "_by_itself", as_tiny_numbers)
    assert found_zero() < 0.6


def test_columns_of_which_a_third_is_zero_are_not_taken_for_mostly_zero() -> None:
    rows = np.where(rng.random((4_000, 60)) < 1 / 3, 0.0, rng.standard_normal((4_000, 60)))
    zero = np.array([found_in(rows, 1.0, seed).zero for seed in range(10)])
    assert zero.mean() < 0.01


def lost(seed: int) -> bool:
    rows = flags(4_096, 2_048)
    made = prolate.mean(rows, budget=Budget(rho=1 / 16), error_norm=1, seed=seed)
    return bool(np.abs(made.estimate - rows.mean(axis=0)).sum() > 0.5 * rows.mean(axis=0).sum())


@pytest.mark.long
def test_baskets_are_not_lost_where_half_of_their_columns_are_seen_to_be_zero() -> None:
    assert not any(lost(seed) for seed in range(12))


@pytest.mark.parametrize("n", [1_500, 3_000])
def test_noise_far_from_one_is_no_magnitude_where_most_values_are_zero(n) -> None:
    """Noise hides which magnitude a few ones have, so any may seem likely."""
    rows = (rng.random((n, 80)) < 0.08).astype(float)
    mu = 20.0 * np.sqrt(80.0) / n  # n / sqrt(d / rho) is 14
    largest = np.array([found_in(rows, mu, seed).largest for seed in range(20)])
    assert largest.max() < 1e3
