"""What a clip takes of rows that are not elliptical, and most of it given back.

Long rows of skewed columns point where these columns do: there a clip takes far more than from
other axes. How much it takes in all, the lengths of rows tell (`lengths/side_tail.py`); where, they
do not. Products of the rows beyond the radius would tell, but noise goes with the longest of them.
So they are summed in a layer next to the radius, which is cheap (as `regression/cut_off.py` does):
as much more is beyond it as lengths tell, in the same directions, about.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurer
from prolate.estimators.lengths.norms import MeasuredNorms
from prolate.estimators.lengths.side_tail import fit_tail
from prolate.estimators.shrink import kept_part
from prolate.queries import Gram, Layer

__all__ = ["Added", "LongRows", "Plan", "Taken", "noise_of_correlations", "with_taken"]

_SHARES = (0.1, 0.2, 0.35)  # of the layer, that are tried
_OUTER = (2.0, 3.0, 5.0)  # its squared radii, over that of the clip
_WRONG = 0.5  # of what is given back: farther out rows may point elsewhere
_MOST_DOUBT = 1.0  # of how much is taken, over what likely is
_STEPS = 200  # of an integral
_MARGIN = 1.0 + 1e-6
_BESIDE = 0.5  # of what noise may have moved of all correlations: of any
_MOST = 5.0  # times what is in the layer, is beyond its inner radius
_MORE, _TOLD = 2.0, 0.8  # times what is taken of elliptical rows; noise, over what is taken


@dataclass(frozen=True, eq=False)
class Plan:
    """A layer that is to be summed.

    Attributes
    ----------
    outer : float
        Its outer radius.
    share : float
        Of the layer.
    error : float
        Expected, of the whole matrix, in Frobenius norm.
    """

    outer: float
    share: float
    error: float


@dataclass(frozen=True, eq=False)
class Taken:
    """What a clip took, as second moments.

    Attributes
    ----------
    value : float64 array of shape (d, d)
        Positive semidefinite.
    noise : float
        Standard deviation of its entries off the diagonal.
    doubt : float
        Of its size, over it.
    """

    value: Floats
    noise: float
    doubt: float


@dataclass(frozen=True, eq=False)
class Added:
    """Second moments with what a clip took.

    Attributes
    ----------
    value : float64 array of shape (d, d)
    noise : float
        What was added, as of `Taken`.
    missing : float64 array of shape (d, d)
        Standard deviations of correlations of columns, for what noise may have hidden.
    hidden : float
        Part of what correlations may have been moved by that was left out as noise.
    """

    value: Floats
    noise: float
    missing: Floats
    hidden: float


@dataclass(frozen=True, eq=False)
class LongRows:
    """How much of |z|**2 is beyond any radius.

    Attributes
    ----------
    reach, lost, doubt : float64 arrays of shape (m,)
        Radii, the mean of |z|**2 - radius**2 of rows beyond, and its standard deviation.
    """

    reach: Floats
    lost: Floats
    doubt: Floats

    @classmethod
    def of(cls, norms: MeasuredNorms, rows: float) -> LongRows:
        """Return what a histogram of lengths tells."""
        tail = fit_tail(np.append(0.0, norms.edges), norms.counts, norms.noise, rows, apart=1.0)
        doubt = np.sqrt(np.maximum(tail.doubt_square, 0.0))
        # Nearer by, as many rows are farther out as were counted.
        start = float(tail.reach[0])
        near = start * np.linspace(0.0, 1.0, _STEPS, endpoint=False)
        edges = np.append(0.0, norms.edges)
        part = np.log(np.maximum(norms.falling[:-1] / rows, 1e-300))
        middle = near + 0.5 * start / _STEPS
        slices = 2.0 * middle * np.exp(np.interp(middle, edges, part)) * start / _STEPS
        inner = np.cumsum(slices[::-1])[::-1] + tail.lost_square[0]
        count = norms.noise / rows * (start**2 - near**2)
        return cls(
            np.append(near, tail.reach),
            np.append(inner, tail.lost_square),
            np.append(np.hypot(doubt[0], count), doubt),
        )

    def beyond(self, radius: float) -> tuple[float, float]:
        """Return what is likely beyond a radius, and its standard deviation."""
        lost = float(np.interp(radius, self.reach, self.lost))
        doubt = float(np.interp(radius, self.reach, self.doubt))
        return lost, min(doubt, _MOST_DOUBT * max(lost, 1e-300))

    def plan(self, noise: float, radius: float, usual: float, d: int) -> Plan | None:
        """Return the best layer beyond a radius, or None if it would tell too little.

        Parameters
        ----------
        noise : float
            Of an entry off the diagonal, at radius 1.
        radius : float
        usual : float
            What the clip takes of |z|**2 if rows are elliptical.
        d : int
        """
        lost, _ = self.beyond(radius)
        if lost < _MORE * usual:
            return None
        plans = []
        for times in _OUTER:
            left, _ = self.beyond(math.sqrt(times) * radius)
            more = lost / max(lost - left, 1e-300)
            for share in _SHARES:
                own = noise * radius**2 * d / math.sqrt(1.0 - share)
                layer = more * noise * (times - 1.0) * radius**2 * d / math.sqrt(share)
                error = math.hypot(own, layer, _WRONG * left)
                if layer < _TOLD * lost and more < _MOST:
                    plans.append(Plan(math.sqrt(times) * radius, share, error))
        return min(plans, key=lambda plan: plan.error, default=None)

    def taken(
        self, curator: Measurer, plan: Plan, radius: float, d: int, *, rows: float, share: float
    ) -> Taken:
        """Return what a clip took, for a share of mu**2."""
        gram = Gram(np.zeros(d), np.ones(d), math.sqrt(plan.outer**2 - radius**2) * _MARGIN)
        query = Layer(gram, radius, plan.outer)
        measured = curator.measure(query, share=share, label="covariance, beyond the radius")
        found, noise = gram.matrix(measured.values) / rows, gram.noise(measured.std)[1] / rows
        lost, _ = self.beyond(radius)
        left, doubt = self.beyond(plan.outer)
        more = lost / max(lost - left, 1e-300)
        value, noise = _likely(found, noise)
        off = math.hypot(_WRONG, doubt / max(lost, 1e-300))
        return Taken(more * value, more * noise, off)


def with_taken(value: Floats, taken: Taken, back: Floats) -> Added:
    """Return second moments with what a clip took.

    Correlations are moved only as far as noise cannot have moved them: often they are the same
    among long rows, whose variances are larger.

    Parameters
    ----------
    value : float64 array of shape (d, d)
        Of clipped rows z.
    taken : Taken
    back : float64 array of shape (d, d)
        From z to columns.
    """
    clipped, whole = (back.T @ part @ back for part in (value, value + taken.value))
    before, after = np.diag(clipped), np.diag(whole)
    if np.any(before <= 0.0):
        return Added(value + taken.value, taken.noise, np.zeros_like(value), 0.0)
    times = np.sqrt(after / before)
    same = clipped * np.outer(times, times)
    both = 1.0 / np.sqrt(np.outer(after, after))
    moved, noise = (whole - same) * both, taken.noise * (back.T @ back) * both
    square = float(np.sum(noise_of_correlations(same * both, noise)))
    kept = kept_part(float(np.sum(moved**2)), square)
    hidden = (1.0 - kept) * moved
    hidden = np.hypot(hidden, _BESIDE * np.sqrt(np.mean(hidden**2)))
    turn = np.linalg.inv(back)
    found = turn.T @ (same + kept * (whole - same)) @ turn
    return Added(found, kept * taken.noise, hidden, 1.0 - kept)


def noise_of_correlations(r: Floats, k: Floats) -> Floats:
    """Return the variances of correlations to first order, 0 on the diagonal.

    The noise of entries (i, j) and (k, l) of the matrix, in units of its columns' deviations, goes
    together by K_ik K_jl + K_il K_jk.
    """
    own = np.diag(k)[:, np.newaxis]
    square = own * own.T + k**2 + r**2 * (0.5 * (own**2 + own.T**2) + k**2)
    square = np.maximum(square - 2.0 * r * k * (own + own.T), 0.0)
    np.fill_diagonal(square, 0.0)
    return np.asarray(square)


def _likely(found: Floats, noise: float) -> tuple[Floats, float]:
    """Return second moments that noise leaves, and how much of it.

    They are drawn to the same in every direction, as far as they may differ from that by noise.
    """
    d = len(found)
    even = max(float(np.trace(found)), 0.0) / d * np.eye(d)
    apart = found - even
    kept = kept_part(float(np.sum(apart**2)), noise**2 * (d - 1.0) * (d + 2.0))
    values, vectors = np.linalg.eigh(even + kept * apart)
    values = np.maximum(values, 0.0)
    return np.asarray((vectors * values) @ vectors.T), kept * noise
