"""Where random bits come from: the operating system, or a seed for experiments."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from prolate.compiled import WORK
from prolate.errors import InputError, shown
from prolate.noise.kernels import compiled

__all__ = ["RandomBits", "SeededBits", "SystemBits", "random_bits"]

_MANY, _MOST = 1 << 10, 1 << 34  # words of one ChaCha20 stream


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
            raise InputError(f"seed must be a non-negative integer or None; got {shown(seed)}.")
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
