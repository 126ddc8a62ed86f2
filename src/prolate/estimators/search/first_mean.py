"""A first mean of rows in which some columns are nearly constant, and what it needs.

It has the same noise in all such columns, so those of the popular values stand far out of it.
`unknown.py` learns their spreads from it, and `clipping/rare_mean.py` makes it part of the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Bools, Floats, Integers
from prolate.curator import Measurer, Searcher
from prolate.estimators.columns import SomeColumns
from prolate.estimators.lengths.clip import clipped_sum
from prolate.estimators.lengths.expected import Expected, expect
from prolate.estimators.lengths.norms import measure_norms, safe_cell
from prolate.estimators.search.rare import RareValues
from prolate.estimators.shares import radius_part
from prolate.theory import effective_columns

__all__ = ["FirstMean", "are_mostly", "first_mean", "measure_lengths", "view_of"]

_FEWEST = 4  # columns of rare values that show what they have in common, ...
_MANY = 64  # ... and what clipping takes from each so well that it need not be measured
_FEWER = 0.3  # of the rows that a safe radius leaves out
_PRECISE, _MOST = 10.0, 0.02  # share of the norms, over the usual one, and the most


@dataclass(frozen=True, eq=False)
class FirstMean:
    """A first mean, in which columns of rare values have one noise.

    Attributes
    ----------
    value, noise : float64 arrays of shape (d,)
        The mean, and the standard deviation of its noise.
    bulk, step : float64 arrays of shape (d,)
        The bulk's value of columns of rare values, NaN for others, and how far rare values
        are from it.
    side : float64 array of shape (d,), optional
        To which side of the bulk the rare values are, 1 or -1, where that is so in all of
        these columns; then the others, of any side, have no part in the first mean.
    apart : float
        Root mean square distance from the bulk, over rows and columns of rare values.
    several : bool
        Whether rare values are of several sizes, as amounts beside flags are.
    lost : float
        What clipping likely took from all of these columns, and was given back: a guess, by the
        rows that the noise of the lengths may hide.
    """

    value: Floats
    noise: Floats
    bulk: Floats
    step: Floats
    side: Floats | None
    apart: float
    several: bool
    lost: float

    @property
    def rare(self) -> Bools:
        """Which columns are of rare values."""
        return ~np.isnan(self.bulk)

    @property
    def mostly_rare(self) -> bool:
        """Whether most columns are of rare values; how rare, tells what clipping takes."""
        return are_mostly(self.rare) and not self.of_all

    @property
    def of_all(self) -> bool:
        """Whether most columns are of rare values, on either side, few or of several sizes.

        Then it is a mean of the other columns, too.
        """
        unlike = self.several or int(np.count_nonzero(self.rare)) < _MANY
        return are_mostly(self.rare) and unlike and self.side is None

    def far(self, rows: float, scale: Floats) -> tuple[float, float]:
        """Return how many of so many rows have a rare value, about, and how long these are."""
        rare = self.rare
        part = np.minimum((self.apart / self.step[rare]) ** 2, 1.0)
        length = float(np.max(self.step[rare] / scale[rare]))
        return rows * float(np.sum(part)), length

    def of(self, index: Integers) -> FirstMean:
        """Return that of some columns."""
        side = None if self.side is None else self.side[index]
        value, noise = self.value[index], self.noise[index]
        return replace(
            self, value=value, noise=noise, bulk=self.bulk[index], step=self.step[index], side=side
        )


def are_mostly(rare: Bools) -> bool:
    """Return whether more than half of the columns are `rare`, and enough to learn from."""
    return bool(np.mean(rare) > 0.5 and np.count_nonzero(rare) >= _FEWEST)


def first_mean(
    curator: Searcher,
    rows: float,
    center: Floats,
    spread: Floats,
    *,
    bulk: Floats,
    rare: RareValues,
    side: Floats | None,
    share: float,
) -> FirstMean:
    """Return a first mean, scaled by `spread`, for a share of mu**2.

    `bulk` and `side` are as of `FirstMean`.
    """
    index = np.arange(bulk.size) if side is None else np.flatnonzero(~np.isnan(bulk))
    view, middle, scale = view_of(curator, index), center[index], spread[index]
    expected, share = measure_lengths(
        view, rows, middle, scale, scale, share=share, one_sided=side is not None
    )
    few = _FEWER * expected.clipped
    expected = replace(expected, cell=safe_cell(expected.norms, few), clipped=few)
    radius = expected.safe
    total, std = clipped_sum(
        view,
        middle,
        scale,
        radius,
        share=share,
        label="first mean",
        side=None if side is None else side[index],
    )
    factor = expected.mean_factor(radius)
    kept = rows * factor
    value, noise = center.copy(), spread.copy()
    value[index], noise[index] = middle + total / kept, std / kept
    return FirstMean(
        value, noise, bulk, rare.step, side, rare.spread, rare.mixed, lost=1.0 - factor
    )


def view_of(curator: Searcher, index: Integers) -> Measurer:
    """Return a curator of the columns `index`, in order: of all of them, the curator itself."""
    return curator if index.size == curator.dimension else SomeColumns(curator, index)


def measure_lengths(
    curator: Measurer,
    rows: float,
    center: Floats,
    spread: Floats,
    scale: Floats,
    *,
    share: float,
    one_sided: bool,
) -> tuple[Expected, float]:
    """Return what to expect by how long the scaled rows are, and the share that is left."""
    effective = effective_columns(spread, scale)
    part = radius_part(curator, rows, effective)
    for_norms = max(part, min(_PRECISE * part, _MOST)) * share
    norms = measure_norms(curator, center=center, scale=scale, spread=spread, share=for_norms)
    share = min(share - for_norms, curator.remaining)
    return expect(curator, rows, spread, scale, norms, share=share, one_sided=one_sided), share
