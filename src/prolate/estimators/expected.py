"""What error to expect of a clipped mean, by its radius: the best radius, privately.

If the rows are symmetric around their center, clipping only shortens them, and dividing by
the mean factor E min(1, C / |y|) undoes that. What it costs is the noise, divided by the
factor; the fluctuation of the factors over the rows; and a bias where direction goes with
length. The first two follow from the histogram of norms. For the third, a *tilted* sum
measures once, at little cost, how direction goes with squared length; its size, after what
its noise and the sampling of symmetric rows explain, is extrapolated linearly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Measurer
from prolate.estimators.clip import Norms, clipped_sum, safe_cell
from prolate.estimators.shares import radii_apart
from prolate.theory import effective_columns

__all__ = ["LEAST_GAIN", "Expected", "Tilt", "expect", "measure_tilt", "tilt_share"]

Floats = NDArray[np.float64]

LEAST_GAIN = 1e-6
"""Of the tilted weight: rows that all seem equally long show nothing."""

_BEYOND = 1.25  # clipping of the tilted sum, over the norm where its weight is full
_FAR = 1.3  # rows beyond the safe radius count as this much longer where lengths are squared
_CAUTION = 4.0  # the bias may be twice what a line extrapolates
_FACTOR = 0.9  # harder clipping gains little, and needs a better center
_STEP = 1e-3  # of a length, for a slope
_DOUBT = 0.5  # standard deviations of noise that count as tilt
_CLEAR = 5.0  # of them, that noise alone never has
_TILT = 0.3  # part of the tilted sum, over the effective number of columns, ...
_LEAST_TILT, _MOST_TILT = 0.004, 0.06  # ... within these
_SHOWN = 3.0  # standard deviations at which a column shows its own


@dataclass(frozen=True)
class Tilt:
    """How much the rows' direction goes with their length.

    Attributes
    ----------
    between : tuple of two float
        Norms between which the tilted sum's weight rises from -1 to 1.
    square : float
        Squared l2 norm of the mean tilted row, without what noise and sampling explain.
        In the same unit as the squares of `Expected`.
    clear : bool
        Whether that is surely more than nothing.
    shown : float64 array of shape (d,)
        Its direction, in the columns that clearly show it: of length 1, or 0.
    row : float64 array of shape (d,)
        The mean tilted row as measured, over `Expected.unit`.
    row_noise : float
        L2 norm of its noise, and of what the sampling of symmetric rows makes it.
    radius : float
        What the tilted rows are clipped to.
    """

    between: tuple[float, float]
    square: float
    clear: bool
    shown: Floats
    row: Floats
    row_noise: float
    radius: float

    def measured(self, length: Floats) -> Floats:
        """Return what rows of some lengths count for in the mean tilted row."""
        low, high = self.between
        weight = _tilt_weight(length / high, (low / high, 1.0))
        return weight * np.minimum(1.0, self.radius / length)


@dataclass(frozen=True, eq=False)
class Expected:
    """What error to expect of a clipped mean, by its radius.

    Attributes
    ----------
    norms : Norms
    cell : int
        The edge that is the safe radius, the largest that is tried.
    rows, clipped : float
        Number of rows, and how many of them are taken to be beyond the safe radius.
    noise : float
        Of a mean with radius 1, in units of a column's scale.
    noise_square : float
        Squared l2 norm of the noise of a mean with radius 1, over unit**2.
    spread_square : float
        Squared l2 norm of the columns' scales, over unit**2.
    slope_square : float
        How much longer rows are, squared and over unit**2, per squared scaled length: where
        few columns rule, a long row is long in these.
    unit : float
        Keeps squares within the range of floats.
    """

    norms: Norms
    cell: int
    rows: float
    clipped: float
    noise: float
    noise_square: float
    spread_square: float
    slope_square: float
    unit: float

    @property
    def safe(self) -> float:
        """The safe radius."""
        return float(self.norms.edges[self.cell])

    @cached_property
    def lengths(self) -> tuple[Floats, Floats]:
        """Lengths that rows have, and the part of the rows that has each."""
        edges, cell = self.norms.edges, self.cell
        inner = np.sqrt(edges[:-1] * edges[1:])
        length = np.concatenate([[0.5 * edges[0]], inner[:cell], [1.1 * edges[cell]]])
        beyond = min(self.clipped, 0.01 * self.rows)
        mass = np.append(-np.diff(self.norms.falling)[: cell + 1], beyond)
        return length, mass / mass.sum()

    @cached_property
    def squares(self) -> Floats:
        """Squared l2 norm, over unit**2, of rows of each scaled length."""
        length, mass = self.lengths
        excess = length**2 - float(mass @ length**2)
        return np.maximum(self.spread_square + self.slope_square * excess, 0.0)

    def mean_factor(self, radius: float) -> float:
        """Return E min(1, radius / |y|)."""
        length, mass = self.lengths
        return float(mass @ np.minimum(1.0, radius / length))

    def long_factor(self, radius: float) -> float:
        """Return E |y|**2 min(1, radius / |y|) / E |y|**2."""
        length, mass = self.lengths
        length = np.append(length[:-1], _FAR * length[-1])
        square = mass * length**2
        return float(square @ np.minimum(1.0, radius / length) / square.sum())

    def sampled_tilt(self, between: tuple[float, float]) -> float:
        """Return the squared l2 norm of the mean tilted row of so many symmetric rows."""
        length, mass = self.lengths
        return float(mass @ (self.squares * _tilt_weight(length, between) ** 2)) / self.rows

    def moved_tilt(self, between: tuple[float, float], effective: float) -> float:
        """Return the same of any number of rows around a center that is off by all spreads.

        A step of the center takes the same step off every row, and its part along the row off
        the row's length: with w the weight, E w + E |y| w' / e of it for rows of e columns.
        """
        length, mass = self.lengths
        longer, shorter = (
            _tilt_weight(length * each, between) for each in (1.0 + _STEP, 1.0 - _STEP)
        )
        along = float(mass @ (longer - shorter)) / (2.0 * _STEP)
        across = float(mass @ _tilt_weight(length, between))
        return self.spread_square * (across + along / effective) ** 2

    @property
    def stretch(self) -> float:
        """The rows' root mean square length, over what their scales promise; at least 1."""
        length, mass = self.lengths
        length = np.append(length[:-1], _FAR * length[-1])
        return max(1.0, float(np.sqrt(mass @ length**2)) / self.norms.typical)

    def along(self, spread: Floats, scale: Floats) -> Floats:
        """Return how a bias of length 1 is shared by columns that are equally skewed."""
        part = spread / self.unit * (spread / scale / self.norms.typical) ** 2
        return np.asarray(part / np.linalg.norm(part))

    def cut(self, radius: float) -> float:
        """Return what clipping takes off a small step of the center, along the row.

        It takes nothing across, where rows within the radius keep all of a step and others
        radius / |y| of it: E min(1, radius / |y|) in all directions together, less this part
        of it.
        """
        length, mass = self.lengths
        outside = np.where(length > radius, radius / length, 0.0)
        return float(mass @ outside) / self.mean_factor(radius)

    def bias_square(self, radius: float, tilt: Tilt) -> float:
        """Return the squared l2 norm of the bias of a mean clipped to a radius."""
        length, mass = self.lengths
        square = float(mass @ length**2)
        excess = (length**2 - square) / square
        gain = float(mass @ (excess * _tilt_weight(length, tilt.between)))
        factor = np.minimum(1.0, radius / length)
        off = 1.0 - factor / float(mass @ factor)
        return tilt.square * (float(mass @ (excess * off)) / max(gain, LEAST_GAIN)) ** 2

    def best_radius(self, bias_square: Callable[[float], float] | None = None) -> float:
        """Return the radius of least expected error, given the bias that each has, if any."""
        length, mass = self.lengths

        def error(radius: float) -> float:
            mean = self.mean_factor(radius)
            off = 1.0 - np.minimum(1.0, radius / length) / mean
            noise = self.noise_square * (radius / mean) ** 2
            fluctuation = float(mass @ (self.squares * off**2)) / self.rows
            bias = 0.0 if bias_square is None else bias_square(radius)
            return noise + fluctuation + bias

        tried = [r for r in self.norms.edges[: self.cell + 1] if self.mean_factor(r) > _FACTOR]
        return float(min(tried or [self.safe], key=error))


