"""Skewed columns among others: what clipping takes off each, told by its own tails.

Where rows are long by many columns, a skewed one makes few of them longer. The tilt (`tilt.py`)
hardly shows that, and yet clipping may take several times the noise off such a column's mean. Its
tails show it at little cost: of each value only what is farther than two spreads from the first
mean is summed. Of most values that is nothing; so the rows of this sum are short, and its noise is
small. A column whose tails differ is skewed, about as a log-normal one is: by how much is a mixture
over all columns, most of which are not, that expectation-maximization finds. So clipping takes off
the column what it would take off a log-normal one beside others that make rows as long as they are.
The likely part is given back, and intervals allow for the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.curator import Measurer
from prolate.estimators.clipping.tilt import Tilt
from prolate.estimators.lengths.expected import Expected, kept_parts
from prolate.estimators.moments import SQUARABLE
from prolate.estimators.search.shape import Shape
from prolate.neighbors import radii_apart
from prolate.queries import RADIUS, ClippedSum, Query, Selected

__all__ = ["ColumnTails", "measure_tails"]

_FEWEST = 8  # columns: of fewer, the tilt tells
_RULES = 0.25  # of the squared length of rows, by a single column: of it, the tilt tells, too
_START, _REACH = 2.0, 3.0  # where tails begin, in spreads, and how far they are summed at least
_NORMAL, _LONGER = 0.0115, 1.5  # square of a normal column's tails; times the length of a row's
_NOISE, _LEAST, _MOST = 0.025, 0.001, 0.03  # wanted noise of tails, in spreads; parts for it
_WORTH = 0.6  # of its error: what a skewed column may lose, at least
_SIGMA = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.15, 1.3, 1.5])
_TYPICAL = 1.0  # of these: that of such a column
_SURELY, _HARDLY = 2.5, 0.5  # standard deviations of a tilt; of that of such a column
_SYMMETRIC, _UNSURE = 0.85, 20.0  # of the columns, at first; columns' weight of that
_ROUNDS = 8
_QUARTILE = 0.6744897501960817  # of a normal column, whose spread is 1
_SIZES, _ALIKE = 4, 0.99  # of columns, that are worked out, unless all are alike
_BESIDE = 0.1  # of a row's length is its other columns', at least
_RARELY = 1e-2  # of the commonest length: others do not matter
_NODES, _FINE = 24, 1201  # values that stand for a normal column's, for smooth functions and others
_GIVEN = 1.15  # of sigma: what more skewed columns lose beyond that is not given back
_WRONG, _EACH = 0.7, 0.6  # of what log-normal columns lose: others lose more or less, and each does


@dataclass(frozen=True, eq=False)
class ColumnTails:
    """What the columns' tails show.

    Attributes
    ----------
    expected : Expected
        By how long the scaled rows are.
    index : int64 array of shape (k,)
        The columns that were asked.
    aside, either : float64 arrays of shape (k, sigmas)
        How likely each is to be skewed by so much: to the right less to the left, and to either
        side.
    times, wrong : float
        What columns lose, over what log-normal ones would, and how far off that may be.
    """

    expected: Expected
    index: Integers
    aside: Floats = field(repr=False)
    either: Floats = field(repr=False)
    times: float
    wrong: float
    _lost: dict[float, tuple[Floats, Floats]] = field(default_factory=dict, init=False, repr=False)

    def lost(self, radius: float) -> tuple[Floats, Floats]:
        """Return what clipping to a radius likely takes off each mean, and how unsure that is.

        In the data's unit.
        """
        if radius not in self._lost:  # asked for by several
            table = _lost(self.expected, self.index, radius, _SIGMA)
            given = _mean(self.aside, np.minimum(table, table[:, _SIGMA <= _GIVEN][:, -1:]))
            lost = _mean(self.aside, table)
            square = np.maximum(_mean(self.either, table**2), lost**2)
            apart = square - 2.0 * lost * given + given**2
            found = np.zeros((2, self.expected.spread.size))
            found[0, self.index] = self.times * given
            found[1, self.index] = np.sqrt(self.times**2 * apart + (self.wrong * given) ** 2)
            self._lost[radius] = found[0], found[1]
        return self._lost[radius]


def measure_tails(
    curator: Measurer,
    center: Floats,
    shape: Shape,
    expected: Expected,
    tilt: Tilt,
    *,
    radius: float,
    share: float,
) -> ColumnTails | None:
    """Return what the tails of columns show, if that matters; for a small part of a share of mu**2.

    Parameters
    ----------
    curator : Measurer
        Of all rows, or of a sample.
    center : float64 array of shape (d,)
        A first mean.
    shape : Shape
    expected : Expected
    tilt : Tilt
    radius : float
        What rows are likely clipped to.
    share : float
    """
    size = (expected.spread / expected.scale) ** 2
    asked = shape.varies & ~shape.unknown & ~shape.of_rare & (size < _RULES * np.sum(size))
    few, many = SQUARABLE
    asked &= (expected.spread > few) & (expected.spread < many) & (np.abs(center) < many)
    index = np.flatnonzero(asked)
    if index.size < _FEWEST:
        return None
    spread, scale = expected.spread[index], expected.scale
    noise = expected.noise * radius / expected.mean_factor(radius) * scale[index]
    error = np.hypot(noise, spread / math.sqrt(expected.rows))
    worth = _lost(expected, index, radius, np.array([_TYPICAL]))[:, 0] / error
    if np.median(worth) < _WORTH or _tilt_denies(expected, index, tilt):
        return None
    reach = max(_REACH, _LONGER * math.sqrt(_NORMAL * index.size))
    apart = radii_apart(curator.neighbors) * reach / shape.searched
    wanted = (apart / curator.mu_of(share) / _NOISE) ** 2
    share *= min(max(wanted, _LEAST), _MOST)
    query: Query = ClippedSum(
        np.zeros(index.size),
        spread,
        reach,
        lower=center[index] - _START * spread,
        upper=center[index] + _START * spread,
        beyond=True,
    )
    unit = reach / RADIUS / shape.searched
    if index.size < scale.size:
        query = Selected(query, index, scale.size)
    measured = curator.measure(query, share=share, label="column tails")
    # The sum is one of a sample of rows, too.
    long = np.maximum(np.abs(unit * measured.values), _NORMAL) * reach / shape.searched
    noise = np.sqrt((unit * measured.noise) ** 2 + long)
    likely = _mixture(unit * measured.values, noise, reach)
    aside, either = likely[:, :, 0] - likely[:, :, 1], likely[:, :, 0] + likely[:, :, 1]
    return ColumnTails(expected, index, aside, either, *_times(expected, index, aside, tilt))


def _tilt_denies(expected: Expected, index: Integers, tilt: Tilt) -> bool:
    """Return whether the tilt says well enough that no column is skewed."""
    unit = np.broadcast_to(expected.unit, expected.spread.shape)[index]
    typical = _weighed(expected, index, np.array([_TYPICAL]), tilt.measured)[:, 0] / unit
    most = np.abs(tilt.row[index]) + _SURELY * tilt.own[index]
    return bool(np.all(most < _HARDLY * typical))


def _times(expected: Expected, index: Integers, aside: Floats, tilt: Tilt) -> tuple[float, float]:
    """Return what columns lose, over what log-normal ones would, and how far off that may be.

    As their tilt is, over what it would be: where many columns are skewed, it tells. If values
    are bounded together, as shares of a whole are, rows are hardly longer by any of them.
    """
    unit = np.broadcast_to(expected.unit, expected.spread.shape)[index]
    foreseen = _mean(aside, _weighed(expected, index, _SIGMA, tilt.measured))
    foreseen = foreseen / unit / tilt.own[index]
    known = 1.0 / _WRONG**2 + float(np.sum(foreseen**2))
    times = (1.0 / _WRONG**2 + float(np.sum(foreseen * tilt.row[index] / tilt.own[index]))) / known
    return max(times, 0.0), math.hypot(1.0 / math.sqrt(known), _EACH)


def _mean(likely: Floats, table: Floats) -> Floats:
    """Return the means of a table's values of each column."""
    return np.asarray(np.einsum("ks,ks->k", likely, table))


