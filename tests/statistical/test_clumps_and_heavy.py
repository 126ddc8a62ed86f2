"""Groups of rows far out, columns of heavy tails, and one that rules: not clipped as noise is.

Errors are over that of the best fixed clip around the true mean: medians of twelve seeds. Four
other dozens gave 1.2 to 1.65 for groups and 1.0 to 1.25 for heavy columns, and with the planted
faults 2.8 to 3.0 and 2.6 to 3.4.
"""

from importlib import import_module

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.estimators.clipping import clipped_mean as averaged
from prolate.estimators.clipping import first_look
from prolate.estimators.lengths import expected
from prolate.estimators.search import apart, floor

RUNS = 12


def group(seed: int) -> np.ndarray:
    """Return rows of which 2 % are twelve standard deviations out, to one side."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random((2_500, 1)) < 0.02, 12.0, 0.0) + rng.normal(size=(2_500, 20))


def incomes(seed: int) -> np.ndarray:
    """Return normal columns, and one of a log-normal's tail."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(8_000, 40))
    rows[:, 7] = np.exp(2.0 * rng.normal(size=8_000)) / 5.0
    return rows


def ratio(draw, rho: float) -> float:
    """Return the median error over that of the best fixed clip."""
    found = []
    for seed in range(RUNS):
        rows = draw(seed)
        made = prolate.mean(rows, budget=Budget(rho=rho), seed=seed)
        away, scale = rows - rows.mean(axis=0), np.sqrt(rows.std(axis=0))
        norms = np.linalg.norm(away / scale, axis=1)
        errors = []
        for part in np.geomspace(1 / len(rows), 0.5, 30):
            radius = np.quantile(norms, 1.0 - part)
            noise = 2.0 * radius / np.sqrt(2.0 * rho) / len(rows) * scale
            kept = np.minimum(1.0, radius / norms) - 1.0
            lost = (away * kept[:, np.newaxis]).mean(axis=0)
            errors.append(np.hypot(np.linalg.norm(noise), np.linalg.norm(lost)))
        found.append(np.linalg.norm(made.estimate - rows.mean(axis=0)) / min(errors))
    return float(np.median(found))


def test_a_group_of_rows_far_out_is_kept() -> None:
    assert ratio(group, 0.2) < 2.1


def test_it_is_clipped_if_it_is_not_told_from_noise(monkeypatch) -> None:
    """A planted fault."""

    def none(norms, wanted, *, sure=0.0):
        return np.zeros(norms.counts.size, dtype=bool)

    monkeypatch.setattr(expected, "find_clumps", none)
    monkeypatch.setattr(first_look, "find_clumps", none)
    assert ratio(group, 0.2) > 2.4


def test_a_heavy_column_is_a_table_of_its_own() -> None:
    assert ratio(incomes, 0.5) < 1.6


def test_it_is_clipped_with_the_others(monkeypatch) -> None:
    """Three planted faults: neither the searches nor the tilt show it, nor counts of its own."""
    monkeypatch.setattr(
        floor, "heavy_columns", lambda raised, *_, **__: np.zeros(raised.size, dtype=bool)
    )
    monkeypatch.setattr(averaged, "long_columns", lambda *_, **__: None)
    monkeypatch.setattr(import_module("prolate.estimators.tables"), "find_kinds", lambda *_: None)
    assert ratio(incomes, 0.5) > 2.0


@pytest.mark.long
def test_a_skewed_column_that_rules_is_summed_by_itself(monkeypatch) -> None:
    """Of amounts in cents beside other columns; four times two hundred seeds gave .5 to .7."""

    def error(seed: int) -> float:
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(2_000, 20))
        rows[:, 0] = 1e4 * np.exp(rng.normal(size=2_000))
        made = prolate.mean(rows, budget=Budget(rho=0.25), seed=seed)
        return float(np.linalg.norm(made.estimate - rows.mean(axis=0)))

    found = np.median([error(seed) for seed in range(200)])
    monkeypatch.setattr(apart, "_RULES", 2.0)  # a planted fault: none does
    without = np.median([error(seed) for seed in range(200)])
    print("error:", found, "without:", without)
    assert found < 0.87 * without
