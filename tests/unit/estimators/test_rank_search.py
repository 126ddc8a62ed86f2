"""The search for ranks: against exact counts, and with noise that it is told of."""

from __future__ import annotations

import numpy as np
import pytest

from prolate.estimators.ranks.cells import Cells
from prolate.estimators.ranks.search import RankSearch, _rising, _shortest


def search(
    values: np.ndarray, p: float, std: float, *, looks: int = 9, parts: int = 8, seed: int = 0
) -> RankSearch:
    """Look so many times for a quantile, with noise of this standard deviation in every count."""
    rng, rising = np.random.default_rng(seed), np.sort(values)
    edge = np.array([[-np.inf, -1.0, 0.0, 1.0, np.inf]])

    def counts(edge: np.ndarray) -> np.ndarray:
        below = np.searchsorted(rising, edge[0], side="left")
        exact = np.diff(below, prepend=0, append=rising.size)
        return (exact + std * rng.normal(size=exact.size))[np.newaxis]

    def variance(edge: np.ndarray) -> np.ndarray:
        return np.full((1, edge.shape[1] + 1), std**2)

    cells = Cells.around_all(edge, counts(edge), variance(edge))
    found = RankSearch(cells, np.array([p]), float(values.size))
    for _ in range(looks - 1):
        found.narrow(parts)
        found.see(counts(found.edge), variance(found.edge))
    return found


def off(values: np.ndarray, p: float, value: float) -> float:
    below, upto = np.count_nonzero(values < value), np.count_nonzero(values <= value)
    return max(below - p * values.size, p * values.size - upto, 0.0)


@pytest.mark.parametrize("p", [0.02, 0.3, 0.5, 0.98])
@pytest.mark.parametrize("shape", ["normal", "far", "tiny", "skewed", "gap"])
def test_without_noise_the_rank_is_right(shape: str, p: float) -> None:
    rng = np.random.default_rng(1)
    values = {
        "normal": rng.normal(170.0, 10.0, 4000),
        "far": 1.7e9 + rng.random(4000),
        "tiny": 1e-7 * rng.normal(size=4000),
        "skewed": rng.lognormal(0.0, 3.0, 4000),
        "gap": np.where(rng.random(4000) < 0.4, 0.0, 100.0) + rng.normal(size=4000),
    }[shape]
    found = search(values, p, 1e-3, looks=20).found()
    assert off(values, p, found.value[0]) <= 1.0


def test_ranks_are_off_by_as_much_as_is_stated() -> None:
    """A look's noise of 10 rows in every count leaves less than half of that after nine."""
    rng = np.random.default_rng(2)
    errors, stated = [], []
    for seed in range(60):
        values = rng.normal(size=5000)
        found = search(values, 0.5, 10.0, seed=seed).found()
        errors.append(np.count_nonzero(values < found.value[0]) - 2500)
        stated.append(found.rank_noise[0])
    assert 0.6 < np.std(errors) / np.mean(stated) < 1.4
    assert np.mean(stated) < 7.0


def test_values_that_many_share_are_found_to_the_last_digit() -> None:
    rng = np.random.default_rng(3)
    values = np.round(rng.normal(9.99, 0.05, 20_000), 2)
    found = search(values, 0.5, 5.0)
    assert found.found().value.tolist() == [9.99]
    assert found.found().alike.all()
    assert found.per_rank(found.found(), np.array([100.0])).tolist() == [0.0]


def test_intervals_reach_across_a_gap_that_noise_cannot_decide() -> None:
    values = np.concatenate([np.linspace(0.0, 1.0, 1000), np.linspace(99.0, 100.0, 1000)])
    found = search(values, 0.5, 5.0)
    noise = found.found().rank_noise
    assert found.per_rank(found.found(), noise)[0] * noise[0] > 20.0


def test_rising_values_are_the_nearest() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        values = rng.normal(size=7)
        rising = _rising(values[np.newaxis])[0]
        assert np.all(np.diff(rising) >= -1e-12)
        # No step toward any other rising values is nearer (the projection's own inequality).
        other = np.sort(rng.normal(size=7))
        assert (values - rising) @ (other - rising) <= 1e-9


@pytest.mark.parametrize(
    ("lower", "upper", "shortest"),
    [
        (39.9, 40.2, 40.0),
        (169.3699, 169.3703, 169.37),
        (-1e-9, 3.0, 0.0),
        (-170.5, -169.7, -170.0),
        (0.1, np.nextafter(0.1, 1.0), 0.1),
        (1234567.0, 1234567.5, 1234567.0),
    ],
)
def test_the_shortest_number_between(lower: float, upper: float, shortest: float) -> None:
    assert _shortest(lower, upper) == shortest
