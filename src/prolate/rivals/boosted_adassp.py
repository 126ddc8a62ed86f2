"""BoostedAdaSSP (Tang et al. 2023): AdaSSP again and again, on what the last line left over.

X'X and lambda are released once, X' times the clipped residual once per round; residuals
shrink, so the clipping bound may be tight without a bias. The published code takes noise of
mu where 1/mu is needed and does not compose its rounds: at 100 rounds it is not private at
all. Here all measurements are charged, half of the budget to X'X and the rest to the rounds
in equal parts.
"""

from __future__ import annotations

import math

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Curator
from prolate.errors import InputError
from prolate.estimators.regression.linear_fit import LinearFit
from prolate.rivals.regression_common import bounded_rows, solved

__all__ = ["boosted_adassp"]

_MATRIX = 0.5  # of the budget
_QUANTILE = 1.96  # theirs: of the noise, in lambda


def boosted_adassp(
    curator: Curator,
    *,
    center: Floats | None = None,
    scale: Floats | None = None,
    fit_intercept: bool = True,
    rounds: int = 3,
) -> LinearFit:
    """Return BoostedAdaSSP's line.

    Parameters
    ----------
    curator, center, scale, fit_intercept
        As for `adassp`; all of the remaining budget is spent.
    rounds : int
        Theirs are 100; with right accounting few are better.

    Returns
    -------
    LinearFit
        `details` hold lambda (`ridge`) and the rounds. Without an intercept, under
        ``"add-remove"``, `rows` is NaN.

    Raises
    ------
    InputError
        If center, scale or rounds do not fit.
    """
    if rounds < 1:
        raise InputError(f"rounds must be at least 1; got {rounds}.")
    rows = bounded_rows(curator, center, scale, fit_intercept=fit_intercept)
    gram = rows.features
    d = gram.order
    measured = curator.measure(gram, share=_MATRIX * curator.remaining, label="X'X")
    matrix, unit = gram.matrix(measured.values), gram.noise(measured.std)[0]
    smallest = max(float(np.linalg.eigvalsh(matrix)[0]), 0.0)
    ridge = max(0.0, _QUANTILE * unit * math.sqrt(d) - smallest)
    damped = matrix + ridge * np.eye(d)
    theta, part = np.zeros(d), curator.remaining / rounds
    for number in range(1, rounds + 1):
        cross = rows.cross(np.clip(theta, -1e100, 1e100))
        share = min(part, curator.remaining)
        left_over = curator.measure(cross, share=share, label=f"residual {number}")
        theta = theta + solved(damped, cross.products(left_over.values))
    return rows.fit(
        curator,
        theta,
        rows=rows.count(matrix),
        details={"ridge": ridge, "rounds": rounds},
    )
