"""Where random bits come from: the operating system, or a seed for experiments."""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from prolate.errors import InputError

__all__ = ["RandomBits", "SeededBits", "SystemBits", "random_bits"]


class RandomBits(Protocol):
    """A stream of independent fair bits, taken 64 at a time."""

    @property
    def private(self) -> bool:
        """Whether nobody but the generator can know the bits."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next `count` words of 64 bits."""


class SystemBits:
    """The operating system's cryptographic generator.

    It holds no state in this process, so a fork or a pickle repeats nothing.
    """

    private = True

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return `count` fresh words of 64 bits."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


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


def random_bits(seed: int | None) -> RandomBits:
    """Return the system's generator, or the seeded one if a seed is given."""
    return SystemBits() if seed is None else SeededBits(seed)
