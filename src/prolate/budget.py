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
from prolate.digits import all_digits
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


def _root_below(square: float) -> float:
    """Return the square root, rounded down: its exact square is not above `square`."""
    root = math.sqrt(square)
    return root if Fraction(root) ** 2 <= Fraction(square) else math.nextafter(root, 0.0)


def _number(name: str, value: object) -> float:
    try:
        flag = str(getattr(value, "dtype", "")) == "bool"
        if flag or isinstance(value, bool | str | bytes) or getattr(value, "ndim", 0) > 0:
            raise TypeError  # an array of one number is one to some versions of NumPy
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise BudgetError(f"{name} must be a finite number; this one is too large.") from None
    except (TypeError, ValueError):
        raise BudgetError(f"{name} must be a number; got {shown(value)}.") from None


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

    __slots__ = ("composition", "mu", "stated")

    mu: float
    composition: Composition
    stated: Mapping[str, float]

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
        stated = {name: _number(name, value) for name, value in given.items() if value is not None}
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
            exact = _root_below(2.0 * min(stated["rho"], 1e300))  # whose double is a float
        else:
            exact = mu_from(stated["epsilon"], math.log(stated["delta"]))
        if not LEAST_MU <= exact <= MOST_MU:
            raise BudgetError(
                f"This budget is mu = {exact:.3g}; Prolate works between mu = 1e-6 "
                "(no answer would mean anything) and mu = 1e4 (nothing would be private)."
            )
        self._set(exact, "gdp", stated)

    def _set(self, mu: float, composition: Composition, stated: Mapping[str, float]) -> None:
        object.__setattr__(self, "mu", mu)
        object.__setattr__(self, "composition", composition)
        object.__setattr__(self, "stated", MappingProxyType(dict(stated)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Budget is immutable; make a new one instead of setting {name!r}.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Budget is immutable; {name!r} cannot be deleted.")

    def __reduce__(self) -> tuple[object, tuple[float, Composition, dict[str, float]]]:
        return _restore, (self.mu, self.composition, dict(self.stated))

    @property
    def rho(self) -> float:
        """The budget as rho-zCDP: ``mu**2 / 2``."""
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
        return _restore(mu, "zcdp", self.stated)

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
        return _restore(mu, self.composition, {"mu": mu})

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
        return _restore(smaller.mu, self.composition, self.stated)

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
        value = _number("epsilon", epsilon)
        if not (math.isfinite(value) and value >= 0.0):
            raise BudgetError(f"epsilon must be zero or positive, and finite; got {value:g}.")
        log_delta = self._log_delta(value)
        return min(1.0, math.nextafter(math.exp(log_delta) * (1.0 + 1e-9), 1.0))

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
            If `delta` is not strictly between 0 and 1.

        Examples
        --------
        >>> round(Budget(rho=0.5).epsilon_at(delta=1e-6), 3)
        4.887
        """
        value = _number("delta", delta)
        if not 0.0 < value < 1.0:
            raise BudgetError(f"delta must lie strictly between 0 and 1; got {value:g}.")
        return epsilon_from(self._log_delta, math.log(value), self.rho)

    def _log_delta(self, epsilon: float) -> float:
        if self.composition == "gdp":
            return gdp_log_delta(epsilon, self.mu)
        return zcdp_log_delta(epsilon, self.rho)

    def to_dict(self) -> dict[str, object]:
        """Return the budget as plain values, ready for JSON; `from_dict` reads them."""
        return {"mu": self.mu, "composition": self.composition, "stated": dict(self.stated)}

    @staticmethod
    def from_dict(fields: dict[str, object]) -> Budget:
        """Return the budget that `to_dict` described, or raise `BudgetError`."""
        try:
            mu, stated = fields["mu"], fields["stated"]
            composition = fields["composition"]
            if composition not in ("gdp", "zcdp") or not isinstance(stated, dict):
                raise KeyError("composition")
            budget = Budget(**stated)
            exact = _number("mu", mu)
            if not (math.isfinite(exact) and exact > 0.0):
                raise BudgetError(f"mu must be positive and finite; got {exact:g}.")
            if exact > budget.mu * (1.0 + SAFE):
                raise KeyError("mu")
            return _restore(exact, composition, budget.stated)
        except (KeyError, TypeError) as error:
            raise BudgetError(f"This does not describe a budget: {fields!r}.") from error

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Budget):
            return NotImplemented
        return (self.mu, self.composition, self.stated) == (
            other.mu,
            other.composition,
            other.stated,
        )

    def __hash__(self) -> int:
        return hash((self.mu, self.composition, tuple(sorted(self.stated.items()))))

    def __repr__(self) -> str:
        stated = ", ".join(f"{name}={all_digits(value)}" for name, value in self.stated.items())
        return f"Budget({stated})" + (".for_zcdp()" if self.composition == "zcdp" else "")

    def __str__(self) -> str:
        stated = ", ".join(f"{name} = {value:g}" for name, value in self.stated.items())
        if self.composition == "zcdp":
            return stated if "rho" in self.stated else f"{stated} (rho = {self.rho:.4g})"
        return stated if "mu" in self.stated else f"{stated} (mu = {self.mu:.4g})"


def _restore(mu: float, composition: Composition, stated: Mapping[str, float]) -> Budget:
    budget = Budget.__new__(Budget)
    budget._set(mu, composition, stated)
    return budget
