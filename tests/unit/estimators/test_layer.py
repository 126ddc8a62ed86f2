"""What a clip takes of rows that are not elliptical, and the covariance of skewed columns."""

from __future__ import annotations

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.covariance import layer
from prolate.estimators.covariance.layer import LongRows, Taken, noise_of_correlations, with_taken
from prolate.estimators.covariance.moment import Frame, Standardized, measure_lengths
from prolate.sources import open_source

BUDGET = Budget(epsilon=1, delta=1e-6)


def skewed(n: int, seed: int) -> np.ndarray:
    """Return ages, incomes, and costs that depend on both."""
    rng = np.random.default_rng(seed)
    age, income = rng.normal(45, 17, n).clip(18, 99).round(), np.exp(rng.normal(10.2, 0.7, n))
    return np.column_stack([age, income, 200 + 12 * age + 0.01 * income + rng.normal(0, 200, n)])


def lengths_of(rows: np.ndarray, seed: int = 1):
    d = rows.shape[1]
    curator = Curator(open_source(rows), Budget(mu=5.0), seed=seed)
    table = Standardized(curator, float(len(rows)), np.zeros(d), np.ones(d), variances=True)
    return measure_lengths(table, Frame.plain(d), share=1.0)


def test_what_is_beyond_a_radius_is_known_of_skewed_rows() -> None:
    rng = np.random.default_rng(0)
    rows = np.column_stack(
        [(np.exp(rng.normal(0, 0.7, 50_000)) - 1.28) / 1.02, *rng.normal(size=(2, 50_000))]
    )
    lengths = lengths_of(rows)
    assert lengths.long is not None
    square = np.sum(rows**2, axis=1)
    for radius in (3.0, 4.0):  # nearer than where the tail begins
        true = float(np.mean(np.maximum(square - radius**2, 0.0)))
        lost, doubt = lengths.long.beyond(radius)
        assert 0.6 * true < lost < 1.4 * true
        assert doubt < lost
    assert lengths_of(rng.normal(size=(50_000, 3))).long is None


def test_a_layer_tells_what_a_clip_takes_and_in_which_direction() -> None:
    """Long rows along one axis: half of what they add is beyond the outer radius."""
    rows = np.tile([[1.0, 0.0], [0.0, 1.0]], (5000, 1))
    rows[:400] = [[5.0, 0.0]] * 400
    far = LongRows(np.array([1.0, 3.0, 4.0, 6.0]), np.array([1.0, 0.64, 0.36, 0.0]), np.zeros(4))
    plan = far.plan(1e-4, 3.0, 0.1, 2)
    assert plan is not None
    curator = Curator(open_source(rows), Budget(mu=50.0), seed=0)
    taken = far.taken(curator, plan, 3.0, 2, rows=10_000.0, share=0.5)
    assert taken.value[0, 0] == pytest.approx(0.64, rel=0.5)
    assert abs(taken.value[1, 1]) < 0.05
    assert far.plan(1e-4, 3.0, 0.5, 2) is None  # no more than is taken of elliptical rows
    assert far.plan(1.0, 3.0, 0.1, 2) is None  # noise would hide it


def test_correlations_are_moved_as_far_as_it_is_not_noise() -> None:
    value, one = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[0.5, 0.0], [0.0, 0.0]])
    sure = with_taken(value, Taken(one, 1e-6, 0.5), np.eye(2))
    assert np.allclose(sure.value, value + one, atol=1e-6)
    assert sure.hidden < 1e-6
    unsure = with_taken(value, Taken(one, 0.5, 0.5), np.eye(2))
    assert unsure.hidden == 1.0
    assert np.allclose(np.diag(unsure.value), [1.5, 1.0])  # variances are
    correlation = unsure.value[0, 1] / np.sqrt(1.5)
    assert correlation == pytest.approx(0.5)
    assert unsure.missing[0, 1] > 0.5 * abs(0.5 / np.sqrt(1.5) - 0.5)
    assert np.all(np.diag(noise_of_correlations(value, 0.1 * np.eye(2))) == 0.0)


@pytest.mark.long
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_correlations_of_skewed_columns_are_within_their_intervals(neighbors, monkeypatch) -> None:
    """That of income and cost was .03 too small, where .003 was stated: missed by all."""

    def held() -> float:
        inside = []
        for seed in range(10):
            rows = skewed(20_000, seed)
            found = prolate.covariance(
                rows, budget=BUDGET, correlation=True, neighbors=neighbors, seed=seed
            )
            own, allowed = np.corrcoef(rows.T), np.hypot(found.noise_std, found.clipping_std)
            off = np.abs(found.estimate - own)[np.triu_indices(3, 1)]
            inside.append(off < 1.96 * allowed[np.triu_indices(3, 1)])
        return float(np.mean(inside))

    assert held() >= 0.85
    # As it was: nothing is given back, nor stated.
    monkeypatch.setattr(layer.LongRows, "of", classmethod(lambda cls, norms, rows: None))
    assert held() < 0.6


@pytest.mark.long
def test_covariances_of_skewed_columns_are_nearer(monkeypatch) -> None:
    def error() -> float:
        errors = []
        for seed in range(12):
            rows = skewed(100_000, seed)
            found = prolate.covariance(rows, budget=BUDGET, seed=seed)
            size = rows.std(axis=0)
            errors.append((found.estimate - np.cov(rows.T, bias=True)) / np.outer(size, size))
        return float(np.sqrt(np.mean(np.square(errors))))

    given_back = error()
    monkeypatch.setattr(layer.LongRows, "plan", lambda *args: None)  # the same without a layer
    assert given_back < 0.85 * error()
