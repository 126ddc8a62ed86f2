"""The loops of `prolate.noise`, for numba; imported on first use. No fast-math."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["added", "chacha", "drawn"]

# prolate.noise.kernels says what these are.
_FINE, _CHOICE, _VARIATE, _FIRST = 4, 31, 32, 12

_ROUND = np.array(  # a double round: columns, then diagonals
    [
        *((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)),
        *((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)),
    ]
)


@njit(nogil=True, cache=True)
def drawn(
    control: Any,
    fraction: Any,
    scale: Any,
    floors: Any,
    least: Any,
    guard: float,
    out: Any,
) -> int:
    """Fill `out` with samples; return how many there are, or -1 where a decision is open."""
    shift, mask, one = np.uint64(32), np.uint64(2**32 - 1), np.uint64(1)
    fine, last = np.uint64(_FINE), np.uint64(2**_FINE - 1)
    filled = 0
    for i in range(control.size):
        if filled == out.size:
            break
        choice = np.int64(control[i] >> np.uint64(_VARIATE + 1))
        k = np.int64(least[choice >> (_CHOICE - _FIRST)])
        while k < floors.size and choice < floors[k]:
            k += 1
        if k < floors.size and choice == floors[k]:
            return -1
        x = fraction[i] * 2.0**-64
        t = x * (k + 0.5 * x) * 4.0**-_FINE
        low = np.int64((control[i] >> one) & mask) * 2.0**-_VARIATE
        if not low + (2.0**-_VARIATE + guard) < 1.0 - t:  # which is below exp(-t)
            distance = low - np.exp(-t)
            if -(2.0**-_VARIATE) - guard <= distance <= guard:
                return -1
            if distance >= 0.0:
                continue
        s, x_all, steps = scale[filled], fraction[i], np.uint64(k)
        s_high, s_low, x_high, x_low = s >> shift, s & mask, x_all >> shift, x_all & mask
        middle = s_low * x_high + ((s_low * x_low) >> shift)
        cross = s_high * x_low + (middle & mask)
        high = s_high * x_high + (middle >> shift) + (cross >> shift)
        high += s * (steps & last)
        if high & last == last >> one and s * x_all > np.uint64(0) - s:
            return -1
        high += (last >> one) + one
        magnitude = np.int64(s * (steps >> fine) + (high >> fine))
        out[filled] = magnitude if control[i] & one == 0 else -magnitude
        filled += 1
    return filled


@njit(nogil=True, cache=True)
def chacha(start: Any, blocks: Any) -> None:
    """Fill `blocks`, (16, m), with ChaCha20 blocks (RFC 8439, section 2.3).

    One per column, so that each operation is done on many blocks at once. `start` is the
    state of the first, 16 words of 32 bits; the next ones' counters, word 12, follow.
    """
    for k in range(16):
        for j in range(blocks.shape[1]):
            blocks[k, j] = start[k]
    for j in range(blocks.shape[1]):
        blocks[12, j] = np.uint32(start[12] + np.uint32(j))
    for _ in range(10):
        for quarter in range(8):
            a, b = blocks[_ROUND[quarter, 0]], blocks[_ROUND[quarter, 1]]
            c, d = blocks[_ROUND[quarter, 2]], blocks[_ROUND[quarter, 3]]
            for j in range(a.size):
                p, q, r, s = a[j], b[j], c[j], d[j]
                p = np.uint32(p + q)
                s ^= p
                s = np.uint32((s << np.uint32(16)) | (s >> np.uint32(16)))
                r = np.uint32(r + s)
                q ^= r
                q = np.uint32((q << np.uint32(12)) | (q >> np.uint32(20)))
                p = np.uint32(p + q)
                s ^= p
                s = np.uint32((s << np.uint32(8)) | (s >> np.uint32(24)))
                r = np.uint32(r + s)
                q ^= r
                q = np.uint32((q << np.uint32(7)) | (q >> np.uint32(25)))
                a[j], b[j], c[j], d[j] = p, q, r, s
    for k in range(16):
        for j in range(blocks.shape[1]):
            blocks[k, j] = np.uint32(blocks[k, j] + start[k])
    for j in range(blocks.shape[1]):
        blocks[12, j] = np.uint32(blocks[12, j] + np.uint32(j))


@njit(nogil=True, cache=True)
def added(total: Any, noise: Any, shift: int, out: Any) -> None:
    """Write total + noise / 2**shift: the sum of whole parts, and the rest, as doubles."""
    last, unit = (1 << shift) - 1, 2.0**-shift
    for i in range(out.size):
        out[i] = np.float64(total[i] + (noise[i] >> shift)) + np.float64(noise[i] & last) * unit
