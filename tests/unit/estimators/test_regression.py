"""Our own linear regression: arithmetic on exact moments, lines of simulated rows, hard data."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.columns import SomeColumns
from prolate.estimators.lengths.norms import MeasuredNorms
from prolate.estimators.regression import fit as own_fit
from prolate.estimators.regression import line as lines
from prolate.estimators.regression import regression
from prolate.estimators.regression.average import average
from prolate.estimators.regression.correction import weights
from prolate.estimators.regression.line import Moments, fit_line, read_moments
from prolate.estimators.regression.linear_fit import ClippedLine, LinearFit
from prolate.estimators.regression.origin import through_origin
from prolate.estimators.regression.search import _sample_size
from prolate.estimators.regression.slopes import (
    Slopes,
    true_slopes,
    weighted_slopes,
)
from prolate.estimators.regression.standard import Standard
from prolate.queries import Count, Gram
from prolate.sources import open_source

NEIGHBORS = ("replace", "add-remove")
SLOPES = np.array([2.0, -0.5, 30.0])
CENTER, SCALE = np.array([170.0, -70.0, 0.0]), np.array([10.0, 15.0, 0.3])


def simulated(n: int, correlation: float = 0.0, intercept: float = 5.0, seed: int = 0):
    """Return rows of three features and the target, and what least squares finds."""
    rng = np.random.default_rng(seed)
    shape = np.full((3, 3), correlation) + (1.0 - correlation) * np.eye(3)
    x = rng.normal(size=(n, 3)) @ np.linalg.cholesky(shape).T * SCALE + CENTER
    y = x @ SLOPES + intercept + rng.normal(scale=5.0, size=n)
    return np.column_stack([x, y])


def fit(rows: np.ndarray, *, mu: float = 1.0, neighbors: str = "replace", seed: int = 1, **options):
    curator = Curator(open_source(rows), Budget(mu=mu), neighbors=neighbors, seed=seed)
    return regression(curator, **options)


def least_squares(rows: np.ndarray, *, intercept: bool = True) -> np.ndarray:
    design = np.column_stack([rows[:, :-1], np.ones(len(rows))])
    design = design if intercept else design[:, :-1]
    return np.linalg.lstsq(design, rows[:, -1])[0]


# Lines of simulated rows.


@pytest.mark.parametrize("correlation", [0.0, 0.6, 0.9])
@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_a_large_budget_finds_the_slopes_of_least_squares(neighbors, correlation) -> None:
    rows = simulated(20_000, correlation)
    found = fit(rows, mu=300.0, neighbors=neighbors)
    expected = least_squares(rows)
    assert np.abs((found.coef - expected[:3]) * SCALE).max() < 0.2  # of a target of about 25
    middle = found.coef @ rows[:, :-1].mean(axis=0) + found.intercept
    assert middle == pytest.approx(rows[:, -1].mean(), abs=0.2)
    explained = 1.0 - np.mean((rows[:, -1] - found.predict(rows[:, :-1])) ** 2) / rows[:, -1].var()
    best = 1.0 - np.mean((rows[:, -1] - rows[:, :-1] @ expected[:3] - expected[3]) ** 2) / (
        rows[:, -1].var()
    )
    assert best - 0.02 < explained <= best


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_a_usual_budget_is_within_a_few_stated_errors(neighbors) -> None:
    found = fit(simulated(20_000, 0.3), mu=1.0, neighbors=neighbors)
    assert found.covariance is not None
    assert found.noise_std is not None
    error = np.append(found.coef - SLOPES, found.intercept - 5.0)
    std = np.sqrt(np.diag(found.covariance))
    assert np.all(np.abs(error) < 5.0 * std)
    assert np.all(found.noise_std < std)
    assert np.all(std[:3] * SCALE < 5.0)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_a_line_may_be_sent_through_the_origin(neighbors) -> None:
    rows = simulated(20_000, intercept=0.0)
    found = fit(rows, mu=300.0, neighbors=neighbors, fit_intercept=False)
    assert found.intercept == 0.0
    assert found.predict(np.zeros((1, 3)))[0] == 0.0
    residual = rows[:, -1] - rows[:, :-1] @ found.coef
    assert np.sqrt(np.mean(residual**2)) < 1.1 * 5.0


def test_a_penalty_shrinks_predictions() -> None:
    rows = simulated(20_000)
    spreads = [
        float(np.std(fit(rows, mu=300.0, alpha=alpha).predict(rows[:, :-1])))
        for alpha in (0.0, 0.3, 3.0, 1e6)
    ]
    assert spreads[0] == pytest.approx(np.std(rows[:, :-1] @ SLOPES), rel=0.05)
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[2] < 0.4 * spreads[0]
    assert spreads[3] < 1e-3 * spreads[0]


def test_no_penalty_is_no_disaster_where_noise_hides_directions() -> None:
    rows = simulated(20_000)
    rows = np.column_stack([rows[:, :1], rows])  # a column twice: an eigenvalue is 0
    found = fit(rows, mu=3.0, alpha=0.0)
    error = np.sqrt(np.mean((rows[:, -1] - found.predict(rows[:, :-1])) ** 2))
    assert error < rows[:, -1].std()


def test_predictions_of_outliers_are_bounded_by_the_clip() -> None:
    found = fit(simulated(5000), mu=5.0)
    line = found.clipped
    assert line is not None
    far = np.array([[1e9, 1e9, 1e9], [-1e308, 1e308, 1e308], [1e9, -70.0, 0.0], [170.0, 0.0, 1e99]])
    most = line.radius * np.linalg.norm(line.scale * line.slopes)
    assert np.all(np.abs(found.predict(far) - line.value) <= most * (1.0 + 1e-12))
    assert found.predict(np.full((1, 3), np.nan))[0] == pytest.approx(line.value)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_a_hopeless_budget_gives_the_mean_and_says_so(neighbors) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(100.0, 10.0, size=(1000, 40))
    found = fit(rows, mu=0.05, neighbors=neighbors)
    assert np.all(found.coef == 0.0)
    assert found.warnings
    assert "too few for this budget to see where the 39 features are: all" in found.warnings[0]
    one = fit(rows[:60, :2], mu=0.2, neighbors=neighbors).warnings
    unseen = "too few for this budget to see where the feature is: its slope is zero."
    assert any(unseen in said for said in one)
    assert found.noise_std is not None
    # Now and then the target itself is not found.
    again = [fit(rows, mu=0.05, neighbors=neighbors, seed=seed).intercept for seed in range(15)]
    assert np.median(np.abs(np.array(again) - 100.0)) < 3.0
    assert np.all(np.isinf(found.noise_std[:-1]))  # nothing is known of slopes
    assert np.all(found.predict(np.full((3, 39), np.nan)) == found.intercept)
    assert fit(rows, mu=0.05, neighbors=neighbors, fit_intercept=False).intercept == 0.0


def test_a_private_number_of_rows_that_is_surely_above_none_gives_a_line() -> None:
    """Their number is counted with a noise of 41 rows, and four of these are not 320."""
    for seed in range(6):
        assert fit(simulated(320), mu=0.24, neighbors="add-remove", seed=seed).coef.any()


def test_features_that_are_a_single_value_give_the_mean() -> None:
    rows = simulated(3000)
    rows[:, :-1] = CENTER
    found = fit(rows, mu=5.0)
    assert found.predict(CENTER[np.newaxis])[0] == pytest.approx(rows[:, -1].mean(), abs=3.0)


def test_a_feature_of_a_single_value_does_not_disturb_the_others() -> None:
    rows = simulated(20_000)
    wider = np.column_stack([np.full(20_000, 7.0), rows])
    found = fit(wider, mu=300.0)
    assert np.abs((found.coef[1:] - SLOPES) * SCALE).max() < 0.3
    assert abs(found.coef[0]) < 1e-100


# What `LinearFit` and `ClippedLine` do.


def test_a_clipped_line_is_what_its_numbers_say() -> None:
    line = ClippedLine(
        np.array([1.0, -2.0]), np.array([2.0, 0.5]), 3.0, 3.5, np.array([1.5, -4.0]), 10.0
    )
    again = json.loads(json.dumps(line.to_dict()))
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(0.0, 8.0, size=(200, 2)), [[1.0, -2.0], [np.nan, 4.0]]])
    expected = []
    for row in rows:
        away = (row - again["center"]) / again["scale"]
        away = np.clip(np.where(np.isnan(row), 0.0, away), -again["cut"], again["cut"])
        away *= min(1.0, again["radius"] / max(np.linalg.norm(away), 1e-9))
        expected.append(away * again["scale"] @ again["slopes"] + again["value"])
    assert line.predict(rows) == pytest.approx(np.array(expected), rel=1e-12)
    assert line.predict(np.zeros((0, 2))).shape == (0,)


def test_a_feature_without_a_slope_may_be_missing() -> None:
    found = LinearFit(np.array([2.0, 0.0]), 1.0, 10.0)
    assert found.predict(np.array([[3.0, np.nan], [1.0, np.inf]])).tolist() == [7.0, 3.0]


# Moments and the line from them.


def gram(
    rows: np.ndarray, *, radius: float, cut: float, constant: float, target: float
) -> tuple[Gram, float]:
    """Return the query that a regression asks, and the target's weight."""
    weight = 0.9 * radius / target
    scale = np.append(SCALE, 25.0 / weight)
    center = np.append(CENTER, 380.0)
    reach = np.append(cut * SCALE, np.inf)
    query = Gram(
        center,
        scale,
        radius,
        constant=constant,
        target=weight * target,
        lower=center - reach,
        upper=center + reach,
    )
    return query, weight


