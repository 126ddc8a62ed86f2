"""How long the rows are in some coordinates, and what clipping them does to second moments.

The squared length |z|**2 of rows with variances w along the axes is taken as
a sum(w) F(k, nu): for normal rows a = 1, nu is infinite and k = sum(w)**2 / sum(w**2), very
nearly. Other rows, if they are elliptical, differ in these three numbers, which a noisy
histogram of lengths shows well: the answer is an average over a grid of them, weighted by
how they explain the counts.

Clipping z to the norm C multiplies each product by f**2 = min(1, C**2 / |z|**2). So
E f**2 z_i**2 = h_i w_i, where for elliptical rows h_i is the mean of f**2 over rows of which
the i-th normal has three degrees of freedom in place of one, and nu is less by two: weighting
a chi-square variable by itself adds two degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Floats
from prolate.estimators.covariance.layer import LongRows
from prolate.estimators.lengths.norms import MeasuredNorms
from prolate.parallel import computed_once

__all__ = ["Clip", "Lengths", "learn_lengths"]

_TAILS = np.array([5.0, 10.0, 30.0, np.inf])
_TAIL_PRIOR = np.array([0.15, 0.15, 0.2, 0.5])
_REACH = (0.9, 1.2)  # of log a, and of log k beside that of normal rows
_STEPS = np.linspace(-1.0, 1.0, 11)  # of the reach, which shrinks until it is ...
_WIDE, _FINER, _PRECISE = 0.25, 0.5, 2e-3  # ... as narrow as what is known, or precise
_LONGER = 1.4  # times the typical norm
_PRIOR_WIDTH = 0.3  # of log k and log a
_CLEAR = 2.0  # standard deviations of noise beyond which a count is not as for elliptical rows
_FAR, _MUCH = 9.0, 0.33  # times the mean of |z|**2; part of it
_LONGER_STILL = 2.0  # |z|**2 of rows beyond an edge, over that of the edge
_FAR_LIKELY, _FAR_SURE = 2.0, 4.0  # standard deviations of all rows beyond
_SURER = 1.5  # more of them for each octave of |z|**2 beyond its mean
_NORMAL_WIDTH, _NORMAL_PRIOR = 0.5, 0.4  # of log k, and how likely these are before
_LIKELY = 1e-2  # of the best weight; less is left out
_LEFT = 1e-9  # of what elliptical rows have in a cell: so much is left, whatever noise says
_NODES = 9  # variances for which h is worked out; others are interpolated
_FINE = np.concatenate([np.linspace(0.0, 3.0, 121)[1:], np.geomspace(3.05, 100.0, 30)])
_MIDDLE = np.concatenate([[0.5 * _FINE[0]], 0.5 * (_FINE[1:] + _FINE[:-1]), [110.0]])
_RADII = np.geomspace(0.4, 60.0, 80)  # squared, that are tried
_LEAST_FACTOR = 0.6


@dataclass(frozen=True, eq=False)
class Clip:
    """A clipping radius, and what it does to moments.

    Attributes
    ----------
    radius : float
        C.
    factors : float64 array of shape (d,)
        h_i of every axis.
    factor : float
        Their mean, weighted by the variances.
    kept : float
        E f.
    doubt : float
        Standard deviation of `factor`, by what is not known of the lengths, over `factor`.
    """

    radius: float
    factors: Floats
    factor: float
    kept: float
    doubt: float


@dataclass(frozen=True, eq=False)
class Lengths:
    """What is known of the rows' lengths.

    Attributes
    ----------
    variances : float64 array of shape (d,)
        w, as they are expected.
    shapes : float64 array of shape (m, 3)
        Likely (a, k, nu).
    weights : float64 array of shape (m,)
        Add up to 1.
    extra : float64 array of shape (m,)
        Parts of the rows that clearly are in each fine cell of |z|**2 / sum(w), beyond those
        of elliptical rows; may be negative.
    beyond : float
        How many standard deviations of noise rows far out, all together, stand out by.
    outside : float
        Their part in the mean of |z|**2, about, over sum(w); 0 if they may be noise.
    long : LongRows, optional
        How much of |z|**2 is far out, of whatever rows.
    """

    variances: Floats
    shapes: Floats
    weights: Floats
    extra: Floats
    beyond: float = 0.0
    outside: float = 0.0
    long: LongRows | None = None

    @property
    def far(self) -> bool:
        """Whether some rows surely are far longer than the others, and add much to |z|**2."""
        return self.outside > _MUCH

    @property
    def maybe_far(self) -> bool:
        """Whether that is likely, and not sure."""
        return _FAR_LIKELY < self.beyond <= _FAR_SURE

    @computed_once
    def _each(self) -> Floats:
        """Parts of the rows whose |z|**2 / sum(w) lies in each fine cell, for each shape."""
        a, k, nu = self.shapes.T
        usual = _cells(_FINE, a, k, nu)
        mass = np.maximum(usual + self.extra, _LEFT * usual)
        return np.asarray(mass / mass.sum(axis=1, keepdims=True))

    @computed_once
    def _mass(self) -> Floats:
        return np.asarray(self.weights @ self._each)

    def _doubt(self, kept: Floats) -> float:
        """Return the standard deviation of E f**2 |z|**2 / E |z|**2 over the likely shapes."""
        factors = (self._each @ (kept * _MIDDLE)) / (self._each @ _MIDDLE)
        return float(np.sqrt(self.weights @ (factors - self.weights @ factors) ** 2))

    @computed_once
    def _weighted(self) -> tuple[Floats, Floats]:
        """The same, weighted by z_i**2, for a few variances; and these, over sum(w)."""
        part = self.variances / self.variances.sum()
        low, high = float(part.min()), float(part.max())
        nodes = np.linspace(low, high, _NODES) if high > 1.01 * low else np.array([high])
        nodes = np.unique(part) if part.size < nodes.size else nodes
        a, k, nu = self.shapes.T
        square = float(np.sum(part**2))
        rows = []
        for node in nodes:
            mean, variance = 1.0 + 2.0 * node, 2.0 * square + 4.0 * node**2
            wider = mean**2 / variance * 2.0 * square  # k, over what it is unweighted
            usual = self.weights @ _cells(_FINE, a * mean, k * wider, nu - 2.0, raw=True)
            usual = float(self.weights @ a) * usual
            mass = np.maximum(usual + self.extra * _MIDDLE, _LEFT * usual)
            rows.append(mass / mass.sum())
        return nodes, np.array(rows)

    @property
    def unlike(self) -> float:
        """How much less likely than before it is that the rows are normal: 0 if not, up to 1."""
        if self.far:
            return 1.0
        usual = float(self.variances.sum() ** 2 / np.sum(self.variances**2))
        _, k, nu = self.shapes.T
        normal = np.isinf(nu) & (np.abs(np.log(k / usual)) < _NORMAL_WIDTH)
        return max(0.0, 1.0 - float(self.weights[normal].sum()) / _NORMAL_PRIOR)

    @property
    def fourth(self) -> float:
        """The mean of |z|**4, over the square of that of |z|**2."""
        mass = self._mass
        return float(mass @ _MIDDLE**2) / float(mass @ _MIDDLE) ** 2

    def clip(self, radius: float) -> Clip:
        """Return what clipping to a radius does."""
        total = float(self.variances.sum())
        kept = np.minimum(1.0, radius**2 / (total * _MIDDLE))
        nodes, mass = self._weighted
        at_nodes = mass @ kept
        factors = np.interp(self.variances / total, nodes, np.minimum(at_nodes, 1.0))
        factor = min(float(factors @ self.variances) / total, 1.0)  # rounding may make it more
        seen = float(self._mass @ np.sqrt(kept))
        return Clip(radius, factors, factor, seen, self._doubt(kept) / factor)

    def more(self, clip: Clip) -> tuple[float, float]:
        """Return what a clip likely takes beyond what it does of elliptical rows, and its doubt.

        Over all that |z|**2 is.
        """
        if self.long is None:
            return 0.0, 0.0
        total = float(self.variances.sum())
        lost, doubt = self.long.beyond(clip.radius)
        return max(lost / total - (1.0 - clip.factor), 0.0), doubt / total

    def best_clip(self, noise: float, size: float, *, constant: float, distrust: float) -> Clip:
        """Return the clip of least expected error of the second moments.

        Parameters
        ----------
        noise : float
            Frobenius norm of the noise where the radius is sqrt(sum(w)).
        size : float
            Frobenius norm of the second moments, in the same unit.
        constant : float
            What a constant adds to the radius, over sqrt(sum(w)), in squares.
        distrust : float
            The part of what is clipped that may not be as it is for elliptical rows.
        """
        total = float(self.variances.sum())

        def error(clip: Clip) -> float:
            off = np.hypot(distrust * (1.0 - clip.factor), clip.doubt)
            longest = clip.radius**2 / total + constant**2
            return float(np.hypot(noise * longest / clip.factor, off * size))

        tried = [self.clip(np.sqrt(total * square)) for square in _RADII]
        return min([c for c in tried if c.factor > _LEAST_FACTOR] or tried[-1:], key=error)


def learn_lengths(
    variances: Floats, norms: MeasuredNorms | None = None, rows: float | None = None
) -> Lengths:
    """Return the lengths of normal rows, or those that a histogram of norms shows.

    Parameters
    ----------
    variances : float64 array of shape (d,)
        Expected along each axis; `norms.typical` is the root of their sum.
    norms : MeasuredNorms, optional
    rows : float, optional
        Number of rows of the histogram.
    """
    usual = float(variances.sum() ** 2 / np.sum(variances**2))
    if norms is None or rows is None:
        normal = np.array([[1.0, usual, np.inf]])
        return Lengths(variances, normal, np.ones(1), np.zeros(_MIDDLE.size))
    norms = _as_long_as_seen(norms, rows)
    edges, counts = (norms.edges / norms.typical) ** 2, norms.counts
    middle, reach = np.zeros(2), np.array(_REACH)
    while True:
        steps = [m + r * _STEPS for m, r in zip(middle, reach, strict=True)]
        grid = np.meshgrid(*steps, np.arange(_TAILS.size), indexing="ij")
        log_a, log_k, tail = (part.ravel() for part in grid)
        a, k, nu = np.exp(log_a), usual * np.exp(log_k), _TAILS[tail]
        cells = _cells(edges, a, k, nu)
        misfit = np.sum((counts - rows * cells) ** 2 / (norms.noise**2 + rows * cells), axis=1)
        away = (log_a**2 + log_k**2) / _PRIOR_WIDTH**2
        score = np.log(_TAIL_PRIOR)[tail] - 0.5 * (misfit + away)
        weights = np.exp(score - score.max())
        weights /= weights.sum()
        middle = np.array([weights @ log_a, weights @ log_k])
        width = np.sqrt([weights @ (log_a - middle[0]) ** 2, weights @ (log_k - middle[1]) ** 2])
        if np.all(width > _WIDE * reach) or np.all(reach < _PRECISE):
            break
        reach = np.maximum(_FINER * reach, np.minimum(reach, 2.0 * width))
    likely = weights > _LIKELY * weights.max()
    scaled = variances * (norms.typical**2 / variances.sum())
    shapes = np.column_stack([a, k, nu])[likely]
    weights = weights / weights.sum()
    left = counts - rows * (weights @ cells)
    noise = np.sqrt(norms.noise**2 + rows * (weights @ cells))
    clear = left * np.clip(np.abs(left) / (_sure(edges) * noise) - 1.0, 0.0, 1.0)
    extra = _spread(edges, clear / rows)
    return Lengths(
        scaled,
        shapes,
        weights[likely] / weights[likely].sum(),
        extra,
        *_beyond(left, noise, edges, rows),
    )


def _as_long_as_seen(norms: MeasuredNorms, rows: float) -> MeasuredNorms:
    """Return the histogram with its typical norm, or that which the counts surely show."""
    middle = np.append(norms.middles, norms.edges[-1])
    seen = norms.counts > _sure((norms.edges / norms.typical) ** 2) * norms.noise
    square = np.where(seen, norms.counts, 0.0) @ middle**2 / rows
    longer = float(np.sqrt(square)) / norms.typical
    return replace(norms, typical=longer * norms.typical) if longer > _LONGER else norms


def _beyond(left: Floats, noise: Floats, edges: Floats, rows: float) -> tuple[float, float]:
    """Return by how much all rows beyond a far edge stand out, and their part in |z|**2."""
    far = edges > _FAR
    above = np.cumsum(left[::-1])[::-1][1:][far]
    stands = above / np.sqrt(np.cumsum(noise[::-1] ** 2)[::-1][1:][far])
    part = np.where(stands > _FAR_SURE, _LONGER_STILL * above * edges[far] / rows, 0.0)
    return float(np.max(stands, initial=0.0)), float(np.max(part, initial=0.0))


def _sure(edges: Floats) -> Floats:
    """Return how many standard deviations of noise a cell's count must exceed.

    Noise that pretends to be rows far out is dear: the further, the surer they must be.
    """
    return np.asarray(_CLEAR + _SURER * np.append(0.0, np.log2(np.maximum(edges, 1.0))))


def _spread(edges: Floats, parts: Floats) -> Floats:
    """Return fine cells' parts of what lies between edges."""
    cell = np.searchsorted(edges, _MIDDLE)
    weight = 1.0 / np.maximum(_MIDDLE, 1.0)  # far out there are more and more cells
    total = np.bincount(cell, weight, minlength=parts.size)
    return np.asarray(parts[cell] * weight / total[cell])


def _cells(edges: Floats, a: Floats, k: Floats, nu: Floats, *, raw: bool = False) -> Floats:
    """Return the parts of a F(k, nu) between edges, (m, edges + 1); its mean is a, or `raw`."""
    from scipy.special import betainc, gammainc

    finite = np.isfinite(nu)
    a, k, nu = (np.asarray(part)[:, np.newaxis] for part in (a, k, nu))
    below = np.empty((finite.size, edges.size))
    normal = ~finite
    below[normal] = gammainc(0.5 * k[normal], 0.5 * (k[normal] * edges / a[normal]))
    a, k, nu = a[finite], k[finite], nu[finite]
    x = k * edges / (a if raw else a * (nu - 2.0) / nu)
    below[finite] = betainc(0.5 * k, 0.5 * nu, x / (x + nu))
    ends = np.zeros((below.shape[0], 1))
    return np.asarray(np.diff(np.hstack([ends, below, ends + 1.0]), axis=1))
