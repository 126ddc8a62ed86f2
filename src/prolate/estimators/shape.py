"""What must be known of the rows before they can be summed well: where, and how spread.

First each column's bulk (`locate`), then in turns a better center inside it
(`refine_center`) and the spread around that (`measure_scale`); columns that are nearly
constant are learned from their rare values (`rare.py`). What is public is not searched.
Where rows are many, a random sample of them is searched.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator, Measurer
from prolate.estimators.clip import fraction_radius, measure_norms
from prolate.estimators.columns import SomeColumns
from prolate.estimators.first_mean import FirstMean, are_mostly, first_mean
from prolate.estimators.locate import SCALES, Interval, locate
from prolate.estimators.magnitudes import find_magnitudes
from prolate.estimators.farthest import own_steps, with_farthest
from prolate.estimators.rare import common_side, common_spread, own_spread
from prolate.estimators.shares import Shares, count_rows, plan_shares, sample_rows
from prolate.estimators.shrink import shrink
from prolate.estimators.spread import LARGEST, SMALLEST, measure_scale
from prolate.queries import ClippedSum

__all__ = ["Shape", "learn_shape"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_CUT = 3.5  # spreads at which values are cut for the rough center
_ROUGH = 0.5  # radius of the rough mean, over the square root of d: normal rows' lengths
_ROUNDS = 3  # of center and spread, where the first is too rough
_ROUGHNESS = 0.35  # noise of a center, in spreads, that is good enough
_LENGTHS, _LONG = 0.1, 0.1  # share of the rows' lengths, and part of them that is clipped
_GIVEN = 0.1  # how rough a center is taken to be that was given
_RARE = 0.12  # part of the first mean of columns of rare values
_MOSTLY = 0.5  # of the columns
_FLOOR = 0.1  # least spread of a nearly constant column, over the other columns' average


@dataclass(frozen=True, eq=False)
class Shape:
    """What the searches found.

    Attributes
    ----------
    rows : float
        Their number, or a private estimate of it.
    sample : Curator
        Of the rows that were searched: all of them, or a random sample.
    center, spread : float64 arrays of shape (d,)
        Of every column.
    roughness : float
        Noise of the centers over the spreads, root mean square.
    shares : Shares
    warnings : tuple of str
    first : FirstMean, optional
        Taken where there are such columns.
    center_noise : float64 array of shape (d,), optional
        Of the centers, where they are private means of the searched rows.
    """

    rows: float
    sample: Curator
    center: Floats
    spread: Floats
    roughness: float
    shares: Shares
    warnings: tuple[str, ...] = ()
    first: FirstMean | None = None
    center_noise: Floats | None = None

    def of(self, index: Integers) -> Shape:
        """Return that of some columns, without a first mean."""
        center, spread = self.center[index], self.spread[index]
        return replace(self, center=center, spread=spread, first=None, center_noise=None)


def learn_shape(
    curator: Curator, *, center: Floats | None = None, scale: Floats | None = None
) -> Shape:
    """Return the number of rows, and the center and spread of every column.

    Parameters
    ----------
    curator : Curator
    center, scale : float64 arrays of shape (d,), optional
        Public centers and scales; what is given is not searched.
    """
    rows = count_rows(curator)
    sample = curator.sampled(sample_rows(curator), rows)
    few = rows * sample.fraction
    shares = plan_shares(sample, few)
    if center is not None and scale is not None:
        return Shape(rows, sample, center, scale, _GIVEN, shares)
    if center is not None:
        size = find_magnitudes(sample, few, share=shares.magnitude, center=center)
        nowhere = np.zeros(center.size, dtype=np.bool_)
        interval = Interval(
            center, size.largest, nowhere, size.found, size.farthest, np.zeros(center.size)
        )
        spread, _ = measure_scale(sample, few, interval, reach=0.0, share=shares.scale)
        spread = np.clip(spread, SMALLEST, LARGEST)
        warnings = _warnings(curator, shares, found=size.found)
        return Shape(rows, sample, center, spread, _GIVEN, shares, warnings)
    interval = locate(sample, few, magnitude_share=shares.magnitude, share=shares.location)
    if scale is not None:
        middle, noise = refine_center(
            sample, few, interval.center, interval.half / SCALES, share=shares.center
        )
        warnings = _warnings(curator, shares, found=interval.found)
        roughness = _roughness(noise, scale)
        return Shape(rows, sample, middle, scale, roughness, shares, warnings, center_noise=noise)
    return _search(curator, rows, sample, shares, interval)


def _search(
    curator: Curator, all_rows: float, sample: Curator, shares: Shares, interval: Interval
) -> Shape:
    """Find centers and spreads inside the columns' intervals."""
    rows = all_rows * sample.fraction
    center, spread = interval.center.copy(), interval.half / SCALES
    narrow, common, step, roughness = interval.narrow, 0.0, np.zeros(spread.size), 0.0
    center_noise = None
    if narrow.any():
        common, far, mixed = common_spread(sample, rows, interval, share=shares.rare)
        step = np.where(narrow, far, 0.0)
        if mixed:
            step = own_steps(sample, rows, interval.center, step)
    if not narrow.all():
        # Where most columns are narrow, the others are searched by themselves.
        mostly = np.mean(narrow) > _MOSTLY
        index = np.flatnonzero(~narrow) if mostly else np.arange(narrow.size)
        view = SomeColumns(sample, index) if mostly else sample
        part, reach = index.size / narrow.size, float(step.max())
        for _ in range(_ROUNDS):
            center[index], noise = refine_center(
                view,
                rows,
                center[index],
                spread[index],
                share=part * shares.center,
                crowded=shares.crowded,
            )
            seen, own = measure_scale(
                view, rows, interval.at(center, index), reach=reach, share=part * shares.scale
            )
            wide = ~narrow[index]
            if not mostly and not shares.crowded:
                center_noise = np.where(narrow, np.inf, noise)
            seen = np.maximum(seen, interval.least_spread[index])
            spread[index] = np.where(wide, seen, spread[index])
            roughness = _roughness(noise[wide], spread[index][wide])
            if roughness < _ROUGHNESS:
                break
        if wide.any() and not shares.crowded:
            spread[index] = with_farthest(view, rows, center[index], spread[index], among=wide)
        least = max(common, _FLOOR * float(np.sum(seen[wide])) / narrow.size)
        spread[index] = np.where(wide, spread[index], seen)
        spread = np.where(narrow, np.maximum(spread, least), spread)
        if mostly:
            spread[narrow] = least
        step[index] = np.where((own > 0.0) & (step[index] > 0.0), own, step[index])
    elif common > 0.0:
        spread = np.full(spread.size, common)
    spread = np.where(step > 0.0, np.minimum(spread, 0.5 * step), spread)
    # The bulk of a nearly constant column is known no better than to within its interval.
    spread = np.maximum(spread, np.where(narrow, interval.half / SCALES, 0.0))
    spread = np.clip(spread, SMALLEST, LARGEST)
    warnings = _warnings(curator, shares, found=interval.found)
    shape = Shape(all_rows, sample, center, spread, roughness, shares, warnings)
    if not step.any():
        return replace(shape, center_noise=center_noise)
    rare = step > 0.0
    bulk = np.where(rare, interval.center, np.nan)
    share = _RARE * curator.remaining
    side = None
    if curator.neighbors == "replace" and are_mostly(rare):
        side = common_side(curator, interval)
    first = first_mean(
        curator, all_rows, center, spread, bulk=bulk, step=step, side=side, share=share
    )
    away = np.zeros(spread.size)
    away[rare] = shrink((first.value - bulk)[rare], first.noise[rare], median=False)
    away = np.clip(away, -step, step)
    spread = np.clip(own_spread(away, first.noise, step, spread), SMALLEST, LARGEST)
    center = np.where(rare, interval.center + away, center)
    return replace(shape, center=center, spread=spread, first=first)


