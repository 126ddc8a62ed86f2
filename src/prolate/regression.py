"""Private linear regression, as a scikit-learn estimator."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from prolate._sklearn import (
    Regressor,
    Shared,
    check_count,
    check_names,
    check_weight,
    feature_names,
    need_fit,
    r2,
    stated_budget,
    warn_column,
    warn_if_among,
)
from prolate.api.options import Engine
from prolate.api.regress import REGRESSION_METHODS, regression_job
from prolate.budget import Neighbors
from prolate.calls import explained
from prolate.curator import Progress
from prolate.errors import InputError
from prolate.estimators.regression.linear_fit import ClippedLine, LinearFit
from prolate.ledger import Ledger
from prolate.public_numbers import Bounds
from prolate.release import Release
from prolate.sources import Source, open_source
from prolate.sources.paired import (
    DIFFERENT_ROWS,
    is_table,
    open_features,
    open_pair,
    open_table,
    read_target,
)
from prolate.sources.paths import as_paths

__all__ = ["REGRESSION_METHODS", "SKLEARN_EXCEPTIONS", "LinearRegression"]

SKLEARN_EXCEPTIONS = {
    "check_supervised_y_no_nan": "whether a target is missing is private, so it is not an error",
}
"""The scikit-learn checks that `LinearRegression` with a seed fails on purpose, and why.

