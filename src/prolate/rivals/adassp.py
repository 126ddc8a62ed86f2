"""AdaSSP (Wang 2018): sufficient statistics with a ridge that makes up for the noise.

X'X and X'y are released with Gaussian noise, and lambda = max(0, eta - lambda_min) is added
to X'X, where eta is how far the noise can move its eigenvalues. As in Wang's code, the noise
on X'X is (Z + Z') / 2, with half the variance off the diagonal, and X'X is X'X + I. `fixed` is
Algorithm 3 of Kalaja's thesis: a larger noise level, the one that the classical Gaussian
mechanism asks for, on every entry of the upper triangle, and no I.

One thing differs. Their lambda_min(X'X) is released as a third number. It is no sum over
rows, so it cannot be asked here; v'X'Xv can, v the last eigenvector of the X'X that was just
released. It is a sum of squares with the same sensitivity and gets the same noise, it is at
least lambda_min, and close to it wherever the noise lets v be found at all.
"""

from __future__ import annotations

import math

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Curator
from prolate.estimators.regression.linear_fit import LinearFit
from prolate.queries import GRAM_RADIUS, Along
from prolate.rivals.regression_common import (
    VARRHO,
    Accounting,
    BoundedRows,
    bounded_rows,
    check_accounting,
    epsilon_and_delta,
    last_direction,
    shares_as_written,
    solved,
)

__all__ = ["adassp"]

_DELTA = 1e-6  # in the bound of lambda_min, where the budget is stated in rho or mu


def adassp(
    curator: Curator,
    *,
    center: Floats | None = None,
    scale: Floats | None = None,
    fit_intercept: bool = True,
    accounting: Accounting = "basic",
    fixed: bool = False,
) -> LinearFit:
    """Return AdaSSP's line.

    Parameters
    ----------
    curator : Curator
        Of the features and, as the last column, the target; at most its remaining budget is
        spent.
    center, scale : float64 arrays of shape (k + 1,), optional
        Public knowledge, target last: (v - center) / scale has features of norm at most 1 and
        a target of at most 1, or is clipped to that. By default zeros and ones.
    fit_intercept : bool
        Whether to add a column of ones. Wang's experiments do not.
    accounting : {"basic", "joint"}
        ``"basic"``: the noise levels as written, sqrt(log(6 / delta)) / (epsilon / 3), or
        sqrt(2 log(3.75 / delta)) / (epsilon / 3) if `fixed`, whatever is left of the budget
        unspent; raised, with a warning, where they would cost more than it.
        ``"joint"``: all of mu, well divided. X'X and X'y are one measurement, of squared
        sensitivity 9/2 (replace) or 2 (add-remove), and lambda_min is that of the noisy X'X,
        at no price. If `fixed`, the three measurements as written with equal levels.
    fixed : bool
        Whether to take Algorithm 3 of the thesis.

    Returns
    -------
    LinearFit
        `details` hold lambda (`ridge`) and the noise level on X'X, in units of its add-remove
        sensitivity. Without an intercept, under ``"add-remove"``, `rows` is NaN.

    Raises
    ------
    InputError
        If center or scale do not fit, or ``"basic"`` lacks epsilon and delta.
    """
    check_accounting(accounting)
    rows = bounded_rows(curator, center, scale, fit_intercept=fit_intercept)
    if accounting == "joint" and not fixed:
        return _joint(curator, rows)
    delta = curator.budget.stated.get("delta", _DELTA)
    log_term = 2.0 * math.log(3.75 / delta) if fixed else math.log(6.0 / delta)
    level = None
    if accounting == "basic":
        epsilon, _ = epsilon_and_delta(curator)
        level = math.sqrt(log_term) / (epsilon / 3.0)
    return _three_releases(curator, rows, level, log_term, fixed=fixed)


def _three_releases(
    curator: Curator,
    rows: BoundedRows,
    level: float | None,
    log_term: float,
    *,
    fixed: bool,
) -> LinearFit:
    """Measure X'X, X'y and lambda_min; without a level, with all that remains."""
    gram, cross, d = rows.features, rows.cross(), rows.features.order
    some = Along(gram, np.eye(d)[0])  # the price does not depend on the direction
    wanted = 1.0 if level is None else level
    step = wanted * GRAM_RADIUS**2
    # Entries on the diagonal count 5, the others 7: the noise is as written on the diagonal, or
    # if fixed on the others and 7/5 of it on the diagonal.
    whole = 7.0 if fixed else 5.0
    shares, factor, warnings = shares_as_written(
        curator, [(gram, whole * step), (cross, step), (some, step)], fill=level is None
    )
    unit = wanted * factor * rows.longest
    matrix = gram.matrix(curator.measure(gram, share=shares[0], label="X'X").values)
    if not fixed:
        matrix = matrix + np.eye(d)
    vector = cross.products(curator.measure(cross, share=shares[1], label="X'y").values)
    along = Along(gram, last_direction(matrix))
    last = float(curator.measure(along, share=shares[2], label="lambda_min").values[0])
    smallest = max(last * along.unit + (not fixed) - unit * math.sqrt(log_term), 0.0)
    ridge = max(0.0, unit * math.sqrt(d * math.log(2.0 * d * d / VARRHO)) - smallest)
    return rows.fit(
        curator,
        solved(matrix + ridge * np.eye(d), vector),
        rows=rows.count(matrix),
        warnings=warnings,
        details={"ridge": ridge, "noise": unit / rows.longest},
    )


def _joint(curator: Curator, rows: BoundedRows) -> LinearFit:
    cross, d = rows.cross(gram=True), rows.features.order
    measured = curator.measure(cross, share=curator.remaining, label="X'X and X'y")
    unit = cross.features.noise(measured.std)[0]
    matrix = cross.matrix(measured.values)
    smallest = max(float(np.linalg.eigvalsh(matrix)[0]), 0.0)
    ridge = max(0.0, unit * math.sqrt(d * math.log(2.0 * d * d / VARRHO)) - smallest)
    return rows.fit(
        curator,
        solved(matrix + ridge * np.eye(d), cross.products(measured.values)),
        rows=rows.count(matrix),
        details={"ridge": ridge, "noise": unit / rows.longest},
    )
