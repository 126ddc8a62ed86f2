"""What the page says of money: what a release spends, what is spent, and what is left."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_FLOOR, Context
from typing import Any

from prolate.budget import Budget
from prolate.errors import LedgerError
from prolate.ledger import Ledger
from prolate.ledger.account import Account
from prolate.ledger.words import in_words, limit_in_words
from prolate.release.views import label_of
from prolate.release.words import printable
from prolate.ui.plan import STATISTICS, Plan

__all__ = ["ledger_in_words", "plan_in_words", "room", "spending", "tells_rows"]

_MANY = 6
_NEARLY = 1.0 + 1e-9  # so that a limit of 2 leaves 2, not 1.999


def plan_in_words(plan: Plan) -> str:
    """Return what a plan releases, such as ``"Mean of age, income"``."""
    names = [printable(name) for name in plan.columns]
    few = names if len(names) <= _MANY else [*names[: _MANY - 1], f"{len(names) - _MANY + 1} more"]
    what = STATISTICS[plan.statistic].split(" (")[0]
    if plan.statistic == "count":
        persons = plan.unit is not None and plan.unit.max_rows is None
        what = "Count of persons" if persons else "Count of rows"
    if "q" in plan.keywords:
        what += " " + ", ".join(map(label_of, plan.keywords["q"]))
    groups = f", by {printable(plan.keywords['by'])}" if "by" in plan.keywords else ""
    unit, of = "", f" of {', '.join(few)}" if few else ""
    if plan.unit is not None:
        most = plan.unit.max_rows
        each = "one" if most is None else f"at most {most:,} {'row' if most == 1 else 'rows'}"
        unit = f", {each} per {printable(plan.unit.column)}"
    if "target" in plan.keywords:
        of = f" of {printable(plan.keywords['target'])} on {', '.join(few)}"
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
    LedgerError
        If it does not fit.
    """
    account = None if ledger is None else ledger.account()
    if ledger is not None and account is not None and not account.fits(plan.charge):
        raise LedgerError(account.refusal(plan.charge, ledger.path))
    if plan.is_free:
        return [f"{plan_in_words(plan)}.", "That number is public: this spends nothing."]
    said = [f"{plan_in_words(plan)}.", f"This spends {plan.budget}, for good."]
    if ledger is None or account is None:
        said.append(
            "There is no ledger: nobody keeps account of what this data has spent, and releases "
            "add up all the same."
        )
    else:
        limit = limit_in_words(account.limit, account.keys_delta)
        after, aside = account.charged(plan.charge, "", ""), plan.charge.delta
        left = after.remaining
        said.append(
            f"The ledger {printable(str(ledger.path))} has a limit of {limit}. "
            + (
                f"After this, {_at(left, plan.budget, after)} is left."
                if left
                else "Nothing is left then."
            )
        )
        if aside:
            rest = _down(max(0.0, after.keys_delta - after.spent_delta))
            said.append(
                f"Finding out which groups there are takes delta = {aside:.4g} of what the ledger "
                f"sets aside for that; {rest} is left of it then."
            )
    said.append(_hidden(plan))
    if plan.finds_keys:
        said.append("Half of delta is for finding out which groups there are.")
    if before:
        said.append("You have released exactly this before: a second release costs as much again.")
    return said


def _hidden(plan: Plan) -> str:
    unit = plan.unit
    one = "row" if unit is None else f"person ({printable(unit.column)})"
    counted = ""
    if unit is not None:
        most = unit.max_rows
        rows = "one row counts" if most == 1 else f"{most} rows count"
        counted = (
            " Each person counts once, with the mean of their rows."
            if most is None
            else f" Of each person at most {rows}, chosen at random."
        )
    if plan.neighbors == "add-remove":
        return f"Whether one {one} is there is hidden, and with it how many there are.{counted}"
    if "by" in plan.keywords:
        many = "how many are in each group is hidden, too"
    elif plan.terms.counted:
        many = "how many rows count is hidden, too"
    else:
        many = f"the number of {'rows' if unit is None else 'persons'} is public"
    return f"What one {one} holds is hidden; {many}.{counted}"


def tells_rows(ledger: Ledger | None, plan: Plan) -> bool:
    """Return whether the number of rows is public: the user says so, and so do all releases."""
    return plan.public_rows and (ledger is None or ledger.promise == plan.terms.promise)


def room(ledger: Ledger | None, plan: Plan) -> str:
    """Return whether the ledger has room for a plan, and what is left."""
    if ledger is None:
        return ""
    account = ledger.account()
    if account.promise not in (None, plan.charge.promise):
        return f"The ledger is for releases that hide {printable(str(account.promise))}."
    if plan.is_free:
        return ""
    left = account.remaining
    if left is None:
        return "The ledger has nothing left."
    at = _at(left, plan.budget, account)
    if account.fits(plan.charge):
        return f"The ledger has room for this: {at} is left."
    if account.fits(replace(plan.charge, delta=0.0)):
        return f"The ledger has room for this ({at} is left), but not for finding groups."
    return f"The ledger has no room for this: only {at} is left."


def ledger_in_words(ledger: Ledger | None) -> dict[str, Any] | None:
    """Return the ledger ready for JSON, in words."""
    if ledger is None:
        return None
    account = ledger.account()
    spent, left = account.spent, account.remaining
    both = 0.0 if spent is None else spent.rho
    whole = both + (0.0 if left is None else left.rho)
    found: dict[str, Any] = {
        "place": printable(str(ledger.path)),
        "dataset": printable(account.dataset),
        "limit": limit_in_words(account.limit, account.keys_delta),
        "spent": "nothing" if spent is None else _at(spent, account.limit, account, up=True),
        "left": "nothing" if left is None else _at(left, account.limit, account),
        "part": round(100.0 * both / whole, 2) if whole else 100.0,
        "entries": [
            {"id": e.id, "label": printable(e.label), "mu": f"{e.mu:.4g}", "rho": f"{e.rho:.4g}",
             "time": e.time}
            for e in account.entries
        ],
        "changes": [
            {"id": c.id, "old": limit_in_words(c.old, c.old_keys_delta),
             "new": limit_in_words(c.new, c.new_keys_delta), "charges": c.charges, "time": c.time}
            for c in account.changes
        ],
    }  # fmt: skip
    if account.promise is not None:
        found["place"] += f", for releases that hide {printable(str(account.promise))}"
    if account.keys_delta:
        found["spent"] += f", and delta = {account.spent_delta:.4g} for finding groups"
    return found


def _at(budget: Budget, like: Budget, account: Account, *, up: bool = False) -> str:
    """Return a budget in the currency of another one, rounded down or up."""
    delta = account.delta if account.keys_delta else like.stated.get("delta")
    return in_words(budget, delta=delta, up=up, digits=4)


def _down(value: float) -> str:
    four = Context(prec=4, rounding=ROUND_FLOOR).create_decimal_from_float(value * _NEARLY)
    return f"{float(four):g}"
