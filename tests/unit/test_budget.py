"""Budgets: the published check values, the extremes, what is refused, and immutability."""

from __future__ import annotations

import copy
import math
import pickle

import mpmath
import numpy as np
import pytest

from prolate.budget import Budget
from prolate.conversions import classical_sigma, gdp_log_delta
from prolate.errors import BudgetError, ProlateError


def exact_log_delta(epsilon: float, mu: float, digits: int = 60) -> mpmath.mpf:
    """Balle and Wang's Theorem 8, with `digits` digits left after the cancellation."""
    x = epsilon / mu - mu / 2
    lost = max(0.0, x) ** 2 / 2 + abs(math.log(mu)) * 4
    with mpmath.workdps(digits + 20 + int(lost / math.log(10))):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        delta = mpmath.ncdf(-e / m + m / 2) - mpmath.exp(e) * mpmath.ncdf(-e / m - m / 2)
        return mpmath.log(delta)


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [
        (0.1, 1e-6, 36.305),
        (1, 1e-6, 4.225),
        (3, 1e-6, 1.544),
        (8, 1e-6, 0.653),
        (1, 1e-9, 5.495),
    ],
)
def test_published_sigma(epsilon, delta, sigma) -> None:
    assert round(1.0 / Budget(epsilon=epsilon, delta=delta).mu, 3) == sigma


EPSILONS = (1e-4, 1e-3, 0.1, 1.0, 8.0, 50.0, 1e3)
DELTAS = (1e-300, 1e-200, 1e-50, 1e-9, 1e-3, 0.3, 0.9, 0.999)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_mu_is_the_largest_that_holds(epsilon, delta) -> None:
    """Never more than (epsilon, delta) allows, and short of it by less than 1e-11."""
    mu = Budget(epsilon=epsilon, delta=delta).mu
    wanted = mpmath.log(mpmath.mpf(delta))
    assert exact_log_delta(epsilon, mu) <= wanted
    assert exact_log_delta(epsilon, mu * (1 + 1e-11)) > wanted


# Those with a delta above 1e-700.
CURVE = [
    (epsilon, mu)
    for epsilon in (1e-6, 1e-3, 0.1, 1.0, 8.0, 50.0, 1e3, 1e4, 1e6)
    for mu in (1e-6, 1e-3, 0.1, 0.9999999, 1.0, 3.0, 30.0, 300.0, 5000.0)
    if epsilon / mu - mu / 2 < 56.0
]


@pytest.mark.parametrize(("epsilon", "mu"), CURVE)
def test_log_delta_against_sixty_digits(epsilon, mu) -> None:
    x = epsilon / mu - mu / 2
    exact = exact_log_delta(epsilon, mu)
    error = abs(mpmath.mpf(gdp_log_delta(epsilon, mu)) - exact)
    # The argument x itself carries a rounding error, which log delta multiplies by x.
    rounding = 4e-16 * (epsilon / mu + mu) * (abs(x) + 1.0)
    assert error <= 2e-12 + rounding + 1e-15 * abs(exact)


@pytest.mark.parametrize("epsilon", [1e4, 1e5, 1e7])
def test_a_large_epsilon_is_a_budget_too(epsilon) -> None:
    """A bracket of epsilon / 60 does not hold the root here."""
    budget = Budget(epsilon=epsilon, delta=1e-6)
    assert abs(exact_log_delta(epsilon, budget.mu) - math.log(1e-6)) < 1e-6


