"""What clipping takes off skewed columns among others, told by their own tails."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import prolate
from prolate.estimators.clipping import averages, clipped_mean, column_tails
from prolate.estimators.clipping.averages import with_center

BUDGET = prolate.Budget(epsilon=1, delta=1e-6)
COLUMNS = 60
KINDS = {
    "log-normal": (lambda rng, n: np.exp(rng.standard_normal(n)), np.exp(0.5), 2.161),
    "exponential": (lambda rng, n: rng.exponential(1.0, n), 1.0, 1.0),
    "left-skewed": (lambda rng, n: -rng.gamma(0.4, 1.0, n), -0.4, 0.632),
}


def table(kind: str, seed: int, n: int = 12_000) -> tuple[np.ndarray, float]:
    """Return normal columns after a skewed one, and its mean; all of standard deviation 1."""
    rng = np.random.default_rng([7, seed])
    draw, mean, deviation = KINDS[kind]
    rows = rng.standard_normal((n, COLUMNS)) + rng.normal(0.0, 5.0, COLUMNS)
    rows[:, 0] = draw(rng, n) / deviation
    return rows, mean / deviation


def held(kind: str, runs: int = 24) -> tuple[int, float]:
    """Return how many intervals hold the skewed column's mean, and its mean squared error."""
    hits, square = 0, 0.0
    for seed in range(runs):
        rows, mean = table(kind, seed)
        release = prolate.mean(rows, budget=BUDGET, seed=seed)
        low, high = release.interval(0.95)[0]
        hits += low <= mean <= high
        square += (release.estimate[0] - mean) ** 2 / runs
    return hits, square


@pytest.mark.parametrize("kind", KINDS)
def test_a_skewed_column_among_normal_ones_is_held(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Oftener than where its tails are not looked at, which is the planted fault."""
    hits, square = held(kind)
    assert hits >= 19
    monkeypatch.setattr(clipped_mean, "measure_tails", lambda *_, **__: None)
    fewer, larger = held(kind)
    assert fewer < hits
    if kind == "log-normal":
        assert fewer < 19
        assert larger > 1.4 * square


def measured(rows: np.ndarray, monkeypatch: pytest.MonkeyPatch, seed: int = 1) -> list[Any]:
    """Return what the tails of a table showed, and at which radius it was clipped."""
    found: list[Any] = []
    measure = column_tails.measure_tails

    def keep(*given: Any, radius: float, **more: Any) -> column_tails.ColumnTails | None:
        found[:] = [measure(*given, radius=radius, **more), radius]
        return found[0]

    monkeypatch.setattr(clipped_mean, "measure_tails", keep)
    prolate.mean(rows, budget=BUDGET, seed=seed)
    monkeypatch.undo()
    return found


def test_what_columns_lose_is_about_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one skewed to the right, one to the left, and normal ones."""
    found = []
    for seed in range(6):
        rows, _ = table("log-normal", seed, 20_000)
        rows[:, 1] = 3.0 - rows[::-1, 0]
        tails, radius = measured(rows, monkeypatch, seed)
        lost, unsure = tails.lost(radius)
        deviation = rows - rows.mean(axis=0)
        kept = np.minimum(1.0, radius / np.linalg.norm(deviation / tails.expected.scale, axis=1))
        true = -(deviation * kept[:, np.newaxis]).mean(axis=0) / kept.mean()
        assert true[0] > 0.0 > true[1]
        assert np.mean(np.abs(lost[2:])) < 0.1 * np.abs(true[:2]).max()
        found.append((lost[:2], true[:2], unsure[:2]))
    lost, true, unsure = np.array(found).transpose(1, 0, 2)
    assert 0.5 < np.mean(lost / true) < 1.5
    assert np.sum(np.abs(lost - true) < 2.0 * unsure) >= 9  # in the others, noise hides the tails


def test_values_that_are_bounded_together_lose_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a whole are skewed, but rows are hardly longer for it: the tilt says so."""
    rows = np.random.default_rng(5).dirichlet(np.full(30, 0.5), 8000)
    tails, radius = measured(rows, monkeypatch)
    lost, _ = tails.lost(radius)
    as_usual, _ = replace(tails, times=1.0).lost(radius)
    assert tails.times < 0.3
    assert np.linalg.norm(lost) < 0.3 * np.linalg.norm(as_usual)


@pytest.mark.parametrize("shape", [(3000, 400), (20_000, 7), (20_000, 20)])
def test_tails_are_not_measured_where_they_would_tell_nothing(
    shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what noise hides, of few columns, and where the tilt says that none is skewed."""
    rows = np.random.default_rng(6).standard_normal(shape)
    assert measured(rows, monkeypatch)[0] is None


def test_a_center_far_from_the_mean_is_not_believed() -> None:
    """That of a skewed column, say; the others are averaged as without it."""
    rng = np.random.default_rng(8)
    noise, of_center = np.full(50, 1.0), np.full(50, 2.0)
    value, center = rng.normal(0.0, 1.0, 50), rng.normal(0.0, 2.0, 50)
    center[0] = value[0] + 20.0
    found, std = with_center(value, noise, center, of_center)
    assert abs(found[0] - value[0]) < 0.1
    assert std[0] > 0.99
    assert np.mean((found[1:]) ** 2) < 0.93 * np.mean(value[1:] ** 2)
    few, _ = with_center(value[1:], noise[1:], center[1:], of_center[1:])
    assert np.abs(found[1:] - few).max() < 0.3 * np.abs(few - value[1:]).max()


def test_the_same_test_fails_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(averages, "_APART", np.inf)
    with pytest.raises(AssertionError):
        test_a_center_far_from_the_mean_is_not_believed()
