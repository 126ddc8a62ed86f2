"""Normal intervals of what was released, each number by itself."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prolate.errors import ReleaseError
from prolate.release.bounds import possible
from prolate.release.views import confidence
from prolate.release.words import no_errors

if TYPE_CHECKING:
    from prolate.release.release import Release

__all__ = ["normal_interval"]


def normal_interval(release: Release, level: float) -> NDArray[np.float64]:
    """Return what `Release.interval` does."""
    z = -NormalDist().inv_cdf((1.0 - confidence(level)) / 2.0)
    std = _total_std(release)
    least, most = possible(release)
    # None covers less often for being cut, and around what is possible: the truth is never beyond.
    around = np.clip(release.estimate, least, most)
    with np.errstate(over="ignore"):
        ends = np.stack([around - z * std, around + z * std], axis=-1)
    return np.clip(ends, least[..., np.newaxis], most[..., np.newaxis])


def _total_std(release: Release) -> NDArray[np.float64]:
    """Return the standard deviation of all the errors that are stated, together."""
    if release.error_covariance is not None:
        square = np.diagonal(release.error_covariance)
        known = square < np.finfo(np.float64).max  # which stands for infinity
        return np.asarray(np.where(known, np.sqrt(square), np.finfo(np.float64).max))
    if release.noise_std is None or not release.has_intervals:
        remedy = "See its warnings." if release.method == "auto" else "Use method='auto'."
        raise ReleaseError(f"This regression has no intervals: {no_errors(release)}. {remedy}")
    total = release.noise_std
    sampling = None if release.omits_sampling else release.sampling_std
    with np.errstate(over="ignore"):
        for more in (sampling, release.clipping_std):
            total = total if more is None else np.hypot(total, more)
    return np.asarray(np.minimum(total, np.finfo(np.float64).max))
