"""Rows that are far longer than spreads say give columns a floor."""

from __future__ import annotations

import numpy as np
import pytest

from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.search.farthest import with_farthest
from prolate.estimators.search.floor import with_far_values
from prolate.sources import open_source

N = 4_000
rng = np.random.default_rng(0)


def curator_of(rows: np.ndarray, mu: float = 1.0, seed: int = 0) -> Curator:
    return Curator(open_source(rows), Budget(mu=mu), seed=seed)


def found(rows: np.ndarray, spread: np.ndarray, **options: float) -> tuple[np.ndarray, np.ndarray]:
    wide = np.ones(spread.size, dtype=bool)
    curator = curator_of(rows, **options)
    return with_far_values(curator, N, np.zeros(spread.size), spread, wide=wide)[:2]


@pytest.mark.parametrize("tiny", [1e-3, 1e-9, 1e-17, 1e-130])
@pytest.mark.parametrize("columns", [30, 300])
def test_columns_that_are_next_to_nothing_in_nine_rows_of_ten(tiny, columns):
    """Votes of 30 columns tell them; those of 300 drown in noise, but rows are clearly long."""
    values = np.where(rng.random((N, columns)) < 0.1, rng.exponential(size=(N, columns)), tiny)
    spread, floored = found(values, np.full(columns, tiny))
    over = spread / values.std(axis=0)
    print(f"spreads over the true ones: {over.min():.2f} to {over.max():.2f}")
    assert floored.any() == (columns == 300)
    assert np.all((over > 0.1) & (over < 10.0))


def test_without_a_floor_most_of_these_stay_tiny():
    values = np.where(rng.random((N, 300)) < 0.1, rng.exponential(size=(N, 300)), 1e-9)
    spread, _ = with_farthest(curator_of(values), N, np.zeros(300), np.full(300, 1e-9))
    assert np.mean(spread < 1e-6) > 0.5


def test_columns_above_the_floor_keep_their_spreads():
    values = np.where(rng.random((N, 300)) < 0.1, rng.exponential(size=(N, 300)), 1e-9)
    rows = np.hstack([values, 1e3 * rng.normal(size=(N, 10))])
    spread, floored = found(rows, np.append(np.full(300, 1e-9), np.full(10, 1e3)))
    assert np.mean(floored[:300]) > 0.9
    assert not floored[300:].any()
    assert np.all(spread[300:] < 1.2e3)
    assert np.all((spread[:300] > 0.05) & (spread[:300] < 5.0))


def test_a_few_far_larger_columns_do_not_raise_the_others_to_theirs():
    size = np.where(np.arange(60) < 3, 1e4, 1.0)
    values = np.where(rng.random((N, 60)) < 0.1, size * rng.exponential(size=(N, 60)), 1e-9)
    spread, _ = found(values, np.full(60, 1e-9))
    over = spread / values.std(axis=0)
    assert np.all((over[:3] > 0.1) & (over[:3] < 10.0))
    assert np.median(over[3:]) < 30.0  # 10,000 with a single floor


@pytest.mark.parametrize("columns", [1, 3, 50])
def test_spreads_that_are_right_stay(columns):
    for draw in (
        rng.normal,
        rng.laplace,
        lambda size: rng.normal(size=(size[0], 1)) + np.zeros(size),
    ):
        rows = draw(size=(N, columns))
        spread, floored = found(rows, rows.std(axis=0))
        assert not floored.any()
        assert np.all(spread <= 1.2 * rows.std(axis=0))


def test_noise_alone_makes_no_floor():
    """Where counts are noisy by several per cent of the rows; a floor has no limit but them.

    A look is wrong once in 30,000, so that one of these 400 has a floor once in 80 times, and
    three of them once in a million times at most.
    """
    rows, spread = rng.normal(size=(N // 40, 2)), np.ones(2)
    wide = np.ones(2, dtype=bool)
    wrong = 0
    for seed in range(400):
        curator = curator_of(rows, seed=seed)
        _, floored, _ = with_far_values(curator, N // 40, np.zeros(2), spread, wide=wide)
        wrong += floored.any()
    assert wrong < 3


def test_single_values_have_no_floor():
    """Columns that are not wide are left as they are, and so are those of no rows."""
    values = np.where(rng.random((N, 40)) < 0.1, rng.exponential(size=(N, 40)), 0.0)
    curator, wide = curator_of(values), np.zeros(40, dtype=bool)
    spread, floored, _ = with_far_values(curator, N, np.zeros(40), np.full(40, 1e-9), wide=wide)
    assert not floored.any()
    assert [one.label for one in curator.receipt] == ["farthest columns"] * len(curator.receipt)
    spread, floored, _ = with_far_values(
        curator_of(values[:0]), 0, np.zeros(40), np.ones(40), wide=~wide
    )
    assert np.all(np.isfinite(spread))


@pytest.mark.parametrize("far", [1e150, 1e308])
def test_the_largest_numbers_end_the_search(far):
    rows = rng.normal(size=(N, 30))
    rows[rng.random((N, 30)) < 0.1] = far
    spread, _ = found(rows, np.ones(30))
    assert np.all(np.isfinite(spread))
    assert np.median(spread) > 1e100
