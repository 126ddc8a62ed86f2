"""Audits of whole releases: one row moves from -1e9 to 1e9, or goes; a basket is full, or empty.

*Black box.* Each of two neighbors is released many times. The features are the release's
estimate and every measurement behind it, in units of its noise. A linear test is fitted on
half of the runs, its threshold too; on the other half its two error rates are bounded by
Clopper and Pearson's intervals, each wrong with probability 1e-11. A mu-GDP release allows
no test with Phi^-1(power) - Phi^-1(false positives) above mu (Dong, Roth, Su 2019), so what
the bounds show above mu is a fault; at most 24 tests of two bounds each: false alarm below
1e-9. With r runs a side this sees no more than about 2 Phi^-1(1 - 25 / r). Where the score
is exactly normal (`sum` and the plain Gaussian mean: one measurement, no choice depends on
it), the distance of the two means over their standard deviation is used as well, which sees
any mu; its limit is at 7 standard deviations of its own, 3e-12.

*Replay.* One run is frozen; each query that it chose is asked of the neighbor, too. Given
the answers so far, measurement i is normal with a mean that moves by D_i and a known
standard deviation s_i, so the sum of |D_i|**2 / s_i**2 must not exceed mu**2, exactly and
in every run. No statistics, no false alarm.

Both find a mechanism whose sensitivity is halved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse, stats

import prolate
from prolate import Budget, curator
from prolate.queries import ClippedSum, Histogram, KeyHistogram, NormHistogram, Query
from prolate.sources import open_source

FALSE_ALARM = 1e-11
ROWS = np.random.default_rng(3).normal([20.0, 0.0, 5.0], [4.0, 1.0, 2.0], size=(300, 3))
BOUNDS = ([0.0, -5.0, -5.0], [40.0, 5.0, 15.0])


BASKETS = (np.random.default_rng(4).random((600, 40)) < 0.05).astype(float)
ELLIPSE = {"method": "gaussian-ellipse", "center": [20.0, 0.0, 5.0], "scale": [4.0, 1.0, 2.0]}


def with_row(value: float, rows: np.ndarray = ROWS) -> np.ndarray:
    rows = rows.copy()
    rows[17] = value
    return rows


def without_row(rows: np.ndarray) -> np.ndarray:
    return np.delete(rows, 17, axis=0)


# Both pairs of neighbors, by the relation; and those of releases that have their own.
NEIGHBORS = {
    "replace": (with_row(-1e9), with_row(1e9)),
    "add-remove": (with_row(1e9), without_row(ROWS)),
}
OF_BASKETS = {
    "replace": (with_row(0.0, BASKETS), with_row(1.0, BASKETS)),
    "add-remove": (with_row(1.0, BASKETS), without_row(BASKETS)),
}
OWN_NEIGHBORS = {
    "baskets": OF_BASKETS,
    "baskets, sparse": {
        neighbors: (sparse.csr_array(rows), sparse.csr_array(other))
        for neighbors, (rows, other) in OF_BASKETS.items()
    },
    "baskets, wild row": {
        "replace": (with_row(-1e9, BASKETS), with_row(1e9, BASKETS)),
        "add-remove": (with_row(1e9, BASKETS), without_row(BASKETS)),
    },
}


def pair_of(name: str, neighbors: str) -> tuple[Any, Any]:
    """Return the two neighbors of an audit."""
    return OWN_NEIGHBORS.get(name, NEIGHBORS)[neighbors]


Make = Callable[..., prolate.Release]
RELEASES: dict[str, Make] = {
    "sum": lambda rows, **options: prolate.sum(rows, bounds=BOUNDS, **options),
    "sum, plain": lambda rows, **options: prolate.sum(
        rows, bounds=BOUNDS, method="gaussian", **options
    ),
    "mean": prolate.mean,
    "mean, bounds": lambda rows, **options: prolate.mean(rows, bounds=BOUNDS, **options),
    "mean, gaussian": lambda rows, **options: prolate.mean(
        rows, bounds=BOUNDS, method="gaussian", **options
    ),
    "plan": lambda rows, **options: prolate.mean(rows, method="plan", **options),
    "plan-noscale": lambda rows, **options: prolate.mean(rows, method="plan-noscale", **options),
    "variance": prolate.variance,
    "quantile": lambda rows, **options: prolate.quantile(rows, [0.1, 0.5], **options),
    "mean, ellipse": lambda rows, **options: prolate.mean(rows, **ELLIPSE, **options),
    "sum, ellipse": lambda rows, **options: prolate.sum(rows, **ELLIPSE, **options),
    **dict.fromkeys(OWN_NEIGHBORS, prolate.mean),
}
REPLACE_ONLY = ("plan", "plan-noscale")
ONE_MEASUREMENT = ("sum", "sum, plain", "mean, gaussian")


@contextmanager
def recorded(patch: pytest.MonkeyPatch) -> Iterator[list[tuple[Query, curator.Measurement]]]:
    """Write down every query and its measurement."""
    seen: list[tuple[Query, curator.Measurement]] = []
    honest = curator.Curator.measure

    def measure(
        self: curator.Curator, query: Query, *, share: float, label: str
    ) -> curator.Measurement:
        measured = honest(self, query, share=share, label=label)
        seen.append((self._fit(query), measured))
        return measured

    with patch.context() as inner:
        inner.setattr(curator.Curator, "measure", measure)
        yield seen


# Black box.


def features(
    make: Make, rows: np.ndarray, runs: int, patch: pytest.MonkeyPatch, **options: object
) -> list[np.ndarray]:
    """Return one vector per run: the estimate, and all measurements in units of their noise."""
    found = []
    with recorded(patch) as seen:
        for _ in range(runs):
            seen.clear()
            estimate = make(rows, **options).estimate.ravel()
            found.append(np.concatenate([estimate, *(m.values / m.std for _, m in seen)]))
    return found


def table(sides: list[list[np.ndarray]]) -> list[np.ndarray]:
    """Put runs of different lengths into arrays, zeros where a measurement was not made."""
    width = max(len(run) for side in sides for run in side)
    return [np.array([np.pad(run, (0, width - len(run))) for run in side]) for side in sides]


def scores(sides: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Fit a linear test on half of the runs; return the scores of that half and of the other."""
    half = len(sides[0]) // 2
    fit = [side[:half] for side in sides]
    # What is wild is pulled in, feature by feature: the estimates have outliers.
    low, high = np.quantile(np.vstack(fit), [0.02, 0.98], axis=0)
    sides = [np.clip(side, low, high) for side in sides]
    fit = [side[:half] for side in sides]
    spread = np.sqrt(0.5 * (fit[0].var(axis=0) + fit[1].var(axis=0))) + 1e-12 * (1.0 + high - low)
    gap = (fit[1].mean(axis=0) - fit[0].mean(axis=0)) / spread
    # Features that differ by chance alone only blur the score.
    weight = np.where(np.abs(gap) > 4.0 * math.sqrt(2.0 / half), gap, 0.0)
    if not weight.any():
        weight = gap
    projected = [(side / spread) @ weight for side in sides]
    return [side[:half] for side in projected], [side[half:] for side in projected]


