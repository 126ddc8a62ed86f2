"""Several slopes, from different moments, as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Floats
from prolate.estimators.regression.slopes import Slopes

__all__ = ["Lost", "average"]

_MOST_APART = 1e9  # so that numbers stay finite


@dataclass(frozen=True, eq=False)
class Lost:
    """What cuts may have taken from each of several slopes: so much, times the same number.

    Attributes
    ----------
    each : sequence of float64 arrays of shape (k + 1,)
    times, doubt : float
        The likely number, and its standard deviation.
    """

    each: Sequence[Floats]
    times: float
    doubt: float


def average(found: Sequence[Slopes], *, off: float = 0.0, lost: Lost | None = None) -> Slopes:
    """Return the average with the least noise; all the rest is that of the last.

    What is `lost` is given back, as much of it as is likely and as the slopes tell, which differ
    where cuts took more from one than from another.

    Where they differ by more than their noise, as clipping may do more than is known, it is raised
    to what they differ by: Birge's ratio.

    The cut of skewed errors moves levels, not slopes. Where features are not around their means,
    noise of both goes together, so that slopes would follow: `off` is by how much levels may differ
    for that, over the deviation of the errors.
    """
    hidden = min((one.hidden_covariance for one in found), key=np.trace)
    if len(found) == 1:
        return replace(found[0], noise=found[0].noise + hidden)
    level = np.zeros_like(hidden)
    level[-1, -1] = off**2 * found[-1].rest
    precisions = [np.linalg.pinv(one.noise + level, hermitian=True) for one in found]
    noise = np.linalg.pinv(np.sum(precisions, axis=0), hermitian=True)
    value = noise @ np.sum(
        [p @ one.value for p, one in zip(precisions, found, strict=True)], axis=0
    )
    apart = [one.value - value for one in found]
    unsure = np.zeros_like(noise)
    if lost is not None:
        mean = noise @ np.sum([p @ a for p, a in zip(precisions, lost.each, strict=True)], axis=0)
        away = [one - mean for one in lost.each]
        pairs = list(zip(precisions, away, apart, strict=True))
        square = 1.0 / (lost.doubt**-2 + sum(float(a @ p @ a) for p, a, _ in pairs))
        told = -sum(float(a @ p @ b) for p, a, b in pairs)
        times = square * (lost.times / lost.doubt**2 + told)
        value, unsure = value + times * mean, square * np.outer(mean, mean)
        apart = [b + times * a for _, a, b in pairs]
    squares = sum(float(a @ p @ a) for a, p in zip(apart, precisions, strict=True))
    ratio = squares / (value.size * (len(found) - 1))
    if off > 0.0:
        parts = [noise @ p for p in precisions]
        noise = np.sum([p @ one.noise @ p.T for p, one in zip(parts, found, strict=True)], axis=0)
    noise = noise * min(max(1.0, ratio), _MOST_APART) + hidden + unsure
    return replace(found[-1], value=value, noise=noise)
