"""The least spread of columns, where rows are far longer than the columns' spreads say.

Probabilities, shares of topics and weights of words are next to nothing in most rows, and far from
that in a few. If the many are not exactly one value, a column's bulk is a tiny interval, and noise
hides what is outside: counts in each column are too noisy, and in hardly any column are enough
rows farthest out (`farthest.py`). But most rows are far out in *some* column, and so their lengths
show it, for the price of a single count.

In which columns, is not known. So all columns that seem less spread than some floor are taken to be
as spread as that: the lowest floor with which rows are about as long as the spreads say. Columns
above it keep their own. Those below that hide nothing get more noise than they need, though no more
than the others do. A low floor comes first, with which half of the rows are still too long: beside
it, columns that are far more spread than the others stand out and are told by their own rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.curator import Searcher
from prolate.estimators.search.apart import heavy_columns
from prolate.estimators.search.farthest import with_farthest
from prolate.estimators.search.spread import LARGEST
from prolate.estimators.shares import length_share, long_share
from prolate.queries import NormHistogram

__all__ = ["with_common_floor", "with_far_values", "with_floor"]

_FAR = 32.0  # times as long as the spreads say: rows that are far out ...
_MANY, _SURELY = 0.01, 4.0  # ... are more than this part, by so many standard deviations of a count
_LONG = 4.0  # times as long: with a floor, no more than a part of the rows are longer, ...
_PARTS = (0.5, 0.1, 0.01)  # ... one part after the other
_STEP, _NEXT = 4.0, 1.0  # octaves up to the first floor that is tried; then twice as far, ...
_SURE, _VAGUE = 0.9, 0.2  # of a floor, within an octave; what rows are long is no sharp edge
_SURER = 0.2  # noise of a count, over the rows that are known to be long
_LOOKS = 16  # ... at most so often


def with_far_values(
    view: Searcher, rows: float, center: Floats, spread: Floats, *, wide: Bools, least: float = 1.0
) -> tuple[Floats, Bools, Bools]:
    """Return spreads with what rows show of values far out, and which columns have had a floor.

    And which are a few that reach much farther than the others (`apart.py`).

    Parameters
    ----------
    view : Searcher
        Its columns are asked.
    rows : float
        Number of rows, or a private estimate of it.
    center, spread : float64 arrays of shape (d,)
    wide : bool array of shape (d,)
        Which columns' bulk is not a single value: the floor is for these alone.
    least : float
        Part of a column's values that is there at least, where the view says as if all were.
    """
    seen, reach = with_farthest(view, rows, center, spread, least=least)
    raised, floored = with_floor(view, rows, center, seen, wide=wide)
    return raised, floored, heavy_columns(raised / spread, reach / raised, wide=wide & ~floored)


def with_floor(
    view: Searcher, rows: float, center: Floats, spread: Floats, *, wide: Bools
) -> tuple[Floats, Bools]:
    """Return the same, where rows were not asked in which column they are farthest out.

    They are, if it turns out that they are long.
    """
    rows, raised = max(rows, 1.0), np.zeros(wide.size, dtype=np.bool_)

    def longer(times: float, least: float = 0.0) -> tuple[float, float]:
        share = length_share(view, rows)
        return _longer(view, rows, center, spread, wide, share, times, least)

    if not wide.any():
        return spread, raised
    part, noise = longer(_FAR)
    if part < _MANY + _SURELY * noise:
        return spread, raised
    spread, _ = with_farthest(view, rows, center, spread, precisely=True)
    floor, step = float(np.min(spread[wide])), _STEP
    for most in _PARTS:
        higher = _floor(longer, most, floor, step)
        if higher > floor:
            floor, step = higher, _NEXT
            raised |= wide & (spread < floor)
            spread = np.where(raised, np.maximum(spread, floor), spread)
            spread, _ = with_farthest(view, rows, center, spread, precisely=True)
    return spread, raised


def with_common_floor(
    view: Searcher, rows: float, center: Floats, spread: Floats, *, wide: Bools, part: float
) -> Floats:
    """Return the same, where this part of the rows is known to be far longer than the others.

    The floor leaves half of them as long.
    """
    spread, _ = with_farthest(view, rows, center, spread, precisely=True, of=part)
    share = long_share(view, rows, _SURER * part) if wide.any() else 0.0
    if share == 0.0:
        return spread
    longer = partial(_longer, view, rows, center, spread, wide, share, _LONG)
    spread = np.where(wide, np.maximum(spread, _likely_floor(longer, part, spread[wide])), spread)
    return with_farthest(view, rows, center, spread, precisely=True)[0]


def _longer(
    view: Searcher,
    rows: float,
    center: Floats,
    spread: Floats,
    wide: Bools,
    share: float,
    times: float,
    least: float,
) -> tuple[float, float]:
    """Return what part of the rows is so many times as long as usual, and its noise."""
    gain = np.where(wide, 1.0 / np.maximum(spread, least), 0.0)
    usual = float(np.sqrt(np.count_nonzero(wide)))
    query = NormHistogram(center, gain, np.array([times * usual]))
    measured = view.measure(query, share=share, label="long rows")
    return float(measured.values[1]) / rows, measured.std / rows


def _likely_floor(
    longer: Callable[[float], tuple[float, float]], part: float, spread: Floats
) -> float:
    """Return the floor from which on half of a part of the rows is no longer long, within octaves.

    Each count is taken near the middle of where that is likely, so that one that noise spoils is
    made up for by others.
    """
    least = float(np.min(spread))
    octaves = np.arange(int(np.log2(LARGEST / least)) + 1)
    log = -np.log1p(octaves)  # a priori
    for _ in range(_LOOKS):
        likely = np.exp(log - log.max())
        below = np.cumsum(likely / likely.sum())
        middle = int(np.searchsorted(below, 0.5))
        near = below[min(middle + 1, octaves[-1])] - (below[middle - 2] if middle > 1 else 0.0)
        if near > _SURE:
            break
        seen, noise = longer(least * 2.0**middle)
        expected = np.where(octaves > middle, part, 0.0)
        log -= 0.5 * (seen - expected) ** 2 / (noise**2 + (_VAGUE * part) ** 2)
    return least * 2.0**middle


def _floor(
    longer: Callable[[float, float], tuple[float, float]],
    most: float,
    least: float,
    step: float,
) -> float:
    """Return the lowest floor from `least` on, within an octave, that leaves few rows long.

    Noise that pretends to be long rows would be dear, so they must be there surely.
    """
    low, high = float(np.log2(least)), np.inf
    middle = low
    for _ in range(_LOOKS):
        part, noise = longer(_LONG, 2.0**middle)
        if part < most + _SURELY * noise:
            high = middle
        else:
            low = middle
        if high - low <= 1.0 or 2.0**low >= LARGEST:
            break
        middle, step = (low + step, 2.0 * step) if np.isinf(high) else (0.5 * (low + high), step)
    return float(min(2.0 ** min(high, 1000.0), LARGEST))
