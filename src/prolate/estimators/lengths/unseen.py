"""What rows may take that the sides of a column do not show, as the lengths of rows tell.

Lengths are counted in cells that are large far out, and on both sides together: if values gather
in one, it may seem that many are beyond an interval, so no more are than the sides' own cells
allow.

But where a cell of lengths surely holds rows, these are not hidden, though each of the sides' cells
may say too little of them: a power tail that holds half a percent of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats
from prolate.estimators.lengths.beyond import Beyond, lost_part
from prolate.estimators.lengths.side_tail import SideTail

__all__ = ["Unseen"]

_ALLOWED = 0.4  # of what rows may take that noise hides, as a standard deviation
_FEARED = 0.33  # of that, where ends are chosen
_SURELY = 2.5  # standard deviations of a count of lengths that is no noise
_COUNTED = 0.7  # of what these rows have beyond an end, as a standard deviation
_FARTHER = 1.4  # times the last edge of lengths, where rows beyond it are taken to be


@dataclass(frozen=True, eq=False)
class Unseen:
    """The tail of lengths, beside which a column's sides are seen.

    Attributes
    ----------
    tail : Beyond
    unit : float
        A spread of the column, in the unit of lengths.
    others : float
        How long rows are by other columns.
    """

    tail: Beyond
    unit: float
    others: float

    def feared(self, low: SideTail, high: SideTail) -> Floats:
        """Return a part of it for each pair of ends, in spreads."""
        reach = np.union1d(low.reach, high.reach)
        length = np.hypot(self.others, reach * self.unit)
        seem = np.array([self.tail.fraction(each) for each in length])
        lost = np.array([self.tail.lost(each) for each in length])
        at = np.searchsorted(reach, np.maximum(low.reach[:, np.newaxis], high.reach))
        most = low.most[:, np.newaxis] + high.most
        part = _FEARED * _ALLOWED * np.minimum(most / np.maximum(seem[at], 1e-300), 1.0)
        hidden = part * np.minimum(lost[at], self.unit) / self.unit
        return np.asarray(np.hypot(hidden, self._counted(reach[at], most)))

    def beyond(self, reach: float, most: float, *, noise: float) -> float:
        """Return it beyond a distance that so many rows are beyond at most, in spreads.

        Parameters
        ----------
        reach : float
        most : float
            Part of the rows.
        noise : float
            Of the mean, in spreads.
        """
        length = float(np.hypot(self.others, reach * self.unit))
        seem = self.tail.fraction(length)
        part = _ALLOWED * min(most / seem, 1.0) if seem > 0.0 else _ALLOWED
        hidden = lost_part(self.tail, length, noise * self.unit, self.unit, part=part) / self.unit
        return float(np.hypot(hidden, self._counted(np.array([reach]), np.array([most]))[0]))

    def _counted(self, reach: Floats, most: Floats) -> Floats:
        """Return what rows that were surely counted may have beyond some distances, in spreads.

        Of a single column: of several, any may make rows long.
        """
        norms, rows = self.tail.norms, self.tail.rows
        if self.others > 0.0:
            return np.zeros(reach.shape)
        middle = np.append(norms.middles[1:], _FARTHER * norms.edges[-1]) / self.unit
        counts = norms.counts[1:]
        surely = np.where(counts > _SURELY * norms.noise, counts, 0.0) / rows
        farther = np.maximum(middle - reach[..., np.newaxis], 0.0)
        part = np.where(farther > 0.0, surely, 0.0).sum(axis=-1)
        allowed = np.minimum(most / np.maximum(part, 1e-300), 1.0)
        return np.asarray(_COUNTED * allowed * (farther @ surely))
