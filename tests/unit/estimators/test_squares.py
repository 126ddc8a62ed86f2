"""Mean squares: summed twice, as the first sum says how large they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.clipping import squares
from prolate.estimators.clipping.squares import Squares
from prolate.sources import open_source
from prolate.theory import RELATIVE

BUDGET = Budget(mu=1.0)


def found(value: float, noise: float, clipping: float = 0.0, reach: float = 5.0) -> Squares:
    one, few = np.ones(1), {"radius": 5.0, "clipped": 0.01}
    known = {"size": value * one, "stretch": one, "long": one > 1.0, "reach": reach * one, **few}
    return Squares(value * one, noise * one, clipping * one, **known)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_sizes_that_are_off_matter_less_where_squares_are_summed_twice(
    neighbors, monkeypatch
) -> None:
    off = np.geomspace(0.1, 1.0, 8)

    def error() -> float:
        found = []
        for seed in range(12):
            rows = np.random.default_rng(seed).laplace(size=(4000, 8))
            curator = Curator(open_source(rows), BUDGET, neighbors=neighbors, seed=seed)
            made = squares.mean_squares(
                curator, np.zeros(8), 2.0 * off, rows=4000.0, share=1.0, error_norm=RELATIVE
            )
            found.append(made.value / np.mean(rows**2, axis=0) - 1.0)
        return float(np.sqrt(np.mean(np.square(found))))

    after = error()
    monkeypatch.setattr(squares, "_nearer", lambda found: found.size)
    assert after < 0.8 * error()


def test_sizes_follow_what_is_found_as_far_as_it_is_known() -> None:
    for value, noise, nearer in (
        (9.0, 0.01, 9.0),
        (9.0, 30.0, 1.0),
        (-9.0, 0.01, 1.0),  # the rest may be clipped
    ):
        of_one = replace(found(value, noise), size=np.ones(1))
        assert squares._nearer(of_one)[0] == pytest.approx(nearer, rel=0.01)


def test_the_first_sum_counts_as_far_as_noise_explains_the_difference() -> None:
    alike = squares._average(found(1.0, 0.3), found(1.1, 0.1))
    assert alike.value[0] == pytest.approx(1.09)
    assert alike.noise_std[0] == pytest.approx(np.hypot(0.9 * 0.1, 0.1 * 0.3))
    apart = squares._average(found(0.1, 0.01), found(1.0, 0.1))  # it has lost most
    assert apart.value[0] > 0.98


def test_what_a_farther_reach_adds_is_allowed_for_once_more() -> None:
    nearer, farther = found(0.7, 0.02), found(0.9, 0.02, 0.01, reach=20.0)
    allowed = squares._with_own_tails(nearer, farther, np.inf)
    assert allowed.clipping_std[0] == pytest.approx(0.2, rel=0.01)  # twice as far: as much again
    assert allowed.value[0] == 0.9
    hardly = squares._with_own_tails(nearer, found(0.74, 0.02, 0.01, reach=20.0), np.inf)
    assert hardly.clipping_std[0] == 0.01
    of_few = squares._with_own_tails(nearer, farther, 50.0)  # whose squares differ by as much
    assert of_few.clipping_std[0] == 0.01


def test_a_sample_says_how_large_squares_are_and_all_rows_are_summed_once(monkeypatch) -> None:
    """Where rows are many, the first sum is not worth another look at all of them."""
    rows = np.random.default_rng(0).normal(size=(400_000, 8))
    r = prolate.variance(rows, budget=Budget(mu=2.0), seed=0)
    sums = [line for line in r.receipt if line.label == "variance"]
    assert len(sums) == 2
    assert r.estimate == pytest.approx(rows.var(axis=0), rel=0.01)


def test_sampling_errors_are_those_of_the_sizes_that_are_found() -> None:
    """Spreads tell of the bulk of long-tailed columns: squares are four times as large here."""
    rows = np.exp(np.random.default_rng(0).normal(size=(20_000, 4)))
    r = prolate.variance(rows, budget=Budget(mu=2.0), seed=0)
    true = ((rows - rows.mean(axis=0)) ** 2).std(axis=0) / np.sqrt(len(rows))
    assert 0.4 < np.median(r.sampling_std / true) < 2.5


@pytest.mark.parametrize("statistic", ["variance", "covariance"])
def test_columns_that_show_a_single_value_are_named(statistic) -> None:
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=(2000, 2)), np.full(2000, 7.0)])
    release = getattr(prolate, statistic)
    said = release(rows, budget=BUDGET, seed=0).warnings
    assert any("single value" in each and "'x2'" in each for each in said)
    rows[:, 2] = rng.normal(size=2000)
    said = release(rows, budget=BUDGET, seed=0).warnings
    assert not any("single value" in each for each in said)


def test_variances_allow_for_flags_that_noise_hides() -> None:
    """As means do: of 1,000 rows, noise hides a flag of 2 %."""
    rows = (np.random.default_rng(0).random((1000, 1)) < 0.02).astype(float)
    for seed in range(3):
        found = prolate.variance(rows, budget=Budget(epsilon=1, delta=1e-6), seed=seed)
        assert found.estimate[0] == 0.0
        assert found.interval()[0, 1] > rows.var()
        assert [each.split(".")[0] for each in found.warnings] == [
            "Each column showed a single value"
        ]
