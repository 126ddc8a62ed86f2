"""Columns whose values are nearly all the same, such as the items of baskets.

Their bulk shows no spread. What matters is how often, and how far away, the other values
are, and a histogram of every column would cost much to show so little. But rows show it
cheaply, together: how far a row is from the bulk in its farthest such column, and in all
of them. A row is one row, so each of these two histograms costs a single count. Where such
values are of several sizes, as amounts beside flags, rows tell the columns' own, too
(`farthest.py`).

Then a first mean, with the spread that these columns have in common, tells their own: if
the mean is q step away from the bulk, a part q is elsewhere, with variance q (1 - q)
step**2 (PLAN, Section 7.1, for binary data).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator
from prolate.estimators.farthest import own_steps
from prolate.estimators.locate import Interval
from prolate.estimators.magnitudes import TINY
from prolate.estimators.shares import significance
from prolate.queries import Cut, NormHistogram

__all__ = ["common_side", "own_spread", "rare_steps", "standing_out"]

Floats = NDArray[np.float64]

_SIDE = 0.01  # part of the budget that is left, for each of at most two counts
_FEW = 3.0  # standard deviations of such a count
_LEAST = 0.1  # of its noise: how little a mean is taken to be from the bulk
_RUNS = (1, 2, 3, 4, 6)  # octaves that stand out together
_NEXT = 3.0  # standard deviations of a count, next to octaves that stand out
_EDGES = 2.0 ** (np.arange(-300.0, 301.0) + 0.5)  # whole powers of 2 are in the middle
_OCTAVES = (1, 8)  # in a cell; of few rows, only large cells stand out


def rare_steps(
    curator: Curator, rows: float, interval: Interval, *, share: float
) -> tuple[float, Floats, bool]:
    """Return what narrow columns' rare values are like, for two shares of mu**2, or some more.

    Returns
    -------
    spread : float
        Root mean square deviation from the bulk, over rows and narrow columns; 0 if no row
        deviates, as far as the noise lets see.
    step : float64 array of shape (d,)
        How far such values are from the bulk, in rows where they are farthest: of single
        columns where that is seen, or of all. 0 for columns that are not narrow.
    mixed : bool
        Whether they are of several sizes.
    """
    for octaves in _OCTAVES:
        farthest = _deviations(curator, interval, octaves, share=share, farthest=True)
        every = _deviations(curator, interval, octaves, share=share, farthest=False)
        if not farthest.rows > 0.0:
            continue
        spread = np.sqrt(every.square / (max(rows, 1.0) * np.count_nonzero(interval.narrow)))
        far = float(np.sqrt(farthest.square / farthest.rows))
        step = np.where(interval.narrow, far, 0.0)
        mixed = octaves > 1 or farthest.octaves > 1
        if mixed:
            step = own_steps(curator, rows, interval.center, interval.half, step)
        return float(spread), step, mixed
    return 0.0, np.zeros(interval.narrow.size), False


@dataclass(frozen=True)
class _Deviations:
    """How many rows deviate, the sum of the squares of how far, and in how many octaves."""

    rows: float
    square: float
    octaves: int


def _deviations(
    curator: Curator, interval: Interval, octaves: int, *, share: float, farthest: bool
) -> _Deviations:
    """Return how rows deviate in their farthest narrow column, or in all of them together."""
    edges = _EDGES[::octaves]
    middles = np.concatenate([[0.0], edges * 2.0 ** (0.5 * octaves)])
    gain = np.where(interval.narrow, 1.0, 0.0)
    bulk = 4.0 * np.linalg.norm(interval.half[interval.narrow])
    query = NormHistogram(interval.center, gain, edges, farthest=farthest)
    label = "farthest rare value" if farthest else "all rare values"
    measured = curator.measure(query, share=share, label=label)
    beyond = np.where(bulk < middles, measured.values, 0.0)
    counts = np.where(standing_out(beyond, measured.std), beyond, 0.0)
    seen = int(np.count_nonzero(counts))
    return _Deviations(float(counts.sum()), float(counts @ middles**2), seen)


def standing_out(counts: Floats, noise: float) -> NDArray[np.bool_]:
    """Return which cells of a histogram stand out of its noise, alone or in a run, or next to one.

    Examples
    --------
    >>> standing_out(np.array([0.0, 9.0, 0.0, 0.0, 5.0, 5.0, 0.0, 4.0]), 1.0).tolist()
    [False, True, False, False, True, True, False, False]
    """
    seen = np.zeros(counts.size, dtype=np.bool_)
    limit = significance(counts.size * len(_RUNS)) * noise
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    for run in _RUNS:
        mass = sums[run:] - sums[:-run]
        for start in np.argsort(-mass):
            if mass[start] <= limit * np.sqrt(run):
                break
            if not seen[start : start + run].any():
                seen[start : start + run] = True
    likely = counts > _NEXT * noise
    for along in (slice(None), slice(None, None, -1)):  # both ways
        cells, may = seen[along], likely[along]
        for place in range(1, cells.size):
            cells[place] |= cells[place - 1] and may[place]
    return seen


def common_side(curator: Curator, interval: Interval) -> Floats | None:
    """Return to which side of their bulk narrow columns deviate, if hardly any row does not.

    First 1, above it, is tried where the bulk is 0 or less, and -1, towards 0, where it is
    more: so baskets deviate, and amounts. Then the other way round. Rows that deviate to the
    other side are counted; noise may hide about as many as clipping may leave out.
    """
    toward = np.where(interval.center > 0.0, -1.0, 1.0)
    gain = np.where(interval.narrow, 1.0, 0.0)
    bulk = max(4.0 * float(np.linalg.norm(interval.half[interval.narrow])), TINY)
    for side in (toward, -toward):
        others = Cut(
            NormHistogram(interval.center, gain, np.array([bulk]), farthest=True),
            np.where(side > 0.0, -np.inf, interval.center),
            np.where(side > 0.0, interval.center, np.inf),
        )
        measured = curator.measure(
            others, share=_SIDE * curator.remaining, label="rare values on the other side"
        )
        if measured.values[1] < _FEW * measured.std:
            return side
    return None


def own_spread(moved: Floats, noise: Floats, step: Floats, spread: Floats) -> Floats:
    """Return each column's spread from its first mean.

    Parameters
    ----------
    moved, noise : float64 arrays of shape (d,)
        How far the first mean is from the bulk, and its noise; a tenth of that is taken to
        be the least.
    step, spread : float64 arrays of shape (d,)
        How far rare values are, 0 where there are none; the spread so far.
    """
    rare = step > 0.0
    part = np.maximum(np.abs(moved), _LEAST * noise) / np.where(rare, step, 1.0)
    part = np.clip(part, 0.0, 0.5)
    return np.where(rare, np.sqrt(part * (1.0 - part)) * step, spread)
