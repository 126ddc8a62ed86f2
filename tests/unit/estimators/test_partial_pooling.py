"""Means of columns that are alike are drawn towards each other, and no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.estimators import partial_pooling
from prolate.estimators.partial_pooling import Pooled, pool


def _drawn(rng: np.random.Generator, d: int, apart: float, noise: float) -> tuple[Any, ...]:
    """Return means that are so many noises apart beside sampling of 1, noisy ones, and noises."""
    truth = 50.0 + apart * noise * rng.standard_normal(d) + rng.standard_normal(d)
    return truth, truth + noise * rng.standard_normal(d), np.full(d, noise)


def _pool(value: Any, noise: Any, sampling: Any = None) -> Pooled:
    sampling = np.ones_like(value) if sampling is None else sampling
    return pool(value, noise, sampling, np.ones(value.size, dtype=np.bool_))


def _risk(d: int, apart: float, noise: float) -> tuple[float, float]:
    """Return the error over that of the noisy means, and how many intervals hold."""
    rng, runs = np.random.default_rng(d), 4000 // d
    square = before = held = 0.0
    for _ in range(runs):
        truth, value, std = _drawn(rng, d, apart, noise)
        found = _pool(value, std)
        off = found.value - truth
        square += float(off @ off)
        before += float((value - truth) @ (value - truth))
        held += float(np.mean(np.abs(off) < 1.96 * np.hypot(found.noise, found.bias)))
    return (square / before) ** 0.5, held / runs


@pytest.mark.parametrize("noise", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("d", [8, 16, 64, 512])
def test_it_gains_where_columns_are_alike_and_hardly_loses_elsewhere(d: int, noise: float) -> None:
    """Risks at the worst distances, too: what columns differ by is one to eight noises."""
    gained, _ = _risk(d, 0.0, noise)
    best = (1.0 / (1.0 + noise**2)) ** 0.5  # if it were known that they are alike
    assert gained < min(best + 0.3 * (8.0 / d) ** 0.5 + 0.03, 0.99)
    assert max(_risk(d, apart, noise)[0] for apart in (1.0, 2.0, 4.0, 8.0, 1000.0)) < 1.04


@pytest.mark.parametrize("apart", [0.0, 0.5, 1.0, 2.0, 4.0, 30.0])
@pytest.mark.parametrize("d", [8, 64, 512])
def test_what_is_left_of_the_error_is_stated(d: int, apart: float) -> None:
    for noise in (1.0, 3.0):
        assert _risk(d, apart, noise)[1] > 0.93


def test_what_is_lost_must_be_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault: with a single level all means are taken to be at the center."""
    real = partial_pooling._Common.of

    def single(value: Any, noise: Any, sampling: Any) -> Any:
        found = real(value, noise, sampling)
        return partial_pooling._Common(found.center, found.doubt, np.ones(1))

    monkeypatch.setattr(partial_pooling._Common, "of", single)
    monkeypatch.setattr(partial_pooling._Common, "holds", lambda _self, value, _: value < np.inf)
    assert _risk(64, 2.0, 3.0)[1] < 0.5
    assert _risk(64, 2.0, 3.0)[0] > 1.5


def test_columns_that_are_unlike_most_stay_where_they_are() -> None:
    rng = np.random.default_rng(1)
    truth, value, std = _drawn(rng, 200, 0.0, 2.0)
    value[:10] += 40.0
    found = _pool(value, std)
    np.testing.assert_allclose(found.value[:10], value[:10], atol=0.5)
    assert np.std(found.value[10:] - truth[10:]) < 0.6 * 2.0


def test_few_columns_and_small_noise_are_left_alone() -> None:
    for d, noise in ((7, 1.0), (100, 0.05)):
        value = np.random.default_rng(2).standard_normal(d)
        found = _pool(value, np.full(d, noise))
        assert found.value is value
        assert not found.bias.any()


def test_columns_of_other_scales_around_one_center() -> None:
    """Small ones tell the center, and are not moved by what large ones are off."""
    rng = np.random.default_rng(3)
    size = 10.0 ** np.linspace(-3, 3, 60)
    truth = 7.0 + size * rng.standard_normal(60)
    value = truth + 2.0 * size * rng.standard_normal(60)
    found = _pool(value, 2.0 * size, size)
    off, before = (found.value - truth) / size, (value - truth) / size
    assert np.sqrt(np.mean(off**2)) < 0.75 * np.sqrt(np.mean(before**2))


@pytest.mark.parametrize("unit", [1e-290, 1e-156, 1e-150, 1.0, 1e150, 1e156, 1e290])
def test_units_of_any_size(unit: float) -> None:
    _, value, std = _drawn(np.random.default_rng(4), 30, 1.0, 2.0)
    value, std, sampling = unit * value, unit * std, unit * np.ones(30)
    value[3], std[4], sampling[5], std[6] = np.nan, np.inf, 0.0, 0.0
    found = _pool(value, std, sampling)
    odd = np.arange(3, 7)
    np.testing.assert_array_equal(found.value[odd], value[odd])
    np.testing.assert_array_equal(found.noise[odd], std[odd])
    others = np.delete(np.arange(30), odd)
    assert np.all(np.isfinite(found.value[others]))
    assert np.all(np.isfinite(found.bias))
    assert np.all(found.value[others] != value[others])


