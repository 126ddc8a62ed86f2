"""Columns of labels, read as numbers: whose a row is, and which group it belongs to.

A label may be text, a whole number of any size, or whatever else Arrow writes as text. Two
labels are the same if their texts are, without the spaces around them, and whatever the type of
the column: 7, 7.0 and "7" of three files are one, and so are a day and its midnight, and true
and True. Were they not, a person in all three would count three times. Where numbers may have
decimal commas, 7,0 is one with them. What is only spaces is missing. For labels of persons more
are the same (`prolate.sources.spellings`).

A source hands out a column of labels after the columns of numbers, and in it 0, 1, 2, ... in the
order in which labels first appear; a missing label is one like others. The numbers stay the same
in every pass. They and the labels are as private as rows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Floats, Integers
from prolate.errors import InputError, shown
from prolate.sources.dictionaries import decoded
from prolate.sources.label_types import LabelType
from prolate.sources.periods import is_of_pandas

__all__ = ["Labels", "encoded", "is_label", "text_of"]

_BEGINS = frozenset(b"%c" % byte for byte in b"+-0123456789")
_WHOLE = re.compile(rb"(?:\+|(-))?(\d+)(?:\.0*)?")
_LARGE = re.compile(rb"[+-]?\d(?:\.\d+)?[eE]\+\d{2,3}")  # as floats are written: 1e+07
_COMMA = re.compile(rb"([+-]?\d+),(0*|\d+[eE]\+\d{2,3})")  # 7,0 and 1,2e+17: whole numbers
_TIME = re.compile(  # 2020-03-01T01:30:00.000Z
    rb"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(?:(:\d\d)(?:\.(\d*?)0*)?)?(?:Z|\+00:?00)?"
)
_INTEGERS = 2.0**63  # floats below are whole numbers of 64 bits
_UNITS = "s", "ms", "us", "ns"
_WRITTEN = {("uuid", "UUID"), ("pandas", "Period"), ("pandas", "Interval")}  # what str() is for


class Labels:
    """The numbers of the labels of a column.

    Parameters
    ----------
    missing : set of str
        What else is written where a label is missing.
    decimal_commas : bool
        Whether whole numbers may be written like 7,0.
    whole : bool
        Whether all are whole numbers, so that a public label such as 01 stands for 1.
    kind : {"text", "boolean", "integer", "number"}
        What values they are by the type of the column; see `prolate.sources.label_types`.
    rounded : bool
        Whether numbers of persons are what doubles make of them.
    clash : str, optional
        Why they cannot be labels of persons.

    Examples
    --------
    >>> import pyarrow as pa
    >>> labels = Labels()
    >>> labels.numbers(pa.array(["b", None, " b ", "a"])).tolist(), labels.number("a")
    ([0, 1, 0, 2], 2)
    """

    def __init__(
        self,
        missing: Collection[str] = (),
        *,
        decimal_commas: bool = False,
        whole: bool = False,
        kind: LabelType = "text",
        rounded: bool = False,
        clash: str | None = None,
    ) -> None:
        self._known: dict[bytes | None, int] = {}
        self.decimal_commas, self._whole, self.kind = decimal_commas, whole, kind
        self.rounded, self.clash = rounded, clash
        self._missing = frozenset(text.encode() for text in missing)

    def __len__(self) -> int:
        return len(self._known)

    def numbers(self, values: Any) -> Integers:
        """Return the numbers of an Arrow array of labels; new ones for new labels."""
        texts, places = spelled(values)
        known = self._known
        if self._missing:
            texts = [None if text in self._missing else text for text in texts]
        if self.decimal_commas:
            texts = [text and _without_comma(text) for text in texts]
        numbers = [known.setdefault(text, len(known)) for text in texts]
        return np.asarray(np.array(numbers, dtype=np.int64)[places] if numbers else places)

    def number(self, label: object) -> int:
        """Return the number of a public label, a new one if it has none yet."""
        text = text_of(label).encode()
        if self.decimal_commas:
            text = _without_comma(text)
        if self._whole and text.isdigit():
            text = text.lstrip(b"0") or b"0"
        return self._known.setdefault(text, len(self._known))

    def place(self, text: bytes | None) -> int | None:
        """Return the number of a text, or None if it has none."""
        return self._known.get(text)

    def since(self, number: int) -> list[bytes | None]:
        """Return the texts of all numbers from `number` on."""
        # From the end: to skip those before it would take longer with every block.
        return list(islice(reversed(self._known), len(self._known) - number))[::-1]

    @property
    def every(self) -> tuple[str, ...]:
        """All labels that rows can have, where the type of the column says which these are.

        Categories are none: they may be those that are in the rows.
        """
        return ("false", "true") if self.kind == "boolean" else ()

    def refusal(self, label: object) -> str | None:
        """Return why no row can have a public label, or None if one may."""
        text = text_of(label)
        if text.encode() in self._missing:
            return (
                f"In a CSV file {text!r} is a missing value, so no group can have that key; give "
                "the group another name, or store the rows as Parquet."
            )
        if self.every and text not in self.every:
            return (
                "The groups of a column of booleans are True and False, so no group can have the "
                f"key {text!r}."
            )
        return None

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


def spelled(values: Any) -> tuple[list[bytes | None], Integers]:
    """Return the shortest texts of the labels of an Arrow array, and which of them each is.

    Two labels may have the same text; None is one that is missing.
    """
    import pyarrow as pa

    distinct = _plain(values).dictionary_encode(null_encoding="encode")
    texts = _texts(distinct.dictionary)
    if not pa.types.is_integer(distinct.dictionary.type):
        texts = [_stripped(text) for text in texts]
    return texts, distinct.indices.cast(pa.int64()).to_numpy()


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

    kind = type(label)
    whole = isinstance(label, int) and not isinstance(label, bool)
    try:
        if whole or (kind.__module__.partition(".")[0], kind.__name__) in _WRITTEN:
            label = f"{label:d}" if whole else str(label)
        if isinstance(label, np.datetime64) and np.datetime_data(label)[0] not in _UNITS:
            label = label.astype("datetime64[s]")  # Arrow knows no coarser ones
        if isinstance(label, np.longdouble):
            label = float(label)
        if isinstance(label, str):
            found: bytes | None = label.encode()
        else:
            [found] = _texts(_plain(pa.array([label], from_pandas=True)))
        text = (_stripped(found) or b"").decode()
    except (pa.ArrowException, ValueError, TypeError, ArithmeticError):
        text = ""
    if not text:
        raise InputError(
            f"A key must be text or a number, not missing or empty; got {shown(label)}."
        )
    return text


def encoded(
    block: NDArray[Any],
    labels: Sequence[Labels],
    marks: NDArray[Any] | None = None,
    masked: Any = False,
) -> Floats:
    """Return a block as float64, the labels in its last columns as their numbers.

    Parameters
    ----------
    block : array
    labels : sequence of Labels
    marks : array, optional
        The columns of labels, where those of `block` may be rounded.
    masked : array of bool, optional
        Which of `marks` are missing.
    """
    import pyarrow as pa

    dense = np.array(block, dtype=np.float64, order="F")
    marks = block[:, -len(labels) :] if marks is None else marks
    missing = np.broadcast_to(masked, marks.shape)
    for j in range(-len(labels), 0):
        values, odd = np.ascontiguousarray(marks[:, j]), np.ascontiguousarray(missing[:, j])
        floats = values.dtype.kind == "f"
        dense[:, j] = labels[j].numbers(pa.array(values, mask=odd, from_pandas=floats))
    return dense


def is_label(kind: Any) -> bool:
    """Return whether values of an Arrow type can be labels.

    Examples
    --------
    >>> import pyarrow as pa
    >>> is_label(pa.dictionary(pa.int8(), pa.string())), is_label(pa.list_(pa.string()))
    (True, False)
    """
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return not is_of_pandas(kind) and is_label(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return is_label(kind.value_type)
    odd = pa.types.is_nested(kind) or pa.types.is_union(kind) or pa.types.is_interval(kind)
    return not odd


def _stripped(text: bytes | None) -> bytes | None:
    """Return a label as its shortest text: 7.0 is 7, a midnight is its day; None if it is empty."""
    text = text.strip() if text else b""
    if text.isdigit():
        return text
    if text[:1] not in _BEGINS:
        word = text.lower() if len(text) in (4, 5) else b""
        return word if word in (b"true", b"false") else text or None
    if found := _WHOLE.fullmatch(text):
        sign = found[1] if found[1] and found[2].strip(b"0") else b""
        return sign + found[2]
    if _LARGE.fullmatch(text) and (value := float(text)).is_integer():
        return b"%d" % int(value)
    if found := _TIME.fullmatch(text):
        day, clock = found[1], found[2] + (found[3] or b":00")
        clock += b"." + found[4] if found[4] else b""
        return day if clock == b"00:00:00" else day + b" " + clock
    return text


def _without_comma(text: bytes) -> bytes:
    """Return a whole number with a decimal comma as its shortest text, and all else as it is."""
    if b"," in text and (found := _COMMA.fullmatch(text)):
        return _stripped(found[1] + b"." + found[2]) or text
    return text


def _plain(values: Any) -> Any:
    """Return an Arrow array without dictionaries, runs, extensions or views, and NaN as missing."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    kind = values.type
    if isinstance(kind, pa.BaseExtensionType):
        plain = _plain(values.storage)
        return _uuids(plain) if kind.extension_name == "arrow.uuid" else plain
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _plain(decoded(values))
    if pa.types.is_floating(kind):
        plain = values.to_numpy(zero_copy_only=False) + np.zeros(1, kind.to_pandas_dtype())
        missing = np.isnan(plain)
        numbers = plain.astype(np.float64)
        if np.all(missing | ((np.rint(numbers) == numbers) & (np.abs(numbers) < _INTEGERS))):
            with np.errstate(invalid="ignore"):
                return pa.array(numbers.astype(np.int64), mask=missing)  # quick to write as text
        return pa.array(plain, from_pandas=True)  # without -0, NaN as null
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        # As many digits as there can be: nobody checks that values have no more than they should.
        return values.cast(pa.decimal128(38, kind.scale))
    if kind in (pa.string_view(), pa.binary_view()):
        return values.cast(pa.large_binary())
    return values