Without a seed every fit has new noise, so checks that expect two equal fits fail too.
"""


class LinearRegression(Shared, Regressor):
    """Linear regression under differential privacy: no bounds, no centering, no scaling needed.

    It is a scikit-learn estimator if scikit-learn is installed, and also works without it. Only
    `fit` is private: what it stores may be published. `predict` and `score` use the rows they
    are given as they are, so predictions and scores of private rows are not private.

    Parameters
    ----------
    epsilon, delta : float, optional
        What each fit may cost; by default 1 and 1e-6.
    rho, mu : float, optional
        The budget in another currency, instead of epsilon and delta.
    method : {"auto", "ssp", "adassp", "adassp-fixed"}
        ``"auto"`` is Prolate's own method (`prolate.estimators.regression`). The others are
        faithful copies of published methods: ``"ssp"`` is sufficient statistics perturbation,
        ``"adassp"`` is AdaSSP as Wang (2018) wrote it, and ``"adassp-fixed"`` is AdaSSP with
        corrected constants.
    accounting : {"joint", "basic"}
        For the published methods. ``"joint"`` accounts for all parts of a fit as one Gaussian
        release. ``"basic"`` gives each part its share of epsilon and delta, as published.
    bounds : (lower, upper) or {column: (lower, upper)}, optional
        Public bounds of the features and, last, of the target. Values outside are clipped to
        them. Without bounds, the published methods take the features of a row to be within the
        unit ball, and its target within [-1, 1].
    fit_intercept : bool
        If False, the regression goes through the origin.
    neighbors : {"replace", "add-remove"}
        As for `prolate.mean`.
    alpha : float, optional
        The ridge penalty of ``method="auto"``, at least 0, per row and for standardized
        features. By default predictions are shrunk by as much as the noise calls for, and
        coefficients hardly at all.
    ledger : Ledger, path or URL, optional
        A ledger. Every fit charges it with the budget, before any private row is measured.
    seed : int, optional
        Makes fits repeatable, and so not private.

    Attributes
    ----------
    coef_ : float64 array of shape (k,)
        Slopes of the k features, in the units of the data.
    intercept_ : float
        Intercept, in the unit of the target.
    n_features_in_ : int
        Number of features, k.
    feature_names_in_ : array of str, shape (k,)
        Names of the features, if they have names.
    release_ : Release
        The coefficients and, last, the intercept, with their noise, cost, receipt and
        `warnings`: what to know before using them. Printing the fitted model shows these, too.

    Notes
    -----
    Every fit spends the budget: `cross_val_score` with five folds spends it five times. Divide
    mu by the square root of the number of fits, or give a `ledger`, which each fit charges. The
    scores of private rows are not private.

    `coef_` and `intercept_` describe the regression on unclipped rows. `predict` differs from
    it if the measurements show that this predicts better: it clips features as the fit did
    (each at a few standard deviations, and the whole row to a maximal norm), and uses slopes
    fitted to rows clipped in this way. ``release_.details["predicts"]`` holds the numbers.

    A missing value, or one that is not finite, is not an error, in the target either: only
    schemas and arguments cause errors. Rows with such a value are left out if a private count
    shows that there are some. This is why some of the checks in scikit-learn's
    ``check_estimator`` fail; `SKLEARN_EXCEPTIONS` lists them.

    Examples
    --------
    >>> import numpy as np, prolate
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal([170, 70], [10, 15], size=(20_000, 2))
    >>> y = X @ [2.0, -1.0] + 5 + rng.normal(size=20_000)
    >>> model = prolate.LinearRegression(epsilon=1, delta=1e-6, seed=0).fit(X, y)
    >>> model.coef_.shape, model.predict(X[:5]).shape, model.release_.columns
    ((2,), (5,), ('x0', 'x1', 'intercept'))
    >>> bool(model.score(X, y) > 0.8), model.release_.private
    (True, False)
    >>> prolate.LinearRegression()  # says what a fit costs
    LinearRegression(delta=1e-06, epsilon=1.0)
    """

    @explained("prolate.LinearRegression(epsilon=1, delta=1e-6)")
    def __init__(
        self,
        epsilon: float | None = None,
        delta: float | None = None,
        *,
        rho: float | None = None,
        mu: float | None = None,
        method: str = "auto",
        accounting: str = "joint",
        bounds: Bounds | None = None,
        fit_intercept: bool = True,
        neighbors: Neighbors = "replace",
        alpha: float | None = None,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        seed: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.mu = mu
        self.method = method
        self.accounting = accounting
        self.bounds = bounds
        self.fit_intercept = fit_intercept
        self.neighbors = neighbors
        self.alpha = alpha
        self.ledger = ledger
        self.seed = seed

    @explained("prolate.LinearRegression(epsilon=1, delta=1e-6).fit(X, y)")
    def fit(
        self,
        X: object,
        y: object,
        *,
        features: str | Sequence[str] | None = None,
        progress: bool | Progress = False,
        engine: Engine | None = None,
        unit: str | int | None = None,
        contribution: Literal["mean", "rows"] = "mean",
        max_rows: int | None = None,
    ) -> Self:
        """Fit the regression to private rows, and spend the budget.

        Parameters
        ----------
        X : table
            The features: an array, a data frame or a scipy.sparse matrix. If `y` is a name, a
            table, or the path of files of any size, that also has the target's column.
        y : array of shape (n,), or str
            The values of the target, in the order of the rows of `X` (an index does not count);
            or the name of its column in `X`.
        features : str or sequence of str, optional
            The columns to use as features if `y` is a name; by default all others.
        progress, engine, unit, contribution, max_rows
            As for `prolate.mean`. With `unit` and ``contribution="mean"``, the regression is
            fitted to the means of persons. The column `unit` is in `X`, and is not a feature
            unless `features` names it.

        Returns
        -------
        LinearRegression
            This estimator, fitted.

        Raises
        ------
        InputError, BudgetError
            If an argument, the schema or the budget is unsuitable; never because of a value.
        LedgerError
            If the ledger refuses the charge.
        """
        price = stated_budget(self)
        job = regression_job(
            method=self.method,
            accounting=self.accounting,
            fit_intercept=self.fit_intercept,
            alpha=self.alpha,
            neighbors=self.neighbors,
            counted=max_rows is not None,
            bounded=self.bounds is not None,
        )
        labels = [] if unit is None else [unit]
        source = _open(X, y, features, engine, labels)
        columns = source.columns[: len(source.columns) - 1 - len(labels)]
        warn_if_among(columns, y)
        names = feature_names(X, columns, named=bool(as_paths(X)))
        found = job.release(
            source,
            columns=None,
            bounds=self.bounds,
            budget=price,
            neighbors=self.neighbors,
            seed=self.seed,
            ledger=self.ledger,
            progress=progress,
            unit=unit,
            contribution=contribution,
            max_rows=max_rows,
        )
        self._set_features(len(columns), names)
        self._by_name = isinstance(y, str) or unit is not None
        release = self.release_ = cast("Release", found)
        self.coef_ = release.estimate[:-1].copy()
        self.intercept_ = float(release.estimate[-1])
        return self

    def predict(self, X: object) -> NDArray[np.float64]:
        """Return predictions for rows of features.

        If the fit clipped rows, these rows are clipped in the same way, and a missing feature
        counts as equal to its center. With other methods, the prediction for a row with a
        missing feature is NaN.

        Parameters
        ----------
        X : table
            As for `fit`. In files, and in tables if `fit` was given the name of the target or a
            `unit`, features are found by name, and other columns are ignored.

        Returns
        -------
        float64 array of shape (n,)
            In the unit of the target.

        Raises
        ------
        InputError
            If the features differ from those in `fit`.
        sklearn.exceptions.NotFittedError
            If `fit` was not called before.
        """
        need_fit(self, "coef_")
        source = self._features_of(X)
        clipped = self.release_.details.get("predicts")
        line = LinearFit(
            coef=self.coef_,
            intercept=self.intercept_,
            rows=self.release_.n,
            clipped=None if clipped is None else ClippedLine.from_dict(clipped),
        )
        with np.errstate(all="ignore"):
            parts = [line.predict(np.asarray(block, dtype=np.float64)) for block in source.blocks()]
        return np.concatenate([np.zeros(0), *parts])

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return R squared, the coefficient of determination, of the predictions: not private.

        Parameters
        ----------
        X, y
            As for `fit`.
        sample_weight : array of shape (n,), optional
            Weights of the rows; equal by default.

        Raises
        ------
        InputError
            As for `predict`; if `y` or the weights are not one number for each row of `X`; or if
            no row has a weight.
        """
        target = read_target(y) if not isinstance(y, str) else _column(X, y)
        predicted = self.predict(X)
        if target.shape[0] != predicted.size:
            raise InputError(DIFFERENT_ROWS)
        weight = check_weight(sample_weight, predicted.size)
        return r2(target[:, 0].astype(np.float64), predicted, weight)

    def intervals(self, level: float = 0.95) -> NDArray[np.float64]:
        """Return confidence intervals of the coefficients and, last, of the intercept.

        They account for the sampling error and the privacy noise together. Nothing private is
        read.

        Parameters
        ----------
        level : float
            The confidence level of each interval alone, strictly between 0 and 1.

        Returns
        -------
        float64 array of shape (k + 1, 2)
            Lower and upper ends, in the units of the coefficients.

        Raises
        ------
        InputError
            If `level` is not strictly between 0 and 1.
        ReleaseError
            If the method does not state the errors of its coefficients, or the rows were too few
            for slopes.
        """
        need_fit(self, "coef_")
        return self.release_.interval(level)

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn needs to know."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # of a few rows, noise is most of it
        return tags

    def _features_of(self, X: object) -> Source:
        fitted = getattr(self, "feature_names_in_", None)
        if fitted is not None and (as_paths(X) or (self._by_name and is_table(X))):
            return open_source(X, list(fitted))
        source = open_features(X)
        check_names(self, feature_names(X, source.columns))
        check_count(self, len(source.columns), self.n_features_in_)
        return source


def _column(data: object, name: str) -> NDArray[np.generic]:
    return np.concatenate([np.zeros((0, 1)), *open_source(data, [name]).blocks()])


def _open(
    X: object,
    y: object,
    features: str | Sequence[str] | None,
    engine: Engine | None,
    labels: Sequence[str | int],
) -> Source:
    """Return the rows of features, the target as their last column; arguments as for `fit`."""
    if isinstance(y, str):
        return open_table(X, y, features, engine, labels)
    if features is not None:
        raise InputError(
            "features goes with the name of the target's column; with y as an array, "
            "pass in X only the columns to use."
        )
    if engine is not None:
        raise InputError(
            "engine goes with the name of the target's column: fit(path, 'y', engine='spark')."
        )
    warn_column(y)
    return open_pair(X, y, labels)
