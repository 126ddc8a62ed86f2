"""Rows tell in which column they are farthest out."""

from __future__ import annotations

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.search import farthest
from prolate.estimators.search.farthest import own_steps, with_farthest
from prolate.sources import open_source

N = 4_000
rng = np.random.default_rng(0)


def curator_of(rows: np.ndarray, mu: float = 3.0, seed: int = 0) -> Curator:
    return Curator(open_source(rows), Budget(mu=mu), seed=seed)


@pytest.mark.parametrize("far", [30.0, 1e3, 1e9])
def test_a_spread_is_raised_where_a_tenth_of_the_rows_is_far_out(far):
    rows = rng.normal(size=(N, 6))
    rows[: N // 10, 2] += far
    rows[N // 10 : N // 5, 4] -= far / 5.0  # not hidden by the other
    raised, _ = with_farthest(curator_of(rows), N, np.zeros(6), np.ones(6))
    true = rows.std(axis=0)
    assert np.all(raised[[0, 1, 3, 5]] == 1.0)
    assert np.all((raised > 0.4 * true) & (raised < 2.0 * true))


@pytest.mark.parametrize("columns", [1, 3, 50])
def test_a_spread_that_is_right_stays(columns):
    for draw in (rng.normal, rng.laplace):
        rows = draw(size=(N, columns))
        spread = rows.std(axis=0)
        raised, _ = with_farthest(curator_of(rows), N, np.zeros(columns), spread)
        assert np.all(raised <= 1.2 * spread)


def test_the_largest_numbers_have_the_largest_spread():
    rows = rng.normal(size=(N, 2))
    rows[::5, 0] = 1e308
    raised, _ = with_farthest(curator_of(rows), N, np.zeros(2), np.full(2, 1e130))
    assert np.all(np.isfinite(raised))
    assert raised[0] > 1e139


def test_rare_values_of_each_column_have_their_own_size():
    """Also where one column hides the others in a third of the rows, and some are alike."""
    size = np.array([1.0, 1e4, 1.0, 30.0, 1e-3, 1.0])
    rare = rng.random((N, 6)) < np.array([0.1, 0.3, 0.3, 0.1, 0.3, 0.0])
    rows = np.where(rare, size, 0.0)
    half = np.full(6, 1e-9)
    found, own, spread = own_steps(curator_of(rows), N, np.zeros(6), half, np.full(6, 1e4))
    assert found[:5] == pytest.approx(size[:5], rel=1.0)
    assert found[5] == 1e4  # nothing was seen of it
    assert own.tolist() == [True] * 5 + [False]
    true = np.sqrt(np.mean(rows**2, axis=0))
    assert np.all((spread <= 1.5 * true)[:5] & (spread > 0.3 * true)[:5])  # where farthest
    assert spread[5] == 0.0


def test_for_relative_errors_sizes_need_not_be_seen_surely():
    """Some 50 of 600 rows have a flag: the size of an amount is no guess."""
    found = {False: 0, True: 0}
    for seed in range(20):
        draw = np.random.default_rng(seed)
        rows = np.where(draw.random((600, 2)) < [0.09, 0.3], [1.0, 1e4], 0.0)
        for relative in found:
            curator = curator_of(rows, mu=0.9, seed=seed)
            guess = np.full(2, 1e4)
            size, own, _ = own_steps(
                curator, 600.0, np.zeros(2), np.full(2, 1e-9), guess, relative=relative
            )
            found[relative] += bool(own[0] and size[0] < 3.0)
    print("found:", found)
    assert found[True] > 14
    assert found[False] < 10


def test_one_column_is_not_looked_at_as_precisely_as_many():
    rows = np.where(rng.random((N, 3)) < 0.1, np.exp(rng.normal(size=(N, 3))), 0.0)
    noise = []
    for columns in (1, 3):
        curator, half = curator_of(rows[:, :columns]), np.full(columns, 1e-9)
        own_steps(curator, N, np.zeros(columns), half, np.full(columns, 2.0))
        noise.append(curator.receipt[0].mu)
    assert noise[1] > 2.0 * noise[0]


def test_what_is_within_the_bulk_is_not_rare():
    rows = np.where(rng.random((N, 2)) < 0.2, [100.0, 5.0], 1e-8)
    found, _, _ = own_steps(curator_of(rows), N, np.zeros(2), np.full(2, 1e-8), np.full(2, 100.0))
    assert found == pytest.approx([100.0, 5.0], rel=0.5)


def test_noise_that_looks_like_rows_far_out_raises_no_spread(monkeypatch):
    first = [True]

    def look(view, rows, center, gain, label, *, precisely=False, of=None):
        counts, noise = np.zeros((1, 40)), 50.0 if precisely else 140.0
        counts[0, 0] = rows
        if first[0]:
            first[0], counts[0, 34] = False, 6.0 * noise
        return counts, noise

    monkeypatch.setattr(farthest, "_look", look)
    curator = curator_of(np.zeros((10, 1)))
    spread, reach = with_farthest(curator, 20_000, np.zeros(1), np.ones(1))
    assert spread.tolist() == [1.0]
    assert reach.tolist() == [0.0]


def test_rare_values_in_many_units_are_looked_for_as_long_as_some_are_found(monkeypatch) -> None:
    """Large units hide small ones: three looks left most of 200 flags with a size of others'."""

    def worst() -> float:
        draw = np.random.default_rng(0)
        flags = draw.random((8_000, 200)) < draw.uniform(0.05, 0.4, 200)
        rows = flags * 10.0 ** draw.uniform(0.0, 5.0, 200)
        made = prolate.mean(rows, budget=Budget(rho=1.0), error_norm="relative", seed=0)
        return float(np.max(made.noise_std / rows.std(axis=0)))

    assert worst() < 0.02
    monkeypatch.setattr(farthest, "_MOST_LOOKS_RELATIVE", 3)  # a planted fault
    assert worst() > 0.1


def test_all_looks_together_cost_little() -> None:
    rng = np.random.default_rng(0)  # whatever tests ran before: of some rows no columns are rare
    rows = (rng.random((1_500, 200)) < 0.2) * 10.0 ** rng.uniform(0.0, 5.0, 200)
    made = prolate.mean(rows, budget=Budget(rho=1.0), error_norm="relative", seed=0)
    looks = [step.share for step in made.receipt if step.label == "farthest rare columns"]
    assert len(looks) > 3
    assert sum(looks) < 0.15