@pytest.mark.parametrize("mu", [1e-3, 0.3, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("delta", [1e-300, 1e-12, 1e-6, 0.01])
def test_epsilon_at_and_back(mu, delta) -> None:
    budget = Budget(mu=mu)
    epsilon = budget.epsilon_at(delta)
    if epsilon == 0.0:
        assert exact_log_delta(0.0, mu) <= math.log(delta)
        return
    assert exact_log_delta(epsilon, mu) <= mpmath.log(mpmath.mpf(delta))
    assert budget.delta_at(epsilon) == pytest.approx(delta, rel=1e-7)
    assert Budget(epsilon=epsilon, delta=delta).mu == pytest.approx(mu, rel=1e-9)


@pytest.mark.parametrize("log_delta", [-700.0, -735.0, -740.5, -742.0, -744.3, -746.0, -2000.0])
def test_delta_at_rounds_up_where_floats_end(log_delta) -> None:
    epsilon = 0.5 + math.sqrt(-2.0 * log_delta)
    with mpmath.workdps(30):
        assert Budget(mu=1.0).delta_at(epsilon) >= mpmath.exp(exact_log_delta(epsilon, 1.0))


def test_zcdp_conversion() -> None:
    budget = Budget(epsilon=1, delta=1e-6)
    converted = budget.for_zcdp()
    assert round(1.0 / converted.mu, 3) == 4.531
    assert converted.composition == "zcdp"
    assert converted.epsilon_at(1e-6) == pytest.approx(1.0, abs=1e-8)
    assert converted.epsilon_at(1e-6) <= 1.0 + 1e-12
    assert converted.for_zcdp() == converted
    # What is stated in rho or mu keeps its rho.
    assert Budget(rho=0.3).for_zcdp().rho == Budget(rho=0.3).rho
    assert Budget(mu=2.0).for_zcdp().mu == 2.0


def test_a_smaller_delta_is_kept_in_either_composition() -> None:
    for budget in (Budget(epsilon=1, delta=1e-6), Budget(epsilon=1, delta=1e-6).for_zcdp()):
        smaller = budget.with_delta(5e-7)
        assert (smaller.composition, smaller.stated) == (budget.composition, budget.stated)
        assert 4.9e-7 < smaller.delta_at(epsilon=1) <= 5e-7 * (1.0 + 1e-6)


@pytest.mark.parametrize("parts", [0, 0.5, -2, math.nan])
def test_a_budget_is_never_divided_into_a_larger_one(parts: float) -> None:
    with pytest.raises(BudgetError, match="1 or more"):
        Budget(mu=1).divided(parts)


def test_a_budget_without_a_delta_has_none_to_replace() -> None:
    with pytest.raises(BudgetError, match="no delta"):
        Budget(mu=1).with_delta(1e-6)


@pytest.mark.parametrize(
    ("rho", "delta"),
    [(1e-4, 1e-12), (1e-4, 1e-6), (1e-3, 1e-2), (0.01, 1e-6), (0.5, 1e-12), (0.5, 1e-6), (8, 1e-2)],
)
def test_zcdp_bound_against_a_search_with_many_digits(rho, delta) -> None:
    """Canonne, Kamath, Steinke 2020, Corollary 13, minimized with 40 digits."""
    budget = Budget(rho=rho).for_zcdp()
    epsilon = budget.epsilon_at(delta)
    with mpmath.workdps(40):

        def bound(alpha: mpmath.mpf) -> mpmath.mpf:
            return (
                (alpha - 1) * (alpha * rho - epsilon)
                - mpmath.log(alpha - 1)
                + alpha * (mpmath.log(1 - 1 / alpha))
            )

        low, high = mpmath.mpf(1) + mpmath.mpf(10) ** -6, mpmath.mpf(10) ** 6
        for _ in range(400):  # convex in alpha: ternary search
            third = (high - low) / 3
            if bound(low + third) < bound(high - third):
                high -= third
            else:
                low += third
        assert float(bound(low)) == pytest.approx(math.log(delta), abs=1e-8)
    assert epsilon > Budget(mu=budget.mu).epsilon_at(delta)


def test_classical_mechanism() -> None:
    assert classical_sigma(0.5, 1e-6) == pytest.approx(math.sqrt(2 * math.log(1.25e6)) / 0.5)
    for epsilon in (0.0, 1.0, 2.0, math.nan):
        with pytest.raises(BudgetError, match="private only for 0 < epsilon < 1"):
            classical_sigma(epsilon, 1e-6)
    for delta in (0.0, 1.0, math.nan):
        with pytest.raises(BudgetError, match="strictly between 0 and 1"):
            classical_sigma(0.5, delta)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "got nothing"),
        ({"epsilon": 1.0}, "stated as epsilon and delta, or as rho, or as mu; got epsilon"),
        ({"delta": 1e-6}, "got delta"),
        ({"epsilon": 1.0, "delta": 1e-6, "rho": 1.0}, "got epsilon, delta, rho"),
        ({"rho": 1.0, "mu": 1.0}, "got rho, mu"),
        ({"epsilon": 0.0, "delta": 1e-6}, "epsilon must be positive and finite; got 0"),
        ({"epsilon": -1.0, "delta": 1e-6}, "epsilon must be positive and finite; got -1"),
        ({"epsilon": math.inf, "delta": 1e-6}, "epsilon must be positive and finite; got inf"),
        ({"epsilon": math.nan, "delta": 1e-6}, "epsilon must be positive and finite; got nan"),
        ({"epsilon": 1.0, "delta": 0.0}, "delta must lie strictly between 0 and 1; got 0"),
        ({"epsilon": 1.0, "delta": 1.0}, "delta must lie strictly between 0 and 1; got 1"),
        ({"epsilon": 1.0, "delta": -1e-6}, "delta must lie strictly between 0 and 1"),
        ({"epsilon": 1.0, "delta": math.nan}, "delta must lie strictly between 0 and 1; got nan"),
        ({"rho": 0.0}, "rho must be positive"),
        ({"mu": -1.0}, "mu must be positive"),
        ({"mu": "1"}, "mu must be a number; got '1'"),
        ({"mu": np.True_}, "mu must be a number; got "),
        ({"rho": b"1"}, "rho must be a number"),
        ({"rho": True}, "rho must be a number; got True"),
        ({"mu": [1.0]}, "mu must be a number"),
        ({"mu": np.ones(1)}, "mu must be a number"),
        ({"mu": 1j}, "mu must be a number"),
        ({"epsilon": 10**400, "delta": 0.1}, "this one is too large"),
        ({"mu": 9e-7}, "between mu = 1e-6"),
        ({"mu": 1e5}, "between mu = 1e-6"),
        ({"epsilon": 1e300, "delta": 0.1}, "between mu = 1e-6"),
        ({"epsilon": 5e-324, "delta": 5e-324}, "between mu = 1e-6"),
    ],
)
def test_messages(arguments, message) -> None:
    with pytest.raises(BudgetError) as caught:
        Budget(**arguments)
    assert message in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, ProlateError)


