"""Means at two radii: what comparing them costs, what it finds, and how far rows reach."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from prolate.budget import Budget
from prolate.curator import Curator
from prolate.estimators.clip import Norms, clipped_sum
from prolate.estimators.expected import Expected, Tilt, expect
from prolate.estimators.nested import NestedMean, nested_mean, radii_to_compare
from prolate.sources import open_source

N, D = 60_000, 8
ONES, ZEROS = np.ones(D), np.zeros(D)
EDGES = math.sqrt(D) * np.array([0.5, 0.8, 1.0, 1.2, 1.5, 2.0, 2.7, 3.5, 5.0, 8.0, 20.0])
DRAWS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "normal": lambda rng: rng.standard_normal((N, D)),
    "exponential": lambda rng: rng.exponential(1.0, (N, D)) - 1.0,
    "Student": lambda rng: rng.standard_t(3, (N, D)) / math.sqrt(3.0),
    "log-normal": lambda rng: (rng.lognormal(size=(N, D)) - math.exp(0.5)) / 2.16,
}
BUDGET = Budget(rho=0.5)


def draw(kind: str, seed: int = 1) -> np.ndarray:
    return DRAWS[kind](np.random.default_rng(seed))


def curator(rows: np.ndarray) -> Curator:
    return Curator(open_source(rows), BUDGET, seed=3)


def expected(rows: np.ndarray) -> Expected:
    """What a curator would measure, without noise."""
    length = np.linalg.norm(rows, axis=1)
    counts, _ = np.histogram(length, np.concatenate([[0.0], EDGES, [np.inf]]))
    norms = Norms(EDGES, counts.astype(float), 1e-3, math.sqrt(D))
    return expect(curator(rows), float(N), ONES, ONES, norms, share=1.0)


def tilt(square: float, *, clear: bool = True) -> Tilt:
    between = (0.6 * math.sqrt(D), 1.5 * math.sqrt(D))
    return Tilt(between, square, clear, shown=ZEROS, row=ZEROS, row_noise=0.0, radius=between[1])


def compared(rows: np.ndarray, square: float, radius: float) -> NestedMean:
    known = expected(rows)
    return nested_mean(
        curator(rows),
        ZEROS,
        ONES,
        ONES,
        known,
        tilt(square),
        usual=math.sqrt(D),
        radii=radii_to_compare(known, radius),
        share=1.0,
    )


def direct_noise(rows: np.ndarray, radius: float) -> float:
    _, noise = clipped_sum(curator(rows), ZEROS, ONES, radius, share=1.0, label="mean")
    return float(noise[0]) / N / expected(rows).mean_factor(radius)


def test_symmetric_rows_stay_at_the_smaller_radius() -> None:
    rows, radius = draw("normal"), 1.8 * math.sqrt(D)
    found = compared(rows, 0.0, radius)
    assert found.weight == 0.0
    assert found.radius == found.radii[0] == radius
    # As if a radius between the two had been known to be the right one.
    between = direct_noise(rows, math.sqrt(radius * found.radii[1]))
    assert found.noise == pytest.approx(np.full(D, between), rel=0.1)
    assert np.all(np.abs(found.value - rows.mean(axis=0)) < 6.0 * found.noise)


def test_skewed_rows_are_not_clipped_to_it() -> None:
    rows, radius = draw("exponential"), 1.5 * math.sqrt(D)
    found = compared(rows, 0.0, radius)
    lost = np.linalg.norm(found.value - rows.mean(axis=0))
    clipped = rows * np.minimum(1.0, radius / np.linalg.norm(rows, axis=1))[:, np.newaxis]
    bias = clipped.mean(axis=0) - rows.mean(axis=0)
    assert np.linalg.norm(bias) > 20.0 * np.linalg.norm(found.noise)
    assert found.weight > 0.99
    assert lost < 3.0 * np.linalg.norm(found.noise)
    assert found.bias == pytest.approx(np.linalg.norm(bias), rel=0.5)
    assert np.all(found.shown > 0.0)
    # No noisier than if the larger radius had been known to be the right one.
    assert np.all(found.noise < 1.06 * direct_noise(rows, found.radii[1]))


def test_what_is_feared_counts_where_noise_hides_the_difference() -> None:
    rows, radius = draw("normal"), 1.8 * math.sqrt(D)
    weights = [compared(rows, square, radius).weight for square in (0.0, 1e-3, 1.0)]
    assert weights[0] == 0.0
    assert weights[0] <= weights[1] < weights[2] < 1.0


@pytest.mark.parametrize("kind", list(DRAWS))
def test_the_larger_radius_is_where_the_tail_goes(kind: str) -> None:
    rows = draw(kind)
    seen = expected(rows)
    # Counts so noisy that they show the tail down to one row in two hundred.
    hidden = Norms(EDGES, seen.norms.counts, 0.001 * N / math.sqrt(EDGES.size), math.sqrt(D))
    known = expect(curator(rows), float(N), ONES, ONES, hidden, share=1.0)
    length = np.concatenate([np.linalg.norm(draw(kind, seed), axis=1) for seed in range(5)])
    truth = np.quantile(length, 1.0 - known.clipped / N)
    _, outer = radii_to_compare(known, math.sqrt(D))
    assert 0.65 < outer / truth < 1.6


def test_radii_are_never_far_apart_nor_the_same() -> None:
    known = expected(draw("log-normal"))
    low, high = radii_to_compare(known, 0.01)
    assert high == pytest.approx(3.0 * low)
    low, high = radii_to_compare(known, 1e3)
    assert (low, high) == (1e3, pytest.approx(1.1e3))


@pytest.mark.parametrize("part", [0.003, 0.01])
def test_rows_far_out_that_are_all_alike_make_no_tail(part: float) -> None:
    """Nothing is beyond them, however flat a tail from the bulk to them seems."""
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((N, D))
    rows[:, 0] += 50.0 * (rng.random(N) < part)
    length = np.linalg.norm(rows, axis=1)
    low, high = radii_to_compare(expected(rows), math.sqrt(D))
    assert low < high < 4.0 * length.max()


def test_counts_too_noisy_for_a_tail_give_radii() -> None:
    norms = Norms(EDGES, np.full(EDGES.size + 1, 300.0), 200.0, math.sqrt(D))
    for share in (1.0, 1e-4, 1e-8):
        known = expect(curator(draw("normal")), 3000.0, ONES, ONES, norms, share=share)
        low, high = radii_to_compare(known, 1.0)
        assert 1.0 <= low < high < np.inf
