"""How near the private mean comes to the sample's own, against the oracle of METHOD 5.

The oracle knows centers and scales, spends everything on the noise, and clips one row in n.
Each test takes a median of several runs and leaves a margin of many standard deviations: the
ratio of a run has a spread of about 8 % for d = 100, so a median of 9 runs passes a limit
3 spreads away with probability below (9 choose 5) * 0.0014**5 < 1e-11.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.estimators.clipping import clipped_mean, first_look, together
from prolate.estimators.clipping.balance import Balance
from prolate.estimators.clipping.loss import Loss
from prolate.estimators.lengths import curves, expected
from prolate.estimators.search import likely_zoom, locate, place, zoom
from prolate.estimators.shares import Shares
from prolate.theory import optimal_scale


def zipf(d: int, skew: float) -> np.ndarray:
    """Standard deviations of the paper's settings: variance (d / (d - j))**skew."""
    return (d / np.arange(d, 0, -1)) ** (skew / 2)


def oracle_error(sigma: np.ndarray, n: int, rho: float) -> float:
    """Root mean square noise of the oracle."""
    scale = optimal_scale(sigma, 2)
    rng = np.random.default_rng(0)
    norms = np.linalg.norm(rng.normal(size=(40000, sigma.size)) * (sigma / scale), axis=1)
    radius = np.quantile(norms, 1 - 1 / n)
    return float(radius * np.sqrt(2 / rho * np.sum(scale**2)) / n)


def ratios(sigma, center, n, rho, runs, **options) -> np.ndarray:
    """Errors of `runs` private means over the oracle's."""
    found = []
    for run in range(runs):
        rows = np.random.default_rng(run).normal(center, sigma, size=(n, sigma.size))
        release = prolate.mean(rows, budget=Budget(rho=rho), seed=run, **options)
        found.append(np.linalg.norm(release.estimate - rows.mean(axis=0)))
    return np.array(found) / oracle_error(sigma, n, rho)


CENTER = np.random.default_rng(9).normal(20, 20, size=100)


def test_the_mean_without_bounds_is_nearly_the_oracles():
    found = ratios(zipf(100, 1.5), CENTER, 20000, 0.5, 9)
    print("R =", found.round(2))
    assert np.median(found) <= 1.2
    assert found.max() <= 2.5


def test_the_same_test_fails_for_scales_that_are_ignored():
    """A planted fault: PLAN without scaling is far off on skewed columns."""
    found = ratios(zipf(100, 1.5), CENTER, 20000, 0.5, 9, method="plan-noscale")
    assert np.median(found) > 1.2


@pytest.mark.long
@pytest.mark.parametrize(
    ("d", "skew", "n", "rho"),
    [(64, 0, 4000, 1), (64, 2, 10000, 0.125), (512, 0, 4000, 0.125), (1024, 0, 4000, 0.125)],
)
def test_no_column_is_lost_where_rows_are_few(d, skew, n, rho):
    found = ratios(zipf(d, skew), 10.0 * (skew > 0), n, rho, 3)
    print("R =", found.round(2))
    assert found.max() <= 3.0


def crowded_ratios() -> np.ndarray:
    """Twice as many columns as rows, of which counts in each show little."""
    rng = np.random.default_rng(1)
    sigma, center = np.exp(0.5 * rng.normal(size=2000)), rng.normal(size=2000)
    return ratios(sigma, center, 1000, 0.5, 3)


@pytest.mark.long
def test_columns_are_not_looked_for_elsewhere_because_of_noise():
    found = crowded_ratios()
    print("R =", found.round(2))
    assert np.median(found) <= 2.1


@pytest.mark.long
def test_the_same_test_fails_where_noise_alone_sends_columns_back(monkeypatch):
    """A planted fault: what seems to be outside a window is believed at one standard deviation."""
    monkeypatch.setattr(Shares, "coarse", False)  # windows of their own never go back
    monkeypatch.setattr(zoom, "_ACCIDENT", 2000.0)
    assert np.median(crowded_ratios()) > 2.4


def far_ratios() -> np.ndarray:
    """Centers a hundred spreads away, where a count is noisy by a sixth of the rows."""
    return ratios(np.ones(200), 100.0, 600, 0.5, 3)


@pytest.mark.long
def test_centers_far_away_are_found_where_rows_are_few():
    found = far_ratios()
    print("R =", found.round(2))
    assert found.max() <= 3.0


def test_the_same_test_fails_where_no_run_is_told_by_its_likelihood(monkeypatch):
    monkeypatch.setattr(Shares, "coarse", False)  # nor by all of them
    monkeypatch.setattr(locate, "NOISY", np.inf)
    assert np.median(far_ratios()) > 10.0


