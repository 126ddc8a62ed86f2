"""The rows of each group by themselves, in memory or in Spark's storage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from prolate.api.group_columns import JoinedLabels
from prolate.curator import Progress
from prolate.release.key import Key
from prolate.sources.source import Block, Source

if TYPE_CHECKING:
    from prolate.sources.spark import SparkSource

__all__ = ["Held", "SparkSplit", "Split", "quiet", "split_rows"]


def quiet(label: str, rows_done: int, rows_total: int | None) -> None:
    """Report progress to nobody."""


def split_rows(
    source: Source, names: tuple[str, ...], keys: Sequence[Key] | None, report: Progress
) -> Split | SparkSplit:
    """Return the rows of a source by group; its last column says which each row is in."""
    from prolate.sources.spark import SparkSource

    if isinstance(source, SparkSource):
        return SparkSplit(source, keys or ())
    return Split(source, names, report)


class SparkSplit:
    """The rows of a Spark data frame, group by group, in Spark's storage."""

    def __init__(self, source: SparkSource, keys: Sequence[Key]) -> None:
        self._source, self._keys = source.grouped(keys), keys

    def numbers(self, keys: Sequence[Key] | None) -> dict[Key, int]:
        """Return numbers of the groups, whose keys are public."""
        return {key: number for number, key in enumerate(keys or ())}

    def size(self, number: int) -> int:
        """Never asked: on Spark, keys are given."""
        raise NotImplementedError

    def group(self, number: int) -> Source:
        """Return the rows of one group, which stay on Spark."""
        return self._source.group(self._keys[number])


class Split:
    """The rows of a source, group by group, in memory."""

    def __init__(self, source: Source, names: tuple[str, ...], report: Progress = quiet) -> None:
        self._labels = source.labels[-1]
        self._names, self._rows_per_block = names, source.rows_per_block
        self._kinds = source.flags, source.whole, source.averaged
        self._parts: dict[int, list[Block]] = {}
        read = 0
        report("rows of all groups", read, source.n_rows)
        for block in source.blocks():
            groups = block[:, -1].astype(np.int64)
            order = np.argsort(groups, kind="stable")
            begins = np.flatnonzero(np.diff(groups[order], prepend=-1))
            for rows in np.split(order, begins[1:]) if order.size else ():
                # Where there is nothing but the groups, they are what is counted.
                values = block[rows, :-1] if block.shape[1] > 1 else block[rows]
                self._parts.setdefault(int(groups[rows[0]]), []).append(values)
            read += block.shape[0]
            report("rows of all groups", read, source.n_rows)

    def numbers(self, keys: Sequence[Key] | None) -> dict[Key, int]:
        """Return the numbers of the groups, in an order that depends on no row.

        Groups that are to be found have a row at least: a label may stand in rows that do not
        count, thousands of them one person's, and each would have its chance to be shown.
        """
        labels = self._labels
        if keys is not None:
            return {key: labels.number(key) for key in keys}
        named: Mapping[Any, int] = (
            labels.tuples() if isinstance(labels, JoinedLabels) else labels.named()
        )
        return {key: number for key, number in sorted(named.items()) if number in self._parts}

    def size(self, number: int) -> int:
        """Return how many rows a group has: not to be shown."""
        return sum(len(rows) for rows in self._parts.get(number, ()))

    def group(self, number: int) -> Source:
        """Return the rows of one group; they are forgotten here."""
        held = Held(self._parts.pop(number, []), self._names, self._rows_per_block)
        held.flags, held.whole, held.averaged = self._kinds
        return held


class Held(Source):
    """Rows in memory."""

    ordered = False

    def __init__(self, parts: list[Block], names: tuple[str, ...], rows_per_block: int) -> None:
        super().__init__(names, None, 1)
        self.rows_per_block = rows_per_block
        self._parts = [np.concatenate(parts)] if parts else []

    def blocks(self) -> Iterator[Block]:
        """Yield the rows."""
        for rows in self._parts:
            for start in range(0, rows.shape[0], self.rows_per_block):
                yield rows[start : start + self.rows_per_block]
