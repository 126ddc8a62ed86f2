"""Rows of tables in memory, each of whose columns has memory of its own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np

from prolate.arrays import Integers
from prolate.compiled import WORK
from prolate.parallel import computed_once
from prolate.sources.arrays import ArraySource
from prolate.sources.columns_in_place import ColumnsInPlace
from prolate.sources.filling import LEAST, Stretch, filled_blocks
from prolate.sources.kept import Dealing, Thinning, copied_rows, kept_places
from prolate.sources.parts import dealt_in_memory
from prolate.sources.source import HELD, Block, Source

__all__ = ["TableSource"]

_LARGER = 8  # times a block: those of some rows, of which columns would be read bit by bit


class TableSource(Source):
    """Rows of a table in memory.

    Queries read columns of floats without missing values where they lie. Other columns are turned
    into such once, if they are few or short; if not, blocks are made of all of them in each pass.
    """

    decodes = True
    _places: Integers | None = None  # of the rows, unless they are all

    @abstractmethod
    def _stretches(self) -> Sequence[Stretch]:
        """Return all rows, in order."""

    def blocks(self) -> Iterator[Block]:
        """Yield column-major blocks of float64."""
        return filled_blocks(self._stretches(), self.rows_per_block, self.labels, self._places)

    @computed_once
    def _lying(self) -> list[ColumnsInPlace] | None:
        """The rows where they lie, beside columns that are made of those that loops cannot read."""
        stretches = self._stretches()
        cells = sum(stretch.count for stretch in stretches) * len(self.columns)
        if self.labels or not stretches or cells < LEAST * len(stretches):
            return None
        single = all(each.precision == np.float32 for each in stretches)
        dtype = np.dtype(np.float32 if single else np.float64)
        if sum(len(each.others(dtype)) * each.count for each in stretches) > HELD:
            return None
        return [each.in_place(dtype) for each in stretches]

    def pieces(self) -> Iterator[Any]:
        """Yield the rows where they lie, or blocks."""
        return iter(self._lying or self.blocks())

    def _come_soon(self) -> bool:
        """Return whether pieces are read as soon as blocks that were held."""
        return self._lying is not None or super()._come_soon()

    def thinned(self, keep: Thinning, progress: Callable[[int], None] | None = None) -> Source:
        """Return the rows that `keep` chooses."""
        pieces = self._lying
        if pieces is None:
            return super().thinned(keep, progress)
        count = self.n_rows or 0
        rows = copied_rows(pieces, kept_places(keep, count))
        WORK.foresee(rows.size, count * len(self.columns))
        if progress is not None:
            progress(count)
        return ArraySource.of_columns(rows, self)

    def dealt(
        self, deal: Dealing, progress: Callable[[int], None] | None = None
    ) -> Callable[[Sequence[int]], Source]:
        """Deal the rows to separate parts, which are not copied."""
        if self.labels:  # whose numbers follow from the order of all rows
            return super().dealt(deal, progress)
        return dealt_in_memory(self, deal, self._lying, self._some, progress)

    def _some(self, places: Integers) -> TableSource:
        """Return some of the rows, which are made blocks of as they are read."""
        some = copy(self)
        some._places, some.n_rows = places, places.size
        some._held = some._lying = None
        some.rows_per_block *= _LARGER
        return some
