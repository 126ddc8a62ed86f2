"""Which run of cells a column's values are likely in, by noisy counts of the cells.

A column's bulk is in some run of cells, and a run is likelier than another by what is counted in
it. So each column has a posterior over runs, and over the part of the rows that is in the run: the
others may be apart from it, as beside a single value that most rows have. Which lengths and parts
are likely a priori all columns tell together, by expectation maximization.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ENOUGH", "LikelyRuns", "likely_runs"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ENOUGH = 2
"""Cells of a run that is short, beside which it need not be known what is in which."""

_PARTS = np.array([0.98, 0.9, 0.8, 0.7, 0.6, 0.5])  # of the rows that may be in a run
_MANY = 0.75  # part of the rows, if no more are in a run, that noise does not feign
_BEFORE = 3.0  # as if so many columns had nearly all there
_NOISY = 0.1  # noise of a count, over the rows, from which on few cells are not told from one
_ROUNDS, _TINY = 100, 1e-3


@dataclass(frozen=True, eq=False)
class LikelyRuns:
    """Where columns' values are.

    Attributes
    ----------
    start, length : int64 arrays of shape (d,)
        The shortest run that the bulk is surely near: in it, or no farther than it is long.
        Length 0 if there is none.
    wide : float64 array of shape (d,)
        Probability that the bulk is in more than `ENOUGH` cells, or, where there is no run, in
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
    lengths = sorted({round(2 ** (k / 2)) for k in range(int(2 * math.log2(cells)) + 1)})
    longest = cells // 6
    steps = np.concatenate([np.zeros((d, 1)), np.cumsum(counts, axis=1)], axis=1)
    fits, kinds = [], []
    for run in lengths:
        within = steps[:, run:] - steps[:, :-run]
        for part in _PARTS if run <= longest else _PARTS[:1]:
            # the likelihood of part of the rows spread evenly over the run, beside that of none
            fit = (within - 0.5 * part * rows) * part * rows / (run * noise[:, np.newaxis] ** 2)
            fit += (part < _PARTS[0]) * evidence[:, np.newaxis]
            fits.append(fit - math.log(fit.shape[1]))
            kinds.append((run, part))
    sizes, parts = np.array(kinds).T
    of_kind = np.stack([np.logaddexp.reduce(fit, axis=1) for fit in fits], axis=1)
    nearly_all = parts == _PARTS[0]
    prior, whole = _common(of_kind, _BEFORE * nearly_all / nearly_all.sum())
    seen = _given(of_kind, prior, ~nearly_all) - _given(of_kind, prior, nearly_all)

    likely = np.concatenate(
        [np.exp(fit + prior[k] - whole[:, np.newaxis]) for k, fit in enumerate(fits)], axis=1
    )
    places = [fit.shape[1] for fit in fits]
    at = np.concatenate([np.arange(count) for count in places])
    size, part_of = np.repeat(sizes, places), np.repeat(parts, places)
    start, length = np.zeros((2, d), dtype=np.int64)
    for run in lengths[: np.searchsorted(lengths, longest, side="right")]:
        those = likely[:, size == run].reshape(d, -1, cells + 1 - run).sum(axis=1)
        best = np.argmax(those, axis=1)[:, np.newaxis]
        near = (at >= best - run) & (at + size <= best + 2 * run)
        good = (np.sum(likely * near, axis=1) > 1.0 - astray) & (length == 0)
        start[good], length[good] = best[good, 0], run
    few = np.where(noise < _NOISY * rows, cells // 12, longest)
    few = np.where(length > 0, ENOUGH, few)
    wide = np.sum(likely * (size > few[:, np.newaxis]), axis=1)
    apart = likely[:, part_of < _PARTS[0]].sum(axis=1)
    barely = likely[:, (part_of < _PARTS[0]) & (part_of > _MANY)].sum(axis=1)
    return LikelyRuns(start, length, wide, apart, barely, seen)


def _common(of_kind: Floats, before: Floats) -> tuple[Floats, Floats]:
    """Return how likely kinds are by how all columns fit them, and how well each column fits.

    From and as logarithms, as if some columns had been seen before.
    """
    d, many = of_kind.shape
    best = of_kind.max(axis=1)
    fits, prior = np.exp(of_kind - best[:, np.newaxis]), np.full(many, 1.0 / many)
    for _ in range(_ROUNDS):
        prior *= (1.0 / (fits @ prior)) @ fits
        prior = (prior + before + _TINY) / (d + before.sum() + many * _TINY)
    return np.log(prior), np.log(fits @ prior) + best


def _given(of_kind: Floats, prior: Floats, those: NDArray[np.bool_]) -> Floats:
    """Return how well each column fits those kinds together."""
    weight = prior[those] - np.logaddexp.reduce(prior[those])
    fit: Floats = np.logaddexp.reduce(of_kind[:, those] + weight, axis=1)
    return fit
