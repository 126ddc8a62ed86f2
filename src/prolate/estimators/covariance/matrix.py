"""A covariance matrix and the errors of its entries, as covariances or as correlations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats
from prolate.estimators.covariance.layer import noise_of_correlations
from prolate.estimators.covariance.moment import Moment, Standardized
from prolate.estimators.covariance.spectrum import Spectrum, shrunk_spectrum

__all__ = ["Entries", "Matrix", "matrix_of", "spectrum_of"]

_BESIDE = 0.3  # of what is given back and unsure: other directions
_ANYWHERE = 0.16  # of what one axis may have lost: a correlation
_CHANCE = 0.1  # of what clipping may have taken: a correlation of its own, of few rows


@dataclass(frozen=True, eq=False)
class Entries:
    """What is said of every two columns, and standard deviations, each of shape (d, d)."""

    value: Floats
    noise: Floats
    sampling: Floats
    clipping: Floats


@dataclass(frozen=True, eq=False)
class Matrix:
    """The covariance matrix of (row - center) / spread, and its errors.

    Attributes
    ----------
    table : Standardized
    value : float64 array of shape (d, d)
        Positive semidefinite.
    noise : float64 array of shape (d, d)
        Its standard deviations.
    k : float64 array of shape (d, d), or None
        The noise of entries (i, j) and (k, l) goes together by K_ik K_jl + K_il K_jk. None if the
        noise of every entry is its own.
    clipping : float64 array of shape (d,)
        Standard deviations for what clipping may have taken off the variances.
    lost : float
        Part of the variances that may be so.
    stretch : float or float64 array of shape (d, d)
        Of the sampling errors, over those of normal rows.
    varied : float64 array of shape (d, d), or None
        Sampling errors of correlations of one row, if they are not stretched ones of normal rows.
    tilted : float or float64 array of shape (d, d)
        Standard deviations for what is given back of clipped rows, of correlations.
    """

    table: Standardized
    value: Floats
    noise: Floats
    k: Floats | None
    clipping: Floats
    lost: float
    stretch: float | Floats = 1.0
    varied: Floats | None = None
    tilted: float | Floats = 0.0

    def covariances(self) -> Entries:
        """Return covariances in the data's unit."""
        value, variance = self.value, np.diag(self.value)
        size = np.sqrt(np.outer(variance, variance))
        diagonal = np.diag_indices(variance.size)
        sampling = self.stretch * np.hypot(size, value) / np.sqrt(self.table.rows)
        relative = self.clipping / np.where(variance > 0.0, variance, 1.0)
        both = 0.5 * (relative[:, np.newaxis] + relative)
        clipping = np.hypot(both * value, np.hypot(_CHANCE * self.lost, self.tilted) * size)
        clipping[diagonal] = self.clipping
        unit = np.outer(self.table.spread, self.table.spread)
        return Entries(unit * value, unit * self.noise, unit * sampling, unit * clipping)

    def correlations(self) -> Entries:
        """Return correlations; their noise is to first order.

        Those of a column whose variance may be noise are unknown: 0.
        """
        variance = np.diag(self.value)
        seen = variance > np.diag(self.noise)
        scale = 1.0 / np.sqrt(np.where(seen, variance, 1.0))
        both = np.outer(seen, seen)
        r = np.where(both, np.clip(self.value * np.outer(scale, scale), -1.0, 1.0), 0.0)
        np.fill_diagonal(r, 1.0)
        if self.k is None:
            noises = (self.noise * np.outer(scale, scale)) ** 2
            own = np.diag(noises)[:, np.newaxis]
            square = noises + 0.25 * r**2 * (own + own.T)
        else:
            square = noise_of_correlations(r, self.k * np.outer(scale, scale))
        noise = np.where(both, np.minimum(np.sqrt(np.maximum(square, 0.0)), 1.0), 1.0)
        clipping = np.hypot(_CHANCE * self.lost, np.broadcast_to(self.tilted, r.shape))
        np.fill_diagonal(noise, 0.0)
        np.fill_diagonal(clipping, 0.0)
        one = self.stretch * (1.0 - r**2) if self.varied is None else self.varied
        return Entries(r, noise, one / np.sqrt(self.table.rows), clipping)


def matrix_of(table: Standardized, found: Moment) -> Matrix:
    """Return the covariance matrix that was measured, without what noise adds to it."""
    value = spectrum_of(found).matrix
    noise, k = _noise(found)
    noise = np.hypot(noise, found.doubt * value)
    own = np.diag(value)
    clipping, tilted = found.lost * own, np.full_like(value, _ANYWHERE * found.anywhere)
    if found.taken is not None:
        taken = found.back.T @ found.taken @ found.back
        clipping = np.hypot(clipping, np.diag(taken))
        tilted = np.hypot(tilted, _tilted(value, taken))
    if found.missing is not None:
        tilted = np.hypot(tilted, found.missing)
    return Matrix(table, value, noise, k, clipping, found.lost, tilted=tilted)


def _tilted(value: Floats, taken: Floats) -> Floats:
    """Return by how much correlations differ if so much is added that is uncertain.

    In these directions, or in others that single columns have as much of.
    """
    scale = 1.0 / np.sqrt(np.maximum(np.diag(value), 1e-300))
    both = np.outer(scale, scale)
    r, more = value * both, taken * both
    own = np.minimum(np.diag(more), 1.0)
    size = np.sqrt(np.outer(own, own))
    more = np.clip(more, -size, size)
    along = more - 0.5 * r * (own[:, np.newaxis] + own)
    return np.asarray(np.minimum(np.hypot(along, _BESIDE * size), 1.0))


def spectrum_of(moment: Moment) -> Spectrum:
    """Return the eigenvalues of the covariance matrix of x."""
    return shrunk_spectrum(moment.matrix, moment.variance, moment.axes.T)


def _noise(moment: Moment) -> tuple[Floats, Floats]:
    """Return the standard deviations of the noise of x's covariances, and K.

    It is exact where the noise is even in the moment's own axes, else nearly.
    """
    back = moment.back
    square = back**2
    k = back.T @ (np.sqrt(np.diag(moment.variance))[:, np.newaxis] * back)
    k = 0.5 * (k + k.T)
    first = square.T @ moment.variance @ square
    return np.sqrt(0.5 * (first + first.T) + k**2), k
