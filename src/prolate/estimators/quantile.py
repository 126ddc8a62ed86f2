"""Private quantiles, several of several columns at once: no bounds needed.

A search through the floating-point numbers themselves, in their own order. Each step looks
at one stretch of them per wanted quantile in 16 cells and two outer ones, so the number of
values below each cell's edge is known up to noise, and goes on into the cell where the
wanted rank is reached. Nine steps leave 28 of 64 bits open: seven decimals.

Steps that look at the same stretch are measured once. The price is that of K histograms,
K the number of different stretches, whatever the data are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator
from prolate.estimators.estimate import Estimate
from prolate.estimators.shares import count_rows
from prolate.queries import KeyHistogram

__all__ = ["quantile"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_BITS = 4
_SHIFTS = tuple(range(60, 27, -4))
_SMALL = 0.1
_SURE = 3.0  # standard deviations of noise before values are taken to be missing


@dataclass(frozen=True, eq=False)
class _Step:
    """One step of the search: per quantile, edges, noisy counts below them, the cell chosen."""

    edges: Floats
    below: Floats
    cell: Integers
    noise: float


def quantile(curator: Curator, probabilities: Floats) -> Estimate:
    """Return the private quantiles.

    Parameters
    ----------
    curator : Curator
        All of its remaining budget is spent.
    probabilities : float64 array of shape (q,)
        In [0, 1].

    Returns
    -------
    Estimate
        With arrays of shape (q, d). Its `noise_std` and `sampling_std` are those of the
        rank over the density of rows around the quantile, which is read off the same
        measurements.
    """
    d, wanted = curator.dimension, probabilities.size
    rows = count_rows(curator)
    column = np.tile(np.arange(d), wanted)
    probability = np.repeat(probabilities, d)
    first = np.full(column.size, -(1 << (_BITS - 1)), dtype=np.int64)
    share = curator.remaining / len(_SHIFTS)
    present = np.full(column.size, rows)
    steps: list[_Step] = []
    rank_noise = 0.0
    for step, shift in enumerate(_SHIFTS):
        stretches, where = np.unique(np.stack([column, first]), axis=1, return_inverse=True)
        where = where.reshape(-1)
        query = KeyHistogram(d, stretches[0], stretches[1], 1 << _BITS, shift)
        measured = curator.measure(
            query, share=min(share, curator.remaining), label=f"quantile {step + 1}"
        )
        counts = measured.values.reshape(query.shape)[where]
        below = np.cumsum(counts, axis=1)
        if step == 0:
            present = np.clip(below[:, -1], 1.0, max(rows, 1.0))
            all_there = present > rows - _SURE * measured.std * math.sqrt(counts.shape[1])
            present = np.where(all_there, rows, present)
        edges = np.stack([query.edges(k) for k in range(len(stretches[0]))])[where]
        cell = _crossing(below[:, :-1], probability * present)
        steps.append(_Step(edges, below[:, :-1], cell, measured.std))
        rank_noise = measured.std * math.sqrt(query.cells / 2)
        if step + 1 < len(_SHIFTS):
            first = (first + cell) << _BITS
    low, high = np.take_along_axis(edges, np.stack([cell, cell + 1], axis=1), axis=1).T
    value = np.where(low >= 0.0, low, high)  # the number with fewest digits in the cell
    sampling = np.sqrt(probability * (1.0 - probability) * present)
    noise_std = np.array([_value_std(steps, k, rank_noise) for k in range(value.size)])
    sampling_std = np.array([_value_std(steps, k, sampling[k]) for k in range(value.size)])
    if curator.bounds is not None:
        lower, upper = (np.tile(bound, wanted) for bound in curator.bounds)
        value = np.clip(value, lower, upper)
        noise_std = np.minimum(noise_std, upper - lower)
        sampling_std = np.minimum(sampling_std, upper - lower)
    warnings: tuple[str, ...] = ()
    if rank_noise > _SMALL * rows:
        few = (
            f"The rows are few for this budget and {column.size} quantiles: ranks are noisy by "
            f"{100 * rank_noise / rows:.0f} % of the rows."
        )
        warnings = (few,)
    shape = (wanted, d)
    return Estimate(
        value=_sorted(value.reshape(shape), probabilities),
        noise_std=noise_std.reshape(shape),
        sampling_std=sampling_std.reshape(shape),
        rows=rows,
        warnings=warnings,
        details={"rank_noise": rank_noise},
    )


def _sorted(values: Floats, probabilities: Floats) -> Floats:
    """Return the values with larger quantiles never below smaller ones of their column."""
    order = np.argsort(probabilities, kind="stable")
    result = np.empty_like(values)
    result[order] = np.sort(values, axis=0)
    return result


def _crossing(below: Floats, target: Floats) -> Integers:
    """Return the cell in which noisy counts below the edges reach the target.

    Noise can make them reach it several times; half of the crossings lie on either side.
    """
    short = np.count_nonzero(below[:, 1:-1] < target[:, np.newaxis], axis=1)
    return np.asarray(short, dtype=np.int64)


def _value_std(steps: list[_Step], k: int, rank_std: float) -> float:
    """Return what a standard deviation of rank is in the values around quantile k.

    The mean of both sides; each is read off the narrowest measured stretch next to the
    quantile that holds clearly more rows than that, and than the noise.
    """
    sides = []
    for down in (True, False):
        best = math.inf
        for step in steps:
            edge, below = step.edges[k] / 2, step.below[k]
            cell = step.cell[k]
            if down:
                width, held = edge[cell + 1] - edge[cell::-1], below[cell + 1] - below[cell::-1]
            else:
                width, held = edge[cell + 1 :] - edge[cell], below[cell + 1 :] - below[cell]
            noise = step.noise * np.sqrt(np.arange(1, held.size + 1))
            enough = np.flatnonzero(held >= rank_std + 2.0 * noise)
            if enough.size:
                best = min(best, width[enough[0]] / held[enough[0]] * rank_std)
        sides.append(best)
    return float(sides[0] + sides[1])  # widths are halved above, against overflow
