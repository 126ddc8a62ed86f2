"""Octaves of distances, and cells of half octaves that begin somewhere else in each column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.queries import MagnitudeGrid

__all__ = ["CANDIDATES", "HALF_OCTAVE", "OCTAVE_MIDDLE", "HalfOctaves", "even_half_octave"]

HALF_OCTAVE = 51
"""The bits by which a float's pattern is shifted for the number of its half octave."""

OCTAVE_MIDDLE = 1.4
"""The middle of an octave, over where it begins."""

CANDIDATES = 8
"""Scales that are tried per octave."""


def even_half_octave(size: Floats) -> Integers:
    """Return the first of the two half octaves of each size's octave: all of one mantissa."""
    return (np.ascontiguousarray(size).view(np.int64) >> (HALF_OCTAVE + 1)) << 1


@dataclass(frozen=True, eq=False)
class HalfOctaves:
    """Cells of half octaves.

    Attributes
    ----------
    first : int64 array of shape (d,)
        The even half octave that is each column's first cell, with all below it.
    cells : int
    """

    first: Integers
    cells: int

    def grid(self, center: Floats) -> MagnitudeGrid:
        """Return the cells of distances from a center."""
        return MagnitudeGrid(center, self.first, self.cells, HALF_OCTAVE)

    @property
    def unit(self) -> Floats:
        """Where the first cells' half octaves begin, in the data's units."""
        return np.ascontiguousarray(self.first << HALF_OCTAVE).view(np.float64)

    @property
    def edges(self) -> Floats:
        """The cells' edges in that unit, the same for every column."""
        index = np.arange(self.cells + 1)
        edges = np.where(index % 2 == 0, 1.0, 1.5) * 2.0 ** (index // 2)
        edges[0] = 0.0
        return np.asarray(edges)

    @property
    def scales(self) -> Floats:
        """The scales that are tried in that unit."""
        return np.asarray(2.0 ** (np.arange(CANDIDATES * (self.cells // 2 - 2)) / CANDIDATES))

    @property
    def offset(self) -> Integers:
        """How many scales each column's first is above 2**-1023: what columns have in common."""
        return (self.first // 2) * CANDIDATES
