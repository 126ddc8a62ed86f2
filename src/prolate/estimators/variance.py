"""The private variance of every column: no bounds needed.

Part of the budget goes to the private mean m. Then the squared deviations (x - m)**2 are
averaged like any other column: around their private size spread**2, scaled, clipped. Their
mean exceeds the variance by (m - mean)**2, whose expectation is the known noise of m.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prolate.curator import Curator
from prolate.estimators.estimate import Estimate
from prolate.estimators.mean import clipped_mean, learn_shape
from prolate.theory import optimal_scale

__all__ = ["variance"]

_MEAN_SHARE = 0.2  # of what the searches leave
_NORMAL = np.sqrt(2.0)  # standard deviation of (x - m)**2 over the variance, normal data


def variance(curator: Curator, *, error_norm: float = 2.0) -> Estimate:
    """Return the private variance (divided by n) of every column.

    Parameters
    ----------
    curator : Curator
        All of its remaining budget is spent.
    error_norm : float
        The p of the l_p error of the variances that is to be small.
    """
    shape = learn_shape(curator)
    mean, mean_noise, _ = clipped_mean(
        curator,
        shape,
        optimal_scale(shape.spread, error_norm),
        share=_MEAN_SHARE * curator.remaining,
    )
    square = shape.spread**2
    squares = replace(shape, center=square, spread=_NORMAL * square)
    value, noise_std, details = clipped_mean(
        curator,
        squares,
        optimal_scale(squares.spread, error_norm),
        share=curator.remaining,
        label="variance",
        about=mean,
    )
    return Estimate(
        value=np.maximum(value - mean_noise**2, 0.0),
        noise_std=noise_std,
        sampling_std=squares.spread / np.sqrt(shape.rows),
        rows=shape.rows,
        warnings=shape.warnings,
        details={**details, "sampling": "as for normal data", "mean": mean.tolist()},
    )
