"""Audit of the rivals of regression by replay: one row moves from extreme to extreme, or goes.

One run is frozen; each query that it chose is asked of the neighbor, too. Given the answers
so far, measurement i is normal with a mean that moves by D_i and a known standard deviation
s_i, so the sum of |D_i|**2 / s_i**2 must not exceed mu**2, exactly and in every run. The
same replay finds a sensitivity that is halved: in the measurement that exceeds its own share.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from prolate import Budget, rivals
from prolate.curator import Curator, Measurement
from prolate.queries import Along, ClippedSum, Cross, Gram, Query
from prolate.sources import open_source

ROWS = np.random.default_rng(3).uniform(-0.7, 0.7, size=(200, 3))
# The last pair is at the angle that is worst for X'X and X'y together.
EXTREMES = [
    ([1e9, 1e9, 1e9], [-1e9, -1e9, -1e9]),
    ([1e9, 0.0, 1e9], [0.0, 1e9, -1e9]),
    ([1e9, 0.0, 1e9], [1e9, 0.0, -1e9]),
    ([1.0, 0.0, 1.0], [0.5, np.sqrt(0.75), -1.0]),
    ([np.nan, np.inf, 5.0], [1e300, -1e300, np.nan]),
]
METHODS = {
    "ssp": (rivals.ssp, {}),
    "ssp-joint": (rivals.ssp, {"accounting": "joint"}),
    "adassp": (rivals.adassp, {}),
    "adassp-fixed": (rivals.adassp, {"fixed": True}),
    "adassp-joint": (rivals.adassp, {"accounting": "joint"}),
    "adassp-fixed-joint": (rivals.adassp, {"accounting": "joint", "fixed": True}),
    "boosted": (rivals.boosted_adassp, {"rounds": 4}),
    "descent": (rivals.gradient_descent, {}),
}


class Recorder(Curator):
    """A curator that writes down every query and its measurement."""

    def __init__(self, *arguments, **options) -> None:
        super().__init__(*arguments, **options)
        self.seen: list[tuple[Query, Measurement]] = []

    def measure(self, query: Query, *, share: float, label: str) -> Measurement:
        measured = super().measure(query, share=share, label=label)
        self.seen.append((query, measured))
        return measured


Spent = list[tuple[Fraction, Fraction]]


def frozen_runs(name: str, neighbors: str, budget: Budget, intercept: bool) -> list[Spent]:
    """Return one run per pair of neighbors: what each measurement spends, and may spend."""
    method, options = METHODS[name]
    runs = []
    for one, other in EXTREMES:
        here, there = ROWS.copy(), ROWS.copy()
        here[17], there[17] = one, other
        if neighbors == "add-remove":
            there = np.delete(ROWS, 17, axis=0)
        curator = Recorder(open_source(here), budget, neighbors=neighbors)
        method(curator, fit_intercept=intercept, **options)
        run = []
        for query, measured in curator.seen:
            moved = query(here).astype(object) - query(there).astype(object)
            price = Fraction(int(np.dot(moved, moved))) / Fraction(measured.std) ** 2
            run.append((price, Fraction(measured.share) * Fraction(budget.mu) ** 2))
        runs.append(run)
    return runs


def spent(name: str, neighbors: str, budget: Budget, intercept: bool) -> Fraction:
    """Return the most that one frozen run spends on any pair of neighbors."""
    runs = frozen_runs(name, neighbors, budget, intercept)
    return max(sum((price for price, _ in run), Fraction(0)) for run in runs)


CASES = [
    (name, neighbors)
    for name in METHODS
    for neighbors in ("replace", "add-remove")
    if (name, neighbors) != ("descent", "add-remove")
]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("name", "neighbors"), CASES)
def test_replay(name, neighbors, epsilon, intercept) -> None:
    budget = Budget(epsilon=epsilon, delta=1e-6)
    for run in frozen_runs(name, neighbors, budget, intercept):
        assert all(price <= most for price, most in run)
        assert sum(most for _, most in run) <= Fraction(budget.mu) ** 2
    assert 0 < spent(name, neighbors, budget, intercept) <= Fraction(budget.mu) ** 2


@pytest.mark.parametrize(
    ("name", "neighbors", "query"),
    [
        ("ssp-joint", "replace", Cross),
        ("ssp-joint", "add-remove", Cross),
        ("boosted", "replace", Cross),
        ("adassp-fixed-joint", "add-remove", Gram),
        ("adassp-fixed-joint", "add-remove", Cross),
        ("descent", "replace", ClippedSum),
    ],
)
def test_replay_finds_half_a_sensitivity(name, neighbors, query, monkeypatch) -> None:
    honest = query.sensitivity_squared
    monkeypatch.setattr(query, "sensitivity_squared", lambda self, who: honest(self, who) // 4)
    runs = frozen_runs(name, neighbors, Budget(epsilon=1, delta=1e-6), False)
    assert any(price > most for run in runs for price, most in run)


def test_the_worst_pair_takes_nearly_all_of_the_budget() -> None:
    """The joint sensitivity is no looser than it must be."""
    budget = Budget(mu=1)
    assert spent("adassp-joint", "replace", budget, False) > 0.98
    assert spent("adassp-joint", "add-remove", budget, False) > 0.98


def test_along_takes_no_more_than_its_share() -> None:
    features = Gram(np.zeros(2), np.ones(2), 1.0, index=np.arange(2), width=3)
    curator = Recorder(open_source(ROWS), Budget(mu=1))
    measured = curator.measure(Along(features, np.array([1.0, 0.0])), share=0.5, label="test")
    here, other = ROWS.copy(), ROWS.copy()
    here[0], other[0] = [0.0, 1e9, 0.0], [1e9, 0.0, 0.0]
    query = curator.seen[0][0]
    moved = int(query(other)[0]) - int(query(here)[0])
    assert 0.49 < moved**2 / measured.std**2 <= 0.5
