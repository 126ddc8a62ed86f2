"""The loops over samples: the fast, never wrong part of `prolate.noise.gaussian`.

All steps are one compiled loop (`_compiled.py`). NumPy's, which the tests hold it against, run for
few samples, where numba is not installed, and for proposals among which one is open: they say
which, so that exact arithmetic decides. Both give the same integers.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Bools, Floats, Integers, fixed
from prolate.compiled import WORK, forgiving
from prolate.noise.exact import FINE, floors

__all__ = ["CHOICE", "VARIATE", "compiled", "drawn", "propose", "rounded", "with_noise"]

Words = NDArray[np.uint64]

_HERE = Path(__file__).parent

CHOICE, VARIATE = 31, 32
"""Bits of a control word for step 1 and, below them, for step 2; the lowest is the sign."""

_COST = 100  # values of a sum, in the time that NumPy takes longer to draw one
_AT_ONCE = 1 << 12  # numbers, whose working copies stay in the first caches
_FIRST = 12  # leading bits of the choice that say where to begin to look for K


def drawn(control: Words, fraction: Words, scale: Words, guard: float, out: Integers) -> int | None:
    """Take all steps, and fill `out`.

    Parameters
    ----------
    control, fraction : uint64 arrays of shape (count,)
        A control word per proposal, and the first 64 bits of its X.
    scale : uint64 array of shape (size,)
    guard : float
    out : int64 array of shape (size,)

    Returns
    -------
    int or None
        How many samples there are. None where a decision is open, and where NumPy's loops are to
        draw.
    """
    module = compiled(control.size)
    if module is None:
        return None
    words = map(fixed, (control, fraction, np.ascontiguousarray(scale)))
    with WORK.or_numpy(_COST * control.size):
        filled = module.drawn(*words, *_tables(), guard, out)
        return filled if filled >= 0 else None
    return None


def propose(control: Words, fraction: Words, guard: float) -> tuple[Integers, Bools, Integers]:
    """Take steps 1 and 2.

    Parameters
    ----------
    control, fraction : uint64 arrays of shape (count,)
    guard : float

    Returns
    -------
    whole : int64 array of shape (count,)
        K.
    accepted : bool array of shape (count,)
    undecided : int64 array
        Places of the proposals whose K and acceptance are open.
    """
    choice = (control >> np.uint64(VARIATE + 1)).astype(np.int64)
    variate = (control >> np.uint64(1)) & np.uint64(2**VARIATE - 1)
    rising = _tables()[0][::-1]
    upto = np.searchsorted(rising, choice, side="right")
    whole = rising.size - upto
    undecided = upto != np.searchsorted(rising, choice, side="left")

    x = fraction * 2.0**-64
    chance = np.exp(-x * (whole + 0.5 * x) * 4.0**-FINE)
    distance = variate * 2.0**-VARIATE - chance
    undecided |= (distance >= -(2.0**-VARIATE) - guard) & (distance <= guard)
    return whole, distance < 0.0, np.flatnonzero(undecided)


def rounded(
    scale: Words, whole: Integers, control: Words, fraction: Words, kept: Integers
) -> tuple[Integers, Integers]:
    """Take step 3 for the proposals at the places `kept`.

    Parameters
    ----------
    scale : uint64 array of shape (kept.size,)
    whole, control, fraction : arrays of shape (count,)
    kept : int64 array

    Returns
    -------
    result : int64 array of shape (kept.size,)
    undecided : int64 array
        Places in `result` that are open.
    """
    whole, control, x = whole[kept], control[kept], fraction[kept]
    shift, mask, one = np.uint64(32), np.uint64(2**32 - 1), np.uint64(1)
    fine, last = np.uint64(FINE), np.uint64(2**FINE - 1)
    # scale * X / 2**64 in 128 bits.
    scale_high, scale_low = scale >> shift, scale & mask
    x_high, x_low = x >> shift, x & mask
    middle = scale_low * x_high + ((scale_low * x_low) >> shift)
    cross = scale_high * x_low + (middle & mask)
    high = scale_high * x_high + (middle >> shift) + (cross >> shift)
    low = scale * x  # modulo 2**64

    steps = whole.astype(np.uint64)
    high += scale * (steps & last)
    undecided = (high & last == last >> one) & (low > np.uint64(0) - scale)
    high += (last >> one) + one
    result = (scale * (steps >> fine) + (high >> fine)).astype(np.int64)
    result = np.where(control & one == 0, result, -result)
    return result, np.flatnonzero(undecided)


def with_noise(total: Integers, noise: Integers, shift: int) -> Floats:
    """Return integers plus noise in steps of 2**-shift: exactly, and then as doubles.

    Examples
    --------
    >>> with_noise(np.array([5, 5]), np.array([3, -3]), 1)
    array([6.5, 3.5])
    """
    out = np.empty(total.size)
    module = compiled(0) if total.size >= _AT_ONCE else None
    if module is not None:
        with WORK.or_numpy(0):
            module.added(fixed(total), fixed(noise), shift, out)
            return out
    for start in range(0, total.size, _AT_ONCE):
        here = slice(start, start + _AT_ONCE)
        out[here] = total[here] + (noise[here] >> shift)
        out[here] += (noise[here] & ((1 << shift) - 1)) * 2.0**-shift
    return out


@cache
def _tables() -> tuple[Integers, NDArray[np.int16]]:
    """Return the falling floors of step 1, and K's least value for each start of a choice."""
    falling = np.array(floors(CHOICE), dtype=np.int64)
    ends = np.arange(1, 2**_FIRST + 1) << (CHOICE - _FIRST)
    return falling, np.searchsorted(-falling, -ends, side="right").astype(np.int16)


def compiled(samples: int) -> Any | None:
    """Return the compiled loops, or None where NumPy is to draw so many samples."""
    return _loaded() if WORK.is_enough(_COST * samples, _HERE) else None


@cache
def _loaded() -> Any | None:
    """Return the compiled loops, or None where numba is not there or compiles nothing."""
    try:
        from prolate.noise import _compiled as module
    except (ImportError, RuntimeError):  # not installed, or no folder for its cache
        return None
    return forgiving(module)
