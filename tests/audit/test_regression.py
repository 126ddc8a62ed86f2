"""Audits of our own regression: one row moves from extreme to extreme, or goes.

*Replay.* One run is frozen; each query that it chose is asked of the neighbor, too. Given
the answers so far, measurement i is normal with a mean that moves by D_i and a known
standard deviation s_i, so the sum of |D_i|**2 / s_i**2 must not exceed mu**2, nor any of
them its own share of it, exactly and in every run. No statistics, no false alarm.

*Black box.* Each of two neighbors is fitted many times. One test is linear in the
coefficients, fitted on half of the runs and tried on the others; the other is the likelihood
ratio of all measurements, whose threshold is 0. Error rates are bounded by Clopper and
Pearson's intervals, each wrong with probability 1e-11 (25 audits of four bounds: false alarm
about 1e-9, or 4e-11 without --long). With r runs on trial a side that shows no more than
about 2 Phi^-1(1 - 25 / r), so mu is small where runs are few.

Both find a Gram matrix with too little noise: half of it by replay, a twentieth by the
ratio, too; half by that, too, in the many runs of --long.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from prolate import Budget, LinearRegression
from prolate.curator import Curator, Measurement
from prolate.estimators.regression import search as regression_search
from prolate.queries import Gram, Query
from prolate.sources import open_source

FALSE_ALARM = 1e-11
RNG = np.random.default_rng(3)
FEATURES = RNG.normal([20.0, 0.0], [4.0, 1.0], size=(500, 2))
ROWS = np.column_stack([FEATURES, FEATURES @ [1.0, -2.0] + RNG.normal(size=500)])

# Opposite corners; features that flip beside a target that stays, which is the worst pair of
# a Gram matrix; the reverse; a missing value; everything at once.
EXTREMES = {
    "corners": ([1e9, 1e9, 1e9], [-1e9, -1e9, -1e9]),
    "features flip": ([1e9, 1e9, 1e9], [-1e9, -1e9, 1e9]),
    "target flips": ([1e9, 1e9, 1e9], [1e9, 1e9, -1e9]),
    "missing": ([np.nan, np.nan, np.nan], [1e9, -1e9, 1e9]),
    "wild": ([np.nan, np.inf, 5.0], [1e300, -1e300, np.nan]),
    "typical": ([20.0, 0.0, 20.0], [28.0, 2.0, 10.0]),
}

WORST = [("replace", "features flip"), ("add-remove", "corners")]


def with_row(row: list[float]) -> np.ndarray:
    rows = ROWS.copy()
    rows[17] = row
    return rows


def neighbors_of(pair: str, relation: str) -> tuple[np.ndarray, np.ndarray]:
    one, other = EXTREMES[pair]
    gone = np.delete(ROWS, 17, axis=0)
    return with_row(one), with_row(other) if relation == "replace" else gone


@contextmanager
def recorded(patch: pytest.MonkeyPatch) -> Iterator[list[tuple[Query, Measurement]]]:
    """Write down every query and its measurement: all pass through `measure_together`."""
    seen: list[tuple[Query, Measurement]] = []
    honest = Curator.measure_together

    def measure(self: Curator, wanted) -> tuple[Measurement, ...]:
        measured = honest(self, wanted)
        seen.extend(zip((self._fit(query) for query, _, _ in wanted), measured, strict=True))
        return measured

    with patch.context() as inner:
        inner.setattr(Curator, "measure_together", measure)
        yield seen


def released(rows: np.ndarray, budget: Budget, relation: str, **options) -> LinearRegression:
    model = LinearRegression(mu=budget.mu, neighbors=relation, **options)
    return model.fit(rows[:, :-1], rows[:, -1])


def hurt(patch: pytest.MonkeyPatch, times: int) -> None:
    """Make the noise of Gram matrices `times` smaller than it must be."""
    honest = Gram.sensitivity_squared
    patch.setattr(
        Gram, "sensitivity_squared", lambda self, relation: honest(self, relation) // times**2
    )


# Replay.


def replay(
    pair: str, relation: str, budget: Budget, patch: pytest.MonkeyPatch, *, swap: bool, **options
) -> list[tuple[Query, Fraction, Fraction]]:
    """Return a frozen run's queries, what part of mu**2 each spends, and its share."""
    rows, other = neighbors_of(pair, relation)[:: -1 if swap else 1]
    with recorded(patch) as seen:
        model = released(rows, budget, relation, **options)
    assert len(seen) == len(model.release_.receipt)
    found = []
    for query, measured in seen:
        answers = [
            open_source(side).collect(query, query.size).astype(object) for side in (rows, other)
        ]
        moved = answers[1] - answers[0]
        price = Fraction(int(np.dot(moved, moved))) / Fraction(measured.std) ** 2
        found.append((query, price / Fraction(budget.mu) ** 2, Fraction(measured.share)))
    return found


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("mu", [0.05, 1.0, 10.0])
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("pair", list(EXTREMES))
def test_replay(pair, relation, mu, swap, monkeypatch) -> None:
    for intercept in (True, False):
        run = replay(pair, relation, Budget(mu=mu), monkeypatch, swap=swap, fit_intercept=intercept)
        assert all(spent <= share for _, spent, share in run)
        assert sum(share for _, _, share in run) <= 1
        assert sum(spent for _, spent, _ in run) <= 1


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("pair", ["features flip", "corners", "missing"])
def test_replay_where_a_sample_is_searched(pair, relation, monkeypatch) -> None:
    """The bits of a row say whether it is in the sample: there, it changes as in the rows."""
    one, other = (np.array(row) for row in EXTREMES[pair])
    held: list[np.ndarray] = []
    honest = Curator.measure_together

    def measure(self: Curator, wanted) -> tuple[Measurement, ...]:
        rows = np.concatenate(list(self._source.blocks()))
        held.extend([rows] * len(wanted))
        return honest(self, wanted)

    monkeypatch.setattr(regression_search, "_sample_size", lambda _: 200.0)
    monkeypatch.setattr(Curator, "measure_together", measure)
    budget, kept = Budget(mu=3.0), 0
    for seed in range(6):
        held.clear()
        with recorded(monkeypatch) as seen:
            released(with_row(EXTREMES[pair][0]), budget, relation, seed=seed)
        spent = Fraction(0)
        sizes = set()
        for (query, measured), rows in zip(seen, held, strict=True):
            here = np.flatnonzero(np.all((rows == one) | (np.isnan(rows) & np.isnan(one)), axis=1))
            assert here.size <= 1
            there = np.delete(rows, here, axis=0)
            if relation == "replace":
                there = np.vstack([there, np.tile(other, (here.size, 1))])
            moved = query(rows).astype(object) - query(there).astype(object)
            price = Fraction(int(np.dot(moved, moved))) / Fraction(measured.std) ** 2
            assert price <= Fraction(measured.share) * Fraction(budget.mu) ** 2
            spent += price
            sizes.add(len(rows))
            kept += here.size if len(rows) < len(ROWS) else 0
        assert spent <= Fraction(budget.mu) ** 2
        assert min(sizes) < 0.7 * len(ROWS) == 0.7 * max(sizes)
    assert kept > 0


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_replay_of_bounded_rows(relation, monkeypatch) -> None:
    bounds = ([0.0, -5.0, -50.0], [40.0, 5.0, 50.0])
    run = replay("features flip", relation, Budget(mu=2), monkeypatch, swap=False, bounds=bounds)
    assert all(spent <= share for _, spent, share in run)
    assert sum(spent for _, spent, _ in run) <= 1


