"""What the page says of money: what a release spends, what is spent, and what is left."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context
from typing import Any

from prolate._release_views import printable
from prolate.budget import Budget
from prolate.errors import InputError, LedgerError
from prolate.ledger import Ledger
from prolate.ui.plan import STATISTICS, Plan

__all__ = ["account", "plan_in_words", "room", "spending"]

_MANY = 6
_NEARLY = 1.0 + 1e-9  # so that a limit of 2 leaves 2, not 1.999


def plan_in_words(plan: Plan) -> str:
    """Return what a plan releases, such as ``"Mean of age, income"``."""
    names = [printable(name) for name in plan.columns]
    few = names if len(names) <= _MANY else [*names[: _MANY - 1], f"{len(names) - _MANY + 1} more"]
    what = STATISTICS[plan.statistic].split(" (")[0]
    if plan.statistic == "count":
        what = "Count of persons" if "unit" in plan.keywords else "Count of rows"
    if "q" in plan.keywords:
        what += " " + ", ".join(f"{q:g}" for q in plan.keywords["q"])
    groups = f", by {printable(plan.keywords['by'])}" if "by" in plan.keywords else ""
    unit = f", one per {printable(plan.keywords['unit'])}" if "unit" in plan.keywords else ""
    of = f" of {', '.join(few)}" if few else ""
    return f"{what}{of}{groups}{unit}"


def spending(plan: Plan, ledger: Ledger | None, before: int) -> list[str]:
    """Return sentences to confirm: what will be spent, and what is left then.

    Parameters
    ----------
    plan : Plan
    ledger : Ledger or None
    before : int
        How often this very plan was released before, in this session.

    Raises
    ------
    InputError
        If the ledger cannot keep account of such a release.
    LedgerError
        If it does not fit.
    """
    said = [f"{plan_in_words(plan)}.", f"This spends {plan.budget}, for good."]
    if ledger is None:
        said.append(
            "There is no ledger: nobody keeps account of what this data has spent, and releases "
            "add up all the same."
        )
    else:
        if "by" in plan.keywords and "keys" not in plan.keywords:
            raise InputError(
                "Name the groups, which must be public: a ledger has no place for the delta that "
                "finding them privately takes."
            )
        books = ledger._read()
        if not books.fits(plan.budget):
            raise LedgerError(books.refusal(plan.budget, ledger.path))
        left = books.charged(plan.budget, "", "").remaining
        said.append(
            f"The ledger {printable(str(ledger.path))} has a limit of {books.limit}. "
            + (
                f"After this, {_at(left, plan.budget)} is left."
                if left
                else "Nothing is left then."
            )
        )
    said.append(_hidden(plan))
    if "by" in plan.keywords and "keys" not in plan.keywords:
        said.append("Half of delta is for finding out which groups there are.")
    if before:
        said.append("You have released exactly this before: a second release costs as much again.")
    return said


def _hidden(plan: Plan) -> str:
    person = "unit" in plan.keywords
    one = f"person ({printable(plan.keywords['unit'])})" if person else "row"
    if plan.neighbors == "add-remove":
        return f"Whether one {one} is there is hidden, and with it how many there are."
    many = "how many are in each group is hidden, too" if "by" in plan.keywords else (
        f"the number of {'persons' if person else 'rows'} is public")  # fmt: skip
    counted = " Each person counts once, with the mean of their rows." if person else ""
    return f"What one {one} holds is hidden; {many}.{counted}"


def room(ledger: Ledger | None, budget: Budget) -> str:
    """Return how much of a currency the ledger has room for."""
    if ledger is None:
        return ""
    left = ledger.remaining
    if left is None:
        return "The ledger has nothing left."
    if left.mu >= budget.mu:
        return f"The ledger has room for this: {_at(left, budget)} is left."
    return f"The ledger has no room for this: only {_at(left, budget)} is left."


def account(ledger: Ledger | None) -> dict[str, Any] | None:
    """Return the ledger ready for JSON, in words."""
    if ledger is None:
        return None
    books = ledger._read()
    spent, left = books.spent, books.remaining
    part = 0.0 if spent is None else min(1.0, (spent.mu / books.limit.mu) ** 2)
    return {
        "place": printable(str(ledger.path)),
        "dataset": printable(books.dataset),
        "limit": str(books.limit),
        "spent": "nothing" if spent is None else _at(spent, books.limit, up=True),
        "left": "nothing" if left is None else _at(left, books.limit),
        "part": round(100.0 * part, 2),
        "entries": [
            {"id": e.id, "label": printable(e.label), "mu": f"{e.mu:.4g}", "rho": f"{e.rho:.4g}",
             "time": e.time}
            for e in books.entries
        ],
    }  # fmt: skip


def _at(budget: Budget, like: Budget, *, up: bool = False) -> str:
    """Return a budget in the currency of another one, rounded down (or the exact one, up)."""
    delta = like.stated.get("delta")
    mu = f"mu = {budget.mu:.4g}" if up else f"mu = {_down(budget.mu)}"
    if delta is None:
        return mu
    epsilon = budget.epsilon_at(delta)
    return f"epsilon = {f'{epsilon:.4g}' if up else _down(epsilon)} at delta = {delta:g} ({mu})"


def _down(value: float) -> str:
    four = Context(prec=4, rounding=ROUND_FLOOR).create_decimal_from_float(value * _NEARLY)
    return f"{float(four):g}"
