"""How large each column's values likely are, where no magnitude stands out of all columns' noise.

A column's own counts tell more of it than those of all columns together, which have a small part of
the budget. Both are matched with columns whose numbers are in one group of octaves, or in two
neighboring ones, beside zeros. So a magnitude may be sure though no cell stands out of the noise of
all cells that there are: numbers that are halved between two groups are the rule, not an exception.
And columns of one table are likely alike (`pooling.py`).
"""

from __future__ import annotations

import numpy as np

from prolate.arrays import Bools, Floats, Integers
from prolate.estimators.search.pooling import pooled_posterior

__all__ = ["likely_groups"]

_ZEROS, _RARER = (0.0, 0.5, 0.8, 0.95), 2.5  # parts of a column; by its logarithm, each but none
_MOST_ZEROS = 0.5  # of these, the most beside which later searches find the others
_ALIKE = 3  # groups by which columns of one table differ often
_UNLIKELY = 0.05  # probability of all larger groups that are left aside
_HOPELESS = 0.15  # noise of a count, over the rows, at which what seems sure is wrong too often
_SURELY = 0.999  # probability that a column is as large as is said, within a group


def likely_groups(
    own: tuple[Floats, float], together: tuple[Floats, float], *, rows: float, prior: Floats
) -> tuple[Integers, Bools]:
    """Return the largest group that a column's numbers are likely in, and where that is sure.

    Parameters
    ----------
    own : pair of float64 array of shape (d, groups), float
        Counts of each column's values in each group, and their noise; zeros are in the first.
    together : pair of float64 array of shape (groups,), float
        The same of all columns' values, and its noise.
    rows : float
    prior : float64 array of shape (groups,)
        How likely each group is by itself, as a logarithm.
    """
    (counts, noise), (sums, sums_noise) = own, together
    weight, other = noise**-2.0, sums_noise**-2.0
    # As far as is known, all values that are in a group are this column's.
    mean = (weight * counts + other * np.minimum(sums, rows)) / (weight + other)
    before = np.concatenate([np.zeros((len(mean), 1)), mean[:, 1:-1]], axis=1)
    fits = []
    for part in _ZEROS:
        zeros, numbers = part * rows, (1.0 - part) * rows
        here = mean[:, :1] * zeros - 0.5 * zeros**2
        one = here + mean[:, 1:] * numbers - 0.5 * numbers**2
        two = here + (mean[:, 1:] + before) * numbers / 2.0 - 0.25 * numbers**2
        fit = np.logaddexp((weight + other) * one, (weight + other) * two)
        fits.append(fit + prior[1:] - (_RARER if part else 0.0))
    every = np.logaddexp.reduce(fits)
    likely = pooled_posterior(every, np.zeros(len(mean), dtype=np.int64), width=_ALIKE)
    above = np.cumsum(likely[:, ::-1], axis=1)[:, ::-1]
    top = np.count_nonzero(above > _UNLIKELY, axis=1)  # group 0 is zeros
    near = np.abs(np.arange(1, likely.shape[1] + 1) - top[:, np.newaxis]) <= 1
    few = [fit for part, fit in zip(_ZEROS, fits, strict=True) if part <= _MOST_ZEROS]
    many = likely * np.exp(np.logaddexp.reduce(few) - every)
    return top, (np.sum(many * near, axis=1) > _SURELY) & (noise < _HOPELESS * rows)
