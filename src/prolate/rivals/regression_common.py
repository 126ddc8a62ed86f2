"""What the rivals' regressions share: bounded rows, noise as written, and the way back.

They are published for rows with |x|_2 <= 1 and |y| <= 1. Here rows get there by a public
affine map, z = (v - center) / scale, and are clipped to that; how to choose the map without
looking at the data is the user's business. The intercept is a constant column of ones, so
that rows (1, x) have norm at most sqrt 2; without it, the line goes through the public center.

Published noise levels are c |X|**2 on X'X and c |X| |Y| on X'y, for add-remove neighbors.
The curator is asked for the share of the budget that makes exactly this noise. Where the
levels as written cost more than the budget, which happens for replace-one neighbors and for
large epsilon, all of them are raised by one factor, with a warning.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Curator
from prolate.errors import InputError
from prolate.estimators.regression.linear_fit import LinearFit
from prolate.queries import Cross, Gram, Query

__all__ = [
    "VARRHO",
    "Accounting",
    "BoundedRows",
    "bounded_rows",
    "check_accounting",
    "epsilon_and_delta",
    "last_direction",
    "shares_as_written",
    "solved",
]

Accounting = Literal["basic", "joint"]

VARRHO = 0.05  # failure probability in the choice of lambda, as in Wang's code


@dataclass(frozen=True, eq=False)
class BoundedRows:
    """Rows behind a public affine map, target last, as the published methods want them."""

    center: Floats
    scale: Floats
    fit_intercept: bool

    @property
    def longest(self) -> float:
        """The longest row's squared norm, |X|**2 in the papers."""
        return 2.0 if self.fit_intercept else 1.0

    @property
    def features(self) -> Gram:
        """X'X of the rows u: x clipped to norm 1, after a 1 for the intercept."""
        k = self.center.size - 1
        return Gram(
            self.center[:k],
            self.scale[:k],
            1.0,
            constant=1.0 if self.fit_intercept else 0.0,
            index=np.arange(k),
            width=k + 1,
        )

    def cross(self, coef: Floats | None = None, *, gram: bool = False) -> Cross:
        """X'y, or X' times the residual of `coef`; see `Cross`."""
        return Cross(
            self.features,
            self.center.size - 1,
            float(self.center[-1]),
            float(self.scale[-1]),
            coef,
            gram,
        )

    def fit(
        self,
        curator: Curator,
        theta: Floats,
        *,
        rows: float,
        warnings: Sequence[str] = (),
        details: dict[str, object],
    ) -> LinearFit:
        """Return the line with coefficients `theta` on u, in the data's units."""
        slopes = theta[1:] if self.fit_intercept else theta
        constant = float(theta[0]) if self.fit_intercept else 0.0
        coef = self.scale[-1] * slopes / self.scale[:-1]
        public = curator.neighbors == "replace"
        return LinearFit(
            coef=coef,
            intercept=float(self.center[-1] + self.scale[-1] * constant - coef @ self.center[:-1]),
            rows=float(curator.public_rows()) if public else rows,
            warnings=tuple(warnings),
            details=details,
        )

    def count(self, matrix: Floats) -> float:
        """Return the number of rows that a noisy Gram matrix tells, NaN without intercept."""
        return max(float(matrix[0, 0]), 0.0) if self.fit_intercept else math.nan


def bounded_rows(
    curator: Curator, center: Floats | None, scale: Floats | None, *, fit_intercept: bool
) -> BoundedRows:
    """Return the rows behind an affine map; by default center 0 and scale 1.

    Raises
    ------
    InputError
        If the data has fewer than two columns, or the map is not one of its columns.
    """
    d = curator.dimension
    if d < 2:
        raise InputError("Regression needs at least one feature and, as the last column, a target.")
    about = np.zeros(d) if center is None else np.asarray(center, dtype=np.float64)
    width = np.ones(d) if scale is None else np.asarray(scale, dtype=np.float64)
    if about.shape != (d,) or width.shape != (d,):
        raise InputError(f"center and scale must be {d} numbers each, those of the target last.")
    if not (np.all(np.isfinite(about)) and np.all(np.isfinite(width) & (width > 0.0))):
        raise InputError("center must be finite, and scale positive and finite.")
    return BoundedRows(about, width, fit_intercept)


def check_accounting(accounting: str) -> None:
    """Raise `InputError` unless the accounting is known."""
    if accounting not in ("basic", "joint"):
        raise InputError(f"accounting must be 'basic' or 'joint'; got {accounting!r}.")


def epsilon_and_delta(curator: Curator) -> tuple[float, float]:
    """Return the (epsilon, delta) that the budget is stated in.

    Raises
    ------
    InputError
        If it is stated in rho or mu: the published noise levels are functions of these.
    """
    stated = curator.budget.stated
    if "epsilon" not in stated:
        raise InputError(
            "accounting='basic' computes its noise from epsilon and delta; state the budget in "
            "them, or use accounting='joint'."
        )
    return stated["epsilon"], stated["delta"]


def shares_as_written(
    curator: Curator, noises: Sequence[tuple[Query, float]], *, fill: bool = False
) -> tuple[list[float], float, tuple[str, ...]]:
    """Return the shares that make given noise, the factor it was changed by, and warnings.

    Parameters
    ----------
    noises : sequence of (query, float)
        Queries and standard deviations, in the queries' integer units.
    fill : bool
        Spend all that remains, with noise in these proportions.

    Returns
    -------
    list of float, float, tuple of str
        The factor is 1 where the noise as written fits the budget, unless `fill`.
    """
    mu = curator.budget.mu
    shares = [
        query.sensitivity_squared(curator.neighbors) / (std * mu) ** 2 for query, std in noises
    ]
    most = curator.remaining * (1.0 - 1e-12)  # the shares are added up as exact fractions
    total = sum(shares)
    if total <= most and not fill:
        return shares, 1.0, ()
    factor = math.sqrt(total / most)
    spent = [share / total * most for share in shares]
    if fill:
        return spent, factor, ()
    warning = (
        f"The noise as written would cost {total / curator.remaining:.3g} times the budget under "
        f"{curator.neighbors!r} neighbors; it was raised by a factor of {factor:.3g}."
    )
    return spent, factor, (warning,)


def last_direction(matrix: Floats) -> Floats:
    """Return the eigenvector of the smallest eigenvalue of a noisy Gram matrix."""
    return np.ascontiguousarray(np.linalg.eigh(matrix)[1][:, 0])


def solved(matrix: Floats, vector: Floats) -> Floats:
    """Return the solution of a symmetric system, the shortest one where it is singular."""
    try:
        found = np.linalg.solve(matrix, vector)
    except np.linalg.LinAlgError:
        found = np.linalg.lstsq(matrix, vector, rcond=None)[0]
    return np.asarray(found)
