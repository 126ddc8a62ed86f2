"""Private linear regression: no bounds, no normalization needed.

1. Find the mean and the standard deviation of the target, then of the features
   (`standardize`). Where the rows are too few for the features, the answer is the private
   mean of the target.
2. A histogram of the norms of the standardized features.
3. Gram matrices of (constant, features clipped to a norm, cut target), for one radius or two.
4. From each a line that predicts, by shrinkage along the eigenvectors of the noisy matrix
   (`line.py`), and the slopes of unclipped rows (`slopes.py`).

A small radius costs less noise, and draws rows that are far out towards the center, in the
fit and in predictions: on real data that often predicts better than the line without
clipping. A large radius knows the slopes of the unclipped rows. Where the rows pay for both,
both are measured; the slopes are averaged, and predictions use the line whose error is
smaller, as far as the noisy matrices tell.

Sources: AdaSSP (Wang 2018; Kalaja 2022), with the matrix and the vector in one measurement,
lambda from the noisy matrix, and clipping (Kalaja, 3.8 and 3.9) around private centers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator
from prolate.estimators.clip import Norms, fraction_radius, measure_norms
from prolate.estimators.columns import SomeColumns
from prolate.estimators.line import Line, Moments, fit_line, read_moments
from prolate.estimators.linear_fit import ClippedLine, LinearFit
from prolate.estimators.place import place
from prolate.estimators.shares import count_rows, rows_changed
from prolate.estimators.slopes import attenuation, average, mean_square, true_slopes
from prolate.estimators.spread import LARGEST
from prolate.estimators.standardize import standardize
from prolate.queries import ClippedSum, Gram

__all__ = ["regression"]

Floats = NDArray[np.float64]

# Shares of the searches: enough for counts as fine as the first number (a fraction of the
# rows), if that costs no more than the second; else as fine as the third, at most the fourth.
_TARGET = (0.004, 0.03, 0.1, 0.1)
_FEATURES = (0.004, 0.045, 0.07, 0.06)
_NORMS = (0.004, 0.01, 0.02, 0.03)
_MOST_NORMS = 0.1  # of what is left, as they may be asked four times
_LEAST = 0.0004
_ROUGH = 0.09  # noise of the target's counts that leaves no budget to refine them
_ROUGH_FEATURES = 0.1
_LEVELS = 3
_HOPELESS = 0.32  # noise of the features' counts that hides where they are

_MAGNITUDE, _PLACE = (0.18, 0.25), (0.12, 0.15)
_MAGNITUDES, _PLACES = (0.18, 0.12), (0.15, 0.1)
_CELLS, _ZOOMS = 12, 4
_OFF = 0.3  # how far the target's mean may be from its center, in its deviations

_LONGEST = 1.0  # small radius, over the root of the number of features
_FRACTION = 0.8  # of the rows is clipped to the small radius
_CUT, _TARGET_CUT = 3.0, 2.5  # deviations at which features and the target are cut, ...
_LEAST_CUT, _MOST_ROWS = 1.3, 33.0  # the target is cut to so little, for so little rows times mu
_FAR_CUT, _FAR_TARGET_CUT = 8.0, 4.5  # ... where the radius is large
_WEIGHT, _CONSTANT = 0.9, 0.45  # of the cut target and the constant, over the radius
_FEW = 300.0  # rows times mu that do not pay for a large radius
_LARGE = 0.25  # part of the sums' budget for the large radius, ...
_TWO = 1.5  # ... if it is so many times the small one
_SURELY = 1.0  # standard deviations by which the large radius must predict better
_BIAS = 0.4  # part of a radius' attenuation that counts as an error of the slopes


def regression(
    curator: Curator, *, fit_intercept: bool = True, alpha: float | None = None
) -> LinearFit:
    """Return a private line, and what predicts best.

    Parameters
    ----------
    curator : Curator
        The target is its last column. All of its remaining budget is spent.
    fit_intercept : bool
        Whether the line may pass beside the origin.
    alpha : float, optional
        Ridge penalty, per row and on standardized features; chosen from the noise if not
        given.
    """
    rows, k = count_rows(curator), curator.dimension - 1
    target = SomeColumns(curator, np.array([k]))
    features = SomeColumns(curator, np.arange(k))
    share, noise = _share(curator, rows, 1, _TARGET)
    if noise > _ROUGH:
        here = place(
            target,
            rows,
            magnitude_share=_coarse(curator, rows, 1, _MAGNITUDE),
            share=_coarse(curator, rows, 1, _PLACE),
            cells=_CELLS,
            levels=_ZOOMS,
        )
        middle, spread, off = here.center, here.spread, max(float(here.doubt[0]), _OFF)
    else:
        middle, spread = standardize(target, rows, share=share, target=True)
        off = _OFF
    share, noise = _share(curator, rows, k, _FEATURES)
    if noise > _HOPELESS:
        return _mean_only(curator, target, rows, middle, spread, off, fit_intercept)
    if noise > _ROUGH_FEATURES:
        left = curator.remaining
        there = place(
            features,
            rows,
            magnitude_share=left * _coarse(curator, rows, k, _MAGNITUDES),
            share=left * _coarse(curator, rows, k, _PLACES),
            cells=_CELLS,
            levels=_LEVELS,
        )
        centers, spreads = there.center, there.spread
    else:
        centers, spreads = standardize(features, rows, share=share)
    if not np.any(spreads < LARGEST):
        return _mean_only(curator, target, rows, middle, spread, off, fit_intercept)
    center, scale = np.append(centers, middle), np.append(spreads, spread)
    if not fit_intercept:
        center, scale = np.zeros(k + 1), np.minimum(np.hypot(scale, center), LARGEST)

    share = min(_share(curator, rows, 1, _NORMS)[0], _MOST_NORMS * curator.remaining)
    sums = _Sums(curator, rows, center, scale, fit_intercept, off)
    norms = measure_norms(
        features,
        center=center[:-1],
        scale=scale[:-1],
        spread=np.where(scale[:-1] < LARGEST, scale[:-1], 0.0),
        share=share,
    )
    return _fit(curator, sums, norms, alpha)


def _mean_only(
    curator: Curator,
    target: SomeColumns,
    rows: float,
    middle: Floats,
    spread: Floats,
    off: float,
    fit_intercept: bool,
) -> LinearFit:
    """Return the private mean of the target, with all that is left."""
    k = curator.dimension - 1
    noise = np.zeros(k + 1)
    if fit_intercept:
        reach = _near(curator, rows) * spread
        query = ClippedSum(middle, spread, float(reach[0] / spread[0]))
        measured = target.measure(query, share=curator.remaining, label="center")
        std = query.unit * measured.std / rows
        keep = (off * spread) ** 2 / ((off * spread) ** 2 + std**2)
        mean = middle + keep * np.clip(query.unit * measured.values / rows, -reach, reach)
        noise[k] = float(np.sqrt(keep)[0] * std[0])
    few = (
        f"The rows are too few for this budget to see where the {k} features are: all slopes are "
        "zero. More rows, fewer features, a larger budget or bounds would help."
    )
    return LinearFit(
        coef=np.zeros(k),
        intercept=float(mean[0]) if fit_intercept else 0.0,
        rows=rows,
        noise_std=noise,
        warnings=(few,),
    )


@dataclass(frozen=True, eq=False)
class _Sums:
    """Gram matrices of standardized rows, and back to the data's units."""

    curator: Curator
    rows: float
    center: Floats
    scale: Floats
    fit_intercept: bool
    off: float

    def measure(
        self, radius: float, cut: float, target_cut: float, share: float, label: str
    ) -> Moments:
        """Return the moments of rows clipped to `radius`, measured for a share."""
        weight = _WEIGHT * radius / target_cut
        scale = np.append(self.scale[:-1], self.scale[-1] / weight)
        reach = np.append(np.minimum(cut * self.scale[:-1], LARGEST), np.inf)
        query = Gram(
            self.center,
            scale,
            radius,
            constant=_CONSTANT * radius if self.fit_intercept else 0.0,
            target=_WEIGHT * radius,
            lower=self.center - reach,
            upper=self.center + reach,
        )
        measured = self.curator.measure(query, share=share, label=label)
        return read_moments(query, measured.values, measured.std, self.rows, weight, self.off)

    def clipped_line(self, line: Line, moments: Moments, radius: float, cut: float) -> ClippedLine:
        """Return a line in the data's units."""
        unit = self.scale[-1]
        value = unit * (moments.target_mean - float(moments.mean @ line.slopes))
        return ClippedLine(
            center=self.center[:-1],
            scale=self.scale[:-1],
            cut=cut,
            radius=radius,
            slopes=unit * line.slopes / self.scale[:-1],
            value=float(self.center[-1] + value),
        )

    @property
    def units(self) -> Floats:
        """The matrix from standard units to slopes and intercept, without its shift."""
        k = self.scale.size - 1
        matrix = np.zeros((k + 1, k + 1))
        matrix[:k, :k] = np.diag(self.scale[-1] / self.scale[:-1])
        if self.fit_intercept:
            matrix[k, :k] = -self.scale[-1] * (self.center[:-1] / self.scale[:-1])
            matrix[k, k] = self.scale[-1]
        return matrix


