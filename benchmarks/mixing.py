"""Simulations of two rivals of regression that cannot pass the curator: Gaussian sketches.

Linear mixing (GaussMix; Lev et al. 2025, arXiv 2505.24603) and iterative Hessian mixing (Lev
et al. 2026, arXiv 2601.07545). A sketch S X with Gaussian S is private by the randomness of S
itself, if the smallest eigenvalue of X'X is large or made so by noise; it is no sum of
integer rows plus noise, so there is no exact arithmetic and no receipt for it here.
Simulations, for comparison of errors only: noise levels are from the papers' own accounting
(Renyi, for adding or removing a row, of norm at most 1 and |y| <= 1; constants as in the
authors' experiments), in floating point. k rows of a sketch S X + s N are normal with
covariance X'X + s**2 I, and are drawn as such.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from prolate import Budget
from prolate.estimators.regression.linear_fit import LinearFit

ROUNDS = 3  # of Hessian mixing


def epsilon_of(gamma: float, k: int, delta: float, longest: float, sketches: int) -> float:
    """The epsilon of sketches of k rows and of the eigenvalue, at a third of delta each."""

    def bound(log_excess: float) -> float:
        alpha = 1.0 + math.exp(log_excess)
        if alpha * longest >= gamma:
            return math.inf
        one = math.log1p(-longest / gamma)
        renyi = 0.5 * k * (alpha * one - math.log1p(-alpha * longest / gamma)) / (alpha - 1.0)
        convert = math.log(3.0 / delta) + (alpha - 1.0) * math.log1p(-1.0 / alpha)
        return sketches * renyi + (convert - math.log(alpha)) / (alpha - 1.0)

    most = math.log(max(gamma / longest - 1.0, 1e-9))
    found = minimize_scalar(bound, bounds=(-12.0, most), method="bounded")
    return float(found.fun) + math.sqrt(2.0 * math.log(3.75 / delta) * k) / gamma


@cache
def gamma_for(epsilon: float, delta: float, k: int, longest: float, sketches: int) -> float:
    """The least gamma that is (epsilon, delta)-private."""

    def excess(log_gamma: float) -> float:
        value = epsilon_of(math.exp(log_gamma), k, delta, longest, sketches)
        return min(value, 1e6) - epsilon

    return math.exp(brentq(excess, math.log(longest * 1.001), 40.0, xtol=1e-6))


def sketch(gram: np.ndarray, noise: float, k: int, rng: np.random.Generator) -> np.ndarray:
    """k rows of S X + noise N, by their law."""
    values, vectors = np.linalg.eigh(gram)
    root = vectors * np.sqrt(np.maximum(values, 0.0) + noise**2)
    return rng.standard_normal((k, gram.shape[0])) @ root.T


def extra_noise(
    smallest: float, gamma: float, k: int, longest: float, tau: float, rng: np.random.Generator
) -> float:
    """The noise that brings the private smallest eigenvalue up to gamma."""
    deviation = math.sqrt(longest) * gamma / math.sqrt(k)
    known = max(0.0, smallest - deviation * (tau - rng.standard_normal()))
    return math.sqrt(max(0.0, gamma - known))


def gauss_mix(X: np.ndarray, y: np.ndarray, budget: Budget) -> LinearFit:
    """Linear mixing: least squares on a sketch of (X, y)."""
    rng, d = np.random.default_rng(), X.shape[1]
    epsilon, delta = budget.stated["epsilon"], budget.stated["delta"]
    k = int(2.5 * max(d, math.log(20.0 / delta)))
    tau = math.sqrt(2.0 * math.log(20.0 / delta))
    gamma = gamma_for(epsilon, delta, k, 2.0, 1)
    rows = np.column_stack([X, y])
    gram = rows.T @ rows
    noise = extra_noise(float(np.linalg.eigvalsh(gram)[0]), gamma, k, 2.0, tau, rng)
    mixed = sketch(gram, noise, k, rng)
    coef = np.linalg.lstsq(mixed[:, :d], mixed[:, d], rcond=None)[0]
    return LinearFit(coef, 0.0, float(y.size))


def hessian_mixing(X: np.ndarray, y: np.ndarray, budget: Budget) -> LinearFit:
    """Iterative Hessian mixing: a fresh sketch of X and a noisy X'residual per round."""
    rng, d = np.random.default_rng(), X.shape[1]
    epsilon, delta = budget.stated["epsilon"], budget.stated["delta"]
    k = int(6.0 * max(d, math.log(40.0 * ROUNDS / delta)))
    tau = math.sqrt(2.0 * math.log(40.0 / delta))
    gamma = gamma_for(epsilon / 2.0, 0.75 * delta, k, 1.0, ROUNDS)
    gram = X.T @ X
    noise = extra_noise(float(np.linalg.eigvalsh(gram)[0]), gamma, k, 1.0, tau, rng)
    std = math.sqrt(ROUNDS) / Budget(epsilon=epsilon / 2.0, delta=delta / 4.0).mu
    coef = np.zeros(d)
    for _ in range(ROUNDS):
        mixed = sketch(gram, noise, k, rng)
        left = X.T @ np.clip(y - X @ coef, -1.0, 1.0) + std * rng.standard_normal(d)
        coef = coef + np.linalg.solve(mixed.T @ mixed / k, left)
    return LinearFit(coef, 0.0, float(y.size))
