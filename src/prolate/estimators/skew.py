"""How much of what clipping takes is taken from one side, and so missing in a mean."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from prolate.estimators.beyond import Beyond
from prolate.estimators.expected import Expected, Tilt

__all__ = ["feared_bias", "one_sided", "worth_along"]

Floats = NDArray[np.float64]


def worth_along(expected: Expected, spread: Floats, scale: Floats) -> tuple[Floats, float]:
    """Return how columns share a bias, and what a scaled length is worth along it."""
    along = expected.along(spread, scale)
    return along, 1.0 / float(np.hypot.reduce(along / scale))  # whose squares may vanish


def one_sided(expected: Expected, tilt: Tilt, worth: float, radius: float) -> float:
    """Return how much of what rows lose beyond a radius is lost to one side, at most 1."""
    length, mass = expected.lengths
    seen = worth * float(mass @ np.maximum(length - radius, 0.0))
    tilted = expected.unit * math.sqrt(expected.bias_square(radius, tilt))
    return min(1.0, tilted / seen) if seen > 0.0 else 0.0


def feared_bias(
    expected: Expected, tilt: Tilt, spread: Floats, scale: Floats, *, usual: float, radius: float
) -> float:
    """Return the length of what rows lose beyond a radius, if they are skewed as at a usual one.

    The tail beyond is extrapolated (`Beyond`).
    """
    _, worth = worth_along(expected, spread, scale)
    lost = Beyond.of(expected.norms, expected.rows).lost(radius)
    return one_sided(expected, tilt, worth, usual) * worth * lost
