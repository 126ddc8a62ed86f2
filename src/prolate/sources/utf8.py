"""Text that is surely UTF-8, whatever bytes a file holds."""

from __future__ import annotations

import codecs
from typing import Protocol

__all__ = ["Utf8"]

_ODD = 0xEF00  # in Unicode's area for private use


class _Readable(Protocol):
    def read(self, nbytes: int | None = ..., /) -> bytes: ...


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    odd = error.object[error.start : error.end]
    return "".join(chr(_ODD + byte) for byte in odd), error.end


codecs.register_error("prolate-stand-in", _stand_in)


class Utf8:
    r"""A stream of bytes in which each byte that is no part of UTF-8 is a character instead.

    Arrow turns a line with too many fields into Python text before it asks what to do with it.
    That must not fail: an error, and what it says, would depend on a private row. Different
    bytes become different characters, so that labels stay apart.

    Parameters
    ----------
    stream : readable
        A stream of bytes.

    Examples
    --------
    >>> import io
    >>> Utf8(io.BytesIO(b"1,\xc3\xa9\xff")).read().decode()
    '1,é\uefff'
    """

    def __init__(self, stream: _Readable) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("prolate-stand-in")
        self._rest = b""  # read, and not asked for yet
        self._clean = True  # no character is open
        self._ended = False

    def read(self, size: int = -1) -> bytes:
        """Return the next `size` bytes (all if negative), fewer at the end only."""
        parts, missing = [], size
        while missing and not (self._ended and not self._rest):
            part = self._rest or self._next(missing)
            if size >= 0:
                part, self._rest = part[:missing], part[missing:]
                missing -= len(part)
            else:
                self._rest = b""
            parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _next(self, size: int) -> bytes:
        found = self._stream.read(size) if size >= 0 else self._stream.read()
        self._ended = not found or size < 0
        if self._clean and found.isascii():
            return found
        text = self._decoder.decode(found, final=self._ended)
        self._clean = not self._decoder.getstate()[0]
        return text.encode()
