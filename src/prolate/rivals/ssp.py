"""Sufficient statistics perturbation: X'X and X'y with noise, and nothing done about it.

Vu and Slavkovic (2009), Wang (2018). Wang's code gives each of the two releases the whole of
epsilon and delta, and so has only half of the noise that its own accounting asks for: at a
claimed (1, 1e-6) its delta is 5e-4. Only the honest version is offered, with the budget
divided. As in his code X'X is X'X + I; the noise on X'X is symmetric, which his is not.
Where the noise reaches the smallest eigenvalue, the line is arbitrarily bad.
"""

from __future__ import annotations

import math

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Curator
from prolate.estimators.regression.linear_fit import LinearFit
from prolate.queries import GRAM_RADIUS
from prolate.rivals.regression_common import (
    Accounting,
    bounded_rows,
    check_accounting,
    epsilon_and_delta,
    shares_as_written,
    solved,
)

__all__ = ["ssp"]


def ssp(
    curator: Curator,
    *,
    center: Floats | None = None,
    scale: Floats | None = None,
    fit_intercept: bool = True,
    accounting: Accounting = "basic",
    fixed: bool = False,
) -> LinearFit:
    """Return the line of sufficient statistics perturbation.

    Parameters
    ----------
    curator, center, scale, fit_intercept
        As for `adassp`.
    accounting : {"basic", "joint"}
        ``"basic"``: each release with half of epsilon and delta, the noise level
        sqrt(log(4 / delta)) / (epsilon / 2), or sqrt(2 log(2.5 / delta)) / (epsilon / 2) if
        `fixed`; what is left of the budget stays unspent. ``"joint"``: one measurement with
        all of mu, as in `adassp`.
    fixed : bool
        Whether to take the noise level of Kalaja's thesis, and no I. Changes only the I under
        ``"joint"``.

    Returns
    -------
    LinearFit
        `details` hold the noise level on X'X, in units of its add-remove sensitivity.
        Without an intercept, under ``"add-remove"``, `rows` is NaN.

    Raises
    ------
    InputError
        If center or scale do not fit, or ``"basic"`` lacks epsilon and delta.
    """
    check_accounting(accounting)
    rows = bounded_rows(curator, center, scale, fit_intercept=fit_intercept)
    gram = rows.features
    warnings: tuple[str, ...] = ()
    if accounting == "joint":
        both = rows.cross(gram=True)
        measured = curator.measure(both, share=curator.remaining, label="X'X and X'y")
        matrix, vector = both.matrix(measured.values), both.products(measured.values)
        std = measured.std
    else:
        epsilon, delta = epsilon_and_delta(curator)
        log_term = 2.0 * math.log(2.5 / delta) if fixed else math.log(4.0 / delta)
        step = math.sqrt(log_term) / (epsilon / 2.0) * GRAM_RADIUS**2
        cross, whole = rows.cross(), 7.0 if fixed else 5.0  # as in `adassp`
        shares, _, warnings = shares_as_written(curator, [(gram, whole * step), (cross, step)])
        measured = curator.measure(gram, share=shares[0], label="X'X")
        matrix, std = gram.matrix(measured.values), measured.std
        vector = cross.products(curator.measure(cross, share=shares[1], label="X'y").values)
    if not fixed:
        matrix = matrix + np.eye(gram.order)
    return rows.fit(
        curator,
        solved(matrix, vector),
        rows=rows.count(matrix),
        warnings=warnings,
        details={"noise": gram.noise(std)[0] / rows.longest},
    )
