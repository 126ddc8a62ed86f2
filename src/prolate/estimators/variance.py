"""The private variance of every column: no bounds needed.

Part of the budget goes to the private mean m. Then the squared deviations (x - m)**2 are
summed around their private size spread**2, scaled, and clipped. Their mean exceeds the
variance by (m - mean)**2, whose expectation is the known noise of m.

Squares are long on one side only, so what clipping takes is lost. The radius is no smaller
than normal rows, or the tail that is seen, allow (`tail.py`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Table
from prolate.estimators.clipping.clipped_mean import clipped_mean
from prolate.estimators.clipping.first_look import with_first_look
from prolate.estimators.estimate import Estimate
from prolate.estimators.lengths.beyond import Beyond, lost_part, stretch_beyond
from prolate.estimators.lengths.norms import measure_norms
from prolate.estimators.lengths.tail import find_tail
from prolate.estimators.search.learn import learn_shape
from prolate.estimators.search.rare_column import RareColumn, rare_column_variance
from prolate.estimators.search.shape import Shape
from prolate.estimators.shares import radius_share, rows_changed
from prolate.queries import ClippedSum
from prolate.theory import effective_columns, optimal_scale

__all__ = ["variance"]

Floats = NDArray[np.float64]

_MEAN_SHARE = 0.2  # of what the searches leave
_RADIUS = 2.0  # times the share that a mean spends on norms: the tail is worth it
_SQUARABLE = (1e-70, 1e70)  # scales whose fourth powers are floats
_NORMAL = np.sqrt(2.0)  # standard deviation of (x - m)**2 over the variance, normal data
_HEAVY = 3.0  # times the normal sampling error
_LOST = 1.4  # of what is beyond the radius: squares are all on one side
_UNSURE = 2.5  # allowance for clipping, over the other errors together
_WARNING = (
    "The rows have heavy tails, or are too few for this budget to show that they have not: their "
    "variance may be ruled by few of them, and its intervals may be too narrow. Quantiles are "
    "surer."
)
_FAR = (
    "Values beyond about 1e70 cannot be squared here, so the variance of their columns is not "
    "known: rescale them."
)


def variance(curator: Table, *, error_norm: float = 2.0) -> Estimate:
    """Return the private variance (divided by n) of every column.

    Parameters
    ----------
    curator : Table
        All of its remaining budget is spent.
    error_norm : float
        The p of the l_p error of the variances that is to be small.
    """
    shape = learn_shape(curator)
    curator = curator if shape.table is None else shape.table
    if shape.rare is not None and _SQUARABLE[0] < shape.spread[0] < _SQUARABLE[1]:
        return _of_rare_column(curator, shape, shape.rare)
    rows = shape.rows

    def weigh(shape: Shape) -> Floats:
        return optimal_scale(shape.spread, error_norm)

    shape, lengths = with_first_look(shape, weigh, share=_MEAN_SHARE * curator.remaining)
    share = _MEAN_SHARE * curator.remaining  # the look may have been a dear one
    mean, mean_noise, _ = clipped_mean(
        curator, shape, weigh(shape), share=share, sample=shape.sample, norms=lengths
    )

    size = np.clip(shape.spread, *_SQUARABLE) ** 2
    scale = optimal_scale(_NORMAL * size, error_norm)
    effective = effective_columns(size, scale)
    norms = measure_norms(
        curator,
        center=size,
        scale=scale,
        spread=_NORMAL * size,
        share=min(_RADIUS * radius_share(curator, rows, effective), 0.3) * curator.remaining,
        about=mean,
    )
    share = curator.remaining
    clipped = rows_changed(curator.neighbors) * np.sqrt(effective) / curator.mu_of(share)
    tail = find_tail(norms, size / scale, clipped, rows)
    query = ClippedSum(size, scale, tail.radius, about=mean)
    measured = curator.measure(query, share=share, label="variance")
    value = size + query.unit * measured.values / rows - mean_noise**2
    noise_std = query.unit * measured.noise / rows

    # Squares are long on one side only, so what may be beyond the radius is lost.
    beyond = Beyond.of(norms, rows)
    normal = _NORMAL * size / scale
    most = float(np.linalg.norm(normal))
    unseen = lost_part(beyond, tail.radius, float(np.max(noise_std / scale)), most, part=_LOST)
    seen = float(np.linalg.norm(tail.lost))
    clipping_std = (max(1.0, unseen / seen) if seen > 0.0 else 1.0) * tail.lost * scale
    stretch = max(tail.stretch, stretch_beyond(beyond, tail.radius, normal))
    sampling_std = _NORMAL * size * stretch / np.sqrt(shape.present)
    unsure = stretch > _HEAVY or np.any(clipping_std > _UNSURE * np.hypot(noise_std, sampling_std))
    warnings = (*shape.warnings, _WARNING) if unsure else shape.warnings
    far = shape.spread > _SQUARABLE[1]
    if far.any():
        noise_std = np.where(far, np.inf, noise_std)
        warnings = (*warnings, _FAR)
    if shape.absent is not None:
        noise_std = np.where(shape.absent, np.inf, noise_std)
    return Estimate(
        value=np.maximum(value, 0.0),
        noise_std=noise_std,
        sampling_std=sampling_std,
        clipping_std=clipping_std,
        rows=rows,
        warnings=warnings,
        details={
            "radius": tail.radius,
            "clipped_fraction": norms.fraction_above(tail.radius, rows),
            "sampling": "as for normal data, times what their squares' tails are longer",
            "stretch": stretch,
            "mean": mean.tolist(),
        },
    )


def _of_rare_column(curator: Table, shape: Shape, column: RareColumn) -> Estimate:
    """Return the variance of a single column whose values are nearly all the same."""
    value, noise_std, clipping_std, details = rare_column_variance(
        curator, column, mean_share=_MEAN_SHARE
    )
    value = np.maximum(value, 0.0)
    sampling_std = value * details["stretch"] / np.sqrt(shape.present)
    unsure = np.any(clipping_std > _UNSURE * np.hypot(noise_std, sampling_std))
    return Estimate(
        value=value,
        noise_std=noise_std,
        sampling_std=sampling_std,
        clipping_std=clipping_std,
        rows=shape.rows,
        warnings=(*shape.warnings, _WARNING) if unsure else shape.warnings,
        details={**details, "sampling": "at most, as for values as far out as the radius"},
    )