def expect(
    curator: Measurer,
    rows: float,
    spread: Floats,
    scale: Floats,
    norms: Norms,
    *,
    share: float,
    one_sided: bool = False,
) -> Expected:
    """Return what error to expect of a mean with a share of mu**2."""
    unit = float(np.max(np.abs(spread)))
    per_radius = radii_apart(curator.neighbors, one_sided=one_sided) / curator.mu_of(share)
    clipped = per_radius * np.sqrt(effective_columns(spread, scale))
    square = (spread / scale) ** 2
    square = square / np.max(square)
    return Expected(
        norms,
        safe_cell(norms, clipped),
        rows=rows,
        clipped=clipped,
        noise=per_radius / rows,
        noise_square=float(np.sum((per_radius / rows * scale / unit) ** 2)),
        spread_square=float(np.sum((spread / unit) ** 2)),
        slope_square=float(np.sum((square * scale / unit) ** 2) / np.sum(square**2)),
        unit=unit,
    )


def tilt_share(effective: float) -> float:
    """Return the part of a sum's budget for the tilted one."""
    return float(min(max(_TILT * effective**-0.75, _LEAST_TILT), _MOST_TILT))


def _tilt_weight(length: Floats, between: tuple[float, float]) -> Floats:
    low, high = between[0] ** 2, between[1] ** 2
    return np.asarray(np.clip((2.0 * length**2 - high - low) / (high - low), -1.0, 1.0))


