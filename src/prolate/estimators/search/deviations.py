"""How many rows deviate from nearly constant columns' bulk, and how far.

A row is one row, so a histogram of how far rows are in their farthest such column costs a
single count, and so does one of how far they are in all of them together. Octaves are the
cells, of any length that a number may have. Where too few rows deviate to stand out of the
noise of any octave, larger cells show them, and then the octaves of those alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.curator import Searcher
from prolate.estimators.search.locate import Interval
from prolate.estimators.shares import significance
from prolate.measurement import Measurement
from prolate.queries import NormHistogram

__all__ = [
    "Deviations",
    "Seen",
    "bulk_reach",
    "coarse_deviations",
    "deviations",
    "deviations_of_one",
    "deviations_together",
    "standing_out",
]

_WITHIN = 4.0  # times the length of intervals' half-widths
_RUNS = (1, 2, 3, 4, 6)  # octaves that stand out together
_NEXT = 3.0  # standard deviations of a count, next to octaves that stand out
_EDGES = 2.0 ** (np.arange(-300.0, 301.0) + 0.5)  # whole powers of 2 are in the middle
_SHORTER = 1.0 - 2.0**-20
_COARSE = 8  # octaves in a cell; of few rows, only large cells stand out
_LOOKS = (0.01, 0.02, 0.04, 0.08, 0.1, 0.1, 0.1, 0.1, 0.1)  # parts of the budget, of one column
_FIND, _LIKELY = 0.7, 1.5  # part of a share for that; standard deviations of an octave's count


@dataclass(frozen=True)
class Deviations:
    """How many rows deviate, the sum of the squares of how far, and in how many octaves.

    And how many must in one octave, so that it stands out.
    """

    rows: float
    square: float
    octaves: int
    least: float


@dataclass(frozen=True, eq=False)
class Seen:
    """How many rows deviate in one column, and about how far.

    Attributes
    ----------
    rows : float
        0 where none were seen.
    low, high : float
        The edges between which they deviate.
    least : float
        How many must in one cell, so that it stands out.
    edges : float64 array of shape (m,)
    counts : float64 array of shape (m - 1,)
        Of the rows between these.
    noise : float
        Standard deviation of each.
    """

    rows: float
    low: float
    high: float
    least: float
    edges: Floats
    counts: Floats
    noise: float


def deviations(
    curator: Searcher, interval: Interval, *, share: float
) -> tuple[Deviations, Deviations]:
    """Return how rows deviate in their farthest narrow column, and in all of them together.

    One narrow column's is both, so it is measured once, with both shares.
    """
    if np.count_nonzero(interval.narrow) == 1:
        found, _ = _deviation(curator, interval, _EDGES, share=2.0 * share)
        return found, found
    farthest, _ = _deviation(curator, interval, _EDGES, share=share)
    return farthest, deviations_together(curator, interval, share=share)


def deviations_together(curator: Searcher, interval: Interval, *, share: float) -> Deviations:
    """Return how rows deviate in all narrow columns together."""
    # Rows of 2, 8 or 32 ones are just as long as an edge, and would be summed twice.
    every, _ = _deviation(curator, interval, _EDGES * _SHORTER, share=share, farthest=False)
    return every


def coarse_deviations(curator: Searcher, interval: Interval, *, share: float) -> Deviations:
    """Return how rows deviate in their farthest narrow column, of few rows: in large cells first.

    Then in the octaves of those in which some do.
    """
    edges, start = _coarse_edges(interval)
    coarse, seen = _deviation(curator, interval, edges, share=_FIND * share)
    coarse = replace(coarse, octaves=_COARSE * coarse.octaves)
    if not coarse.rows > 0.0:
        return coarse
    first, last = np.flatnonzero(seen)[[0, -1]]
    low = start + _COARSE * min(first - 1, edges.size - 2)
    inside = _EDGES[low : start + _COARSE * last + 1]
    measured, middles = _lengths(curator, interval, inside, share=(1.0 - _FIND) * share)
    # Noise stands out of some, too, so they must be next to each other.
    counts, middles = measured.values[1:], middles[1:]
    gaps = np.flatnonzero(np.pad(counts < _LIKELY * measured.std, 1, constant_values=True))
    sums = np.append(0.0, np.cumsum(counts))
    most = np.argmax(sums[gaps[1:] - 1] - sums[gaps[:-1]])
    run = slice(gaps[most], gaps[most + 1] - 1)
    if not counts[run].size:
        return coarse
    square = coarse.rows * float(counts[run] @ middles[run] ** 2) / float(counts[run].sum())
    return replace(coarse, square=square, octaves=counts[run].size)


def deviations_of_one(curator: Searcher, interval: Interval) -> Seen:
    """Return how many rows deviate in the only column, and about how far.

    In large cells, and more precisely each time, until some rows stand out: so that it costs
    little where they are many, and all that is left is a search for few.
    """
    edges, _ = _coarse_edges(interval)
    total, weight, left = np.zeros(edges.size + 1), 0.0, curator.remaining
    for part in _LOOKS:
        measured, middles = _lengths(curator, interval, edges, share=part * left)
        total += measured.values / measured.std**2
        weight += 1.0 / measured.std**2
        counts, noise = total / weight, weight**-0.5
        beyond = np.where(bulk_reach(interval) < middles, counts, 0.0)
        seen = standing_out(beyond, noise)
        if seen.any():
            break
    cells = np.flatnonzero(seen)
    low, high = (max(cells[0] - 1, 0), min(cells[-1], edges.size - 1)) if cells.size else (0, 0)
    return Seen(
        float(beyond[seen].sum()),
        float(edges[low]),
        float(edges[high]),
        _limit(counts, noise),
        edges,
        counts[1:-1],
        noise,
    )


def _coarse_edges(interval: Interval) -> tuple[Floats, int]:
    """Return the edges of large cells, and where in all octaves these begin."""
    start = min(int(np.searchsorted(_EDGES, bulk_reach(interval))), _EDGES.size - 2 * _COARSE)
    return _EDGES[start::_COARSE], start


def _deviation(
    curator: Searcher, interval: Interval, edges: Floats, *, share: float, farthest: bool = True
) -> tuple[Deviations, Bools]:
    """Return one of these, and in which cells rows are seen."""
    measured, middles = _lengths(curator, interval, edges, share=share, farthest=farthest)
    beyond = np.where(bulk_reach(interval) < middles, measured.values, 0.0)
    counts = np.where(standing_out(beyond, measured.std), beyond, 0.0)
    seen, least = counts != 0.0, _limit(counts, measured.std)
    rows, square = float(counts.sum()), float(counts @ middles**2)
    return Deviations(rows, square, int(np.count_nonzero(seen)), least), seen


def bulk_reach(interval: Interval) -> float:
    """Return how far from the middle of narrow columns' intervals nothing is rare."""
    return _WITHIN * float(np.hypot.reduce(interval.half[interval.narrow]))  # squares overflow


def _lengths(
    curator: Searcher, interval: Interval, edges: Floats, *, share: float, farthest: bool = True
) -> tuple[Measurement, Floats]:
    """Return a histogram of how far rows deviate, and the middles of its cells; the first is 0."""
    gain = np.where(interval.narrow, 1.0, 0.0)
    query = NormHistogram(interval.center, gain, edges, farthest=farthest)
    label = "farthest rare value" if farthest else "all rare values"
    width = float(np.sqrt(edges[1] / edges[0]))
    middles = np.append(0.0, edges * width)
    return curator.measure(query, share=share, label=label), middles


def standing_out(counts: Floats, noise: float) -> Bools:
    """Return which cells of a histogram stand out of its noise, alone or in a run, or next to one.

    Examples
    --------
    >>> standing_out(np.array([0.0, 9.0, 0.0, 0.0, 5.0, 5.0, 0.0, 4.0]), 1.0).tolist()
    [False, True, False, False, True, True, False, False]
    """
    seen = np.zeros(counts.size, dtype=np.bool_)
    limit = _limit(counts, noise)
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


def _limit(counts: Floats, noise: float) -> float:
    """Return which count stands out by itself."""
    return significance(counts.size * len(_RUNS)) * noise
