"""Several slopes, from different moments, as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from prolate.estimators.regression.slopes import Slopes

__all__ = ["average"]

_MOST_APART = 1e9  # so that numbers stay finite


def average(found: Sequence[Slopes], *, off: float = 0.0) -> Slopes:
    """Return the average with the least noise; all the rest is that of the last.

    Where they differ by more than their noise, as clipping may do more than is known, it is raised
    to what they differ by: Birge's ratio.

    The cut of skewed errors moves levels, not slopes. Where features are not around their means,
    noise of both goes together, so that slopes would follow: `off` is by how much levels may differ
    for that, over the deviation of the errors.
    """
    hidden = min((one.hidden for one in found), key=np.trace)
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
    squares = sum(float(a @ p @ a) for a, p in zip(apart, precisions, strict=True))
    ratio = squares / (value.size * (len(found) - 1))
    if off > 0.0:
        parts = [noise @ p for p in precisions]
        noise = np.sum([p @ one.noise @ p.T for p, one in zip(parts, found, strict=True)], axis=0)
    noise = noise * min(max(1.0, ratio), _MOST_APART) + hidden
    return replace(found[-1], value=value, noise=noise)
