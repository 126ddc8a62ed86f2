"""What kind of values labels are by the type of their column, which is public.

Labels are text to Prolate. The type of their column says what a user joins them with, and, of
booleans, which labels there can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

import numpy as np

__all__ = ["LABEL_TYPES", "LabelType", "common_type", "type_of_numpy", "typed"]

LabelType = Literal["text", "boolean", "integer", "number"]
"""Text is also what dates are, decimals, and columns whose type is not known, as in CSV files."""

LABEL_TYPES: tuple[LabelType, ...] = get_args(LabelType)

_KINDS: dict[str, LabelType] = {"b": "boolean", "i": "integer", "u": "integer", "f": "number"}
_DOUBLE = 8  # bytes
_FLAGS = {"false": False, "true": True}


def type_of_numpy(dtype: object) -> LabelType:
    """Return the type of labels of a column of NumPy's type, or one that is like it.

    Of floats of less than double precision labels are text: 0.1 there is another number.

    Examples
    --------
    >>> type_of_numpy(np.dtype("int8")), type_of_numpy(np.dtype("float32"))
    ('integer', 'text')
    """
    found = _KINDS.get(str(getattr(dtype, "kind", "")), "text")
    return "text" if found == "number" and getattr(dtype, "itemsize", 8) < _DOUBLE else found


def common_type(types: Iterable[LabelType]) -> LabelType:
    """Return the type of labels that several files hold."""
    found = set(types)
    if found == {"integer", "number"}:
        return "number"
    return found.pop() if len(found) == 1 else "text"


def typed(
    texts: Sequence[str], kind: LabelType
) -> Sequence[str] | list[bool] | list[int] | list[float]:
    """Return labels as values of a type; as they are where one of them is no such value.

    They are keys of groups that are shown, and may be such as no row can have.

    Examples
    --------
    >>> typed(["1", "20"], "integer"), typed(["1", "n/a"], "integer"), typed(["false"], "boolean")
    ([1, 20], ['1', 'n/a'], [False])
    """
    try:
        if kind == "boolean":
            return [_FLAGS[text] for text in texts]
        if kind == "integer":
            whole = [int(np.int64(int(text))) for text in texts]
            return whole if list(map(str, whole)) == list(texts) else texts  # 007 is none
        if kind == "number":
            return [float(text) for text in texts]
    except (KeyError, ValueError, OverflowError):
        return texts
    return texts
