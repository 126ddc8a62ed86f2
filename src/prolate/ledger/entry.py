"""What a ledger writes down: a charge, and what the release that it pays for promises.

Prices add up only where they are prices of one promise. A release that hides what one row
holds (``"replace"``) may show how many rows there are, so that beside it none hides whether a
row is there; one that hides that for mu is up to 2 mu where rows are replaced, which is to
remove one and to add one; and one that protects rows costs a person of k rows up to k mu. So a
ledger holds one promise: the first charge decides which, or whoever made it.
"""

from __future__ import annotations

from dataclasses import dataclass

from prolate.budget import Budget, Composition, Neighbors

__all__ = ["Charge", "Entry", "Promise"]


@dataclass(frozen=True)
class Promise:
    """What a release hides.

    Attributes
    ----------
    neighbors : {"replace", "add-remove"}
        What may happen to the one who is protected.
    unit : str or None
        The column that says whose a row is, where persons are protected; None is a row.

    Examples
    --------
    >>> print(Promise("add-remove", "patient_id"))
    whether one person (patient_id) is there
    """

    neighbors: Neighbors = "replace"
    unit: str | None = None

    def __str__(self) -> str:
        one = "row" if self.unit is None else f"person ({self.unit})"
        if self.neighbors == "replace":
            return f"what one {one} holds"
        return f"whether one {one} is there"

    @property
    def arguments(self) -> str:
        """The arguments that ask for it."""
        unit = "no unit" if self.unit is None else f"unit={self.unit!r}"
        return f"neighbors={self.neighbors!r} and {unit}"


@dataclass(frozen=True)
class Charge:
    """What a release is about to cost.

    Attributes
    ----------
    budget : Budget or None
        None where all that is released is public, given the promise: it costs nothing, and
        decides what the others may promise all the same.
    promise : Promise
        What the release hides.
    delta : float
        What it costs beside the budget, for finding out which groups there are.
    """

    budget: Budget | None
    promise: Promise = Promise()
    delta: float = 0.0

    @property
    def mu(self) -> float:
        """What it costs, as mu-GDP; 0 if nothing."""
        return self.budget.mu if self.budget is not None else 0.0

    @property
    def composition(self) -> Composition:
        """Whether every step is Gaussian."""
        return self.budget.composition if self.budget is not None else "gdp"


@dataclass(frozen=True)
class Entry:
    """One charge of a ledger.

    Attributes
    ----------
    id : int
        1, 2, 3, ... in the order of the charges.
    label : str
        What was released.
    mu, rho : float
        What it cost, as mu-GDP and as ``rho = mu**2 / 2``; 0 for what is public, such as the
        number of rows under ``"replace"``.
    composition : {"gdp", "zcdp"}
        ``"gdp"`` if every step was Gaussian, else only `rho` is meant.
    time : str
        When it was charged: UTC, ISO 8601, by the clock of the machine that charged.
    delta : float
        What it cost beside that, for finding out which groups there are; 0 if nothing.
    neighbors : {"replace", "add-remove"}
        What it hides of the one who is protected.
    unit : str or None
        The column of those who are protected; None is a row.
    """

    id: int
    label: str
    mu: float
    rho: float
    composition: Composition
    time: str
    delta: float = 0.0
    neighbors: Neighbors = "replace"
    unit: str | None = None

    @property
    def promise(self) -> Promise:
        """What it hides."""
        return Promise(self.neighbors, self.unit)
