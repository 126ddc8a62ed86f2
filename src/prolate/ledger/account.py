"""The arithmetic of a ledger: what is spent, what still fits, and what a refusal says.

Sums are exact.  mu is stored as the hexadecimal float it is, and mu**2 adds up
as a fraction.  While every entry is Gaussian the rule is
``sum(mu_i**2) <= limit.mu**2``; where one is only rho-zCDP it is
``sum(rho_i) <= limit.for_zcdp().rho``, which is the same sum (rho is half of
mu**2) under a limit that may be lower.  Where it is (limits of epsilon and delta),
the first entry decides, before anything is released: after a Gaussian one, those that
are only zCDP are refused.  Were they not, an analyst could choose, by what was
released, the composition whose delta is larger there, and the larger of the two for
each outcome may add up to more than either.

**Deltas.** Finding out which groups there are takes a delta_i of its own: some event,
independent of all else and of probability at least 1 - delta_i for either of two neighbors,
makes the release mu_i-GDP (`prolate.api.terms`). A ledger may set a part D of its limit's delta
aside for that. The rules are then ``sum(delta_i) <= D``, and the one above for a limit of
(epsilon, delta - D). D is fixed beforehand: were the rule one for epsilon and delta -
sum(delta_i), an analyst could choose, by what was released, what to spend on each, and the
larger of two probabilities for each outcome adds up to more than the larger of two sums.

*Proof that the limit is kept.* Let a coin thin each event to a probability of exactly
1 - delta_i for both neighbors, and a last coin fail so often that all coins together succeed
with probability 1 - D, whatever was asked for on the way; there is room for it, as
prod(1 - delta_i) >= 1 - sum(delta_i) >= 1 - D. Let P and Q be the distributions of all
releases together for the two neighbors, and P', Q' the same given that no coin fails; so on
every set P <= (1 - D) P' + D, and (1 - D) Q' <= Q. P' and Q' belong to mu_i-GDP releases whose
mu_i**2 never add up to more than mu**2, that of (epsilon, delta - D); so they are mu-GDP (Dong,
Roth, Su 2019, Corollary 2; Smith, Thakurta 2022 where the mu_i are chosen on the way), and
P' <= e**epsilon Q' + delta - D. Together P <= (1 - D) (e**epsilon Q' + delta - D) + D
<= e**epsilon Q + delta. Where a release is only zCDP, so are P' and Q', and the limit in rho is
one whose delta at epsilon is at most delta - D.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from prolate.budget import LEAST_MU, MOST_MU, Budget, Composition
from prolate.errors import BudgetError, shown
from prolate.ledger.entry import Charge, Entry, Promise
from prolate.ledger.limit_change import LimitChange
from prolate.ledger.words import in_words, limit_in_words

__all__ = ["Account", "check_keys_delta"]

# Relative, on the sum of squares: ten charges of rho = 0.1 fit a limit of 1,
# although the stored floats add up to a little more.
_SLACK = Fraction(1, 10**12)


@dataclass(frozen=True)
class Account:
    """All that a ledger holds: a name, a limit, and the entries, oldest first.

    `keys_delta` is the part of the limit's delta that is set aside for finding groups,
    `stated` what was said to be promised when it was made, and `changes` those of the limit,
    oldest first.
    """

    dataset: str
    limit: Budget
    entries: tuple[Entry, ...] = ()
    keys_delta: float = 0.0
    stated: Promise | None = None
    changes: tuple[LimitChange, ...] = ()

    @property
    def promise(self) -> Promise | None:
        """What all releases hide, or None before that is decided."""
        if self.stated is None and self.entries:
            return self.entries[0].promise
        return self.stated

    @property
    def composition(self) -> Composition:
        """Whether every entry is Gaussian."""
        return _composition(self.entries)

    @property
    def room(self) -> Budget:
        """The limit, but for the part of its delta that is set aside."""
        if not self.keys_delta:
            return self.limit
        stated = self.limit.stated
        return Budget(epsilon=stated["epsilon"], delta=_rest(stated["delta"], self.keys_delta))

    @property
    def delta(self) -> float | None:
        """The delta at which prices are told as epsilons: the limit's, but for `keys_delta`."""
        if "delta" not in self.limit.stated:
            return None
        whole = self.limit.stated["delta"]
        return float(f"{_rest(whole, self.keys_delta):.6g}") if self.keys_delta else whole

    @property
    def spent(self) -> Budget | None:
        """What all entries cost together, or None if nothing."""
        total = _total(self.entries)
        return _budget(math.sqrt(total), self.composition) if total else None

    @property
    def spent_delta(self) -> float:
        """What all entries cost of `keys_delta`, or a little more."""
        exact = _deltas(self.entries)
        value = float(exact)
        return value if Fraction(value) >= exact else math.nextafter(value, 1.0)

    @property
    def cost(self) -> Budget | None:
        """`spent`, with `spent_delta` in it: what it promises holds for everything together."""
        spent, delta = self.spent, self.spent_delta
        return spent.with_keys(delta) if spent is not None and delta else spent

    @property
    def remaining(self) -> Budget | None:
        """The largest charge of the ledger's own composition that still fits, or None."""
        left = self._left(self.composition)
        return _budget(left, self.composition) if left else None

    def told(self) -> dict[str, str]:
        """Return in words what the limit is, what is spent and what is left."""
        told = partial(in_words, delta=self.delta, digits=4)
        spent, left = self.spent, self.remaining
        return {
            "limit": _stated(self, "gdp"),
            "spent": "nothing" if spent is None else told(spent, up=True),
            "remaining": "nothing" if left is None else told(left, up=False),
        }

    def fits(self, charge: Charge) -> bool:
        """Return whether `charge` may be made."""
        charges: tuple[Entry | Charge, ...] = (*self.entries, charge)
        fits = _total(charges) <= _most(self, _composition(charges))
        kept = self._promises(charge) and self._decided(charge)
        return fits and kept and self._finds(charge.delta)

    def allows(self, limit: Budget, keys_delta: float) -> bool:
        """Return whether another limit covers what is spent."""
        other = replace(self, limit=limit, keys_delta=keys_delta)
        return other._finds(0.0) and _total(self.entries) <= _most(other, self.composition)

    def epsilon(self, budget: Budget, like: Budget) -> float | None:
        """Return the epsilon of a budget at the delta of `like`, if it has one.

        What is set aside of it for finding groups is no part of the conversion.
        """
        if "delta" not in like.stated:
            return None
        return budget.epsilon_at(_rest(like.stated["delta"], self.keys_delta))

    def _promises(self, charge: Charge) -> bool:
        """Return whether a charge is the price of what all others promise."""
        return self.promise in (None, charge.promise)

    def _decided(self, charge: Charge) -> bool:
        """Return whether a charge keeps to the rule that the first entry decided."""
        if charge.composition == "gdp" or _allowed(self, "gdp") == _allowed(self, "zcdp"):
            return True
        priced = [entry for entry in self.entries if entry.mu]
        return not priced or priced[0].composition == "zcdp"

    def _finds(self, delta: float) -> bool:
        spent = _deltas(self.entries) + Fraction(delta)
        return spent <= Fraction(self.keys_delta) * (1 + _SLACK)

    def charged(self, charge: Charge, label: str, time: str) -> Account:
        """Return the account with one more entry."""
        mu = charge.mu
        entry = Entry(
            id=len(self.entries) + 1,
            label=label,
            mu=mu,
            rho=0.5 * mu * mu,
            composition=charge.composition,
            time=time,
            delta=float(charge.delta),
            neighbors=charge.promise.neighbors,
            unit=charge.promise.unit,
        )
        return replace(self, entries=(*self.entries, entry))

    def limited(self, limit: Budget, keys_delta: float, time: str) -> Account:
        """Return the account with another limit, and the change of it."""
        change = LimitChange(
            id=len(self.changes) + 1,
            time=time,
            charges=len(self.entries),
            old=self.limit,
            new=limit,
            old_keys_delta=self.keys_delta,
            new_keys_delta=keys_delta,
        )
        changes = (*self.changes, change)
        return replace(self, limit=limit, keys_delta=keys_delta, changes=changes)

    def seal(self) -> str:
        """Return a checksum of everything: damage shows, a forger is not kept out.

        Without changes of the limit it is that of earlier versions, which record none.
        """
        entries = [
            (e.id, e.label, e.mu.hex(), e.composition, e.time, e.delta.hex(), e.neighbors, e.unit)
            for e in self.entries
        ]
        stated = None if self.stated is None else (self.stated.neighbors, self.stated.unit)
        head = [self.dataset, self.limit.to_dict(), self.keys_delta.hex(), stated]
        changes = [
            (c.id, c.time, c.charges, c.old.to_dict(), c.old_keys_delta.hex(), c.new.to_dict(),
             c.new_keys_delta.hex())
            for c in self.changes
        ]  # fmt: skip
        content = json.dumps([*head, entries, *([changes] if changes else [])], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    def refusal(self, asked: Charge, place: object) -> str:
        """Return why `asked` does not fit: the limit, what is spent, what would fit."""
        if not self._promises(asked):
            return self._promises_else(asked, place)
        if not self._finds(asked.delta):
            return self._finds_nothing(place, asked.delta)
        if not self._decided(asked):
            return (
                f"All releases in {place} so far used Gaussian noise only, and this one does not. "
                f"It would lower the limit from {_stated(self, 'gdp')} to "
                f"{_stated(self, 'zcdp')}, and which limit holds must be decided before the "
                "first release. Use another method, or state the limit as rho."
            )
        composition = _composition([*self.entries, asked])
        charge = asked.budget or Budget(mu=LEAST_MU)  # what is free always fits
        delta = charge.stated.get("delta", self.delta)
        total, left = math.sqrt(_total(self.entries)), self._left(composition)
        spent, fits = "nothing is", "nothing more fits"
        if total:
            spent = f"{in_words(_budget(total, composition), delta=delta, up=True)} is"
        if left:
            most = in_words(_budget(left, charge.composition), delta=delta, up=False)
            fits = f"at most {most} still fits"
        why = ""
        if composition == "zcdp":
            why = " It counts in rho because not every step is Gaussian."
        return (
            f"A charge of {in_words(charge, delta=delta, up=True)} exceeds the budget in {place}: "
            f"the limit is {_stated(self, composition)}, {spent} spent, and {fits}.{why}"
        )

    def _promises_else(self, asked: Charge, place: object) -> str:
        """Return why a release that hides something else is not charged here."""
        promise = self.promise or asked.promise
        who = f"{place} is for releases that" if self.stated else f"The releases in {place}"
        return (
            f"{who} hide {promise}, and this one would hide {asked.promise}. Costs can be added "
            f"up only if all releases hide the same: release with {promise.arguments}, or charge "
            "another ledger, which is a separate promise."
        )

    def _finds_nothing(self, place: object, delta: float) -> str:
        """Return why no groups can be found for a delta, and what to do."""
        instead = "Or give the groups: keys=['north', 'south']."
        if self.keys_delta:
            left = max(0.0, self.keys_delta - self.spent_delta)
            return (
                f"Finding out which groups there are costs delta = {delta:.4g} here. Of what "
                f"{place} sets aside for that, delta = {left:.4g} is left. Use a budget with a "
                f"smaller delta, if that is not too little. {instead}"
            )
        return (
            f"Finding out which groups there are costs a delta of its own, and {place} sets none "
            "aside for that: set its limit again, as epsilon and delta, with a keys_delta that "
            f"is part of delta. {instead}"
        )

    def limit_refusal(self, limit: Budget, keys_delta: float, place: object) -> str:
        """Return why `limit` cannot be set."""
        other = replace(self, limit=limit, keys_delta=keys_delta)
        total = _budget(math.sqrt(_total(self.entries)), self.composition)
        spent = in_words(total, delta=other.delta, up=True)
        if self.spent_delta:
            spent += f", and delta = {self.spent_delta:.4g} for finding groups,"
        return (
            f"The limit of {place} cannot become {_stated(other, self.composition)}, because "
            f"{spent} is spent already."
        )

    def _left(self, composition: Composition) -> float:
        """Return the largest mu that still fits, or 0 if only slack or less is left."""
        allowed = _allowed(self, composition)
        left = allowed - _total(self.entries)
        mu = math.sqrt(left) if left > allowed * _SLACK else 0.0
        return mu if mu >= LEAST_MU else 0.0


def check_keys_delta(limit: Budget, keys_delta: object) -> float:
    """Return the part of a limit's delta that is set aside, if it can be.

    Raises
    ------
    BudgetError
        If it is no number, or not less than a delta that the limit states.
    """
    if isinstance(keys_delta, bool) or not isinstance(keys_delta, float | int):
        raise BudgetError(f"keys_delta must be a number; got {shown(keys_delta)}.")
    if keys_delta == 0:
        return 0.0
    if "delta" not in limit.stated:
        raise BudgetError(
            "keys_delta is a part of the limit's delta; state the limit as epsilon and delta."
        )
    whole = limit.stated["delta"]
    if not (0.0 < keys_delta < whole and _rest(whole, keys_delta) > 0.0):
        raise BudgetError(
            f"keys_delta must lie between 0 and the limit's delta, {whole:g}; "
            f"got {shown(keys_delta)}."
        )
    Budget(epsilon=limit.stated["epsilon"], delta=_rest(whole, keys_delta))  # or says why not
    return float(keys_delta)


def _total(charges: Iterable[Entry | Charge]) -> Fraction:
    """Return the exact sum of mu**2."""
    each = Counter(charge.mu for charge in charges)  # sums of fractions are slow
    return sum((times * Fraction(mu) ** 2 for mu, times in each.items()), Fraction(0))


def _deltas(entries: Iterable[Entry]) -> Fraction:
    """Return the exact sum of the deltas."""
    each = Counter(entry.delta for entry in entries)
    return sum((times * Fraction(delta) for delta, times in each.items()), Fraction(0))


def _composition(charges: Iterable[Entry | Charge]) -> Composition:
    return "zcdp" if any(charge.composition == "zcdp" for charge in charges) else "gdp"


def _allowed(account: Account, composition: Composition) -> Fraction:
    """Return the exact mu**2 that the limit allows beside the delta that is set aside."""
    limits = (account.limit, account.room)
    return min(Fraction(b.mu if composition == "gdp" else b.for_zcdp().mu) ** 2 for b in limits)


def _most(account: Account, composition: Composition) -> Fraction:
    return _allowed(account, composition) * (1 + _SLACK)


def _rest(delta: float, keys_delta: float) -> float:
    """Return what is left of a delta for all else, rounded down, and by the slack."""
    exact = Fraction(delta) - Fraction(keys_delta) * (1 + _SLACK)
    value = float(exact)
    return value if Fraction(value) <= exact else math.nextafter(value, -1.0)


def _budget(mu: float, composition: Composition) -> Budget:
    # The rounding of a root must not push it out of what a Budget may be.
    budget = Budget(mu=min(max(mu, LEAST_MU), MOST_MU))
    return budget if composition == "gdp" else budget.for_zcdp()


def _stated(account: Account, composition: Composition) -> str:
    limit = account.limit if composition == "gdp" else account.limit.for_zcdp()
    return limit_in_words(limit, account.keys_delta)
