"""The arithmetic of a ledger, without a place that keeps it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolate.budget import Budget
from prolate.ledger.account import Account


def spend(account: Account, *budgets: Budget) -> Account:
    for budget in budgets:
        assert account.fits(budget)
        account = account.charged(budget, "", "")
    return account


def test_equal_parts_fit_although_their_floats_add_up_to_more() -> None:
    limit = Budget(rho=0.5)
    assert limit.mu == 1
    over = [n for n in range(2, 40) if n * Fraction(Budget(rho=0.5 / n).mu) ** 2 > 1]
    assert over
    parts = over[0]
    account = spend(Account("", limit), *[Budget(rho=0.5 / parts)] * parts)
    assert account.remaining is None


def test_the_slack_is_a_trillionth_and_no_more() -> None:
    account = Account("", Budget(rho=1.0))
    assert account.fits(Budget(rho=1 + 0.9e-12))
    assert not account.fits(Budget(rho=1 + 1.1e-12))


def test_small_charges_are_not_lost_beside_a_large_one() -> None:
    # In floats 1e8 + 2.5e-9 == 1e8, so that each of these would look free.
    account = spend(Account("", Budget(mu=1e4)), Budget(mu=1e4), Budget(mu=5e-5))
    small = account.entries[1]
    fit = 40_000  # of them are 1e-12 of the limit
    for number, fits in ((fit - 2, True), (fit + 1, False)):
        full = replace(account, entries=(account.entries[0], *[small] * number))
        assert full.fits(Budget(mu=5e-5)) is fits


@given(
    limit=st.floats(1e-6, 1e3),
    shares=st.lists(st.tuples(st.floats(1e-3, 1.2), st.booleans()), min_size=1, max_size=6),
)
def test_spent_and_remaining_always_make_the_limit(
    limit: float, shares: list[tuple[float, bool]]
) -> None:
    account = Account("", Budget(mu=limit))
    exact = Fraction(0)
    for share, zcdp in shares:
        budget = Budget(mu=limit * share)
        asked = budget.for_zcdp() if zcdp else budget
        would = exact + Fraction(asked.mu) ** 2
        fits = would <= Fraction(limit) ** 2 * (1 + Fraction(1, 10**12))
        assert account.fits(asked) is fits
        if fits:
            account = account.charged(asked, "", "")
            exact = would
    spent, remaining = account.spent, account.remaining
    total = (spent.rho if spent else 0.0) + (remaining.rho if remaining else 0.0)
    assert total == pytest.approx(limit**2 / 2, rel=3e-12)
    if remaining:
        assert spend(account, remaining).remaining is None


def test_a_zcdp_charge_of_the_whole_limit_fits() -> None:
    limit = Budget(epsilon=1, delta=1e-6)
    account = spend(Account("", limit), limit.for_zcdp())
    assert account.spent is not None
    assert account.spent.rho == pytest.approx(limit.for_zcdp().rho, rel=1e-14)
    assert account.remaining is None


def test_no_zcdp_charge_after_gaussians_above_its_limit() -> None:
    limit = Budget(epsilon=1, delta=1e-6)
    account = spend(Account("", limit), Budget(rho=0.95 * limit.rho))
    small = Budget(rho=1e-9).for_zcdp()
    assert not account.fits(small)
    assert "nothing more fits" in account.refusal(small, "here")
    assert account.fits(Budget(rho=0.04 * limit.rho))


@pytest.mark.parametrize(
    "change",
    [
        lambda a: replace(a, dataset="other"),
        lambda a: replace(a, limit=Budget(mu=3)),
        lambda a: replace(a, limit=Budget(rho=2)),  # the same number in other words
        lambda a: replace(a, entries=a.entries[:-1]),
        lambda a: replace(a, entries=(replace(a.entries[0], mu=0.3), a.entries[1])),
        lambda a: replace(a, entries=(replace(a.entries[0], label="y"), a.entries[1])),
        lambda a: replace(a, entries=(replace(a.entries[0], time="y"), a.entries[1])),
        lambda a: replace(a, entries=(a.entries[0], replace(a.entries[1], composition="gdp"))),
        lambda a: replace(a, entries=a.entries[::-1]),
    ],
)
def test_the_seal_covers_everything(change) -> None:
    account = Account("patients", Budget(mu=2)).charged(Budget(mu=0.5), "x", "t")
    account = account.charged(Budget(mu=0.5).for_zcdp(), "x", "t")
    assert account.seal() == replace(account).seal()
    assert change(account).seal() != account.seal()
