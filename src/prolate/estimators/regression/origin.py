"""The line through the origin from a line with an intercept.

Features that are far from the origin would have to be clipped to a ball around it so large that
noise drowns their slopes. So they are clipped around their centers, and a line y = x @ b + a is
fitted. Of all lines without an intercept the best is then the one nearest to it: least squares
asks for the smallest E (x @ (b - c) + a)**2, which is c = b + h a with
h = S**-1 m / (1 + m' S**-1 m), for features of mean m and covariance S.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from prolate.arrays import Floats
from prolate.estimators.regression.linear_fit import ClippedLine
from prolate.estimators.regression.slopes import Slopes
from prolate.estimators.regression.standard import Standard
from prolate.estimators.search.spread import LARGEST

__all__ = ["line_from_origin", "through_origin"]

_WRONG = 0.05  # part by which h may be wrong, as rows are not quite normal
_FARTHEST = 1e100  # of centers, in their scales, so that squares are numbers
_CUT = 16.0  # root mean squares at which features are cut in predictions


def through_origin(standard: Standard, found: Slopes) -> tuple[Standard, Slopes]:
    """Return the slopes of the line through the origin, in standard units from there.

    Parameters
    ----------
    standard : Standard
        Units of `found`, around the rows' centers.
    found : Slopes
        With an intercept.
    """
    k = found.mean.size
    with np.errstate(over="ignore"):
        place = np.clip(standard.center / standard.scale, -_FARTHEST, _FARTHEST)
    mean = place[:k] + found.mean
    along = np.linalg.pinv(found.features, hermitian=True) @ mean
    toward = along / (1.0 + float(mean @ along))
    left = float(found.value[k] + place[k] - found.value[:k] @ place[:k])
    turn = np.column_stack([np.eye(k) - np.outer(toward, place[:k]), toward])
    wrong = _WRONG * left * toward

    def widened(matrix: Floats) -> Floats:
        """Return a covariance of slopes, and of an intercept that is none."""
        out = np.zeros((k + 1, k + 1))
        out[:k, :k] = matrix
        return out

    there = replace(standard, center=np.zeros(k + 1), fit_intercept=False)
    return there, replace(
        found,
        value=np.append(found.value[:k] + left * toward, 0.0),
        noise=widened(turn @ found.noise @ turn.T + np.outer(wrong, wrong)),
        sampling=widened(turn @ found.sampling @ turn.T),
    )


def line_from_origin(standard: Standard, slopes: Floats) -> ClippedLine:
    """Return what predicts by slopes in the data's units, rows far out drawn toward the origin.

    Parameters
    ----------
    standard : Standard
        Around the rows' centers.
    slopes : float64 array of shape (k,)
    """
    scale = np.minimum(np.hypot(standard.center, standard.scale), LARGEST)[:-1]
    return ClippedLine(
        center=np.zeros(slopes.size),
        scale=scale,
        cut=_CUT,
        radius=_CUT * math.sqrt(slopes.size),
        slopes=slopes,
        value=0.0,
    )
