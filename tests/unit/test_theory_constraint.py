"""Eq. 25 of the drafts: its optimum, found twice, and what it is worth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from prolate.errors import InputError
from prolate.theory import radii
from prolate.theory.chi2_mixture import ChiSquareMixture
from prolate.theory.constraint import _squares, ball_scaling


def conditional_squares(weights: np.ndarray, x: float) -> np.ndarray:
    return _squares(ChiSquareMixture(weights), x)[0]


def test_conditional_squares_add_up() -> None:
    weights = np.array([1.0, 0.3, 0.3, 0.01])
    for x in (0.01, 1.0, 30.0):
        squares = conditional_squares(weights, x)
        assert squares @ weights == pytest.approx(x, rel=1e-10)
        assert squares[1] == squares[2]
        assert np.all(squares > 0.0)


def test_conditional_squares_are_the_slopes_of_the_quantile() -> None:
    weights, p, step = np.array([1.0, 0.5, 0.1]), 1e-4, 1e-5
    squares = conditional_squares(weights, ChiSquareMixture(weights).isf(p))
    for j in range(3):
        ends = [
            ChiSquareMixture(weights + sign * step * np.eye(3)[j]).isf(p) for sign in (1.0, -1.0)
        ]
        assert squares[j] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-7)


@pytest.mark.long
@pytest.mark.parametrize(("alpha", "d", "n"), [(0.5, 10, 1e3), (1, 30, 1e6), (3, 5, 1e2)])
def test_no_other_scaling_is_better(alpha: float, d: int, n: float) -> None:
    """A general optimizer, from random starts, on the plain objective."""
    sigma = np.arange(1.0, d + 1.0) ** -alpha
    found = ball_scaling(sigma, 1.0 / n)

    def objective(log_w: np.ndarray) -> float:
        w = np.exp(log_w)
        return math.log(ChiSquareMixture(w).isf(1.0 / n) * np.sum(sigma**2 / w))

    def gradient(log_w: np.ndarray) -> np.ndarray:
        w = np.exp(log_w)
        q = ChiSquareMixture(w).isf(1.0 / n)
        need = sigma**2 / w
        return w * conditional_squares(w, q) / q - need / need.sum()

    rng = np.random.default_rng(0)
    for _ in range(2):
        start = np.log(sigma) + rng.normal(size=d)
        other = minimize(objective, start, jac=gradient, method="L-BFGS-B",
                         options={"ftol": 1e-15, "gtol": 1e-9})  # fmt: skip
        assert math.exp(other.fun) == pytest.approx(found.noise, rel=1e-8)


def test_the_ball_holds_what_it_should() -> None:
    sigma = np.array([3.0, 1.0, 0.2])
    found = ball_scaling(sigma, 1e-4)
    assert radii.squared_norm(sigma, found.b).sf(0.25) == pytest.approx(1e-4, rel=1e-8)
    assert found.noise == pytest.approx(0.25 * np.sum(found.b**-2.0), rel=1e-9)
    assert found.lemma == pytest.approx(
        radii.exact_radius(sigma, 1e-4) ** 2 * sigma.sum() ** 2, rel=1e-9
    )
    # Lemma 4.1 gives the widest column more of the sphere.
    share, lemma = (found.b * sigma) ** 2, (radii.optimal_b(sigma) * sigma) ** 2
    assert share[0] / share.sum() < lemma[0] / lemma.sum()


def test_equal_columns_gain_nothing() -> None:
    found = ball_scaling(np.full(50, 2.0), 1e-3)
    assert found.gain == pytest.approx(1.0, abs=1e-12)
    assert found.steps == 1


@pytest.mark.parametrize("alpha", [0.01, 0.5, 1.0, 2.0, 10.0, 100.0])
@pytest.mark.parametrize("clip", [0.9, 1e-2, 1e-6])
def test_it_is_never_worse_than_lemma_4_1(alpha: float, clip: float) -> None:
    sigma = np.arange(1.0, 101.0) ** -alpha
    found = ball_scaling(sigma, clip)
    assert found.gain >= 1.0
    assert found.steps < 60


def test_units_do_not_matter() -> None:
    sigma = np.array([3.0, 1.0, 0.2])
    one, other = ball_scaling(sigma, 1e-3), ball_scaling(1e6 * sigma, 1e-3)
    assert other.gain == pytest.approx(one.gain, rel=1e-12)
    assert other.b == pytest.approx(1e-6 * one.b, rel=1e-9)
    assert other.noise == pytest.approx(1e12 * one.noise, rel=1e-12)


def test_bad_arguments() -> None:
    with pytest.raises(InputError, match="sigma must be"):
        ball_scaling([1.0, -1.0], 0.1)
    with pytest.raises(InputError, match="clip must lie"):
        ball_scaling([1.0], 1.5)
