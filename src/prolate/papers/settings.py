"""The data of PLAN's experiments (Table 1 and Appendix E), drawn anew in every run.

Gaussian A: equal variances around 0. B: variances (d/d)**a, (d/(d-1))**a, ..., (d/1)**a
around 10. C: the same with a = 2. A' and C' are correlated. Binary: the first part of the
columns is 1 with probability 1/2, the others with 1/100. Kosarak and POS are baskets from
a file (`baskets`).
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from prolate.arrays import Floats
from prolate.papers.baskets import read_baskets, some_items

__all__ = ["Data", "Sample", "Setting", "draw"]

Data = Literal["A", "B", "C", "A'", "C'", "Binary", "Kosarak", "POS"]

_BINARY: tuple[Data, ...] = ("Binary", "Kosarak", "POS")
_ONES = (0.5, 0.01)


@dataclass(frozen=True)
class Setting:
    """One point of a figure.

    Attributes
    ----------
    data : str
        Which of the paper's data sets.
    n, d : int
        Rows and columns.
    rho : float
        The whole budget of an estimate.
    alpha : float
        Skew of the variances for B and C; for Binary the part of the columns that are
        1 half of the time.
    path : str, optional
        The file of Kosarak or POS.
    items : int, optional
        How many of a file's items are used; all by default.
    """

    data: Data
    n: int
    d: int
    rho: float
    alpha: float = 0.0
    path: str | None = None
    items: int | None = None

    @property
    def norm(self) -> int:
        """The p of the l_p error: 1 for binary data (as half the l_1 norm), else 2."""
        return 1 if self.data in _BINARY else 2

    @property
    def center(self) -> float:
        """True mean of every column, for the Gaussian settings."""
        return 0.0 if self.data in ("A", "A'") else 10.0

    @property
    def sigma(self) -> Floats:
        """Standard deviations of the columns, for the Gaussian settings; shape (d,)."""
        if self.data == "A'":
            return np.asarray(np.sqrt(1.0 + np.sum(_loadings(self.d) ** 2, axis=1)))
        alpha = 0.0 if self.data == "A" else self.alpha
        return np.asarray((self.d / np.arange(self.d, 0, -1)) ** (alpha / 2.0))

    @property
    def widest(self) -> float:
        """Largest standard deviation of any mix of columns, of norm 1."""
        sigma = self.sigma
        if self.data == "A'":
            return float(np.sqrt(1.0 + np.linalg.norm(_loadings(self.d), 2) ** 2))
        if self.data == "C'":  # an upper bound, and nearly reached
            return float(np.sqrt(0.5 * np.sum(sigma**2) + 0.5 * sigma.max() ** 2))
        return float(sigma.max())

    @property
    def universe(self) -> float:
        """Largest value that may occur, half of Table 1's M (which is the range's width)."""
        flat = 25.0 * np.sqrt(self.d)
        return float(flat if self.center == 0.0 else 2.0 * flat * self.sigma.max())

    def at_rho(self, rho: float) -> Setting:
        """Return the same data at another budget."""
        return Setting(self.data, self.n, self.d, rho, self.alpha, self.path, self.items)


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows, their own mean, and the mean that they were drawn around (None for a file)."""

    rows: Any
    mean: Floats
    true_mean: Floats | None


def draw(setting: Setting, run: int) -> Sample:
    """Return the rows of one run: the same for every budget and every method.

    Examples
    --------
    >>> sample = draw(Setting("B", 1000, 4, 1.0, alpha=2.0), run=0)
    >>> sample.rows.shape, sample.true_mean.tolist()
    ((1000, 4), [10.0, 10.0, 10.0, 10.0])
    """
    return _draw(setting.at_rho(1.0), 0 if setting.path else run)


@lru_cache(maxsize=1)  # the methods of one run follow each other
def _draw(setting: Setting, run: int) -> Sample:
    if setting.path is not None:
        matrix = read_baskets(setting.path)
        if setting.items is not None:
            matrix = some_items(matrix, setting.items)
        return Sample(matrix, np.asarray(matrix.mean(axis=0)).ravel(), None)
    n, d = setting.n, setting.d
    seed = [run, zlib.crc32(setting.data.encode()), n, d, round(1000 * setting.alpha)]
    rng = np.random.default_rng(seed)
    if setting.data == "Binary":
        q = np.where(np.arange(d) < np.ceil(setting.alpha * d), *_ONES)
        ones = (rng.random((n, d), dtype=np.float32) < q).astype(np.uint8)
        return Sample(ones, ones.mean(axis=0), q)
    rows = rng.standard_normal((n, d))
    if setting.data == "A'":
        rows += rng.standard_normal((n, d)) @ _loadings(d).T
    elif setting.data == "C'":
        rows += rng.standard_normal((n, 1))
        rows *= np.sqrt(0.5) * setting.sigma
    else:
        rows *= setting.sigma
    rows += setting.center
    return Sample(rows, rows.mean(axis=0), np.full(d, setting.center))


def _loadings(d: int) -> Floats:
    """Return the random Lambda of Gaussian A', whose covariance is Lambda Lambda^T + I."""
    random = np.random.default_rng([d, 1]).uniform(0.0, 1.0 / np.sqrt(d), (d, d))
    return np.triu(random, 1)  # i < j, as Appendix E says