def test_a_subnormal_epsilon_is_epsilon_zero() -> None:
    # delta(0) = 2 Phi(mu / 2) - 1.
    with mpmath.workdps(30):
        mu = 2 * mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf("0.1"))
    assert Budget(epsilon=5e-324, delta=0.1).mu == pytest.approx(float(mu), rel=1e-10)


def test_what_the_methods_refuse() -> None:
    budget = Budget(mu=1)
    for epsilon in (-1e-9, math.inf, math.nan):
        with pytest.raises(BudgetError, match="epsilon must be zero or positive"):
            budget.delta_at(epsilon)
    for delta in (0.0, 1.0, math.nan):
        with pytest.raises(BudgetError, match="delta must lie strictly between 0 and 1"):
            budget.epsilon_at(delta)


def test_numpy_numbers_are_numbers() -> None:
    assert Budget(mu=np.float32(0.5)).mu == 0.5
    assert Budget(rho=np.int64(2)) == Budget(rho=2.0)


def test_immutable() -> None:
    budget = Budget(epsilon=1, delta=1e-6)
    with pytest.raises(AttributeError, match="immutable"):
        budget.mu = 100.0
    with pytest.raises(AttributeError, match="immutable"):
        budget.other = 1
    with pytest.raises(AttributeError, match="immutable"):
        del budget.mu
    with pytest.raises(TypeError):
        budget.stated["epsilon"] = 100.0


@pytest.mark.parametrize(
    "budget",
    [
        Budget(epsilon=1, delta=1e-6),
        Budget(rho=0.5),
        Budget(mu=2),
        Budget(epsilon=1, delta=1e-6).for_zcdp(),
        Budget(epsilon=1, delta=1e-6).with_delta(5e-7).with_keys(5e-7),
    ],
)
def test_copies_are_equal(budget) -> None:
    for twin in (
        pickle.loads(pickle.dumps(budget)),
        copy.copy(budget),
        copy.deepcopy(budget),
        Budget.from_dict(budget.to_dict()),
    ):
        assert twin == budget
        assert hash(twin) == hash(budget)
        assert (twin.mu, twin.composition) == (budget.mu, budget.composition)
    assert budget != Budget(mu=3)
    assert budget != budget.mu
    assert budget != "budget"


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"mu": 1.0, "composition": "gdp"},
        {"mu": 1.0, "composition": "other", "stated": {"mu": 1.0}},
        {"mu": 1.5, "composition": "gdp", "stated": {"mu": 1.0}},  # more than is stated
        {"mu": math.nan, "composition": "gdp", "stated": {"mu": 1.0}},
        {"mu": 0.0, "composition": "gdp", "stated": {"mu": 1.0}},
        {"mu": 1.0, "composition": "gdp", "stated": [1.0]},
        {"mu": 1.0, "composition": "gdp", "stated": {"sigma": 1.0}},
    ],
)
def test_what_is_no_budget(fields) -> None:
    with pytest.raises(BudgetError):
        Budget.from_dict(fields)


