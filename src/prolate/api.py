"""The public functions: check the arguments, open the rows, run an estimator, sign the release."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prolate import estimators
from prolate.arguments import (
    Bounds,
    Vector,
    check_budget,
    check_clip,
    check_method,
    check_norm,
    read_bounds,
    read_quantiles,
    read_vector,
)
from prolate.budget import Budget, Neighbors
from prolate.curator import Curator, Progress
from prolate.errors import InputError
from prolate.estimators import Estimate
from prolate.ledger import Ledger
from prolate.release import ReceiptEntry, Release
from prolate.rivals import coinpress, iome, plan
from prolate.sources import open_source

__all__ = ["mean", "quantile", "sum", "variance"]

Columns = str | int | Sequence[str | int]

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
SUM_METHODS = ("auto", "gaussian", "gaussian-ellipse")


def mean(
    data: object,
    *,
    budget: Budget,
    columns: Columns | None = None,
    bounds: Bounds | None = None,
    error_norm: float = 2,
    neighbors: Neighbors = "replace",
    method: str = "auto",
    clip: float | Literal["auto", "optimal"] = "auto",
    center: Vector | None = None,
    scale: Vector | None = None,
    rotation: Literal["auto"] | None = None,
    seed: int | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    progress: bool | Progress = False,
) -> Release:
    """Release the private mean of every column: no bounds, center or scale needed.

    Parameters
    ----------
    data : table
        Two-dimensional NumPy array; pandas, polars, pyarrow, DuckDB, Ibis (anything with
        ``__arrow_c_stream__``); scipy.sparse; a path or glob of Parquet, CSV or Arrow files.
    budget : Budget
        What the release may cost.
    columns : str, int or sequence of them, optional
        The columns to use; all by default.
    bounds : (lower, upper) or {column: (lower, upper)}, optional
        Public bounds, known without looking at the data. Values are cut to them.
    error_norm : float
        The p >= 1 of the l_p error that is to be small.
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
    ledger : Ledger or path, optional
        Charged with the budget before any private row is measured.
    progress : bool or callable
        True shows a bar on a terminal; a callable gets (label, rows done, rows in all).

    Returns
    -------
    Release
        `estimate` has shape (d,). A missing value, or one that is not finite, counts as
        no deviation from the private center. Where at least 16 columns are nearly constant,
        such as the items of baskets, means that are smaller than their noise are drawn
        towards the columns' usual value (`prolate.estimators.shrink`); `noise_std` is the
        noise before that, and ``details["shrunk_columns"]`` says how many they are.

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
    _check_shape(method, part, center, scale, also="auto")
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

    job = _Job(
        "mean",
        method,
        p,
        estimate,
        needs_bounds=method in ("gaussian", "coinpress"),
        needs_zcdp=method == "plan-exponential",
    )
    return job.release(data, columns, bounds, budget, neighbors, seed, ledger, progress)


