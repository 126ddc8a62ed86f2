"""The tape of a release: all that it asked of its rows, and the noise that it got.

`audit.recorder` records it, with the answers that a neighbor would have given to the very
same queries. `Tape.check` then needs no statistics, and has no false alarm (but for a last
look at the noise):

- every sum is part of a measurement, or cannot depend on any row (sensitivity 0);
- the receipt has every measurement, in order, with the numbers that were used;
- of measurements of separate parts of the rows, only those of one part move;
- no answer moves by more than its query's sensitivity, nor for more than its share of mu**2:
  given the answers so far, measurement i is normal with a mean that moves by D_i and a known
  standard deviation s_i, so the sum of |D_i|**2 / s_i**2 is at most mu**2, exactly;
- where values are chosen instead, no distance moves by more than 1, and the weights fall
  no faster than the share allows.

`Tape.replay` runs the release again on *other* rows, whichever, with the recorded answers and
noise in place of theirs. If one bit of the outcome depends on rows by another way than the
door, it differs.
"""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from prolate.budget import Budget
from prolate.curator import Curator, Measurement, choice
from prolate.curator import curator as door
from prolate.curator.rows import Rows
from prolate.queries import Query, Ranks
from prolate.release import Release

Make = Callable[..., Any]
"""From rows to a release, or to something that was fitted and has one."""


@dataclass
class Sum:
    """One sum over the rows: of the rows here, and of their neighbor there."""

    query: Query
    label: str
    here: np.ndarray
    there: np.ndarray
    measured: bool = False


@dataclass
class Measured:
    """One Gaussian measurement, and the two answers that it hides."""

    query: Query
    result: Measurement
    here: np.ndarray
    there: np.ndarray
    leading: bool = False  # of the first rows alone

    def stated(self, neighbors: str) -> int:
        """The squared sensitivity, by the query's docstring.

        A row that comes or goes moves others in or out of the first ones, or makes them fewer.
        """
        both = {neighbors, *(("replace", "add-remove") if self.leading else ())}
        return max(self.query.sensitivity_squared(relation) for relation in both)

    @property
    def moved(self) -> int:
        """The squared distance of the two answers."""
        return squared(self.here, self.there)

    @property
    def price(self) -> Fraction:
        """The mu**2 that this pair of neighbors spends."""
        return Fraction(self.moved) / Fraction(self.result.std) ** 2

    @property
    def likelihood(self) -> float:
        """The logarithm of the likelihood ratio of there to here: no test sees more."""
        here, there = self.here.astype(float), self.there.astype(float)
        about = self.result.values - 0.5 * (here + there)
        return float(about @ (there - here)) / self.result.std**2


@dataclass
class Chosen:
    """One use of the exponential mechanism."""

    ranks: Ranks
    result: Measurement
    fall: float  # the most that a weight falls by, in logarithms
    moved: int  # the most that a distance moved by


def _as_booked(steps: list[Measured | Chosen]) -> list[Measured | Chosen]:
    """Return the steps with all those of separate parts in the place of the first of them."""
    first: dict[int, int] = {}
    for number, step in enumerate(steps):
        if step.result.place is not None:
            first.setdefault(step.result.place.dealt, number)
    places = [
        number if step.result.place is None else first[step.result.place.dealt]
        for number, step in enumerate(steps)
    ]
    return [steps[number] for number in np.argsort(places, kind="stable")]


def squared(here: np.ndarray, there: np.ndarray) -> int:
    """Return the squared distance of two integer vectors, exactly."""
    moved = there.astype(object) - here.astype(object)
    return int(np.dot(moved, moved))


