"""The private covariance: what it recovers, what it says of itself, and its parts."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import prolate
from prolate import Budget, InputError, Release, rivals
from prolate.curator import Curator
from prolate.estimators.clipping.squares import Squares
from prolate.estimators.counting import count_rows
from prolate.estimators.covariance import diagonal
from prolate.estimators.covariance import moment as own
from prolate.estimators.covariance.covariance import _hidden
from prolate.estimators.covariance.layer import LongRows
from prolate.estimators.covariance.lengths import Lengths, learn_lengths
from prolate.estimators.covariance.matrix import Matrix
from prolate.estimators.covariance.moment import Moment, combine
from prolate.estimators.covariance.spectrum import Spectrum, shrunk_spectrum
from prolate.estimators.lengths.norms import MeasuredNorms
from prolate.estimators.present import Whole
from prolate.release.views import cells
from prolate.sources import open_source

LARGE = Budget(mu=100.0)
steps = import_module("prolate.estimators.covariance.rough")
NEIGHBORS = ("replace", "add-remove")


def correlated(n: int = 20000, d: int = 4, condition: float = 100.0, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(rng.standard_normal((d, d)))
    spreads = np.sqrt(np.geomspace(1.0, condition, d))
    return rng.standard_normal((n, d)) * spreads @ axes.T + np.arange(d) * 10.0


def mahalanobis(estimate: np.ndarray, true: np.ndarray) -> float:
    """Frobenius norm of the error in coordinates in which the truth is the identity."""
    root = np.linalg.inv(np.linalg.cholesky(true))
    return float(np.linalg.norm(root @ estimate @ root.T - np.eye(len(true))))


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("condition", [1.0, 100.0, 1e6])
def test_recovers_the_covariance_of_the_rows(neighbors, condition) -> None:
    rows = correlated(condition=condition)
    r = prolate.covariance(rows, budget=LARGE, neighbors=neighbors, seed=1)
    assert r.statistic == "covariance"
    assert r.estimate.shape == r.noise_std.shape == r.sampling_std.shape == (4, 4)
    assert mahalanobis(r.estimate, np.cov(rows.T, bias=True)) < 0.01


def test_is_symmetric_and_positive_semidefinite_where_all_is_noise() -> None:
    rng = np.random.default_rng(0)
    for seed in range(5):
        rows = rng.standard_normal((300, 12)) * 10.0 ** np.arange(-6, 6)
        r = prolate.covariance(rows, budget=Budget(mu=0.2), seed=seed)
        spread = np.sqrt(np.maximum(np.diag(r.estimate), 1e-300))
        assert np.array_equal(r.estimate, r.estimate.T)
        assert np.linalg.eigvalsh(r.estimate / np.outer(spread, spread))[0] > -1e-9
        assert r.noise_std.min() > 0.0


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_correlations(neighbors) -> None:
    rows = correlated() * [1.0, 1e-3, 1e3, 1.0]
    r = prolate.covariance(rows, budget=LARGE, correlation=True, neighbors=neighbors, seed=1)
    assert r.statistic == "correlation"
    assert np.array_equal(np.diag(r.estimate), np.ones(4))
    assert np.array_equal(np.diag(r.noise_std), np.zeros(4))
    assert np.abs(r.estimate).max() <= 1.0
    assert r.estimate == pytest.approx(np.corrcoef(rows.T), abs=0.002)


def test_units_of_the_columns_do_not_matter_for_correlations() -> None:
    rows = correlated()
    one, other = (
        prolate.covariance(x, budget=Budget(mu=1.0), correlation=True, seed=1).estimate
        for x in (rows, rows * [2.0**40, 2.0**-30, 1.0, 4.0])
    )
    assert other == pytest.approx(one, abs=5e-3)  # other cells are asked for, so other noise


def test_one_column_is_a_variance() -> None:
    rows = np.random.default_rng(0).normal(5.0, 3.0, size=(20000, 1))
    r = prolate.covariance(rows, budget=Budget(mu=5.0), seed=1)
    assert r.estimate.shape == (1, 1)
    assert r.estimate[0, 0] == pytest.approx(rows.var(), rel=0.01)
    ones = prolate.covariance(rows, budget=Budget(mu=5.0), correlation=True, seed=1)
    assert ones.estimate.tolist() == [[1.0]]


@pytest.mark.parametrize("correlation", [False, True])
def test_constant_columns(correlation) -> None:
    rows = correlated(d=3)
    rows[:, 1] = 7.0
    r = prolate.covariance(rows, budget=LARGE, correlation=correlation, seed=1)
    true = np.cov(rows.T, bias=True)
    if correlation:
        assert r.estimate[0, 2] == pytest.approx(np.corrcoef(rows.T[[0, 2]])[0, 1], abs=0.01)
    else:
        assert r.estimate == pytest.approx(true, abs=0.02 * np.trace(true))
    same = prolate.covariance(np.full((500, 2), 3.0), budget=Budget(mu=1.0), seed=1)
    assert np.all(np.isfinite(same.estimate))
    assert np.abs(same.estimate).max() < 1e-18


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_rows_with_missing_values_are_left_out(neighbors, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    rows = correlated()
    lost = rng.random(rows.shape) < 0.3
    holes = np.where(lost, rng.choice([np.nan, np.inf, -np.inf], rows.shape), rows)
    true = np.cov(rows[~lost.any(axis=1)].T, bias=True)

    def _every(curator: Curator) -> Whole:
        rows = count_rows(curator)
        return Whole(curator, rows, rows, 0.0, np.zeros(curator.dimension, np.bool_))

    def off() -> float:
        r = prolate.covariance(holes, budget=LARGE, neighbors=neighbors, seed=1)
        assert r.n == len(rows) or neighbors == "add-remove"
        return float(np.linalg.norm(r.estimate - true) / np.linalg.norm(true))

    assert off() < 0.05
    # The same test fails if they count as no deviation from the centers.
    module = import_module("prolate.estimators.covariance.covariance")
    monkeypatch.setattr(module, "whole_rows", _every)
    assert off() > 0.12


@pytest.mark.parametrize("rows", [1, 2, 17])
@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("mu", [1e-3, 1.0, 1e3])
def test_any_number_of_rows_and_any_budget(rows, neighbors, mu) -> None:
    x = np.random.default_rng(0).standard_cauchy((rows, 3)) * [1e-300, 1.0, 1e300]
    for correlation in (False, True):
        r = prolate.covariance(
            x, budget=Budget(mu=mu), neighbors=neighbors, correlation=correlation, seed=1
        )
        assert np.all(np.isfinite(r.estimate))
        assert Release.from_json(r.to_json()) == r


def test_bounds_cut_values() -> None:
    rows = np.random.default_rng(0).normal(size=(20000, 2))
    r = prolate.covariance(rows, budget=LARGE, bounds=(-1.0, 1.0), seed=1)
    assert r.estimate == pytest.approx(np.cov(np.clip(rows, -1, 1).T, bias=True), abs=0.01)


def test_says_when_the_rows_are_too_few_for_correlations() -> None:
    rows = np.random.default_rng(0).normal(size=(500, 30))
    r = prolate.covariance(rows, budget=Budget(mu=0.3), seed=1)
    assert any("few for this budget and so many columns" in w for w in r.warnings)
    assert {"variances", "covariance"} < {entry.label for entry in r.receipt}
    assert not prolate.covariance(correlated(), budget=Budget(mu=1.0), seed=1).warnings


def test_spends_the_budget_and_no_more() -> None:
    for n, d in ((500, 30), (20000, 4)):
        r = prolate.covariance(correlated(n, d), budget=Budget(mu=0.5), seed=1)
        assert sum(entry.share for entry in r.receipt) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("correlation", [False, True])
def test_intervals_cover(correlation) -> None:
    """Coverage of 95 % intervals; among 24 runs of 10 numbers 0.88 would be far off."""
    rng = np.random.default_rng(0)
    mix = np.linalg.qr(rng.standard_normal((4, 4)))[0] * np.sqrt([1.0, 3.0, 9.0, 27.0])
    true = mix @ mix.T
    if correlation:
        true = true / np.sqrt(np.outer(np.diag(true), np.diag(true)))
    pairs = np.triu_indices(4, int(correlation))
    inside = []
    for seed in range(24):
        rows = np.random.default_rng(seed).standard_normal((4000, 4)) @ mix.T
        r = prolate.covariance(rows, budget=Budget(mu=0.5), correlation=correlation, seed=seed)
        ends = r.interval(0.95)
        inside.append(np.mean(((ends[..., 0] <= true) & (true <= ends[..., 1]))[pairs]))
    assert 0.88 < np.mean(inside) <= 1.0


def test_beats_the_rivals_that_know_more() -> None:
    """Rivals are told the mean and the largest eigenvalue; ours is told nothing."""
    errors = {"ours": 0.0, "coinpress": 0.0, "gauss": 0.0}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        axes, _ = np.linalg.qr(rng.standard_normal((10, 10)))
        rows = rng.standard_normal((10000, 10)) * np.geomspace(1.0, 10.0, 10) @ axes.T
        true = np.cov(rows.T, bias=True)

        def asked(rows: np.ndarray = rows, seed: int = seed) -> Curator:
            return Curator(open_source(rows), Budget(rho=0.5), seed=seed)

        radius = 10.0 * rivals.coinpress_covariance(asked(), largest=100.0).details["radius"]
        for name, found in (
            ("ours", prolate.covariance(rows, budget=Budget(rho=0.5), seed=seed).estimate),
            ("coinpress", rivals.coinpress_covariance(asked(), largest=100.0).value),
            ("gauss", rivals.analyze_gauss(asked(), radius=radius).value),
        ):
            errors[name] += mahalanobis(found, true)
    assert errors["ours"] < 0.9 * errors["coinpress"]
    assert errors["ours"] < 0.9 * errors["gauss"]


def test_rivals_find_the_covariance_and_refuse_nonsense() -> None:
    rows = np.random.default_rng(0).normal(size=(50000, 3)) * [1.0, 2.0, 3.0]
    true = np.cov(rows.T, bias=True)
    for steps in (1, 2, 4):
        curator = Curator(open_source(rows), Budget(mu=100.0), seed=1)
        found = rivals.coinpress_covariance(curator, largest=9.0, steps=steps)
        assert mahalanobis(found.value, true) < 0.03
        assert curator.remaining < 1e-9
    curator = Curator(open_source(rows), Budget(mu=100.0), seed=1)
    found = rivals.analyze_gauss(curator, radius=20.0)
    assert found.value == pytest.approx(true, abs=0.1)
    for bad in ({"largest": 0.0}, {"largest": np.inf}, {"largest": 1.0, "steps": 0}):
        with pytest.raises(InputError, match="positive"):
            rivals.coinpress_covariance(Curator(open_source(rows), LARGE), **bad)
    with pytest.raises(InputError, match="radius"):
        rivals.analyze_gauss(Curator(open_source(rows), LARGE), radius=-1.0)


# --- the release -------------------------------------------------------------------------------


def test_json_table_frame_and_text() -> None:
    rows = correlated(2000, 3)
    r = prolate.covariance(rows, budget=Budget(mu=1.0), seed=1)
    assert Release.from_json(r.to_json()) == r
    record = r.table()[1]
    assert (record["column"], record["with"]) == ("x1", "x0")
    assert record["estimate"] == r.estimate[0, 1]
    frame = r.to_frame()
    assert list(frame.columns[:2]) == ["column", "with"]
    assert len(frame) == 9
    assert "covariance of 3 columns" in repr(r)
    header, body = cells(r, 0.95)
    assert header == ["covariance", "x0", "x1", "x2"]
    assert "±" in body[0][2]
    assert "one number at a time" in r.interval_covers


def test_large_matrices_are_listed() -> None:
    r = prolate.covariance(correlated(2000, 13), budget=Budget(mu=1.0), seed=1)
    header, body = cells(r, 0.95)
    assert header[:3] == ["column", "with", "covariance"]
    assert len(body) == 169
    assert len(r.plot().texts) == 0


def test_a_release_of_a_matrix_must_be_square() -> None:
    r = prolate.covariance(correlated(2000, 3), budget=Budget(mu=1.0), seed=1)
    fields = r.to_dict()
    for name in ("estimate", "noise_std", "sampling_std", "clipping_std"):
        fields[name] = fields[name][:2]
    with pytest.raises(prolate.ReleaseError, match="square"):
        Release.from_dict(fields)


# --- its parts ---------------------------------------------------------------------------------


def test_clipping_is_undone_along_every_axis() -> None:
    rng = np.random.default_rng(0)
    variances = np.array([1.0, 2.0, 3.0, 10.0, 30.0])
    z = rng.standard_normal((200000, 5)) * np.sqrt(variances)
    for radius in (4.0, 7.0, 12.0):
        clip = learn_lengths(variances).clip(radius)
        kept = np.minimum(1.0, radius**2 / np.sum(z**2, axis=1))
        left = (kept[:, np.newaxis] * z**2).mean(axis=0) / variances
        assert clip.factors == pytest.approx(left, abs=0.02)
        assert clip.kept == pytest.approx(np.sqrt(kept).mean(), abs=0.01)


@pytest.mark.parametrize("tails", [5.0, np.inf])
def test_lengths_are_learned_from_a_histogram(tails) -> None:
    rng = np.random.default_rng(0)
    z = 1.2 * rng.standard_normal((100000, 6))
    if np.isfinite(tails):
        z *= np.sqrt((tails - 2.0) / rng.chisquare(tails, size=(100000, 1)))
    length, edges = np.linalg.norm(z, axis=1), np.sqrt(6.0) * np.geomspace(0.25, 20.0, 30)
    counts = np.bincount(np.searchsorted(edges, length), minlength=31) + rng.normal(0, 30, 31)
    known = learn_lengths(np.ones(6), MeasuredNorms(edges, counts, 30.0, np.sqrt(6.0)), 100000.0)
    for radius in (2.5, 4.0):
        kept = np.minimum(1.0, radius**2 / length**2)
        left = float(kept @ length**2 / np.sum(length**2))
        assert known.clip(radius).factor == pytest.approx(left, abs=0.02)
    assert (known.unlike > 0.5) == np.isfinite(tails)


def test_lengths_that_are_all_noise_say_something_all_the_same() -> None:
    """Of a row or two, noise may pretend that some are far out, and less than none elsewhere."""
    edges = np.sqrt(2.0) * np.array([0.25, 0.5, 1.0, 2.0, 4.0, 12.0, 40.0])
    counts = 1e3 * np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 14.0, -3.0])
    clip = learn_lengths(np.ones(2), MeasuredNorms(edges, counts, 1e3, np.sqrt(2.0)), 1.0).clip(5.0)
    assert 0.0 < clip.factor <= 1.0
    assert np.isfinite([*clip.factors, clip.kept, clip.doubt]).all()


def test_two_moments_are_averaged_by_inverse_variance() -> None:
    rng = np.random.default_rng(0)
    true = np.diag([1.0, 4.0, 9.0, 0.5])
    axes = np.linalg.cholesky(np.linalg.inv(true)), np.diag([1.0, 0.3, 1.0, 0.7])

    def moment(k: int, std: float) -> Moment:
        noise = rng.normal(0.0, std, (4, 4))
        noise = np.triu(noise) + np.triu(noise, 1).T + np.diag(np.diag(noise)) * 0.41421356
        value = axes[k].T @ true @ axes[k] + noise
        return Moment(axes[k], value, np.full((4, 4), std**2), np.zeros(4), 1.0, 1.0, 0.0)

    errors = np.zeros(3)
    predicted = np.zeros(2)
    for _ in range(300):
        first, second = moment(1, 0.02), moment(0, 0.01)
        both = combine(first, second, bias=0.0)
        root = np.linalg.inv(np.linalg.cholesky(true))
        errors += [np.sum((root @ (m.matrix - true) @ root.T) ** 2) for m in (first, second, both)]
        off = both.axes.T @ (both.matrix - true) @ both.axes
        predicted += [np.sum(np.triu(off, 1) ** 2), np.sum(np.triu(both.variance, 1))]
    assert errors[2] < errors[:2].min()
    assert predicted[0] == pytest.approx(predicted[1], rel=0.2)


def test_noise_is_taken_off_eigenvalues() -> None:
    rng = np.random.default_rng(0)
    size, std = 60, 0.03
    noise = rng.normal(0.0, std, (size, size))
    noise = np.triu(noise) + np.triu(noise, 1).T
    variance = np.full((size, size), std**2)
    for true in (np.eye(size), np.diag([3.0] + [0.0] * (size - 1))):
        spectrum = shrunk_spectrum(true + noise, variance)
        assert np.linalg.norm(spectrum.matrix - true) < 0.5 * np.linalg.norm(noise)
    far = np.diag(np.arange(1.0, size + 1.0))
    assert shrunk_spectrum(far + noise, variance).values == pytest.approx(
        np.arange(1.0, size + 1.0), abs=0.15
    )


def test_values_that_cannot_be_multiplied_are_said_to_be_none() -> None:
    rows = np.random.default_rng(3).normal(10.0, 1.0, (5000, 2))
    for size, said in ((1e60, False), (1e100, True), (1e300, True)):
        for correlation in (False, True):
            r = prolate.covariance(rows * size, budget=LARGE, correlation=correlation, seed=1)
            assert any("rescale these columns" in warning for warning in r.warnings) is said


def flags(rng: np.random.Generator, n: int) -> np.ndarray:
    often = rng.random(n) < 0.3
    return np.column_stack([often, often & (rng.random(n) < 0.3), rng.random(n) < 0.02]) * 1.0


def test_a_rough_moment_of_another_shape_counts_little(monkeypatch) -> None:
    """Rare flags are clipped in it as no normal rows are; a flag's variance is at most 1/4."""

    def apart() -> float:
        found = []
        for seed in range(4):
            rows = flags(np.random.default_rng(seed), 20_000)
            variance = np.diag(prolate.covariance(rows, budget=Budget(mu=2), seed=seed).estimate)
            found.append(np.max(np.abs(variance / rows.var(axis=0) - 1.0)))
        return float(np.median(found))

    assert apart() < 0.06
    monkeypatch.setattr(own, "_LATER", 1.0)  # the same test fails for these faults
    monkeypatch.setattr(own, "_APART", np.inf)
    monkeypatch.setattr(steps, "_with_columns", lambda known, _: known)
    monkeypatch.setattr(Lengths, "far", False)
    assert apart() > 0.3


