"""Means of columns that may be alike, drawn towards each other as far as they are.

The means of gradients, embeddings, residuals or standardized values are all near the same number;
those of ages and incomes are not. Noisy means themselves tell which: if they differ by no more
than their noise and sampling explain, most of what they differ by is noise. So each is drawn
towards what all have in common, by the part that is likely noise (James and Stein 1961; Efron and
Morris 1975). Around the common center, means are taken to be normal, with standard deviations of
1, 2, 4, ... times their sampling error, each in a part of the columns, which
expectation-maximization finds (as Stephens 2017): so a column that is far from the others stays
where it is, and nothing is moved where columns are unlike. It is arithmetic on noisy measurements,
in units in which squares are floats.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from prolate.arrays import Bools, Floats, Integers
from prolate.estimators.estimate import Estimate, FoundMean

__all__ = ["Pooled", "pool", "with_columns_pooled"]

Found = TypeVar("Found", Estimate, FoundMean)

_FEWEST = 8  # columns: fewer hardly tell whether they are alike
_NOTICED = 0.1  # of the sampling error, that noise must be somewhere
_LEVELS = 42  # of the mixture, at most: what is farther out is no part of it
_UNITS, _DROWNED = 1e60, 1e6  # that others may be larger or smaller; noise over sampling error
_UNSURE = 3.0  # columns' weight, spread over the mixture
_CAREFUL = 8.0  # over their number: part by which what is lost is stated larger, for few
_DRAWN = 0.95  # of its error is left in a column that is said to be drawn
_MOVES, _ROUNDS = 3, 8  # of the center, and of the weights around each
_MOST = 4096  # columns that tell of all


@dataclass(frozen=True, eq=False)
class Pooled:
    """Means that are drawn towards each other.

    Attributes
    ----------
    value : float64 array of shape (d,)
    noise : float64 array of shape (d,)
        Standard deviation of what is left of the noise.
    bias : float64 array of shape (d,)
        Standard deviation of what is likely lost of their own distance from the others.
    columns : int
        Of how many the error is smaller by a twentieth or more.
    """

    value: Floats
    noise: Floats
    bias: Floats
    columns: int = 0


def pool(value: Floats, noise: Floats, sampling: Floats, which: Bools) -> Pooled:
    """Return means as they likely are, beside those of other columns.

    Parameters
    ----------
    value, noise : float64 arrays of shape (d,)
        Means, and the standard deviations of their noise.
    sampling : float64 array of shape (d,)
        Standard deviations of the sampling error: means of rows are hardly ever nearer to each
        other.
    which : bool array of shape (d,)
        Columns that may be like others; the rest stay as they are.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> alike = 5.0 + 0.1 * rng.standard_normal(100)
    >>> noise, sampling = np.full(100, 0.3), np.full(100, 0.1)
    >>> noisy = alike + 0.3 * rng.standard_normal(100)
    >>> pooled = pool(noisy, noise, sampling, np.ones(100, dtype=bool))
    >>> bool(np.std(pooled.value - alike) < 0.4 * np.std(noisy - alike))
    True
    """
    stays = Pooled(value, noise, np.zeros_like(noise))
    index, unit = _comparable(value, noise, sampling, which)
    if index.size < _FEWEST:
        return stays
    y, v, s = value[index] / unit, (noise[index] / unit) ** 2, (sampling[index] / unit) ** 2
    common = _Common.of(y, v, s)
    inside = np.flatnonzero(common.holds(y, s))
    pooled = Pooled(value.copy(), noise.copy(), stays.bias)
    for start in range(0, inside.size, _MOST):
        part = inside[start : start + _MOST]
        drawn = common.drawn(y[part], v[part], s[part])
        for whole, those in zip((pooled.value, pooled.noise, pooled.bias), drawn, strict=True):
            whole[index[part]] = unit * those
    pooled.bias[index] *= 1.0 + _CAREFUL / index.size
    nearer = np.hypot(pooled.noise, pooled.bias) < _DRAWN * noise
    return replace(pooled, columns=int(np.count_nonzero(nearer)))


def _comparable(
    value: Floats, noise: Floats, sampling: Floats, which: Bools
) -> tuple[Integers, float]:
    """Return columns whose squares are floats in a unit, and the unit; none if noise is small."""
    none = np.zeros(0, dtype=np.int64), 1.0
    with np.errstate(all="ignore"):
        ratio = noise / sampling
        which = which & np.isfinite(value) & (noise > 0.0) & (ratio > 0.0) & (ratio < _DROWNED)
        if not which.any() or np.max(ratio[which]) < _NOTICED:
            return none
        unit = float(np.ldexp(1.0, np.frexp(np.median(noise[which]))[1]))  # a power of 2: exact
        each = noise / unit
        which &= (each > 1.0 / _UNITS) & (each < _UNITS) & (np.abs(value / unit) < _UNITS)
        which &= ratio > 1.0 / _UNITS
    return np.flatnonzero(which), unit


def with_columns_pooled(
    found: Found, sampling: Floats, which: Bools, *, center: Floats | None = None
) -> Found:
    """Return what was found of each column, with those drawn towards each other that are alike.

    Parameters
    ----------
    found : Estimate or FoundMean
    sampling : float64 array of shape (d,)
        Standard deviations of the sampling error.
    which : bool array of shape (d,)
        Columns that may be like others.
    center : float64 array of shape (d,), optional
        Public centers: what columns are off by may be alike.
    """
    if found.noise_std is None:
        return found
    away = found.value if center is None else found.value - center
    pooled = pool(away, found.noise_std, sampling, which)
    if pooled.value is away:
        return found
    details = {"pooled_columns": pooled.columns} if pooled.columns else {}
    lost = 0.0 if found.clipping_std is None else found.clipping_std
    return replace(
        found,
        value=found.value + (pooled.value - away),
        noise_std=pooled.noise,
        clipping_std=np.hypot(lost, pooled.bias),
        details={**found.details, **details},
    )


@dataclass(frozen=True, eq=False)
class _Common:
    """What columns have in common.

    Attributes
    ----------
    center, doubt : float
        Around which their means are, and the variance of what it is off by.
    part : float64 array of shape (k,)
        Of the columns, whose means are 1, 2, 4, ... sampling errors from it.
    """

    center: float
    doubt: float
    part: Floats

    @classmethod
    def of(cls, value: Floats, noise_square: Floats, sampling_square: Floats) -> _Common:
        """Return what is likely of columns, given variances of their noise and sampling."""
        size = np.sqrt(sampling_square)
        far = np.abs(value - np.median(value)) / size
        some = np.unique(np.append(np.arange(0, value.size, -(-value.size // _MOST)), far.argmax()))
        value, noise_square, sampling_square = (
            value[some],
            noise_square[some],
            sampling_square[some],
        )
        order, weight = np.argsort(value), 1.0 / (noise_square + sampling_square)
        below = np.cumsum(weight[order])
        center = float(value[order[np.searchsorted(below, 0.5 * below[-1])]])
        farthest = float(np.max(np.abs(value - center) / np.sqrt(sampling_square)))
        levels = int(np.clip(np.ceil(np.log2(max(farthest, 1.0))) + 1, 2, _LEVELS))
        common = cls(center, 0.0, np.full(levels, 1.0 / levels))
        for _ in range(_MOVES):
            common = common._moved(value, noise_square, sampling_square)
        return common

    def holds(self, value: Floats, sampling_square: Floats) -> Bools:
        """Return which columns are no farther out than the last level."""
        return np.asarray(
            np.abs(value - self.center) <= 2.0**self.part.size * np.sqrt(sampling_square)
        )

    def _moved(self, value: Floats, noise_square: Floats, sampling_square: Floats) -> _Common:
        """Return it after some rounds of expectation-maximization."""
        total, part = noise_square[:, np.newaxis] + self._variances(sampling_square), self.part
        likelihood = self._likelihood(value, total)
        for _ in range(_ROUNDS):
            before, each = part, 1.0 / (likelihood @ part)
            part = before * (each @ likelihood) + _UNSURE / part.size
            part /= part.sum()
        weight = each * ((likelihood / total) @ before)
        return _Common(float(np.average(value, weights=weight)), 1.0 / float(weight.sum()), part)

    def _variances(self, sampling_square: Floats) -> Floats:
        return np.asarray(np.multiply.outer(sampling_square, 4.0 ** np.arange(self.part.size)))

    def _likelihood(self, value: Floats, total: Floats) -> Floats:
        """Return each level's likelihood of each column, over that of the likeliest."""
        logs = -0.5 * ((value - self.center) ** 2)[:, np.newaxis] / total - 0.5 * np.log(total)
        return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))

    def drawn(
        self, value: Floats, noise_square: Floats, sampling_square: Floats
    ) -> tuple[Floats, ...]:
        """Return posterior means, the noise that is left in them, and the rest of their error."""
        own = self._variances(sampling_square)
        total = noise_square[:, np.newaxis] + own
        likely = self._likelihood(value, total) * self.part
        likely /= likely.sum(axis=1, keepdims=True)
        each = own / total  # is kept, at each level
        kept = (likely * each).sum(axis=1)
        away = value - self.center
        left = kept**2 * noise_square
        spread = (likely * (each - kept[:, np.newaxis]) ** 2).sum(axis=1)
        error = kept * noise_square + spread * away**2 + (1.0 - kept) ** 2 * self.doubt
        return self.center + kept * away, np.sqrt(left), np.sqrt(np.maximum(error - left, 0.0))
