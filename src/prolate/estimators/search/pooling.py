"""What noisy columns say together about each of them (empirical Bayes).

Each column has a likelihood over candidates (scales, magnitudes), drowned in noise where
rows are few. Columns of one table are alike, so the distribution of the candidates over
the other columns is a prior for each: found by expectation-maximization, smoothed, and
with the column itself left out, so that no column confirms its own noise. A tiny part of
the prior is uniform, so that a column that stands out by itself is believed. Of very many
columns, some show the prior of all.

All of it is arithmetic on noisy measurements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from prolate.arrays import Floats, Integers

__all__ = ["pooled_pieces", "pooled_posterior"]

_ROUNDS = 20
_SETTLED = 1e-3  # columns: where no candidate's number changes by more, the rounds end
_ENOUGH = 512  # columns that show a prior
_AT_ONCE = 1 << 12  # columns: their working copies stay small
_FAR, _FAR_PART = 7, 0.05  # smoothing has a wide part, for columns unlike the others
_SURPRISE = 1e-5  # the part of the prior that is uniform


def pooled_posterior(log_likelihood: Floats, offset: Integers, *, width: int) -> Floats:
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
    found = np.empty(log_likelihood.shape)
    for columns, posterior in pooled_pieces(log_likelihood.__getitem__, offset, width=width):
        found[columns] = posterior
    return found


def pooled_pieces(
    log_likelihood: Callable[[Integers], Floats], offset: Integers, *, width: int
) -> Iterator[tuple[Integers, Floats]]:
    """Yield columns and their posteriors, some at a time, given the likelihoods of columns."""
    d = offset.size
    some = np.arange(0, d, -(-d // _ENOUGH))
    others = np.delete(np.arange(d), some)
    fit, first = log_likelihood(some), offset.min()
    index = np.arange(fit.shape[1])
    size = int(offset.max() - first) + index.size
    together, posterior = _prior(fit, (offset[some] - first)[:, np.newaxis] + index, size, width)
    yield some, posterior
    prior = together / some.size + _SURPRISE / size
    for start in range(0, others.size, _AT_ONCE):
        here = others[start : start + _AT_ONCE]
        place = (offset[here] - first)[:, np.newaxis] + index
        yield here, _normalized(_likelihood(log_likelihood(here)) * prior[place])


def _prior(log_likelihood: Floats, place: Integers, size: int, width: int) -> tuple[Floats, Floats]:
    """Return how many columns each of all candidates has, smoothed, and the posteriors."""
    likelihood = _likelihood(log_likelihood)
    prior = np.full(place.shape, 1.0 / size)
    smoothing = _smoothing(place.shape[1], width)
    before = np.zeros(size)
    for _ in range(_ROUNDS):
        posterior = _normalized(likelihood * prior)
        counts = np.bincount(place.ravel(), posterior.ravel(), minlength=size).astype(np.float64)
        together = _smooth(counts, width)
        if np.max(np.abs(counts - before)) < _SETTLED:
            break
        before = counts
        others = np.maximum(together[place] - posterior @ smoothing, 0.0)
        prior = others / max(len(place) - 1, 1) + _SURPRISE / size
    return together, posterior


def _likelihood(log_likelihood: Floats) -> Floats:
    return np.asarray(np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True)))


def _normalized(mass: Floats) -> Floats:
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))


def _smooth(counts: Floats, width: int) -> Floats:
    """Return counts spread over their neighbors."""
    kernel = _kernel(width)
    reach = kernel.size // 2
    return np.convolve(counts, kernel)[reach : reach + counts.size]


@lru_cache(maxsize=8)
def _smoothing(size: int, width: int) -> Floats:
    """Return the same as a matrix, symmetric: for many vectors, a product is quicker."""
    kernel, index = _kernel(width), np.arange(size)
    far = np.abs(np.subtract.outer(index, index))
    return np.pad(kernel[kernel.size // 2 :], (0, size))[far]


@lru_cache(maxsize=8)
def _kernel(width: int) -> Floats:
    """Return the part that each neighbor gets: two averages over `width`, and a little farther."""
    near, far = (np.full(size, 1.0 / size) for size in (width, _FAR * width))
    kernel = _FAR_PART * np.convolve(far, far)
    middle = kernel.size // 2
    kernel[middle - width + 1 : middle + width] += (1.0 - _FAR_PART) * np.convolve(near, near)
    return kernel
