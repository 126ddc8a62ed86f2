"""The transform of a chi-square mixture: K(s) = log E exp(s Q), at real and at complex s.

    K(s) = sum_j -1/2 log A_j + lambda_j w_j s / A_j,    A_j = 1 - 2 w_j s.

Weights are divided by the largest, and equal ones are put together. A_j is computed as
(1 - w_j) + w_j A_1, so that it keeps its digits where s is close to 1/2, the end of the half-plane
in which K is finite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Floats

__all__ = ["CHUNK", "Terms"]

Complex = NDArray[np.complex128]

CHUNK = 120_000  # complex numbers worked on at a time
_FOLDS = 5  # 2**5 factors A_j are multiplied before a logarithm is taken
_DECADES = 280.0  # that a product may span
_FEW = 250  # logarithms that are not worth the trouble


@dataclass(frozen=True)
class Terms:
    """The distinct weights of a mixture, the largest being 1.

    Attributes
    ----------
    scale : float
        The largest weight.
    weight, count, noncentrality : float64 arrays of shape (k,)
        Weight over the largest; how many chi-squares have it; the sum of their lambda_j. By
        rising count, each count's share filled up to a multiple of 32 with weights of 0.
    runs : tuple of (float, slice)
        The shares: a count, and where it stands.
    """

    scale: float
    weight: Floats
    count: Floats
    noncentrality: Floats
    runs: tuple[tuple[float, slice], ...]

    @classmethod
    def of(cls, weights: Floats, noncentrality: Floats) -> Terms:
        """Group equal weights; `weights` are not negative, and one is positive."""
        kept = weights > 0.0
        scale = float(weights.max())
        distinct, place, count = np.unique(weights[kept], return_inverse=True, return_counts=True)
        shift = np.bincount(place.ravel(), noncentrality[kept], distinct.size)
        parts, runs, start = [], [], 0
        for size in np.unique(count):
            chosen = count == size
            blank = -int(chosen.sum()) % 2**_FOLDS
            share = np.stack([distinct[chosen] / scale, count[chosen], shift[chosen]])
            filled = np.pad(share, ((0, 0), (0, blank)))
            parts.append(filled)
            runs.append((float(size), slice(start, start + filled.shape[1])))
            start += filled.shape[1]
        weight, counts, shifts = np.concatenate(parts, axis=1)
        return cls(scale, weight, counts, shifts, tuple(runs))

    @property
    def central(self) -> bool:
        """Whether all noncentralities are zero."""
        return not self.noncentrality.any()

    def moments(self) -> tuple[float, float]:
        """Return the mean and the variance, in units of the largest weight."""
        mean = float(self.weight @ (self.count + self.noncentrality))
        return mean, 2.0 * float(self.weight**2 @ (self.count + 2.0 * self.noncentrality))

    def slopes(self, s: float, first: float) -> tuple[float, float, float]:
        """Return s K'(s), s**2 K''(s) and s**3 K'''(s) at a real s, where 1 - 2 s is `first`."""
        ratio = 2.0 * s * self.weight / (1.0 - self.weight + self.weight * first)
        square = ratio * ratio
        half = 0.5 * self.count
        one, two = float(half @ ratio), float(half @ square)
        three = float(self.count @ (square * ratio))
        if not self.central:
            more = self.noncentrality * (1.0 + ratio)
            one += 0.5 * float(more @ ratio)
            two += float(more @ square)
            three += 3.0 * float(more @ (square * ratio))
        return one, two, three

    def at_real(self, s: float, first: float) -> float:
        """Return K(s) at a real s."""
        factor = 1.0 - self.weight + self.weight * first
        found = -0.5 * float(self.count @ np.log(factor))
        return found + s * float(self.noncentrality @ (self.weight / factor))

    def at(self, s: Complex, first: Complex) -> Complex:
        """Return K(s) in the lower half-plane, where 1 - 2 s is `first`."""
        found = np.empty_like(s)
        rows = max(1, CHUNK // self.weight.size)
        pull = self.weight * self.noncentrality
        for start in range(0, s.size, rows):
            part = slice(start, start + rows)
            factors = (1.0 - self.weight) + first[part, None] * self.weight
            total = np.zeros(factors.shape[0], dtype=np.complex128)
            # Each |A_j| lies within a factor of 2 of 1 or between 1 and |1 - 2 s|.
            decades = float(np.abs(np.log10(np.abs(first[part]))).max()) + 0.4
            folds = min(_FOLDS, int(math.log2(max(_DECADES / decades, 1.0))))
            for count, run in self.runs:
                total -= 0.5 * count * _log_product(factors[:, run], folds)
            if not self.central:
                total += s[part] * (1.0 / factors @ pull)
            found[part] = total
        return found


def _log_product(factors: Complex, folds: int) -> Complex:
    """Return the sums over rows of logarithms of numbers in the upper half-plane.

    A complex logarithm costs as much as a hundred products. A product of two numbers with
    arguments between 0 and pi has one between 0 and 2 pi; where that exceeds pi, the product
    is turned back by half a turn, and the turn is counted.
    """
    turns = np.zeros(factors.shape[0])
    for _ in range(folds if factors.size > _FEW else 0):
        middle = factors.shape[1] // 2
        factors = factors[:, :middle] * factors[:, middle:]
        beyond = factors.imag < 0.0
        np.negative(factors, out=factors, where=beyond)
        turns += beyond.sum(axis=1)
    return np.asarray(np.log(factors).sum(axis=1) + 1j * math.pi * turns)
