"""Columns of labels, read as numbers: whose a row is, and which group it belongs to.

A label may be text, a whole number of any size, or whatever else Arrow writes as text. Two
labels are the same if their texts are, without the spaces around them, so that 7 and "7" of
two files are one. A source hands out a column of labels after the columns of numbers, and in
it 0, 1, 2, ... in the order in which labels first appear; a missing label is one like others.
The numbers stay the same in every pass. They and the labels are as private as rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prolate.errors import InputError
from prolate.sources.dictionaries import decoded
from prolate.sources.source import Columns, choose_columns

__all__ = ["Labels", "choose", "encoded", "text_of"]


class Labels:
    """The numbers of the labels of a column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> labels = Labels()
    >>> labels.numbers(pa.array(["b", None, " b ", "a"])).tolist(), labels.number("a")
    ([0, 1, 0, 2], 2)
    """

    def __init__(self) -> None:
        self._known: dict[bytes | None, int] = {}

    def __len__(self) -> int:
        return len(self._known)

    def numbers(self, values: Any) -> NDArray[np.int64]:
        """Return the numbers of an Arrow array of labels; new ones for new labels."""
        import pyarrow as pa

        distinct = _plain(values).dictionary_encode(null_encoding="encode")
        known = self._known
        texts = [_stripped(text) for text in _texts(distinct.dictionary)]
        numbers = [known.setdefault(text, len(known)) for text in texts]
        places = distinct.indices.cast(pa.int64()).to_numpy()
        return np.asarray(np.array(numbers, dtype=np.int64)[places] if numbers else places)

    def number(self, label: object) -> int:
        """Return the number of a public label, a new one if it has none yet."""
        return self._known.setdefault(text_of(label).encode(), len(self._known))

    def named(self) -> dict[str, int]:
        """Return the numbers of all labels that are text: not missing, and not odd bytes."""
        found = {}
        for text, number in self._known.items():
            if text:
                try:
                    found[text.decode()] = number
                except UnicodeDecodeError:
                    continue
        return found


def text_of(label: object) -> str:
    """Return a label as the text that stands for it in the data.

    Raises
    ------
    InputError
        If it is missing, or nothing that could be a label.

    Examples
    --------
    >>> text_of(7.0), text_of(" north"), text_of(True)
    ('7', 'north', 'true')
    """
    import pyarrow as pa

    try:
        [found] = _texts(_plain(pa.array([label], from_pandas=True)))
        text = (_stripped(found) or b"").decode()
    except (pa.ArrowException, ValueError, TypeError, ArithmeticError):
        text = ""
    if not text:
        raise InputError(f"A key must be text or a number, not missing or empty; got {label!r}.")
    return text


def choose(
    columns: Columns | None,
    labels: Sequence[str | int],
    names: Sequence[str],
    *,
    unusable: Mapping[str, str] | None = None,
    nested: Mapping[str, str] | None = None,
    where: str = "the data",
    by_position: bool = False,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the columns of numbers, and of those of labels; see `choose_columns`.

    Without `columns`, the columns of labels are not among those of numbers. ``columns=()``
    is allowed where there are labels: then only these are read.

    Parameters
    ----------
    nested : mapping from str to str
        Columns that cannot be labels, each with the name of its type.
    """
    if not labels:
        chosen = choose_columns(
            columns, names, unusable=unusable, where=where, by_position=by_position
        )
        return chosen, ()
    try:
        marks = choose_columns(list(labels), names, where=where, by_position=by_position)
    except InputError as error:
        words = str(error).replace("columns asks twice for", "unit and by are both")
        raise InputError(
            words.replace("columns must be a list of", "unit and by must be")
        ) from None
    for name in marks:
        if nested and name in nested:
            raise InputError(
                f"Column {name!r} of {where} is {nested[name]}; labels of persons or groups must "
                "be text or numbers."
            )
    if columns is None:
        columns = [name for name in names if name not in marks]
        if not columns:
            raise InputError(f"There is no column in {where} besides {', '.join(marks)}.")
    elif isinstance(columns, tuple) and not columns:
        return (), marks
    chosen = choose_columns(columns, names, unusable=unusable, where=where, by_position=by_position)
    return chosen, marks


def encoded(block: NDArray[Any], labels: Sequence[Labels]) -> NDArray[np.float64]:
    """Return a block as float64, the labels in its last columns as their numbers."""
    import pyarrow as pa

    dense = np.array(block, dtype=np.float64, order="F")
    for j in range(-len(labels), 0):
        values = np.ascontiguousarray(block[:, j])
        dense[:, j] = labels[j].numbers(pa.array(values, from_pandas=values.dtype.kind == "f"))
    return dense


def _stripped(text: bytes | None) -> bytes | None:
    return None if text is None else text.strip()


def _plain(values: Any) -> Any:
    """Return an Arrow array without dictionaries or runs, and NaN as missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    kind = values.type
    if pa.types.is_run_end_encoded(kind):
        return _plain(pc.run_end_decode(values))
    if pa.types.is_dictionary(kind):
        return _plain(decoded(values))
    if pa.types.is_floating(kind):
        plain = values.to_numpy(zero_copy_only=False) + np.zeros(1, kind.to_pandas_dtype())
        return pa.array(plain, from_pandas=True)  # without -0, NaN as null
    return values


def _texts(values: Any) -> list[bytes | None]:
    """Return labels as bytes: a label's do not depend on other labels."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_null(kind):
        return [None] * len(values)
    if pa.types.is_fixed_size_binary(kind):
        values = values.cast(pa.binary())
    elif not pa.types.is_binary(kind) and not pa.types.is_large_binary(kind):
        if pa.types.is_temporal(kind) and getattr(kind, "tz", None):
            values = values.cast(pa.timestamp(kind.unit))  # no time zones: UTC
        values = values.cast(pa.large_string())
    return list(values.cast(pa.large_binary()).to_pylist())