def test_what_clipping_takes_of_rows_that_are_not_elliptical_is_part_of_the_error(
    monkeypatch,
) -> None:
    def ratio() -> float:
        """Return the variances' errors over what is stated, root mean squares."""
        off, stated = [], []
        for seed in range(8):
            rows = np.random.default_rng(seed).exponential(size=(5000, 2))
            budget = Budget(epsilon=1, delta=1e-6)
            r = prolate.covariance(rows, budget=budget, seed=seed)
            off.append(np.diag(r.estimate) - rows.var(axis=0))
            stated.append(np.diag(np.hypot(r.noise_std, r.clipping_std)))
        return float(np.sqrt(np.mean(np.square(off)) / np.mean(np.square(stated))))

    assert ratio() < 1.5
    monkeypatch.setattr(Lengths, "unlike", 0.0)  # the same test fails for these faults
    monkeypatch.setattr(own, "_WRONG", 0.0)
    monkeypatch.setattr(diagonal, "_USUAL_SQUARES", 0.0)
    assert ratio() > 2.0


def test_variances_that_may_differ_by_noise_are_scaled_together() -> None:
    moved = 0.3 + np.array([0.01, -0.01, 0.02, 0.0, 1.0])
    noise = np.array([0.02, 0.02, 0.02, 0.02, 0.02])
    found = diagonal._without_noise(moved, noise)
    assert np.ptp(found[:4]) < 0.5 * np.ptp(moved[:4])
    assert found[4] == pytest.approx(moved[4], abs=0.01)
    exact = diagonal._without_noise(moved, np.zeros(5))
    np.testing.assert_allclose(exact, moved)


