"""What the page asks for, checked, and as the call that makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import prolate
from prolate.api.terms import Terms, for_keys, keys_price
from prolate.budget import Budget, Neighbors
from prolate.curator import Progress
from prolate.errors import InputError
from prolate.ledger import Ledger
from prolate.ledger.entry import Charge
from prolate.release import GroupedRelease, Release
from prolate.release.unit import Unit
from prolate.report.repeat import field_of, folded, shell
from prolate.ui.schema import Schema

__all__ = ["STATISTICS", "Plan"]

STATISTICS = {
    "mean": "Mean",
    "sum": "Sum (needs bounds)",
    "variance": "Variance",
    "quantile": "Quantiles",
    "covariance": "Covariance",
    "regress": "Linear regression",
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
        One of `STATISTICS`, and the name of its function.
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
        if not isinstance(statistic, str) or statistic not in STATISTICS:
            raise InputError(f"Choose a statistic: {', '.join(STATISTICS)}.")
        columns = [] if statistic == "count" else _texts(fields.get("columns"), "columns")
        target = _target(fields, columns, schema) if statistic == "regress" else []
        unknown = [name for name in columns if name not in schema.numeric]
        if unknown:
            raise InputError(f"There is no numeric column {unknown[0]!r} in {schema.path}.")
        if not columns and statistic != "count":
            what = "feature to explain it by" if target else "column"
            raise InputError(f"Choose at least one {what}.")
        if fields.get("neighbors") not in ("replace", "add-remove"):
            raise InputError("Choose what is hidden: a row's values, or also its presence.")
        keywords: dict[str, Any] = {"target": target[0], "features": columns} if target else {}
        if columns and not target:
            keywords["columns"] = columns
        keywords |= {"neighbors": fields["neighbors"], **_shape(statistic, columns)}
        columns = [*columns, *target]
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
        """The columns, in the order of the file; of a regression, the features."""
        return list(self.keywords.get("columns", self.keywords.get("features", [])))

    @property
    def neighbors(self) -> Neighbors:
        """What is hidden."""
        return "replace" if self.keywords["neighbors"] == "replace" else "add-remove"

    @property
    def unit(self) -> Unit | None:
        """Whom it protects; None is a row."""
        if "unit" not in self.keywords:
            return None
        kind = self.keywords.get("contribution", "mean")
        return Unit(self.keywords["unit"], kind, self.keywords.get("max_rows"))

    @property
    def finds_keys(self) -> bool:
        """Whether a part of delta is for finding out which groups there are."""
        return "by" in self.keywords and "keys" not in self.keywords

    @property
    def public_rows(self) -> bool:
        """Whether the number of rows may be known."""
        return self.neighbors == "replace" and not {"unit", "by"} & set(self.keywords)

    @property
    def terms(self) -> Terms:
        """What is promised."""
        return Terms(self.budget, self.neighbors, self.unit, grouped="by" in self.keywords)

    @property
    def is_free(self) -> bool:
        """Whether all that it tells is public."""
        return self.statistic == "count" and self.terms.relation == "replace"

    @property
    def charge(self) -> Charge:
        """What a ledger is charged: a budget, and a delta for finding groups."""
        if self.is_free:
            return Charge(None, self.terms.promise)
        if not self.finds_keys:
            return Charge(self.budget, self.terms.promise)
        price, delta = for_keys(self.budget)
        return Charge(price, self.terms.promise, keys_price(self.terms, delta))

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

    def command(self, ledger: str | None) -> str:
        """Return the command that makes such a release, for a shell."""
        # What looks like an option is none after a folder.
        path = f"./{self.path}" if self.path.startswith("-") else self.path
        words = ["prolate", self.statistic, shell(path)]
        given: dict[str, list[str]] = {}
        for name, value in self.keywords.items():
            if name in ("columns", "features"):
                given[name] = [",".join(map(field_of, value))]
            elif name in ("by", "target", "unit"):
                given[name] = [field_of(value)]
            elif name == "bounds":
                given[name] = [
                    f"{field_of(column)}={low!r}:{high!r}" for column, (low, high) in value.items()
                ]
            elif name == "keys":
                given["key"] = [field_of(key) for key in value]
            elif name == "q":
                given[name] = [repr(q) for q in value]
            else:
                given[name.replace("_", "-")] = [str(value)]
        given |= {name: [repr(value)] for name, value in self.budget.stated.items()}
        given |= {"output": ["release.json"]} | ({} if ledger is None else {"ledger": [ledger]})
        for name, values in given.items():
            for value in values:
                words += [f"--{name}", shell(value)]
        return folded(words) + "\n"


def _target(fields: Mapping[str, Any], columns: list[str], schema: Schema) -> list[str]:
    """Return the column that a regression explains."""
    target = fields.get("target")
    if not target or target not in schema.numeric:
        raise InputError("Choose the target: the numeric column that is to be explained.")
    if target in columns:
        raise InputError(f"{target!r} is the target; it cannot be a feature, too.")
    return [target]


def _shape(statistic: str, columns: list[str]) -> dict[str, Any]:
    """Return noise in proportion to spreads: the page's guesses and errors are over these."""
    shaped = statistic in ("mean", "sum", "variance") and len(columns) > 1
    return {"error_norm": "relative"} if shaped else {}


def _people(fields: Mapping[str, Any], columns: list[str], schema: Schema) -> dict[str, Any]:
    """Return the unit and the groups, if there are any."""
    found: dict[str, Any] = {}
    for name in ("unit", "by"):
        column = fields.get(name)
        if not column:
            continue
        if not isinstance(column, str) or column not in (*schema.numeric, *schema.other):
            raise InputError(f"There is no column {column!r} in {schema.path}.")
        if column in columns:
            raise InputError(
                f"{column!r} says whose row it is, or in which group; do not release it."
            )
        found[name] = column
    if "unit" in found and fields.get("contribution") == "rows":
        most = fields.get("max_rows")
        if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= 10**6:
            raise InputError(
                "Give the number of rows of each person that count: a whole number from 1."
            )
        found |= {"contribution": "rows", "max_rows": most}
    elif "unit" in found and fields.get("contribution", "mean") != "mean":
        raise InputError("Choose how a person counts: with their mean, or with some of their rows.")
    keys = _texts(fields.get("keys"), "groups") if "by" in found else []
    if not keys and found.get("by") in schema.flags:
        keys = ["false", "true"]  # as their type says
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
