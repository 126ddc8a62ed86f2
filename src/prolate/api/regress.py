"""Private linear regression: the function, and the job that it shares with the estimator."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from prolate.api.group_columns import By, Keys, columns_of
from prolate.api.job import Job
from prolate.api.options import Engine, RegressOptions
from prolate.arguments import check_flag, check_method
from prolate.budget import Budget, Neighbors
from prolate.calls import explained
from prolate.curator import Curator, Progress
from prolate.errors import InputError, shown
from prolate.estimators import Estimate
from prolate.estimators.regression.linear_fit import LinearFit
from prolate.ledger import Ledger
from prolate.public_numbers import Bounds, as_number
from prolate.release import GroupedRelease, Release
from prolate.sources.paired import open_table

__all__ = ["REGRESSION_METHODS", "fit_job", "regress", "regression_job"]

REGRESSION_METHODS = ("auto", "ssp", "adassp", "adassp-fixed")

_UNIT_BALL = (
    "All rows are taken to be of length 1 at most, and targets to lie between -1 and 1, since no "
    "bounds were given: others are shortened, which makes slopes far too small. Give bounds of "
    "every column, or use method='auto', which needs none."
)


@overload
def regress(
    data: object, target: str | int, *, by: None = None, **options: Unpack[RegressOptions]
) -> Release: ...
@overload
def regress(
    data: object, target: str | int, *, by: By, **options: Unpack[RegressOptions]
) -> GroupedRelease: ...
@explained("prolate.regress(data, 'target', budget=prolate.Budget(epsilon=1, delta=1e-6))")
def regress(
    data: object,
    target: str | int,
    *,
    budget: Budget,
    features: str | Sequence[str] | None = None,
    bounds: Bounds | None = None,
    neighbors: Neighbors = "replace",
    method: str = "auto",
    accounting: str = "joint",
    fit_intercept: bool = True,
    alpha: float | None = None,
    seed: int | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    progress: bool | Progress = False,
    engine: Engine | None = None,
    unit: str | int | None = None,
    contribution: Literal["mean", "rows"] = "mean",
    max_rows: int | None = None,
    by: By | None = None,
    keys: Keys | None = None,
) -> Release | GroupedRelease:
    """Release a private linear regression of one column on others, or one per group with `by`.

    `LinearRegression` releases the same numbers, and can predict.

    Parameters
    ----------
    target : str or int
        The column to explain.
    features : str or sequence of str, optional
        The columns to explain it with. By default all others, except those of `unit` and `by`.
    method, accounting, bounds, fit_intercept, alpha
        As for `LinearRegression`.
    data, budget, neighbors, seed, ledger, progress, engine, unit, contribution, max_rows, by, keys
        As for `mean`. With `unit` and ``contribution="mean"``, the regression is fitted to the
        means of persons.

    Returns
    -------
    Release, or GroupedRelease with `by`
        `estimate` has shape (k + 1,) for k features: the slopes, in the units of the data, and
        the intercept.

    Raises
    ------
    InputError, BudgetError, LedgerError
        As for `mean`.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa, prolate
    >>> rng = np.random.default_rng(1)
    >>> age, ward = rng.normal(50, 9, 20_000), rng.choice(["north", "south"], 20_000)
    >>> cost = np.where(ward == "north", 2.0, 5.0) * age + rng.normal(size=20_000)
    >>> table = pa.table({"age": age, "ward": ward, "cost": cost})
    >>> given = {"by": "ward", "keys": ["north", "south"], "seed": 1}
    >>> r = prolate.regress(table, "cost", budget=prolate.Budget(mu=5), **given)
    >>> {key: round(one.estimate[0]) for key, one in r.groups.items()}
    {'north': 2, 'south': 5}
    """
    job = regression_job(
        method=method,
        accounting=accounting,
        fit_intercept=fit_intercept,
        alpha=alpha,
        neighbors=neighbors,
        counted=by is not None or max_rows is not None,
        bounded=bounds is not None,
    )
    labels = [*([] if unit is None else [unit]), *columns_of(by)]
    if isinstance(target, bool) or not isinstance(target, str | int | np.integer):
        raise InputError(
            "The target must be the name of a column of the data, such as 'cost'; got "
            f"{shown(target)}. Where it is an array of its own, use LinearRegression().fit(X, y)."
        )
    return job.release(
        open_table(data, target, features, engine, labels),
        columns=None,
        bounds=bounds,
        budget=budget,
        neighbors=neighbors,
        seed=seed,
        ledger=ledger,
        progress=progress,
        unit=unit,
        contribution=contribution,
        max_rows=max_rows,
        by=by,
        keys=keys,
    )


def regression_job(
    *,
    method: str,
    accounting: str,
    fit_intercept: bool,
    alpha: float | None,
    neighbors: Neighbors,
    counted: bool,
    bounded: bool,
) -> Job:
    """Return the job of the regression that the arguments ask for, once they are all checked.

    `counted` says whether there are groups, or several rows of a person: the number of rows is
    then private, and the budget of a group is another than the one that is stated. `bounded` says
    whether bounds are given.
    """
    fit = _fit_of(
        method=method,
        accounting=accounting,
        fit_intercept=fit_intercept,
        alpha=alpha,
        private_rows=counted or neighbors == "add-remove",
        counted=counted,
    )
    asked: dict[str, str | float | None] = {
        "accounting": None if accounting == "joint" else accounting,
        "alpha": None if alpha is None else float(alpha),
    }
    needs_bounds = method != "auto" and bounded
    return fit_job(
        fit, method=method, needs_bounds=needs_bounds, fit_intercept=fit_intercept, asked=asked
    )


def fit_job(
    measure: Callable[[Curator], LinearFit],
    *,
    method: str,
    needs_bounds: bool,
    fit_intercept: bool,
    asked: Mapping[str, str | float | None] | None = None,
) -> Job:
    """Return the job that releases a fit to rows whose last column is the target."""

    def estimate(curator: Curator) -> Estimate:
        fit = measure(curator)
        noise, sampling = fit.noise_std, None
        if fit.covariance is not None and noise is not None:
            both = np.diagonal(fit.covariance)
            known = np.isfinite(both)
            rest = np.where(known, both, 0.0) - np.where(known, noise, 0.0) ** 2
            sampling = np.sqrt(np.maximum(rest, 0.0))
        about = {"target": curator.columns[-1], "fit_intercept": bool(fit_intercept)}
        return Estimate(
            np.append(fit.coef, fit.intercept),
            noise,
            sampling,
            fit.rows,
            fit.warnings,
            {**about, **fit.details},
            error_covariance=fit.covariance,
        )

    return Job(
        statistic="regression",
        method=method,
        error_norm=2.0,
        estimate=estimate,
        needs_bounds=needs_bounds,
        names=_coefficients,
        asked={} if asked is None else asked,
    )


def _coefficients(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the slopes, and one for the intercept that no feature has."""
    features, intercept = columns[:-1], "intercept"
    while intercept in columns:
        intercept = f"({intercept})"
    return (*features, intercept)


