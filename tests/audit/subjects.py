"""What is audited: every public function, method and rival, and neighbors that try them hard.

A subject is made of a name in `SUBJECTS`. A new source of rows is one line in `SOURCES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
from scipy import sparse

import prolate
from prolate import LinearRegression, rivals
from prolate.api.job import Job
from prolate.api.regress import fit_job
from prolate.budget import Budget
from prolate.curator import Curator
from prolate.estimators import Estimate
from prolate.estimators.regression.linear_fit import LinearFit
from prolate.estimators.search import learn, own_rows
from prolate.queries import Along, ClippedSum, Gram, Products, Query
from prolate.release import Release
from prolate.sklearn import PrivateMean, PrivateScaler
from prolate.sources import open_source

PLACE = 17  # of the row that differs

_RNG = np.random.default_rng(3)
TYPICAL = _RNG.normal([20.0, 0.0, 5.0], [4.0, 1.0, 2.0], size=(300, 3))
LINE = _RNG.normal([20.0, 0.0, 0.0], [4.0, 1.0, 1.0], size=(500, 3))
LINE[:, 2] += LINE[:, 0] - 2.0 * LINE[:, 1]
STEEP = np.random.default_rng(14).standard_normal((10_000, 3))
STEEP[:, 2] = np.exp(0.6 * STEEP[:, 0] + STEEP[:, 2])
BALL = _RNG.uniform(-0.7, 0.7, size=(200, 3))
AMOUNTS = np.random.default_rng(5).exponential(20.0, size=(800, 1))
RARE = np.where(np.arange(600)[:, np.newaxis] % 12, 0.0, AMOUNTS[:600])
BASKETS = (np.random.default_rng(4).random((600, 40)) < 0.05).astype(float)
FLAGS = (np.random.default_rng(13).random((150, 6)) < [0.5, 0.3, 0.1, 0.2, 0.4, 0.1]) * 1.0
TAILS = np.random.default_rng(14).standard_normal((3_000, 3))
TAILS = np.exp(0.7 * (TAILS[:, :1] + TAILS[:, 1:]))
_TURN = np.linalg.qr(_RNG.standard_normal((4, 4)))[0] * [1.0, 0.1, 30.0, 0.01]
CORRELATED = _RNG.standard_normal((1000, 4)) @ _TURN.T
FEW = _RNG.standard_normal((150, 6))
INCOMES = np.random.default_rng(6).standard_normal((3_000, 4))
INCOMES[:, 1] = 0.5 * np.exp(2.0 * np.random.default_rng(7).standard_normal(3_000))
IN_CENTS = INCOMES * [1.0, 1e5, 1.0, 1.0]
SKEWED = np.random.default_rng(11).standard_normal((5_000, 8))
SKEWED[:, 1] = np.exp(0.7 * SKEWED[:, 1])
SKEWED_HOLES = np.where(
    np.random.default_rng(13).random(SKEWED.shape) < 0.2 * (np.arange(8) == 1), np.nan, SKEWED
)
_DRAW = np.random.default_rng(14)
KINDS = np.column_stack(
    [
        _DRAW.random(6_000) < 0.3,
        np.exp(1.2 * _DRAW.standard_normal(6_000)),
        _DRAW.poisson(2.0, 6_000),
        _DRAW.random(6_000) < 0.05,
        _DRAW.standard_normal((6_000, 2)),
    ]
)
GROUP = (
    np.random.default_rng(8).standard_normal((1_000, 4)) + 10.0 * (np.arange(1_000) < 25)[:, None]
)

EVEN = np.random.default_rng(12).uniform(0.0, 100.0, size=(4_000, 1))

HOLES = np.random.default_rng(9).normal([20.0, 0.0, 5.0], [4.0, 1.0, 2.0], size=(3_000, 3))
HOLES[np.random.default_rng(10).random(HOLES.shape) < [0.6, 0.0, 0.3]] = np.nan

BOUNDS = ([0.0, -5.0, -5.0], [40.0, 5.0, 15.0])
CENTER, SCALE = [20.0, 0.0, 5.0], [4.0, 1.0, 2.0]
ELLIPSE = {"method": "gaussian-ellipse", "center": CENTER, "scale": SCALE}
BOTH = ("replace", "add-remove")

# The row that differs, here and there, cut or repeated to the width of the rows: from corner
# to corner; beside a column that stays (the worst for products of columns); a missing value;
# what floating point holds at most, and what it holds no more.
EXTREMES: dict[str, tuple[list[float], list[float]]] = {
    "corners": ([-1e9, -1e9, -1e9], [1e9, 1e9, 1e9]),
    "features flip": ([1e9, 1e9, 1e9], [-1e9, -1e9, 1e9]),
    "beyond a cut": ([1e3, 1e3, 1e9], [-1e3, -1e3, 1e9]),
    "target flips": ([1e9, 1e9, 1e9], [1e9, 1e9, -1e9]),
    "at an angle": ([1.0, 0.0, 1.0], [0.5, 0.75**0.5, -1.0]),
    "across": ([1e9, 0.0, 0.0], [0.0, 1e9, 0.0]),
    "far and near": ([1e9, 1e9, 1e9], [0.0, 0.0, 0.0]),
    "missing": ([np.nan, np.nan, np.nan], [1e9, -1e9, 1e9]),
    "wild": ([np.nan, np.inf, 5.0], [1e300, -1e300, np.nan]),
    "largest": ([1.7976931348623157e308, -1.7976931348623157e308, 5e-324], [-np.inf, 1e16, -0.0]),
    "low bits": ([1.0, 2.0**-30, 5.0], [1.0 + 2.0**-52, 0.1, 5.000000000000001]),
    "typical": ([20.0, 0.0, 5.0], [28.0, 2.0, -10.0]),
}


@dataclass(frozen=True)
class Subject:
    """Something that releases, and the rows to try it on.

    Attributes
    ----------
    make : callable
        From the rows and the keywords budget, neighbors and progress to a release, or to
        something that was fitted and has one.
    rows : array
    relations : tuple of str
    form : callable
        What the rows are made into before they are handed over.
    paired : bool
        Whether neighboring rows are paired, or the first ones searched, so that their order
        counts.
    """

    make: Callable[..., Release | LinearRegression]
    rows: np.ndarray = field(default_factory=lambda: TYPICAL)
    relations: tuple[str, ...] = BOTH
    form: Callable[[np.ndarray], Any] = np.asarray
    paired: bool = False
    slow: bool = False

    def neighbors(self, pair: str, relation: str, *, swap: bool = False) -> tuple[Any, Any]:
        """Return two neighbors; under add-remove, the row is there or not."""
        one, other = (self.with_row(row) for row in EXTREMES[pair][:: -1 if swap else 1])
        if relation == "add-remove":
            other = np.delete(one, PLACE, axis=0)
        return self.form(one), self.form(other)

    def with_row(self, row: list[float]) -> np.ndarray:
        """Return the rows with another one at `PLACE`."""
        rows = self.rows.copy()
        rows[PLACE] = np.resize(row, rows.shape[1])
        return rows


def booleans(rows: np.ndarray) -> np.ma.MaskedArray:
    """Return whether numbers are large, masked where they are missing."""
    return np.ma.array(rows > 10.0, mask=np.isnan(rows))


def fit(rows: Any, *, budget: Budget, progress: Any, **options: Any) -> LinearRegression:
    """Fit a line to the last column, of an array or of the column called x<last>."""
    stated = {"epsilon": None, "delta": None, **budget.stated}
    model = LinearRegression(**stated, **options)
    if isinstance(rows, np.ndarray):
        return model.fit(rows[:, :-1], rows[:, -1], progress=progress)
    return model.fit(rows, open_source(rows).columns[-1], progress=progress)


def rival(
    estimate: Callable[[Curator], Estimate], statistic: str = "mean"
) -> Callable[..., Release]:
    """Return a function like the public ones."""
    job = Job(statistic=statistic, method="rival", error_norm=2.0, estimate=estimate)
    usual = {"columns": None, "bounds": None, "seed": None, "ledger": None}
    return lambda rows, **options: job.release(rows, **usual, **options)


def line(measure: Callable[..., LinearFit], **given: Any) -> Callable[..., Release]:
    """Return a function like the public ones, for a rival of regression."""

    def make(rows: Any, **options: Any) -> Release:
        method = partial(measure, **given)
        job = fit_job(method, method="rival", needs_bounds=False, fit_intercept=True)
        usual = {"columns": None, "bounds": None, "seed": None, "ledger": None}
        return job.release(rows, **usual, **options)

    return make


def of_a_sample(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function as it is with many rows, of which a random sample is searched."""

    def of_many(rows: Any, **options: Any) -> Any:
        honest = Curator.sampled

        def sampled(self: Curator, wanted: float, rows: float) -> Curator:
            return honest(self, min(wanted, 0.45 * rows), rows)

        with mock.patch.object(Curator, "sampled", sampled):
            return make(rows, **options)

    return of_many


