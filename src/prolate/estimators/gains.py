"""What clipping leaves on of each column of rare values.

A long row is shortened most. If rows were long only because they have more of the same, a
column's mean, as a distance from the bulk, would be multiplied by

    G2 = E |y|**2 min(1, C / |y|) / E |y|**2,

and by G1 = E min(1, C / |y|) if length said nothing about the column. Both follow from the
histogram of norms. Of columns of two values, G2 is the average gain, each weighed by its
part of E |y|**2; popular ones lose less than that, and unpopular ones, which are found in
long rows, lose more. In all baskets looked at, what a column loses goes about as a power of
its popularity, q**-tilt, with a tilt of .1 to .6; what is left then differs from that by
about a quarter to a half of itself. The histogram does not see the longest rows, so G2 is
a guess that may be wrong by half.

So tilt and G2 have a prior each, and a first mean, which is clipped far less, tells more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Gains"]

Floats = NDArray[np.float64]

_TILT, _TILT_DOUBT = 0.35, 0.15
_RATIO_DOUBT = 0.4  # of the logarithm of 1 - G2, over what the histogram says
_TILTS = np.linspace(0.0, 1.0, 11)
_RATIOS = np.exp(np.linspace(-1.2, 1.2, 13))
_LESS = 0.15  # the first mean's loss, over the other one's
_LEAST = 0.2  # gain
_TELLING = 1 << 11  # columns
_RULED = 4
_UNLIKELY = 1e-3  # posterior probability, over the largest, that is left aside


@dataclass(frozen=True, eq=False)
class Gains:
    """The gains of columns, by what a radius does to all of them.

    Attributes
    ----------
    part : float64 array of shape (d,)
        Of the rows that deviate from the bulk.
    weight : float64 array of shape (d,)
        The column's part of the rows' mean squared norm; 0 for columns of no rare values.
    one_sided : float64 array of shape (d,)
        How much of this holds for a column: 0 for one that has no side, and so G1.
    """

    part: Floats
    weight: Floats
    one_sided: Floats

    def at(self, even: float, most: float, tilt: float = _TILT, ratio: float = 1.0) -> Floats:
        """Return the gains, given G1, and G2 and how much more is lost than G2 says."""
        return self._gains(self._unlike(tilt), even, ratio * (1.0 - most))

    def likely(
        self, even: float, most: float, once: Floats, again: Floats, doubt: Floats
    ) -> tuple[Floats, Floats]:
        """Return the gains of a first mean and of a second one that are likely, given both.

        Parameters
        ----------
        even, most : float
            G1 and G2 of the second.
        once, again : float64 arrays of shape (d,)
            How far from the bulk the two are, before any gain is undone; 0 for columns of no
            rare values.
        doubt : float64 array of shape (d,)
            Standard deviation of their difference, once gains are undone.
        """
        # Of the many columns that noise rules, one in four stands for four.
        order = np.argsort(-np.abs(once) / doubt, kind="stable")
        some = np.concatenate([order[:_TELLING], order[_TELLING::_RULED]])
        stands = np.where(np.arange(some.size) < _TELLING, 1.0, float(_RULED))
        once, again, doubt = once[some], again[some], doubt[some] / np.sqrt(stands)
        those = Gains(self.part[some], self.weight[some], self.one_sided[some])
        costs = np.empty((_TILTS.size, _RATIOS.size))
        unlike = [self._unlike(tilt) for tilt in _TILTS]
        for i, tilt in enumerate(_TILTS):
            of_some = unlike[i][some]
            for k, ratio in enumerate(_RATIOS):
                gain = those._gains(of_some, even, ratio * (1.0 - most))
                apart = (once / _first(gain, even) - again / gain) / doubt
                far = ((tilt - _TILT) / _TILT_DOUBT) ** 2 + (np.log(ratio) / _RATIO_DOUBT) ** 2
                costs[i, k] = apart @ apart + far
        weights = np.exp(-0.5 * (costs - costs.min()))
        kept = np.argwhere(weights > _UNLIKELY)
        weights /= sum(weights[i, k] for i, k in kept)
        gain = np.zeros(self.part.size)  # over tilts and ratios, by how likely they are
        for i, k in kept:
            gain += weights[i, k] * self._gains(unlike[i], even, _RATIOS[k] * (1.0 - most))
        return _first(gain, even), gain

    def _unlike(self, tilt: float) -> Floats:
        """Return what columns lose, over the average."""
        unlike = np.exp(-tilt * self._log_part)
        return np.asarray(unlike * (np.sum(self.weight) / float(self.weight @ unlike)))

    @cached_property
    def _log_part(self) -> Floats:
        return np.log(np.where(self.weight > 0.0, self.part, 1.0))

    def _gains(self, unlike: Floats, even: float, lost: float) -> Floats:
        gain = np.minimum(np.maximum(1.0 - lost * unlike, _LEAST), even)
        return even - self.one_sided * (even - gain)


def _first(gain: Floats, even: float) -> Floats:
    """Return the first mean's gains, which is clipped far less."""
    return 1.0 - _LESS * (even - gain)
