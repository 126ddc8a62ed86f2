"""Private quantiles, of one or several columns, within one budget."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Literal, Unpack, overload

from numpy.typing import ArrayLike

from prolate import estimators
from prolate.api.group_columns import By, Keys
from prolate.api.job import Job
from prolate.api.options import Columns, Engine, QuantileOptions
from prolate.arguments import Bounds, read_quantiles
from prolate.budget import Budget, Neighbors
from prolate.curator import Curator, Progress
from prolate.estimators import Estimate
from prolate.ledger import Ledger
from prolate.release import GroupedRelease, Release

__all__ = ["quantile"]


@overload
def quantile(
    data: object, q: ArrayLike, *, by: None = None, **options: Unpack[QuantileOptions]
) -> Release: ...
@overload
def quantile(
    data: object, q: ArrayLike, *, by: By, **options: Unpack[QuantileOptions]
) -> GroupedRelease: ...
def quantile(
    data: object,
    q: ArrayLike,
    *,
    budget: Budget,
    columns: Columns | None = None,
    bounds: Bounds | None = None,
    neighbors: Neighbors = "replace",
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
    """Release one or several private quantiles of every column: no bounds needed.

    All of them together cost one budget.

    Parameters
    ----------
    q : float or sequence of floats
        Probabilities between 0 and 1, such as 0.5 for the median.
    data, budget, columns, bounds, neighbors, seed, ledger, progress, engine, unit,
    contribution, max_rows, by, keys
        As for `mean`.

    Returns
    -------
    Release, or GroupedRelease with `by`
        `estimate` has shape (d,) if `q` is a number and (len(q), d) if it is a sequence, in
        the units of the columns. Missing values do not count.

    Raises
    ------
    InputError, BudgetError, LedgerError
        As for `mean`.

    Examples
    --------
    >>> import numpy as np, prolate
    >>> rows = np.arange(10000.0).reshape(-1, 1)
    >>> r = prolate.quantile(rows, [0.25, 0.5], budget=prolate.Budget(mu=1), seed=1)
    >>> (r.estimate / 1000).round(1).tolist()
    [[2.5], [5.0]]
    """
    probabilities, single = read_quantiles(q)

    def estimate(curator: Curator) -> Estimate:
        found = estimators.quantile(curator, probabilities)
        details = {**found.details, "q": probabilities.tolist()}
        if not single:
            return replace(found, details=details)
        stds = {name: getattr(found, name) for name in ("noise_std", "sampling_std")}
        firsts: dict[str, Any] = {
            name: None if std is None else std[0] for name, std in stds.items()
        }
        return replace(found, value=found.value[0], details=details, **firsts)

    job = Job(statistic="quantile", method="auto", error_norm=2.0, estimate=estimate)
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
        unit=unit,
        contribution=contribution,
        max_rows=max_rows,
        by=by,
        keys=keys,
    )
