"""What a ledger says of prices: in the currency that people gave, too, rounded against them."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context

from prolate.budget import Budget
from prolate.digits import all_digits
from prolate.errors import BudgetError

__all__ = ["in_words", "limit_in_words"]

_ROOT = 1e-13  # rounding of roots and squares: a rho of 1 is not said to be 1.00001 or 0.999999
_CONVERSION = 1e-9  # the same, of conversions to epsilon
_FITS = 1.0 + 4e-13  # times a mu that fits, one fits by the slack of a ledger


def in_words(budget: Budget, *, delta: float | None = None, up: bool, digits: int = 6) -> str:
    """Return a budget in each currency, and with a delta as an epsilon.

    Parameters
    ----------
    budget : Budget
        If it is stated as epsilon and delta, these are said as they are.
    delta : float, optional
        The delta at which to say its epsilon.
    up : bool
        Whether numbers are rounded up, as those of what is spent, or down, as those of what
        still fits: a budget of what is said is then not larger.
    digits : int

    Examples
    --------
    >>> in_words(Budget(mu=0.2367195), up=True)
    'mu = 0.23672 (rho = 0.0280181)'
    >>> in_words(Budget(mu=0.2367195), delta=1e-6, up=False, digits=4)
    'epsilon = 1 at delta = 1e-06 (mu = 0.2367, rho = 0.02801)'
    """
    rho = f"rho = {_rounded(budget.rho, _ROOT, digits, up=up)}"
    mu = f"mu = {_rounded(budget.mu, _ROOT, digits, up=up)}"
    gaussian = budget.composition == "gdp"
    stated = budget.stated
    if "epsilon" in stated:
        epsilon, delta = all_digits(stated["epsilon"]), stated["delta"]
    else:
        epsilon = "" if delta is None else _epsilon(budget, delta, digits, up=up)
    if epsilon and delta is not None:
        exact = f"{mu}, {rho}" if gaussian else rho
        return f"epsilon = {epsilon} at delta = {all_digits(delta)} ({exact})"
    return f"{mu} ({rho})" if gaussian else rho


def limit_in_words(limit: Budget, keys_delta: float) -> str:
    """Return a limit as it was stated, and the part of its delta that is set aside.

    Examples
    --------
    >>> limit_in_words(Budget(epsilon=1, delta=1e-6), 2e-7)
    'epsilon = 1, delta = 1e-06 (mu = 0.2368), of which delta = 2e-07 is for finding groups'
    """
    aside = f", of which delta = {keys_delta:g} is for finding groups"
    return str(limit) + (aside if keys_delta else "")


def _epsilon(budget: Budget, delta: float, digits: int, *, up: bool) -> str:
    """Return the epsilon of a budget, or nothing where it is too small for a budget."""
    exact = budget.epsilon_at(delta)
    said = _rounded(exact, _CONVERSION, digits, up=up)
    if up:
        return said
    try:
        if _mu(said, delta, budget) > budget.mu * _FITS:
            said = _rounded(exact * (1.0 - 0.1**digits), _CONVERSION, digits, up=False)
            _mu(said, delta, budget)
    except BudgetError:
        return ""
    return said


def _mu(epsilon: str, delta: float, like: Budget) -> float:
    """Return the mu of epsilon and delta, for releases of the same composition."""
    budget = Budget(epsilon=float(epsilon), delta=delta)
    return (budget if like.composition == "gdp" else budget.for_zcdp()).mu


def _rounded(value: float, nearly: float, digits: int, *, up: bool) -> str:
    rounding, off = (ROUND_CEILING, 1.0 - nearly) if up else (ROUND_FLOOR, 1.0 + nearly)
    context = Context(prec=digits, rounding=rounding)
    return f"{float(context.create_decimal_from_float(value * off)):.{digits}g}"
