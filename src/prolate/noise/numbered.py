"""Secret bits, and choices, of the numbers 0, 1, 2, ...: the same wherever they are asked for."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Integers
from prolate.noise.randomness import RandomBits

__all__ = ["PARTS", "NumberedBits"]

PARTS = 1 << 16
"""Probabilities of choosing a number are multiples of one over this."""

_STRETCH = 1 << 12  # numbers whose bits are made together
_CHOICES = 1 << 18  # numbers that are chosen from together
_LONGEST = 1 << 12  # gap that a word can tell


@dataclass(frozen=True)
class NumberedBits:
    """Fair bits that belong to numbers, which may be asked in any order.

    They are a secret key of 256 bits, stretched by SHAKE-128 (FIPS 202): whoever does not
    know the key cannot tell them from coins. Whoever has it, on whichever machine, finds the
    same bits for the same number.

    Attributes
    ----------
    key : bytes

    Examples
    --------
    >>> from prolate.noise import SeededBits
    >>> bits = NumberedBits.from_bits(SeededBits(0))
    >>> bool(np.all(bits.of(5000, 10) == bits.of(4000, 2000)[1000:1010]))
    True
    """

    key: bytes

    @classmethod
    def from_bits(cls, bits: RandomBits) -> NumberedBits:
        """Return the bits of a fresh key."""
        return cls(bits.words(4).tobytes())

    def of(self, start: int, count: int) -> NDArray[np.uint16]:
        """Return the bits of the numbers from `start`, as words of 16 bits, shape (count,)."""
        return np.frombuffer(self._bytes(start, count, 2, b""), dtype="<u2").astype(np.uint16)

    def chosen(self, start: int, count: int, part: int) -> Integers:
        """Choose each number with probability part / `PARTS`, whatever the others.

        To within 2**-64; by other bits than those of `of`, which tell the gaps between numbers
        that are chosen, so that work and bits are in proportion to these.

        Returns
        -------
        int64 array
            Those from `start` to `start` + `count` - 1 that are chosen, ascending.
        """
        found = [np.empty(0, np.int64)]
        if part > 0:
            gaps, end = _gaps(part), start + count
            stretches = range(start // _CHOICES, -(-end // _CHOICES))
            found += [number * _CHOICES + self._stretch(number, gaps) for number in stretches]
        every = np.concatenate(found)
        return every[slice(*np.searchsorted(every, (start, start + count)))]

    def dealt(
        self, start: int, count: int, part: int, parts: int
    ) -> tuple[Integers, NDArray[np.uint8]]:
        """Choose each number with probability part / `PARTS`, and deal it to one of some parts.

        By bits of its own for each, those of `of` and others, so that whether a number is in a
        part, and in which, does not depend on other numbers.

        Parameters
        ----------
        start, count, part
            As for `chosen`; the numbers are others.
        parts : int
            A power of two, at most 256: all are as likely.

        Returns
        -------
        chosen : int64 array
            Ascending.
        which : uint8 array of the same shape
            Below `parts`.
        """
        chosen = np.flatnonzero(self.of(start, count) < part)
        which = np.frombuffer(self._bytes(start, count, 1, b"part"), np.uint8)[chosen]
        return start + chosen, which & np.uint8(parts - 1)

    def _bytes(self, start: int, count: int, width: int, mark: bytes) -> bytes:
        """Return `width` bytes for each number from `start`, others for each mark."""
        first = start // _STRETCH
        stretches = range(first, -(-(start + count) // _STRETCH))
        raw = b"".join(
            hashlib.shake_128(self.key + number.to_bytes(8, "little") + mark).digest(
                width * _STRETCH
            )
            for number in stretches
        )
        offset = width * (start - first * _STRETCH)
        return raw[offset : offset + width * count]

    def _stretch(self, stretch: int, gaps: _Gaps) -> Integers:
        seed = self.key + stretch.to_bytes(8, "little")
        others = hashlib.shake_128(seed + b"ties").digest
        words = _CHOICES / gaps.mean
        words += 6.0 * math.sqrt(words) + 16.0
        while True:  # longer output begins with the shorter one's bits
            raw = hashlib.shake_128(seed + b"gaps").digest(math.ceil(words) * gaps.width)
            places = gaps.places(raw, others)
            if places is not None:
                return places
            words *= 2.0


@dataclass(frozen=True)
class _Gaps:
    """How many numbers lie between one that is chosen and the next one.

    At least k do with probability q**k, where each is passed over with probability q. So do
    those u of 64 fair bits, a fraction, that are below q**k; their first bits, a word, mostly
    tell how many k these are. More than `longest` are not told apart: then so many numbers
    are passed over, and the next word goes on from there.

    Attributes
    ----------
    powers : uint64 array
        q**k in steps of 2**-64, from the highest k, `longest`, to 1.
    steps : uint16 array
        For each word: one more than how many k there are; 0 where the word does not tell.
    width : int
        Bytes of a word.
    mean : float
        Numbers that a word goes on by.
    """

    powers: NDArray[np.uint64]
    steps: NDArray[np.uint16]
    width: int
    mean: float

    def places(self, raw: bytes, others: Callable[[int], bytes]) -> Integers | None:
        """Return which of the first `_CHOICES` numbers are chosen, or None for want of words.

        `others` gives so many more bytes, the same ones first each time.
        """
        words = np.frombuffer(raw, f"<u{self.width}")
        steps, bits = self.steps[words], np.uint64(8 * self.width)
        tied = np.flatnonzero(steps == 0)
        rest = np.frombuffer(others(8 * tied.size), "<u8") >> bits
        fractions = (words[tied].astype(np.uint64) << (np.uint64(64) - bits)) | rest
        longest = self.powers.size
        steps[tied] = 1 + longest - np.searchsorted(self.powers, fractions, side="right")
        places = np.cumsum(steps, dtype=np.int64) - 1
        passed = steps > longest
        if passed.any():
            places -= np.cumsum(passed)
        if places[-1] < _CHOICES - 1:
            return None
        places = places[~passed] if passed.any() else places
        return places[: np.searchsorted(places, _CHOICES)]


@lru_cache(maxsize=8)
def _gaps(part: int) -> _Gaps:
    longest = min(_LONGEST, 4 * PARTS // part)
    powers, power = [], 1 << 192
    for _ in range(longest):
        power = power * (PARTS - part) // PARTS
        powers.append(power >> 128)
    width = 1 if 4 * part > PARTS else 2  # with few gaps to tell, few words tie
    words = 1 << 8 * width
    starts = np.array([each >> (64 - 8 * width) for each in powers])
    tied = np.bincount(starts, minlength=words)
    steps = np.where(tied > 0, 0, 1 + longest - np.cumsum(tied))
    mean = (1.0 - (1.0 - part / PARTS) ** longest) * PARTS / part
    return _Gaps(np.array(powers[::-1], np.uint64), steps.astype(np.uint16), width, mean)