def shown_by_threshold(fit: list[np.ndarray], held_out: list[np.ndarray]) -> float:
    """Return the mu that error rates on the other half prove, up to the false alarm."""
    places = np.quantile(np.concatenate(fit), np.linspace(0.02, 0.98, 49))
    threshold = max(places, key=lambda place: proved(fit, place, confidence=FALSE_ALARM))
    return proved(held_out, threshold, confidence=FALSE_ALARM)


def proved(sides: list[np.ndarray], threshold: float, confidence: float) -> float:
    runs = len(sides[0])
    false, true = (int(np.count_nonzero(side > threshold)) for side in sides)
    most_false = stats.beta.isf(confidence, false + 1, runs - false) if false < runs else 1.0
    least_true = stats.beta.ppf(confidence, true, runs - true + 1) if true else 0.0
    return float(stats.norm.ppf(least_true) - stats.norm.ppf(most_false))


def shown_by_distance(held_out: list[np.ndarray]) -> float:
    """Return the least mu of two normals whose means are so far apart, up to the false alarm."""
    runs = len(held_out[0])
    spread = math.sqrt(0.5 * (held_out[0].var(ddof=1) + held_out[1].var(ddof=1)))
    distance = (held_out[1].mean() - held_out[0].mean()) / spread
    return float(distance - 7.0 * math.sqrt((2.0 + distance * distance / 4.0) / runs))


