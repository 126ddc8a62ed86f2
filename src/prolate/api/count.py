"""The private number of rows, or of persons."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

import numpy as np

from prolate._release_groups import GroupedRelease
from prolate.budget import Budget, Neighbors
from prolate.curator import Curator, Progress
from prolate.estimators import Estimate
from prolate.job import Columns, Engine, Job, typed
from prolate.ledger import Ledger
from prolate.queries import Count
from prolate.release import Release

__all__ = ["count"]


@typed
def count(
    data: object,
    *,
    budget: Budget,
    columns: Columns | None = None,
    neighbors: Neighbors = "replace",
    seed: int | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    progress: bool | Progress = False,
    engine: Engine | None = None,
    unit: str | int | None = None,
    contribution: Literal["mean", "rows"] = "mean",
    max_rows: int | None = None,
    by: str | int | None = None,
    keys: Sequence[str | int] | None = None,
) -> Release | GroupedRelease:
    """Release the private number of rows, or of persons; in each group, with `by`.

    Parameters
    ----------
    columns : str, int or sequence of them, optional
        Without `unit` and `by`, any numeric columns: rows are counted in them, all of them.
    data, budget, neighbors, seed, ledger, progress, engine, unit, contribution, max_rows, by, keys
        As for `mean`. With ``neighbors="replace"``, and without `by`, the number is public, and
        is released as it is. With `unit`, persons are counted, or rows of which each
        person has at most `max_rows`.

    Returns
    -------
    Release, or GroupedRelease with `by`
        `estimate` has shape (1,). It is not rounded, and may be negative where there are few.

    Raises
    ------
    InputError, BudgetError, LedgerError
        As for `mean`.

    Examples
    --------
    >>> import pyarrow as pa, prolate
    >>> table = pa.table({"region": ["north"] * 500 + ["south"] * 300})
    >>> budget = prolate.Budget(mu=1)
    >>> r = prolate.count(table, by="region", keys=["north", "south"], budget=budget, seed=1)
    >>> {key: round(one.estimate[0], -1).item() for key, one in r.groups.items()}
    {'north': 500.0, 'south': 300.0}
    """

    def estimate(curator: Curator) -> Estimate:
        if curator.neighbors == "replace":
            number, noise = float(curator.public_rows()), 0.0
        else:
            query = Count(curator.dimension)
            measured = curator.measure(query, share=curator.remaining, label="count")
            number, noise = float(measured.values[0]), measured.std
        return Estimate(np.array([number]), np.array([noise]), None, number)

    if columns is None and not (unit is None and by is None):
        columns = ()
    counted = "rows" if unit is None or contribution == "rows" else "persons"
    job = Job(
        statistic="count",
        method="auto",
        error_norm=2.0,
        estimate=estimate,
        names=lambda _: (counted,),
    )
    return job.release(
        data,
        columns=columns,
        bounds=None,
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