def measure_tilt(
    curator: Measurer,
    center: Floats,
    spread: Floats,
    scale: Floats,
    expected: Expected,
    *,
    share: float,
    off_square: float | None = None,
) -> Tilt:
    """Measure how direction goes with length, for a share of mu**2.

    Around a good center, and then a tilt that may be there counts; or around one that is off by
    `off_square`, squared and in spreads, in every column. Rows around that seem tilted, too, so
    a tilt must be clear: what is not shows when two radii are compared (`one_pass.py`).
    """
    between = expected.norms.middle(expected.rows)
    radius = min(expected.safe, _BEYOND * between[1])
    total, noise = clipped_sum(
        curator, center, scale, radius, share=share, label="tilt", tilt=between
    )
    row = expected.unit * expected.rows
    total, noise = total / row, noise / row
    sampled = expected.sampled_tilt(between)
    explained = float(np.sum(noise**2)) + sampled
    doubt = float(np.sqrt(2.0 * np.sum(noise**4)))
    if off_square is not None:
        effective = effective_columns(spread, scale)
        moved = off_square * expected.moved_tilt(between, effective)
        explained += moved
        doubt += moved * np.sqrt(2.0 / effective)
    surplus = float(np.sum(total**2)) - explained
    clear = max(_CAUTION * (surplus - doubt), 0.0)
    likely = max(surplus, 0.0) + _DOUBT * doubt if off_square is None else 0.0
    # Symmetric rows vary too: by as much in each column as their tilt, over the spreads.
    own = np.hypot(noise, spread / np.linalg.norm(spread) * np.sqrt(sampled))
    shown = np.where(np.abs(total) > _SHOWN * own, np.abs(total), 0.0)
    length = float(np.linalg.norm(shown))
    shown = shown / length if length > 0.0 else shown
    return Tilt(
        between=between,
        square=max(likely, clear),
        clear=surplus > _CLEAR * doubt,
        shown=shown,
        row=total,
        row_noise=float(np.hypot(np.linalg.norm(noise), np.sqrt(sampled))),
        radius=radius,
    )
