"""The private variance of every column: no bounds needed.

Part of the budget goes to the private mean m. Then the squared deviations (x - m)**2 are
summed around their private size spread**2, scaled, and clipped. Their mean exceeds the
variance by (m - mean)**2, whose expectation is the known noise of m. For relative errors, spreads
are by a first sum of all columns' squares (`search/variances.py`).

Variances that are alike are drawn towards each other (`partial_pooling.py`).

Squares are long on one side only, so what clipping takes is lost. The radius is no smaller than
normal rows, or the tail that is seen, allow (`clipping/square_radius.py`), and single columns with
longer tails are clipped farther out (`clipping/square_tails.py`).

Of flags, which are their own squares, the mean p says all: p (1 - p). Of numbers that counts show
to be flags, and where rows are too few to be searched, squares within public bounds are summed
(`within_bounds.py`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Curator, Searcher
from prolate.estimators.asked import Asked
from prolate.estimators.clipping.clipped_mean import clipped_mean
from prolate.estimators.clipping.first_look import with_first_look
from prolate.estimators.clipping.rare_column_mean import rare_column_variance
from prolate.estimators.clipping.squares import NORMAL, mean_squares
from prolate.estimators.clipping.stated import NOTHING, hidden_std
from prolate.estimators.counting import count_rows
from prolate.estimators.estimate import Estimate
from prolate.estimators.mean import mean
from prolate.estimators.moments import SQUARABLE
from prolate.estimators.partial_pooling import with_columns_pooled
from prolate.estimators.search.alike import likely_scale, raised_spread
from prolate.estimators.search.flags import seen_flags, too_few_to_search
from prolate.estimators.search.learn import learn_shape
from prolate.estimators.search.rare_column import RareColumn
from prolate.estimators.search.shape import Shape
from prolate.estimators.search.variances import with_variances
from prolate.estimators.search.within import are_bounded
from prolate.estimators.within_bounds import variance_within
from prolate.theory import RELATIVE

__all__ = ["UNSURE", "variance"]

_MEAN_SHARE = 0.06  # of what the searches leave: its error counts in squares only
_RARE_MEAN_SHARE = 0.2  # the same, of a single column whose values are nearly all the same
_HEAVY = 3.0  # times the normal sampling error
UNSURE = 2.5
"""What clipping may take, over the other errors together, that is worth a warning."""

_WARNING = (
    "The rows have heavy tails, or are too few for this budget to show that they do not: a few "
    "rows may dominate the variance, and its intervals may be too narrow. Quantiles are more "
    "reliable."
)
_FAR = (
    "Values beyond about 1e70 cannot be squared here, so the variance of their columns is "
    "unknown: rescale these columns."
)


def variance(curator: Curator, *, error_norm: float = 2.0) -> Estimate:
    """Return the private variance (divided by n) of every column.

    Parameters
    ----------
    curator : Curator
        All of its remaining budget is spent.
    error_norm : float
        The p of the l_p error of the variances that is to be small.
    """
    if curator.are_flags:
        return _of_flags(mean(curator, Asked(error_norm)))
    rows = count_rows(curator, again=True)
    if are_bounded(curator):
        flags = seen_flags(curator, rows)
        if too_few_to_search(curator, rows, flags=bool(flags.all())):
            return variance_within(curator, rows=rows, error_norm=error_norm)
    table, shape = learn_shape(curator, rows, relative=error_norm == RELATIVE)
    if shape.rare_column is not None and SQUARABLE[0] < shape.spread[0] < SQUARABLE[1]:
        return replace(_of_rare_column(table, shape, shape.rare_column), rows=rows)

    def weigh(shape: Shape) -> Floats:
        return likely_scale(shape.spread, error_norm, constant=shape.constant)

    bulk = _likely_squares(shape, error_norm)
    if error_norm == RELATIVE:
        shape = with_variances(shape)

    shape, lengths = with_first_look(
        shape, weigh, share=_MEAN_SHARE * table.remaining, relative=error_norm == RELATIVE
    )
    share = _MEAN_SHARE * table.remaining  # the look may have been a dear one
    middle = clipped_mean(
        table,
        shape,
        weigh(shape),
        share=share,
        error_norm=error_norm,
        norms=lengths,
    )

    found = mean_squares(
        table,
        middle.value,
        _likely_squares(shape, error_norm),
        rows=shape.rows,
        share=table.remaining,
        error_norm=error_norm,
        sample=shape.sample,
        bulk=bulk,
    )
    value, noise_std = found.value - middle.noise_std**2, found.noise_std
    sampling_std = NORMAL * found.size * found.stretch / np.sqrt(shape.present)
    error = np.hypot(noise_std, sampling_std)
    unsure = np.any(found.stretch > _HEAVY) or np.any(found.clipping_std > UNSURE * error)
    warnings = (*shape.warnings, *shape.single_valued(curator.columns))
    if unsure and not shape.hidden_part > 0.0:  # that a single value was seen says more
        warnings = (*warnings, _WARNING)
    clipping_std = found.clipping_std
    if shape.hidden_part > 0.0:
        value = np.where(value < np.sqrt(NOTHING), 0.0, value)
        clipping_std = np.hypot(clipping_std, hidden_std(shape, squares=True))
    far = shape.spread > SQUARABLE[1]
    if far.any():
        noise_std = np.where(far, np.inf, noise_std)
        warnings = (*warnings, _FAR)
    noise_std = np.where(shape.unknown, np.inf, noise_std)
    estimate = Estimate(
        value=value,
        noise_std=noise_std,
        sampling_std=sampling_std,
        clipping_std=clipping_std,
        rows=rows,
        warnings=warnings,
        details={
            "radius": found.radius,
            "clipped_fraction": found.clipped,
            "sampling": "as for normal data, times what their squares' tails are longer",
            "stretch": float(np.max(found.stretch)),
            "mean": middle.value.tolist(),
        },
    )
    which = shape.varies & ~shape.unknown & ~far
    estimate = with_columns_pooled(estimate, sampling_std, which)
    return replace(estimate, value=np.maximum(estimate.value, 0.0))


def _likely_squares(shape: Shape, error_norm: float) -> Floats:
    """Return about how large each column's squared deviations are."""
    spread = raised_spread(shape.spread, error_norm, constant=shape.constant, squares=True)
    return np.asarray(np.clip(spread, *SQUARABLE) ** 2)


