"""The rounded Gaussian: the nearest integer to an ideal normal, exactly.

``rounded_gaussian`` draws round(scale * Z) where Z is a real standard normal, not
a floating-point number. Adding it to an integer vector is the same as rounding
the ideal Gaussian mechanism, which is post-processing: sensitivity / scale is its
mu, exactly, with nothing added to delta.

Algorithm (after Karney 2016, "Sampling exactly from the normal distribution", with finer
steps). |Z| = h (K + X) where h = 1/16, K is a non-negative integer and X lies in [0, 1):

1. draw K with probability proportional to exp(-(h K)**2 / 2);
2. draw X uniformly, and accept it with probability exp(-h**2 X (2 K + X) / 2);
   otherwise start again (97.6 % of the draws are accepted);
3. draw a sign, and round scale * h * (K + X) to the nearest integer.

The joint density of accepted (K, X) is proportional to exp(-h**2 (K + X)**2 / 2).

Every uniform number is a stream of bits, of which the first 31 (R, which chooses K), 64 (X)
and 32 (the acceptance variate) are drawn at once, for many samples; a decision that those
bits leave open goes to `exact.py`, which draws more bits.

Guards (why the fast path, `kernels.py`, never decides wrongly):

- *Step 1.* R < T_k = P(K >= k) is open only if the 31-bit prefix of R equals
  floor(2**31 T_k). The floors are computed to 60 digits; those prefixes go to `exact.py`.
- *Step 2.* The prefix u stands for X in [u, u + 1) / 2**64. Let x be u / 2**64 in
  double precision, so |x - X| <= 2**-53 + 2**-64. t = h**2 x (K + x / 2) has
  |t - h**2 X (K + X / 2)| <= h**2 ((K + 1)(2**-53 + 2**-64) + 3 * 2**-53 (K + 1/2)), below
  2**-51 for K <= 150 (no larger one has a 31-bit prefix above 0), and exp(-t) in double
  precision errs by no more than 2**-48 if the library's exp is within 16 units in the last
  place (NumPy claims one; the tests compare it, and the compiled one, with decimal). The
  prefix v of the acceptance variate V is exact in a double, and v <= V < v + 2**-32. So the
  decision is right whenever v - exp(-t) is above 2**-47 or below -2**-32 - 2**-47. The guard
  is 2**-44: what lies between, or within it, goes to `exact.py`. If v + 2**-32 + guard is
  below 1 - t, as computed, it is below exp(-t) by more than the guard less 2**-50, and no
  exponential is needed.
- *Step 3.* scale * u is computed in 128 bits; the unseen bits of X add less than `scale`,
  so the rounding is open only if that carries into the high 64 bits, and from there out of
  the bits below 1/h. Those go to `exact.py`.

So the result does not depend on the guard: widening it until every sample goes through
`exact.py` gives the same integers from the same bits (tested).

Samples come in batches, each of which has a stream of bits of its own: so the integers do
not depend on the number of threads, either.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Integers
from prolate.errors import InputError
from prolate.noise.exact import Uniform, accept_exactly, round_exactly, whole_exactly
from prolate.noise.kernels import CHOICE, VARIATE, drawn, propose, rounded
from prolate.noise.randomness import RandomBits
from prolate.parallel import in_threads

__all__ = ["MAX_SCALE", "rounded_gaussian"]

MAX_SCALE = 2**56
"""Largest scale: with |Z| < 64, which fails once in 10**891 draws, no int64 overflows."""

_GUARD = 2.0**-44
_BATCH = 1 << 14  # samples: their bits fit into the second-level cache


def rounded_gaussian(
    scale: int | Integers,
    size: int,
    bits: RandomBits,
    *,
    guard: float = _GUARD,
    threads: int = 1,
) -> Integers:
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
    threads : int
        How many threads may work. It does not change the result, either.

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
    [1828, 1778, -2783]
    """
    scales = np.asarray(scale)
    outside = scales.dtype.kind not in "iu" or not (
        scales.min(initial=1) >= 1 and scales.max(initial=1) <= MAX_SCALE
    )
    if outside:
        raise InputError(f"scale must be an integer between 1 and {MAX_SCALE}.")
    wide = np.broadcast_to(scales.astype(np.uint64), (size,))
    result = np.empty(size, dtype=np.int64)
    if size <= _BATCH:
        _fill(result, wide, bits, guard)
        return result

    def fill(batch: tuple[int, RandomBits]) -> None:
        start, own = batch
        here = slice(start, start + _BATCH)
        _fill(result[here], wide[here], own, guard)

    starts = range(0, size, _BATCH)
    in_threads(fill, list(zip(starts, bits.split(len(starts)), strict=True)), threads)
    return result


def _fill(out: Integers, scale: NDArray[np.uint64], bits: RandomBits, guard: float) -> None:
    """Fill `out` with samples, proposing about as many as are needed."""
    done = 0
    while done < out.size:
        missing = out.size - done
        count = int(1.025 * missing + missing**0.5) + 8
        words = bits.words(2 * count)
        control, fraction = words[:count], words[count:]
        filled = drawn(control, fraction, scale[done:], guard, out[done:])
        if filled is None:
            filled = _fill_exactly(out[done:], scale[done:], control, fraction, bits, guard)
        done += filled


def _fill_exactly(
    out: Integers,
    scale: NDArray[np.uint64],
    control: NDArray[np.uint64],
    fraction: NDArray[np.uint64],
    bits: RandomBits,
    guard: float,
) -> int:
    """Fill `out`, drawing more bits where a decision is open; return how many samples there are."""
    whole, accepted, undecided = propose(control, fraction, guard)
    extended: dict[int, Uniform] = {}  # X, where more than 64 bits are known
    for index in undecided.tolist():
        word = int(control[index])
        choice = Uniform(word >> (VARIATE + 1), CHOICE)
        variate = Uniform((word >> 1) % 2**VARIATE, VARIATE)
        x = Uniform(int(fraction[index]))
        whole[index] = whole_exactly(choice, bits)
        accepted[index] = accept_exactly(int(whole[index]), x, variate, bits)
        if x.length > 64:
            extended[index] = x

    kept = np.flatnonzero(accepted)[: out.size]
    result, undecided = rounded(scale[: kept.size], whole, control, fraction, kept)
    late = np.flatnonzero(np.isin(kept, list(extended))) if extended else ()
    again = range(kept.size) if guard >= 1.0 else sorted({*undecided.tolist(), *late})
    for place in again:
        index = int(kept[place])
        x = extended.get(index) or Uniform(int(fraction[index]))
        exact = round_exactly(int(scale[place]), int(whole[index]), x, bits)
        result[place] = -exact if int(control[index]) & 1 else exact
    out[: kept.size] = result
    return kept.size
