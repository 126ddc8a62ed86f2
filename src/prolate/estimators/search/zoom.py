"""How histograms of equal cells zoom in on each column's bulk.

Each finds the *shorth* (the shortest run of cells that holds most rows, a robust location),
and the next one looks at three times that run, until the run has enough cells to see the
shape. What lies outside the cells is counted, too. So it is noticed where a window holds
half of the rows, not the bulk: a column that is 0 in half of its rows is not taken for one
of tiny numbers, and goes back to the last window that was sound, unless that half is a
single value and so the bulk.

Where a first window ends at public bounds, what lies outside are the values at these bounds,
which are cut to them: if the bulk is one of these, or both, the first look shows it.
"""

from __future__ import annotations

import math

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.curator import Searcher
from prolate.estimators.columns import SomeColumns
from prolate.estimators.search.magnitudes import BULK
from prolate.estimators.search.tight import DEEPEST, find_tight, maybe_tight
from prolate.estimators.search.windows import AT_BOUND, BITS, Start, Windows
from prolate.estimators.shares import significance
from prolate.queries import Histogram, LinearGrid

__all__ = ["ENOUGH", "Zoom", "zoom_clearly"]

ENOUGH = 6
"""Cells in a run that is resolved."""

_CELLS = 512
_MOST_CELLS = 1 << 24  # of all histograms of one measurement together
_RUN = 0.8  # where noise allows no run so long: this part of the longest it allows
_SOME = 0.75  # of the columns, or fewer, are measured without the others
_HALF = 0.5  # of the rows, for a single value; and no second thoughts from noise about one
_ENTERS, _LEAVES = 2.0, 3.0  # standard deviations of a count by which a value is single, ...
_FALLS = 4.0  # ... and of two by which it is not, if it has so many fewer rows now than before
_SHARP = 0.08  # ... where counts are no noisier than this part of the rows
_FEWER = 2.0  # standard deviations of a count by which a single value has less than the others
_BACK = 2.0  # width of the window that a column goes back to, over the one zoomed to
_ELSEWHERE = 2.5  # standard deviations of the count of rows outside that may be noise
_ACCIDENT = 0.01  # probability that noise alone puts the bulk of any column outside
_BOTH = 0.65  # of the rows, at most, at either bound, where no more is to be seen
_SURE = 3.0  # standard deviations of a count by which the bulk is at a bound
_INWARD = 1.5  # half a window over how far outside is, at least, from any bulk inside


