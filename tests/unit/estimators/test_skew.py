"""What the cut of a skewed target may take from slopes, where noise hides its tails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import prolate
from prolate.estimators.regression import skew
from prolate.estimators.regression.average import Lost, average
from prolate.estimators.regression.skew import Skew
from prolate.estimators.regression.slopes import Slopes

N = 4000
SLOPES = np.array([0.4, 0.2, 0.1])
LABEL = "both sides"


def multiplied(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows whose errors multiply the target, and the slopes of their least squares."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N, 3))
    y = np.exp(x @ SLOPES + 0.5 * rng.normal(size=N))
    return x, y, np.exp(0.5 * (SLOPES @ SLOPES + 0.25)) * SLOPES


def normal(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N, 3))
    return x, x @ SLOPES + rng.normal(size=N), SLOPES


def fits(make: Any, seeds: int) -> tuple[float, float, float]:
    """The mean error along the slopes, over their length; what intervals hold; how wide they are.

    The width is a median.
    """
    off, held, wide = [], [], []
    for seed in range(seeds):
        x, y, true = make(seed)
        model = prolate.LinearRegression(epsilon=1, delta=1e-6, seed=seed).fit(x, y)
        ends = model.intervals()[:3]
        off.append((model.coef_ - true) @ true / (true @ true))
        held.append((ends[:, 0] <= true) & (true <= ends[:, 1]))
        wide.append(ends[:, 1] - ends[:, 0])
    return float(np.mean(off)), float(np.mean(held)), float(np.median(wide))


def test_intervals_of_a_few_thousand_rows_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    off, held, _ = fits(multiplied, 12)
    assert off > -0.11
    assert held > 0.85
    monkeypatch.setattr(Skew, "taken", lambda *_: 0.0)  # a planted fault
    off, held, _ = fits(multiplied, 12)
    assert off < -0.12
    assert held < 0.85


def test_normal_errors_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    off, held, wide = fits(normal, 12)
    assert abs(off) < 0.04
    assert held > 0.9
    monkeypatch.setattr(Skew, "taken", lambda *_: 0.0)
    assert wide < 1.04 * fits(normal, 12)[2]


def test_it_is_asked_where_the_target_is_cut_and_rows_pay_for_it() -> None:
    def asked(x: np.ndarray, y: np.ndarray) -> bool:
        release = prolate.LinearRegression(epsilon=1, delta=1e-6, seed=1).fit(x, y).release_
        return any(one.label == LABEL for one in release.receipt)

    x, y, _ = multiplied(1)
    assert asked(x, y)
    assert not asked(x[:800], y[:800])
    assert not asked(x, y > 1.0)  # a boolean, of which nothing is cut


def exponential(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2 * N, 3))
    return x, 2.0 * x @ SLOPES + 2.0 * rng.exponential(size=2 * N), 2.0 * SLOPES


def test_other_lines_tell_whether_skewed_errors_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are as skewed for all rows lose nothing."""
    several = [Skew(0.1, 0.01, more, 0.01, 1.0) for more in (0.0, 0.07)]
    nothing, all_of_it = (one.lost(slopes(np.ones(3), 0.1), [2.0]) for one in several)
    assert nothing.times < 0.15
    assert all_of_it.times > 0.85
    assert max(nothing.doubt, all_of_it.doubt) < 0.45
    off, held, wide = fits(exponential, 12)
    assert abs(off) < 0.1
    assert held > 0.9
    monkeypatch.setattr(skew, "_VARIES", 1e9)  # a planted fault: they tell nothing
    assert wide < 0.95 * fits(exponential, 12)[2]


def slopes(value: np.ndarray, noise: float) -> Slopes:
    k, nothing = value.size - 1, np.zeros((value.size, value.size))
    both = noise**2 * np.eye(value.size)
    return Slopes(value, both, nothing, np.eye(k), np.zeros(k), 1.0, nothing)


def test_skew_tells_nothing_beyond_its_noise_and_less_where_cuts_are_far() -> None:
    own = slopes(np.array([0.6, 0.8, 7.0]), 0.1)
    assert Skew(0.02, 0.03, 0.0, 9.0, 1.0).taken(own, 2.0) == 0.0
    known = Skew(0.1, 0.01, 0.0, 1e9, 0.5)  # other lines tell nothing
    near = known.taken(own, 1.0)
    assert near == pytest.approx(75.0 * 0.0099 * 0.5 / 1.5)
    assert known.taken(own, 4.0) == pytest.approx(near / 4.0)
    lost = known.lost(own, [1.0, 4.0])
    np.testing.assert_allclose(lost.each[0], near * np.array([0.6, 0.8, 0.0]))
    assert lost.times == pytest.approx(0.5)
    assert lost.doubt > 0.5
    for more in (-0.5, 0.0, 0.5):  # as many rows on either side
        even = Skew(0.0, 0.5, more, 0.7, 1.0).lost(own, [1.0])
        assert np.isfinite([even.times, even.doubt]).all()
        np.testing.assert_array_equal(even.each[0], 0.0)
    none = known.lost(slopes(np.zeros(3), 0.1), [1.0])
    np.testing.assert_array_equal(none.each[0], 0.0)


@pytest.mark.parametrize("times", [0.0, 1.0])
def test_slopes_of_several_cuts_tell_how_much_was_lost(times: float) -> None:
    """Where they are precise; where they are not, half of it is given back, and is in doubt."""
    true, line = np.array([0.6, 0.8, 7.0]), np.array([0.6, 0.8, 0.0])
    each = [0.3 * line, 0.1 * line]

    def found(noise: float) -> Slopes:
        several = [slopes(true - times * one, noise) for one in each]
        return average(several, lost=Lost(each, 0.5, 0.5))

    sure = found(1e-4)
    np.testing.assert_allclose(sure.value, true, atol=1e-5)
    assert np.all(np.diag(sure.noise) < 1e-6)
    unsure = found(1e3)
    np.testing.assert_allclose(unsure.value, true + (0.5 - times) * 0.2 * line, atol=1e-4)
    least = np.diag(average([slopes(true, 1e3)] * 2).noise)
    np.testing.assert_allclose(np.diag(unsure.noise) - least, (0.1 * line) ** 2, atol=1e-4)
