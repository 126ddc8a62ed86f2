"""Replay of every public function, method and rival; see `audit.tape` for what is checked.

One run is frozen: its answers and its noise. No pair of neighbors may move an answer by more
than its sensitivity, nor all of them together by more than mu; and the same run on any other
rows, with the answers and the noise of the first in place of theirs, must end in the very same
release, bit for bit.
"""

from __future__ import annotations

import itertools
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from audit.recorder import record
from audit.subjects import CASES, EXTREMES, PLACE, SOURCES, SUBJECTS, Subject
from audit.tape import Tape

from prolate import Budget
from prolate.estimators.clipping import clipped_mean

tables = import_module("prolate.estimators.tables")

BUDGET = Budget(epsilon=5, delta=1e-6)  # mu is about 1


def taped(
    name: str,
    relation: str,
    pair: str,
    patch: pytest.MonkeyPatch,
    budget: Budget = BUDGET,
    *,
    swap: bool = False,
) -> Tape:
    subject = SUBJECTS[name]
    rows, other = subject.neighbors(pair, relation, swap=swap)
    gone = PLACE if relation == "add-remove" else None
    return record(subject.make, rows, other, patch, gone=gone, budget=budget, neighbors=relation)


def others(subject: Subject, relation: str) -> list[object]:
    """Return rows that have nothing to do with the subject's but the public facts."""
    shape = subject.rows.shape
    found = [np.full(shape, np.nan), 1e200 * np.random.default_rng(1).standard_normal(shape)]
    if relation == "add-remove":
        found = [found[0][:5], np.vstack([found[1], found[1]])]
    return [subject.form(rows) for rows in found]


@pytest.mark.parametrize(("name", "relation"), CASES)
def test_replay(name, relation, monkeypatch) -> None:
    subject = SUBJECTS[name]
    pairs = ["features flip", "wild"] if subject.slow else EXTREMES
    most = 0.0
    for pair in pairs:
        tape = taped(name, relation, pair, monkeypatch)
        tape.check()
        most = max(most, float(tape.spent) / tape.release.budget.mu**2)
    for rows in others(subject, relation):
        tape.replay(rows, monkeypatch)
    print(f"{name}, {relation}: {most:.3f} of mu**2 spent at most")


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize(
    "name",
    ["mean, a heavy column", "mean, a column that rules", "mean, a heavy column that rules"],
)
def test_columns_are_a_table_of_their_own_in_their_replays(name, relation, monkeypatch) -> None:
    """Else the subject would say nothing of that.

    Noise hides a heavy column in one tape of twenty: in all of eight once in 10**10.
    """
    tapes = (taped(name, relation, "corners", monkeypatch) for _ in range(8))
    assert any(tape.release.details.get("columns_apart") == 1 for tape in tapes)


def without_counts_of_each_column(patch: pytest.MonkeyPatch) -> None:
    """As where columns are many."""
    patch.setattr(tables, "find_kinds", lambda *_: None)


def test_columns_have_ends_of_their_own_in_their_replays(monkeypatch) -> None:
    """A row that goes from corner to corner goes from one end to the other in every column.

    Else the subject would say nothing of that. Noise decides that they have none in one tape of
    five: one of twelve is enough.
    """
    honest, summed = tables.mean_between_ends, []

    def mean_between_ends(curator, *arguments):
        summed.append(curator.dimension)
        return honest(curator, *arguments)

    monkeypatch.setattr(tables, "mean_between_ends", mean_between_ends)
    moved = 0.0
    for run in range(12):  # amounts move more at their upper end
        summed.clear()
        name, swap = "mean, columns of different kinds", run % 2 == 0
        tape = taped(name, "replace", "corners", monkeypatch, swap=swap)
        tape.check()
        sums = [step for step in tape.measured if step.result.label == "mean"]
        own = [step.moved / step.stated("replace") for step in sums if step.here.size in summed]
        moved = max(moved, *own, 0.0)
    assert moved > 0.99


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize(
    "name",
    [
        "mean, a skewed column",
        "mean, a skewed column, of a sample",
        "mean, a skewed column, missing values",
    ],
)
def test_a_skewed_column_has_a_sum_of_its_own_in_its_replays(name, relation, monkeypatch) -> None:
    """A row that goes from corner to corner goes from one end of its interval to the other.

    Else the subjects would say nothing of that. Noise may decide that it has none: one of eight
    tapes is enough.
    """
    without_counts_of_each_column(monkeypatch)
    honest, summed = clipped_mean.means_apart, []

    def means_apart(*arguments, **options):
        summed.append(True)
        return honest(*arguments, **options)

    monkeypatch.setattr(clipped_mean, "means_apart", means_apart)
    moved = 0.0
    for _ in range(8):
        summed.clear()
        tape = taped(name, relation, "corners", monkeypatch)
        tape.check()
        if summed:
            own = next(step for step in tape.measured if step.result.label == "mean")
            assert own.here.size == 1
            moved = max(moved, own.moved / own.stated(relation))
    assert moved > (0.999 if relation == "replace" else 0.1)


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
@pytest.mark.parametrize(("name", "relation"), CASES)
def test_replay_of_every_pair(name, relation, epsilon, monkeypatch) -> None:
    subject, budget = SUBJECTS[name], Budget(epsilon=epsilon, delta=1e-6)
    for pair, swap in itertools.product(EXTREMES, (False, True)):
        tape = taped(name, relation, pair, monkeypatch, budget, swap=swap)
        tape.check()
        tape.replay(subject.neighbors(pair, relation, swap=swap)[1], monkeypatch)
    for rows in others(subject, relation):
        tape.replay(rows, monkeypatch)