def unlike_ratios() -> np.ndarray:
    """Centers a thousand of the largest spreads away, of very unequal spreads."""
    return ratios(zipf(200, 2), 1000.0, 1300, 0.25, 4)


@pytest.mark.long
def test_columns_are_found_through_many_windows(monkeypatch):
    found = unlike_ratios()
    print("R =", found.round(2))
    assert np.median(found) <= 1.8
    # A planted fault: windows are narrow whatever the doubt.
    monkeypatch.setattr(place, "narrower", lambda half, wanted: half * 2.0**-4)
    assert np.median(unlike_ratios()) > 1.3 * np.median(found)


def mostly_one_value_ratios() -> np.ndarray:
    """Columns of one value in seven rows of ten, where a count is noisy by an eighth of them."""
    found = []
    for run in range(5):
        rng = np.random.default_rng(run)
        amounts = rng.exponential(1.0, (600, 150))
        rows = (amounts * (rng.random((600, 150)) < 0.3) - 0.3) / 0.7
        release = prolate.mean(rows, budget=Budget(rho=0.5), seed=run)
        found.append(np.linalg.norm(release.estimate - rows.mean(axis=0)))
    return np.array(found) / oracle_error(np.ones(150), 600, 0.5)


@pytest.mark.long
def test_others_beside_one_value_are_not_lost_where_rows_are_few(monkeypatch):
    monkeypatch.setattr(Shares, "coarse", False)  # as of other statistics
    monkeypatch.setattr(together, "with_columns_pooled", lambda found, *_, **__: found)
    found = mostly_one_value_ratios()
    monkeypatch.setattr(likely_zoom, "_APART", 1.0)  # a planted fault: no row is apart from others
    monkeypatch.setattr(likely_zoom, "_MAYBE_APART", 1.0)
    without = mostly_one_value_ratios()
    print("R =", found.round(2), "without:", without.round(2))
    assert np.median(found) < 0.85 * np.median(without)


def test_add_remove_has_half_the_noise_of_replace():
    rows = np.random.default_rng(0).normal(5, zipf(50, 1), size=(20000, 50))
    noise = {
        neighbors: np.median(
            [
                np.linalg.norm(
                    prolate.mean(
                        rows, budget=Budget(rho=0.5), neighbors=neighbors, seed=run
                    ).noise_std
                )
                for run in range(5)
            ]
        )
        for neighbors in ("replace", "add-remove")
    }
    assert 0.4 <= noise["add-remove"] / noise["replace"] <= 0.62


def test_noise_follows_the_shape_that_is_best_for_the_norm():
    """Noise of a column is proportional to scale ** (2 / (p + 2)) (PLAN, Lemma C.2)."""
    sigma = np.array([1.0, 5.0])  # a column that is much larger would be summed by itself
    rows = np.random.default_rng(0).normal(0, sigma, size=(50000, 2))
    for p in (1, 2, 4):
        release = prolate.mean(rows, budget=Budget(rho=0.5), error_norm=p, seed=1)
        slope = np.log(release.noise_std[1] / release.noise_std[0]) / np.log(5)
        assert slope == pytest.approx(2 / (p + 2), abs=0.05)


def test_the_noise_of_a_sum_is_the_elliptical_optimum():
    """Total noise is sum(ranges) / mu, against sqrt(d) |ranges| / mu for the plain one."""
    rows = np.random.default_rng(0).random((1000, 4)) * [1, 10, 100, 1000]
    bounds = ([0] * 4, [1, 10, 100, 1000])
    budget = Budget(mu=2)
    shaped = prolate.sum(rows, bounds=bounds, budget=budget)
    plain = prolate.sum(rows, bounds=bounds, budget=budget, method="gaussian")
    assert np.linalg.norm(shaped.noise_std) == pytest.approx(1111 / 2, rel=1e-5)
    length = np.linalg.norm([1, 10, 100, 1000])
    assert np.linalg.norm(plain.noise_std) == pytest.approx(2 * length / 2, rel=1e-5)


def test_noise_std_and_intervals_are_those_of_the_error():
    """Noise of 400 sums against its stated size; chi-square with 1600 degrees of freedom."""
    rows = np.random.default_rng(0).random((300, 4)) * [1, 10, 100, 1000]
    truth, bounds = rows.sum(axis=0), ([0] * 4, [1, 10, 100, 1000])
    z = np.array(
        [
            (r.estimate - truth) / r.noise_std
            for r in (prolate.sum(rows, bounds=bounds, budget=Budget(mu=1)) for _ in range(400))
        ]
    )
    # Six and a half standard deviations of a chi-square: false alarm below 1e-10.
    assert abs(np.sum(z**2) - z.size) < 6.5 * np.sqrt(2 * z.size)
    assert abs(np.sum((1.25 * z) ** 2) - z.size) > 6.5 * np.sqrt(2 * z.size)