@pytest.mark.long
def test_squares_do_not_spoil_small_eigenvalues(monkeypatch: pytest.MonkeyPatch) -> None:
    """They did by a factor of ten where rows that are normal seem not to be."""
    monkeypatch.setattr(Lengths, "unlike", 1.0)

    def error() -> float:
        found = []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            axes = np.linalg.qr(rng.standard_normal((20, 20)))[0]
            rows = rng.standard_normal((10_000, 20)) * np.geomspace(1.0, 1e3, 20) @ axes.T
            true = rows.T @ rows / len(rows)
            root = np.linalg.inv(np.linalg.cholesky(true))
            r = prolate.covariance(rows, budget=Budget(rho=0.5), seed=seed)
            found.append(np.linalg.norm(root @ (r.estimate - true) @ root.T))
        return float(np.sqrt(np.mean(np.square(found))))

    assert error() < 0.7
    monkeypatch.setattr(diagonal, "_without_noise", lambda moved, _: moved)  # a planted fault
    assert error() > 1.0


def test_rare_values_beside_a_duplicate_column_are_not_lost(monkeypatch) -> None:
    """Rounds go on for the duplicate, and each clips the rows of the rare values harder."""

    def errors() -> tuple[float, float]:
        """Return the largest error of a correlation, and of a variance, over it."""
        off, relative = [], []
        for seed in range(5):
            rng = np.random.default_rng(seed)
            rows = rng.standard_normal((20_000, 5))
            rows[:, 3], rows[:, 4] = rows[:, 2], rng.random(20_000) < 0.02
            found = prolate.covariance(rows, budget=Budget(rho=0.5), seed=seed).estimate
            spread = np.sqrt(np.diag(found))
            off.append(np.abs(found / np.outer(spread, spread) - np.corrcoef(rows.T)).max())
            relative.append(np.abs(np.diag(found) / rows.var(axis=0) - 1.0).max())
        return float(np.max(off)), float(np.max(relative))

    correlation, variance = errors()
    assert correlation < 0.06
    assert variance < 0.1
    # The same test fails where what is left of an axis is all that is known of it.
    monkeypatch.setattr(steps, "_with_variances", lambda moment, *_, **__: moment)
    monkeypatch.setattr(steps, "_with_columns", lambda known, _: known)
    assert errors()[0] > 0.15