def _fit_of(
    *,
    method: str,
    accounting: str,
    fit_intercept: bool,
    alpha: float | None,
    private_rows: bool,
    counted: bool,
) -> Callable[[Curator], LinearFit]:
    """Return the fit that the arguments ask for, once they are all checked."""
    check_method(method, REGRESSION_METHODS)
    intercept = check_flag("fit_intercept", fit_intercept)
    if not isinstance(accounting, str) or accounting not in ("joint", "basic"):
        raise InputError(f"accounting must be 'joint' or 'basic'; got {shown(accounting)}.")
    if method == "auto":
        if accounting != "joint":
            raise InputError(
                "accounting='basic' is for the published methods (ssp, adassp, "
                "adassp-fixed); method='auto' is one joint release."
            )
        penalty = _penalty(alpha)

        def auto(curator: Curator) -> LinearFit:
            from prolate.estimators.regression import regression

            return regression(curator, fit_intercept=intercept, alpha=penalty)

        return auto
    if alpha is not None:
        raise InputError(f"alpha is for method='auto'; got method={method!r}.")
    if counted and accounting == "basic":
        raise InputError(
            "accounting='basic' is defined for rows, not for groups or several rows of a person; "
            "use accounting='joint'."
        )
    if private_rows and not intercept:
        raise InputError(
            "Without an intercept the published methods do not measure the number of rows, "
            "which is private under neighbors='add-remove', in groups and with max_rows; use "
            "fit_intercept=True."
        )

    def published(curator: Curator) -> LinearFit:
        from prolate import rivals

        center, scale = _unit_ball(curator)
        given: dict[str, Any] = {"fit_intercept": intercept, "accounting": accounting}
        if method == "ssp":
            found = rivals.ssp(curator, center=center, scale=scale, **given)
        else:
            fixed = method == "adassp-fixed"
            found = rivals.adassp(curator, center=center, scale=scale, fixed=fixed, **given)
        said = (_UNIT_BALL,) if curator.bounds is None else ()
        return replace(found, warnings=(*said, *found.warnings))

    return published


def _unit_ball(curator: Curator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the public center and scale that bring bounded rows into the unit ball.

    The features together into the unit ball, the target into [-1, 1].
    """
    width = curator.dimension
    if curator.bounds is None:
        return np.zeros(width), np.ones(width)
    lower, upper = curator.bounds
    half = upper / 2.0 - lower / 2.0
    scale = np.where(half > 0.0, half, 1.0)
    scale[:-1] *= math.sqrt(width - 1)
    return lower / 2.0 + upper / 2.0, scale


def _penalty(alpha: object) -> float | None:
    if alpha is None:
        return None
    value = as_number(alpha)
    if not 0.0 <= value < math.inf:
        raise InputError(
            f"alpha must be a finite number, 0 or larger, or None; got {shown(alpha)}."
        )
    return value
