"""The mean of rows in which most columns are nearly constant, such as baskets.

Such rows deviate to one side of the bulk. That has a price, and a prize.

The prize: two rows that deviate to the same side in every column are never opposite each
other. Clipped to norm C around the bulk, one row in another's place moves the sum by at
most sqrt(2) C instead of 2 C, so half the budget gives the same noise (`OneSidedSum`). Where
rows deviate to both sides, or one row more or less is to be hidden, they are clipped
around a first mean instead; or, if columns are not many, summed as any others are.

The price: clipping takes from their mean, more from some columns than from others
(`gains.py`). A gain likely for each is undone; the doubt that is left is a bias that each
radius has, beside its noise, and the radius of least expected error is taken.

The first mean has the same noise in all such columns: the popular ones stand far out of
it. What it was divided by, for rows that noise may hide, is in doubt in all alike. The second
is scaled by what the first one says. Each column's answer is their average, by what error is
expected of each, shrunk (`shrink.py`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prolate.arrays import Bools, Floats, Integers
from prolate.curator import Measurer, Searcher
from prolate.estimators.clipping.clipped_mean import clipped_mean
from prolate.estimators.clipping.gains import Gains, telling
from prolate.estimators.columns import SomeColumns
from prolate.estimators.estimate import FoundMean
from prolate.estimators.joined import scattered
from prolate.estimators.lengths.clip import clipped_sum
from prolate.estimators.search.first_mean import FirstMean, measure_lengths, view_of
from prolate.estimators.search.shape import Shape
from prolate.estimators.shrink import shrink
from prolate.theory import RELATIVE, optimal_scale

__all__ = ["mostly_rare_mean", "unsure", "with_rare_shrunk"]

_UNSURE = (
    "Most columns are nearly constant: what clipping removes from each is a guess{}, so the "
    "intervals of some columns may be too narrow."
)
_SHRUNK = ", and small means are shrunk towards each other"

_DIFFER = 0.5  # part of what clipping takes from a column by which that is in doubt
_AT_LEAST = 0.1  # of what clipping takes from all rows alike
_ALLOWED = 4.0  # times that, in intervals: what the gains leave is alike in many columns
_NEARLY_RELATIVE = 0.1  # a p whose error nearly is the product of all errors
_DROWNED = 3.0  # times more, where a column's mean is far below its noise
_EVERY = slice(None)
_LEAST_PART = 1e-4  # of the budget, for columns of rare values and for the others


def mostly_rare_mean(
    curator: Searcher, shape: Shape, first: FirstMean, error_norm: float
) -> FoundMean:
    """Return the mean where most columns are of rare values; the others by themselves."""
    size, apart = shape.spread, np.ones(shape.spread.size)
    if first.side is not None:  # rows are clipped around the bulk
        away = np.where(first.rare, shape.center - first.bulk, 0.0)
        size = np.hypot(size, away)
        apart = np.where(first.rare, 1.0, np.sqrt(2.0))  # a row from another, in its length
    scale = optimal_scale(size, error_norm)
    some, others = np.flatnonzero(first.rare), np.flatnonzero(~first.rare)
    parts = []
    if others.size:
        # With these shares of mu**2 the noise of both together is least.
        needs = apart ** (2.0 * error_norm / (error_norm + 2.0)) * (size / scale) ** 2
        part = float(needs[others].sum() / needs.sum())
        share = curator.remaining * min(max(part, _LEAST_PART), 1.0 - _LEAST_PART)
        view = SomeColumns(curator, others)
        sample = view if shape.sample is curator else SomeColumns(shape.sample, others)
        theirs = replace(shape.of(others), sample=sample)
        bulk = clipped_mean(view, theirs, scale[others], share=share, error_norm=error_norm)
        parts.append((others, bulk))
    rare = _rare_mean(
        view_of(curator, some),
        shape.of(some),
        first.of(some),
        scale[some],
        share=curator.remaining,
        error_norm=error_norm,
    )
    places, found = zip(*parts, (some, rare), strict=True)
    return replace(
        rare,
        value=scattered(places, [each.value for each in found]),
        noise_std=scattered(places, [each.noise_std for each in found]),
        clipping_std=scattered(places, [each.clipping_std for each in found]),
    )


def unsure(found: FoundMean) -> str:
    """Return the warning that goes with every such mean."""
    return _UNSURE.format(_SHRUNK if "shrunk_columns" in found.details else "")


def with_rare_shrunk(first: FirstMean, found: FoundMean, error_norm: float) -> FoundMean:
    """Return a mean, that of its columns of rare values shrunk towards their bulk."""
    rare, median = first.rare, error_norm < 2.0
    before = (found.value - first.bulk)[rare]
    moved = shrink(before, found.noise_std[rare], median=median)
    value = found.value.copy()
    value[rare] = first.bulk[rare] + moved
    return replace(found, value=value, details={**found.details, **_told(moved != before)})


def _told(shrunk: Bools) -> dict[str, int]:
    """Return what the details say of the columns that were shrunk, if any were."""
    return {"shrunk_columns": int(np.count_nonzero(shrunk))} if shrunk.any() else {}


def _rare_mean(
    curator: Measurer,
    shape: Shape,
    first: FirstMean,
    scale: Floats,
    *,
    share: float,
    error_norm: float,
) -> FoundMean:
    """Return the mean, with its noise before shrinking; all columns are of rare values."""
    bulk, side = first.bulk, first.side
    away = shape.center - bulk
    center = shape.center if side is None else bulk
    around = center - bulk
    # Around its mean, a column that is half here and half there has no bulk to deviate from.
    elsewhere = around**2 / np.maximum(around**2 + shape.spread**2, 1e-300)  # part of the rows
    size = np.hypot(shape.spread, away)
    gains = Gains(
        part=(size / first.step) ** 2,
        weight=(size / scale) ** 2,
        one_sided=np.maximum(1.0 - 2.0 * elsewhere, 0.0),
    )
    expected, share = measure_lengths(
        curator,
        shape.rows,
        center,
        np.hypot(shape.spread, away - around),
        scale,
        share=share,
        one_sided=side is not None,
    )

    drowned = _DROWNED / (1.0 + (away / first.noise) ** 2)
    doubted = np.abs(away) * (1.0 + drowned)
    guessed = first.lost * doubted
    before = _weight(first.noise, guessed)
    p = _NEARLY_RELATIVE if error_norm == RELATIVE else error_norm
    known = before + _weight(away, 0.0)  # by shrinking

    def bias(gain: Floats, even: float, of: Integers | slice = _EVERY) -> Floats:
        lost = 1.0 - gain - (1.0 - gains.one_sided[of]) * (1.0 - even)
        lost = np.maximum(lost, _AT_LEAST * (1.0 - even))  # how one-sided it is, is in doubt
        return np.asarray(_DIFFER * lost * doubted[of])

    some, stands = telling(np.abs(away) / first.noise)
    some_gains, some_scale, some_known = gains.of(some), scale[some], known[some]

    def error(radius: float) -> float:
        even, most = expected.mean_factor(radius), expected.long_factor(radius)
        noise = expected.noise * radius / even * some_scale
        weight = some_known + _weight(noise, bias(some_gains.at(even, most), even, some))
        return float(stands @ (1.0 / (np.sqrt(weight) * expected.unit)) ** p)

    radius = float(min(expected.norms.edges[: expected.cell + 1], key=error))
    total, noise = clipped_sum(curator, center, scale, radius, share=share, label="mean", side=side)
    even, most = expected.mean_factor(radius), expected.long_factor(radius)
    usual = gains.at(even, most)
    once = first.value - bulk
    moved = total / shape.rows + even * around  # from the bulk, or from the center
    doubt = np.hypot(np.hypot(first.noise, guessed), noise / shape.rows / usual)
    doubt = np.hypot(doubt, bias(usual, even))
    first_gain, gain = gains.likely(even, most, once, moved, doubt)

    earlier = bulk + once / first_gain
    noise = noise / shape.rows / gain
    biased = bias(gain, even)
    now = _weight(noise, biased)
    weight = now / (before + now)  # of the second
    value = (1.0 - weight) * earlier + weight * (bulk + moved / gain)
    noise = np.hypot((1.0 - weight) * first.noise, weight * noise)
    moved = shrink(value - bulk, noise, median=error_norm < 2.0)
    shrunk = bulk + moved
    # Gains are in doubt, and shrinking may be wrong by what it moved.
    clipping_std = np.hypot(_ALLOWED * biased, shrunk - value)
    details = {
        "radius": radius,
        "safe_radius": expected.safe,
        "mean_factor": even,
        "clipped_fraction": expected.norms.fraction_above(radius, shape.rows),
        **_told(moved != value - bulk),
        "one_sided": side is not None,
    }
    return FoundMean(shrunk, noise, details, clipping_std=clipping_std)


def _weight(noise: Floats, bias: Floats | float) -> Floats:
    """Return the inverse of the mean squared error."""
    return 1.0 / np.maximum(noise**2 + bias**2, 1e-300)