def test_squares_tell_the_variance_of_a_column_that_products_lost() -> None:
    """Noise is small beside what it is moved by, though not beside what was left of it."""
    d, value = 3, np.array([1.0, 1e-6, 1.0])
    curator = Curator(open_source(np.zeros((100, d))), Budget(mu=1.0), seed=0)
    table = own.Standardized(curator, 100.0, np.zeros(d), np.ones(d), variances=True)
    flat = np.full((d, d), 1e-7)
    matrix = Matrix(table, np.diag(value), flat, flat, np.full(d, 1e-8), 0.0)
    noise = np.full(d, 0.01)
    ones = np.ones(d)
    known = {"size": ones, "stretch": ones, "radius": 1.0, "clipped": 0.0, "reach": ones}
    squares = Squares(ones, noise, 0.0 * noise, **known, long=ones > 1.0)
    found = diagonal._rescaled(matrix, squares, 0.0)
    np.testing.assert_allclose(np.diag(found.value), 1.0, rtol=0.05)


def test_squares_count_sooner_of_columns_whose_tails_are_known_to_be_long() -> None:
    """Three standard deviations might be chance, if products were not known to lose tails."""
    d, ones = 3, np.ones(3)
    curator = Curator(open_source(np.zeros((100, d))), Budget(mu=1.0), seed=0)
    table = own.Standardized(curator, 100.0, np.zeros(d), ones, variances=True)
    flat = np.full((d, d), 1e-3)
    matrix = Matrix(table, np.diag(0.7 * ones), flat, flat, np.full(d, 1e-3), 0.0)
    known = {"size": ones, "stretch": ones, "radius": 1.0, "clipped": 0.0, "reach": ones}
    squares = Squares(ones, 0.1 * ones, 0.0 * ones, **known, long=np.arange(d) == 1)
    found = np.diag(diagonal._rescaled(matrix, squares, 0.0, usual=True).value)
    assert found[1] > 0.9
    assert found[[0, 2]] == pytest.approx(0.7, abs=0.01)