def _skewed(sigma: Floats, normals: Floats) -> Floats:
    """Return values of log-normal columns of mean 0 and spread 1; (sigmas, normals)."""
    sigma = np.maximum(sigma, 1e-6)[:, np.newaxis]
    apart = np.exp(sigma * normals) - np.exp(0.5 * sigma**2)
    return _QUARTILE * apart / np.sinh(_QUARTILE * sigma)


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Return normal values, and their weights, for means of smooth functions (Gauss)."""
    normals, weight = np.polynomial.hermite_e.hermegauss(_NODES)
    return normals, weight / np.sum(weight)


@cache
def _shown(reach: float) -> Floats:
    """Return by how much tails of skewed columns differ; (sigmas, 2)."""
    normals = np.linspace(-6.0, 6.0, _FINE)
    density = np.exp(-0.5 * normals**2)
    values = _skewed(_SIGMA, normals)
    long = np.clip(np.abs(values) - _START, 0.0, reach) * np.sign(values)
    shown = np.maximum.accumulate(long @ density / np.sum(density))
    return np.stack([shown, -shown], axis=1)


def _mixture(differ: Floats, noise: Floats, reach: float) -> Floats:
    """Return how likely columns are to be skewed, whose tails differ by so much."""
    shown = _shown(reach)
    prior = np.full(shown.shape, (1.0 - _SYMMETRIC) / (shown.size - 2))
    prior[0] = 0.5 * _SYMMETRIC
    apart = (differ[:, np.newaxis, np.newaxis] - shown) / noise[:, np.newaxis, np.newaxis]
    fits = np.exp(0.5 * (np.min(apart**2, axis=(1, 2), keepdims=True) - apart**2))
    fits = fits.reshape(differ.size, -1)
    part = prior.ravel()
    for _ in range(_ROUNDS):
        likely = part * fits
        likely /= likely.sum(axis=1, keepdims=True)
        part = (_UNSURE * prior.ravel() + likely.sum(axis=0)) / (_UNSURE + differ.size)
    return np.asarray(likely.reshape(-1, *shown.shape))


def _lost(expected: Expected, index: Integers, radius: float, sigma: Floats) -> Floats:
    """Return what clipping takes off columns that are skewed, in the data's unit; (k, sigmas)."""
    kept = _weighed(expected, index, sigma, lambda length: kept_parts(radius, length))
    return -kept / expected.mean_factor(radius)


def _weighed(
    expected: Expected, index: Integers, sigma: Floats, weigh: Callable[[Floats], Floats]
) -> Floats:
    """Return means of skewed columns whose rows are weighed by length, as `_lost` does."""
    scale = expected.scale[index]
    size = expected.spread[index] / scale
    length, mass = expected.lengths
    often = mass > _RARELY * np.max(mass)
    length, mass = length[often], mass[often]
    normals, density = _nodes()
    values = _skewed(sigma, normals)
    few, many = float(size.min()), float(size.max())
    sizes = np.geomspace(few, many, _SIZES if few < _ALIKE * many else 1)
    means = np.empty((sigma.size, sizes.size))
    for j, each in enumerate(sizes.tolist()):
        others = np.sqrt(np.maximum(length**2 - each**2, (_BESIDE * length) ** 2))
        means[:, j] = (values * (weigh(np.hypot.outer(each * values, others)) @ mass)) @ density
    place = np.log(size)
    table = np.stack([np.interp(place, np.log(sizes), each) for each in means], axis=1)
    return expected.spread[index, np.newaxis] * table
