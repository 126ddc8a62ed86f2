"""The expected error of a private mean, before any data is touched."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from prolate.arguments import check_budget
from prolate.arrays import Floats
from prolate.budget import Budget, Neighbors
from prolate.calls import explained
from prolate.errors import InputError, shown
from prolate.forecast import views
from prolate.forecast.question import Question
from prolate.forecast.reading import METHODS, read_question, read_rows
from prolate.parallel import computed_once
from prolate.public_numbers import Bounds, as_number
from prolate.release.files import json_text
from prolate.sources.threads import ignoring
from prolate.theory import RELATIVE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["METHODS", "Forecast", "expected_error"]

_FIRST_MU = 1.0  # where the search for a budget starts, if none is given


@dataclass(frozen=True, kw_only=True, eq=False)
class Forecast:
    """The expected error of a private mean; `str` gives it as a table.

    Errors are expected l_p distances over all columns, (E |error|_p**p)**(1 / p). For p = 2
    that is the root mean square.

    Attributes
    ----------
    n, columns : int
        Number of rows and number of columns.
    budget : Budget
        The budget of the release.
    method, neighbors : str
        As for `prolate.mean`.
    error_norm : float or "relative"
        The p. ``"relative"`` errors are l_2 distances after dividing each column by its `scale`.
    noise : float
        Expected distance between the private mean and the mean of the rows: the cost of
        privacy, from noise and clipping together.
    noise_std : float64 array of shape (d,)
        The same for each column alone, as a root mean square.
    sampling : float
        Expected distance between the mean of the rows and the mean of the population: the
        cost of having only n rows, without any privacy.
    total : float
        Expected distance between the private mean and the mean of the population: both
        together.
    shares : dict of str to float
        How the budget will be divided, as fractions of mu**2.
    radius, clipped : float or None
        The clipping radius, in scaled rows, and the fraction of rows beyond it.
    target : float or None
        The error that was asked for.
    needed : Budget or None
        The budget at which `noise` is about `target`.
    warnings : tuple of str
        What such a release is likely to warn of.
    """

    n: int
    columns: int
    budget: Budget
    method: str
    neighbors: Neighbors
    error_norm: float | Literal["relative"]
    noise: float
    noise_std: Floats
    sampling: float
    total: float
    shares: dict[str, float]
    radius: float | None = None
    clipped: float | None = None
    target: float | None = None
    needed: Budget | None = None
    warnings: tuple[str, ...] = ()
    question: Question = field(repr=False)

    @computed_once
    def rows_needed(self) -> int | None:
        """The number of rows from which `noise` is below `sampling`; None if above 2**38.

        It is computed at first use, which takes some ten more forecasts. `str` has it only where
        that was done, or takes no time.
        """
        return self.question.rows_needed(self.n, self.noise, self.budget)

    @property
    def knows_rows_needed(self) -> bool:
        """Whether `rows_needed` was computed, or is computed in no time."""
        return "rows_needed" in vars(self) or self.method == "gaussian-ellipse"

    def __str__(self) -> str:
        return views.text(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the forecast as plain values, ready for JSON."""
        return views.plain(self)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the forecast as JSON text, and write it to `path` if one is given.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write.

        Raises
        ------
        ReleaseError
            If the file cannot be written.
        """
        return json_text(self.to_dict(), path)

    def _repr_html_(self) -> str:
        return views.html(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the noise error and the sampling error against the number of rows.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        return views.plot(self, ax)


_TOO_LARGE = "The error is too large to compute; use a larger budget or a smaller error_norm."


@explained("prolate.expected_error(n=20000, d=3, budget=prolate.Budget(epsilon=1, delta=1e-6))")
@ignoring("over", "invalid")
def expected_error(
    *,
    n: int,
    d: int | None = None,
    scale: ArrayLike | None = None,
    budget: Budget | None = None,
    method: str = "auto",
    error_norm: float | Literal["relative"] = 2,
    neighbors: Neighbors = "replace",
    clip: float | Literal["auto", "optimal"] = "auto",
    center: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    bounds: Bounds | None = None,
    booleans: bool = False,
    target: float | None = None,
    delta: float | None = None,
) -> Forecast:
    """Return the error to expect of `prolate.mean`, from public numbers only.

    No data is read and no budget is spent. The rows are imagined: n rows whose columns are
    normal, within their bounds, and independent. The method itself runs on the answers that such
    rows would give (`prolate.forecast`), so its searches, shares and warnings are those of a
    release. For ``method="gaussian-ellipse"`` the error is computed from formulas instead.

    Parameters
    ----------
    n : int
        Number of rows.
    d : int, optional
        Number of columns. Needed unless `scale` is an array.
    scale : float or array of shape (d,), optional
        Standard deviations of the columns. By default 1, so that errors are in standard
        deviations.
    budget : Budget, optional
        What the release may cost. It may be left out if `target` is given; the forecast is
        then for the budget that the target needs.
    method : {"auto", "plan", "plan-noscale", "gaussian", "gaussian-ellipse"}
        As for `prolate.mean`.
    error_norm, neighbors, clip
        As for `prolate.mean`.
    center : float or array of shape (d,), optional
        The means of the columns. Means far from 0 take longer to search for; alike ones are
        released with less noise. By default they are unlike each other: around the middle of the
        bounds, or 5 to 15 times `scale` if there are no bounds; those of booleans are a half.
    offset : float or array of shape (d,), optional
        For ``method="gaussian-ellipse"``: how far the public centers are from the means, in
        the units of the columns; 0 by default.
    bounds : (lower, upper), optional
        Public bounds, assumed to contain all values. ``method="gaussian"`` needs them.
    booleans : bool
        Whether all columns are booleans by their type. Then `center` is the part of the rows that
        is true, .5 by default, and `scale` and `bounds` follow from it.
    target : float, optional
        A noise error that you want to reach. The forecast then says in `needed` which budget
        that takes.
    delta : float, optional
        The delta at which `needed` is stated as an epsilon. By default `needed` is in the
        currency of `budget`.

    Returns
    -------
    Forecast

    Raises
    ------
    InputError, BudgetError
        If an argument is unsuitable, or if no budget reaches the target.

    Examples
    --------
    >>> import prolate
    >>> f = prolate.expected_error(n=20000, d=10, budget=prolate.Budget(epsilon=1, delta=1e-6))
    >>> round(f.sampling, 4), 0.001 < f.noise < 0.01
    (0.0224, True)
    """
    question = read_question(
        d=d,
        scale=scale,
        center=center,
        bounds=bounds,
        booleans=booleans,
        method=method,
        error_norm=error_norm,
        neighbors=neighbors,
        clip=clip,
        offset=offset,
    )
    rows = read_rows(n)
    if target is not None and not 0.0 < as_number(target) < math.inf:
        raise InputError(f"target must be a positive, finite number; got {shown(target)}.")
    if delta is not None:
        Budget(mu=1.0).epsilon_at(delta)  # refuses what is no delta
    needed = None
    if target is not None:
        like = Budget(mu=_FIRST_MU) if budget is None else check_budget(budget)
        needed = _stated(question.budget_needed(rows, float(target), like.mu), like, delta)
    elif budget is None:
        raise InputError("Give a budget, or a target to find the budget for, or both.")
    price = check_budget(needed if budget is None else budget)
    try:
        found = question.expect(rows, price)
    except OverflowError:
        raise InputError(_TOO_LARGE) from None
    if not math.isfinite(found.noise):
        raise InputError(_TOO_LARGE)
    sampling = question.scale / math.sqrt(rows)
    return Forecast(
        n=rows,
        columns=question.scale.size,
        budget=price,
        method=method,
        neighbors=neighbors,
        error_norm="relative" if question.error_norm == RELATIVE else question.error_norm,
        noise=found.noise,
        noise_std=found.noise_std,
        sampling=question.sampling(rows),
        total=question.length(np.hypot(found.noise_std, sampling)),
        shares=found.shares,
        radius=found.radius,
        clipped=found.clipped,
        target=None if target is None else float(target),
        needed=needed,
        warnings=found.warnings,
        question=question,
    )


def _stated(mu: float, like: Budget, delta: float | None) -> Budget:
    """Return the budget as epsilon at a delta, or in the currency of another one."""
    delta = like.stated.get("delta") if delta is None else delta
    if delta is not None:
        epsilon = Budget(mu=mu).epsilon_at(delta)
        if epsilon > 0.0:
            return Budget(epsilon=epsilon, delta=delta)
    return Budget(rho=0.5 * mu**2) if "rho" in like.stated else Budget(mu=mu)
