"""CoinPress (Biswas, Dong, Kamath, Ullman 2020): the multivariate covariance, honestly priced.

The rows have mean zero and I <= Sigma <= K I is known. Each step clips the rows, in the
coordinates so far, to a ball that holds nearly all rows of covariance I, takes a noisy second
moment, and multiplies the coordinates by (Z + eta I)**-1/2 (their Algorithms 3 and 4). The
last step gets 3/4 of rho and the others share the rest. The failure probability 0.1 and eta,
which holds only the sampling error, are those of their code.

Three things are better here than in their code, all to its advantage: noise is that of the
symmetric matrix (`Gram`), half of their variance off the diagonal; negative eigenvalues are
cut, where their code takes absolute values; and from the third step on the coordinates are
multiplied in the right order.
"""

from __future__ import annotations

import math

import numpy as np

from prolate.curator import Curator
from prolate.errors import InputError
from prolate.estimators.estimate import Estimate
from prolate.queries import Gram, Turned
from prolate.rivals.common import need_replace

__all__ = ["coinpress_covariance", "gaussian_radius"]

_BETA = 0.1
_LAST = 0.75


def coinpress_covariance(curator: Curator, *, largest: float, steps: int = 3) -> Estimate:
    """Return CoinPress's covariance matrix, of shape (d, d).

    Parameters
    ----------
    curator : Curator
        With ``neighbors="replace"``; all of its remaining budget is spent.
    largest : float
        An upper bound K of the covariance's eigenvalues; they are supposed to be at least 1,
        and the mean to be zero.
    steps : int
        1 to 5 in their experiments.

    Raises
    ------
    InputError
        If an argument is not positive and finite.
    """
    need_replace(curator, "CoinPress")
    if steps < 1 or not 0.0 < largest < math.inf:
        raise InputError("steps and largest must be positive, and largest finite.")
    d, rows = curator.dimension, float(curator.public_rows())
    radius = gaussian_radius(d)
    eta = math.sqrt(d / rows) + 0.5 * d / rows
    early = (1.0 - _LAST) * curator.remaining / max(steps - 1, 1)
    matrix = np.eye(d) / math.sqrt(largest)  # z = matrix @ x
    second, noise = np.eye(d), 0.0
    for step in range(steps):
        gram = Gram(np.zeros(d), np.ones(d), radius)
        query = Turned(gram, np.zeros(d), np.ascontiguousarray(matrix.T))
        share = curator.remaining if step == steps - 1 else early
        measured = curator.measure(query, share=share, label=f"step {step + 1}")
        values, vectors = np.linalg.eigh(gram.matrix(measured.values) / rows)
        values = np.maximum(values, 0.0)
        second = (vectors * values) @ vectors.T
        noise = gram.noise(measured.std)[1] / rows
        if step < steps - 1:
            matrix = ((vectors / np.sqrt(values + eta)) @ vectors.T) @ matrix
    back = np.linalg.inv(matrix)
    value = back @ second @ back.T
    width = back @ back.T
    return Estimate(
        value=0.5 * (value + value.T),
        noise_std=noise * np.sqrt(np.outer(np.diag(width), np.diag(width)) + width**2),
        sampling_std=None,
        rows=rows,
        details={"radius": radius, "largest": largest, "steps": steps},
    )


def gaussian_radius(dimension: int) -> float:
    """Return the norm that at most a part 0.1 of normal rows of covariance I exceeds."""
    tail = math.log(1.0 / _BETA)
    return math.sqrt(dimension + 2.0 * math.sqrt(dimension * tail) + 2.0 * tail)