def test_many_columns_are_drawn_as_some_of_them_tell() -> None:
    truth, value, std = _drawn(np.random.default_rng(5), 20_000, 0.0, 2.0)
    truth[1] += 3000.0
    value[1] += 3000.0
    found = _pool(value, std)
    assert np.std(found.value - truth) < 0.5 * 2.0
    assert abs(found.value[1] - value[1]) < 0.1  # though it is not among those that tell


def test_an_odd_column_does_not_spoil_the_others() -> None:
    truth, value, std = _drawn(np.random.default_rng(6), 20, 0.0, 2.0)
    sampling = np.ones(20)
    for off, noise, own in ((0.0, 1e-154, 1e-155), (1e160, 1e146, 1.0), (1e156, 1e150, 1e150)):
        value[3], std[3], sampling[3] = off, noise, own
        found = _pool(value, std, sampling)
        assert found.value[3] == off
        others = np.delete(np.arange(20), 3)
        assert np.std((found.value - truth)[others]) < 0.8 * np.std((value - truth)[others])


def test_columns_that_are_much_farther_apart_than_they_vary() -> None:
    value = np.linspace(0.0, 1.0, 20)
    found = _pool(value, np.full(20, 1e-7), np.full(20, 1e-13))
    np.testing.assert_allclose(found.value, value, atol=1e-7)


# --- releases ----------------------------------------------------------------------------------


def _apart(value: Any, noise: Any, _sampling: Any, _which: Any) -> Pooled:
    return Pooled(value, noise, np.zeros_like(noise))


def _error(rows: Any, seeds: int, truth: Any, release: Any, **options: Any) -> float:
    off = [release(rows, seed=seed, **options).estimate - truth for seed in range(seeds)]
    return float(np.sqrt(np.mean(np.square(off))))


@pytest.mark.parametrize("what", ["means", "means, centers known", "variances"])
def test_releases_of_alike_columns(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By public centers, too: then it is enough that these are off alike."""
    rng, given = np.random.default_rng(6), {"budget": Budget(rho=0.2)}
    center: Any = 3.0
    if what == "means, centers known":
        center = 20.0 * rng.standard_normal(128)
        given["center"] = center
    rows = center + rng.standard_normal((3000, 128))
    if what == "variances":
        release, exact = prolate.variance, rows.var(axis=0)
    else:
        release, exact = prolate.mean, rows.mean(axis=0)
    pooled = _error(rows, 3, exact, release, **given)
    monkeypatch.setattr(partial_pooling, "pool", _apart)
    assert pooled < 0.9 * _error(rows, 3, exact, release, **given)


def test_releases_say_so() -> None:
    rng = np.random.default_rng(12)
    rows, budget = rng.standard_normal((2000, 30)), Budget(rho=0.05)
    made = prolate.mean(rows, budget=budget, seed=0)
    assert made.details["pooled_columns"] > 20
    assert f"{made.details['pooled_columns']} columns are alike" in repr(made)
    unlike = prolate.mean(rows + 9.0 * np.arange(30), budget=budget, seed=0)
    assert "pooled_columns" not in unlike.details
    assert "alike" not in repr(unlike)


def test_releases_of_unlike_columns_hardly_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    rows = 5.0 * rng.standard_normal(64) + rng.standard_normal((3000, 64))
    exact = rows.mean(axis=0)
    pooled = _error(rows, 3, exact, prolate.mean, budget=Budget(rho=0.2))
    monkeypatch.setattr(partial_pooling, "pool", _apart)
    assert pooled == pytest.approx(
        _error(rows, 3, exact, prolate.mean, budget=Budget(rho=0.2)), rel=0.01
    )


def test_a_given_clip_is_the_plain_mechanism() -> None:
    rows = np.random.default_rng(8).standard_normal((3000, 64))
    made = prolate.mean(rows, budget=Budget(rho=0.2), clip=0.01, center=0, scale=1, seed=0)
    np.testing.assert_array_equal(made.noise_std, made.noise_std[0])


@pytest.mark.long
def test_forecasts_count_on_it_only_where_centers_are_said_to_be_alike() -> None:
    given: dict[str, Any] = {"n": 3000, "d": 128, "budget": Budget(rho=0.1)}
    unlike = prolate.expected_error(**given).noise
    alike = prolate.expected_error(center=3.0, **given).noise
    rows = 3.0 + np.random.default_rng(10).standard_normal((3000, 128))
    measured = _error(rows, 4, rows.mean(axis=0), prolate.mean, budget=Budget(rho=0.1))
    assert alike == pytest.approx(measured * 128**0.5, rel=0.15)
    assert unlike > 1.2 * alike
    within = prolate.expected_error(bounds=(-50, 50), **given).noise
    assert within == pytest.approx(unlike, rel=0.1)  # whose middles are all alike
