"""What the cut of the target takes from slopes, where features explain how far out values are.

Of incomes, costs and the like, features move the tail as they move the middle: values that are cut
are those of rows whose line is high, and all slopes seem too small. Least squares through what a
line leaves is the line plus (Z'Z)**-1 Z'r, where r is what it leaves, in whole: what is cut of it
and what is beyond the cut. The products of features with what is beyond are dear, as noise goes
with the farthest value. But those with what is in a layer next to the cut are cheap, and the tails
(`tails.py`) tell how much more is beyond it: as much more are the products, about, as features
explain values in the layer as they do those farther out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurement
from prolate.estimators.regression.line import gram_per_row
from prolate.estimators.regression.slopes import Slopes
from prolate.estimators.regression.tails import ACROSS, ALONG, Tails
from prolate.estimators.regression.weighted import Weighted
from prolate.queries import BeyondCut, ResidualGram

__all__ = ["CutOff"]

_LAYER = 0.75  # its width, over the cut
_MORE, _WRONG = 1.07, 0.3  # times as far as in the layer, features explain what is beyond; doubt
_MOST = 1.0  # doubt
_PARTS, _PRIOR = (0.0, 0.4, 1.0), (0.3, 0.3, 0.4)  # of what features may explain; how likely
_SURE = 30.0  # logarithm of odds
# Noise over what is told, at most; and most that a cut takes off any tails, in their deviations.
_TOLD, _HEAVY = 0.15, 0.1
_WORTH = 0.15  # of the noise of slopes: so much that may be taken is worth asking for


@dataclass(frozen=True, eq=False)
class CutOff:
    """Products of features with a layer of what is beyond the target's cut.

    Attributes
    ----------
    rows : ResidualGram
        Whose target is cut, in the units of its features.
    query : BeyondCut
    tails : Tails
    cut, weight : float
        Where the target is cut in standard units, and what these are multiplied by.
    """

    rows: ResidualGram
    query: BeyondCut
    tails: Tails
    cut: float
    weight: float

    @classmethod
    def of(cls, weighted: Weighted, tails: Tails, known: Slopes, *, share: float) -> CutOff | None:
        """Return what to ask of rows whose target is cut, or None if it is not worth a share."""
        rows, gram, cut = weighted.rows, weighted.query, weighted.target_cut
        k, weight = known.mean.size, rows.standard.weight(gram.radius, cut)
        found = cls(gram, BeyondCut(gram, _LAYER * weight * cut), tails, cut, weight)
        noise = max(float(np.sum(known.noise[:k, :k] * known.features)), 0.0)
        more = tails.more(cut)[0]
        worth = more**2 > _WORTH**2 * noise and tails.stand_out
        square = found.query.sensitivity_squared(rows.curator.neighbors)
        std = found.query.noise(math.sqrt(square) / rows.curator.mu_of(share))
        std = std / rows.count / weight
        told = found._farther()[0] * std < _TOLD * ALONG * min(more, _HEAVY * tails.width)
        return found if worth and told else None

    def added(
        self, slopes: Slopes, gram: Measurement, beyond: Measurement, *, rows: float
    ) -> Slopes:
        """Return slopes with what the cut took.

        Parameters
        ----------
        slopes : Slopes
            Of cut targets.
        gram, beyond : Measurement
            Of the rows, and of the query.
        rows : float
        """
        products, noise = self.query.products(beyond.values), self.query.noise(beyond.std)
        times, doubt = self._farther()
        found, std = times * products / rows, times * noise / rows
        matrix = gram_per_row(self.rows, gram.values, rows)[:-1, :-1]
        likely = self._likely(matrix, slopes)
        values, axes = np.linalg.eigh(matrix)
        hidden = math.sqrt(values.size) * self.rows.noise(gram.std)[1] / rows
        inverse = (axes / np.maximum(values, max(hidden, 1e-150))) @ axes.T
        units = np.ones(values.size)  # from the constant and features to slopes and level
        if self.rows.constant > 0.0:
            units[0] = self.rows.constant
        turn = units[:, np.newaxis] * inverse / self.weight
        part = np.zeros((len(_PARTS), values.size))
        part[-1] = 1.0  # the level's own
        chances = _chances(matrix, likely, found, std, slopes.mean.size)
        part[:, values.size - slopes.mean.size :] = chances[:, np.newaxis]
        believed = [_kept(some**2 * likely, std) for some in _PARTS]
        whole = np.array([turn @ kept @ found for kept in believed])
        taken = np.sum(part * whole, axis=0)
        unsure = (_WRONG**2 + doubt**2) * np.outer(taken, taken)
        for chance, kept, one in zip(np.sqrt(part), believed, whole - taken, strict=True):
            both = std**2 * (turn @ kept @ turn.T) + np.outer(one, one)
            unsure += np.outer(chance, chance) * both
        return _plus(slopes, taken, unsure)

    def _likely(self, matrix: Floats, slopes: Slopes) -> Floats:
        """Return the covariance of what products are likely, where features explain the tails.

        Tails mostly go with the line: so products are those of features with it, and a constant.
        """
        k = slopes.mean.size
        more, doubt = self.tails.more(self.cut)
        square = self.weight**2 * more**4 / max(more**2 + doubt, 1e-300)
        features = matrix[-k:, -k:]
        line = features @ slopes.value[:k]
        line *= ALONG / max(float(np.linalg.norm(line)), 1e-300)
        usual = max(float(np.trace(features)) / k, 1e-300)
        likely = ALONG**2 * np.eye(len(matrix))
        likely[-k:, -k:] = np.outer(line, line) + ACROSS**2 / usual * features
        return np.asarray(square * likely)

    def _farther(self) -> tuple[float, float]:
        """Return how many times as far features explain all that is beyond, and its doubt."""
        whole, _ = self.tails.taken(self.cut)
        left, doubt = self.tails.taken((1.0 + _LAYER) * self.cut)
        layer = max(whole - left, 1e-300)
        return _MORE * whole / layer, min(math.sqrt(doubt) / max(whole, 1e-300), _MOST)


def _kept(likely: Floats, std: float) -> Floats:
    """Return what is believed of products with so much noise, as a matrix."""
    return np.asarray(likely @ np.linalg.pinv(likely + std**2 * np.eye(len(likely))))


def _chances(matrix: Floats, likely: Floats, found: Floats, std: float, k: int) -> Floats:
    """Return how likely features explain each of `_PARTS` of what they may of the tails.

    By the products of features around their means, as tails alone move the constant's.
    """
    own, around = found[-k:], np.zeros(k)
    if found.size > k:
        around = matrix[-k:, 0] / max(float(matrix[0, 0]), 1e-300)
        own = own - around * found[0]
    noise = std**2 * (np.eye(k) + np.outer(around, around))
    log = np.zeros(len(_PARTS))
    with np.errstate(all="ignore"):
        for i, part in enumerate(_PARTS):
            both = noise + part**2 * likely[-k:, -k:]
            _, size = np.linalg.slogdet(both)
            log[i] = -0.5 * float(own @ np.linalg.pinv(both) @ own + size)
    log = np.where(np.isfinite(log), np.clip(log - np.max(log), -_SURE, 0.0), 0.0)
    chance = np.asarray(_PRIOR) * np.exp(log)
    return np.asarray(chance / np.sum(chance))


def _plus(slopes: Slopes, more: Floats, noise: Floats) -> Slopes:
    """Return slopes and level plus some; the level's comes first, if there is one."""
    k = slopes.mean.size
    if more.size > k:
        more, noise = np.roll(more, -1), np.roll(noise, -1, axis=(0, 1))
    value, both = slopes.value.copy(), slopes.noise.copy()
    value[: more.size] += more
    both[: more.size, : more.size] += noise
    return replace(slopes, value=value, noise=both)
