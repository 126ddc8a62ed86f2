"""What is expected of a clipped mean, against clipping simulated rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import prolate
from prolate.estimators.clipping.averages import Answer, average, with_center
from prolate.estimators.clipping.loss import Loss
from prolate.estimators.clipping.tilt import Tilt, _sampled
from prolate.estimators.lengths.expected import Expected
from prolate.estimators.lengths.norms import MeasuredNorms, is_doubtful

N, D = 40_000, 32


def draw(kind: str) -> np.ndarray:
    rng = np.random.default_rng(5)
    if kind == "normal":
        return rng.standard_normal((N, D))
    if kind == "ruled by few":
        return rng.standard_normal((N, D)) * np.arange(1, D + 1) ** -1.0
    return rng.exponential(1.0, (N, D)) - 1.0


def expect(rows: np.ndarray, n: float, noise_square: float = 0.0) -> Expected:
    """Everything that a curator would measure of `n` such rows, nearly without noise."""
    spread = rows.std(axis=0)
    scale = np.sqrt(spread)
    scaled = rows / scale
    length = np.linalg.norm(scaled, axis=1)
    typical = float(np.sqrt(np.mean(length**2)))
    edges = typical * np.concatenate([np.linspace(0.3, 2.0, 120), [2.5, 3.0]])
    counts = np.bincount(np.searchsorted(edges, length, side="right"), minlength=edges.size + 1)
    return Expected(
        MeasuredNorms(edges, counts * (n / rows.shape[0]), 0.1, typical),
        spread,
        scale,
        edges.size - 1,
        rows=n,
        clipped=1.0,
        noise=float(np.sqrt(noise_square / np.sum(spread))),
        unit=1.0,
    )


def clipping_error(rows: np.ndarray, radius: float) -> np.ndarray:
    """Each row's part in the error of the undone clipped mean."""
    length = np.linalg.norm(rows / np.sqrt(rows.std(axis=0)), axis=1)
    factor = np.minimum(1.0, radius / length)
    return rows * (factor / factor.mean() - 1.0)[:, np.newaxis]


def tilt(rows: np.ndarray, expected: Expected) -> Tilt:
    between = expected.norms.middle(expected.rows)
    square = np.linalg.norm(rows / np.sqrt(rows.std(axis=0)), axis=1) ** 2
    low, high = between[0] ** 2, between[1] ** 2
    weight = np.clip((2 * square - low - high) / (high - low), -1.0, 1.0)
    return made(between, np.mean(rows * weight[:, np.newaxis], axis=0))


def made(between: tuple[float, float], row: np.ndarray) -> Tilt:
    """A clear tilt without noise."""
    return Tilt(
        between=between,
        square=float(np.sum(row**2)),
        clear=True,
        shown=np.zeros(D),
        row=row,
        row_noise=0.0,
        own=np.zeros(D),
        radius=np.inf,
    )


@pytest.mark.parametrize("kind", ["normal", "ruled by few"])
@pytest.mark.parametrize("part", [0.9, 1.0, 1.1])
def test_fluctuation_of_symmetric_rows(kind: str, part: float) -> None:
    rows, n = draw(kind), 1000.0
    expected = expect(rows, n)
    radius = part * expected.norms.typical
    found = np.sum(clipping_error(rows, radius).var(axis=0)) / n
    assert expected.fluctuation_square(radius) == pytest.approx(found, rel=0.2)


@pytest.mark.parametrize("kind", ["normal", "ruled by few"])
def test_tilt_of_a_sample_of_symmetric_rows_is_explained(kind: str) -> None:
    rows = draw(kind)
    expected = expect(rows, 400.0)
    parts = [part - part.mean(axis=0) for part in rows.reshape(-1, 400, D)]
    found = [tilt(part, expect(part, 400.0)).square for part in parts]
    between = expected.norms.middle(400.0)
    radius = tilt(rows, expected).radius
    assert _sampled(expected, between, radius) / 400.0 == pytest.approx(np.mean(found), rel=0.2)


