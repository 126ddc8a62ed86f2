"""What a release says of features whose slopes few rows tell, or none."""

from __future__ import annotations

import math

import numpy as np

from prolate.curator import Curator
from prolate.errors import listed
from prolate.estimators.regression.line import Moments
from prolate.estimators.regression.standard import Standard

__all__ = ["BEYOND_CUT", "remarks"]

BEYOND_CUT = (
    "The target of rows with a rare value may be far beyond where targets were cut, so that a "
    "slope may be much larger than it seems; its interval is wide. The logarithm of the target, "
    "more rows or a larger budget may help."
)

# Mean square of a clipped feature, in squared deviations, below which few rows deviate (that of
# normal rows is about .8), and by how many standard deviations it is surely there.
_RARE, _SURELY_RARE = 0.45, 3.0


def remarks(curator: Curator, standard: Standard, moments: Moments) -> tuple[str, ...]:
    """Return warnings, by the moments of features clipped to the usual radius."""
    unseen = standard.unknown(moments)
    doubt = _SURELY_RARE * math.sqrt(2.0) * moments.noise
    rare = (np.diag(moments.features) + doubt < _RARE * standard.variance) & ~unseen

    def names(which: np.ndarray) -> str:
        return listed([curator.columns[j] for j in np.flatnonzero(which).tolist()])

    found = []
    if unseen.any():
        found.append(
            f"Only a single value was seen in {names(unseen)}: the slopes are set to zero, "
            "and nothing is known about them."
        )
    if rare.any():
        found.append(
            f"Most rows seem to have nearly the same value of {names(rare)}: the slopes rest on "
            "the few others, and their intervals are wide."
        )
    return tuple(found)