def _roughness(noise: Floats, spread: Floats) -> float:
    return float(np.sqrt(np.mean(np.minimum(noise / spread, 10.0) ** 2)))


def _warnings(curator: Curator, shares: Shares, *, found: bool) -> tuple[str, ...]:
    if not found:
        lost = (
            "The rows are too few for this budget to find even how large the values are: do not "
            "use these numbers. Bounds would help."
        )
        return (lost,)
    if shares.small:
        few = (
            f"The rows are few for this budget and {curator.dimension} columns: the searches' "
            f"counts are noisy by {100 * shares.count_error:.0f} % of the rows, so centers and "
            "scales are rough and intervals may be too narrow. More rows, fewer columns, a larger "
            "budget or bounds would help."
        )
        return (few,)
    return ()


def refine_center(
    curator: Measurer,
    rows: float,
    center: Floats,
    spread: Floats,
    *,
    share: float,
    crowded: bool = False,
) -> tuple[Floats, Floats]:
    """Return the mean of values cut to `_CUT` spreads around `center`, and its noise.

    Cutting each value by itself keeps a column whose center is far off from swallowing
    the others: such a column moves towards its values, and the others hardly notice.

    Where columns are too many for counts in each (`crowded`), the noise may be larger than
    the way to the mean. Then the rows' lengths are measured, not taken from the spreads, and
    the step is shortened by the part of it that is noise (James and Stein).
    """
    radius = np.sqrt(spread.size) + _ROUGH
    if crowded:
        for_lengths = _LENGTHS * share
        share -= for_lengths
        norms = measure_norms(
            curator, center=center, scale=spread, spread=spread, share=for_lengths
        )
        radius = min(radius, max(fraction_radius(norms, _LONG, rows), float(norms.edges[0])))
    reach = _CUT * spread
    query = ClippedSum(center, spread, radius, lower=center - reach, upper=center + reach)
    measured = curator.measure(query, share=share, label="center")
    moved, noise = query.unit * measured.values / rows, query.unit * measured.std / rows
    if crowded:
        explained = float(np.sum((noise / spread) ** 2))
        moved *= max(0.0, 1.0 - explained / float(np.sum((moved / spread) ** 2)))
    return center + np.clip(moved, -reach, reach), noise
