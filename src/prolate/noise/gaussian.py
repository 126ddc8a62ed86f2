"""The rounded Gaussian: the nearest integer to an ideal normal, exactly.

``rounded_gaussian`` draws round(scale * Z) where Z is a real standard normal, not
a floating-point number. Adding it to an integer vector is the same as rounding
the ideal Gaussian mechanism, which is post-processing: sensitivity / scale is its
mu, exactly, with nothing added to delta.

Algorithm (after Karney 2016, "Sampling exactly from the normal distribution").
|Z| = K + X where K is a non-negative integer and X lies in [0, 1):

1. draw K with probability proportional to exp(-K**2 / 2);
2. draw X uniformly, and accept it with probability exp(-X (2 K + X) / 2);
   otherwise start again (71 % of the draws are accepted);
3. draw a sign, and round scale * (K + X) to the nearest integer.

The joint density of accepted (K, X) is proportional to exp(-(K + X)**2 / 2).

Every uniform number is a stream of bits of which the first 63 or 64 are drawn at
once, for many samples; a decision that those bits leave open goes to `_exact`,
which draws more bits and decides with the standard library's decimal arithmetic,
whose ``exp`` is correctly rounded, in a context of its own: the caller's settings of
precision, rounding and traps play no part.

Guards (why the fast path never decides wrongly):

- *Step 1.* R < T_k = 2**63 P(K >= k) is open only if the 63-bit prefix of R equals
  floor(T_k). The floors are computed to 60 digits; those prefixes go to `_exact`.
- *Step 2.* The prefix u stands for X in [u, u + 1) / 2**64. Let x be u / 2**64 in
  double precision, so |x - X| <= 2**-53 + 2**-64. t = x (K + x / 2) has
  |t - X (K + X / 2)| <= (K + 1)(2**-53 + 2**-64) + 3 * 2**-53 (K + 1/2), below
  2**-47 for K <= 15, and exp(-t) in double precision errs by no more than 2**-48
  if the library's exp is within 16 units in the last place (NumPy claims one; the
  tests compare it with decimal). With the rounding of the acceptance variate,
  2**-53, the comparison is right whenever the two sides differ by more than 2**-46.
  The guard is 2**-44: a prefix that lands within it goes to `_exact`.
- *Step 3.* scale * u + 2**63 is computed in 128 bits; the unseen bits of X add
  less than `scale`, so the rounding is open only if that carries out of the low 64
  bits. Those go to `_exact`.

So the result does not depend on the guard: widening it until every sample goes
through `_exact` gives the same integers from the same bits (tested).
"""

from __future__ import annotations

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

import numpy as np
from numpy.typing import NDArray

from prolate.errors import InputError
from prolate.noise.randomness import RandomBits

__all__ = ["MAX_SCALE", "exact_context", "rounded_gaussian"]

MAX_SCALE = 2**56
"""Largest scale: with |Z| < 64, which fails once in 10**891 draws, no int64 overflows."""

_GUARD = 2.0**-44
_BATCH = 1 << 15
_LARGEST = 2**62
_HALF = np.uint64(2**63)


def rounded_gaussian(
    scale: int | NDArray[np.int64],
    size: int,
    bits: RandomBits,
    *,
    guard: float = _GUARD,
) -> NDArray[np.int64]:
    """Draw integers round(scale * Z), Z standard normal, independent.

    Parameters
    ----------
    scale : int or int64 array of shape (size,)
        Standard deviation before rounding, per coordinate, in [1, `MAX_SCALE`].
    size : int
        Number of samples.
    bits : RandomBits
        Source of random bits.
    guard : float
        Width of the band in which a comparison of doubles counts as undecided.
        It changes the speed, never the result (see the module's text).

    Returns
    -------
    int64 array of shape (size,)

    Raises
    ------
    InputError
        If a scale is not an integer in the allowed range.

    Examples
    --------
    >>> from prolate.noise import SeededBits
    >>> rounded_gaussian(1000, 3, SeededBits(1)).tolist()
    [2046, 2011, -3066]
    """
    scales = np.asarray(scale)
    if scales.dtype.kind not in "iu" or np.any(scales < 1) or np.any(scales > MAX_SCALE):
        raise InputError(f"scale must be an integer between 1 and {MAX_SCALE}.")
    wide = np.broadcast_to(scales.astype(np.uint64), (size,))
    result = np.empty(size, dtype=np.int64)
    for start in range(0, size, _BATCH):
        stop = min(start + _BATCH, size)
        _fill(result[start:stop], wide[start:stop], bits, guard)
    return result


@dataclass
class _Uniform:
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


@dataclass
class _Proposals:
    """Accepted |Z| = whole + X, the sign, and X where more than 64 bits are known."""

    whole: NDArray[np.int64]
    fraction: NDArray[np.uint64]
    negative: NDArray[np.bool_]
    extended: dict[int, _Uniform]


def _fill(
    out: NDArray[np.int64], scale: NDArray[np.uint64], bits: RandomBits, guard: float
) -> None:
    """Fill `out` with samples, proposing about as many as are needed."""
    done = 0
    while done < out.size:
        missing = out.size - done
        drawn = _propose(int(1.4 * missing + 4.0 * missing**0.5) + 8, bits, guard)
        take = min(missing, drawn.whole.size)
        scales, whole = scale[done : done + take], drawn.whole[:take]
        magnitude, undecided = _round(scales, whole, drawn.fraction[:take])
        if guard >= 1.0:
            undecided[:] = True
        late = [index for index in drawn.extended if index < take]
        for index in {*np.flatnonzero(undecided).tolist(), *late}:
            x = drawn.extended.get(index) or _Uniform(int(drawn.fraction[index]))
            magnitude[index] = _round_exactly(int(scales[index]), int(whole[index]), x, bits)
        out[done : done + take] = np.where(drawn.negative[:take], -magnitude, magnitude)
        done += take