def error(rows: np.ndarray, runs: int = 7, rho: float = 0.5, norm: float = 2, **options) -> float:
    """Median error of `runs` private means against the sample's own."""
    found = []
    for run in range(runs):
        release = prolate.mean(rows, budget=Budget(rho=rho), seed=run, error_norm=norm, **options)
        found.append(np.linalg.norm(release.estimate - rows.mean(axis=0), norm))
    return float(np.median(found))


def test_what_is_public_need_not_be_searched():
    """Few rows, many columns: the search is dear, and public help saves it."""
    sigma = zipf(256, 1)
    rows = np.random.default_rng(0).normal(7.0, sigma, size=(3000, 256))
    alone = error(rows, 15, rho=0.25)
    center = error(rows, 15, rho=0.25, center=np.full(256, 7.0))
    both = error(rows, 15, rho=0.25, center=7.0, scale=sigma)
    print(f"alone {alone:.3f}, center {center:.3f}, center and scale {both:.3f}")
    assert both < 0.97 * alone
    assert center < 1.1 * alone


def test_public_centers_in_units_of_all_sizes(monkeypatch):
    """Intervals around 0 may be a hundred thousand times too wide: no zooming makes them so."""
    rows = np.random.default_rng(3).normal(size=(4000, 20))
    rows *= 10.0 ** np.random.default_rng(4).uniform(0.0, 5.0, 20)

    def worst() -> float:
        center, found = rows.mean(axis=0), []
        for seed in range(8):
            made = prolate.mean(
                rows, budget=Budget(rho=0.25), error_norm="relative", seed=seed, center=center
            )
            found.append(np.max(made.noise_std / rows.std(axis=0)))
        return float(max(found))

    assert worst() < 0.05
    learn = import_module("prolate.estimators.search.learn")
    monkeypatch.setattr(learn, "NARROWEST", 4.0)  # a planted fault: scales from wide intervals
    monkeypatch.setattr(learn, "_AGAIN", 0)
    assert worst() > 0.1


def test_a_fixed_part_of_the_rows_is_clipped():
    rows = np.random.default_rng(0).normal(size=(20000, 8))
    for part in (0.3, 0.02):
        release = prolate.mean(rows, budget=Budget(rho=2), clip=part, seed=1)
        scale = np.sqrt(np.ones(8))
        beyond = np.linalg.norm((rows - rows.mean(axis=0)) / scale, axis=1)
        longer = np.mean(beyond > release.details["radius"])
        assert longer == pytest.approx(part, rel=0.35)


def test_skewed_rows_are_not_clipped_as_symmetric_ones_where_a_sample_is_searched():
    """Of seven seeded runs the median is .8 of PLAN's; it was 1.2."""
    rows = 5.0 + np.random.default_rng(0).exponential(size=(30_000, 100))
    ours = error(rows, rho=0.05)
    plan = error(rows, rho=0.05, method="plan")
    print(f"ours {ours:.4f}, plan {plan:.4f}")
    assert ours < plan


def far_off(kind: str, runs: int = 200) -> int:
    """How many means of one skewed column are off by 1.4 times what the best fixed clip is.

    That has the true mean as its center, and the whole budget.
    """
    n, rho, count = 3000, 0.25, 0
    for run in range(runs):
        rng = np.random.default_rng(run)
        values = rng.exponential(1.0, n) if kind == "exponential" else rng.lognormal(0.0, 0.5, n)
        away = values - values.mean()
        radius = np.quantile(np.abs(away), 1.0 - np.geomspace(1e-3, 0.3, 30))
        bias = [np.mean(np.clip(away, -r, r)) for r in radius]
        best = np.hypot(2.0 * radius / np.sqrt(2.0 * rho) / n, bias).min()
        release = prolate.mean(values.reshape(-1, 1), budget=Budget(rho=rho), seed=run)
        count += abs(release.estimate[0] - values.mean()) > 1.4 * best
    return count


@pytest.mark.long
@pytest.mark.parametrize("kind", ["exponential", "log-normal"])
def test_a_single_skewed_column_is_as_good_as_the_best_fixed_clip(kind):
    """One run in seven is off by so much, and was one in two: 80 of 200 come by with
    probability below 1e-17, at one in five."""
    assert far_off(kind) < 80


