"""Tails of lengths, extrapolated: against laws whose tails are known."""

from __future__ import annotations

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.estimators.clipping import allowance
from prolate.estimators.lengths import beyond as tails
from prolate.estimators.lengths.beyond import Beyond, lost_part, normal_loss, stretch_beyond
from prolate.estimators.lengths.norms import MeasuredNorms

ROWS = 1e6


def histogram(beyond, edges: np.ndarray, noise: float = 0.0) -> MeasuredNorms:
    """The counts of rows of which a part `beyond(r)` is longer than r, without noise."""
    parts = np.concatenate([[1.0], beyond(edges), [0.0]])
    return MeasuredNorms(edges, -np.diff(parts) * ROWS, noise, 1.0)


def pareto(power: float):
    return lambda r: np.minimum(1.0, r**-power)


@pytest.mark.parametrize("power", [2.5, 3.0, 6.0])
@pytest.mark.parametrize("radius", [3.0, 30.0])
def test_a_powers_tail_is_found(power: float, radius: float) -> None:
    # Counts beyond 10 or so are less than their noise, so that they must be extrapolated.
    edges = np.geomspace(0.5, 60.0, 80)
    noise = ROWS * 10.0**-power / 3.0 / np.sqrt(30.0)
    found = Beyond.of(histogram(pareto(power), edges, noise), ROWS)
    assert found.power == pytest.approx(power, rel=0.05)
    assert found.start < 12.0
    assert found.lost(radius) == pytest.approx(radius ** (1 - power) / (power - 1), rel=0.3)
    square = radius ** (2 - power) * power / (power - 2)
    assert found.square(radius) == pytest.approx(square, rel=0.4)


def test_thinner_tails_are_taken_to_be_thicker_never_the_other_way() -> None:
    edges = np.geomspace(0.25, 40.0, 60)
    found = Beyond.of(histogram(lambda r: np.exp(-r), edges, 1000.0), ROWS)
    for radius in (8.0, 10.0, 12.0):
        assert found.lost(radius) > np.exp(-radius)


def test_no_more_is_beyond_than_was_counted_and_its_noise() -> None:
    edges = np.geomspace(0.25, 40.0, 60)
    norms = histogram(lambda r: np.where(r < 4.0, np.minimum(1.0, r**-1.5), 0.0), edges, 10.0)
    found = Beyond.of(norms, ROWS)
    assert found.fraction(5.0) <= 10.0 * np.sqrt(60) / ROWS
    assert found.fraction(3.0) > 0.1


def test_a_count_far_from_all_others_must_be_larger_to_be_rows() -> None:
    """Of 28 cells, one is often three deviations of noise; one of a tail's is not alone."""
    edges = np.geomspace(0.5, 100.0, 27)

    def start(beyond: float) -> float:
        counts = np.diff(-np.append(np.append(1e4, 1e4 * np.exp(-(edges**2))), 0.0))
        counts[-1] += beyond
        return Beyond.of(MeasuredNorms(edges, counts, 10.0, 1.0), 1e4).start

    assert start(35.0) < 4.0
    assert start(60.0) == edges[-1]


@pytest.mark.parametrize("counts", [np.zeros(31), np.full(31, -5.0), np.full(31, 1e9)])
def test_noise_alone_gives_finite_numbers(counts: np.ndarray) -> None:
    found = Beyond.of(MeasuredNorms(np.geomspace(0.25, 40.0, 30), counts, 100.0, 1.0), 50.0)
    for radius in (0.1, 1.0, 40.0, 1e3):
        assert np.isfinite(found.lost(radius))
        assert found.lost(radius) >= 0.0
        assert np.isfinite(found.square(radius))
        assert lost_part(found, radius, 0.5, 1.0) <= 12.0 * 0.5
    assert np.isfinite(stretch_beyond(found, 1.0, np.ones(3)))


@pytest.mark.parametrize("spread", [np.ones(1), np.ones(30), np.array([1.0, 10.0, 0.1, 3.0])])
def test_what_normal_rows_lose(spread: np.ndarray) -> None:
    size = np.linalg.norm(spread)
    rows = np.random.default_rng(0).normal(size=(100_000, spread.size)) * spread
    length = np.linalg.norm(rows, axis=1)
    edges = size * np.linspace(0.05, 6.0, 400)
    beyond = np.sort(length)
    norms = histogram(lambda r: 1.0 - np.searchsorted(beyond, r) / length.size, edges)
    found = Beyond.of(norms, ROWS)
    off = 0.015 * size  # cube roots of few squares are not quite normal
    for radius in size * np.array([1.0, 1.5]):
        lost = float(np.mean(np.maximum(length - radius, 0.0)))
        assert normal_loss(found, spread**2, radius) == pytest.approx(lost, abs=off)
        # Spreads that are wrong by a common factor do not matter.
        assert normal_loss(found, 4.0 * spread**2, radius) == pytest.approx(lost, abs=off)


def test_a_variance_that_cannot_be_is_not_said_to_be_known() -> None:
    rows = np.random.default_rng(0).normal(size=(4000, 2)) * [1e80, 1.0]
    release = prolate.variance(rows, budget=Budget(rho=1), seed=1)
    assert release.interval()[0].tolist() == [0.0, np.inf]
    assert any("rescale" in warning for warning in release.warnings)
    fine = prolate.variance(rows * [1e-20, 1.0], budget=Budget(rho=1), seed=1)
    assert fine.noise_std[0] < 0.1 * fine.estimate[0]
    assert not any("rescale" in warning for warning in fine.warnings)


def test_a_column_is_not_charged_with_what_columns_of_large_numbers_may_lose() -> None:
    """A flag shows a tilt. What may be lost of all rows is mostly that of the widest column."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        flag = rng.random((20_000, 1)) < 0.1
        others = rng.normal(size=(20_000, 7)) * 10.0 ** np.array([-3.0, -2, -1, 1, 2, 3, 4])
        release = prolate.mean(
            np.hstack([flag, others]), budget=Budget(rho=0.5), error_norm="relative", seed=seed
        )
        assert release.clipping_std[0] < 0.02  # .25 to 1.8 without regard to units


@pytest.mark.parametrize("kind", ["normal", "halves"])
def test_lengths_that_are_nearly_alike_have_a_short_tail(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of many columns are all about as long: intervals were six to forty times too wide."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((3500, 512))
    if kind == "halves":
        rows = np.sign(rows)

    def wider() -> float:
        made = prolate.mean(rows, budget=Budget(rho=0.7), seed=0)
        off, stated = made.estimate - rows.mean(axis=0), np.hypot(made.noise_std, made.clipping_std)
        assert np.mean(np.abs(off) < 1.96 * stated) > 0.93
        return float(np.sqrt(np.mean(stated**2) / np.mean(off**2)))

    assert wider() < 1.5
    monkeypatch.setattr(tails, "_SHOWN", np.inf)  # a planted fault
    assert wider() > 4.0


def test_of_many_columns_not_each_holds_the_rows_that_noise_hides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = np.random.default_rng(1).standard_t(3, (1500, 400))
    exact = rows.mean(axis=0)

    def wider() -> float:
        made = prolate.mean(rows, budget=Budget(rho=0.7), seed=0)
        stated = np.hypot(made.noise_std, made.clipping_std)
        assert np.mean(np.abs(made.estimate - exact) < 1.96 * stated) > 0.95
        return float(np.sqrt(np.mean(stated**2)))

    few = wider()
    monkeypatch.setattr(allowance, "_MANY", np.inf)  # as before
    assert few < 0.8 * wider()
