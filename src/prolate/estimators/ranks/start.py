"""What is expected of a column of few rows, whose place coarse counts have told.

The center and the spread that `search/place.py` finds leave much open: columns may be a little
off, wider, or skewed. The rows that a mixture of such shapes has in each cell, and how these
numbers vary together from shape to shape, are what is believed before ranks are counted.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from prolate.arrays import Floats, Limits
from prolate.estimators.ranks.cells import Cells
from prolate.estimators.search.locate import SCALES, Interval, lost_columns

__all__ = ["cells_around", "mostly_lost"]

_AWAY = np.array([0.4, 1.0, 2.0, 5.0, 20.0, 2.0**24])  # edges from the center, in spreads
_OFF = (-1.25, 0.0, 1.25)  # by which centers may be off, in standard deviations
_OCTAVES = range(-1, 6)  # by which columns may be wider than they seem
_RARER = 3.0  # each of these than the one before
_UPWARDS, _DOWNWARDS = 0.3, 0.1  # exponential columns for each normal one
_SEVERAL = 0.1  # of the columns
_TINY = 1e-300


def cells_around(interval: Interval, bounds: Limits | None, total: float) -> Cells:
    """Return cells around each column's center, and what is expected of `total` rows in them."""
    center, spread = interval.center[:, np.newaxis], interval.half[:, np.newaxis] / SCALES
    edge = center + spread * np.concatenate([[-np.inf], -_AWAY[::-1], _AWAY, [np.inf]])
    if bounds is not None:
        lower, upper = (bound[:, np.newaxis] for bound in bounds)
        edge = np.clip(edge, lower, np.nextafter(upper, np.inf))
        edge[:, 0], edge[:, -1] = lower[:, 0], np.nextafter(upper[:, 0], np.inf)
    doubt = np.zeros(center.size) if interval.doubt is None else interval.doubt / spread[:, 0]
    mean = np.zeros((center.size, edge.shape[1] - 1))
    square = np.zeros((*mean.shape, mean.shape[1]))
    every = 0.0
    for weight, share in _shapes((edge - center) / spread, doubt):
        every += weight
        mean += weight * share
        square += weight * share[:, :, np.newaxis] * share[:, np.newaxis]
    mean, square = mean / every, square / every
    return Cells.expected(edge, mean, square - mean[:, :, np.newaxis] * mean[:, np.newaxis], total)


def mostly_lost(interval: Interval) -> bool:
    """Return whether even the rough size of values is hidden, in more than a few columns."""
    lost = lost_columns(interval)
    return lost is not None and float(np.mean(lost)) > _SEVERAL


def _shapes(away: Floats, doubt: Floats) -> Iterator[tuple[float, Floats]]:
    """Yield how likely shapes are, and each one's share of the rows between edges.

    `away` is how far these are from the center, in spreads.
    """
    from scipy.special import ndtr

    for off in _OFF:
        for octaves in _OCTAVES:
            at = (away - off * doubt[:, np.newaxis]) / 2.0**octaves
            upwards = -np.expm1(-np.maximum(1.0 + at, 0.0))
            downwards = np.exp(-np.maximum(1.0 - at, 0.0))
            for likely, below in ((1.0, ndtr(at)), (_UPWARDS, upwards), (_DOWNWARDS, downwards)):
                share = np.diff(below, axis=1)
                within = np.maximum(share.sum(axis=1, keepdims=True), _TINY)  # the bounds
                yield likely * _RARER ** -abs(octaves), share / within
