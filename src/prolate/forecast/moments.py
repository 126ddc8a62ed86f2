"""Moments of normal rows that are clipped, weighted by their length, or cut column by column."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from prolate.arrays import Floats

if TYPE_CHECKING:
    from prolate.theory import ChiSquareMixture

__all__ = [
    "LONG",
    "SHORT",
    "clipped",
    "cut_moments",
    "in_units",
    "mixture",
    "multinomial",
    "normal_cdf",
    "tilted",
]

SHORT, LONG = 1e-10, 1e4
"""Squared lengths, over their mean, beyond which there are no rows."""

_NODES = 400  # quantiles of the squared norm that stand for its distribution
_SMALLEST = 1e-6  # variance over the squared distance of the center
_MANY = 1e4  # variance of a count, from which it is as good as normal
_NARROW = 1e-5  # part of the squared length that varies, below which rows are equally long


def in_units(mean: Floats, spread: Floats) -> tuple[Floats, Floats, float]:
    """Return means and spreads over the root mean square length of a row, and that length."""
    largest = float(max(np.abs(mean).max(), spread.max()))
    if not 0.0 < largest < np.inf:
        return mean, spread, 0.0
    mean, spread = mean / largest, spread / largest
    length = float(np.sqrt(np.sum(mean**2 + spread**2)))
    return mean / length, spread / length, largest * length


def clipped(mean: Floats, spread: Floats, radius: float) -> tuple[Floats, Floats]:
    """Return E f y, f = min(1, C / |y|), and its variance over rows whose mean is known.

    With h = 1 - f and g = E y h / E y, which is E y**2 h / E y**2 where E y = 0: knowing the
    mean of y takes the regression of f y on y away, and leaves E y**2 h**2 - g**2 E y**2.
    """
    from prolate.theory.clipped import lost_moments

    if radius**2 > LONG:
        return mean, np.zeros_like(mean)
    if float(np.sum(spread**2)) < _NARROW or radius**2 < SHORT:
        return mean * min(1.0, radius), np.zeros_like(mean)
    norm = mixture(mean, spread)
    lost, _ = lost_moments(norm, np.ones_like(mean), radius)
    _, square = lost_moments(norm, mean, radius)
    extra = square - lost**2 * (spread**2 + mean**2)
    return mean * (1.0 - lost), np.maximum(np.nan_to_num(extra), 0.0)


def tilted(
    mean: Floats, spread: Floats, radius: float, between: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return the same for a row weighted by its length, from a gamma of the same moments."""
    from scipy.special import gammaincinv

    norm = mixture(mean, spread)
    shape = norm.mean**2 / norm.var
    square = gammaincinv(shape, (np.arange(_NODES) + 0.5) / _NODES) * (norm.mean / shape)
    low, high = between[0] ** 2, between[1] ** 2
    width = max(high - low, 1e-300)
    weight = np.clip((2.0 * square - low - high) / width, -1.0, 1.0)
    weight = weight * np.minimum(1.0, radius / np.sqrt(square))
    slope = 2.0 / width * float(np.mean((square > low) & (square < high)))
    with_y = float(np.mean(square * weight) / np.mean(square))
    with_both = float(np.mean(square * weight**2) / np.mean(square))
    kept = mean * (float(np.mean(weight)) + 2.0 * spread**2 * slope)
    return kept, spread**2 * max(with_both - with_y**2, 0.0)


def mixture(mean: Floats, spread: Floats) -> ChiSquareMixture:
    """Return the distribution of |y|**2."""
    from prolate.theory import ChiSquareMixture

    weights = np.maximum(spread**2, _SMALLEST * mean**2)
    here = weights > 0.0
    return ChiSquareMixture(weights, np.where(here, mean**2 / np.where(here, weights, 1.0), 0.0))


def cut_moments(
    mean: Floats, spread: Floats, lower: Floats | None, upper: Floats | None
) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of normal values cut to [lower, upper]."""
    a = np.full_like(mean, -np.inf) if lower is None else (lower - mean) / spread
    b = np.full_like(mean, np.inf) if upper is None else (upper - mean) / spread
    below, above, inside = normal_cdf(a), normal_cdf(-b), normal_cdf(b) - normal_cdf(a)
    at_a, at_b = normal_pdf(a), normal_pdf(b)
    low, high = np.where(below > 0.0, a, 0.0), np.where(above > 0.0, b, 0.0)
    first = low * below + high * above + at_a - at_b
    second = low**2 * below + high**2 * above + inside
    second += np.where(at_a > 0.0, a * at_a, 0.0) - np.where(at_b > 0.0, b * at_b, 0.0)
    deviation = np.sqrt(np.maximum(second - first**2, 0.0))
    return mean + spread * first, spread * deviation


def normal_cdf(x: Floats) -> Floats:
    """Return the probability that a standard normal number is below x."""
    from scipy.special import ndtr

    return np.asarray(ndtr(x))


def normal_pdf(x: Floats) -> Floats:
    return np.asarray(np.exp(-0.5 * x**2) / np.sqrt(2.0 * np.pi))


def multinomial(n: int, cells: Floats, draw: np.random.Generator) -> Floats:
    """Return counts of n rows in cells of such probabilities.

    Halves of the cells share their rows out by quantiles of binomials, down to single cells. So
    the same generator gives nearly the same counts for nearly the same n and probabilities, as
    `numpy.random.Generator.multinomial`, which rejects, does not.
    """
    from scipy.special import ndtri
    from scipy.stats import binom

    sums = [np.pad(cells, (0, (1 << (cells.size - 1).bit_length()) - cells.size))]
    while sums[0].size > 1:
        sums.insert(0, sums[0].reshape(-1, 2).sum(axis=1))
    counts = np.array([float(n)])
    for whole, parts in pairwise(sums):
        part = np.clip(parts[::2] / np.where(whole > 0.0, whole, 1.0), 0.0, 1.0)
        uniform = draw.random(part.size)
        variance = counts * part * (1.0 - part)
        first = np.rint(counts * part + np.sqrt(variance) * ndtri(uniform))
        few = variance < _MANY
        first[few] = binom.ppf(uniform[few], counts[few], part[few])
        first = np.clip(first, 0.0, counts)
        counts = np.column_stack([first, counts - first]).ravel()
    return counts[: cells.size]
