"""The arithmetic of a ledger, without a place that keeps it."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolate.budget import LEAST_MU, Budget
from prolate.digits import all_digits
from prolate.errors import BudgetError
from prolate.ledger.account import Account, check_keys_delta
from prolate.ledger.entry import Charge, Promise


def spend(account: Account, *budgets: Budget) -> Account:
    for budget in budgets:
        assert account.fits(Charge(budget))
        account = account.charged(Charge(budget), "", "")
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
    assert account.fits(Charge(Budget(rho=1 + 0.9e-12)))
    assert not account.fits(Charge(Budget(rho=1 + 1.1e-12)))


def test_small_charges_are_not_lost_beside_a_large_one() -> None:
    # In floats 1e8 + 2.5e-9 == 1e8, so that each of these would look free.
    account = spend(Account("", Budget(mu=1e4)), Budget(mu=1e4), Budget(mu=5e-5))
    small = account.entries[1]
    fit = 40_000  # of them are 1e-12 of the limit
    for number, fits in ((fit - 2, True), (fit + 1, False)):
        full = replace(account, entries=(account.entries[0], *[small] * number))
        assert full.fits(Charge(Budget(mu=5e-5))) is fits


@given(
    limit=st.floats(1e-3, 1e3),
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
        assert account.fits(Charge(asked)) is fits
        if fits:
            account = account.charged(Charge(asked), "", "")
            exact = would
    spent, remaining = account.spent, account.remaining
    total = (spent.rho if spent else 0.0) + (remaining.rho if remaining else 0.0)
    assert total == pytest.approx(limit**2 / 2, rel=3e-12, abs=LEAST_MU**2)
    if remaining:
        assert spend(account, remaining).remaining is None


def test_a_zcdp_charge_of_the_whole_limit_fits() -> None:
    limit = Budget(epsilon=1, delta=1e-6)
    account = spend(Account("", limit), limit.for_zcdp())
    assert account.spent is not None
    assert account.spent.rho == pytest.approx(limit.for_zcdp().rho, rel=1e-14)
    assert account.remaining is None


def test_the_first_charge_decides_which_limit_holds() -> None:
    limit = Budget(epsilon=1, delta=1e-6)
    small = Budget(rho=1e-9)
    account = spend(Account("", limit), small)
    assert not account.fits(Charge(small.for_zcdp()))
    assert "state the limit as rho" in account.refusal(Charge(small.for_zcdp()), "here")
    assert account.fits(Charge(Budget(rho=0.99 * limit.rho)))
    account = spend(Account("", limit), small.for_zcdp())
    assert account.fits(Charge(small))
    assert account.fits(Charge(Budget(rho=0.99 * limit.for_zcdp().rho)))
    assert not account.fits(Charge(Budget(rho=1.01 * limit.for_zcdp().rho)))
    # A limit that is the same for both does not mind.
    account = spend(Account("", Budget(rho=0.5)), small)
    assert account.fits(Charge(small.for_zcdp()))


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
        lambda a: replace(a, entries=(replace(a.entries[0], delta=1e-9), a.entries[1])),
        lambda a: replace(a, keys_delta=1e-9),
        lambda a: replace(a, changes=a.changes[:-1]),
        lambda a: replace(a, changes=(replace(a.changes[0], old=Budget(mu=3)), a.changes[1])),
        lambda a: replace(a, changes=(replace(a.changes[0], new=Budget(mu=3)), a.changes[1])),
        lambda a: replace(a, changes=(replace(a.changes[0], charges=1), a.changes[1])),
        lambda a: replace(a, changes=(replace(a.changes[0], time="y"), a.changes[1])),
        lambda a: replace(a, changes=(replace(a.changes[0], old_keys_delta=0.1), a.changes[1])),
        lambda a: replace(a, changes=(replace(a.changes[0], new_keys_delta=0.1), a.changes[1])),
        lambda a: replace(a, stated=Promise()),
        lambda a: replace(a, entries=(replace(a.entries[0], unit="x"), a.entries[1])),
        lambda a: replace(a, entries=(a.entries[0], replace(a.entries[1], neighbors="add-remove"))),
    ],
)
def test_the_seal_covers_everything(change) -> None:
    account = Account("patients", Budget(mu=2)).charged(Charge(Budget(mu=0.5)), "x", "t")
    account = account.charged(Charge(Budget(mu=0.5).for_zcdp()), "x", "t")
    account = account.limited(Budget(mu=4), 0.0, "t").limited(Budget(mu=2), 0.0, "t")
    assert account.seal() == replace(account).seal()
    assert change(account).seal() != account.seal()


# --- promises ---------------------------------------------------------------------------------

PROMISES = [Promise(n, u) for n in ("replace", "add-remove") for u in (None, "id", "ward")]


@pytest.mark.parametrize("first", PROMISES)
@pytest.mark.parametrize("stated", [False, True])
def test_prices_of_one_promise_add_up_and_of_no_other(first: Promise, stated: bool) -> None:
    if stated:
        account = Account("", Budget(mu=5), stated=first)
    else:
        account = Account("", Budget(mu=5)).charged(Charge(Budget(mu=3), first), "", "")
    assert account.promise == first
    for other in PROMISES:
        for budget in (Budget(mu=4), None):
            charge = Charge(budget, other)
            assert account.fits(charge) is (other == first)
            if other != first:
                refusal = account.refusal(charge, "p.ledger")
                assert str(first) in refusal
                assert str(other) in refusal
                assert first.arguments in refusal


def test_what_costs_nothing_decides_what_is_promised() -> None:
    limit = Budget(epsilon=1, delta=1e-6)
    account = Account("", limit).charged(Charge(None), "count", "t")
    assert account.spent is None
    assert not account.fits(Charge(Budget(mu=0.1), Promise("add-remove")))
    # It decides nothing else: the first that costs something says which limit holds.
    assert account.fits(Charge(limit.for_zcdp()))
    assert account.fits(Charge(limit))
    assert "nothing is spent" in account.refusal(Charge(Budget(mu=9)), "here")
    full = account.charged(Charge(limit), "", "")
    assert full.remaining is None
    assert full.fits(Charge(None))
    assert full.spent == Budget(mu=limit.mu)


# --- words ------------------------------------------------------------------------------------

CURRENCY = re.compile(r"epsilon = (\S+) at delta = (\S+) \((?:mu = (\S+), )?rho = ([^\s)]+)\)")


@given(
    log_delta=st.floats(-12, -2),
    epsilon=st.floats(0.05, 8),
    shares=st.lists(st.floats(1e-3, 0.7), max_size=4),
    aside=st.floats(0, 0.9),
    zcdp=st.booleans(),
    own=st.booleans(),
)
def test_a_refusal_says_in_epsilon_what_still_fits(
    log_delta: float, epsilon: float, shares: list[float], aside: float, zcdp: bool, own: bool
) -> None:
    limit = Budget(epsilon=epsilon, delta=10.0**log_delta)
    account = Account("", limit, keys_delta=check_keys_delta(limit, aside * 10.0**log_delta))
    for share in shares:
        charge = Charge(Budget(mu=share * limit.mu))
        if account.fits(charge):
            account = account.charged(charge, "", "")
    asked = Budget(epsilon=2 * epsilon, delta=10 * limit.stated["delta"]) if own else Budget(mu=99)
    asked = asked.for_zcdp() if zcdp and not account.entries else asked
    before, _, after = account.refusal(Charge(asked), "here").partition("at most ")
    said = CURRENCY.findall(before)
    if own:
        assert said[0][0] == all_digits(2 * epsilon)
    if account.entries:
        spent, delta, _, rho = map(float, said[1])
        assert account.spent is not None
        assert spent >= account.spent.epsilon_at(delta) * (1 - 2e-9)
        assert rho >= account.spent.rho * (1 - 1e-12)
    found = CURRENCY.match(after)
    if found is None:  # at such a delta, what fits is an epsilon of 0, or nothing fits
        assert after.startswith(("mu = ", "rho = ")) or not after
        return
    most, delta = float(found[1]), float(found[2])
    more = Budget(epsilon=most * (1 + 2e-5), delta=delta)
    most_that_fits = Budget(epsilon=most, delta=delta)
    if asked.composition == "zcdp":
        more, most_that_fits = more.for_zcdp(), most_that_fits.for_zcdp()
    assert account.fits(Charge(most_that_fits))
    assert not account.fits(Charge(more))


def test_too_little_for_an_epsilon_is_said_in_mu() -> None:
    asked = Charge(Budget(epsilon=1, delta=0.9))  # mu = 0.5 is below a delta of 0.9 in any case
    refusal = Account("", Budget(mu=0.5)).refusal(asked, "here")
    assert "A charge of epsilon = 1 at delta = 0.9 (mu = 3" in refusal
    assert "at most mu = 0.5 (rho = 0.125) still fits" in refusal


# --- deltas -----------------------------------------------------------------------------------


@given(
    epsilon=st.floats(0.05, 8),
    log_delta=st.floats(-12, -2),
    aside=st.floats(0.01, 0.99),
    charges=st.lists(
        st.tuples(st.floats(1e-2, 0.9), st.floats(0, 0.6), st.booleans()), min_size=1, max_size=8
    ),
)
def test_what_fits_is_never_above_the_limit(
    epsilon: float, log_delta: float, aside: float, charges: list[tuple[float, float, bool]]
) -> None:
    """By the curve itself: delta of all mu at epsilon, and all deltas, are at most the limit's."""
    delta = 10.0**log_delta
    limit = Budget(epsilon=epsilon, delta=delta)
    account = Account("", limit, keys_delta=check_keys_delta(limit, aside * delta))
    for share, part, zcdp in charges:
        asked = Budget(mu=share * limit.mu)
        asked = asked.for_zcdp() if zcdp else asked
        failing = part * aside * delta
        if account.fits(Charge(asked, delta=failing)):
            account = account.charged(Charge(asked, delta=failing), "", "")
        else:
            assert "p.ledger" in account.refusal(Charge(asked, delta=failing), "p.ledger")
    if account.remaining is not None:
        account = account.charged(Charge(account.remaining), "", "")
    if account.entries:
        assert account.spent is not None
        assert account.spent_delta <= aside * delta * (1 + 2e-12)
        whole = account.spent.delta_at(epsilon) + aside * delta
        assert whole <= delta * (1 + 1e-8)  # delta_at rounds up
        rest = account.epsilon(account.spent, limit)
        assert rest is not None
        assert rest <= epsilon * (1 + 1e-9)


