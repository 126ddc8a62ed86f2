"""Columns whose squares reach farther than others': which, and where each is best clipped.

Squares are clipped by rows, at a length that suits most columns. A column with a longer tail loses
much of its variance there, though hardly any row is longer by it. But rows tell in which column
they are farthest out, and in which octave (`FarthestHistogram`): for the price of one count, that
shows all such tails, as far as many rows make them up. How they go on is a mixture of tails as
columns have them; most columns have none, and how many do is told by all of them
(expectation-maximization).

Such a column is best clipped where noise is as large as what is lost beyond. So its squares count
for less in a row's length, and its noise is larger, by as much; the others' is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.curator import Measurer
from prolate.estimators.lengths.curves import integrals
from prolate.queries import FarthestHistogram

__all__ = ["SquareTails", "measure_square_tails"]

_START = 4.0  # spreads: where tails begin
_OCTAVES = 12
_PART = 0.05  # of a share
_MOST_COLUMNS = 1 << 14
# Tails as columns have them: how many values of a thousand are in them, power and bend. k octaves
# on, they have fallen to 2**-(power k + bend k**2).
_TAILS = {
    "log-normal, sigma .3 to .85": (
        *((2.4, 5.1, 2.9), (5.7, 3.7, 1.3), (8.3, 2.9, 0.69), (9.5, 2.5, 0.48)),
    ),
    "log-normal, sigma 1 to 2": (
        *((9.9, 2.2, 0.36), (9.4, 2.0, 0.25), (7.3, 1.7, 0.16), (3.4, 1.5, 0.09)),
    ),
    "gamma, 4 to .3": ((2.3, 3.9, 5.6), (6.7, 2.9, 2.9), (9.9, 2.4, 2.1), (12.0, 2.1, 1.6)),
    "Student, 2.5 to 5": ((5.8, 2.5, 0.01), (6.2, 2.9, 0.03), (4.8, 3.7, 0.08), (3.6, 4.5, 0.14)),
    "Pareto, 2.5 to 4": ((6.2, 2.0, 0.09), (8.2, 2.1, 0.15), (9.3, 2.4, 0.27)),
    "Weibull, .5 and .7": ((11.6, 1.9, 0.54), (10.7, 2.4, 1.2)),
    "a tenth log-normal, .5 to 1.5": ((15.2, 2.8, 1.2), (10.3, 1.7, 0.31), (4.7, 1.4, 0.14)),
    "three in a hundred": ((17.2, 1.1, 1.1), (7.7, 1.2, 0.29), (3.1, 1.1, 0.14)),
}
_ENDS_AT, _BENDS = np.arange(1, 6), np.array([0.5, 1.0, 3.0])  # octaves; of tails that end there
_ENDING, _LESS = 5.0, 1.0 / 16.0  # values of a thousand; how much rarer each farther end is
_TIMES = 0.6, 1.0, 1.7, 3.0, 6.0  # such parts: sizes are not known well
_USUAL, _UNSURE = 0.85, 20.0  # of the columns have none, at first; columns' weight of that
_ROUNDS = 8
_UNLIKE = 50.0  # squared standard deviations from all tails, of counts of none of these
_SURE, _MAYBE = 0.9, 0.6  # probability of a tail that counts, and of one that is allowed for
_FINE = 4  # ends that are tried, in an octave
_FEWEST = 0.3  # rows: fewer are taken not to be there
_LARGEST = 0.25  # noise of a column, over its size
_NORMAL = 3.0  # mean fourth power of a normal column


@dataclass(frozen=True, eq=False)
class SquareTails:
    """What is known of the tails of columns' squares.

    Attributes
    ----------
    reach : float64 array of shape (d,)
        Where squares of columns with long tails are best clipped; 0 for the others.
    deviation : float64 array of shape (d,)
        Standard deviations of their squares, about; 0 for the others.
    """

    reach: Floats
    deviation: Floats
    _index: Integers = field(repr=False)
    _ends: Floats = field(repr=False)
    _lost: Floats = field(repr=False)

    def lost(self, reach: Floats) -> Floats:
        """Return about how much means of squares lose that are clipped there, in root mean square.

        0 for columns that likely have no long tail.
        """
        found: Floats = np.zeros(reach.size)
        for j, ends, lost in zip(self._index.tolist(), self._ends, self._lost, strict=True):
            found[j] = np.interp(reach[j], ends, lost)
        return found


def measure_square_tails(
    curator: Measurer,
    mean: Floats,
    size: Floats,
    *,
    rows: float,
    share: float,
    noise: float,
) -> SquareTails:
    """Return the tails, for a small part of a share of mu**2.

    Nothing is asked of a single column, or of very many.

    Parameters
    ----------
    curator : Measurer
        Of all rows, or of a sample.
    mean, size : float64 arrays of shape (d,)
        Where the values are, and about how large the squares.
    rows : float
        Their number, in the sample.
    share : float
    noise : float
        Of the mean of a column's squares, over where these are clipped.
    """
    if not 1 < size.size <= _MOST_COLUMNS:
        none, empty = np.zeros(size.size), np.zeros((0, 1))
        return SquareTails(none, none, np.zeros(0, dtype=np.int64), empty, empty)
    query = FarthestHistogram(mean, 1.0 / (_START * np.sqrt(size)), _OCTAVES)
    measured = curator.measure(query, share=_PART * share, label="farthest columns")
    counts = measured.values.reshape(size.size, _OCTAVES)
    likely = _likely(counts, rows, float(np.max(measured.noise)))
    index = np.flatnonzero(likely[:, 0] < 1.0 - _MAYBE)
    likely, unit = likely[index], _START**2 * size[index, np.newaxis]
    ends = _ends()
    left = np.concatenate([np.zeros((1, ends.size)), _parts(_beyond(ends))])
    left = np.where(left * rows > _FEWEST, left, 0.0)
    lost = integrals(left, ends**2)

    own = np.argmin(np.hypot(noise * ends**2, lost), axis=1)[1:]
    tails = likely[:, 1:] / np.sum(likely[:, 1:], axis=1, keepdims=True)
    best = np.rint(tails @ own).astype(np.int64)  # the mean of their logarithms
    best = np.minimum(best, np.searchsorted(noise * (_START * ends) ** 2, _LARGEST))
    sure, (reach, deviation) = likely[:, 0] < 1.0 - _SURE, np.zeros((2, size.size))
    reach[index[sure]] = (unit[:, 0] * ends[best] ** 2)[sure]

    fourth = _NORMAL + _START**4 * (left[:, 0] + integrals(left, ends**4)[:, 0])
    deviation[index[sure]] = (size[index] * (likely @ np.sqrt(fourth - 1.0)))[sure]
    return SquareTails(reach, deviation, index, unit * ends**2, unit * np.sqrt(likely @ lost**2))


def _likely(counts: Floats, rows: float, noise: float) -> Floats:
    """Return how likely each column has no tail, or each of those that are imagined."""
    normal = np.zeros((1, _OCTAVES))
    normal[0, 0] = math.erfc(_START / math.sqrt(2.0))
    edges = _beyond(np.exp2(np.arange(_OCTAVES + 1)))
    edges[:, -1] = 0.0
    expected = rows * np.concatenate([normal, _parts(edges[:, :-1] - edges[:, 1:])])
    weight = 1.0 / (noise**2 + expected)
    square = counts**2 @ weight.T - 2.0 * counts @ (expected * weight).T
    square += np.sum(expected**2 * weight, axis=1)
    apart = square - np.sum(np.log(weight), axis=1)
    fits = np.exp(-0.5 * (apart - np.min(apart, axis=1, keepdims=True)))
    fits[np.min(square, axis=1) > _UNLIKE] = np.eye(1, len(expected))
    tails, usual = fits[:, 1:] * _prior(), _USUAL
    for _ in range(_ROUNDS):
        likely = np.column_stack([usual * fits[:, 0], (1.0 - usual) * tails])
        likely /= np.sum(likely, axis=1, keepdims=True)
        usual = (_UNSURE * _USUAL + np.sum(likely[:, 0])) / (_UNSURE + len(counts))
    return np.asarray(likely)


def _beyond(ends: Floats) -> Floats:
    """Return what part of the rows each imagined tail has beyond ends, over where tails begin."""
    octave = np.log2(ends)
    part, power, bend = np.concatenate(list(_TAILS.values())).T[:, :, np.newaxis]
    going_on = part * np.exp2(-power * octave - bend * octave**2)
    last, bend = (each.reshape(-1, 1) for each in np.meshgrid(_ENDS_AT, _BENDS, indexing="ij"))
    ending = _ENDING * (1.0 - np.minimum(octave / last, 1.0) ** bend)
    return np.asarray(1e-3 * np.concatenate([going_on, ending]))


def _prior() -> Floats:
    """Return how likely each of these is, of columns that have a tail."""
    going_on = np.ones(sum(map(len, _TAILS.values())))
    ending = 2.0 * np.repeat(_LESS ** (_ENDS_AT - 1.0), _BENDS.size)
    each = np.tile(np.concatenate([going_on, ending]), len(_TIMES))
    return np.asarray(each / np.sum(each))


def _parts(tails: Floats) -> Floats:
    """Return the same over all rows, for each part of these that may be in a tail."""
    times = np.array(_TIMES)[:, np.newaxis, np.newaxis]
    return np.asarray((times * tails).reshape(-1, tails.shape[1]))


@cache
def _ends() -> Floats:
    """Return ends that are tried, over where tails begin."""
    return np.asarray(np.exp2(np.arange(_FINE * (_OCTAVES + 2) + 1) / _FINE))