def grams(run: list[tuple[Query, Fraction, Fraction]]) -> list[Fraction]:
    """Return what the Gram matrices spend, over their shares."""
    return [spent / share for query, spent, share in run if isinstance(query, Gram)]


@pytest.mark.parametrize(("relation", "pair"), WORST)
def test_replay_is_not_blind(relation, pair, monkeypatch) -> None:
    """A row can move a Gram matrix by nearly all that is allowed for."""
    found = grams(replay(pair, relation, Budget(mu=5), monkeypatch, swap=False))
    assert found
    assert max(found) > 0.95


@pytest.mark.parametrize(("relation", "pair"), WORST)
def test_replay_finds_half_a_sensitivity(relation, pair, monkeypatch) -> None:
    hurt(monkeypatch, 2)
    found = grams(replay(pair, relation, Budget(mu=5), monkeypatch, swap=False))
    assert max(found) > 3.8


# Black box.


def runs_of(
    sides: tuple[np.ndarray, np.ndarray],
    mine: int,
    count: int,
    budget: Budget,
    relation: str,
    patch: pytest.MonkeyPatch,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients of every fit of one side, and its likelihood ratio's logarithm.

    The latter comes from the measurements and what they would be on both sides: a reader who
    knows all the other rows can work it out, and no test is better.
    """
    coefs, scores = [], []
    with recorded(patch) as seen:
        for _ in range(count):
            seen.clear()
            model = released(sides[mine], budget, relation)
            coefs.append([*model.coef_, model.intercept_])
            score = 0.0
            for query, measured in seen:
                first, second = (
                    open_source(side).collect(query, query.size).astype(np.float64)
                    for side in sides
                )
                about = measured.values - 0.5 * (first + second)
                score += float(about @ (second - first)) / measured.std**2
            scores.append([score])
    return np.array(coefs), np.array(scores)


def shown(sides: list[np.ndarray]) -> float:
    """Return the mu that the best linear test of half of the runs proves on the others."""
    half = len(sides[0]) // 2
    low, high = np.quantile(np.vstack([side[:half] for side in sides]), [0.02, 0.98], axis=0)
    sides = [np.clip(side, low, high) for side in sides]
    spread = (high - low) + 1e-12 * (1.0 + np.abs(high))
    fit = [side[:half] / spread for side in sides]
    within = sum(np.cov(side.T).reshape(2 * (spread.size,)) for side in fit) / 2.0
    gap = fit[1].mean(axis=0) - fit[0].mean(axis=0)
    weight = np.linalg.solve(within + 1e-3 * np.eye(spread.size), gap)
    first = [side @ weight for side in fit]
    places = np.quantile(np.concatenate(first), np.linspace(0.02, 0.98, 49))
    best = max(places, key=lambda place: proved(first, place))
    return proved([(side[half:] / spread) @ weight for side in sides], best)


def proved(sides: list[np.ndarray], threshold: float) -> float:
    runs = len(sides[0])
    false, true = (int(np.count_nonzero(side > threshold)) for side in sides)
    most = stats.beta.isf(FALSE_ALARM, false + 1, runs - false) if false < runs else 1.0
    least = stats.beta.ppf(FALSE_ALARM, true, runs - true + 1) if true else 0.0
    return float(stats.norm.ppf(least) - stats.norm.ppf(most))


def audit(
    pair: str, relation: str, mu: float, count: int, patch: pytest.MonkeyPatch
) -> dict[str, float]:
    """Return what the coefficients show, and what the likelihood ratio does."""
    both = neighbors_of(pair, relation)
    coefs, scores = zip(
        *(runs_of(both, mine, count, Budget(mu=mu), relation, patch) for mine in (0, 1)),
        strict=True,
    )
    found = {
        "coefficients": shown(list(coefs)),
        "likelihood": proved([side[:, 0] for side in scores], 0.0),
    }
    figures = ", ".join(f"{value:.2f} by {test}" for test, value in found.items())
    print(f"{pair}, {relation}, mu = {mu:g}: shown {figures}")
    return found


def test_black_box(monkeypatch) -> None:
    assert max(audit("features flip", "replace", 0.5, 60, monkeypatch).values()) <= 0.5


def test_black_box_finds_a_twentieth_of_the_noise(monkeypatch) -> None:
    hurt(monkeypatch, 20)
    assert audit("features flip", "replace", 0.5, 60, monkeypatch)["likelihood"] > 0.5


@pytest.mark.long
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("pair", list(EXTREMES))
@pytest.mark.parametrize("mu", [0.7, 3.0])
def test_black_box_in_many_runs(relation, pair, mu, monkeypatch) -> None:
    assert max(audit(pair, relation, mu, 600, monkeypatch).values()) <= mu


@pytest.mark.long
@pytest.mark.parametrize(("relation", "pair"), WORST)
def test_black_box_finds_half_a_sensitivity(relation, pair, monkeypatch) -> None:
    hurt(monkeypatch, 2)
    assert audit(pair, relation, 1.5, 2000, monkeypatch)["likelihood"] > 1.5