def test_the_same_test_fails_for_a_ball_around_the_mean(monkeypatch):
    """A planted fault: no tilt is seen, and none feared."""
    tilt = clipped_mean.counted_tilt
    monkeypatch.setattr(
        clipped_mean,
        "counted_tilt",
        lambda *a, **k: replace(tilt(*a, **k), clear=False, square=0.0),
    )
    monkeypatch.setattr(Balance, "clear", False)
    monkeypatch.setattr(Balance, "bias_square", lambda self, radius: 0.0 * radius)
    assert far_off("exponential") >= 80


def far_off_of_ten(runs: int = 120) -> int:
    """How many means of ten exponential columns are off by 1.2 times what the best clip is."""
    n, d, rho, count = 6000, 10, 0.125, 0
    for run in range(runs):
        rows = np.random.default_rng(run).exponential(1.0, (n, d))
        away = rows - rows.mean(axis=0)
        length = np.linalg.norm(away, axis=1)
        radius = np.quantile(length, 1.0 - np.geomspace(1e-3, 0.5, 20))
        kept = np.minimum(1.0, radius / length[:, np.newaxis])
        bias = np.linalg.norm(kept.T @ away / n, axis=1)
        best = np.hypot(2.0 * radius * np.sqrt(d / (2.0 * rho)) / n, bias).min()
        release = prolate.mean(rows, budget=Budget(rho=rho), seed=run)
        count += np.linalg.norm(release.estimate - rows.mean(axis=0)) > 1.2 * best
    return count


@pytest.mark.long
def test_what_clipping_takes_off_skewed_rows_is_given_back():
    """One run in four is off by so much, and half of them if nothing is; seeds are fixed."""
    assert far_off_of_ten() < 46


@pytest.mark.long
def test_the_same_test_fails_where_it_is_not(monkeypatch):
    """A planted fault: rows are clipped as hard, and nothing is given back."""
    monkeypatch.setattr(Loss, "lost", lambda self, radius: 0.0 * self.row)
    assert far_off_of_ten() >= 46


def test_correlated_columns_are_summed_along_their_axes():
    rng = np.random.default_rng(0)
    common = rng.normal(size=(300_000, 1))
    rows = 10 + zipf(16, 2) * np.sqrt(0.5) * (common + rng.normal(size=(300_000, 16)))
    turned = prolate.mean(rows, budget=Budget(rho=1), rotation="auto", seed=1)
    assert turned.details["rotated"]
    plain = error(rows, rho=1)
    assert error(rows, rho=1, rotation="auto") < plain


def test_rare_values_do_not_make_the_radius_along_axes_longer():
    """What was seen of two columns, 1000 in 3 % of the rows, was taken for steps of two axes.

    Errors were nine times those without a rotation; of four runs, they are 1.4 times.
    """
    errors = {None: [], "auto": []}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        wide = rng.normal(size=(60_000, 2)) @ rng.normal(size=(2, 6)) * 10.0
        wide += 50.0 + 0.3 * rng.normal(size=wide.shape)
        rows = np.column_stack([wide, 1000.0 * (rng.random((60_000, 2)) < 0.03)])
        for rotation, found in errors.items():
            made = prolate.mean(rows, budget=Budget(mu=1), rotation=rotation, seed=seed)
            found.append(np.linalg.norm(made.estimate - rows.mean(axis=0)))
    plain, turned = (float(np.linalg.norm(found)) for found in errors.values())
    assert turned < 3.0 * plain


def test_baskets_are_better_than_plan_for_binary_data():
    from prolate.curator import Curator
    from prolate.rivals import plan_binary
    from prolate.sources import open_source

    rng = np.random.default_rng(0)
    rows = (rng.random((4096, 512)) < np.where(np.arange(512) < 51, 0.5, 0.01)).astype(float)
    ours = error(rows, rho=0.125, norm=1)
    theirs = []
    for run in range(5):
        curator = Curator(open_source(rows), Budget(rho=0.125), seed=run)
        theirs.append(np.linalg.norm(plan_binary(curator).value - rows.mean(axis=0), 1))
    print(f"ours {ours:.2f}, PLAN {np.median(theirs):.2f}")
    assert ours < 0.8 * np.median(theirs)


