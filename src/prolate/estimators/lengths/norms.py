"""How long rows are, privately, and the radius that is safe for any data.

One histogram of all rows' norms costs a single count. The *safe* radius follows from it.
Noise grows with the clipping radius C as 2 C sqrt(e) / mu, in units of the scaled rows,
where e is the effective number of coordinates; each row longer than C adds at most its
excess to the error. So the sum of both is least where about 2 sqrt(e) / mu rows are longer
than C (half of that under add-remove); it is the k of PLAN's Theorem 6.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurer
from prolate.queries import NormHistogram

__all__ = [
    "CHEAP",
    "MeasuredNorms",
    "finer_edges",
    "fraction_radius",
    "is_doubtful",
    "measure_norms",
    "safe_cell",
]

# Fine where clipping radii usually lie, coarse beyond: every cell adds its noise to the tail.
_RATIOS = np.array(
    [
        *(0.25, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98, 1.0, 1.02, 1.04, 1.07, 1.1),
        *(1.15, 1.2, 1.3, 1.4, 1.6, 1.8, 2.1, 2.5, 3.2, 4.5, 7.0, 12.0, 40.0),
    ]
)
# Beyond the last of these, where rows are there: so many times as far.
_FARTHER = np.array([1.4, 2.0, 2.8, 4.0, 8.0, 16.0, 40.0])
# Edges between which most rows are, at least, and how many times as many finer ones have.
_BETWEEN, _BETTER = 6, 1.5
CHEAP = 0.04
"""Part of a share that a look with finer edges may cost."""

_TOO_SMALL = 100.0  # scales, where most rows are there
_CLEARLY = 6.0  # standard deviations
_SURELY_BEYOND, _MAYBE_BEYOND = 4.5, 2.5  # of a count of rows beyond the last edge
_GAPS = ((4.4, 11.0), (11.0, 39.0))  # typical norms between which hardly any rows are
_LONGER = 2.0  # mean squares
_FAR_OUT, _SURELY = 2.0, 3.0  # typical norms; standard deviations of a count
_SURER = (1.0, 1.0)  # of them, at the typical norm and for each octave beyond
_TWICE, _APART = 2.0, 1.6  # times as sure, and radii by which it makes a difference


@dataclass(frozen=True, eq=False)
class MeasuredNorms:
    """A noisy histogram of the scaled rows' norms.

    Attributes
    ----------
    edges : float64 array of shape (m,)
        Between m + 1 cells; multiples of `typical`.
    counts : float64 array of shape (m + 1,)
    noise : float
        Standard deviation of each count.
    typical : float
        The root mean square norm that the columns' private scales promise.
    seen : float
        A norm that rows are surely beyond, as far as that was looked for.
    """

    edges: Floats
    counts: Floats
    noise: float
    typical: float
    seen: float = 0.0

    @property
    def above(self) -> Floats:
        """Noisy number of rows beyond each edge."""
        return np.asarray(np.cumsum(self.counts[::-1])[::-1][1:])

    @property
    def above_noise(self) -> Floats:
        """Standard deviation of each of these numbers."""
        return np.asarray(self.noise * np.sqrt(np.arange(self.edges.size, 0, -1)))

    @property
    def middles(self) -> Floats:
        """A norm in the middle of each cell but the last."""
        return np.append(0.5 * self.edges[0], np.sqrt(self.edges[:-1] * self.edges[1:]))

    @property
    def falling(self) -> Floats:
        """Number of rows beyond 0, beyond each edge, and beyond all (0), made to fall.

        Halfway between the least and the greatest of the falling sequences that touch it, so
        that noise of both signs cancels.
        """
        above = np.concatenate([[np.sum(self.counts)], self.above, [0.0]])
        above = np.clip(above, 0.0, max(float(above[0]), 0.0))
        high = np.maximum.accumulate(above[::-1])[::-1]
        return np.asarray(0.5 * (high + np.minimum.accumulate(above)))

    @property
    def hidden(self) -> bool:
        """Whether rows are clearly beyond the last edge: the scales are of no use."""
        return bool(self.above[-1] > _SURELY_BEYOND * self.noise)

    @property
    def maybe_hidden(self) -> bool:
        """Whether rows may be beyond the last edge, and noise hides them."""
        return bool(self.above[-1] > _MAYBE_BEYOND * self.noise)

    @property
    def farthest(self) -> float:
        """The first edge that rows are not clearly beyond."""
        clearly = np.flatnonzero(self.above > _CLEARLY * self.above_noise)
        last = int(clearly[-1]) + 1 if clearly.size else 0
        return float(self.edges[min(last, self.edges.size - 1)])

    @property
    def apart(self) -> float:
        """How many rows are far beyond the others, and hardly any between; 0 if none clearly."""
        return self.beyond_gap[0]

    @property
    def beyond_gap(self) -> tuple[float, float]:
        """The same number of rows, and a norm that they are beyond.

        They alone must be longer than the columns' scales promise of all rows together.
        """
        total = float(np.sum(self.counts))
        for near, far in _GAPS:
            first = np.searchsorted(self.edges, [near * self.typical, far * self.typical])
            if first[1] == self.edges.size:  # finer edges do not reach as far
                break
            before, beyond = self.above[first]
            sure = _CLEARLY * self.noise * np.sqrt(self.edges.size - first[1])
            if beyond > max(sure, 0.5 * before, _LONGER * total / far**2):
                return float(beyond), float(self.edges[first[1]])
        return 0.0, 0.0

    @property
    def unseen(self) -> float:
        """About how many rows may be far out and not stand out of the noise."""
        cells = np.count_nonzero(self.edges > _FAR_OUT * self.typical)
        return _SURELY * self.noise * float(np.sqrt(cells + 1.0))

    def extended(self, farther: MeasuredNorms) -> MeasuredNorms:
        """Return that with farther edges in place of the last cell."""
        edges = np.concatenate([self.edges, farther.edges])
        beyond = farther.counts[1:]
        between = self.counts[-1] - np.sum(beyond)
        counts = np.concatenate([self.counts[:-1], [between], beyond])
        return replace(self, edges=edges, counts=counts, seen=float(self.edges[-1]))

    def averaged(self, again: MeasuredNorms) -> MeasuredNorms:
        """Return the average with a second histogram of the same rows; that, if edges differ."""
        if not np.array_equal(self.edges, again.edges):
            return again
        weight = self.noise**2 / (self.noise**2 + again.noise**2)  # of the second
        counts = (1.0 - weight) * self.counts + weight * again.counts
        noise = float(np.hypot((1.0 - weight) * self.noise, weight * again.noise))
        return replace(self, counts=counts, noise=noise)

    def refined(self, again: MeasuredNorms) -> MeasuredNorms:
        """Return the average with a second histogram of the same rows, some of its cells finer."""
        if not np.all(np.isin(self.edges, again.edges)):
            return again
        place = np.searchsorted(self.edges, np.append(0.0, again.edges), side="right")
        cells = np.bincount(place, minlength=self.counts.size)
        sums = np.bincount(place, again.counts, minlength=self.counts.size)
        variance = cells * again.noise**2
        weight = variance / (variance + self.noise**2)  # of the first
        more = weight * (self.counts - sums) / cells
        noise = self.noise * again.noise / float(np.hypot(self.noise, again.noise))
        counts = again.counts + more[place]
        return replace(self, edges=again.edges, counts=counts, noise=noise)

    def middle(self, rows: float) -> tuple[float, float]:
        """Return norms between which about nine tenths of the rows lie."""
        low, high = fraction_radius(self, 0.95, rows), fraction_radius(self, 0.05, rows)
        return low, max(high, 1.02 * low)

    def nearest_edge(self, radius: float) -> float:
        """Return the edge nearest to a radius."""
        return float(self.edges[int(np.argmin(np.abs(self.edges - radius)))])

    def fraction_above(self, radius: float, rows: float) -> float:
        """Return about what part of `rows` rows is longer than `radius`, one of the edges."""
        beyond = float(self.above[int(np.argmin(np.abs(self.edges - radius)))])
        return min(max(beyond / rows, 0.0), 1.0)


def measure_norms(
    curator: Measurer,
    *,
    center: Floats,
    scale: Floats,
    spread: Floats,
    share: float,
    about: Floats | None = None,
    known: MeasuredNorms | None = None,
    more: int = 3,
    edges: Floats | None = None,
) -> MeasuredNorms:
    """Measure how long the rows (x - center) / scale are, each look for a share of mu**2.

    Where rows are clearly beyond the last edge, they are told apart by another look; where most of
    the rows are, the scales were far too small, and all is measured anew with larger edges.

    Parameters
    ----------
    curator : Measurer
    center, scale, spread : float64 arrays of shape (d,)
    share : float
    about : float64 array of shape (d,), optional
        As of `NormHistogram`.
    known : MeasuredNorms, optional
        What a first look showed.
    more : int
        So many looks after that, at most.
    edges : float64 array, optional
        Of the first look, if they are not the usual ones.
    """

    def look(edges: Floats, typical: float) -> MeasuredNorms:
        query = NormHistogram(center, 1.0 / scale, edges, about)
        measured = curator.measure(query, share=share, label="radius")
        return MeasuredNorms(edges, measured.values, measured.std, typical)

    usual = float(np.sqrt(np.sum((spread / scale) ** 2)))
    first = usual * _RATIOS if edges is None else edges
    norms = look(first, usual) if known is None else known
    again = False
    for _ in range(more):
        if not norms.hidden:
            if again or not norms.maybe_hidden:
                break
            norms, again = norms.averaged(look(norms.edges, usual)), True
        elif norms.above[-1] > 0.5 * np.sum(norms.counts):
            usual *= _TOO_SMALL
            norms = look(usual * _RATIOS, usual)
        else:
            norms = norms.extended(look(norms.edges[-1] * _FARTHER, usual))
    return norms


def finer_edges(norms: MeasuredNorms, rows: float) -> Floats | None:
    """Return edges that tell apart what these do not, if there are any.

    Rows of many columns are all about equally long, and where columns are skewed they are longer
    than scales say: a few cells hold them all.
    """
    low, middle, high = (fraction_radius(norms, part, rows) for part in (0.9, 0.5, 0.1))

    def between(edges: Floats) -> int:
        return int(np.count_nonzero((edges > low) & (edges < high)))

    few, finer = between(norms.edges), middle * _RATIOS
    return finer if few < _BETWEEN and between(finer) > _BETTER * (few + 1) else None


def safe_cell(norms: MeasuredNorms, wanted: float, *, surer: float = 1.0) -> int:
    """Return the first edge beyond which there are, surely enough, at most `wanted` rows.

    Noise that pretends to be rows far out is dear: the further, the surer they must be.
    """
    beyond = norms.edges / max(norms.typical, norms.seen)
    doubt = _SURER[0] + _SURER[1] * np.log2(np.maximum(beyond, 1.0))
    enough = np.flatnonzero(norms.above <= wanted + surer * doubt * norms.above_noise)
    return int(enough[0]) if enough.size else norms.edges.size - 1


def is_doubtful(norms: MeasuredNorms, wanted: float) -> bool:
    """Return whether the rows far out that make a safe radius large may well be noise."""
    cell, surely = safe_cell(norms, wanted), safe_cell(norms, wanted, surer=_TWICE)
    return bool(norms.edges[cell] > _APART * norms.edges[surely])


def fraction_radius(norms: MeasuredNorms, fraction: float, rows: float) -> float:
    """Return the radius that about `fraction` of the rows exceed.

    The noisy number of rows beyond each edge is made to fall, and interpolated.
    """
    above = np.maximum.accumulate(norms.above[::-1])[::-1]
    return float(np.interp(-fraction * rows, -above, norms.edges))
