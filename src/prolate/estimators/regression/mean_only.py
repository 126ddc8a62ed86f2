"""The private mean of the target, where rows are too few for slopes."""

from __future__ import annotations

import math

import numpy as np

from prolate.curator import Curator
from prolate.estimators.clipping.rough_mean import rough_mean
from prolate.estimators.columns import SomeColumns
from prolate.estimators.regression.linear_fit import LinearFit
from prolate.estimators.regression.standard import Standard
from prolate.estimators.within_bounds import mean_within

__all__ = ["mean_only"]


def mean_only(
    curator: Curator, rows: float, standard: Standard, *, fit_intercept: bool
) -> LinearFit:
    """Return the private mean of the target, with all that is left."""
    k = curator.dimension - 1
    mean, noise = 0.0, np.append(np.full(k, np.inf), 0.0)
    if fit_intercept:
        target = SomeColumns(curator, np.array([k]))
        if standard.ends is not None:
            within = mean_within(target, rows=rows, error_norm=2.0)
            mean, noise[k:] = float(within.value[0]), within.noise_std
        else:
            found = rough_mean(target, rows, standard.center[k:], standard.scale[k:], standard.off)
            mean, noise[k] = found.value, math.hypot(found.noise_std, found.lost)
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
