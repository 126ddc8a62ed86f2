"""The noise's distribution, against exact probabilities.

Every check is a function that is used twice: on the sampler, where it must pass, and on
planted faults (a scale 1 % wrong, another distribution), where it must fail.

False alarms. Kolmogorov's distance is held against Massart's bound (1990),
P(D > t) <= 2 exp(-2 n t**2), which holds for every n and every distribution: 1e-10. The
binomial tails are exact: 1e-11 each, 12 of them. A chi-square statistic with at least
1,000 expected counts per cell is far from its limit nowhere near its 1e-12 quantile
(a Poisson count of mean 1,000 goes beyond seven standard deviations with a probability
within a factor 10 of a normal's): below 1e-11 each, 14 of them. Correlations are held
against 7.5 standard deviations, 1e-13, 9 of them. In all, less than 1e-9, with the ten
million draws of --long as well.
"""

from __future__ import annotations

import bisect
import math
import time

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from prolate.noise import MAX_SCALE, SeededBits, SystemBits, rounded_gaussian

DRAWS = 1_000_000
LARGE = 2**34


def cell_probabilities(scale: int, last: int) -> np.ndarray:
    """P(round(scale Z) = k) for k = -last .. last, with the tails in the outer cells."""
    above = stats.norm.sf((np.arange(last) + 0.5) / scale)  # beyond 1/2, 3/2, ...
    one_side = np.append(-np.diff(above), above[-1])
    return np.concatenate([one_side[::-1], [1.0 - 2.0 * above[0]], one_side])


def small_scale_p(samples: np.ndarray, scale: int) -> float:
    """Chi-square p-value of integers against Phi differences."""
    last = 1
    while cell_probabilities(scale, last + 1)[:2].min() * samples.size > 1000:
        last += 1
    counts = np.bincount(np.clip(samples, -last, last) + last, minlength=2 * last + 1)
    expected = cell_probabilities(scale, last) * samples.size
    assert expected.min() >= 1000
    return float(stats.chi2.sf(np.sum((counts - expected) ** 2 / expected), expected.size - 1))


def large_scale_p(samples: np.ndarray, scale: float) -> float:
    """Massart's bound on the probability of so large a Kolmogorov distance."""
    sorted_samples = np.sort(samples)
    # round(scale Z) <= k where scale Z < k + 1/2.
    at = special.ndtr((sorted_samples + 0.5) / scale)
    before = special.ndtr((sorted_samples - 0.5) / scale)
    rank = np.arange(1, samples.size + 1) / samples.size
    distance = max(float(np.max(rank - at)), float(np.max(before - rank + 1.0 / samples.size)))
    return min(1.0, 2.0 * math.exp(-2.0 * samples.size * max(distance, 0.0) ** 2))


def shape_p(samples: np.ndarray, scale: float, cells: int = 2048) -> float:
    """Chi-square p-value over equally likely cells: sees what is wrong in a small place."""
    # Cells end halfway between integers, and are as likely as a rounded normal makes them.
    ends = np.unique(np.rint(scale * special.ndtri(np.arange(1, cells) / cells))) + 0.5
    counts = np.bincount(np.searchsorted(ends, samples), minlength=ends.size + 1)
    below = special.ndtr(np.concatenate([[-np.inf], ends / scale, [np.inf]]))
    expected = samples.size * np.diff(below)
    return float(stats.chi2.sf(np.sum((counts - expected) ** 2 / expected), ends.size))


def tail_p(samples: np.ndarray, scale: int, z: float) -> float:
    """Return the exact binomial p-value of the number beyond z standard deviations."""
    beyond = int(np.count_nonzero(np.abs(samples.astype(float)) > z * scale))
    return float(stats.binomtest(beyond, samples.size, 2.0 * stats.norm.sf(z)).pvalue)


@pytest.fixture(scope="module")
def draws() -> np.ndarray:
    """Six million at a large scale, from the system's generator: new ones in every run."""
    bits = SystemBits()
    rounded_gaussian(LARGE, 100_000, bits)
    start = time.perf_counter()
    drawn = rounded_gaussian(LARGE, 6 * DRAWS, bits)
    rate = drawn.size / (time.perf_counter() - start)
    print(f"rounded_gaussian, system's generator: {rate / 1e6:.1f} million integers/s")
    return drawn


@pytest.mark.parametrize("scale", [1, 2, 3, 10])
def test_exact_probabilities_at_small_scales(scale) -> None:
    assert small_scale_p(rounded_gaussian(scale, DRAWS, SystemBits()), scale) > 1e-12


@pytest.mark.parametrize("scale", [1, 3, 10])
@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_a_small_scale_that_is_one_percent_wrong_is_seen(scale, factor) -> None:
    wrong = np.rint(np.random.default_rng(1).normal(0.0, scale * factor, DRAWS)).astype(np.int64)
    assert small_scale_p(wrong, scale) < 1e-12
    right = np.rint(np.random.default_rng(1).normal(0.0, scale, DRAWS)).astype(np.int64)
    assert small_scale_p(right, scale) > 1e-12


