"""Features that fill their public bounds: their units, and slopes of rare flags."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.lengths.norms import MeasuredNorms
from prolate.estimators.regression import regression
from prolate.estimators.regression.average import average
from prolate.estimators.regression.bounded import around_middles, clip_doubt
from prolate.estimators.regression.line import read_with_constant
from prolate.estimators.regression.slopes import Slopes, weighted_slopes
from prolate.estimators.regression.standard import WEIGHT, Standard
from prolate.sources import open_source

PARTS = np.array([0.5, 0.1, 0.02])  # of the rows that have a flag
MANY = 1e6  # rows times mu


def flags_and_a_number(n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.random((n, 3)) < PARTS, rng.normal(50.0, 15.0, size=n)]).astype(
        np.float64
    )


def standard(center: list[float], scale: list[float]) -> Standard:
    """Return units of features and, last, of a target."""
    k = len(center)
    return Standard(
        np.array([*center, 0.0]), np.array([*scale, 1.0]), np.ones(k, dtype=bool), 0.3, True
    )


def flags(**changes: float) -> tuple[Standard, tuple[np.ndarray, np.ndarray]]:
    """Return units of three flags and a number, and their bounds."""
    center, scale = [*PARTS, 50.0], [*np.sqrt(PARTS * (1.0 - PARTS)), 15.0]
    lower = np.array([0.0, 0.0, 0.0, changes.get("lower", -np.inf), -np.inf])
    upper = np.array([1.0, 1.0, 1.0, changes.get("upper", np.inf), np.inf])
    return standard(center, scale), (lower, upper)


# Units.


def test_rows_are_equally_long_in_flags() -> None:
    there = around_middles(*flags(), MANY)
    assert there.middles is not None
    assert there.middles.which.tolist() == [True, True, True, False]
    assert there.center.tolist() == [0.5, 0.5, 0.5, 50.0, 0.0]
    rows = (flags_and_a_number(1000) - there.center[:-1]) / there.scale[:-1]
    squares = np.sum(rows[:, :3] ** 2, axis=1)
    expected = np.sum(0.5 / np.sqrt(PARTS * (1.0 - PARTS)))
    assert squares == pytest.approx(expected)
    assert there.steady == pytest.approx(expected)
    assert there.farthest == pytest.approx(np.abs(rows[:, :3]).max())


def test_means_and_variances_are_those_in_the_units() -> None:
    there = around_middles(*flags(), MANY)
    rows = (flags_and_a_number(200_000) - there.center[:-1]) / there.scale[:-1]
    assert there.mean == pytest.approx(rows.mean(axis=0), abs=0.02)
    assert there.variance == pytest.approx(rows.var(axis=0), rel=0.05)
    assert there.varies == pytest.approx(
        there.variance.sum() / np.mean(np.sum(rows**2, axis=1)), 0.02
    )


@pytest.mark.parametrize(("lower", "upper"), [(-np.inf, 100.0), (0.0, 120.0), (0.0, 1e6)])
def test_numbers_that_do_not_fill_their_bounds_stay_around_their_means(lower, upper) -> None:
    units, bounds = flags(lower=lower, upper=upper)
    there = around_middles(units, bounds, MANY)
    assert (there.center[3], there.scale[3]) == (50.0, 15.0)
    assert (there.mean[3], there.variance[3]) == (0.0, 1.0)


def test_without_bounds_nothing_changes() -> None:
    units, bounds = flags()
    assert around_middles(units, None, MANY) is units
    infinite = np.full(5, np.inf)
    same = around_middles(units, (-infinite, infinite), MANY)
    assert same.middles is None
    assert np.array_equal(same.scale, units.scale)
    assert around_middles(units, bounds, 1.0).middles is None  # so few rows


def test_rare_flags_are_the_first_to_be_left_where_rows_are_few() -> None:
    units, bounds = flags()
    counts = []
    for enough in (50.0, 150.0, 500.0, 2000.0):
        there = around_middles(units, bounds, enough)
        which = np.zeros(4, dtype=bool) if there.middles is None else there.middles.which
        assert np.all(np.diff(which[:3].astype(int)) <= 0)  # the rarest are last
        counts.append(int(which.sum()))
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (0, 3)


def test_a_flag_is_no_rarer_than_rows_can_tell() -> None:
    units, bounds = flags()
    tiny = replace(units, scale=np.array([1e-15, *units.scale[1:]]))
    assert around_middles(tiny, bounds, 100.0).scale[0] > 0.01


def test_deviations_are_no_larger_than_a_mean_allows() -> None:
    units, bounds = flags()
    wide = replace(units, scale=np.array([0.5, 0.5, 0.5, 15.0, 1.0]))
    there = around_middles(wide, bounds, MANY)
    assert there.variance[:3] == pytest.approx(2.0 * np.sqrt(PARTS * (1.0 - PARTS)))


# The constant, and moments around 0.


def test_the_constant_makes_slopes_least_noisy() -> None:
    there, radius = around_middles(*flags(), MANY), 3.0
    mean = np.abs(there.mean).max()

    def noise(constant: float) -> float:
        return (radius**2 * (1.0 + WEIGHT**2) + constant**2) * np.hypot(1.0, mean / constant)

    best = there.constant(radius)
    assert noise(best) <= min(noise(0.98 * best), noise(1.02 * best))
    assert flags()[0].constant(radius) == 0.45 * radius


def test_slopes_with_a_constant_are_those_of_least_squares() -> None:
    rows = flags_and_a_number(4000)
    units = around_middles(*flags(), MANY)
    y = rows @ [0.1, -0.2, 1.0, 0.002] + 0.3
    radius, cut = 20.0, 50.0
    query = units.shortened(radius, 16.0, cut, np.zeros(4), 0.0)
    values = query(np.column_stack([rows, y])).astype(np.float64)
    weight = units.weight(radius, cut)
    moments = read_with_constant(query, values, 1e-3, 4000.0, weight)
    norms = MeasuredNorms(np.array([1.0, 9.0]), np.array([0.0, 4000.0, 0.0]), 1e-3, 2.0)
    nothing = np.zeros((5, 5))
    like = Slopes(np.zeros(5), nothing, nothing, np.eye(4), np.zeros(4), 1.0, nothing)
    found = weighted_slopes(
        moments,
        rows=4000.0,
        radius=radius,
        cut=cut,
        norms=norms,
        like=like,
        variance=np.append(query.constant**2, units.variance),
        constant=query.constant,
    )
    slopes = found.value[:4] / units.scale[:4]
    assert slopes == pytest.approx([0.1, -0.2, 1.0, 0.002], rel=0.01, abs=1e-3)
    level = found.value[4] + slopes @ (np.mean(rows, axis=0) - units.center[:4])
    assert level == pytest.approx(y.mean(), abs=1e-3)


# Doubts.


def test_rows_that_are_not_clipped_leave_no_doubt() -> None:
    middles = around_middles(*flags(), MANY).middles
    assert middles is not None
    counts = np.array([0.0, 500.0, 500.0, 0.0])
    norms = MeasuredNorms(np.array([1.0, 2.0, 4.0]), counts, 0.0, 2.0)
    each, together = clip_doubt(middles, norms, 8.0)
    assert np.all(each == 0.0)
    assert all(np.all(part == 0.0) for part in together)
    each, together = clip_doubt(middles, norms, 1.5)
    assert each[0] < each[1] < each[2]  # the rarer, the more
    assert (each[3], together[0][3], together[1][0]) == (0.0, 0.0, 0.0)


def test_levels_that_differ_do_not_move_slopes() -> None:
    noise = 1e-4 * np.array([[1.0, 0.9], [0.9, 1.0]])
    nothing = np.zeros((2, 2))

    def slopes(slope: float, level: float, noise: np.ndarray) -> Slopes:
        value = np.array([slope, level])
        return Slopes(value, noise, nothing, np.eye(1), np.zeros(1), 1.0, nothing)

    several = [slopes(1.0, 0.0, noise), slopes(1.0, 0.1, 1e-4 * np.eye(2))]
    assert abs(average(several).value[0] - 1.0) > 0.01
    assert average(several, off=0.1).value[0] == pytest.approx(1.0, abs=0.002)


# Whole fits.


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_the_slope_of_a_rare_flag_is_as_sure_as_those_of_others(neighbors: str) -> None:
    n = 30_000
    rows = flags_and_a_number(n)
    y = rows @ [3.0, 4.0, 5.0, 0.13] + np.random.default_rng(1).normal(0.0, 4.0, n)
    table = np.column_stack([rows, y])
    design = np.column_stack([rows, np.ones(n)])
    true = np.linalg.lstsq(design, y)[0][:4]
    best = np.mean((y - design @ np.linalg.lstsq(design, y)[0]) ** 2)
    _, bounds = flags()
    errors, others = [], []
    for seed in range(3):
        for limits, found in ((bounds, errors), (None, others)):
            curator = Curator(
                open_source(table),
                Budget(mu=0.24),
                neighbors=neighbors,  # type: ignore[arg-type]
                bounds=limits,
                seed=seed,
            )
            line = regression(curator)
            found.append(np.abs(line.coef - true) * rows.std(axis=0) / 4.0)
            if limits is not None:
                assert np.mean((y - line.predict(rows)) ** 2) < 1.01 * best
                assert not line.warnings
    assert np.max(errors) < 0.05  # where 0.006 is the sampling error
    assert np.median(errors, axis=0)[2] < 0.7 * np.median(others, axis=0)[2]


def test_a_line_through_the_origin_uses_the_middles_of_rare_flags() -> None:
    rng = np.random.default_rng(2)
    n = 20_000
    table = np.column_stack([rng.random((n, 2)) < [0.05, 0.03], rng.normal(size=n)])
    slopes = np.array([2.0, 3.0, 1.0])
    rows = np.column_stack([table, table @ slopes + rng.normal(size=n)])
    lower, upper = np.array([0.0, 0.0, -np.inf, -np.inf]), np.array([1.0, 1.0, np.inf, np.inf])
    curator = Curator(open_source(rows), Budget(mu=0.5), bounds=(lower, upper), seed=3)
    line = regression(curator, fit_intercept=False)
    assert line.intercept == 0.0
    assert line.predict(np.zeros((1, 3)))[0] == 0.0
    assert np.abs((line.coef - slopes) * table.std(axis=0)).max() < 0.05


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(-1e140, 1e140), (0.0, 1e-200), (0.0, 5e-324), (0.0, np.inf), (1.0, 1.0), (1e10, 1e10 + 1e-5)],
)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_no_bounds_are_an_error(lower: float, upper: float, fit_intercept: bool) -> None:
    rng = np.random.default_rng(0)
    ends = np.where(rng.random(500) < 0.3, lower, min(upper, 1e140))
    table = np.column_stack([ends, rng.normal(size=500), rng.normal(size=500)])
    bounds = np.array([lower, -np.inf, -np.inf]), np.array([upper, np.inf, np.inf])
    for mu in (1e-3, 0.3, 30.0):
        curator = Curator(open_source(table), Budget(mu=mu), bounds=bounds, seed=1)
        line = regression(curator, fit_intercept=fit_intercept)
        assert np.all(np.isfinite(line.coef))
        assert np.all(np.isfinite(line.predict(table[:, :-1])))


def test_a_slope_beyond_the_cut_of_the_target_is_said_to_be_unsure() -> None:
    """Rows of a flag of 2 % are 30 deviations of the errors away, and the target is cut."""
    rng = np.random.default_rng(1)
    rare, usual = rng.random(50_000) < 0.02, rng.random(50_000) < 0.5
    target = 5.0 + 30.0 * rare + usual + rng.normal(size=50_000)
    budget = prolate.Budget(epsilon=1, delta=1e-6)
    model = prolate.LinearRegression(mu=budget.mu, seed=1)
    release = model.fit(np.column_stack([rare, usual]), target).release_
    low, high = release.interval()[0]
    assert low < 30.0 < high
    assert any("beyond where targets were cut" in warning for warning in release.warnings)


def test_a_boolean_target_is_not_cut() -> None:
    """What is left of its ones was beyond the cut: a slope of .2 was 6 % off, and surely so."""
    held = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        flags = rng.random((40_000, 2)) < [0.05, 0.5]
        target = rng.random(40_000) < 0.1 + flags @ [0.4, 0.2]
        budget = prolate.Budget(epsilon=1, delta=1e-6)
        model = prolate.LinearRegression(mu=budget.mu, seed=seed).fit(flags, target)
        ends = model.release_.interval()[:2]
        held.append((ends[:, 0] <= [0.4, 0.2]) & (ends[:, 1] >= [0.4, 0.2]))
    assert np.mean(held) > 0.8
