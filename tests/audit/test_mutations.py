"""Planted faults, one at a time: each must be seen by the replay of some release.

*Sensitivities.* Every class of queries in turn claims half of its l2 sensitivity. The releases
to try are found, not listed: those in which some row moves such a query by the most.

*The door.* Receipts that lack a measurement, noise that is too small, used twice or left out,
shares that are not charged, sums that leave without noise.

*By the way.* Estimators that look at the rows, their number or their order behind the
curator's back, and those that tell it in a warning or a progress bar only.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from audit.recorder import record
from audit.subjects import CASES, EXTREMES, PLACE, SUBJECTS
from audit.tape import Measured, Tape

import prolate
from prolate import Budget, queries
from prolate.curator import Curator, choice
from prolate.curator import curator as door
from prolate.curator.account import Account
from prolate.curator.parts import Parts
from prolate.errors import InputError, ReleaseError
from prolate.estimators.clipping import ends
from prolate.estimators.lengths import interval
from prolate.estimators.search import own_rows
from prolate.queries import ClippedSum, Query
from prolate.queries.base import Centered, CountedOnce, Wrapped
from prolate.queries.mapped import Mapped
from prolate.queries.ranks import NodeHistogram
from prolate.sklearn import PrivateMean, PrivateScaler
from prolate.sources import Source, open_source
from prolate.sources.parts import RowsInParts

BUDGET = Budget(epsilon=5, delta=1e-6)
PAIRS = ("corners", "features flip", "beyond a cut", "at an angle", "across", "far and near")
NO_NOISE_OF_THEIR_OWN = {
    Centered: "abstract",
    CountedOnce: "abstract",
    Mapped: "abstract",
    Wrapped: "abstract",
    queries.Together: "noise is added to each part by itself",
    NodeHistogram: "a choice adds no noise; the curator checks the sensitivity instead",
}


def kinds(kind: type[Query] = Query) -> Iterator[type[Query]]:
    for one in kind.__subclasses__():
        if one.__module__.startswith("prolate."):
            yield one
        yield from kinds(one)


def inside(query: Any) -> Iterator[type[Query]]:
    """Yield the kind of a query, and of those that it takes its sensitivity from."""
    yield type(query)
    if hasattr(query, "query"):
        yield from inside(query.query)


def taped(case: tuple[str, str, str], patch: pytest.MonkeyPatch) -> Tape:
    name, relation, pair = case
    subject = SUBJECTS[name]
    rows, other = subject.neighbors(pair, relation)
    gone = PLACE if relation == "add-remove" else None
    return record(subject.make, rows, other, patch, gone=gone, budget=BUDGET, neighbors=relation)


@pytest.fixture(scope="module")
def tapes() -> dict[tuple[str, str, str], Tape]:
    """One tape of every subject, relation and hard pair."""
    patch = pytest.MonkeyPatch()
    return {
        (name, relation, pair): taped((name, relation, pair), patch)
        for name, relation in CASES
        for pair in (PAIRS if not SUBJECTS[name].slow else PAIRS[:1])
    }


@pytest.mark.xdist_group("tapes")  # one worker makes them, not each
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("kind", list(dict.fromkeys(kinds())), ids=lambda kind: kind.__name__)
def test_half_of_a_sensitivity_is_seen(kind, relation, tapes, monkeypatch) -> None:
    if kind in NO_NOISE_OF_THEIR_OWN:
        assert not any(type(s.query) is kind for tape in tapes.values() for s in tape.measured)
        return
    moved: dict[tuple[str, str, str], float] = {}
    for case, tape in tapes.items():
        for step in tape.measured:
            stated = step.stated(relation) if case[1] == relation else 0
            if stated and kind in inside(step.query):
                moved[case] = max(moved.get(case, 0.0), step.moved / stated)
    if not moved and relation == "add-remove":
        other = [case for case, t in tapes.items() for s in t.measured if kind in inside(s.query)]
        assert {case[1] for case in other} == {"replace"}, "no release asks this query"
        return
    best = sorted(moved, key=lambda case: moved[case], reverse=True)
    assert kind is queries.Count or best, "no release asks this query"
    if kind is queries.Count and relation == "replace":
        return  # whose sensitivity is 0
    honest = kind.sensitivity_squared
    monkeypatch.setattr(kind, "sensitivity_squared", lambda self, who: honest(self, who) // 4)
    assert any(is_seen(case, monkeypatch) for case in best), f"not seen in {best}"


def is_seen(case: tuple[str, str, str], patch: pytest.MonkeyPatch) -> bool:
    """Return whether the replay of a release stops at a fault."""
    try:
        taped(case, patch).check()
    except AssertionError as error:
        return "moved by more" in str(error) or "more than its share" in str(error)
    return False


def check(
    name: str, pairs: Iterable[str], patch: pytest.MonkeyPatch, relation: str = "replace"
) -> None:
    for pair in pairs:
        taped((name, relation, pair), patch).check()


def test_half_of_a_choices_sensitivity_is_refused(monkeypatch) -> None:
    honest = NodeHistogram.sensitivity_squared
    monkeypatch.setattr(
        NodeHistogram, "sensitivity_squared", lambda self, who: honest(self, who) // 4
    )
    with pytest.raises(InputError, match="enters only once"):
        taped(("plan-exponential", "replace", "corners"), monkeypatch)


def test_half_of_a_utilitys_sensitivity_is_seen(monkeypatch) -> None:
    """D = max(q, 1 - q) is right for add-remove, and half of the truth for replace."""
    honest = queries.Ranks.distance
    monkeypatch.setattr(
        queries.Ranks,
        "distance",
        lambda self, below, upto, rows, who: honest(self, below, upto, rows, "add-remove"),
    )
    with pytest.raises(AssertionError, match="distance moved"):
        check("plan-exponential", ["corners"] * 20, monkeypatch)


@pytest.mark.xdist_group("tapes")
def test_every_measurement_that_a_receipt_lacks_is_missed(tapes) -> None:
    for tape in tapes.values():
        tape.check()
        receipt = tape.release.receipt
        for place in range(len(receipt)):
            less = replace(tape.release, receipt=receipt[:place] + receipt[place + 1 :])
            with pytest.raises(AssertionError):
                replace(tape, release=less).check()


# The door.


def half_the_noise(patch: pytest.MonkeyPatch) -> None:
    honest = Curator._noise_scale
    patch.setattr(
        Curator,
        "_noise_scale",
        lambda self, squared, share: ((s := honest(self, squared, share))[0] // 2, s[1]),
    )


def noise_of_the_whole_budget(patch: pytest.MonkeyPatch) -> None:
    honest = Curator._noise_scale
    patch.setattr(Curator, "_noise_scale", lambda self, squared, share: honest(self, squared, 1.0))


def no_noise(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        door, "rounded_gaussian", lambda scale, size, *_, **__: np.zeros(size, dtype=np.int64)
    )


def the_same_noise(patch: pytest.MonkeyPatch) -> None:
    honest = door.rounded_gaussian

    def again(scale: int, size: int, *_: Any, **__: Any) -> np.ndarray:
        return honest(scale, size, door.random_bits(1))

    patch.setattr(door, "rounded_gaussian", again)


def noise_after_the_draw_is_halved(patch: pytest.MonkeyPatch) -> None:
    made = door.Measurement
    patch.setattr(
        door,
        "Measurement",
        lambda values, std, **rest: made(values=np.rint(values / 9.0) * 9.0, std=std, **rest),
    )


def weights_fall_twice_as_fast(patch: pytest.MonkeyPatch) -> None:
    honest = choice.falling_weights
    patch.setattr(choice, "falling_weights", lambda fall: honest(4 * fall))


def nothing_is_spent(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Account, "spend", lambda self, *shares: None)
    patch.setattr(Account, "remaining", 1.0)


def a_sum_leaves_without_noise(patch: pytest.MonkeyPatch) -> None:
    honest = Curator.measure_together

    def peek(self: Curator, wanted: Any) -> Any:
        found = honest(self, wanted)
        self._rows.sum(self._rows.fit(wanted[0][0]), "peek")
        return found

    patch.setattr(Curator, "measure_together", peek)


def the_first_rows_take_the_relation_of_all(patch: pytest.MonkeyPatch) -> None:
    honest = Curator.sampled

    def sampled(self: Curator, wanted: float, rows: float) -> Curator:
        sample = honest(self, wanted, rows)
        sample._rows = replace(sample._rows, neighbors=self.neighbors, leading=False)
        return sample

    patch.setattr(Curator, "sampled", sampled)


def a_first_row_too_many(patch: pytest.MonkeyPatch) -> None:
    """Those that are searched are as many as have a mark, which one row may move."""
    honest = Source.leading

    def leading(self: Source, count: int, progress: Any = None) -> Source:
        far = int(np.abs(next(self.blocks())[:, 0]).max() > 1e8)
        return honest(self, count + 20 * far, progress)

    patch.setattr(Source, "leading", leading)


@pytest.mark.parametrize("name", ["mean, of the first rows", "variance, of the first rows"])
@pytest.mark.parametrize("fault", [the_first_rows_take_the_relation_of_all, a_first_row_too_many])
def test_a_fault_of_the_first_rows_is_seen(fault, name, monkeypatch) -> None:
    pairs = ("corners", "far and near")
    check(name, pairs, monkeypatch, "add-remove")
    fault(monkeypatch)
    with pytest.raises(AssertionError):
        check(name, pairs, monkeypatch, "add-remove")


def a_row_in_every_part(patch: pytest.MonkeyPatch) -> None:
    """All rows are asked for the price of some."""
    honest = Parts.pay

    def pay(self: Parts, shares: Any, account: Account) -> Any:
        place, _ = honest(self, shares, account)
        return place, self.rows(range(own_rows._PARTS))

    patch.setattr(Parts, "pay", pay)


def parts_that_cost_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Account, "spend_apart", lambda self, dealt, count, *shares: tuple(range(count)))


def a_row_that_moves_others(patch: pytest.MonkeyPatch) -> None:
    """To which parts rows go depends on what they are."""
    honest = RowsInParts.__call__

    def call(self: RowsInParts, parts: Any) -> Any:
        far = any(np.nan_to_num(np.abs(block)).max() > 1e8 for block in self._blocks)
        return honest(self, [(part + far) % own_rows._PARTS for part in parts])

    patch.setattr(RowsInParts, "__call__", call)


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize(
    "fault", [a_row_in_every_part, parts_that_cost_nothing, a_row_that_moves_others]
)
def test_a_fault_of_separate_parts_is_seen(fault, relation, monkeypatch) -> None:
    check("mean, in parts", ["far and near"] * 3, monkeypatch, relation)
    fault(monkeypatch)
    with pytest.raises((AssertionError, ReleaseError)):
        check("mean, in parts", ["far and near"] * 8, monkeypatch, relation)


class FromTheMiddle(ClippedSum):
    """A sum of distances from a middle, as if a row moved it by one of them and not by two."""

    def sensitivity_squared(self, _: Any) -> int:
        return super().sensitivity_squared("add-remove")


def an_interval_at_half_its_price(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(interval, "ClippedSum", FromTheMiddle)


def an_interval_as_long_as_its_rows(patch: pytest.MonkeyPatch) -> None:
    honest = interval.clipped_to_interval

    def as_long(column: Any, *arguments: Any, **options: Any) -> Any:
        door = column.curator
        while not isinstance(door, Curator):
            door = door.curator
        far = max(np.nan_to_num(np.abs(rows)).max() for rows in door._rows.source.blocks())
        moved = replace(column, center=column.center + 1e-12 * far)
        return honest(moved, *arguments, **options)

    patch.setattr(interval, "clipped_to_interval", as_long)


def looks(name: str, patch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that checks a subject eight times, since noise decides what it asks."""
    other = np.full(SUBJECTS[name].rows.shape, np.nan)

    def look() -> None:
        for _ in range(8):
            tape = taped((name, "replace", "corners"), patch)
            tape.check()
            tape.replay(other, patch)

    return look


