"""Which columns are read, and what is said of those that cannot be."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeGuard

import numpy as np

from prolate.errors import InputError, did_you_mean, listed

__all__ = ["Columns", "Schema", "Wanted", "choose", "index_beside", "without_index"]

Columns = str | int | Iterable[str | int]

_TO_TYPE = 20  # names of columns that an error lists to be typed
# As pandas calls it in Parquet and in CSV files, and what it reads the latter as.
_INDEX = re.compile(r"(__index_level_\d+__|Unnamed: 0)?")
_TIMES = tuple(f"of type {word}" for word in ("date", "time", "duration", "period"))
_ID = re.compile(r"(?i)(^|[^a-z])(id|ids|uuid|zip|zipcode|zip_code|postcode|postal_code|phone)$")
_TEXT = re.compile(r"text$|of type (category|dictionary|object$|string|str$)")


@dataclass(frozen=True)
class Wanted:
    """The columns that are asked for, and by which argument, for the errors.

    Attributes
    ----------
    columns : str, int or iterable of them, or None
        Columns of numbers, in this order; None is all others, but for `without_index`.
    labels : sequence of str or int
        Columns of labels (`prolate.sources.labels`), which come last.
    target : str or int, optional
        A column of numbers that comes after `columns`.
    argument : {"columns", "features", "X"}
        What `columns` is to whoever asks: an argument, or all columns of X.
    """

    columns: Columns | None = None
    labels: Sequence[str | int] = ()
    target: str | int | None = None
    argument: Literal["columns", "features", "X"] = "columns"

    @property
    def is_all(self) -> bool:
        """Whether all columns are asked for, as they are."""
        return self.columns is None and not self.labels and self.target is None


@dataclass(frozen=True)
class Schema:
    """The columns that there are.

    Attributes
    ----------
    names : sequence of str
    where : str
        What has these columns, for the errors.
    unusable : mapping from str to str
        Those that are not numeric, each with the name of its type.
    nested : mapping from str to str
        Those that cannot be labels, each with the name of its type.
    by_position : bool
        Whether an integer is a position (negative: from the end) or part of a name.
    """

    names: Sequence[str]
    where: str
    unusable: Mapping[str, str] = field(default_factory=dict)
    nested: Mapping[str, str] = field(default_factory=dict)
    by_position: bool = False

    def check(self, chosen: Collection[str]) -> None:
        """Raise `InputError` if more than one column has the name of one that is read."""
        twice = [name for name in _repeated(self.names) if name in chosen]
        if twice:
            raise InputError(
                f"More than one column of {self.where} is called {listed(twice, 3)}; "
                "give every column a name of its own."
            )

    def find(self, wanted: Iterable[object], must_be: str) -> tuple[str, ...]:
        """Return the names of columns; `must_be` says what they are asked for by.

        Spaces around a name that is not there, as those of ``-c "age, cost"``, are not part of it;
        nor are those around names in a file, if only one name is the same without.
        """
        known = frozenset(self.names)
        return tuple(self._name(each, known, must_be) for each in wanted)

    def _name(self, wanted: object, known: Collection[str], must_be: str) -> str:
        if isinstance(wanted, bool | np.bool_) or not isinstance(wanted, str | int | np.integer):
            allowed = "names or positions" if self.by_position else "names"
            is_known = isinstance(wanted, tuple) and str(wanted) in known
            text = f" That column's name is the text {str(wanted)!r}." if is_known else ""
            kind = type(wanted).__name__
            raise InputError(f"{must_be} column {allowed}; it holds an entry of type {kind}.{text}")
        if self.by_position and not isinstance(wanted, str):
            position, count = int(wanted), len(self.names)
            if not -count <= position < count:
                raise InputError(
                    f"There is no column {position} in {self.where}; its columns are 0 to "
                    f"{count - 1}."
                )
            return self.names[position]
        name = str(wanted)
        if name in known:
            return name
        bare = name.strip()
        alike = [bare] if bare in known else [each for each in self.names if each.strip() == bare]
        if bare and len(alike) == 1:
            return alike[0]
        folder = (
            f" The names of folders say what {name!r} is; pass the folder that holds them all, "
            f"or a glob such as '{name}=*/*'."
            if f"{name}=" in self.where
            else ""
        )
        raise InputError(
            f"There is no column {name!r} in {self.where}.{did_you_mean(name, self.names)} "
            f"Its columns are {listed(self.names)}.{folder}"
        )


def choose(wanted: Wanted, schema: Schema) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the columns of numbers, and of those of labels.

    ``columns=()`` is allowed where there are labels: then only these are read.

    Raises
    ------
    InputError
        If a column is unknown, ambiguous, asked for twice or of another type, or if there is
        none. What is wrong with the target is said first.

    Examples
    --------
    >>> choose(Wanted(["b", 0]), Schema(["a", "b", "c"], "the array", by_position=True))
    (('b', 'a'), ())
    >>> choose(Wanted(labels=["c"], target="a"), Schema(["a", "b", "c"], "the table"))
    (('b', 'a'), ('c',))
    """
    if not schema.names:
        raise InputError(f"There are no columns in {schema.where}; at least one is needed.")
    marks = schema.find(wanted.labels, "unit and by must be")
    if _repeated(marks):
        raise InputError(f"unit and by are both {listed(_repeated(marks), 3)}; name each once.")
    for name in marks:
        if name in schema.nested:
            raise InputError(
                f"Column {name!r} of {schema.where} is {schema.nested[name]}; labels of persons or "
                "groups must be text or numbers."
            )
    target = () if wanted.target is None else schema.find([wanted.target], "The target must be")
    for name in target:
        if name in schema.unusable:
            raise InputError(_not_numeric(name, wanted, schema, marks, is_target=True))
    if wanted.columns is None:
        chosen = _all_others(schema, marks, target)
    else:
        chosen = _named(wanted, schema, target)
    schema.check({*chosen, *target, *marks})
    for name in chosen:
        if name in schema.unusable:
            raise InputError(_not_numeric(name, wanted, schema, marks))
    return (*chosen, *target), marks


