"""A part of the rows of another source, held in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from prolate.sources.source import Block, Source

__all__ = ["KeptRows"]


class KeptRows(Source):
    """The rows of `source` that `keep` chooses, read once.

    Parameters
    ----------
    source : Source
    keep : callable
        Called for every block, in order, with its number of rows; returns a bool array
        that says which to keep.
    progress : callable, optional
        Called after each block with the number of rows read so far.
    """

    def __init__(
        self,
        source: Source,
        keep: Callable[[int], NDArray[np.bool_]],
        progress: Callable[[int], None] | None = None,
    ) -> None:
        done, kept = 0, []
        for block in source.blocks():
            kept.append(np.array(block[keep(block.shape[0])], dtype=np.float64))
            done += block.shape[0]
            if progress is not None:
                progress(done)
        self._rows = np.concatenate([np.zeros((0, len(source.columns))), *kept])
        super().__init__(source.columns, self._rows.shape[0], 1 << 24)
        self.rows_per_block = source.rows_per_block

    def blocks(self) -> Iterator[Block]:
        """Yield slices of the kept rows."""
        for start in range(0, self._rows.shape[0], self.rows_per_block):
            yield self._rows[start : start + self.rows_per_block]
