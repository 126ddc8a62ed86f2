"""The least spread of columns, where rows are far longer than the columns' spreads say.

Probabilities, shares of topics and weights of words are next to nothing in most rows, and far from
that in a few. If the many are not exactly one value, a column's bulk is a tiny interval, and noise
hides what is outside: counts in each column are too noisy, and in hardly any column are enough
rows farthest out (`farthest.py`). But most rows are far out in *some* column, and so their lengths
show it, for the price of a single count.

In which columns, is not known. So all columns that seem less spread than some floor are taken to be
as spread as that: the lowest floor with which rows are about as long as the spreads say. Columns
above it keep their own. Those below that hide nothing get more noise than they need, though no more
than the others do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Searcher
from prolate.estimators.farthest import with_farthest
from prolate.estimators.shares import floor_share
from prolate.estimators.spread import LARGEST
from prolate.queries import NormHistogram

__all__ = ["find_floor", "with_far_values"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_FAR = 32.0  # times as long as the spreads say: rows that are far out ...
_MANY, _SURELY = 0.01, 4.0  # ... are more than this part, by so many standard deviations of a count
_LONG = 4.0  # times as long: with a floor, about that part of the rows is longer
_STEP = 4.0  # octaves above the least spread at which a floor is tried, then twice as far, ...
_LOOKS = 16  # ... at most so often
_HIGHEST = 1000.0  # octaves


def with_far_values(
    view: Searcher, rows: float, center: Floats, spread: Floats, *, wide: Bools
) -> tuple[Floats, Bools]:
    """Return spreads with what rows show of values far out, and in which columns just a floor does.

    Parameters
    ----------
    view : Searcher
        Its columns are asked.
    rows : float
        Number of rows, or a private estimate of it.
    center, spread : float64 arrays of shape (d,)
    wide : bool array of shape (d,)
        Which columns' bulk is not a single value; only these have a floor.
    """
    found = with_farthest(view, rows, center, spread)
    floor = find_floor(view, rows, center, found, wide=wide)
    below = wide & (found < floor)
    if below.any():  # with others as spread as they are, those that are far more so stand out
        found = with_farthest(view, rows, center, np.where(below, floor, found))
    return found, below


def find_floor(
    view: Searcher, rows: float, center: Floats, spread: Floats, *, wide: Bools
) -> float:
    """Return the least spread of wide columns that rows' lengths allow, 0 if there is none.

    Parameters
    ----------
    view, rows, center, spread, wide
        As for `with_far_values`.
    """
    rows, usual = max(rows, 1.0), float(np.sqrt(np.count_nonzero(wide)))
    if not usual > 0.0:
        return 0.0

    def longer(floor: float, times: float) -> tuple[float, float]:
        """Return what part of the rows is so many times as long as usual, and its noise."""
        gain = np.where(wide, 1.0 / np.maximum(spread, floor), 0.0)
        query = NormHistogram(center, gain, np.array([times * usual]))
        measured = view.measure(query, share=floor_share(view, rows), label="long rows")
        return float(measured.values[1]) / rows, measured.std / rows

    part, noise = longer(0.0, _FAR)
    if part < _MANY + _SURELY * noise:
        return 0.0
    low, high, step = float(np.log2(np.min(spread[wide]))), np.inf, _STEP
    for _ in range(_LOOKS):
        middle = low + step if np.isinf(high) else 0.5 * (low + high)
        part, noise = longer(2.0 ** min(middle, _HIGHEST), _LONG)
        if part < _MANY + noise:
            high = middle
        else:
            low, step = middle, 2.0 * step
        if high - low <= 1.0:
            break
    return float(min(2.0 ** min(high, _HIGHEST), LARGEST))