def _fit(curator: Curator, sums: _Sums, norms: Norms, alpha: float | None) -> LinearFit:
    """Return the line from one or two radii, with all that is left."""
    rows, k = sums.rows, sums.scale.size - 1
    # Norms are of rows that are not cut: where scales are too small they say too much.
    small = min(fraction_radius(norms, _FRACTION, rows), _LONGEST * math.sqrt(k))
    left = curator.remaining
    large = _large_radius(curator, norms, k, rows, _LARGE * left)
    two = large > _TWO * small and _enough(curator, rows) > _FEW

    cuts = [(small, _CUT, _near(curator, rows))]
    cuts += [(large, _FAR_CUT, _FAR_TARGET_CUT)] if two else []
    lines, slopes = [], []
    for radius, cut, target_cut in cuts:
        first = two and radius == small
        share = (1.0 - _LARGE) * left if first else curator.remaining
        moments = sums.measure(radius, cut, target_cut, share, "regression" if first else "slopes")
        line = fit_line(moments, ridge=alpha)
        lines.append((line, sums.clipped_line(line, moments, radius, cut)))
        slopes.append(
            true_slopes(
                moments,
                rows=rows,
                radius=radius,
                cut=target_cut,
                norms=norms,
                longest=_longest(norms),
            )
        )
    best = lines[0][1]
    if two:
        here, there = lines[0][0], lines[1][0]
        if there.gain - here.gain > _SURELY * math.hypot(here.doubt, there.doubt):
            best = lines[1][1]
    found = average(slopes)
    units = sums.units
    value = units @ found.value
    noise = units @ found.noise @ units.T
    return LinearFit(
        coef=value[:k],
        intercept=float(value[k] + sums.center[-1]),
        rows=rows,
        covariance=noise + units @ found.sampling @ units.T,
        noise_std=np.sqrt(np.maximum(np.diag(noise), 0.0)),
        clipped=best,
        details={"radius": small, "large_radius": large if two else None, **best.to_dict()},
    )