@pytest.mark.parametrize("constant", [0.0, 0.8])
def test_moments_are_those_of_clipped_rows(constant) -> None:
    rows = simulated(2000, 0.4)
    rows[:20] = np.random.default_rng(1).normal(0.0, 1e4, size=(20, 4))
    rows[20, 1], rows[21, 3], rows[22, 0] = np.nan, np.inf, -1e300
    query, weight = gram(rows, radius=1.7, cut=2.5, constant=constant, target=2.0)
    moments = read_moments(query, query(rows).astype(np.float64), 1e-3, 2000.0, weight, 1e9)

    with np.errstate(over="ignore"):
        z = np.clip((rows[:, :3] - CENTER) / SCALE, -2.5, 2.5)
    z[~np.isfinite(rows[:, :3])] = 0.0
    z *= np.minimum(1.0, 1.7 / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-9))
    y = np.where(np.isfinite(rows[:, 3]), np.clip((rows[:, 3] - 380.0) / 25.0, -2.0, 2.0), 0.0)
    about = np.column_stack([z, y])
    mean = about.mean(axis=0) if constant else np.zeros(4)
    second = about.T @ about / 2000.0 - np.outer(mean, mean)
    assert moments.mean == pytest.approx(mean[:3], abs=1e-3)
    assert moments.target_mean == pytest.approx(mean[3], abs=1e-3)
    assert moments.features == pytest.approx(second[:3, :3], abs=1e-3)
    assert moments.both == pytest.approx(second[:3, 3], abs=1e-3)
    assert moments.target == pytest.approx(second[3, 3], abs=1e-3)


