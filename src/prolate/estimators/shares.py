"""How the budget is shared between searching and summing, from what is public or measured.

One noisy count in each of d columns has noise of standard deviation
``D / (mu sqrt(share))`` rows, with D**2 = 2 d (replace) or d (add-remove), however many
cells the histograms have. So a search that needs counts good to a fraction t of n rows
costs the share (D / (mu t n))**2: little where n is large, too much where it is small.
There the share is capped, and the counts are noisier.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Bools
from prolate.curator import Measurer, Searcher
from prolate.neighbors import rows_changed

__all__ = [
    "ACCIDENT",
    "FEW_ALIKE",
    "Shares",
    "farthest_share",
    "fewest_values",
    "length_share",
    "long_share",
    "one_row_noise",
    "part_for",
    "plan_shares",
    "pooled_share",
    "present_location",
    "present_share",
    "radius_part",
    "sample_rows",
    "significance",
    "whole_share",
]

# Wanted noise of a column's counts, as a fraction of the rows, and the largest share.
_MAGNITUDE = (0.05, 0.04)
_LOCATION = (0.05, 0.04)
_CENTER = (0.05, 0.03)
_SCALE = (0.04, 0.03)
_COUNT, _ROUGH_COUNT = (0.01, 0.02), (0.05, 0.002)  # of the values that are there
_WHOLE, _ROUGH_WHOLE = (0.002, 0.02), (0.002, 0.002)  # of the rows without missing ones
_LEAST = 0.0004
# Of a histogram over rows, not columns: over the noise of a count, and at most; up to this part
# of which a histogram is cheap enough that another, more precise one may follow.
_RARE, _RARE_CHEAP = (13.0, 0.05), 0.5
# The same for the histogram of norms; less is enough where one of its cells is noisy by no
# more than a hundredth of the rows (which may cost 3 %), and by this part of the rows that
# may be clipped.
_RADIUS = (0.0005, 0.12)
_RADIUS_CELL = (0.01, 0.03)
_RADIUS_ROWS = 0.67
_RADIUS_LEAST = 0.01  # where rows are many: the longest are rare
_POOLED = (0.01, 0.01)  # of a histogram of all columns together
_FARTHEST = (0.007, 0.02)  # of a histogram of rows by their farthest column
_FARTHEST_PRECISELY = (0.0025, 0.02)  # the same, where spreads of rare values are told by it
_FARTHEST_OF, _FARTHEST_MOST = 0.05, 0.05  # the same, of a part that is known to be far out
# Of a count of rows that are far longer than spreads say; the most over the root of the columns.
_LENGTHS = (0.004, 0.02)
_LENGTHS_OF_ONE = (0.001, 0.02)  # the same, of a single column
_LONG = 0.03  # at most, where rows are known to be long
# Rows that are searched where there are more: so many; this multiple of the noise of a count at
# the whole budget, so that each search costs no more than about half a percent of it; and as
# many as are searched in no time.
_ENOUGH_ROWS, _ENOUGH_NOISE = 12_288, 250.0
_CHEAP_VALUES, _MOST_VALUES = 1 << 20, 1 << 25
# Counts noisier than this are said to be noisy. Well above the noise that `_LOCATION` wants:
# where rows are many it is just that, or 1/2 % more if `ROWS_SHARE` was spent on their number.
_SMALL = 0.06
_CROWDED = 0.2
_ROUGH = 0.1
# Counts are coarse if, for the whole budget, they are noisy by such parts of the rows: of few
# columns, and of many.
_COARSE = (1.0 / 130.0, math.inf)
_COARSE_OF_MANY = (1.0 / 90.0, 1.0 / 11.0)
ACCIDENT = 1e-6
"""Probability that noise alone makes any cell or run stand out."""

FEW_ALIKE = 16
"""More columns have so much in common that this tells much of each."""

_NONE_FOUND = (
    "The rows are too few for this budget to find even the rough size of the values: do not use "
    "these numbers. Bounds would help."
)
_SOME_LOST = (
    "The rows are too few for this budget to find even the rough size of some columns' values: do "
    "not use those whose noise is infinite (noise_std above 1e300). Bounds would help."
)


@dataclass(frozen=True)
class Shares:
    """Shares of mu**2, each for one measurement.

    Attributes
    ----------
    magnitude, location, center, scale : float
        For the searches in every column.
    rare : float
        For each of two histograms over rows, where columns are nearly constant.
    rare_again : float
        The same where these show few rows; 0 if that would tell little more.
    count_error : float
        Noise of one cell of a location histogram, as a fraction of the values of a column.
    least_error : float
        The same, if it had the whole budget.
    part : float
        Part of its values that is there of the column of which most is missing.
    columns : int
    """

    magnitude: float
    location: float
    center: float
    scale: float
    rare: float
    rare_again: float
    count_error: float
    least_error: float
    part: float
    columns: int

    @property
    def crowded(self) -> bool:
        """Whether columns are so many that counts in each show little, of whole ones, too."""
        return self.count_error * self.part > _CROWDED

    @property
    def small(self) -> bool:
        """Whether the values are few for this budget and this many columns."""
        return self.count_error > _SMALL

    @property
    def coarse(self) -> bool:
        """Whether columns are best found by all that few, dear counts of each tell.

        If they are `many`, unless most of their values are 0.
        """
        least, most = _COARSE_OF_MANY if self.many else _COARSE
        return least < self.least_error < most

    @property
    def many(self) -> bool:
        """Whether columns are so many that what they have in common tells much of each."""
        return self.columns > FEW_ALIKE

    @property
    def rough(self) -> bool:
        """Whether a single column's counts are so coarse that its tails cannot be seen."""
        return self.columns == 1 and self.count_error > _ROUGH

    def of_rest(self, part: float) -> Shares:
        """Return shares of what is left of the budget, a part of what there was."""
        return replace(
            self,
            magnitude=part * self.magnitude,
            location=part * self.location,
            center=part * self.center,
            scale=part * self.scale,
            rare=part * self.rare,
            rare_again=part * self.rare_again,
        )

    def warnings(self, *, found: bool | Bools) -> tuple[str, ...]:
        """Return what to say of few rows, and where not even magnitudes were `found`."""
        if not np.any(found):
            return (_NONE_FOUND,)
        lost = () if np.all(found) else (_SOME_LOST,)
        return (*lost, *self._few())

    def _few(self) -> tuple[str, ...]:
        """Return what to say of few rows."""
        noisy = f"{100 * self.count_error:.0f} %"
        if self.small and self.count_error * self.part <= _SMALL:
            few = (
                "So much is missing of some columns that, for this budget, the searches' counts "
                f"are noisy by {noisy} of the values that are there: their centers and scales are "
                "rough, and intervals may be too narrow. More rows, fewer columns, a larger budget "
                "or bounds would help."
            )
            return (few,)
        if self.small:
            few = (
                f"The rows are few for this budget and {self.columns} column"
                f"{'' if self.columns == 1 else 's'}: the searches' counts "
                f"are noisy by {noisy} of the rows, so centers and scales "
                "are rough and intervals may be too narrow. More rows, fewer columns, a larger "
                "budget or bounds would help."
            )
            return (few,)
        return ()


