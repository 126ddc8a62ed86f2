"""Which labels are one person's, however files spell them.

`prolate.sources.labels` tells labels apart by their texts, and so it does for groups: 1.50 and
1.5 may be two of them. A person who were two would be protected half as well, so labels of
persons are one wherever they can be the same value, of whatever type and whoever wrote it:

- numbers that are equal: 1.5, 1.50 and +1.5e0; 007 and 7; 1e-7 and 0.0000001; 1234, 1,234 and
  1 234. Where some file of the data set has doubles, and another one none, numbers are what doubles
  make of them;
- moments that are the same, whatever their time zones are; and times of a day;
- UUIDs, with capitals, braces and dashes or without;
- text of the same letters, whatever bytes make them up, and whatever spaces are around it.

Two people whose labels are one count as one, which takes from what is measured and not from
privacy. What a label is here depends on nothing but itself and the types of the columns.

Of some types not even the values are the same everywhere. Files that have such a type beside
another one are refused, by their types alone.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from prolate.arrays import Integers
from prolate.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from prolate.sources.labels import Labels

__all__ = ["Persons", "are_rounded", "clash", "kinds_of", "person_text"]

_BEGINS = frozenset(b"%c" % byte for byte in b".+-0123456789")
_POWER = re.compile(rb"\d+[eE]\d+")
_PLAIN = re.compile(rb"(?!-0$)-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?")
_NUMBER = re.compile(rb"([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?)0*(\d{1,9}))?")
_GROUPED = re.compile(rb"[+-]?[1-9]\d{0,2}(?:([ ',.])\d{3})(?:\1\d{3})*((?!\1)[.,]\d*)?")  # 1,234.5
_MOMENT = re.compile(  # 2020-03-01 01:30:00.000+01:00
    rb"(\d{4}-\d\d-\d\d)[ Tt](\d\d:\d\d(?::\d\d)?)(?:\.(\d*))?"
    rb" ?(?:([+-])(\d\d)(?::?(\d\d))?|[Zz]|UTC|GMT)?"
)
_UUID = re.compile(rb"(?:urn:uuid:)?\{?(\w{8})-?(\w{4})-?(\w{4})-?(\w{4})-?(\w{12})\}?")
_HEXADECIMAL = re.compile(rb"[0-9a-fA-F]{32}")
_CLOCK = re.compile(rb"(\d\d:\d\d)(:\d\d)?(?:\.(\d*?)0*)?")
_SMALLEST = 400  # digits behind the point; no double has more in front of its own

_SINGLE, _DOUBLE, _SPAN = "single", "double", "span"
_ZONED, _DATED, _OTHER = "zoned", "dated", "other"
_ALONE = {
    _SINGLE: ("floating-point numbers of less than double precision", frozenset({_SINGLE})),
    _SPAN: ("spans of time", frozenset({_SPAN})),
    _ZONED: ("times with a time zone", frozenset({_ZONED, _DOUBLE, _OTHER})),
}
"""What must not stand beside other types than these."""


class Persons:
    """The numbers of persons, 0, 1, 2, ... in the order in which they first appear.

    Parameters
    ----------
    labels : Labels

    Raises
    ------
    InputError
        If the types of the column do not tell whose a row is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from prolate.sources.labels import Labels
    >>> labels = Labels()
    >>> Persons(labels).numbers(labels.numbers(pa.array(["1.50", "x", "1.5"]))).tolist()
    [0, 1, 0]
    """

    def __init__(self, labels: Labels) -> None:
        if labels.clash is not None:
            raise InputError(labels.clash)
        self._labels = labels
        self._whose = np.zeros(0, dtype=np.int64)
        self._count = 0
        self._elsewhere: dict[bytes | None, int] = {}  # persons whose first label is no such text

    def numbers(self, numbers: Integers) -> Integers:
        """Return whose labels are, given the numbers of these."""
        if len(self._labels) > self._whose.size:
            self._learn(self._labels.since(self._whose.size))
        return np.asarray(self._whose[numbers])

    def _learn(self, texts: list[bytes | None]) -> None:
        rounded, commas = self._labels.rounded, self._labels.decimal_commas
        ready = not rounded  # most labels are whole numbers, which takes no call to see
        same = [
            text
            if text is None or (ready and text.isdigit() and text[0] != 48)
            else person_text(text, rounded=rounded, commas=commas)
            for text in texts
        ]
        if same == texts and not self._elsewhere:
            new = np.arange(self._count, self._count + len(texts))
            self._count += len(texts)
        else:
            new = self._found(texts, same)
        self._whose = np.concatenate([self._whose, new])

    def _found(self, texts: list[bytes | None], same: list[bytes | None]) -> Integers:
        start, place = self._whose.size, self._labels.place
        found: list[int] = []
        for text, one in zip(texts, same, strict=True):
            person = self._elsewhere.get(one)
            if person is None and one != text:
                at = place(one)
                if at is not None and at < start + len(found):
                    person = int(self._whose[at]) if at < start else found[at - start]
            if person is None:
                person, self._count = self._count, self._count + 1
                if one != text:
                    self._elsewhere[one] = person
            found.append(person)
        return np.array(found, dtype=np.int64)


def person_text(text: bytes, *, rounded: bool = False, commas: bool = False) -> bytes:
    """Return the one text of all labels that may be the same person's.

    Parameters
    ----------
    text : bytes
        As `prolate.sources.labels` has it.
    rounded : bool
        Whether numbers are what doubles make of them.
    commas : bool
        Whether numbers may have decimal commas.

    Examples
    --------
    >>> person_text(b"+1.50"), person_text(b"1e-07"), person_text(b"2020-03-01T00:30+0100")
    (b'1.5', b'0.0000001', b'2020-02-29 23:30:00')
    """
    found = _once(text, rounded, commas)
    while found != text:  # so that the text of a text is the same: who is whom rests on that
        text, found = found, _once(found, rounded, commas)
    return found


def _once(text: bytes, rounded: bool, commas: bool) -> bytes:
    if not text.isascii():
        text = _composed(text)
    if len(text) >= 32 and (found := _UUID.fullmatch(text)):
        text = _uuid(found) or text
    if text[:1] not in _BEGINS:
        return text
    if text[2:3] == b":":
        found = _CLOCK.fullmatch(text)
        return _clock(found) if found else text
    if text[4:5] == b"-" and text[7:8] == b"-":  # a day; one that is written as usual stays so
        odd = b"+" in text or b"-" in text[8:] or text[10:11] == b"t" or text[-1:].isalpha()
        found = _MOMENT.fullmatch(text) if odd else None
        return _moment(found) or text if found else text
    if text.isalnum() and not (text.isdigit() or _POWER.fullmatch(text)):
        return text  # quicker for numbers in hexadecimal
    if not rounded and _PLAIN.fullmatch(text):
        return text
    number = _ungrouped(text, commas)
    found = _NUMBER.fullmatch(number)
    return _number(number, found, rounded) if found else text


# An apostrophe, a minus, and what has no width.
_WRITTEN = str.maketrans("\u2019\u2212", "'-", "\u200b\u2060\ufeff")


def _composed(text: bytes) -> bytes:
    """Return text whose letters are the same if they look so, and without any spaces around it."""
    letters = unicodedata.normalize("NFKC", text.decode("utf-8", "surrogateescape"))
    letters = unicodedata.normalize("NFKC", letters.translate(_WRITTEN)).strip()
    return letters.encode("utf-8", "surrogateescape")


def _uuid(found: re.Match[bytes]) -> bytes | None:
    """Return a UUID as it is usually written, or None if it is none, or may be a number."""
    digits = b"".join(found.groups())
    plain = digits == found[0] and (digits.isdigit() or _POWER.fullmatch(digits))
    return (
        None if plain or not _HEXADECIMAL.fullmatch(digits) else b"-".join(found.groups()).lower()
    )


def _ungrouped(text: bytes, commas: bool) -> bytes:
    """Return a number with a decimal point, and nothing between its thousands.

    Where there are decimal commas, 1.234 may yet be a number of a file without them.
    """
    found = _GROUPED.fullmatch(text)
    if found:
        between, point = found[1], b"," if commas else b"."
        surely = between != b"." or text.count(b".") > 1 or found[2]
        if between != point and surely:
            text = text.replace(between, b"")
    return text.replace(b",", b".") if commas else text


def _number(text: bytes, found: re.Match[bytes], rounded: bool) -> bytes:
    """Return a number without an exponent, and without zeros that say nothing."""
    sign, whole, behind, alone, below, power = found.groups()
    sign, behind = sign.replace(b"+", b""), behind or alone or b""
    digits = ((whole or b"") + behind).lstrip(b"0")
    exponent = int((below or b"") + (power or b"0")) - len(behind)
    kept = digits.rstrip(b"0")
    exponent += len(digits) - len(kept)
    if not kept:
        return b"0"
    if rounded or (power is not None and exponent >= 0):
        # With an exponent, whole numbers are what floats are written as: 1.152921504606847e+18.
        value = float(text)
        if value.is_integer():
            return b"%d" % int(value)
        if rounded and math.isfinite(value):
            again = repr(value).encode()
            return person_text(again)
    if power is not None and exponent >= 0:
        return sign + kept + b"e%d" % exponent  # beyond all floats
    if exponent >= 0:
        return sign + kept + b"0" * exponent
    if exponent < -_SMALLEST:
        return sign + kept + b"e%d" % exponent
    kept = kept.rjust(1 - exponent, b"0")
    return sign + kept[:exponent] + b"." + kept[exponent:]


def _clock(found: re.Match[bytes]) -> bytes:
    """Return a time of a day with its seconds, and no zeros behind them."""
    return found[1] + (found[2] or b":00") + (b"." + found[3] if found[3] else b"")


def _moment(found: re.Match[bytes]) -> bytes | None:
    """Return a moment with its distance from UTC as that of UTC, or None if there is no such."""
    day, clock, behind, sign, hours, minutes = (part and part.decode() for part in found.groups())
    ahead = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    try:
        local = datetime.fromisoformat(f"{day} {clock}")
        moment = local + ahead if sign == "-" else local - ahead
    except (ValueError, OverflowError):
        return None
    behind = (behind or "").rstrip("0")
    if not behind and (moment.hour, moment.minute, moment.second) == (0, 0, 0):
        return f"{moment:%Y-%m-%d}".rjust(10, "0").encode()
    return f"{moment.isoformat(' ', 'seconds')}{'.' * bool(behind)}{behind}".encode()


# --- types ---------------------------------------------------------------------------------------


def kinds_of(schema: pa.Schema) -> dict[str, str]:
    """Return how the columns of a schema spell values, but for those that have none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> kinds_of(pa.schema({"a": pa.float32(), "b": pa.null(), "c": pa.string()}))
    {'a': 'single', 'c': 'other'}
    """
    import pyarrow as pa

    return {
        field.name: _kind_of(field.type) for field in schema if not pa.types.is_null(field.type)
    }


def _kind_of(kind: pa.DataType) -> str:
    import pyarrow as pa
    from pyarrow import types

    if isinstance(kind, pa.BaseExtensionType):
        return _kind_of(kind.storage_type)
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return _kind_of(kind.value_type)
    if types.is_floating(kind):
        return _DOUBLE if types.is_float64(kind) else _SINGLE
    if types.is_duration(kind):
        return _SPAN
    if types.is_timestamp(kind):
        return _ZONED if kind.tz else _DATED
    return _DATED if types.is_date(kind) else _OTHER


def are_rounded(kinds: Sequence[str]) -> bool:
    """Return whether numbers are what doubles make of them, given how files spell a column.

    Examples
    --------
    >>> are_rounded(["double", "other"]), are_rounded(["double", "double"])
    (True, False)
    """
    return _DOUBLE in kinds and len(set(kinds)) > 1


def clash(name: str, kinds: Sequence[tuple[str, str]]) -> str | None:
    """Return why a column cannot say whose a row is, or None if it can.

    Parameters
    ----------
    name : str
        Of the column.
    kinds : sequence of (str, str)
        The files, and how each spells the column.
    """
    for path, kind in kinds:
        words, beside = _ALONE.get(kind, ("", None))
        other = next((where for where, one in kinds if beside and one not in beside), None)
        if other is not None:
            return (
                f"Column {name!r} holds {words} in {path}, and another type in {other}. Nothing "
                "tells which labels of the two are the same, so a person could count twice. "
                f"To use it as unit, store {name!r} with the same type in all files, best as "
                "whole numbers or text."
            )
    return None