def test_the_stated_noise_of_moments_is_theirs() -> None:
    """Standard deviations over 4000 draws, each wrong by 7 of its own once in 4e11.

    The noise of means is left aside in that of products, so they must be small: 0.03 for that.
    """
    rows = simulated(2000)
    query, weight = gram(rows, radius=1.7, cut=2.5, constant=0.8, target=2.0)
    values = query(rows).astype(np.float64)
    rng = np.random.default_rng(0)
    std = 1e-3 * query.noise(1.0)[0] ** -1.0 * 2000.0
    draws = [
        read_moments(query, values + rng.normal(0.0, std, values.size), std, 2000.0, weight, 1e9)
        for _ in range(4000)
    ]
    one = draws[0]
    pairs = [
        (np.array([draw.features[0, 1] for draw in draws]), one.noise),
        (np.array([draw.both[2] for draw in draws]), one.noise_both),
        (np.array([draw.target for draw in draws]), one.noise_target),
        (np.array([draw.target_mean for draw in draws]), one.noise_target_mean),
    ]
    for seen, stated in pairs:
        assert seen.std() == pytest.approx(stated, rel=7.0 / np.sqrt(8000.0) + 0.03)
    shrunk = np.array([draw.mean[1] for draw in draws])  # James and Stein
    assert 0.2 * one.noise_mean < shrunk.std() < 1.1 * one.noise_mean
    diagonal = np.array([draw.features[1, 1] for draw in draws])
    assert diagonal.std() == pytest.approx(np.sqrt(2.0) * one.noise, rel=0.1)


def moments_of(
    features: np.ndarray, both: np.ndarray, *, noise: float, target: float = 1.0
) -> Moments:
    radius = float(np.sqrt(max(np.trace(features), 0.0)))
    return Moments(
        features, both, target, np.zeros(both.size), 0.0, radius, noise, noise, noise, noise, noise
    )


