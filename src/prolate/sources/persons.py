"""One row for each person, or a few of each person's rows, of rows of which a person has many.

A source with a column of labels says whose each row is (`prolate.sources.spellings`: which
labels are one person's). Whoever has no label is one person: rows without a label count
together. There may be a second column of labels, of groups.

**One row (`PersonMeans`).** A person's row is a function of the person's own rows, to the last
bit: the values of a column are added up one after the other, in the order of the rows, whatever
other rows stand between them and however the rows fall into blocks. So data sets that differ
in the rows of one person become data sets that differ in one row, and what is private for
rows is private for persons. Memory grows with persons times columns, and with the labels.
With groups, a person is in that of their first row, and their rows in others do not count.

**Some rows (`PersonRows`).** Of each person k rows are kept, or all if they are fewer: those
with the smallest of secret random numbers of 64 bits, one for each row. Fix the random numbers
that go with the rows of everybody (they do not depend on any row, and may be taken for given
wherever a row stands). Which rows of a person are kept is then a function of the person's rows.
So data sets that differ in one person's being there become data sets of which one has at most
k rows more; and those that differ in what one person's rows are, data sets that are at most 2 k
rows apart, k removed and k added. A mixture over the random numbers is no less private.
Each row that is kept stays in its own group, so a person may be in several.
`prolate.api.terms` says what that makes of a budget.

The persons stand in the order of their first rows, which another person's rows can move, so no
row has a place of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from prolate.arrays import Bools, Floats, Integers
from prolate.noise import NumberedBits
from prolate.sources.source import HELD, Block, Source
from prolate.sources.spellings import Persons

__all__ = ["PersonMeans", "PersonRows"]

Part = tuple[Block, Integers, Integers]
"""Numbers of some rows, each row's person, and its group."""


class _Homes:
    """Which group each person is in: that of their first row."""

    def __init__(self) -> None:
        self.group = np.zeros(0, dtype=np.int64)

    def inside(self, persons: Integers, groups: Integers) -> Bools:
        """Return which rows are in their person's group; persons are numbered as they come."""
        new = np.flatnonzero(persons >= self.group.size)
        if new.size:
            first = np.unique(persons[new], return_index=True)[1]
            self.group = np.concatenate([self.group, groups[new[first]]])
        return np.asarray(self.group[persons] == groups)


class _Labeled(Source):
    """What both have in common: columns of numbers, then whose a row is, then perhaps its group."""

    ordered = False

    def __init__(self, source: Source) -> None:
        self._source = source
        self._persons = Persons(source.labels[0])
        self._width = len(source.columns) - len(source.labels)
        self._grouped = len(source.labels) > 1
        columns = source.columns[: self._width] or ("persons",)
        if self._grouped:
            columns = (*columns, source.columns[-1])
            self.labels = source.labels[1:]
        super().__init__(columns, None, 1)
        self.flags, self.whole = source.flags, source.whole
        self.rows_per_block = source.rows_per_block

    def _parts(self) -> Iterator[Part]:
        """Yield blocks of numbers with each row's person and group."""
        for block in self._source.blocks():
            persons = self._persons.numbers(block[:, self._width].astype(np.int64))
            last = block[:, -1].astype(np.int64) if self._grouped else np.zeros_like(persons)
            values = block[:, : self._width]
            if not self._width:
                values = np.zeros((block.shape[0], 1))
            yield values, persons, last


