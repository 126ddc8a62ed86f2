"""The private variance of every column: no bounds needed.

Part of the budget goes to the private mean m. Then the squared deviations (x - m)**2 are
summed around their private size spread**2, scaled, and clipped to their safe radius. Their
mean exceeds the variance by (m - mean)**2, whose expectation is the known noise of m.
"""

from __future__ import annotations

import numpy as np

from prolate.curator import Curator
from prolate.estimators.clip import measure_norms, safe_cell
from prolate.estimators.estimate import Estimate
from prolate.estimators.mean import clipped_mean
from prolate.estimators.shape import learn_shape
from prolate.estimators.shares import radius_share, rows_changed
from prolate.queries import ClippedSum
from prolate.theory import effective_columns, optimal_scale

__all__ = ["variance"]

_MEAN_SHARE = 0.2  # of what the searches leave
_SQUARABLE = (1e-70, 1e70)  # scales whose fourth powers are floats
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
    rows = shape.rows
    scale = optimal_scale(shape.spread, error_norm)
    mean, mean_noise, _ = clipped_mean(curator, shape, scale, share=_MEAN_SHARE * curator.remaining)

    size = np.clip(shape.spread, *_SQUARABLE) ** 2
    scale = optimal_scale(_NORMAL * size, error_norm)
    effective = effective_columns(size, scale)
    norms = measure_norms(
        curator,
        center=size,
        scale=scale,
        spread=_NORMAL * size,
        share=radius_share(curator, rows, effective) * curator.remaining,
        about=mean,
    )
    share = curator.remaining
    clipped = rows_changed(curator.neighbors) * np.sqrt(effective) / curator.mu_of(share)
    radius = float(norms.edges[safe_cell(norms, clipped)])
    query = ClippedSum(size, scale, radius, about=mean)
    measured = curator.measure(query, share=share, label="variance")
    value = size + query.unit * measured.values / rows - mean_noise**2
    return Estimate(
        value=np.maximum(value, 0.0),
        noise_std=query.unit * measured.std / rows,
        sampling_std=_NORMAL * size / np.sqrt(rows),
        rows=rows,
        warnings=shape.warnings,
        details={
            "radius": radius,
            "clipped_fraction": norms.fraction_above(radius, rows),
            "sampling": "as for normal data",
            "mean": mean.tolist(),
        },
    )
