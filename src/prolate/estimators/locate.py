"""Where each column's values are, privately: no bounds, no scale given.

First `find_magnitudes` finds an interval around 0 that holds the bulk of the values. Then
histograms of equal cells zoom in (`zoom.py`).

A run counts only if it stands out of the noise over all runs that were tried, so a
column is never lost to noise: where the noise is too large, its interval stays wide.
Everything after a measurement is arithmetic on its noisy counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Searcher
from prolate.estimators.columns import SomeColumns
from prolate.estimators.magnitudes import BULK, find_magnitudes
from prolate.estimators.shares import rows_changed, significance
from prolate.estimators.zoom import ENOUGH, Zoom
from prolate.queries import Histogram, LinearGrid

__all__ = ["SCALES", "Interval", "locate"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SCALES = 3.1
"""Half the width of an interval, in standard deviations of a normal column."""

_CELLS = 512
_RUN = 0.8  # where noise allows no run so long: this part of the longest it allows
_FEWER = 0.75  # of the columns, or fewer, are measured without the others
_BITS = 27  # of zoom: centers up to a few million spreads away are found
_LOST = 1e-6  # probability that noise alone makes any cell or run stand out
_FINE = 96  # where noise allows few, and a column was in a single one of them
_AGAIN = 2  # looks at most, where noise hides a column, ...
_MOST_SPENT = 0.3  # ... as long as all looks together cost no more
_MOST_CELLS = 1 << 24  # of all histograms of one measurement together


@dataclass(frozen=True, eq=False)
class Interval:
    """Where values are, per column.

    Attributes
    ----------
    center, half : float64 arrays of shape (d,)
        Most values are in center -+ half, about `SCALES` standard deviations.
    narrow : bool array of shape (d,)
        Whether the bulk is a single value, as far as the search could see.
    found : bool
        Whether any magnitude stood out of the noise at all.
    farthest : float64 array of shape (d,)
        How far from 0 values were seen.
    least_spread : float64 array of shape (d,)
        How spread they are at least, by the rows that are surely outside.
    """

    center: Floats
    half: Floats
    narrow: NDArray[np.bool_]
    found: bool
    farthest: Floats
    least_spread: Floats

    def at(self, center: Floats, index: Integers) -> Interval:
        """Return the intervals of some columns, around other centers."""
        half, narrow, farthest = self.half[index], self.narrow[index], self.farthest[index]
        return Interval(center[index], half, narrow, self.found, farthest, self.least_spread[index])


def locate(
    curator: Searcher,
    rows: float,
    *,
    magnitude_share: float,
    share: float,
    most_levels: int | None = None,
    lost: float = _LOST,
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
    lost : float
        Probability that noise alone makes any run of cells stand out.

    Returns
    -------
    Interval
    """
    d = curator.dimension
    lower, upper = curator.bounds or (np.full(d, -np.inf), np.full(d, np.inf))
    around_zero = (lower <= 0.0) & (upper >= 0.0)
    found = bool(np.all(np.isfinite(lower) & np.isfinite(upper) & ~around_zero))
    farthest = np.maximum(np.abs(lower), np.abs(upper))
    constant = np.zeros(d, dtype=np.bool_)
    widest, bounds = (lower, upper), (lower, upper)
    if not found:
        size = find_magnitudes(curator, rows, share=magnitude_share)
        found, constant = size.found, size.zero & around_zero
        farthest = np.minimum(size.farthest, farthest)
        widest = np.clip(-size.widest, lower, upper), np.clip(size.widest, lower, upper)
        lower, upper = np.clip(-size.largest, lower, upper), np.clip(size.largest, lower, upper)
        lower, upper = np.where(constant, 0.0, lower), np.where(constant, 0.0, upper)
    clear = _clear_run(curator, rows, share, lost)
    cells = int(min(max(12, 8 * clear), _CELLS, _MOST_CELLS // d))
    enough = min(ENOUGH, max(2, round(_RUN * clear)))

    zoom = Zoom(
        lower,
        upper,
        rows,
        enough=enough,
        lost=lost,
        bounded=(lower == bounds[0], upper == bounds[1]),
        widest=widest,
    )
    levels = math.ceil(_BITS / math.log2(cells / 3))
    enough_spent = curator.remaining - _MOST_SPENT
    for level in range(levels if most_levels is None else min(levels, most_levels)):
        left = np.flatnonzero(~zoom.done)
        if not left.size:
            break
        label = f"location {level + 1}"
        for index, many in ((left[~zoom.fine[left]], cells), (left[zoom.fine[left]], _FINE)):
            if index.size:
                _look(curator, zoom, index, many, share=share, label=label, least=enough_spent)
    zoom.finish()
    return Interval(zoom.center, zoom.half, zoom.narrow, found, farthest, zoom.least_spread)


def _look(
    curator: Searcher,
    zoom: Zoom,
    index: Integers,
    cells: int,
    *,
    share: float,
    label: str,
    least: float,
) -> None:
    """Look at the histograms of some columns, and again at those that are too noisy."""
    d = curator.dimension
    # Columns that are done are left out where they are many: for the same noise, fewer
    # columns cost less.
    if index.size > _FEWER * d and not zoom.fine.any():
        index = np.arange(d)
    grid = zoom.grid(index, cells)

    def measured(some: Integers) -> tuple[Floats, float]:
        here = index[some]
        view = curator if here.size == d else SomeColumns(curator, here)
        found = view.measure(
            Histogram(LinearGrid(grid.low[some], grid.width[some], cells)),
            share=share * here.size / d,
            label=label,
        )
        return found.values.reshape(here.size, -1), found.std

    values, std = measured(np.arange(index.size))
    noise = np.full(index.size, std)
    for _ in range(_AGAIN):
        unsure = np.flatnonzero(zoom.unsure(index, values, noise))
        if not unsure.size or curator.remaining - share * unsure.size / d < least:
            break
        more, std = measured(unsure)
        weight = (noise[unsure] / std) ** 2
        total = 1.0 + weight[:, np.newaxis]
        values[unsure] = (values[unsure] + weight[:, np.newaxis] * more) / total
        noise[unsure] = noise[unsure] / np.sqrt(1.0 + weight)
    zoom.look(index, grid, values, noise)


def _clear_run(curator: Searcher, rows: float, share: float, lost: float) -> float:
    """Return how many cells a run may have whose `BULK` still stands out of the noise."""
    noise = math.sqrt(rows_changed(curator.neighbors) * curator.dimension) / curator.mu_of(share)
    return (BULK * rows / (noise * significance(curator.dimension * 1000, lost))) ** 2
