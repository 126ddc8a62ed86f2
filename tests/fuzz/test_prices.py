"""Budgets and ledgers that are given what is none."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.harness import cases, check_sentence, limit
from fuzz.tables import NAMES
from hypothesis import given
from hypothesis import strategies as st

from prolate import Budget, Ledger, ProlateError

ODD: list[Any] = [
    0, 1, -1, 0.5, 1e-9, 1e-300, 5e-324, 1e4, 1e308, 10**400, math.nan, math.inf, -math.inf, "1",
    "", None, True, False, [1], {}, 1j, np.float16(1), np.int8(1), np.array(1.0), np.array([1.0]),
    b"1", np.nextafter(1.0, 0.0), object(), 1e-16, 2**-1074, 0.999999, -0.0, np.bool_(True),
]  # fmt: skip
odd = st.sampled_from(ODD)


def answer(ask: Any) -> Any:
    """Return what a call gives, or the sentence that says why it does not."""
    with limit():
        try:
            return ask()
        except ProlateError as error:
            return check_sentence(str(error))


@cases(150)
@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys(["epsilon", "delta", "rho", "mu"], odd)), odd
)
def test_budgets(stated, number) -> None:
    budget = answer(lambda: Budget(**stated))
    if isinstance(budget, str):
        return
    assert 0.0 < budget.mu <= 1e4 * (1 + 1e-9)
    assert Budget.from_dict(budget.to_dict()) == budget
    assert repr(budget)
    assert str(budget)
    for ask in (budget.delta_at, budget.epsilon_at):
        found = answer(lambda ask=ask: ask(number))
        assert isinstance(found, str) or 0.0 <= found < math.inf
    answer(budget.for_zcdp)


@cases(25)
@given(st.lists(st.tuples(
    st.sampled_from(["charge", "limit", "show"]),
    st.sampled_from([*NAMES, None, 7, b"x", "\ud800", "\0", "x" * 10**5, ["a"]]),
    st.sampled_from([{"mu": 1}, {"mu": 1e4}, {"rho": 1e-12}, {"epsilon": 1, "delta": 1e-6}, None]),
), max_size=6))  # fmt: skip
def test_ledgers(tmp_path_factory: pytest.TempPathFactory, steps) -> None:
    path: Path = tmp_path_factory.mktemp("books") / "book"
    book = Ledger.create(path, limit=Budget(mu=3), dataset="\u202ed\n")
    spent = 0.0
    for what, label, price in steps:
        budget: Any = price if price is None else Budget(**price)
        before = book.limit
        if what == "charge":
            done = answer(lambda: book.charge(budget, label))  # noqa: B023
            spent += 0.0 if isinstance(done, str) or budget is None else budget.mu**2
        elif what == "limit":
            answer(lambda: book.set_limit(budget))  # noqa: B023
        assert repr(book)
        again = Ledger(path)
        assert again.entries() == book.entries()
        assert math.fsum(entry.mu**2 for entry in again.entries()) == pytest.approx(spent)
        assert spent <= max(again.limit.mu, before.mu) ** 2 * (1 + 1e-9)
