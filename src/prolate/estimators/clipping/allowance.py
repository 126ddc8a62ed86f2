"""What clipping may have taken off a mean, beyond what is given back: an allowance for intervals.

Skewed rows lose more or less than is foreseen, by how long the rows are that noise hides and by
how far they point aside (`loss.py`), and so do single columns (`column_tails.py`). Of rows that are
symmetric, the clipped ones are longer to one side by chance. And rows that are surely far out may
be odd ones, by a single column, all on one side: as far as the tilt could be all theirs, and as
power tails (`lengths/beyond.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats
from prolate.estimators.clipping.loss import Loss
from prolate.estimators.lengths.beyond import MOST_STRETCH, PART, Beyond, lost_part, normal_loss

__all__ = ["SKEWED", "Allowance", "allowance_of_mean"]

SKEWED = (
    "The rows may be skewed, and noise hides how far: a guess of what clipping removes from the "
    "mean makes intervals of some columns more than twice as wide. More rows or a larger budget "
    "would help, and quantiles are more reliable."
)
"""The warning where intervals are as wide as that by what was not seen."""

_ALLOWED = 1.5  # times both: tails are heavier than they seem more often than lighter
_KNOWN = 2.0  # times the bias that was extrapolated, in columns that show it themselves
_FORESEEN = 0.4  # of what rows far out may lose beyond what is given back
_OWN = 10.0  # times the tilt that columns show by themselves: far out, they alone make rows long
_ODD = 0.5  # times the tilt that none shows, of rows that hardly tilt
_ALONE = 0.6  # times the tilt that a column may have, of rows far out in it alone
_MANY = 30.0  # columns: of more, so many may be those that have such rows


@dataclass(frozen=True, eq=False)
class Allowance:
    """What intervals of a mean allow for.

    Attributes
    ----------
    clipping_std : float64 array of shape (d,)
        For what clipping may have taken.
    guessed : float64 array of shape (d,)
        The part of it that rests on how skewed rows seem.
    stretch : float
        Of the sampling error, over what the scales promise.
    """

    clipping_std: Floats
    guessed: Floats
    stretch: float


def allowance_of_mean(loss: Loss, *, bias: float, radius: float) -> Allowance:
    """Return what to allow for in a mean of rows clipped to a radius.

    Parameters
    ----------
    loss : Loss
        What they lose by it.
    bias : float
        Length of the bias that is likely, in `Expected.unit`.
    radius : float
    """
    expected, unit, along = loss.expected, loss.expected.unit, loss.expected.along
    odd = _odd(loss, radius)
    shown = _no_longer(loss.tilt.shown, along, expected.scale / unit)
    skewed = np.maximum(_ALLOWED * bias * unit * np.maximum(along, _KNOWN * shown), odd)
    chance = _ALLOWED * math.sqrt(expected.fluctuation_square(radius))
    spread = expected.spread
    clipping_std = np.hypot(skewed, chance * spread / np.linalg.norm(spread / unit))
    if loss.tails is not None:
        clipping_std = np.hypot(clipping_std, loss.tails.lost(radius)[1])
    guessed = np.maximum(bias * unit * along, odd)
    return Allowance(clipping_std, guessed, min(expected.stretch, MOST_STRETCH))


def _no_longer(direction: Floats, other: Floats, scale: Floats) -> Floats:
    """Return a direction, shortened to be no longer in scaled rows than another one.

    Else a column of small numbers would be charged with all that wide columns may lose.
    """
    length, most = (float(np.hypot.reduce(each / scale)) for each in (direction, other))
    return direction * (most / length) if length > most else direction


def _odd(loss: Loss, radius: float) -> Floats:
    """Return what to allow for rows far out, of which the tilt hardly says how skewed they are.

    Where columns show a tilt, it is these. Else it is all of them, if rows are surely beyond the
    radius. And each may hold these rows alone, whatever others show: a few rows hardly tilt, and
    their column seems no wider for them. What normal rows lose beyond it they lose on both sides.
    """
    expected, tilt, scale = loss.expected, loss.tilt, loss.expected.scale
    size = expected.spread / scale
    beyond = Beyond.of(expected.norms, expected.rows)
    noise = expected.noise * radius / expected.mean_factor(radius)
    allowed = _FORESEEN if loss.foreseen else PART
    most = lost_part(beyond, radius, noise, float(np.linalg.norm(size)), part=allowed)
    odd = max(most - allowed * normal_loss(beyond, size**2, radius), 0.0)
    if np.any(tilt.shown):
        direction, times, part = tilt.shown, _OWN, 1.0
    else:
        direction, times, part = expected.along, _ODD, _ODD if beyond.start >= radius else 0.0
    direction = expected.unit * direction
    worth = 1.0 / float(np.hypot.reduce(direction / scale))  # whose squares may vanish
    theirs, shown = worth * _far_tilt(loss, radius), math.sqrt(tilt.square)
    if part * theirs > times * shown:  # of tiny scales, both may vanish
        part = times * shown / theirs
    return np.maximum(part * worth * odd * direction, _alone(loss, radius) * odd * scale)


def _alone(loss: Loss, radius: float) -> Floats:
    """Return which part of the rows beyond the radius may be far out in each column alone.

    As far as the column's own tilt allows them on one side, with what noise may hide of it: all of
    its tilt, or what is more or less than columns have that are alike, where these are foreseen.
    One column of many does, not each: so in root mean square.
    """
    far, tilt = _far_tilt(loss, radius) * loss.expected.scale, loss.tilt
    alike = float(np.linalg.norm(tilt.row)) * loss.expected.along if loss.foreseen else 0.0
    shown = np.abs(tilt.row)
    own = np.minimum(shown, np.abs(shown - alike)) + tilt.own
    few = min(1.0, math.sqrt(_MANY / loss.expected.columns))
    most = few * _ALONE * loss.expected.unit * own
    return np.asarray(np.divide(most, far, out=np.full(far.size, few), where=few * far > most))


def _far_tilt(loss: Loss, radius: float) -> float:
    """Return the tilted length of the rows beyond a radius, were all on one side."""
    length, mass = loss.expected.lengths
    weight = np.where(length > radius, np.maximum(loss.tilt.measured(length), 0.0), 0.0)
    return float(mass @ (weight * length))