def one_row_noise(curator: Measurer, rows: float, share: float = 1.0) -> float:
    """Return the noise of a count at a share of mu**2, where a row counts once, over the rows."""
    return math.sqrt(rows_changed(curator.neighbors)) / (curator.mu_of(share) * max(rows, 1.0))


def part_for(noise: float, wanted: float, most: float) -> float:
    """Return the part for which a noise, at the whole budget, becomes the wanted one, or `most`.

    Examples
    --------
    >>> round(part_for(0.01, 0.05, 0.5), 3), part_for(0.1, 0.05, 0.5)
    (0.04, 0.5)
    """
    return min(max((noise / wanted) ** 2, _LEAST), most)


def plan_shares(curator: Searcher, rows: float, part: float = 1.0) -> Shares:
    """Return the shares for searching `rows` rows, with at least a part of each column's values."""
    d, changed = curator.dimension, rows_changed(curator.neighbors)
    left = curator.remaining
    one_row = math.sqrt(changed * d) / (curator.mu_of(1.0) * max(rows * part, 1.0))

    location = left * part_for(one_row, *_LOCATION)
    rare = min(max(_RARE[0] * one_row / math.sqrt(d), _LEAST), _RARE[1])
    return Shares(
        magnitude=left * part_for(one_row, *_MAGNITUDE),
        location=location,
        center=left * part_for(one_row, *_CENTER),
        scale=left * part_for(one_row, *_SCALE),
        rare=left * rare,
        rare_again=left * _RARE[1] if rare < _RARE_CHEAP * _RARE[1] else 0.0,
        count_error=one_row / math.sqrt(location),
        least_error=one_row / math.sqrt(left),
        part=part,
        columns=d,
    )


