"""Algebra of chi-square mixtures, radii and expected errors, for mixtures of all kinds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from prolate.theory import ball_scaling, best_clip, exact_radius, radii
from prolate.theory.chi2_mixture import ChiSquareMixture
from prolate.theory.clipping import ClippedMean

EXPONENTS = st.floats(-12.0, 0.0)
PROBABILITIES = st.floats(math.log(1e-12), math.log(0.999)).map(math.exp)
FACTORS = st.floats(-8.0, 8.0).map(lambda e: 10.0**e)


@st.composite
def mixtures(draw) -> tuple[np.ndarray, np.ndarray]:
    exponents = draw(st.lists(EXPONENTS, min_size=1, max_size=12))
    repeats = draw(st.lists(st.integers(1, 40), min_size=len(exponents), max_size=len(exponents)))
    weights = np.repeat(10.0 ** np.array(exponents), repeats)
    shifted = draw(st.booleans())
    top = draw(st.floats(0.0, 50.0)) if shifted else 0.0
    return weights, top * np.linspace(0.0, 1.0, weights.size)


@st.composite
def spreads(draw) -> np.ndarray:
    exponents = draw(st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=8))
    return np.asarray(10.0 ** np.array(exponents))


@given(mixture=mixtures(), p=PROBABILITIES)
def test_quantiles_are_inverse(mixture, p) -> None:
    Q = ChiSquareMixture(*mixture)
    assert math.isclose(Q.sf(Q.isf(p)), p, rel_tol=1e-9)
    assert math.isclose(Q.cdf(Q.ppf(p)), p, rel_tol=1e-9)


@given(mixture=mixtures(), p=PROBABILITIES, q=PROBABILITIES)
def test_tails_fall(mixture, p, q) -> None:
    Q = ChiSquareMixture(*mixture)
    assume(p < q * (1.0 - 1e-6))
    assert Q.isf(p) > Q.isf(q)
    assert Q.ppf(p) < Q.ppf(q)
    x, y = Q.isf(q), Q.isf(p)
    assert Q.sf(x) > Q.sf(y)
    assert Q.cdf(x) <= Q.cdf(y)


@given(mixture=mixtures(), p=PROBABILITIES)
def test_tails_add_up_to_one(mixture, p) -> None:
    Q = ChiSquareMixture(*mixture)
    x = Q.ppf(p)
    assert math.isclose(Q.sf(x) + Q.cdf(x), 1.0, rel_tol=1e-15)


@given(mixture=mixtures(), p=PROBABILITIES, factor=FACTORS)
def test_units_do_not_matter(mixture, p, factor) -> None:
    weights, shift = mixture
    Q, scaled = ChiSquareMixture(weights, shift), ChiSquareMixture(factor * weights, shift)
    x = Q.isf(p)
    assert math.isclose(scaled.sf(factor * x), p, rel_tol=1e-9)
    assert math.isclose(scaled.pdf(factor * x) * factor, Q.pdf(x), rel_tol=1e-9)
    assert math.isclose(scaled.isf(p), factor * x, rel_tol=1e-9)


@given(mixture=mixtures(), p=PROBABILITIES, random=st.randoms(use_true_random=False))
def test_order_does_not_matter(mixture, p, random) -> None:
    weights, shift = mixture
    order = list(range(weights.size))
    random.shuffle(order)
    x = ChiSquareMixture(weights, shift).isf(p)
    assert math.isclose(ChiSquareMixture(weights[order], shift[order]).sf(x), p, rel_tol=1e-9)


@given(mixture=mixtures(), p=PROBABILITIES, more=EXPONENTS)
def test_another_column_makes_rows_longer(mixture, p, more) -> None:
    weights, shift = mixture
    Q = ChiSquareMixture(weights, shift)
    longer = ChiSquareMixture(np.append(weights, 10.0**more), np.append(shift, 0.0))
    x = Q.isf(p)
    assert longer.sf(x) >= p * (1.0 - 1e-9)
    further = ChiSquareMixture(weights, shift + 1.0)
    assert further.sf(x) >= p * (1.0 - 1e-9)


@settings(max_examples=50)
@given(mixture=mixtures(), p=PROBABILITIES)
def test_the_density_is_the_slope(mixture, p) -> None:
    Q = ChiSquareMixture(*mixture)
    x = Q.isf(p)
    step = 1e-4 * min(p, 1.0 - p) / Q.pdf(x)
    assume(step < 1e-3 * x)
    slope = (Q.sf(x - step) - Q.sf(x + step)) / (2.0 * step)
    assert math.isclose(slope, Q.pdf(x), rel_tol=1e-5)


@settings(max_examples=50)
@given(sigma=spreads(), p=PROBABILITIES)
def test_bounds_hold_and_the_ball_is_no_worse(sigma, p) -> None:
    table = radii.radius_table(sigma, clip=p)
    assert all(row.clips <= 2.0 * p for row in table.rows if row.holds)
    assert table["Chebyshev"].radius >= table["exact"].radius
    assert ball_scaling(sigma, p).gain >= 1.0


@given(sigma=spreads(), p=PROBABILITIES, factor=FACTORS)
def test_radii_do_not_depend_on_units(sigma, p, factor) -> None:
    assert math.isclose(exact_radius(sigma, p), exact_radius(factor * sigma, p), rel_tol=1e-9)


@given(
    sigma=spreads(), p=PROBABILITIES, off=st.floats(0.0, 3.0), n=st.floats(2.0, 1e6),
    mu=st.floats(0.01, 10.0),
)  # fmt: skip
def test_parts_of_the_error(sigma, p, off, n, mu) -> None:
    plan = ClippedMean(sigma, n=n, mu=mu, center_offset=off * sigma)
    error = plan.at(p)
    assert error.noise > 0.0
    assert error.bias >= 0.0
    assert 0.0 <= error.fluctuation <= plan.sampling * (1.0 + 1e-9)
    assert error.bias <= float(np.sum((off * sigma) ** 2)) * (1.0 + 1e-9)
    tighter = plan.at_radius(0.9 * error.radius)
    assert tighter.noise < error.noise
    assert tighter.bias >= error.bias * (1.0 - 1e-9)
    assert tighter.clip >= p * (1.0 - 1e-9)


@pytest.mark.long
@settings(max_examples=20)
@given(sigma=spreads(), off=st.floats(0.0, 3.0), n=st.floats(2.0, 1e6), mu=st.floats(0.01, 10.0))
def test_the_best_clip_is_no_worse_than_the_papers(sigma, off, n, mu) -> None:
    found = best_clip(sigma, n=n, mu=mu, center_offset=off * sigma)
    assert found.gain >= 1.0 - 1e-4
    more = best_clip(sigma, n=n, mu=2.0 * mu, center_offset=off * sigma)
    assert more.best.total <= found.best.total * (1.0 + 1e-4)
