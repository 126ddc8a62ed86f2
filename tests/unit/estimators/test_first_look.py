"""How long rows are: told apart beyond the last edge, and what a gap before them says."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.clipping import first_look
from prolate.estimators.clipping.first_look import with_first_look
from prolate.estimators.clipping.square_radius import square_radius
from prolate.estimators.counting import count_rows
from prolate.estimators.lengths.norms import MeasuredNorms, finer_edges, measure_norms, safe_cell
from prolate.estimators.search import longest as longest_module
from prolate.estimators.search.floor import with_common_floor
from prolate.estimators.search.learn import learn_shape
from prolate.estimators.search.longest import longest_columns
from prolate.estimators.search.shape import Shape
from prolate.sources import open_source

N = 20_000
rng = np.random.default_rng(0)


def curator_of(rows: np.ndarray, mu: float = 1.0, seed: int = 0) -> Curator:
    return Curator(open_source(rows), Budget(mu=mu), seed=seed)


def norms_of(rows: np.ndarray, **options: float) -> MeasuredNorms:
    one = np.ones(rows.shape[1])
    return measure_norms(
        curator_of(rows), center=0.0 * one, scale=one, spread=one, share=0.1, **options
    )


def lengthened(part: float, times: float) -> np.ndarray:
    return rng.standard_normal((N, 4)) * np.where(rng.random((N, 1)) < part, times, 1.0)


def test_rows_beyond_the_last_edge_are_told_apart_and_the_others_stay_so() -> None:
    rows = lengthened(0.05, 300.0)
    true = np.linalg.norm(rows, axis=1)
    norms = norms_of(rows)
    assert norms.seen == pytest.approx(80.0)
    assert np.all(np.diff(norms.edges) > 0.0)
    off = norms.above - np.sum(true[:, np.newaxis] > norms.edges, axis=0)
    assert np.all(np.abs(off) < 7.0 * norms.noise * np.sqrt(np.arange(off.size, 0, -1)))
    assert np.count_nonzero(norms.edges < 10.0) > 20  # the many, too
    assert np.count_nonzero((norms.edges > 100.0) & (norms.edges < 1500.0)) > 2


@pytest.mark.parametrize("times", [100.0, 1e5])
def test_where_most_rows_are_beyond_edges_are_larger(times) -> None:
    norms = norms_of(times * rng.standard_normal((N, 4)))
    assert norms.typical > 2.0
    assert not norms.hidden
    middle = float(np.interp(-0.5 * N, -norms.above, norms.edges))
    assert middle == pytest.approx(1.83 * times, rel=0.3)


def test_no_more_looks_than_are_allowed() -> None:
    curator = curator_of(1e30 * rng.standard_normal((N, 4)))
    one = np.ones(4)
    options = {"center": 0.0 * one, "scale": one, "spread": one, "share": 0.01}
    first = measure_norms(curator, **options, more=0)
    assert first.hidden
    assert len(curator.receipt) == 1
    measure_norms(curator, **options, known=first)
    assert len(curator.receipt) == 4


def test_rows_are_apart_where_hardly_any_are_between() -> None:
    near = norms_of(rng.standard_normal((N, 4)), more=0)
    tailed = norms_of(rng.standard_t(1.5, (N, 4)), more=0)
    apart = norms_of(lengthened(0.05, 1_000.0), more=0)
    assert near.apart == 0.0
    assert tailed.hidden
    assert tailed.apart == 0.0
    assert apart.apart == pytest.approx(0.05 * N, rel=0.1)


def test_rows_that_the_scales_promise_are_not_apart() -> None:
    """Two rows in a thousand are far out, and their column's spread allows for that."""
    count, one = 100_000, np.ones(4)
    rows = 1e-3 * rng.standard_normal((count, 4))
    rows[rng.random(count) < 0.002, 0] = 1.0
    options = {"center": 0.0 * one, "share": 0.1, "more": 0}
    for spread, apart in ((rows.std(axis=0), False), (1e-3 * one, True)):
        norms = measure_norms(curator_of(rows), scale=spread, spread=spread, **options)
        assert (norms.apart > 0.0) == apart


