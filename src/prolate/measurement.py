"""What a curator hands out, and what estimators ask of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from prolate.arrays import Floats, Limits
from prolate.budget import Neighbors
from prolate.queries import Query

__all__ = ["Measurement", "Measurer", "Place", "Progress", "Searcher", "Table"]


class Place(NamedTuple):
    """Where rows were dealt to separate parts: which time, and which of the parts."""

    dealt: int
    parts: tuple[int, ...]


class Progress(Protocol):
    """Called as rows are read: what for, how many so far, of how many (if known)."""

    def __call__(self, label: str, rows_done: int, rows_total: int | None, /) -> object:
        """Report progress; what is returned makes no difference."""


class Measurer(Protocol):
    """What a sum of rows needs: a curator, or a curator seen in other coordinates."""

    @property
    def neighbors(self) -> Neighbors:
        """What is hidden."""

    @property
    def remaining(self) -> float:
        """The share of mu**2 that is left."""

    @property
    def fraction(self) -> float:
        """The part of the rows that it measures: 1, but for samples."""

    def mu_of(self, share: float) -> float:
        """Return the mu that `share` of the budget makes."""

    def measure(self, query: Query, *, share: float, label: str) -> Measurement:
        """Charge, sum, add noise."""


class Searcher(Measurer, Protocol):
    """What the searches need: a curator, or a curator of some of its columns."""

    @property
    def dimension(self) -> int:
        """Number of columns d."""

    @property
    def bounds(self) -> Limits | None:
        """Public bounds, float64 arrays of shape (d,)."""


class Table(Searcher, Protocol):
    """What an estimate of all columns needs: a curator, or some of its columns."""

    def sampled(self, wanted: float, rows: float) -> Table:
        """Return the same of a random sample of about `wanted` of the rows, or of all of them."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """A query's noisy answer, with what it cost.

    Attributes
    ----------
    values : float64 array of shape (size,)
        Sum over rows plus noise, in the query's integer units.
    std : float
        Standard deviation of the noise, same units.
    label, query : str
        What it was for, and what was asked.
    share, mu : float
        Share of mu**2 of the budget, and the mu that it makes.
    sensitivity : float
        l2 sensitivity, same units.
    each : float64 array of shape (size,), optional
        Standard deviation of every value's noise, where they differ; `std` is the largest then.
    fraction : float
        The part of the rows that it is of.
    place : Place, optional
        Which of several separate parts of the rows these are.
    """

    values: Floats
    std: float
    label: str
    query: str
    share: float
    mu: float
    sensitivity: float
    each: Floats | None = None
    fraction: float = 1.0
    place: Place | None = None

    @property
    def noise(self) -> Floats | float:
        """Standard deviation of every value's noise."""
        return self.std if self.each is None else self.each
