"""The mean of one column of which a few coarse counts told about where it is (`search/place.py`).

There is no budget to see its tails. Values are cut around the likely center: the noise grows with
the cut, and what it takes from a skewed column falls with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurer
from prolate.estimators.estimate import FoundMean
from prolate.estimators.search.shape import Shape
from prolate.neighbors import radii_apart, rows_changed
from prolate.queries import ClippedSum

__all__ = ["RoughMean", "rough_column_mean", "rough_mean"]

_CUTS = np.linspace(1.3, 5.0, 38)  # spreads at which values may be cut
_SKEWED = 1.5  # times what exponential values lose, since they may be more skewed
# A column may lose this times what is expected: a skewed one's likely center is not its mean. And
# by rows beyond the cut, which counts hide: so many of their deviations, and a part, at most.
_ALLOWED = 3.0
_HIDDEN, _MOST_HIDDEN = 6.0, 0.15
_OFF = 0.3  # spreads that a mean may be off from the likely center, at least


@dataclass(frozen=True)
class RoughMean:
    """A mean, the standard deviation of its noise, and about what the cut takes if it is skewed.

    Attributes
    ----------
    value, noise_std, lost : float
    taken : float
        An allowance for that, and for rows beyond the cut that counts hide.
    cut : float
        Where values were cut, in spreads.
    """

    value: float
    noise_std: float
    lost: float
    taken: float
    cut: float


def rough_mean(
    table: Measurer,
    rows: float,
    center: Floats,
    spread: Floats,
    doubt: float,
    *,
    tail: float = 1.0,
) -> RoughMean:
    """Return the mean, with all that is left.

    Parameters
    ----------
    table : Measurer
        Of one column.
    rows : float
        Number of rows, or a private estimate of it.
    center, spread : float64 arrays of shape (1,)
        Where the values likely are.
    doubt : float
        Standard deviation of the center's error, in spreads.
    tail : float
        Part of the values that make a tail, if there is one.
    """
    from scipy.special import erf

    mu = table.mu_of(table.remaining)
    count = math.sqrt(rows_changed(table.neighbors)) / mu
    noise = radii_apart(table.neighbors) / mu / rows * _CUTS
    unit = math.sqrt(tail * (2.0 - tail))  # of values that are exponential, the others 0
    skewed = _SKEWED * tail * np.exp(-tail - unit * _CUTS) / unit
    best = int(np.argmin(noise**2 + skewed**2))
    cut, lost = float(_CUTS[best]), float(skewed[best])
    query = ClippedSum(center, spread, cut)
    measured = table.measure(query, share=table.remaining, label="mean")
    # Of normal values, a mean of cut ones moves by what part of them is not cut.
    moved = float(query.unit[0] / spread[0]) / rows / float(erf(cut / math.sqrt(2.0)))
    std, off = moved * measured.std, max(doubt, _OFF)
    keep = off**2 / (off**2 + std**2)
    away = keep * min(max(moved * float(measured.values[0]), -cut), cut)
    size = float(spread[0])
    hidden = min(_HIDDEN * count / rows, _MOST_HIDDEN)
    return RoughMean(
        value=float(center[0]) + size * away,
        noise_std=size * (math.sqrt(keep) * std),
        lost=size * (keep * lost),
        taken=size * math.hypot(_ALLOWED * keep * lost, hidden * cut),
        cut=cut,
    )


def rough_column_mean(table: Measurer, shape: Shape) -> FoundMean:
    """Return the mean of the only column of a shape, with all that is left."""
    found = rough_mean(
        table, shape.rows, shape.center, shape.spread, shape.roughness, tail=shape.unseen_tail
    )
    value, noise, taken = (np.array([each]) for each in (found.value, found.noise_std, found.taken))
    details = {"radius": found.cut * float(shape.spread[0])}
    return FoundMean(value, noise, details, clipping_std=taken, guessed=taken)