def test_what_is_clipped_in_a_tilt_is_not_explained_by_its_whole_length() -> None:
    """Else a few rows far out explain any tilt, however far to one side all of them are."""
    rows = draw("normal")
    rows[: N // 50, :] += 30.0
    expected = expect(rows, 400.0)
    between = expected.norms.middle(400.0)
    far, near = (_sampled(expected, between, times * between[1]) for times in (1e3, 1.25))
    assert far > 10.0 * near


def test_symmetric_rows_are_clipped_harder_than_skewed_ones() -> None:
    radii = {}
    for kind in ("normal", "exponential"):
        rows = draw(kind)
        expected = expect(rows, 1000.0, noise_square=2e-6)
        loss = Loss(expected, tilt(rows, expected))
        radius = expected.best_radius(loss.doubt_square)
        radii[kind] = radius / expected.norms.typical
    assert 1.2 * radii["normal"] < radii["exponential"]


def test_no_clipping_without_noise() -> None:
    expected = expect(draw("normal"), 1000.0)
    assert expected.best_radius(np.zeros_like) >= 1.6 * expected.norms.typical


def test_rows_that_seem_equally_long_give_a_radius() -> None:
    expected = expect(np.ones((100, D)) * np.tile([1.0, -1.0], 50)[:, np.newaxis], 100.0, 1.0)
    found = made((0.99 * expected.safe, expected.safe), np.eye(D)[0])
    radius = expected.best_radius(Loss(expected, found).doubt_square)
    assert np.isfinite(radius)
    assert radius > 0


@pytest.mark.parametrize("d", [1, 400])
def test_the_searched_center_counts_as_far_as_it_agrees(d: int) -> None:
    rng = np.random.default_rng(d)
    noise, center_noise = np.full(d, 1.0), np.full(d, 3.0)
    errors = {"alone": [], "with center": [], "biased": [], "said": []}
    for _ in range(2000 if d == 1 else 20):
        value, center = noise * rng.normal(size=d), center_noise * rng.normal(size=d)
        together, said = with_center(value, noise, center, center_noise)
        biased, _ = with_center(value, noise, center + 30.0, center_noise)
        for name, each in zip(errors, (value, together, biased, said), strict=True):
            errors[name].append(float(np.mean(each**2)))
    found = {name: np.mean(each) for name, each in errors.items()}
    assert 0.9 <= found["with center"] / found["alone"] < 0.97
    assert abs(found["with center"] / found["said"] - 1.0) < 0.06
    assert found["biased"] / found["alone"] < 1.02


def test_columns_without_a_searched_center_stay_as_they_are() -> None:
    value, noise = np.array([1.0, 2.0]), np.array([0.1, 0.1])
    center_noise = np.array([0.3, np.inf])
    found, said = with_center(value, noise, np.array([1.1, 50.0]), center_noise)
    assert found[1] == 2.0
    assert said[1] == 0.1
    assert 1.0 < found[0] < 1.02
    assert said[0] < 0.1


def test_centers_of_which_nothing_is_known_do_not_count() -> None:
    """Nothing is said of an empty mean, and the answer is a number."""
    value, noise = np.array([1.0, 2.0]), np.array([0.1, 0.1])
    found, said = with_center(value, noise, np.array([1.0, 50.0]), np.full(2, np.inf))
    assert found.tolist() == [1.0, 2.0]
    assert said.tolist() == [0.1, 0.1]


@pytest.mark.parametrize("size", [1e-140, 1e160])
def test_averages_are_the_same_in_any_unit(size: float) -> None:
    def averages(unit: np.ndarray) -> np.ndarray:
        first = Answer(unit * [1.0, 2.0], unit * [0.3, 0.4], 1.0)
        second = Answer(unit * [1.2, 1.9], unit * [0.2, 0.1], 1.0)
        value, noise, _ = average(first, second, unit, lambda radius: 0.01 * radius)
        searched = unit * [1.3, 1.8], unit * [0.3, 0.3]
        return np.array([value, noise, *with_center(value, noise, *searched)]) / unit

    assert averages(np.array([size, 1.0])) == pytest.approx(averages(np.ones(2)))


def test_rows_far_out_are_looked_for_again_where_they_may_be_noise() -> None:
    edges = np.array([1.0, 1.1, 1.3, 1.8, 2.5, 4.5, 12.0])
    rng = np.random.default_rng(0)

    def norms(far: float, noise: float = 20.0) -> MeasuredNorms:
        counts = np.array([3000.0, 900.0, 100.0, 0.0, far, 0.0, 0.0, 0.0])
        return MeasuredNorms(edges, counts + noise * rng.standard_normal(8), noise, 1.0)

    def doubted(far: float) -> float:
        return float(np.mean([is_doubtful(norms(far), 30.0) for _ in range(400)]))

    assert doubted(0.0) < 0.1
    assert doubted(150.0) > 0.25  # between one threshold and twice that
    assert doubted(1000.0) == 0.0  # surely there

    first, second = norms(0.0, 20.0), norms(0.0, 10.0)
    both = first.averaged(second)
    np.testing.assert_allclose(both.counts, 0.2 * first.counts + 0.8 * second.counts)
    assert both.noise == pytest.approx(np.sqrt((0.2 * 20) ** 2 + (0.8 * 10) ** 2))
    assert first.averaged(MeasuredNorms(2.0 * edges, second.counts, 10.0, 2.0)).noise == 10.0


@pytest.mark.parametrize("seed", range(12))
def test_looking_again_leaves_enough_for_the_sum(seed: int) -> None:
    # Of two values side by side, scales are far too small at first: lengths take several looks.
    rows = np.repeat([[41.0], [42.0]], 50, axis=0)
    release = prolate.mean(rows, budget=prolate.Budget(rho=0.75), seed=seed)
    assert np.isfinite(release.estimate).all()
    assert sum(entry.share for entry in release.receipt) <= 1.0


def test_about_as_many_rows_may_be_unseen_as_three_deviations_of_their_count() -> None:
    edges = np.array([0.5, 1.0, 1.9, 2.1, 4.0, 12.0])
    norms = MeasuredNorms(edges, np.zeros(7), 10.0, 1.0)
    assert norms.unseen == pytest.approx(3.0 * 10.0 * np.sqrt(4.0))  # three edges, four cells


def of_one_length(noise: float) -> Expected:
    """What is expected of rows that are all in one narrow cell of lengths, as dummies' are."""
    rng = np.random.default_rng(3)
    edges = 10.0 * np.geomspace(0.5, 2.0, 70)  # cells of 2 %
    counts = noise * rng.standard_normal(71)
    counts[40] += N
    norms = MeasuredNorms(edges, counts, noise, 10.0)
    return replace(expect(draw("normal"), N), norms=norms, cell=69)


def test_rows_of_one_length_are_whole_within_their_cell() -> None:
    """Where a coarser grid of lengths would place them beyond it."""
    expected = of_one_length(3.0)
    low, high = expected.norms.edges[39:41]
    middle = np.sqrt(low * high)
    assert expected.mean_factor(high) == pytest.approx(1.0, abs=2e-3)
    assert expected.mean_factor(0.5 * middle) == pytest.approx(0.5, abs=0.01)


def test_rows_of_one_length_are_within_the_cell_that_all_are_counted_in() -> None:
    """Unit rows of 150 effective columns: what noise hides beyond their cell is next to nothing."""
    edges = np.array(
        [1.05, 2.1, 2.51, 2.93, 3.35, 3.56, 3.77, 3.9, 4.02, 4.2, 4.61, 5.45, 8.8, 29.3]
    )
    counts = np.array(
        [3, -20, -36, 51, 11_579, 100, 1, -2, 48, -9, 15, -21, 7, 12, -1], dtype=float
    )
    norms = MeasuredNorms(edges, counts, 20.5, 4.2)
    ones = np.ones(150)
    expected = Expected(norms, ones, ones, 4, rows=11_685.0, clipped=39.0, noise=1e-3, unit=1.0)
    assert expected.mean_factor(3.35) > 0.995