def test_squares_of_a_tail_that_begins_far_out_are_not_clipped_as_normal_ones() -> None:
    """A twentieth of the rows is thirty times as long, and no edge between counts so few."""
    edges = 4.5 * np.array([0.25, 0.5, 1.0, 1.5, 2.5, 4.5, 12.0, 40.0])
    counts = np.array([12_000.0, 5_000, 2_000, 0, 0, 0, 0, 1_000, 0])
    tail = square_radius(MeasuredNorms(edges, counts, 10.0, 4.5), np.ones(20), 40.0, 20_000.0)
    assert tail.radius == edges[-1]
    few = np.array([12_000.0, 6_000, 1_950, 40, 10, 0, 0, 0, 0])
    normal = square_radius(MeasuredNorms(edges, few, 10.0, 4.5), np.ones(20), 40.0, 20_000.0)
    assert normal.radius < 20.0


def norms_of_lengths(length: np.ndarray, typical: float) -> MeasuredNorms:
    """Return what a look at rows of these lengths shows, nearly without noise."""
    edges = norms_of(np.zeros((2, 1))).edges * typical  # of scales that promise a length of 1
    counts = np.histogram(length, np.concatenate([[0.0], edges, [np.inf]]))[0]
    return MeasuredNorms(edges, counts.astype(float), 0.1, typical)


def test_finer_edges_where_all_rows_are_in_a_few_cells() -> None:
    length = 40.0 + 2.0 * rng.standard_normal(N)  # of many columns, twice as long as promised
    norms = norms_of_lengths(length, 20.0)
    finer = finer_edges(norms, N)
    assert finer is not None
    low, high = np.quantile(length, [0.1, 0.9])
    assert np.count_nonzero((norms.edges > low) & (norms.edges < high)) < 3
    assert np.count_nonzero((finer > low) & (finer < high)) > 5
    # Nothing is gained where they are as long as promised, or not about equally long.
    for other in (0.5 * length, np.full(N, 21.0), np.exp(3.0 + rng.standard_normal(N))):
        norms = norms_of_lengths(other, 20.0)
        assert finer_edges(norms, N) is None


def test_doubt_about_rows_beyond_an_edge_counts_from_there() -> None:
    edges = np.array([1.0, 40.0, 80.0, 160.0])
    norms = MeasuredNorms(edges, np.array([9_000.0, 0.0, 300.0, 60.0, 0.0]), 10.0, 1.0)
    assert edges[safe_cell(norms, 5.0)] == 80.0
    seen = MeasuredNorms(norms.edges, norms.counts, 10.0, 1.0, seen=40.0)
    assert edges[safe_cell(seen, 5.0)] == 160.0


# A first look, and the floor that it may show.


def few_rows(seed: int) -> np.ndarray:
    """Some hundred rows of four columns: noise hides the few values in each of them."""
    draw = np.random.default_rng(seed)
    tiny = 1e-9 * draw.standard_normal((600, 4))
    return np.where(draw.random((600, 4)) < 0.06, draw.exponential(1.0, (600, 4)), tiny)


def root(shape: Shape) -> np.ndarray:
    return np.sqrt(shape.spread)


def raised(seed: int) -> tuple[np.ndarray, bool]:
    """Return spreads over the true ones after a first look at rows that are all tiny so far.

    And whether it warns of a floor.
    """
    rows = few_rows(seed)
    curator = curator_of(rows, seed=seed)
    _, found = learn_shape(curator, count_rows(curator))
    tiny = Shape(found.rows, curator, np.zeros(4), np.full(4, 1e-9), 0.0)
    after, norms = with_first_look(tiny, root, share=curator.remaining)
    assert norms is None
    return after.spread / rows.std(axis=0), any("hides in which" in w for w in after.warnings)


