"""What the page asks for, checked, and as the call that makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import prolate
from prolate._release_groups import GroupedRelease
from prolate.budget import Budget, Neighbors
from prolate.curator import Progress
from prolate.errors import InputError
from prolate.ledger import Ledger
from prolate.release import Release
from prolate.ui.schema import Schema

__all__ = ["STATISTICS", "Plan"]

STATISTICS = {
    "mean": "Mean",
    "sum": "Sum (needs bounds)",
    "variance": "Variance",
    "quantile": "Quantiles",
    "covariance": "Covariance",
    "count": "Count of rows, or of persons",
}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A release that is wanted.

    Attributes
    ----------
    path : str
        The data.
    statistic : str
        One of `STATISTICS`.
    budget : Budget
    keywords : dict
        The other arguments of the statistic's function.
    """

    path: str
    statistic: str
    budget: Budget
    keywords: dict[str, Any]

    @classmethod
    def read(cls, fields: Mapping[str, Any], schema: Schema) -> Plan:
        """Return the plan that the page's fields describe.

        Raises
        ------
        InputError, BudgetError
            If a field is missing or will not do.
        """
        statistic = fields.get("statistic")
        if statistic not in STATISTICS:
            raise InputError(f"Choose a statistic: {', '.join(STATISTICS)}.")
        columns = [] if statistic == "count" else _texts(fields.get("columns"), "columns")
        unknown = [name for name in columns if name not in schema.numeric]
        if unknown:
            raise InputError(f"There is no numeric column {unknown[0]!r} in {schema.path}.")
        if not columns and statistic != "count":
            raise InputError("Choose at least one column.")
        if fields.get("neighbors") not in ("replace", "add-remove"):
            raise InputError("Choose what is hidden: a row's values, or also its presence.")
        keywords: dict[str, Any] = {"columns": columns} if columns else {}
        keywords["neighbors"] = fields["neighbors"]
        bounds = _bounds(fields.get("bounds"), columns)
        if bounds:
            keywords["bounds"] = bounds
        if statistic == "sum" and len(bounds) < len(columns):
            bare = next(name for name in columns if name not in bounds)
            raise InputError(
                f"A sum needs public bounds of every column; give {bare!r} a lowest and a "
                "highest value that are known without looking at the data."
            )
        if statistic == "quantile":
            q = [_number(value, "a quantile") for value in _list(fields.get("q"), "quantiles")]
            if not q or not all(0.0 <= value <= 1.0 for value in q):
                raise InputError("Give quantiles between 0 and 1, such as 0.25, 0.5, 0.75.")
            keywords["q"] = q
        budget = Budget(
            epsilon=_number(fields.get("epsilon"), "epsilon"),
            delta=_number(fields.get("delta"), "delta"),
        )
        return cls(path=schema.path, statistic=statistic, budget=budget,
                   keywords=keywords | _people(fields, columns, schema))  # fmt: skip

    @property
    def columns(self) -> list[str]:
        """The columns, in the order of the file."""
        return list(self.keywords.get("columns", []))

    @property
    def neighbors(self) -> Neighbors:
        """What is hidden."""
        return "replace" if self.keywords["neighbors"] == "replace" else "add-remove"

    @property
    def public_rows(self) -> bool:
        """Whether the number of rows may be known."""
        return self.neighbors == "replace" and not {"unit", "by"} & set(self.keywords)

    def release(self, ledger: Ledger | None, progress: Progress) -> Release | GroupedRelease:
        """Make the release; it is charged to the ledger before any row is measured."""
        face: Callable[..., Release | GroupedRelease] = getattr(prolate, self.statistic)
        return face(
            self.path, budget=self.budget, ledger=ledger, progress=progress, **self.keywords
        )

    def python(self, ledger: str | None) -> str:
        """Return the Python code that makes such a release."""
        stated = ", ".join(f"{name}={value!r}" for name, value in self.budget.stated.items())
        given = {"budget": f"prolate.Budget({stated})"}
        given |= {name: ascii(value) for name, value in self.keywords.items()}
        if ledger is not None:
            given["ledger"] = ascii(ledger)
        lines = "".join(f"    {name}={value},\n" for name, value in given.items())
        return (
            "import prolate\n\n"
            f"release = prolate.{self.statistic}(\n    {self.path!a},\n{lines})\n"
            "print(release)\n"
            "release.to_json('release.json')\n"
        )


def _people(fields: Mapping[str, Any], columns: list[str], schema: Schema) -> dict[str, Any]:
    """Return the unit and the groups, if there are any."""
    found: dict[str, Any] = {}
    for name in ("unit", "by"):
        column = fields.get(name)
        if not column:
            continue
        if column not in schema.numeric and column not in schema.other:
            raise InputError(f"There is no column {column!r} in {schema.path}.")
        if column in columns:
            raise InputError(
                f"{column!r} says whose row it is, or in which group; do not release it."
            )
        found[name] = column
    keys = _texts(fields.get("keys"), "groups") if "by" in found else []
    return found | ({"keys": keys} if keys else {})


def _bounds(given: object, columns: list[str]) -> dict[str, tuple[float, float]]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InputError("Bounds must be given by column.")
    found = {}
    for name in columns:
        pair = given.get(name)
        if pair is None:
            continue
        if not isinstance(pair, list) or len(pair) != 2 or any(end is None for end in pair):
            raise InputError(f"Give {name!r} both a lowest and a highest value, or neither.")
        low, high = (_number(end, f"a bound of {name!r}") for end in pair)
        if not low <= high:
            raise InputError(
                f"The bounds of {name!r} must have the lowest value first; got {low:g} to {high:g}."
            )
        found[name] = (low, high)
    return found


def _number(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"Give {what} as a number.")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"Give {what} as a smaller number.") from None


def _list(values: object, what: str) -> list[Any]:
    if not isinstance(values, list):
        raise InputError(f"Give {what} as a list.")
    return values


def _texts(values: object, what: str) -> list[str]:
    texts = _list(values, what)
    if not all(isinstance(text, str) for text in texts):
        raise InputError(f"Give {what} as a list of names.")
    return list(dict.fromkeys(texts))
