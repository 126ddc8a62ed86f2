"""The eigenvalues of a symmetric matrix, from a noisy measurement of it.

Noise spreads eigenvalues: by second-order perturbation the i-th is off by the sum over
j of s_ij**2 / (y_i - y_j), where s_ij is the noise of entry (i, j) in the basis of
eigenvectors, and along the noisy eigenvector the true matrix is off by as much again. So

    x_i = y_i - 2 sum_j s_ij**2 (y_i - y_j) / ((y_i - y_j)**2 + s_ij**2)

is what belongs to that eigenvector (for noise of one size it is the best rotation-invariant
estimator of Bun, Allez, Bouchaud and Potters 2016, smoothed). Eigenvalues that are all noise
are drawn to where most are: all to one for a multiple of the identity, to zero around a matrix
of low rank. Ones that stand out are left as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats

__all__ = ["Spectrum", "shrunk_spectrum"]


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvectors, eigenvalues without their noise, and its size.

    Attributes
    ----------
    vectors : float64 array of shape (d, d)
        In columns.
    values : float64 array of shape (d,)
        Not negative.
    edge : float64 array of shape (d,)
        How far noise alone may spread each eigenvalue.
    """

    vectors: Floats
    values: Floats
    edge: Floats

    @property
    def matrix(self) -> Floats:
        """The positive semidefinite matrix."""
        matrix = (self.vectors * self.values) @ self.vectors.T
        return np.asarray(0.5 * (matrix + matrix.T))


def shrunk_spectrum(matrix: Floats, variance: Floats, basis: Floats | None = None) -> Spectrum:
    """Return the eigenvalues of a matrix whose noise is known.

    Parameters
    ----------
    matrix : float64 array of shape (d, d)
        Symmetric.
    variance : float64 array of shape (d, d)
        Of the noise of each entry of ``basis @ matrix @ basis.T``, off the diagonal; on the
        diagonal it is twice as much.
    basis : float64 array of shape (d, d), optional
        The identity by default.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = 0.05 * rng.normal(size=(50, 50))
    >>> noisy = np.eye(50) + np.triu(noise) + np.triu(noise, 1).T
    >>> spectrum = shrunk_spectrum(noisy, np.full((50, 50), 0.05**2))
    >>> bool(np.ptp(spectrum.values) < 0.5 * np.ptp(np.linalg.eigvalsh(noisy)))
    True
    """
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    turned = vectors if basis is None else np.linalg.solve(basis, np.eye(len(values))).T @ vectors
    square = turned**2
    noise = square.T @ variance @ square
    gap = values[:, np.newaxis] - values
    inverse = np.divide(gap, gap**2 + noise, out=np.zeros_like(gap), where=gap != 0.0)
    drawn = values - 2.0 * np.sum(noise * inverse, axis=1)
    edge = 2.0 * np.sqrt(len(values) * np.diag(noise))
    return Spectrum(vectors, np.maximum(drawn, 0.0), edge)
