"""Whatever is measured, a release that is charged is made: of answers that no rows give, too.

Estimators see answers with noise, which may be any. So they are given some that contradict each
other: all rows in one cell, or in none, sums of any size. No error may follow, for a charge is
made by then.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import pytest
from fuzz.harness import cases, check_release, limit
from fuzz.test_extremes import extreme
from hypothesis import given
from hypothesis import strategies as st

import prolate
from prolate import Budget
from prolate.curator.rows import Rows
from prolate.queries import RADIUS, ClippedSum, Count, Gram, OneSidedSum, Query, Together
from prolate.queries.gram import GRAM_RADIUS

HONEST = Rows.sum


def fit(rows: np.ndarray, *, budget: Budget, **options: Any) -> prolate.Release:
    rows = np.column_stack([rows, rows[:, 0]])
    return prolate.LinearRegression(mu=budget.mu, **options).fit(rows[:, :-1], rows[:, -1]).release_


RELEASES = {
    "mean": prolate.mean,
    "mean, relative": partial(prolate.mean, error_norm="relative"),
    "variance": prolate.variance,
    "variance, relative": partial(prolate.variance, error_norm="relative"),
    "covariance": prolate.covariance,
    "quantile": partial(prolate.quantile, q=[0.0, 0.1, 0.5, 1.0]),
    "regression": fit,
}


def answer(query: Query, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return an answer of the right size, of so many rows."""
    if isinstance(query, Together):
        return np.concatenate([answer(part, rows, rng) for part in query.queries])
    asked: Any = query
    while hasattr(asked, "query"):
        asked = asked.query
    if isinstance(asked, Count):
        return np.array([rows])
    if isinstance(asked, ClippedSum | OneSidedSum | Gram):
        longest = GRAM_RADIUS**2 if isinstance(asked, Gram) else RADIUS
        size = rows * longest * 10.0 ** rng.uniform(-8.0, 0.0) / np.sqrt(query.size)
        return np.rint(size * rng.choice([-1.0, 0.0, 1.0], size=query.size)).astype(np.int64)
    cells = rng.choice([0, query.size - 1, *rng.integers(query.size, size=2)], rng.integers(1, 4))
    found = np.zeros(query.size, dtype=np.int64)
    np.add.at(found, cells, np.rint(rows * rng.dirichlet(np.ones(cells.size))).astype(np.int64))
    return found


@pytest.mark.filterwarnings("ignore::UserWarning")
@cases(150)
@given(
    st.integers(0, 2**32),
    st.sampled_from(list(RELEASES)),
    st.sampled_from(["replace", "add-remove"]),
    st.sampled_from([0.05, 0.3, 1.0]),
)
def test_no_answers_end_in_an_error(seed, name, neighbors, part) -> None:
    rng = np.random.default_rng(seed)
    rows = extreme(rng)[:, :8]

    def total(these: Rows, query: Query, label: str) -> np.ndarray:
        made_up = rng.random() < part
        return answer(query, len(rows), rng) if made_up else HONEST(these, query, label)

    budget = Budget(mu=float(10.0 ** rng.uniform(-6.0, 2.0)))
    with limit(), mock.patch.object(Rows, "sum", total):
        release = RELEASES[name](rows, budget=budget, neighbors=neighbors, seed=seed)
    check_release(release)
    assert sum(Fraction(entry.share) for entry in release.receipt) <= 1


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("upper", [1e-160, 1e-280])
def test_rare_values_that_bounds_leave_no_room_for_end_in_no_error(upper, neighbors) -> None:
    """Noise alone may show some; their squares are no floats."""

    def total(these: Rows, query: Query, label: str) -> np.ndarray:
        found = HONEST(these, query, label)
        if label == "farthest rare value":
            found = np.roll(found, found.size // 2)
        return found

    with mock.patch.object(Rows, "sum", total):
        options: dict[str, Any] = {"budget": Budget(mu=1), "neighbors": neighbors, "seed": 1}
        release = prolate.variance(np.zeros((2_000, 1)), bounds=(0.0, upper), **options)
    check_release(release)
    assert "variance" in {entry.label for entry in release.receipt}
