"""The result of a private computation for groups: a release for each, under one guarantee."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import NDArray

from prolate.budget import Budget, Neighbors
from prolate.errors import InputError, ReleaseError, did_you_mean
from prolate.release import views, words
from prolate.release.json import (
    Reader,
    read_fields,
    read_flag,
    read_list,
    read_mapping,
    read_number,
    read_text,
)
from prolate.release.key import Key, as_key, in_words, parts, read_key
from prolate.release.label_columns import label_columns, label_names, types_of
from prolate.release.notes import about_groups
from prolate.release.release import STATISTICS, Release, installed_version
from prolate.release.shown import Shown
from prolate.release.unit import Unit
from prolate.sources.label_types import LABEL_TYPES, LabelType
from prolate.sources.labels import text_of

__all__ = ["SCHEMA", "GroupedRelease"]

SCHEMA = "prolate.groups"
_SHOWN_ROWS = 40
_NAMED_KEYS = 5  # of the groups that a warning is for; the others are counted

_FIELDS: dict[str, Reader] = {
    "statistic": read_text,
    "by": read_key,
    "groups": read_list(read_mapping),
    "columns": read_list(read_text),
    "budget": read_mapping,
    "neighbors": read_text,
    "private": read_flag,
    "prolate_version": read_text,
}
_OPTIONAL: dict[str, Reader] = {
    "unit": read_mapping,
    "keys_delta": read_number,
    "by_types": read_list(read_text),
}
_GROUP: dict[str, Reader] = {"key": read_key, "release": read_mapping}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GroupedRelease(Shown):
    """The results of a private computation, one for each group of rows or of persons.

    It works like a dict: ``releases["north"]`` is the `Release` of one group, which has the
    estimate, the receipt and all else. Groups are disjoint, so all of them together cost the
    same budget as each one.

    Attributes
    ----------
    statistic : str
        What was estimated; see `Release`.
    by : str or tuple of str
        The column, or columns, that say which group each row is in.
    by_types : tuple of str
        What the labels of each of these columns are by its type: ``"text"``, ``"boolean"``,
        ``"integer"`` or ``"number"``. `table` and the frames have such values.
    groups : dict
        Maps the key of each group to its `Release`. A key is text, or a tuple of texts if there
        are several columns in `by`.
    columns : tuple of str
        The names of the columns.
    budget : Budget
        The most that everything together may have cost, with the `keys_delta` in it.
    neighbors : {"replace", "add-remove"}
        Which change to one row, or one person, the guarantee hides; see `prolate.mean`.
    unit : Unit or None
        Whom the guarantee protects, if that is a person; None for a row.
    keys_delta : float or None
        The part of delta that was spent on showing which groups there are; None if the keys
        were given.
    private : bool
        False if a seed was given: the noise can then be recomputed and removed.
    prolate_version : str
        The version of Prolate that made it.

    Raises
    ------
    ReleaseError
        If the release of a group has another statistic, budget or unit, other columns or
        neighbors, or another value of `private`, or if a key has the wrong number of labels.
    """

    _what: ClassVar = "grouped release"
    _schema: ClassVar = SCHEMA
    _schema_version: ClassVar = 1

    statistic: str
    by: Key
    groups: Mapping[Key, Release]
    columns: tuple[str, ...]
    budget: Budget
    neighbors: Neighbors
    unit: Unit | None = None
    keys_delta: float | None = None
    by_types: tuple[LabelType, ...] = ()  # empty: all are text
    private: bool = True
    prolate_version: str = field(default_factory=installed_version)

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", dict(self.groups))
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "budget", words.budget_with_keys(self))
        if self.statistic not in STATISTICS or self.neighbors not in get_args(Neighbors):
            raise ReleaseError("The statistic or neighbors of this grouped release are unknown.")
        width = len(parts(self.by))
        object.__setattr__(self, "by_types", tuple(self.by_types) or ("text",) * width)
        if len(self.by_types) != width or not set(self.by_types) <= set(LABEL_TYPES):
            raise ReleaseError("The types of the columns of groups are unknown, or too many.")
        for key, release in self.groups.items():
            own = (self.statistic, self.columns, self.budget, self.neighbors, self.unit)
            its = (
                release.statistic,
                release.columns,
                release.budget,
                release.neighbors,
                release.unit,
            )
            if own != its or release.private != self.private or len(parts(key)) != width:
                raise ReleaseError(
                    f"The release of group {key!r} is not one of these groups: statistic, columns, "
                    "budget, neighbors, unit and private must be the same for all."
                )

    def __getitem__(self, key: object) -> Release:
        labels = key if isinstance(key, tuple) else (key,)
        try:
            return self.groups[as_key(tuple(map(text_of, labels)))]
        except (InputError, KeyError):
            texts = [known for known in self.groups if isinstance(known, str)]
            near = did_you_mean(key, texts) if isinstance(key, str) else ""
            raise KeyError(f"There is no group {key!r} in this release.{near}") from None

    if not TYPE_CHECKING:  # for a type checker, there are no such attributes

        def __getattr__(self, name: str) -> Any:
            """Say where it is, if it is an attribute of the release of one group."""
            known = name in Release.__dataclass_fields__ or hasattr(Release, name)
            if name.startswith("_") or not known:
                raise AttributeError(f"'GroupedRelease' object has no attribute {name!r}")
            some = next(iter(self.groups), None)
            where = (
                "there are no groups in this one"
                if some is None
                else f"such as release[{some!r}].{name}, and release.items() goes through them all"
            )
            raise AttributeError(
                f"A grouped release has no {name!r}, but the release of each group has: {where}."
            )

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[Key]:
        return iter(self.groups)

    def __contains__(self, key: object) -> bool:
        try:
            self[key]
        except KeyError:
            return False
        return True

    def get(self, key: object, default: Release | None = None) -> Release | None:
        """Return the release of a group, or `default` if there is no such group."""
        try:
            return self[key]
        except KeyError:
            return default

    def keys(self) -> KeysView[Key]:
        """Return the keys of the groups."""
        return self.groups.keys()

    def values(self) -> ValuesView[Release]:
        """Return the releases of the groups."""
        return self.groups.values()

    def items(self) -> ItemsView[Key, Release]:
        """Return pairs of a key and its release."""
        return self.groups.items()

    @property
    def first(self) -> Release | None:
        """The release of the first group, or None if there are no groups."""
        return next(iter(self.groups.values()), None)

    @property
    def details(self) -> dict[str, Any]:
        """The details that the releases of all groups share."""
        common = {"by": self.by if isinstance(self.by, str) else list(self.by)}
        return {
            "group": common
            if self.keys_delta is None
            else {**common, "keys_delta": self.keys_delta}
        }

    @property
    def guarantee(self) -> str:
        """One sentence that says exactly what is guaranteed, for all groups together."""
        return words.guarantee(self)

    @property
    def keys_origin(self) -> str:
        """Where the keys come from: ``"given"``, ``"given by the type"``, ``"found privately"``."""
        if self.keys_delta is not None:
            return "found privately"
        width = len(self.by_types)
        every = set(self.by_types) == {"boolean"} and len(self.groups) == 2**width
        return f"given by the type{'s' if width > 1 else ''}" if every else "given"

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of all groups, each after the groups that it is about.

        Groups are named, unless it is about all of several.
        """
        whose: dict[str, list[str]] = {}
        for key, release in self.groups.items():
            for warning in release.warnings:
                whose.setdefault(warning, []).append(in_words(key))
        apart = ", " if isinstance(self.by, str) else "; "
        every = len(self.groups)
        return tuple(
            f"{'all groups' if len(keys) == every > 1 else _listed(keys, apart)}: {warning}"
            for warning, keys in whose.items()
        )

    def interval(self, level: float = 0.95) -> dict[Key, NDArray[np.float64]]:
        """Return the intervals of each group that has them, by key; see `Release.interval`."""
        level = views.confidence(level)  # also where no group has any
        return {
            key: release.interval(level)
            for key, release in self.groups.items()
            if release.has_intervals
        }

    def table(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Return the records of `Release.table` of all groups, in one list.

        Each starts with the fields ``group`` and ``n``. If `by` has several columns, a field
        for each of them replaces ``group``. Labels of columns of booleans and numbers are such
        values (unless a key is none), so that tables can be joined with the data.
        """
        level, columns = views.confidence(level), self._labels()
        rows = zip(*columns.values(), strict=True)
        return [
            {**dict(zip(columns, labels, strict=True)), "n": release.n, **record}
            for labels, release in zip(rows, self.groups.values(), strict=True)
            for record in release.table(level)
        ]

    def _fields(self) -> dict[str, type]:
        first = self.first
        own = {"column": str, **dict.fromkeys(views.NUMBERS, float)}
        fields = own if first is None else first._fields()
        labels = types_of(self._labels(), self.by_types)
        return {**labels, "n": float, **fields}

    def _labels(self) -> dict[str, Sequence[Any]]:
        """Return the label of each group, by the name of the field that holds it."""
        return label_columns(self.by, self.groups, self.by_types)

    def plot(self, *, level: float = 0.95) -> NDArray[np.object_]:
        """Draw a picture for each number, with a row for each group, and return their axes.

        A thick line is the noise, a thin one the whole interval. If there are many numbers,
        only the first ones are drawn.

        Parameters
        ----------
        level : float
            The confidence level of the intervals, strictly between 0 and 1.

        Raises
        ------
        ReleaseError
            If there are no groups.
        """
        from prolate.release import plot

        return plot.plot_groups(self, level)

    def to_dict(self) -> dict[str, Any]:
        """Return the releases as plain Python values, ready for JSON."""
        groups = [
            {"key": key if isinstance(key, str) else list(key), "release": one.to_dict()}
            for key, one in self.groups.items()
        ]
        fields: dict[str, Any] = {
            "schema": self._schema,
            "schema_version": self._schema_version,
            "statistic": self.statistic,
            "by": self.by if isinstance(self.by, str) else list(self.by),
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
        if set(self.by_types) != {"text"}:
            fields["by_types"] = list(self.by_types)
        return {**fields, "groups": groups}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Return the releases that `to_dict` described, or raise `ReleaseError`."""
        known = cls._read(fields, _FIELDS, _OPTIONAL)
        entries = [
            read_fields(entry, f"groups[{i}]", _GROUP) for i, entry in enumerate(known["groups"])
        ]
        known["groups"] = {e["key"]: Release.from_dict(e["release"]) for e in entries}
        if len(known["groups"]) != len(entries):
            raise ReleaseError("The stored grouped release has the same group twice.")
        return cls(**known)

    @property
    def subject(self) -> str:
        """What was estimated, such as ``"mean of 3 columns by ward"``."""
        what = self.statistic if self.first is None else words.subject(self.first)
        return f"{what} by {words.printable(in_words(self.by))}"

    def headline(self) -> str:
        """Return the first line of the text: statistic, groups, budget and neighbors."""
        private = "Private" if self.private else "NOT PRIVATE (seeded)"
        count = len(self.groups)
        keys = f"keys {self.keys_origin}"
        unit = "" if self.unit is None else f", unit: {words.printable(str(self.unit))}"
        return (
            f"{private} {self.subject}: {count:,} "
            f"group{'' if count == 1 else 's'} ({keys}), {self.budget}, "
            f"neighbors: {self.neighbors}{unit}"
        )

    def cells(
        self, level: float = 0.95, *, intervals: bool = True
    ) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows of the printed table, as text."""
        first, releases = self.first, list(self.groups.values())
        names = [words.printable(name) for name in label_names(self.by)]
        if first is None:
            return names, []
        counted = first.statistic == "count"
        if views.shown_as_matrix(first):
            header = views.cells(first, level)[0]
            found = [views.cells(release, level)[1] for release in releases]
        else:
            stated = views.stated(*releases)
            intervals = intervals and any(release.has_intervals for release in releases)
            header = ["column", *views.value_header(first, stated, level, intervals=intervals)]
            found = [
                views.lines(release, stated, level, intervals=intervals) for release in releases
            ]
        rows = [
            [
                *map(words.printable, parts(key)),
                *(line[1:] if counted else [f"{release.n:,.0f}", *line]),
            ]
            for (key, release), lines in zip(self.groups.items(), found, strict=True)
            for line in lines
        ]
        return [*names, *(header[1:] if counted else ["n", *header])], rows

    def __repr__(self) -> str:
        header, rows = self.cells()
        lines = [self.headline()]
        if not self.private:
            lines.append(words.NOT_PRIVATE)
        if self.first is None:
            lines.append(words.NO_GROUPS)
        if rows:
            lines += views.aligned(header, views.middle_out(rows, _SHOWN_ROWS))
        lines += [f"note: {note}" for note in about_groups(self)]
        lines += [f"warning: {words.printable(warning)}" for warning in self.warnings]
        return "\n".join(lines)


def _listed(keys: list[str], apart: str) -> str:
    rest = len(keys) - _NAMED_KEYS
    return apart.join(keys[:_NAMED_KEYS]) + (f" and {rest:,} more" if rest > 0 else "")
