"""Record a release on a tape, see `audit.tape`.

The door between rows and results has two sides. On the inner one is `Rows.sum`, which
alone asks a query of rows; on the outer one is the noise, `rounded_gaussian`, and the choices
of the exponential mechanism. Both are written down while a release is made as always.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from audit.tape import Chosen, Make, Measured, Sum, Tape, released

from prolate.curator import Curator, Measurement, choice
from prolate.curator import curator as door
from prolate.curator import rows as behind
from prolate.curator.rows import Rows
from prolate.queries import Query, Ranks, Together
from prolate.sources import Dealing, Source, Thinning, open_source

__all__ = ["record"]


def record(
    make: Make,
    rows: Any,
    other: Any,
    patch: pytest.MonkeyPatch,
    *,
    gone: int | None = None,
    **options: Any,
) -> Tape:
    """Run a release on `rows`, and ask of `other` whatever is asked of them.

    Parameters
    ----------
    make : callable
        From the rows and `options` (budget, neighbors, ...) to the release.
    rows, other : tables
        Neighbors. Where there are several curators, `other` yields what each of them measures.
    gone : int, optional
        The row that `other` lacks, or None where it is replaced.
    """
    tape = Tape(make, options)
    with patch.context() as inner:
        _Recorder(tape, other, gone).listen(inner)
        tape.release, tape.shown = released(make, rows, options)
    return tape


@dataclass(frozen=True)
class Without:
    """Which rows of a neighbor to keep: a row that goes takes its choice along."""

    keep: Thinning
    gone: int | None

    def __call__(self, start: int, count: int) -> np.ndarray:
        """Return the numbers of those kept among `count` rows from number `start`."""
        if self.gone is None:
            return self.keep(start, count)
        kept = self.keep(start, count + 1)
        kept = kept[kept != self.gone]
        kept -= kept > self.gone
        return kept[(kept >= start) & (kept < start + count)]


@dataclass(frozen=True)
class DealtWithout(Without):
    """To which parts rows of a neighbor go: a row that goes takes its part along."""

    @property
    def each(self) -> float:
        return self.keep.each

    @property
    def parts(self) -> int:
        return self.keep.parts

    def both(self, start: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of those dealt among `count` rows from `start`, and their parts."""
        numbers = self(start, count)
        came = numbers if self.gone is None else numbers + (numbers >= self.gone)
        every, which = self.keep.both(start, count + 1)
        return numbers, which[np.isin(every, came)]


