"""Windows that zoom in on a column, by counts that are exact while their noise is promised."""

from __future__ import annotations

import numpy as np
import pytest

import prolate
from prolate.estimators.search import zoom as zoom_module
from prolate.estimators.search.windows import Start
from prolate.estimators.search.zoom import ENOUGH, Zoom

ROWS, CELLS, LEVELS = 12_000, 44, 9
rng = np.random.default_rng(0)


def zoomed(values: np.ndarray, noise: float = 0.04) -> Zoom:
    """Return what all looks at a column found, counts being noisy by a part of the rows."""
    anywhere = np.full(1, -np.inf), np.full(1, np.inf)
    start = Start(np.full(1, -64.0), np.full(1, 64.0), anywhere)
    zoom = Zoom(start, ROWS, enough=ENOUGH, accident=1e-6)
    for _ in range(LEVELS):
        if zoom.done[0]:
            break
        grid = zoom.grid(np.arange(1), CELLS)
        cell = np.floor((values - grid.low[0]) / grid.width[0]).astype(int)
        counts = np.bincount(np.clip(cell, -1, CELLS) + 1, minlength=CELLS + 2)
        zoom.look(np.arange(1), grid, counts.astype(float), noise * ROWS)
    return zoom


def beside(part: float, others: np.ndarray, value: float = 1.3) -> np.ndarray:
    """Return a column with one value in a part of its rows."""
    return np.where(rng.random(ROWS) < part, value, others)


@pytest.mark.parametrize("part", [0.62, 0.68, 0.8])
def test_a_single_value_is_found_though_it_takes_a_long_run_to_hold_the_bulk(part: float) -> None:
    found = zoomed(beside(part, rng.uniform(-60.0, 60.0, ROWS)))
    assert found.narrow[0]
    assert found.center[0] == pytest.approx(1.3, abs=1e-3)


@pytest.mark.parametrize("apart", [0.01, 0.3, 5.0])
def test_two_values_that_half_of_the_rows_have_each_are_no_single_one(
    apart: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    halves = 1.3 + np.where(rng.random(ROWS) < 0.5, apart, 0.0)
    found = zoomed(halves)
    assert not found.narrow[0]
    assert abs(found.center[0] - 1.3 - 0.5 * apart) < apart
    assert 0.5 * apart < found.half[0] < 5.0 * apart
    # The same test fails where what was one cell may be a single value for ever.
    monkeypatch.setattr(zoom_module, "_FALLS", np.inf)
    assert apart > 1.0 or zoomed(halves).half[0] < 0.2 * apart


@pytest.mark.parametrize(("center", "spread"), [(1.6e18, 3e8), (-7e4, 7e-5), (9e15, 5e4)])
def test_tight_columns_far_from_0_are_not_taken_for_single_values(
    center: float, spread: float
) -> None:
    normal = np.random.default_rng(1).standard_normal((6_000, 2))
    rows = center + spread * normal
    rows[:, 1] = np.where(normal[:, 1] < 1.0, 7.0, 8.0)
    release = prolate.mean(rows, budget=prolate.Budget(rho=0.25), error_norm="relative", seed=1)
    assert release.estimate[0] == pytest.approx(center, abs=0.05 * spread)
    assert release.estimate[1] == pytest.approx(rows[:, 1].mean(), abs=0.02)


def test_looks_at_single_values_cost_no_more_where_they_are_far_from_0() -> None:
    flags = 7.0 + (np.random.default_rng(1).random((6_000, 8)) < 0.05)
    release = prolate.mean(flags, budget=prolate.Budget(rho=0.25), seed=1)
    looks = [line.label for line in release.receipt if line.label.startswith("location")]
    assert len(looks) == len(set(looks))
