"""What every source is, and the choice of its columns."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from prolate.errors import InputError, did_you_mean
from prolate.sources.threads import Block, Total, add_up

if TYPE_CHECKING:
    from prolate.noise import NumberedBits
    from prolate.sources.kept import Thinning
    from prolate.sources.labels import Labels

__all__ = [
    "HELD",
    "Block",
    "Columns",
    "Source",
    "choose_columns",
    "index_beside",
    "listed",
    "position_names",
    "without_index",
]

Columns = str | int | Iterable[str | int]

HELD = 1 << 24
"""Cells of tables that are held in memory: 128 MB."""
_TO_TYPE = 40  # names of columns that an error lists to be typed
# As pandas calls it in Parquet and in CSV files, and what it reads the latter as.
_INDEX = re.compile(r"(__index_level_\d+__|Unnamed: 0)?")
_TIMES = tuple(f"of type {word}" for word in ("date", "time", "duration", "period"))


@runtime_checkable
class BlockAdder(Protocol):
    """A query that adds the vector of a block to a total, without a vector of its own."""

    def add_block(self, block: Block, total: Total) -> None:
        """Add the vector of a block."""


class Source(ABC):
    """Rows that can be read any number of times, block by block.

    Parameters
    ----------
    columns : tuple of str
        Names of the selected columns, in the order asked for.
    n_rows : int or None
        The number of rows, where it is known without reading them.
    block_bytes : int
        Size of a block, were it float64.

    Attributes
    ----------
    columns : tuple of str
    n_rows : int or None
    rows_per_block : int
        Rows of every block but the last: even, at least two, and the same for every
        kind of source, so that a query over neighboring rows of a block sees the same
        pairs wherever the rows are kept.
    decodes : bool
        Whether each pass makes the blocks anew, which takes longer than most queries. Small
        tables are then held in memory from the second pass on.
    ordered : bool
        Whether rows have places that no other row decides, so that rows may be paired.
    labels : tuple of Labels
        Those of the last columns, if they are labels and no numbers.
    flags : frozenset of str
        Columns whose type says that they hold 0, 1 or nothing, or means of these.
    averaged : bool
        Whether rows are means of other rows.
    left_out : tuple of str
        Columns that nobody named, and that are called as an index of rows is.
    """

    decodes = False
    ordered = True
    labels: tuple[Labels, ...] = ()
    flags: frozenset[str] = frozenset()
    averaged: bool = False
    left_out: tuple[str, ...] = ()

    columns: tuple[str, ...]
    n_rows: int | None
    rows_per_block: int
    _held: list[Block] | None = None
    _cells: int | None = None  # of the last whole pass

    def __init__(self, columns: tuple[str, ...], n_rows: int | None, block_bytes: int) -> None:
        self.columns = columns
        self.n_rows = n_rows
        self.rows_per_block = max(2, block_bytes // (8 * len(columns)) // 2 * 2)

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """Yield the rows as dense blocks of shape (rows, columns), afresh in each call.

        A block holds real numbers of any NumPy dtype in native byte order, in any
        memory layout; a missing value is NaN. It may be a view of the user's data:
        read it, never write to it.

        Raises
        ------
        InputError
            If a file is damaged, or has changed since it was opened.
        """

    def collect(
        self,
        query: Callable[[Block], NDArray[np.int64]],
        size: int,
        progress: Callable[[int], None] | None = None,
    ) -> NDArray[np.int64]:
        """Add ``query(block)`` up over all blocks, with all threads that there are.

        Parameters
        ----------
        query : callable
            From a block to an int64 array of shape (size,); a sum over the rows, for blocks
            are cut (between pairs of rows) and joined. Several threads call it at a time:
            the more, the more `effort` it says that a value of a row takes, if it does.
        size : int
            Length of the answer.
        progress : callable, optional
            Called now and then with the number of rows done so far.

        Returns
        -------
        int64 array of shape (size,)
            Zeros if there are no rows. The same for any number of threads.
        """
        add = query.add_block if isinstance(query, BlockAdder) else _adder(query)
        cells = None if self.n_rows is None else self.n_rows * len(self.columns)
        effort = getattr(query, "effort", 1)
        blocks = self._lasting() if self.decodes else self.blocks()
        return add_up(blocks, add, size, progress, cells=cells, effort=effort)

    def _lasting(self) -> Iterator[Block]:
        """Yield the blocks; hold them, if a pass was made before and they are few."""
        if self._held is not None:
            yield from self._held
            return
        blocks, cells = [], 0
        hold = self._cells is not None and self._cells <= HELD
        for block in self.blocks():
            cells += block.size
            if hold:
                blocks.append(block)
            yield block
        self._cells = cells
        self._held = blocks if hold else None

    def counted(self, progress: Callable[[int], None] | None = None) -> int | None:
        """Return the number of rows, where it can be had without their values.

        Parameters
        ----------
        progress : callable, optional
            As for `collect`.
        """
        return self.n_rows

    def thinned(self, keep: Thinning, progress: Callable[[int], None] | None = None) -> Source:
        """Return the rows that `keep` chooses by their numbers, read once.

        Parameters
        ----------
        keep : Thinning
        progress : callable, optional
            As for `collect`.
        """
        from prolate.sources.kept import KeptRows

        return KeptRows(self, keep, progress)

    def persons(self, most: int | None = None, bits: NumberedBits | None = None) -> Source:
        """Return one row for each person, or at most so many rows; see `prolate.sources.persons`.

        The first of the columns of labels says whose a row is.

        Parameters
        ----------
        most : int, optional
            Keep so many random rows of each person, instead of their mean.
        bits : NumberedBits, optional
            For the choice of these rows.
        """
        from prolate.sources.persons import PersonMeans, PersonRows

        return PersonMeans(self) if most is None or bits is None else PersonRows(self, most, bits)

    def leading(self, count: int, progress: Callable[[int], None] | None = None) -> Source:
        """Return the first `count` rows, for which no more blocks are read than hold them.

        Parameters
        ----------
        count : int
        progress : callable, optional
            As for `collect`.

        Raises
        ------
        InputError
            If the rows have no order of their own.
        """
        from prolate.sources.kept import KeptRows, Leading

        if not self.ordered:
            raise InputError(
                "Rows on Spark have no places of their own, so there are no first ones to "
                "search; leave exchangeable out."
            )
        return KeptRows(self, Leading(count), progress)


def _adder(query: Callable[[Block], Total]) -> Callable[[Block, Total], None]:
    def add(block: Block, total: Total) -> None:
        answer = query(block)
        if answer.shape != total.shape or answer.dtype != total.dtype:
            raise TypeError(
                f"A query must return int64 of shape {total.shape}; "
                f"got {answer.dtype} of shape {answer.shape}."
            )
        total += answer

    return add


@lru_cache(maxsize=4)  # of a wide table, they take as long as a pass over its sparse rows
def position_names(width: int) -> tuple[str, ...]:
    """Return the names of columns that have none: x0, x1, ...

    Examples
    --------
    >>> position_names(2)
    ('x0', 'x1')
    """
    return tuple(f"x{j}" for j in range(width))


def listed(names: Collection[str], most: int = 8) -> str:
    """Return names as they stand in an error.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    shown = [repr(name) for name in list(names)[:most]]
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def without_index(names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that are meant where none are named: all but an index of pandas'.

    It numbers the rows, so that its mean says nothing, and takes budget from the others.

    Examples
    --------
    >>> without_index(["", "age", "__index_level_0__"]), without_index([""])
    (('age',), ('',))
    """
    return tuple(name for name in names if not _INDEX.fullmatch(name)) or tuple(names)


def index_beside(
    columns: Columns | None, names: Iterable[str], chosen: Collection[str]
) -> tuple[str, ...]:
    """Return what `without_index` has left out: nothing where columns are named.

    Examples
    --------
    >>> index_beside(None, ["", "age"], ["age"]), index_beside(["age"], ["", "age"], ["age"])
    (('',), ())
    """
    if columns is not None:
        return ()
    return tuple(name for name in names if _INDEX.fullmatch(name) and name not in chosen)


def choose_columns(
    columns: Columns | None,
    names: Sequence[str],
    *,
    unusable: Mapping[str, str] | None = None,
    where: str = "the data",
    by_position: bool = False,
) -> tuple[str, ...]:
    """Return the names of the columns asked for, all of them numeric.

    Parameters
    ----------
    columns : str, int or iterable of them, or None
        What was asked for; None is all columns, but for `without_index`.
    names : sequence of str
        The columns that there are.
    unusable : mapping from str to str
        The columns that are not numeric, each with the name of its type.
    where : str
        What has these columns, for the errors.
    by_position : bool
        Whether an integer is a position (negative: from the end) or part of a name.

    Raises
    ------
    InputError
        If a column is unknown, ambiguous, asked for twice or not numeric, or if there
        is none.

    Examples
    --------
    >>> choose_columns(["b", 0], ["a", "b"], by_position=True)
    ('b', 'a')
    """
    unusable = {} if unusable is None else unusable
    if not names:
        raise InputError(f"There are no columns in {where}; at least one is needed.")
    known = Counter(names)
    if len(known) < len(names):
        twice = [name for name, count in known.items() if count > 1]
        raise InputError(
            f"More than one column of {where} is called {listed(twice, 3)}; "
            "give every column a name of its own."
        )
    if columns is None:
        chosen = without_index(names)
    else:
        chosen = tuple(_name(wanted, names, known, where, by_position) for wanted in _list(columns))
    if not chosen:
        raise InputError("columns=[] leaves nothing to work on; name at least one column.")
    again = [name for name, count in Counter(chosen).items() if count > 1]
    if again:
        raise InputError(f"columns asks twice for {listed(again, 3)}; name each column once.")
    bad = next((name for name in chosen if name in unusable), None)
    if bad is not None:
        raise InputError(_not_numeric(bad, names, unusable, where))
    return chosen


def _list(columns: Columns) -> list[str | int]:
    if isinstance(columns, str | int | np.integer):
        return [columns]
    if isinstance(columns, bytes | set | frozenset | Mapping) or not isinstance(columns, Iterable):
        raise InputError(
            f"columns must be a list of column names, in the order wanted; "
            f"got {type(columns).__name__}."
        )
    return list(columns)


def _name(
    wanted: object, names: Sequence[str], known: Collection[str], where: str, by_position: bool
) -> str:
    if isinstance(wanted, bool | np.bool_) or not isinstance(wanted, str | int | np.integer):
        allowed = "names or positions" if by_position else "names"
        is_known = isinstance(wanted, tuple) and str(wanted) in known
        text = f" That column's name is the text {str(wanted)!r}." if is_known else ""
        raise InputError(
            f"columns must be a list of column {allowed}; "
            f"it holds an entry of type {type(wanted).__name__}.{text}"
        )
    if by_position and not isinstance(wanted, str):
        position = int(wanted)
        if not -len(names) <= position < len(names):
            raise InputError(
                f"There is no column {position} in {where}; its columns are 0 to {len(names) - 1}."
            )
        return names[position]
    name = str(wanted)
    if name not in known:
        folder = (
            f" The names of folders say what {name!r} is; pass the folder that holds them all, or "
            f"a glob such as '{name}=*/*'."
            if f"{name}=" in where
            else ""
        )
        raise InputError(
            f"There is no column {name!r} in {where}.{did_you_mean(name, names)} "
            f"Its columns are {listed(names)}.{folder}"
        )
    return name


def _not_numeric(bad: str, names: Sequence[str], unusable: Mapping[str, str], where: str) -> str:
    usable = [name for name in without_index(names) if name not in unusable]
    remedy = (
        f"Choose from the numeric columns: columns=[{listed(usable, _TO_TYPE)}]."
        if usable
        else "No column is numeric."
    )
    if unusable[bad].startswith(_TIMES):
        made = (
            "To use it, make a column of numbers of it, such as days since 2000-01-01, or seconds."
        )
        remedy = f"{made} {remedy}"
    return f"Column {bad!r} of {where} is {unusable[bad]}, not numbers. {remedy}"
