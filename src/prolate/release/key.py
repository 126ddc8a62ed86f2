"""What a group is called: a label, or one of each of several columns; and so are the columns."""

from __future__ import annotations

from typing import Any

from prolate.release.json import read_list, read_text

__all__ = ["Key", "as_key", "in_words", "parts", "read_key"]

Key = str | tuple[str, ...]


def parts(key: Key) -> tuple[str, ...]:
    """Return the labels of a key, one for each column."""
    return (key,) if isinstance(key, str) else key


def as_key(labels: tuple[str, ...]) -> Key:
    """Return the key of labels: one by itself is not in a tuple."""
    return labels[0] if len(labels) == 1 else labels


def in_words(key: Key) -> str:
    """Return a key as it stands in a sentence.

    Examples
    --------
    >>> in_words("north"), in_words(("north", "f"))
    ('north', 'north, f')
    """
    return ", ".join(parts(key))


def read_key(value: Any, where: str) -> Key:
    """Return a stored key: text, or a list of several texts."""
    if not isinstance(value, list) or len(value) < 2:
        return read_text(value, where)
    return tuple(read_list(read_text)(value, where))
