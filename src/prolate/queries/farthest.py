"""Which column of each row is farthest out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.queries import kernels, sparse
from prolate.queries.base import CountedOnce, check_vectors
from prolate.sources.sparse_rows import SparseRows

__all__ = ["FarthestHistogram"]


@dataclass(frozen=True, eq=False)
class FarthestHistogram(CountedOnce):
    """Histogram over rows of their farthest column, and of how many octaves out it is.

    A row's farthest column j has the largest y = |(x_j - center_j) gain_j|, the first of
    equals. The row counts in cell j * octaves + k where 2**k <= y < 2**(k + 1), in the last
    cell of column j if y is larger, and nowhere if y < 1. A value that is not finite counts as
    no deviation from the center.

    Sensitivity. That of `CountedOnce`: each row adds 1 to one cell at most.
    """

    gain: Floats
    octaves: int

    def __post_init__(self) -> None:
        """Check the vectors' shapes."""
        check_vectors(self.center.size, center=self.center, gain=self.gain)

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.columns * self.octaves

    def add(self, rows: Floats, total: Integers) -> None:
        """Count the rows of a tile."""
        self._count(*kernels.farthest(rows, self.center, self.gain, *self._ends), total)

    def add_sparse(self, rows: SparseRows, total: Integers) -> bool:
        """Count the rows."""
        found = sparse.farthest(rows, self.center, self.gain)
        if found is not None:
            self._count(*found, total)
        return found is not None

    def _count(
        self,
        farthest: Floats,
        column: Integers,
        total: Integers,
    ) -> None:
        octave = (farthest.view(np.int64) >> 52) - 1023  # the exponent, by its bits
        cell = column * self.octaves + np.minimum(octave, self.octaves - 1)
        np.add.at(total, cell[octave >= 0], 1)  # of a few rows, most cells are empty

    def describe(self) -> str:
        """Return one line for the receipt."""
        return f"rows by their farthest column, in {self.octaves} octaves"