@pytest.mark.parametrize("d", [8, 512])
def test_bounds_help_with_binary_columns_too(d):
    """Rare ones at the edge of the bounds once made the scales of their columns vanish."""
    rng = np.random.default_rng(0)
    rows = (rng.random((4096, d)) < np.where(np.arange(d) < d // 4, 0.5, 0.01)).astype(float)
    runs = 40 if d == 8 else 7
    bounded = error(rows, runs, rho=1, norm=1, bounds=(0, 1))
    alone = error(rows, runs, rho=1, norm=1)
    print(f"bounds {bounded:.4g}, alone {alone:.4g}")
    assert bounded < 1.5 * alone


def bounded_error() -> float:
    """Return the root mean square error of 24 means of ages."""
    off = []
    for seed in range(24):
        rows = np.clip(np.random.default_rng(seed).normal(45, 18, size=(20_000, 1)), 0, 110)
        budget = Budget(epsilon=1, delta=1e-6)
        made = prolate.mean(rows, budget=budget, bounds=(0, 110), seed=seed)
        off.append(made.estimate[0] - rows.mean())
    return float(np.sqrt(np.mean(np.square(off))))


def test_a_single_column_as_wide_as_its_bounds_is_summed_within_these(monkeypatch):
    """Clipped as if it had none, its error is half as large again."""
    assert bounded_error() < 0.027
    monkeypatch.setattr(import_module("prolate.estimators.mean"), "fill_bounds", lambda *_: False)
    assert bounded_error() > 0.03


def test_columns_of_zeros_do_not_spoil_the_others():
    """Of the demo's kind: 92 % and 98.5 % zeros beside a normal column."""
    rng = np.random.default_rng(0)
    rows = np.column_stack(
        [
            rng.normal(size=20000),
            rng.random(20000) < 0.08,
            rng.random(20000) < 0.015,
            np.zeros(20000),
        ]
    )
    release = prolate.mean(rows, budget=Budget(epsilon=1, delta=1e-6), seed=3)
    assert np.all(np.abs(release.estimate - rows.mean(axis=0)) < 6 * release.noise_std + 0.01)
    assert np.all(release.noise_std < 0.05)


def far_off_flags(runs: int = 30) -> int:
    """How many means of balanced flags, rows that are all equally long, are off by 4 deviations."""
    n, d, rho, count = 60_000, 3, 2.0, 0
    for run in range(runs):
        rows = np.random.default_rng(run).choice([-1.0, 1.0], (n, d))
        error = np.linalg.norm(
            prolate.mean(rows, budget=Budget(rho=rho), seed=run).estimate - rows.mean(axis=0)
        )
        count += error > 4.0 * np.sqrt(d) * 2.0 * np.sqrt(d / (2.0 * rho)) / n
    return count


def test_rows_that_are_equally_long_are_no_tilted_ones():
    """The best clip's noise is so large once in a billion times; half the budget's for searches
    make it once in ten thousand: four of thirty runs come by with probability below 1e-11."""
    assert far_off_flags() < 4


def test_the_same_test_fails_for_tails_that_never_end(monkeypatch):
    """Planted faults: of the curves that a tail may follow, none ends at once; and together."""
    monkeypatch.setattr(import_module("prolate.estimators.tables"), "find_kinds", lambda *_: None)
    monkeypatch.setattr(curves, "_SLOPES", np.geomspace(0.2, 60.0, 28))
    curves.curves.cache_clear()
    try:
        assert far_off_flags() >= 4
    finally:
        curves.curves.cache_clear()


def far_off_pairs_of_flags(runs: int = 40) -> int:
    """How many means of two flags are off by five times what the best clip's noise is."""
    n, rho, count = 20_000, 0.5, 0
    for run in range(runs):
        rows = (np.random.default_rng(run).random((n, 2)) < 0.1).astype(float)
        error = prolate.mean(rows, budget=Budget(rho=rho), seed=run).estimate - rows.mean(axis=0)
        count += np.linalg.norm(error) > 5.0 * 1.74e-4
    return count


def test_rows_that_gather_at_a_few_distances_are_not_clipped_between_these():
    """None of 40 is off by so much, and one in two was: 12 come by with probability below 1e-10,
    at one in fifty."""
    assert far_off_pairs_of_flags() < 12


def test_the_same_test_fails_if_nobody_notices_that_they_do(monkeypatch):
    """A planted fault: neither as the start of a tail, nor as a clump."""
    monkeypatch.setattr(curves, "_GAP", -np.inf)
    no_clumps = lambda norms, *_, **__: np.zeros(norms.counts.size, dtype=bool)  # noqa: E731
    monkeypatch.setattr(expected, "find_clumps", no_clumps)
    monkeypatch.setattr(first_look, "find_clumps", no_clumps)
    tables = import_module("prolate.estimators.tables")
    monkeypatch.setattr(tables, "find_kinds", lambda *_: None)  # which counts some, and mends it
    assert far_off_pairs_of_flags() >= 12
