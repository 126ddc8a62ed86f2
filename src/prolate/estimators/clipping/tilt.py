"""How much the rows' direction goes with their length, measured once and at little cost.

The *tilted* sum weighs each clipped row by its squared length, from -1 for short rows to 1 for
long ones. What symmetric rows make of it is explained: by its noise, by the sampling of rows, and
by a center that is off, around which rows seem tilted, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurer
from prolate.estimators.clipping.balance import Balance
from prolate.estimators.lengths.clip import clipped_sum
from prolate.estimators.lengths.expected import Expected, kept_parts
from prolate.neighbors import radii_apart
from prolate.theory import effective_columns

__all__ = ["Tilt", "counted_tilt", "if_symmetric", "measure_tilt", "tilt_part"]

_FARTHEST, _APART = 100.0, 1.02  # of norms that are told apart, over the safe radius
_BEYOND = 1.25  # clipping of the tilted sum, over the norm where its weight is full
_CAUTION = 4.0  # the bias may be twice what is extrapolated
_STEP = 1e-3  # of a length, for a slope
_DOUBT = 0.5  # standard deviations of noise that count as tilt
_CLEAR = 5.0  # of them, that noise alone never has
_PART = 0.3  # of a sum's budget, over the effective number of columns, ...
_LEAST, _MOST = 0.004, 0.06  # ... within these
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
        The mean tilted row as measured, in `Expected.unit`.
    row_noise : float
        L2 norm of what symmetric rows make it: of its noise, their sampling, and their center.
    own : float64 array of shape (d,)
        Standard deviation of each column of it, by its noise and the sampling of symmetric rows.
    radius : float
        What the tilted rows are clipped to.
    """

    between: tuple[float, float]
    square: float
    clear: bool
    shown: Floats
    row: Floats
    row_noise: float
    own: Floats
    radius: float

    def measured(self, length: Floats) -> Floats:
        """Return what rows of some lengths count for in the mean tilted row."""
        low, high = self.between
        weight = _weight(length / high, (low / high, 1.0))
        return weight * np.minimum(1.0, self.radius / length)


def tilt_part(effective: float) -> float:
    """Return the part of a sum's budget for the tilted one."""
    return float(min(max(_PART * effective**-0.75, _LEAST), _MOST))


def if_symmetric(
    curator: Measurer, expected: Expected, *, share: float, rows: float, off: Floats
) -> Tilt:
    """Return what a tilt measured for a share of mu**2 would say of symmetric rows."""
    between, radius = _where(expected)
    per_radius = radii_apart(curator.neighbors) / curator.mu_of(share)
    noise = per_radius * radius * expected.scale / (expected.unit * rows)
    sampled = _sampled(expected, between, radius) / rows
    explained, doubt = _explained(expected, between, noise, sampled, off)
    d = expected.spread.size
    row = np.full(d, math.sqrt(explained / d))
    return Tilt(
        between=between,
        square=_DOUBT * doubt,
        clear=False,
        shown=np.zeros(d),
        row=row,
        row_noise=math.sqrt(explained),
        own=noise,
        radius=radius,
    )


def _where(expected: Expected) -> tuple[tuple[float, float], float]:
    """Return norms between which the weight rises, and what tilted rows are clipped to."""
    low, high = expected.norms.middle(expected.rows)
    high = min(high, _FARTHEST * expected.safe)  # noise may put it anywhere
    return (min(low, high / _APART), high), min(expected.safe, _BEYOND * high)


def _explained(
    expected: Expected,
    between: tuple[float, float],
    noise: Floats,
    sampled: float,
    off: Floats,
) -> tuple[float, float]:
    """Return the square that symmetric rows make, and how far off that may be."""
    effective = effective_columns(expected.spread, expected.scale)
    moved = float(np.sum((off / expected.unit * _moved(expected, between, effective)) ** 2))
    doubt = float(np.sqrt(2.0 * np.sum(noise**4))) + moved * float(np.sqrt(2.0 / effective))
    return float(np.sum(noise**2)) + sampled + moved, doubt


def measure_tilt(
    curator: Measurer,
    center: Floats,
    expected: Expected,
    *,
    share: float,
    rows: float,
    off: Floats,
) -> Tilt:
    """Measure how direction goes with length, for a share of mu**2.

    Parameters
    ----------
    curator : Measurer
        Of all rows, or of a sample.
    center : float64 array of shape (d,)
    expected : Expected
        Says how long rows are.
    share : float
    rows : float
        How many the curator has.
    off : float64 array of shape (d,)
        Standard deviation of each column's center.
    """
    between, radius = _where(expected)
    total, noise = clipped_sum(
        curator, center, expected.scale, radius, share=share, label="tilt", tilt=between
    )
    return _tilt_of(total, noise, expected, rows=rows, off=off)


def counted_tilt(balance: Balance, *, off: Floats) -> Tilt:
    """Return how direction goes with length in a single column, by counts of its sides.

    `off` is as of `measure_tilt`.
    """
    expected = balance.expected
    between, radius = _where(expected)

    def weight(length: Floats) -> Floats:
        return expected.scale * _weight(length, between) * np.minimum(length, radius)

    total, noise = balance.weighed(weight)
    return _tilt_of(total, noise, expected, rows=balance.rows, off=off)


def _tilt_of(total: Floats, noise: Floats, expected: Expected, *, rows: float, off: Floats) -> Tilt:
    """Return what the sum of tilted rows tells, and its noise, in the data's unit."""
    between, radius = _where(expected)
    unit = expected.unit * rows
    total, noise = total / unit, noise / unit
    sampled = _sampled(expected, between, radius) / rows
    explained, doubt = _explained(expected, between, noise, sampled, off)
    surplus = float(np.sum(total**2)) - explained
    clear = max(_CAUTION * (surplus - doubt), 0.0)
    likely = max(surplus, 0.0) + _DOUBT * doubt
    # Symmetric rows vary too: by as much in each column as their tilt, over the spreads.
    size = expected.spread / expected.unit
    own = np.hypot(noise, size / np.linalg.norm(size) * np.sqrt(sampled))
    shown = np.where(np.abs(total) > _SHOWN * own, np.abs(total), 0.0)
    length = float(np.linalg.norm(shown))
    shown = shown / length if length > 0.0 else shown
    return Tilt(
        between=between,
        square=max(likely, clear),
        clear=surplus > _CLEAR * doubt,
        shown=shown,
        row=total,
        row_noise=float(np.sqrt(explained)),
        own=own,
        radius=radius,
    )


def _sampled(expected: Expected, between: tuple[float, float], radius: float) -> float:
    """Return the variance of symmetric rows' tilted ones, summed over the columns."""
    length, mass = expected.lengths
    weight = _weight(length, between) * kept_parts(radius, length)
    return float(mass @ (expected.squares * weight**2))


def _moved(expected: Expected, between: tuple[float, float], effective: float) -> float:
    """Return what part of a small step of the center the mean tilted row moves by.

    The step is taken off every row, and its part along the row off the row's length: with w the
    weight, E w + E |y| w' / e of it for rows of e columns.
    """
    length, mass = expected.lengths
    longer, shorter = (_weight(length * each, between) for each in (1.0 + _STEP, 1.0 - _STEP))
    along = float(mass @ (longer - shorter)) / (2.0 * _STEP)
    return float(mass @ _weight(length, between)) + along / effective


def _weight(length: Floats, between: tuple[float, float]) -> Floats:
    low, high = between[0] ** 2, between[1] ** 2
    return np.asarray(np.clip((2.0 * length**2 - high - low) / (high - low), -1.0, 1.0))