@dataclass
class Tape:
    """What one release asked, was answered and was given as noise."""

    make: Make
    options: dict[str, Any]
    sums: list[Sum] = field(default_factory=list)
    steps: list[Measured | Chosen] = field(default_factory=list)
    noise: list[tuple[int, np.ndarray]] = field(default_factory=list)
    cells: list[tuple[int, list[int]]] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    release: Release | None = None

    @property
    def budget(self) -> Budget:
        return self.options["budget"]

    @property
    def neighbors(self) -> str:
        return self.options["neighbors"]

    @property
    def measured(self) -> list[Measured]:
        return [step for step in self.steps if isinstance(step, Measured)]

    @property
    def spent(self) -> Fraction:
        """What this pair of neighbors spends of mu**2 in all; of a choice, its whole share."""
        squared_mu = Fraction(self.release.budget.mu) ** 2
        return sum(
            (
                step.price
                if isinstance(step, Measured)
                else Fraction(step.result.share) * squared_mu
                for step in self.steps
            ),
            Fraction(0),
        )

    def check(self) -> None:
        """Raise unless all that left the rows was measured, booked and paid for."""
        for one in self.sums:
            if not one.measured:
                assert one.query.sensitivity_squared(self.neighbors) == 0, "a sum left unmeasured"
                assert np.array_equal(one.here, one.there)
        self._check_receipt()
        squared_mu = Fraction(self.release.budget.mu) ** 2
        assert self.release.budget.mu <= self.budget.mu
        for step in self.steps:
            share = Fraction(step.result.share) * squared_mu
            if isinstance(step, Chosen):
                assert self.release.budget.composition == "zcdp", "a choice is not Gaussian"
                assert step.moved <= 1, "a distance moved by more than 1"
                most = math.sqrt(share / step.ranks.count) * (1.0 + 1e-9)
                assert step.fall <= most, "weights fall too fast"
                continue
            stated = step.stated(self.neighbors)
            assert step.moved <= stated, f"{step.result.label}: moved by more than is stated"
            assert step.price <= share, f"{step.result.label}: spends more than its share"
        assert self._price_of(self.steps) <= 1
        assert self.spent <= squared_mu
        moved = [step.result.place for step in self.measured if step.moved and step.result.place]
        for dealt in {place.dealt for place in moved}:
            sets = [set(place.parts) for place in moved if place.dealt == dealt]
            assert set.intersection(*sets), "a row is in two parts"

    @staticmethod
    def _price_of(steps: list[Measured | Chosen]) -> Fraction:
        """What is spent in all: of separate parts, what is spent on the dearest one."""
        whole, parts = Fraction(0), defaultdict(Fraction)
        for step in steps:
            share, place = Fraction(step.result.share), step.result.place
            if place is None:
                whole += share
            for part in () if place is None else place.parts:
                parts[place.dealt, part] += share
        for dealt in {dealt for dealt, _ in parts}:
            whole += max(parts[one] for one in parts if one[0] == dealt)
        return whole

    def _check_receipt(self) -> None:
        noise = iter(self.noise)
        drawn_for = {id(step): next(noise, (0, np.zeros(0))) for step in self.measured}
        assert next(noise, None) is None, "noise was drawn that belongs to no measurement"
        lines = self.release.receipt
        booked = [one for line in lines for one in (line.questions or (line,))]
        spent = math.fsum(line.share for line in lines)
        assert math.isclose(spent, self._price_of(self.steps), rel_tol=1e-12)
        assert len(booked) == len(self.steps), "the receipt lacks a measurement"
        for entry, step in zip(booked, _as_booked(self.steps), strict=True):
            result = step.result
            assert (entry.label, entry.query, entry.share) == (
                result.label,
                result.query,
                result.share,
            )
            assert (entry.noise_std, entry.size) == (result.std, result.values.size)
            assert entry.parts == (() if result.place is None else result.place.parts)
            if isinstance(step, Chosen):
                continue
            stated = step.stated(self.neighbors)
            assert entry.sensitivity == math.sqrt(stated)
            scale, drawn = drawn_for[id(step)]
            assert drawn.size == step.here.size == result.values.size
            steps = Fraction(scale) / Fraction(result.std)  # of the noise, to one of the sum
            assert steps.denominator == 1
            assert steps >= 1
            # What is released is the sum and the noise that was drawn, up to a double's rounding.
            rest = result.values - step.here.astype(float)
            bound = 2.0**-50 * (np.abs(step.here) + np.abs(rest) + 1.0)
            assert np.all(np.abs(rest - drawn / float(steps)) <= bound)
        # A standard normal number each, and each of its own: wrong once in 10**12 times.
        z = np.concatenate(
            [np.zeros(0), *(drawn / scale for scale, drawn in self.noise if scale > 99)]
        )
        if z.size:
            assert 1e-12 < stats.chi2.cdf(float(z @ z), z.size) < 1.0 - 1e-12, (
                "this is no such noise"
            )
            # Noise of other scales is the same but for rounding; so are few of honest draws.
            few = 3 + 2e-8 * z.size**2
            again = z.size - np.unique(np.round(z, 8)).size
            assert z.size < 4 or again < few, "noise is used again"

    def replay(self, rows: Any, patch: pytest.MonkeyPatch) -> None:
        """Raise unless the release on `rows`, with everything measured frozen, is the same."""
        sums, noise, cells = iter(self.sums), iter(self.noise), iter(self.cells)

        def total(rows: Rows, query: Query, label: str) -> np.ndarray:
            one = next(sums)
            assert query.describe() == one.query.describe(), "another question was asked"
            assert (query.size, label) == (one.here.size, one.label)
            report = rows.report(label)
            if report is not None and label in self.shown:  # Spark tells of long sums only
                report(0)
            return one.here.copy()

        def gaussian(scale: int, size: int, bits: object, **options: object) -> np.ndarray:
            recorded, drawn = next(noise)
            assert (scale, size) == (recorded, drawn.size), "other noise was asked for"
            return drawn.copy()

        def choose(searches: object, ask: object) -> list[int]:
            # The questions on the way are answered on the tape; only their number is used up.
            found = next(cells)
            for _ in range(found[0]):
                next(sums)
            return found[1]

        honest = Curator.select

        def select(curator: Curator, ranks: Ranks, *, share: float, label: str) -> Measurement:
            report = curator._rows.report(label)
            if report is not None:
                report(0)
            return honest(curator, ranks, share=share, label=label)

        with patch.context() as inner:
            inner.setattr(Rows, "sum", total)
            inner.setattr(Curator, "select", select)
            inner.setattr(door, "rounded_gaussian", gaussian)
            inner.setattr(choice, "choose_cells", choose)
            again, shown = released(self.make, rows, self.options)
        assert next(sums, None) is None
        assert next(noise, None) is None
        assert again.to_json() == self.release.to_json(), "the release depends on more"
        assert repr(again) == repr(self.release)
        differ = set(shown) ^ set(self.shown)
        assert shown == self.shown, f"what is shown depends on more: {sorted(differ)[:3]}"


def released(make: Make, rows: Any, options: dict[str, Any]) -> tuple[Release, list[str]]:
    """Return a release, and what it says meanwhile: warnings, and labels of its progress."""
    shown: list[str] = []

    def report(label: str, done: int, total: int | None) -> None:
        if label not in shown:
            shown.append(label)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        made = make(rows, **options, progress=report)
        if hasattr(made, "release_"):
            public = np.linspace(-3.0, 50.0, 4 * made.n_features_in_).reshape(4, -1)
            use = made.predict if hasattr(made, "predict") else made.transform
            shown += [repr(made), repr(use(public).tolist())]
            made = made.release_
    return made, shown + [str(warning.message) for warning in caught]