def audit(
    name: str, neighbors: str, rho: float, runs: int, patch: pytest.MonkeyPatch
) -> dict[str, float]:
    """Return what each test shows; a name says which test."""
    options = {"budget": Budget(rho=rho), "neighbors": neighbors}
    sides = table(
        [features(RELEASES[name], rows, runs, patch, **options) for rows in NEIGHBORS[neighbors]]
    )
    fit, held_out = scores(sides)
    shown = {"threshold": shown_by_threshold(fit, held_out)}
    if name in ONE_MEASUREMENT and neighbors == "replace":
        shown["distance"] = shown_by_distance(held_out)
    figures = ", ".join(f"{value:.2f} by {test}" for test, value in shown.items())
    print(f"{name}, {neighbors}, rho = {rho:g}: mu = {math.sqrt(2 * rho):.2f}, shown {figures}")
    return shown


def cases(names: tuple[str, ...]) -> list[tuple[str, str]]:
    return [
        (name, neighbors)
        for name in names
        for neighbors in NEIGHBORS
        if not (neighbors == "add-remove" and name in REPLACE_ONLY)
    ]


@pytest.mark.parametrize("rho", [0.5, 8])
@pytest.mark.parametrize(("name", "neighbors"), cases(("sum",)))
def test_black_box(name, neighbors, rho, monkeypatch) -> None:
    shown = audit(name, neighbors, rho, 1500, monkeypatch)
    assert max(shown.values()) <= math.sqrt(2 * rho)


@pytest.mark.parametrize("rho", [0.5, 8])
def test_black_box_of_the_mean(rho, monkeypatch) -> None:
    shown = audit("mean", "replace", rho, 400, monkeypatch)
    assert max(shown.values()) <= math.sqrt(2 * rho)


@pytest.mark.long
@pytest.mark.parametrize("rho", [0.5, 8])
@pytest.mark.parametrize(
    ("name", "neighbors"), cases(("sum", "mean", "mean, gaussian", "plan", "plan-noscale"))
)
def test_black_box_in_many_runs(name, neighbors, rho, monkeypatch) -> None:
    shown = audit(name, neighbors, rho, 3000, monkeypatch)
    assert max(shown.values()) <= math.sqrt(2 * rho)


