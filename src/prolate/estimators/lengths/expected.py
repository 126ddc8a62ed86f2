"""What error to expect of a clipped mean, by its radius: the best radius, privately.

If the rows are symmetric around their center, clipping only shortens them, and dividing by the mean
factor E min(1, C / |y|) undoes that. What it costs is the noise, divided by the factor; the
fluctuation of the factors over the rows; and a bias where direction goes with length
(`clipping/loss.py`). The first two follow from the histogram of norms, and, for rows that its noise
hides, from the curves that its counts make likely (`curves.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.curator import Measurer
from prolate.estimators.lengths.clumps import find_clumps
from prolate.estimators.lengths.curves import likely_curves, survival
from prolate.estimators.lengths.norms import MeasuredNorms, fraction_radius, safe_cell
from prolate.neighbors import radii_apart
from prolate.parallel import computed_once
from prolate.theory import effective_columns

__all__ = ["Expected", "Radii", "expect", "kept_parts"]

Radii = TypeVar("Radii", float, Floats)
"""One radius, or an array of them."""

_BESIDE, _NEAREST = 10.0, 0.01  # columns that are others than those; a length, for those inside
_LIKELY = 1e-4  # of the likeliest curve
_REACH = np.geomspace(1.0, 60.0, 60)  # of the lengths' tail, over its start
_FACTOR = 0.9  # harder clipping gains little, and needs a better center
_FARTHER = np.geomspace(1.0, 6.0, 24)  # safe radii that are tried: rows may be skewed


@dataclass(frozen=True, eq=False)
class Expected:
    """What error to expect of a clipped mean, by its radius.

    Attributes
    ----------
    norms : MeasuredNorms
    spread, scale : float64 arrays of shape (d,)
        Of the columns, and what these were divided by before rows were measured.
    cell : int
        The edge that is the safe radius, beyond which few rows are, surely.
    rows, clipped : float
        Number of rows, and how many of them are taken to be beyond the safe radius.
    noise : float
        Of a mean with radius 1, in units of a column's scale.
    unit : float or float64 array of shape (d,)
        In which columns' errors count.
    clumped : bool
        Whether rows that are together far out are told from a tail (`clumps.py`).
    """

    norms: MeasuredNorms
    spread: Floats
    scale: Floats
    cell: int
    rows: float
    clipped: float
    noise: float
    unit: float | Floats
    clumped: bool = False

    @property
    def safe(self) -> float:
        """The safe radius."""
        return float(self.norms.edges[self.cell])

    @computed_once
    def _parts(self) -> Floats:
        """Columns' parts of the rows' squared lengths, over the largest."""
        square = (self.spread / self.scale) ** 2
        return np.asarray(square / np.max(square))

    @property
    def columns(self) -> float:
        """About how many columns make rows long."""
        return float(np.sum(self._parts)) ** 2 / float(np.sum(self._parts**2))

    @computed_once
    def clumps(self) -> Bools:
        """Which cells hold rows that are together far out."""
        if not self.clumped:
            return np.zeros(self.norms.counts.size, dtype=np.bool_)
        return find_clumps(self.norms, self.clipped)

    @computed_once
    def tails(self) -> tuple[Floats, Floats, Floats]:
        """Lengths that rows have, the part of each for every curve, and the curves' weights.

        Of rows of many columns, a long one is usually long by one of them, beside the others,
        which make up about the length that all rows have: curves tell of that one. The last
        lengths are the clumps', which are counted as they are.
        """
        norms, rows, edges = self.norms, self.rows, self.norms.edges
        others = fraction_radius(norms, 0.5, rows)
        others *= math.sqrt(max(1.0 - _BESIDE / self.columns, 0.0))
        beside = np.sqrt(np.maximum(edges**2 - others**2, (_NEAREST * edges) ** 2))
        together = np.flatnonzero(self.clumps)
        fewer = replace(norms, counts=np.where(self.clumps, 0.0, norms.counts))
        found = likely_curves(beside, fewer.counts[1:], norms.noise, rows)
        some = found.weight > _LIKELY * found.weight.max()
        weight = found.weight[some] / found.weight[some].sum()
        reach, end = _REACH, float(beside[min(found.start + 1, edges.size - 1)])
        if found.lumpy:
            reach = np.union1d(reach, end / found.reach)
        part = found.part[some, np.newaxis]
        left = part * survival(reach)[some]
        tail = np.append(left[:, :-1] - left[:, 1:], left[:, -1:], axis=1)
        far = found.reach * np.append(np.sqrt(reach[:-1] * reach[1:]), reach[-1])
        if found.lumpy:  # where in a cell its rows are is unknown: in the middle of its lengths
            first = edges[found.start : found.start + 2]
            far *= np.sqrt(first[-1] / first[0])
        far = np.sqrt(far**2 + others**2)
        near = norms.middles[: found.start + 1]
        mass = -np.diff(fewer.falling)[: near.size]
        mass = (1.0 - part) * mass / max(float(mass.sum()), 1e-300)
        clumped = np.maximum(norms.counts[together], 0.0) / rows
        mass = np.concatenate([mass, tail, np.tile(clumped, (len(tail), 1))], axis=1)
        length = np.concatenate([near, far, norms.middles[together]])
        return length, mass / mass.sum(axis=1, keepdims=True), weight

    @computed_once
    def lengths(self) -> tuple[Floats, Floats]:
        """Lengths that rows have, and the part of the rows that likely has each."""
        length, mass, weight = self.tails
        return length, weight @ mass

    @computed_once
    def squares(self) -> Floats:
        """Squared l2 norm, in `unit`, of rows of each scaled length.

        Where few columns rule, a long row is long in these.
        """
        length, mass = self.lengths
        excess = length**2 - float(mass @ length**2)
        usual = float(np.sum((self.spread / self.unit) ** 2))
        slope = float(np.sum((self._parts * self.scale / self.unit) ** 2) / np.sum(self._parts**2))
        return np.maximum(usual + slope * excess, 0.0)

    @computed_once
    def noise_square(self) -> float:
        """Squared l2 norm of the noise of a mean with radius 1, in `unit`."""
        return float(np.sum((self.noise * self.scale / self.unit) ** 2))

    def mean_factor(self, radius: Radii) -> Radii:
        """Return E min(1, radius / |y|)."""
        length, mass = self.lengths
        factor: Radii = kept_parts(radius, length) @ mass
        return factor

    def long_factor(self, radius: float) -> float:
        """Return E |y|**2 min(1, radius / |y|) / E |y|**2."""
        length, mass = self.lengths
        square = mass * length**2
        return float(square @ np.minimum(1.0, radius / length) / square.sum())

    @property
    def stretch(self) -> float:
        """The rows' root mean square length, over what their scales promise; at least 1."""
        length, mass = self.lengths
        return max(1.0, float(np.sqrt(mass @ length**2)) / self.norms.typical)

    @computed_once
    def along(self) -> Floats:
        """How a bias of length 1 is shared by columns that are equally skewed."""
        part = self.spread / self.unit * (self.spread / self.scale / self.norms.typical) ** 2
        return np.asarray(part / np.linalg.norm(part))

    def off_square(self, off: Floats) -> float:
        """Return the squared length, along a row, of a center that is `off` in each column.

        In `unit`; of a row's length, columns have the parts that their squares have.
        """
        length = (self.spread / self.scale) ** 2
        return float(np.sum((off / self.unit * length / np.sum(length)) ** 2))

    def cut(self, radius: Radii) -> Radii:
        """Return what clipping takes off a small step of the center, along the row.

        It takes nothing across, where rows within the radius keep all of a step and others
        radius / |y| of it: E min(1, radius / |y|) in all directions together, less this part
        of it.
        """
        length, mass = self.lengths
        kept = kept_parts(radius, length)
        outside: Radii = (kept * (kept < 1.0)) @ mass
        return outside / self.mean_factor(radius)

    def fluctuation_square(self, radius: Radii) -> Radii:
        """Return the squared l2 norm of what clipping symmetric rows adds, in `unit`."""
        length, mass = self.lengths
        factor = np.expand_dims(self.mean_factor(radius), -1)
        off = 1.0 - kept_parts(radius, length) / factor
        square: Radii = off**2 @ (mass * self.squares)
        return square / self.rows

    def best_radius(self, bias_square: Callable[[Floats], Floats]) -> float:
        """Return the radius of least expected error, given the bias that each has."""
        tried = self.norms.edges[: self.cell + 1]
        tried = np.append(tried[self.mean_factor(tried) > _FACTOR], self.safe * _FARTHER)
        error = self.noise_square * (tried / self.mean_factor(tried)) ** 2
        error += self.fluctuation_square(tried)
        error += bias_square(tried)
        return float(tried[np.argmin(error)])


def kept_parts(radius: float | Floats, length: Floats) -> Any:
    """Return min(1, radius / length) for each length, along the last axis."""
    return np.minimum(1.0, np.divide.outer(radius, length))


def expect(
    curator: Measurer,
    rows: float,
    spread: Floats,
    scale: Floats,
    norms: MeasuredNorms,
    *,
    share: float,
    unit: Floats | None = None,
    one_sided: bool = False,
    clumped: bool = False,
) -> Expected:
    """Return what error to expect of a mean with a share of mu**2.

    In units of the columns, or else of the widest, which keeps squares within the range of floats.
    """
    one = float(np.max(np.abs(spread))) if unit is None else unit
    per_radius = radii_apart(curator.neighbors, one_sided=one_sided) / curator.mu_of(share)
    clipped = per_radius * np.sqrt(effective_columns(spread, scale))
    expected = Expected(
        norms,
        spread,
        scale,
        safe_cell(norms, clipped),
        rows=rows,
        clipped=clipped,
        noise=per_radius / rows,
        unit=one,
        clumped=clumped,
    )
    farthest = int(np.max(np.flatnonzero(expected.clumps), initial=0))
    return replace(expected, cell=max(expected.cell, farthest))
