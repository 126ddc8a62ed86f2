"""The private mean, by Prolate's own method or by another published one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from prolate import estimators
from prolate.api.group_columns import By, Keys
from prolate.api.job import Job
from prolate.api.options import Columns, Engine, MeanOptions
from prolate.arguments import check_clip, check_ellipse, check_method, check_norm
from prolate.budget import Budget, Neighbors
from prolate.calls import explained
from prolate.curator import Curator, Progress
from prolate.errors import InputError, shown
from prolate.estimators import Estimate
from prolate.ledger import Ledger
from prolate.public_numbers import Bounds, Vector, read_vector
from prolate.release import GroupedRelease, Release
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


@overload
def mean(data: object, *, by: None = None, **options: Unpack[MeanOptions]) -> Release: ...
@overload
def mean(data: object, *, by: By, **options: Unpack[MeanOptions]) -> GroupedRelease: ...
@explained("prolate.mean(data, budget=prolate.Budget(epsilon=1, delta=1e-6))")
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
        A two-dimensional NumPy array; a pandas, polars, pyarrow, DuckDB or Ibis table (anything
        with ``__arrow_c_stream__``); a series of pandas or polars, as one column; a scipy.sparse
        matrix; a Spark data frame; or the path or glob of Parquet, CSV or Arrow files.
    budget : Budget
        What the release may cost.
    columns : str, int or sequence of them, optional
        The columns to use, by name (or place, in an array); all by default.
    bounds : (lower, upper) or {column: (lower, upper)}, optional
        Public bounds, known without looking at the data. Values outside are clipped to them.
        With ``method="auto"``, and with methods that need bounds, boolean columns have the
        bounds (0, 1) unless you give others; lists have no types, so theirs have none.
    error_norm : float or "relative"
        The p of the l_p error to make small, finite and at least 1. Errors are in the columns'
        own units, so columns of large numbers count most. ``"relative"`` makes the noise
        proportional to each column's spread; use it if columns have different units.
    neighbors : {"replace", "add-remove"}
        ``"replace"``: data sets differ in the values of one row, and the number of rows is
        public. ``"add-remove"``: one of them has one row more, and the number of rows is
        private.
    method : str
        One of:

        - ``"auto"``: Prolate's own method (`prolate.estimators.mean`).
        - ``"gaussian"``: the plain Gaussian mechanism. Needs `bounds`.
        - ``"gaussian-ellipse"``: Poulsen's mechanism for normal rows. Needs `center` and
          `scale`.

        The others are faithful copies of published methods, for comparison:

        - ``"plan"`` and ``"plan-noscale"`` (binary search), ``"plan-exponential"`` (the
          exponential mechanism) and ``"iome"``. They take the largest bound, or 2**20 without
          bounds, as the largest value that may occur.
        - ``"coinpress"``: needs `bounds`, and takes half the width of the widest as its bound
          on the standard deviations.
    clip : "auto", "optimal" or float
        For the methods ``"auto"`` and ``"gaussian-ellipse"``. A number between 0 and 1 is the
        fraction of rows to clip. ``"auto"`` chooses the clipping radius from private
        measurements; with ``"gaussian-ellipse"`` it clips one normal row in n. ``"optimal"``,
        with ``"gaussian-ellipse"`` only, clips the fraction that is best for normal rows around
        the center (`prolate.theory.best_clip`).
    center, scale : float, array of shape (d,) or {column: float}, optional
        Public centers and standard deviations; a dict names every column. With ``method="auto"``,
        those that you give need not be searched for. ``method="gaussian-ellipse"`` needs both.
    rotation : "auto", optional
        ``"auto"`` measures correlations if there are enough rows to pay for it, and sums along
        the principal axes if that helps. For ``method="auto"`` and ``error_norm=2``.
    seed : int, optional
        Makes the release repeatable, and so not private.
    ledger : Ledger, path or URL, optional
        A ledger to charge with the budget, before any private row is measured.
    progress : bool or callable
        True shows a progress bar on a terminal. A callable is called with (label, rows done,
        rows in all), the last of which is None where it is not known. With `keys`, the label
        ``"groups"`` counts groups instead of rows.
    engine : "spark", optional
        Lets the tasks of a Spark cluster read Parquet files. Not needed for a Spark data frame.
    exchangeable : bool
        Set it to True if the order of the rows carries no information about them. With many
        rows, Prolate then searches the first rows for centers and scales. Otherwise it searches
        a random sample, which takes a pass over all rows. Privacy does not depend on it.
    unit : str or int, optional
        The column that says which person each row belongs to. It protects persons, who may own
        many rows, instead of single rows (`prolate.sources.persons`). All rows without a label
        count as one person's. The column is not averaged unless `columns` names it.
    contribution : {"mean", "rows"}
        How a person counts. ``"mean"``: once, with the mean of their rows. ``"rows"``: with at
        most `max_rows` of their rows, chosen at random, each as a row.
    max_rows : int, optional
        The most rows that count per person, from 1 to 1,000,000. Needed with
        ``contribution="rows"``, and only then allowed.
    by : str, int or sequence of them, optional
        The column, or columns, that say which group each row is in. Each group gets a release
        of its own; the budget is for all of them together (`prolate.api.terms`). With `unit`, a
        person is in the group of their first row, and their rows in other groups do not count;
        with ``contribution="rows"``, each row counts in its own group. The rows of all groups
        are held in memory. Of a Spark data frame, whose rows stay there, it is one column, with
        `keys` and without `unit`.
    keys : sequence of str or int, optional
        The groups, which must be public, written as in the rows (capitals count); rows of
        other groups are left out. With several columns in `by`, give tuples,
        ``[("north", "f"), ...]``, or ``{"region": [...], "sex": [...]}`` for all combinations.
        Without `keys`, a part of the budget is spent on finding groups that are too large to be
        a single person's. This needs a budget with a delta.

    Returns
    -------
    Release, or GroupedRelease with `by`
        `estimate` has shape (d,), in the units of the columns. See the notes for missing
        values, shrinkage, pooling and columns that are summed alone.

    Raises
    ------
    InputError, BudgetError
        If an argument, the schema or the budget is unsuitable; never because of a value.
    LedgerError
        If the ledger refuses the charge.

    Notes
    -----
    *Privacy.* The release is exactly mu-GDP with mu = ``budget.mu``. It is (epsilon,
    delta)-differentially private for every delta and ``budget.epsilon_at(delta)``. With
    ``method="plan-exponential"`` it is only rho-zCDP. A budget in epsilon and delta then buys
    less (`Budget.for_zcdp`), and the release's own `budget` shows how much. With `by` and
    without `keys`, the guarantee is the stated epsilon and delta, part of which pays for showing
    the groups (`prolate.api.terms`).

    The rest is about ``method="auto"``.

    *Missing values*, and values that are not finite, are left out if private counts show that a
    column has some. They do if an eighth to a fifth of the rows are missing, or fewer if there
    are many rows for the budget. Otherwise a missing value counts as equal to the private
    center.

    *Shrinkage.* If at least 16 columns are nearly constant, such as the items of shopping
    baskets, means smaller than their noise are shrunk towards the columns' usual value
    (`prolate.estimators.shrink`). `noise_std` is the noise before shrinkage, and
    ``details["shrunk_columns"]`` is the number of columns that were moved, if any were.

    *Pooling.* The means of eight columns or more that differ by hardly more than noise, as those of
    gradients, embeddings or residuals do, are drawn towards each other by as much as is likely
    noise (`prolate.estimators.partial_pooling`: James and Stein 1961, Efron and Morris 1975); where
    `center` is given, what they are off by. Columns that are unlike stay where they are.
    `noise_std` is then what is left of the noise, `clipping_std` contains what pooling may have
    taken, and ``details["pooled_columns"]`` is the number of columns whose error is smaller by a
    twentieth or more. Nothing is pooled with a number as `clip`, along principal axes, and of sums
    within public bounds.

    *Columns apart.* Columns that differ in kind from the others have a part of the budget for
    themselves: flags of few rows, up to twenty columns of unlike tails, one to three that reach
    much farther than the others, and one so large that nearly all of the error would be its own.
    ``details["columns_apart"]`` is their number.

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
    if rotation is not None and (not isinstance(rotation, str) or rotation != "auto"):
        raise InputError(f"rotation must be 'auto' or None; got {shown(rotation)}.")
    if rotation is not None and method != "auto":
        raise InputError(f"rotation is for method='auto'; got method={method!r}.")

    def vectors(columns: Sequence[str]) -> tuple[NDArray[np.float64] | None, ...]:
        at = read_vector("center", center, columns)
        return at, read_vector("scale", scale, columns, positive=True)

    def estimate(curator: Curator) -> Estimate:
        at, spread = vectors(curator.columns)
        if method == "auto" and part != "optimal":
            asked = estimators.Asked(p, part, at, spread, rotate=rotation == "auto")
            return estimators.mean(curator, asked)
        if at is not None and spread is not None:
            return estimators.elliptical_mean(
                curator, center=at, scale=spread, error_norm=p, clip=part
            )
        if method == "gaussian":
            return estimators.bounded_mean(curator)
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
        needs_public_rows=method.startswith("plan") or method in ("iome", "coinpress"),
        check=vectors,
        asked={"clip": None if part == "auto" else part, "rotation": rotation},
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
