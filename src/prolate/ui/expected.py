"""The error to expect of a plan, from public numbers and the user's guesses alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

import prolate
from prolate.api.terms import FOR_THE_REST, for_keys
from prolate.arrays import Floats
from prolate.budget import Budget, Neighbors
from prolate.errors import InputError
from prolate.forecast import expected_error
from prolate.ui.plan import Plan

__all__ = ["expect"]

_UNIT = "SD"
_UNKNOWN = "The error of {} is not known in advance: it depends on what the rows hold."
_NAMES = {
    "variance": "a variance",
    "quantile": "a quantile",
    "covariance": "a covariance",
    "regress": "a regression",
}
_COMPARED = "For comparison, the mean of the same columns: w"
_DEPENDENT = (
    "The sampling error takes rows as independent; rows of one person rarely are, so it is larger."
)


def expect(
    plan: Plan, guesses: Mapping[str, Any], rows: int | None, flags: Collection[str] = ()
) -> dict[str, Any]:
    """Return what to expect, ready for JSON.

    Parameters
    ----------
    plan : Plan
    guesses : mapping
        ``rows``: the user's guess of how many there are, used unless the number is known.
        ``spread``: guessed standard deviations, by column.
    rows : int or None
        How many there are, if that is known and public.
    flags : collection of str
        Columns that are booleans by their type.

    Returns
    -------
    dict
        ``summary``, ``notes``: sentences. ``columns``: for each column its ``noise`` and
        ``sampling`` error as text, or None.

    Raises
    ------
    InputError, BudgetError
        If a guess is needed or will not do.
    """
    if plan.statistic in ("sum", "count"):
        return _exact(plan)
    if plan.statistic == "regress":
        states = "The release states it, with an interval for each coefficient where it can."
        return _said(f"{_UNKNOWN.format(_NAMES[plan.statistic])} {states}")
    rows, notes = _rows(plan, guesses, rows)
    shape, spread, unit, said = _shape(plan, guesses, flags)
    budget, neighbors = _terms(plan)
    if "by" in plan.keywords:
        notes.append("Each group is expected to have the error below; the guess is of one group.")
    if plan.unit is not None and plan.unit.max_rows is not None:
        notes.append(_DEPENDENT)
    found = expected_error(
        n=rows, budget=budget, neighbors=neighbors, error_norm="relative", **shape
    )
    sampling = spread / np.sqrt(rows)
    share = float(np.median(found.noise_std / sampling))
    compared = "more" if share > 1.0 else "less"
    summary = (
        f"With {rows:,} {_counted(plan)}, privacy is expected to add {share:.2g} times the "
        f"sampling error (median column): {compared} than the rows themselves leave open."
    )
    notes = [*notes, *said, *found.warnings]
    if plan.statistic != "mean":
        unknown = _UNKNOWN.format(_NAMES[plan.statistic])
        return {**_said(unknown), "notes": [_COMPARED + summary[1:], *notes]}
    return {
        "summary": summary,
        "columns": {
            name: {"noise": f"{noise:.2g}{unit}", "sampling": f"{own:.2g}{unit}"}
            for name, noise, own in zip(plan.columns, found.noise_std, sampling, strict=True)
        },
        "notes": notes,
    }


def _exact(plan: Plan) -> dict[str, Any]:
    """Return noise that does not depend on the rows: it is read off two rows of zeros."""
    budget, neighbors = _terms(plan)
    rows = np.zeros((2, max(1, len(plan.columns))))
    if plan.statistic == "count":
        if neighbors == "replace":
            return _said(
                f"The number of {_counted(plan)} is public, and is released as it is, without "
                "noise."
            )
        made = prolate.count(rows, budget=budget, neighbors="add-remove", seed=0)
        noise = float(made.noise_std[0]) if made.noise_std is not None else 0.0
        return _said(f"The noise of a count follows from the budget: ± {noise:.3g}.")
    bounds = np.array([plan.keywords["bounds"][name] for name in plan.columns])
    made = prolate.sum(
        rows,
        budget=budget,
        bounds=(bounds[:, 0], bounds[:, 1]),
        error_norm=plan.keywords.get("error_norm", 2),
        neighbors=neighbors,
        seed=0,
    )
    stds = np.zeros(len(plan.columns)) if made.noise_std is None else made.noise_std
    return {
        **_said("The noise of a sum follows from its bounds and the budget, whatever the rows."),
        "columns": {
            name: {"noise": f"{std:.3g}", "sampling": None}
            for name, std in zip(plan.columns, stds, strict=True)
        },
        "notes": ["Values beyond the bounds are cut to them, which is not counted here."],
    }


def _said(summary: str) -> dict[str, Any]:
    return {"summary": summary, "columns": {}, "notes": []}


def _terms(plan: Plan) -> tuple[Budget, Neighbors]:
    """Return what the measurements of rows, or of one group's rows, may spend, and hide."""
    terms, part = plan.terms, Fraction(1)
    if plan.finds_keys:
        terms, part = replace(terms, price=for_keys(terms.price)[0]), FOR_THE_REST
    return terms.budget(part), terms.relation


