"""Parts of the rows that columns of several kinds have in the cells of a window.

Of normal columns; of columns with a tail on one side: exponential ones, those of which half of the
values are equal, and log-normal ones; and of pairs of values, as flags have. In units of a window
they are the same for every column, so they are worked out once, for many places and widths.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Floats

__all__ = [
    "AT",
    "CELLS",
    "FINER",
    "KINDS",
    "NARROWER",
    "SKEWED",
    "STEP",
    "TAILS",
    "WIDTHS",
    "curves",
]

Singles = NDArray[np.float32]

CELLS = 12
"""Equal cells of a window; one beyond it on either side are counted, too."""

_WITHIN, _BEYOND = 24, 6  # candidates for places on either side, in a window and near it
_BETWEEN, _FARTHER = 48, 6  # curves from one to the next; and of as many as these farther away
_FINEST = 14  # widths below half the window, each narrower than the one before by this
STEP = math.sqrt(2.0)
"""From a width to the next, and from half a window to a narrower one."""

NARROWER = 6
"""Widths of narrower windows' columns, that are as good as none in this one."""

FINER = _WITHIN * _BETWEEN
"""Places of curves in half a window."""

AT = np.arange(-_WITHIN - _BEYOND, _WITHIN + _BEYOND + 1) / _WITHIN
"""Candidates for means, over half the window."""

WIDTHS = STEP ** np.arange(-float(_FINEST), 0.5)
"""Candidates for standard deviations, over half the window."""

_UPPER = (0.5, 0.25, 0.75)  # parts of the rows that have the upper of two values
_BLUR = 0.7  # deviations over which either of these is spread evenly

KINDS = np.exp([0.0] + [-1.0] * 2 + [-1.5] * 4 + [-2.5] * len(_UPPER))
"""How likely each kind is."""

SKEWED = slice(1, 7)
"""Ones with a tail on one side."""

TAILS = np.repeat([1.0, 1.0, 0.5], 2)
"""Parts of the rows that make the tail of each of these."""


@lru_cache(maxsize=1)
def curves() -> tuple[Singles, Singles]:
    """Return each curve's part of the rows in every cell, and half the sum of their squares.

    Of shape (widths, places, kinds, cells). The widths are `WIDTHS` and `NARROWER` before them, the
    places are `FINER` from the middle of the window to its end.
    """
    edges = np.linspace(-1.0, 1.0, CELLS + 1)
    reach = (_WITHIN + _BEYOND + _FARTHER) * _BETWEEN
    places = np.arange(-reach, reach + 1) / FINER
    widths = np.concatenate([WIDTHS[0] * STEP ** np.arange(-float(NARROWER), 0.0), WIDTHS])
    table = np.empty((widths.size, places.size, len(KINDS), CELLS + 2), dtype=np.float32)
    for width, found in zip(widths, table, strict=True):
        every = np.pad(_below((edges - places[:, np.newaxis]) / width), [(0, 0), (0, 0), (1, 1)])
        every[:, :, -1] = 1.0
        found[:] = np.diff(every, axis=2)
    return table, 0.5 * np.sum(table**2, axis=3)


def _below(away: Floats) -> Floats:
    """Return each kind's part of the rows below, so many standard deviations from the mean."""
    from scipy.special import ndtr

    below = [ndtr(away)]
    for upwards in _exponential, _log_normal, _half_equal:
        below += [upwards(away), 1.0 - upwards(-away)]
    for part in _UPPER:
        up, down = math.sqrt((1.0 - part) / part), -math.sqrt(part / (1.0 - part))
        upper, lower = (np.clip((away - at) / _BLUR + 0.5, 0.0, 1.0) for at in (up, down))
        below.append(part * upper + (1.0 - part) * lower)
    return np.stack(below, axis=1)


def _exponential(away: Floats) -> Floats:
    return np.asarray(-np.expm1(-np.maximum(away + 1.0, 0.0)))


def _half_equal(away: Floats) -> Floats:
    """Half are 0, half exponential."""
    value = math.sqrt(0.75) * away + 0.5
    return np.where(value >= 0.0, 1.0 - 0.5 * np.exp(-np.maximum(value, 0.0)), 0.0)


def _log_normal(away: Floats) -> Floats:
    """Of a normal logarithm with standard deviation 1."""
    from scipy.special import ndtr

    mean = math.exp(0.5)
    value = mean * (math.sqrt(math.e - 1.0) * away + 1.0)
    return np.asarray(ndtr(np.log(np.maximum(value, 1e-300))))
