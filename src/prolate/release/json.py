"""JSON of releases, strictly read.

A reader takes a value and the name of the place where it stands, and returns
the value or raises `ReleaseError` naming that place. Nothing is guessed or
converted, except that a whole number may stand for a float: other programs
write 1.0 as 1.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prolate.errors import ReleaseError, did_you_mean

Reader = Callable[[Any, str], Any]

_LARGEST = sys.float_info.max


def _wrong(where: str, expected: str, value: object) -> ReleaseError:
    kind = "null" if value is None else type(value).__name__
    return ReleaseError(
        f"The stored release has {kind} at {where!r}, where {expected} belongs; "
        "use a file that Prolate wrote, unchanged."
    )


def read_text(value: Any, where: str) -> str:
    """Return a string."""
    if not isinstance(value, str):
        raise _wrong(where, "text", value)
    return value


def read_flag(value: Any, where: str) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise _wrong(where, "true or false", value)
    return value


def read_integer(value: Any, where: str) -> int:
    """Return a whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(where, "a whole number", value)
    return value


def read_number(value: Any, where: str) -> float:
    """Return a finite float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(where, "a number", value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ReleaseError(f"The stored release has a number at {where!r} that is not finite.")
    return number


def read_mapping(value: Any, where: str) -> dict[str, Any]:
    """Return a JSON object; what is in it is for others to check."""
    if not isinstance(value, dict):
        raise _wrong(where, "an object", value)
    return value


def read_list(item: Reader) -> Reader:
    """Return a reader of lists of `item`."""

    def reader(value: Any, where: str) -> list[Any]:
        if not isinstance(value, list):
            raise _wrong(where, "a list", value)
        return [item(entry, f"{where}[{i}]") for i, entry in enumerate(value)]

    return reader


def read_array(value: Any, where: str) -> NDArray[np.float64]:
    """Return an array from a list of numbers, or a list of such lists of one length."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        rows = read_list(read_list(read_number))(value, where)
        if len({len(row) for row in rows}) != 1:
            raise ReleaseError(f"The stored release has lists of unequal length at {where!r}.")
        return np.array(rows, dtype=np.float64)
    return np.array(read_list(read_number)(value, where), dtype=np.float64)


def read_fields(
    value: Any,
    where: str,
    readers: Mapping[str, Reader],
    optional: Mapping[str, Reader] | None = None,
) -> dict[str, Any]:
    """Return an object that has the fields of `readers`, maybe `optional` ones, and no others."""
    given = read_mapping(value, where)
    known = {**readers, **(optional or {})}
    for name in given:
        if name not in known:
            raise ReleaseError(
                f"The stored {where} has a field {name!r:.60} that this Prolate does not know."
                f"{did_you_mean(name, known)} Read it with the Prolate that wrote it."
            )
    for name in readers:
        if name not in given:
            raise ReleaseError(
                f"The stored {where} lacks its field {name!r}, so it is not complete; "
                "write the release file again, or get a complete copy."
            )
    return {
        name: reader(given[name], f"{where}.{name}")
        for name, reader in known.items()
        if name in given
    }


def _read_array_or_none(value: Any, where: str) -> NDArray[np.float64] | None:
    return None if value is None else read_array(value, where)


def _read_norm(value: Any, where: str) -> float | str:
    """Return the p of an error, or "relative"."""
    if value == "relative":
        return "relative"
    return math.inf if value == "inf" else read_number(value, where)


BUDGET_FIELDS = {"mu": read_number, "composition": read_text, "stated": read_mapping}
OPTIONAL_BUDGET_FIELDS = {"keys_delta": read_number}
RELEASE_FIELDS = {
    "statistic": read_text,
    "estimate": read_array,
    "columns": read_list(read_text),
    "noise_std": _read_array_or_none,
    "sampling_std": _read_array_or_none,
    "n": read_number,
    "budget": read_mapping,
    "neighbors": read_text,
    "method": read_text,
    "error_norm": _read_norm,
    "receipt": read_list(read_mapping),
    "warnings": read_list(read_text),
    "private": read_flag,
    "details": read_mapping,
    "prolate_version": read_text,
}
OPTIONAL_FIELDS: dict[str, Reader] = {
    "clipping_std": read_array,
    "error_covariance": read_array,
    "unit": read_mapping,
}


def plain(value: Any, where: str) -> Any:
    """Return `value` as JSON would read it back: dicts, lists, str, int, float, bool, None."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ReleaseError(f"{where} has a key that is no string: {key!r}.")
        return {str(key): plain(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, int | float) and not abs(value) <= _LARGEST:
        raise ReleaseError(f"{where} is not finite; JSON and a release cannot hold it.")
    for kind in (bool, int, float, str):  # subclasses, such as enumerations, become plain
        if isinstance(value, kind):
            return kind(value)
    if value is None:
        return None
    raise ReleaseError(f"{where} is of type {type(value).__name__}, which JSON cannot hold.")


def read_json(path_or_text: str | os.PathLike[str]) -> Any:
    """Return what a JSON file, or a text that starts with ``{``, holds."""
    if isinstance(path_or_text, str) and path_or_text.lstrip().startswith("{"):
        name, text = "This text", path_or_text
    else:
        if not isinstance(path_or_text, str | os.PathLike):
            raise ReleaseError(
                "A stored release is a path, or the text of one; got "
                f"{type(path_or_text).__name__}."
            )
        path = Path(path_or_text)
        name = f"The file {str(path)!r}"
        try:
            device = path.is_char_device() or path.is_block_device()
            text = "" if device else path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise ReleaseError(f"{name} is not a stored release: it is not text.") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ReleaseError(f"{name} cannot be read: {reason}.") from error
        if device:
            raise ReleaseError(f"{name} is a device, not a stored release.")
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ReleaseError(
            f"{name} is not complete JSON (line {error.lineno}, column {error.colno}: "
            f"{error.msg}); it may be half-written or not a release."
        ) from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, ReleaseError):
            raise
        raise ReleaseError(f"{name} is not a stored release: its JSON is out of range.") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ReleaseError("The stored release names a field twice; it was changed by hand.")
    return fields


def _no_constant(name: str) -> Any:
    raise ReleaseError(f"The stored release holds {name}, which no release ever does.")
