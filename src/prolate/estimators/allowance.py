"""What clipping may have taken off a mean, beyond what is seen: an allowance for intervals.

The radius is chosen so that few rows are beyond it, as far as the noise of their count
lets see. Symmetric rows lose nothing there, but skewed ones do, all on one side. How skewed
rows are is the tilt's bias at a radius where many are clipped, over what they would lose
there if all of them were on one side. How many are farther out is extrapolated (`beyond.py`).
And far out, the tilt says little: rows may be so long by one skewed column alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.estimators.beyond import MOST_STRETCH, PART, Beyond, lost_part, normal_loss
from prolate.estimators.expected import Expected, Tilt
from prolate.estimators.nested import NestedMean
from prolate.estimators.skew import one_sided, worth_along

__all__ = [
    "SKEWED",
    "Allowance",
    "allowance_of_difference",
    "allowance_of_mean",
]

Floats = NDArray[np.float64]

SKEWED = (
    "The rows may be skewed, and are too few for this budget to show what clipping takes from "
    "their mean: its intervals are made wider by a guess, and may still be too narrow. More rows "
    "or a larger budget would help, and quantiles are surer."
)
"""The warning where intervals rest on what was not seen."""

_USUAL_POWER = 2.2  # of a tail of which it is only seen that there is one
_HIDDEN = 0.4  # of what rows may lose beyond what is given back, as a standard deviation
_LEFT = 0.8  # of what is lost beyond the larger of two radii, as a standard deviation
_STEEPER = 0.5  # of what a power's tail would lose there, though nothing farther out shows it
_ALIKE = 0.5  # cosine of the directions of two biases that are alike
_KNOWN = 2.0  # times the bias that was extrapolated, in columns that show it themselves
_OWN = 10.0  # times the tilt that such columns show: far out, they alone make rows long
_ALONE = 0.3  # of what a column may lose that none sees, that is worth a warning
_REACH = 10.0  # spreads of a column that make a row long
_ODD = 0.5  # times the tilt that none shows, of rows that hardly tilt


@dataclass(frozen=True, eq=False)
class Allowance:
    """What intervals of a mean allow for.

    Attributes
    ----------
    clipping_std : float64 array of shape (d,)
        For what clipping may have taken.
    guessed : float64 array of shape (d,)
        The part of it that rests on rows that were not seen.
    stretch : float
        Of the sampling error, over what the scales promise.
    """

    clipping_std: Floats
    guessed: Floats
    stretch: float


def allowance_of_mean(
    expected: Expected,
    tilt: Tilt,
    spread: Floats,
    scale: Floats,
    *,
    bias: float,
    radii: tuple[float, float],
    given_back: bool = False,
) -> Allowance:
    """Return what to allow for in a mean of rows clipped to the second of two radii.

    Parameters
    ----------
    expected : Expected
    tilt : Tilt
    spread, scale : float64 arrays of shape (d,)
    bias : float
        Length of the bias that the tilt predicts, in the data's unit.
    radii : tuple of two float
        Of the first mean, which is clipped harder or as hard, and of the second.
    given_back : bool
        Whether what is likely lost beyond the radius is, so that less must be allowed for.
    """
    along, worth = worth_along(expected, spread, scale)
    skew = one_sided(expected, tilt, worth, radii[0])
    beyond = Beyond.of(expected.norms, expected.rows)
    noise = expected.noise * radii[1] / expected.mean_factor(radii[1])
    promised = float(np.linalg.norm(spread / scale))
    allowed = _HIDDEN if given_back else PART
    most = lost_part(beyond, radii[1], noise, promised, part=allowed)
    unseen = skew * worth * most
    far, feared = _far(
        expected,
        tilt,
        beyond,
        spread / scale,
        along,
        scale,
        most=most,
        allowed=allowed,
        radius=radii[1],
    )
    guessed = np.maximum(unseen * along, feared)
    clipping_std = np.maximum(max(bias, unseen) * along, far)
    clipping_std = np.maximum(clipping_std, _KNOWN * bias * tilt.shown)
    return Allowance(clipping_std, guessed, _stretch(expected, beyond, skew))


def _far(
    expected: Expected,
    tilt: Tilt,
    beyond: Beyond,
    length: Floats,
    along: Floats,
    scale: Floats,
    *,
    most: float,
    allowed: float,
    radius: float,
) -> tuple[Floats, Floats]:
    """Return what is allowed for rows far out, of which the tilt hardly says how skewed they are.

    The longest rows may be so by a single column. Where columns show a tilt, it is these.
    Else it is all of them, if rows are surely beyond the radius, and as far as the tilt could
    be all theirs. What normal rows lose beyond it they lose on both sides. The second array
    is what is feared besides, and not allowed for.
    """
    odd = max(most - allowed * normal_loss(beyond, length**2, radius), 0.0)
    clear = bool(np.any(tilt.shown))
    if clear:
        direction, times, part = tilt.shown, _OWN, 1.0
    else:
        direction, times, part = along, _ODD, _ODD if beyond.start >= radius else 0.0
    worth = 1.0 / float(np.hypot.reduce(direction / scale))  # whose squares may vanish
    all_theirs = _far_tilt(expected, tilt, radius)
    tilted = expected.unit * math.sqrt(tilt.square)
    if all_theirs > 0.0:
        part = min(part, times * tilted / (worth * all_theirs))
    lost = np.asarray(part * worth * odd * direction)
    if clear or part == 0.0:
        return lost, lost
    # It may be one column alone, too little tilted to show it; not one that hardly counts.
    alone = np.minimum(odd * scale, odd * tilted / max(all_theirs, 1e-300))
    alone = np.where(radius < _REACH * length, alone, 0.0)
    return lost, np.maximum(lost, _ALONE * alone)


def _far_tilt(expected: Expected, tilt: Tilt, radius: float) -> float:
    """Return the tilted length of the rows beyond a radius, were all on one side."""
    length, mass = expected.lengths
    low, high = tilt.between
    low, over = (low / high) ** 2, (length / high) ** 2
    weight = np.clip((2.0 * over - 1.0 - low) / (1.0 - low), 0.0, 1.0)
    weight = np.where(length > radius, weight, 0.0)
    return float(mass @ (weight * np.minimum(length, high)))


def allowance_of_difference(
    expected: Expected, spread: Floats, scale: Floats, found: NestedMean
) -> Allowance:
    """Return what to allow for in a mean between those of rows clipped to two radii.

    Parameters
    ----------
    expected : Expected
    spread, scale : float64 arrays of shape (d,)
    found : NestedMean
    """
    along, worth = worth_along(expected, spread, scale)
    beyond = Beyond.of(expected.norms, expected.rows)
    radii, bias, shown, kept = found.radii, found.bias, found.shown, 1.0 - found.weight
    between = worth * (beyond.lost(radii[0]) - beyond.lost(radii[1]))
    skew = min(1.0, bias / between) if between > 0.0 else 0.0
    # Were the tail a power's, this is how what is lost beyond the larger radius goes with that.
    farther = 1.0 / ((radii[1] / radii[0]) ** (_USUAL_POWER - 1.0) - 1.0)
    unseen = _LEFT * min(farther * bias, worth * beyond.lost(radii[1]))
    clipping_std = math.hypot(kept * bias, unseen) * along
    # A column that alone makes rows long loses more farther out than nearer by, and the tail
    # of all rows' lengths does not show it.
    size = float(np.linalg.norm(shown))
    usual = size > 0.0 and float(along @ shown) > _ALIKE * size
    own = (_LEFT if usual else _STEEPER) * farther
    if usual:
        own = min(own, _LEFT * beyond.lost(radii[1]) / float(np.linalg.norm(shown / scale)))
    clipping_std = np.maximum(clipping_std, math.hypot(kept, own) * shown)
    return Allowance(clipping_std, clipping_std, _stretch(expected, beyond, skew))


def _stretch(expected: Expected, beyond: Beyond, skew: float) -> float:
    """Return the stretch of the sampling error, with the tail as far as rows are skewed."""
    length, mass = expected.lengths
    square = float(mass[:-1] @ length[:-1] ** 2) + skew**2 * beyond.square(expected.safe)
    stretch = math.sqrt(square) / expected.norms.typical
    return max(expected.stretch, min(stretch, MOST_STRETCH))
