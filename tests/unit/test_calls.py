"""Calls that do not fit a function: what is wrong, and what to write instead."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

import prolate
from prolate import Budget, InputError, LinearRegression

ROWS = np.zeros((20, 2))
B = Budget(mu=1)
RIGHT = "prolate.mean(data, budget=prolate.Budget(epsilon=1, delta=1e-6))"
FIT = LinearRegression().fit
WRONG = {
    "a budget in parts": (
        lambda: prolate.mean(ROWS, epsilon=1, delta=1e-6),
        "mean() has no argument 'epsilon'.", RIGHT,
    ),
    "a budget by position": (
        lambda: prolate.mean(ROWS, B), "mean() takes only 1 by position.", RIGHT,
    ),
    "a misspelt name": (
        lambda: prolate.mean(ROWS, column="age", budget=B),
        "mean() has no argument 'column'. Did you mean 'columns'?", RIGHT,
    ),
    "weights": (
        lambda: prolate.mean(ROWS, weights=ROWS[:, 0], budget=B),
        ("mean() has no argument 'weights'; rows cannot be weighted (of a weighted mean, see "
         "docs/guides/mean.md)."), RIGHT,
    ),
    "no budget": (lambda: prolate.mean(ROWS), "mean() needs budget.", RIGHT),
    "nothing": (prolate.mean, "mean() needs data and budget.", RIGHT),
    "one argument twice": (
        lambda: prolate.mean(ROWS, data=ROWS, budget=B), "mean() got 'data' twice.", RIGHT,
    ),
    "numbers without names": (
        lambda: Budget(1, 1e-6), "Budget() takes no arguments by position.",
        "prolate.Budget(epsilon=1, delta=1e-6)",
    ),
    "a budget for an estimator": (
        lambda: LinearRegression(budget=B), "LinearRegression() has no argument 'budget'.",
        "prolate.LinearRegression(epsilon=1, delta=1e-6)",
    ),
    "bounds for a fit": (
        lambda: FIT(ROWS, ROWS[:, 0], bounds=(0, 1)),
        "LinearRegression.fit() has no argument 'bounds'; LinearRegression(bounds=...) has.",
        "prolate.LinearRegression(epsilon=1, delta=1e-6).fit(X, y)",
    ),
    "a ledger with a limit in parts": (
        lambda: prolate.Ledger.create("a.ledger", epsilon=1, delta=1e-6),
        "Ledger.create() has no argument 'epsilon'.",
        "prolate.Ledger.create('patients.ledger', limit=prolate.Budget(epsilon=1, delta=1e-6))",
    ),
    "a ledger with a limit by position": (
        lambda: prolate.Ledger.create("a.ledger", B),
        "Ledger.create() takes only 1 by position.",
        "prolate.Ledger.create('patients.ledger', limit=prolate.Budget(epsilon=1, delta=1e-6))",
    ),
    "a forecast by position": (
        lambda: prolate.expected_error(9, 3), "expected_error() takes no arguments by position.",
        "prolate.expected_error(n=20000, d=3, budget=prolate.Budget(epsilon=1, delta=1e-6))",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_calls_that_do_not_fit_get_a_next_step(name):
    call, wrong, right = WRONG[name]
    with pytest.raises(TypeError) as caught:
        call()
    assert isinstance(caught.value, InputError)
    assert str(caught.value) == f"{wrong} Write {right}."


NAMES = ("count", "covariance", "mean", "quantile", "regress", "sum", "variance", "expected_error")


@pytest.mark.parametrize("name", NAMES)
def test_what_to_write_fits(name):
    """The budget alone is wrong in what is called here, so that what is written is not."""
    function = getattr(prolate, name)
    with pytest.raises(TypeError) as caught:
        function(ROWS, "target", epsilon=1)
    right = str(caught.value).partition("Write ")[2].removesuffix(".")
    arguments = right.removeprefix(f"prolate.{name}")
    given = eval(f"(lambda *args, **kwargs: (args, kwargs)){arguments}",
                 {"prolate": prolate, "data": ROWS})  # fmt: skip
    inspect.signature(function).bind(*given[0], **given[1])


def test_signatures_and_estimators_stay_what_they_were():
    assert "error_norm" in inspect.signature(prolate.mean).parameters
    assert list(inspect.signature(Budget).parameters) == ["epsilon", "delta", "rho", "mu"]
    assert "rho" in LinearRegression().get_params()
    assert pickle.loads(pickle.dumps(prolate.mean)) is prolate.mean
    assert prolate.mean.__doc__.startswith("Release the private mean")
