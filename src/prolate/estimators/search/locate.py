"""Where each column's values are, privately: no bounds, no scale given.

First `find_magnitudes` finds an interval around 0 that holds the bulk of the values. Then
histograms of equal cells zoom in (`zoom.py`; of few rows for the budget `likely_zoom.py`).

A run counts only if it stands out of the noise over all runs that were tried, so a
column is never lost to noise: where the noise is too large, its interval stays wide.
Everything after a measurement is arithmetic on its noisy counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from prolate.arrays import Bools, Floats, Integers
from prolate.curator import Searcher
from prolate.estimators.present import find_present, present_view
from prolate.estimators.search.likely_zoom import NOISIEST, NOISY, zoom_likely
from prolate.estimators.search.magnitudes import find_magnitudes
from prolate.estimators.search.windows import Start, Windows
from prolate.estimators.search.zoom import Zoom, zoom_clearly
from prolate.estimators.shares import ACCIDENT, present_location
from prolate.neighbors import rows_changed

__all__ = ["SCALES", "WITHIN", "Interval", "locate", "lost_columns"]

SCALES = 3.1
"""Half the width of an interval, in standard deviations of a normal column."""

WITHIN = 8.0
"""Half-widths of a narrow column's interval that count as its bulk."""

_AGAIN = 0.2  # of what remains, at most, for columns whose first window was too wide
_WIDER = 4.0  # times where many values surely are


@dataclass(frozen=True, eq=False)
class Interval:
    """Where values are, per column.

    Attributes
    ----------
    center, half : float64 arrays of shape (d,)
        Most values are in center -+ half, about `SCALES` standard deviations.
    narrow : bool array of shape (d,)
        Whether the bulk is a single value, as far as the search could see.
    found : bool, or bool array of shape (d,)
        Whether it is known how large the values are.
    farthest : float64 array of shape (d,)
        How far from 0 values were seen.
    least_spread : float64 array of shape (d,)
        How spread they are at least, by the rows that are surely outside.
    absent : bool array of shape (d,)
        Which columns have as good as no values: these are taken to be 0.
    part : float64 array of shape (d,), optional
        Of each column's values that are there, where some are missing.
    doubt : float64 array of shape (d,), optional
        Standard deviations of the centers, where counts are so coarse that these and the intervals
        are the best that is known of centers and spreads.
    skewed : float64 array of shape (d,), optional
        There, how likely each column has a tail on one side.
    tail : float64 array of shape (d,), optional
        And part of the rows that make that tail, if it has one.
    """

    center: Floats
    half: Floats
    narrow: Bools
    found: bool | Bools
    farthest: Floats
    least_spread: Floats
    absent: Bools
    part: Floats | None = None
    doubt: Floats | None = None
    skewed: Floats | None = None
    tail: Floats | None = None

    def at(self, center: Floats, index: Integers) -> Interval:
        """Return the intervals of some columns, around other centers."""
        half, narrow, farthest = self.half[index], self.narrow[index], self.farthest[index]
        found = np.broadcast_to(self.found, self.half.shape)[index]
        least, absent = self.least_spread[index], self.absent[index]
        return Interval(center[index], half, narrow, found, farthest, least, absent)


def lost_columns(interval: Interval) -> Bools | None:
    """Return of which columns it is not known how large their values are, if of any."""
    lost = np.broadcast_to(~np.asarray(interval.found), interval.half.shape)
    return lost if lost.any() else None


def locate(
    curator: Searcher,
    rows: float,
    *,
    magnitude_share: float,
    share: float,
    most_levels: int | None = None,
    accident: float = ACCIDENT,
    each: bool = True,
) -> Interval:
    """Find each column's center and bulk.

    Parameters
    ----------
    curator : Searcher
        Bounds on all columns that leave 0 out save the search for magnitudes, which sees what is
        mostly zero.
    rows : float
        Number of rows, or a private estimate of it.
    magnitude_share, share : float
        Shares of mu**2 for `find_magnitudes` and for each histogram.
    most_levels : int, optional
        At most so many histograms.
    accident : float
        Probability that noise alone makes any run of cells stand out.
    each : bool
        As of `find_magnitudes`.

    Returns
    -------
    Interval
    """
    d = curator.dimension
    lower, upper = curator.bounds or (np.full(d, -np.inf), np.full(d, np.inf))
    around_zero = (lower <= 0.0) & (upper >= 0.0)
    known = bool(np.all(np.isfinite(lower) & np.isfinite(upper) & ~around_zero))
    found = np.full(d, known)
    farthest = np.maximum(np.abs(lower), np.abs(upper))
    constant = np.zeros(d, dtype=np.bool_)
    widest, bounds, sure = (lower, upper), (lower, upper), np.full(d, np.inf)
    if known:
        part, absent = find_present(curator, rows)
    else:
        size = find_magnitudes(curator, rows, share=magnitude_share, each=each)
        part, absent = size.part, size.absent
        found, constant, sure = size.found, size.zero & around_zero, size.sure
        farthest = np.minimum(size.farthest, farthest)
        widest = np.clip(-size.widest, lower, upper), np.clip(size.widest, lower, upper)
        lower, upper = np.clip(-size.largest, lower, upper), np.clip(size.largest, lower, upper)
        lower, upper = np.where(constant, 0.0, lower), np.where(constant, 0.0, upper)
    nowhere = np.clip(0.0, *bounds)
    lower, upper = np.where(absent, nowhere, lower), np.where(absent, nowhere, upper)
    present = present_view(curator, rows, part)
    start = Start(lower, upper, bounds, widest)
    least = 1.0 if part is None else float(part.min())
    share = present_location(curator, share, least)
    noise = math.sqrt(rows_changed(curator.neighbors) * d) / (curator.mu_of(share) * least)
    windows: Windows
    if NOISY * rows < noise < NOISIEST * rows:
        windows = zoom_likely(present, rows, start, share=share, most_levels=most_levels)
    else:
        look = partial(zoom_clearly, present, rows, share=share, noise=noise, accident=accident)
        most = math.inf if most_levels is None else most_levels
        windows = zoom = look(np.arange(d), start, most_levels=most)
        missed = np.flatnonzero(_missed(zoom, sure) & ~constant)
        most = _AGAIN * curator.remaining * d / (share * max(missed.size, 1))
        if missed.size and most >= 1.0 and most_levels is None:
            near = start.nearer(sure).of(missed)
            zoom.take(missed, look(missed, near, most_levels=most))
    where = windows.center, windows.half, windows.narrow
    return Interval(*where, found, farthest, windows.least_spread, absent, part)


def _missed(zoom: Zoom, sure: Floats) -> Bools:
    """Return which columns seem to be a single value, 0, though many are surely not 0, or wider.

    Their first window was too wide: noise pretended that some values are far larger.
    """
    wider = np.isfinite(sure) & (zoom.narrow | (zoom.half > _WIDER * sure))
    return wider & (np.abs(zoom.center) < zoom.half)
