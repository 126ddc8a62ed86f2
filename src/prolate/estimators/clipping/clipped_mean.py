"""The mean of rows that are clipped as it is best for them: steps 3 to 5 of `mean.py`.

Where rows are many, all but the last sum is asked of a sample of them. Its mean is no nearer to
that of all rows than sampling allows: it is what they are clipped around, for a small part of the
budget. Otherwise the first mean counts too, and so does the center that the searches found: the
answer is their average, weighted by what error is expected of each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurer, Searcher
from prolate.estimators.clipping.allowance import allowance_of_mean
from prolate.estimators.clipping.averages import Answer, average, with_center
from prolate.estimators.clipping.balance import SHARE, Balance, measure_balance
from prolate.estimators.clipping.column_tails import measure_tails
from prolate.estimators.clipping.first_look import expected_lengths
from prolate.estimators.clipping.long_columns import long_columns, means_apart
from prolate.estimators.clipping.loss import Loss
from prolate.estimators.clipping.tilt import (
    Tilt,
    counted_tilt,
    if_symmetric,
    measure_tilt,
    tilt_part,
)
from prolate.estimators.estimate import FoundMean
from prolate.estimators.lengths.clip import clipped_sum, rounding_std
from prolate.estimators.lengths.expected import Expected, Radii
from prolate.estimators.lengths.interval import interval_mean, reaches
from prolate.estimators.lengths.norms import MeasuredNorms
from prolate.estimators.lengths.one_column import OneColumn, rooms_within
from prolate.estimators.moments import MOMENTS, measure_variation
from prolate.estimators.search.shape import Shape
from prolate.estimators.shares import radius_part
from prolate.parallel import computed_once
from prolate.theory import effective_columns, error_unit

__all__ = ["clipped_mean"]

_MOST_TILT = 0.2  # part of a sum's budget that tells whether rows are symmetric, at most
_MORE_TILT = 1.0, 1.5, 2.2, 3.3, 5.0, 7.5, 11.0, 16.0  # times its usual share
_RISES = 1.01  # an error that is larger than the least is not followed by a smaller one
_HARDEST = 0.9  # least mean factor
_NEAR = 0.5  # of a radius: a public bound that is nearer cuts one side off
_FIRST = 0.12  # part of the first mean, ...
_FIRST_OF_SAMPLE = 0.02  # ... or of a sample's


def clipped_mean(
    curator: Measurer,
    shape: Shape,
    scale: Floats,
    *,
    share: float,
    error_norm: float,
    norms: MeasuredNorms | None = None,
    table: Searcher | None = None,
) -> FoundMean:
    """Return the mean, for a share of mu**2.

    Parameters
    ----------
    curator : Measurer
    shape : Shape
    scale : float64 array of shape (d,)
        What deviations are divided by before rows are clipped.
    share : float
    error_norm : float
        The p of the l_p error that is to be small.
    norms : MeasuredNorms, optional
        What a first look at the lengths of the rows that are searched showed.
    table : Searcher, optional
        The curator, if some of its columns may be summed by themselves (`long_columns.py`).
    """
    sample = shape.sample
    effective, others = effective_columns(shape.spread, scale), max(curator.remaining - share, 0.0)
    for_tilt, for_variation = tilt_part(effective) * share, MOMENTS * share

    # Step 3.
    expected, for_sums = expected_lengths(
        curator,
        shape,
        scale,
        for_radius=radius_part(sample, shape.searched, effective) * share,
        share=share - for_tilt - for_variation,
        known=norms,
        unit=np.max(shape.spread) * error_unit(scale, error_norm),
    )
    # Rows of rare values may be so far out, and so few, that the noise of the lengths hides them.
    many, far = (0.0, 0.0) if shape.first is None else shape.first.far(shape.rows, scale)
    hidden = far if far > expected.safe and many > expected.clipped else 0.0
    rows = _Rows(curator, shape, expected, share=for_sums, others=others, hidden=hidden)

    # Step 4.
    first = rows.first_mean()
    tilt, balance = rows.tilt(first, for_tilt)
    loss = Loss(expected, tilt)

    # Step 5.
    left = rows.left_of_center(first)

    def bias_square(radius: Radii) -> Radii:
        skewed = loss.doubt_square(radius)
        if balance is not None:
            skewed = np.maximum(skewed, balance.bias_square(radius))
        return skewed + left * expected.cut(radius) ** 2

    radius = max(expected.best_radius(bias_square), hidden)
    if table is not None and scale.size > 1 and not hidden:
        last = rows.share_of_last
        long = long_columns(table, shape, expected, tilt, radius=radius, share=last)
        if long is not None:

            def mean_of(others: Searcher, theirs: Shape, scale: Floats) -> FoundMean:
                return clipped_mean(others, theirs, scale, share=1.0, error_norm=error_norm)

            around = replace(shape, center=first.value, center_noise=first.noise, first=None)
            return means_apart(table, around, expected, long, share=rows.left, others=mean_of)
    if not loss.foreseen:
        tails = measure_tails(
            sample, first.value, shape, expected, tilt, radius=radius, share=share
        )
        loss = replace(loss, tails=tails)
    variation = measure_variation(
        sample,
        shape.searched,
        first.value,
        shape.spread,
        scale,
        noise=expected.noise
        * radius
        / expected.mean_factor(radius)
        / np.sqrt(sample.fraction)
        * scale,
        safe=expected.safe,
        share=for_variation,
    )
    if balance is not None:
        rooms = rooms_within(sample.bounds, first.value, shape.spread)
        near = min(rooms) * shape.spread[0] < _NEAR * radius * scale[0]
        if tilt.clear or balance.clear or near:
            return interval_mean(
                OneColumn(curator, expected.rows, first.value, shape.spread, rooms),
                expected,
                variation,
                share=rows.left,
                known=balance.sides if sample is curator else None,
            )
    value, noise_std, bias = rows.last_mean(first, radius, loss, bias_square)
    allowed = allowance_of_mean(loss, bias=bias, radius=radius)
    return FoundMean(
        value,
        noise_std,
        {
            "stretch": allowed.stretch,
            "unseen_rows": expected.norms.unseen,
            "radius": radius,
            "safe_radius": expected.safe,
            "mean_factor": expected.mean_factor(radius),
            "clipped_fraction": expected.norms.fraction_above(radius, shape.rows),
        },
        variation=variation.over_spread(allowed.stretch),
        clipping_std=np.hypot(allowed.clipping_std, rounding_std(scale, max(first.radius, radius))),
        guessed=allowed.guessed,
        hidden=expected.norms.hidden or expected.norms.apart > 0.0,
        unseen_rows=expected.norms.unseen,
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """What is summed in steps 4 and 5.

    Attributes
    ----------
    curator : Measurer
    shape : Shape
    expected : Expected
        By how long the scaled rows are.
    share, others : float
        Of mu**2: for both sums, and what is to be left for others.
    hidden : float
        How far out rows are known to be that noise hides; 0 if there are none.
    """

    curator: Measurer
    shape: Shape
    expected: Expected
    share: float
    others: float
    hidden: float

    @property
    def sample(self) -> Measurer:
        """The rows that are searched: a random sample of them, or the curator itself."""
        return self.shape.sample

    @property
    def _part_of_first(self) -> float:
        return _FIRST if self.sample is self.curator else _FIRST_OF_SAMPLE

    @property
    def share_of_last(self) -> float:
        """Share of mu**2 for the last sum, as far as it is known before that."""
        return min((1.0 - self._part_of_first) * self.share, self.left)

    @property
    def left(self) -> float:
        """Share of mu**2 that is left for it."""
        return self.curator.remaining - self.others

    @computed_once
    def _rough(self) -> float:
        """Squared length, along a row, of what the searched center is off by."""
        return self.expected.off_square(self.shape.center_off)

    def first_mean(self) -> Answer:
        """Return a mean that is not clipped as hard as symmetric rows would allow."""
        expected, rough = self.expected, self._rough
        symmetric = expected.best_radius(lambda radius: rough * expected.cut(radius) ** 2)
        careful = expected.norms.nearest_edge(np.sqrt(symmetric * expected.safe))
        radius = max(careful, self.hidden)
        share = min(self._part_of_first * self.share, self.sample.remaining)
        total, noise = clipped_sum(
            self.sample,
            self.shape.center,
            expected.scale,
            radius,
            share=share,
            label="first mean",
        )
        kept = self.shape.searched * expected.mean_factor(radius)
        return Answer(self.shape.center + total / kept, noise / kept, radius)

    def off(self, first: Answer) -> Floats:
        """Return the standard deviations of the first mean from that of all rows."""
        noise = np.minimum(first.noise, self.shape.spread)
        if self.sample is self.curator:
            return noise
        return np.asarray(np.hypot(noise, self.shape.spread / np.sqrt(self.shape.searched)))

    def left_of_center(self, first: Answer) -> float:
        """Return the squared length, along a row, of what the first mean is off by.

        By its noise, and by what clipping left of the searched center's.
        """
        expected = self.expected
        return expected.off_square(self.off(first)) + self._rough * expected.cut(first.radius) ** 2

    def tilt(self, first: Answer, least: float) -> tuple[Tilt, Balance | None]:
        """Return how far rows are from symmetric, for a share of mu**2, `least` or more."""
        off, about = self.off(first), (self.sample, first.value, self.expected)
        share = self.share_of_tilt(first, least)
        if first.value.size > 1 or not reaches(self.expected):
            return measure_tilt(*about, share=share, rows=self.shape.searched, off=off), None
        balance = measure_balance(
            *about, share=max(SHARE * self.share, share), rows=self.shape.searched
        )
        return counted_tilt(balance, off=off), balance

    def share_of_tilt(self, first: Answer, least: float) -> float:
        """Return a share of mu**2 for the tilt, `least` or more.

        Symmetric rows may be clipped harder, the more precisely it is known that they are. Where
        few columns rule or lengths vary little, that gains nothing. And if rows are skewed, which
        is as likely, a larger share is lost: so the mean of both cases' errors is to be least, of
        their logarithms.
        """
        expected = self.expected
        left, off = self.left_of_center(first), self.off(first)
        tried = expected.norms.edges[: expected.cell + 1]
        tried = tried[expected.mean_factor(tried) > _HARDEST]
        noise = expected.noise_square * (tried / expected.mean_factor(tried)) ** 2
        fixed = expected.fluctuation_square(tried) + left * expected.cut(tried) ** 2

        def error(share: float) -> float:
            tilt = if_symmetric(
                self.sample, expected, share=share, rows=self.shape.searched, off=off
            )
            kept = 1.0 - (share - least) / self.share_of_last
            bias = Loss(expected, tilt).doubt_square(tried)
            return float(np.min(noise / kept + fixed + bias)) / kept

        shares = [least * times for times in _MORE_TILT if least * times <= _MOST_TILT * self.share]
        if len(shares) < 2 or not tried.size:
            return least
        best, lowest = least, error(least)
        for share in shares[1:]:
            here = error(share)
            if here > _RISES * lowest:
                break
            best, lowest = (share, here) if here < lowest else (best, lowest)
        return best

    def last_mean(
        self, first: Answer, radius: float, loss: Loss, bias_square: Callable[[float], float]
    ) -> tuple[Floats, Floats, float]:
        """Return a mean of rows clipped around the first, its noise, and the length of its bias.

        What clipping likely takes is given back. Of the same rows, earlier answers count, too.
        """
        total, noise = clipped_sum(
            self.curator,
            first.value,
            self.expected.scale,
            radius,
            share=self.left,
            label="mean",
        )
        kept = self.shape.rows * self.expected.mean_factor(radius)
        mean = Answer(first.value + total / kept + loss.lost(radius), noise / kept, radius)
        if self.sample is not self.curator:
            return mean.value, mean.noise, np.sqrt(bias_square(radius))
        first = replace(first, value=first.value + loss.lost(first.radius))
        value, noise, bias = average(first, mean, self.expected.unit, bias_square)
        if self.shape.center_noise is not None:
            value, noise = with_center(value, noise, self.shape.center, self.shape.center_noise)
        return value, noise, bias
