"""The private covariance, or correlation, matrix."""

from __future__ import annotations

import os
from typing import Literal, Unpack, overload

from prolate import estimators
from prolate.api.group_columns import By, Keys
from prolate.api.job import Job
from prolate.api.options import Columns, CovarianceOptions, Engine
from prolate.arguments import check_flag
from prolate.budget import Budget, Neighbors
from prolate.calls import explained
from prolate.curator import Curator, Progress
from prolate.estimators import Estimate
from prolate.ledger import Ledger
from prolate.public_numbers import Bounds
from prolate.release import GroupedRelease, Release

__all__ = ["covariance"]


@overload
def covariance(
    data: object, *, by: None = None, **options: Unpack[CovarianceOptions]
) -> Release: ...
@overload
def covariance(data: object, *, by: By, **options: Unpack[CovarianceOptions]) -> GroupedRelease: ...
@explained("prolate.covariance(data, budget=prolate.Budget(epsilon=1, delta=1e-6))")
def covariance(
    data: object,
    *,
    budget: Budget,
    columns: Columns | None = None,
    bounds: Bounds | None = None,
    correlation: bool = False,
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
    """Release the private covariance matrix of the columns (divided by n): no bounds needed.

    Booleans, and columns with public `bounds` that are not much wider than their values, are
    measured without a clip, if all columns are such: rare values count in full.

    Parameters
    ----------
    correlation : bool
        Whether to release correlations instead of covariances.
    data, budget, columns, bounds, neighbors, seed, ledger, progress, engine,
    exchangeable, unit, contribution, max_rows, by, keys
        As for `mean`.

    Returns
    -------
    Release, or GroupedRelease with `by`
        `estimate` has shape (d, d) and is symmetric and positive semidefinite. Covariances are
        in products of the columns' units. Eigenvalues that are mostly noise are shrunk towards
        the others (`prolate.estimators.covariance.spectrum`); `noise_std` is the noise before
        that. `clipping_std` allows for what clipping may have removed. The sampling part of the
        intervals is that of normal data, scaled by how much more the rows' squares vary.

    Raises
    ------
    InputError, BudgetError, LedgerError
        As for `mean`.

    Examples
    --------
    >>> import numpy as np, prolate
    >>> x = np.random.default_rng(1).normal(size=(20000, 2))
    >>> rows = np.column_stack([x[:, 0], x[:, 0] + 2 * x[:, 1]])
    >>> r = prolate.covariance(rows, budget=prolate.Budget(mu=1), seed=1)
    >>> r.estimate.round().tolist()
    [[1.0, 1.0], [1.0, 5.0]]
    """
    scaled = check_flag("correlation", correlation)

    def estimate(curator: Curator) -> Estimate:
        return estimators.covariance(curator, correlation=scaled)

    statistic = "correlation" if scaled else "covariance"
    job = Job(statistic=statistic, method="auto", error_norm=2.0, estimate=estimate)
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
