"""Whole data sets that differ in one person: no release moves by more than was promised.

Rows carry their random bits with them, as the proofs say, so the neighbors' samples go together.
Every measurement of a release is asked of the neighbor, too; the squares of how far the answers
are apart, over the noise, add up to at most mu**2. This has no statistics and no false alarm.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import prolate
from prolate import Budget
from prolate.api import job
from prolate.api.splitting import Split
from prolate.api.terms import FOR_COUNT, FOR_THE_REST, Terms
from prolate.curator import Curator
from prolate.queries import Query, Together
from prolate.release.unit import Unit
from prolate.sources import Source, open_source

LARGE = 1e5
B = Budget(mu=1)


@dataclass(frozen=True)
class Bits:
    """Bits that belong to rows, whatever their numbers are."""

    own: np.ndarray

    def of(self, start: int, count: int) -> np.ndarray:
        """Return the bits of rows, four words each."""
        return self.own.view(np.uint16)[start : start + count]


def people(seed: int, rows: int = 40, persons: int = 8) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "who": [None if i == 0 else f"p{i}" for i in rng.integers(0, persons, rows)],
            "ward": rng.choice(["n", "s", "e"], rows),
            "x": rng.choice([-LARGE, 0.0, 1.0, LARGE, np.nan], rows),
            "y": rng.choice([-LARGE, 3.0, LARGE, np.inf], rows),
        }
    )
    return frame.assign(bits=rng.integers(0, 2**63, rows).astype(np.uint64))


def without(frame: pd.DataFrame, who: Any) -> pd.DataFrame:
    return (
        frame[frame["who"].isna() != pd.isna(who)] if pd.isna(who) else frame[frame["who"] != who]
    )


def neighbors_of(frame: pd.DataFrame, relation: str, seed: int) -> pd.DataFrame:
    """Return the data set without a person, or with other rows of theirs, anywhere."""
    rng = np.random.default_rng(seed)
    who = rng.choice([None, *sorted(frame["who"].dropna().unique())])
    rest = without(frame, who)
    if relation == "add-remove":
        return rest
    new = people(seed + 1000, int(rng.integers(1, 12))).assign(who=who)
    places = np.concatenate([np.arange(len(rest)), rng.uniform(-1, len(rest), len(new))])
    return pd.concat([rest, new]).iloc[np.argsort(places, kind="stable")]


def prepared(frame: pd.DataFrame, most: int | None, labels: list[str]) -> Source:
    source = open_source(frame, ["x", "y"], labels=labels)
    if "who" not in labels:
        return source
    return source.persons(most, Bits(frame["bits"].to_numpy()))


def multiset(source: Source) -> Counter[tuple[bytes, ...]]:
    rows = [row for block in source.blocks() for row in np.asarray(block, dtype=np.float64)]
    return Counter(row.tobytes() for row in rows)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("most", [None, 1, 3])
def test_neighbors_are_as_many_rows_apart_as_is_proved(most: int | None, relation: str) -> None:
    farthest = (0, 0)
    for seed in range(150):
        here = people(seed)
        there = neighbors_of(here, relation, seed)
        a, b = (multiset(prepared(frame, most, ["who"])) for frame in (here, there))
        gone, come = sum((a - b).values()), sum((b - a).values())
        limit = most or 1
        assert gone <= limit
        assert come <= (0 if relation == "add-remove" else limit)
        farthest = max(farthest, (gone, come))
    assert farthest == ((limit, 0) if relation == "add-remove" else (limit, limit))


class Spent:
    """How much of mu**2 a release takes of a neighbor's data."""

    def __init__(self, here: pd.DataFrame, there: pd.DataFrame, patch: pytest.MonkeyPatch) -> None:
        self.total = 0.0
        self.here, self.there, self.patch = here, there, patch

    def of(self, make: Any, **given: Any) -> Any:
        most, by, unit = given.get("max_rows"), given.get("by"), given.get("unit")
        labels = [label for label in (unit, by) if label is not None]
        neighbor = prepared(self.there, most, labels)
        split = Split(neighbor, ("x", "y")) if by else None
        now: list[Source] = [neighbor]
        honest_group, honest_measure = Split.group, Curator.measure_together

        def group(one: Any, number: int) -> Source:
            key = {n: text for text, n in one._labels.named().items()}.get(number)
            now[0] = honest_group(split, split.numbers([key])[key])
            return honest_group(one, number)

        def measure(curator: Curator, wanted: Any) -> Any:
            found = honest_measure(curator, wanted)
            queries: list[Query] = [curator._rows.fit(query) for query, _, _ in wanted]
            both = Together(tuple(queries))
            here = curator._rows.source
            sides = [both.parts(s.collect(both, both.size)) for s in (here, now[0])]
            for m, a, b in zip(found, *sides, strict=True):
                self.total += float(np.sum((a - b).astype(np.float64) ** 2)) / m.std**2
            return found

        with self.patch.context() as inner:
            inner.setattr(Split, "group", group)
            inner.setattr(Curator, "measure_together", measure)
            inner.setattr(
                job.NumberedBits,
                "from_bits",
                classmethod(lambda *_: Bits(self.here["bits"].to_numpy())),
            )
            return make(self.here.drop(columns="bits"), **given)


