"""Algebra of budgets: round trips, monotone conversions, order of the two compositions."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from prolate.budget import LEAST_MU, Budget
from prolate.conversions import gdp_log_delta

MUS = st.floats(math.log(1e-4), math.log(50.0)).map(math.exp)
EPSILONS = st.floats(math.log(1e-6), math.log(1e3)).map(math.exp)
DELTAS = st.floats(math.log(1e-300), math.log(0.5)).map(math.exp)


@given(st.floats(1e-12, 1e7))
def test_a_stated_rho_is_never_exceeded_not_by_a_rounding(rho) -> None:
    for budget in (Budget(rho=rho), Budget(rho=rho).for_zcdp()):
        assert Fraction(budget.mu) ** 2 <= 2 * Fraction(rho)
        assert Fraction(math.nextafter(budget.mu, math.inf)) ** 2 > 2 * Fraction(rho)


@given(mu=MUS)
def test_mu_rho_and_back(mu) -> None:
    budget = Budget(rho=Budget(mu=mu).rho)
    assert math.isclose(budget.mu, mu, rel_tol=1e-15)


@settings(max_examples=200)
@given(mu=MUS, delta=DELTAS)
def test_epsilon_and_back(mu, delta) -> None:
    epsilon = Budget(mu=mu).epsilon_at(delta)
    assume(epsilon > 1e-9)
    again = Budget(epsilon=epsilon, delta=delta).mu
    # epsilon is rounded up, and delta / epsilon amplify that little where mu is large.
    assert math.isclose(again, mu, rel_tol=1e-8)


@settings(max_examples=200)
@given(mu=MUS, epsilon=EPSILONS)
def test_what_is_stated_holds(mu, epsilon) -> None:
    budget = Budget(mu=mu)
    delta = budget.delta_at(epsilon)
    assume(1e-300 < delta < 0.9)
    assert budget.epsilon_at(delta) <= epsilon * (1.0 + 1e-12)


@settings(max_examples=200)
@given(a=MUS, b=MUS, epsilon=EPSILONS, delta=DELTAS)
def test_more_mu_is_less_private(a, b, epsilon, delta) -> None:
    low, high = sorted((a, b))
    assume(high > low * (1.0 + 1e-9))
    small, large = Budget(mu=low), Budget(mu=high)
    assert small.rho < large.rho
    assert small.epsilon_at(delta) <= large.epsilon_at(delta)
    assert small.delta_at(epsilon) <= large.delta_at(epsilon)
    assert gdp_log_delta(epsilon, low) <= gdp_log_delta(epsilon, high)


@settings(max_examples=200)
@given(a=EPSILONS, b=EPSILONS, mu=MUS)
def test_delta_falls_with_epsilon(a, b, mu) -> None:
    low, high = sorted((a, b))
    assume(high > low * (1.0 + 1e-6))
    assert gdp_log_delta(high, mu) <= gdp_log_delta(low, mu) + 1e-12


@settings(max_examples=100)
@given(epsilon=EPSILONS, delta=DELTAS, factor=st.floats(1.001, 100.0))
def test_more_epsilon_or_delta_is_more_mu(epsilon, delta, factor) -> None:
    assume(Budget(mu=LEAST_MU).epsilon_at(delta) < epsilon)
    budget = Budget(epsilon=epsilon, delta=delta)
    if epsilon * factor < 1e3:
        assert Budget(epsilon=epsilon * factor, delta=delta).mu > budget.mu
    if delta * factor < 0.5:
        assert Budget(epsilon=epsilon, delta=delta * factor).mu > budget.mu


@settings(max_examples=60)
@given(epsilon=st.floats(0.01, 50.0), delta=st.floats(math.log(1e-30), math.log(0.1)).map(math.exp))
def test_zcdp_is_the_smaller_budget(epsilon, delta) -> None:
    budget = Budget(epsilon=epsilon, delta=delta)
    converted = budget.for_zcdp()
    assert converted.mu <= budget.mu
    assert converted.epsilon_at(delta) <= epsilon * (1.0 + 1e-9)
    assert converted.epsilon_at(delta) >= Budget(mu=converted.mu).epsilon_at(delta)
