"""The judge itself: planted faults of every kind are found."""

from __future__ import annotations

import time

import pytest
from fuzz import harness
from fuzz.harness import Hang, check_sentence, command, limit, outcome

from prolate.errors import InputError


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
