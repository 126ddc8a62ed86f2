"""Private steps for scikit-learn pipelines: centering, scaling and regression.

They are scikit-learn estimators if scikit-learn is installed, and also work without it. Only
`fit` is private: what it stores may be published. `transform` uses the rows it is given as
they are.

Every private step of a pipeline has its own budget. The mu of all steps together is the
square root of the sum of their squared mu.

>>> import numpy as np
>>> from prolate.sklearn import PrivateScaler
>>> X = np.random.default_rng(0).normal([170, 70], [10, 15], size=(20_000, 2))
>>> scaler = PrivateScaler(epsilon=1, delta=1e-6, seed=0).fit(X)
>>> scaler.mean_.round().tolist(), scaler.scale_.round().tolist()
([170.0, 70.0], [10.0, 15.0])
"""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from prolate import api
from prolate._sklearn import (
    Shared,
    Transformer,
    check_count,
    check_names,
    feature_names,
    need_fit,
    stated_budget,
)
from prolate.budget import Neighbors
from prolate.errors import InputError
from prolate.ledger import Ledger
from prolate.public_numbers import Bounds
from prolate.regression import LinearRegression
from prolate.release import Release
from prolate.sources import Source
from prolate.sources.paired import open_features
from prolate.sources.paths import as_paths

__all__ = ["LinearRegression", "PrivateMean", "PrivateScaler"]


