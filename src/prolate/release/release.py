"""The result of a private computation: an estimate, its noise, and what each part cost.

Nothing in a `Release` depends on private rows except through noisy measurements, so it may be
shown, stored and sent. It is written as JSON with a schema version. Reading is strict: a field
that is unknown, missing or of another type is refused, because a release that is only half
understood is worse than none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from prolate.budget import Budget, Neighbors
from prolate.errors import ReleaseError, did_you_mean, listed
from prolate.release import views, words
from prolate.release.arrays import check_arrays, frozen
from prolate.release.intervals import normal_interval
from prolate.release.json import OPTIONAL_FIELDS, RELEASE_FIELDS, plain
from prolate.release.receipt import ReceiptEntry, check_paid
from prolate.release.shown import Shown
from prolate.release.unit import Unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["STATISTICS", "Release", "installed_version"]

STATISTICS = (
    "mean",
    "sum",
    "count",
    "variance",
    "quantile",
    "regression",
    "covariance",
    "correlation",
)
_MATRICES = ("covariance", "correlation")


@cache
def installed_version() -> str:
    """Return the version of Prolate that is running, or ``"unknown"`` if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("prolate")
    except PackageNotFoundError:
        return "unknown"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Release(Shown):
    """The result of a private computation.

    Attributes
    ----------
    statistic : str
        What was estimated: ``"mean"``, ``"sum"``, ``"count"``, ``"variance"``, ``"quantile"``,
        ``"regression"``, ``"covariance"`` or ``"correlation"``.
    estimate : ndarray of float64, shape (d,), or (q, d) for several quantiles, or (d, d)
        The private estimate, in the units of the columns (squared for a variance, products of
        two for a covariance). For a regression: the coefficients, then the intercept. Means and
        quantiles lie within public bounds, and those of booleans between 0 and 1; counts,
        variances and sums may lie beyond what is possible, as noise leads there; printed, they are
        the nearest possible number.
    columns : tuple of str, length d
        The names of the columns. For a regression, of the features, then ``"intercept"``.
    noise_std : ndarray of float64, shape of `estimate`, or None
        Standard deviation of the privacy noise alone, in the units of `estimate` (where columns
        are pooled, of what is left of it); the largest
        float (shown as inf) where the estimate says nothing. None for a regression whose method
        cannot state it.
    sampling_std : ndarray of float64, shape of `estimate`, or None
        Standard deviation of the sampling error, computed from private scales. None if it
        cannot be stated.
    n : float
        Number of rows, or of persons if they count once each. Exact, or a noisy count
        (`n_is_noisy`).
    budget : Budget
        The most that the whole release may have cost.
    neighbors : {"replace", "add-remove"}
        Which change to one row, or one person, the guarantee hides; see `prolate.mean`.
    method : str
        How the estimate was computed.
    error_norm : float or "relative"
        The p of the l_p error that the noise was shaped for, or ``"relative"``.
    receipt : tuple of ReceiptEntry
        Every measurement that was made, and its cost.
    warnings : tuple of str
        What to know before using the numbers.
    private : bool
        False if a seed was given: the noise can then be recomputed and removed.
    details : dict
        Other facts that are public or protected by noise, such as ``{"q": [0.5]}``. Only values
        that JSON can hold.
    prolate_version : str
        The version of Prolate that made the release.
    error_covariance : ndarray of float64, shape (d, d), or None
        For a regression whose method states it: the covariance of the errors of `estimate`,
        sampling error and privacy noise together.
    unit : Unit or None
        Whom the guarantee protects, if that is a person who may own many rows; None for a row.
        The budget and the receipt are then stated for persons.
    clipping_std : ndarray of float64, shape of `estimate`, or None
        An allowance, as a standard deviation, for what clipping may have removed (or pooling of
        columns that are alike), and for rounding if there are very many rows.

    Raises
    ------
    ReleaseError
        If shapes disagree, a number is not finite, or the receipt exceeds the budget.
    """

    _what: ClassVar = "release"
    _schema: ClassVar = "prolate.release"
    _schema_version: ClassVar = 1

    statistic: str
    estimate: NDArray[np.float64]
    columns: tuple[str, ...]
    noise_std: NDArray[np.float64] | None
    sampling_std: NDArray[np.float64] | None = None
    n: float
    budget: Budget
    neighbors: Neighbors
    method: str
    error_norm: float | Literal["relative"] = 2.0
    receipt: tuple[ReceiptEntry, ...] = ()
    warnings: tuple[str, ...] = ()
    private: bool = True
    details: dict[str, Any] = field(default_factory=dict)
    prolate_version: str = field(default_factory=installed_version)
    error_covariance: NDArray[np.float64] | None = None
    unit: Unit | None = None
    clipping_std: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        for name in ("estimate", "noise_std", "sampling_std", "clipping_std", "error_covariance"):
            if getattr(self, name) is not None:
                put(name, frozen(name, getattr(self, name)))
        for name in ("columns", "receipt", "warnings"):
            put(name, tuple(getattr(self, name)))
        put("n", float(self.n))
        relative = self.error_norm in ("relative", 0.0)  # the first versions stored 0
        put("error_norm", "relative" if relative else float(self.error_norm))
        put("private", bool(self.private))
        put("details", plain(self.details, "details"))
        put("budget", words.budget_with_keys(self))
        self._check()

    def _check(self) -> None:
        if self.statistic not in STATISTICS:
            raise ReleaseError(
                f"statistic must be one of {', '.join(STATISTICS)}; got {self.statistic!r}."
            )
        if self.neighbors not in get_args(Neighbors):
            raise ReleaseError(
                f"neighbors must be 'replace' or 'add-remove'; got {self.neighbors!r}."
            )
        check_arrays(self)
        norm = 1.0 if self.error_norm == "relative" else self.error_norm
        if not math.isfinite(self.n) or not norm >= 1.0:
            raise ReleaseError("n must be finite, and error_norm at least 1 or 'relative'.")
        check_paid(self.receipt, self.budget)

    def __getitem__(self, column: str | int) -> float | NDArray[np.float64]:
        """Return the estimate of a column by its name; 2020 is the column "2020".

        It is a number; of several quantiles an array of one each; and of a covariance an array
        of those with every column.

        Examples
        --------
        >>> r = Release(statistic="mean", estimate=[2.0, 5.5], columns=("visits", "age"),
        ...     noise_std=[0.5, 0.1], n=100, budget=Budget(mu=1), neighbors="replace",
        ...     method="auto")
        >>> float(r["age"])
        5.5
        """
        whole = isinstance(column, int | np.integer) and not isinstance(column, bool)
        name = str(column) if whole else column
        if name not in self.columns:
            hint = did_you_mean(name, self.columns) if isinstance(name, str) else ""
            raise KeyError(
                f"There is no column {column!r} in this release.{hint} "
                f"Its columns are {listed(self.columns)}."
            )
        return self.estimate[..., self.columns.index(name)][()]

    __iter__ = None  # names are not counted: without this, release[0], release[1], ... would be

    def interval(self, level: float = 0.95) -> NDArray[np.float64]:
        """Return a normal confidence interval for each number of `estimate`.

        It is ``estimate -+ z sqrt(noise_std**2 + sampling_std**2 + clipping_std**2)``. A term
        that is None is left out, and so is the sampling error of a sum. For a regression it is
        ``estimate -+ z sqrt(diagonal of error_covariance)``. Where no population has such a
        value, it is cut off: below 0 for variances and counts, beyond -1 and 1 for
        correlations, and beyond the public bounds for means, quantiles and sums (0 and 1 for
        booleans; for a sum, times the number of rows). An estimate beyond is taken as the nearest
        possible value, so that no interval is a single point for that. `interval_covers` says
        in words what the interval covers.

        Parameters
        ----------
        level : float
            The confidence level of each interval alone, strictly between 0 and 1.

        Returns
        -------
        ndarray of float64, shape of `estimate` + (2,)
            Lower and upper ends, in the units of `estimate`.

        Raises
        ------
        InputError
            If `level` is not strictly between 0 and 1.
        ReleaseError
            If this is a regression that states no errors: of its method, or of too few rows.
        """
        return normal_interval(self, level)

    @property
    def has_intervals(self) -> bool:
        """Whether there is an `interval`; some regressions have none, as `interval` says."""
        return self.statistic != "regression" or self.error_covariance is not None

    @property
    def omits_sampling(self) -> bool:
        """Whether `interval` leaves out the sampling error."""
        if self.statistic == "regression":
            return False
        return self.statistic == "sum" or self.sampling_std is None

    @property
    def n_is_noisy(self) -> bool:
        """Whether `n` is a noisy count, because the true number is private."""
        rows = self.unit is not None and self.unit.max_rows is not None
        return self.neighbors == "add-remove" or rows or "group" in self.details

    @property
    def interval_covers(self) -> str:
        """What `interval` covers, in plain words."""
        return words.interval_covers(self)

    @property
    def guarantee(self) -> str:
        """One sentence that says exactly what is guaranteed."""
        if self.private and words.is_public(self):
            return words.no_guarantee_needed(self)
        return words.guarantee(self)

    def table(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Return one record (a dict) for each number of `estimate`.

        Its fields are ``column``, ``estimate``, ``noise_std``, ``sampling_std``, ``lower`` and
        ``upper``. After ``column`` comes ``q`` if there are several quantiles, or ``with``, the
        other column of a covariance or correlation. What is not stated is None.

        Parameters
        ----------
        level : float
            The confidence level of the interval from ``lower`` to ``upper``.

        Examples
        --------
        >>> r = Release(statistic="mean", estimate=[2.0], columns=("age",), noise_std=[0.5],
        ...     n=100, budget=Budget(mu=1), neighbors="replace", method="auto")
        >>> r.table(0.95)[0]["column"], round(r.table(0.95)[0]["lower"], 3)
        ('age', 1.02)
        """
        return list(self._records(np.ndindex(self.estimate.shape), level))

    def _records(self, places: Iterable[tuple[int, ...]], level: float) -> Iterator[dict[str, Any]]:
        """Yield the records of `table` for the numbers at some places of `estimate`."""
        level = views.confidence(level)  # also where there are no intervals
        ends = self.interval(level) if self.has_intervals else None
        second = self.second_label
        labels = self.columns if self.is_matrix else self.quantile_labels if second else ()
        for index in places:
            record: dict[str, Any] = {"column": self.columns[index[-1]]}
            if second is not None:
                record[second] = labels[index[0]]
            record["estimate"] = float(self.estimate[index])
            for name in ("noise_std", "sampling_std"):
                std = getattr(self, name)
                record[name] = None if std is None else float(std[index])
            for side, name in enumerate(("lower", "upper")):
                record[name] = None if ends is None else float(ends[index][side])
            yield record

    def _fields(self) -> dict[str, type]:
        second = self.second_label
        label = {} if second is None else {second: str if self.is_matrix else float}
        return {"column": str, **label, **dict.fromkeys(views.NUMBERS, float)}

    @property
    def is_matrix(self) -> bool:
        """Whether `estimate` has one row and one column for each of the columns."""
        return self.statistic in _MATRICES

    @property
    def second_label(self) -> str | None:
        """What the rows of `estimate` stand for: ``"q"``, ``"with"``, or None for a vector."""
        if self.is_matrix:
            return "with"
        return "q" if self.estimate.ndim == 2 else None

    @property
    def quantile_labels(self) -> list[float]:
        """The q of each row of `estimate`, if there are several."""
        count = self.estimate.shape[0]
        labels = self.details.get("q")
        if not isinstance(labels, list) or len(labels) != count:
            return [float(i) for i in range(count)]
        return [float(q) if isinstance(q, int | float) else math.nan for q in labels]

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain Python values, ready for JSON; `from_dict` reads them."""
        fields: dict[str, Any] = {"schema": self._schema, "schema_version": self._schema_version}
        for item in dataclass_fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray | tuple) and item.name != "receipt":
                value = value.tolist() if isinstance(value, np.ndarray) else list(value)
            fields[item.name] = value
        fields["unit"] = None if self.unit is None else self.unit.to_dict()
        for name in ("clipping_std", "error_covariance", "unit"):
            if fields[name] is None:
                del fields[name]
        if self.error_norm == math.inf:
            fields["error_norm"] = "inf"
        fields["budget"] = self.budget.to_dict()
        fields["receipt"] = [entry.to_dict() for entry in self.receipt]
        fields["details"] = plain(self.details, "details")
        return fields

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Return the release that `to_dict` described, or raise `ReleaseError`."""
        known = cls._read(fields, RELEASE_FIELDS, OPTIONAL_FIELDS)
        known["receipt"] = tuple(
            ReceiptEntry.from_dict(entry, f"receipt[{i}]")
            for i, entry in enumerate(known["receipt"])
        )
        return cls(**known)

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw each estimate: a thick line for its noise, a thin one for the whole interval.

        If the intervals of many columns would be too small to see on one axis, each column is
        drawn in percent of its estimate instead. A covariance is drawn as a map of
        correlations.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        level : float
            The confidence level of the intervals, strictly between 0 and 1.
        """
        from prolate.release import plot

        return plot.plot(self, ax, level)

    def __repr__(self) -> str:
        return views.text(self)
