"""Forecasts against what `prolate.mean` then does: within 15 %.

Seeds are fixed, so that each test gives the same answer every time. Runs are as many as
leave the measurement itself uncertain by 2 to 5 %. The whole grid of benchmarks/accuracy.py
takes minutes, and runs with --long.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import prolate
from prolate import Budget

LIMIT = 0.15
BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def zipf(d: int, skew: float) -> np.ndarray:
    return (d / np.arange(d, 0, -1)) ** (skew / 2)


def measured(n, spread, middle, budget, runs, p=2.0, **options) -> float:
    """(mean |error|_p**p)**(1 / p) against the rows' own mean."""
    powers = []
    for run in range(runs):
        rows = np.random.default_rng([run, 7]).normal(middle, spread, size=(n, spread.size))
        release = prolate.mean(rows, budget=budget, error_norm=p, seed=run, **options)
        powers.append(np.sum(np.abs(release.estimate - rows.mean(axis=0)) ** p))
    return float(np.mean(powers) ** (1 / p))


@pytest.mark.parametrize(
    ("n", "scale", "center", "rho", "runs", "options"),
    [
        (4000, np.ones(64), 0.0, 0.125, 12, {}),
        (6000, zipf(40, 2), 10.0, 0.5, 30, {"error_norm": 1}),
        (4000, zipf(40, 1), 5.0, 0.5, 20, {"neighbors": "add-remove"}),
        (3000, np.ones(5), 1e6, 0.5, 80, {}),
        (8000, np.array([17.0, 14.0, 2.0, 900.0]), 0.0, 0.5, 150, {}),
        (3000, np.ones(20), 10.0, 0.5, 30, {"method": "plan"}),
        (3000, np.ones(20), 10.0, 0.5, 30, {"clip": 0.2}),
    ],
)
def test_the_forecast_is_near_what_is_measured(n, scale, center, rho, runs, options):
    budget = Budget(rho=rho)
    forecast = prolate.expected_error(n=n, scale=scale, center=center, budget=budget, **options)
    p = options.pop("error_norm", 2.0)
    found = measured(n, scale, center, budget, runs, p, **options)
    ratio = forecast.noise / found
    print(f"predicted / measured = {ratio:.3f}")
    assert abs(ratio - 1.0) < LIMIT


@pytest.mark.long
@pytest.mark.parametrize("clip", ["auto", "optimal", 0.3])
@pytest.mark.parametrize("off", [0.0, 0.3])
def test_the_ellipse_is_foretold_center_off_or_not(clip, off):
    n, scale, budget = 2000, zipf(30, 1), Budget(mu=0.7)
    options = {"method": "gaussian-ellipse", "clip": clip}
    forecast = prolate.expected_error(
        n=n, scale=scale, budget=budget, offset=off * scale, **options
    )
    given = {"center": 50.0 - off * scale, "scale": scale}
    found = measured(n, scale, 50.0, budget, 80, **options, **given)
    ratio = forecast.noise / found
    print(f"predicted / measured = {ratio:.3f}")
    assert abs(ratio - 1.0) < 0.08


def test_a_forecast_for_other_data_is_seen_to_be_wrong():
    """A planted fault: scales half as large are told apart by the same limit."""
    n, scale, budget = 4000, np.ones(32), Budget(rho=0.5)
    forecast = prolate.expected_error(n=n, scale=0.5 * scale, budget=budget)
    assert abs(forecast.noise / measured(n, scale, 10.0, budget, 6) - 1.0) > 2 * LIMIT


def _grid():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location("expected", BENCHMARKS / "expected.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["expected"] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(BENCHMARKS))
    return module


@pytest.mark.long
def test_the_whole_grid():
    module = _grid()
    ratios = {}
    for setting in module.grid():
        found = module.compare(setting, 16)
        if abs(found.ratio - 1.0) > LIMIT - 2.0 * found.doubt:  # few columns decide: more runs
            found = module.compare(setting, 48)
        ratios[setting.name] = found.ratio
        print(f"{setting.name:24} {found.ratio:.3f} +- {found.doubt:.3f}", flush=True)
    assert len(ratios) > 20
    assert {name: r for name, r in ratios.items() if abs(r - 1.0) >= LIMIT} == {}