def far_out(seed: int, n: int = 20_000, d: int = 6, part: float = 0.01) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, d))
    rows[rng.random(n) < part] *= 10.0
    return rows


def test_variances_hold_rows_far_out(monkeypatch) -> None:
    """One row in a hundred, ten times as long as the others, is half of the variances."""

    def run() -> tuple[float, float, float]:
        """Return the variances' error, how often they are covered, and how often it is said."""
        off, covered, said = [], [], []
        for seed in range(8):
            rows = far_out(seed)
            r = prolate.covariance(rows, budget=Budget(mu=2), seed=seed)
            relative = np.diag(r.estimate) / rows.var(axis=0) - 1.0
            ends = np.diagonal(r.interval(0.95)).T
            off.append(np.sqrt(np.mean(relative**2)))
            covered.append(np.mean((ends[:, 0] <= 1.99) & (ends[:, 1] >= 1.99)))
            said.append(any("far longer than the others" in w for w in r.warnings))
            assert np.linalg.eigvalsh(r.estimate)[0] >= 0.0
        return float(np.mean(off)), float(np.mean(covered)), float(np.mean(said))

    off, covered, said = run()
    assert off < 0.2
    assert covered > 0.9
    assert said == 1.0
    monkeypatch.setattr(Lengths, "far", False)  # the same test fails for these faults
    monkeypatch.setattr(diagonal, "_USUAL_SQUARES", 0.0)
    monkeypatch.setattr(diagonal, "_UNLIKE_SQUARES", 0.0)
    off, covered, said = run()
    assert off > 0.3
    assert covered < 0.2


