"""How many rows deviate from nearly constant columns' bulk, and how far.

A row is one row, so a histogram of how far rows are in their farthest such column costs a
single count, and so does one of how far they are in all of them together. Octaves are the
cells, of any length that a number may have. Where too few rows deviate to stand out of the
noise of any octave, larger cells show them, and then the octaves of those alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator
from prolate.estimators.locate import Interval
from prolate.estimators.shares import significance
from prolate.measurement import Measurement
from prolate.queries import NormHistogram

__all__ = ["Deviations", "coarse_deviations", "deviations", "standing_out"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_WITHIN = 4.0  # times the length of intervals' half-widths
_RUNS = (1, 2, 3, 4, 6)  # octaves that stand out together
_NEXT = 3.0  # standard deviations of a count, next to octaves that stand out
_EDGES = 2.0 ** (np.arange(-300.0, 301.0) + 0.5)  # whole powers of 2 are in the middle
_SHORTER = 1.0 - 2.0**-20
_COARSE = 8  # octaves in a cell; of few rows, only large cells stand out
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


def deviations(
    curator: Curator, interval: Interval, *, share: float
) -> tuple[Deviations, Deviations]:
    """Return how rows deviate in their farthest narrow column, and in all of them together.

    One column's is both, so it is measured once, with both shares.
    """
    if np.count_nonzero(interval.narrow) == 1:
        found, _ = _deviation(curator, interval, _EDGES, share=2.0 * share)
        return found, found
    farthest, _ = _deviation(curator, interval, _EDGES, share=share)
    # Rows of 2, 8 or 32 ones are just as long as an edge, and would be summed twice.
    every, _ = _deviation(curator, interval, _EDGES * _SHORTER, share=share, farthest=False)
    return farthest, every


def coarse_deviations(curator: Curator, interval: Interval, *, share: float) -> Deviations:
    """Return how rows deviate in their farthest narrow column, of few rows: in large cells first.

    Then in the octaves of those in which some do; but of a single column, `interval.py` does not
    need to know.
    """
    start = min(int(np.searchsorted(_EDGES, _bulk(interval))), _EDGES.size - 2 * _COARSE)
    edges, single = _EDGES[start::_COARSE], np.count_nonzero(interval.narrow) == 1
    find = share if single else _FIND * share
    coarse, seen = _deviation(curator, interval, edges, share=find)
    coarse = replace(coarse, octaves=_COARSE * coarse.octaves)
    if single or not coarse.rows > 0.0:
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


def _deviation(
    curator: Curator, interval: Interval, edges: Floats, *, share: float, farthest: bool = True
) -> tuple[Deviations, Bools]:
    """Return one of these, and in which cells rows are seen."""
    measured, middles = _lengths(curator, interval, edges, share=share, farthest=farthest)
    beyond = np.where(_bulk(interval) < middles, measured.values, 0.0)
    counts = np.where(standing_out(beyond, measured.std), beyond, 0.0)
    seen, least = counts != 0.0, _limit(counts, measured.std)
    rows, square = float(counts.sum()), float(counts @ middles**2)
    return Deviations(rows, square, int(np.count_nonzero(seen)), least), seen


def _bulk(interval: Interval) -> float:
    """Return how far from the middle of narrow columns' intervals nothing is rare."""
    return _WITHIN * float(np.linalg.norm(interval.half[interval.narrow]))


def _lengths(
    curator: Curator, interval: Interval, edges: Floats, *, share: float, farthest: bool = True
) -> tuple[Measurement, Floats]:
    """Return a histogram of how far rows deviate, and the middles of its cells; the first is 0."""
    gain = np.where(interval.narrow, 1.0, 0.0)
    query = NormHistogram(interval.center, gain, edges, farthest=farthest)
    label = "farthest rare value" if farthest else "all rare values"
    width = float(np.sqrt(edges[1] / edges[0]))
    middles = np.append(0.0, edges * width)
    return curator.measure(query, share=share, label=label), middles


def standing_out(counts: Floats, noise: float) -> NDArray[np.bool_]:
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
