"""Noise plus clipping error against integrals, simulations and the best of a fine grid."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from prolate.errors import InputError
from prolate.theory import clipped
from prolate.theory.chi2_mixture import ChiSquareMixture
from prolate.theory.clipped import lost_moments
from prolate.theory.clipping import ClippedMean, best_clip


def mixture(w: np.ndarray, t: np.ndarray) -> ChiSquareMixture:
    return ChiSquareMixture(w, t**2 / w)


@pytest.mark.parametrize("radius", [0.01, 0.5, 2.0, 6.0])
@pytest.mark.parametrize("t", [0.0, 0.4, -3.0])
def test_one_column_is_an_integral(t: float, radius: float) -> None:
    first, second = lost_moments(mixture(np.ones(1), np.array([t])), np.array([t]), radius)

    def lost(y: float) -> float:
        return y - math.copysign(min(abs(y), radius), y)

    exact = [
        integrate.quad(lambda y, k=k: lost(y) ** k * stats.norm.pdf(y - t), *ends, epsabs=1e-14)[0]
        for k in (1, 2)
        for ends in ((t - 12.0, -radius), (radius, t + 12.0))
        if ends[0] < ends[1]
    ]
    half = len(exact) // 2
    assert first[0] == pytest.approx(sum(exact[:half]), abs=1e-10)
    assert second[0] == pytest.approx(sum(exact[half:]), rel=1e-7, abs=1e-13)


@pytest.mark.parametrize("d", [2, 5, 60, 400])
def test_equal_columns_are_a_radial_integral(d: int) -> None:
    """Without an offset, the squares lost add up to E (|y| - C)**2 over |y| > C."""
    Q = ChiSquareMixture(np.ones(d))
    for radius in (0.3 * math.sqrt(d), 0.9 * math.sqrt(d), math.sqrt(d), math.sqrt(Q.isf(1e-6))):
        _, second = lost_moments(Q, np.zeros(d), radius)
        exact = integrate.quad(
            lambda r, c=radius: (r - c) ** 2 * stats.chi.pdf(r, d), radius, radius + 30.0,
            epsabs=0.0, epsrel=1e-11, limit=400,
            points=[max(radius, math.sqrt(d)), max(radius, math.sqrt(d)) + 4.0],
        )[0]  # fmt: skip
        assert second.sum() == pytest.approx(exact, rel=1e-8)
        assert np.ptp(second) <= 1e-12 * second[0]


@pytest.mark.parametrize("clip", [0.02, 0.5, 0.999])
def test_unequal_columns_are_as_simulated(clip: float) -> None:
    rng = np.random.default_rng(11)
    w, t = np.array([1.0, 0.5, 0.1, 0.02]), np.array([0.5, 0.0, -0.4, 0.1])
    Q = mixture(w, t)
    radius = math.sqrt(Q.isf(clip))
    first, second = lost_moments(Q, t, radius)
    y = t + rng.normal(size=(400_000, 4)) * np.sqrt(w)
    lost = y * np.maximum(1.0 - radius / np.linalg.norm(y, axis=1), 0.0)[:, None]
    for found, values in ((first, lost), (second, lost**2)):
        spread = values.std(axis=0) / math.sqrt(values.shape[0])
        assert np.all(np.abs(values.mean(axis=0) - found) < 7.0 * spread)  # 8 numbers: below 1e-10


def test_both_formulas_agree_where_both_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    w, t = np.linspace(0.5, 1.0, 200), np.full(200, 0.2)
    Q = mixture(w, t)
    radius = math.sqrt(Q.ppf(1e-12))
    switched = lost_moments(Q, t, radius)
    monkeypatch.setattr(clipped, "_ALL", -1e9)
    for one, other in zip(switched, lost_moments(Q, t, radius), strict=True):
        assert one == pytest.approx(other, rel=1e-9)


def test_series_and_functions_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    Q = ChiSquareMixture(np.linspace(0.5, 1.0, 300))
    radius = math.sqrt(Q.isf(1e-4))
    before = lost_moments(Q, np.zeros(300), radius)[1]
    monkeypatch.setattr(clipped, "_FAR", 55.0)
    assert lost_moments(Q, np.zeros(300), radius)[1] == pytest.approx(before, rel=1e-9)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("offset", [0.0, 0.5])
def test_the_whole_error_is_as_simulated(neighbors: str, offset: float) -> None:
    sigma, n, mu = np.array([3.0, 1.0, 0.3]), 50, 2.0
    shift = offset * sigma
    plan = ClippedMean(sigma, n=n, mu=mu, center_offset=shift, neighbors=neighbors)
    error = plan.at(0.2)
    rng = np.random.default_rng(2)
    runs = 40_000
    x = shift + rng.normal(size=(runs, n, 3)) * sigma  # the center is 0
    y = x * plan.b
    y *= np.minimum(1.0, error.radius / np.linalg.norm(y, axis=2))[:, :, None]
    sensitivity = error.radius * (2.0 if neighbors == "replace" else 1.0)
    noise = rng.normal(size=(runs, 3)) * sensitivity / mu
    estimate = (y.sum(axis=1) + noise) / plan.b / n
    squares = np.sum((estimate - x.mean(axis=1)) ** 2, axis=1)
    spread = squares.std() / math.sqrt(runs)
    assert abs(squares.mean() - error.total) < 6.5 * spread
    assert error.root == pytest.approx(math.sqrt(error.total))
    assert plan.noise_std(error.radius) == pytest.approx(sensitivity / mu / n / plan.b)
    assert error.noise == pytest.approx(np.sum(plan.noise_std(error.radius) ** 2))
    assert (error.bias == 0.0) == (offset == 0.0)
    assert plan.sampling == pytest.approx(np.sum(sigma**2) / n)


@pytest.mark.long
@pytest.mark.parametrize("offset", [0.0, 0.1, 1.0])
@pytest.mark.parametrize(("n", "mu"), [(300, 0.3), (10_000, 1.0)])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_best_clip_is_the_best(alpha: float, n: int, mu: float, offset: float) -> None:
    sigma = np.arange(1.0, 21.0) ** -alpha
    found = best_clip(sigma, n=n, mu=mu, center_offset=offset * sigma)
    plan = ClippedMean(sigma, n=n, mu=mu, center_offset=offset * sigma)
    grid = [
        plan.at_radius(radius).total
        for radius in np.geomspace(1e-3, 1.0, 60) * plan.radius(0.01 / n)
    ]
    assert found.best.total <= min(grid) * (1.0 + 1e-6)
    assert found.gain >= 1.0
    assert found.usual.clip == 1.0 / n
    assert found.best.clip == pytest.approx(plan.norm.sf(found.best.radius**2))


def test_what_is_gained_and_when() -> None:
    """The answer to the drafts' question, in numbers that docs/ellipse.md states."""
    few = best_clip(np.ones(10), n=1000, mu=1.0)
    assert 1.3 < few.gain < 1.6
    assert 0.1 < few.best.clip < 0.5
    many = best_clip(np.ones(1000), n=100_000, mu=1.0)
    assert 1.05 < many.gain < 1.2
    drowned = best_clip(np.ones(1000), n=1000, mu=1.0)
    assert drowned.gain > 2.0
    assert drowned.best.clip > 0.99
    off = best_clip(np.ones(10), n=1000, mu=1.0, center_offset=0.3)
    assert 1.0 < off.gain < few.gain
    assert off.best.clip < few.best.clip


