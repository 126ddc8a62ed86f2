"""The least spread that columns have, where rows are far longer than the spreads say.

Probabilities, shares of topics or word weights are next to nothing in most rows, and far from that
in a few. If the many are not exactly one value, a column's bulk seems tiny, and its far values are
hidden: a count in each column drowns in noise, and in hardly any column are enough rows farthest
out (`farthest.py`). But nearly all rows are far out in *some* column, and their lengths show it for
the price of a single count.

Which columns it is, is not known. So all that seem smaller than some floor are taken to be as
spread as that: the lowest floor with which rows are no longer than spreads say. Columns above it
keep their own spreads; those below that hide nothing get more noise than they need, in the data's
unit no more than the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Searcher
from prolate.estimators.shares import floor_share
from prolate.queries import NormHistogram

__all__ = ["with_floor"]

Floats = NDArray[np.float64]

_FAR = 32.0  # times as long as the spreads say: rows that are far out ...
_MANY, _SURELY = 0.05, 4.0  # ... are more than this part, by so many standard deviations of a count
_LONG = 4.0  # times as long: with a floor, no more rows than that are
_LOOKS = 10  # at most, for the floor; each halves the octaves it may be in
_EDGES = 2.0 ** np.arange(-300.0, 301.0)


def with_floor(view: Searcher, rows: float, center: Floats, spread: Floats) -> Floats:
    """Return the spreads, those raised to a floor that are likely larger than they seem.

    Parameters
    ----------
    view : Searcher
        Its columns are asked.
    rows : float
        Number of rows, or a private estimate of it.
    center, spread : float64 arrays of shape (d,)
    """
    usual, rows = float(np.sqrt(spread.size)), max(rows, 1.0)

    def longer(spread: Floats, edges: Floats) -> tuple[Floats, float]:
        """Return what part of the rows is longer than each edge, and its noise."""
        query = NormHistogram(center, 1.0 / spread, edges)
        measured = view.measure(query, share=floor_share(view, rows), label="lengths")
        return np.cumsum(measured.values[::-1])[::-1][1:] / rows, measured.std / rows

    (far,), noise = longer(spread, np.array([_FAR * usual]))
    if far < _MANY + _SURELY * noise:
        return spread
    part, noise = longer(np.ones(spread.size), _EDGES * usual)
    below = np.flatnonzero(part < _MANY + _SURELY * noise)
    low = float(np.log2(spread.min()))
    high = max(float(np.log2(_EDGES[below[0]] if below.size else _EDGES[-1])), low)
    for _ in range(_LOOKS):
        if high - low <= 1.0:
            break
        middle = 0.5 * (low + high)
        (part,), noise = longer(np.maximum(spread, 2.0**middle), np.array([_LONG * usual]))
        low, high = (low, middle) if part < _MANY + noise else (middle, high)
    return np.maximum(spread, 2.0**high)