def test_variances_of_few_skewed_rows_say_what_clipping_took(monkeypatch) -> None:
    """No row is far out, but each column's tail is longer than the lengths of rows show."""

    def covered() -> float:
        held = []
        for seed in range(12):
            rows = np.random.default_rng(seed).lognormal(size=(600, 6))
            r = prolate.covariance(rows, budget=Budget(mu=1.4), seed=seed)
            stated = np.diag(np.hypot(r.noise_std, r.clipping_std))
            held.append(np.abs(np.diag(r.estimate) - rows.var(axis=0)) < 1.96 * stated)
        return float(np.mean(held))

    assert covered() > 0.65
    # The same test fails if squares are not used, and nothing is known of long rows.
    monkeypatch.setattr(diagonal, "_rescaled", lambda matrix, *_, **__: matrix)
    monkeypatch.setattr(LongRows, "of", classmethod(lambda cls, norms, rows: None))
    assert covered() < 0.5


@pytest.mark.long
def test_the_variance_of_counts_beside_a_normal_column_is_what_is_stated(monkeypatch) -> None:
    """The lengths of such rows are those of normal ones, as far as noise shows."""

    def covered() -> float:
        held = []
        for seed in range(40):
            rng = np.random.default_rng(seed)
            rows = np.column_stack([rng.poisson(1.0, 1500), rng.standard_normal(1500)])
            r = prolate.covariance(rows, budget=Budget(rho=0.3), seed=seed)
            stated = np.hypot(r.noise_std[0, 0], r.clipping_std[0, 0])
            held.append(abs(r.estimate[0, 0] - rows[:, 0].var()) < 1.96 * stated)
        return float(np.mean(held))

    assert covered() > 0.85
    monkeypatch.setattr(diagonal, "_USUAL_SQUARES", 0.0)  # the same test fails for this fault
    assert covered() < 0.7


