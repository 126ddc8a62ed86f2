"""Whether the two sides of a single column balance each other, by noisy counts of both.

One number, the tilt, tells whether rows are skewed from the middle on. Of values that end on one
side, as ages from 18 on do, it may tell nothing: many are at the end, and a few far out on the
other side make up for them. So it is asked of the tail beyond each distance, too, which part of
its rows one side has more of than the other. What is seen may be noise: most columns have sides
that are alike, and a few have any part of a tail on one side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurement, Measurer
from prolate.estimators.lengths.expected import Expected, Radii
from prolate.estimators.lengths.sides import EDGES, sides_grid
from prolate.parallel import computed_once
from prolate.queries import Histogram

__all__ = ["SHARE", "Balance", "measure_balance"]

SHARE = 0.1
"""Of a sum's budget, at least, for the counts."""

_LOPSIDED = 0.06  # of columns: their tails may have any part of the rows on one side
_PARTS = np.linspace(-1.0, 1.0, 81)  # these
_CLEAR = 4.0  # standard deviations
_SEEN = 1e-3  # of a row, squared: of fewer in a tail nothing is known


@dataclass(frozen=True, eq=False)
class Balance:
    """Counts on both sides of a column's center.

    Attributes
    ----------
    sides : Measurement
        Of the cells of `sides_grid`.
    rows : float
        How many were searched.
    expected : Expected
        Says how long they are.
    """

    sides: Measurement
    rows: float
    expected: Expected

    @property
    def _edges(self) -> Floats:
        """Scaled lengths between which rows are counted."""
        return np.asarray(EDGES * (self.expected.spread / self.expected.scale))

    @property
    def _more(self) -> Floats:
        """How many more rows there are above than below the center, in each cell."""
        below, above = self.sides.values[: EDGES.size][::-1], self.sides.values[EDGES.size :]
        return np.asarray(above - below)

    def weighed(self, weight: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
        """Return the sum of rows' signs, weighed by their scaled lengths, and its noise.

        Of rows within the safe radius; of shape (1,).
        """
        edges = self._edges
        inside = max(int(np.count_nonzero(edges[1:] <= self.expected.safe)), 1)
        each = weight(0.5 * (edges[:inside] + edges[1 : inside + 1]))
        noise = math.sqrt(2.0) * self.sides.std * float(np.linalg.norm(each))
        return np.array([each @ self._more[:inside]]), np.array([noise])

    @computed_once
    def _tails(self) -> tuple[Floats, Floats]:
        """Return which part of the rows beyond each edge one side has more of, and its noise.

        The sum over a tail's cells that tells it best weighs them by the rows that each likely
        has. Its noise is that of counts and of sampling.
        """
        length, mass = self.expected.lengths
        edges = self._edges
        cell = np.searchsorted(edges, length, side="right") - 1
        likely = np.zeros(edges.size)
        np.add.at(likely, cell, self.rows * mass)
        likely[edges >= self.expected.safe] = 0.0  # nothing but noise

        def beyond(each: Floats) -> Floats:
            return np.asarray(np.cumsum(each[::-1])[::-1])

        square = beyond(likely**2)
        seen = square > _SEEN
        square = np.where(seen, square, 1.0)
        variance = 2.0 * self.sides.std**2 / square + beyond(likely**3) / square**2
        part = beyond(likely * self._more) / square
        return np.where(seen, part, 0.0), np.where(seen, np.sqrt(variance), np.inf)

    @computed_once
    def clear(self) -> bool:
        """Whether a tail surely has more rows on one side."""
        part, noise = self._tails
        return bool(np.any(np.abs(part) > _CLEAR * noise))

    @computed_once
    def _squares(self) -> Floats:
        """Squares of the parts of the rows beyond each edge that one side likely has more of."""
        part, noise = (each[:, np.newaxis] for each in self._tails)
        least = np.min(np.abs(part - _PARTS) / noise, axis=1, keepdims=True)  # for floats' sake

        def likelihood(true: Floats) -> Floats:
            return np.asarray(np.exp(0.5 * (least**2 - ((part - true) / noise) ** 2)))

        any_part = likelihood(_PARTS)
        total = (1.0 - _LOPSIDED) * likelihood(np.zeros(1)) + _LOPSIDED * any_part.mean(
            axis=1, keepdims=True
        )
        return np.asarray(_LOPSIDED * (any_part @ _PARTS**2) / _PARTS.size / total[:, 0])

    def bias_square(self, radius: Radii) -> Radii:
        """Return the square of what clipping to a radius takes off the mean, in `Expected.unit`.

        That of the tail beyond the radius that likely loses most.
        """
        length, mass = self.expected.lengths
        edges, each = self._edges, np.expand_dims(radius, -1)
        lost = np.maximum(length - each, 0.0) * mass
        farther = lost @ (length[:, np.newaxis] >= edges)
        beyond = np.append(edges[1:], np.inf) > each
        most: Radii = np.max(np.where(beyond, farther**2 * self._squares, 0.0), axis=-1)
        unit = float(self.expected.scale[0]) / float(np.max(self.expected.unit))
        square: Radii = unit**2 * most / self.expected.mean_factor(radius) ** 2
        return square


def measure_balance(
    curator: Measurer, center: Floats, expected: Expected, *, share: float, rows: float
) -> Balance:
    """Count both sides of a column's center, for a share of mu**2.

    Parameters
    ----------
    curator : Measurer
        Of one column; of all rows, or of a sample.
    center : float64 array of shape (1,)
    expected : Expected
        Says how long rows are.
    share : float
    rows : float
        How many the curator has.
    """
    query = Histogram(sides_grid(center, expected.spread))
    sides = curator.measure(query, share=share, label="sides")
    return Balance(sides, rows, expected)
