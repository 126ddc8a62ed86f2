"""What noisy columns say together about each of them (empirical Bayes).

Each column has a likelihood over candidates (scales, magnitudes), drowned in noise where
rows are few. Columns of one table are alike, so the distribution of the candidates over
the other columns is a prior for each: found by expectation-maximization, smoothed, and
with the column itself left out, so that no column confirms its own noise. A tiny part of
the prior is uniform, so that a column that stands out by itself is believed.

All of it is arithmetic on noisy measurements.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["pooled_posterior"]

_ROUNDS = 20
_FAR, _FAR_PART = 7, 0.05  # smoothing has a wide part, for columns unlike the others
_SURPRISE = 1e-5  # the part of the prior that is uniform


def pooled_posterior(
    log_likelihood: NDArray[np.float64],
    offset: NDArray[np.int64],
    *,
    width: int,
) -> NDArray[np.float64]:
    """Return each column's posterior over its candidates.

    Parameters
    ----------
    log_likelihood : float64 array of shape (d, m)
        Of m neighboring candidates per column; -inf for impossible ones.
    offset : int64 array of shape (d,)
        Candidate k of column j is candidate offset_j + k of all.
    width : int
        How many neighboring candidates the prior is smoothed over, odd.

    Returns
    -------
    float64 array of shape (d, m)
        Rows add up to 1.
    """
    from scipy.ndimage import uniform_filter1d

    def smooth(mass: NDArray[np.float64]) -> NDArray[np.float64]:
        near, far = mass, mass
        for _ in range(2):
            near = uniform_filter1d(near, width, axis=-1, mode="constant")
            far = uniform_filter1d(far, _FAR * width, axis=-1, mode="constant")
        return np.asarray((1.0 - _FAR_PART) * near + _FAR_PART * far)

    d, m = log_likelihood.shape
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    place = (offset - offset.min())[:, np.newaxis] + np.arange(m)
    size = int(place.max()) + 1
    prior = np.full(place.shape, 1.0 / size)
    posterior: NDArray[np.float64] = likelihood
    for _ in range(_ROUNDS):
        posterior = likelihood * prior
        posterior = np.asarray(posterior / posterior.sum(axis=1, keepdims=True))
        counts = np.bincount(place.ravel(), posterior.ravel(), minlength=size)
        together = smooth(counts.astype(np.float64))
        others = np.maximum(together[place] - smooth(posterior), 0.0) / max(d - 1, 1)
        prior = others + _SURPRISE / size
    return posterior
