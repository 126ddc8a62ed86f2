"""The private variance of every column."""

from __future__ import annotations

import os
from typing import Literal, Unpack, overload

from prolate import estimators
from prolate.api.group_columns import By, Keys
from prolate.api.job import Job
from prolate.api.options import Columns, Engine, VarianceOptions
from prolate.arguments import check_norm
from prolate.budget import Budget, Neighbors
from prolate.calls import explained
from prolate.curator import Curator, Progress
from prolate.estimators import Estimate
from prolate.ledger import Ledger
from prolate.public_numbers import Bounds
from prolate.release import GroupedRelease, Release

__all__ = ["variance"]


@overload
def variance(data: object, *, by: None = None, **options: Unpack[VarianceOptions]) -> Release: ...
@overload
def variance(data: object, *, by: By, **options: Unpack[VarianceOptions]) -> GroupedRelease: ...
@explained("prolate.variance(data, budget=prolate.Budget(epsilon=1, delta=1e-6))")
def variance(
    data: object,
    *,
    budget: Budget,
    columns: Columns | None = None,
    bounds: Bounds | None = None,
    error_norm: float | Literal["relative"] = 2,
    neighbors: Neighbors = "replace",
    seed: int | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    progress: bool | Progress = False,
    engine: Engine | None = None,
    exchangeable: bool = False,
    unit: str | int | None = None,
    contribution: Literal["mean", "rows"] = "mean",
    max_rows: int | None = None,
    by: By | None = None,
    keys: Keys | None = None,
) -> Release | GroupedRelease:
    """Release the private variance (divided by n) of every column: no bounds needed.

    Parameters
    ----------
    data, budget, columns, bounds, error_norm, neighbors, seed, ledger, progress, engine,
    exchangeable, unit, contribution, max_rows, by, keys
        As for `mean`; `error_norm` is about the errors of the variances.

    Returns
    -------
    Release, or GroupedRelease with `by`
        `estimate` has shape (d,), in squared units of the columns. The sampling part of
        its intervals is that of normal data, scaled by how much more the rows' squares vary;
        ``details["sampling"]`` says what it assumes. Variances of eight columns and more that are
        alike are drawn towards each other, as the means of `mean` are (see its notes).

    Raises
    ------
    InputError, BudgetError, LedgerError
        As for `mean`.

    Examples
    --------
    >>> import numpy as np, prolate
    >>> rows = np.random.default_rng(1).normal(0, [1, 2], size=(20000, 2))
    >>> r = prolate.variance(rows, budget=prolate.Budget(mu=1), seed=1)
    >>> r.estimate.round().tolist()
    [1.0, 4.0]
    """
    p = check_norm(error_norm)

    def estimate(curator: Curator) -> Estimate:
        return estimators.variance(curator, error_norm=p)

    job = Job(statistic="variance", method="auto", error_norm=p, estimate=estimate)
    return job.release(
        data,
        columns=columns,
        bounds=bounds,
        budget=budget,
        neighbors=neighbors,
        seed=seed,
        ledger=ledger,
        progress=progress,
        engine=engine,
        exchangeable=exchangeable,
        unit=unit,
        contribution=contribution,
        max_rows=max_rows,
        by=by,
        keys=keys,
    )