def test_a_line_without_noise_is_least_squares() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(5, 5))
    features, slopes = root @ root.T, rng.normal(size=5)
    line = fit_line(moments_of(features, features @ slopes, noise=1e-12, target=100.0))
    assert line.slopes == pytest.approx(slopes, abs=1e-6)
    assert line.gain == pytest.approx(slopes @ features @ slopes, rel=1e-6)
    ridged = fit_line(moments_of(features, features @ slopes, noise=1e-12), ridge=0.7)
    expected = np.linalg.solve(features + 0.7 * np.eye(5), features @ slopes)
    assert ridged.slopes == pytest.approx(expected, rel=1e-6)


def test_a_line_shrinks_to_nothing_where_noise_is_large() -> None:
    features, both = np.diag([1.0, 0.5, 0.2]), np.array([0.5, 0.3, 0.1])
    sizes = [
        float(np.linalg.norm(fit_line(moments_of(features, both, noise=noise)).slopes))
        for noise in (1e-6, 0.1, 1.0, 10.0, 1e4)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 1e-3 * sizes[0]


@pytest.mark.parametrize("features", [np.zeros((3, 3)), -np.eye(3), np.diag([1e-200, 1.0, -1.0])])
@pytest.mark.parametrize("ridge", [None, 0.0, 2.0])
@pytest.mark.parametrize("noise", [1e-3, 1e3])
def test_a_matrix_that_noise_made_negative_gives_a_line(features, ridge, noise) -> None:
    line = fit_line(moments_of(features, np.ones(3), noise=noise, target=-1.0), ridge=ridge)
    assert np.all(np.isfinite(line.slopes))
    assert np.isfinite(line.gain)
    assert np.isfinite(line.doubt)


@pytest.mark.long
@pytest.mark.parametrize("ridge", [None, 0.05])
def test_the_stated_gain_is_unbiased(ridge) -> None:
    """Over noise; 6.5 standard errors are exceeded once in 1e10.

    Without Stein's formula, the gain is far too large.
    """
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    features = axes @ np.diag([1.0, 0.6, 0.3, 0.1]) @ axes.T
    both, noise = features @ np.array([0.5, -0.4, 0.3, 0.6]), 0.05
    wrong, naive = [], []
    for _ in range(6000):
        draw = rng.normal(0.0, noise, size=(4, 4)) / np.sqrt(2.0)
        seen = features + draw + draw.T
        along = both + rng.normal(0.0, noise, size=4)
        line = fit_line(moments_of(seen, along, noise=noise), ridge=ridge)
        theta = line.slopes
        true = 2.0 * theta @ both - theta @ features @ theta
        wrong.append(line.gain - true)
        naive.append(2.0 * theta @ along - theta @ seen @ theta - true)
    error = np.std(wrong) / np.sqrt(len(wrong))
    assert abs(np.mean(wrong)) < 6.5 * error
    assert np.mean(naive) > 5.0 * (6.5 * error + 0.002)


# Slopes of unclipped rows.


def clipped_normal(k: int, correlation: float, radius: float, cut: float, slopes: np.ndarray):
    """Return exact moments of clipped normal rows, their norms, and the target's slopes."""
    rng = np.random.default_rng(0)
    shape = np.full((k, k), correlation) + (1.0 - correlation) * np.eye(k)
    z = rng.normal(size=(200_000, k)) @ np.linalg.cholesky(shape).T
    z = np.vstack([z, -z])
    rest = rng.normal(scale=np.sqrt(1.0 - slopes @ shape @ slopes), size=200_000)
    y = np.clip(z @ slopes + np.append(rest, -rest), -cut, cut)
    length = np.linalg.norm(z, axis=1)
    clipped = z * np.minimum(1.0, radius / length)[:, np.newaxis]
    edges = np.sqrt(k) * np.array([0.2, 0.4, 0.6, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.7, 2.2, 3.0, 9.0])
    counts = np.histogram(length, np.concatenate([[0.0], edges, [np.inf]]))[0].astype(np.float64)
    moments = Moments(
        features=clipped.T @ clipped / len(z),
        both=clipped.T @ y / len(z),
        target=float(np.mean(y * y)),
        mean=np.zeros(k),
        target_mean=0.0,
        radius=radius,
        **dict.fromkeys(
            ("noise", "noise_both", "noise_target", "noise_mean", "noise_target_mean"), 1e-9
        ),
    )
    return moments, MeasuredNorms(edges, counts, 1e-3, float(np.sqrt(k)))


@pytest.mark.parametrize(("k", "correlation"), [(1, 0.0), (3, 0.0), (3, 0.5), (8, 0.3)])
@pytest.mark.parametrize("part", [0.7, 1.0, 1.5])
def test_slopes_of_normal_rows_are_corrected_for_clipping(k, correlation, part) -> None:
    rng = np.random.default_rng(k)
    shape = np.full((k, k), correlation) + (1.0 - correlation) * np.eye(k)
    slopes = rng.normal(size=k)
    slopes *= np.sqrt(0.6 / (slopes @ shape @ slopes))
    radius = part * np.sqrt(k)
    moments, norms = clipped_normal(k, correlation, radius, 2.5, slopes)
    found = true_slopes(moments, rows=400_000.0, radius=radius, cut=2.5, norms=norms)
    wrong = float(np.linalg.norm(found.value[:k] - slopes) / np.linalg.norm(slopes))
    plain = np.linalg.solve(moments.features, moments.both)
    assert wrong < 0.05
    assert found.value[k] == pytest.approx(0.0, abs=1e-6)
    if part < 1.0:
        assert np.linalg.norm(plain - slopes) > 2.0 * wrong * np.linalg.norm(slopes)
    assert np.allclose(found.noise, found.noise.T)
    assert np.linalg.eigvalsh(found.noise).min() >= -1e-12
    assert np.linalg.eigvalsh(found.sampling).min() > 0.0
    # What least squares states, about.
    stated = 0.4 / 400_000 * np.linalg.inv(shape)
    ratio = np.diag(found.sampling)[:k] / np.diag(stated)
    assert np.all((ratio > 0.8) & (ratio < 4.0))


def test_a_feature_is_unknown_if_it_was_not_seen_and_noise_hides_it() -> None:
    standard = Standard(
        np.zeros(5), np.array([1.0, 1.0, 1.0, 1e140, 1.0]), np.arange(4) < 2, 0.3, True
    )
    features = np.diag([0.8, 1e-3, 0.8, 0.0])
    features[2, 2] = 1e-3
    nothing = np.zeros(4)
    moments = Moments(features, nothing, 1.0, nothing, 0.0, 2.0, 0.01, 0.01, 0.01, 0.01, 0.01)
    assert standard.unknown(moments).tolist() == [False, False, True, True]
    features[2, 2] = 0.8
    assert standard.unknown(moments).tolist() == [False, False, False, True]


def test_rows_shortened_as_a_whole_keep_their_line() -> None:
    """However the features lie: a flag, a skewed one, and their product."""
    rng = np.random.default_rng(5)
    x = np.column_stack([rng.random(4000) < 0.3, rng.exponential(size=4000)])
    x = np.column_stack([x, x[:, 0] * x[:, 1]])
    slopes, start = np.array([0.3, -0.2, 0.1]), np.array([0.2, -0.1, 0.1])
    y = 0.4 + x @ slopes
    rows = np.column_stack([x, y])
    standard = Standard(
        rows.mean(axis=0), np.ones(4), np.ones(3, dtype=bool), 0.3, fit_intercept=True
    )
    away = rows - standard.center
    lengths = np.linalg.norm(away[:, :3], axis=1)
    radius, cut = 0.8 * float(np.median(lengths)), 4.0
    edges = np.geomspace(0.01, 20.0, 120)
    counts = np.histogram(lengths, np.concatenate([[0.0], edges, [np.inf]]))[0].astype(float)
    norms = MeasuredNorms(edges, counts, 1e-3, 1.0)
    query = standard.shortened(radius, 100.0, cut, start, 0.0)
    whole, square, fourth = weights(norms, radius)
    factor = np.minimum(1.0, radius / lengths)
    assert whole == pytest.approx(np.mean(factor**2), rel=0.02)
    assert square == pytest.approx(np.mean((factor * lengths) ** 2), rel=0.02)
    assert fourth == pytest.approx(np.mean(factor**4 * lengths**2), rel=0.02)
    left = read_moments(
        query, query(rows).astype(float), 1e-9, 4000 * whole, standard.weight(radius, cut), 1e9
    )
    like = Slopes(np.zeros(4), np.eye(4), np.eye(4), np.eye(3), np.zeros(3), 1.0, np.eye(4))
    mean = left.target_mean + float(left.mean @ start)
    found = weighted_slopes(
        replace(left, start=start, target_mean=mean),
        rows=4000.0,
        radius=radius,
        cut=cut,
        norms=norms,
        like=like,
    )
    assert found.value == pytest.approx([*slopes, 0.0], abs=0.01)
    assert np.array_equal(found.features, like.features)
    # With the features clipped alone, they would be another's.
    clipped = away[:, :3] * factor[:, np.newaxis]
    clipped -= clipped.mean(axis=0)
    other = np.linalg.lstsq(clipped, away[:, 3], rcond=None)[0]
    assert np.linalg.norm(other - slopes) > 0.1


def test_the_average_weighs_by_precision() -> None:
    rest = (np.eye(1), np.zeros(1), 1.0, np.zeros((2, 2)))
    one = Slopes(np.array([1.0, 0.0]), np.diag([1.0, 4.0]), np.eye(2), *rest)
    other = Slopes(np.array([4.0, 5.0]), np.diag([2.0, 1.0]), 2.0 * np.eye(2), *rest)
    both = average([one, other])
    assert both.value == pytest.approx([2.0, 4.0])
    # They differ by four times the square of what they state.
    assert both.noise == pytest.approx(4.0 * np.diag([2.0 / 3.0, 0.8]))
    alike = average([one, replace(other, value=one.value + 0.1)])
    assert alike.noise == pytest.approx(np.diag([2.0 / 3.0, 0.8]))
    assert np.array_equal(both.sampling, other.sampling)
    hidden = replace(one, hidden_covariance=np.diag([0.5, 7.0]))  # is not less for being averaged
    assert average([hidden]).noise == pytest.approx(np.diag([1.5, 11.0]))
    more = replace(hidden, hidden_covariance=2.0 * hidden.hidden_covariance)
    assert average([hidden, more]).noise == pytest.approx(np.diag([1.0, 9.0]))
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(2, 2)))[0]
    turned = [
        replace(each, value=turn @ each.value, noise=turn @ each.noise @ turn.T)
        for each in (one, other)
    ]
    assert average(turned).value == pytest.approx(turn @ [2.0, 4.0])


