"""How the budget is shared between searching and summing, from public numbers only.

One noisy count in each of d columns has noise of standard deviation
``D / (mu sqrt(share))`` rows, with D**2 = 2 d (replace) or d (add-remove), however many
cells the histograms have. So a search that needs counts good to a fraction t of n rows
costs the share (D / (mu t n))**2: little where n is large, too much where it is small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from prolate.curator import Curator
from prolate.queries import Count

__all__ = ["Shares", "count_rows", "plan_shares"]

_COUNT_ERROR = 0.01  # wanted noise of a column's count, as a fraction of the rows
_LEAST, _SEARCH, _RADIUS = 0.0004, 0.04, 0.12  # bounds of one histogram's share
_RADIUS_ERROR = 0.0005  # the same for the histogram of norms, or ...
_RADIUS_ROWS = 0.67  # ... this part of the rows that may be longer than the radius
_ROWS = 0.01
_SMALL = 0.03  # counts noisier than this are said to be noisy


@dataclass(frozen=True)
class Shares:
    """Shares of mu**2.

    Attributes
    ----------
    histogram : float
        For each histogram per column.
    radius : float
        For the histogram of norms.
    count_error : float
        Noise of one cell of a column's histogram, as a fraction of the rows.
    """

    histogram: float
    radius: float
    count_error: float

    @property
    def small(self) -> bool:
        """Whether the rows are few for this budget and this many columns."""
        return self.count_error > _SMALL


def plan_shares(curator: Curator, rows: float) -> Shares:
    """Return the shares for searching `rows` rows."""
    d, factor = curator.dimension, 2 if curator.neighbors == "replace" else 1
    left = curator.remaining
    one_row = math.sqrt(factor * d) / (curator.budget.mu * max(rows, 1.0))

    def share(noise: float, wanted: float, most: float) -> float:
        return left * min(max((noise / wanted) ** 2, _LEAST), most)

    histogram = share(one_row, _COUNT_ERROR, _SEARCH)
    # One cell of that histogram is noisy by sqrt(factor / share) / mu rows, and about
    # factor sqrt(d) / mu rows may be longer than the radius (`measure_radius`).
    enough = 1.0 / (factor * d * _RADIUS_ROWS**2)
    radius = share(one_row / math.sqrt(d), _RADIUS_ERROR, min(_RADIUS, max(enough, _LEAST)))
    return Shares(histogram, radius, one_row / math.sqrt(histogram))


def count_rows(curator: Curator) -> float:
    """Return the number of rows: public, or measured if it is private (at least 1)."""
    if curator.neighbors == "replace":
        return float(curator.public_rows())
    measured = curator.measure(Count(curator.dimension), share=_ROWS, label="rows")
    return max(1.0, float(measured.values[0]))
