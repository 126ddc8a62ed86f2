"""The public bounds that a release states, and what they leave possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prolate.arrays import Floats

if TYPE_CHECKING:
    from prolate.release.release import Release

__all__ = ["given_bounds", "possible"]

Pair = tuple[float, float]


def given_bounds(release: Release) -> Pair | dict[str, Pair] | None:
    """Return the bounds that the release stores, if they are such as `Job` writes.

    A pair for all columns, or pairs of some by name; also those of booleans.
    """
    given = release.details.get("bounds")
    if isinstance(given, dict) and all(map(_is_pair, given.values())):
        return {str(name): (low, high) for name, (low, high) in given.items()}
    return (given[0], given[1]) if isinstance(given, list) and _is_pair(given) else None


def possible(release: Release) -> tuple[Floats, Floats]:
    """Return the least and the largest value that each number can have in any population.

    Arrays of the shape of `estimate`; -inf and inf where nothing is known.
    """
    shape = release.estimate.shape
    least, most = np.full(shape, -np.inf), np.full(shape, np.inf)
    if release.statistic == "correlation":
        least[:], most[:] = -1.0, 1.0
    elif release.statistic in ("variance", "count"):
        least[:] = 0.0
    elif release.statistic == "covariance":
        np.fill_diagonal(least, 0.0)  # variances
    elif release.statistic in ("mean", "quantile"):
        least[:], most[:] = _of_columns(release)
    elif release.statistic == "sum" and release.method != "gaussian-ellipse":
        lower, upper = _of_columns(release)
        if release.n_is_noisy or release.n <= 0.0:  # of any number of values
            least[:], most[:] = (
                np.where(lower < 0.0, -np.inf, 0.0),
                np.where(upper > 0.0, np.inf, 0.0),
            )
        else:
            with np.errstate(over="ignore"):
                least[:], most[:] = release.n * lower, release.n * upper
    return least, most


def _of_columns(release: Release) -> tuple[Floats, Floats]:
    """Return the bounds of each column, shape (d,)."""
    given, free = given_bounds(release), (-np.inf, np.inf)
    if isinstance(given, dict):
        pairs = [given.get(name, free) for name in release.columns]
    else:
        pairs = [given or free] * len(release.columns)
    lower, upper = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return lower, upper


def _is_pair(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(end, int | float) for end in value)
    )