def halve(query: type[Query], patch: pytest.MonkeyPatch) -> None:
    honest = query.sensitivity_squared
    patch.setattr(query, "sensitivity_squared", lambda self, relation: honest(self, relation) // 4)


@pytest.mark.parametrize("neighbors", list(NEIGHBORS))
def test_black_box_finds_half_a_sensitivity(neighbors, monkeypatch) -> None:
    halve(ClippedSum, monkeypatch)
    shown = audit("mean, gaussian", neighbors, 0.5, 5000, monkeypatch)
    assert shown["threshold"] > 1.0
    assert shown.get("distance", math.inf) > 1.0


def test_black_box_finds_half_a_sensitivity_in_a_large_budget(monkeypatch) -> None:
    halve(ClippedSum, monkeypatch)
    assert audit("sum, plain", "replace", 8, 1500, monkeypatch)["distance"] > 4.0


def test_black_box_is_not_blind(monkeypatch) -> None:
    """The plain sum's row goes from corner to corner: nearly all of mu is there to be seen."""
    shown = audit("sum, plain", "replace", 8, 1500, monkeypatch)
    assert shown["distance"] > 3.0


# Replay.


def moved_by(query: Query, rows: Any, other: Any) -> int:
    """Return the squared distance of a query's two answers, read as a release reads them."""
    answers = [
        open_source(side).collect(query, query.size).astype(object) for side in (rows, other)
    ]
    moved = answers[1] - answers[0]
    return int(np.dot(moved, moved))


def replay(
    name: str, neighbors: str, rho: float, patch: pytest.MonkeyPatch, *, swap: bool = False
) -> tuple[Fraction, int]:
    """Return the mu**2 that one run spends on this pair of neighbors, and its measurements."""
    rows, other = pair_of(name, neighbors)[:: -1 if swap else 1]
    with recorded(patch) as seen:
        RELEASES[name](rows, budget=Budget(rho=rho), neighbors=neighbors)
    spent = Fraction(0)
    for query, measured in seen:
        spent += Fraction(moved_by(query, rows, other)) / Fraction(measured.std) ** 2
    return spent, len(seen)


REPLAYED = cases(tuple(RELEASES))


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("rho", [0.01, 0.5, 8])
@pytest.mark.parametrize(("name", "neighbors"), REPLAYED)
def test_replay(name, neighbors, rho, swap, monkeypatch) -> None:
    claimed = Fraction(Budget(rho=rho).mu) ** 2
    most = Fraction(0)
    for _ in range(3):
        spent, measurements = replay(name, neighbors, rho, monkeypatch, swap=swap)
        assert measurements > 0
        assert spent <= claimed
        most = max(most, spent)
    print(f"{name}, {neighbors}, rho = {rho:g}: {float(most / claimed):.3f} of mu**2 spent")


@pytest.mark.parametrize("name", list(OWN_NEIGHBORS))
@pytest.mark.parametrize("neighbors", list(NEIGHBORS))
def test_baskets_are_replayed_where_rare_values_rule(name, neighbors) -> None:
    for rows in pair_of(name, neighbors):
        release = prolate.mean(rows, budget=Budget(rho=0.5), neighbors=neighbors, seed=1)
        labels = {entry.label for entry in release.receipt}
        assert {"farthest rare value", "first mean", "mean"} < labels
        assert "tilt" not in labels  # which other rows have


def test_replay_is_not_blind(monkeypatch) -> None:
    """The two rows are at opposite corners of the plain sum's ball: all of mu, but rounding."""
    spent, _ = replay("sum, plain", "replace", 0.5, monkeypatch)
    assert 0.9999 < spent <= 1


@pytest.mark.parametrize(
    ("name", "neighbors", "query"),
    [
        ("sum", "replace", ClippedSum),
        ("sum", "add-remove", ClippedSum),
        ("mean", "replace", ClippedSum),
        ("mean, gaussian", "replace", ClippedSum),
        ("variance", "add-remove", Histogram),
        ("quantile", "replace", KeyHistogram),
        ("mean, ellipse", "replace", ClippedSum),
        ("sum, ellipse", "add-remove", ClippedSum),
        ("baskets, sparse", "replace", NormHistogram),
    ],
)
def test_replay_finds_half_a_sensitivity(name, neighbors, query, monkeypatch) -> None:
    """In the measurement that is furthest from its share."""
    halve(query, monkeypatch)
    worst = Fraction(0)
    rows, other = pair_of(name, neighbors)
    with recorded(monkeypatch) as seen:
        RELEASES[name](rows, budget=Budget(mu=1), neighbors=neighbors)
    for asked, measured in seen:
        one = Fraction(moved_by(asked, rows, other)) / Fraction(measured.std) ** 2
        worst = max(worst, one / Fraction(measured.share))
    assert worst > 1


def test_every_measurement_by_itself_stays_within_its_share(monkeypatch) -> None:
    for name, neighbors in REPLAYED:
        rows, other = pair_of(name, neighbors)
        with recorded(monkeypatch) as seen:
            RELEASES[name](rows, budget=Budget(mu=2), neighbors=neighbors)
        shares = Fraction(0)
        for query, measured in seen:
            one = Fraction(moved_by(query, rows, other)) / Fraction(measured.std) ** 2
            assert one <= 4 * Fraction(measured.share)
            shares += Fraction(measured.share)
        assert shares <= 1
