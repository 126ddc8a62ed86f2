"""Mean squared deviations, one column at a time, clipped so that most of a tail is kept.

The squares (x - m)**2 are summed around a private size of them, scaled, and clipped. Where rows are
far longer than sizes say, those of the columns that make them so are larger. Squares are long on
one side only, so what clipping takes is lost. The radius is no smaller than normal rows, or the
tail that is seen, allow (`square_radius.py`). A column with a longer tail than others counts for
less in a row's length, so that it is clipped where that is best for it (`square_tails.py`).

Spreads tell of a column's bulk, and squares are decided by its tail: so they are summed twice, and
the first sum, for a tenth of the budget, says how large they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.curator import Measurer
from prolate.estimators.clipping.square_radius import NORMAL_TAIL, square_radius
from prolate.estimators.clipping.square_tails import SquareTails, measure_square_tails
from prolate.estimators.lengths.beyond import Beyond, lost_part, stretch_beyond
from prolate.estimators.lengths.norms import MeasuredNorms, measure_norms
from prolate.estimators.moments import SQUARABLE
from prolate.estimators.search.longest import ALONE, longest_columns
from prolate.estimators.shares import one_row_noise, radius_part
from prolate.neighbors import rows_changed
from prolate.queries import ClippedSum
from prolate.theory import effective_columns, optimal_scale

__all__ = ["NORMAL", "Squares", "mean_squares", "squares_stretch"]

NORMAL = np.sqrt(2.0)
"""Standard deviation of (x - m)**2 over the variance, normal data."""

_RADIUS = 2.0  # times the share that a mean spends on norms: the tail is worth it
_LOOKS, _LEAST = 6.0, 0.3  # parts of what is left, for four looks and the sum; and that, at least
_LOST = 1.4  # of what is beyond the radius: squares are all on one side
# By how much farther few rows of one column are clipped than if they were normal, by the noise of a
# count over the rows: noise hides tails, and where it is large, more of it would cost too much.
_NOISE, _FARTHER = (1.0 / 1000.0, 1.0 / 250.0, 1.0 / 80.0, 1.0 / 40.0), (1.0, 1.9, 1.9, 1.0)
# What noise hides beyond: so many times a count's noise, of which this part of the rows is no
# matter; at most this part.
_HIDDEN, _FEW, _MOST_HIDDEN = 8.0, 1.0 / 500.0, 0.15
_FIRST = 0.1  # part of the share that tells sizes
_SURELY = 2.5  # standard deviations by which a column's two sums must differ
_FARTHER_BY = 0.5  # the root of how much farther one reaches, less one: taken to be that at least
_DIFFER = 0.5  # variance of what they are to be, over those before


@dataclass(frozen=True, eq=False)
class Squares:
    """Mean squared deviations, and what is known of their errors.

    Attributes
    ----------
    value, noise_std, clipping_std : float64 arrays of shape (d,)
        In squared units of the data.
    size : float64 array of shape (d,)
        About how large they are.
    stretch : float64 array of shape (d,)
        Of the sampling error, over that of normal rows of this size.
    radius : float
        What the scaled squares are clipped to.
    clipped : float
        About what part of the rows is.
    long : bool array of shape (d,)
        Which columns have longer tails than others.
    reach : float64 array of shape (d,)
        How large squares are that are clipped by themselves, over `size`.
    """

    value: Floats
    noise_std: Floats
    clipping_std: Floats
    size: Floats
    stretch: Floats
    radius: float
    clipped: float
    long: Bools
    reach: Floats

    def over(self, unit: Floats) -> Squares:
        """Return them in other units of each column."""
        return replace(
            self,
            value=self.value / unit,
            noise_std=self.noise_std / unit,
            clipping_std=self.clipping_std / unit,
            size=self.size / unit,
            reach=self.reach / unit,
        )


def mean_squares(
    curator: Measurer,
    mean: Floats,
    size: Floats,
    *,
    rows: float,
    share: float,
    error_norm: float,
    sample: Measurer | None = None,
    bulk: Floats | None = None,
    farther: float = 1.0,
) -> Squares:
    """Return the mean of (x - mean)**2 in every column, for a share of mu**2.

    Parameters
    ----------
    curator : Measurer
    mean, size : float64 arrays of shape (d,)
        Where the values are, and about how large the squares.
    rows, share : float
    error_norm : float
        The p of the l_p error that is to be small, or `RELATIVE`.
    sample : Measurer, optional
        Of the rows that say how large squares are; all by default.
    bulk : float64 array of shape (d,), optional
        About how large the squares of most values are, beside which tails are seen; `size` by
        default.
    farther : float
        Times the radius that is best for columns together: one may have a longer tail.
    """
    asked, before = curator if sample is None else sample, curator.remaining
    few = rows * asked.fraction
    noise = rows_changed(curator.neighbors) / curator.mu_of((1.0 - _FIRST) * share) / rows
    usual = size if bulk is None else bulk
    tails = measure_square_tails(asked, mean, usual, rows=few, share=share, noise=noise)
    share -= before - curator.remaining
    first = _summed(
        asked, mean, size, rows=few, share=_FIRST * share, error_norm=error_norm, tails=tails
    )
    size = _nearer(first)
    share = min((1.0 - _FIRST) * share, curator.remaining)
    last = _summed(
        curator,
        mean,
        size,
        rows=rows,
        share=share,
        error_norm=error_norm,
        tails=tails,
        farther=farther,
    )
    last = _with_own_tails(first, last, few if asked.fraction < 1.0 else math.inf)
    return _average(first, last) if asked.fraction == 1.0 else last


def _with_own_tails(first: Squares, last: Squares, few: float) -> Squares:
    """Return the last sum, allowing for what single columns surely lose: they lost more before.

    The tail of all rows says little of one column's, since others hide where it begins. But what
    its squares add as they reach farther is seen by itself; as much again is beyond, or less, as
    if that fell with the root of the reach. The first sum is of so few rows, if not of all.
    """
    varied = NORMAL * first.size * first.stretch / math.sqrt(few)
    doubt = np.sqrt(first.noise_std**2 + last.noise_std**2 + varied**2)
    more = last.value - first.value
    more = np.where(more > _SURELY * doubt, more, 0.0)
    farther = np.sqrt(np.maximum(last.reach / first.reach, 1.0))
    lost = more / np.maximum(farther - 1.0, _FARTHER_BY)
    return replace(last, clipping_std=np.hypot(last.clipping_std, lost))


def _nearer(found: Squares) -> Floats:
    """Return sizes, raised to squares found as far as these are known: smaller ones may be cut."""
    believed = _DIFFER / (_DIFFER + (found.noise_std / found.size) ** 2)
    return found.size + believed * np.maximum(found.value - found.size, 0.0)


def _average(first: Squares, last: Squares) -> Squares:
    """Return the average, by inverse mean squared error.

    What they differ by beyond their noise, the first has lost: it was clipped harder wherever
    squares are larger than they seemed.
    """
    before, here = first.noise_std**2, last.noise_std**2
    lost = np.maximum((last.value - first.value) ** 2 - 2.0 * (before + here), 0.0)
    weight = (before + lost) / (before + lost + here)  # of the last
    return replace(
        last,
        value=weight * last.value + (1.0 - weight) * first.value,
        noise_std=np.hypot(weight * last.noise_std, (1.0 - weight) * first.noise_std),
    )


def _summed(
    curator: Measurer,
    mean: Floats,
    size: Floats,
    *,
    rows: float,
    share: float,
    error_norm: float,
    tails: SquareTails,
    farther: float = 1.0,
) -> Squares:
    """Return what one sum of the squares says."""
    before = curator.remaining
    scale = optimal_scale(NORMAL * size, error_norm)
    effective = effective_columns(size, scale)
    few = rows_changed(curator.neighbors) * np.sqrt(effective) / curator.mu_of(share) / rows
    least = tails.reach / _usual_length(size / scale, few)
    scale = np.maximum(scale, least)
    part = min(_RADIUS * radius_part(curator, rows, effective, share), 0.3)
    norms = _lengths(curator, mean, size, scale, share=part * share, more=0)
    longer = _with_longest(curator, mean, size, scale, norms, rows)
    if longer is None:
        more = 3 if norms.apart == 0.0 else 2  # some of the share is spent
        look = part * share
        norms = _lengths(curator, mean, size, scale, share=look, more=more, known=norms)
    else:
        size, scale = longer, np.maximum(optimal_scale(NORMAL * longer, error_norm), least)
        effective = effective_columns(size, scale)
        left = max(share - (before - curator.remaining), _LEAST * share)
        norms = _lengths(curator, mean, size, scale, share=min(part * share, left / _LOOKS))
    share = min(max(share - (before - curator.remaining), 0.5 * share), curator.remaining)
    clipped = rows_changed(curator.neighbors) * np.sqrt(effective) / curator.mu_of(share)
    tail = square_radius(norms, size / scale, clipped, rows)
    counted = one_row_noise(curator, rows, before)
    if size.size == 1:
        farther = float(np.interp(math.log(counted), np.log(_NOISE), _FARTHER))
    tail = replace(tail, radius=farther * tail.radius)
    reach = np.maximum(tail.radius * optimal_scale(NORMAL * size, error_norm), tails.reach)
    query = ClippedSum(size, reach / tail.radius, tail.radius, about=mean)
    measured = curator.measure(query, share=share, label="variance")
    noise_std = query.unit * measured.noise / rows

    beyond = Beyond.of(norms, rows)
    normal = NORMAL * size / scale
    most = float(np.linalg.norm(normal))
    unseen = lost_part(beyond, tail.radius, float(np.max(noise_std / scale)), most, part=_LOST)
    seen = float(np.linalg.norm(tail.lost))
    hidden = max(counted - _FEW, 0.0) * _HIDDEN
    away = min(hidden, _MOST_HIDDEN) * reach / math.sqrt(size.size)
    lost = (max(1.0, unseen / seen) if seen > 0.0 else 1.0) * tail.lost * scale
    lost = np.maximum(lost, _LOST * tails.lost(reach))
    stretch = max(tail.stretch, stretch_beyond(beyond, tail.radius, normal))
    return Squares(
        value=size + query.unit * measured.values / rows,
        noise_std=noise_std,
        clipping_std=np.hypot(lost, away),
        size=size,
        stretch=np.maximum(stretch, tails.deviation / (NORMAL * size)),
        radius=tail.radius,
        clipped=norms.fraction_above(tail.radius, rows),
        long=tails.reach > 0.0,
        reach=reach,
    )


def _usual_length(size: Floats, part: float) -> float:
    """Return about what all but a part of rows of normal columns' squares are within."""
    farthest = NORMAL_TAIL * float(np.max(size)) * math.log(1.0 / min(part, 0.5))
    return math.hypot(float(np.linalg.norm(NORMAL * size)), farthest)


