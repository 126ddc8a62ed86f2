"""No person, and no row that leaves one group for another, moves a release by more than it costs.

The other audits take a row to be what is protected. Here the rows of one person come, go or are
others, and a row may change its group; what the curators of all groups measured is recorded, with
the answers for the neighbor, and the squares of all moves over their noise are added up exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from audit.recorder import record

import prolate
from prolate import Budget
from prolate.api.splitting import split_rows
from prolate.api.terms import Terms
from prolate.sources import Source, open_source

MU = 1.5
KEYS = [0, 1, 2]
VALUES, PERSON, GROUP = [0, 1], 2, 3  # columns
HARD = [np.nan, np.inf, -1.7e308, 1.7e308, 5e-324, -0.0, 3.0, 1e154, -40.0]
STATISTICS: dict[str, Callable[..., Any]] = {
    "mean": prolate.mean,
    "mean, relative": partial(prolate.mean, error_norm="relative"),
    "variance": prolate.variance,
    "quantile": partial(prolate.quantile, q=[0.3]),
    "sum": partial(prolate.sum, bounds=(-3, 3)),
    "count": prolate.count,
}
UNITS = {
    "persons": ({"unit": PERSON}, [PERSON]),
    "groups": ({"by": GROUP, "keys": KEYS}, [GROUP]),
    "persons in groups": ({"unit": PERSON, "by": GROUP, "keys": KEYS}, [PERSON, GROUP]),
}


def neighbors(whose: str, relation: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of 40 persons, and the same but for one of them, or but for one row."""
    rng = np.random.default_rng(seed)
    n = 300
    rows = np.column_stack(
        [rng.normal(size=(n, 2)) * [1.0, 50.0], rng.integers(0, 40, n), rng.integers(0, 3, n)]
    )
    rows[rng.integers(n)] = [1e6, -1e9, 0.0, 1.0]  # who is far out moves most
    gone = np.zeros(n, dtype=bool)
    gone[np.argmax(rows[:, 0])] = True
    if "persons" in whose:
        gone = rows[:, PERSON] == 0.0
    new = rng.integers(1, 4) if "persons" in whose else 1
    values = rng.choice(HARD, size=(new, 2))
    others = np.column_stack([values, np.full(new, 99.0), rng.integers(0, 3, new)])
    kept = rows[~gone]
    return rows, kept if relation == "add-remove" else np.concatenate([kept, others])


def sources(rows: np.ndarray, labels: list[int]) -> Iterator[Source]:
    """Yield what the curators of a release measure of these rows, one after the other."""
    source = open_source(rows, VALUES, labels=labels)
    if PERSON in labels:
        source = source.persons()
    if GROUP not in labels:
        yield source
        return
    groups = split_rows(source, source.columns[:-1], KEYS, lambda *_: None)
    for number in groups.numbers(KEYS).values():
        yield groups.group(number)


def spent(whose: str, name: str, relation: str, seed: int, patch: pytest.MonkeyPatch) -> float:
    """Return what a pair of neighbors spends of mu**2, as a part of it."""
    options, labels = UNITS[whose]
    rows, other = neighbors(whose, relation, seed)
    tape = record(
        partial(STATISTICS[name], columns=VALUES, **options),
        rows,
        sources(other, labels),
        patch,
        budget=Budget(mu=MU),
        neighbors=relation,
    )
    for one in tape.sums:
        assert one.measured or np.array_equal(one.here, one.there)
    price = sum((step.price for step in tape.measured), Fraction(0))
    return float(price / Fraction(MU) ** 2)


CASES = [
    (whose, name, relation)
    for whose in UNITS
    for name in STATISTICS
    for relation in ("replace", "add-remove")
]


@pytest.mark.parametrize(("whose", "name", "relation"), CASES)
def test_nobody_moves_a_release_by_more_than_it_costs(whose, name, relation, monkeypatch) -> None:
    for seed in range(4):
        assert spent(whose, name, relation, seed, monkeypatch) <= 1.0


def test_nearly_all_of_it_is_spent_somewhere(monkeypatch) -> None:
    """Or the pairs of neighbors would show nothing."""
    for whose in UNITS:
        assert spent(whose, "count", "add-remove", 0, monkeypatch) > 0.99
        assert max(spent(whose, "sum", "replace", k, monkeypatch) for k in range(4)) > 0.2


def test_a_group_that_pays_for_one_step_alone_is_seen(monkeypatch) -> None:
    """A row that changes its group comes and goes: two steps."""
    monkeypatch.setattr(Terms, "steps", 1)
    found = (spent("groups", "count", "replace", seed, monkeypatch) for seed in range(4))
    assert max(found) > 1.9
