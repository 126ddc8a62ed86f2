"""What every source is, and the choice of its columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from prolate.errors import InputError, did_you_mean

__all__ = ["Block", "Columns", "Source", "choose_columns", "listed", "position_names"]

Block = NDArray[np.number | np.bool_]
Columns = str | int | Iterable[str | int]


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
    """

    columns: tuple[str, ...]
    n_rows: int | None
    rows_per_block: int

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
        """Add ``query(block)`` up over all blocks.

        Parameters
        ----------
        query : callable
            From a block to an int64 array of shape (size,).
        size : int
            Length of the answer.
        progress : callable, optional
            Called after each block with the number of rows read so far.

        Returns
        -------
        int64 array of shape (size,)
            Zeros if there are no rows.
        """
        total = np.zeros(size, dtype=np.int64)
        done = 0
        for block in self.blocks():
            answer = query(block)
            if answer.shape != total.shape or answer.dtype != total.dtype:
                raise TypeError(
                    f"A query must return int64 of shape {total.shape}; "
                    f"got {answer.dtype} of shape {answer.shape}."
                )
            total += answer
            done += block.shape[0]
            if progress is not None:
                progress(done)
        return total


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
        What was asked for; None is all columns.
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
        chosen = tuple(names)
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
        raise InputError(
            f"columns must be a list of column {allowed}; "
            f"it holds an entry of type {type(wanted).__name__}."
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
        raise InputError(
            f"There is no column {name!r} in {where}.{did_you_mean(name, names)} "
            f"Its columns are {listed(names)}."
        )
    return name


def _not_numeric(bad: str, names: Sequence[str], unusable: Mapping[str, str], where: str) -> str:
    usable = [name for name in names if name not in unusable]
    remedy = (
        f"Choose from the numeric columns: columns=[{listed(usable)}]."
        if usable
        else "No column is numeric."
    )
    return f"Column {bad!r} of {where} is {unusable[bad]}, not numbers. {remedy}"