def test_a_first_look_gives_columns_a_floor() -> None:
    looks = [raised(seed) for seed in range(20)]
    found = np.array([spread for spread, _ in looks])
    assert np.mean([warned for _, warned in looks]) > 0.6
    print("spreads over the true ones:", np.quantile(found, [0.0, 0.1, 0.5, 0.9, 1.0]))
    assert np.mean(found > 0.003) > 0.9
    assert np.mean(found < 20.0) > 0.9


def test_columns_of_different_units_have_no_floor_in_common_for_relative_errors() -> None:
    unit = np.array([1.0, 1e3, 1e-3, 1e6])
    for relative, units in ((False, unit), (True, unit), (True, np.ones(4))):
        rows = few_rows(1) * units
        curator = curator_of(rows, seed=1)
        tiny = Shape(600.0, curator, np.zeros(4), 1e-9 * units, 0.0)
        after, _ = with_first_look(tiny, root, share=curator.remaining, relative=relative)
        over = after.spread / rows.std(axis=0)
        if relative and units is unit:
            assert np.max(over) < 10.0  # each that is raised is so by its own rows
        else:
            assert np.max(over) > 0.1


def of_columns(shape: Shape) -> np.ndarray:
    return shape.spread


def lost_amount(seed: int) -> tuple[np.ndarray, Curator, Shape]:
    """One row in ten has an amount, in a column that was taken for as little spread as others."""
    draw = np.random.default_rng(seed)
    rows = draw.standard_normal((1_000, 5))
    rows[:, 1] = np.where(draw.random(1_000) < 0.1, 1e4 * draw.lognormal(0.0, 1.0, 1_000), 0.0)
    curator = curator_of(rows, seed=seed)
    return rows, curator, Shape(1_000.0, curator, np.zeros(5), np.ones(5), 0.0)


@pytest.mark.parametrize("seed", range(6))
def test_the_column_that_makes_rows_long_is_told_from_others(seed) -> None:
    rows, curator, shape = lost_amount(seed)
    constant = np.arange(5) == 1
    shape = replace(shape, constant=constant, center_noise=np.full(5, 0.1))
    after, norms = with_first_look(shape, of_columns, share=curator.remaining, relative=True)
    assert norms is None
    assert np.all(after.spread[~constant] <= 2.0)  # a floor that all have in common
    assert 0.1 < after.spread[1] / rows[:, 1].std() < 3.0
    assert not after.constant.any()
    assert np.isinf(after.center_noise[1])


def test_two_columns_that_make_rows_long_have_sizes_of_their_own() -> None:
    draw = np.random.default_rng(0)
    rows = draw.standard_normal((4_000, 6))
    for column, size in ((0, 1e3), (4, 1e7)):
        rows[:, column] += size * (draw.random(4_000) < 0.05)
    beyond = np.full(6, 50.0)
    size, part = longest_columns(curator_of(rows), 4e3, np.zeros(6), beyond=beyond, part=0.1)
    assert np.flatnonzero(size).tolist() == [0, 4]
    assert np.all(np.abs(np.log2(size[[0, 4]] / [1e3, 1e7])) < 1.5)
    np.testing.assert_allclose(part[[0, 4]], 0.05, atol=0.015)
    asked = np.where(np.arange(6) == 4, np.inf, beyond)
    size, _ = longest_columns(curator_of(rows), 4e3, np.zeros(6), beyond=asked, part=0.1)
    assert np.flatnonzero(size).tolist() == [0]


def test_no_column_is_told_where_noise_hides_them_or_counts_are_too_dear() -> None:
    rows = few_rows(1)
    for mu in (0.05, 0.1):
        curator = curator_of(rows, mu=mu)
        size, part = longest_columns(curator, 600.0, np.zeros(4), beyond=np.ones(4), part=0.05)
        assert not size.any()
        assert not part.any()
        assert {one.label for one in curator.receipt} <= {"longest columns", "lengths in a column"}


