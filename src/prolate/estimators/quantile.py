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
_HIDDEN = 0.12  # noise of ranks, over the rows, that may hide even how large values are
_LOST = (
    ", which may hide even how large the values are: do not use these numbers. More rows, a larger "
    "budget or bounds would help."
)
_END = (
    "A quantile is nearer to the least or the largest value than noise can tell: its number may "
    "be anywhere beyond the values around it. Ask for one farther inside; more rows or a larger "
    "budget would help, too."
)
_FEW_VALUES = (
    "Many rows share the value of a quantile: it may be the next value to it, and its interval "
    "may be too narrow to say so."
)
_CLEARLY = 5.0  # standard deviations of noise before rows are taken to share a value
_SURE = 3.0  # standard deviations of noise before values are taken to be missing
_FAR = 3.0  # noises of a rank from either end before its number is taken to be among values


@dataclass(frozen=True, eq=False)
class _Step:
    """One step of the search: per quantile, edges, noisy counts below them, the cell chosen."""

    edges: Floats
    below: Floats
    cell: Integers
    noise: float

    def alike(self, k: int) -> float:
        """Return how many rows are in the cell of quantile k; 0 unless they are clearly many."""
        rows = float(self.below[k, self.cell[k] + 1] - self.below[k, self.cell[k]])
        return rows if rows > _CLEARLY * self.noise else 0.0


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
    totals = np.zeros(column.size)
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
        total = counts.sum(axis=1)
        totals += total
        seen = np.clip(totals / (step + 1), 1.0, max(rows, 1.0))
        noise = measured.std * math.sqrt(counts.shape[1] / (step + 1))
        present = np.where(seen > rows - _SURE * noise, rows, seen)
        edges = np.stack([query.edges(k) for k in range(len(stretches[0]))])[where]
        below = _below(counts, total - present)
        if curator.bounds is not None:
            lower, upper = curator.bounds
            below = _within(below, edges, present, lower[column], upper[column])
        cell = _crossing(below, probability * present)
        steps.append(_Step(edges, below, cell, measured.std))
        rank_noise = measured.std * _bridge(counts.shape[1])
        if step + 1 < len(_SHIFTS):
            first = (first + cell) << _BITS
    low, high = np.take_along_axis(edges, np.stack([cell, cell + 1], axis=1), axis=1).T
    value = _no_dust(np.where(low >= 0.0, low, high))  # the number with fewest digits in the cell
    sampling = np.sqrt(probability * (1.0 - probability) * present)
    rank, rank_std = probability * present, np.hypot(rank_noise, sampling)
    with np.errstate(over="ignore"):
        per_rank = np.array([_per_rank(steps, k, rank[k], rank_std[k]) for k in range(value.size)])
        # The search ends in a cell, wherever in it the value is.
        noise_std = _no_dust(np.hypot(per_rank * rank_noise, high - low))
        sampling_std = _no_dust(per_rank * sampling)
    if curator.bounds is not None:
        lower, upper = (np.tile(bound, wanted) for bound in curator.bounds)
        value = np.clip(value, lower, upper)
        noise_std = np.minimum(noise_std, upper - lower)
        sampling_std = np.minimum(sampling_std, upper - lower)
    warnings: tuple[str, ...] = ()
    near_end = bool(np.any(np.minimum(rank, present - rank) < _FAR * rank_noise))
    if rank_noise > _SMALL * rows:
        lost = rank_noise > _HIDDEN * rows and curator.bounds is None
        few = (
            f"The rows are few for this budget and {column.size} "
            f"quantile{'' if column.size == 1 else 's'}: ranks are noisy by "
            f"{100 * rank_noise / max(rows, 1.0):.0f} % of the rows{_LOST if lost else '.'}"
        )
        warnings = (few,)
        near_end = near_end and not lost
    if near_end:
        warnings = (*warnings, _END)
    if any(steps[-1].alike(k) > 0.0 for k in range(value.size)):
        warnings = (*warnings, _FEW_VALUES)
    shape = (wanted, d)
    return Estimate(
        value=_sorted(value.reshape(shape), probabilities),
        noise_std=noise_std.reshape(shape),
        sampling_std=sampling_std.reshape(shape),
        rows=rows,
        warnings=warnings,
        details={"rank_noise": rank_noise},
    )