def zoom_clearly(
    curator: Searcher,
    rows: float,
    columns: Integers,
    start: Start,
    *,
    share: float,
    noise: float,
    accident: float,
    most_levels: float,
) -> Zoom:
    """Return windows around the bulk of some columns.

    Parameters
    ----------
    curator : Searcher
    rows, accident
        As of `Zoom`.
    columns : int64 array
    start : Start
        Of these columns.
    share : float
        Share of mu**2 for a histogram of all columns.
    noise : float
        Of a count of such a histogram.
    most_levels : float
        At most so many histograms.
    """
    d = curator.dimension
    clear = (BULK * rows / (noise * significance(d * 1000, accident))) ** 2  # cells of a clear run
    cells = int(min(max(12, 8 * clear), _CELLS, _MOST_CELLS // d))
    zoom = Zoom(start, rows, enough=min(ENOUGH, max(2, round(_RUN * clear))), accident=accident)
    usual, deepest = (math.ceil(bits / math.log2(cells / 3)) for bits in (BITS, DEEPEST))
    tight = np.zeros(columns.size, dtype=np.bool_)
    for level in range(int(min(deepest, most_levels))):
        label = f"location {level + 1}"
        maybe = maybe_tight(zoom)
        if level == usual - 1 and maybe.size:
            single = SomeColumns(curator, columns[maybe])
            part = share * maybe.size / d
            tight[maybe] = find_tight(
                single, zoom, maybe, rows, usual=cells, share=part, label=label
            )
        index = np.flatnonzero(~zoom.done & (tight | (level < usual)))
        if not index.size:
            break
        # Columns that are done are left out where they are many: for the same noise, fewer
        # columns cost less.
        if index.size > _SOME * columns.size:
            index = np.arange(columns.size)
        those = columns[index]
        view: Searcher = curator if those.size == d else SomeColumns(curator, those)
        grid = zoom.grid(index, cells)
        measured = view.measure(Histogram(grid), share=share * index.size / d, label=label)
        zoom.look(index, grid, measured.values, measured.std)
    return zoom


class Zoom(Windows):
    """Windows that follow runs of cells which stand out of the noise.

    Parameters
    ----------
    start, rows
        As of `Windows`.
    enough : int
        Cells in a run that is resolved.
    accident : float
        Probability that noise alone makes any run of cells stand out.
    """

    def __init__(self, start: Start, rows: float, *, enough: int, accident: float) -> None:
        super().__init__(start, rows)
        self._enough, self._accident, self._first = enough, accident, True
        d = self.center.size
        self._sharp, self._single = np.zeros((2, d), dtype=np.bool_)
        self._highest = np.zeros(d)  # counts of the highest cells of the look before
        first, last = start.widest or (start.lower, start.upper)
        self._sound = np.stack([0.5 * first + 0.5 * last, 0.5 * last - 0.5 * first])
        self._sound[1] *= 1.0 + AT_BOUND
        self._part, self._away = np.zeros((2, d))

    @property
    def least_spread(self) -> Floats:
        """How spread a column is at least, by the rows that were seen outside its windows."""
        return np.where(self.narrow, 0.0, np.sqrt(self._part) * self._away)

    def look(self, index: Integers, grid: LinearGrid, values: Floats, noise: float) -> None:
        """Zoom in on what the histograms of some columns show."""
        every = values.reshape(index.size, -1)
        if self._first:
            index, grid, every = self._look_at_bounds(index, grid, every, noise)
            if not index.size:
                return
        counts, outside = every[:, 1:-1], every[:, 0] + every[:, -1]
        self._see_outside(index, outside, noise)
        highest, most = np.argmax(counts, axis=1), counts.max(axis=1)
        bulk = np.where(self.narrow[index], _HALF, BULK)
        start, length = _shorth(counts, noise, self._rows, bulk, self._accident)
        # One that has lost many rows since the look before held two values, if a run holds both.
        fell = self._highest[index] - most > _FALLS * math.sqrt(2.0) * noise
        if fell.any():
            both = _shorth(counts, noise, self._rows, np.full(index.size, BULK), self._accident)
            fell &= both[1] > 0
            start, length = np.where(fell, both, (start, length))

        # A cell that surely holds half of the rows is a single value if a part of it does, too.
        spare = (most - _HALF * self._rows) / noise
        stays = (spare > -_LEAVES) & (most - outside > -_FEWER * noise) & ~fell
        alone = np.where(self._single[index], stays, self._sharp[index] & (spare > _ENTERS))
        alone &= noise < _SHARP * self._rows
        # One that does is looked into, too, where no run of cells holds the bulk.
        enters = (spare > _ENTERS) & (noise < _SHARP * self._rows)
        single = alone | (enters & (length == 0))
        start, length = np.where(single, highest, start), np.where(single, 1, length)

        open_ = ~self.done[index]
        doubt = math.sqrt(2.0) * noise
        surely = significance(self.center.size, _ACCIDENT) * doubt
        holds = outside <= max((1.0 - BULK) * self._rows + doubt, surely)
        back = open_ & ~alone & ~holds
        zoom = open_ & (length > 0) & ~back
        self._single[index], self._sharp[index] = alone, enters & ~back
        self._highest[index] = most
        self._go_back(index[back])
        self.narrow[index[open_ & (length == 0)]] = False
        middle, wide = _window(grid, counts, start, length)
        inside = index[zoom]
        self.center[inside], self.half[inside] = middle[zoom], wide[zoom]
        self.narrow[inside] = (length == 1)[zoom]
        sound = index[zoom & holds]
        self._sound[:, sound] = self.center[sound], _BACK * self.half[sound]
        # Done: the shape is seen, and no cell may be a single value; or nothing stands out; or the
        # last bits are reached.
        flat = self.half[index] <= np.abs(self.center[index]) * 2.0**-44
        resolved = (length >= self._enough) & ~self._sharp[index]
        self.done[index] |= ~back & (resolved | (length == 0) | flat)

    def _look_at_bounds(
        self, index: Integers, grid: LinearGrid, every: Floats, noise: float
    ) -> tuple[Integers, LinearGrid, Floats]:
        """Return the columns whose bulk is at no bound nor at both, all their values as inside."""
        self._first = False
        counts = np.where(self._bounded[index], every[:, [0, -1]], 0.0)
        every = every.copy()
        every[:, [1, -2]] += counts
        every[:, [0, -1]] -= counts
        surely = counts - BULK * self._rows > _SURE * noise
        alone = surely.any(axis=1)
        # Two values, about equally often: to look nearer at either would show nothing more.
        halves = counts.max(axis=1) < _BOTH * self._rows
        halves &= counts.sum(axis=1) - BULK * self._rows > _SURE * math.sqrt(2.0) * noise
        self.done[index[halves]] = True
        others = ~alone & ~halves
        those, side = index[alone], np.where(surely[alone, 0], -1.0, 1.0)
        self.center[those] += side * self.half[those] / (1.0 - AT_BOUND)
        self.half[those] *= AT_BOUND
        self.narrow[those] = self.done[those] = True
        kept = LinearGrid(grid.low[others], grid.width[others], grid.cells)
        return index[others], kept, every[others]

    def take(self, index: Integers, other: Zoom) -> None:
        """Take what another look at some columns has shown, unless that is wider than it was."""
        better = self.narrow[index] | (other.half < self.half[index])
        index = index[better]
        for name in "center", "half", "narrow", "done", "_part", "_away":
            getattr(self, name)[index] = getattr(other, name)[better]

    def _go_back(self, index: Integers) -> None:
        self.center[index], self.half[index] = self._sound[:, index]
        self.narrow[index] = False

    def _see_outside(self, index: Integers, outside: Floats, noise: float) -> None:
        """Note how much is surely how far away: no more of it than outside smaller windows."""
        seen = np.maximum(outside - _ELSEWHERE * math.sqrt(2.0) * noise, 0.0) / self._rows
        away = self.half[index] / _INWARD
        part, before = self._part[index], self._away[index]
        part = np.where(away <= before, np.minimum(part, seen), part)
        more = np.sqrt(seen) * away > np.sqrt(part) * before
        self._part[index], self._away[index] = np.where(more, (seen, away), (part, before))


def _shorth(
    counts: Floats, noise: float, rows: float, bulk: Floats, accident: float
) -> tuple[Integers, Integers]:
    """Return the first cell and the length of each column's shortest run; length 0 if none."""
    d, cells = counts.shape
    steps = np.zeros((cells + 1, d))  # columns side by side, since all are looked at together
    np.cumsum(counts.T, axis=0, out=steps[1:])
    present = np.full(d, rows)
    if noise * math.sqrt(cells) < 0.1 * rows:  # some values may be missing
        present = np.clip(steps[-1], 0.05 * rows, rows)
    lengths = sorted({round(2 ** (k / 3)) for k in range(int(3 * math.log2(cells)) + 1)})
    stands_out = significance(d * cells * len(lengths), accident) * noise
    start = np.zeros(d, dtype=np.int64)
    length = np.zeros(d, dtype=np.int64)
    left, wanted = np.arange(d), bulk * present
    for run in lengths:
        mass = steps[run:] - steps[:-run]
        good = mass.max(axis=0) >= np.maximum(wanted[left], stands_out * math.sqrt(run))
        if good.any():
            start[left[good]], length[left[good]] = np.argmax(mass[:, good], axis=0), run
            left, steps = left[~good], steps[:, ~good]
            if not left.size:
                break
    return start, length


def _window(
    grid: LinearGrid, counts: Floats, start: Integers, length: Integers
) -> tuple[Floats, Floats]:
    """Return the center of three times the run, and half of that window's width."""
    index = np.arange(grid.cells)
    low, high = start - length, start + 2 * length
    inside = (index >= low[:, np.newaxis]) & (index < high[:, np.newaxis])
    mass = np.where(inside, counts, 0.0)
    centroid = (mass * (index + 0.5)).sum(axis=1) / np.maximum(mass.sum(axis=1), 1.0)
    # A run of few cells says where the values are only to within the run.
    middle = start + 0.5 * length
    place = np.where(length < ENOUGH, middle, np.clip(centroid, start, start + length))
    return grid.low + grid.width * place, grid.width * 1.5 * np.maximum(length, 1)
