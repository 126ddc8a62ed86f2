"""What the rivals share: the public universe, and quantiles by noisy binary search."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Curator
from prolate.errors import InputError
from prolate.queries import Query

__all__ = ["binary_search", "need_replace", "noted_universe", "search_steps", "universe"]

_UNIVERSE = 2.0**20  # where no bounds are given
_LEAST_UNIVERSE = 2.0**-200  # smaller values have squares, and parts of these, that are no floats
_FINER = 4  # steps past log2(width): a resolution of 1/16 where PLAN's analysis has 1


def need_replace(curator: Curator, method: str) -> None:
    """Raise `InputError` if the neighbors are not those that the rivals are defined for."""
    if curator.neighbors != "replace":
        raise InputError(
            f"{method} is defined for neighbors='replace', with a public number of rows; "
            "use method='auto' for 'add-remove'."
        )


def universe(curator: Curator, given: float | None = None) -> float:
    """Return the papers' M, the largest value that may occur.

    It is `given`, or else the largest finite bound, or 2**20 where there are no bounds.
    """
    if given is not None:
        if not 0.0 < given < math.inf:
            raise InputError(f"universe must be positive and finite; got {given:g}.")
        return given
    finite = [abs(b) for side in curator.bounds or () for b in side if math.isfinite(b)]
    return max(*finite, _LEAST_UNIVERSE) if any(finite) else _UNIVERSE


def noted_universe(curator: Curator, largest: float, given: float | None) -> tuple[str, ...]:
    """Return the warning that the universe was assumed, if it was."""
    if given is not None or curator.bounds is not None:
        return ()
    return (f"The universe is taken as -{largest:g} to {largest:g}: no bounds were given.",)


def search_steps(width: float) -> int:
    """Return how many halvings bring an interval of this width to 1/32."""
    return max(12, math.ceil(math.log2(width)) + 1 + _FINER)


def binary_search(
    curator: Curator,
    low: Floats,
    high: Floats,
    query: Callable[[Floats], Query],
    rank: float,
    *,
    share: float,
    steps: int,
    label: str,
) -> Floats:
    """Return the values of a rank by noisy binary search (Smith 2011; Huang et al. 2021).

    Parameters
    ----------
    low, high : float64 arrays of shape (K,)
        Where to search, for each of K quantiles at once.
    query : callable
        From K points to the query for the number of rows at or below each.
    rank : float
        The number of rows that should be at or below the value.
    share : float
        Of mu**2, the same part for each step.
    steps : int
    label : str

    Returns
    -------
    float64 array of shape (K,)
    """
    lows, highs = low.astype(np.float64), high.astype(np.float64)
    for step in range(steps):
        middle = 0.5 * (lows + highs)
        part = min(share / steps, curator.remaining)
        count = curator.measure(query(middle), share=part, label=f"{label} {step + 1}")
        below = count.values < rank
        lows, highs = np.where(below, middle, lows), np.where(below, highs, middle)
    return np.asarray(0.5 * (lows + highs))
