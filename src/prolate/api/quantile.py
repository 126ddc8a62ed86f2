"""Private quantiles, of one or several columns, within one budget."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from prolate import estimators
from prolate.api.group_columns import By, Keys
from prolate.api.job import Job
from prolate.api.options import Columns, Engine, QuantileOptions
from prolate.arguments import read_quantiles
from prolate.budget import Budget, Neighbors
from prolate.calls import explained
from prolate.curator import Curator, Progress
from prolate.estimators import Estimate
from prolate.ledger import Ledger
from prolate.public_numbers import Bounds
from prolate.release import GroupedRelease, Release

__all__ = ["quantile"]

_SURELY = 6.0  # standard deviations within which there is no other whole number


@overload
def quantile(
    data: object, q: ArrayLike, *, by: None = None, **options: Unpack[QuantileOptions]
) -> Release: ...
@overload
def quantile(
    data: object, q: ArrayLike, *, by: By, **options: Unpack[QuantileOptions]
) -> GroupedRelease: ...
@explained("prolate.quantile(data, 0.5, budget=prolate.Budget(epsilon=1, delta=1e-6))")
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
        the units of the columns. Missing values do not count. `noise_std` is 0 where a column
        holds whole numbers, by its type, and no other one is near.

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
        found = _sure_of_whole(estimators.quantile(curator, probabilities), curator)
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


def _sure_of_whole(found: Estimate, curator: Curator) -> Estimate:
    """Return quantiles without errors where columns hold whole numbers, and no other one is near.

    A quantile of whole numbers is one. If the estimate is one as well, and its errors are too
    small to reach another, then an interval around it holds the quantile if and only if it is the
    estimate, whatever the width. What is measured is as it was; types of columns are public.
    """
    if found.noise_std is None or found.sampling_std is None:
        return found
    value, noise, sampling = found.value, found.noise_std, found.sampling_std
    sure = curator.are_whole & (np.rint(value) == value)
    sure &= np.hypot(noise, sampling) < 0.5 / _SURELY
    return replace(
        found,
        noise_std=np.where(sure, 0.0, noise),
        sampling_std=np.where(sure, 0.0, sampling),
    )
