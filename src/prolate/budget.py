"""Privacy budgets in one currency.

A release whose measurements all have Gaussian noise is exactly mu-GDP (Dong, Roth, Su 2019),
and the squares of mu add up: ``mu**2 = sum(mu_i**2)``. In zCDP (Bun, Steinke 2016) the same
release has ``rho = mu**2 / 2``. A release with a step that is not Gaussian (the exponential
mechanism) is only rho-zCDP.

Conversions to and from epsilon and delta round to the safe side: epsilon and delta up, mu
down. Conversions between mu and rho round to the nearest double; the budget itself is `mu`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, cast, get_args

from prolate.calls import explained
from prolate.conversions import (
    SAFE,
    epsilon_from,
    gdp_log_delta,
    mu_from,
    zcdp_log_delta,
    zcdp_mu_from,
)
from prolate.digits import all_digits, number, root_below, rounded_up
from prolate.errors import BudgetError, InputError, shown

__all__ = [
    "LEAST_MU",
    "MOST_MU",
    "Budget",
    "Composition",
    "Neighbors",
    "check_neighbors",
]

Composition = Literal["gdp", "zcdp"]
Neighbors = Literal["replace", "add-remove"]

LEAST_MU, MOST_MU = 1e-6, 1e4
"""Below, small parts of a budget would ask for more noise than integers hold."""


def check_neighbors(neighbors: object) -> Neighbors:
    """Return `neighbors` if it is one of the two, or raise `InputError`."""
    if not isinstance(neighbors, str) or neighbors not in get_args(Neighbors):
        raise InputError(f"neighbors must be 'replace' or 'add-remove'; got {shown(neighbors)}.")
    return cast("Neighbors", neighbors)


class Budget:
    """A privacy budget, stated in exactly one currency.

    Give `epsilon` and `delta` together, or `rho`, or `mu`.

    Parameters
    ----------
    epsilon, delta : float
        For approximate differential privacy: ``epsilon > 0`` and ``0 < delta < 1``.
    rho : float
        For zero-concentrated differential privacy (zCDP): ``rho > 0``.
    mu : float
        For Gaussian differential privacy (GDP): ``mu > 0``.

    Attributes
    ----------
    mu, rho : float
        The same budget as mu-GDP, and as ``rho = mu**2 / 2``.
    composition : {"gdp", "zcdp"}
        ``"gdp"``: every measurement paid from it has Gaussian noise, and `mu` is exact.
        ``"zcdp"``: some have other noise, and only `rho` is guaranteed; see `for_zcdp`.
    keys_delta : float
        The part of delta that went into showing which groups there are; else 0. If there is one,
        only pairs of epsilon and delta are guaranteed; see `with_keys`. `mu` and `rho` are then
        those of the measurements alone.

    Raises
    ------
    BudgetError
        If no currency or more than one is given, or if a value is out of range. The budget
        must be between mu = 1e-6 and mu = 1e4.

    Notes
    -----
    The conversion between (epsilon, delta) and mu is exact in both directions
    (Balle, Wang 2018, Theorem 8), for delta down to 1e-300.

    Examples
    --------
    >>> b = Budget(epsilon=1, delta=1e-6)
    >>> round(1 / b.mu, 3)
    4.225
    >>> round(b.epsilon_at(delta=1e-6), 6)
    1.0
    """

    __slots__ = ("composition", "keys_delta", "mu", "stated")

    mu: float
    composition: Composition
    stated: Mapping[str, float]
    keys_delta: float

    @explained("prolate.Budget(epsilon=1, delta=1e-6)")
    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        mu: float | None = None,
    ) -> None:
        given = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu}
        stated = {name: number(name, value) for name, value in given.items() if value is not None}
        if set(stated) not in ({"epsilon", "delta"}, {"rho"}, {"mu"}):
            got = ", ".join(stated) or "nothing"
            raise BudgetError(
                "A budget is stated as epsilon and delta, or as rho, or as mu; "
                f"got {got}. Example: Budget(epsilon=1, delta=1e-6)."
            )
        for name, value in stated.items():
            if name == "delta":
                if not 0.0 < value < 1.0:
                    raise BudgetError(f"delta must lie strictly between 0 and 1; got {value:g}.")
            elif not (math.isfinite(value) and value > 0.0):
                raise BudgetError(f"{name} must be positive and finite; got {value:g}.")
        if "mu" in stated:
            exact = stated["mu"]
        elif "rho" in stated:
            exact = root_below(2.0 * min(stated["rho"], 1e300))  # whose double is a float
        else:
            exact = mu_from(stated["epsilon"], math.log(stated["delta"]))
        if not LEAST_MU <= exact <= MOST_MU:
            raise BudgetError(
                f"This budget is mu = {exact:.3g}; Prolate works between mu = 1e-6 "
                "(no answer would mean anything) and mu = 1e4 (nothing would be private)."
            )
        self._set(exact, "gdp", stated)

    def _set(
        self,
        mu: float,
        composition: Composition,
        stated: Mapping[str, float],
        keys_delta: float = 0.0,
    ) -> None:
        object.__setattr__(self, "mu", mu)
        object.__setattr__(self, "composition", composition)
        object.__setattr__(self, "stated", MappingProxyType(dict(stated)))
        object.__setattr__(self, "keys_delta", keys_delta)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Budget is immutable; make a new one instead of setting {name!r}.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Budget is immutable; {name!r} cannot be deleted.")

    def __reduce__(self) -> tuple[object, tuple[float, Composition, dict[str, float], float]]:
        return _restore, (self.mu, self.composition, dict(self.stated), self.keys_delta)

    @property
    def rho(self) -> float:
        """The budget as rho-zCDP: ``mu**2 / 2``; with `keys_delta`, of the measurements alone."""
        return 0.5 * self.mu * self.mu

    def for_zcdp(self) -> Budget:
        """Return the largest budget that steps in rho-zCDP may spend within this one.

        A budget stated as epsilon and delta becomes smaller, because the conversion from
        zCDP is not tight. One stated as rho or mu keeps its rho.

        Examples
        --------
        >>> b = Budget(epsilon=1, delta=1e-6).for_zcdp()
        >>> round(1 / b.mu, 3), b.composition
        (4.531, 'zcdp')
        """
        mu = self.mu
        if self.composition == "gdp" and "epsilon" in self.stated:
            mu = zcdp_mu_from(self.stated["epsilon"], math.log(self.stated["delta"]), mu)
        return _restore(mu, "zcdp", self.stated, self.keys_delta)

    def divided(self, parts: int | Fraction) -> Budget:
        """Return a budget with mu divided by `parts`, rounded down.

        Parameters
        ----------
        parts : int or Fraction
            What mu is divided by, at least 1.

        Raises
        ------
        BudgetError
            If `parts` is less than 1, or the result is below mu = 1e-6.

        Examples
        --------
        >>> Budget(mu=1).divided(4).mu
        0.25
        """
        if not parts >= 1:
            raise BudgetError(f"A budget is divided by 1 or more; got {shown(parts)}.")
        if parts == 1:
            return self  # as it was stated
        exact = Fraction(self.mu) / parts
        mu = float(exact)
        mu = mu if Fraction(mu) <= exact else math.nextafter(mu, 0.0)
        if mu < LEAST_MU:
            raise BudgetError(
                f"This budget divided by {float(parts):g} is mu = {mu:.3g}, too little for "
                "any answer to mean something; use a larger budget, or fewer parts."
            )
        return _restore(mu, self.composition, {"mu": mu}, self.keys_delta)

    def with_delta(self, delta: float) -> Budget:
        """Return the largest budget with this epsilon and another `delta`.

        `stated` remains as it was.

        Raises
        ------
        BudgetError
            If the budget is not stated as epsilon and delta.
        """
        if "delta" not in self.stated:
            raise BudgetError(f"A budget of {self} has no delta to be replaced.")
        smaller = Budget(epsilon=self.stated["epsilon"], delta=delta)
        if self.composition == "zcdp":
            smaller = smaller.for_zcdp()
        return _restore(smaller.mu, self.composition, self.stated, self.keys_delta)

    def with_keys(self, delta: float) -> Budget:
        """Return this budget with a `delta` that goes into showing which groups there are.

        What it then guarantees at any epsilon is twice this delta, or this delta and that of the
        measurements together if that is more (`prolate.api.terms` has the proof). So nothing is
        guaranteed at a smaller delta.

        Raises
        ------
        BudgetError
            If `delta` is not positive, or more than half of the stated delta.

        Examples
        --------
        >>> b = Budget(epsilon=1, delta=1e-6).with_delta(5e-7).with_keys(5e-7)
        >>> round(b.epsilon_at(delta=1e-6), 6)
        1.0
        """
        value = number("The delta of keys", delta)
        if not 0.0 < value <= self.stated.get("delta", 1.0) / 2.0:
            raise BudgetError(
                "What goes into showing groups is a positive part of delta, at most half of it; "
                f"got {value:g}."
            )
        return _restore(self.mu, self.composition, self.stated, value)

    def without_keys(self) -> Budget:
        """Return what is stated, for another release: none of it goes into showing groups yet.

        Examples
        --------
        >>> budget = Budget(epsilon=1, delta=1e-6)
        >>> budget.with_delta(5e-7).with_keys(5e-7).without_keys() == budget
        True
        """
        if not self.keys_delta:
            return self
        again = Budget(**self.stated)
        return again.for_zcdp() if self.composition == "zcdp" else again

    def delta_at(self, epsilon: float) -> float:
        """Return the smallest delta at which this budget is (`epsilon`, delta)-private.

        Parameters
        ----------
        epsilon : float
            At least 0.

        Returns
        -------
        float
            Rounded up.

        Raises
        ------
        BudgetError
            If `epsilon` is negative or not finite.

        Examples
        --------
        >>> f"{Budget(mu=1).delta_at(epsilon=1.0):.4f}"
        '0.1269'
        """
        value = number("epsilon", epsilon)
        if not (math.isfinite(value) and value >= 0.0):
            raise BudgetError(f"epsilon must be zero or positive, and finite; got {value:g}.")
        delta = math.nextafter(math.exp(self._log_delta(value)) * (1.0 + 1e-9), 1.0)
        if self.keys_delta:
            delta = math.nextafter(max(delta, self.keys_delta) + self.keys_delta, 1.0)
        return min(1.0, delta)

    def epsilon_at(self, delta: float) -> float:
        """Return the smallest epsilon at which this budget is (epsilon, `delta`)-private.

        Parameters
        ----------
        delta : float
            Strictly between 0 and 1.

        Returns
        -------
        float
            Rounded up; 0 if `delta` is large enough.

        Raises
        ------
        BudgetError
            If `delta` is not strictly between 0 and 1, or less than twice `keys_delta`.

        Examples
        --------
        >>> round(Budget(rho=0.5).epsilon_at(delta=1e-6), 3)
        4.887
        """
        value = number("delta", delta)
        if not 0.0 < value < 1.0:
            raise BudgetError(f"delta must lie strictly between 0 and 1; got {value:g}.")
        if value < 2.0 * self.keys_delta:
            raise BudgetError(
                f"Nothing is guaranteed at a delta of {value:g}, because showing which groups "
                f"there are took a part of delta; ask for {2.0 * self.keys_delta:g} or more."
            )
        if self.keys_delta:
            value = max(self.keys_delta, math.nextafter(value - self.keys_delta, 0.0))
        return epsilon_from(self._log_delta, math.log(value), self.rho)

    def _log_delta(self, epsilon: float) -> float:
        if self.composition == "gdp":
            return gdp_log_delta(epsilon, self.mu)
        return zcdp_log_delta(epsilon, self.rho)

    def to_dict(self) -> dict[str, object]:
        """Return the budget as plain values, ready for JSON; `from_dict` reads them."""
        keys = {"keys_delta": self.keys_delta} if self.keys_delta else {}
        stated = dict(self.stated)
        return {"mu": self.mu, "composition": self.composition, "stated": stated, **keys}

    @staticmethod
    def from_dict(fields: dict[str, object]) -> Budget:
        """Return the budget that `to_dict` described, or raise `BudgetError`."""
        try:
            mu, stated = fields["mu"], fields["stated"]
            composition = fields["composition"]
            if composition not in ("gdp", "zcdp") or not isinstance(stated, dict):
                raise KeyError("composition")
            budget = Budget(**stated)
            keys = number("keys_delta", fields.get("keys_delta", 0.0))
            if keys and "delta" in stated:
                budget = budget.with_delta(budget.stated["delta"] - keys)
            exact = number("mu", mu)
            if not (math.isfinite(exact) and exact > 0.0):
                raise BudgetError(f"mu must be positive and finite; got {exact:g}.")
            if exact > budget.mu * (1.0 + SAFE):
                raise KeyError("mu")
            found = _restore(exact, composition, budget.stated)
            return found.with_keys(keys) if keys else found
        except (KeyError, TypeError) as error:
            raise BudgetError(f"This does not describe a budget: {fields!r}.") from error

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Budget):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        stated = tuple(sorted(self.stated.items()))
        return hash((self.mu, self.composition, stated, self.keys_delta))

    def __repr__(self) -> str:
        stated = ", ".join(f"{name}={all_digits(value)}" for name, value in self.stated.items())
        zcdp = ".for_zcdp()" if self.composition == "zcdp" else ""
        keys = f".with_keys({all_digits(self.keys_delta)})" if self.keys_delta else ""
        return f"Budget({stated}){zcdp}{keys}"

    def __str__(self) -> str:
        # Never less than is spent, as whoever reads it takes it for what is guaranteed.
        stated = ", ".join(f"{name} = {all_digits(value)}" for name, value in self.stated.items())
        if self.keys_delta and "epsilon" in self.stated:
            return stated  # all of it together is that, and has no mu
        if self.composition == "zcdp":
            return stated if "rho" in self.stated else f"{stated} (rho = {rounded_up(self.rho)})"
        return stated if "mu" in self.stated else f"{stated} (mu = {rounded_up(self.mu)})"


def _restore(
    mu: float, composition: Composition, stated: Mapping[str, float], keys_delta: float = 0.0
) -> Budget:
    budget = Budget.__new__(Budget)
    budget._set(mu, composition, stated, keys_delta)
    return budget
