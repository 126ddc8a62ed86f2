"""The arrays of a release: finite, not to be written to, and of shapes that agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prolate.errors import ReleaseError

if TYPE_CHECKING:
    from prolate.release.release import Release

__all__ = ["check_arrays", "frozen"]


def frozen(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return a read-only copy of `values`, or raise `ReleaseError` if one is not finite."""
    array = np.array(values, dtype=np.float64)
    if not np.all(np.isfinite(array)):
        raise ReleaseError(f"{name} holds a value that is not finite; do not use this release.")
    array.flags.writeable = False
    return array


def check_arrays(release: Release) -> None:
    """Raise `ReleaseError` unless the arrays of a release are those of its statistic."""
    d, shape = len(release.columns), release.estimate.shape
    if len(shape) not in (1, 2) or shape[-1] != d:
        raise ReleaseError(
            f"estimate must have one value per column, shape (d,) or (q, d) with "
            f"d = {d}; got shape {shape}."
        )
    if release.is_matrix and shape != (d, d):
        raise ReleaseError(f"The estimate of a {release.statistic} must be a square matrix.")
    for name in ("noise_std", "sampling_std", "clipping_std"):
        std = getattr(release, name)
        if std is not None and (std.shape != shape or np.any(std < 0.0)):
            raise ReleaseError(f"{name} must have shape {shape} and no negative value.")
    covariance = release.error_covariance
    if release.statistic != "regression":
        if release.noise_std is None or covariance is not None:
            raise ReleaseError(
                f"A release of a {release.statistic} has a noise_std and no error_covariance."
            )
    elif len(shape) != 1:
        raise ReleaseError(f"A regression has one estimate for each of its {d} columns.")
    elif covariance is not None and (
        covariance.shape != (d, d) or np.any(np.diagonal(covariance) < 0.0)
    ):
        raise ReleaseError(
            f"error_covariance must have shape ({d}, {d}) and no negative number on its diagonal."
        )