@pytest.mark.parametrize("source", list(SOURCES))
@pytest.mark.parametrize(
    ("name", "relation"), [("mean", "add-remove"), ("plan", "replace"), ("regression", "replace")]
)
def test_replay_from_files_and_tables(name, relation, source, tmp_path, monkeypatch) -> None:
    subject, opened = SUBJECTS[name], SOURCES[source]
    one, other = subject.neighbors("features flip", relation)
    rows, neighbor = (opened(tmp_path / side, r) for side, r in (("a", one), ("b", other)))
    gone = PLACE if relation == "add-remove" else None
    tape = record(
        subject.make, rows, neighbor, monkeypatch, gone=gone, budget=BUDGET, neighbors=relation
    )
    tape.check()
    assert tape.spent > 0
    tape.replay(neighbor, monkeypatch)


def test_the_page_on_privacy_counts_what_is_audited() -> None:
    page = (Path(__file__).parents[2] / "docs" / "privacy.md").read_text()
    assert f"{len(SUBJECTS)} subjects (" in page
    assert f"where there are both: {len(CASES)} cases." in page


def test_what_is_spent_is_nearly_all_that_may_be(monkeypatch) -> None:
    """The replay is not blind: for these, rows are known that take what the proof allows.

    Noise decides what is asked, and one run in forty asks what they take less of: of eight,
    one is enough (false alarm below 1e-12). Quantiles of few rows first ask for magnitudes, of
    which corners have the same.
    """
    for name, relation, pair, least in (
        ("sum, plain", "replace", "corners", 0.9999),
        ("sum, ellipse", "add-remove", "corners", 0.9999),
        ("mean", "add-remove", "corners", 0.99),
        ("variance", "add-remove", "corners", 0.99),
        ("quantile", "replace", "corners", 0.97),
        ("adassp", "replace", "at an angle", 0.9),
        ("adassp", "add-remove", "at an angle", 0.98),
        ("analyze gauss", "replace", "across", 0.98),
        ("gradient descent", "replace", "target flips", 0.99),
    ):
        most = 0.0
        for _ in range(8):
            tape = taped(name, relation, pair, monkeypatch)
            spent = float(tape.spent) / tape.release.budget.mu**2
            assert spent <= 1.0, name
            most = max(most, spent)
            if most > least:
                break
        assert most > least, name


@pytest.mark.parametrize("name", ["mean, baskets", "mean, sparse baskets"])
def test_baskets_are_replayed_where_rare_values_rule(name, monkeypatch) -> None:
    tape = taped(name, "replace", "corners", monkeypatch)
    labels = {step.result.label for step in tape.steps}
    assert {"farthest rare value", "first mean", "mean"} < labels
    assert "tilt" not in labels  # which other rows have


def test_a_skewed_column_is_replayed_with_both_of_its_sides(monkeypatch) -> None:
    tape = taped("mean, one skewed column", "replace", "corners", monkeypatch)
    sides = [step for step in tape.steps if step.result.label == "sides"]
    assert len(sides) in (1, 2, 3)  # more than once where noise may decide
    assert all(step.moved for step in sides)  # from one end to the other


@pytest.mark.parametrize("name", ["regression, of a sample", "mean, of a sample"])
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_a_sample_is_replayed(name, relation, monkeypatch) -> None:
    """In some of the runs the row is in the sample, and moves what is measured there."""
    moved = 0
    for pair in ("corners", "missing") * 9:
        tape = taped(name, relation, pair, monkeypatch)
        tape.check()
        some = [step for step in tape.measured if "random sample" in step.result.query]
        assert some
        moved += any(step.moved for step in some)
    # One row in two is kept: all or none of 18 once in 130,000 times.
    print(f"{name}, {relation}: in the sample in {moved} of 18 runs")
    assert 0 < moved < 18


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("mean, missing values", "present"),
        ("variance, missing values", "present"),
        ("covariance, missing values", "whole rows"),
        ("regression, missing values", "whole rows"),
    ],
)
def test_missing_values_are_counted_in_their_replays(name, asked, monkeypatch) -> None:
    tape = taped(name, "replace", "corners", monkeypatch)
    labels = [step.result.label for step in tape.steps]
    assert labels.count(asked) == (1 if asked == "present" else 2)
