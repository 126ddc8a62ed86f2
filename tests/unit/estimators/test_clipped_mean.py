"""The mean of clipped rows: what it may spend, and in which units its errors count."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.clipping.clipped_mean import clipped_mean
from prolate.estimators.search.learn import learn_shape
from prolate.sources import open_source
from prolate.theory import optimal_scale


@pytest.mark.parametrize("part", [0.1, 0.5, 0.99])
def test_what_is_for_others_is_left(part) -> None:
    """Though the tilt of symmetric rows is worth a larger share than usual."""
    rows = np.random.default_rng(0).standard_normal((1000, 64))
    curator = Curator(open_source(rows), Budget(rho=0.5), seed=1)
    table, shape = learn_shape(curator, 1000.0)
    left = table.remaining
    scale = optimal_scale(shape.spread, 2.0)
    clipped_mean(table, shape, scale, share=part * left, error_norm=2.0)
    assert table.remaining == pytest.approx((1.0 - part) * left)


def test_skewed_columns_in_small_units_count_where_errors_are_relative(monkeypatch) -> None:
    """Beside a wide column of normal values, which shows no tilt."""

    def errors() -> np.ndarray:
        found = []
        for seed in range(6):
            draw = np.random.default_rng(seed)
            wide, skewed = draw.standard_normal((20_000, 1)), draw.exponential(1.0, (20_000, 2))
            rows = np.hstack([1e4 * wide, skewed])
            budget = prolate.Budget(rho=0.03)
            made = prolate.mean(rows, budget=budget, error_norm="relative", seed=seed)
            found.append(np.sqrt(np.mean((made.estimate - rows.mean(axis=0))[1:] ** 2)))
        return np.array(found)

    tables = import_module("prolate.estimators.tables")
    monkeypatch.setattr(tables, "find_kinds", lambda *_: None)  # together, as many columns are
    right = errors()
    module = import_module("prolate.estimators.clipping.clipped_mean")
    monkeypatch.setattr(module, "error_unit", lambda scale, _: np.ones(scale.size))
    wrong = errors()  # a planted fault
    print("errors:", right, "in one unit:", wrong)
    assert np.max(right) < 0.006
    assert np.median(wrong) > 0.01
