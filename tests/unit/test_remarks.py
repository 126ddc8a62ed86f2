"""What is said of budgets that promise little, and of groups that may have no rows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import prolate
from prolate import Budget
from prolate.api.remarks import fitting_delta, weak_guarantee
from prolate.errors import BudgetError

rng = np.random.default_rng(2)
TABLE = pd.DataFrame({"ward": rng.choice(["n", "s"], 3000), "x": rng.normal(50, 9, 3000)})


@pytest.mark.parametrize(
    ("budget", "rows", "words"),
    [
        (Budget(epsilon=1, delta=1e-6), 12_000, []),
        (Budget(epsilon=10, delta=1e-3), None, []),
        (Budget(mu=1), 12_000, []),
        (Budget(rho=1.5), None, []),
        (Budget(mu=2), None, []),
        (Budget(epsilon=20, delta=1e-6), 12_000, ["epsilon = 20."]),
        (Budget(epsilon=1, delta=0.1), None, ["delta = 0.1 is large. .* such as 1e-6"]),
        (Budget(epsilon=20, delta=0.1), 50, ["epsilon = 20", "delta = 0.1 is large for 50 rows"]),
        (Budget(epsilon=1, delta=1e-3), 1000, ["for 1,000 rows. .* one row in 1,000"]),
        (Budget(epsilon=1, delta=1e-3), 999, []),
        (Budget(epsilon=1, delta=1e-6), 5e7, ["for 50,000,000 rows.* such as 1e-9"]),
        (Budget(mu=3), 12_000, ["mu = 3 is epsilon = 18.* with delta = 1e-6"]),
        (Budget(rho=30), None, ["rho = 30 is epsilon = "]),
    ],
)
def test_budgets_that_promise_little_are_told(budget: Budget, rows: Any, words: list[str]) -> None:
    said = weak_guarantee(budget, rows)
    assert len(said) == len(words)
    for one, part in zip(said, words, strict=True):
        assert one.startswith("This is a weak guarantee: ")
        assert re.search(part, one)


def test_a_fitting_delta_is_far_below_one_over_the_rows() -> None:
    for rows in (1, 10, 12_000, 1e6, 123_456_789, 1e12):
        assert 0.009 / max(rows, 1e5) < fitting_delta(rows) <= 0.1000001 / max(rows, 1e5)


def test_releases_say_so() -> None:
    weak = Budget(epsilon=20, delta=0.1)
    assert len(prolate.mean(TABLE, columns="x", budget=weak).warnings) == 2
    assert "for 3,000 rows" in prolate.mean(TABLE, columns="x", budget=weak).warnings[1]
    alone = prolate.mean(TABLE, columns="x", budget=weak, neighbors="add-remove").warnings[1]
    assert "is large." in alone  # how many rows there are is private
    assert not prolate.count(TABLE, budget=weak).warnings  # public: it costs nothing
    g = prolate.mean(TABLE, by="ward", keys=["n", "s"], budget=weak)
    assert [one[:36] for one in g.warnings] == ["all groups: This is a weak guarantee"] * 2
    assert "for 3,000 rows" in g.warnings[1]
    some = Budget(epsilon=1, delta=4e-4)
    for neighbors, told in (("replace", 1), ("add-remove", 0)):
        g = prolate.count(TABLE, by="ward", keys=["n"], budget=some, neighbors=neighbors)
        assert len(g.warnings) == told


def test_groups_of_one_person_are_not_published(tmp_path: Path) -> None:
    """547 groups were shown, many of one person, without a word."""
    frame = pd.DataFrame({"weight": np.arange(1000) / 10.0})
    book = prolate.Ledger.create(
        tmp_path / "l.ledger", limit=Budget(epsilon=2, delta=0.9), keys_delta=0.8
    )
    with pytest.raises(BudgetError, match=r"probability of up to 0.25.*delta=1e-6\)") as error:
        prolate.count(frame, by="weight", budget=Budget(epsilon=1, delta=0.5), ledger=book)
    assert "keys=['north', 'south']" in str(error.value)
    assert not book.entries()
    keyed = prolate.count(frame, by="weight", keys=[1.0], budget=Budget(epsilon=1, delta=0.5))
    assert "delta = 0.5 is large for 1,000 rows" in keyed.warnings[0]


@pytest.mark.parametrize("make", [prolate.mean, prolate.variance, prolate.covariance])
def test_a_key_without_rows_is_told(make: Any) -> None:
    given: dict[str, Any] = {"by": "ward", "keys": ["n", "nort"], "budget": Budget(mu=0.5)}
    table = TABLE.assign(y=rng.normal(0, 1, 3000))
    for seed in range(5):
        g = make(table, seed=seed, **given)
        assert any("no rows in this group" in said for said in g["nort"].warnings)
        assert any("written as in the rows" in said for said in g["nort"].warnings)
        assert not any("no rows" in said for said in g["n"].warnings)
