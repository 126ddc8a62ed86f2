"""Decisions of the noise that a double cannot take, in exact arithmetic.

`prolate.noise.gaussian` says what is decided. A uniform number is a stream of bits of
which only the first are known; these functions draw more of them until the decision no
longer depends on the rest. They use the standard library's decimal arithmetic, whose
``exp`` is correctly rounded, in a context of their own: the caller's settings of
precision, rounding and traps play no part.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    localcontext,
)
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prolate.noise.randomness import RandomBits

__all__ = [
    "FINE",
    "Uniform",
    "accept_exactly",
    "exact_context",
    "floors",
    "round_exactly",
    "whole_exactly",
]

FINE = 4
"""|Z| is counted in steps of 2**-FINE."""

_UNIT = 1 << (2 * FINE + 1)  # in which exponents are counted: 1 / (h**2 / 2)
_LARGEST = 2**62


@dataclass
class Uniform:
    """A uniform number in [0, 1) of which `length` leading bits are known."""

    prefix: int
    length: int = 64

    def extend(self, bits: RandomBits) -> None:
        """Draw 64 more bits."""
        self.prefix = (self.prefix << 64) | int(bits.words(1)[0])
        self.length += 64

    def bounds(self, digits: int) -> tuple[Decimal, Decimal]:
        """Return decimals that enclose the number, wherever its unseen bits lead."""
        unit = Decimal(1 << self.length)
        low, high = exact_context(digits, ROUND_FLOOR), exact_context(digits, ROUND_CEILING)
        return low.divide(Decimal(self.prefix), unit), high.divide(Decimal(self.prefix + 1), unit)


def exact_context(digits: int, rounding: str = ROUND_HALF_EVEN) -> Context:
    """Return arithmetic of so many digits that owes nothing to the caller's settings."""
    return Context(
        prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, capitals=1, clamp=0, traps=[]
    )


@cache
def tails(digits: int) -> tuple[Decimal, ...]:
    """Return P(K >= k) for k = ..., 2, 1, so rising, to about `digits` digits."""
    with localcontext(exact_context(digits + 10)):
        least = Decimal(10) ** -(digits + 5)
        masses: list[Decimal] = []
        while not masses or masses[-1] > least:
            masses.append((Decimal(-(len(masses) ** 2)) / _UNIT).exp())
        sums = [masses[-1]]
        for mass in reversed(masses[:-1]):
            sums.append(sums[-1] + mass)
        return tuple(tail / sums[-1] for tail in sums[:-1])


@cache
def floors(length: int) -> tuple[int, ...]:
    """Return floor(2**length P(K >= k)) for k = 1, 2, ... until it is zero, included."""
    with localcontext(exact_context(70)):
        found = [int(tail * 2**length) for tail in reversed(tails(60))]
    return tuple(found[: found.index(0) + 1])


def whole_exactly(choice: Uniform, bits: RandomBits) -> int:
    """Step 1: the number of k with R < P(K >= k)."""
    while True:
        digits = choice.length  # far more digits than bits
        low, high = choice.bounds(digits + 10)
        rising = tails(digits)
        with localcontext(exact_context(digits + 10)):
            slack = Decimal(10) ** -digits
            first, last = bisect_right(rising, low - slack), bisect_left(rising, high + slack)
        if first == last and low > slack:
            return len(rising) - first
        choice.extend(bits)


def accept_exactly(whole: int, x: Uniform, variate: Uniform, bits: RandomBits) -> bool:
    """Step 2: whether the variate is below exp(-X (2 whole + X) / 2**(2 FINE + 1))."""
    while True:
        digits = x.length + 10
        x_low, x_high = x.bounds(digits)
        low, high = variate.bounds(digits)
        with localcontext(exact_context(digits)):
            # Above the rounding of the handful of operations on numbers below 10**4.
            slack = Decimal(10) ** -x.length
            if high <= _chance(whole, x_high) - slack:
                return True
            if low >= _chance(whole, x_low) + slack:
                return False
        min(variate, x, key=lambda uniform: uniform.length).extend(bits)


def _chance(whole: int, x: Decimal) -> Decimal:
    """Return the chance of being accepted, in the current context."""
    return (-x * (2 * whole + x) / _UNIT).exp()


def round_exactly(scale: int, whole: int, x: Uniform, bits: RandomBits) -> int:
    """Step 3: the integer nearest to scale * (whole + X) / 2**FINE."""
    while True:
        unit = x.length + FINE
        half, before = 1 << (unit - 1), scale * (whole << x.length)
        first = (before + scale * x.prefix + half) >> unit
        last = (before + scale * (x.prefix + 1) + half - 1) >> unit
        if first == last:
            return min(first, _LARGEST)
        x.extend(bits)
