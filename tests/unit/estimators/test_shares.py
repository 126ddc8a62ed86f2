"""How the budget is shared, and when rows are said to be few."""

from __future__ import annotations

import numpy as np
import pytest

import prolate
from prolate.curator import Curator
from prolate.estimators.counting import count_rows
from prolate.estimators.shares import Shares, plan_shares
from prolate.sources import open_source

RELATIONS = ["replace", "add-remove"]


def planned(d: int, rows: int, rho: float, neighbors: str) -> Shares:
    """Return the shares for so many rows; only a private number of rows is measured."""
    budget = prolate.Budget(rho=rho)
    curator = Curator(open_source(np.zeros((1, d))), budget, neighbors=neighbors, seed=0)
    count_rows(curator)
    return plan_shares(curator, float(rows))


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize(
    ("d", "rows", "rho"), [(1, 10**9, 1.0), (64, 4000, 1.0), (100, 20000, 0.5), (512, 20000, 0.125)]
)
def test_many_rows_are_not_said_to_be_few(d, rows, rho, neighbors):
    assert not planned(d, rows, rho, neighbors).small


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize(("d", "rows", "rho"), [(512, 1000, 0.125), (2048, 4000, 0.125)])
def test_few_rows_are(d, rows, rho, neighbors):
    assert planned(d, rows, rho, neighbors).small


def test_counts_noisy_by_six_percent_of_the_rows_are_too_few():
    shares = planned(2048, 10000, 0.125, "replace")
    assert shares.count_error == pytest.approx(0.064, abs=5e-4)
    assert shares.small


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_comfortable_mean_has_no_warning_and_a_tight_one_has(neighbors):
    rows = np.random.default_rng(0).normal(size=(4000, 64))
    options = {"budget": prolate.Budget(rho=0.5), "neighbors": neighbors, "seed": 1}
    assert prolate.mean(rows, **options).warnings == ()
    said = prolate.mean(rows[:300], **options).warnings
    assert said
    assert all("few" in warning for warning in said)  # not that some columns rule the others


def test_a_number_of_rows_that_noise_hides_is_counted_again() -> None:
    rows = np.random.default_rng(0).normal(size=(300, 1))
    off = []
    for seed in range(40):
        made = prolate.mean(
            rows, budget=prolate.Budget(rho=0.01), neighbors="add-remove", seed=seed
        )
        assert [entry.label for entry in made.receipt][:2] == ["rows", "rows again"]
        off.append(made.n - 300)
    first = made.receipt[0].noise_std
    assert 0.15 * first < np.std(off) < 0.6 * first
    many = np.random.default_rng(0).normal(size=(3000, 1))
    made = prolate.mean(many, budget=prolate.Budget(rho=0.01), neighbors="add-remove", seed=1)
    assert "rows again" not in [entry.label for entry in made.receipt]