def _no_dust(values: Floats) -> Floats:
    """Return the numbers, those of less than full precision as 0: steps of the search, no data."""
    return np.where(np.abs(values) < np.finfo(np.float64).tiny, 0.0, values)


def _below(counts: Floats, excess: Floats) -> Floats:
    """Return how many rows are below each edge, given how far the counts' sum is off.

    Noise adds up from cell to cell. What it adds up to at the end is known, so each edge is
    relieved of the part that cells before it likely have: a random walk becomes a bridge,
    which is as sure at the upper end as at the lower one.
    """
    cells = counts.shape[1]
    part = np.arange(1, cells) / cells
    return np.asarray(np.cumsum(counts, axis=1)[:, :-1] - excess[:, np.newaxis] * part)


def _bridge(cells: int) -> float:
    """Return the root mean square over the edges of the bridge's noise, for that of a cell."""
    edges = np.arange(1, cells)
    return math.sqrt(float(np.mean(edges * (cells - edges) / cells)))


def _within(below: Floats, edges: Floats, present: Floats, lower: Floats, upper: Floats) -> Floats:
    """Return the counts as bounds know them: none below the lower one, none above the upper."""
    lower, upper = lower[:, np.newaxis], upper[:, np.newaxis]
    known = np.where(edges > upper, present[:, np.newaxis], below)
    return np.where(edges <= lower, 0.0, known)


def _sorted(values: Floats, probabilities: Floats) -> Floats:
    """Return the values with larger quantiles never below smaller ones of their column."""
    order = np.argsort(probabilities, kind="stable")
    result = np.empty_like(values)
    result[order] = np.sort(values, axis=0)
    return result


def _crossing(below: Floats, target: Floats) -> Integers:
    """Return the cell in which noisy counts below the edges reach the target.

    Noise can make them reach it several times, so what is asked is the nearest counts that
    never fall. Where cells are empty, as far beyond the largest value, these average its noise.
    """
    from scipy.optimize import isotonic_regression

    rising = np.stack([isotonic_regression(counts).x for counts in below])
    short = np.count_nonzero(rising[:, 1:-1] < target[:, np.newaxis], axis=1)
    return np.asarray(short, dtype=np.int64)


def _per_rank(steps: list[_Step], k: int, rank: float, rank_std: float) -> float:
    """Return how far apart values are around quantile k, per rank; infinite where not seen.

    The mean of both sides, each over twice the standard deviation of the rank, where an
    interval ends, or over one where no more rows are seen. Where clearly many rows share the
    value, those of them that are on the other side of the rank do not count.
    """
    last, cell = steps[-1], steps[-1].cell[k]
    alike = last.alike(k)
    lower = min(max(rank - float(last.below[k, cell]), 0.0), alike)  # of these, below the rank
    sides = [math.inf]
    for reach in (2.0 * rank_std, rank_std):
        sides = [
            _width(steps, k, reach + alike - lower, down=True) / reach,
            _width(steps, k, reach + lower, down=False) / reach,
        ]
        if max(sides) < math.inf:
            break
    return sides[0] + sides[1]  # widths are halved in `_width`, against overflow


def _width(steps: list[_Step], k: int, reach: float, *, down: bool) -> float:
    """Return half the width of so many rows on one side, from the finest step that shows them."""
    for step in reversed(steps):
        edge, below, cell = step.edges[k] / 2, step.below[k], step.cell[k]
        if down:
            width, held = edge[cell + 1] - edge[cell::-1], below[cell + 1] - below[cell::-1]
        else:
            width, held = edge[cell + 1 :] - edge[cell], below[cell + 1 :] - below[cell]
        enough = reach + 2.0 * step.noise
        # Noise can make counts reach it several times; half of the crossings lie on either side.
        last = int(np.count_nonzero(held < enough))
        if last >= held.size or held[-1] < enough + step.noise:
            continue
        before, at = (0.0, 0.0) if last == 0 else (float(held[last - 1]), float(width[last - 1]))
        more = max(float(held[last]) - before, 1.0)
        part = min(max((enough - before) / more, 0.0), 1.0)
        return (at + part * (float(width[last]) - at)) * (reach / enough)
    return math.inf