def _propose(count: int, bits: RandomBits, guard: float) -> _Proposals:
    """Take steps 1 and 2 for `count` proposals; return the accepted ones, in order."""
    words = bits.words(3 * count)
    choice, fraction, acceptance = words[:count], words[count : 2 * count], words[2 * count :]
    negative = (choice & np.uint64(1)).astype(np.bool_)
    choice = choice >> np.uint64(1)

    whole = np.zeros(count, dtype=np.int64)
    undecided = np.zeros(count, dtype=np.bool_)
    for floor in _floors():
        reached = choice < floor
        if not reached.any():
            break
        whole += reached
    for floor in _floors():
        undecided |= choice == floor

    x = fraction * 2.0**-64
    chance = np.exp(-x * (whole + 0.5 * x))
    distance = acceptance * 2.0**-64 - chance
    accepted = distance < 0.0
    undecided |= np.abs(distance) <= guard

    extended: dict[int, _Uniform] = {}
    for index in np.flatnonzero(undecided).tolist():
        whole[index] = _whole_exactly(_Uniform(int(choice[index]), 63), bits)
        uniform = _Uniform(int(fraction[index]))
        variate = _Uniform(int(acceptance[index]))
        accepted[index] = _accept_exactly(int(whole[index]), uniform, variate, bits)
        if uniform.length > 64:
            extended[index] = uniform

    kept = np.flatnonzero(accepted)
    places = {int(old): new for new, old in enumerate(kept)} if extended else {}
    return _Proposals(
        whole[kept],
        fraction[kept],
        negative[kept],
        {places[old]: uniform for old, uniform in extended.items() if old in places},
    )


def _round(
    scale: NDArray[np.uint64], whole: NDArray[np.int64], fraction: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Step 3 in 128 bits: floor(scale * (whole + X) + 1/2), and where X's unseen bits matter."""
    shift, mask = np.uint64(32), np.uint64(2**32 - 1)
    scale_high, scale_low = scale >> shift, scale & mask
    x_high, x_low = fraction >> shift, fraction & mask
    middle = scale_low * x_high + ((scale_low * x_low) >> shift)
    cross = scale_high * x_low + (middle & mask)
    high = scale_high * x_high + (middle >> shift) + (cross >> shift)
    low = scale * fraction + _HALF  # modulo 2**64
    carry = low < _HALF
    undecided = low > np.uint64(0) - scale
    return scale.astype(np.int64) * whole + high.astype(np.int64) + carry, undecided


def _round_exactly(scale: int, whole: int, x: _Uniform, bits: RandomBits) -> int:
    """Step 3 in exact integers, with as many bits of X as it takes."""
    while True:
        half = 1 << (x.length - 1)
        first = (scale * x.prefix + half) >> x.length
        last = (scale * (x.prefix + 1) + half - 1) >> x.length
        if first == last:
            return min(scale * whole + first, _LARGEST)
        x.extend(bits)


def exact_context(digits: int, rounding: str = ROUND_HALF_EVEN) -> Context:
    """Return arithmetic of so many digits that owes nothing to the caller's settings."""
    return Context(
        prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, capitals=1, clamp=0, traps=[]
    )


@cache
def _tails(digits: int) -> tuple[Decimal, ...]:
    """Return P(K >= k) for k = 1, 2, ..., to about `digits` digits."""
    with localcontext(exact_context(digits + 10)):
        least = Decimal(10) ** -(digits + 5)
        masses: list[Decimal] = []
        while not masses or masses[-1] > least:
            masses.append((Decimal(-(len(masses) ** 2)) / 2).exp())
        tails = [masses[-1]]
        for mass in reversed(masses[:-1]):
            tails.append(tails[-1] + mass)
        return tuple(tail / tails[-1] for tail in reversed(tails[:-1]))


@cache
def _floors() -> tuple[np.uint64, ...]:
    """Return floor(2**63 P(K >= k)) for k = 1, 2, ... until it is zero, included."""
    with localcontext(exact_context(70)):
        floors = [int(tail * 2**63) for tail in _tails(60)]
    return tuple(np.uint64(floor) for floor in floors[: floors.index(0) + 1])


def _whole_exactly(choice: _Uniform, bits: RandomBits) -> int:
    """Step 1 exactly: the number of k with R < P(K >= k)."""
    while True:
        digits = choice.length  # far more digits than bits
        low, high = choice.bounds(digits + 10)
        tails = _tails(digits)
        with localcontext(exact_context(digits + 10)):
            slack = Decimal(10) ** -digits
            surely = sum(high <= tail - slack for tail in tails)
            maybe = sum(low < tail + slack for tail in tails)
        if surely == maybe and low > slack:
            return surely
        choice.extend(bits)


def _accept_exactly(whole: int, x: _Uniform, variate: _Uniform, bits: RandomBits) -> bool:
    """Step 2 exactly: whether the variate is below exp(-X (2 whole + X) / 2)."""
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
        x.extend(bits)
        variate.extend(bits)


def _chance(whole: int, x: Decimal) -> Decimal:
    """Return exp(-x (2 whole + x) / 2) in the current context."""
    return (-x * (2 * whole + x) / 2).exp()
