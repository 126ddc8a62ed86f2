"""Columns that the names of folders hold, as Hive and Spark write them: region=EU/year=2024/.

They are read as pyarrow.dataset and pandas read them: whole numbers of 32 bits where all of a
column are, and text otherwise. Names of folders are public, as names of files are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from prolate.errors import InputError, listed

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Part", "is_key", "keys_of", "with_keys"]

_MISSING = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Part:
    """A file, and the names of the folders in which it lies that may hold columns."""

    path: str
    folders: tuple[str, ...]


def is_key(folder: str) -> bool:
    """Return whether the name of a folder holds a column.

    Examples
    --------
    >>> is_key("year=2024"), is_key("2024"), is_key("_tmp=1")
    (True, False, False)
    """
    return folder.find("=") > 0 and not folder.startswith((".", "_"))


def keys_of(parts: Sequence[Part]) -> list[dict[str, pa.Scalar]]:
    """Return the columns that folders hold of each file, by their names.

    Raises
    ------
    InputError
        If files lie in folders that hold different columns, or a name is not UTF-8.

    Examples
    --------
    >>> keys_of([Part("a", ("x=1", "y=1")), Part("b", ("x=2", "y=b%20c"))])[1]
    {'x': <pyarrow.Int32Scalar: 2>, 'y': <pyarrow.StringScalar: 'b c'>}
    """
    texts = [_texts(part) for part in parts]
    for part, found in zip(parts, texts, strict=True):
        if found.keys() != texts[0].keys():
            raise InputError(
                f"The folders of {part.path} hold {_named(found)}, and those of {parts[0].path} "
                f"hold {_named(texts[0])}; files read together must lie in folders of the same "
                "columns."
            )
    keys: list[dict[str, pa.Scalar]] = [{} for _ in parts]
    for name in texts[0] if texts else ():
        for key, value in zip(keys, _typed([found[name] for found in texts]), strict=True):
            key[name] = value
    return keys


def _texts(part: Part) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for folder in filter(is_key, part.folders):
        try:
            name, text = (unquote(half, errors="strict") for half in folder.split("=", 1))
        except UnicodeDecodeError:
            raise InputError(f"The folder {folder!r} of {part.path} is not UTF-8.") from None
        found.setdefault(name, None if text == _MISSING else text)
    return found


def _named(found: Mapping[str, str | None]) -> str:
    return f"the columns {listed(found, 4)}" if found else "no columns"


def _typed(texts: Sequence[str | None]) -> pa.Array:
    import pyarrow as pa

    values = pa.array(texts, pa.string())
    try:
        return values if values.null_count == len(values) else values.cast(pa.int32())
    except pa.ArrowInvalid:
        return values


def with_keys(
    read: Callable[[tuple[str, ...]], Iterator[pa.RecordBatch]],
    columns: Sequence[str],
    keys: Mapping[str, pa.Scalar],
    spare: str,
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a file with the columns of its folders.

    Parameters
    ----------
    read : callable
        Yields batches of columns of the file.
    columns : sequence of str
        Those wanted.
    keys : mapping of str to scalar
        The columns of the folders.
    spare : str
        A column of the file, read for the number of rows where no other one is wanted.
    """
    own = tuple(name for name in columns if name not in keys)
    wanted = [name for name in columns if name in keys]
    for batch in read(own or (spare,)):
        yield _extended(batch, {name: keys[name] for name in wanted}) if wanted else batch


def _extended(batch: pa.RecordBatch, keys: Mapping[str, pa.Scalar]) -> pa.RecordBatch:
    import pyarrow as pa

    constant = (pa.repeat(value, batch.num_rows) for value in keys.values())
    return pa.RecordBatch.from_arrays(
        [*batch.columns, *constant], names=[*batch.schema.names, *keys]
    )
