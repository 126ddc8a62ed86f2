"""The columns of a table of groups that say which group a record is of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prolate.release.key import Key, parts
from prolate.release.views import NUMBERS
from prolate.sources.label_types import LabelType, typed

__all__ = ["label_columns", "label_names", "types_of"]

_TYPES: dict[LabelType, type] = {"text": str, "boolean": bool, "integer": int, "number": float}


def label_names(by: Key) -> tuple[str, ...]:
    """Return their names; those of other columns of the table are left to these.

    Examples
    --------
    >>> label_names("ward"), label_names(("ward", "n"))
    (('group',), ('ward', 'group n'))
    """
    if isinstance(by, str):
        return ("group",)
    known = {"n", "column", "q", "with", *NUMBERS}
    return tuple(f"group {name}" if name in known else name for name in by)


def label_columns(
    by: Key, keys: Iterable[Key], types: Sequence[LabelType]
) -> dict[str, Sequence[Any]]:
    """Return their values by name, a label of each key, as the types of the columns say.

    Examples
    --------
    >>> label_columns(("ward", "year"), [("a", "2020"), ("b", "2021")], ("text", "integer"))
    {'ward': ['a', 'b'], 'year': [2020, 2021]}
    """
    rows = [parts(key) for key in keys]
    return {
        name: typed([row[j] for row in rows], kind)
        for j, (name, kind) in enumerate(zip(label_names(by), types, strict=True))
    }


def types_of(columns: Mapping[str, Sequence[Any]], types: Sequence[LabelType]) -> dict[str, type]:
    """Return the Python types of the values that `label_columns` gave."""
    return {
        name: type(values[0]) if values else _TYPES[kind]
        for (name, values), kind in zip(columns.items(), types, strict=True)
    }
