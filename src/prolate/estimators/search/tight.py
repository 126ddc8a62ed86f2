"""Columns that are very tight around a center far from 0, such as times within a second.

After many looks most values of such a column are still in one cell, as if all were the same. Looks
that go on would tell, but cost budget where most have a single value indeed, as flags do. Cells
cost nothing: the last of the usual looks has so many that a bulk which is no single value is in
several of them.
"""

from __future__ import annotations

import math

import numpy as np

from prolate.arrays import Bools, Integers
from prolate.curator import Searcher
from prolate.estimators.search.windows import Windows
from prolate.queries import Histogram

__all__ = ["DEEPEST", "find_tight", "maybe_tight"]

DEEPEST = 44
"""Of zoom, in bits: for spreads down to a few hundred steps from one float to the next."""

_FAR = 2.0**16  # half-widths of a window, from 0: what is nearer may be next to nothing
_CELLS, _MOST = 1 << 17, 1 << 18  # of one histogram, and of all together: more take long
_HALF = 0.5  # of the rows, for a single value
_SURELY = 3.0  # standard deviations of a count by which it is not


def maybe_tight(windows: Windows) -> Integers:
    """Return which columns seem to be a single value that is far from 0."""
    far = np.abs(windows.center) > _FAR * windows.half
    return np.flatnonzero(windows.narrow & ~windows.done & far)


def find_tight(
    view: Searcher,
    windows: Windows,
    index: Integers,
    rows: float,
    *,
    usual: int,
    share: float,
    label: str,
) -> Bools:
    """Return which of some columns are not a single value; the windows of the others are done.

    Parameters
    ----------
    view : Searcher
        Of these columns.
    windows : Windows
        Of all columns.
    index : int64 array
        Which of them these are.
    rows : float
    usual : int
        Cells of a usual look, as near as which a single value is then known.
    share : float
        Of mu**2.
    label : str
    """
    cells = max(min(_CELLS, _MOST // index.size), 1)
    grid = windows.grid(index, cells)
    measured = view.measure(Histogram(grid), share=share, label=label)
    counts = measured.values.reshape(index.size, -1)[:, 1:-1]
    place, most = np.argmax(counts, axis=1), counts.max(axis=1)
    # Of so many cells one may seem to hold a few standard deviations of the noise.
    noise = math.sqrt(2.0 * math.log(counts.size)) * measured.std
    tight = most < max(_HALF * rows - _SURELY * measured.std, noise)
    # The others' windows are as after a usual look.
    alone, cell = index[~tight], np.floor((place[~tight] + 0.5) * (usual / cells))
    half = windows.half[alone] / usual
    windows.center[alone] += half * (2.0 * cell + 1.0 - usual)
    windows.half[alone] = 3.0 * half
    windows.done[alone] = True
    return np.asarray(tight)
