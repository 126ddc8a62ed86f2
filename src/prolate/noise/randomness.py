"""Where random bits come from: the operating system, or a seed for experiments."""

from __future__ import annotations

import copy
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from prolate.compiled import WORK
from prolate.errors import InputError
from prolate.noise.kernels import compiled

__all__ = ["NumberedBits", "RandomBits", "SeededBits", "SystemBits", "random_bits"]

_MANY, _MOST = 1 << 10, 1 << 34  # words of one ChaCha20 stream
_STRETCH = 1 << 12  # numbers whose bits are made together
_CHOICES = 1 << 15  # the same, where few bits of each are


class RandomBits(Protocol):
    """A stream of independent fair bits, taken 64 at a time."""

    @property
    def private(self) -> bool:
        """Whether nobody but the generator can know the bits."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next `count` words of 64 bits."""

    def split(self, count: int) -> Sequence[RandomBits]:
        """Return `count` streams, independent of each other and of what follows here."""


class SystemBits:
    """The operating system's cryptographic generator.

    It holds no state in this process, so a fork or a pickle repeats nothing.

    Where many words are wanted at once, the system gives 256 bits, the key of a ChaCha20 stream
    (RFC 8439) that is used once and forgotten: the generator that Linux uses itself, several
    times faster without its system calls.
    """

    private = True

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return `count` fresh words of 64 bits."""
        module = compiled(0) if _MANY <= count <= _MOST else None
        if module is not None:
            start = np.frombuffer(b"expand 32-byte k" + os.urandom(32) + bytes(16), dtype=np.uint32)
            blocks = np.empty((16, -(-count // 8)), dtype=np.uint32)
            with WORK.or_numpy(count):
                module.chacha(start, blocks)
                return blocks.reshape(-1).view(np.uint64)[:count]
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)

    def split(self, count: int) -> Sequence[SystemBits]:
        """Return itself, so many times: every word is fresh."""
        return [self] * count


class SeededBits:
    """A counter generator (Philox) with a known seed: for tests and experiments only.

    Raises
    ------
    InputError
        If `seed` is not a non-negative integer.
    """

    private = False

    def __init__(self, seed: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise InputError(f"seed must be a non-negative integer or None; got {seed!r}.")
        self._generator = np.random.Philox(int(seed))

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next `count` words of 64 bits of the seeded stream."""
        raw = self._generator.random_raw(count)
        return np.asarray(raw, dtype=np.uint64).reshape(count)

    def split(self, count: int) -> Sequence[SeededBits]:
        """Return the streams that begin 2**128, 2 * 2**128, ... words from here."""
        here = self._generator
        self._generator = here.jumped(count + 1)
        streams = [copy.copy(self) for _ in range(count)]
        for place, stream in enumerate(streams):
            stream._generator = here.jumped(place + 1)
        return streams


def random_bits(seed: int | None) -> RandomBits:
    """Return the system's generator, or the seeded one if a seed is given."""
    return SystemBits() if seed is None else SeededBits(seed)


@dataclass(frozen=True)
class NumberedBits:
    """Sixteen fair bits for each of the numbers 0, 1, 2, ..., which may be asked in any order.

    The bits are a secret key of 256 bits, stretched by SHAKE-128 (FIPS 202): whoever does not
    know the key cannot tell them from coins. Whoever has it, on whichever machine, finds the
    same bits for the same number.

    Attributes
    ----------
    key : bytes

    Examples
    --------
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
        first = start // _STRETCH
        stretches = range(first, -(-(start + count) // _STRETCH))
        raw = b"".join(
            hashlib.shake_128(self.key + number.to_bytes(8, "little")).digest(2 * _STRETCH)
            for number in stretches
        )
        offset = start - first * _STRETCH
        return np.frombuffer(raw, dtype="<u2")[offset : offset + count].astype(np.uint16)

    def below(self, start: int, count: int, part: int) -> NDArray[np.bool_]:
        """Return for the numbers from `start` whether sixteen fair bits are below `part`.

        They are other bits than those of `of`. Four of them mostly tell; the others are made
        only where these are the first four of `part`.
        """
        first = start // _CHOICES
        stretches = range(first, -(-(start + count) // _CHOICES))
        found = [np.empty(0, np.bool_), *(self._below(number, part) for number in stretches)]
        offset = start - first * _CHOICES
        return np.concatenate(found)[offset : offset + count]

    def _below(self, stretch: int, part: int) -> NDArray[np.bool_]:
        leading, others = divmod(part, 1 << 12)
        seed = self.key + stretch.to_bytes(8, "little")
        pairs = np.frombuffer(hashlib.shake_128(seed + b"four").digest(_CHOICES // 2), np.uint8)
        bits = np.concatenate([pairs & 15, pairs >> 4])
        found = bits < leading
        tied = np.flatnonzero(bits == leading)
        rest = np.frombuffer(hashlib.shake_128(seed + b"rest").digest(2 * tied.size), "<u2")
        found[tied] = (rest & 0xFFF) < others
        return found
