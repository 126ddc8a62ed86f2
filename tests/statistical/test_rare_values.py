"""Tables of categories, a column of flags for each, of flags with a sign, and of amounts.

All rows of such a table are equally long, so that what clipping leaves of them is told by a
single cell of their lengths; values on both sides cancel in means, and hide spreads; those of
amounts' columns may differ by decades. Errors are medians of nine releases. Rows and noise are
seeded, so a run gives what the last one gave, and no chance is left.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import prolate
from prolate.estimators.lengths import expected
from prolate.estimators.search import unknown


def categories(n: int, variables: tuple[int, ...]) -> np.ndarray:
    """Return flags of variables of so many categories, of which the first is the most frequent."""
    rng = np.random.default_rng(0)
    columns = []
    for count in variables:
        often = 1.0 / np.arange(1, count + 1)
        chosen = rng.choice(count, n, p=often / often.sum())
        columns.append(chosen[:, np.newaxis] == np.arange(count))
    return np.hstack(columns).astype(float)


def signs(n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    part = np.geomspace(0.3, 0.01, d)
    return np.where(rng.random((n, d)) < part, rng.choice([-1.0, 1.0], (n, d)), 0.0)


def error(rows: np.ndarray, rho: float, method: str = "auto") -> float:
    """Return the median error of nine releases."""
    budget = prolate.Budget(rho=rho)
    made = (prolate.mean(rows, budget=budget, seed=seed, method=method) for seed in range(9))
    return float(np.median([np.linalg.norm(one.estimate - rows.mean(axis=0)) for one in made]))


def test_one_variable_is_as_good_as_plan() -> None:
    rows = categories(50_000, (30,))
    assert error(rows, 2.0) < error(rows, 2.0, "plan")


def test_lengths_on_a_coarse_grid_make_few_categories_wrong(monkeypatch) -> None:
    """A planted fault."""
    rows = np.eye(8)[np.random.default_rng(0).integers(0, 8, 20_000)]
    right = error(rows, 1.0)
    monkeypatch.setattr(expected.np, "union1d", lambda reach, _: reach)
    assert error(rows, 1.0) > 2.0 * right


def test_spreads_of_signs_are_not_told_by_means_alone(monkeypatch) -> None:
    """A planted fault."""
    rows, known = signs(20_000, 70), unknown.own_spread
    right = error(rows, 0.5)

    def of_means(*asked, both_sides=0.0):
        return known(*asked)

    monkeypatch.setattr(unknown, "own_spread", of_means)
    assert error(rows, 0.5) > 1.08 * right


def amounts(n: int, d: int, seed: int) -> np.ndarray:
    """Return amounts that are mostly 0, of columns of several sizes."""
    rng = np.random.default_rng(seed)
    some = np.where(rng.random((n, d)) < 0.05, rng.exponential(size=(n, d)), 0.0)
    return some * 10.0 ** rng.uniform(-2.0, 2.0, d)


def test_spreads_of_amounts_are_told_by_their_farthest_columns(monkeypatch) -> None:
    # Of four tables: the error of each is mostly that of a single column.
    tables, found = [amounts(20_000, 10, seed) for seed in range(4)], unknown.rare_values
    right = [error(rows, 0.1) for rows in tables]

    def unseen(*asked, **shares):
        """A planted fault."""
        values = found(*asked, **shares)
        return replace(values, seen=np.zeros_like(values.seen))

    monkeypatch.setattr(unknown, "rare_values", unseen)
    without = [error(rows, 0.1) for rows in tables]
    assert np.prod(without) > 1.3**4 * np.prod(right)
