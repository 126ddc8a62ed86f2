"""Columns whose farthest values are far from their bulk: which, and how far.

A tenth of a column's values may be a thousand times farther out than the others, and a count
of them in every column drowns in noise that grows with the number of columns. But a row can
say in which column it is farthest out, and it is one row: for the price of a single count,
all columns are looked at (`FarthestHistogram`). Where one column was found, another one may
have been hidden by it, so it is looked again.
"""

from __future__ import annotations

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.curator import Searcher
from prolate.estimators.search.half_octaves import OCTAVE_MIDDLE
from prolate.estimators.search.locate import WITHIN
from prolate.estimators.search.spread import LARGEST, SMALLEST
from prolate.estimators.shares import farthest_share, significance
from prolate.queries import FarthestHistogram

__all__ = ["octaves_standing_out", "own_steps", "with_farthest"]

_OCTAVES, _LEAST_OCTAVES = 40, 12
_MOST_CELLS = 1 << 24  # of one histogram
_RUNS = (1, 2, 3, 4)  # octaves that stand out together
# Probability that noise alone makes any stand out: of one look, or of many precise ones.
_ACCIDENT, _ACCIDENT_OF_MANY = 1e-4, 1e-6
_ACCIDENT_RELATIVE = 1.0  # the same, a loose bound, of rare values that are else guessed as dearly
_LOOKS, _MOST_LOOKS = 3, 12  # at most: those that find nothing new, and all
# The most for columns in units of their own, which hide those in smaller ones; and what all looks
# but the first may cost.
_MOST_LOOKS_RELATIVE, _MOST_SPENT = 48, 0.1
_STILL = 0.4  # of the rows that were seen far out, at least, or they were noise
_RAISED = 2.0  # times a spread: others may have been hidden
_FAR = 1  # octaves beyond a spread: what is nearer is the bulk
_DOUBT, _FARTHER = 0.3, 3  # the same, so many octaves out, of what is looked at again
_NEXT, _MOST_NEXT = 3.5, 6  # standard deviations of what such octaves hold; how many
_ABOVE = 6  # octaves above the common size of rare values that are told apart
_END = 2.0  # of an octave, over where it begins


def with_farthest(
    view: Searcher,
    rows: float,
    center: Floats,
    spread: Floats,
    *,
    precisely: bool = False,
    of: float | None = None,
    least: float = 1.0,
) -> tuple[Floats, Floats]:
    """Return the spreads of columns, raised where rows are farther out, and how far these are seen.

    What is seen is a part of the columns' second moments only, so values are taken to be at
    the ends of their octaves. A column that noise raises would be lost, so what is seen far
    out is looked at again before it counts.

    Parameters
    ----------
    view : Searcher
        Its columns are asked.
    rows : float
        Number of rows, or a private estimate of it.
    center, spread : float64 arrays of shape (d,)
    precisely : bool
        Whether to pay for counts that show fewer rows.
    of : float, optional
        The part of the rows that is known to be far out.
    least : float
        Part of a column's values that is there at least, where the view says as if all were.
    """
    spread, octaves, reach = spread.copy(), _octaves(center.size), np.zeros(center.size)
    total, looks = np.zeros((center.size, octaves - _FAR)), np.zeros(center.size)
    squares = (_END * np.exp2(np.arange(_FAR, octaves))) ** 2
    many, in_vain, fewest = precisely, 0, least * rows
    for _ in range(_MOST_LOOKS):
        label = "farthest columns"
        counts, std = _look(view, fewest, center, 1.0 / spread, label, precisely=many, of=of)
        total += counts[:, _FAR:]
        looks += 1.0
        mean, noise = total / looks[:, np.newaxis], std / np.sqrt(looks)
        seen = octaves_standing_out(mean, noise, accident=_ACCIDENT_OF_MANY if many else _ACCIDENT)
        far = np.where(np.arange(_FAR, octaves) < _FARTHER, False, seen)
        if far.any() and not many:
            again, _ = _look(view, fewest, center, 1.0 / spread, label, of=of)
            there, most = (np.sum(far * each, axis=1) for each in (again[:, _FAR:], mean))
            noisy = far & (there < _STILL * most)[:, np.newaxis]
            seen, total = seen & ~noisy, np.where(noisy, 0.0, total)
            mean = np.where(noisy, 0.0, mean)
        square = np.where(seen, np.maximum(mean, 0.0), 0.0) @ squares / max(rows, 1.0)
        raised = np.sqrt(np.maximum(square, 1.0))
        last = np.where(seen.any(axis=1), octaves - _FAR - np.argmax(seen[:, ::-1], axis=1), 0)
        reach = np.maximum(reach, np.where(last > 0, spread * np.exp2(last + _FAR), 0.0))
        spread = np.minimum(spread * raised, LARGEST)
        found = bool(raised.max() >= _RAISED)
        in_vain = 0 if found else in_vain + 1
        doubt = significance(mean.size, _DOUBT) * noise[:, np.newaxis]
        doubtful = ((mean > doubt) & ~seen)[:, _FARTHER - _FAR :]
        if in_vain == _LOOKS or (in_vain and not doubtful.any()):
            break
        anew = raised > (0.0 if found and not many else 1.0)  # others, or the first precise look
        total[anew], looks[anew] = 0.0, 0.0
        many = many or found
    return spread, reach