class _Affine(Shared, Transformer):
    """Subtracts a private center from every feature and divides it by a private scale."""

    def __init__(
        self,
        epsilon: float | None = None,
        delta: float | None = None,
        *,
        rho: float | None = None,
        mu: float | None = None,
        bounds: Bounds | None = None,
        neighbors: Neighbors = "replace",
        ledger: Ledger | str | os.PathLike[str] | None = None,
        seed: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.mu = mu
        self.bounds = bounds
        self.neighbors = neighbors
        self.ledger = ledger
        self.seed = seed

    mean_: NDArray[np.float64]
    scale_: NDArray[np.float64] | float = 1.0
    release_: Release

    def _learn(self, source: Source, **options: Any) -> None:
        """Make the release of some rows, and set what was learned."""
        raise NotImplementedError

    def fit(self, X: object, y: object = None) -> Self:
        """Learn from private rows, and spend the budget.

        Parameters
        ----------
        X : table
            An array, a data frame, a scipy.sparse matrix, or the path of files of any size.
        y : object
            Not used.

        Returns
        -------
        PrivateMean or PrivateScaler
            This transformer, fitted.

        Raises
        ------
        InputError, BudgetError
            If an argument, the schema or the budget is unsuitable; never because of a value.
        LedgerError
            If the ledger refuses the charge.
        """
        budget = stated_budget(self)
        source = open_features(X)
        names = feature_names(X, source.columns, named=bool(as_paths(X)))
        self._learn(
            source,
            budget=budget,
            bounds=self.bounds,
            neighbors=self.neighbors,
            seed=self.seed,
            ledger=self.ledger,
        )
        self._set_features(len(source.columns), names)
        return self

    def transform(self, X: object) -> NDArray[np.float64]:
        """Return the rows centered and scaled; missing values stay missing. Not private.

        Parameters
        ----------
        X : table
            As for `fit`.

        Returns
        -------
        float64 array of shape (n, d)

        Raises
        ------
        InputError
            If the features differ from those in `fit`.
        sklearn.exceptions.NotFittedError
            If `fit` was not called before.
        """
        need_fit(self, "release_")
        source = open_features(X)
        check_names(self, feature_names(X, source.columns, named=bool(as_paths(X))))
        check_count(self, len(source.columns), self.n_features_in_)
        with np.errstate(all="ignore"):  # of values that are not finite
            return (_whole(source) - self.mean_) / self.scale_

    def inverse_transform(self, X: object) -> NDArray[np.float64]:
        """Return rows as they were before `transform`, in the units of the data.

        Parameters
        ----------
        X : table
            Rows that `transform` returned, of shape (n, d).

        Returns
        -------
        float64 array of shape (n, d)
        """
        need_fit(self, "release_")
        source = open_features(X)
        check_count(self, len(source.columns), self.n_features_in_)
        with np.errstate(all="ignore"):
            return _whole(source) * self.scale_ + self.mean_

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the features, which `transform` does not change.

        Raises
        ------
        InputError
            If `input_features` differ from the features in `fit`.
        """
        need_fit(self, "release_")
        fitted = getattr(self, "feature_names_in_", None)
        if input_features is None:
            plain = [f"x{i}" for i in range(self.n_features_in_)]
            return np.array(plain, dtype=object) if fitted is None else fitted
        names = np.asarray(input_features, dtype=object)
        if fitted is not None and names.tolist() != fitted.tolist():
            raise InputError("input_features is not equal to feature_names_in_")
        if names.shape != (self.n_features_in_,):
            raise InputError(
                f"input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {names.size}"
            )
        return names


class PrivateMean(_Affine):
    """Center features on their private means.

    Parameters
    ----------
    epsilon, delta : float, optional
        What each fit may cost; by default 1 and 1e-6.
    rho, mu : float, optional
        The budget in another currency, instead of epsilon and delta.
    bounds : (lower, upper) or {column: (lower, upper)}, optional
        Public bounds. They are not needed, but make the result more accurate.
    neighbors : {"replace", "add-remove"}
        As for `prolate.mean`.
    ledger : Ledger, path or URL, optional
        A ledger. Every fit charges it with the budget, before any private row is measured.
    seed : int, optional
        Makes fits repeatable, and so not private.

    Attributes
    ----------
    mean_ : float64 array of shape (d,)
        The private means, in the units of the features.
    n_features_in_ : int
        Number of features, d.
    feature_names_in_ : array of str, shape (d,)
        Names of the features, if they have names.
    release_ : Release
        The means with their noise, cost, receipt and `warnings`, which printing the fitted
        transformer shows, too.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal([170, 70], [10, 15], size=(20_000, 2))
    >>> PrivateMean(mu=1, seed=0).fit(X).mean_.round().tolist()
    [170.0, 70.0]
    """

    def _learn(self, source: Source, **options: Any) -> None:
        self.release_ = api.mean(source, error_norm="relative", **options)
        self.mean_ = self.release_.estimate.copy()


class PrivateScaler(_Affine):
    """Center features on their private means and divide them by private standard deviations.

    One release of the variances pays for both, because it measures the means as well, with a
    fifth of what the searches leave of the budget.

    Parameters
    ----------
    epsilon, delta, rho, mu, bounds, neighbors, ledger, seed
        As for `PrivateMean`.

    Attributes
    ----------
    mean_, var_ : float64 arrays of shape (d,)
        The private means, in the units of the features, and variances, in squared units.
    scale_ : float64 array of shape (d,)
        What features are divided by: the square root of the variance, or of its noise if that
        is larger, so that no feature becomes huge. It is 1, as scikit-learn's for constant
        features, if both are 0, or if the noise is infinite: then nothing is known of the
        feature, as where rows are too few, and it is not scaled.
    n_features_in_ : int
        Number of features, d.
    feature_names_in_ : array of str, shape (d,)
        Names of the features, if they have names.
    release_ : Release
        The variances with their noise, cost, receipt and `warnings`, which printing the fitted
        scaler shows, too; the means are in its `details`.

    Notes
    -----
    `prolate.LinearRegression` needs no scaling: it finds centers and scales itself, for less.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal([170, 70], [10, 15], size=(20_000, 2))
    >>> PrivateScaler(mu=1, seed=0).fit_transform(X).std(axis=0).round(1).tolist()
    [1.0, 1.0]
    """

    var_: NDArray[np.float64]

    def _learn(self, source: Source, **options: Any) -> None:
        # What is divided by counts in proportion, whatever a feature's unit.
        self.release_ = api.variance(source, error_norm="relative", **options)
        noise = self.release_.noise_std
        self.mean_ = np.array(self.release_.details["mean"], dtype=np.float64)
        self.var_ = self.release_.estimate.copy()
        square = self.var_ if noise is None else np.maximum(self.var_, noise)
        known = (square > 0.0) & (square < np.finfo(np.float64).max)  # which stands for infinity
        self.scale_ = np.sqrt(np.where(known, square, 1.0))


def _whole(source: Source) -> NDArray[np.float64]:
    blocks = [np.asarray(block, dtype=np.float64) for block in source.blocks()]
    return np.concatenate([np.zeros((0, len(source.columns))), *blocks])
