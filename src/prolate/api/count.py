"""The private number of rows, or of persons."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, Unpack, cast, overload

import numpy as np

from prolate.api.group_columns import By, Keys
from prolate.api.job import Job
from prolate.api.options import Columns, CountOptions, Engine
from prolate.budget import Budget, Neighbors
from prolate.calls import explained
from prolate.curator import Curator, Progress
from prolate.errors import InputError
from prolate.estimators import Estimate
from prolate.ledger import Ledger
from prolate.queries import Count
from prolate.release import GroupedRelease, Release
from prolate.sources import Source, open_source
from prolate.sources.paths import Paths, as_paths

__all__ = ["count"]

_ALL = (
    "All rows are counted, also those where a column has no value: columns make no difference. To "
    "count the values that are there, release the sum of a column of booleans that says where they "
    "are."
)


@overload
def count(data: object, *, by: None = None, **options: Unpack[CountOptions]) -> Release: ...
@overload
def count(data: object, *, by: By, **options: Unpack[CountOptions]) -> GroupedRelease: ...
@explained("prolate.count(data, budget=prolate.Budget(epsilon=1, delta=1e-6))")
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
    by: By | None = None,
    keys: Keys | None = None,
) -> Release | GroupedRelease:
    """Release the private number of rows or of persons, or of those in each group with `by`.

    Parameters
    ----------
    columns : str, int or sequence of them, optional
        Any numeric columns. They make no difference, because all rows are counted, also those
        where the column has no value, as a warning then says. To count the values that are
        there, release the `sum` of a column of booleans that says where they are, such as
        ``frame[["age"]].notna()``.
    data, budget, neighbors, seed, ledger, progress, engine, unit, contribution, max_rows, by, keys
        As for `mean`. With ``neighbors="replace"``, and without `by` or `max_rows`, the number
        is public and is released without noise. With `unit`, the count is of persons; with
        ``contribution="rows"``, of rows, at most `max_rows` per person.

    Returns
    -------
    Release, or GroupedRelease with `by`
        `estimate` has shape (1,). It is not rounded, and a noisy count of few rows may be
        negative.

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
    warnings = () if columns is None else (_ALL,)

    def estimate(curator: Curator) -> Estimate:
        if curator.neighbors == "replace":
            number, noise = float(curator.public_rows()), 0.0
        else:
            query = Count(curator.dimension)
            measured = curator.measure(query, share=curator.remaining, label="count")
            number, noise = float(measured.values[0]), measured.std
        return Estimate(np.array([number]), np.array([noise]), None, number, warnings=warnings)

    if columns is None and unit is None and by is None:
        data = _rows(data, engine)
    elif columns is None:
        columns = ()
    counted = "rows" if unit is None or max_rows is not None else "persons"
    job = Job(
        statistic="count",
        method="auto",
        error_norm=2.0,
        estimate=estimate,
        only_counts=True,
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


def _rows(data: object, engine: Engine | None) -> object:
    """Return the data, or one column to count rows in if some columns are not numeric."""
    source = _opened(data, None)
    if source is not None:  # a stream that can be read once has been
        return source if engine is None else data
    names = _names(data)
    for name in names:
        source = _opened(data, [name])
        if source is not None:
            return source if engine is None else open_source(data, [name], engine=engine)
    for name in names:  # rows of labels are rows; all files may have another than the first one
        source = _opened(data, (), [name])
        if source is not None:
            return source
    return data  # of which is said what is wrong with it when it is opened


def _opened(
    data: object, columns: Sequence[str] | None, labels: Sequence[str] = ()
) -> Source | None:
    """Return a source, or None; an error would keep a query of DuckDB's open, which has one."""
    try:
        return open_source(data, columns, labels=labels)
    except InputError:
        return None


def _names(data: object) -> list[str]:
    """Return the names of columns, as far as they are easily known."""
    if as_paths(data):
        from prolate.sources.files import first_file

        return list(first_file(cast("Paths", data)).names)
    if type(data).__name__ == "LazyFrame":  # no table yet, and warns if it is asked for names
        return []
    schema = getattr(data, "schema", None)
    for holder, name in ((data, "column_names"), (data, "columns"), (schema, "names")):
        found: Any = getattr(holder, name, None)
        room = type(found).__module__.partition(".")[0]
        # Spark Connect takes any attribute for a column, which cannot be listed.
        if isinstance(found, list | tuple) or room == "pandas":
            return [name for name in found if isinstance(name, str)]
    return []
