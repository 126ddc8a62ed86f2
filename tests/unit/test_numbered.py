"""Bits and choices that belong to numbers: as often as they should be, and the same anywhere."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from prolate.noise import PARTS, NumberedBits, SeededBits, numbered

PARTS_OF_ALL = [1, 300, 4096, 12_345, 16_384, 16_385, 40_960, 65_535]


@pytest.mark.parametrize("part", PARTS_OF_ALL)
def test_numbers_that_are_chosen(part) -> None:
    """As many as should be, none after another more often, and the same ones wherever one starts.

    Counts and products are within 6.5 standard deviations, which chance exceeds once in 10**10,
    or hardly more often where few are expected.
    """
    bits = NumberedBits.from_bits(SeededBits(9))
    count, chance = 1_000_000, part / PARTS
    found = np.zeros(count, np.bool_)
    found[bits.chosen(0, count, part)] = True
    assert abs(found.sum() - count * chance) < 6.5 * math.sqrt(count * chance) + 10
    for lag in (1, 2, 1 << 18):
        both = np.count_nonzero(found[lag:] & found[:-lag]) - (count - lag) * chance**2
        assert abs(both) < 13.0 * math.sqrt(count) * chance + 20
    for start, size in ((0, 1), (5, 400_000), (262_143, 2), (262_144, 0), (999_990, 10)):
        some = bits.chosen(start, size, part)
        assert np.array_equal(some, start + np.flatnonzero(found[start : start + size]))
    other = NumberedBits.from_bits(SeededBits(10)).chosen(0, count, part)
    assert (
        abs(np.count_nonzero(found[other]) - count * chance**2)
        < 6.5 * math.sqrt(count) * chance + 10
    )


def gaps_p(chosen: np.ndarray, part: int) -> float:
    """Return the p-value of how often each gap comes, the rare and the long ones together."""
    gaps = np.diff(chosen) - 1
    q = 1.0 - part / PARTS
    most = max(1, math.floor(math.log(100.0 / (gaps.size * (1.0 - q))) / math.log(q)))
    counts = np.bincount(np.minimum(gaps, most), minlength=most + 1)
    chances = np.append((1.0 - q) * q ** np.arange(most), q**most)
    return float(stats.chisquare(counts, gaps.size * chances).pvalue)


@pytest.mark.parametrize("part", [655, 4096, 16_384, 16_385, 40_960])
def test_gaps_between_chosen_numbers(part) -> None:
    bits = NumberedBits.from_bits(SeededBits(3))
    assert gaps_p(bits.chosen(0, 10_000_000, part), part) > 1e-9


@pytest.mark.parametrize("part", [16_385, 40_960])
def test_ties_that_are_not_broken_are_seen(monkeypatch, part) -> None:
    gaps = numbered._gaps(part)
    steps = np.where(gaps.steps == 0, np.uint16(1), gaps.steps)
    monkeypatch.setattr(numbered, "_gaps", lambda _: replace(gaps, steps=steps))
    bits = NumberedBits.from_bits(SeededBits(3))
    assert gaps_p(bits.chosen(0, 10_000_000, part), part) < 1e-12


@pytest.mark.parametrize("part", [*PARTS_OF_ALL, 65_536])
def test_words_tell_the_gap_of_any_fraction_that_begins_with_them(part) -> None:
    gaps = numbered._gaps(part)
    q, bits = Fraction(PARTS - part, PARTS), 8 * gaps.width
    assert all(abs(each * Fraction(1, 2**64) - q**k) < Fraction(1, 2**63)
               for k, each in zip(range(gaps.powers.size, 0, -1), gaps.powers.tolist(), strict=True)
               if k < 40)  # fmt: skip
    for word in range(0, 1 << bits, max(1, (1 << bits) // 5000)):
        least, most = (word << (64 - bits)), ((word + 1) << (64 - bits)) - 1
        told = {1 + int(np.count_nonzero(gaps.powers > np.uint64(u))) for u in (least, most)}
        if gaps.steps[word] == 0:
            assert any(int(each) >> (64 - bits) == word for each in gaps.powers)
        else:
            assert told == {int(gaps.steps[word])}


def test_want_of_words_changes_no_choice(monkeypatch) -> None:
    """More words are asked for; those that were there before are the same."""
    bits, enough = NumberedBits.from_bits(SeededBits(3)), numbered._gaps(4096)
    expected = bits.chosen(0, 600_000, 4096)
    monkeypatch.setattr(numbered, "_gaps", lambda _: replace(enough, mean=8.0 * enough.mean))
    assert np.array_equal(bits.chosen(0, 600_000, 4096), expected)


def test_all_numbers_are_chosen_or_none() -> None:
    bits = NumberedBits.from_bits(SeededBits(9))
    assert np.array_equal(bits.chosen(7, 40_000, PARTS), np.arange(7, 40_007))
    assert bits.chosen(7, 40_000, 0).size == 0
