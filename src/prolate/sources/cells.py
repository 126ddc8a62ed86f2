"""Cells of CSV files read as numbers, each whatever other cells are.

Only two spellings can be two numbers: ``1.234`` and ``1,234``, of one mark with three digits behind
it. Which of them are thousands is said by `Marks` (`decimals.py` finds these).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prolate.arrays import Bools

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["TIED", "Marks", "are_text", "decimal_marks", "numbers", "words"]

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_NAN = r"^\s*[+-]?(?i:nan)(\(.*\))?\s*$"  # as programs write it: nan(ind)
_INFINITE = r"^[+-]?(?i:inf|infinity)$"
_DECIMAL_COMMA = r"^[^.,]*,[^.,]*$"  # if it is a number with a point in the comma's place
# Thousands: 0.123 has none. Surely so between several, or beside the other mark.
_POINTS_BETWEEN = r"^\s*[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?\s*$"
_POINTS_SURELY = r"^\s*[+-]?[1-9]\d{0,2}\.\d{3}(,\d*|(\.\d{3})+(,\d*)?)\s*$"
_COMMAS_BETWEEN = r"^\s*[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?\s*$"
_COMMAS_SURELY = r"^\s*[+-]?[1-9]\d{0,2},\d{3}(\.\d*|(,\d{3})+(\.\d*)?)\s*$"
_EITHER = r"^\s*[+-]?[1-9]\d{0,2}[.,]\d{3}\s*$"
TIED = 1
"""By how many a majority must be larger than the others: one row may be all that is known."""

# Negative amounts as accounts and SAP write them, and signs apart from their number.
_MINUS = "[\u2212-]"
_ODD_SIGN = r"^\s*[(" + "\u2212" + r"]|-\s*$|^\s*[+-]\s"
_NEGATIVE = rf"^\s*(?:\(\s*([\d.,][^()]*?)\s*\)|([\d.,][^()]*?)\s*-|{_MINUS}\s*([\d.,].*?))\s*$"
_POSITIVE = r"^\s*\+\s+"
# Spaces, of which some do not break lines, and apostrophes: they can mean nothing else.
_BETWEEN = "[ \u00a0\u2009\u202f'\u2019]"
_SPACED = rf"^[+-]?[1-9]\d{{0,2}}({_BETWEEN}\d{{3}})+(\.\d*)?$"


@dataclass(frozen=True)
class Marks:
    """What a point, and a comma, is in cells that say neither.

    Attributes
    ----------
    points_between, commas_between : bool
        Whether they stand between thousands; else they are decimal.
    decimal_commas : bool
        Whether there are any, and points between thousands; else a cell with one is no number.
    """

    points_between: bool = False
    commas_between: bool = False
    decimal_commas: bool = False


def numbers(cells: pa.Array, marks: Marks) -> pa.Array:
    """Return text as float64, null (or NaN) where it is not a number.

    Whether a cell is a number, and which, depends on that cell alone, and on the marks.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = pa.array([" 1.5", "2e3", "true", "2 km", "1 234.5", "(1.5)", "1.5-", "- 1.5", None])
    >>> numbers(cells, Marks()).to_pylist()
    [1.5, 2000.0, 1.0, None, 1234.5, -1.5, -1.5, -1.5, None]
    >>> cells = pa.array(["1,5", "1.234,5", "1,234.5", "1.234.567", "0.123", "1.234", "1,234"])
    >>> numbers(cells, Marks(commas_between=True)).to_pylist()
    [None, None, 1234.5, None, 0.123, 1.234, 1234.0]
    >>> numbers(cells, Marks(points_between=True, decimal_commas=True)).to_pylist()
    [1.5, 1234.5, 1234.5, 1234567.0, 0.123, 1234.0, 1.234]
    """
    import pyarrow.compute as pc

    found = None if marks.points_between else _quickly(cells)
    if found is not None:
        return found
    cells = _signed(cells)
    points, commas = (pc.any(pc.match_substring(cells, mark)).as_py() for mark in ".,")
    if commas and marks.decimal_commas and not (points or marks.commas_between):
        found = _quickly(pc.replace_substring(cells, ",", "."))
        if found is not None:
            return found
    if points and marks.decimal_commas:
        between = _POINTS_BETWEEN if marks.points_between else _POINTS_SURELY
        cells = _replaced(cells, between, ".", "")
    if commas:
        between = _COMMAS_BETWEEN if marks.commas_between else _COMMAS_SURELY
        cells = _replaced(cells, between, ",", "")
    if commas and marks.decimal_commas:
        cells = _replaced(cells, _DECIMAL_COMMA, ",", ".")
    found = _quickly(cells)
    return _one_by_one(cells) if found is None else found


def _quickly(cells: pa.Array) -> pa.Array | None:
    """Return numbers in the notation of programming languages, if all cells are."""
    import pyarrow as pa

    for kind in (pa.float64(), pa.bool_()):
        try:
            return cells.cast(kind).cast(pa.float64())
        except pa.ArrowInvalid:
            continue
    return None


def _known(found: pa.Array) -> Bools:
    """Return which cells are numbers: NaN is none, which nan(ind) is to Arrow, too, if all are."""
    values = found.to_numpy() if hasattr(found, "chunks") else found.to_numpy(zero_copy_only=False)
    return np.asarray(~np.isnan(values))


def _one_by_one(cells: pa.Array) -> pa.Array:
    """Return cells that are numbers in that notation, or have thousands apart, as such."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = pc.ascii_trim_whitespace(cells)
    cells = _replaced(cells, _SPACED, _BETWEEN, "", regex=True)
    lower = pc.ascii_lower(cells)
    known = pc.or_(
        pc.match_substring_regex(cells, _NUMBER), pc.match_substring_regex(cells, _INFINITE)
    )
    true, false, one, zero = words("true", "false", "1", "0")
    text = pc.if_else(known, cells, pa.nulls(1, pa.string())[0])
    text = pc.if_else(pc.equal(lower, true), one, text)
    text = pc.if_else(pc.equal(lower, false), zero, text)
    return text.cast(pa.float64())


