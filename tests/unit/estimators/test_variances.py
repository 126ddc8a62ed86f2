"""Spreads by all columns' squares, for errors that are relative to standard deviations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.clipping import together
from prolate.estimators.search.shape import Shape
from prolate.estimators.search.variances import with_variances
from prolate.sources import open_source

ROWS, COLUMNS = 4000, 12


def shape_of(spread: np.ndarray, neighbors="replace", seed: int = 0) -> tuple[Shape, np.ndarray]:
    """Return a shape with these spreads, of rows of unlike units and tails, and the true ones."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_t(6, size=(ROWS, COLUMNS))
    rows[:, ::2] = rng.uniform(-1.0, 1.0, size=(ROWS, COLUMNS // 2))
    rows *= 10.0 ** np.arange(-6, 6)
    true = rows.std(axis=0)
    curator = Curator(open_source(rows), Budget(mu=1.0), neighbors=neighbors, seed=seed)
    return Shape(float(ROWS), curator, np.zeros(COLUMNS), spread * true, 0.0), true


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_spreads_come_nearer_to_standard_deviations(neighbors) -> None:
    before = np.geomspace(0.5, 1.7, COLUMNS)
    for seed in range(5):
        shape, true = shape_of(before, neighbors, seed)
        after = with_variances(shape).spread / true
        assert np.std(np.log(after)) < 0.6 * np.std(np.log(before))


def test_constants_stay_and_columns_by_themselves() -> None:
    shape, _ = shape_of(np.full(COLUMNS, 0.5))
    constant = np.arange(COLUMNS) < 4
    after = with_variances(replace(shape, constant=constant)).spread
    assert np.array_equal(after == shape.spread, constant)
    alone = replace(shape, constant=np.arange(COLUMNS) > 0)
    assert with_variances(alone) is alone


def test_noise_moves_them_little() -> None:
    rows = np.random.default_rng(0).standard_normal((300, COLUMNS))
    curator = Curator(open_source(rows), Budget(mu=0.1), seed=0)
    shape = Shape(300.0, curator, np.zeros(COLUMNS), np.ones(COLUMNS), 0.0)
    assert with_variances(shape).spread == pytest.approx(np.ones(COLUMNS), rel=0.3)


@pytest.mark.long
def test_relative_errors_of_columns_of_unlike_tails_are_smaller(monkeypatch) -> None:
    def error() -> float:
        found = []
        for seed in range(40):
            rng = np.random.default_rng(seed)
            rows = rng.standard_normal((3000, 20))
            rows[:, :6] = np.where(rng.random((3000, 6)) < 0.1, 6.0, 1.0) * rows[:, :6]
            rows *= 10.0 ** np.arange(-10, 10)
            made = prolate.mean(rows, budget=Budget(mu=1.0), error_norm="relative", seed=seed)
            off = made.estimate - rows.mean(axis=0)
            found.append(np.linalg.norm(off / rows.std(axis=0)))
        return float(np.median(found))

    with_squares = error()
    monkeypatch.setattr(together, "with_variances", lambda shape: shape)
    without = error()
    print("error:", with_squares, "without:", without)
    assert with_squares < 0.95 * without
