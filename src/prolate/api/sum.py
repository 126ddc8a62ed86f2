"""The private sum, of bounded rows or of rows clipped to a public ellipse."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from prolate import estimators
from prolate.api.group_columns import By, Keys
from prolate.api.job import Job
from prolate.api.options import Columns, Engine, SumOptions
from prolate.arguments import check_clip, check_ellipse, check_method, check_norm
from prolate.budget import Budget, Neighbors
from prolate.calls import explained
from prolate.curator import Curator, Progress
from prolate.estimators import Estimate
from prolate.ledger import Ledger
from prolate.public_numbers import Bounds, Vector, read_vector
from prolate.release import GroupedRelease, Release

__all__ = ["SUM_METHODS", "sum"]

SUM_METHODS = ("auto", "gaussian", "gaussian-ellipse")


@overload
def sum(  # noqa: A001
    data: object, *, by: None = None, **options: Unpack[SumOptions]
) -> Release: ...
@overload
def sum(  # noqa: A001
    data: object, *, by: By, **options: Unpack[SumOptions]
) -> GroupedRelease: ...
@explained("prolate.sum(data, bounds=(0, 100), budget=prolate.Budget(epsilon=1, delta=1e-6))")
def sum(  # noqa: A001  the name that users look for
    data: object,
    *,
    budget: Budget,
    bounds: Bounds | None = None,
    columns: Columns | None = None,
    error_norm: float | Literal["relative"] = 2,
    neighbors: Neighbors = "replace",
    method: str = "auto",
    clip: float | Literal["auto", "optimal"] = "auto",
    center: Vector | None = None,
    scale: Vector | None = None,
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
    """Release the private sum of every column, by the elliptical Gaussian mechanism.

    Parameters
    ----------
    bounds : (lower, upper) or {column: (lower, upper)}
        Public bounds of every column, known without looking at the data. Values outside are
        clipped to them. A missing value counts as 0, or as the bound nearest to 0. Boolean
        columns have the bounds (0, 1) unless you give others; lists have no types, so theirs
        have none. Not needed with ``method="gaussian-ellipse"``.
    method : {"auto", "gaussian", "gaussian-ellipse"}
        ``"auto"`` gives the noise the shape that is best for the l_p error under these bounds
        (Poulsen, Algorithm 2; PLAN, Lemma C.2). ``"gaussian"`` is the plain Gaussian mechanism.
        ``"gaussian-ellipse"`` instead clips rows to an ellipse around `center` with the shape
        of `scale` (Poulsen, Algorithm 3); a missing value then counts as the center.
    clip, center, scale
        As for `mean`, with ``method="gaussian-ellipse"`` only.
    data, budget, columns, error_norm, neighbors, seed, ledger, progress, engine, unit,
    contribution, max_rows, by, keys
        As for `mean`.

    Returns
    -------
    Release, or GroupedRelease with `by`
        `estimate` has shape (d,), in the units of the columns. Its intervals are for the sum
        of these rows, and so hold no sampling error.

    Raises
    ------
    InputError, BudgetError, LedgerError
        As for `mean`.

    Examples
    --------
    >>> import numpy as np, prolate
    >>> rows = np.array([[30.0, 1.0], [40.0, 0.0]] * 1000)
    >>> r = prolate.sum(rows, bounds=([0, 0], [120, 1]), budget=prolate.Budget(mu=1), seed=1)
    >>> [round(float(s), 1) for s in r.noise_std]
    [120.5, 11.0]
    """
    p = check_norm(error_norm)
    check_method(method, SUM_METHODS)
    part = check_clip(clip)
    check_ellipse(method, part, center, scale)

    def vectors(columns: Sequence[str]) -> tuple[NDArray[np.float64] | None, ...]:
        at = read_vector("center", center, columns)
        return at, read_vector("scale", scale, columns, positive=True)

    def estimate(curator: Curator) -> Estimate:
        at, spread = vectors(curator.columns)
        if at is not None and spread is not None:
            return estimators.elliptical_sum(
                curator, center=at, scale=spread, error_norm=p, clip=part
            )
        return estimators.bounded_sum(curator, error_norm=p, elliptical=method == "auto")

    job = Job(
        statistic="sum",
        method=method,
        error_norm=p,
        estimate=estimate,
        needs_bounds=method != "gaussian-ellipse",
        check=vectors,
        asked={"clip": None if part == "auto" else part},
    )
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