class _Recorder:
    """What is put around the methods of curators, and around their noise."""

    def __init__(self, tape: Tape, other: Any, gone: int | None) -> None:
        self.tape, self.other, self.gone = tape, other, gone
        self.keeps: list[Thinning | Dealing] = []
        self.falls: list[float] = []
        self.asked: list[tuple[int, Any, np.ndarray, np.ndarray]] = []

    def listen(self, patch: pytest.MonkeyPatch) -> None:
        """Put `begin` around `Curator.__init__`, and so on."""
        for place, name, method in (
            (Curator, "__init__", self.begin),
            (Rows, "sum", self.sum),
            (Curator, "sampled", self.sampled),
            (Curator, "apart", self.apart),
            (Curator, "whole", self.whole),
            (Curator, "measure_together", self.measure),
            (Curator, "select", self.select),
            (behind, "Thinning", self.chance),
            (behind, "Dealing", self.chance),
            (door, "rounded_gaussian", self.noise),
            (choice, "choose_cells", self.choose),
            (choice, "falling_weights", self.weights),
        ):
            patch.setattr(place, name, _around(getattr(place, name), method))

    # Of the curator.

    def begin(self, honest: Any, curator: Curator, *arguments: Any, **options: Any) -> None:
        honest(curator, *arguments, **options)
        several = isinstance(self.other, Iterator)
        self.put(curator, next(self.other) if several else open_source(self.other))

    @staticmethod
    def put(curator: Curator, neighbor: Source) -> None:
        """Lay the neighbor beside the rows of a curator."""
        vars(curator._rows)["neighbor"] = neighbor

    def sum(self, honest: Any, rows: Any, query: Query, label: str) -> np.ndarray:
        here = honest(rows, query, label)
        there = rows.neighbor.collect(query, query.size)
        self.tape.sums.append(Sum(query, label, here.copy(), there))
        return here

    def whole(self, honest: Any, curator: Curator, *arguments: Any) -> Curator:
        whole = honest(curator, *arguments)
        self.put(whole, curator._rows.neighbor)  # the queries leave rows out, whichever they are
        return whole

    def sampled(self, honest: Any, curator: Curator, wanted: float, rows: float) -> Curator:
        sample = honest(curator, wanted, rows)
        if sample is curator:
            return sample
        all_rows = curator._rows.neighbor
        if curator.exchangeable:
            self.put(sample, all_rows.leading(math.ceil(wanted)))
        else:
            self.put(sample, all_rows.thinned(Without(self.keeps.pop(), self.gone)))
        return sample

    def apart(self, honest: Any, curator: Curator, *arguments: Any) -> Curator:
        dealt = honest(curator, *arguments)
        deal = DealtWithout(self.keeps.pop(), self.gone)
        rows_of, there = dealt._parts.rows, curator._rows.neighbor.dealt(deal)

        def rows(parts: Any) -> Rows:
            here = rows_of(parts)
            vars(here)["neighbor"] = there(parts)
            return here

        dealt._parts = replace(dealt._parts, rows=rows)
        return dealt

    def measure(self, honest: Any, curator: Curator, wanted: Any) -> tuple[Measurement, ...]:
        before = len(self.tape.sums)
        found = honest(curator, wanted)
        one = self.tape.sums[before]  # one pass over the rows; what else is asked is not measured
        one.measured = True
        queries = tuple(curator._rows.fit(query) for query, _, _ in wanted)
        sides = (Together(queries).parts(side) for side in (one.here, one.there))
        steps = zip(queries, found, *sides, strict=True)
        self.tape.steps.extend(Measured(*step, leading=curator._rows.leading) for step in steps)
        return found

    def select(self, honest: Any, curator: Curator, ranks: Ranks, **options: Any) -> Measurement:
        before = len(self.tape.sums)
        self.asked.clear()
        result = honest(curator, ranks, **options)
        for one in self.tape.sums[before:]:
            one.measured = True
        moved = farthest_distance(ranks, self.asked, curator.neighbors)
        self.tape.steps.append(Chosen(ranks, result, self.falls.pop(), moved))
        return result

    # Of what is random.

    def chance(self, honest: Any, *arguments: Any) -> Any:
        self.keeps.append(honest(*arguments))
        return self.keeps[-1]

    def noise(self, honest: Any, scale: int, size: int, bits: Any, **options: Any) -> np.ndarray:
        found = honest(scale, size, bits, **options)
        self.tape.noise.append((scale, found.copy()))
        return found

    def choose(self, honest: Any, searches: Any, ask: Any) -> list[int]:
        before = len(self.tape.sums)

        def spy(numbers: Any, nodes: Any) -> np.ndarray:
            answer = ask(numbers, nodes)
            there = self.tape.sums[-1].there.reshape(answer.shape)
            self.asked.extend(zip(numbers, nodes, answer.copy(), there, strict=True))
            return answer

        found = honest(searches, spy)
        self.tape.cells.append((len(self.tape.sums) - before, found))
        return found

    def weights(self, honest: Any, fall_squared: Fraction) -> np.ndarray:
        found = honest(fall_squared)
        steps = np.array((found[:-1] - found[1:]) / found[1:], dtype=float)
        self.falls.append(float(np.log1p(steps).max(initial=0.0)))
        return found


def _around(honest: Any, method: Any) -> Any:
    def call(*arguments: Any, **options: Any) -> Any:
        return method(honest, *arguments, **options)

    return call


def farthest_distance(
    ranks: Ranks, asked: list[tuple[int, Any, np.ndarray, np.ndarray]], neighbors: str
) -> int:
    """Return the most by which the distance of any cell that was looked at moves."""
    worst = 0
    below: dict[tuple[int, Any], tuple[int, int]] = {}  # of nodes: rows below, here and there
    rows: dict[int, tuple[int, int]] = {}
    for number, (level, place), *counts in asked:
        if level == 0:
            rows[number] = int(counts[0].sum()), int(counts[1].sum())
        start = below.get((number, (level, place)), (0, 0))
        upto = [first + np.cumsum(count) for first, count in zip(start, counts, strict=True)]
        under = [last - count for last, count in zip(upto, counts, strict=True)]
        for child in range(counts[0].size):
            node = (level + 1, place * counts[0].size + child)
            below[number, node] = int(under[0][child]), int(under[1][child])
        here, there = (
            ranks.distance(*side, neighbors) for side in zip(under, upto, rows[number], strict=True)
        )
        worst = max(worst, int(np.abs(there - here).max()))
    return worst
