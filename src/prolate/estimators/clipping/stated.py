"""A mean that was found, with its errors and what is to be said of it."""

from __future__ import annotations

import numpy as np

from prolate.arrays import Floats
from prolate.estimators.clipping.allowance import SKEWED
from prolate.estimators.estimate import Estimate, FoundMean
from prolate.estimators.search.locate import SCALES
from prolate.estimators.search.shape import Shape

__all__ = ["NOTHING", "hidden_std", "stated"]

_HIDDEN = (
    "Most values of a column are equal, and noise hides how far the other values are from that "
    "one: do not use its numbers. More rows, a larger budget or bounds would help."
)
_FEW = (
    "The rows are few for this budget: noise may hide where {:.0f} % of them lie. If these lie on "
    "one side, as in skewed columns, the mean is off by more than its interval says. More rows, a "
    "larger budget or bounds would help, and quantiles are more reliable."
)
_UNSEEN = 0.1  # of the rows, beyond which noise may hide what makes a mean
# What hidden values may add, as a standard deviation: at most all of it is within an interval.
_MAY = 0.6

NOTHING = 1e-100
"""Values of columns that are all 0, but for rounding and noise, are smaller."""

_TWICE = 2.0  # times noise and sampling, from which on a guess decides how wide intervals are


def stated(shape: Shape, found: FoundMean) -> Estimate:
    """Return the estimate with its errors; skewed rows vary more than their bulk."""
    sampling_std = found.variation * shape.spread / np.sqrt(shape.present)
    noise_std = np.where(shape.unknown, np.inf, found.noise_std)
    guessed = 0.0 if found.guessed is None else found.guessed
    # Where rows are few, it is said already, and that they are skewed is not known.
    hidden = (_HIDDEN,) if found.hidden else ()
    part = found.unseen_rows / max(shape.rows, 1.0)
    unseen: tuple[str, ...] = ()
    if not shape.warnings and not hidden:
        if part > _UNSEEN:
            unseen = (_FEW.format(100.0 * min(part, 1.0)),)
        elif np.any(guessed > _TWICE * np.hypot(noise_std, sampling_std)):
            unseen = (SKEWED,)
    value, clipping_std = found.value, found.clipping_std
    if shape.hidden_part > 0.0:
        value = np.where(np.abs(value) < NOTHING, 0.0, value)
        may = hidden_std(shape)
        clipping_std = may if clipping_std is None else np.hypot(clipping_std, may)
    return Estimate(
        value=value,
        noise_std=noise_std,
        sampling_std=sampling_std,
        clipping_std=clipping_std,
        rows=shape.rows,
        warnings=(*shape.warnings, *hidden, *unseen),
        details=found.details,
    )


def hidden_std(shape: Shape, *, squares: bool = False) -> Floats:
    """Return what values that noise hides may add to means, or to variances.

    Where columns showed one value, as flags of a few rows do: others are 1 away from a whole number
    at least, and may be anything of their own size.
    """
    nearest = np.rint(shape.center)
    whole = np.abs(shape.center - nearest) <= SCALES * shape.spread
    away = np.where(whole, 1.0, np.abs(shape.center))
    return np.asarray(_MAY * shape.hidden_part * (away**2 if squares else away))