def test_a_floor_makes_no_column_reach_farther_than_rows_do() -> None:
    draw = np.random.default_rng(0)
    rows = draw.lognormal(0.0, 0.6, (5000, 20)) + 11.0 * (draw.random((5000, 1)) < 0.022)
    rows *= 10.0 ** draw.uniform(-6.0, 6.0, 20)  # in units that differ by decades
    for seed in range(4):
        made = prolate.mean(rows, budget=Budget(rho=2), error_norm="relative", seed=seed)
        off = (made.estimate - np.mean(rows, axis=0)) / np.std(rows, axis=0)
        # Millions, if all columns may be as far out as the rows that are far out in the widest.
        assert np.max(np.abs(off)) < 10.0


def test_constant_columns_have_none_and_others_keep_what_was_seen(monkeypatch) -> None:
    monkeypatch.setattr(first_look, "longest_columns", lambda *_args, **_: (np.zeros(4),) * 2)
    rows = few_rows(0)
    curator = curator_of(rows)
    shape = Shape(600.0, curator, np.zeros(4), np.full(4, 1e-9), 0.0)
    every = replace(shape, constant=np.array([True, True, True, False]))
    after, norms = with_first_look(every, root, share=0.5)
    assert after is every
    assert norms is not None
    assert norms.apart > 0.0
    right = Shape(600.0, curator, np.zeros(4), rows.std(axis=0), 0.0)
    after, norms = with_first_look(right, root, share=0.5)
    assert after is right
    assert norms is not None


def test_counts_that_would_be_too_dear_are_not_made() -> None:
    curator = curator_of(few_rows(1), mu=0.05)
    spread = np.full(4, 1e-9)
    wide = np.ones(4, dtype=bool)
    after = with_common_floor(curator, 600.0, np.zeros(4), spread, wide=wide, part=0.1)
    assert np.array_equal(after, spread)
    assert {one.label for one in curator.receipt} == {"farthest columns"}


def test_small_tables_of_tiny_values_are_lost_without_the_look(monkeypatch) -> None:
    """A planted fault."""

    def errors() -> np.ndarray:
        found = []
        for seed in range(12):
            draw = np.random.default_rng(seed)
            tiny = 1e-11 * draw.standard_normal((1_000, 7))
            rows = np.where(draw.random(tiny.shape) < 0.03, draw.gamma(2.0, 0.5, tiny.shape), tiny)
            made = prolate.mean(rows, budget=Budget(rho=0.125), seed=seed)
            found.append(np.linalg.norm(made.estimate - rows.mean(axis=0)))
        return np.array(found)

    with_look = errors()
    monkeypatch.setattr(MeasuredNorms, "beyond_gap", (0.0, 0.0))
    without = errors()
    print("errors:", np.round(with_look, 3), "without:", np.round(without, 3))
    assert np.quantile(with_look, 0.8) < 0.05
    assert np.quantile(without, 0.8) > 0.07


def test_a_dear_first_look_leaves_a_variance_its_budget(monkeypatch) -> None:
    """The mean's share is one of what is left after the look, not of what was left before."""
    variances = import_module("prolate.estimators.variance")
    look = variances.with_first_look

    def dear(shape, weigh, *, share, relative):
        found = look(shape, weigh, share=share, relative=relative)
        measure_norms(
            shape.sample,
            center=shape.center,
            scale=shape.spread,
            spread=shape.spread,
            share=0.8 * shape.sample.remaining,
            more=0,
        )
        return found

    monkeypatch.setattr(variances, "with_first_look", dear)
    release = prolate.variance(lengthened(0.0, 1.0), budget=Budget(mu=2.0), seed=0)
    share = {one.label: one.share for one in release.receipt}
    assert share["variance"] > share["mean"]


def off_by(rows: np.ndarray, seed: int) -> np.ndarray:
    """Return how many standard deviations a release for relative errors is off."""
    made = prolate.mean(rows, budget=Budget(rho=0.16), error_norm="relative", seed=seed)
    return (made.estimate - rows.mean(axis=0)) / rows.std(axis=0)


