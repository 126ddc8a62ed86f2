"""What a ledger writes down: a charge, and what the release that it pays for promises.

Costs can be added up only if they are for the same promise:

- A release under ``"replace"`` may show how many rows there are. Next to it, no release can hide
  whether a row is there.
- A release that is mu-GDP under ``"add-remove"`` is only 2 mu-GDP under ``"replace"``, because
  replacing a row is removing one and adding one.
- A release that protects rows costs a person with k rows up to k mu.

So every ledger has one promise, decided by whoever made the ledger, or else by the first charge.
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
        Which change to one row or person is hidden, as for `prolate.mean`.
    unit : str or None
        The column that says who the protected persons are; None if rows are protected.

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
        """The arguments that ask for this promise, in words."""
        unit = "no unit" if self.unit is None else f"unit={self.unit!r}"
        return f"neighbors={self.neighbors!r} and {unit}"


@dataclass(frozen=True)
class Charge:
    """What a release is about to cost.

    Attributes
    ----------
    budget : Budget or None
        None if all that is released is public under the promise. It then costs nothing, but
        still decides what other releases may promise.
    promise : Promise
        What the release hides.
    delta : float
        What finding out which groups there are costs in addition to the budget.
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
        ``"gdp"`` if every step was Gaussian; otherwise only `rho` is guaranteed.
    time : str
        When it was charged: UTC, in ISO 8601, by the clock of the machine that charged.
    delta : float
        What finding out which groups there are cost in addition; 0 if nothing.
    neighbors : {"replace", "add-remove"}
        Which change to one row or person it hides.
    unit : str or None
        The column that says who the protected persons are; None if rows are protected.
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
