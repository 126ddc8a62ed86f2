"""Clumps: rows that are together far out, a group of their own such as a few large customers.

What a falling tail holds is told by curves (`curves.py`), and that rows far out are surely there by
the noise of all cells beyond (`safe_cell`). Rows of a group are about equally long. So they are in
one cell of lengths or in a few next to each other, whose noise is less, and in which there are
many more rows than in cells that are nearer to the others.
"""

from __future__ import annotations

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.estimators.lengths.norms import MeasuredNorms, fraction_radius

__all__ = ["MAYBE", "SURELY", "clump_edges", "find_clumps"]

SURELY = 4.5
"""Standard deviations of the noise that a clump stands out by."""

MAYBE = 3.5
"""And one that is looked for again."""

_FAR = 1.7  # typical norms
_CELLS = 3  # next to each other, at most
_ENDS = 1.5  # standard deviations of its first cell and of its last
_WORTH = 1.5  # times as many rows as may be clipped
_STEP, _WIDE, _PARTS = 0.15, 0.25, 3  # logarithms of norms; and cells that one is parted into


def find_clumps(norms: MeasuredNorms, wanted: float, *, sure: float = SURELY) -> Bools:
    """Return which of the m + 1 cells hold clumps.

    Parameters
    ----------
    norms : MeasuredNorms
    wanted : float
        How many rows may be clipped: of hardly more, clumps do not matter.
    sure : float
        Standard deviations that they stand out by, of noise and of what a tail would hold there,
        as it is where fewest rows are among nearer cells.
    """
    edges, counts = norms.edges, norms.counts[1:-1]
    wide = np.log(edges[1:] / edges[:-1])
    some = np.maximum(counts, 0.0)
    density, doubt = some / wide, np.sqrt(norms.noise**2 + some) / wide
    found = np.zeros(norms.counts.size, dtype=np.bool_)
    middle = fraction_radius(norms, 0.5, float(np.sum(norms.counts)))
    start = int(np.searchsorted(edges, middle))
    beyond = int(np.searchsorted(edges, _FAR * max(norms.typical, norms.seen)))
    for cells in range(1, _CELLS + 1):
        for first in range(max(beyond, start + 1), counts.size - cells + 1):
            here = slice(first, first + cells)
            if min(counts[first], counts[first + cells - 1]) < _ENDS * norms.noise:
                continue
            least = start + int(np.argmin(density[start:first]))
            span, many = float(np.sum(wide[here])), float(np.sum(counts[here]))
            tail = span * float(density[least])
            variance = cells * norms.noise**2 + tail
            if tail > norms.noise:  # less is rather none
                variance += (span * float(doubt[least])) ** 2
            if many - tail > max(_WORTH * wanted, sure * np.sqrt(variance), tail):
                found[1:-1][here] = True
    return found


def clump_edges(norms: MeasuredNorms, clumps: Bools) -> Floats | None:
    """Return edges that tell where in wide cells clumps are, if there are any such cells."""
    found = norms.edges
    for cell in np.flatnonzero(clumps):
        near, far = norms.edges[cell - 1 : cell + 1]
        wide = float(np.log(far / near))
        if wide > _WIDE:
            parts = min(int(wide / _STEP), _PARTS)
            found = np.union1d(found, np.geomspace(near, far, parts + 1)[1:-1])
    return None if found is norms.edges else found
