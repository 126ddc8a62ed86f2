"""Values with gaps between them: cells of one value each are joined."""

from __future__ import annotations

import numpy as np
import pytest

from prolate.estimators.lengths import side_tail
from prolate.estimators.lengths.gaps import joined_cells
from prolate.estimators.lengths.side_tail import fit_tail
from prolate.estimators.lengths.sides import EDGES

N = 20_000


def spreads(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()


def right_side(values: np.ndarray, noise: float, seed: int = 0) -> np.ndarray:
    """Return noisy counts of the values above their mean."""
    exact = np.histogram(spreads(values), np.append(EDGES, np.inf))[0]
    return exact + np.random.default_rng(seed).normal(0.0, noise, EDGES.size)


def test_each_cell_then_has_one_value() -> None:
    values = np.random.default_rng(0).poisson(0.58, N).astype(float)
    kept = joined_cells(EDGES, right_side(values, 30.0), 30.0)
    assert kept is not None
    edges = EDGES[kept]
    assert edges[0] == 0.0
    places = (np.arange(1, 4) - values.mean()) / values.std()
    assert np.array_equal(np.searchsorted(edges, places), [1, 2, 3])
    assert np.all(np.diff(edges[edges < 12.0]) > 0.7)  # values are 1.3 apart


@pytest.mark.parametrize("noise", [15.0, 60.0])
def test_smooth_tails_and_single_values_keep_their_cells(noise: float) -> None:
    rng = np.random.default_rng(1)
    for values in (
        rng.standard_normal(N),
        rng.lognormal(size=N),
        rng.uniform(size=N),
        np.where(rng.random(N) < 0.6, 0.0, rng.exponential(size=N)),
        (rng.random(N) < 0.1).astype(float),
        np.zeros(N),
    ):
        if values.std() > 0.0:
            assert joined_cells(EDGES, right_side(values, noise), noise) is None
    assert joined_cells(EDGES, np.zeros(EDGES.size), noise) is None


def test_what_clipping_takes_off_counts_is_foreseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A curve that falls to nothing between two values seems to end there."""

    def off(kind: float, noise: float, seed: int) -> float:
        """Return the largest error, in standard deviations of what is stated."""
        values = np.random.default_rng(seed).poisson(kind, N).astype(float)
        tail = fit_tail(EDGES, right_side(values, noise, seed), noise, N, apart=N)
        far = spreads(values) - tail.reach[:, np.newaxis]
        true = np.mean(np.maximum(far, 0.0), axis=1)
        near = tail.reach < 6.0
        stated = np.hypot(np.sqrt(tail.doubt), np.hypot(tail.guessed, 5e-4))
        return float(np.max((np.abs(tail.lost - true) / stated)[near]))

    def worst() -> float:
        tried = ((k, noise, s) for k in (0.58, 2.0) for noise in (30.0, 60.0) for s in range(6))
        return max(off(*each) for each in tried)

    assert worst() < 3.0
    monkeypatch.setattr(side_tail, "joined_cells", lambda *_: None)  # a planted fault
    assert worst() > 3.0
