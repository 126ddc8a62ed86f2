"""Cells of CSV files read as numbers, each whatever other cells are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Commas", "find_commas", "mostly_numbers", "numbers", "numbers_with_commas", "words"]

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_NOT_FINITE = r"^[+-]?(?i:inf|infinity|nan)$"
_GROUPED = r"^\s*[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?\s*$"  # 0.123 has no thousands
_COMMAS_BETWEEN = r"^\s*[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?\s*$"
_SURELY_BETWEEN = r"^\s*[+-]?[1-9]\d{0,2},\d{3}(\.\d*|(,\d{3})+(\.\d*)?)\s*$"
_COMMAS = r"^\s*[+-]?\d*,[\d,]*(\.\d*)?\s*$"
# Negative amounts as accounts and SAP write them, and signs apart from their number.
_MINUS = "[\u2212-]"
_ODD_SIGN = r"^\s*[(" + "\u2212" + r"]|-\s*$|^\s*[+-]\s"
_NEGATIVE = rf"^\s*(?:\(\s*([\d.,][^()]*?)\s*\)|([\d.,][^()]*?)\s*-|{_MINUS}\s*([\d.,].*?))\s*$"
_POSITIVE = r"^\s*\+\s+"
_TELL = 100  # cells that tell of thousands, over those that tell of decimals
# Spaces, of which some do not break lines, and apostrophes: they can mean nothing else.
_BETWEEN = "[ \u00a0\u2009\u202f'\u2019]"
_SPACED = rf"^[+-]?[1-9]\d{{0,2}}({_BETWEEN}\d{{3}})+(\.\d*)?$"


@dataclass(frozen=True)
class Commas:
    """What the top of a file says of decimal commas.

    Attributes
    ----------
    sure : frozenset of str
        Columns of which `numbers_with_commas` reads more cells than `numbers`.
    like_others : frozenset of str
        Columns that both read alike but for points, which can be between thousands in all cells but
        one in a hundred: these mean what they mean in the others.
    some : bool
        Whether a column of numbers is among the `sure` ones.
    none : bool
        Whether none is, and a column of numbers has decimal points.
    """

    sure: frozenset[str] = frozenset()
    like_others: frozenset[str] = frozenset()
    some: bool = False
    none: bool = False


def numbers(cells: pa.Array) -> pa.Array:
    """Return text as float64, null where it is not a number.

    Whether a cell is a number depends on that cell alone.

    Examples
    --------
    >>> import pyarrow as pa
    >>> numbers(pa.array([" 1.5", "2e3", "true", "12 km", "1 234.5", None])).to_pylist()
    [1.5, 2000.0, 1.0, None, 1234.5, None]
    >>> numbers(pa.array(["(1.5)", "1.5-", "\u22121.5", "- 1.5"])).to_pylist()
    [-1.5, -1.5, -1.5, -1.5]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for kind in (pa.float64(), pa.bool_()):
        try:
            return cells.cast(kind).cast(pa.float64())  # quick, and all or nothing
        except pa.ArrowInvalid:
            continue
    cells = pc.ascii_trim_whitespace(_signed(cells))
    spaced = pc.match_substring_regex(cells, _SPACED)
    if pc.any(spaced).as_py():
        cells = pc.if_else(spaced, pc.replace_substring_regex(cells, _BETWEEN, ""), cells)
    lower = pc.ascii_lower(cells)
    known = pc.or_(
        pc.match_substring_regex(cells, _NUMBER), pc.match_substring_regex(cells, _NOT_FINITE)
    )
    true, false, one, zero = words("true", "false", "1", "0")
    text = pc.if_else(known, cells, pa.nulls(1, pa.string())[0])
    text = pc.if_else(pc.equal(lower, true), one, text)
    text = pc.if_else(pc.equal(lower, false), zero, text)
    return text.cast(pa.float64())


def _signed(cells: pa.Array) -> pa.Array:
    """Return text with a minus before each negative number."""
    import pyarrow.compute as pc

    odd = pc.match_substring_regex(cells, _ODD_SIGN)
    if not pc.any(odd).as_py():
        return cells
    usual = pc.replace_substring_regex(cells, _NEGATIVE, r"-\1\2\3")
    return pc.if_else(odd, pc.replace_substring_regex(usual, _POSITIVE, "+"), cells)


