"""Replay of whole releases of covariances: no pair of neighbors is told apart by more than mu.

One run is frozen; each query that it chose is asked of the neighbor, too. Given the answers
so far, measurement i is normal with a mean that moves by D_i and a known standard deviation
s_i, so the sum of |D_i|**2 / s_i**2 must not exceed mu**2, exactly and in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import prolate
from prolate import Budget, rivals
from prolate.curator import Curator, Measurement
from prolate.queries import Gram, Query, Turned
from prolate.sources import open_source

RNG = np.random.default_rng(5)
MIX = np.linalg.qr(RNG.standard_normal((4, 4)))[0] * [1.0, 0.1, 30.0, 0.01]
CORRELATED = RNG.standard_normal((3000, 4)) @ MIX.T
FEW = RNG.standard_normal((200, 12))
RHO = (0.01, 0.5, 8.0)


def with_row(rows: np.ndarray, value: float, direction: int) -> np.ndarray:
    rows = rows.copy()
    rows[17] = value * np.linspace(1.0, direction, rows.shape[1])
    return rows


def pair_of(rows: np.ndarray, neighbors: str, size: float) -> tuple[np.ndarray, np.ndarray]:
    if neighbors == "add-remove":
        return with_row(rows, size, -1), np.delete(rows, 17, axis=0)
    return with_row(rows, size, 1), with_row(rows, -size, -2)


@contextmanager
def recorded(patch: pytest.MonkeyPatch) -> Iterator[list[tuple[Query, Measurement]]]:
    seen: list[tuple[Query, Measurement]] = []
    measure = Curator.measure

    def spy(self: Curator, query: Query, **options: Any) -> Measurement:
        found = measure(self, query, **options)
        seen.append((query, found))
        return found

    with patch.context() as inside:
        inside.setattr(Curator, "measure", spy)
        yield seen


def moved_by(query: Query, rows: np.ndarray, other: np.ndarray) -> int:
    moved = query(other).astype(object) - query(rows).astype(object)
    return int(np.dot(moved, moved))


def spent(seen: list[tuple[Query, Measurement]], rows: np.ndarray, other: np.ndarray) -> Fraction:
    return sum(
        (Fraction(moved_by(q, rows, other)) / Fraction(m.std) ** 2 for q, m in seen), Fraction(0)
    )


@pytest.mark.parametrize("size", [1e9, 40.0, 0.5])
@pytest.mark.parametrize("rho", RHO)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("rows", [CORRELATED, FEW], ids=["correlated", "few"])
def test_replay(rows, neighbors, rho, size, monkeypatch) -> None:
    one, other = pair_of(rows, neighbors, size)
    for here, there in ((one, other), (other, one)):
        with recorded(monkeypatch) as seen:
            prolate.covariance(here, budget=Budget(rho=rho), neighbors=neighbors)
        assert any(isinstance(query, Turned) for query, _ in seen)
        assert 0 < spent(seen, here, there) <= Fraction(Budget(rho=rho).mu) ** 2


def coinpress(curator: Curator) -> object:
    return rivals.coinpress_covariance(curator, largest=100.0)


def gauss(curator: Curator) -> object:
    return rivals.analyze_gauss(curator, radius=30.0)


@pytest.mark.parametrize("rival", [coinpress, gauss])
@pytest.mark.parametrize("rho", RHO)
def test_replay_of_the_rivals(rival: Callable[[Curator], object], rho, monkeypatch) -> None:
    one, other = pair_of(CORRELATED, "replace", 1e9)
    with recorded(monkeypatch) as seen:
        rival(Curator(open_source(one), Budget(rho=rho)))
    claimed = Fraction(Budget(rho=rho).mu) ** 2
    assert claimed / 50 < spent(seen, one, other) <= claimed


def test_replay_finds_half_a_sensitivity(monkeypatch) -> None:
    honest = Gram.sensitivity_squared
    monkeypatch.setattr(Gram, "sensitivity_squared", lambda self, n: honest(self, n) // 4)
    one, other = pair_of(CORRELATED, "replace", 1e9)
    with recorded(monkeypatch) as seen:
        gauss(Curator(open_source(one), Budget(rho=0.5)))
    assert spent(seen, one, other) > 1