def in_parts(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function as it is with many rows, of which each question has its own."""

    def own_rows_of(table: Any, rows: float, _: float) -> Any:
        if not isinstance(table, Curator):
            return None
        parts = table.apart(0.9 * rows, rows, own_rows._PARTS)
        return own_rows._OwnRows(parts, 0.25, 0.06)

    def of_many(rows: Any, **options: Any) -> Any:
        with mock.patch.object(learn, "rows_of_questions", own_rows_of):
            return make(rows, **options)

    return of_many


def of_the_first_rows(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function as it is with many rows, of which the first ones are searched."""
    return of_a_sample(partial(make, exchangeable=True))


def step(kind: Any) -> Callable[..., Any]:
    """Return a step of a pipeline of scikit-learn, fitted to the rows."""

    def fit_step(rows: Any, *, budget: Budget, progress: Any, **options: Any) -> Any:
        return kind(**{"epsilon": None, "delta": None, **budget.stated}, **options).fit(rows)

    return fit_step


def alone(query: Query) -> Callable[..., Release]:
    """Return a function that releases one query's answer, for a query that is rarely asked."""

    def estimate(curator: Curator) -> Estimate:
        found = curator.measure(query, share=1.0, label="alone")
        value = np.resize(found.values, curator.dimension)
        return Estimate(value, np.ones(value.size), None, 1.0)

    return rival(estimate)


_mean, _sum, _variance = prolate.mean, prolate.sum, prolate.variance
_ONE = ("replace",)

SUBJECTS: dict[str, Subject] = {
    "sum": Subject(partial(_sum, bounds=BOUNDS)),
    "sum, plain": Subject(partial(_sum, bounds=BOUNDS, method="gaussian")),
    "sum, ellipse": Subject(partial(_sum, **ELLIPSE)),
    "mean": Subject(_mean),
    "mean, of a sample": Subject(of_a_sample(_mean)),
    "mean, in parts": Subject(in_parts(_mean)),
    "mean, of the first rows": Subject(of_the_first_rows(_mean), paired=True),
    "mean, bounds": Subject(partial(_mean, bounds=BOUNDS)),
    "mean, a column within bounds": Subject(partial(_mean, bounds=(0.0, 100.0)), EVEN),
    "mean, booleans": Subject(_mean, form=booleans),
    "mean, numbers that are flags": Subject(partial(_mean, bounds=(0.0, 1.0)), FLAGS),
    "variance, numbers that are flags": Subject(partial(_variance, bounds=(0.0, 1.0)), FLAGS),
    "mean, center": Subject(partial(_mean, center=CENTER)),
    "mean, center and scale": Subject(partial(_mean, center=CENTER, scale=SCALE)),
    "mean, l1": Subject(partial(_mean, error_norm=1)),
    "mean, rotation": Subject(partial(_mean, rotation="auto"), CORRELATED),
    "mean, plain": Subject(partial(_mean, bounds=BOUNDS, method="gaussian")),
    "mean, ellipse": Subject(partial(_mean, **ELLIPSE)),
    "mean, one skewed column": Subject(_mean, AMOUNTS),
    "mean, one column of mostly zeros": Subject(_mean, RARE),
    "mean, a heavy column": Subject(_mean, INCOMES),
    "mean, a heavy column, of a sample": Subject(of_a_sample(_mean), INCOMES),
    "mean, a heavy column, in parts": Subject(in_parts(_mean), INCOMES),
    "mean, a column that rules": Subject(_mean, TYPICAL * [1.0, 1e4, 1.0]),
    "mean, a column that rules, of a sample": Subject(
        of_a_sample(_mean), TYPICAL * [1.0, 1e4, 1.0]
    ),
    "mean, a heavy column that rules": Subject(_mean, IN_CENTS),
    "mean, a skewed column": Subject(_mean, SKEWED),
    "mean, a skewed column, of a sample": Subject(of_a_sample(_mean), SKEWED),
    "mean, a skewed column, in parts": Subject(in_parts(_mean), SKEWED),
    "mean, a skewed column, missing values": Subject(_mean, SKEWED_HOLES),
    "mean, columns of different kinds": Subject(partial(_mean, error_norm="relative"), KINDS),
    "mean, a group of rows": Subject(_mean, GROUP),
    "mean, missing values": Subject(_mean, HOLES),
    "mean, missing values, of a sample": Subject(of_a_sample(_mean), HOLES),
    "mean, missing values, in parts": Subject(in_parts(_mean), HOLES),
    "mean, missing values, bounds": Subject(partial(_mean, bounds=BOUNDS), HOLES),
    "mean, missing values, center and scale": Subject(
        partial(_mean, center=CENTER, scale=SCALE), HOLES
    ),
    "mean, one column of missing values": Subject(_mean, HOLES[:, :1]),
    "variance, missing values": Subject(_variance, HOLES),
    "mean, baskets": Subject(_mean, BASKETS, slow=True),
    "mean, sparse baskets, in parts": Subject(
        in_parts(_mean), BASKETS, form=sparse.csr_array, slow=True
    ),
    "mean, sparse baskets": Subject(_mean, BASKETS, form=sparse.csr_array, slow=True),
    "plan": Subject(partial(_mean, method="plan"), relations=_ONE, paired=True),
    "plan-noscale": Subject(partial(_mean, method="plan-noscale"), relations=_ONE, paired=True),
    "plan-exponential": Subject(
        partial(_mean, method="plan-exponential"), relations=_ONE, paired=True
    ),
    "iome": Subject(partial(_mean, method="iome"), relations=_ONE),
    "coinpress": Subject(partial(_mean, bounds=BOUNDS, method="coinpress"), relations=_ONE),
    "clipped gaussian": Subject(
        rival(partial(rivals.clipped_gaussian, radius=30.0)), relations=_ONE
    ),
    "binary plan": Subject(rival(rivals.plan_binary), BASKETS, relations=_ONE),
    "mean, as a step": Subject(step(PrivateMean)),
    "scaler, as a step": Subject(step(PrivateScaler), slow=True),
    "variance": Subject(_variance),
    "variance, a skewed column": Subject(_variance, SKEWED),
    "variance, of the first rows": Subject(of_the_first_rows(_variance), paired=True),
    "variance, one column of mostly zeros": Subject(_variance, RARE),
    "variance, bounds": Subject(partial(_variance, bounds=BOUNDS)),
    "variance, booleans": Subject(_variance, form=booleans),
    "quantile": Subject(partial(prolate.quantile, q=[0.1, 0.5])),
    "quantile, bounds": Subject(partial(prolate.quantile, q=0.5, bounds=BOUNDS)),
    "covariance": Subject(prolate.covariance, CORRELATED, slow=True),
    "covariance, of the first rows": Subject(
        of_the_first_rows(prolate.covariance), CORRELATED, paired=True, slow=True
    ),
    "covariance, skewed columns": Subject(prolate.covariance, TAILS),
    "covariance, bounds": Subject(partial(prolate.covariance, bounds=BOUNDS), slow=True),
    "covariance, booleans": Subject(prolate.covariance, form=booleans, slow=True),
    "covariance, missing values": Subject(prolate.covariance, HOLES, slow=True),
    "covariance, missing values, of the first rows": Subject(
        of_the_first_rows(prolate.covariance), HOLES, paired=True, slow=True
    ),
    "correlation": Subject(partial(prolate.covariance, correlation=True), FEW, slow=True),
    "coinpress covariance": Subject(
        rival(partial(rivals.coinpress_covariance, largest=100.0), "covariance"),
        CORRELATED,
        relations=_ONE,
    ),
    "analyze gauss": Subject(
        rival(partial(rivals.analyze_gauss, radius=30.0), "covariance"), CORRELATED, relations=_ONE
    ),
    "regression": Subject(fit, LINE),
    "regression, no intercept": Subject(partial(fit, fit_intercept=False), LINE),
    "regression, a skewed target": Subject(fit, STEEP),
    "regression, bounds": Subject(
        partial(fit, bounds=([0.0, -5.0, -50.0], [40.0, 5.0, 50.0])), LINE
    ),
    "regression, booleans": Subject(fit, LINE, form=booleans),
    "regression, missing values": Subject(fit, HOLES),
    "regression, missing values, of a sample": Subject(of_a_sample(fit), HOLES),
    "regression, of a sample": Subject(of_a_sample(fit), LINE),
    "ssp": Subject(partial(fit, method="ssp"), BALL),
    "ssp, basic": Subject(partial(fit, method="ssp", accounting="basic"), BALL),
    "adassp": Subject(partial(fit, method="adassp"), BALL),
    "ssp, no intercept": Subject(
        partial(fit, method="ssp", fit_intercept=False), BALL, relations=_ONE
    ),
    "adassp-fixed, no intercept": Subject(
        partial(fit, method="adassp-fixed", fit_intercept=False), BALL, relations=_ONE
    ),
    "adassp, basic": Subject(partial(fit, method="adassp", accounting="basic"), BALL),
    "adassp-fixed": Subject(partial(fit, method="adassp-fixed"), BALL),
    "adassp-fixed, bounds": Subject(partial(fit, method="adassp-fixed", bounds=(-1, 1)), BALL),
    "boosted adassp": Subject(line(rivals.boosted_adassp, rounds=4), BALL),
    "products, alone": Subject(
        alone(Products(ClippedSum(np.zeros(6), np.ones(6), 2.0), np.zeros(3), np.ones(3))), BALL
    ),
    "along, alone": Subject(
        alone(Along(Gram(np.zeros(3), np.ones(3), 1.0), np.array([1.0, 0.0, 0.0]))), BALL
    ),
    "gradient descent": Subject(line(rivals.gradient_descent), BALL, relations=_ONE),
}

CASES = [(name, relation) for name, subject in SUBJECTS.items() for relation in subject.relations]


# Where rows may come from: a folder to write to, and the rows.


def table(rows: np.ndarray) -> pa.Table:
    """Return the rows as a table with columns x0, x1, ..."""
    return pa.table({f"x{j}": rows[:, j] for j in range(rows.shape[1])})


def _file(name: str, write: Callable[[pa.Table, Path], Any]) -> Callable[[Path, np.ndarray], Path]:
    def make(folder: Path, rows: np.ndarray) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        write(table(rows), path)
        return path

    return make


def _parts(folder: Path, rows: np.ndarray) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    for number, part in enumerate(np.array_split(rows, 3)):
        pa.parquet.write_table(table(part), folder / f"{number}.parquet")
    return str(folder / "*.parquet")


SOURCES: dict[str, Callable[[Path, np.ndarray], Any]] = {
    "array by columns": lambda _, rows: np.asfortranarray(rows),
    "single precision": lambda _, rows: rows.astype(np.float32),
    "pandas": lambda _, rows: pd.DataFrame(rows, columns=[f"x{j}" for j in range(rows.shape[1])]),
    "arrow": lambda _, rows: table(rows),
    "sparse": lambda _, rows: sparse.csc_array(rows),
    "parquet": _file(
        "rows.parquet", lambda t, path: pa.parquet.write_table(t, path, row_group_size=64)
    ),
    "several files": _parts,
    "csv": _file("rows.csv", pa.csv.write_csv),
    "arrow file": _file("rows.arrow", lambda t, path: pa.feather.write_feather(t, str(path))),
}