def squares_stretch(
    curator: Measurer, mean: Floats, size: Floats, *, rows: float, share: float
) -> float:
    """Return the sampling error of mean squares over that of normal rows, for a share of mu**2."""
    norms = _lengths(curator, mean, size, NORMAL * size, share=share, more=0)
    beyond = Beyond.of(norms, rows)
    return max(stretch_beyond(beyond, beyond.start, np.ones(size.size)), 1.0)


def _lengths(
    curator: Measurer,
    mean: Floats,
    size: Floats,
    scale: Floats,
    *,
    share: float,
    more: int = 3,
    known: MeasuredNorms | None = None,
) -> MeasuredNorms:
    return measure_norms(
        curator,
        center=size,
        scale=scale,
        spread=NORMAL * size,
        share=share,
        about=mean,
        more=more,
        known=known,
    )


def _with_longest(
    curator: Measurer,
    mean: Floats,
    size: Floats,
    scale: Floats,
    norms: MeasuredNorms,
    rows: float,
) -> Floats | None:
    """Return larger sizes of columns whose squares alone make rows far longer; None if none do."""
    apart, norm = norms.beyond_gap
    if not apart or size.size == 1:
        return None
    beyond = np.sqrt(size + ALONE * norm * scale)
    far, part = longest_columns(curator, rows, mean, beyond=beyond, part=apart / rows)
    likely = np.minimum(far, SQUARABLE[1]) ** 2 * part
    return np.maximum(size, likely) if np.any(likely > size) else None
