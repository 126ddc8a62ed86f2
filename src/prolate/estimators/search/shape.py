"""What is known of the rows before they are summed: where they are, and how spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Bools, Floats, Integers
from prolate.curator import Searcher
from prolate.errors import listed
from prolate.estimators.search.first_mean import FirstMean
from prolate.estimators.search.rare_column import RareColumn

__all__ = ["Shape"]

_SINGLE = (
    "Nothing but a single value was seen of {}. Noise would hide other values of a few rows, and "
    "intervals do not allow for them."
)


@dataclass(frozen=True, eq=False)
class Shape:
    """What the searches found.

    Attributes
    ----------
    rows : float
        Their number, or a private estimate of it.
    sample : Searcher
        Of the rows that were searched: all of them, or a random sample.
    center, spread : float64 arrays of shape (d,)
        Of every column.
    roughness : float
        Noise of the centers over the spreads, root mean square.
    warnings : tuple of str
    first : FirstMean, optional
        Taken where there are such columns.
    center_noise : float64 array of shape (d,), optional
        Of the centers, where they are private means of the searched rows.
    constant : bool array of shape (d,), optional
        Which columns showed a single value, and no other.
    hidden_part : float
        Part of the rows in which noise would hide others, if all columns did; else 0.
    rare_column : RareColumn, optional
        What the values of a single column are like that are nearly all the same.
    heavy : bool array of shape (d,), optional
        Which columns are a few that reach much farther than the others (`apart.py`), if they
        were looked for.
    part : float64 array of shape (d,), optional
        Of each column's values that are there, where some are missing.
    absent : bool array of shape (d,), optional
        Which columns have as good as no values, if any have.
    lost : bool array of shape (d,), optional
        Of which columns it is not known how large their values are, if of any.
    unseen_tail : float
        Part of the values that make the tail of a single column, if it has one: where tails cannot
        be seen; else 0.
    """

    rows: float
    sample: Searcher
    center: Floats
    spread: Floats
    roughness: float
    warnings: tuple[str, ...] = ()
    first: FirstMean | None = None
    center_noise: Floats | None = None
    constant: Bools | None = None
    hidden_part: float = 0.0
    rare_column: RareColumn | None = None
    heavy: Bools | None = None
    part: Floats | None = None
    absent: Bools | None = None
    lost: Bools | None = None
    unseen_tail: float = 0.0

    @property
    def searched(self) -> float:
        """How many rows were searched."""
        return self.rows * self.sample.fraction

    @property
    def present(self) -> Floats | float:
        """How many values each column has, about."""
        return self.rows if self.part is None else self.rows * self.part

    @property
    def unknown(self) -> Bools:
        """Columns of which nothing is known: what is said of them is infinitely unsure."""
        unknown = np.zeros(self.center.size, dtype=np.bool_)
        for columns in (self.absent, self.lost):
            unknown = unknown if columns is None else unknown | columns
        return unknown

    @property
    def varies(self) -> Bools:
        """Columns that showed more than a single value."""
        return np.ones(self.center.size, np.bool_) if self.constant is None else ~self.constant

    @property
    def of_rare(self) -> Bools:
        """Columns of rare values, of which a first mean was taken."""
        return np.zeros(self.center.size, np.bool_) if self.first is None else self.first.rare

    @property
    def has_rare(self) -> bool:
        """Whether nearly all values of some columns are the same, so that the others count."""
        return bool(np.any(~self.varies | self.of_rare))

    @property
    def center_off(self) -> Floats:
        """Standard deviation of the centers, at most the spreads."""
        noise = self.roughness * self.spread if self.center_noise is None else self.center_noise
        return np.minimum(noise, self.spread)

    def saying(self, warning: str) -> Shape:
        """Return it with one more warning."""
        return replace(self, warnings=(*self.warnings, warning))

    def single_valued(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return what to say of those columns that showed a single value, beside others."""
        single = ~self.varies if self.absent is None else ~(self.varies | self.absent)
        if not (single.any() and self.varies.any()):
            return ()
        which = listed([names[j] for j in np.flatnonzero(single).tolist()], 3)
        return (_SINGLE.format(which),)

    def of(self, index: Integers) -> Shape:
        """Return that of some columns, none of which are heavy."""
        first = None if self.first is None else self.first.of(index)
        return replace(
            self,
            center=self.center[index],
            spread=self.spread[index],
            first=None if first is None or not first.rare.any() else first,
            center_noise=None if self.center_noise is None else self.center_noise[index],
            constant=None if self.constant is None else self.constant[index],
            heavy=None,
            part=None if self.part is None else self.part[index],
            absent=None if self.absent is None else self.absent[index],
            lost=None if self.lost is None else self.lost[index],
        )
