"""Gradient descent with clipped gradients (Abadi et al. 2016, full batches).

Each step asks for the sum of the rows' gradients u (u'theta - y), each clipped to a norm, and
walks against it. All steps are charged together, as mu-GDP.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Curator
from prolate.errors import InputError
from prolate.estimators.regression.linear_fit import LinearFit
from prolate.queries import ClippedSum
from prolate.queries.mapped import Mapped
from prolate.rivals.common import need_replace
from prolate.rivals.regression_common import bounded_rows

__all__ = ["gradient_descent"]


@dataclass(frozen=True, eq=False)
class Gradients(Mapped):
    """`query` asked of u (y - u @ theta), u = (1, x) or x, of rows after an affine map.

    Features beyond [-1, 1] and targets beyond it are cut; a value that is not finite counts
    as the center. Sensitivity. That of `query`: each row is mapped by itself, column after
    column in doubles.
    """

    center: Floats
    scale: Floats
    theta: Floats

    @property
    def columns(self) -> int:
        """Number of columns, target included."""
        return self.center.size

    def map(self, rows: Floats) -> Floats:
        """Return the negative gradients."""
        with np.errstate(over="ignore", invalid="ignore"):
            z = np.where(np.isfinite(rows), (rows - self.center) / self.scale, 0.0)
        z = np.minimum(np.maximum(z, -1.0), 1.0)
        u, residual = z[:, :-1], z[:, -1]
        if self.theta.size == z.shape[1]:
            u = np.column_stack([np.ones(z.shape[0]), u])
        for j, slope in enumerate(self.theta):
            residual = residual - u[:, j] * slope
        return np.asarray(u * residual[:, np.newaxis])

    def describe(self) -> str:
        """Return one line for the receipt."""
        return f"{self.query.describe()}, of the rows' gradients"


def gradient_descent(
    curator: Curator,
    *,
    center: Floats | None = None,
    scale: Floats | None = None,
    fit_intercept: bool = True,
    steps: int = 10,
    clip: float = 0.3,
    rate: float = 2.0,
) -> LinearFit:
    """Return the line that private gradient descent reaches.

    Parameters
    ----------
    curator, center, scale, fit_intercept
        As for `adassp`, but under ``"replace"`` only; all of the remaining budget is spent.
    steps : int
        How many.
    clip : float
        Longest gradient, in units of the target's scale, that is not clipped.
    rate : float
        Step length: theta moves by `rate` times the mean gradient. Divided by two with an
        intercept, whose rows have norm sqrt 2.

    Returns
    -------
    LinearFit

    Raises
    ------
    InputError
        If an argument does not fit.
    """
    if steps < 1 or not (0.0 < clip < np.inf and 0.0 < rate < np.inf):
        raise InputError("steps must be at least 1, and clip and rate positive and finite.")
    need_replace(curator, "Gradient descent")
    rows = bounded_rows(curator, center, scale, fit_intercept=fit_intercept)
    number = float(curator.public_rows())
    size = rows.features.order
    step = rate / rows.longest
    query = ClippedSum(np.zeros(size), np.ones(size), clip)
    theta, part = np.zeros(size), curator.remaining / steps
    for turn in range(1, steps + 1):
        gradients = Gradients(query, rows.center, rows.scale, np.clip(theta, -1e100, 1e100))
        share = min(part, curator.remaining)
        measured = curator.measure(gradients, share=share, label=f"gradient {turn}")
        theta = theta + step * query.unit * measured.values / max(number, 1.0)
    return rows.fit(
        curator,
        theta,
        rows=number,
        details={"steps": steps, "clip": clip, "rate": rate},
    )
