"""Where a ledger is kept: a file, or a PostgreSQL server, whose password is never shown."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from prolate.errors import InputError, shown

__all__ = ["Address", "address", "hide_passwords"]

T = TypeVar("T")

_FORM = "postgresql://user@host/database, or postgresql://user@host/database#name"
_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
_SECRET = re.compile("pass(?!file)|secret|token|scram", re.IGNORECASE)  # options of libpq
# What is no path of a file, or holds a password that an error about a file would show.
_NO_FILE = re.compile(r"://|^\s*postgres\w*(\+\w+)?:/|\bpassword\s*=", re.IGNORECASE)


@dataclass(frozen=True)
class Address:
    """The place of a ledger on a PostgreSQL server.

    Its text never shows the password, and a pickle does not contain it. Where the pickle is
    read, the password must come from ``PGPASSWORD`` or ``~/.pgpass``.

    Attributes
    ----------
    place : str
        The URL without password and options.
    ledger : str
        The name of the ledger in its database: the part after ``#``.
    url : str
        The whole URL, in SQLAlchemy's form, without the ledger's name.
    """

    place: str
    ledger: str
    url: str = field(repr=False)

    def __str__(self) -> str:
        return self.place

    def __copy__(self) -> Address:
        return self

    def __deepcopy__(self, memo: object) -> Address:
        return self

    def __reduce__(self) -> tuple[Callable[[str], Address], tuple[str]]:
        options = [
            (name, value)
            for name, value in parse_qsl(urlsplit(self.url).query)
            if not _SECRET.search(name)
        ]
        base, mark, name = self.place.partition("#")
        return parse, (f"{base}?{urlencode(options)}{mark}{name}" if options else self.place,)


def address(place: T) -> T | Address:
    """Return a URL as an `Address`, and anything else as it is.

    Examples
    --------
    >>> address("postgresql://ann:secret@db.example.org/privacy#patients")
    Address(place='postgresql://ann@db.example.org/privacy#patients', ledger='patients')
    >>> address("patients.ledger")
    'patients.ledger'
    """
    return parse(place) if isinstance(place, str) and _NO_FILE.search(place) else place


def parse(text: str) -> Address:
    """Return the address that a URL names; an error never quotes the URL."""
    scheme, _, rest = text.strip().partition("://")
    if scheme.lower() not in _SCHEMES:
        raise InputError(f"A ledger is a file or a URL such as {_FORM}; this is neither.")
    try:
        parts = urlsplit(f"postgresql://{rest}")
        user, database = parts.username, parts.path.removeprefix("/")
        where = parts.netloc.rpartition("@")[2]
        sound = (
            "@" not in parts.path + parts.query + parts.fragment
            and re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[\w.-]*)(:\d+)?", where)
            and re.fullmatch(r"[^/]+", database)
            and re.fullmatch(r"[\w.-]*", parts.fragment)
        )
    except ValueError:
        sound = None
    if not sound:
        raise InputError(
            f"The URL of a ledger must have the form {_FORM}; special characters in a user's name "
            "or a password must be percent-encoded. (It is not repeated here, because it may hold "
            "a password.)"
        )
    shown = f"{quote(unquote(user), safe='')}@" if user else ""
    name = f"#{parts.fragment}" if parts.fragment else ""
    options = f"?{parts.query}" if parts.query else ""
    return Address(
        place=f"postgresql://{shown}{where}/{database}{name}",
        ledger=parts.fragment,
        url=f"postgresql+psycopg://{parts.netloc}/{database}{options}",
    )


def resolved(path: object) -> Path:
    """Return the absolute path of a ledger's file."""
    try:
        text = os.fspath(path)  # type: ignore[call-overload]
        if _NO_FILE.search(os.fsdecode(text)):
            raise InputError(f"The URL of a ledger must be a string of the form {_FORM}.")
        return Path(text).expanduser().resolve()
    except InputError:
        raise
    except (TypeError, ValueError, OSError, RuntimeError) as error:
        raise InputError(
            f"A ledger needs the path of a file; got {shown(path)} ({error})."
        ) from error


def hide_passwords(text: str) -> str:
    """Return `text` with every password in a URL replaced by ``***``.

    Examples
    --------
    >>> hide_passwords("no file at postgresql://ann:secret@host/db")
    'no file at postgresql://ann:***@host/db'
    """
    return re.sub(r"(\w:/{1,2}[^\s/:@]*):[^\s]*@", r"\1:***@", text)
