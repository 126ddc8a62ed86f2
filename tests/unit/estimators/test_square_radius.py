"""Where squares are clipped: no farther out than the counts say that rows are."""

from __future__ import annotations

import numpy as np
import pytest

from prolate.estimators.clipping.square_radius import square_radius
from prolate.estimators.lengths.norms import MeasuredNorms

ROWS = 20_000.0


def norms_of(length: np.ndarray, noise: float) -> MeasuredNorms:
    edges = np.geomspace(0.5, 80.0, 40)
    counts = np.bincount(np.searchsorted(edges, length), minlength=edges.size + 1)
    return MeasuredNorms(edges, counts.astype(float), noise, 2.0)


def squares(rng: np.random.Generator, kind: str) -> np.ndarray:
    shape = (int(ROWS), 2)
    x = rng.normal(size=shape) if kind == "normal" else rng.uniform(-1.0, 1.0, shape) * 3.0**0.5
    return np.asarray(np.linalg.norm(x**2 - 1.0, axis=1))


def test_bounded_values_are_clipped_where_they_end() -> None:
    rng = np.random.default_rng(1)
    bounded, normal = (
        square_radius(norms_of(squares(rng, kind), 2.0), np.ones(2), 10.0, ROWS)
        for kind in ("uniform", "normal")
    )
    assert squares(rng, "uniform").max() < 3.0
    assert 2.5 < bounded.radius < 4.0
    assert 8.0 < normal.radius < 16.0


@pytest.mark.parametrize("kind", ["uniform", "normal"])
def test_what_clipping_takes_is_stated(kind: str) -> None:
    length = squares(np.random.default_rng(2), kind)
    tail = square_radius(norms_of(length, 2.0), np.ones(2), 10.0, ROWS)
    taken = float(np.mean(np.maximum(length - tail.radius, 0.0)))
    assert taken < 1.5 * float(np.linalg.norm(tail.lost))


def test_counts_that_noise_drowns_bring_no_radius_nearer_than_most_rows() -> None:
    length = squares(np.random.default_rng(3), "normal")
    for seed in range(20):
        norms = norms_of(length, 400.0)
        noise = np.random.default_rng(seed).normal(0.0, 400.0, norms.counts.size)
        noisy = MeasuredNorms(norms.edges, norms.counts + noise, 400.0, 2.0)
        tail = square_radius(noisy, np.ones(2), 800.0, ROWS)
        assert np.mean(length > tail.radius) < 0.5


def test_rows_beyond_the_usual_radius_move_it_before_they_are_sure() -> None:
    """In few rows of a small budget, a tenth of them may be far out and stand out by little."""
    edges = np.geomspace(0.5, 80.0, 40)
    length = squares(np.random.default_rng(4), "normal")[:1000]
    length[:90] = 12.0
    counts = np.bincount(np.searchsorted(edges, length), minlength=edges.size + 1)
    norms = MeasuredNorms(edges, counts.astype(float), 4.0, 2.0)
    assert 12.0 < square_radius(norms, np.ones(2), 20.0, 1000.0).radius < 20.0