def _all_others(schema: Schema, marks: tuple[str, ...], target: tuple[str, ...]) -> tuple[str, ...]:
    others = {*marks, *target}
    chosen = without_index([name for name in schema.names if name not in others])
    if chosen:
        return chosen
    if target:
        raise InputError(
            f"There is no column beside the target {target[0]!r}; a feature is needed."
        )
    raise InputError(f"There is no column in {schema.where} besides {', '.join(marks)}.")


def _named(wanted: Wanted, schema: Schema, target: tuple[str, ...]) -> tuple[str, ...]:
    argument, columns = wanted.argument, wanted.columns
    must_be = f"{argument} must be a list of"
    if isinstance(columns, str | int | np.integer):
        columns = [columns]
    if isinstance(columns, bytes | set | frozenset | Mapping) or not _is_list(columns):
        raise InputError(
            f"{must_be} column names, in the order wanted; got {type(columns).__name__}."
        )
    chosen = schema.find(columns, must_be)
    labels_alone = wanted.labels and not target and isinstance(columns, tuple)
    if not (chosen or labels_alone):
        raise InputError(f"{argument}=[] leaves nothing to work on; name at least one column.")
    if _repeated(chosen):
        twice = listed(_repeated(chosen), 3)
        raise InputError(f"{argument} asks twice for {twice}; name each column once.")
    for name in target:
        if name in chosen:
            raise InputError(f"The target {name!r} cannot be one of the features, too.")
    return chosen


def _is_list(columns: object) -> TypeGuard[Iterable[object]]:
    """Return whether something is iterable, but no array of no dimension, which only seems so."""
    return isinstance(columns, Iterable) and getattr(columns, "ndim", 1) > 0


def _repeated(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def _not_numeric(
    bad: str, wanted: Wanted, schema: Schema, marks: Collection[str], *, is_target: bool = False
) -> str:
    """Return what to say of a column of another type: its type, and which ones will do.

    These are not those of labels: whom a row is about has no mean that anybody wants.
    """
    numeric = (name for name in without_index(schema.names) if name not in schema.unusable)
    usable = [name for name in numeric if name != wanted.target and name not in marks]
    ids = [name for name in usable if _ID.search(name)]
    some = [name for name in usable if name not in ids] or usable
    names = listed(some, _TO_TYPE)
    remedy = f"Choose from the numeric columns: {wanted.argument}=[{names}]."
    if not usable:
        others = marks or wanted.target is not None
        remedy = f"No {'other column' if others else 'column'} is numeric."
    elif is_target:
        remedy = f"Choose the target from the numeric columns: {names}."
    elif wanted.argument == "X":
        remedy = f"Pass in X only columns of numbers: [{names}]."
    if ids and ids != some:
        remedy += f" ({listed(ids, 3)}: most likely labels.)"
    if schema.unusable[bad].startswith(_TIMES):
        remedy += (
            f" To use {bad!r}, make a column of numbers of it, such as days since 2000-01-01, or "
            "seconds."
        )
    elif _TEXT.match(schema.unusable[bad]):
        booleans = ""
        if schema.unusable[bad].endswith("object"):
            booleans = "of booleans with column.astype('boolean'), "
        # What is in the column is private, so that all that it may be is listed.
        remedy += (
            f" To use {bad!r}, make numbers of it: {booleans}of yes and no a boolean column "
            "(column == 'yes'), of digits with pandas.to_numeric, of amounts such as $1,200 and "
            "5% likewise after column.str.replace('[$,%]', '', regex=True), of dates as days since "
            "2000-01-01."
        )
    return f"Column {bad!r} of {schema.where} is {schema.unusable[bad]}, not numbers. {remedy}"


def without_index(names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that are meant where none are named: all but an index of pandas'.

    It numbers the rows, so that its mean says nothing, and takes budget from the others.

    Examples
    --------
    >>> without_index(["", "age", "__index_level_0__"]), without_index([""])
    (('age',), ('',))
    """
    return tuple(name for name in names if not _INDEX.fullmatch(name)) or tuple(names)


def index_beside(
    columns: Columns | None, names: Iterable[str], chosen: Collection[str]
) -> tuple[str, ...]:
    """Return what `without_index` has left out: nothing where columns are named.

    Examples
    --------
    >>> index_beside(None, ["", "age"], ["age"]), index_beside(["age"], ["", "age"], ["age"])
    (('',), ())
    """
    if columns is not None:
        return ()
    return tuple(name for name in names if _INDEX.fullmatch(name) and name not in chosen)
