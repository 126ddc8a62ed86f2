"""Means and variances of columns within their public bounds, from sums around the middle of these.

Such a sum needs no search and is never lost, however few the rows are and however rare a value is.
So it is best for flags, and for rows that are too few to be searched (`search/flags.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.curator import Curator, Searcher
from prolate.estimators.estimate import Estimate
from prolate.estimators.present import MISSING, find_present, present_view
from prolate.estimators.shares import part_for
from prolate.estimators.sum import bounds_of, centered_sum, rounding_of, shape_of
from prolate.queries import Count, CountBelow

__all__ = ["bounded_mean", "mean_within", "variance_within"]

_FIRST, _SQUARES = 0.1, 0.1  # of the budget, where the mean is all that is asked
_FIRST_SQUARES = 0.15  # and where the variance is
# Wanted noise of a count of values that are there, over the rows, and its largest share; and the
# part of that noise that is allowed for, as most columns have all values.
_PRESENT, _HIDDEN = (0.01, 0.05), 0.5
_MOVED, _MOST_MISSING = 3.0, 0.6  # standard deviations that show missing values, and their part
_COUNTED = 0.25  # of it for the number of rows, where that is private


def bounded_mean(curator: Curator) -> Estimate:
    """Return the private mean of every column from its bounds alone, by the plain mechanism.

    The sum around the middle of the bounds, divided by the number of rows; a missing
    value counts as the middle.
    """
    lower, upper = bounds_of(curator)
    middle, half = 0.5 * lower + 0.5 * upper, 0.5 * upper - 0.5 * lower
    unsure = 0.0
    if curator.neighbors == "replace":
        rows = float(curator.public_rows())
    else:
        rows, unsure = _counted(curator, "rows")
    value, noise_std, step = centered_sum(curator, middle, half, np.ones_like(half), middle)
    noise_std = np.hypot(noise_std, np.abs(value) * unsure / rows) / rows
    value = middle + value / rows
    return Estimate(value, noise_std, None, rows, clipping_std=rounding_of(step, noise_std))


def mean_within(curator: Searcher, *, rows: float, error_norm: float) -> Estimate:
    """Return the private mean of every column from its bounds, with its sampling error.

    A first, rougher mean stands in for missing values, which would draw it to the middle; a sum of
    squares around it says how much the rows vary.

    Parameters
    ----------
    curator : Searcher
        With bounds on every column; all of its remaining budget is spent.
    rows : float
        Their number, or a private estimate of it.
    error_norm : float
        The p of the l_p error that is to be small, or `RELATIVE`.
    """
    sums = _Sums.of(curator, rows, error_norm)
    table, rows, unsure = sums.table, sums.rows, sums.unsure
    for_first, for_squares = _FIRST * table.remaining, _SQUARES * table.remaining
    first, rough, _ = sums.mean(sums.middle, for_first)
    squares = sums.squares(first, None, for_squares)
    value, noise_std, step = sums.mean(first, table.remaining)
    # If a part q is missing, the first mean is off by q times its way from the middle, and the
    # second by q times that: where it surely moved, that tells q (Aitken's extrapolation).
    moved, way = first - value, sums.middle - first
    surely = np.abs(moved) > _MOVED * np.hypot(rough, noise_std)
    surely &= (moved * way > 0.0) & (np.abs(moved) < _MOST_MISSING * np.abs(way))
    missing = np.where(surely, moved, 0.0) / np.where(surely, way, 1.0)
    value = value - missing / (1.0 - missing) * moved
    noise_std = np.hypot(noise_std, missing * rough) / (1.0 - missing) ** 2
    noise_std = np.hypot(noise_std, np.abs(value - sums.middle) * unsure / rows)
    hidden = np.where(surely, 0.0, sums.doubt * np.abs(value - sums.middle))
    off = np.minimum(noise_std, sums.half)
    inside = np.clip(value, sums.lower + off, sums.upper - off)
    variance = sums.variance(inside, squares)
    there = rows * (1.0 - missing)
    return Estimate(
        value=value,
        noise_std=np.where(sums.absent, np.inf, noise_std),
        sampling_std=np.sqrt(variance / (there if sums.part is None else there * sums.part)),
        clipping_std=_together(rounding_of(step, noise_std), hidden),
        rows=rows,
        warnings=(MISSING,) if sums.absent.any() else (),
        details={"bounds_only": True},
    )


def variance_within(curator: Searcher, *, rows: float, error_norm: float) -> Estimate:
    """Return the private variance (divided by n) of every column from its bounds.

    A first, rougher mean and variance stand in for missing values.

    Parameters
    ----------
    curator : Searcher
        With bounds on every column; all of its remaining budget is spent.
    rows : float
        Their number, or a private estimate of it.
    error_norm : float
        The p of the l_p error of the variances that is to be small, or `RELATIVE`.
    """
    sums = _Sums.of(curator, rows, error_norm)
    table, rows, unsure = sums.table, sums.rows, sums.unsure
    for_mean, for_first = _FIRST_SQUARES * table.remaining, _FIRST * table.remaining
    mean, rough, _ = sums.mean(sums.middle, for_mean)
    first = sums.variance(mean, sums.squares(mean, None, for_first))
    value, noise_std, step = sums.squares(mean, first, table.remaining)
    noise_std = np.hypot(noise_std, np.abs(value - sums.far(mean)) * unsure / rows)
    value = np.maximum(value - rough**2, 0.0)
    noise_std = np.hypot(noise_std, np.sqrt(2.0) * rough**2)
    hidden = sums.doubt * np.abs(value - sums.far(mean))
    # No square is larger than 2 far, so their squares' mean is at most 2 far times their mean.
    spread = np.sqrt(np.maximum(value * (2.0 * sums.far(mean) - value), 0.0))
    return Estimate(
        value=value,
        noise_std=np.where(sums.absent, np.inf, noise_std),
        sampling_std=spread / np.sqrt(rows if sums.part is None else rows * sums.part),
        clipping_std=_together(rounding_of(step, noise_std), hidden),
        rows=rows,
        warnings=(MISSING,) if sums.absent.any() else (),
        details={
            "bounds_only": True,
            "mean": mean.tolist(),
            "sampling": "at most, as for values at the bounds",
        },
    )


def _together(rounding: Floats | None, hidden: Floats) -> Floats | None:
    """Return the error of rounding, if it counts, and that of missing values which none shows."""
    if not hidden.any():
        return rounding
    return hidden if rounding is None else np.hypot(rounding, hidden)


def _counted(curator: Searcher, label: str) -> tuple[float, float]:
    """Return a private number of rows, at least 1, and its noise."""
    share = _COUNTED * curator.remaining
    counted = curator.measure(Count(curator.dimension), share=share, label=label)
    return max(1.0, float(counted.values[0])), counted.std


def _present(curator: Searcher, rows: float) -> tuple[Floats | None, Bools, float]:
    """Return what `find_present` does, and what part may be missing that counts do not show.

    Where rows are few, a cheap count would tell nothing of it.
    """
    one_row = math.sqrt(curator.dimension) / (curator.mu_of(1.0) * rows)
    share = curator.remaining * part_for(one_row, *_PRESENT)
    query = CountBelow(np.full(curator.dimension, np.inf))
    counted = curator.measure(query, share=share, label="present")
    part, absent = find_present(curator, rows, rows - counted.values, counted.std)
    return part, absent, _HIDDEN * counted.std / rows if part is None else 0.0


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums of values, and of their squares, over the rows.

    Attributes
    ----------
    table : Searcher
        As if no values were missing.
    rows, unsure : float
        Their number, and its noise.
    error_norm : float
    part : float64 array of shape (d,), optional
        Of each column's values that are there, where some are clearly missing.
    absent : bool array of shape (d,)
        Which columns are missing as good as all.
    doubt : float
        Part of the values that may be missing though counts do not show it, in root mean square.
    """

    table: Searcher
    rows: float
    unsure: float
    error_norm: float
    part: Floats | None
    absent: Bools
    doubt: float

    @classmethod
    def of(cls, curator: Searcher, rows: float, error_norm: float) -> _Sums:
        """Return the sums of a table; its rows are counted again where their number is private."""
        unsure = 0.0
        if curator.neighbors == "add-remove":  # few rows: how many is half of the matter
            rows, unsure = _counted(curator, "rows again")
        part, absent, doubt = _present(curator, rows)
        table = present_view(curator, rows, part)
        return cls(table, rows, unsure, error_norm, part, absent, doubt)

    @property
    def lower(self) -> Floats:
        """Lower bounds."""
        return bounds_of(self.table)[0]

    @property
    def upper(self) -> Floats:
        """Upper bounds."""
        return bounds_of(self.table)[1]

    @property
    def middle(self) -> Floats:
        """Of the bounds."""
        return 0.5 * self.lower + 0.5 * self.upper

    @property
    def half(self) -> Floats:
        """Of what the bounds are apart."""
        return 0.5 * self.upper - 0.5 * self.lower

    def mean(self, absent: Floats, share: float) -> tuple[Floats, Floats, Floats]:
        """Return the mean, its noise, and steps; `absent` stands in for missing values."""
        value, noise, step = centered_sum(
            self.table,
            self.middle,
            self.half,
            shape_of(self.half, self.error_norm),
            absent,
            share=share,
        )
        mean = np.clip(self.middle + value / self.rows, self.lower, self.upper)
        return mean, noise / self.rows, step

    def far(self, about: Floats) -> Floats:
        """Return half of the largest square of a deviation from there."""
        return np.asarray(0.5 * np.maximum(self.upper - about, about - self.lower) ** 2)

    def squares(
        self, about: Floats, absent: Floats | None, share: float
    ) -> tuple[Floats, Floats, Floats]:
        """Return the mean square of deviations from there, its noise, and steps."""
        far = self.far(about)
        total, noise, step = centered_sum(
            self.table,
            far,
            far,
            shape_of(far, self.error_norm),
            far if absent is None else absent,
            share=share,
            about=about,
        )
        return far + total / self.rows, noise / self.rows, step

    def variance(self, mean: Floats, squares: tuple[Floats, Floats, Floats]) -> Floats:
        """Return a variance that is possible within the bounds, and no less than noise hides."""
        value, noise, _ = squares
        most = (mean - self.lower) * (self.upper - mean)  # of values at two ends; others vary less
        return np.clip(value, np.minimum(0.5 * noise, most), most)