def sum(  # noqa: A001  the name that users look for
    data: object,
    *,
    budget: Budget,
    bounds: Bounds | None = None,
    columns: Columns | None = None,
    error_norm: float = 2,
    neighbors: Neighbors = "replace",
    method: str = "auto",
    clip: float | Literal["auto", "optimal"] = "auto",
    center: Vector | None = None,
    scale: Vector | None = None,
    seed: int | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    progress: bool | Progress = False,
) -> Release:
    """Release the private sum of every column, by the elliptical Gaussian mechanism.

    Parameters
    ----------
    bounds : (lower, upper) or {column: (lower, upper)}
        Public bounds of every column, known without looking at the data. Values are cut
        to them; a missing value counts as 0, or as the bound next to 0. Only
        ``method="gaussian-ellipse"`` does without.
    method : {"auto", "gaussian", "gaussian-ellipse"}
        ``"auto"`` shapes the noise to the bounds, best for the l_p error (METHOD: Poulsen,
        Algorithm 2; PLAN, Lemma C.2); ``"gaussian"`` is the plain Gaussian mechanism.
        ``"gaussian-ellipse"`` clips rows around `center`, shaped to `scale`, instead
        (Poulsen, Algorithm 3); a missing value then counts as the center.
    clip, center, scale
        As for `mean`, for ``method="gaussian-ellipse"``.
    data, budget, columns, error_norm, neighbors, seed, ledger, progress
        As for `mean`.

    Returns
    -------
    Release
        `estimate` has shape (d,); its intervals are for the sum of these rows.

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
    _check_shape(method, part, center, scale)

    def estimate(curator: Curator) -> Estimate:
        at = read_vector("center", center, curator.columns)
        spread = read_vector("scale", scale, curator.columns, positive=True)
        if at is not None and spread is not None:
            return estimators.elliptical_sum(
                curator, center=at, scale=spread, error_norm=p, clip=part
            )
        return estimators.bounded_sum(curator, error_norm=p, elliptical=method == "auto")

    job = _Job("sum", method, p, estimate, needs_bounds=method != "gaussian-ellipse")
    return job.release(data, columns, bounds, budget, neighbors, seed, ledger, progress)


def variance(
    data: object,
    *,
    budget: Budget,
    columns: Columns | None = None,
    bounds: Bounds | None = None,
    error_norm: float = 2,
    neighbors: Neighbors = "replace",
    seed: int | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    progress: bool | Progress = False,
) -> Release:
    """Release the private variance (divided by n) of every column: no bounds needed.

    Parameters
    ----------
    data, budget, columns, bounds, error_norm, neighbors, seed, ledger, progress
        As for `mean`; `error_norm` is that of the variances' error.

    Returns
    -------
    Release
        `estimate` has shape (d,), in squared units of the columns. The sampling part of
        its intervals is that of normal data.

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

    job = _Job("variance", "auto", p, estimate)
    return job.release(data, columns, bounds, budget, neighbors, seed, ledger, progress)


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
) -> Release:
    """Release private quantiles, several of several columns in one budget: no bounds needed.

    Parameters
    ----------
    q : float or sequence of floats
        Probabilities in [0, 1].
    data, budget, columns, bounds, neighbors, seed, ledger, progress
        As for `mean`.

    Returns
    -------
    Release
        `estimate` has shape (d,) for a single q and (len(q), d) for several. Missing
        values do not count.

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
        return replace(
            found,
            value=found.value[0],
            noise_std=found.noise_std[0],
            sampling_std=None if found.sampling_std is None else found.sampling_std[0],
            details=details,
        )

    job = _Job("quantile", "auto", 2.0, estimate)
    return job.release(data, columns, bounds, budget, neighbors, seed, ledger, progress)


@dataclass(frozen=True)
class _Job:
    """One statistic, from checked arguments to a signed release."""

    statistic: str
    method: str
    error_norm: float
    estimate: Callable[[Curator], Estimate]
    needs_bounds: bool = False
    needs_zcdp: bool = False  # a step is not Gaussian: charged, and stated, in rho

    def release(
        self,
        data: object,
        columns: Columns | None,
        bounds: Bounds | None,
        budget: Budget,
        neighbors: Neighbors,
        seed: int | None,
        ledger: Ledger | str | os.PathLike[str] | None,
        progress: bool | Progress,
    ) -> Release:
        """Open the rows, charge, measure, estimate."""
        price = check_budget(budget)
        if self.needs_zcdp:
            price = price.for_zcdp()
        source = open_source(data, columns)
        limits = read_bounds(bounds, source.columns, required=self.needs_bounds)
        book = Ledger(ledger) if isinstance(ledger, str | os.PathLike) else ledger
        label = f"{self.statistic} of {len(source.columns)} columns"
        with _reporter(progress) as report:
            curator = Curator(
                source,
                price,
                neighbors=neighbors,
                bounds=limits,
                seed=seed,
                charge=None if book is None else lambda: book.charge(price, label),
                progress=report,
            )
            if neighbors == "replace" and curator.public_rows() == 0:
                raise InputError("The data has no rows; there is nothing to release.")
            found = self.estimate(curator)
        return Release(
            statistic=self.statistic,
            estimate=_finite(found.value),
            columns=curator.columns,
            noise_std=_finite(found.noise_std),
            sampling_std=None if found.sampling_std is None else _finite(found.sampling_std),
            n=found.rows,
            budget=price,
            neighbors=curator.neighbors,
            method=self.method,
            error_norm=self.error_norm,
            receipt=tuple(
                ReceiptEntry(
                    label=m.label,
                    query=m.query,
                    size=m.values.size,
                    share=m.share,
                    mu=m.mu,
                    sensitivity=m.sensitivity,
                    noise_std=m.std,
                )
                for m in curator.receipt
            ),
            warnings=found.warnings,
            private=curator.private,
            details=found.details,
        )


def _check_shape(
    method: str,
    clip: float | str,
    center: Vector | None,
    scale: Vector | None,
    *,
    also: str | None = None,
) -> None:
    """Raise `InputError` unless clip, center and scale go with the method.

    They are for method "gaussian-ellipse", which needs the last two, and for `also`.
    """
    given = {"clip": clip != "auto", "center": center is not None, "scale": scale is not None}
    if method == "gaussian-ellipse":
        absent = [name for name in ("center", "scale") if not given[name]]
        if absent:
            example = "center=50" if absent[0] == "center" else "scale=10"
            raise InputError(
                f"method='gaussian-ellipse' needs a public {' and a public '.join(absent)} for "
                f"every column, such as {example}; the method 'auto' of a mean needs neither."
            )
        return
    if clip == "optimal":
        raise InputError(
            "clip='optimal' is for method='gaussian-ellipse', where the rows' shape is known; "
            "use clip='auto'."
        )
    for name, is_given in given.items():
        if is_given and method != also:
            allowed = "'gaussian-ellipse'" if also is None else f"{also!r} and 'gaussian-ellipse'"
            raise InputError(f"{name} is for method={allowed}; got method={method!r}.")


@contextmanager
def _reporter(progress: bool | Progress) -> Iterator[Progress | None]:
    if callable(progress):
        yield progress
    elif progress:
        from prolate.terminal import progress_bar

        with progress_bar() as bar:
            yield cast("Progress", bar) if callable(bar) else None
    else:
        yield None


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `values` cut to what a float can hold: noise may lead past the largest one."""
    largest = float(np.finfo(np.float64).max)
    return np.nan_to_num(values, nan=0.0, posinf=largest, neginf=-largest)
