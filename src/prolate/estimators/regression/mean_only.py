"""The private mean of the target, where rows are too few for slopes.

Values are cut around the place that the search found: the noise grows with the cut, and what it
takes from a skewed target falls with it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator
from prolate.estimators.columns import SomeColumns
from prolate.estimators.regression.linear_fit import LinearFit
from prolate.estimators.regression.standard import Standard
from prolate.estimators.shares import radii_apart
from prolate.queries import ClippedSum

__all__ = ["mean_only"]

Floats = NDArray[np.float64]

_CUTS = np.linspace(1.3, 5.0, 38)  # deviations at which the target may be cut
_SKEWED = 1.5  # times what exponential values lose, since they may be more skewed


def mean_only(
    curator: Curator, rows: float, standard: Standard, *, fit_intercept: bool
) -> LinearFit:
    """Return the private mean of the target, with all that is left."""
    k = curator.dimension - 1
    mean, noise = 0.0, np.zeros(k + 1)
    if fit_intercept:
        mean, noise[k] = _mean(curator, rows, standard)
    what, remedies = (
        ("the feature is: its slope is zero", "More rows")
        if k == 1
        else (f"the {k} features are: all slopes are zero", "More rows, fewer features")
    )
    few = (
        f"The rows are too few for this budget to see where {what}. {remedies}, a larger budget or "
        "bounds would help."
    )
    return LinearFit(
        coef=np.zeros(k),
        intercept=mean,
        rows=rows,
        noise_std=noise,
        warnings=(few,),
    )


def _mean(curator: Curator, rows: float, standard: Standard) -> tuple[float, float]:
    """Return the mean and the standard deviation of its error, sampling left aside."""
    from scipy.special import erf

    k = curator.dimension - 1
    middle, spread = standard.center[k:], standard.scale[k:]
    noise = radii_apart(curator.neighbors) / curator.mu_of(curator.remaining) / rows * _CUTS
    skewed = _SKEWED * np.exp(-1.0 - _CUTS)
    best = int(np.argmin(noise**2 + skewed**2))
    query = ClippedSum(middle, spread, float(_CUTS[best]))
    target = SomeColumns(curator, np.array([k]))
    measured = target.measure(query, share=curator.remaining, label="center")
    # Of normal values, a mean of cut ones moves by what part of them is not cut.
    moved = float(query.unit[0] / spread[0]) / rows / float(erf(_CUTS[best] / math.sqrt(2.0)))
    std = moved * measured.std
    keep = standard.off**2 / (standard.off**2 + std**2)
    away = min(max(moved * float(measured.values[0]), -_CUTS[best]), _CUTS[best])
    error = float(np.hypot(math.sqrt(keep) * std, keep * skewed[best]))
    return float(middle[0] + spread[0] * (keep * away)), float(spread[0]) * error