def _uuids(values: Any) -> Any:
    """Return UUIDs, given as bytes, as text."""
    import pyarrow as pa

    distinct = values.dictionary_encode()
    texts = [str(UUID(bytes=value)) for value in distinct.dictionary.to_pylist()]
    words = pa.array(texts, pa.string())
    return pa.DictionaryArray.from_arrays(distinct.indices, words).dictionary_decode()


def _texts(values: Any) -> list[bytes | None]:
    """Return labels as bytes: a label's do not depend on other labels."""
    import pyarrow as pa
    from pyarrow import types

    kind = values.type
    if types.is_null(kind):
        return [None] * len(values)
    if types.is_decimal(kind):  # Arrow writes some with an exponent, as it does large floats
        found = values.to_pylist()
        return [None if x is None else _shortest(f"{x:f}".encode()) for x in found]
    if types.is_duration(kind):  # in seconds: units differ
        digits = _UNITS.index(kind.unit) * 3
        found = values.cast(pa.int64()).to_pylist()
        spans = [None if x is None else Decimal(f"{x}e-{digits}") for x in found]
        return [None if x is None else _shortest(f"{x:f}".encode()) for x in spans]
    plain = values
    if types.is_fixed_size_binary(kind):
        plain = values.cast(pa.binary())
    elif not types.is_binary(kind) and not types.is_large_binary(kind):
        if types.is_temporal(kind) and getattr(kind, "tz", None):
            plain = values.cast(pa.timestamp(kind.unit))  # no time zones: UTC
        plain = plain.cast(pa.large_string())
    texts: list[bytes | None] = plain.cast(pa.large_binary()).to_pylist()
    if types.is_floating(kind):
        both = zip(texts, values.to_pylist(), strict=True)
        return [text if x is None or not x.is_integer() else b"%d" % int(x) for text, x in both]
    if types.is_temporal(kind):
        return [text and _shortest(text) for text in texts]
    return texts


def _shortest(text: bytes) -> bytes:
    """Return a number without the zeros behind its point."""
    return text.rstrip(b"0").rstrip(b".") if b"." in text else text
