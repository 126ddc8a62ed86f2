"""Where to clip Gaussian rows: the exact radius, and the closed forms of Poulsen's drafts.

A row x has independent columns of known standard deviations sigma_j, and is clipped in the
coordinates y = (x - c) * b to the norm C. Lemma 4.1 takes b_j = 1 / sqrt(sigma_j sum(sigma)), which
makes E |y|**2 = 1. |y|**2 is a mixture of chi-squares with weights w_j = (b_j sigma_j)**2 and
noncentralities (offset_j / sigma_j)**2, where the offset is the mean less the center c. The radius
for a clipping probability p is exactly the root of its quantile at 1 - p; the drafts bound it:

- Bernstein (Lemma 4.2): C**2 = sum(w) + sqrt(8 ln(1/p) sum(w**2)), for
  ln(1/p) <= sum(w**2) / (18 max(w)**2);
- Bernstein's alpha (draft of January 2023, "Extra"): C**2 = sum(w) + t with
  t = (L M + sqrt(L**2 M**2 + 18 L V)) / 3, L = ln(2/p), M = 16 max(w), V = 2 sum(w**2). It
  takes every y_j to lie within 4 standard deviations, as normal columns do not: the condition is
  that fewer rows than p have one beyond, and the probability of clipping is then at most 2 p;
- Chebyshev: C**2 = mean + sqrt(variance / p), always a bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from prolate.arrays import Floats
from prolate.budget import Neighbors, check_neighbors
from prolate.errors import InputError
from prolate.neighbors import radii_apart
from prolate.theory.checks import offset_like, positive, probability, scaled_like
from prolate.theory.chi2_mixture import ChiSquareMixture

__all__ = [
    "NoiseBound",
    "Radius",
    "RadiusTable",
    "exact_radius",
    "expected_noise",
    "optimal_b",
    "radius_table",
    "sensitivity",
    "squared_norm",
    "theorem_4",
]

_CUT = 4.0  # standard deviations: the drafts' bound on a single column


def optimal_b(sigma: ArrayLike) -> Floats:
    """Return the scaling b_j = 1 / sqrt(sigma_j sum(sigma)) (Lemma 4.1).

    Parameters
    ----------
    sigma : array-like of shape (d,)
        Standard deviations, positive.

    Returns
    -------
    float64 array of shape (d,)

    Examples
    --------
    >>> optimal_b([4.0, 1.0, 4.0]).round(4).tolist()
    [0.1667, 0.3333, 0.1667]
    """
    spread = positive(sigma, "sigma")
    return np.asarray(1.0 / np.sqrt(spread * spread.sum()))


def squared_norm(
    sigma: ArrayLike, b: ArrayLike | None = None, center_offset: ArrayLike | None = None
) -> ChiSquareMixture:
    """Return the distribution of |(x - c) * b|**2.

    Parameters
    ----------
    sigma : array-like of shape (d,)
        Standard deviations, positive.
    b : array-like of shape (d,), optional
        Scaling; by default `optimal_b`.
    center_offset : array-like of shape (d,) or number, optional
        The mean minus the center, in the columns' units; by default 0.

    Returns
    -------
    ChiSquareMixture

    Raises
    ------
    InputError
        If the numbers or shapes are unsuitable.
    """
    spread = positive(sigma, "sigma")
    scaling = optimal_b(spread) if b is None else scaled_like(b, spread)
    shift = None if center_offset is None else (offset_like(center_offset, spread) / spread) ** 2
    return ChiSquareMixture((scaling * spread) ** 2, shift)


def exact_radius(
    sigma: ArrayLike,
    clip: float,
    *,
    b: ArrayLike | None = None,
    center_offset: ArrayLike | None = None,
) -> float:
    """Return the radius C that clips a row with a given probability: P(|(x - c) * b| > C) = clip.

    The rows x are normal with independent columns, c is the center, and b the scaling.

    Parameters
    ----------
    sigma : array-like of shape (d,)
        Standard deviations of the columns, positive.
    clip : float
        The clipping probability, between 0 and 1; the drafts take 1 / n.
    b : array-like of shape (d,), optional
        Scaling; by default `optimal_b`.
    center_offset : array-like of shape (d,) or number, optional
        The mean minus the center, in the columns' units; by default 0.

    Examples
    --------
    >>> round(exact_radius([4.0, 1.0, 4.0], 1e-3), 4)
    2.5036
    """
    return math.sqrt(squared_norm(sigma, b, center_offset).isf(probability(clip)))


def sensitivity(radius: float, neighbors: Neighbors) -> float:
    """Return the l2 sensitivity of a sum of rows of norm at most C = `radius`.

    It is 2 C under ``"replace"`` and C under ``"add-remove"``.
    """
    return radius * radii_apart(check_neighbors(neighbors))


def expected_noise(
    sigma: ArrayLike,
    radius: float,
    *,
    mu: float,
    b: ArrayLike | None = None,
    neighbors: Neighbors = "replace",
) -> float:
    """Return the expected squared noise of the clipped sum, E |noise|**2 (Eq. 9).

    It is the squared noise of one scaled column, times sum(b**-2).

    Examples
    --------
    >>> round(expected_noise([1.0, 1.0], 1.0, mu=1.0), 9)
    16.0
    """
    spread = positive(sigma, "sigma")
    scaling = optimal_b(spread) if b is None else scaled_like(b, spread)
    if not 0.0 < mu < math.inf:
        raise InputError(f"mu must be positive and finite; got {mu:g}.")
    total = float(np.sum(scaling**-2.0))
    return (sensitivity(radius, neighbors) / mu) ** 2 * total


@dataclass(frozen=True)
class Radius:
    """The radius by one formula, and how good it is.

    Attributes
    ----------
    name : str
        The name of the formula.
    radius : float
        The radius, in scaled coordinates.
    clips : float
        The true probability that this radius clips a row.
    noise : float
        E |noise|**2, divided by that of the exact radius.
    condition : str
        The condition of the formula, with its numbers; empty if there is none.
    holds : bool
        Whether the condition holds. If not, the formula guarantees nothing, although its radius
        may happen to be large enough.
    """

    name: str
    radius: float
    clips: float
    noise: float
    condition: str
    holds: bool


@dataclass(frozen=True)
class RadiusTable:
    """All radii for one clipping probability, side by side; `str` gives them as a table."""

    clip: float
    rows: tuple[Radius, ...]

    def __getitem__(self, name: str) -> Radius:
        """Return the row with this name."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    def __str__(self) -> str:
        head = ("radius for p = " + f"{self.clip:.3g}", "C", "clips", "noise", "condition")
        lines = [head]
        for row in self.rows:
            verdict = "" if not row.condition else ("holds: " if row.holds else "FAILS: ")
            numbers = f"{row.radius:.5g}", f"{row.clips:.3g}", f"{row.noise:.3f}"
            lines.append((row.name, *numbers, verdict + row.condition))
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if place in (0, 4) else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )


def radius_table(
    sigma: ArrayLike,
    *,
    n: float | None = None,
    clip: float | None = None,
    b: ArrayLike | None = None,
) -> RadiusTable:
    """Return a table of radii for one clipping probability: exact, and by the drafts' formulas.

    The center is the mean. Give either `n` or `clip`.

    Parameters
    ----------
    sigma : array-like of shape (d,)
        Standard deviations of the columns, positive.
    n : float, optional
        Number of rows; the clipping probability is then 1 / n.
    clip : float, optional
        The clipping probability itself.
    b : array-like of shape (d,), optional
        Scaling; by default `optimal_b`.

    Returns
    -------
    RadiusTable

    Raises
    ------
    InputError
        If an argument is unsuitable, or not exactly one of `n` and `clip` is given.

    Examples
    --------
    >>> print(radius_table([1.0] * 100, n=100))
    radius for p = 0.01       C     clips  noise  condition
    exact                1.1654      0.01  1.000
    Bernstein            1.2677  0.000114  1.183  holds: ln(1/p) = 4.61 <= 5.56
    Bernstein, 1 + t     1.3501  9.66e-07  1.342  holds: a column beyond 4 sd in 0.00631 of rows
    Chebyshev            1.5538  1.05e-13  1.778
    """
    if (n is None) == (clip is None):
        raise InputError("Give either n, the number of rows, or clip, the clipping probability.")
    if n is not None and not n > 1:
        raise InputError(f"n must be larger than 1; got {n:g}.")
    p = probability(1.0 / n if n is not None else clip)
    Q = squared_norm(sigma, b)
    exact = Q.isf(p)
    weight = Q.weights
    first, second, most = float(weight.sum()), float(weight @ weight), float(weight.max())
    need, limit = -math.log(p), second / (18.0 * most**2)
    log_two = math.log(2.0 / p)
    bound = _CUT**2 * most
    t = (log_two * bound + math.sqrt((log_two * bound) ** 2 + 36.0 * log_two * second)) / 3.0
    missed = -math.expm1(weight.size * math.log1p(-math.erfc(_CUT / math.sqrt(2.0))))

    def row(name: str, square: float, condition: str = "", *, holds: bool = True) -> Radius:
        return Radius(name, math.sqrt(square), Q.sf(square), square / exact, condition, holds)

    bernstein = f"ln(1/p) = {need:.2f} {'<=' if need <= limit else '>'} {limit:.2f}"
    alpha = f"a column beyond {_CUT:g} sd in {missed:.3g} of rows"
    return RadiusTable(
        p,
        (
            row("exact", exact),
            row("Bernstein", first + math.sqrt(8.0 * need * second), bernstein,
                holds=need <= limit),
            row("Bernstein, 1 + t", first + t, alpha, holds=missed <= p),
            row("Chebyshev", first + math.sqrt(Q.var / p)),
        ),
    )  # fmt: skip


@dataclass(frozen=True)
class NoiseBound:
    """Theorem 4 compared with the exact value: E |noise|**2 of the sum, clipping one row in n.

    Attributes
    ----------
    bound, exact : float
        The bound of the theorem, and the exact value.
    need, limit : float
        The theorem needs ln n = `need` to be at most `limit` = sum(sigma**2) / (18 max sigma**2).
    """

    bound: float
    exact: float
    need: float
    limit: float

    @property
    def holds(self) -> bool:
        """Whether the theorem's condition is met."""
        return self.need <= self.limit


def theorem_4(sigma: ArrayLike, *, n: float, mu: float) -> NoiseBound:
    """Return Theorem 4's bound on the noise of a sum, and the exact noise (under "replace").

    Examples
    --------
    >>> found = theorem_4([1.0] * 100, n=100, mu=1.0)
    >>> round(found.bound), round(found.exact), found.holds
    (64279, 54323, True)
    """
    spread = positive(sigma, "sigma")
    if not n > 1:
        raise InputError(f"n must be larger than 1; got {n:g}.")
    exact = expected_noise(spread, exact_radius(spread, 1.0 / n), mu=mu)
    total, squares, most = float(spread.sum()), float(spread @ spread), float(spread.max())
    bound = 4.0 / mu**2 * total * (math.sqrt(8.0 * math.log(n) * squares) + total)
    return NoiseBound(bound, exact, math.log(n), squares / (18.0 * most**2))
