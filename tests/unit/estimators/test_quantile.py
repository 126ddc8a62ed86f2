"""Quantiles of few rows, at the upper end as at the lower, and of columns of many zeros."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import prolate

BUDGET = prolate.Budget(epsilon=1, delta=1e-6)


def normal(seed: int, n: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(50.0, 10.0, (n, 1))


def test_upper_quantiles_are_found_as_lower_ones_are() -> None:
    """Of 1,000 rows, three of ten upper deciles were 1e231: noise added up towards the top."""
    for q, truth in ((0.1, 37.2), (0.9, 62.8)):
        found = [
            prolate.quantile(normal(seed, 1000), q, budget=BUDGET, seed=seed).estimate[0]
            for seed in range(20)
        ]
        assert np.max(np.abs(np.array(found) - truth)) < 12.0


@pytest.mark.parametrize("n", [300, 500, 700, 1000])
def test_quantiles_that_are_lost_beyond_all_values_are_said_to_be(n: int) -> None:
    for seed in range(30):
        made = prolate.quantile(normal(seed, n), [0.1, 0.9], budget=BUDGET, seed=seed)
        assert made.warnings or np.all(np.abs(made.estimate - 50.0) < 60.0)


def test_ranks_are_off_by_what_is_said_and_by_less_than_cells_add_up_to() -> None:
    off = []
    for seed in range(60):
        rows = normal(seed, 5000)
        made = prolate.quantile(rows, 0.75, budget=BUDGET, seed=seed)
        off.append(np.count_nonzero(rows < made.estimate[0]) - 0.75 * rows.size)
    said = made.details["rank_noise"]
    assert 0.6 * said < np.std(off) < 1.1 * said
    step = 3.0 * np.sqrt(2.0) / BUDGET.mu  # the noise of one cell in each of nine steps
    assert said < 1.9 * step


def test_a_quantile_among_zeros_is_zero() -> None:
    """It was 2e-313, with an interval of 1e-313 to 3e-313: cells of the search, not data."""
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((5000, 1)) < 0.6, 0.0, rng.lognormal(3.0, 1.0, (5000, 1)))
    made = prolate.quantile(rows, [0.2, 0.4], budget=BUDGET, seed=1)
    assert made.estimate.ravel().tolist() == [0.0, 0.0]
    assert made.interval(0.95).ravel().tolist() == [0.0] * 4


def test_quantiles_of_whole_numbers_are_without_noise_where_no_other_is_near() -> None:
    """They were 2.0000000, give or take 3.2e-06: the width of a cell of the search."""
    rng = np.random.default_rng(0)
    visits = rng.poisson(3.0, (3000, 1))
    held = np.zeros((2, 40))
    for seed in range(40):
        whole, plain = (
            prolate.quantile(rows, 0.53, budget=BUDGET, seed=seed)
            for rows in (visits, visits.astype(float))
        )
        assert np.array_equal(whole.estimate, plain.estimate)
        for k, made in enumerate((whole, plain)):
            low, high = made.interval(0.95)[0]
            held[k, seed] = low <= 3.0 <= high
            assert whole.noise_std[0] in (0.0, plain.noise_std[0])
    assert np.array_equal(held[0], held[1])  # an interval without width holds as often
    assert repr(whole).splitlines()[3].split() == ["x0", "3", "0", "0", "3", "to", "3"]


def test_quantiles_of_what_may_be_no_whole_number_keep_their_noise() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": np.where(rng.random(6000) < 0.9, 2, 7)})
    frame["who"] = np.arange(6000) // 2
    for given, sure in (({}, True), ({"bounds": (0.5, 9)}, False), ({"unit": "who"}, False)):
        made = prolate.quantile(frame, 0.3, columns="x", budget=BUDGET, seed=1, **given)
        assert made.estimate.tolist() == [2.0]
        assert (made.noise_std.tolist() == [0.0]) is sure
    by = {"by": "g", "keys": [1], "bounds": (0, 9)}
    of_group = prolate.quantile(frame.assign(g=1), 0.3, columns="x", budget=BUDGET, seed=1, **by)
    assert of_group[1].noise_std.tolist() == [0.0]


def test_bounds_keep_the_search_within_them() -> None:
    """Of 200 rows, nine of ten upper deciles within (0, 100) were 100."""
    found = [
        prolate.quantile(normal(seed, 200), 0.9, bounds=(0, 100), budget=BUDGET, seed=seed)
        for seed in range(20)
    ]
    assert np.mean([made.estimate[0] == 100.0 for made in found]) < 0.2
    inside = prolate.quantile(normal(0, 50), [0.0, 1.0], bounds=(20, 80), budget=BUDGET, seed=1)
    assert np.all((inside.estimate >= 20.0) & (inside.estimate <= 80.0))


def test_missing_values_do_not_count() -> None:
    rows = normal(0, 20_000)
    rows[:8000] = np.nan
    made = prolate.quantile(rows, [0.1, 0.5, 0.9], budget=BUDGET, seed=1)
    assert np.allclose(made.estimate.ravel(), [37.2, 50.0, 62.8], atol=1.0)


@pytest.mark.parametrize("kind", ["two values", "zeros"])
def test_intervals_beside_a_gap_reach_over_it(kind: str) -> None:
    """They held in 25 and 24 of these 40 runs, as the mean of both sides does not reach."""
    if kind == "zeros":
        column = 30.0 * np.random.default_rng(0).exponential(size=300)
        column[:120] = 0.0
    else:
        column = np.where(np.arange(500) < 260, 1.0, -1.0)
    held = 0
    for seed in range(40):
        made = prolate.quantile(column[:, np.newaxis], 0.5, budget=BUDGET, seed=seed)
        low, high = made.interval(0.95).reshape(2)
        held += low <= np.median(column) <= high
    assert held >= 36


@pytest.mark.parametrize("kind", ["normal", "skewed", "zeros"])
def test_quantiles_of_a_hundred_rows_are_near_and_held(kind: str) -> None:
    """Medians were off by 16 standard deviations, deciles by 1e50: no counts were expected."""
    off, held, lost = [], [], 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = {
            "normal": rng.normal(120.0, 15.0, (100, 1)),
            "skewed": rng.lognormal(10.3, 0.7, (100, 1)),
            "zeros": np.where(rng.random((100, 1)) < 0.5, 0.0, rng.lognormal(5.0, 1.0, (100, 1))),
        }[kind]
        for probabilities in ([0.5], [0.9]):
            made = prolate.quantile(rows, probabilities, budget=BUDGET, seed=seed)
            truth = np.quantile(rows, probabilities[0])
            off.append(float(abs(made.estimate.ravel()[0] - truth) / rows.std()))
            low, high = made.interval(0.95).ravel()
            held.append(low <= truth <= high)
            lost += any("do not use" in warning for warning in made.warnings)
    assert np.median(off[::2]) < 0.3
    assert np.median(off[1::2]) < 1.2
    assert np.mean(held) > 0.85
    assert lost <= 15


def test_upper_and_lower_quantiles_of_few_rows_are_not_beyond_all_values() -> None:
    """One of ten was off by 1e75 standard deviations."""
    probabilities = [0.05, 0.25, 0.5, 0.75, 0.95]
    for seed in range(15):
        made = prolate.quantile(normal(seed, 500), probabilities, budget=BUDGET, seed=seed)
        truth = np.quantile(normal(seed, 500), probabilities)
        assert np.max(np.abs(made.estimate.ravel() - truth)) < 100.0


def test_intervals_beyond_which_no_rows_are_expected_end() -> None:
    """Beyond the upper decile of 100 rows are hardly more than the noise of a rank."""
    widths = []
    for seed in range(10):
        made = prolate.quantile(normal(seed, 100), 0.9, budget=BUDGET, seed=seed)
        widths.append(float(np.diff(made.interval(0.95).ravel())[0]))
    assert np.median(widths) < 1000.0


def test_intervals_hold_where_noise_hides_all_values() -> None:
    """They were around 0, where values are likely, and times are not."""
    for seed in range(5):
        rows = 1.7e9 + 3e7 * np.random.default_rng(seed).random((20, 1))
        made = prolate.quantile(rows, 0.5, budget=BUDGET, seed=seed)
        low, high = made.interval(0.95).ravel()
        assert low <= np.median(rows) <= high


def test_few_rows_of_many_columns_are_said_to_be_lost() -> None:
    """Their places are not looked for, which would take long."""
    made = prolate.quantile(
        np.random.default_rng(0).normal(size=(300, 130)), 0.5, budget=BUDGET, seed=1
    )
    assert "do not use" in made.warnings[0]


def test_quartiles_of_few_rows_are_found_within_wide_bounds() -> None:
    """One in ten was off by 23 standard deviations: noise in far cells was as good as rows."""
    off = []
    for seed in range(15):
        rows = np.random.default_rng(seed).lognormal(10.3, 0.7, (100, 1))
        made = prolate.quantile(rows, [0.25, 0.5, 0.75], bounds=(0, 1e8), budget=BUDGET, seed=seed)
        truth = np.quantile(rows, [0.25, 0.5, 0.75])
        off += (np.abs(made.estimate.ravel() - truth) / rows.std()).tolist()
    assert np.median(off) < 0.6
    assert np.quantile(off, 0.9) < 3.0
