"""How much each column varies, for the sampling error of its mean.

Private scales match a column's bulk, and see its tail only where single cells of its
histogram stand out. One sum of squares over all columns sees more, for a small share of the
budget. With q the noise of a column's mean over its sampling error, the sampling error
matters less the larger q is: so each square is weighed by 1 / (1 + q**2), and clipped where
its noise is still small, no sooner than squares of normal rows are long, or, within limits,
than rows as long as the radius that is safe for them make it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurer
from prolate.neighbors import rows_changed
from prolate.queries import ClippedSum

__all__ = ["MOMENTS", "SQUARABLE", "Variation", "measure_variation"]

MOMENTS = 0.002
"""Share of mu**2: a thousandth of the accuracy."""

SQUARABLE = (1e-70, 1e70)
"""Scales within these have fourth powers that are floats."""

_NORMAL = 3.0  # times the usual length of normal rows' squares
_NOISE = 0.1  # of a variance, over it: what clipping farther out may lead to ...
_WORST = 4.0  # ... times this, where rows are so long
_FAR = 200.0  # variances: farther out, no square of a column of weight 1 is kept whole
_DROWNED = 100.0  # noise of a mean over the spread, at most
_CAREFUL = 2.5  # standard deviations by which a smaller variance must be shown
_LEAST = 0.3  # of the standard deviation that is expected


@dataclass(frozen=True, eq=False)
class Variation:
    """Measured variances of the columns.

    Attributes
    ----------
    square : float64 array of shape (d,)
        Over the squared spreads.
    doubt : float64 array of shape (d,)
        Standard deviation of its noise; infinite where nothing was measured.
    """

    square: Floats
    doubt: Floats

    def over_spread(self, stretch: float) -> Floats:
        """Return the columns' standard deviations over their spreads.

        They are `stretch`, but where the measurement clearly says otherwise.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            excess = self.square - stretch**2
            more = excess * np.maximum(1.0 - (self.doubt / excess) ** 2, 0.0)
        less = np.minimum(excess + _CAREFUL * self.doubt, 0.0)
        moved = np.where(excess > 0.0, np.nan_to_num(more, neginf=0.0), less)
        return stretch * np.sqrt(np.maximum(1.0 + moved / stretch**2, _LEAST**2))


def measure_variation(
    curator: Measurer,
    rows: float,
    center: Floats,
    spread: Floats,
    scale: Floats,
    *,
    noise: Floats,
    safe: float,
    share: float,
) -> Variation:
    """Measure how much each column varies, for a share of mu**2.

    Parameters
    ----------
    curator : Measurer
    rows : float
        Their number, or a private estimate of it.
    center, spread : float64 arrays of shape (d,)
    scale : float64 array of shape (d,)
        Of the rows whose length was measured.
    noise : float64 array of shape (d,)
        About that of the mean of all rows, times sqrt(all rows / rows).
    safe : float
        Rows are hardly ever longer, in units of the scale.
    share : float
    """
    size = np.clip(spread, *SQUARABLE) ** 2
    with np.errstate(all="ignore"):
        square = (spread / scale) ** 2
        weight = 1.0 / (1.0 + rows * np.minimum(noise / spread, _DROWNED) ** 2)
        longest = (safe**2 - float(np.sum(square))) * float(np.min(weight / square))
    most, usual = float(np.max(weight)), _NORMAL * math.sqrt(2.0 * float(np.sum(weight**2)))
    bearable = _NOISE * rows * curator.mu_of(share) / rows_changed(curator.neighbors) * most
    radius = max(min(max(longest, min(bearable, _FAR * most)), _WORST * bearable), usual)
    if not (math.isfinite(radius) and np.all(np.isfinite(center))):
        return Variation(np.ones(spread.size), np.full(spread.size, np.inf))
    query = ClippedSum(size, size / weight, radius, about=center)
    measured = curator.measure(query, share=share, label="variation")
    unit = query.unit / size / rows
    doubt = np.where(size == spread**2, unit * measured.noise, np.inf)
    return Variation(1.0 + unit * measured.values, doubt)
