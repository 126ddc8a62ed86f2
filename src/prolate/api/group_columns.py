"""Which columns make groups, and what the groups are called.

Groups are those of a column of labels, or of several, whose labels are then taken together, as
those of one column of tuples. A group is one whatever it is called, so that what is proved of
groups does not depend on how many columns make them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prolate.api.remarks import check_delta_of_keys
from prolate.budget import Budget
from prolate.errors import BudgetError, InputError, shown
from prolate.release.key import Key, as_key, in_words
from prolate.sources.labels import Labels, text_of
from prolate.sources.source import Block, Source

__all__ = [
    "By",
    "JoinedLabels",
    "Keys",
    "WithJoinedLabels",
    "check_keys",
    "columns_of",
    "keys_of_types",
]

By = str | int | Sequence[str | int]
_MOST_KEYS = 1024  # of columns of booleans, before it is better to look which there are

Keys = Sequence[str | int] | Sequence[tuple[str | int, ...]] | Mapping[str, Sequence[str | int]]


def columns_of(by: By | None) -> list[str | int]:
    """Return the columns that say which group a row is in.

    Raises
    ------
    InputError
        If it is neither a column nor a list of different ones.
    """
    if by is None or isinstance(by, str | int | np.integer):
        return [] if by is None else [by]
    several = isinstance(by, Sequence) and not isinstance(by, bytes) and len(by) > 0
    if not several or not all(isinstance(name, str | int | np.integer) for name in by):
        raise InputError(
            "by must be the name of a column, or a list of several, such as by=['region', 'sex']; "
            f"got an object of type {type(by).__name__}."
        )
    twice = next((name for name in by if list(by).count(name) > 1), None)
    if twice is not None:
        raise InputError(f"by names {twice!r} twice; name each column once.")
    return list(by)


def check_keys(columns: Sequence[str | int], keys: Keys | None) -> list[Key] | None:
    """Return the keys that are given as text, or None if there are none.

    Parameters
    ----------
    columns : sequence of str or int
        From `columns_of`.
    keys : sequence, mapping or None
        Labels; of several columns tuples of them, or each column's by its name, which stand
        for all their combinations.

    Raises
    ------
    InputError
        If there are keys and no columns, or a key is no label, or is there twice.
    """
    if not columns:
        if keys is not None:
            raise InputError("keys are those of groups; name their column, such as by='region'.")
        return None
    if keys is None:
        return None
    if isinstance(keys, Mapping):
        if set(keys) != set(columns):
            raise InputError(
                f"keys must have a list for each column of by, {', '.join(map(repr, columns))}, "
                f"and for no other; got {', '.join(map(repr, keys)) or 'none'}."
            )
        named: Mapping[Any, Any] = keys
        every: Iterable[Any] = product(*(_listed(named[name]) for name in columns))
    else:
        every = _listed(keys) if len(columns) > 1 else ((key,) for key in _listed(keys))
    texts = [_key_of(key, len(columns)) for key in every]
    twice = next((text for text, count in Counter(texts).items() if count > 1), None)
    if twice is not None:
        raise InputError(f"keys has {twice!r} twice; name each group once.")
    if not texts:
        raise InputError("keys=[] leaves no group; name at least one, or leave keys out.")
    return texts


def keys_of_types(labels: Sequence[Labels], budget: Budget) -> list[Key] | None:
    """Return the keys that nobody has to give, or None where they are to be found privately.

    Of columns of booleans, these are False and True, or their combinations: their types say so,
    whatever is in the rows. One column of others among them, and combinations are found.

    Parameters
    ----------
    labels : sequence of Labels
        Those of the columns of groups.
    budget : Budget

    Raises
    ------
    BudgetError
        If keys are to be found, and the budget has no delta, or too large a one.
    """
    if 0 < math.prod(len(one.every) for one in labels) <= _MOST_KEYS:
        return [as_key(row) for row in product(*(one.every for one in labels))]
    if "delta" not in budget.stated:
        raise BudgetError(
            "Finding out which groups there are needs a budget with a delta, such as "
            "Budget(epsilon=1, delta=1e-6). Or give the groups: keys=['north', 'south']."
        )
    check_delta_of_keys(budget)
    return None


def _listed(keys: Any) -> list[Any]:
    if isinstance(keys, str | bytes) or not hasattr(keys, "__iter__"):
        raise InputError(
            f"keys must be a list, such as keys=['north', 'south']; got {shown(keys)}."
        )
    return list(keys)


def _key_of(key: Any, width: int) -> Key:
    if not isinstance(key, tuple | list) or len(key) != width:
        raise InputError(
            f"With {width} columns in by, a key is a tuple of {width} labels, such as "
            f"keys=[('north', 'f')]; got {shown(key)}."
        )
    return as_key(tuple(map(text_of, key)))


class JoinedLabels(Labels):
    """The numbers of the labels of several columns, taken together."""

    def __init__(self, each: Sequence[Labels]) -> None:
        super().__init__()
        self._each = tuple(each)
        self._tuples: dict[tuple[int, ...], int] = {}

    def numbered(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of rows of the columns' own numbers."""
        distinct, places = np.unique(numbers, axis=0, return_inverse=True)
        known = self._tuples
        found = [known.setdefault(tuple(row), len(known)) for row in distinct.tolist()]
        return np.array(found, dtype=np.int64)[places.reshape(-1)]

    def number(self, label: object) -> int:
        """Return the number of a public tuple of labels, a new one if it has none yet."""
        labels: Sequence[object] = label if isinstance(label, tuple) else (label,)
        row = tuple(one.number(text) for one, text in zip(self._each, labels, strict=True))
        return self._tuples.setdefault(row, len(self._tuples))

    def refusal(self, label: object) -> str | None:
        """Return why no row can have a public tuple of labels, or None if one may."""
        labels: Sequence[object] = label if isinstance(label, tuple) else (label,)
        found = (one.refusal(text) for one, text in zip(self._each, labels, strict=True))
        return next((why for why in found if why is not None), None)

    def tuples(self) -> dict[tuple[str, ...], int]:
        """Return the numbers of all tuples whose labels are text; see `Labels.named`."""
        texts = [{number: text for text, number in one.named().items()} for one in self._each]
        return {
            tuple(names[number] for names, number in zip(texts, row, strict=True)): place
            for row, place in self._tuples.items()
            if all(number in names for names, number in zip(texts, row, strict=True))
        }


class WithJoinedLabels(Source):
    """Rows whose last columns of labels are taken together, as one."""

    ordered = False

    def __init__(self, source: Source, width: int) -> None:
        columns = (*source.columns[:-width], in_words(source.columns[-width:]))
        super().__init__(columns, source.n_rows, 1)
        self.rows_per_block = source.rows_per_block
        self._source, self._width = source, width
        self.flags, self.whole = source.flags, source.whole
        self._together = JoinedLabels(source.labels[-width:])
        self.labels = (*source.labels[:-width], self._together)

    def blocks(self) -> Iterator[Block]:
        """Yield the rows, with one column of labels in place of the last ones."""
        for block in self._source.blocks():
            numbers = self._together.numbered(block[:, -self._width :].astype(np.int64))
            yield np.column_stack([block[:, : -self._width], numbers])
