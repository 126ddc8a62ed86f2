"""Few rows within public bounds that may be wide."""

from __future__ import annotations

import numpy as np
import pytest

import prolate
from prolate.budget import Budget
from prolate.curator import Curator
from prolate.estimators.search import within
from prolate.estimators.search.within import window_within
from prolate.sources import open_source

ROWS = 1000


def window(column: np.ndarray, bounds: tuple[float, float], room: float, seed: int):
    curator = Curator(
        open_source(column[:, np.newaxis]),
        Budget(rho=(room / ROWS) ** 2),
        bounds=(np.array([bounds[0]]), np.array([bounds[1]])),
        seed=seed,
    )
    return window_within(curator, ROWS), len(curator.receipt)


@pytest.mark.parametrize("center", [50.0, 5.2e3, 9.99e3])
def test_most_values_are_in_the_window(center: float) -> None:
    column = np.random.default_rng(0).normal(center, 5.0, ROWS)
    found = [window(column, (0.0, 1e4), 50.0, seed)[0] for seed in range(20)]
    seen = [one for one in found if one is not None]
    assert len(seen) >= 16
    for lower, upper in seen:
        assert np.mean((column > lower) & (column < upper)) > 0.85
        assert upper[0] - lower[0] < 1e3


@pytest.mark.parametrize(
    "column",
    [
        np.random.default_rng(0).uniform(0.0, 1.0, ROWS),
        (np.random.default_rng(0).random(ROWS) < 0.3) * 1.0,
        (np.random.default_rng(0).random(ROWS) < 0.03) * 1.0,
        np.zeros(ROWS),
    ],
    ids=["spread", "flags", "rare flags", "constant"],
)
def test_values_that_spread_as_far_or_are_mostly_one_have_none(column: np.ndarray) -> None:
    found = [window(column, (0.0, 1.0), 50.0, seed)[0] for seed in range(20)]
    assert sum(one is not None for one in found) <= 1


def test_nothing_is_asked_where_counts_would_tell_nothing() -> None:
    column = np.random.default_rng(0).normal(50.0, 5.0, ROWS)
    assert window(column, (0.0, 1e4), 15.0, 1) == (None, 0)


def test_values_beyond_the_bounds_count_at_these() -> None:
    column = np.random.default_rng(0).normal(-40.0, 5.0, ROWS)
    column[:300] = 2.0
    for seed in range(5):
        assert window(column, (0.0, 1e4), 60.0, seed)[0] is None  # most are 0 within them


def errors(bounds: tuple[float, float], *, neighbors: str) -> np.ndarray:
    off = []
    for seed in range(24):
        rows = np.random.default_rng(seed).normal(5e4, 1e4, (300, 1))
        made = prolate.mean(
            rows,
            bounds=bounds,
            budget=Budget(epsilon=1, delta=1e-6),
            neighbors=neighbors,
            seed=seed,
        )
        off.append(abs(made.estimate[0] - rows.mean()) / 1e4)
    return np.array(off)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_bounds_that_are_much_too_wide_cost_little(neighbors: str, monkeypatch) -> None:
    """Means of 300 rows within 0 and 10 million were off by hundreds of deviations."""
    assert np.median(errors((0.0, 1e7), neighbors=neighbors)) < 0.3
    assert np.median(errors((0.0, 1e5), neighbors=neighbors)) < 0.3
    monkeypatch.setattr(within, "_NOISY", 0.0)  # a planted fault: it is never looked
    assert np.median(errors((0.0, 1e7), neighbors=neighbors)) > 3.0
