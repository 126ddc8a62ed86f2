"""Which run of cells a column's values are likely in, by noisy counts of the cells.

A column's bulk is in some run of cells, and a run is likelier than another by what is counted in
it. So each column has a posterior over runs, and over the part of the rows that is in the run: the
others may be apart from it, as beside a single value that most rows have. Which lengths and parts
are likely a priori all columns tell together, by expectation maximization.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from prolate.arrays import Bools, Floats, Integers

__all__ = ["LikelyRuns", "likely_runs"]

_ENOUGH = 2  # cells of a run that is short: what is in which of them does not matter
_PARTS = np.array([0.98, 0.9, 0.8, 0.7, 0.6, 0.5])  # of the rows that may be in a run
_MANY = 0.75  # part of the rows, if no more are in a run, that noise does not feign
_BEFORE = 3.0  # as if so many columns had nearly all there
_NOISY = 0.1  # noise of a count, over the rows, from which on few cells are not told from one
_ROUNDS, _TINY = 100, 1e-3
_TOGETHER = 2048  # columns, of which so many tell what is common
_AT_ONCE = 1 << 18  # likelihoods, which a cache holds
_LEAST = 1e-300  # probability


@dataclass(frozen=True, eq=False)
class LikelyRuns:
    """Where columns' values are.

    Attributes
    ----------
    start, length : int64 arrays of shape (d,)
        The shortest run that the bulk is surely near: in it, or no farther than it is long.
        Length 0 if there is none.
    wide : float64 array of shape (d,)
        Probability that the bulk is in more than two cells, or, where there is no run, in
        more than a part of all cells.
    apart : float64 array of shape (d,)
        Probability that a part of the rows is apart from the bulk.
    barely : float64 array of shape (d,)
        Probability that a small part is, which noise may feign.
    evidence : float64 array of shape (d,)
        How far all that was seen moved the logarithm of the odds that a part is apart.
    """

    start: Integers
    length: Integers
    wide: Floats
    apart: Floats
    barely: Floats
    evidence: Floats


def likely_runs(
    counts: Floats, noise: Floats, rows: float, *, astray: float, evidence: Floats
) -> LikelyRuns:
    """Return where the columns' values are.

    Parameters
    ----------
    counts : float64 array of shape (d, cells)
    noise : float64 array of shape (d,)
        Their standard deviations.
    rows : float
    astray : float
        Probability that a column's bulk is not near its run.
    evidence : float64 array of shape (d,)
        What was seen before of rows apart from the bulk, as in `LikelyRuns`.

    Returns
    -------
    LikelyRuns
    """
    d, cells = counts.shape
    kinds = _Kinds.of(cells)
    step = max(1, _AT_ONCE // kinds.at.size)

    def fits_of(columns: slice) -> Iterator[_Fits]:
        some = counts[columns], noise[columns], evidence[columns]
        for first in range(0, some[1].size, step):
            block = (part[first : first + step] for part in some)
            yield _Fits.of(*block, rows=rows, kinds=kinds)

    some: Iterable[_Fits]
    every: Iterable[_Fits] = fits_of(slice(None))
    if d <= _TOGETHER:
        some = every = list(every)
    else:
        some = fits_of(slice(None, None, -(-d // _TOGETHER)))
    of_kind = np.concatenate([fits.of_kind for fits in some])
    common = _common(of_kind, _BEFORE * kinds.nearly_all / kinds.nearly_all.sum())
    found = [_find(fits, common, fits.noise / rows, astray) for fits in every]
    return LikelyRuns(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


@dataclass(frozen=True, eq=False)
class _Kinds:
    """Lengths of runs, and parts of the rows in them.

    Attributes
    ----------
    cells : int
    run, part : arrays of shape (kinds,)
    nearly_all : bool array of shape (kinds,)
    of_place, at : int64 arrays of shape (places,)
        For each place of a run of each kind: which kind, and where it starts.
    longest : int
        Longest run that a window may follow.
    """

    cells: int
    run: Integers
    part: Floats
    nearly_all: Bools
    of_place: Integers
    at: Integers
    longest: int

    @classmethod
    def of(cls, cells: int) -> _Kinds:
        lengths = sorted({round(2 ** (k / 2)) for k in range(int(2 * math.log2(cells)) + 1)})
        longest = cells // 6
        kinds = [(k, p) for k in lengths for p in (_PARTS if k <= longest else _PARTS[:1])]
        run, part = np.array([k for k, _ in kinds]), np.array([p for _, p in kinds])
        places = [np.arange(cells + 1 - k) for k in run]
        of_place = np.repeat(np.arange(run.size), [at.size for at in places])
        at = np.concatenate(places)
        return cls(cells, run, part, part == _PARTS[0], of_place, at, longest)


@dataclass(frozen=True, eq=False)
class _Fits:
    """How well columns fit each place of each kind of runs, over the best of all.

    Attributes
    ----------
    noise : float64 array of shape (d,)
        Of the columns' counts.
    likelihood : float64 array of shape (d, places)
    of_kind : float64 array of shape (d, kinds)
        Sums of it.
    """

    kinds: _Kinds
    noise: Floats
    likelihood: Floats
    of_kind: Floats

    @classmethod
    def of(
        cls, counts: Floats, noise: Floats, evidence: Floats, *, rows: float, kinds: _Kinds
    ) -> _Fits:
        d, cells = counts.shape
        steps = np.concatenate([np.zeros((d, 1)), np.cumsum(counts, axis=1)], axis=1)
        fit = np.empty((d, kinds.at.size))
        first = 0
        for run, part in zip(kinds.run, kinds.part, strict=True):
            within = steps[:, run:] - steps[:, :-run]
            here = slice(first, first := first + within.shape[1])
            # Part of the rows spread evenly over the run, beside none.
            fit[:, here] = (within - 0.5 * part * rows) * (part * rows / run)
        fit /= noise[:, np.newaxis] ** 2
        size = cells + 1.0 - kinds.run
        more = np.where(kinds.nearly_all, 0.0, evidence[:, np.newaxis]) - np.log(size)
        fit += more[:, kinds.of_place]
        fit -= fit.max(axis=1, keepdims=True)
        likelihood = np.exp(fit, out=fit)
        starts = np.flatnonzero(kinds.at == 0)
        return cls(kinds, noise, likelihood, np.add.reduceat(likelihood, starts, axis=1))


def _find(
    fits: _Fits, common: Floats, noise: Floats, astray: float
) -> tuple[Integers, Integers, Floats, Floats, Floats, Floats]:
    """Return what `LikelyRuns` has, for some columns; `noise` is a part of the rows."""
    kinds, of_kind = fits.kinds, fits.of_kind * common
    whole = of_kind.sum(axis=1)
    of_kind /= whole[:, np.newaxis]
    apart = of_kind[:, ~kinds.nearly_all].sum(axis=1)
    barely = of_kind[:, ~kinds.nearly_all & (kinds.part > _MANY)].sum(axis=1)
    prior = common[~kinds.nearly_all].sum() / common[kinds.nearly_all].sum()
    odds = np.maximum(apart, _LEAST) / np.maximum(1.0 - apart, _LEAST)
    evidence = np.log(odds / prior)

    likely = fits.likelihood * (common[kinds.of_place] / whole[:, np.newaxis])
    size = kinds.run[kinds.of_place]
    start, length = np.zeros((2, noise.size), dtype=np.int64)
    for run in np.unique(kinds.run[kinds.run <= kinds.longest]):
        those = likely[:, size == run].reshape(noise.size, -1, kinds.cells + 1 - run).sum(axis=1)
        best = np.argmax(those, axis=1)[:, np.newaxis]
        near = (kinds.at >= best - run) & (kinds.at + size <= best + 2 * run)
        sure = np.einsum("ij,ij->i", likely, near) > 1.0 - astray
        good = sure & (length == 0)
        start[good], length[good] = best[good, 0], run
    few = np.where(noise < _NOISY, kinds.cells // 12, kinds.longest)
    few = np.where(length > 0, _ENOUGH, few)
    wide = np.sum(of_kind * (kinds.run > few[:, np.newaxis]), axis=1)
    return start, length, wide, apart, barely, evidence


def _common(of_kind: Floats, before: Floats) -> Floats:
    """Return how likely kinds are by how all columns fit them, as if some had been seen before."""
    d, many = of_kind.shape
    prior = np.full(many, 1.0 / many)
    for _ in range(_ROUNDS):
        prior *= (1.0 / (of_kind @ prior)) @ of_kind
        prior = (prior + before + _TINY) / (d + before.sum() + many * _TINY)
    return prior
