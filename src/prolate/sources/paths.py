"""From paths, globs and directories to data files, and what can go wrong with a file."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path

from prolate.errors import InputError
from prolate.sources.partitions import Part, is_key

__all__ = [
    "ENDINGS",
    "FileStamp",
    "Paths",
    "as_paths",
    "called_alike",
    "find_parts",
    "format_of",
    "name_for_arrow",
    "readable",
]

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

ENDINGS = {
    "Parquet": (".parquet", ".pq"),
    "CSV": (".csv", ".tsv"),
    "Arrow": (".arrow", ".feather", ".ipc"),
}
_READERS = {  # what other files of rows are, and what pandas reads them with
    ".xlsx": "read_excel",
    ".xls": "read_excel",
    ".ods": "read_excel",
    ".dta": "read_stata",
    ".sav": "read_spss",
    ".sas7bdat": "read_sas",
    ".json": "read_json",
}
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
"""Endings of compressed CSV files, and Arrow's names for them."""


def as_paths(data: object) -> list[str | os.PathLike[str]]:
    """Return the paths that `data` is, one or a list of them; none, if it is something else."""
    if isinstance(data, str | os.PathLike):
        return [data]
    if isinstance(data, list | tuple) and all(isinstance(x, str | os.PathLike) for x in data):
        return list(data)
    return []


def format_of(path: str) -> str | None:
    """Return "Parquet", "CSV" or "Arrow" by a file's ending, or None.

    Examples
    --------
    >>> format_of("a/rows.CSV.gz"), format_of("rows.parquet.gz")
    ('CSV', None)
    """
    name = Path(path.lower())
    if name.suffix in COMPRESSIONS:
        return "CSV" if Path(name.stem).suffix in ENDINGS["CSV"] else None
    return next((kind for kind, known in ENDINGS.items() if name.suffix in known), None)


@dataclass(frozen=True)
class FileStamp:
    """What tells one state of a file from another.

    Parameters
    ----------
    device, inode : int
        Which file it is.
    size : int
        In bytes.
    modified : int
        In nanoseconds.
    """

    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, path: str) -> FileStamp:
        """Return the stamp of a file as it is now."""
        with readable(path):
            state = Path(path).stat()
        return cls(state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)


@contextmanager
def readable(path: str, kind: str = "a file") -> Iterator[None]:
    """Turn any error into an `InputError` that names the file and quotes nothing in it."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - a reader's message may quote values of rows
        number = getattr(error, "errno", None)
        if number:
            raise InputError(f"{path} cannot be read: {os.strerror(number)}.") from None
        raise InputError(
            f"{path} cannot be read as {kind}: it is damaged, half-written, or not what its "
            "ending says."
        ) from None


def find_parts(paths: Paths) -> list[Part]:
    """Return the data files that paths, globs and directories stand for, and their folders.

    Files of a glob or a directory come sorted by name. In a directory, only files directly in
    it that end like data count, and those anywhere in folders such as ``year=2024``. Folders
    may hold columns: those below a directory, those that a glob leaves open, and all of a list.

    Raises
    ------
    InputError
        If there are none, one does not exist, ends like no data file or is no ordinary
        file, or one is given twice (its rows would count twice).
    """
    several = isinstance(paths, list | tuple)
    found = []
    for given in as_paths(paths):
        path = _from_home(os.fspath(given))
        names = _expand(path)
        fixed = 0 if several else _fixed(path)
        found += [Part(name, Path(name).parts[fixed:-1]) for name in names]
    _check_files([part.path for part in found])
    return found


def _from_home(path: str) -> str:
    """Return a path with the user's folder in the place of ``~``, as shells do, if it is known."""
    try:
        known = isinstance(path, str) and path.startswith("~")
        return str(Path(path).expanduser()) if known else path
    except RuntimeError:
        return path


def _fixed(path: str) -> int:
    """Return how many names of folders in `path` are the same for all files."""
    parts = Path(path).parts
    if Path(path).exists():
        return len(parts)
    return next((j for j, part in enumerate(parts) if glob.has_magic(part)), len(parts))


def _check_files(found: Sequence[str]) -> None:
    seen: dict[tuple[int, int], str] = {}
    for name in found:
        if format_of(name) is None:
            raise InputError(f"{name} does not end like a data file: {_allowed()}.{_instead(name)}")
        if not _is_text(name):
            raise InputError(f"The name of the file {name!r} is not UTF-8; rename the file.")
        if not Path(name).exists():
            raise InputError(f"{name} is a link that leads to no file; its rows would be missing.")
        if not Path(name).is_file():
            raise InputError(
                f"{name} is a pipe or a device, and rows are read several times; store them in an "
                "ordinary file."
            )
        stamp = FileStamp.of(name)
        key = (stamp.device, stamp.inode)
        if key in seen:
            raise InputError(
                f"{name} is the same file as {seen[key]}; give each file once, or its rows "
                "would count twice."
            )
        seen[key] = name


def _is_text(name: str) -> bool:
    try:
        name_for_arrow(name)
    except UnicodeError:
        return False
    return True


def name_for_arrow(path: str) -> str:
    """Return what to call a file to Arrow.

    For Arrow names are UTF-8 whatever the locale says, and ``file:a.arrow`` is a URL.

    Raises
    ------
    UnicodeError
        If the name is not UTF-8.
    """
    return os.fsencode(os.path.join(os.curdir, path)).decode()  # noqa: PTH118 - Path drops the dot


def _allowed() -> str:
    endings = "; ".join(f"{name} {', '.join(known)}" for name, known in ENDINGS.items())
    return f"the endings are {endings} (CSV also compressed: {', '.join(COMPRESSIONS)})"


