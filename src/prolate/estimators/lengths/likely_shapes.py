"""What rare values may be like: shapes and scales, and how likely noisy counts make each.

Of a dozen values counts show hardly more than how large they are, so all of them are taken to
follow one of some shapes: alike (a lump), whole numbers, Weibull, log-normal, Pareto or even, at
any of many scales. On both sides of a bulk they likely have the same one, though not as many; if
the counts clearly say otherwise, each its own. A shape of all values tells more of their tail than
the curves do that go on from what is seen of it (`curves.py`). But of thousands, counts may say
that no shape fits.

Of k values none is likely farther out than all but one in k are, so shapes end there: what is
beyond is a guess that an interval allows for, and nothing that is given back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from prolate.arrays import Floats
from prolate.estimators.lengths.curves import any_rows, how_many, integrals
from prolate.estimators.lengths.side_tail import USUAL, SideTail

__all__ = ["STEPS", "LikelyShapes", "likely_shapes"]

STEPS = 4
"""Scales in an octave."""

_FAR = 40  # octaves to either side of a scale at which shapes are known
_REACH = np.exp2(np.arange(-_FAR * STEPS, _FAR * STEPS + 1) / STEPS)
_WEIBULL = ((0.5, 0.05), (0.7, 0.12), (1.0, 0.25), (1.5, 0.2), (2.2, 0.12), (4.0, 0.1), (8.0, 0.1))
_LOG_NORMAL = ((0.25, 0.08), (0.5, 0.12), (0.8, 0.1), (1.1, 0.1), (1.4, 0.06), (1.8, 0.01))
_PARETO = ((1.5, 0.005), (2.0, 0.01), (3.0, 0.03), (5.0, 0.04))
# Whole numbers of a unit, of which a part is more than one, a part of these more than two, ...
_COUNTS = (
    *((0.1, 0.03), (0.2, 0.04), (0.35, 0.04), (0.55, 0.03), (0.75, 0.01)),
    *((0.87, 0.001), (0.94, 0.001)),
)
# One, and a negative binomial number: how even these are, and the part above.
_DISPERSED = (
    *((0.5, 0.7, 0.001), (0.5, 0.85, 0.001), (0.5, 0.93, 0.001)),
    *((2.0, 0.5, 0.001), (2.0, 0.7, 0.001), (2.0, 0.85, 0.001)),
)
_EVEN, _LUMP = 0.003, 0.3  # anything up to a largest value; all the same
_ROUGH = 0.15  # of the values in a cell: no shape is quite right
_OWN = 6.0  # logarithm of how much likelier two shapes must be than one
_WRONG = 0.5  # of what is lost
_MISFIT = 2.4  # standard deviations of the sum of squares by which counts are off a shape
_ALIKE = 0.8  # chance of a lump


@dataclass(frozen=True, eq=False)
class LikelyShapes:
    """What values on both sides of a bulk are like.

    Attributes
    ----------
    sides : pair of SideTail
        What clipping takes off on each side, at distance 0 and at the edges.
    fit : bool
        Whether the likeliest shapes fit the counts.
    alike : bool
        Whether the values of either side are likely all the same.
    """

    sides: tuple[SideTail, SideTail]
    fit: bool
    alike: bool


@dataclass(frozen=True, eq=False)
class _Shapes:
    """Shapes of scale 1, at each of `_REACH`; one row for each."""

    odds: Floats
    left: Floats  # part of the values that are farther out
    lost: Floats  # E (r - b)_+
    square: Floats  # E (r - b)_+**2


@dataclass(frozen=True, eq=False)
class _Models:
    """A row for each shape and scale, and a column for each edge or distance.

    The last `scales` rows are lumps.
    """

    scales: int
    odds: Floats
    cells: Floats
    left: Floats
    lost: Floats
    square: Floats
    guessed: Floats


@dataclass(frozen=True, eq=False)
class _Side:
    """What the counts of one side say of each model.

    By how much likelier it is than none, as a logarithm; how likely there are any values; how
    many then, and how unsure that is; by how many standard deviations counts are off.
    """

    log: Floats
    any: Floats
    many: Floats
    unsure: Floats
    off: Floats


def likely_shapes(
    edges: Floats,
    counts: tuple[Floats, Floats],
    noise: float,
    rows: float,
    *,
    scales: tuple[float, float],
    apart: float,
    known: tuple[Floats, Floats, float] | None = None,
) -> LikelyShapes:
    """Return what the values on both sides of a bulk are like.

    Parameters
    ----------
    edges : float64 array of shape (m,)
        Distances from the bulk; each over the first is a power of 2**(1 / `STEPS`).
    counts : pair of float64 arrays of shape (m,)
        Noisy counts of either side's rows between the edges, and beyond the last.
    noise : float
        Standard deviation of each.
    rows : float
        Number of all rows.
    scales : two floats
        Of the values, at least and at most; also such powers times the first edge.
    apart : float
        About how many rows are not at the bulk.
    known : float64 arrays of shapes (c + 1,) and (c,) and a float, optional
        Edges that are some of `edges`, counts of both sides together between these, and their
        noise.
    """
    models = _models(edges, scales, max(apart, 1.0))
    sides = [_side(models.cells, each, noise, rows) for each in counts]
    prior = np.log(models.odds)
    fits = _Known(models.cells, edges, *known) if known is not None else None
    expected = [side.any * side.many for side in sides]
    same = prior + sides[0].log + sides[1].log
    own = [prior + side.log for side in sides]
    if fits is not None:
        same = same + fits.log(fits.each(expected[0] + expected[1]))
        means = [fits.mean(_weights(same) * each) for each in expected]
        own[0] = own[0] + fits.log(fits.each(expected[0]) + means[1])
        own[1] = own[1] + fits.log(fits.each(expected[1]) + means[0])
        own[1] = own[1] - fits.log(means[0] + means[1])  # told of both sides, and counted once
    gain = np.logaddexp.reduce(own[0]) + np.logaddexp.reduce(own[1]) - np.logaddexp.reduce(same)
    logs = own if gain > _OWN else [same, same]
    low, high = (
        _answer(edges, models, _weights(log), side, rows)
        for log, side in zip(logs, sides, strict=True)
    )
    likely = [int(np.argmax(log)) for log in logs]
    fit = all(side.off[k] < _MISFIT for side, k in zip(sides, likely, strict=True))
    lump = slice(-models.scales, None)
    alike = max(float(_weights(log)[lump].sum()) for log in logs) > _ALIKE
    return LikelyShapes((low, high), fit, alike)


class _Known:
    """How likely counts of both sides together are."""

    def __init__(
        self, cells: Floats, edges: Floats, ends: Floats, counts: Floats, noise: float
    ) -> None:
        start = np.searchsorted(edges, ends * 2.0 ** (-0.5 / STEPS))
        sums = np.pad(np.cumsum(cells, axis=1), ((0, 0), (1, 0)))
        self.cells = sums[:, start[1:]] - sums[:, start[:-1]]
        self.counts, self.noise = counts, noise

    def each(self, many: Floats) -> Floats:
        """Return the counts to expect of so many rows, for each model that they may follow."""
        return np.asarray(many[:, np.newaxis] * self.cells)

    def mean(self, many: Floats) -> Floats:
        """Return the counts to expect, if so many rows follow each model."""
        return np.asarray(many @ self.cells)

    def log(self, expected: Floats) -> Floats:
        """Return the logarithm of the likelihood."""
        return np.asarray(-0.5 * np.sum((self.counts - expected) ** 2, axis=-1) / self.noise**2)


def _side(cells: Floats, counts: Floats, noise: float, rows: float) -> _Side:
    many, unsure = how_many(cells, counts, noise, rows)
    likely = many[:, np.newaxis] * cells
    variance = noise**2 + likely + (_ROUGH * likely) ** 2
    log = -0.5 * np.sum((counts - likely) ** 2 / variance + np.log(variance), axis=1)
    log += 0.5 * np.sum((counts / noise) ** 2 + np.log(noise**2))
    log += any_rows(many, unsure, rows)
    some = 1.0 / (1.0 + np.exp(-np.clip(log, -500.0, 500.0)))
    squares = np.sum((counts - some[:, np.newaxis] * likely) ** 2 / variance, axis=1)
    off = (squares - counts.size) / np.sqrt(2.0 * counts.size)
    return _Side(np.logaddexp(0.0, log), some, many, unsure, off)


def _answer(edges: Floats, models: _Models, weight: Floats, side: _Side, rows: float) -> SideTail:
    part, unsure = side.many / rows, side.unsure / rows
    likely, nothing = weight * side.any, float(weight @ (1.0 - side.any))
    reach = np.append(0.0, edges)

    def expected(each: Floats) -> tuple[Floats, Floats]:
        """Return what is lost, by what that is for each model, and its variance.

        Heavy tails are seldom right, but then wrong by much: usual errors do not tell squares.
        """
        lost = (likely * part) @ each
        off = np.hypot(part[:, np.newaxis] * each - lost, unsure[:, np.newaxis] * each / USUAL)
        off = nothing * lost + likely @ off
        return lost, (USUAL * off) ** 2 + (_WRONG * lost) ** 2

    lost, doubt = expected(models.lost)
    lost_square, doubt_square = expected(models.square + 2.0 * reach * models.lost)
    square = (likely * part) @ models.square
    return SideTail(
        reach=reach,
        lost=lost,
        doubt=doubt + square / rows,
        beyond=(likely * part) @ models.left,
        mean=float(lost[0]),
        square=float(square[0]),
        guessed=2.0 * (likely * part) @ models.guessed,
        lost_square=lost_square,
        doubt_square=doubt_square,
        most=np.ones(reach.size),
    )


def _weights(log: Floats) -> Floats:
    weight = np.exp(log - log.max())
    return np.asarray(weight / weight.sum())


def _models(edges: Floats, scales: tuple[float, float], apart: float) -> _Models:
    """Return shapes at all scales, which end where one of so many values is likely beyond."""
    shapes, endless = _shapes(1.0 / apart), _shapes(0.0)
    low, high = (round(STEPS * float(np.log2(scale / edges[0]))) for scale in scales)
    scale = edges[0] * np.exp2(np.arange(low, high + 1) / STEPS)
    place = np.round(STEPS * np.log2(edges / edges[0])).astype(np.int64)
    where = np.clip(place - np.arange(low, high + 1)[:, np.newaxis] + _FAR * STEPS, 1, None)
    where = np.pad(where, ((0, 0), (1, 0)))  # 0 is as good as nearest
    where = np.minimum(where, _REACH.size - 1)

    def at(table: Floats, power: int) -> Floats:
        found = table[:, where] * scale[:, np.newaxis] ** power
        return np.asarray(found.reshape(-1, where.shape[1]))

    left, lost = at(shapes.left, 0), at(shapes.lost, 1)
    return _Models(
        scale.size,
        np.repeat(shapes.odds / scale.size, scale.size),
        np.append(left[:, 1:-1] - left[:, 2:], left[:, -1:], axis=1),
        left,
        lost,
        at(shapes.square, 2),
        at(endless.lost, 1) - lost,
    )


@lru_cache(maxsize=8)
def _shapes(beyond: float) -> _Shapes:
    """Return the shapes, without the farthest part."""
    from scipy.special import betainc, ndtr

    fine = np.exp2(np.arange(-8 * _FAR, 8 * _FAR + 1) / 8.0)
    left = [np.exp(-np.minimum(fine**bend, 700.0)) for bend, _ in _WEIBULL]
    left += [ndtr(-np.log(fine) / spread) for spread, _ in _LOG_NORMAL]
    left += [np.maximum(fine, 1.0) ** -power for power, _ in _PARETO]
    more = np.clip(np.ceil(fine) - 1.0, 0.0, 1000.0)  # whole numbers beyond one
    left += [part**more for part, _ in _COUNTS]
    some = np.maximum(more, 1.0)
    left += [np.where(more > 0.0, betainc(some, even, part), 1.0) for even, part, _ in _DISPERSED]
    left += [np.maximum(1.0 - fine, 0.0), np.where(fine <= 1.0, 1.0, 0.0)]
    kinds = (*_WEIBULL, *_LOG_NORMAL, *_PARETO, *_COUNTS, *_DISPERSED)
    odds = np.array([*(kind[-1] for kind in kinds), _EVEN, _LUMP])
    stay = np.maximum(np.array(left) - beyond, 0.0)
    lost = integrals(stay, fine)
    square = 2.0 * integrals(lost, fine)
    at = slice(None, None, 8 // STEPS)
    return _Shapes(odds / odds.sum(), stay[:, at], lost[:, at], square[:, at])