def _counted(plan: Plan) -> str:
    """Return what is measured: persons, rows, or those of persons that count."""
    if plan.unit is None:
        return "rows"
    return "persons" if plan.unit.max_rows is None else "rows that count"


def _rows(plan: Plan, guesses: Mapping[str, Any], known: int | None) -> tuple[int, list[str]]:
    if known is not None:
        return known, []
    guess = guesses.get("rows")
    if isinstance(guess, bool) or not isinstance(guess, int | float) or not 1 <= guess < 2**62:
        why = "it is not known yet" if plan.neighbors == "replace" else "it is private"
        raise InputError(f"Guess the number of {_counted(plan)} to see the expected error: {why}.")
    return int(guess), [f"The number of {_counted(plan)} is your guess."]


def _shape(
    plan: Plan, guesses: Mapping[str, Any], flags: Collection[str]
) -> tuple[dict[str, Any], Floats, str, list[str]]:
    """Return how the columns spread: for a forecast, as numbers, in which unit, and by what right.

    Means of persons' booleans are none.
    """
    guessed, bounds = guesses.get("spread"), plan.keywords.get("bounds", {})
    averaged = plan.unit is not None and plan.unit.max_rows is None
    if not (guessed or bounds or averaged) and set(plan.columns) <= set(flags):
        size = len(plan.columns)
        said = ["Booleans are taken to be true in half of the rows, where they spread most."]
        return {"d": size, "booleans": True}, np.full(size, 0.5), "", said
    spread, unit, said = _spread(plan, guessed)
    low = [bounds.get(name, (-np.inf, np.inf))[0] for name in plan.columns]
    high = [bounds.get(name, (-np.inf, np.inf))[1] for name in plan.columns]
    limits = (low, high) if len(bounds) == len(plan.columns) else None
    return {"scale": spread, "bounds": limits}, spread, unit, said


def _spread(plan: Plan, given: object) -> tuple[Floats, str, list[str]]:
    """Return a standard deviation for every column, their unit, and what was assumed."""
    found = dict(given) if isinstance(given, dict) else {}
    for name, guess in found.items():
        if isinstance(guess, bool) or not isinstance(guess, int | float) or not 0 < guess < 1e300:
            raise InputError(f"Guess a spread of {name!r} above 0, or leave it empty.")
    said = []
    for name, (low, high) in plan.keywords.get("bounds", {}).items():
        if name not in found and high > low:
            found[name] = (high - low) / 4.0
            said = ["Where bounds and no spread are given, a quarter of their width is taken."]
    bare = [name for name in plan.columns if name not in found]
    if not bare:
        return np.array([float(found[name]) for name in plan.columns]), "", said
    if len(bare) < len(plan.columns):
        raise InputError(
            f"Guess the spread of {bare[0]!r}, too, to see the expected error: columns share the "
            "noise by their spreads."
        )
    said = [f"Errors are in standard deviations ({_UNIT}) of the columns."]
    if len(bare) > 1:
        said.append(
            "The columns are taken to have equal spreads: in its own standard deviations, a "
            "column of a much smaller one has more noise. Guess the spreads to see it."
        )
    return np.ones(len(plan.columns)), f" {_UNIT}", said
