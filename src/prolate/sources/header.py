"""The first line of a CSV file, which is public: names of columns, and what delimits them."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path

from prolate.errors import InputError
from prolate.sources.paths import COMPRESSIONS

__all__ = ["Header", "read_header"]

# What Excel reads and writes above the names: sep=; and, where there are columns, sep=;;;
_EXCEL = re.compile(
    rb'(?:\xef\xbb\xbf)?"?sep=([\t!#$%&*,/:;^|~])"?\1*(?:\r\n|\r|\n)', re.IGNORECASE
)
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")  # which no text has


@dataclass(frozen=True)
class Header:
    """The line of names.

    Attributes
    ----------
    line : str
    delimiter : str or None
        None, if there is none in it, and no line above says one.
    above : int
        Bytes above it, for spreadsheet programs, that say the delimiter.
    """

    line: str
    delimiter: str | None
    above: int

    @property
    def is_single(self) -> bool:
        """Whether there is one column."""
        return (self.delimiter or ",") not in _unquoted(self.line)


def read_header(path: str, top: bytes) -> Header:
    r"""Return the header of a file that begins with `top`.

    Raises
    ------
    InputError
        If there is none, or it is not UTF-8.

    Examples
    --------
    >>> read_header("a.csv", b"sep=:\r\na,b:c\r\n1:2\r\n")
    Header(line='a,b:c', delimiter=':', above=7)
    """
    excel = _EXCEL.match(top)
    above = excel.end() if excel else 0
    line = _decoded(path, top, re.split(rb"[\r\n]", top[above:], maxsplit=1)[0])
    if not line.strip():
        what = "its first line is blank" if top else "it is empty"
        raise InputError(f"{path} has no names of columns in its first line: {what}.")
    if re.fullmatch(r'"?sep=.?"?', line.strip(), re.IGNORECASE):
        raise InputError(
            f"The first line of {path} must hold the names of the columns; it says "
            f"{line.strip()} to a spreadsheet program. Take that line away."
        )
    delimiter = excel[1].decode() if excel else _delimiter(line)
    if delimiter and re.fullmatch(f"[^{re.escape(delimiter)}]+{re.escape(delimiter)}+", line):
        raise InputError(
            f"The first line of {path} must hold the names of the columns; only one of its fields "
            "is not empty. Take away lines above the names."
        )
    if _is_open(line, delimiter):
        raise InputError(
            f"The first line of {path} must hold the names of the columns; it opens a quote that "
            "it does not close. A name with a line break in it must be changed."
        )
    return Header(line, delimiter, above)


def _is_open(line: str, delimiter: str | None) -> bool:
    """Return whether a quoted field is not closed: what follows, up to a quote, would be a name."""
    between = re.escape(delimiter or ",")
    field = rf'(?:"(?:[^"]|"")*+"[^{between}]*+|(?!")[^{between}]*+)'
    return re.fullmatch(rf"{field}(?:{between}{field})*+", line) is None


def _decoded(path: str, top: bytes, line: bytes) -> str:
    """Return the line of names as text."""
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError:
        if top.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            what, code = f"{path} is in UTF-16, and must be in UTF-8", "UTF-16"
        elif _CONTROLS.search(line):
            raise
        else:
            what = (
                f"The names of columns in {path} must be in UTF-8, and are in another encoding, "
                "perhaps Windows-1252 (Latin-1)"
            )
            code = "WINDOWS-1252"
    convert = "Unpack and convert" if Path(path.lower()).suffix in COMPRESSIONS else "Convert"
    raise InputError(
        f'{what}. {convert} the file, for example with "iconv -f {code} -t UTF-8 OLD.csv > '
        'NEW.csv", or in Excel by saving it as "CSV UTF-8".'
    )


def _delimiter(line: str) -> str | None:
    """Return the most frequent delimiter outside quotes, or None if there is none."""
    bare = _unquoted(line)
    best = max(",;\t|", key=bare.count)
    return best if best in bare else None


def _unquoted(line: str) -> str:
    return re.sub(r'"[^"]*"', "", line)
