"""What a release says of features whose slopes few rows tell, or none, and of such a target."""

from __future__ import annotations

import math

import numpy as np

from prolate.arrays import Bools
from prolate.curator import Curator
from prolate.errors import listed
from prolate.estimators.regression.line import Moments
from prolate.estimators.regression.rows import StandardRows

__all__ = ["ALIKE", "BEYOND_CUT", "HIDDEN", "MISSING_TARGET", "hidden_target", "remarks"]

BEYOND_CUT = (
    "The target of rows with a rare value may be far beyond where targets were cut, so that a "
    "slope may be much larger than it seems; its interval is wide. The logarithm of the target, "
    "more rows or a larger budget may help."
)

ALIKE = (
    "Noise hides how the target varies within its bounds, so predictions are the same for all "
    "rows. The intervals of slopes and intercept are as wide as the bounds make them."
)
MISSING_TARGET = (
    "Nearly all values of the target are missing, so nothing is known of it: do not use these "
    "numbers."
)
HIDDEN = (
    "Only a single value was seen of the target: noise hides any others, and how far they are. "
    "Predictions leave them out, and intervals are infinite; do not use them unless the target is "
    "known to be as good as constant. More rows, a larger budget or bounds would help."
)

_ZERO = (
    "the slope is set to zero, and nothing is known about it",
    "the slopes are set to zero, and nothing is known about them",
)

# Mean square of a clipped feature, in squared deviations, below which few rows deviate (that of
# normal rows is about .8), and by how many standard deviations it is surely there.
_RARE, _SURELY_RARE = 0.45, 3.0
# Noise of products of features, and times it (and the root of how many these are) what rows vary by
# along an axis, where features are nearly copies; the largest part of one in such an axis, and the
# least of those that are named.
_SMALL_NOISE, _HIDES, _ALONE, _OF_AXIS = 0.05, 2.0, 0.9, 0.1


def hidden_target(curator: Curator) -> str:
    """Return the warning of a target of which only a single value was seen.

    Of flags that few rows have, this is what happens, unless something says that they are flags:
    files of text do not.
    """
    name, bounds = curator.columns[-1], curator.bounds
    bounded = bounds is not None and bool(np.isfinite(bounds[1][-1]))
    flag = f" If the target is a flag, give the bounds 0 and 1: bounds={{{name!r}: (0, 1)}}."
    return HIDDEN if bounded else HIDDEN + flag


def remarks(rows: StandardRows, moments: Moments, absent: Bools) -> tuple[str, ...]:
    """Return warnings, by the moments of features clipped to the usual radius.

    Of features that are `absent` hardly any value is there.
    """
    curator, standard = rows.curator, rows.standard
    unseen = standard.unknown(moments) | absent
    doubt = _SURELY_RARE * math.sqrt(2.0) * moments.noise
    rare = (np.diag(moments.features) + doubt < _RARE * standard.variance) & ~unseen

    def names(which: np.ndarray) -> str:
        return listed([curator.columns[j] for j in np.flatnonzero(which).tolist()])

    found = []
    single = unseen & ~absent
    if absent.any():
        found.append(
            f"Nearly all values of {names(absent)} are missing: {_ZERO[int(absent.sum() > 1)]}. "
            "Leave out such features."
        )
    if single.any():
        found.append(
            f"Only a single value was seen in {names(single)}: {_ZERO[int(single.sum() > 1)]}. A "
            "feature that is constant is best left out."
        )
    if rare.any():
        found.append(
            f"Most rows seem to have nearly the same value of {names(rare)}: the slopes rest on "
            "the few others, and their intervals are wide."
        )
    copies = _nearly_copies(moments, unseen | rare)
    if copies.any():
        found.append(
            f"Noise hides what tells {names(copies)} apart: beside each other their slopes may be "
            "much larger than they seem, and their intervals too narrow. Leave out some of them, "
            "or take differences of them as features."
        )
    return tuple(found)


def _nearly_copies(moments: Moments, others: Bools) -> Bools:
    """Return which features vary together so much that noise hides the rest, though it is small.

    Those of which little is known by themselves are `others`.
    """
    index, copies = np.flatnonzero(~others), others & ~others
    if index.size < 2 or moments.noise > _SMALL_NOISE:
        return copies
    values, axes = np.linalg.eigh(moments.features[np.ix_(index, index)])
    loads = axes**2
    near = (values < _HIDES * math.sqrt(index.size) * moments.noise) & (loads.max(axis=0) < _ALONE)
    copies[index] = np.any(loads[:, near] > _OF_AXIS, axis=1)
    return copies