def test_where_nothing_helps_the_center_is_returned() -> None:
    found = best_clip(np.ones(50), n=10, mu=1e-3)
    assert found.best.clip == 1.0
    assert found.best.total == pytest.approx(found.sampling, rel=0.02)


def test_other_scalings_are_allowed() -> None:
    sigma = np.array([5.0, 1.0, 1.0])
    plain = ClippedMean(sigma, n=1000, mu=1.0, b=np.ones(3)).at(1e-3)
    assert ClippedMean(sigma, n=1000, mu=1.0).at(1e-3).noise < plain.noise


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n": 0}, "n must be at least 1"),
        ({"mu": -1.0}, "mu must be positive"),
        ({"neighbors": "none"}, "neighbors must be"),
        ({"b": [1.0]}, "b must have a number"),
        ({"center_offset": [0.0]}, "center_offset must be"),
    ],
)
def test_bad_arguments(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        ClippedMean([1.0, 2.0], **({"n": 100, "mu": 1.0} | arguments))


def test_bad_radii() -> None:
    plan = ClippedMean([1.0, 2.0], n=100, mu=1.0)
    with pytest.raises(InputError, match="clip must lie"):
        plan.at(0.0)
    with pytest.raises(InputError, match="radius must be positive"):
        plan.at_radius(0.0)
