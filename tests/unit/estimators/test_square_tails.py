"""Columns whose squares reach farther than others': which, and where each is best clipped."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.clipping import square_tails
from prolate.estimators.clipping.square_tails import measure_square_tails
from prolate.sources import open_source

FAMILIES = {
    "log-normal, sigma .3 to .85": [stats.lognorm(s) for s in (0.3, 0.5, 0.7, 0.85)],
    "log-normal, sigma 1 to 2": [stats.lognorm(s) for s in (1.0, 1.2, 1.5, 2.0)],
    "gamma, 4 to .3": [stats.gamma(k) for k in (4.0, 1.0, 0.5, 0.3)],
    "Student, 2.5 to 5": [stats.t(k) for k in (2.5, 3.0, 4.0, 5.0)],
    "Pareto, 2.5 to 4": [stats.pareto(k) for k in (2.5, 3.0, 4.0)],
    "Weibull, .5 and .7": [stats.weibull_min(k) for k in (0.5, 0.7)],
}
RARE = {
    "a tenth log-normal, .5 to 1.5": (0.1, [0.5, 1.0, 1.5]),
    "three in a hundred": (0.03, [0.5, 1.0, 1.5]),
}
DRAWS = {
    "log-normal": lambda rng, n: rng.lognormal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "gamma": lambda rng, n: rng.gamma(0.3, size=n),
    "student": lambda rng, n: rng.standard_t(3, n),
    "mostly zeros": lambda rng, n: (rng.random(n) < 0.1) * rng.lognormal(size=n),
}


def survival(law, deviations: np.ndarray) -> np.ndarray:
    """Return what part of the values is so many standard deviations above the mean, or beside."""
    sides = 2.0 if law.dist.name == "t" else 1.0
    return sides * law.sf(law.mean() + deviations * law.std())


def of_rare(part: float, sigma: float, deviations: np.ndarray) -> np.ndarray:
    mean, square = part * math.exp(sigma**2 / 2), part * math.exp(2 * sigma**2)
    return part * stats.lognorm(sigma).sf(mean + deviations * math.sqrt(square - mean**2))


def measured(rows: np.ndarray, budget: Budget, *, noise: float, size: np.ndarray | None = None):
    curator = Curator(open_source(rows), budget, seed=0)
    size = rows.var(axis=0) if size is None else size
    n = float(len(rows))
    return measure_square_tails(curator, rows.mean(axis=0), size, rows=n, share=1.0, noise=noise)


def test_imagined_tails_are_those_of_the_families_they_are_named_after() -> None:
    far = 4.0 * np.exp2([0.0, 0.5, 1.0, 1.5, 2.0])
    true = {name: [survival(law, far) for law in laws] for name, laws in FAMILIES.items()}
    true |= {n: [of_rare(part, s, far) for s in sigmas] for n, (part, sigmas) in RARE.items()}
    assert list(true) == list(square_tails._TAILS)
    every = np.array([tail for tails in true.values() for tail in tails])
    imagined = square_tails._beyond(far / 4.0)[: len(every)]
    seen = every > 1e-5  # rarer ones make no square
    assert np.abs(np.log(imagined[seen] / every[seen])).max() < 0.35


@pytest.mark.parametrize("kind", list(DRAWS))
def test_a_long_tail_is_found_and_clipped_about_where_it_is_best(kind) -> None:
    noise, ratios = 2.0 / 50_000, []
    for seed in range(5):
        rng = np.random.default_rng([seed, 5])
        rows = rng.normal(size=(50_000, 20)) * np.geomspace(1.0, 10.0, 20)
        rows[:, 7] = DRAWS[kind](rng, 50_000)
        tails = measured(rows, Budget(mu=1.0), noise=noise)
        assert np.flatnonzero(tails.reach).tolist() == [7]
        square = (rows[:, 7] - rows[:, 7].mean()) ** 2

        def lost(reach: float, square=square) -> float:
            return float(np.mean(np.maximum(square - reach, 0.0)))

        def error(reach: float, lost=lost) -> float:
            return math.hypot(noise * reach, lost(reach))

        best = min(map(error, np.geomspace(square.mean(), square.max(), 60)))
        near = np.full(20, 0.5 * tails.reach[7])
        told = tails.lost(near)
        assert np.flatnonzero(told).tolist() == [7]
        ratios.append(
            (
                error(tails.reach[7]) / best,
                told[7] / lost(near[7]),
                tails.deviation[7] / square.std(),
            )
        )
    of_best, of_lost, of_deviation = np.median(ratios, axis=0)
    hidden = kind == "student"  # noise hides the farthest of its values
    assert of_best < (3.0 if hidden else 1.6)
    assert (0.1 if hidden else 0.4) < of_lost < 2.5
    assert 0.3 < of_deviation < 2.5


def test_normal_columns_have_no_long_tails_and_noise_seldom_pretends_so() -> None:
    found = []
    for seed in range(60):
        rows = np.random.default_rng(seed).normal(size=(1_000, 15))
        curator = Curator(open_source(rows), Budget(mu=0.3), seed=seed)
        tails = measure_square_tails(
            curator, np.zeros(15), np.ones(15), rows=1e3, share=1.0, noise=2 / 300
        )
        found.append(np.count_nonzero(tails.reach))
    assert np.sum(found) <= 3  # of 900 columns; counts are noisy by a tenth of the rows
    rows = np.random.default_rng(0).normal(size=(200_000, 5))  # of which some are farther
    tails = measured(rows, Budget(mu=3.0), noise=1e-5)
    assert not tails.reach.any()


def test_values_that_end_are_not_taken_to_go_on() -> None:
    """Of 20,000 rows, 60 and 60 are in two octaves and none beyond: so is nothing farther out."""
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(20_000, 10))
    rows[:60, 3], rows[60:120, 3] = rng.uniform(4.0, 8.0, 60), rng.uniform(8.0, 16.0, 60)
    tails = measured(rows, Budget(mu=2.0), noise=5e-5, size=np.ones(10))
    assert 10.0**2 < tails.reach[3] < 23.0**2


def test_what_is_like_no_tail_is_left_to_others() -> None:
    """A hundredth of the rows a thousand deviations away: `_with_longest` tells these."""
    rows = np.random.default_rng(2).normal(size=(20_000, 10))
    rows[:200, 3] = 1_000.0
    tails = measured(rows, Budget(mu=2.0), noise=5e-5, size=np.ones(10))
    assert tails.reach[3] == 0.0


@pytest.mark.parametrize("columns", [1, (1 << 14) + 1])
def test_nothing_is_asked_of_one_column_or_of_very_many(columns) -> None:
    curator = Curator(open_source(np.zeros((10, columns))), Budget(mu=1.0), seed=0)
    ones = np.ones(columns)
    tails = measure_square_tails(curator, ones, ones, rows=10.0, share=1.0, noise=0.1)
    assert curator.remaining == 1.0
    assert not tails.reach.any()
    assert not tails.lost(ones).any()