def own_steps(
    view: Searcher,
    rows: float,
    center: Floats,
    half: Floats,
    step: Floats,
    *,
    relative: bool = False,
) -> tuple[Floats, Bools, Floats]:
    """Return how far columns' rare values are from their bulk, and in which columns that is seen.

    And the spreads that these columns have at least, by the rows in which they are farthest.

    Parameters
    ----------
    view : Searcher
        Its columns are asked.
    rows : float
        Number of rows, or a private estimate of it.
    center, half : float64 arrays of shape (d,)
        The intervals of the bulks.
    step : float64 array of shape (d,)
        How far rare values of all columns are, together; 0 for columns that have none.
    relative : bool
        Whether errors count relative to spreads: then a size that is seen, though not surely, is
        better than that of all columns together, and it is looked for as long as some are found.
    """
    step, left, spread = step.copy(), step > 0.0, np.zeros(step.size)
    octaves = _octaves(center.size)
    unit = max(np.exp2(np.ceil(np.log2(step.max())) + _ABOVE - octaves), SMALLEST)
    middle = OCTAVE_MIDDLE * unit * np.exp2(np.arange(octaves))
    outside = middle > WITHIN * half[:, np.newaxis]
    several = bool(np.count_nonzero(step) > 1)  # which nothing else tells apart
    least = view.remaining - _MOST_SPENT
    for look in range(_MOST_LOOKS_RELATIVE if relative else _LOOKS):
        if look >= _LOOKS and view.remaining < least:
            break
        accident = _ACCIDENT_RELATIVE if relative and look < _LOOKS else _ACCIDENT
        gain = np.where(left, 1.0 / unit, 0.0)
        label = "farthest rare columns"
        counts, std = _look(view, rows, center, gain, label, precisely=several)
        seen = octaves_standing_out(np.where(outside, counts, 0.0), std, accident=accident)
        held = np.where(seen & outside, np.maximum(counts, 0.0), 0.0)
        new = left & held.any(axis=1)
        held = _with_next(held, np.where(outside, counts, 0.0), std)
        square = np.maximum(held[new] @ np.minimum(middle, LARGEST) ** 2, 0.0)
        spread[new] = np.minimum(np.sqrt(square / max(rows, 1.0)), LARGEST)
        step[new] = np.minimum(np.sqrt(square / np.maximum(held[new].sum(axis=1), 1.0)), LARGEST)
        left &= ~new
        if not new.any() or not left.any():
            break
    return step, (step > 0.0) & ~left, spread


def _with_next(held: Floats, counts: Floats, noise: Floats) -> Floats:
    """Return what octaves hold that stand out, with those beyond that together likely hold rows.

    Each of these may hide in noise, though they are the farthest out.
    """
    held = held.copy()
    for column in np.flatnonzero(held.any(axis=1)).tolist():
        beyond = int(np.flatnonzero(held[column])[-1]) + 1
        together = np.cumsum(counts[column, beyond : beyond + _MOST_NEXT])
        noises = noise[column] * np.sqrt(1.0 + np.arange(together.size))
        shown = np.flatnonzero(together > _NEXT * noises)
        if shown.size:
            end = beyond + int(shown[-1]) + 1
            held[column, beyond:end] = counts[column, beyond:end]
    return held


def _look(
    view: Searcher,
    rows: float,
    center: Floats,
    gain: Floats,
    label: str,
    *,
    precisely: bool = False,
    of: float | None = None,
) -> tuple[Floats, Floats]:
    """Return noisy counts of rows by farthest column and octave, and each column's noise."""
    query = FarthestHistogram(center, gain, _octaves(center.size))
    share = farthest_share(view, rows, precisely=precisely, of=of)
    measured = view.measure(query, share=share, label=label)
    each = np.broadcast_to(measured.noise, query.size).reshape(center.size, query.octaves)
    return measured.values.reshape(each.shape), each[:, 0]


def _octaves(columns: int) -> int:
    """Return how many octaves are told apart: fewer where columns are very many."""
    return min(max(_MOST_CELLS // columns, _LEAST_OCTAVES), _OCTAVES)


def octaves_standing_out(counts: Floats, noise: Floats, *, accident: float = _ACCIDENT) -> Bools:
    """Return which octaves of which columns stand out of the noise, alone or in a run.

    Of a run, none may stand out in a shorter one: its neighbors are likely noise.
    """
    seen = np.zeros(counts.shape, dtype=np.bool_)
    limit = significance(counts.size * len(_RUNS), accident) * noise[:, np.newaxis]
    steps = np.zeros((counts.shape[0], counts.shape[1] + 1))
    np.cumsum(counts, axis=1, out=steps[:, 1:])
    for run in _RUNS:
        found = steps[:, run:] - steps[:, :-run] > limit * np.sqrt(run)
        if not found.any():
            continue
        for k in range(run):
            found &= ~seen[:, k : k + found.shape[1]]
        for k in range(run):
            seen[:, k : k + found.shape[1]] |= found
    return seen
