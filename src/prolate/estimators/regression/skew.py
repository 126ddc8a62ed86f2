"""What the cut of a skewed target takes from slopes, where noise hides its tails.

Of incomes, costs and the like a line times errors is cut, and as much of the errors' mean as lies
beyond the cut is missing in all slopes. How far tails go is told by few rows, which noise hides.
But that more rows are beyond the cut on one side than on the other shows in thousands of rows.
With p that difference, as part of the rows, w the deviation of what the cut leaves of the errors
and L the length of the slopes, such targets (exp(x b + s e) with s of .5 to 1.3, incomes, costs,
counts) lose 75 p**2 w L / (L + w) of L by a cut at 2 w, to within a factor of 1.5, and as much less
as cuts are farther out.

Errors that are skewed, but by as much for all rows, have as large a difference, and lose nothing.
Whether errors are is told by counts around two other lines, one flatter and one steeper by as much
as makes w: as many rows are far from either. Where a line times errors is cut, more are far from
the steeper one, by some .7 p. So what was lost is between nothing and all of that, and what these
counts leave open is in doubt, unless slopes of targets that were cut at several places tell
(`average.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from prolate.estimators.regression.average import Lost
from prolate.estimators.regression.rows import StandardRows
from prolate.estimators.regression.slopes import Slopes
from prolate.estimators.regression.tails import left_by
from prolate.queries import EdgesGrid, Histogram

__all__ = ["Skew"]

_LABEL = "both sides"
_AT = 2.0  # deviations beyond which rows are counted
_TIMES, _MOST = 75.0, 0.15  # p**2, and the largest p that is believed
_LIKELY, _DOUBT = 0.5, 0.65  # part of it that slopes lost, where no other line tells
_MORE, _VARIES = 0.7, 0.3  # over p: more rows far from a steeper line; how much that varies
# The line itself, a flatter and a steeper one: how much steeper, and parts of the share.
_LINES = (0.0, 0.5), (-1.0, 0.25), (1.0, 0.25)
_LEAST = 1e-9  # part of the rows: as many may be on either side
_MOST_TURNED = 4.0  # times the slopes


@dataclass(frozen=True)
class Skew:
    """By how many more rows are beyond a cut on one side.

    Attributes
    ----------
    part, noise : float
        Part of the rows, and the standard deviation of its noise.
    more, noise_of_more : float
        Part of the rows, by which more are far from a steeper line than from a flatter one.
    width : float
        Deviation of what a line leaves of the target, in standard units.
    """

    part: float
    noise: float
    more: float
    noise_of_more: float
    width: float

    @classmethod
    def measure(cls, rows: StandardRows, slopes: Slopes, *, share: float) -> Skew:
        """Return what counts tell of some rows, for a share of mu**2."""
        left, width = left_by(rows, slopes)
        edges = left.spread * np.array([[-_AT, _AT]])
        length, counts, noises = max(_length(slopes), 1e-150), [], []
        for times, part in _LINES:
            turned = 1.0 + times * min(width / length, _MOST_TURNED)
            one = replace(slopes, value=np.append(turned * slopes.value[:-1], slopes.value[-1]))
            view, _ = left_by(rows, one)
            counted = view.measure(Histogram(EdgesGrid(edges)), share=part * share, label=_LABEL)
            counts.append(counted.values / rows.count)
            noises.append(counted.std)
        skewed, flatter, steeper = counts
        more = float(steeper[0] + steeper[2] - flatter[0] - flatter[2])
        noise = [math.sqrt(2.0) * std / rows.count for std in noises]
        return cls(abs(float(skewed[2] - skewed[0])), noise[0], more, math.hypot(*noise[1:]), width)

    def taken(self, slopes: Slopes, cut: float) -> float:
        """Return what a cut takes of the slopes' length, if features explain what is beyond it."""
        length = _length(slopes)
        square = max(min(self.part, _MOST) ** 2 - self.noise**2, 0.0)
        by_line = self.width * length / max(length + self.width, 1e-300)
        return _TIMES * square * by_line * _AT * self.width / cut

    def lost(self, slopes: Slopes, cuts: Sequence[float]) -> Lost:
        """Return what each of these cuts may have taken, where slopes are about these."""
        own = np.append(slopes.value[:-1], 0.0) / max(_length(slopes), 1e-150)
        noisy = min(2.0 * self.noise / max(self.part, 1e-300), 1.0)
        likely, doubt = self._lost
        doubt = math.hypot(doubt, likely * noisy)
        return Lost([self.taken(slopes, cut) * own for cut in cuts], likely, doubt)

    @property
    def _lost(self) -> tuple[float, float]:
        """Part of what a cut may take that it took, and its standard deviation."""
        all_of_it = _MORE * max(self.part, _LEAST)
        seen, noise = min(self.more / all_of_it, 1.0), self.noise_of_more / all_of_it
        sure, told = _DOUBT**-2, (noise**2 + _VARIES**2) ** -1
        return (sure * _LIKELY + told * seen) / (sure + told), (sure + told) ** -0.5


def _length(slopes: Slopes) -> float:
    own = slopes.value[:-1]
    return math.sqrt(max(float(own @ slopes.features @ own), 0.0))