def test_correlations_pay_for_no_variances() -> None:
    r = prolate.covariance(far_out(1), budget=Budget(mu=2), seed=1, correlation=True)
    assert any("far longer than the others" in warning for warning in r.warnings)
    assert "variance" not in {entry.label for entry in r.receipt}


def test_normal_rows_have_little_apart() -> None:
    for seed in range(10):
        r = prolate.covariance(far_out(seed, part=0.0), budget=Budget(mu=2), seed=seed)
        assert not r.warnings
        assert sum(entry.share for entry in r.receipt if entry.label == "variance") < 0.1


@pytest.mark.long
@pytest.mark.parametrize("shape", ["exponential", "laplace", "elliptical"])
def test_sampling_errors_are_those_of_longer_tails(shape, monkeypatch) -> None:
    """Variances of the population are covered; among 30 runs of 5 numbers 0.85 would be low."""

    def drawn(rng: np.random.Generator) -> np.ndarray:
        if shape == "elliptical":
            return rng.standard_normal((20_000, 5)) * np.sqrt(5 / rng.chisquare(7, (20_000, 1)))
        draw = rng.exponential if shape == "exponential" else rng.laplace
        return draw(size=(20_000, 5)) / (1.0 if shape == "exponential" else np.sqrt(2.0))

    def covered() -> float:
        inside = []
        for seed in range(30):
            r = prolate.covariance(
                drawn(np.random.default_rng(seed)), budget=Budget(mu=5), seed=seed
            )
            ends = np.diagonal(r.interval(0.95)).T
            inside.append((ends[:, 0] <= 1.0) & (ends[:, 1] >= 1.0))
        return float(np.mean(inside))

    assert covered() > 0.9
    monkeypatch.setattr(Lengths, "unlike", 0.0)  # the same test fails for these faults
    monkeypatch.setattr(diagonal, "_USUAL_SQUARES", 0.0)
    assert covered() < 0.88


