"""Attacks on floating-point arithmetic: each succeeds on a naive mechanism, and fails on ours.

*Low bits.* Mironov (2012): which doubles the sum of an answer and a noise can be depends on
the answer. Haney, Desfontaines, Hartman, Shrestha, Hay (2022): even where the noise is exact,
the precision of the sum depends on the answer's size, and a noise that lives on a grid leaves
the answer's place between the grid's points as it is.

*Sums.* Casacuberta, Shoemate, Vadhan, Wagaman (2022): a sum of floating-point numbers or of
machine integers moves by far more than the numbers do: rounding that piles up, large numbers
that cancel, orders of rows, integers that overflow, values that are not finite.

The naive mechanisms keep to the textbook: clip, add, scale the noise to the bounds. Ours are
held to the exact arithmetic of `audit.tape`: no answer moves by more than is stated, so there
is nothing to see for an attack of any kind; and the attacks are tried on them all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from audit import testers
from audit.recorder import record
from audit.subjects import CASES, PLACE, SUBJECTS
from audit.tape import released

import prolate
from prolate import Budget, LinearRegression
from prolate.queries import kernels
from prolate.sklearn import PrivateMean
from prolate.sources import open_source

BUDGET = Budget(epsilon=5, delta=1e-6)


# Low bits: Mironov; Haney et al.


def low_bits(values: np.ndarray) -> np.ndarray:
    """Return what the low bits of doubles say: trailing zeros, exponent, the last four bits."""
    patterns = np.abs(values).view(np.int64)
    mantissa = (patterns & ((1 << 52) - 1)) | (1 << 52)
    zeros = np.log2(mantissa & -mantissa)
    exponent = patterns >> 52
    last = [(patterns >> bit) & 1 for bit in range(4)]
    # The unit of the last bit that is set, which Mironov's and Haney's attacks look at.
    return np.stack([zeros, exponent, zeros + exponent, *last], axis=-1).reshape(len(values), -1)


def shown_by_low_bits(sides: list[np.ndarray]) -> float:
    """Return the mu that a trained classifier proves by low bits alone."""
    halves = testers.halves([low_bits(side) for side in sides])
    return testers.by_error_rates(*testers.forest(*halves))


def naive_gaussian(answer: float, mu: float, runs: int) -> np.ndarray:
    """Return answer + noise in doubles, as most code does."""
    return answer + np.random.default_rng().normal(0.0, 1.0 / mu, size=(runs, 1))


def naive_on_a_grid(answer: float, mu: float, runs: int) -> np.ndarray:
    """Return the same with exact noise, a multiple of 2**-20, and the sum rounded to a double."""
    noise = np.rint(np.random.default_rng().normal(0.0, 2.0**20 / mu, size=(runs, 1)))
    return answer + noise * 2.0**-20


def test_mironovs_low_bits_break_naive_noise() -> None:
    """0 + noise has bits that 1 + noise cannot have."""
    sides = [naive_gaussian(answer, 0.5, 12_000) for answer in (0.0, 1.0)]
    fine = [np.mean(side * 2.0**53 != np.rint(side * 2.0**53)) for side in sides]
    assert fine[0] > 0.08
    assert fine[1] == 0.0  # one such bit, and the answer was 0
    assert shown_by_low_bits(sides) > 0.5  # which is all that this noise is said to show


def test_haneys_precision_breaks_exact_noise_on_a_grid() -> None:
    """The place between two points of the grid tells which answer it was, every time."""
    answers = (0.3, 0.7)
    sides = [naive_on_a_grid(answer, 0.01, 500) for answer in answers]
    for side, answer in zip(sides, answers, strict=True):
        for guess in answers:
            off = np.abs(np.mod((side - guess) * 2.0**20 + 0.5, 1.0) - 0.5)
            assert np.all(off < 1e-3) == (guess == answer)


def our_bits(name: str, relation: str, runs: int, budget: Budget) -> list[np.ndarray]:
    subject = SUBJECTS[name]
    sides = []
    for rows in subject.neighbors("low bits", relation):
        made = [
            released(subject.make, rows, {"budget": budget, "neighbors": relation})[0]
            for _ in range(runs)
        ]
        sides.append(np.array([np.append(one.estimate.ravel(), one.n) for one in made]))
    return sides


@pytest.mark.parametrize(
    ("name", "relation", "runs"),
    [("sum", "add-remove", 400), ("sum, plain", "replace", 400), ("mean, bounds", "replace", 120)],
)
def test_low_bits_of_our_releases_show_nothing(name, relation, runs) -> None:
    budget = Budget(mu=0.5)
    assert shown_by_low_bits(our_bits(name, relation, runs, budget)) <= budget.mu


@pytest.mark.long
@pytest.mark.parametrize(("name", "relation"), CASES)
def test_low_bits_of_every_release_show_nothing(name, relation) -> None:
    budget = Budget(epsilon=1, delta=1e-6)
    runs = 60 if SUBJECTS[name].slow else 250
    assert shown_by_low_bits(our_bits(name, relation, runs, budget)) <= budget.mu


@pytest.mark.parametrize(("name", "relation"), CASES)
def test_answers_and_noise_are_on_one_grid(name, relation, monkeypatch) -> None:
    """What is measured is a multiple of a step that depends on public numbers only.

    So every value that is possible with one data set is possible with its neighbor.
    """
    subject = SUBJECTS[name]
    one, other = subject.neighbors("low bits", relation)
    gone = PLACE if relation == "add-remove" else None
    tape = record(
        subject.make, one, other, monkeypatch, gone=gone, budget=BUDGET, neighbors=relation
    )
    tape.check()
    for step, (scale, _) in zip(tape.measured, tape.noise, strict=True):
        grid = step.result.std / scale
        assert np.log2(grid) == np.rint(np.log2(grid))
        assert step.here.dtype == step.there.dtype == np.int64
        assert np.all(np.mod(step.result.values, grid) == 0.0)


# Sums: Casacuberta et al.


def in_a_loop(rows: np.ndarray) -> Any:
    """Add as a loop does; NumPy's own sum is pairwise, which only makes the attack longer."""
    with np.errstate(all="ignore"):
        return np.add.accumulate(rows, dtype=rows.dtype)[-1]


