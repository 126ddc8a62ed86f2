"""The loops of `prolate.noise`, for numba; imported on first use. No fast-math."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["chacha", "propose", "rounded"]

# prolate.noise.kernels says what these are.
_FINE, _CHOICE, _VARIATE, _FIRST = 4, 31, 32, 8

_ROUND = np.array(  # a double round: columns, then diagonals
    [
        *((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)),
        *((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)),
    ]
)


@njit(nogil=True, cache=True)
def propose(
    control: Any,
    fraction: Any,
    floors: Any,
    least: Any,
    guard: float,
    whole: Any,
    accepted: Any,
    undecided: Any,
) -> None:
    for i in range(control.size):
        choice = np.int64(control[i] >> np.uint64(_VARIATE + 1))
        k = least[choice >> (_CHOICE - _FIRST)]
        while k < floors.size and choice < floors[k]:
            k += 1
        x = fraction[i] * 2.0**-64
        t = x * (k + 0.5 * x) * 4.0**-_FINE
        variate = np.int64((control[i] >> np.uint64(1)) & np.uint64(2**_VARIATE - 1))
        low = variate * 2.0**-_VARIATE
        open_whole = k < floors.size and choice == floors[k]
        whole[i] = k
        if low + (2.0**-_VARIATE + guard) < 1.0 - t:  # which is below exp(-t)
            accepted[i] = True
            undecided[i] = open_whole
            continue
        distance = low - np.exp(-t)
        accepted[i] = distance < 0.0
        undecided[i] = open_whole or -(2.0**-_VARIATE) - guard <= distance <= guard


@njit(nogil=True, cache=True)
def rounded(
    scale: Any, whole: Any, control: Any, fraction: Any, kept: Any, result: Any, undecided: Any
) -> None:
    shift, mask, one = np.uint64(32), np.uint64(2**32 - 1), np.uint64(1)
    fine, last = np.uint64(_FINE), np.uint64(2**_FINE - 1)
    for place in range(kept.size):
        i = kept[place]
        s, x, steps = scale[place], fraction[i], np.uint64(whole[i])
        s_high, s_low, x_high, x_low = s >> shift, s & mask, x >> shift, x & mask
        middle = s_low * x_high + ((s_low * x_low) >> shift)
        cross = s_high * x_low + (middle & mask)
        high = s_high * x_high + (middle >> shift) + (cross >> shift)
        high += s * (steps & last)
        undecided[place] = high & last == last >> one and s * x > np.uint64(0) - s
        high += (last >> one) + one
        magnitude = np.int64(s * (steps >> fine) + (high >> fine))
        result[place] = magnitude if control[i] & one == 0 else -magnitude


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
