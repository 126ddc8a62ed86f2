"""The covariance matrix of columns whose bounds are public: nothing is clipped.

In coordinates z = (x - center) / scale a row within the bounds is no longer than a public
number, so the Gram matrix of (b, z) needs no clip, and what it says is right for rows of any
shape: of flags and other rare values clipping would take most. Around the middle of its bounds
a flag is as far out as it can be in every row, and half as far as around a rare value.

1. A Gram matrix around the middles, in units of half the widths h, for a small share: it shows
   means and variances S.
2. Where what is found says that the rest of the budget tells more so than from clipped rows, which
   are longer than normal ones in proportion to h**2 / S, another one around centers between middles
   and means, in units of (h**2 S)**(1/4): best in Frobenius norm, and nearly so for each column.

The answer is the average of both, by inverse variance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.curator import Curator
from prolate.estimators.clipping.squares import squares_stretch
from prolate.estimators.covariance.matrix import Matrix
from prolate.estimators.covariance.moment import Standardized, gram_noise
from prolate.estimators.covariance.spectrum import shrunk_spectrum
from prolate.estimators.moments import SQUARABLE
from prolate.estimators.search.shape import Shape
from prolate.queries import Gram
from prolate.queries.gram import GRAM_RADIUS

__all__ = ["Within"]

_FIRST = 0.1  # share of the first matrix
_SEEN = 0.5  # of half a width, squared: more noise of a variance tells nothing
_CONSTANTS = np.geomspace(0.02, 8.0, 25)  # b**2 over that of the longest row, that are tried
_TOWARDS = np.linspace(0.0, 1.0, 5)  # means, from the middles
_CLEAR = 2.0  # standard deviations of a variance's noise
# Noise of variances by which nothing is won, over that of rows of length 1 times d, and of few
# columns; and over sampling errors.
_CLIPPED, _SEARCHED, _BESIDE = 3.6, 8.0, 0.3
_MARGIN = 1.0 + 1e-3
_PAIRS = 6  # of columns, at least, that tell by how much covariances differ from 0
_STRETCH = 0.02  # share of how much squares vary, of the rest


@dataclass(frozen=True, eq=False)
class _Found:
    """Means and covariances, and their noise, in the data's units.

    Attributes
    ----------
    mean : float64 array of shape (d,)
    value : float64 array of shape (d, d)
    variance : float64 array of shape (d, d)
        Of the noise of `value` off the diagonal; on it, twice as much.
    rows, unsure : float
        Their number, or the best private estimate of it, and its standard deviation.
    """

    mean: Floats
    value: Floats
    variance: Floats
    rows: float
    unsure: float

    @property
    def noise(self) -> Floats:
        """Of the variances."""
        return np.sqrt(2.0 * np.diag(self.variance))


@dataclass(frozen=True, eq=False)
class _Coordinates:
    """Center and scale of every column, the constant, and the longest row in these units."""

    center: Floats
    scale: Floats
    constant: float
    radius: float


@dataclass(frozen=True, eq=False)
class Within:
    """What a first matrix says of columns with public bounds."""

    curator: Curator
    found: _Found

    @classmethod
    def of(cls, curator: Curator, rows: float, unsure: float) -> Within | None:
        """Return it, for a tenth of the budget, or None where the bounds leave no hope.

        Parameters
        ----------
        curator : Curator
        rows, unsure : float
            Their number, or a private estimate of it, and its standard deviation.
        """
        if curator.bounds is None:
            return None
        half = 0.5 * curator.bounds[1] - 0.5 * curator.bounds[0]
        if not np.all((half > SQUARABLE[0]) & (half < SQUARABLE[1])):
            return None
        share = _FIRST * curator.remaining
        middle = curator.bounds[0] + half
        first = _coordinates(middle, half, middle, half)
        longest = first.radius**2 + first.constant**2
        if np.sqrt(2.0) * gram_noise(curator, rows, share) * longest > _SEEN:
            return None
        return cls(curator, _measure(curator, first, rows, unsure, share=share))

    def pays(self, shape: Shape | None = None, *, most: float = 0.0) -> bool:
        """Return whether the rest of the budget tells more within the bounds than otherwise.

        Parameters
        ----------
        shape : Shape, optional
            Of the columns, once they are searched.
        most : float
            Noise of the variances, over these, up to which it does so in any case.
        """
        if self.curator.are_flags:  # a clip takes rare values first
            return True
        d, rows = self.curator.dimension, self.found.rows
        beside = gram_noise(self.curator, rows, self.curator.remaining)
        at, spread = self._best()
        off = (self.found.mean - at.center) / at.scale
        longest = at.constant**2 + at.radius**2
        noise = beside * np.sqrt(2.0 * (1.0 + 2.0 * (off / at.constant) ** 2)) * longest
        clear = np.diag(self.found.value) > _CLEAR * self.found.noise
        if shape is None:
            relative = np.where(clear, noise * (at.scale / spread) ** 2, 1.0)
            most = max((_CLIPPED * d + _SEARCHED) * beside, _BESIDE * math.sqrt(2.0 / rows))
        else:
            likely = np.where(clear, spread, np.minimum(shape.spread, spread))
            relative = np.minimum(noise * (at.scale / likely) ** 2, 1.0)
            relative = relative[shape.varies]  # of others a search says nothing, either
        return bool(most > 0.0) and float(np.mean(relative) if relative.size else 0.0) < most

    def matrix(self) -> Matrix:
        """Return the covariance matrix, by what is left of the budget."""
        flags = self.curator.are_flags
        share = self.curator.remaining * (1.0 if flags else 1.0 - _STRETCH)
        found, (at, _) = self.found, self._best()
        again = _measure(self.curator, at, found.rows, found.unsure, share=share)
        return _matrix(self.curator, _average(found, again))

    def _best(self) -> tuple[_Coordinates, Floats]:
        """Return the best coordinates for the rest, and about how far columns are spread."""
        lower, upper = self.curator.bounds or (self.found.mean, self.found.mean)
        half = 0.5 * upper - 0.5 * lower
        square = np.maximum(np.diag(self.found.value), self.found.noise)
        spread = np.minimum(np.sqrt(square), half)
        mean = np.clip(self.found.mean, lower, upper)
        return _coordinates(lower + half, half, mean, np.sqrt(spread * half)), spread


def _coordinates(middle: Floats, half: Floats, mean: Floats, scale: Floats) -> _Coordinates:
    """Return the best center and constant for these scales.

    The two ends of the bounds are whole numbers of grid steps away from the center, so that
    flags are not rounded.
    """
    best = (math.inf, 0.0, 1.0, 1.0)
    for towards in _TOWARDS.tolist():
        away = towards * (mean - middle)
        square = float(np.sum(((half + np.abs(away)) / scale) ** 2))
        moved = (1.0 - towards) ** 2 * ((mean - middle) / scale) ** 2
        if towards == 0.0 and not np.any(moved):
            moved = np.full(half.size, 0.5)  # nothing is known yet
        for constant in (_CONSTANTS * square).tolist():
            noise = (square + constant) ** 2 * (1.0 + 2.0 * moved / constant)
            best = min(best, (float(np.mean(np.log(noise))), towards, constant, square))
    _, towards, constant, square = best
    radius = math.sqrt(square) * _MARGIN + math.sqrt(half.size) / GRAM_RADIUS * math.sqrt(square)
    unit = math.hypot(math.sqrt(constant), radius) / GRAM_RADIUS
    steps = np.maximum(np.rint(half / scale / unit), 1.0)
    scale = half / steps / unit
    center = middle + np.rint(towards * (mean - middle) / scale / unit) * unit * scale
    return _Coordinates(center, scale, math.sqrt(constant), radius)


def _measure(
    curator: Curator, at: _Coordinates, rows: float, unsure: float, *, share: float
) -> _Found:
    """Measure the Gram matrix in these coordinates, and return what it says."""
    query = Gram(at.center, at.scale, at.radius, at.constant)
    measured = curator.measure(query, share=share, label="covariance within bounds")
    whole = query.matrix(measured.values)
    own, beside = query.noise(measured.std)
    if unsure > 0.0:
        again, noise = float(whole[0, 0]) / at.constant**2, own / at.constant**2
        weight = unsure**2 / (unsure**2 + noise**2)
        rows = max((1.0 - weight) * rows + weight * again, 1.0)
        unsure *= noise / math.hypot(unsure, noise)
    noise, off = beside / rows, beside / rows / at.constant
    moved = whole[0, 1:] / (at.constant * rows)
    square = whole[1:, 1:] / rows
    value = square - np.outer(moved, moved)
    variance = noise**2 + off**2 * (moved[:, np.newaxis] ** 2 + moved**2)
    # Another number of rows would make the first larger, and the second more so.
    counted = (unsure / rows * (value - np.outer(moved, moved))) ** 2
    diagonal = np.diag_indices(moved.size)
    if curator.are_flags:  # they are their own squares
        part = at.center + at.scale * moved
        value[diagonal] = part * (1.0 - part) / at.scale**2
        tilt = ((1.0 - 2.0 * part) / at.scale) ** 2
        variance[diagonal] = 0.5 * tilt * off**2 + off**4
        counted[diagonal] = tilt * (moved * unsure / rows) ** 2
    value[diagonal] += off**2
    counted[diagonal] *= 0.5
    unit = np.outer(at.scale, at.scale)
    mean = at.center + at.scale * moved
    return _Found(mean, unit * value, unit**2 * (variance + counted), rows, unsure)


def _average(first: _Found, second: _Found) -> _Found:
    """Return the average of two, by inverse variance."""
    weight = first.variance / (first.variance + second.variance)
    return replace(
        second,
        value=(1.0 - weight) * first.value + weight * second.value,
        variance=weight * second.variance,
    )


def _matrix(curator: Curator, found: _Found) -> Matrix:
    """Return the matrix without what noise adds to it, and its sampling error."""
    variance, d = np.diag(found.value), found.mean.size
    square = np.maximum(variance, np.maximum(found.noise, SQUARABLE[0] ** 2))
    spread, clear = np.sqrt(square), variance > found.noise
    unit = np.outer(spread, spread)
    table = Standardized(curator, found.rows, found.mean, spread, variances=True)
    measured, noise = found.value / unit, found.variance / unit**2
    value = shrunk_spectrum(*_drawn(measured, noise, clear)).matrix
    # Variances were not drawn anywhere, and are best known.
    own = np.diag(value)
    clear &= own > 0.0
    times = np.sqrt(np.where(clear, variance / square, 1.0) / np.where(clear, own, 1.0))
    value = value * np.outer(times, times)
    if curator.are_flags:
        stretch, varied = _sampled_flags(np.clip(found.mean, 0.0, 1.0), spread, value)
    else:
        one = squares_stretch(curator, found.mean, square, rows=found.rows, share=curator.remaining)
        stretch, varied = _sampled(one, value)
    noise[np.diag_indices(d)] *= 2.0
    noise += (measured - value) ** 2  # what was drawn away may be there
    return Matrix(table, value, np.sqrt(noise), None, np.zeros(d), 0.0, stretch, varied)


def _drawn(value: Floats, variance: Floats, clear: Bools) -> tuple[Floats, Floats]:
    """Return covariances, drawn to 0 as far as noise makes them, and the variance that is left.

    Those of columns whose own variances are not clear of noise are all drawn to 0; of others, by
    what all of them differ from 0, or where one by itself stands out from noise, by less.
    """
    others = ~np.eye(len(value), dtype=np.bool_)
    known = others & np.outer(clear, clear)
    part = np.where(others, known.astype(np.float64), 1.0)
    if np.count_nonzero(known) >= 2 * _PAIRS:
        weight = 1.0 / variance[known] ** 2
        square = float(np.sum(weight * (value[known] ** 2 - variance[known])) / np.sum(weight))
        alike = max(square, 0.0) / (max(square, 0.0) + variance[known])
        alone = 1.0 - variance[known] / np.maximum(value[known] ** 2, variance[known])
        part[known] = np.maximum(alike, alone)
    return part * value, part**2 * variance


def _correlations(value: Floats) -> Floats:
    size = np.sqrt(np.outer(np.diag(value), np.diag(value)))
    r = np.divide(value, size, out=np.zeros_like(value), where=size > 0.0)
    np.fill_diagonal(r, 1.0)
    return np.clip(r, -1.0, 1.0)


def _sampled(stretch: float, value: Floats) -> tuple[Floats, Floats]:
    """Return what sampling errors are, over those of normal rows, and those of correlations.

    The product of two columns that vary together has the tail of a square, others have none. A
    correlation of values at both bounds varies by sqrt(1 - r**2), more than one of normal rows.
    """
    both = _correlations(value) ** 2
    of_covariances = np.sqrt((1.0 + both * (2.0 * stretch**2 - 1.0)) / (1.0 + both))
    return of_covariances, stretch * np.sqrt(1.0 - both)


def _sampled_flags(part: Floats, spread: Floats, value: Floats) -> tuple[Floats, Floats]:
    """Return the same of flags, from their means, spreads and covariances.

    For a standardized flag of skewness s, z**2 = 1 + s z: so all moments of two flags follow from
    their skewnesses and correlation, and the errors from these.
    """
    skew = (1.0 - 2.0 * part) / spread
    r, both = _correlations(value), np.outer(skew, skew)
    of_covariances = np.maximum(1.0 + both * r - r**2, 0.0)
    square = skew[:, np.newaxis] ** 2 + skew**2
    of_correlations = (1.0 + both * r) * (1.0 + 0.5 * r**2) - 0.75 * r**2 * (2.0 + square)
    np.fill_diagonal(of_correlations, 0.0)
    return (
        np.sqrt(of_covariances / (1.0 + r**2)),
        np.sqrt(np.clip(of_correlations, 0.0, 1.0 + square)),
    )
