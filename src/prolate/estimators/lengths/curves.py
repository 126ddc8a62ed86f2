"""Tails beyond what noisy counts show: curves, and how likely the counts make each.

From where it is surely seen, a tail is taken to go on as

    S(r) = S(r0) exp(-h ((r / r0)**g - 1) / g),

of which exponential (g = 1) and normal (g = 2) tails are cases, power and log-normal ones
nearly so (g toward 0), and such as end somewhere (g large). The counts make some slopes h and
bends g likelier than others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from prolate.arrays import Floats

__all__ = [
    "REACH",
    "Curves",
    "LikelyCurves",
    "any_rows",
    "curves",
    "curves_without",
    "how_many",
    "integrals",
    "likely_curves",
    "survival",
]

REACH = np.geomspace(1.0, 1000.0, 160)
"""Of a tail, over its start."""

_BENDS = np.array([0.05, 0.15, 0.3, 0.5, 0.75, 1.0, 1.4, 2.0, 3.0, 5.0, 9.0])
_BEND_ODDS = np.array([0.002, 0.004, 0.01, 0.06, 0.3, 0.6, 0.4, 0.2, 0.1, 0.06, 0.06])
# Amounts that most rows do not have, such as costs, are more often heavy.
_RARE_ODDS = np.array([0.02, 0.05, 0.12, 0.4, 0.6, 0.6, 0.4, 0.2, 0.1, 0.06, 0.06])
_SLOPES = np.append(np.geomspace(0.2, 60.0, 28), np.geomspace(90.0, 1500.0, 7))  # ends, nearly
_USUAL, _RANGE, _ODD = 1.3, 0.6, 0.02  # slopes are log-normal around this, or any
_PART = 0.1  # of the rows, beyond the start; or fewer, ...
_SURE, _PRECISE = 10.0, 100.0  # ... but as many standard deviations of a count, if not as many
_GAP = 0.1  # of the rows beyond a cell that may as well be in it
_ROUGH = 0.1  # of the rows that a curve is taken to tell: no tail is quite such a curve
_ROUNDS = 3  # of fitting how many rows follow a curve
_MISFIT = 4.0  # standard deviations by which a count may be above the nearest curve, ...
_NEAR, _MISFIT_NEAR = 8, 3.0  # ... and in the first cells, where rows gather at the start
_MAYBE, _SURELY = 3.5, 6.0  # of them: as noise alone has now and then, and never has
_AGAIN = 4.5  # of them, if counts that may be noise were counted again
_RARE_MAYBE = 2.7  # of rare values, which often have a few sizes
_CELLS = 3  # next to each other, at most, that hold rows which are together far out
_TOGETHER = 2, 4  # cells of a size where values of rare rows gather
_NEXT = 1  # cells by which a later start tells about the same


@dataclass(frozen=True, eq=False)
class Curves:
    """Tails from 1 on, one for each slope and bend, and their odds.

    Attributes
    ----------
    odds, rare_odds : float64 arrays of shape (k,)
        Of the tail of a column, and of one of rare values.
    lost, square : float64 arrays of shape (k, m)
        E (r - b)_+ and E (r - b)_+**2 for each b of `REACH`.
    """

    odds: Floats
    rare_odds: Floats
    lost: Floats
    square: Floats


@dataclass(frozen=True, eq=False)
class LikelyCurves:
    """Which of `curves` a tail likely follows.

    Attributes
    ----------
    start : int
        The edge from which on it does.
    reach : float
        That edge.
    part, unsure : float64 arrays of shape (k,)
        Part of the rows beyond it, by each curve, and its standard deviation.
    weight : float64 array of shape (k,)
        How likely each curve is.
    some : float64 array of shape (k,)
        How likely there are rows beyond, by each curve, if none are as likely as any.
    lumpy : bool
        Whether rows gather at some distances: no curve fits from where enough rows are counted,
        or hardly any are in the cell before.
    doubtful : bool
        Whether rows that are together far out, or make the tail start much farther out, may well
        be noise.
    """

    start: int
    reach: float
    part: Floats
    unsure: Floats
    weight: Floats
    some: Floats
    lumpy: bool
    doubtful: bool


@lru_cache(maxsize=1)
def curves() -> Curves:
    """Return the curves that tails are compared with."""
    return curves_without(0.0)


def curves_without(farthest: float) -> Curves:
    """Return the curves without so small a part of their values, the farthest."""
    slopes = np.exp(-0.5 * (np.log(_SLOPES / _USUAL) / _RANGE) ** 2) + _ODD
    odds, rare = (np.outer(slopes, each).ravel() for each in (_BEND_ODDS, _RARE_ODDS))
    lost = integrals(np.maximum(survival(REACH) - farthest, 0.0), REACH)
    return Curves(odds / odds.sum(), rare / rare.sum(), lost, 2.0 * integrals(lost, REACH))


def survival(reach: Floats) -> Floats:
    """Return the parts of the tails beyond some distances, (k, distances)."""
    # Each bend's powers once, not once for each of its curves: they take longest.
    bent = (np.power.outer(reach, _BENDS).T - 1.0) / _BENDS[:, np.newaxis]
    return np.asarray(np.exp(np.multiply.outer(-_SLOPES, bent)).reshape(-1, reach.size))


def likely_curves(
    edges: Floats,
    counts: Floats,
    noise: float,
    rows: float,
    *,
    apart: float = np.inf,
    rare: bool = False,
    again: bool = False,
) -> LikelyCurves:
    """Return which curves a tail follows, by noisy counts between edges and beyond them.

    It starts where a part of the rows is farther out, or as few as are counted precisely, since
    no curve is right for all of a tail; or later, if no curve fits from there on, as where many
    values are the same. No edge before the second is a start. Where most rows are at one place,
    the part is one of those `apart` from them.

    If no curve fits from any start on that enough rows are beyond, so many cells are taken
    `together` from the last of these on, before a start is tried that fewer are beyond.

    What looked like rows far out was counted `again`: then it must stand out by more, but those
    of some cells next to each other count together.
    """
    above = np.cumsum(counts[::-1])[::-1]
    falling = np.minimum.accumulate(above)
    enough = max(min(_PART * min(apart, rows), _PRECISE * noise), _SURE * noise)
    first = max(int(np.count_nonzero(falling > enough)) - 1, 1)
    last = max(int(np.count_nonzero(falling > _SURE * noise)) - 1, first)
    gather = bool(counts[first - 1] < _GAP * above[first])
    tries = [(start, 1) for start in range(first, last + 1)]
    tries += [(last, size) for size in _TOGETHER if rare]
    tries += [(start, 1) for start in range(last + 1, edges.size)]
    early = edges.size
    for start, size in tries:
        reach, groups = float(edges[start]), np.arange(start, edges.size, size)
        seen = np.add.reduceat(counts, groups)
        left = survival(edges[groups] / reach)
        cells = np.append(left[:, :-1] - left[:, 1:], left[:, -1:], axis=1)
        many, unsure = how_many(cells, seen, noise * np.sqrt(size), rows)
        likely = many[:, np.newaxis] * cells
        variance = size * noise**2 + likely  # rows are a sample of what the curve says
        square = np.sum((seen - likely) ** 2 / variance, axis=1)
        nearest = np.repeat(likely[np.argmin(square)], size)[: edges.size - start]
        off = (counts[start:] - nearest) / np.sqrt(noise**2 + nearest)
        gathers = counts[start - 1] < _GAP * above[start] and (start == first or rare)
        near = off[1:_NEAR].max(initial=0.0) if gathers else 0.0
        together_off = _most_above(counts[start:], nearest, noise)
        if off.max() < _SURELY and near < _MISFIT_NEAR:
            early = min(early, start)
        fits = together_off < _AGAIN if again else off.max() < _MISFIT
        if off.size == 1 or (fits and near < _MISFIT_NEAR):
            break
    lumpy = start > first or size > 1 or gather
    unlikely = square + np.sum(np.log(variance), axis=1)
    odds = curves().rare_odds if rare else curves().odds
    weight = odds * np.exp(-0.5 * (unlikely - unlikely.min()))
    none = np.sum(seen**2) / (size * noise**2) + seen.size * math.log(size * noise**2)
    likelier = 0.5 * (none - unlikely) + any_rows(many, unsure, rows)
    some = 1.0 / (1.0 + np.exp(-np.clip(likelier, -500.0, 500.0)))
    return LikelyCurves(
        start,
        reach,
        many / rows,
        unsure / rows,
        weight / weight.sum(),
        some,
        lumpy,
        doubtful=start > early + _NEXT or together_off > (_RARE_MAYBE if rare else _MAYBE),
    )


def _most_above(counts: Floats, likely: Floats, noise: float) -> float:
    """Return by how many standard deviations some cells together are above what is likely.

    The most, of cells next to each other.
    """
    more, many = np.cumsum(np.append(0.0, counts - likely)), np.cumsum(np.append(0.0, likely))
    return max(
        float(np.max((more[k:] - more[:-k]) / np.sqrt(k * noise**2 + many[k:] - many[:-k])))
        for k in range(1, min(_CELLS, counts.size) + 1)
    )


def any_rows(many: Floats, unsure: Floats, rows: float) -> Floats:
    """Return by how much likelier about so many rows are than none, before they are counted.

    As a logarithm. Any number is as likely as twice as many, and none as likely as any.
    """
    part = np.minimum(unsure / many, 1.0) * np.sqrt(2.0 * np.pi) / np.log(max(rows, 10.0))
    return np.asarray(np.log(part))


def how_many(cells: Floats, seen: Floats, noise: float, rows: float) -> tuple[Floats, Floats]:
    """Return how many rows follow each curve, and how unsure that is.

    By the cells that the curve says they are in, since cells where there are none only add their
    noise; but no tail is quite such a curve, so by all of them together where noise is small.
    """
    whole = max(float(np.sum(seen)), 1.0)
    together = 1.0 / (noise**2 * seen.size + whole)  # as inverse variances
    many = np.full(len(cells), whole)
    for _ in range(_ROUNDS):
        likely = np.clip(many, 1.0, rows)[:, np.newaxis] * cells
        variance = noise**2 + likely
        sure = np.maximum(np.sum(cells**2 / variance, axis=1), 1e-300)  # a curve may see no cell
        fitted = np.clip(np.sum(cells * seen / variance, axis=1) / sure, 1.0, rows)
        sure = 1.0 / (1.0 / sure + (_ROUGH * fitted) ** 2)
        many = (sure * fitted + together * whole) / (sure + together)
    return np.clip(many, 1.0, rows), 1.0 / np.sqrt(np.maximum(sure, together))


def integrals(values: Floats, at: Floats) -> Floats:
    """Return the integrals of curves, (k, m), from each of m places on to the last."""
    steps = 0.5 * (values[:, 1:] + values[:, :-1]) * np.diff(at)
    return np.pad(np.cumsum(steps[:, ::-1], axis=1)[:, ::-1], ((0, 0), (0, 1)))