def test_text() -> None:
    assert repr(Budget(epsilon=1, delta=1e-6)) == "Budget(epsilon=1, delta=1e-06)"
    assert str(Budget(epsilon=1, delta=1e-6)) == "epsilon = 1, delta = 1e-06 (mu = 0.2368)"
    assert str(Budget(mu=2)) == "mu = 2"
    # Never less than is spent.
    assert str(Budget(epsilon=1.0000004, delta=1e-6)).startswith("epsilon = 1.0000004, delta")
    assert str(Budget(rho=0.12345649)) == "rho = 0.12345649 (mu = 0.497)"
    assert repr(Budget(rho=2).for_zcdp()) == "Budget(rho=2).for_zcdp()"
    exact = Budget(epsilon=1 / 3, delta=1e-7 / 3)
    assert eval(repr(exact)) == exact


def found(epsilon: float = 1.0, delta: float = 1e-6) -> Budget:
    """What a release of groups that were found has cost."""
    return Budget(epsilon=epsilon, delta=delta).with_delta(delta / 2).with_keys(delta / 2)


@pytest.mark.parametrize("zcdp", [False, True])
def test_showing_keys_takes_its_delta_from_every_claim(zcdp: bool) -> None:
    budget = found().for_zcdp() if zcdp else found()
    alone = Budget(epsilon=1, delta=1e-6).with_delta(5e-7)
    alone = alone.for_zcdp() if zcdp else alone
    assert (budget.mu, budget.stated, budget.keys_delta) == (alone.mu, alone.stated, 5e-7)
    assert budget.epsilon_at(1e-6) == pytest.approx(alone.epsilon_at(5e-7), rel=1e-11)
    assert budget.epsilon_at(3e-6) == pytest.approx(alone.epsilon_at(2.5e-6), rel=1e-11)
    assert budget.epsilon_at(3e-6) > alone.epsilon_at(2.5e-6 * (1 + 1e-9))
    for delta in (1e-9, 5e-7, 9.999e-7):
        with pytest.raises(BudgetError, match=r"ask for 1e-06 or more"):
            budget.epsilon_at(delta)
    assert budget.delta_at(0.5) == pytest.approx(alone.delta_at(0.5) + 5e-7, rel=1e-12)
    assert budget.delta_at(0.5) > alone.delta_at(0.5) + 5e-7 - 1e-20
    # However large epsilon is: a group of one person may be shown.
    assert 1e-6 <= budget.delta_at(50.0) <= 1e-6 * (1 + 1e-15)
    assert budget.divided(2).delta_at(1.0) >= 1e-6
    assert "mu" not in str(budget)


def test_a_delta_of_keys_is_a_part_of_delta() -> None:
    budget = Budget(epsilon=1, delta=1e-6)
    for delta in (0.0, -1e-9, math.nan, 5.1e-7, "1"):
        with pytest.raises(BudgetError, match=r"showing groups|must be a number"):
            budget.with_keys(delta)  # type: ignore[arg-type]


def test_a_stored_delta_of_keys_is_read_and_checked() -> None:
    fields = found().to_dict()
    assert fields["keys_delta"] == 5e-7
    assert "keys_delta" not in Budget(mu=1).to_dict()
    for changed in ({"keys_delta": 6e-7}, {"keys_delta": -5e-7}, {"keys_delta": "5e-7"},
                    {"keys_delta": 1.0}, {"mu": Budget(epsilon=1, delta=1e-6).mu}):  # fmt: skip
        with pytest.raises(BudgetError):
            Budget.from_dict(fields | changed)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(1.3379665e-7, 0.9999999998859595), (1e-6, 0.9964311131233353), (1.0, 1e-6), (0.1, 0.5)],
)
def test_epsilons_are_rounded_up_where_the_curve_is_flat(epsilon: float, delta: float) -> None:
    budget = Budget(epsilon=epsilon, delta=delta)
    mu, found = (mpmath.mpf(x) for x in (budget.mu, budget.epsilon_at(delta)))
    with mpmath.workdps(60):
        below = mpmath.ncdf(mu / 2 - found / mu)
        assert below - mpmath.exp(found) * mpmath.ncdf(-mu / 2 - found / mu) <= mpmath.mpf(delta)