def naive_sum(rows: np.ndarray, lower: float, upper: float) -> float:
    """Return the clipped sum that noise scaled to upper - lower is supposed to hide."""
    return float(in_a_loop(np.clip(rows, rows.dtype.type(lower), rows.dtype.type(upper))))


def order(ones_first: bool) -> np.ndarray:
    """1e16, then ones, then -1e16: the ones count if they come first."""
    ones, huge = np.ones(1000), np.array([1e16])
    return np.concatenate([ones, huge, -huge] if ones_first else [huge, ones, -huge])


def test_bounds_far_from_zero_break_a_naive_sum() -> None:
    """The bounds are 4 apart, at 2**53; in 64 bits some row moves a sum of 1,024 by 2,048."""
    lower, rng, moved = 2.0**53, np.random.default_rng(0), 0.0
    for _ in range(200):
        rows = lower + 2.0 * rng.integers(0, 3, size=1024)
        other = rows.copy()
        other[0] = lower
        sums = [naive_sum(side, lower, lower + 4.0) for side in (rows, other)]
        moved = max(moved, abs(sums[1] - sums[0]))
    assert moved >= 500 * 4.0


def test_the_order_of_rows_breaks_a_naive_sum() -> None:
    assert abs(in_a_loop(order(True)) - in_a_loop(order(False))) == 1000.0


def test_rounding_that_piles_up_breaks_a_naive_sum() -> None:
    """Without one row of 512 the sum stays below 2**24, where each other row is rounded to 1
    or -1; with it, each 1.25 counts as 2, and each -0.75 as nothing. No row is beyond 512.
    """
    start = np.full(2**15, 512.0, dtype=np.float32)
    tail = np.tile(np.array([1.25, -0.75], dtype=np.float32), 20_000)
    sums = [naive_sum(np.concatenate([part, tail]), -512.0, 512.0) for part in (start, start[1:])]
    assert sums[0] - sums[1] > 75 * 512.0


def test_overflow_breaks_a_naive_sum_of_integers() -> None:
    rows = np.full(3, 2**31 - 1 - 2**30, dtype=np.int32)
    rows[2] = 0
    other = rows.copy()
    other[2] = 2
    assert naive_sum(other, 0, 2**30) - naive_sum(rows, 0, 2**30) < -(2.0**31)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_break_a_naive_mean(value) -> None:
    """One row decides whether there is an answer at all; clipping does not hide a NaN."""
    rows = np.ones(100)
    rows[3] = value
    with np.errstate(all="ignore"):
        assert not np.isfinite(rows.sum() / rows.size + np.random.default_rng().normal())
        clipped = np.clip(rows, 0.0, 1.0).sum()
    assert np.isfinite(clipped) != np.isnan(value)


# What differs in a row, and the rest of the rows around it.
POISONS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], list[float], list[float]]] = {
    "far from zero": (lambda rows: rows + 2.0**53, [2.0**53] * 3, [2.0**53 + 2.0] * 3),
    "cancellation": (
        lambda rows: np.where(np.arange(rows.size).reshape(rows.shape) % 2, 1e16, -1e16) + rows,
        [1e16] * 3,
        [1.0] * 3,
    ),
    "overflow": (lambda rows: np.full_like(rows, 1.7e308), [-1.7e308] * 3, [1.7e308] * 3),
    "large integers": (
        lambda rows: np.full_like(rows, 2.0**62),
        [2.0**63] * 3,
        [-(2.0**63)] * 3,
    ),
    "underflow": (lambda rows: rows * 5e-324, [5e-324] * 3, [-5e-324] * 3),
    "not a number": (lambda rows: rows, [np.nan] * 3, [20.0, 0.0, 5.0]),
    "infinite": (lambda rows: rows, [np.inf] * 3, [-np.inf] * 3),
    "all missing": (lambda rows: np.full_like(rows, np.nan), [np.nan] * 3, [1e9] * 3),
    "half way": (
        lambda rows: np.rint(rows) + 0.5,
        [0.5, np.nextafter(0.5, 0.0), np.nextafter(0.5, 1.0)],
        [1.5, 2.5, -0.5],
    ),
}