def test_columns_whose_correlations_noise_hides_are_named() -> None:
    noise = np.full((4, 4), 0.01)
    assert _hidden("abcd", noise) == ()
    noise[1] = noise[:, 1] = 0.4
    [said] = _hidden("abcd", noise)
    assert "'b'" in said
    assert "'a'" not in said
    assert _hidden("a", np.ones((1, 1))) == ()


def test_nothing_is_clipped_beyond_all_rows() -> None:
    """Rounding made factors 1 + 2e-16, so errors that are stated negative, and no release."""
    rng = np.random.default_rng(0)
    for size in range(1, 30):
        variances = rng.uniform(0.2, 2.0, rng.integers(1, 6))
        shapes = np.column_stack([rng.uniform(0.5, 6.0, (size, 2)), np.full(size, np.inf)])
        weights, extra = rng.dirichlet(np.ones(size)), learn_lengths(variances).extra
        clip = Lengths(variances, shapes, weights, extra).clip(1e3)
        assert clip.factor <= 1.0
        assert np.all(clip.factors <= 1.0)


def test_a_rough_round_keeps_columns_but_those_whose_spread_is_a_guess() -> None:
    """Of 16,599 values of which one differs, the spread was guessed 6,000 times too large."""
    edge = np.full(3, 0.05)
    known = Spectrum(np.eye(3), np.array([1.0, 0.05, 0.05]), edge)
    kept = steps._with_columns(known, np.array([False, False, True]))
    assert np.diag(kept.matrix) == pytest.approx([1.0, 1.0, 0.05])
    assert steps._with_columns(known, np.ones(3, dtype=bool)) is known
    alike = Spectrum(np.eye(3), np.array([1.0, 0.3, 0.5]), edge)
    assert steps._with_columns(alike, None) is alike