def _share(
    curator: Curator, rows: float, columns: int, wanted: tuple[float, float, float, float]
) -> tuple[float, float]:
    """Return the share of a search's measurements, and their noise as a fraction of the rows."""
    cost = rows_changed(curator.neighbors) * columns / (curator.budget.mu * max(rows, 1.0)) ** 2
    fine, most_fine, coarse, most = wanted
    share = max(min(cost / fine**2, most_fine), min(cost / coarse**2, most), _LEAST)
    return share, math.sqrt(cost / share)


def _near(curator: Curator, rows: float) -> float:
    """Return the deviations at which the target is cut: the noisier, the nearer."""
    enough = _enough(curator, rows)
    near = _LEAST_CUT * math.sqrt(math.sqrt(enough / _MOST_ROWS))
    return min(max(near, _LEAST_CUT), _TARGET_CUT)


def _enough(curator: Curator, rows: float) -> float:
    changed = math.sqrt(rows_changed(curator.neighbors) / 2.0)
    return float(rows * curator.mu_of(curator.remaining) / changed)


def _coarse(curator: Curator, rows: float, columns: int, wanted: tuple[float, float]) -> float:
    """Return the share that makes counts noisy by this part of the rows, or the most."""
    cost = rows_changed(curator.neighbors) * columns / (curator.budget.mu * max(rows, 1.0)) ** 2
    return max(min(cost / wanted[0] ** 2, wanted[1]), _LEAST)


def _longest(norms: Norms) -> float:
    return 1.02 * _FAR_CUT * norms.typical


def _large_radius(curator: Curator, norms: Norms, k: int, rows: float, share: float) -> float:
    """Return the radius that is best for the slopes: noise against what clipping does."""
    changed = math.sqrt(rows_changed(curator.neighbors) / 2.0)  # noise beside the diagonal
    best = (math.inf, float(norms.edges[0]))
    for radius in norms.edges[norms.edges < _longest(norms)]:
        size = mean_square(norms, radius, _longest(norms)) / k
        longest = radius**2 * (1.0 + _WEIGHT**2 + _CONSTANT**2)
        noise = changed * longest / (curator.mu_of(share) * rows) * math.sqrt(k) / size
        bias = _BIAS * (attenuation(norms, radius, _longest(norms)) - 1.0)
        best = min(best, (noise**2 + bias**2, float(radius)))
    return best[1]