@pytest.mark.parametrize(("name", "relation"), CASES)
def test_poisoned_rows_move_nothing_by_more_than_is_stated(name, relation, monkeypatch) -> None:
    """And the release is finite, says nothing on the way, and does not depend on the poison."""
    subject = SUBJECTS[name]
    poisons = ["cancellation", "not a number"] if subject.slow else list(POISONS)
    for poison in poisons:
        change, *pair = POISONS[poison]
        sides = []
        for row in pair:
            rows = change(subject.rows)
            rows[PLACE] = np.resize(row, rows.shape[1])
            sides.append(rows)
        gone = None
        if relation == "add-remove":
            gone, sides[1] = PLACE, np.delete(sides[0], PLACE, axis=0)
        forms = [subject.form(rows) for rows in sides]
        tape = record(
            subject.make, *forms, monkeypatch, gone=gone, budget=BUDGET, neighbors=relation
        )
        tape.check()
        assert np.all(np.isfinite(tape.release.estimate)), poison
        tape.replay(forms[1], monkeypatch)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float32])
def test_small_types_do_not_overflow(dtype, monkeypatch) -> None:
    """Values are read into doubles one by one before anything is added."""
    if np.issubdtype(dtype, np.integer):
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    else:
        least, most = np.finfo(dtype).min, np.finfo(dtype).max
    rows = np.full((400, 3), most, dtype=dtype)
    other = rows.copy()
    other[PLACE] = least
    for name in ("sum", "mean", "variance", "quantile", "regression"):
        tape = record(
            SUBJECTS[name].make, rows, other, monkeypatch, budget=BUDGET, neighbors="replace"
        )
        tape.check()
        assert np.all(np.isfinite(tape.release.estimate))


@pytest.mark.parametrize(("name", "relation"), CASES)
def test_the_order_of_rows_does_not_matter(name, relation, monkeypatch) -> None:
    """The same integers come of rows in any order: 1e16, ones, -1e16."""
    subject = SUBJECTS[name]
    if subject.paired or "sample" in name or "in parts" in name:
        pytest.skip("rows are paired, or chosen, by their places: which are public")
    rows = subject.rows.copy()
    rows[:40] = 1e16
    rows[-40:] = -1e16
    shuffled = np.random.default_rng(1).permutation(rows)
    tape = record(
        subject.make,
        subject.form(rows),
        subject.form(shuffled),
        monkeypatch,
        budget=BUDGET,
        neighbors=relation,
    )
    assert all(np.array_equal(one.here, one.there) for one in tape.sums)
    assert len(tape.sums) > 0


@pytest.mark.parametrize("name", ["mean", "variance", "quantile", "covariance", "regression"])
def test_the_callers_settings_of_errors_play_no_part(name, monkeypatch) -> None:
    """Where NumPy is told to raise, a row must not decide whether there is an error."""
    subject = SUBJECTS[name]
    rows = subject.form(subject.rows)
    tape = record(subject.make, rows, rows, monkeypatch, budget=BUDGET, neighbors="replace")
    monkeypatch.setattr(kernels, "_loaded", lambda name: None)  # compiled code raises nothing
    for poison in ("overflow", "underflow", "cancellation", "infinite"):
        change, row, _ = POISONS[poison]
        hard = change(subject.rows)
        hard[PLACE] = np.resize(row, hard.shape[1])
        source = open_source(subject.form(hard))
        with np.errstate(all="raise"):
            for one in tape.sums:
                source.collect(one.query, one.query.size)


def in_single_precision(*, signals: bool) -> np.ndarray:
    """Return numbers of which one may be a NaN that signals: to cast it is an invalid operation."""
    values = np.random.default_rng(0).standard_normal(200).astype(np.float32)
    if signals:
        values.view(np.uint32)[PLACE] = 0x7F800001
    return values


@pytest.mark.parametrize("signals", [False, True])
@pytest.mark.parametrize(
    "fit",
    [
        lambda values, table: LinearRegression(mu=1).fit(np.ones((200, 1)), pd.Series(values)),
        lambda values, table: LinearRegression(mu=1).fit(np.ones((200, 1)), table.select(["a"])),
        lambda values, table: LinearRegression(mu=1).fit(table.to_reader(), "a"),
        lambda values, table: PrivateMean(mu=1).fit(table.to_reader()),
        lambda values, table: prolate.mean(table.to_reader(), budget=Budget(mu=1)),
    ],
    ids=["series", "table", "stream", "stream of a step", "stream of a mean"],
)
def test_neither_do_they_where_rows_are_read_before_a_release(fit, signals) -> None:
    values = in_single_precision(signals=signals)
    with np.errstate(all="raise"):
        fit(values, pa.table({"a": values, "b": np.ones(200)}))