def test_what_is_set_aside_is_used_up_and_no_more() -> None:
    limit = Budget(epsilon=1, delta=1e-6)
    account = Account("", limit, keys_delta=5e-7)
    assert account.room.mu == pytest.approx(Budget(epsilon=1, delta=5e-7).mu, rel=1e-9)
    assert account.room.mu <= Budget(epsilon=1, delta=5e-7).mu
    tenth = Budget(rho=account.room.rho / 20)
    for _ in range(10):  # although the floats add up to more than that of 5e-7
        assert account.fits(Charge(tenth, delta=5e-8))
        account = account.charged(Charge(tenth, delta=5e-8), "", "")
    assert account.fits(Charge(tenth))
    assert not account.fits(Charge(tenth, delta=1e-15))
    assert "delta = 0 is left" in account.refusal(Charge(tenth, delta=1e-15), "p")
    assert not account.allows(limit, 4e-7)
    assert not account.allows(Budget(rho=9), 0.0)
    assert account.allows(limit, 5e-7)
    assert "keys=" in Account("", limit).refusal(Charge(tenth, delta=1e-9), "p")


def test_the_rest_of_delta_has_no_room_for_more() -> None:
    limit = Budget(epsilon=1, delta=1e-6)
    account = Account("", limit, keys_delta=9e-7)
    assert not account.fits(Charge(limit))
    assert account.fits(Charge(account.room))
    assert account.charged(Charge(account.room), "", "").remaining is None
    zcdp = limit.for_zcdp()
    assert not account.fits(Charge(zcdp))
    assert account.fits(Charge(account.room.for_zcdp()))


@pytest.mark.parametrize(
    ("limit", "keys_delta"),
    [
        (Budget(rho=1), 1e-9),
        (Budget(epsilon=1, delta=1e-6), 1e-6),
        (Budget(epsilon=1, delta=1e-6), 2e-6),
        (Budget(epsilon=1, delta=1e-6), -1e-9),
        (Budget(epsilon=1, delta=1e-6), float("nan")),
        (Budget(epsilon=1, delta=1e-6), True),
        (Budget(epsilon=1, delta=1e-6), "1e-9"),
    ],
)
def test_a_part_that_cannot_be_set_aside(limit: Budget, keys_delta: float) -> None:
    with pytest.raises(BudgetError, match="keys_delta"):
        check_keys_delta(limit, keys_delta)