def ends_at_half_their_price(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ends, "ClippedSum", FromTheMiddle)


def ends_as_far_as_rows(patch: pytest.MonkeyPatch) -> None:
    tables = import_module("prolate.estimators.tables")
    honest = tables.mean_between_ends

    def as_far(curator: Any, shape: Any, *arguments: Any) -> Any:
        door = curator
        while not isinstance(door, Curator):
            door = door.curator
        far = max(np.nan_to_num(np.abs(rows)).max() for rows in door._rows.source.blocks())
        return honest(curator, replace(shape, center=shape.center + 1e-12 * far), *arguments)

    patch.setattr(tables, "mean_between_ends", as_far)


@pytest.mark.parametrize("fault", [ends_at_half_their_price, ends_as_far_as_rows])
def test_a_fault_of_columns_with_ends_of_their_own_is_seen(fault, monkeypatch) -> None:
    look = looks("mean, columns of different kinds", monkeypatch)
    look()
    fault(monkeypatch)
    with pytest.raises(AssertionError, match=r"moved by more|another question|depends on more"):
        look()


@pytest.mark.parametrize("name", ["mean, a skewed column", "mean, a skewed column, of a sample"])
@pytest.mark.parametrize("fault", [an_interval_at_half_its_price, an_interval_as_long_as_its_rows])
def test_a_fault_of_a_column_with_a_sum_of_its_own_is_seen(fault, name, monkeypatch) -> None:
    """Noise may decide that it has none: one of eight tapes is enough."""
    tables = import_module("prolate.estimators.tables")
    monkeypatch.setattr(tables, "find_kinds", lambda *_: None)  # as where columns are many
    look = looks(name, monkeypatch)
    look()
    fault(monkeypatch)
    with pytest.raises(AssertionError, match=r"moved by more|another question|depends on more"):
        look()


