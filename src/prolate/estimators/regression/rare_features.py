"""Scales of features of which only a single value was seen.

Of flags, most of all those of categories, and of amounts that few rows have, counts in each column
are too noisy to show them. But a row can say in which of these columns it is farthest from that
value, and how far. It is one row, so it costs a single count, for all columns and all sizes that a
number may have (`FarthestHistogram`).

Where columns that are seen so are about as spread as each other, they likely have one unit, and a
common scale, that rows tell which deviate in any of them: these are more than those that deviate in
one. Otherwise each has its own, in whatever unit. Columns hide each other, so rows are asked again,
where they are farthest out in units of what is known. Those that are never seen have a common scale
all the same; or none, if no row deviates in them.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.curator import Searcher
from prolate.estimators.search.deviations import deviations_together
from prolate.estimators.search.farthest import octaves_standing_out
from prolate.estimators.search.half_octaves import OCTAVE_MIDDLE
from prolate.estimators.search.locate import WITHIN, Interval
from prolate.estimators.search.spread import LARGEST
from prolate.estimators.shares import one_row_noise, part_for, pooled_share
from prolate.queries import FarthestHistogram

__all__ = ["with_rare_values"]

_LOOKS = 3
_SHARE, _SHARE_AGAIN = (0.0018, 0.02), (0.0018, 0.04)  # wanted noise, and largest share, of a look
_ALIKE = 8.0  # times as spread as another column of the same unit, at most
_MORE = 1.5  # times as spread as was known: others may be, too
_NEAREST, _OCTAVES = 2.0**-300, 600  # of a deviation that is told apart, and from there on
_MOST_CELLS = 1 << 24  # of one histogram
_ACCIDENT = 0.01  # probability that noise alone makes any octaves of any column stand out
_FARTHEST = math.log2(LARGEST)


def with_rare_values(
    view: Searcher, rows: float, interval: Interval, spread: Floats
) -> tuple[Floats, Bools]:
    """Return the spreads, of columns of which only a single value was seen, too; 0: of nothing.

    And of which columns nothing else was seen all the same: theirs are those of others.

    Parameters
    ----------
    view : Searcher
        Its columns are asked.
    rows : float
        Number of rows, or a private estimate of it.
    interval : Interval
        Of the columns' bulks.
    spread : float64 array of shape (d,)
        0 where only a single value was seen.
    """
    rows, those = max(rows, 1.0), interval.narrow & (spread <= 0.0)
    if not those.any():
        return spread, those
    own = np.zeros(spread.size)
    for look in range(_LOOKS):
        wanted = _SHARE_AGAIN if look > 0 else _SHARE
        share = view.remaining * part_for(one_row_noise(view, rows), *wanted)
        found = _farthest_rows(view, rows, interval, own, those, share=share)
        more = np.any(found > _MORE * own)
        own = np.maximum(own, found)
        seen = own > 0.0
        alike = np.count_nonzero(seen) > 1 and own.max() < _ALIKE * own[seen].min()
        common = _common(view, rows, interval, those) if alike else 0.0
        if common > 0.0:
            return np.where(those, common, spread), those & ~seen
        if look > 0 and not more:
            break
    unseen = those & (own == 0.0)
    common = _common(view, rows, interval, unseen) if unseen.any() else 0.0
    return np.where(unseen, common, np.where(those, own, spread)), unseen


def _farthest_rows(
    view: Searcher,
    rows: float,
    interval: Interval,
    known: Floats,
    those: Bools,
    *,
    share: float,
) -> Floats:
    """Return the spreads by the rows that are farthest out in a column; 0 where none are seen."""
    octaves = min(_OCTAVES, _MOST_CELLS // those.size)
    unit = np.where(known > 0.0, known, np.maximum(WITHIN * interval.half, _NEAREST))
    query = FarthestHistogram(interval.center, np.where(those, 1.0 / unit, 0.0), octaves)
    measured = view.measure(query, share=share, label="farthest rare values")
    noise = np.broadcast_to(measured.noise, query.size).reshape(-1, octaves)[:, 0]
    counts = measured.values.reshape(-1, octaves)
    seen = octaves_standing_out(counts, noise, accident=_ACCIDENT) & those[:, np.newaxis]
    parts = np.where(seen, np.maximum(counts, 0.0), 0.0) / rows
    octave = np.minimum(
        np.log2(OCTAVE_MIDDLE * unit)[:, np.newaxis] + np.arange(octaves), _FARTHEST
    )
    return np.asarray(np.sqrt(np.sum(parts * 4.0**octave, axis=1)))


def _common(view: Searcher, rows: float, interval: Interval, those: Bools) -> float:
    """Return the root mean square deviation in some columns; 0 if no row is seen to deviate."""
    every = deviations_together(
        view, replace(interval, narrow=those), share=pooled_share(view, rows)
    )
    return math.sqrt(max(every.square, 0.0) / (rows * np.count_nonzero(those)))
