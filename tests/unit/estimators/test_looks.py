"""What several windows say together about a column's place and width."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from prolate.estimators.search import looks
from prolate.estimators.search.curves import KINDS
from prolate.estimators.search.looks import Look, match, narrower, wider

WINDOWS = ((0.0, 64.0), (5.0, 16.0), (9.0, 4.0))  # middle and half the width


def look(middle: float, half: float, mean: np.ndarray, std: np.ndarray, noise: float) -> Look:
    """Return the exact counts of normal columns in a window, as if they were noisy."""
    d = mean.size
    center, halves = np.full(d, middle), np.full(d, half)
    edges = np.linspace(middle - half, middle + half, 13)
    below = ndtr((edges - mean[:, np.newaxis]) / std[:, np.newaxis])
    parts = np.diff(below, axis=1, prepend=0.0, append=1.0)
    return Look(center, halves, parts, np.full(d, noise))


def seen(mean: np.ndarray, std: np.ndarray, noise: float = 0.03) -> list[Look]:
    return [look(middle, half, mean, std, noise) for middle, half in WINDOWS]


def test_normal_columns_are_found() -> None:
    mean, std = np.array([8.0, 9.3, 10.5, 7.5]), np.array([1.0, 0.7, 1.5, 0.5])
    found = match(seen(mean, std))
    center, spread, doubt = found.center, found.spread, found.doubt
    assert np.all(np.abs(center - mean) < 0.15)
    assert np.all(np.abs(np.log2(spread / std)) < 0.5)
    assert np.all(doubt < 0.5 * std)


def test_earlier_windows_tell_where_the_last_one_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last window's counts are all noise; the others know the half of it the values are in."""
    mean, std = np.array([12.0]), np.array([0.3])

    def center() -> float:
        every = seen(mean, std)
        every[-1] = Look(
            every[-1].center, every[-1].half, np.full((1, 14), 1 / 14), np.array([9.0])
        )
        return float(match(every).center[0])

    assert center() > 10.0
    table, squares = looks.curves()
    turned = table[:, ::-1], squares[:, ::-1]  # a planted fault: places from right to left
    monkeypatch.setattr(looks, "curves", lambda: turned)
    assert center() < 10.0


def test_the_noisier_the_more_doubtful() -> None:
    mean, std = np.array([9.0]), np.array([1.0])
    doubts = [float(match(seen(mean, std, noise)).doubt[0]) for noise in (0.03, 0.1, 0.3, 1.0)]
    assert doubts == sorted(doubts)
    assert doubts[-1] > 5.0 * doubts[0]


def test_columns_are_matched_each_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "_FEW", 1000)  # or they are alike, too
    rng = np.random.default_rng(0)
    mean, std = rng.uniform(6.0, 12.0, 70), rng.uniform(0.3, 2.0, 70)
    every = seen(mean, std)
    together = match(every)
    for j in (0, 31, 32, 69):
        alone = match([one.of(np.array([j])) for one in every])
        for whole, one in zip(vars(together).values(), vars(alone).values(), strict=True):
            assert whole[j] == pytest.approx(one[0], rel=1e-5)


def test_two_values_are_as_wide_as_they_are_apart() -> None:
    parts = np.zeros((1, 14))
    parts[0, 4], parts[0, 9] = 0.5, 0.5  # cells of a window of 12: their middles are 5 cells apart
    found = Look(np.zeros(1), np.full(1, 6.0), parts, np.full(1, 0.05))
    matched = match([found])
    center, spread = matched.center, matched.spread
    assert abs(center[0]) < 0.5
    assert 1.7 < spread[0] < 3.5


def test_windows_narrow_in_whole_steps_and_never_below_what_is_wanted() -> None:
    half = np.array([1.0, 8.0, 3.0, 1.0])
    wanted = np.array([0.3, 9.0, 2.9, 1e-9])
    found = narrower(half, wanted)
    steps = np.log2(half / found) * 2.0
    assert steps == pytest.approx(np.rint(steps))
    assert np.all(found >= np.minimum(wanted, half) * (1.0 - 1e-9))
    assert np.all(found[:3] < 1.5 * np.maximum(wanted[:3], half[:3] * 2.0**-3.5))
    assert found[3] == pytest.approx(2.0**-3.5)


def test_noise_makes_no_column_wide_where_all_others_are_narrow() -> None:
    """One of forty columns has counts as a wide one would, and noise that may explain it."""
    mean, std = np.full(40, 9.0), np.full(40, 0.05)
    every = seen(mean, std, 0.3)
    wide = seen(np.full(1, 9.0), np.full(1, 2.0), 0.3)
    every = [
        Look(one.center, one.half, np.vstack([other.parts, one.parts[1:]]), one.noise)
        for one, other in zip(every, wide, strict=True)
    ]
    alone = match([one.of(np.array([0])) for one in every]).spread[0]
    assert match(every).spread[0] < 0.7 * alone


def test_a_column_that_a_window_missed_is_in_the_wider_one() -> None:
    mean, std = np.array([-30.0, 12.0, 5.9]), np.full(3, 0.2)
    missed = look(0.0, 4.0, mean, std, 0.1)
    middle, half = wider(missed)
    assert np.all(np.abs(mean - middle) < half)
    assert np.all(missed.beyond > 0.99)


def test_what_kinds_columns_are_is_told_by_all_of_them() -> None:
    seen_so_far = np.full((60, KINDS.size), 1.0)
    seen_so_far[:, 1] = 3.0  # each is a little likelier to be exponential
    kinds = looks._common_kinds(seen_so_far)
    assert kinds.sum() == pytest.approx(1.0)
    assert kinds[1] > 0.6
    few = looks._common_kinds(seen_so_far[:1])
    assert few[1] < 0.5