def _replaced(cells: pa.Array, where: str, what: str, by: str, *, regex: bool = False) -> pa.Array:
    """Return cells with `what` replaced in those that a pattern matches."""
    import pyarrow.compute as pc

    matched = pc.match_substring_regex(cells, where)
    if not pc.any(matched).as_py():
        return cells
    replace = pc.replace_substring_regex if regex else pc.replace_substring
    return pc.if_else(matched, replace(cells, what, by), cells)


def _signed(cells: pa.Array) -> pa.Array:
    """Return text with a minus before each negative number."""
    import pyarrow.compute as pc

    odd = pc.match_substring_regex(cells, _ODD_SIGN)
    if not pc.any(odd).as_py():
        return cells
    usual = pc.replace_substring_regex(cells, _NEGATIVE, r"-\1\2\3")
    return pc.if_else(odd, pc.replace_substring_regex(usual, _POSITIVE, "+"), cells)


def are_text(cells: pa.Array, found: pa.Array) -> bool:
    """Return whether most cells that are not missing are no numbers, given those that are."""
    import pyarrow.compute as pc

    there, numeric = len(cells) - cells.null_count, int(np.count_nonzero(_known(found)))
    if 2 * numeric + TIED >= there:
        return False
    missing = int(pc.sum(pc.match_substring_regex(cells, _NAN)).as_py() or 0)
    return bool(2 * numeric + TIED < there - missing)


def decimal_marks(cells: pa.ChunkedArray) -> tuple[Bools, Bools, Bools]:
    """Return which cells say that decimals stand behind points, and which behind commas.

    And which, such as ``1.234``, have a point and say neither.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = pa.chunked_array([["1.5", "1,234.5", "1,5", "1.234", "1,234", "7"]])
    >>> for found in decimal_marks(cells):
    ...     print(found.astype(int))
    [1 1 0 0 0 0]
    [0 0 1 0 0 0]
    [0 0 0 1 0 0]
    """
    import pyarrow.compute as pc

    points, commas = (_bools(pc.match_substring(cells, mark)) for mark in ".,")
    if not (points.any() or commas.any()):
        return points, commas, points
    if not (points.any() and commas.any()):  # mostly, all are decimal
        found = _quickly(pc.replace_substring(cells, ",", "."))
        if found is not None:
            either = _bools(pc.match_substring_regex(cells, _EITHER))
            plain = _known(found) & ~either
            return points & plain, commas & plain, either & points
    cells = _signed(cells)
    plain = _known(numbers(cells, Marks(decimal_commas=True))) & ~(points & commas)
    either, between, beside = (
        _bools(pc.match_substring_regex(cells, pattern))
        for pattern in (_EITHER, _COMMAS_SURELY, _POINTS_SURELY)
    )
    plain &= ~(either | between | beside)
    return between | (plain & points), beside | (plain & commas), either & points


def _bools(found: pa.ChunkedArray) -> Bools:
    import pyarrow.compute as pc

    return np.asarray(pc.fill_null(found, fill_value=False).to_numpy(), dtype=np.bool_)


def words(*texts: str) -> pa.Array:
    """Return an array of text.

    `pa.array` and `pa.scalar` import pandas where it is installed, for longer than a small file
    takes to read.
    """
    import pyarrow as pa

    each = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, each)], dtype=np.int32)
    buffers = pa.py_buffer(ends), pa.py_buffer(b"".join(each))
    return pa.StringArray.from_buffers(len(each), *buffers)
