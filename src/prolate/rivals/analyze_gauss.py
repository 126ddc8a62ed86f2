"""Analyze Gauss (Dwork, Talwar, Thakurta, Zhang 2014): the noisy second moment of short rows.

The Gaussian mechanism on the Gram matrix of rows clipped to a public norm, noise only once
for the two halves of the symmetric matrix, cut to positive semidefinite.
"""

from __future__ import annotations

import math

import numpy as np

from prolate.curator import Curator
from prolate.errors import InputError
from prolate.estimators.estimate import Estimate
from prolate.queries import Gram
from prolate.rivals.common import need_replace

__all__ = ["analyze_gauss"]


def analyze_gauss(curator: Curator, *, radius: float) -> Estimate:
    """Return the second moment of every two columns, of shape (d, d).

    It is the covariance where the mean is zero.

    Parameters
    ----------
    curator : Curator
        With ``neighbors="replace"``; all of its remaining budget is spent.
    radius : float
        Public norm to which rows are clipped.

    Raises
    ------
    InputError
        If `radius` is not positive and finite.
    """
    need_replace(curator, "Analyze Gauss")
    if not 0.0 < radius < math.inf:
        raise InputError(f"radius must be positive and finite; got {radius:g}.")
    d, rows = curator.dimension, float(curator.public_rows())
    gram = Gram(np.zeros(d), np.ones(d), radius)
    measured = curator.measure(gram, share=curator.remaining, label="second moment")
    on, off = (noise / rows for noise in gram.noise(measured.std))
    values, vectors = np.linalg.eigh(gram.matrix(measured.values) / rows)
    return Estimate(
        value=(vectors * np.maximum(values, 0.0)) @ vectors.T,
        noise_std=np.full((d, d), off) + np.diag(np.full(d, on - off)),
        sampling_std=None,
        rows=rows,
        details={"radius": radius},
    )
