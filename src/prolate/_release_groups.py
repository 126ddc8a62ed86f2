"""What comes out where there are groups: a release for each of them, under one promise."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from prolate import _release_views as views
from prolate._release_json import (
    BUDGET_FIELDS,
    Reader,
    read_fields,
    read_flag,
    read_json,
    read_list,
    read_mapping,
    read_number,
    read_text,
    write_whole,
)
from prolate._release_unit import Unit
from prolate.budget import Budget, Neighbors
from prolate.errors import BudgetError, ReleaseError
from prolate.release import STATISTICS, Release, installed_version

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GroupedRelease"]

SCHEMA = "prolate.groups"
SCHEMA_VERSION = 1
_SHOWN_ROWS = 40

_FIELDS: dict[str, Reader] = {
    "statistic": read_text,
    "by": read_text,
    "groups": read_list(read_mapping),
    "columns": read_list(read_text),
    "budget": read_mapping,
    "neighbors": read_text,
    "private": read_flag,
    "prolate_version": read_text,
}
_OPTIONAL: dict[str, Reader] = {"unit": read_mapping, "keys_delta": read_number}
_GROUP: dict[str, Reader] = {"key": read_text, "release": read_mapping}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GroupedRelease:
    """The results of a private computation for each group of rows, or of persons.

    Groups are disjoint, so the budget is that of all groups together, and of each.

    Attributes
    ----------
    statistic : str
        What was estimated.
    by : str
        The column that says which group a row is in.
    groups : dict
        From a group's key, as text, to its `Release`.
    columns : tuple of str
        The names of the columns.
    budget : Budget
        What everything together may have cost at most.
    neighbors : {"replace", "add-remove"}
        What the guarantee hides.
    unit : Unit or None
        Whom it protects, where that is not a row.
    keys_delta : float or None
        The part of delta for showing which groups there are; None where the keys were given.
    private : bool
        False if a seed was given.
    prolate_version : str
        The version that made it.

    Raises
    ------
    ReleaseError
        If a group's release is of something else, or of another budget.
    """

    statistic: str
    by: str
    groups: Mapping[str, Release]
    columns: tuple[str, ...]
    budget: Budget
    neighbors: Neighbors
    unit: Unit | None = None
    keys_delta: float | None = None
    private: bool = True
    prolate_version: str = field(default_factory=installed_version)

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", dict(self.groups))
        object.__setattr__(self, "columns", tuple(self.columns))
        if self.statistic not in STATISTICS or self.neighbors not in get_args(Neighbors):
            raise ReleaseError("This grouped release is of no statistic, or hides nothing known.")
        for key, release in self.groups.items():
            own = (self.statistic, self.columns, self.budget, self.neighbors, self.unit)
            its = (
                release.statistic,
                release.columns,
                release.budget,
                release.neighbors,
                release.unit,
            )
            if own != its or release.private != self.private:
                raise ReleaseError(f"The release of group {key!r} is not one of these groups.")

    def __getitem__(self, key: object) -> Release:
        return self.groups[key if isinstance(key, str) else str(key)]

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def details(self) -> dict[str, Any]:
        """What all groups have in common of their releases' details."""
        common = {"by": self.by}
        return {
            "group": common
            if self.keys_delta is None
            else {**common, "keys_delta": self.keys_delta}
        }

    @property
    def guarantee(self) -> str:
        """One sentence that says exactly what is guaranteed, of all groups together."""
        return views.guarantee(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The groups' warnings, each with the groups that it is for."""
        whose: dict[str, list[str]] = {}
        for key, release in self.groups.items():
            for warning in release.warnings:
                whose.setdefault(warning, []).append(key)
        return tuple(f"{_listed(keys)}: {warning}" for warning, keys in whose.items())

    def interval(self, level: float = 0.95) -> dict[str, NDArray[np.float64]]:
        """Return each group's intervals; see `Release.interval`."""
        return {key: release.interval(level) for key, release in self.groups.items()}

    def table(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Return the records of all groups' tables, with ``group`` and ``n`` before the others."""
        return [
            {"group": key, "n": release.n, **record}
            for key, release in self.groups.items()
            for record in release.table(level)
        ]

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return a pandas DataFrame of the records of `table`."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "GroupedRelease.to_frame needs pandas, which is not installed: pip install pandas."
            ) from error
        return pd.DataFrame.from_records(self.table(level))

    def to_dict(self) -> dict[str, Any]:
        """Return the releases as plain Python values, ready for JSON."""
        groups = [{"key": key, "release": one.to_dict()} for key, one in self.groups.items()]
        fields: dict[str, Any] = {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "statistic": self.statistic,
            "by": self.by,
            "columns": list(self.columns),
            "budget": self.budget.to_dict(),
            "neighbors": self.neighbors,
            "private": self.private,
            "prolate_version": self.prolate_version,
        }
        if self.unit is not None:
            fields["unit"] = self.unit.to_dict()
        if self.keys_delta is not None:
            fields["keys_delta"] = self.keys_delta
        return {**fields, "groups": groups}

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the releases as JSON, and write it to `path` if one is given.

        Raises
        ------
        ReleaseError
            If the file cannot be written.
        """
        text = json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"
        if path is not None:
            write_whole(path, text)
        return text

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> GroupedRelease:
        """Return the releases that `to_dict` described, or raise `ReleaseError`."""
        if not isinstance(fields, Mapping) or fields.get("schema") != SCHEMA:
            raise ReleaseError(f"This is no stored grouped release: its schema is not {SCHEMA!r}.")
        if fields.get("schema_version") != SCHEMA_VERSION:
            raise ReleaseError(
                f"This grouped release has schema version {fields.get('schema_version')!r}; this "
                f"Prolate reads version {SCHEMA_VERSION}. Read it with the Prolate that wrote it."
            )
        body = {k: v for k, v in fields.items() if k not in ("schema", "schema_version")}
        known = read_fields(body, "grouped release", _FIELDS, _OPTIONAL)
        entries = [
            read_fields(entry, f"groups[{i}]", _GROUP) for i, entry in enumerate(known["groups"])
        ]
        known["groups"] = {e["key"]: Release.from_dict(e["release"]) for e in entries}
        if len(known["groups"]) != len(entries):
            raise ReleaseError("The stored grouped release has a group twice.")
        try:
            known["budget"] = Budget.from_dict(
                read_fields(known["budget"], "budget", BUDGET_FIELDS)
            )
        except BudgetError as error:
            raise ReleaseError(f"The budget of this release cannot be read. {error}") from error
        if "unit" in known:
            known["unit"] = Unit.from_dict(known["unit"])
        return cls(**known)

    @classmethod
    def from_json(cls, path_or_text: str | os.PathLike[str]) -> GroupedRelease:
        """Return the releases stored in a file, or in a string of JSON; see `Release.from_json`."""
        return cls.from_dict(read_json(path_or_text))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupedRelease):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, tuple[dict[str, Any]]]:
        return GroupedRelease.from_dict, (self.to_dict(),)

    def headline(self) -> str:
        """Return the first line of the text: what, by what, at what budget."""
        private = "Private" if self.private else "NOT PRIVATE (seeded)"
        d, count = len(self.columns), len(self.groups)
        what = "count" if self.statistic == "count" else f"{self.statistic} of {d:,} column"
        what += "" if d == 1 or self.statistic == "count" else "s"
        keys = "keys given" if self.keys_delta is None else "keys found privately"
        unit = "" if self.unit is None else f", unit: {views.printable(str(self.unit))}"
        return (
            f"{private} {what} by {views.printable(self.by)}: {count:,} "
            f"group{'' if count == 1 else 's'} ({keys}), {self.budget}, "
            f"neighbors: {self.neighbors}{unit}"
        )

    def cells(self, level: float = 0.95) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows of the printed table, as text."""
        header, rows = ["group"], []
        for key, release in self.groups.items():
            names, lines = views.cells(release, level)
            counted = release.statistic == "count"
            header = ["group", *([] if counted else ["n"]), *(names[1:] if counted else names)]
            for line in lines:
                own = line[1:] if counted else [f"{release.n:,.0f}", *line]
                rows.append([views.printable(key), *own])
        return header, rows

    def __repr__(self) -> str:
        header, rows = self.cells()
        lines = [self.headline()]
        if not self.private:
            lines.append(views.NOT_PRIVATE)
        if rows:
            lines += views.aligned(header, views.middle_out(rows, _SHOWN_ROWS))
        lines += [f"warning: {views.printable(warning)}" for warning in self.warnings]
        return "\n".join(lines)


def _listed(keys: list[str], most: int = 5) -> str:
    rest = len(keys) - most
    return ", ".join(keys[:most]) + (f" and {rest:,} more" if rest > 0 else "")
