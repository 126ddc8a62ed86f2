"""What the page may know of the data: names, types, and the number of rows the file states."""

from __future__ import annotations

from dataclasses import dataclass

from prolate.errors import InputError
from prolate.sources.choosing import Wanted, index_beside, without_index
from prolate.sources.files import FileSource, first_file

__all__ = ["Schema", "read_schema"]


@dataclass(frozen=True)
class Schema:
    """The schema of data files; no value of a row is in it.

    Attributes
    ----------
    path : str
        As it was given: a file, a glob or a directory.
    numeric : tuple of str
        Columns that statistics can be taken of.
    other : dict of str to str
        The remaining columns, each with what it is.
    rows : int or None
        The number of rows, where the files state it. It is public only under
        ``neighbors="replace"``.
    flags : frozenset of str
        Columns that are booleans by their type.
    """

    path: str
    numeric: tuple[str, ...]
    other: dict[str, str]
    rows: int | None
    flags: frozenset[str] = frozenset()

    @property
    def index(self) -> tuple[str, ...]:
        """The numeric columns that are left out unless they are named: an index of the rows."""
        return index_beside(None, self.numeric, without_index(self.numeric))


def read_schema(path: str) -> Schema:
    """Return the schema of the files.

    Raises
    ------
    InputError
        If they cannot be read, differ, or have no numeric column.
    """
    file = first_file(path)
    numeric = [name for name in file.names if name not in file.unusable]
    if not numeric:
        raise InputError(f"No column of {path} is numeric; there is nothing to release.")
    source = FileSource(path, Wanted(numeric), 1 << 20)
    return Schema(path, tuple(numeric), dict(file.unusable), source.n_rows, source.flags)
