"""The private mean, by Prolate's own method and by those of others."""

from __future__ import annotations

import os
from typing import Literal

from prolate import estimators
from prolate._release_groups import GroupedRelease
from prolate.api.ellipse import check_ellipse
from prolate.arguments import Bounds, Vector, check_clip, check_method, check_norm, read_vector
from prolate.budget import Budget, Neighbors
from prolate.curator import Curator, Progress
from prolate.errors import InputError
from prolate.estimators import Estimate
from prolate.group_columns import By, Keys
from prolate.job import Columns, Engine, Job, typed
from prolate.ledger import Ledger
from prolate.release import Release
from prolate.rivals import coinpress, iome, plan

__all__ = ["MEAN_METHODS", "mean"]

MEAN_METHODS = (
    "auto",
    "plan",
    "plan-noscale",
    "plan-exponential",
    "gaussian",
    "gaussian-ellipse",
    "iome",
    "coinpress",
)


@typed
def mean(
    data: object,
    *,
    budget: Budget,
    columns: Columns | None = None,
    bounds: Bounds | None = None,
    error_norm: float | Literal["relative"] = 2,
    neighbors: Neighbors = "replace",
    method: str = "auto",
    clip: float | Literal["auto", "optimal"] = "auto",
    center: Vector | None = None,
    scale: Vector | None = None,
    rotation: Literal["auto"] | None = None,
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
    """Release the private mean of every column: no bounds, center or scale needed.

    Parameters
    ----------
    data : table
        Two-dimensional NumPy array; pandas, polars, pyarrow, DuckDB, Ibis (anything with
        ``__arrow_c_stream__``); scipy.sparse; a Spark data frame; a path or glob of Parquet,
        CSV or Arrow files.
    budget : Budget
        What the release may cost.
    columns : str, int or sequence of them, optional
        The columns to use; all by default.
    bounds : (lower, upper) or {column: (lower, upper)}, optional
        Public bounds, known without looking at the data. Values are cut to them. Columns whose
        type is boolean have (0, 1), if none are given for them.
    error_norm : float or "relative"
        The p >= 1 of the l_p error that is to be small, in the columns' own units: large
        numbers count most. ``"relative"`` makes errors over the columns' spreads alike,
        which is for columns of different units.
    neighbors : {"replace", "add-remove"}
        ``"replace"``: one row takes another value, and the number of rows is public.
        ``"add-remove"``: one row is there or not, and the number of rows is private.
    method : str
        ``"auto"`` is Prolate's own (`prolate.estimators.mean`); ``"gaussian"`` is the plain
        Gaussian mechanism, and needs bounds; ``"gaussian-ellipse"`` is Poulsen's mechanism
        for normal rows, and needs `center` and `scale`. The others are rivals, honest copies of
        published methods: ``"plan"`` and ``"plan-noscale"`` (binary search),
        ``"plan-exponential"`` (the exponential mechanism) and ``"iome"`` take the largest
        bound, or 2**20, as the largest value that may occur; ``"coinpress"`` needs bounds,
        and takes half of the widest as its bound of the standard deviations.
    clip : "auto", "optimal" or float
        A number between 0 and 1 is the part of the rows to clip. ``"auto"`` chooses the
        clipping radius from private measurements; for ``method="gaussian-ellipse"`` it
        clips one normal row in n, and ``"optimal"`` what is best for normal rows around
        the center (`prolate.theory.best_clip`). For these two methods.
    center, scale : float, array of shape (d,) or {column: float}, optional
        Public centers and standard deviations; with ``method="auto"`` what is given need
        not be searched, and ``method="gaussian-ellipse"`` needs both.
    rotation : "auto", optional
        ``"auto"`` measures correlations where the rows can pay for it, and sums along the
        principal axes where that helps. For ``method="auto"`` and ``error_norm=2``.
    seed : int, optional
        Makes the release repeatable, and not private.
    ledger : Ledger, path or URL, optional
        Charged with the budget before any private row is measured.
    progress : bool or callable
        True shows a bar on a terminal; a callable gets (label, rows done, rows in all), where
        these are known; with `keys`, for the label ``"groups"``, groups in place of rows.
    engine : "spark", optional
        Lets the tasks of a Spark cluster read Parquet files. A data frame of Spark's needs no
        engine.
    exchangeable : bool
        Whether the order of the rows says nothing about them, so that where rows are many,
        the first ones may be searched for centers and scales instead of a random sample,
        which takes a pass over all rows. Privacy does not depend on it.
    unit : str or int, optional
        The column that says whose a row is. Persons, who may own many rows, are then what
        is protected, in place of rows (`prolate.sources.persons`); rows without a label are
        one person's. The column is not averaged unless `columns` names it.
    contribution : {"mean", "rows"}
        ``"mean"``: each person counts once, with the mean of their rows. ``"rows"``: at most
        `max_rows` random rows of each person count, each as a row.
    max_rows : int, optional
        For ``contribution="rows"``.
    by : str, int or sequence of them, optional
        The column that says which group a row is in, or several; there is a release for each
        group, and the budget is that of all together (`prolate.terms`). With `unit`, persons
        are in the group of their first row, and their rows in others do not count; but with
        ``contribution="rows"`` each row counts in its own. The rows of all groups are held in
        memory.
    keys : sequence of str or int, optional
        The groups, public; rows of others are left out. With several columns tuples,
        ``[("north", "f"), ...]``, or ``{"region": [...], "sex": [...]}`` for all combinations.
        Without it, the groups that are
        surely large enough not to be one person's are found, which needs a budget with a delta.

    Returns
    -------
    Release, or GroupedRelease with `by`
        `estimate` has shape (d,). Values that are missing, or not finite, are left out where
        private counts show that a column has some (an eighth to a fifth of the rows, or fewer
        where they are many for the budget); else they count as no deviation from the private
        center. Where at least 16 columns are nearly constant, such as the items of baskets,
        means that are smaller than their noise are drawn towards the columns' usual value
        (`prolate.estimators.shrink`); `noise_std` is the noise before that, and
        ``details["shrunk_columns"]`` says how many they are. One to three columns of heavy tails
        among others that have none are summed by themselves, with a part of the budget, and so
        is one that is so large that nearly all of the error is its own:
        ``details["columns_apart"]``.

    Raises
    ------
    InputError, BudgetError
        If an argument, the schema or the budget will not do; never because of a value.
    LedgerError
        If the ledger refuses.

    Notes
    -----
    The release is mu-GDP for ``budget.mu``, exactly, and (epsilon, delta)-differentially
    private as ``budget.epsilon_at`` says. With ``method="plan-exponential"`` it is only
    rho-zCDP: a budget in epsilon and delta then buys less (`Budget.for_zcdp`), as the
    release's own `budget` shows.

    Examples
    --------
    >>> import numpy as np, prolate
    >>> rows = np.random.default_rng(1).normal([170, 70], [10, 15], size=(5000, 2))
    >>> r = prolate.mean(rows, budget=prolate.Budget(epsilon=1, delta=1e-6), seed=1)
    >>> r.estimate.round().tolist(), r.private
    ([170.0, 70.0], False)
    """
    p = check_norm(error_norm)
    check_method(method, MEAN_METHODS)
    part = check_clip(clip)
    check_ellipse(method, part, center, scale, also="auto")
    if rotation not in ("auto", None):
        raise InputError(f"rotation must be 'auto' or None; got {rotation!r}.")
    if rotation is not None and method != "auto":
        raise InputError(f"rotation is for method='auto'; got method={method!r}.")

    def estimate(curator: Curator) -> Estimate:
        at = read_vector("center", center, curator.columns)
        spread = read_vector("scale", scale, curator.columns, positive=True)
        if method == "auto" and part != "optimal":
            return estimators.mean(
                curator,
                error_norm=p,
                clip=part,
                center=at,
                scale=spread,
                rotate=rotation == "auto",
            )
        if at is not None and spread is not None:
            return estimators.elliptical_mean(
                curator, center=at, scale=spread, error_norm=p, clip=part
            )
        if method == "gaussian":
            return estimators.bounded_mean(curator, error_norm=p, elliptical=False)
        if method == "iome":
            return iome(curator)
        if method == "coinpress":
            return coinpress(curator)
        return plan(
            curator,
            error_norm=p,
            scaling=method != "plan-noscale",
            search="exponential" if method == "plan-exponential" else "binary",
        )

    job = Job(
        statistic="mean",
        method=method,
        error_norm=p,
        estimate=estimate,
        needs_bounds=method in ("gaussian", "coinpress"),
        needs_zcdp=method == "plan-exponential",
        pairs_rows=method.startswith("plan"),
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
        exchangeable=exchangeable,
        unit=unit,
        contribution=contribution,
        max_rows=max_rows,
        by=by,
        keys=keys,
    )
