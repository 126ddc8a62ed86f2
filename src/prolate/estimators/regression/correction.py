"""What clipping features to a ball does to slopes, by how long the rows are.

Least squares on features T = clip(z) has other slopes than on z: theta = E[T T']^-1 E[T z'] b for
slopes b. For normal rows the eigenvectors stay what they are, because the clip is round, and along
each of them theta is b times E[T_i z_i] / E[T_i**2], a number above one that `_normal_axes` works
out. How long the rows really are is known from the histogram of norms; where it surely tells
another factor than normal rows would have, that is taken, for all axes in proportion.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from prolate.arrays import Floats
from prolate.estimators.lengths.norms import MeasuredNorms

__all__ = [
    "FAR_CUT",
    "attenuation",
    "correction",
    "factors",
    "mean_square",
    "possible_radii",
    "weights",
]

FAR_CUT = 16.0
"""Deviations at which features are cut where the radius is large."""

_FARTHER = 2.0  # times the longest length that is believed, at which rows are cut, surely there
_BELIEVED = 1.02 * FAR_CUT / _FARTHER  # typical norms

_DRAWS = 4096
_ROUNDS = 60
_CLOSE = 1e-6
_VARIES = 1e-6  # of a squared length, at least
_MOST = 0.98  # of the squared radius, that clipped variances add up to
# Standard deviations of a count of rows that are surely there: of several cells, or of one.
_SURE, _CLEAR = 2.0, 3.5


def possible_radii(norms: MeasuredNorms) -> list[float]:
    """Return the radii that rows may be clipped to: the edges up to where they are cut."""
    most = _FARTHER * _longest(norms)
    return [float(edge) for edge in norms.edges if edge < most]


def attenuation(norms: MeasuredNorms, radius: float, *, steady: float = 0.0) -> float:
    """Return about how much larger slopes on rows clipped to a radius are.

    E |z| |T| / E |T|**2 of the rows, T = z clipped to `radius`, |z| at most what is believed: so it
    is for rows that are elliptical. Or for the part of these that varies, if a squared length of
    `steady` does not.
    """
    middle, part = _lengths(norms)
    return _ratio(middle, part * np.maximum(1.0 - steady / middle**2, _VARIES), radius)


def mean_square(norms: MeasuredNorms, radius: float) -> float:
    """Return E |T|**2."""
    middle, part = _lengths(norms)
    return float(np.sum(part * np.minimum(middle, radius) ** 2))


def factors(norms: MeasuredNorms, radius: float) -> tuple[float, float]:
    """Return E f and E f**2, with f = min(1, radius / |z|)."""
    middle, part = _lengths(norms)
    factor = np.minimum(1.0, radius / middle)
    return float(part @ factor), float(part @ factor**2)


def weights(norms: MeasuredNorms, radius: float) -> tuple[float, float, float]:
    """Return E f**2, E f**2 |z|**2 and E f**4 |z|**2, with f = min(1, radius / |z|)."""
    middle, part = _lengths(norms)
    factor = np.minimum(1.0, radius / middle)
    square = part * (factor * middle) ** 2
    return float(part @ factor**2), float(square.sum()), float(square @ factor**2)


def correction(
    variances: Floats, norms: MeasuredNorms, radius: float, rows: float
) -> tuple[Floats, float, float]:
    """Return by how much the slopes of clipped rows are too large, along each axis.

    And by what part that factor surely differs from the one of normal rows; and by what part it may
    be wrong, as rows are surely not elliptical, and as counts of lengths are noisy.
    """
    along, lengths = _normal_axes(variances, radius)
    edges = np.concatenate([[0.0], norms.edges, [np.inf]])
    like = np.histogram(lengths, edges)[0] / lengths.size
    middle, part = _lengths(norms)
    clipped = np.minimum(middle, radius)

    away = _ratio(middle, part, radius) / _ratio(middle, like, radius) - 1.0
    there = middle < _longest(norms)
    terms = np.where(there, middle * clipped - _ratio(middle, part, radius) * clipped**2, 0.0)
    doubt = norms.noise / rows * np.linalg.norm(terms) / np.sum(part * clipped**2)
    sure = away**2 / max(away**2 + doubt**2, 1e-300)
    unsure = math.hypot(_farther(norms, lengths, radius), math.sqrt(sure) * doubt)
    return along * (1.0 + away * sure), abs(away * sure), unsure


def _ratio(middle: Floats, part: Floats, radius: float) -> float:
    clipped = np.minimum(middle, radius)
    return float(np.sum(part * middle * clipped) / np.sum(part * clipped**2))


def _farther(norms: MeasuredNorms, lengths: Floats, radius: float) -> float:
    """Return by what part slopes may surely be larger than elliptical rows' are.

    Those have E |z| |T| / E |T|**2. Others may have up to E |z|**2 / E |z| |T|, if they are around
    0: that is var z / cov(T, z), at least cov(T, z) / var T by Cauchy's and Schwarz's inequality.
    Counted is what is between the two beyond what it is for rows of these `lengths`, and what noise
    of the counts explains.
    """
    edges = np.concatenate([[0.0], norms.edges, [np.inf]])
    rows = max(float(norms.counts.sum()), 1.0)
    like = replace(norms, counts=np.histogram(lengths, edges)[0] * (rows / lengths.size))
    gaps, doubts = [], []
    for one in (norms, like):
        middle, part = _lengths(one, surely=True)
        kept = middle * np.minimum(middle, radius)
        along = float(np.sum(part * kept))
        most = float(np.sum(part * middle**2)) / along
        terms = np.where(part > 0.0, middle**2 - most * kept, 0.0)
        gaps.append(most / _ratio(middle, part, radius))
        doubts.append(norms.noise / rows * float(np.linalg.norm(terms)) / along / most)
    return max(gaps[0] / gaps[1] - 1.0 - _SURE * doubts[0], 0.0)


def _normal_axes(variances: Floats, radius: float) -> tuple[Floats, Floats]:
    """Return E[T_i z_i] / E[T_i**2] of normal rows, and their lengths.

    Parameters
    ----------
    variances : float64 array of shape (k,)
        E[T_i**2] along the principal axes; those of z are found from them.
    """
    squares = np.random.default_rng(0).standard_normal((_DRAWS, variances.size)) ** 2
    squares /= squares.mean(axis=0)
    wanted = variances * min(1.0, _MOST * radius**2 / float(variances.sum()))
    free = wanted
    for _ in range(_ROUNDS):
        length = np.sqrt(squares @ free)
        kept = np.minimum(1.0, radius / np.maximum(length, 1e-300))
        step = wanted * _DRAWS / np.maximum(free * (kept**2 @ squares), 1e-300)
        free = free * np.clip(step, 0.5, 2.0)
        if np.all(np.abs(step - 1.0) < _CLOSE):
            break
    return (kept @ squares) / (kept**2 @ squares), length


def _longest(norms: MeasuredNorms) -> float:
    """Return the longest length of features that is believed."""
    return _BELIEVED * norms.typical


def _lengths(norms: MeasuredNorms, *, surely: bool = False) -> tuple[Floats, Floats]:
    """Return a length in the middle of each cell, and what part of the rows has it.

    Of tails, only what is surely there, if `surely`: far out, noise would be worth much.
    """
    edges, longest = norms.edges, _longest(norms)
    middle = np.concatenate([[0.7 * edges[0]], np.sqrt(edges[:-1] * edges[1:]), [1.2 * edges[-1]]])
    clear = np.where(norms.counts > _CLEAR * norms.noise, norms.counts, 0.0)
    counts = np.where((middle < longest) | surely, norms.counts, clear)
    middle = np.minimum(middle, _FARTHER * longest)
    above = np.append(np.cumsum(counts[::-1])[::-1], 0.0)
    if surely:
        cells = np.arange(above.size)[::-1]
        alone = np.append(np.cumsum(clear[::-1])[::-1], 0.0)
        above = np.where(above > _SURE * norms.noise * np.sqrt(cells), above, alone)
    falling = np.minimum.accumulate(np.maximum(above, 0.0))
    part = -np.diff(falling)
    total = float(part.sum())
    return middle, part / total if total > 0.0 else np.full(middle.size, 1.0 / middle.size)