def test_the_best_line_through_the_origin_comes_from_one_with_an_intercept() -> None:
    rows = simulated(5000, 0.6)
    center, scale = rows.mean(axis=0) + 1.0, rows.std(axis=0) * 1.3
    z = (rows - center) / scale
    features, mean = np.cov(z[:, :-1].T, bias=True), z[:, :-1].mean(axis=0)
    line = least_squares(z)
    nothing = np.zeros((4, 4))
    slopes = Slopes(line, nothing, nothing, features, mean, 1.0, nothing)
    standard, found = through_origin(
        Standard(center, scale, np.ones(2, dtype=bool), 0.3, True), slopes
    )
    coef = (standard.units @ found.value)[:3]
    assert coef == pytest.approx(least_squares(rows, intercept=False), rel=1e-9)
    assert standard.center.tolist() == [0.0] * 4
    assert np.linalg.matrix_rank(found.noise) <= 1  # what h may be wrong by


def test_some_columns_are_measured_for_shares_of_the_whole_budget() -> None:
    rows = np.full((50, 4), 1.0)
    rows[:7, 2] = np.nan
    curator = Curator(open_source(rows), Budget(mu=1e4), seed=0)
    some = SomeColumns(curator, np.array([2, 0]))
    assert (some.dimension, some.neighbors, some.mu_of(0.25)) == (2, "replace", 5e3)
    query = Gram(np.zeros(2), np.ones(2), 2.0)
    found = query.matrix(some.measure(query, share=0.5, label="test").values)
    assert found == pytest.approx(np.array([[43.0, 43.0], [43.0, 50.0]]), abs=0.5)
    some.measure(Count(2), share=0.5, label="test")
    assert some.remaining == curator.remaining == 0.0


