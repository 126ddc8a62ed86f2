"""Columns that are far more spread than their bulk shows.

A tenth of a column's values may be a thousand times farther out than the others: a count of
them in every column drowns in noise that grows with the number of columns. But a row that
is far out can say in which column it is farthest, and it is one row: for the price of a
single count, all columns are looked at (`FarthestHistogram`). The squares of what is seen
there are less than the columns' second moments, so a spread is raised, never lowered. Where
one column was, another one may have been hidden by it, so it is looked again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Searcher
from prolate.estimators.shares import farthest_share, significance
from prolate.queries import FarthestHistogram

__all__ = ["own_steps", "with_farthest"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_OCTAVES = 40
_RUNS = (1, 2, 3, 4)  # octaves that stand out together
_LOST = 1e-4  # probability that noise alone makes any stand out
_LOOKS = 3  # at most
_RAISED = 2.0  # times a spread: others may have been hidden
_DOUBTFUL = 3.7  # standard deviations of a count that is looked at again, ...
_FAR = 3  # ... so many octaves out


def with_farthest(
    view: Searcher, rows: float, center: Floats, spread: Floats, *, among: Bools
) -> Floats:
    """Return the spreads of columns, raised where rows are farther out.

    Parameters
    ----------
    view : Searcher
        Its columns are asked.
    rows : float
        Number of rows, or a private estimate of it.
    center, spread : float64 arrays of shape (d,)
    among : bool array of shape (d,)
        Which columns are looked at; the others keep their spreads.
    """
    spread = spread.copy()
    total, looks = np.zeros((center.size, _OCTAVES)), np.zeros(center.size)
    for _ in range(_LOOKS):
        gain = np.where(among, 1.0 / spread, 0.0)
        measured = view.measure(
            FarthestHistogram(center, gain, _OCTAVES),
            share=farthest_share(view, rows),
            label="farthest columns",
        )
        total += measured.values.reshape(total.shape)
        looks += 1.0
        counts, noise = total / looks[:, np.newaxis], measured.std / np.sqrt(looks)
        seen = _standing_out(counts, noise)
        square = np.where(seen, np.maximum(counts, 0.0), 0.0) @ (2.0 * 4.0 ** np.arange(_OCTAVES))
        raised = np.where(among, np.sqrt(np.maximum(square / max(rows, 1.0), 1.0)), 1.0)
        spread *= raised
        new = raised > 1.0
        doubtful = np.any((counts > _DOUBTFUL * noise[:, np.newaxis])[:, _FAR:] & ~seen[:, _FAR:])
        total[new], looks[new] = 0.0, 0.0
        if not doubtful and raised.max() < _RAISED:
            break
    return spread


def own_steps(view: Searcher, rows: float, center: Floats, step: Floats) -> Floats:
    """Return how far rare values of single columns are, where that is seen."""
    step, left = step.copy(), step > 0.0
    top = 2.0 ** np.ceil(np.log2(step.max()))
    for _ in range(_LOOKS):
        gain = np.where(left, 2.0**34 / top, 0.0)
        measured = view.measure(
            FarthestHistogram(center, gain, _OCTAVES),
            share=farthest_share(view, rows),
            label="farthest rare columns",
        )
        counts = measured.values.reshape(center.size, _OCTAVES)
        seen = _standing_out(counts, np.full(center.size, measured.std))
        held = np.where(seen, np.maximum(counts, 0.0), 0.0)
        new = left & seen.any(axis=1)
        middle = top * 2.0**-34 * 1.5 * 2.0 ** np.arange(_OCTAVES)
        square = (held @ middle**2) / np.maximum(held.sum(axis=1), 1.0)
        step[new] = np.sqrt(square[new])
        left &= ~new
        if not new.any() or not left.any():
            break
    return step


def _standing_out(counts: Floats, noise: Floats) -> Bools:
    """Return which octaves stand out of the noise, alone or in a run."""
    seen = np.zeros(counts.shape, dtype=np.bool_)
    limit = significance(counts.size * len(_RUNS), _LOST) * noise[:, np.newaxis]
    sums = np.pad(np.cumsum(counts, axis=1), ((0, 0), (1, 0)))
    for run in _RUNS:
        found = sums[:, run:] - sums[:, :-run] > limit * np.sqrt(run)
        for k in range(run):
            seen[:, k : k + found.shape[1]] |= found
    return seen