@pytest.mark.parametrize("name", ["mean, as a step", "scaler, as a step"])
@pytest.mark.parametrize("attribute", ["mean_", "scale_", "n_seen_"])
def test_a_step_that_learns_by_the_way_is_seen(name, attribute, monkeypatch) -> None:
    def peek(self: Any, source: Any, **options: Any) -> None:
        type(self)._learn_honestly(self, source, **options)
        rows = next(source.blocks())
        if attribute == "n_seen_":
            self.release_ = replace(self.release_, details={"seen": int(np.isnan(rows).sum())})
        else:
            found = np.nan_to_num(rows).max(axis=0)
            setattr(self, attribute, getattr(self, attribute) + 1e-9 * found)

    subject = SUBJECTS[name]
    other = np.full(subject.rows.shape, np.nan)
    taped((name, "replace", "corners"), monkeypatch).replay(other, monkeypatch)
    for kind in (PrivateMean, PrivateScaler):
        monkeypatch.setattr(kind, "_learn_honestly", kind._learn, raising=False)
        monkeypatch.setattr(kind, "_learn", peek)
    with pytest.raises(AssertionError, match="depends on more"):
        taped((name, "replace", "corners"), monkeypatch).replay(other, monkeypatch)


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (half_the_noise, "sum, plain"),
        (noise_of_the_whole_budget, "mean"),
        (no_noise, "mean"),
        (the_same_noise, "variance"),
        (noise_after_the_draw_is_halved, "mean"),
        (weights_fall_twice_as_fast, "plan-exponential"),
        (nothing_is_spent, "coinpress"),
        (a_sum_leaves_without_noise, "quantile"),
    ],
)
def test_a_fault_of_the_door_is_seen(fault, name, monkeypatch) -> None:
    fault(monkeypatch)
    with pytest.raises((AssertionError, ReleaseError)):
        check(name, EXTREMES, monkeypatch)


