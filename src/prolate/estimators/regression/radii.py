"""Which radii features are clipped to, where values are cut, and what each measurement may cost.

The usual radius clips a fifth of the rows. A large one knows the slopes of the unclipped rows if
some are far out; and rows that are all clipped to a small one predict better if the target does not
go on rising with how far out they are. Both are asked where rows pay for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from prolate.curator import Curator
from prolate.estimators.lengths.norms import fraction_radius
from prolate.estimators.regression.correction import (
    FAR_CUT,
    attenuation,
    mean_square,
    possible_radii,
)
from prolate.estimators.regression.rows import StandardRows
from prolate.estimators.regression.standard import longest_square
from prolate.neighbors import rows_changed

__all__ = ["Radius", "choose_radii", "enough_rows"]

_FRACTION = 0.2  # of the rows is clipped; where flags make all rows long, a little more noise
_FRACTION_AROUND_MIDDLES = 0.05  # is the price of clipping few of the others
_LONGEST = 1.3  # radius, over the root of the number of features
_CUT, _TARGET_CUT = 3.0, 2.5  # deviations at which features and the target are cut, ...
_FAR_TARGET_CUT = 5.0  # ... and the target, where the radius is large
_LEAST_CUT, _MOST_ROWS = 1.3, 33.0  # the target is cut to so little, for so little rows times mu
_LARGE_PAYS, _SMALL_PAYS = 300.0, 1000.0  # rows times mu that pay for another radius, ...
_SMALL = 0.8  # ... part of the rows that the small one clips, ...
_TWO = 1.5  # ... times by which it differs from the usual one, at least, ...
_LARGE_SHARE, _SMALL_SHARE = 0.1, 0.25  # ... and part of the sums' budget for it
_RESIDUALS = 0.4  # part of the usual radius' budget for a second round
_BIAS = 0.4  # part of a radius' attenuation that counts as an error of the slopes


@dataclass(frozen=True)
class Radius:
    """A radius, the cuts of features and target, and what its measurement may cost."""

    radius: float
    cut: float
    target_cut: float
    share: float
    label: str


def choose_radii(rows: StandardRows, *, share: float, again: bool) -> list[Radius]:
    """Return the usual radius, and a large and a small one where rows pay for them.

    Of the share of the usual one a part is left for what is asked `again`.
    """
    standard, norms = rows.standard, rows.norms
    # Norms are of rows that are not cut: where scales are too small they say too much.
    most, steady = _LONGEST * math.sqrt(float(standard.square.sum())), standard.steady
    within = max(_CUT, standard.farthest)
    cut, far_cut = standard.reach, standard.reach
    if standard.ends is None:
        cut = _near(rows, _TARGET_CUT if standard.middles is None else _FAR_TARGET_CUT)
        far_cut = _FAR_TARGET_CUT
    part = _FRACTION if standard.middles is None else _FRACTION_AROUND_MIDDLES
    usual, small = (min(fraction_radius(norms, one, rows.count), most) for one in (part, _SMALL))
    large = _large_radius(rows, _LARGE_SHARE * share)
    enough, others = enough_rows(rows.curator, rows.count), []
    larger = large**2 - steady > _TWO**2 * max(usual**2 - steady, 0.0)
    if enough > _LARGE_PAYS and larger:
        others.append(Radius(large, FAR_CUT, far_cut, _LARGE_SHARE * share, "far rows"))
    if enough > _SMALL_PAYS and usual > _TWO * small:
        others.append(Radius(small, within, cut, _SMALL_SHARE * share, "near rows"))
    left = math.nextafter(share - sum(one.share for one in others), 0.0)  # no more than is left
    left *= 1.0 - _RESIDUALS if again else 1.0
    return [Radius(usual, within, cut, left, "regression"), *others]


def _near(rows: StandardRows, farthest: float) -> float:
    """Return the deviations at which the target is cut: the noisier, the nearer.

    So many at most: the rows of a rare flag may be as far out in the target as in the flag, and
    where they are not shortened for that, more is left of them.
    """
    enough = enough_rows(rows.curator, rows.count)
    near = _LEAST_CUT * math.sqrt(math.sqrt(enough / _MOST_ROWS))
    return min(max(near, _LEAST_CUT), farthest)


def enough_rows(curator: Curator, rows: float) -> float:
    """Return rows times mu, as if one of them were replaced."""
    changed = math.sqrt(rows_changed(curator.neighbors) / 2.0)
    return float(rows * curator.mu_of(curator.remaining) / changed)


def _large_radius(rows: StandardRows, share: float) -> float:
    """Return the radius that is best for the slopes: noise against what clipping does."""
    curator, standard, norms = rows.curator, rows.standard, rows.norms
    changed = math.sqrt(rows_changed(curator.neighbors) / 2.0)  # noise beside the diagonal
    best, k = (math.inf, float(norms.edges[0])), standard.scale.size - 1
    for radius in possible_radii(norms):
        size = standard.varies * mean_square(norms, radius) / k
        longest = longest_square(radius)
        noise = changed * longest / (curator.mu_of(share) * rows.count) * math.sqrt(k) / size
        bias = _BIAS * (attenuation(norms, radius, steady=standard.steady) - 1.0)
        best = min(best, (noise**2 + bias**2, radius))
    return best[1]
