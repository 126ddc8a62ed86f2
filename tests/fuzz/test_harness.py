"""The judge itself: planted faults of every kind are found."""

from __future__ import annotations

import time

import numpy as np
import pytest
from fuzz import harness
from fuzz.arguments import both
from fuzz.harness import (
    Hang,
    check_learned,
    check_reply,
    check_sentence,
    command,
    holds,
    limit,
    outcome,
)

import prolate
from prolate.errors import InputError
from prolate.sklearn import LinearRegression, PrivateScaler


def raised(error: Exception) -> object:
    def make() -> object:
        raise error

    return make


def test_a_plain_sentence_is_no_fault() -> None:
    assert outcome(raised(InputError("This is not a table."))) == "This is not a table."


@pytest.mark.parametrize("text", ["", "two\nlines.", "\u202eturned.", "no end", "x" * 3000 + "."])
def test_other_sentences_are(text: str) -> None:
    with pytest.raises(AssertionError):
        check_sentence(text)


def test_exceptions_that_are_not_ours_are_faults() -> None:
    with pytest.raises(ZeroDivisionError):
        outcome(raised(ZeroDivisionError()))


def test_what_does_not_end_is_a_fault() -> None:
    with pytest.raises(Hang), limit(0.05):
        time.sleep(5)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (1, "prolate: Something is wrong."),
        (2, "Traceback (most recent call last):"),
        (2, "prolate: Something is wrong.\nand more"),
        (2, "Something is wrong."),
        (2, ""),
    ],
)
def test_commands_that_end_in_any_other_way_are_faults(code, words, monkeypatch) -> None:
    def main(arguments: list[str]) -> int:
        import sys

        sys.stderr.write(words)
        return code

    monkeypatch.setattr(harness, "main", main)
    with pytest.raises(AssertionError):
        command("mean", "x.csv")


TABLE = (5, ["a"], "f8", "c", "array", "plain", "nan", 0)  # the second time with gaps


def test_what_ends_otherwise_on_other_values_is_a_fault() -> None:
    def release(data: np.ndarray) -> prolate.Release:
        return prolate.count(data, budget=prolate.Budget(mu=1), seed=1)

    both(release, TABLE)

    def refuses_gaps(data: np.ndarray) -> prolate.Release:
        if np.isnan(data).any():
            raise InputError("There are gaps.")
        return release(data)

    def says_a_value(data: np.ndarray) -> prolate.Release:
        raise InputError(f"Stopped at {data[0, 0]:.3f}.")

    for fault in (refuses_gaps, says_a_value):
        with pytest.raises(AssertionError):
            both(fault, TABLE)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mean_", [np.nan, 0.0]),
        ("var_", [np.inf, 1.0]),
        ("scale_", [1.0, 0.0]),
        ("scale_", [-1.0, 1.0]),
        ("n_features_in_", 0),
    ],
)
def test_steps_that_learned_nonsense_are_faults(name, value) -> None:
    rows = np.random.default_rng(0).normal(size=(50, 2))
    step = PrivateScaler(bounds=(-5, 5), seed=1).fit(rows)
    check_learned(step)
    setattr(step, name, np.array(value))
    with pytest.raises(AssertionError):
        check_learned(step)


def test_lines_of_no_numbers_are_faults() -> None:
    rows = np.random.default_rng(0).normal(size=(50, 2))
    line = LinearRegression(method="ssp", seed=1).fit(rows, rows[:, 0])
    check_learned(line)
    line.intercept_ = np.nan
    with pytest.raises(AssertionError):
        check_learned(line)


SEALED = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'",
    "content-type": "application/json",
}


@pytest.mark.parametrize(
    ("status", "headers", "text"),
    [
        (500, SEALED, '{"error": "Stopped by an internal error (KeyError)."}'),
        (200, SEALED, '{"error": "Stopped by an internal error (KeyError)."}'),
        (200, SEALED, "Traceback (most recent call last):"),
        (200, SEALED, '{"error": "two\\nlines."}'),
        (200, SEALED, '{"error": "no end"}'),
        (200, SEALED, '{"words": "the largest is 271,828.5"}'),
        (200, {**SEALED, "cache-control": "public"}, "{}"),
        (200, {**SEALED, "content-security-policy": ""}, "{}"),
        (200, {}, "{}"),
        (201, SEALED, "{}"),
    ],
)
def test_answers_of_the_page_that_are_faults(status, headers, text) -> None:
    check_reply(200, SEALED, '{"error": "This is not a plan."}', "271828")
    with pytest.raises(AssertionError):
        check_reply(status, headers, text, "271828")


@pytest.mark.parametrize("text", ["271828", "-271,828.0 is far", '{"max":271828}', "n=271828, 3"])
def test_a_number_by_itself_is_told(text: str) -> None:
    assert holds(text, "271828")


@pytest.mark.parametrize("text", ["1.1927182835", "0.271828", "2718281", "1271828", ""])
def test_digits_of_another_number_are_not(text: str) -> None:
    assert not holds(text, "271828")
    assert holds(text + "Zaphod1", "Zaphod")
