"""How large columns are, where no magnitude stands out of the noise of all of them together."""

from __future__ import annotations

import numpy as np
import pytest

import prolate
from prolate.estimators.search import likely_groups as likely
from prolate.estimators.search.magnitudes import _by_itself

BUDGET = prolate.Budget(epsilon=1, delta=1e-6)
ROWS, NOISE = 500.0, 50.0
NOTHING = np.zeros(512), 10.0 * NOISE


def rows_for(tightness: float, d: int) -> int:
    return round(tightness * np.sqrt(d / BUDGET.rho))


def said(made: prolate.Release) -> bool:
    return any("do not use" in warning for warning in made.warnings)


def some_counts(groups: dict[int, float], seed: int, noise: float = NOISE) -> np.ndarray:
    counts = np.random.default_rng(seed).normal(0.0, noise, 512)
    for group, part in groups.items():
        counts[group] += part * ROWS
    return counts


@pytest.mark.parametrize("groups", [{256: 1.0}, {255: 0.5, 256: 0.5}, {0: 0.5, 256: 0.5}])
def test_groups_that_hold_a_column_are_found(groups) -> None:
    """Half of the rows are five standard deviations of a count: less than stands out of 512."""
    counts = np.array([some_counts(groups, seed) for seed in range(40)])
    found = [
        likely.likely_groups((one[np.newaxis], NOISE), NOTHING, rows=ROWS, prior=_by_itself())
        for one in counts
    ]
    assert np.mean([sure[0] for _, sure in found]) > 0.55
    assert all(abs(top[0] - 256) <= 1 for top, sure in found if sure[0])


def surely_found(noise: float = NOISE, **groups: float) -> float:
    """Return the part of 200 columns, each by itself, of which a size is taken for sure."""
    parts = {int(name[1:]): part for name, part in groups.items()}
    sure = []
    for seed in range(200):
        counts = some_counts(parts, seed, noise)[np.newaxis]
        found = likely.likely_groups((counts, noise), NOTHING, rows=ROWS, prior=_by_itself())
        sure.append(found[1][0])
    return float(np.mean(sure))


@pytest.mark.parametrize(("name", "fault"), [("_SURELY", 0.3), ("_MOST_ZEROS", 1.0)])
def test_few_values_beside_zeros_are_not_taken_for_a_size(monkeypatch, name, fault) -> None:
    """Later searches lose them, and take the column for constant."""
    assert surely_found(g0=0.7, g256=0.3) < 0.03
    monkeypatch.setattr(likely, name, fault)
    assert surely_found(g0=0.7, g256=0.3) > 0.08


def test_hopeless_counts_are_not_believed(monkeypatch) -> None:
    assert surely_found(noise=0.16 * ROWS, g256=1.0) == 0.0
    monkeypatch.setattr(likely, "_HOPELESS", np.inf)
    assert surely_found(noise=0.16 * ROWS, g256=1.0) > 0.5


def test_columns_that_are_alike_tell_each_other() -> None:
    """By itself, one in six seems to be far larger than it is, and would have most of the noise."""
    noise = 0.25 * ROWS
    every = np.array([some_counts({255: 0.5, 256: 0.5}, seed, noise) for seed in range(200)])

    def too_large(counts: np.ndarray) -> np.ndarray:
        found = likely.likely_groups((counts, noise), NOTHING, rows=ROWS, prior=_by_itself())
        return found[0] > 257

    assert np.mean(too_large(every)) < 0.06
    assert np.mean([too_large(one[np.newaxis])[0] for one in every]) > 0.1


@pytest.mark.long
@pytest.mark.parametrize("statistic", [prolate.mean, prolate.variance, prolate.covariance])
@pytest.mark.parametrize(("d", "tightness"), [(1, 90.0), (2, 52.0)])
def test_ordinary_columns_are_not_called_lost(statistic, d: int, tightness: float) -> None:
    """They were in 60 to 100 % of releases: gamma values lie in two groups of octaves."""
    lost, off = [], []
    for seed in range(10):
        rows = np.random.default_rng(seed).gamma(2.0, size=(rows_for(tightness, d), d))
        made = statistic(rows, budget=BUDGET, seed=seed)
        lost.append(said(made))
        found = np.diag(made.estimate) if made.estimate.ndim == 2 else made.estimate
        off.append(found / (rows.mean(axis=0) if statistic is prolate.mean else rows.var(axis=0)))
    assert np.mean(lost) < 0.2
    assert 0.3 < np.min(off) <= np.max(off) < 3.0


@pytest.mark.long
@pytest.mark.parametrize("statistic", [prolate.variance, prolate.covariance])
def test_one_column_may_be_lost_and_another_not(statistic) -> None:
    """Of columns of unlike units, the noise says which."""
    alone = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = rows_for(45.0, 2)
        zeros = np.where(rng.random(n) < 0.8, 0.0, rng.lognormal(3.0, 0.5, n))
        made = statistic(
            np.column_stack([rng.normal(3e4, 3e3, n), zeros]), budget=BUDGET, seed=seed
        )
        lost = made.noise_std > 1e300
        lost = np.diag(lost) if lost.ndim == 2 else lost
        assert said(made) == lost.any()
        alone.append(lost[1] and not lost[0])
    assert np.mean(alone) > 0.1


def test_what_is_lost_is_said() -> None:
    """Of a fifth of the rows that are not 0, noise hides all: the variance seems to be 0."""
    unsaid = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = rows_for(52.0, 1)
        rows = np.where(rng.random((n, 1)) < 0.8, 0.0, rng.lognormal(3.0, 0.5, (n, 1)))
        made = prolate.variance(rows, budget=BUDGET, seed=seed)
        held = made.interval(0.95)[0, 1] > rows.var()
        unsaid.append(made.estimate[0] < 0.1 * rows.var() and not held and not said(made))
    assert np.mean(unsaid) < 0.1
