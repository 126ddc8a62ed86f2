"""Slopes by weighted least squares: rows far out are shortened as a whole.

A row of features z that is longer than a radius is multiplied by f = radius / |z|, and so are its
constant and its target. Its moments are as bounded as if only the features were clipped. And if
the target is a line of the features plus errors, it is so with any weights f**2: slopes need no
correction, however the features are distributed, flags and skewed ones too.

It is asked what a line leaves of the target that other moments told (`slopes.py`): that can be cut
nearer, and noise in the features' part of the matrix counts for less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurement
from prolate.estimators.regression.correction import FAR_CUT, attenuation, possible_radii, weights
from prolate.estimators.regression.line import read_moments, read_with_constant
from prolate.estimators.regression.rows import StandardRows
from prolate.estimators.regression.skew import Skew
from prolate.estimators.regression.slopes import Slopes, weighted_slopes
from prolate.estimators.regression.standard import WEIGHT, Standard, longest_square
from prolate.neighbors import rows_changed
from prolate.queries import ResidualGram

__all__ = ["Weighted", "weighted_part"]

_PAYS, _SHARE = 300.0, 0.15  # rows times mu that pay for it, and part of what is left; or, ...
_SHARE_FILLED = 0.2  # ... where features fill their bounds, whose slopes are told by it above all
_LEAST_LIKELY = 0.02  # of the target's variance, that slopes may explain
# Deviations at which what a line leaves is cut; or farther, at most so many times, as long as noise
# is no more than this part of the sampling error.
_LEFT_CUT, _FARTHEST, _BESIDE = 2.0, 4.0, 0.5
# Of what a flag's slope moved by, beside a start, that the cut may hide still; and more as it moved
# by nearly the cut.
_OPEN, _NEAR_CUT, _BEYOND = 1.0, 0.7, 20.0
# Of what cuts take, that counts as an error: where it is least, noise and half of this are equal.
_CUT, _POWER = 0.6, 0.45
_BIAS = 0.02  # part of a radius' attenuation that counts as an error: no target is quite a line
_LEAST_OFF = 0.01  # of the target's mean, in its deviations


def weighted_part(enough: float, standard: Standard) -> float:
    """Return the part of what is left that is for these slopes, for so many rows times mu."""
    if enough <= _PAYS:
        return 0.0
    return _SHARE if standard.middles is None else _SHARE_FILLED


@dataclass(frozen=True, eq=False)
class Weighted:
    """A Gram matrix of rows that are shortened as a whole, less a line.

    Attributes
    ----------
    query : ResidualGram
    rows : StandardRows
    known : Slopes
        That other moments told.
    radius, target_cut : float
        In standard units.
    start : float64 array of shape (k,)
        The line's slopes, in standard units.
    value : float
        Of the line, where all features are 0.
    off : float
        How far the mean of what it leaves may be from 0.
    """

    query: ResidualGram
    rows: StandardRows
    known: Slopes
    radius: float
    target_cut: float
    start: Floats
    value: float
    off: float

    @classmethod
    def of(
        cls, rows: StandardRows, known: Slopes, *, share: float, skew: Skew | None = None
    ) -> Weighted:
        """Return what to ask for a share of mu**2, where other slopes are known.

        The target is cut farther out where it is skewed.
        """
        curator, standard = rows.curator, rows.standard
        if standard.middles is not None:
            known = _drawn(known, standard.variance)
        start, value, left, off = _line(known, drawn=standard.middles is not None)
        whole = standard.ends is not None  # what a line leaves is no farther than these are apart
        target_cut = _LEFT_CUT * math.sqrt(left)
        if whole:
            target_cut = standard.reach_beside(rows.norms.typical, start, value)
        changed = math.sqrt(rows_changed(curator.neighbors) / 2.0)  # noise beside the diagonal
        noise = changed * target_cut / (curator.mu_of(share) * rows.count)
        radius, times, error = _best_radius(rows, noise=noise, left=left)
        if whole:
            target_cut = standard.reach_beside(radius, start, value)
        else:
            farther = max(_BESIDE * times, 1.0)
            if skew is not None:
                farther = max(farther, (_CUT * skew.taken(known, target_cut) / error) ** _POWER)
            target_cut *= min(farther, _FARTHEST)
        query = standard.shortened(radius, FAR_CUT, target_cut, start, value)
        return cls(query, rows, known, radius, target_cut, start, value, off)

    def asked(self, share: float) -> tuple[ResidualGram, float, str]:
        """Return what to measure."""
        return self.query, share, "weighted rows"

    def slopes(self, answer: Measurement) -> Slopes:
        """Return the slopes that its measurement tells."""
        rows, standard = self.rows, self.rows.standard
        whole, _, _ = weights(rows.norms, self.radius)
        weight = standard.weight(self.radius, self.target_cut)
        slopes = partial(
            weighted_slopes,
            rows=rows.count,
            radius=self.radius,
            cut=self.target_cut if standard.ends is None else math.inf,
            norms=rows.norms,
            like=self.known,
        )
        read = self.query, answer.values, answer.std, rows.count * whole, weight
        if standard.middles is not None:
            constant, left = self.query.constant, read_with_constant(*read)
            start = np.append(self.value / constant, self.start)
            variance = np.append(constant**2, standard.variance)
            return slopes(replace(left, start=start), variance=variance, constant=constant)
        left = read_moments(*read, self.off)
        mean = self.value + left.target_mean + float(left.mean @ self.start)
        return slopes(replace(left, start=self.start, target_mean=mean))

    def beside(self, found: Slopes, others: list[Slopes]) -> tuple[list[Slopes], bool]:
        """Return the others and what was found, as unsure as the cut of the target makes them.

        And whether the cut may hide most of a slope. What rows of a rare flag have in common may be
        beyond it: then slopes seem nearer to those of the start, and more so, the farther they had
        to move from it.
        """
        middles, k = self.rows.standard.middles, self.start.size
        if middles is None or self.rows.standard.ends is not None:
            return [*others, found], False
        square = (found.value[:k] - self.start) ** 2
        square -= np.diag(found.noise)[:k] + np.diag(self.known.noise)[:k]
        moved = np.where(middles.which, np.sqrt(np.maximum(square, 0.0)), 0.0)
        part = 2.0 * moved / np.sqrt(middles.variance) / self.target_cut  # from bound to bound
        doubt = moved * (_OPEN + _BEYOND * np.maximum(part - _NEAR_CUT, 0.0))
        several = [*(_less_sure(one, moved + doubt) for one in others), _less_sure(found, doubt)]
        return several, bool(np.any(part > _NEAR_CUT))


def _less_sure(found: Slopes, doubt: Floats) -> Slopes:
    noise = found.noise.copy()
    noise[np.diag_indices(doubt.size)] += doubt**2
    return replace(found, noise=noise)


def _drawn(known: Slopes, variance: Floats) -> Slopes:
    """Return slopes, each drawn to 0 as far as it is doubtful; their noise is what is open then.

    Where a flag's slope is wrong by much, what is left of its rows is beyond the cut.
    """
    k = known.mean.size
    likely = np.diag(max(1.0 - known.rest, _LEAST_LIKELY) / k / variance)
    kept = likely @ np.linalg.pinv(likely + known.noise[:k, :k], hermitian=True)
    value, noise = known.value.copy(), known.noise.copy()
    value[:k] = kept @ value[:k]
    value[k] += float(known.mean @ (known.value[:k] - value[:k]))
    noise[:k, :k] = likely - kept @ likely
    return replace(known, value=value, noise=noise)


def _line(known: Slopes, *, drawn: bool) -> tuple[Floats, float, float, float]:
    """Return slopes, drawn to 0 as far as they are doubtful, and the value where features are 0.

    Not if they are `drawn` already. And the variance that is left of the target, and how far its
    mean may be from 0.
    """
    k = known.mean.size
    slopes = known.value[:k]
    explained = min(max(float(slopes @ known.features @ slopes), 0.0), 1.0)
    doubt = max(float(np.sum(known.noise[:k, :k] * known.features)), 0.0)
    part = 1.0 if drawn else explained / max(explained + doubt, 1e-300)
    value = float(known.value[k]) + (1.0 - part) * float(known.mean @ slopes)
    off = max(math.sqrt(max(float(known.noise[k, k]), 0.0)), _LEAST_OFF)
    return part * slopes, value, known.rest + part * doubt, off


def _best_radius(rows: StandardRows, *, noise: float, left: float) -> tuple[float, float, float]:
    """Return the radius of least error: noise, sampling, and a little for what is no line.

    And how many times as large as the noise the sampling error is, and the noise of slopes.

    Parameters
    ----------
    rows : StandardRows
    noise : float
        Of an average of the cut target times a feature, for rows no longer than 1.
    left : float
        Variance of what is left of the target.
    """
    norms, standard = rows.norms, rows.standard
    k, varies = standard.scale.size - 1, standard.varies
    best = (math.inf, float(norms.edges[0]), 1.0, 1.0)
    for radius in possible_radii(norms):
        _, square, fourth = weights(norms, radius)
        by_noise = noise * longest_square(radius) / (WEIGHT * radius)
        sampling = math.sqrt(left * fourth * varies / k / rows.count)
        bias = _BIAS * (attenuation(norms, radius) - 1.0)
        size = varies * square / k
        error = (by_noise**2 + sampling**2) / size**2 + bias**2
        best = min(best, (error, radius, sampling / by_noise, by_noise / size))
    return best[1:]