def test_the_discrete_gaussian_is_another_distribution_and_is_seen() -> None:
    support = np.arange(-12, 13)
    mass = np.exp(-0.5 * support**2.0)
    other = np.random.default_rng(2).choice(support, DRAWS, p=mass / mass.sum())
    assert small_scale_p(other, 1) < 1e-12


def test_kolmogorov_at_a_large_scale(draws) -> None:
    assert large_scale_p(draws, LARGE) > 1e-10


def test_equally_likely_cells_at_a_large_scale(draws) -> None:
    assert shape_p(draws, LARGE) > 1e-12


@pytest.mark.parametrize("z", [1.0, 2.0, 3.0, 3.5, 4.0, 4.5])
def test_tails(draws, z) -> None:
    assert tail_p(draws, LARGE, z) > 1e-11


@pytest.mark.long
@pytest.mark.parametrize("scale", [1, 3, 100, 10_000, LARGE, MAX_SCALE])
def test_ten_million_draws(scale) -> None:
    """And one percent of the scale is seen, on either side."""
    drawn = rounded_gaussian(scale, 10_000_000, SystemBits())
    if scale < 1000:
        assert small_scale_p(drawn, scale) > 1e-12
    assert large_scale_p(drawn, scale) > 1e-11
    for wrong in (0.99 * scale, 1.01 * scale):
        assert large_scale_p(drawn, wrong) < 1e-12
    if scale >= 10_000:
        assert shape_p(drawn, scale) > 1e-12
        assert shape_p(drawn, 0.99 * scale) < 1e-12


@pytest.mark.parametrize("factor", [99, 101])
def test_a_large_scale_that_is_one_percent_wrong_is_seen(draws, factor) -> None:
    assert large_scale_p(draws, LARGE * factor // 100) < 1e-10
    assert shape_p(draws, LARGE * factor // 100) < 1e-12
    assert tail_p(draws, LARGE * factor // 100, 2.0) < 1e-11


def test_a_gap_in_one_place_is_seen(draws) -> None:
    """One sample in 300 lost around one point: the scale is right, the shape is not."""
    near = np.abs(draws - LARGE) < LARGE // 400
    keep = ~near | (np.arange(draws.size) % 2 == 0)
    assert shape_p(draws[keep], LARGE) < 1e-12


def test_signs_and_neighbors_are_independent(draws) -> None:
    positive = int(np.count_nonzero(draws > 0))
    assert stats.binomtest(positive, draws.size).pvalue > 1e-11
    z = draws / LARGE
    for lag in (1, 2, 32768):
        # A sum of products of independent normals, over its standard deviation.
        assert abs(float(np.dot(z[lag:], z[:-lag]))) < 7.5 * math.sqrt(z.size - lag)
        assert abs(float(np.dot(z[lag:] ** 2 - 1, z[:-lag] ** 2 - 1))) < 15 * math.sqrt(z.size)


def exact_sampler(scale: int, size: int, seed: int) -> np.ndarray:
    """Rounded Gaussian by inversion: 192 random bits against a table of exact probabilities."""
    with mpmath.workdps(70):
        last = 14 * scale
        table = [
            int(mpmath.ncdf(mpmath.mpf(2 * k + 1) / (2 * scale)) * 2**192)
            for k in range(-last, last)
        ]
    words = np.random.Generator(np.random.PCG64(seed)).integers(
        0, 2**64, size=(size, 3), dtype=np.uint64
    )
    numbers = ((a << 128) | (b << 64) | c for a, b, c in words.tolist())
    return np.array([bisect.bisect_right(table, number) - last for number in numbers])


@pytest.mark.parametrize("scale", [1, 7])
def test_against_an_independent_exact_sampler(scale) -> None:
    size = 150_000
    theirs = exact_sampler(scale, size, seed=4)
    ours = rounded_gaussian(scale, size, SeededBits(5))
    assert two_sample_p(ours, theirs) > 1e-12
    assert small_scale_p(theirs, scale) > 1e-12
    assert two_sample_p(ours, exact_sampler(scale + 1, size, seed=6)) < 1e-12


def two_sample_p(a: np.ndarray, b: np.ndarray) -> float:
    last = int(2.0 * max(a.std(), b.std()))
    counts = [np.bincount(np.clip(x, -last, last) + last, minlength=2 * last + 1) for x in (a, b)]
    return float(stats.chi2_contingency(np.array(counts)).pvalue)


def test_scales_per_coordinate() -> None:
    scales = np.resize(np.array([3, 1, LARGE]), 3 * DRAWS // 2)
    drawn = rounded_gaussian(scales, scales.size, SystemBits())
    assert small_scale_p(drawn[scales == 3], 3) > 1e-12
    assert small_scale_p(drawn[scales == 1], 1) > 1e-12
    assert shape_p(drawn[scales == LARGE], LARGE, cells=400) > 1e-12
    together = drawn[: scales.size // 3 * 3].reshape(-1, 3) / [3, 1, LARGE]
    products = together.T @ together / math.sqrt(len(together))
    # The rounding adds 1/12 of a step to the variances; normals at 7.5 deviations.
    assert np.all(np.abs(products[np.triu_indices(3, 1)]) < 7.5 * 1.1)