def _of_flags(found: Estimate) -> Estimate:
    """Return the variances of columns that are 0 or 1, from their means: p (1 - p)."""
    part = np.clip(found.value, 0.0, 1.0)
    noise = np.zeros_like(part) if found.noise_std is None else found.noise_std
    tilt = np.abs(1.0 - 2.0 * part)

    def tilted(error: Floats | None) -> Floats | None:
        return None if error is None else tilt * error

    known = np.where(np.isfinite(noise), noise, 0.0)
    return replace(
        found,
        value=np.clip(part * (1.0 - part) + known**2, 0.0, 0.25),
        noise_std=np.hypot(tilt * noise, np.sqrt(2.0) * noise**2),
        sampling_std=tilted(found.sampling_std),
        clipping_std=tilted(found.clipping_std),
        details={**found.details, "mean": found.value.tolist()},
    )


def _of_rare_column(curator: Searcher, shape: Shape, column: RareColumn) -> Estimate:
    """Return the variance of a single column whose values are nearly all the same."""
    found = rare_column_variance(curator, column, mean_share=_RARE_MEAN_SHARE)
    value, noise_std, clipping_std = found.value, found.noise_std, found.clipping_std
    value = np.maximum(value, 0.0)
    sampling_std = value * found.stretch / np.sqrt(shape.present)
    unsure = np.any(clipping_std > UNSURE * np.hypot(noise_std, sampling_std))
    return Estimate(
        value=value,
        noise_std=noise_std,
        sampling_std=sampling_std,
        clipping_std=clipping_std,
        rows=shape.rows,
        warnings=(*shape.warnings, _WARNING) if unsure else shape.warnings,
        details={**found.details, "sampling": "at most, as for values as far out as the radius"},
    )