# No row makes an error, nor a number that is none.


def _each(value: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    return lambda rows, _: np.full(rows.shape, value)


def _some(value: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    return lambda rows, rng: np.where(rng.random(rows.shape) < 0.3, value, rows)


def _columns(features: float, target: float) -> Callable[..., np.ndarray]:
    """Multiply features and target; or replace them, by NaN."""

    def change(rows: np.ndarray, _: np.random.Generator) -> np.ndarray:
        return rows * np.append(np.full(rows.shape[1] - 1, features), target)

    return change


DATA: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "normal": lambda rows, _: rows,
    "zeros": _each(0.0),
    "a value": _each(3.0),
    "largest": lambda rows, _: np.copysign(1.7e308, rows),
    "nothing but NaN": _each(np.nan),
    "nothing but inf": _each(np.inf),
    "some NaN": _some(np.nan),
    "some inf": _some(-np.inf),
    "some extreme": _some(1e300),
    "features NaN": _columns(np.nan, 1.0),
    "target NaN": _columns(1.0, np.nan),
    "features zero": _columns(0.0, 1.0),
    "target zero": _columns(1.0, 0.0),
    "huge": _columns(1e200, 1e200),
    "tiny": _columns(1e-200, 1e-200),
    "denormal": _columns(1e-315, 1e-315),
    "tiny features, huge target": _columns(1e-200, 1e200),
    "huge features, tiny target": _columns(1e200, 1e-200),
    "far away": lambda rows, _: rows * 1e150 + 1e250,
    "offset": lambda rows, rng: rows * 1e-3 + 1e6 * rng.normal(size=rows.shape[1]),
    "any units": lambda rows, rng: rows * 10.0 ** rng.uniform(-250, 250, size=rows.shape[1]),
    "one feature NaN": lambda rows, _: np.where(np.arange(rows.shape[1]) == 0, np.nan, rows),
    "a feature many times": lambda rows, _: np.column_stack(
        [np.repeat(rows[:, :1], rows.shape[1] - 1, axis=1), rows[:, -1]]
    ),
    "the target is a feature": lambda rows, _: np.column_stack([rows[:, :-1], rows[:, 0]]),
    "integers": lambda rows, _: np.round(3.0 * rows),
    "zeros and ones": lambda rows, _: (rows > 1.0).astype(np.float64),
    "rare ones": lambda rows, _: (rows > 3.0).astype(np.float64),
    "next to nothing": lambda rows, _: np.where(rows > 1.0, rows, 1e-12 * rows),
    "over decades": lambda rows, rng: np.exp(40.0 * rng.normal(size=rows.shape)),
    "heavy tails": lambda rows, rng: rng.standard_cauchy(size=rows.shape),
}


@given(
    kind=st.sampled_from(list(DATA)),
    n=st.one_of(st.integers(0, 20), st.integers(1, 3000), st.just(3000)),
    k=st.integers(1, 30),
    exponent=st.floats(-2.0, 1.0),
    neighbors=st.sampled_from(NEIGHBORS),
    intercept=st.booleans(),
    alpha=st.sampled_from([None, 0.0, 0.1, 1e6]),
    seed=st.integers(0, 1 << 32),
)
@settings(max_examples=120)
# A constant feature; units too far apart for their squares; a radius beyond all rows; two radii.
@example("a value", 1000, 1, 1.0, "replace", True, None, 0)
@example("tiny features, huge target", 1000, 5, 1.0, "add-remove", True, 0.0, 5)
@example("tiny features, huge target", 3000, 27, -0.0706390062996678, "replace", False, None, 8909)
@example("any units", 3000, 4, 0.0, "replace", False, None, 4)
@example("any units", 3000, 13, 1.0, "replace", True, None, 1)
@example("normal", 3000, 2, 0.5, "replace", True, None, 8)
def test_no_rows_make_an_error(kind, n, k, exponent, neighbors, intercept, alpha, seed) -> None:
    n = max(n, 1) if neighbors == "replace" else n
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, k))
    with np.errstate(all="ignore"):
        rows = DATA[kind](np.column_stack([x, x @ rng.normal(size=k) + rng.normal(size=n)]), rng)
    budget = Budget(epsilon=10.0**exponent, delta=1e-6)
    curator = Curator(open_source(rows), budget, neighbors=neighbors, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = regression(curator, fit_intercept=intercept, alpha=alpha)
    far = [np.zeros(k), np.full(k, 1e9), np.full(k, -1e308), np.full(k, np.nan), np.full(k, np.inf)]
    numbers = [found.coef, found.intercept, found.rows, found.predict(np.array(far))]
    assert all(np.all(np.isfinite(number)) for number in numbers)
    assert found.coef.shape == (k,)
    # An infinite variance says that nothing is known, or that no double can tell.
    assert found.noise_std is not None
    assert found.noise_std.shape == (k + 1,)
    assert np.all(found.noise_std >= 0.0)
    if found.covariance is not None:
        assert np.all(np.diag(found.covariance) >= 0.0)
        assert np.all(np.isfinite(found.covariance[~np.eye(k + 1, dtype=bool)]))
    json.dumps(found.details, allow_nan=False)
    assert sum(Fraction(entry.share) for entry in curator.receipt) <= 1


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_rounding_never_asks_for_more_than_the_budget(neighbors) -> None:
    """Two radii share what is left; about one fit in thirty asked for an ulp too much."""
    rows = simulated(3000)
    two = 0
    for seed in range(50):
        curator = Curator(open_source(rows), Budget(mu=3), neighbors=neighbors, seed=seed)
        two += len(regression(curator).details["other_radii"]) > 0
        assert sum(Fraction(entry.share) for entry in curator.receipt) <= 1
        assert curator.remaining < 1e-9
    assert two > 15


def test_a_sample_is_held_in_memory_only_if_it_is_small() -> None:
    def wanted(columns: int, epsilon: float) -> float:
        source = open_source(np.zeros((2, columns)))
        return _sample_size(Curator(source, Budget(epsilon=epsilon, delta=1e-6)))

    assert wanted(21, 1.0) == 200_000
    assert 200_000 < wanted(51, 1.0) <= (1 << 24) / 51
    assert wanted(200, 1.0) == wanted(50, 0.1) == np.inf  # then all rows are searched


@pytest.mark.long
def test_slopes_through_the_origin_of_features_that_are_far_from_it() -> None:
    """Rows drawn to 0 would say that slopes are steeper than they are."""
    rng = np.random.default_rng(0)
    for center, spread in ((170.0, 10.0), (3.0, 1.0)):
        x = rng.normal(center, spread, (20_000, 1))
        rows = np.column_stack([x, 2.0 * x[:, 0] + rng.normal(size=len(x))])
        held = []
        for seed in range(12):
            budget = Budget(epsilon=1, delta=1e-6)
            curator = Curator(open_source(rows), budget, seed=seed)
            line = regression(curator, fit_intercept=False)
            assert line.intercept == 0.0
            error = np.sqrt(line.covariance[0, 0])
            assert error < 0.05
            held.append(abs(line.coef[0] - 2.0) < 2.5 * error)
        assert sum(held) >= 9


@pytest.mark.parametrize("level", [1e200, np.inf, np.nan, 0.0])
def test_predictions_are_not_moved_by_what_is_no_number(level: float) -> None:
    """The square of 1e200 would be an error, after the charge."""
    line = ClippedLine(np.zeros(2), np.ones(2), 3.0, 3.0, np.zeros(2), 5.0)
    features, noise = np.eye(2), 1e-4 * np.eye(3)
    moments = Moments(features, np.zeros(2), 1.0, np.zeros(2), 0.0, 3.0, *[0.01] * 5)

    def moved(level: float) -> float:
        value = np.array([0.0, 0.0, level])
        slopes = Slopes(value, noise, noise, features, np.zeros(2), 1.0, noise)
        return own_fit._through_mean(line, moments, slopes, 2.0, np.zeros(2)).value

    assert moved(level) == 5.0
    assert moved(1.0) == pytest.approx(7.0, abs=0.01)


@pytest.mark.parametrize("value", [0.0, 7.0])
def test_a_constant_feature_leaves_the_others_as_they_are(value, monkeypatch) -> None:
    """The noise in its place passed for a feature that the others may be turned to."""

    def stated() -> float:
        noise = []
        for seed in range(8):
            rng = np.random.default_rng(seed)
            x = rng.standard_normal(20_000)
            rows = np.column_stack(
                [x, np.full(x.size, value), 3.0 * x + rng.standard_normal(x.size)]
            )
            curator = Curator(open_source(rows), Budget(epsilon=1.0, delta=1e-6), seed=seed)
            line = regression(curator)
            assert abs(line.coef[0] - 3.0) < 5.0 * np.sqrt(line.covariance[0, 0])
            assert line.coef[1] == 0.0
            assert line.noise_std[1] == np.inf
            noise.append(line.noise_std[0])
        return float(np.mean(noise))

    right = stated()
    monkeypatch.setattr(lines, "LARGEST", np.inf)  # a planted fault
    wrong = stated()
    print(right, wrong)
    assert right < 0.04
    assert wrong > 2.0 * right