def _instead(name: str) -> str:
    """Return what to do with a file of rows of another kind."""
    ending = Path(name).suffix.lower()
    if reader := _READERS.get(ending):
        return f" In Python, pass pandas.{reader}(...); for the command, store that as Parquet."
    if ending in (".txt", ".dat"):
        return " If it is delimited text, call it .csv."
    return " Unpack it first." if ending == ".zip" else ""


def _expand(path: str | bytes) -> list[str]:
    try:
        if not isinstance(path, str) or not path or "\n" in path or "\0" in path:
            raise ValueError
        is_directory, exists = Path(path).is_dir(), Path(path).exists()
    except PermissionError:
        raise InputError(f"{path!r} cannot be read: you have no permission.") from None
    except (OSError, ValueError):
        # Such a text (too long, of several lines) is data, so it is not repeated here.
        raise InputError(
            "The text given is not a path of a file. Pass a path, or the rows themselves "
            "as an array or a table."
        ) from None
    if is_directory:
        return _directory(path)
    if exists:
        return [path]
    if glob.has_magic(path):
        matches = sorted(name for name in _matches(path) if _may_have_rows(Path(name)))
        if not matches:
            raise InputError(f"No file matches {path!r}.")
        if alike := called_alike(matches):
            raise InputError(
                f"The pattern {path!r} matches {alike[0]} and {alike[1]}, most likely the same "
                f"rows twice. Choose one kind, by a pattern that ends in {_ending(alike[1])!r}, or "
                "list the files if all are to count."
            )
        return matches
    hint = " Prolate reads local files only." if "://" in path else ""
    if path == "-":
        hint = " Rows are read several times, so store those of standard input in a file."
    raise InputError(f"There is no file {path!r}.{hint}")


def _may_have_rows(entry: Path) -> bool:
    """Return whether a path is one of a file, or of rows, and a link to what is not there."""
    lost = entry.is_symlink() and not entry.exists() and format_of(entry.name) is not None
    return lost or entry.is_file()


def _matches(pattern: str) -> set[str]:
    """Return what a pattern stands for; ** is any folders, also behind links, but each once.

    `glob` goes round links in circles, two of them more often than there is time for.
    """
    parts = Path(pattern).parts
    if "**" not in parts:
        # pathlib's takes no absolute patterns.
        return set(glob.glob(pattern))  # noqa: PTH207
    place = parts.index("**")
    above = parts[:place]
    below = tuple(dropwhile(lambda part: part == "**", parts[place:])) or ("*",)
    found: set[str] = set()
    seen = set()
    for top in sorted(_matches(str(Path(*above)))):
        for folder, inside, _ in os.walk(top, followlinks=True):
            real = os.path.realpath(folder)
            inside[:] = sorted(name for name in inside if name[0] != "." and real not in seen)
            if real not in seen:
                found |= _matches(str(Path(glob.escape(folder), *below)))
            seen.add(real)
    return found


def _directory(path: str) -> list[str]:
    entries = _entries(path)
    found = _data_files(entries)
    for entry in entries:
        if is_key(entry.name) and entry.is_dir():
            found += _below(entry, {os.path.realpath(path)})
    if not found:
        below = ""
        if any(entry.is_dir() for entry in entries):
            example = str(Path(path, "*", "*"))
            below = f" Files in the folders below it are read by a glob, such as {example!r}."
        raise InputError(
            f"The directory {path!r} has no data files directly in it: {_allowed()}.{below}"
        )
    return found


def _below(folder: Path, above: set[str]) -> list[str]:
    """Return the data files anywhere in a folder; a link to a folder above it leads nowhere."""
    real = os.path.realpath(folder)
    if real in above:
        return []
    entries = _entries(str(folder))
    found = _data_files(entries)
    for entry in entries:
        if entry.is_dir():
            found += _below(entry, above | {real})
    return found


def _entries(path: str) -> list[Path]:
    """Return what is in a folder and not hidden, by name."""
    with readable(path, "a directory"):
        entries = sorted(Path(path).iterdir())
    return [entry for entry in entries if not entry.name.startswith((".", "_"))]


def _data_files(entries: Sequence[Path]) -> list[str]:
    """Return the data files of a folder; those called alike most likely hold the same rows."""
    found = [entry for entry in entries if format_of(entry.name) and _may_have_rows(entry)]
    if alike := called_alike(found):
        one, other = alike
        kind = str(Path(glob.escape(str(one.parent)), f"*{_ending(other)}"))
        raise InputError(
            f"The directory {str(one.parent)!r} has {one.name} and {other.name}, most "
            f"likely the same rows twice. Choose one kind by a glob, such as {kind!r}, or list "
            "the files if all are to count."
        )
    return list(map(str, found))


def called_alike(files: Iterable[str | Path]) -> tuple[Path, Path] | None:
    """Return the first two data files of a folder that differ only in how they end, if any do.

    Examples
    --------
    >>> [path.name for path in called_alike(["a.csv", "b.csv", "b/a.csv", "a.csv.gz"])]
    ['a.csv', 'a.csv.gz']
    """
    found: dict[Path, Path] = {}
    for entry in map(Path, files):
        if format_of(entry.name) is not None:
            other = found.setdefault(entry.with_name(_bare(entry)), entry)
            if other != entry:
                return other, entry
    return None


def _ending(entry: Path) -> str:
    """Return all of a data file's ending: .csv.gz."""
    packed = entry.suffix.lower() in COMPRESSIONS
    return Path(entry.stem).suffix + entry.suffix if packed else entry.suffix


def _bare(entry: Path) -> str:
    return entry.name.removesuffix(_ending(entry))
