"""Columns that are far more spread than their bulk."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Searcher
from prolate.estimators.shares import farthest_share, significance
from prolate.queries import FarthestHistogram

Floats = NDArray[np.float64]

_OCTAVES = 40
_RUNS = (1, 2, 3, 4)


def stretch_of(view, rows, center, spread, wide):
    gain = np.where(wide, 1.0 / spread, 0.0)
    m = view.measure(FarthestHistogram(center, gain, _OCTAVES), share=farthest_share(view, rows), label="farthest columns")
    counts = m.values.reshape(center.size, _OCTAVES)
    limit = significance(counts.size * len(_RUNS), 1e-4) * m.std
    seen = np.zeros(counts.shape, dtype=bool)
    for run in _RUNS:
        sums = np.concatenate([np.zeros((len(counts), 1)), np.cumsum(counts, axis=1)], axis=1)
        mass = sums[:, run:] - sums[:, :-run]
        ok = mass > limit * np.sqrt(run)
        for k in range(run):
            seen[:, k:ok.shape[1]+k] |= ok & ~seen[:, k:ok.shape[1]+k] if run == 1 else ok
    square = np.sum(np.where(seen, np.maximum(counts, 0), 0.0) * 2.0 * 4.0 ** np.arange(_OCTAVES), axis=1) / max(rows, 1.0)
    return np.sqrt(np.maximum(square, 1.0))
