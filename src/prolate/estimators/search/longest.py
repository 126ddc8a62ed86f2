"""Columns that alone make some rows far longer than the others.

An amount that one row in ten has, in cents, beside flags: in no octave are enough of its values to
stand out of a count, and it is taken to be as small as the flags are. So the rows that have it are
thousands of times as long as the others. That such rows are there, the histogram of lengths shows;
and in which column each of them is farthest, they say together for the price of one count, since
how far need not be told at the same time. It is told afterwards, by counts in that column alone.
"""

from __future__ import annotations

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurer
from prolate.estimators.search.half_octaves import OCTAVE_MIDDLE
from prolate.estimators.search.spread import LARGEST
from prolate.estimators.shares import farthest_share, long_share, significance
from prolate.queries import FarthestHistogram, NormHistogram

__all__ = ["ALONE", "longest_columns"]

ALONE = 0.5
"""Part of the norm that rows are beyond: what a column alone makes them long by."""

_ACCIDENT = 1e-3  # probability that noise alone makes any column stand out
_NOISE = 0.3  # of a count in a column, over the rows that are long by it
_OCTAVES = 40  # that its values may be in
_USUAL = 4.0  # of these, from one to another that is e times less likely
_FARTHEST = LARGEST / 2.0  # where they begin, at most
_LOOKS, _SURE = 12, 0.8  # at these: at most, or until it is in three of them with this probability
_VAGUE = 0.3  # of the part, that a count may differ by, as values are in several octaves
_DEAR, _LEFT = 0.015, 0.85  # parts of the budget: for one count, at most, and left for others
_MOST = 3  # columns


def longest_columns(
    view: Measurer, rows: float, center: Floats, *, beyond: Floats, part: float, least: float = 0.0
) -> tuple[Floats, Floats]:
    """Return how far out such columns' values are in these rows, and in what part of all rows.

    Both are 0 for the other columns.

    Parameters
    ----------
    view : Measurer
        Its columns are asked.
    rows : float
        Number of rows, or a private estimate of it.
    center : float64 array of shape (d,)
    beyond : float64 array of shape (d,)
        How far from it a column alone makes a row long; infinity for those not to be asked.
    part : float
        About what part of the rows is that long.
    least : float
        How far out values are taken to be, at least.
    """
    size, parts, before = np.zeros(center.size), np.zeros(center.size), view.remaining
    share = farthest_share(view, rows, of=part)
    query = FarthestHistogram(center, 1.0 / beyond, 1)
    votes = view.measure(query, share=share, label="longest columns")
    limit = np.broadcast_to(significance(center.size, _ACCIDENT) * votes.noise, center.shape)
    for column in np.argsort(-votes.values)[:_MOST]:
        if votes.values[column] <= limit[column] or view.remaining < _LEFT * before:
            break
        length = float(max(beyond[column], least))
        if length > _FARTHEST:
            continue
        parts[column] = min(float(votes.values[column]) / rows, 1.0)
        size[column] = _size(view, rows, center, int(column), length, parts[column])
    return size, np.where(size > 0.0, parts, 0.0)


def _size(
    view: Measurer, rows: float, center: Floats, column: int, least: float, part: float
) -> float:
    """Return how far out half of a part of a column's values is, at least so far.

    Each count is taken in the middle of where that likely is; 0 if counts are too dear.
    """
    share = long_share(view, rows, _NOISE * part)
    if not 0.0 < share < _DEAR * view.remaining:
        return 0.0
    gain = np.where(np.arange(center.size) == column, 1.0, 0.0)
    octaves = np.arange(min(_OCTAVES, int(np.log2(LARGEST / least))))
    log = -octaves / _USUAL
    for _ in range(_LOOKS):
        likely = np.exp(log - log.max())
        likely = likely / likely.sum()
        middle = int(np.searchsorted(np.cumsum(likely), 0.5))
        if np.sum(likely[max(middle - 1, 0) : middle + 2]) > _SURE:
            break
        query = NormHistogram(center, gain, np.array([least * 2.0**middle]))
        found = view.measure(query, share=share, label="lengths in a column")
        farther = np.where(octaves >= middle, part, 0.0)
        doubt = (found.std / rows) ** 2 + (_VAGUE * part) ** 2
        log -= 0.5 * (found.values[1] / rows - farther) ** 2 / doubt
    return float(OCTAVE_MIDDLE * least * 2.0**middle)
