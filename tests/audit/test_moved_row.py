"""A black-box audit: one row moves from -1e9 to 1e9, and the releases are told apart.

Two data sets differ in one row. Each is released many times; the best linear test is fitted
on half of the releases (Fisher's direction, from the estimates, their noise and the radius)
and measured on the other half, as the distance of the two means over the standard
deviation. For a mu-GDP release no test's distance exceeds that of two normal numbers mu
apart. With m releases of each on the other half, the measured distance of a test whose true
one is at most mu exceeds mu + 6.5 sqrt((2 + mu**2 / 2) / m) with probability below 1e-9.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.queries import ClippedSum

ROWS = np.random.default_rng(3).normal([20.0, 0.0], [4.0, 1.0], size=(200, 2))


def moved(to: float) -> np.ndarray:
    rows = ROWS.copy()
    rows[17] = to
    return rows


def features(release: prolate.Release) -> list[float]:
    """Everything in a release that might tell, on a scale where a linear test can use it."""
    found = [*release.estimate, *np.log(release.noise_std + 1e-300), release.n]
    found += [math.log(value) for key, value in release.details.items() if "radius" in key]
    return found


def distance(make, runs: int) -> float:
    """Fisher's distance between the releases of two neighbors, on held-out releases."""
    sides = []
    for to in (-1e9, 1e9):
        rows = moved(to)
        sides.append(np.array([features(make(rows)) for _ in range(runs)]))
    # Wild values are pulled in, by a map fitted on the first halves.
    fit, test = [side[: runs // 2] for side in sides], [side[runs // 2 :] for side in sides]
    both = np.vstack(fit)
    low, high = np.quantile(both, [0.02, 0.98], axis=0)
    fit, test = ([np.clip(side, low, high) for side in half] for half in (fit, test))
    within = sum(np.cov(side.T) for side in fit) + 1e-12 * np.diag((high - low) ** 2 + 1e-30)
    direction = np.linalg.pinv(within) @ (fit[1].mean(axis=0) - fit[0].mean(axis=0))
    scores = [side @ direction for side in test]
    spread = math.sqrt(0.5 * (scores[0].var() + scores[1].var()))
    return float(abs(scores[1].mean() - scores[0].mean()) / max(spread, 1e-300))


def limit(mu: float, runs: int) -> float:
    return mu + 6.5 * math.sqrt((2.0 + mu * mu / 2.0) / (runs / 2))


def releases(rho: float) -> dict:
    budget = Budget(rho=rho)

    def total(rows, **options):
        return prolate.sum(rows, budget=budget, bounds=([0, -5], [40, 5]), **options)

    return {
        "sum": total,
        "sum, add-remove": lambda rows: total(rows, neighbors="add-remove"),
        "sum, plain": lambda rows: total(rows, method="gaussian"),
        "mean": lambda rows: prolate.mean(rows, budget=budget),
        "mean, add-remove": lambda rows: prolate.mean(rows, budget=budget, neighbors="add-remove"),
        "mean, bounds": lambda rows: prolate.mean(rows, budget=budget, bounds=(-50, 50)),
        "mean, plain": lambda rows: prolate.mean(
            rows, budget=budget, bounds=(-50, 50), method="gaussian"
        ),
        "variance": lambda rows: prolate.variance(rows, budget=budget),
        "median": lambda rows: prolate.quantile(rows, 0.5, budget=budget),
        "plan": lambda rows: prolate.mean(rows, budget=budget, method="plan"),
    }


@pytest.mark.parametrize("rho", [0.5, 8])
@pytest.mark.parametrize("name", ["sum", "sum, add-remove", "mean", "mean, add-remove"])
def test_nobody_sees_more_than_mu(name, rho):
    runs = 1500 if name.startswith("sum") else 500
    found = distance(releases(rho)[name], runs)
    mu = math.sqrt(2 * rho)
    # Removing the row and adding the other one are two steps under add-remove.
    claimed = 2 * mu if "add-remove" in name else mu
    print(f"{name}: {found:.2f} seen, {claimed:.2f} claimed")
    assert found <= limit(claimed, runs)


@pytest.mark.long
@pytest.mark.parametrize("rho", [0.5, 8])
@pytest.mark.parametrize("name", list(releases(0.5)))
def test_nobody_sees_more_than_mu_in_many_runs(name, rho):
    runs = 3000
    found = distance(releases(rho)[name], runs)
    claimed = math.sqrt(2 * rho) * (2 if "add-remove" in name else 1)
    print(f"{name}: {found:.2f} seen, {claimed:.2f} claimed")
    assert found <= limit(claimed, runs)


def test_the_sum_uses_nearly_all_of_its_mu():
    """The audit is not blind: it sees about mu where the mechanism spends it on one number."""
    make = releases(0.5)["sum, plain"]
    assert distance(make, 1500) >= 0.55


@pytest.mark.parametrize("query", [ClippedSum])
def test_the_audit_catches_a_sensitivity_that_is_halved(query, monkeypatch):
    honest = query.sensitivity_squared
    monkeypatch.setattr(
        query, "sensitivity_squared", lambda self, neighbors: honest(self, neighbors) // 4
    )
    assert distance(releases(0.5)["sum"], 1500) > limit(1.0, 1500)