def numbers_with_commas(cells: pa.Array) -> pa.Array:
    """Return text as float64 whose decimals stand behind a comma, and thousands behind points.

    Examples
    --------
    >>> import pyarrow as pa
    >>> numbers_with_commas(pa.array(["1,5", "1.234,5", "-1.234.567", "1.5", "0.123"])).to_pylist()
    [1.5, 1234.5, -1234567.0, None, None]
    """
    import pyarrow.compute as pc

    cells = _signed(cells)
    if pc.any(pc.match_substring(cells, ".")).as_py():
        cells = pc.if_else(
            pc.match_substring_regex(cells, _GROUPED),
            pc.replace_substring(cells, ".", ""),
            pc.replace_substring(cells, ".", "_"),  # no number
        )
    return numbers(pc.replace_substring(cells, ",", "."))


def numbers_with_thousands(cells: pa.Array) -> pa.Array:
    """Return text as float64 whose thousands stand behind commas.

    Examples
    --------
    >>> import pyarrow as pa
    >>> numbers_with_thousands(pa.array(["1,234.5", "-1,234,567", "1.5", "1,5"])).to_pylist()
    [1234.5, -1234567.0, 1.5, None]
    """
    import pyarrow.compute as pc

    cells = _signed(cells)
    between = pc.match_substring_regex(cells, _COMMAS_BETWEEN)
    return numbers(pc.if_else(between, pc.replace_substring(cells, ",", ""), cells))


def with_thousands(top: pa.Table) -> frozenset[str]:
    """Return the columns of the top of a file that `numbers_with_thousands` reads.

    Those in which commas stand between digits, and by most cells that tell between thousands: these
    have two commas, a decimal point as well, or none, where at most one in a hundred as many have
    commas elsewhere. A column of nothing but ``1,234`` may have decimals.

    Examples
    --------
    >>> import pyarrow as pa
    >>> top = {"a": ["1,234", "7"], "b": ["1,234", "1,5"], "c": ["1,234", "2,345"], "d": ["7", "8"]}
    >>> sorted(with_thousands(pa.table(top)))
    ['a']
    """
    import pyarrow.compute as pc

    found = set()
    for name in top.column_names:
        cells = _signed(top.column(name))
        commas = pc.match_substring_regex(cells, _COMMAS)
        between = pc.match_substring_regex(cells, _COMMAS_BETWEEN)
        if not pc.any(between).as_py():
            continue
        surely = pc.or_(pc.match_substring_regex(cells, _SURELY_BETWEEN), numbers(cells).is_valid())
        if _count(surely) > _TELL * _count(pc.and_not(commas, between)):
            found.add(name)
    return frozenset(found)


def _count(found: pa.Array) -> int:
    """Return how many are true."""
    import pyarrow.compute as pc

    return int(pc.sum(found).as_py() or 0)


def find_commas(top: pa.Table) -> Commas:
    """Return which columns of the top of a file have decimal commas, or may have.

    Examples
    --------
    >>> import pyarrow as pa
    >>> top = pa.table({"a": ["1,5"], "b": ["1.234"], "c": ["1.23"], "d": ["1234"]})
    >>> found = find_commas(top)
    >>> sorted(found.sure), sorted(found.like_others), found.some, found.none
    (['a'], ['b'], True, False)
    """
    import pyarrow.compute as pc

    sure, like_others, some, pointed = set(), set(), False, False
    for name in top.column_names:
        cells = _signed(top.column(name))
        points, commas = numbers(cells), numbers_with_commas(cells)
        either = pc.and_(
            pc.and_(points.is_valid(), commas.is_valid()), pc.match_substring(cells, ".")
        )
        decimal = pc.and_(points.is_valid(), commas.is_null())
        between, others = _count(either), _count(decimal)
        if commas.null_count < points.null_count:
            sure.add(name)
            some = some or mostly_numbers(cells, commas)
        elif between > _TELL * others:
            like_others.add(name)
        elif others:
            pointed = pointed or mostly_numbers(cells, points)
    return Commas(frozenset(sure), frozenset(like_others), some, pointed and not some)


def mostly_numbers(cells: pa.Array, found: pa.Array) -> bool:
    """Return whether numbers were found in at least half of the cells that are not missing."""
    present = len(cells) - cells.null_count
    valid = len(cells) - found.null_count
    return bool(2 * valid >= present)


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
