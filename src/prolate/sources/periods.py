"""Columns of pandas of which Arrow has only numbers: periods and intervals.

Until pandas is imported, Arrow has a period as the number of months (or days, ...) since 1970, and
an interval as its two ends; what they are stands beside the types.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["is_of_pandas", "type_of_pandas"]

_TYPES = {"pandas.period": ("freq",), "pandas.interval": ("subtype", "closed")}


def is_of_pandas(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is one of these, as it is where pandas is imported."""
    return getattr(kind, "extension_name", None) in _TYPES


def type_of_pandas(field: pa.Field) -> str | None:
    """Return the type of such a column as pandas writes it, or None if it is another one.

    Examples
    --------
    >>> import pyarrow as pa
    >>> beside = {"name": "pandas.period", "metadata": '{"freq": "M"}'}
    >>> beside = {f"ARROW:extension:{key}": text for key, text in beside.items()}
    >>> type_of_pandas(pa.field("month", pa.int64(), metadata=beside))
    'period[M]'
    """
    name: str
    if is_of_pandas(field.type):
        name, text = field.type.extension_name, field.type.__arrow_ext_serialize__()
    else:
        beside = field.metadata or {}
        name = beside.get(b"ARROW:extension:name", b"").decode(errors="replace")
        text = beside.get(b"ARROW:extension:metadata", b"")
    if name not in _TYPES:
        return None
    word = name.removeprefix("pandas.")
    try:
        about = json.loads(text)
        return f"{word}[{', '.join(str(about[key])[:30] for key in _TYPES[name])}]"
    except (ValueError, TypeError, LookupError):
        return word