class PersonMeans(_Labeled):
    """One row for each person: the mean of their finite values in each column, NaN if none.

    Parameters
    ----------
    source : Source
        Its first column of labels says whose a row is; a second one, which group it is in,
        which is then the last column here.

    Examples
    --------
    >>> from prolate.sources import open_source
    >>> visits = np.array([[1, 10.0], [2, 20.0], [1, 14.0], [1, np.nan]])
    >>> source = open_source(visits, labels=[0])
    >>> next(PersonMeans(source).blocks()).tolist()
    [[12.0], [20.0]]
    """

    averaged = True
    _rows: Floats | None = None

    def blocks(self) -> Iterator[Block]:
        """Yield the persons' rows."""
        if self._rows is None:
            self._rows = self._gather()
        for start in range(0, self._rows.shape[0], self.rows_per_block):
            yield self._rows[start : start + self.rows_per_block]

    def _gather(self) -> Floats:
        width = max(self._width, 1)
        sums, counts = np.zeros((width, 0)), np.zeros((width, 0), dtype=np.int64)
        group = np.zeros(0)
        persons, homes = 0, _Homes()
        for values, whose, groups in self._parts():
            counted = homes.inside(whose, groups)
            persons = max(persons, int(whose.max(initial=-1)) + 1)
            if persons > sums.shape[1]:
                room = np.zeros((width, max(2 * sums.shape[1], persons) - sums.shape[1]))
                sums = np.concatenate([sums, room], axis=1)
                counts = np.concatenate([counts, room.astype(np.int64)], axis=1)
                group = np.concatenate([group, room[0]])
            group[whose[counted]] = groups[counted]
            for j in range(width):
                column = values[:, j].astype(np.float64)
                good = np.flatnonzero(np.isfinite(column) & counted)
                with np.errstate(over="ignore", invalid="ignore"):
                    # One by one, in order: not np.bincount, which starts anew in each block.
                    np.add.at(sums[j], whose[good], column[good])
                np.add.at(counts[j], whose[good], 1)
        rows = np.empty((persons, len(self.columns)), order="F")
        with np.errstate(invalid="ignore"):
            rows[:, :width] = (sums[:, :persons] / counts[:, :persons]).T
        if self._grouped:
            rows[:, -1] = group[:persons]
        return rows


class PersonRows(_Labeled):
    """At most so many random rows of each person.

    Parameters
    ----------
    source : Source
        As for `PersonMeans`.
    most : int
        The largest number of rows of a person.
    bits : NumberedBits
        Secret bits for each row. Memory while choosing: some 40 bytes a row; then one. All rows,
        if they are few, are held in memory meanwhile, and those that are kept from then on.
    """

    decodes = True
    _kept: Bools | None = None

    def __init__(self, source: Source, most: int, bits: NumberedBits) -> None:
        super().__init__(source)
        self._most, self._bits = most, bits

    def blocks(self) -> Iterator[Block]:
        """Yield the rows that are kept."""
        kept = self._choice()
        yield from self._thin(self._parts(), kept) if self._held is None else self._held

    def _lasting(self) -> Iterator[Block]:
        self._choice()
        return super()._lasting()

    def _thin(self, parts: Iterable[Part], kept: Bools) -> Iterator[Block]:
        """Yield the rows of parts that are kept."""
        start = 0
        for values, whose, groups in parts:
            here = np.flatnonzero(kept[start : start + whose.size])
            start += whose.size
            if here.size:
                rows = values[here]
                yield np.column_stack([rows, groups[here]]) if self._grouped else rows

    def _choice(self) -> Bools:
        """Return which rows are kept, chosen in one pass: labels take longer than all else."""
        if self._kept is not None:
            return self._kept
        found: list[Integers] = []
        parts: list[Part] | None = []
        cells = 0
        for part in self._parts():
            found.append(part[1])
            cells += part[0].size
            if parts is not None:
                parts.append(part)
                parts = parts if cells <= HELD else None
        whose = np.concatenate([np.zeros(0, np.int64), *found])
        chance = self._bits.of(0, 4 * whose.size).view(np.uint64)
        places = np.lexsort((chance, whose))
        begins = np.flatnonzero(np.diff(whose[places], prepend=-1))
        rank = np.arange(places.size) - np.repeat(begins, np.diff(begins, append=places.size))
        kept = np.zeros(whose.size, dtype=np.bool_)
        kept[places[rank < self._most]] = True
        if parts is not None:
            self._held = list(self._thin(parts, kept))
        else:
            self._cells = int(kept.sum()) * len(self.columns)  # held in the next pass, if few
        self._kept = kept
        return kept