def test_amounts_in_large_units_do_not_drown_flags(monkeypatch) -> None:
    """One row in ten has an amount: noise hides it in every octave, and it seemed a flag."""

    def worst() -> np.ndarray:
        found = []
        for seed in range(8):
            draw = np.random.default_rng(seed)
            flags = draw.random((1_300, 2)) < (0.3, 0.1)
            amounts = flags[:, 1:] * 1e3 * draw.lognormal(0.0, 1.0, (1_300, 1))
            found.append(np.max(np.abs(off_by(np.hstack([flags[:, :1], amounts]), seed))))
        return np.array(found)

    told = worst()
    monkeypatch.setattr(first_look, "longest_columns", lambda *_args, **_: (np.zeros(2),) * 2)
    untold = worst()  # a planted fault
    print("off by:", np.round(told, 3), "without:", np.round(untold, 3))
    assert np.quantile(told, 0.8) < 0.4
    assert np.quantile(untold, 0.5) > 2.0


def test_shares_are_no_rare_values_beside_amounts_where_errors_are_relative() -> None:
    """Most columns are amounts that are mostly 0, beside which all values of a share are tiny."""
    for seed in range(4):
        draw = np.random.default_rng(seed)
        amounts = 1e5 * (draw.random((3_000, 5)) < 0.2) * draw.lognormal(0.0, 1.0, (3_000, 5))
        shares = draw.beta(5.0, 2.0, (3_000, 2))
        off = off_by(np.hstack([amounts, shares]), seed)
        assert np.max(np.abs(off[5:])) < 0.2  # 1.5 and more, if they are taken for amounts


def test_rare_values_of_several_sizes_have_their_own_where_errors_are_relative() -> None:
    for seed in range(4):
        draw = np.random.default_rng(seed)
        size = np.array([6e4, 2.0] + 6 * [1.0])
        rare = (draw.random((2_000, 2)) < (0.2, 0.15)) * draw.lognormal(0.0, 1.0, (2_000, 2))
        rows = np.hstack([rare, draw.standard_normal((2_000, 6))]) * size
        made = prolate.mean(rows, budget=Budget(rho=0.05), error_norm="relative", seed=seed)
        off = np.abs(made.estimate - rows.mean(axis=0)) / rows.std(axis=0)
        assert np.max(off) < 1.0  # thousands in the second column, if it is as the first


def test_variances_beside_an_amount_that_few_rows_have(monkeypatch) -> None:
    """The look at how long rows are for a mean is cheap there, and noise hides them from it."""
    squares = import_module("prolate.estimators.clipping.squares")

    def errors() -> np.ndarray:
        found = []
        for seed in range(15):
            draw = np.random.default_rng(seed)
            rows = draw.standard_normal((5_000, 6))
            rows[:, 5] = 100.0 * (draw.random(5_000) < 0.05) * draw.lognormal(0.0, 1.0, 5_000)
            rows[:, 4] = draw.random(5_000) < 0.2
            budget = Budget(rho=0.08)
            made = prolate.variance(rows, budget=budget, error_norm="relative", seed=seed)
            found.append(np.max(np.abs(made.estimate[:5] / rows[:, :5].var(axis=0) - 1.0)))
        return np.array(found)

    told = errors()
    monkeypatch.setattr(squares, "longest_columns", lambda *_args, **_: (np.zeros(6),) * 2)
    untold = errors()  # a planted fault
    print("off by:", np.round(told, 2), "without:", np.round(untold, 2))
    assert np.quantile(told, 0.8) < 0.5  # at this budget, a run of twenty is off by more than .7
    assert np.quantile(untold, 0.8) > 10.0


def test_rows_that_noise_made_up_are_not_far_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A vote of 1 % of the rows that were not there made a variance of 20 one of 1e9."""
    rows, budget = np.zeros((20_000, 2)), Budget(epsilon=1, delta=1e-6)

    def farthest() -> float:
        return max(
            longest_module._size(
                Curator(open_source(rows), budget, neighbors="replace", seed=seed),
                2e4,
                np.zeros(2),
                0,
                1.0,
                0.011,
            )
            for seed in range(300)
        )

    assert farthest() < 16.0
    monkeypatch.setattr(longest_module, "_USUAL", np.inf)  # a planted fault: as likely anywhere
    assert farthest() > 1000.0
