"""The arithmetic of a ledger: what is spent, what still fits, and what a refusal says.

Sums are exact.  mu is stored as the hexadecimal float it is, and mu**2 adds up
as a fraction.  While every entry is Gaussian the rule is
``sum(mu_i**2) <= limit.mu**2``; from the first one that is only rho-zCDP on it
is ``sum(rho_i) <= limit.for_zcdp().rho``, which is the same sum (rho is half of
mu**2) under a limit that may be lower.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context
from fractions import Fraction

from prolate.budget import Budget, Composition

__all__ = ["Account", "Entry"]

_SMALLEST, _LARGEST = 1e-9, 1e4  # the mu that a Budget can have
# Relative, on the sum of squares: ten charges of rho = 0.1 fit a limit of 1,
# although the stored floats add up to a little more.
_SLACK = Fraction(1, 10**12)


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
        What it cost, as mu-GDP and as ``rho = mu**2 / 2``.
    composition : {"gdp", "zcdp"}
        ``"gdp"`` if every step was Gaussian, else only `rho` is meant.
    time : str
        When it was charged: UTC, ISO 8601, by the clock of the machine that charged.
    """

    id: int
    label: str
    mu: float
    rho: float
    composition: Composition
    time: str


@dataclass(frozen=True)
class Account:
    """All that a ledger holds: a name, a limit, and the entries, oldest first."""

    dataset: str
    limit: Budget
    entries: tuple[Entry, ...] = ()

    @property
    def composition(self) -> Composition:
        """Whether every entry is Gaussian."""
        return _composition(self.entries)

    @property
    def spent(self) -> Budget | None:
        """What all entries cost together, or None before the first."""
        if not self.entries:
            return None
        return _budget(math.sqrt(_total(self.entries)), self.composition)

    @property
    def remaining(self) -> Budget | None:
        """The largest charge of the ledger's own composition that still fits, or None."""
        left = self._left(self.composition)
        return _budget(left, self.composition) if left else None

    def fits(self, budget: Budget) -> bool:
        """Return whether `budget` may be charged."""
        charges: tuple[Entry | Budget, ...] = (*self.entries, budget)
        return _total(charges) <= _most(self.limit, _composition(charges))

    def allows(self, limit: Budget) -> bool:
        """Return whether `limit` covers what is spent."""
        return _total(self.entries) <= _most(limit, self.composition)

    def charged(self, budget: Budget, label: str, time: str) -> Account:
        """Return the account with one more entry."""
        rho = 0.5 * budget.mu * budget.mu
        number = len(self.entries) + 1
        entry = Entry(number, label, budget.mu, rho, budget.composition, time)
        return replace(self, entries=(*self.entries, entry))

    def seal(self) -> str:
        """Return a checksum of everything: damage shows, a forger is not kept out."""
        entries = [(e.id, e.label, e.mu.hex(), e.composition, e.time) for e in self.entries]
        content = json.dumps([self.dataset, self.limit.to_dict(), entries], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    def refusal(self, asked: Budget, place: object) -> str:
        """Return why `asked` does not fit: the limit, what is spent, what would fit."""
        composition = _composition([*self.entries, asked])
        total = math.sqrt(_total(self.entries))
        spent = f"{_cost(total, composition)} is" if self.entries else "nothing is"
        left = self._left(composition)
        # Rounded down, so that what is said to fit does; within the slack, so that a rho of
        # 1 is not said to be 0.999999 for the rounding of its root.
        largest = _cost(left * (1 + 1e-13), composition, rounding=ROUND_FLOOR)
        most = f"at most {largest} still fits" if left else "nothing more fits"
        why = ""
        if composition == "zcdp":
            why = " It counts in rho because not every step is Gaussian."
        return (
            f"A charge of {_cost(asked.mu, composition)} exceeds the budget in {place}: the "
            f"limit is {_stated(self.limit, composition)}, {spent} spent, and {most}.{why}"
        )

    def limit_refusal(self, limit: Budget, place: object) -> str:
        """Return why `limit` cannot be set."""
        spent = _cost(math.sqrt(_total(self.entries)), self.composition)
        return (
            f"The limit of {place} cannot become {_stated(limit, self.composition)}, because "
            f"{spent} is spent already."
        )

    def _left(self, composition: Composition) -> float:
        """Return the largest mu that still fits, or 0 if only slack or less is left."""
        allowed = _allowed(self.limit, composition)
        left = allowed - _total(self.entries)
        mu = math.sqrt(left) if left > allowed * _SLACK else 0.0
        return mu if mu >= _SMALLEST else 0.0


def _total(charges: Iterable[Entry | Budget]) -> Fraction:
    """Return the exact sum of mu**2."""
    return sum((Fraction(charge.mu) ** 2 for charge in charges), Fraction(0))


def _composition(charges: Iterable[Entry | Budget]) -> Composition:
    return "zcdp" if any(charge.composition == "zcdp" for charge in charges) else "gdp"


def _allowed(limit: Budget, composition: Composition) -> Fraction:
    """Return the exact mu**2 that `limit` allows."""
    return Fraction(limit.mu if composition == "gdp" else limit.for_zcdp().mu) ** 2


def _most(limit: Budget, composition: Composition) -> Fraction:
    return _allowed(limit, composition) * (1 + _SLACK)


def _budget(mu: float, composition: Composition) -> Budget:
    # The rounding of a root must not push it out of what a Budget may be.
    budget = Budget(mu=min(max(mu, _SMALLEST), _LARGEST))
    return budget if composition == "gdp" else budget.for_zcdp()


def _stated(limit: Budget, composition: Composition) -> str:
    return str(limit if composition == "gdp" else limit.for_zcdp())


def _cost(mu: float, composition: Composition, *, rounding: str = ROUND_HALF_EVEN) -> str:
    six = Context(prec=6, rounding=rounding).create_decimal_from_float
    rho = f"rho = {float(six(0.5 * mu * mu)):g}"
    return rho if composition == "zcdp" else f"mu = {float(six(mu)):g} ({rho})"
