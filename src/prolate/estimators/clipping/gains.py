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

from dataclasses import dataclass, field

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from prolate.arrays import Floats, Integers
from prolate.parallel import computed_once

__all__ = ["Gains", "telling"]

_TILT, _TILT_DOUBT = 0.35, 0.15
_RATIO_DOUBT = 0.4  # of the logarithm of 1 - G2, over what the histogram says
_TILTS = np.linspace(0.0, 1.0, 11)
_RATIOS = np.exp(np.linspace(-1.2, 1.2, 13))
_LESS = 0.15  # the first mean's loss, over the other one's
_LEAST = 0.2  # gain
_TELLING = 1 << 11  # columns
_RULED = 4
_CLEAR = 128.0  # signal over noise
_UNLIKELY = -2.0 * np.log(1e-3)  # of a posterior probability, over the largest, left aside
_FAR = np.add.outer(
    ((_TILTS - _TILT) / _TILT_DOUBT) ** 2, (np.log(_RATIOS) / _RATIO_DOUBT) ** 2
)  # minus twice the prior's logarithm


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
    _known: dict[float, Floats] = field(default_factory=dict, init=False, repr=False)

    def at(self, even: float, most: float, tilt: float = _TILT, ratio: float = 1.0) -> Floats:
        """Return the gains, given G1, and G2 and how much more is lost than G2 says."""
        return even - self._lost(self._unlike(tilt), even, ratio * (1.0 - most))

    def of(self, index: Integers) -> Gains:
        """Return the gains of some columns, by what is usual in all."""
        found = Gains(self.part[index], self.weight[index], self.one_sided[index])
        found._known[_TILT] = self._unlike(_TILT)[index]
        return found

    def likely(
        self,
        even: float,
        most: float,
        once: Floats,
        again: Floats,
        doubt: Floats,
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
        some, stands = telling(np.abs(once) / doubt)
        apart = np.stack([once, again])[:, some] * (np.sqrt(stands) / doubt[some])
        those = self.of(some)
        costs = np.full((_TILTS.size, _RATIOS.size), np.inf)
        wanted = np.zeros(costs.shape, dtype=np.bool_)
        wanted[::3, ::3] = True  # and then what is next to likely ones
        seen = wanted.copy()
        while wanted.any():
            for i, k in np.argwhere(wanted):
                lost = those._lost(self._unlike(_TILTS[i])[some], even, _RATIOS[k] * (1.0 - most))
                off = apart[0] / (1.0 - _LESS * lost) - apart[1] / (even - lost)
                costs[i, k] = off @ off + _FAR[i, k]
            likely = costs < costs.min() + _UNLIKELY
            near = sliding_window_view(np.pad(likely, 1), (3, 3)).any(axis=(2, 3))
            wanted = near & ~seen
            seen |= wanted
        weights = np.where(likely, np.exp(-0.5 * (costs - costs.min())), 0.0)
        weights /= weights.sum()
        lost = np.zeros(self.part.size)  # over tilts and ratios, by how likely they are
        for i, k in np.argwhere(likely):
            lost += weights[i, k] * self._lost(
                self._unlike(_TILTS[i]), even, _RATIOS[k] * (1.0 - most)
            )
        return 1.0 - _LESS * lost, even - lost

    def _unlike(self, tilt: float) -> Floats:
        """Return what columns lose, over the average."""
        if tilt not in self._known:
            unlike = np.exp(-tilt * self._log_part)
            unlike *= np.sum(self.weight) / float(self.weight @ unlike)
            self._known[tilt] = unlike
        return self._known[tilt]

    @computed_once
    def _log_part(self) -> Floats:
        return np.log(np.where(self.weight > 0.0, self.part, 1.0))

    def _lost(self, unlike: Floats, even: float, lost: float) -> Floats:
        """Return how much less than G1 is left on."""
        less = np.minimum(np.maximum(lost * unlike - (1.0 - even), 0.0), max(even - _LEAST, 0.0))
        return np.asarray(self.one_sided * less)


def telling(signal: Floats) -> tuple[Integers, Floats]:
    """Return columns that stand for all, and for how many each, given signals over noise.

    Of the many columns that noise rules, one in four stands for four.
    """
    rank = np.minimum(signal, _CLEAR) * -(2.0**15 / _CLEAR)
    order = np.argsort(rank.astype(np.int16), kind="stable")  # of few bits, which is quick
    some = np.concatenate([order[:_TELLING], order[_TELLING::_RULED]])
    return some, np.where(np.arange(some.size) < _TELLING, 1.0, float(_RULED))
