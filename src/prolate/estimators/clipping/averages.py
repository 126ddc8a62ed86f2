"""Averages of private means of the same rows, by what error is expected of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats

__all__ = ["Answer", "average", "with_center"]

_CLEARLY = 2.0  # standard deviations of squared noise
_APART = 2.0  # standard deviations by which a center may be off
_BIASED = 0.5  # standard deviations of noise that count as a bias of the center


@dataclass(frozen=True, eq=False)
class Answer:
    """A mean of rows clipped to a radius, and the standard deviation of its noise."""

    value: Floats
    noise: Floats
    radius: float


def average(
    first: Answer, second: Answer, unit: float | Floats, bias_square: Callable[[float], float]
) -> tuple[Floats, Floats, float]:
    """Return the average by inverse mean squared error, its noise, and the length of its bias.

    Means clipped to a radius have a squared bias, in `unit`, of `bias_square`; and the first
    misses what the two clearly differ by.
    """
    both = (first.noise / unit) ** 2 + (second.noise / unit) ** 2
    found = float(np.sum(((second.value - first.value) / unit) ** 2))
    explained = float(np.sum(both)) + _CLEARLY * float(np.sqrt(2.0 * np.sum(both**2)))

    def times(answer: Answer) -> float:
        """Return the squared error over the noise's."""
        noise = float(np.sum((answer.noise / unit) ** 2))
        bias = bias_square(answer.radius)
        if answer is first:
            bias = max(bias, found - explained)
        return 1.0 + bias / noise

    ratio = (second.noise / first.noise) ** 2 * (times(second) / times(first))
    weight = 1.0 / (1.0 + ratio)  # of the second
    value = (1.0 - weight) * first.value + weight * second.value
    bias = sum(
        float(np.mean(part)) * np.sqrt(bias_square(answer.radius))
        for part, answer in ((1.0 - weight, first), (weight, second))
    )
    return value, np.hypot((1.0 - weight) * first.noise, weight * second.noise), float(bias)


def with_center(
    value: Floats, noise: Floats, center: Floats, center_noise: Floats
) -> tuple[Floats, Floats]:
    """Return the average of a mean with the searched center, and its noise.

    What the two differ by, beyond their noise, is taken for the center's bias, and for as
    large in every column, in units of that noise; but where a column's differ by more than that
    explains, its center is hardly believed: that of a skewed column is not near its mean.
    """
    both = np.hypot(noise, center_noise)
    square = ((center - value) / both) ** 2
    known = np.isfinite(both)
    if not known.any():
        return value, noise
    doubt = _BIASED * float(np.sqrt(2.0 / np.count_nonzero(known)))
    surplus = max(float(np.mean(np.minimum(square[known], _APART**4))) - 1.0, 0.0) + doubt
    believed = np.minimum(1.0, _APART / np.sqrt(np.maximum(square, 1e-300))) ** 3
    weight = believed * (noise / both) ** 2 / (1.0 + surplus)
    together = np.hypot((1.0 - weight) * noise, weight * np.where(known, center_noise, 0.0))
    return value + weight * (center - value), together