def fewest_values(curator: Searcher) -> float:
    """Return how many of a column's values are enough to search them for the largest share."""
    changed = rows_changed(curator.neighbors) * curator.dimension
    return math.sqrt(changed) / (curator.mu_of(_LOCATION[1] * curator.remaining) * _CROWDED)


def present_location(curator: Searcher, share: float, part: float) -> float:
    """Return the share for a search of columns of which a part is there, planned for whole ones."""
    return min(share / part**2, max(share, _LOCATION[1] * curator.remaining))


def sample_rows(
    curator: Searcher, *, noise: float | None = None, enough: float = _ENOUGH_NOISE
) -> float:
    """Return how many rows are enough to search; infinite where too many to hold.

    Parameters
    ----------
    curator : Searcher
    noise : float, optional
        Of a count, in rows; by default of one in each column, for all that is left.
    enough : float
        Times that noise, as many rows are enough.
    """
    d = curator.dimension
    if noise is None:
        noise = math.sqrt(rows_changed(curator.neighbors) * d) / curator.mu_of(curator.remaining)
    wanted = max(_ENOUGH_ROWS, enough * noise, _CHEAP_VALUES / d)
    return wanted if wanted * d <= _MOST_VALUES else math.inf


def radius_part(
    curator: Measurer, rows: float, effective: float, share: float | None = None
) -> float:
    """Return the part of a sum's budget for the histogram of norms that it needs.

    The sum's budget is a share, or all that remains. With k of `rows_changed`, one of its
    cells is noisy by sqrt(k / share) / mu rows, and about k sqrt(effective) / mu rows may be
    clipped (`safe_cell`).
    """
    changed = rows_changed(curator.neighbors)
    one_row = one_row_noise(curator, rows, curator.remaining if share is None else share)
    wanted, most = _RADIUS
    by_clipped = 1.0 / (changed * effective * _RADIUS_ROWS**2)
    enough = max(part_for(one_row, *_RADIUS_CELL), by_clipped)
    return max(part_for(one_row, wanted, min(most, enough)), min(_RADIUS_LEAST, by_clipped))


def pooled_share(curator: Searcher, rows: float) -> float:
    """Return the share for a histogram of all columns together."""
    return curator.remaining * part_for(one_row_noise(curator, rows), *_POOLED)


def present_share(curator: Searcher, rows: float, *, roughly: bool = False) -> float:
    """Return the share for counting the values of each column that are there."""
    one_row = math.sqrt(curator.dimension) / (curator.mu_of(1.0) * max(rows, 1.0))
    return curator.remaining * part_for(one_row, *(_ROUGH_COUNT if roughly else _COUNT))


def whole_share(curator: Measurer, rows: float, *, roughly: bool = False) -> float:
    """Return the share for counting the rows of which no value is missing."""
    one_row = 1.0 / (curator.mu_of(1.0) * max(rows, 1.0))
    return curator.remaining * part_for(one_row, *(_ROUGH_WHOLE if roughly else _WHOLE))


def length_share(curator: Searcher, rows: float) -> float:
    """Return the share for a count of rows that are far longer than the spreads say."""
    wanted, most = _LENGTHS if curator.dimension > 1 else _LENGTHS_OF_ONE
    most /= math.sqrt(curator.dimension)
    return curator.remaining * part_for(one_row_noise(curator, rows), wanted, most)


def long_share(curator: Measurer, rows: float, noise: float) -> float:
    """Return the share for one of several counts of long rows; 0 if twice the noise is too dear."""
    share = max((one_row_noise(curator, rows) / noise) ** 2, _LEAST)
    return curator.remaining * min(share, _LONG) if share < 4.0 * _LONG else 0.0


def farthest_share(
    curator: Measurer, rows: float, *, precisely: bool = False, of: float | None = None
) -> float:
    """Return the share for a histogram of the rows' farthest columns, or of a part of the rows."""
    wanted, most = _FARTHEST_PRECISELY if precisely else _FARTHEST
    if of is not None:
        wanted, most = _FARTHEST_OF * of, _FARTHEST_MOST
    return curator.remaining * part_for(one_row_noise(curator, rows), wanted, most)


def significance(tests: int, accident: float = ACCIDENT) -> float:
    """Return how many standard deviations noise exceeds once in 1 / `accident` such searches."""
    return math.sqrt(2.0 * math.log(tests / accident))