STATISTICS = {
    "mean": lambda d, **o: prolate.mean(d, columns=["x", "y"], **o),
    "sum": lambda d, **o: prolate.sum(d, columns=["x", "y"], bounds=(-LARGE, LARGE), **o),
    "quantile": lambda d, **o: prolate.quantile(d, 0.5, columns=["x", "y"], **o),
    "variance": lambda d, **o: prolate.variance(d, columns=["x", "y"], **o),
    "regression": lambda d, **o: prolate.regress(d, "y", features="x", **o),
}
UNITS: list[dict[str, Any]] = [
    {"unit": "who"},
    {"unit": "who", "contribution": "rows", "max_rows": 2},
    {"by": "ward", "keys": ["n", "s", "none"]},
    {"unit": "who", "by": "ward", "keys": ["n", "s", "e"]},
    {"unit": "who", "contribution": "rows", "max_rows": 2, "by": "ward", "keys": ["n", "s", "e"]},
]


def pairs(relation: str, seed: int, given: dict[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    here = people(seed)
    if "unit" not in given:
        here["who"] = [f"row {i}" for i in range(len(here))]  # each is one row
        there = neighbors_of(here, relation, seed)
        if relation == "replace":
            there = there.groupby("who", sort=False).head(1)
        return here, there
    return here, neighbors_of(here, relation, seed)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("given", UNITS, ids=lambda given: " ".join(map(str, given.values())))
@pytest.mark.parametrize("name", STATISTICS)
def test_no_person_moves_a_release_by_more_than_mu(
    name: str, given: dict[str, Any], relation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    largest = 0.0
    for seed in range(2):
        here, there = pairs(relation, seed, given)
        for one, other in ((here, there), (there, here)):
            spent = Spent(one, other, monkeypatch)
            r = spent.of(STATISTICS[name], budget=B, neighbors=relation, seed=seed, **given)
            assert r.budget == B
            assert spent.total <= 1.0 + 1e-9
            largest = max(largest, spent.total)
    assert largest > 0.0


CORNERS = pd.DataFrame(
    {
        "who": ["a"] * 4 + ["b"] * 2,
        "ward": ["n"] * 4 + ["s"] * 2,
        "x": LARGE,
        "y": LARGE,
        "bits": np.arange(6, dtype=np.uint64),
    }
)


@pytest.mark.parametrize("given", UNITS, ids=lambda given: " ".join(map(str, given.values())))
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_search_is_not_blind(
    given: dict[str, Any], relation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are persons who take all that a sum allows, so a step forgotten is found."""
    here = CORNERS if "unit" in given else CORNERS.iloc[3:]
    there = here.assign(x=np.where(here["who"] == "a", -LARGE, LARGE), y=lambda d: d["x"])
    if relation == "add-remove":
        there = without(here, "a")
    spent = Spent(here, there, monkeypatch)
    spent.of(STATISTICS["sum"], budget=B, neighbors=relation, seed=1, **given)
    assert 0.98 < spent.total <= 1.0 + 1e-9
    if "max_rows" in given or ("by" in given and relation == "replace"):  # more than one step
        monkeypatch.setattr(Terms, "steps", 1)
        faulty = Spent(here, there, monkeypatch)
        faulty.of(STATISTICS["sum"], budget=B, neighbors=relation, seed=1, **given)
        assert faulty.total > 1.5


def test_a_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """If bits belonged to places, one person's rows would decide which rows of others are kept."""
    places = np.random.default_rng(0).integers(0, 2**16, 1000).astype(np.uint16)
    monkeypatch.setattr(Bits, "of", lambda bits, start, count: places[start : start + count])
    apart = 0
    for seed in range(20):
        here = people(seed)
        there = neighbors_of(here, "add-remove", seed)
        a, b = (multiset(prepared(frame, 2, ["who"])) for frame in (here, there))
        apart = max(apart, sum((a - b).values()))
    assert apart > 2


def test_the_arithmetic_is_exact() -> None:
    assert FOR_COUNT**2 + FOR_THE_REST**2 == 1
    for mu, k, relation in itertools.product(
        (1.0, 0.1, 1 / 3, 7.7), (1, 3, 10), ("replace", "add-remove")
    ):
        unit = Unit("who", "rows", k)
        terms = Terms(Budget(mu=mu), relation, unit)
        assert terms.steps == k * (2 if relation == "replace" else 1)
        for part in (Fraction(1), FOR_COUNT, FOR_THE_REST):
            inner = Fraction(terms.budget(part).mu)
            assert inner * terms.steps <= Fraction(mu) * part
            assert inner * terms.steps > Fraction(mu) * part * (1 - Fraction(1, 10**15))
