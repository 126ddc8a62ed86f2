"""What the cut of a target takes from slopes: told by a layer next to the cut, and by the tails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.regression import regression
from prolate.estimators.regression.cut_off import CutOff
from prolate.sources import open_source

N, MU = 20_000, 1.0
SLOPES = np.array([0.5, -0.25, 0.15])
LABEL = "beyond the cut"


def multiplied(seed: int, n: int = N) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows whose errors multiply the target, and the slopes of their least squares."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    y = np.exp(x @ SLOPES + 0.5 * rng.normal(size=n))
    return x, y, np.exp(0.5 * (SLOPES @ SLOPES + 0.25)) * SLOPES


def added(seed: int, errors: Any, n: int = N) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, x @ SLOPES + errors(rng, n), SLOPES


def fits(make: Any, seeds: int, **given: Any) -> tuple[np.ndarray, np.ndarray, list[bool]]:
    """Errors of slopes, over the true ones' length; whether intervals hold; and who asked."""
    off, held, asked = [], [], []
    for seed in range(seeds):
        x, y, true = make(seed)
        release = prolate.LinearRegression(mu=MU, seed=seed, **given).fit(x, y).release_
        ends = release.interval()[:3]
        off.append((release.estimate[:3] - true) @ true / (true @ true))
        held.append((ends[:, 0] <= true) & (true <= ends[:, 1]))
        asked.append(any(one.label == LABEL for one in release.receipt))
    return np.array(off), np.array(held), asked


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_slopes_of_multiplied_errors_are_given_back_what_the_cut_took(neighbors: Any) -> None:
    off, held, asked = fits(multiplied, 12, neighbors=neighbors)
    assert sum(asked) > 6
    assert abs(off.mean()) < 0.04
    assert held.mean() > 0.9


def test_without_that_they_are_a_tenth_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same measure fails for a planted fault: nothing is asked."""
    monkeypatch.setattr(CutOff, "of", classmethod(lambda *_, **__: None))
    off, _, asked = fits(multiplied, 12)
    assert not any(asked)
    assert off.mean() < -0.08


def test_normal_errors_are_seldom_worth_it() -> None:
    _, held, asked = fits(lambda seed: added(seed, lambda rng, n: rng.normal(size=n)), 12)
    assert sum(asked) < 4
    assert held.mean() > 0.9


@pytest.mark.parametrize("kind", ["t", "exponential"])
def test_where_tails_do_not_go_with_features_slopes_are_as_sure_as_they_say(kind: str) -> None:
    def errors(rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.standard_t(3, n) if kind == "t" else rng.exponential(size=n) - 1.0

    off, held, asked = fits(lambda seed: added(seed, errors), 12)
    assert sum(asked) > 4
    assert abs(off.mean()) < 0.03
    assert held.mean() > 0.9


def test_without_noise_they_are_those_of_least_squares() -> None:
    """Up to how much farther features explain what is beyond the layer."""
    x, y, _ = multiplied(3)
    best = np.linalg.lstsq(np.column_stack([x, np.ones(N)]), y)[0]
    curator = Curator(open_source(np.column_stack([x, y])), Budget(mu=1e4), seed=1)
    line = regression(curator)
    assert np.linalg.norm(line.coef - best[:3]) < 0.03 * np.linalg.norm(best[:3])
    assert line.intercept == pytest.approx(best[3], abs=0.03)
    assert curator.remaining == pytest.approx(0.0, abs=1e-9)


def test_through_the_origin() -> None:
    def make(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x, y, true = multiplied(seed)
        sign = np.where(np.arange(N) % 2, 1.0, -1.0)
        return sign[:, np.newaxis] * x, sign * y, true  # around 0

    off, held, _ = fits(make, 8, fit_intercept=False)
    assert abs(off.mean()) < 0.2
    assert held.mean() > 0.7
