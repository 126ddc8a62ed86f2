"""Means of so few rows that only coarse counts tell where they are."""

from __future__ import annotations

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.clipping.rough_mean import rough_mean
from prolate.estimators.shares import Shares
from prolate.sources import open_source

ROWS = 1000


def found(column: np.ndarray, mu: float, seed: int, *, away: float = 0.0, doubt: float = 0.1):
    """Return the mean around a center that is `away` from it, in standard deviations."""
    curator = Curator(open_source(column[:, np.newaxis]), Budget(mu=mu), seed=seed)
    spread = np.array([column.std()])
    center = np.array([column.mean()]) + away * spread
    return rough_mean(curator, column.size, center, spread, doubt)


@pytest.mark.parametrize("away", [0.0, 0.2, -0.2])
def test_a_mean_is_as_far_off_as_it_says(away: float) -> None:
    column = np.random.default_rng(0).normal(50.0, 10.0, ROWS)
    several = [found(column, 0.03, seed, away=away) for seed in range(60)]
    off = np.array([one.value - column.mean() for one in several])
    stated = np.array([np.hypot(one.noise_std, one.taken) for one in several])
    assert np.count_nonzero(np.abs(off) < 1.96 * stated) >= 55
    assert np.sqrt(np.mean(off**2)) > 0.2 * stated.mean()


def test_the_noisier_the_nearer_values_are_cut() -> None:
    column = np.random.default_rng(0).normal(50.0, 10.0, ROWS)
    cuts = [found(column, mu, 1).cut for mu in (0.01, 0.03, 0.1, 1.0)]
    assert cuts == sorted(cuts)
    assert cuts[0] < cuts[-1]


def test_noise_without_end_leaves_the_mean_near_its_center() -> None:
    column = np.random.default_rng(0).normal(50.0, 10.0, ROWS)
    several = [found(column, 1e-5, seed) for seed in range(20)]
    assert max(abs(one.value - column.mean()) for one in several) < 10.0
    assert all(one.noise_std < 4.0 for one in several)


def errors(columns: int, room: float, center: float, *, runs: int = 24, **options) -> np.ndarray:
    """Return root mean square errors in standard deviations, of n / sqrt(d / rho) = `room`."""
    off = []
    for run in range(runs):
        rows = np.random.default_rng(run).normal(center, 1.0, (ROWS, columns)) * 37.0
        budget = Budget(rho=columns * (room / ROWS) ** 2)
        release = prolate.mean(rows, budget=budget, seed=run, **options)
        off.append(np.sqrt(np.mean((release.estimate - rows.mean(axis=0)) ** 2)) / 37.0)
    return np.array(off)


@pytest.mark.parametrize("center", [0.0, 3.0, -20.0, 1000.0])
def test_one_column_of_few_rows_is_found(center: float) -> None:
    """At 30, `locate` alone is a third of a standard deviation off, and calls it of no use."""
    assert np.median(errors(1, 30.0, center)) < 0.17
    if abs(center) < 100.0:
        assert np.median(errors(1, 18.0, center)) < 0.6


@pytest.mark.parametrize("columns", [2, 5, 16])
def test_several_columns_of_very_few_rows_are_found(columns: int) -> None:
    """Before, at 18, errors were between half a standard deviation and thousands of them."""
    off = errors(columns, 18.0, 5.0, runs=8)
    assert np.median(off) < 0.45
    assert off.max() < 3.0


def test_missing_values_are_left_out_of_few_rows() -> None:
    off = []
    for run in range(16):
        rng = np.random.default_rng(run)
        rows = rng.normal(300.0, 10.0, (ROWS, 1))
        rows[rng.random(ROWS) < 0.4] = np.nan
        release = prolate.mean(rows, budget=Budget(rho=(60.0 / ROWS) ** 2), seed=run)
        off.append(abs(release.estimate[0] - np.nanmean(rows)) / 10.0)
    assert np.median(off) < 0.3  # with 0 in their place, twelve


def test_add_remove_has_as_few_rows_for_half_the_noise() -> None:
    off = errors(1, 13.0, 3.0, neighbors="add-remove")
    assert np.median(off) < 0.6


def test_of_spreads_coarse_counts_tell_too_little() -> None:
    """Searched in that way, half of the intervals of variances did not hold them."""
    for seed in range(4):
        rows = np.random.default_rng(seed).exponential(1.0, (ROWS, 1))
        made = prolate.variance(rows, budget=Budget(rho=(25.0 / ROWS) ** 2), seed=seed)
        assert any("do not use these numbers" in warning for warning in made.warnings)


def wide(room: float, seed: int, columns: int = 128) -> tuple[float, float]:
    """Return an error over the noise of a sum with known scales, and the part that is unknown."""
    rng = np.random.default_rng(seed)
    scale = 1.0 / np.arange(1.0, columns + 1.0)
    rows = (rng.normal(size=(ROWS, columns)) + rng.normal(0.0, 10.0, columns)) * scale
    rho = columns * (room / ROWS) ** 2
    release = prolate.mean(rows, budget=Budget(rho=rho), seed=seed)
    ideal = 2.0 * np.sqrt(scale).sum() * np.sqrt(scale.sum()) / np.sqrt(2.0 * rho) / ROWS
    off = float(np.linalg.norm(release.estimate - rows.mean(axis=0)))
    return off / ideal, float(np.mean(release.noise_std > 1e300))


def test_many_columns_of_few_rows_are_found_each_by_itself(monkeypatch) -> None:
    """What they have in common tells little where their scales and centers differ."""
    found = [wide(25.0, seed) for seed in range(4)]
    assert np.median([off for off, _ in found]) < 0.3
    assert all(unknown < 0.1 for _, unknown in found)
    monkeypatch.setattr(Shares, "coarse", False)
    assert np.median([wide(25.0, seed)[0] for seed in range(4)]) > 0.6


def test_only_the_columns_in_doubt_are_said_to_be_unknown() -> None:
    """Not the whole table, as was said before."""
    parts = [wide(12.0, seed)[1] for seed in range(6)]
    assert 0.0 < np.mean(parts) < 0.6
