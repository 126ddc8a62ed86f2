"""Scales that are no smaller than is likely beside the others."""

from __future__ import annotations

import numpy as np
import pytest

import prolate
from prolate.estimators.search.alike import likely_scale, likely_spread, raised_spread
from prolate.theory import RELATIVE, optimal_scale


def test_one_that_is_small_beside_equal_ones_is_raised() -> None:
    spread = np.array([1.0, 1.1, 0.9, 0.01, 1.2, 1.0])
    raised = likely_spread(spread)
    assert 0.5 < raised[3] < 1.0
    assert raised[spread > 1.0].tolist() == spread[spread > 1.0].tolist()


def test_columns_that_differ_by_decades_stay() -> None:
    spread = 10.0 ** np.arange(-6.0, 7.0)
    assert np.array_equal(likely_spread(spread)[4:], spread[4:])
    # What raising the smallest costs: the noise of the sum of spreads.
    assert likely_spread(spread).sum() < (1.0 + 1e-6) * spread.sum()


def test_what_hides_something_does_not_tell_how_much_columns_differ() -> None:
    hidden = np.where(np.arange(20) < 8, 0.02, 1.0)
    assert likely_spread(hidden).min() == 1.0


@pytest.mark.parametrize("factor", [1e-100, 1.0, 1e100])
def test_units_do_not_matter(factor: float) -> None:
    spread = np.random.default_rng(0).lognormal(size=9)
    np.testing.assert_allclose(likely_spread(factor * spread), factor * likely_spread(spread))


def test_constants_stay_and_lost_columns_do_not() -> None:
    spread = np.array([1e-11, 1e-11, 1.0, 1.0, 1.0, 1.0])
    constant = np.arange(6) == 0
    assert likely_scale(spread, 1.0, constant=constant)[0] == optimal_scale(spread, 1.0)[0]
    assert likely_scale(spread, 1.0, constant=constant)[1] > 0.1
    assert np.array_equal(likely_scale(spread, 1.0, constant=spread > 0.0), spread ** (2 / 3))


def test_many_constants_do_not_tell_how_much_the_others_differ() -> None:
    spread = np.array([1e-11] * 8 + [0.01, 1.0, 1.0, 1.0, 1.0])
    assert likely_scale(spread, 2.0, constant=spread < 1e-6)[8] == 1.0


def test_a_constant_is_released_with_less_noise() -> None:
    rows = np.random.default_rng(0).normal(size=(4000, 6))
    rows[:, 2] = 7.5
    made = prolate.mean(rows, budget=prolate.Budget(rho=0.5), seed=0)
    assert made.noise_std[2] < 0.5 * made.noise_std[0]


def test_one_column_stays() -> None:
    assert likely_spread(np.array([3.0])) == pytest.approx(3.0)


def test_for_relative_errors_less_is_raised() -> None:
    spread = np.array([0.01, *9 * [1.0]])
    np.testing.assert_allclose(likely_scale(spread, RELATIVE), [0.04, *9 * [1.0]])
    np.testing.assert_allclose(likely_scale(spread, 2.0), np.ones(10))


def test_for_relative_errors_few_columns_do_not_tell_of_another() -> None:
    spread = np.array([0.01, *8 * [1.0]])
    np.testing.assert_allclose(likely_scale(spread, RELATIVE), spread)


def test_for_relative_errors_columns_of_unlike_units_do_not_tell_of_each_other() -> None:
    spread = np.array([0.01, *5 * [1.0], *6 * [1000.0]])
    np.testing.assert_allclose(likely_scale(spread, RELATIVE), spread)


def test_public_scales_are_taken_as_they_are() -> None:
    scale = np.array([1.0, 1.0, 1.0, 1.0, 0.01])
    rows = np.random.default_rng(0).normal(size=(2000, 5)) * scale
    budget = prolate.Budget(rho=0.5)
    made = prolate.mean(rows, budget=budget, center=0, scale=scale, clip=0.01, seed=0)
    shape = optimal_scale(scale, 2.0)
    np.testing.assert_allclose(made.noise_std / made.noise_std[0], shape / shape[0])


def test_where_squares_are_summed_they_are_raised_as_much_as_values_are() -> None:
    spread = np.array([1e-4, *9 * [1.0]])
    values = raised_spread(spread, RELATIVE) / spread
    squares = raised_spread(spread, RELATIVE, squares=True) ** 2 / spread**2
    assert squares == pytest.approx(values)
    constant = spread < 1.0
    assert raised_spread(spread, 2.0, constant=constant).tolist() == spread.tolist()
