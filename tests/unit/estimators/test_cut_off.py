"""What the cut of a target takes from slopes: told by a layer next to the cut, and by the tails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import prolate
from prolate.estimators.lengths.side_tail import fit_tail
from prolate.estimators.lengths.sides import EDGES
from prolate.estimators.regression import cut_off
from prolate.estimators.regression.cut_off import CutOff
from prolate.estimators.regression.skew import Skew
from prolate.estimators.regression.slopes import Slopes
from prolate.estimators.regression.tails import Tails
from prolate.measurement import Measurement
from prolate.queries import BeyondCut, ResidualGram

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
    assert sum(asked) > 2
    assert abs(off.mean()) < 0.04
    assert held.mean() > 0.9


def test_without_that_they_are_a_tenth_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same measure fails for planted faults: nothing is asked, and skew tells nothing."""
    monkeypatch.setattr(CutOff, "of", classmethod(lambda *_, **__: None))
    monkeypatch.setattr(Skew, "taken", lambda *_: 0.0)
    off, _, asked = fits(multiplied, 12)
    assert not any(asked)
    assert off.mean() < -0.08


def test_normal_errors_are_seldom_worth_it() -> None:
    _, held, asked = fits(lambda seed: added(seed, lambda rng, n: rng.normal(size=n)), 24)
    assert sum(asked) < 8
    assert held.mean() > 0.9


@pytest.mark.parametrize("kind", ["t", "exponential"])
def test_where_tails_do_not_go_with_features_slopes_are_as_sure_as_they_say(kind: str) -> None:
    def errors(rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.standard_t(3, n) if kind == "t" else rng.exponential(size=n) - 1.0

    off, held, _ = fits(lambda seed: added(seed, errors), 12)
    assert abs(off.mean()) < 0.03
    assert held.mean() > 0.9


@pytest.mark.parametrize("weighted", [False, True])
def test_without_noise_they_are_those_of_least_squares(weighted: bool) -> None:
    """Of rows that are shortened as a whole, or whose features reach less far than they may."""
    x, y, _ = multiplied(3)
    width = 4.0 if weighted else 8.0
    f = np.minimum(width / np.linalg.norm(x, axis=1), 1.0)[:, np.newaxis]
    design = np.column_stack([x, np.ones(N)]) * f
    best = np.linalg.lstsq(design, y * f[:, 0])[0]
    line = {"slopes": np.array([0.6, -0.3, 0.2]), "value": 1.3}
    at, ones, cut = np.zeros(4), np.ones(4), 1.5
    rows = ResidualGram(at, ones, width, constant=2.0, target=cut, weighted=weighted, **line)
    beyond = BeyondCut(rows, 0.75 * cut)
    table = np.column_stack([x, y])
    left = y - x @ line["slopes"] - 1.3
    tails = tails_of(left)
    asked = CutOff(rows, beyond, tails, cut, 1.0)
    told = [measured(query(table).astype(np.float64)) for query in (rows, beyond)]
    matrix = rows.matrix(told[0].values)
    clipped = np.linalg.solve(matrix[:-1, :-1], matrix[:-1, -1]) * [2.0, 1.0, 1.0, 1.0]
    value = np.append(line["slopes"] + clipped[1:], line["value"] + clipped[0])
    before = Slopes(value, zeros(4), zeros(4), np.eye(3), np.zeros(3), 1.0, zeros(4))
    after = asked.added(before, *told, rows=float(N)).value
    assert np.linalg.norm(before.value[:3] - best[:3]) > 0.1 * np.linalg.norm(best[:3])
    assert np.linalg.norm(after[:3] - best[:3]) < 0.02 * np.linalg.norm(best[:3])
    assert after[3] == pytest.approx(best[3], abs=0.02)


def zeros(k: int) -> np.ndarray:
    return np.zeros((k, k))


def measured(values: np.ndarray) -> Measurement:
    """An answer that hardly any noise is in."""
    return Measurement(values, 1e-3, "", "", 1.0, 1.0, 1.0)


def tails_of(left: np.ndarray) -> Tails:
    """The tails of these values, by counts whose noise is stated, but not there."""
    width = float(left.std())
    edges = np.append(EDGES, np.inf)
    low, high = (
        fit_tail(EDGES, np.histogram(s * left / width, edges)[0] * 1.0, 30.0, N, apart=N)
        for s in (-1.0, 1.0)
    )
    return Tails(low, high, width)


def through_the_origin(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows around 0 whose tails go with the line to both sides."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N, 3))
    y = (x @ SLOPES) * np.exp(0.9 * rng.normal(size=N)) + 0.1 * rng.normal(size=N)
    return x, y, np.exp(0.405) * SLOPES


def test_through_the_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    off, held, asked = fits(through_the_origin, 8, fit_intercept=False)
    assert sum(asked) > 5
    assert abs(off.mean()) < 0.05
    assert held.mean() > 0.85
    monkeypatch.setattr(CutOff, "of", classmethod(lambda *_, **__: None))  # planted faults
    monkeypatch.setattr(Skew, "taken", lambda *_: 0.0)
    off, _, _ = fits(through_the_origin, 8, fit_intercept=False)
    assert off.mean() < -0.1


def test_features_may_explain_a_part_of_the_tails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of a third of the rule are not so far from it that nothing is surer."""
    k, std, line = 7, 0.02, np.full(7, 0.1)
    likely = np.outer(line, line) + 0.05**2 * np.eye(k)
    found = 0.3 * line

    def chance_of_nothing() -> float:
        whole = np.zeros((k + 1, k + 1))
        whole[0, 0], whole[1:, 1:] = 1.0, likely
        matrix = np.eye(k + 1)
        return float(cut_off._chances(matrix, whole, np.append(0.0, found), std, k)[0])

    assert chance_of_nothing() < 0.3
    monkeypatch.setattr(cut_off, "_PARTS", (0.0, 1.0))  # a planted fault: all of it or nothing
    monkeypatch.setattr(cut_off, "_PRIOR", (0.5, 0.5))
    assert chance_of_nothing() > 0.6
