"""Private principal axes, for correlated columns, and the mean from sums along these.

Columns that go together are better summed along their principal axes: the noise of a sum
of the best shape grows with the sum of the columns' spreads, and along the axes that is
tr(Sigma**(1/2)), never more than the sum over columns (Dagan et al. 2024). The axes come from
a private correlation matrix, one clipped sum of products; where its noise would cost more
than `_MOST` of the budget, nothing is measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurement, Searcher
from prolate.estimators.clipping.stated import stated
from prolate.estimators.columns import View
from prolate.estimators.estimate import Estimate, FoundMean
from prolate.estimators.search.shape import Shape
from prolate.estimators.search.spread import SMALLEST
from prolate.neighbors import rows_changed
from prolate.queries import ClippedSum, Products, Query, Turned
from prolate.queries.base import Centered
from prolate.theory import optimal_scale

__all__ = ["AxesCurator", "TurnedCurator", "find_rotation", "turned_mean"]

_ERROR = 0.05  # wanted noise of the correlation matrix, as a spectral norm
_MOST = 0.02  # largest share
_WORTH = 0.97  # tr(Sigma**(1/2)) over the sum of spreads that is worth a rotation
_COLUMNS = 512
_ROUNDING = 2.0**-50  # of a length, over the largest


@dataclass(frozen=True, eq=False)
class TurnedCurator(View):
    """A curator that measures (x - center) @ matrix.

    Attributes
    ----------
    curator : Searcher
    center : float64 array of shape (d,)
    matrix : float64 array of shape (d, d)
        Its columns are the axes.
    spread : float64 array of shape (d,)
        Standard deviations along the axes.
    """

    center: Floats
    matrix: Floats
    spread: Floats

    @property
    def dimension(self) -> int:
        """Number of axes."""
        return int(self.matrix.shape[1])

    @property
    def bounds(self) -> None:
        """None: public bounds are those of columns."""
        return None

    def measure(self, query: Query, *, share: float, label: str) -> Measurement:
        """Measure `query` of the turned rows."""
        turned = Turned(query, self.center, self.matrix)
        return self.curator.measure(turned, share=share, label=label)


@dataclass(frozen=True, eq=False)
class AxesCurator(TurnedCurator):
    """A curator that measures rows along orthonormal axes, as if no values were missing.

    A missing value counts as no deviation from the center that a query has, put back into the
    columns. So sums of deviations are those of the values that are there; in the columns, they are
    divided by the part that these are.

    Attributes
    ----------
    part : float64 array of shape (d,), optional
        The part of each column that is there, if some is missing.
    """

    part: Floats | None = None

    def measure(self, query: Query, *, share: float, label: str) -> Measurement:
        """Measure `query` of the turned rows; its noise is that of all rows."""
        if not isinstance(query, Centered):
            return super().measure(query, share=share, label=label)
        squares = getattr(query, "about", None) is not None
        origin = "about" if squares else "center"
        start = getattr(query, origin)
        moved = replace(query, **{origin: np.zeros(start.size)})
        turned = Turned(moved, self.center + self.matrix @ start, self.matrix)
        measured = self.curator.measure(turned, share=share, label=label)
        if self.part is None or squares or not isinstance(query, ClippedSum) or query.beyond:
            return measured
        sums = self.matrix @ (query.unit * measured.values) / self.part
        return replace(measured, values=self.matrix.T @ sums / query.unit)


def find_rotation(curator: Searcher, shape: Shape) -> AxesCurator | None:
    """Return the rows seen along their principal axes, or None where that is not worth it."""
    d = curator.dimension
    if not 2 <= d <= _COLUMNS:
        return None
    # The products of a normal row differ from their mean by about d; leave room for tails.
    radius = 1.5 * d + 3.0 * np.sqrt(d)
    sensitivity = rows_changed(curator.neighbors) * radius
    noise = sensitivity / (curator.mu_of(1.0) * shape.rows) * np.sqrt(2.0 * d)
    share = float((noise / _ERROR) ** 2)
    if share > _MOST:
        return None

    size = d * (d + 1) // 2
    first, second = np.triu_indices(d)
    diagonal = np.where(first == second, 1.0, 0.0)
    inner = ClippedSum(diagonal, np.ones(size), radius)
    query = Products(inner, shape.center, shape.spread)
    measured = curator.measure(query, share=max(share, 1e-4), label="correlations")
    mean = diagonal + inner.unit * measured.values / shape.rows
    correlations = np.zeros((d, d))
    correlations[first, second] = mean / np.where(first == second, 1.0, np.sqrt(2.0))
    correlations = correlations + correlations.T - np.diag(np.diag(correlations))

    values, vectors = np.linalg.eigh(correlations)
    values = np.maximum(values, _ERROR)
    root = shape.spread[:, np.newaxis] * vectors * np.sqrt(values)
    axes, lengths, _ = np.linalg.svd(root)
    part = 1.0 if shape.part is None else shape.part
    if np.sum(lengths) > _WORTH * np.sum(np.sqrt(part) * shape.spread):
        return None
    # Spreads far apart leave axes so short that rounding makes anything of them, or 0.
    lengths = np.maximum(lengths, max(_ROUNDING * float(lengths[0]), SMALLEST))
    matrix = np.ascontiguousarray(axes)
    return AxesCurator(curator, shape.center, matrix, lengths, shape.part)


def turned_mean(
    curator: AxesCurator, shape: Shape, mean_of: Callable[[AxesCurator, Shape, Floats], FoundMean]
) -> Estimate:
    """Return the mean of columns, by that of their principal axes.

    Parameters
    ----------
    curator : AxesCurator
    shape : Shape
        Of the columns.
    mean_of : callable
        Returns the mean along the axes, given their shape and what rows are divided by.
    """
    zeros = np.zeros(shape.spread.size)
    # What was seen of columns says nothing of axes.
    axes = replace(
        shape,
        sample=curator,
        center=zeros,
        spread=curator.spread,
        center_noise=None,
        first=None,
    )
    found = mean_of(curator, axes, optimal_scale(axes.spread, 2.0))
    part = 1.0 if shape.part is None else shape.part

    def turned(std: Floats) -> Floats:
        return np.sqrt(curator.matrix**2 @ std**2) / part

    return stated(
        shape,
        replace(
            found,
            value=shape.center + curator.matrix @ found.value,
            noise_std=turned(found.noise_std),
            details={**found.details, "rotated": True},
            variation=turned(found.variation * curator.spread) * np.sqrt(part) / shape.spread,
            clipping_std=None if found.clipping_std is None else turned(found.clipping_std),
            guessed=None if found.guessed is None else turned(found.guessed),
        ),
    )
