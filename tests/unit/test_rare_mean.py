"""Columns that are nearly constant: their search, their gain under clipping, shrinking."""

from __future__ import annotations

import numpy as np
import pytest

import prolate
from prolate.curator import Curator
from prolate.estimators.locate import locate
from prolate.estimators.rare_mean import _gain
from prolate.estimators.shrink import shrink
from prolate.rivals import plan_binary
from prolate.sources import open_source


def test_the_gain_is_what_a_sure_first_mean_says_within_its_limits():
    away = 1e6 * np.arange(1.0, 9.0)
    assert _gain(0.8 * away, away, 0.0, 0.7, 0.9) == pytest.approx(0.8)
    assert _gain(0.2 * away, away, 0.0, 0.7, 0.9) == 0.7
    assert _gain(2.0 * away, away, 0.0, 0.7, 0.9) == 0.9


def test_the_gain_is_the_middle_where_the_first_mean_says_nothing():
    assert _gain(np.ones(8), np.zeros(8), 0.0, 0.7, 0.9) == pytest.approx(0.8)
    faint = np.full(8, 1e-3)
    assert _gain(faint, faint, 0.0, 0.7, 0.9) == pytest.approx(0.8, abs=1e-3)


@pytest.mark.parametrize("median", [False, True])
def test_shrinking_finds_what_columns_have_in_common(median):
    rng = np.random.default_rng(0)
    noise = np.exp(rng.normal(0.0, 0.3, 800))
    truth = np.where(np.arange(800) < 40, 1000.0, 9.0)
    moved = truth + noise * rng.normal(size=800)
    shrunk = shrink(moved, noise, median=median)
    assert np.array_equal(shrunk[:40], moved[:40])  # these stand out
    assert np.abs(shrunk - truth)[40:].mean() < 0.5 * np.abs(moved - truth)[40:].mean()


def test_shrinking_leaves_few_columns_alone():
    moved = np.linspace(-1.0, 1.0, 15)
    assert shrink(moved, np.ones(15), median=True) is moved


def test_columns_of_two_values_are_never_taken_for_nearly_constant_wide_ones():
    """Where one value has about the 70 % of the rows that a bulk must have."""
    often = np.linspace(0.3, 0.42, 60)
    rows = (np.random.default_rng(0).random((10000, 60)) < often).astype(float)
    for seed in range(10):
        curator = Curator(open_source(rows), prolate.Budget(rho=0.125), seed=seed)
        found = locate(curator, 10000.0, magnitude_share=0.0064, share=0.0131)
        assert np.all(found.narrow | (found.half > 0.05))


@pytest.mark.parametrize("rho", [1.0, 0.125])
def test_baskets_of_very_different_sizes(rho):
    """Long baskets lose most by clipping; the popular items tell how much."""
    rng = np.random.default_rng(1)
    often = 0.3 / np.arange(1, 151) ** 0.8
    factor = rng.exponential(size=(20000, 1))
    rows = (rng.random((20000, 150)) < factor * often).astype(float)
    truth, ours, theirs = rows.mean(axis=0), [], []
    for seed in range(5):
        budget = prolate.Budget(rho=rho)
        estimate = prolate.mean(rows, budget=budget, error_norm=1, seed=seed).estimate
        ours.append(np.abs(estimate - truth).sum())
        curator = Curator(open_source(rows), budget, seed=seed)
        theirs.append(np.abs(plan_binary(curator).value - truth).sum())
    assert np.mean(ours) < 0.95 * np.mean(theirs)
