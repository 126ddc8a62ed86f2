"""How long the rows are, once centered and scaled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.queries import kernels, sparse
from prolate.queries.base import CountedOnce, check_vectors
from prolate.sources.sparse_rows import SparseRows

__all__ = ["NormHistogram"]


@dataclass(frozen=True, eq=False)
class NormHistogram(CountedOnce):
    """Histogram of |(v - center) * gain|_2 over rows; cell k is [edges_k, edges_(k+1)).

    v_j is x_j, or (x_j - about_j)**2 if `about` is given, as in `ClippedSum`. `edges` are
    increasing; with `farthest`, the largest |(x_j - center_j) gain_j| is taken instead of the
    norm; below the first and above the last there is one more cell each. A value
    that is not finite counts as no deviation from the center.

    Sensitivity. That of `CountedOnce`: each row adds 1 to exactly one cell.
    """

    gain: Floats
    edges: Floats
    about: Floats | None = None
    farthest: bool = False

    def __post_init__(self) -> None:
        """Check the vectors' shapes."""
        check_vectors(self.center.size, center=self.center, gain=self.gain, about=self.about)

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.edges.size + 1

    def add(self, rows: Floats, total: Integers) -> None:
        """Count the rows of a tile."""
        if self.farthest:
            distances, _ = kernels.farthest(rows, self.center, self.gain, *self._ends)
            cells = np.searchsorted(self.edges, distances, side="right")
        else:
            vectors = (self.center, self.gain, self.edges, *self._ends, self.about)
            cells = kernels.norm_cells(rows, *vectors)
        total += np.bincount(cells, minlength=self.size)

    def add_sparse(self, rows: SparseRows, total: Integers) -> bool:
        """Count the rows."""
        if self.farthest:
            cells = sparse.farthest_cells(rows, self.center, self.gain, self.edges)
        else:
            about = np.full(self.columns, np.nan) if self.about is None else self.about
            cells = sparse.norm_cells(rows, about, self.center, self.gain, self.edges)
        if cells is not None:
            total += np.bincount(cells, minlength=self.size)
        return cells is not None

    def describe(self) -> str:
        """Return one line for the receipt."""
        return f"histogram of {self.size} cells of the centered and scaled rows' norms"
