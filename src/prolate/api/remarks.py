"""What is to be said of a budget, or of a group, whatever the statistic.

Only of what is public, or of what is released: the budget, public numbers of rows, noisy counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from prolate.budget import Budget
from prolate.digits import rounded_up
from prolate.errors import BudgetError
from prolate.measurement import Measurement
from prolate.queries import Count

__all__ = ["check_delta_of_keys", "fitting_delta", "perhaps_empty", "weak_guarantee"]

MOST_DELTA = 1e-3
"""Larger ones promise little, of however few rows; with such, no groups are found."""

_MOST_EPSILON, _MOST_MU, _USUAL_DELTA = 10.0, 2.0, 1e-6
_SEEN = 3.0  # standard deviations of a count that show that there is a row

_EPSILON = (
    "This is a weak guarantee: {}. Whoever knows the other rows may be nearly sure of what is in "
    "one. Use an epsilon of 1 or so, and rarely more than {:g}."
)
_DELTA = (
    "This is a weak guarantee: delta = {} is large{}. It would hold as well if one row in {:,.0f} "
    "were published as it is. Use a delta far below 1 over the number of rows, such as {}."
)
_KEYS = (
    "delta = {} is too large for finding groups: each label that one person alone has would be "
    "shown with a probability of up to {:g}. Use a delta far below 1 over the number of rows, such "
    "as {}, and at most {}. Or give the groups, if they are public: keys=['north', 'south']."
)
_EMPTY = (
    "There may be no rows in this group: the noisy count says {:,.0f}, give or take {:,.0f}. If "
    "there should be some, see whether the key is written as in the rows."
)


def fitting_delta(rows: float | None) -> float:
    """Return a delta that is far below one over the number of rows, if that is public.

    Examples
    --------
    >>> fitting_delta(None), fitting_delta(500), fitting_delta(3e8)
    (1e-06, 1e-06, 1e-10)
    """
    if rows is None:
        return _USUAL_DELTA
    return min(_USUAL_DELTA, float(f"1e{math.floor(math.log10(0.1 / max(rows, 1.0)))}"))


def weak_guarantee(budget: Budget, rows: float | None) -> tuple[str, ...]:
    """Return what to say of a budget that promises little.

    Parameters
    ----------
    budget : Budget
    rows : float or None
        How many rows, or persons, there are, if that is public.
    """
    said = []
    epsilon, delta = budget.stated.get("epsilon"), budget.stated.get("delta")
    if epsilon is not None and epsilon > _MOST_EPSILON:
        said.append(_EPSILON.format(f"epsilon = {epsilon:g}", _MOST_EPSILON))
    elif epsilon is None and budget.mu > _MOST_MU:
        name, value = next(iter(budget.stated.items()))
        usual = f"epsilon = {rounded_up(budget.epsilon_at(_USUAL_DELTA))}"
        given = f"{name} = {value:g} is {usual} with delta = {_short(_USUAL_DELTA)}"
        said.append(_EPSILON.format(given, _MOST_EPSILON))
    if delta is not None and (delta > MOST_DELTA or (rows is not None and delta * rows >= 1.0)):
        beside = "" if rows is None else f" for {rows:,.0f} rows"
        said.append(_DELTA.format(_short(delta), beside, 1.0 / delta, _short(fitting_delta(rows))))
    return tuple(said)


def check_delta_of_keys(budget: Budget) -> None:
    """Raise `BudgetError` unless finding groups with this budget would protect single rows."""
    delta = budget.stated["delta"]
    if delta > MOST_DELTA:
        fits = f"Budget(epsilon={budget.stated['epsilon']:g}, delta={_short(_USUAL_DELTA)})"
        raise BudgetError(_KEYS.format(_short(delta), delta / 2.0, fits, _short(MOST_DELTA)))


def perhaps_empty(receipt: Sequence[Measurement], rows: float) -> tuple[str, ...]:
    """Return what to say of a named group of which no row can be told from noise."""
    counted = [one.std for one in receipt if one.query == Count(1).describe()]
    if not counted or rows > _SEEN * min(counted):
        return ()
    return (_EMPTY.format(rows, min(counted)),)


def _short(delta: float) -> str:
    return f"{delta:g}".replace("e-0", "e-")
