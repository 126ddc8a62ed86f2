"""Intervals of a private regression hold the true slopes as often as they say.

Normal features, of which the target is a line plus normal noise. The quick test takes one
coefficient of each of 80 fits: hits are binomial, whatever the errors within a fit have to
do with each other. With a coverage of 0.93 or more, fewer than 57 hits have probability
below 1e-9; so have, for intervals of 50 % that hold 0.7 or less, more than 78.

The long test prints a table and asserts that coverage is from 93 to 97 % as far as
binomial errors tell.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from prolate import LinearRegression
from prolate.estimators.regression import together as own
from prolate.estimators.regression.slopes import Slopes

FALSE_ALARM = 1e-9


def simulated(
    n: int, k: int, correlation: float, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, target, and the true slopes with the intercept."""
    rng = np.random.default_rng(seed)
    shape = np.full((k, k), correlation) + (1.0 - correlation) * np.eye(k)
    z = rng.normal(size=(n, k)) @ np.linalg.cholesky(shape).T
    slopes = rng.normal(size=k)
    slopes *= np.sqrt(0.6 / (slopes @ shape @ slopes))
    y = z @ slopes + rng.normal(scale=np.sqrt(0.4), size=n)
    return 3.0 * z + 5.0, y, np.append(slopes / 3.0, -5.0 / 3.0 * slopes.sum())


def hits(
    n: int, k: int, epsilon: float, correlation: float, fits: int, levels: tuple[float, ...]
) -> np.ndarray:
    """Return which coefficients lie in their intervals: (levels, fits, k + 1)."""
    found = np.zeros((len(levels), fits, k + 1), dtype=bool)
    for seed in range(fits):
        x, y, truth = simulated(n, k, correlation, seed)
        model = LinearRegression(epsilon, 1e-6, seed=seed).fit(x, y)
        for i, level in enumerate(levels):
            low, high = model.intervals(level).T
            found[i, seed] = (low <= truth) & (truth <= high)
    return found


def one_of_each(found: np.ndarray) -> int:
    """Return the hits of one coefficient per fit, each in turn."""
    fits, size = found.shape
    return int(found[np.arange(fits), np.arange(fits) % size].sum())


def test_the_stated_probabilities() -> None:
    assert stats.binom.cdf(56, 80, 0.93) < FALSE_ALARM
    assert stats.binom.sf(78, 80, 0.7) < FALSE_ALARM


@pytest.mark.parametrize(("n", "k", "correlation"), [(2000, 3, 0.0), (5000, 4, 0.4)])
def test_intervals_hold_the_true_slopes(n, k, correlation) -> None:
    usual, half = hits(n, k, 1.0, correlation, 80, (0.95, 0.5))
    assert one_of_each(usual) >= 57
    assert one_of_each(half) <= 78
    # Wide intervals would hold them, too; these are of use.
    x, y, _ = simulated(n, k, correlation, 0)
    low, high = LinearRegression(1.0, 1e-6, seed=0).fit(x, y).intervals().T
    assert np.all((high - low)[:k] < 1.0)


def test_without_the_privacy_noise_they_do_not(monkeypatch) -> None:
    def forgetful(found: list[Slopes], **options: float) -> Slopes:
        best = honest(found, **options)
        return replace(best, noise=0.0 * best.noise)

    honest = own.average
    monkeypatch.setattr(own, "average", forgetful)
    [usual] = hits(2000, 3, 1.0, 0.0, 80, (0.95,))
    assert one_of_each(usual) < 57


@pytest.mark.long
def test_coverage_over_budgets_rows_and_features() -> None:
    fits, failed = 80, []
    print("\n    n   k  eps  corr   slopes  intercept")
    for n in (2000, 10_000, 50_000):
        for k in (3, 5, 10):
            for epsilon in (0.5, 1.0, 3.0):
                for correlation in (0.0, 0.3, 0.5):
                    [found] = hits(n, k, epsilon, correlation, fits, (0.95,))
                    slopes, intercept = found[:, :k].mean(), found[:, k].mean()
                    print(
                        f"{n:>6} {k:>3} {epsilon:>4} {correlation:>5} "
                        f"{slopes:>8.3f} {intercept:>10.3f}",
                        flush=True,
                    )
                    # As if the coefficients of a fit were one: 4.5 binomial deviations.
                    error = 4.5 * np.sqrt(0.05 * 0.95 / fits)
                    if not 0.93 - error <= slopes <= 0.97 + error:
                        failed.append((n, k, epsilon, correlation, slopes))
                    if intercept < 0.93 - error:
                        failed.append((n, k, epsilon, correlation, intercept))
    assert not failed