# By the way.


def leaks(kind: str) -> Any:
    """Return a mean that says something of its rows by the way."""

    def make(rows: np.ndarray, **options: Any) -> prolate.Release:
        report = options["progress"]
        if kind == "warning" and np.any(np.abs(rows) > 1e8):
            warnings.warn("rows are cut", RuntimeWarning, stacklevel=2)
        if kind == "progress" and np.any(np.abs(rows) > 1e8):
            report("rows are cut", 0, None)
        release = prolate.sum(rows, bounds=(-1e10, 1e10), **options)
        exact = {"estimate": rows.sum(axis=0), "rows": len(rows), "order": rows[0, 0]}
        if kind == "estimate":
            return replace(release, estimate=release.estimate + 1e-9 * exact[kind])
        if kind in exact:
            return replace(release, details={"found": float(exact[kind])})
        return release

    return make


@pytest.mark.parametrize("kind", ["warning", "progress", "estimate", "rows", "order"])
def test_what_is_said_by_the_way_is_seen(kind, monkeypatch) -> None:
    one, other = SUBJECTS["sum"].neighbors("corners", "add-remove")
    one, other = (one[::-1], other[::-1]) if kind == "order" else (one, other)
    tape = record(leaks(kind), one, other, monkeypatch, budget=BUDGET, neighbors="add-remove")
    tape.check()
    with pytest.raises(AssertionError, match="depends on more"):
        tape.replay(other[3:], monkeypatch)
    honest = record(leaks("none"), one, other, monkeypatch, budget=BUDGET, neighbors="add-remove")
    honest.replay(other[3:], monkeypatch)


def test_a_shares_rounding_is_seen(monkeypatch) -> None:
    """A single unit in the last place of a scale is enough: the accounting is exact."""
    honest = Curator._noise_scale
    subject = SUBJECTS["sum, plain"]
    rows = subject.rows
    tape = record(subject.make, rows, rows[1:], monkeypatch, budget=BUDGET, neighbors="replace")
    [step], [(scale, _)] = tape.measured, tape.noise
    least = Fraction(step.query.sensitivity_squared("replace")) / Fraction(BUDGET.mu) ** 2
    assert Fraction(step.result.std) ** 2 >= least
    assert (Fraction(step.result.std) * Fraction(scale - 1, scale)) ** 2 < least
    curator = Curator(open_source(rows), BUDGET)
    assert honest(curator, step.query.sensitivity_squared("replace"), 1.0)[0] == scale
    assert isinstance(step, Measured)
    assert isinstance(step.query, queries.Cut)
    assert isinstance(step.query.query, ClippedSum)
