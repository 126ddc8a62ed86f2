"""The base classes of scikit-learn estimators, and their stand-ins if it is not installed.

`Regressor` and `Transformer` are based on scikit-learn's classes if scikit-learn is installed,
and otherwise on small classes here with the same methods. The checks of feature names raise and
warn in scikit-learn's words, because programs look for them.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from prolate.budget import Budget
from prolate.errors import BudgetError, InputError
from prolate.ledger.address import address
from prolate.release.words import printable

__all__ = [
    "Plain",
    "Regressor",
    "Shared",
    "Transformer",
    "check_count",
    "check_names",
    "check_weight",
    "feature_names",
    "need_fit",
    "r2",
    "stated_budget",
    "warn_column",
    "warn_if_among",
]

_EPSILON, _DELTA = 1.0, 1e-6  # what a fit may cost, if nothing is said

_SHOWN = 5  # names in an error
_OURS = ("prolate", "sklearn")  # packages whose lines are not the user's


def _with_budget(estimator: Any) -> Any:
    """Return a copy of an estimator that states its budget, where that is the default."""
    if estimator.rho is not None or estimator.mu is not None:
        return estimator
    stating = copy(estimator)
    stating.epsilon = _EPSILON if estimator.epsilon is None else estimator.epsilon
    stating.delta = _DELTA if estimator.delta is None else estimator.delta
    return stating


def _warnings(estimator: Any) -> str:
    """Return the warnings of what was fitted as lines, as the text of a release has them."""
    warnings = estimator.release_.warnings if hasattr(estimator, "release_") else ()
    return "".join(f"\nwarning: {printable(warning)}" for warning in warnings)


class Shared:
    """What estimators of private rows share, whether or not scikit-learn is installed."""

    seed: int | None

    def __setattr__(self, name: str, value: object) -> None:
        # Parameters are shown and pickled; a URL may hold a password, an Address shows none.
        super().__setattr__(name, address(value) if name == "ledger" else value)

    def __repr__(self, *limit: int) -> str:
        return super(Shared, _with_budget(self)).__repr__(*limit) + _warnings(self)

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn needs to know."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.non_deterministic = self.seed is None
        return tags

    def _set_features(self, count: int, names: NDArray[np.object_] | None) -> None:
        """Set the attributes that say which features were fitted."""
        self.n_features_in_ = count
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_


class Plain:
    """Access to parameters by name, like scikit-learn's estimators, but without scikit-learn."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the constructor with their values."""
        names = inspect.signature(type(self).__init__).parameters
        return {name: getattr(self, name) for name in names if name != "self"}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, and return the estimator."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise InputError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}. Valid "
                    f"parameters are: {', '.join(known)}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual = inspect.signature(type(self).__init__).parameters
        given = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(usual[name].default)
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags; only scikit-learn asks for them."""
        raise NotImplementedError


class PlainTransformer(Plain):
    """What scikit-learn adds to a transformer, without scikit-learn."""

    def fit_transform(self, X: object, y: object = None) -> NDArray[np.float64]:
        """Fit to private rows, then return them transformed, which is not private."""
        fitted = self.fit(X, y)  # type: ignore[attr-defined]
        return np.asarray(fitted.transform(X))


class NotFittedError(InputError, AttributeError):
    """Use of an estimator before it is fitted, if scikit-learn is not installed."""


if TYPE_CHECKING:
    Regressor = Plain
    Transformer = PlainTransformer
else:
    try:
        from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
    except ImportError:
        Regressor, Transformer = Plain, PlainTransformer
    else:

        class Regressor(RegressorMixin, BaseEstimator):
            """The base class of regressions: scikit-learn's own."""

        class Transformer(TransformerMixin, BaseEstimator):
            """The base class of transformers: scikit-learn's own."""


def stated_budget(estimator: Any) -> Budget:
    """Return the budget that an estimator's epsilon and delta, or rho, or mu state.

    All are None by default, so that what is stated twice is told from what is not.

    Raises
    ------
    BudgetError
        If it is stated in two currencies.
    """
    if estimator.rho is None and estimator.mu is None:
        stating = _with_budget(estimator)
        return Budget(epsilon=stating.epsilon, delta=stating.delta)
    if estimator.epsilon is not None or estimator.delta is not None:
        raise BudgetError(
            "State the budget once: as epsilon and delta, or as rho, or as mu; got "
            f"epsilon={estimator.epsilon!r} and delta={estimator.delta!r} in addition to another."
        )
    return Budget(rho=estimator.rho, mu=estimator.mu)


def need_fit(estimator: object, attribute: str) -> None:
    """Raise scikit-learn's `NotFittedError`, or one like it, unless the attribute is there."""
    if hasattr(estimator, attribute):
        return
    kind: type[Exception] = NotFittedError
    try:
        from sklearn import exceptions
    except ImportError:
        pass
    else:
        kind = exceptions.NotFittedError
    name = type(estimator).__name__
    raise kind(f"This {name} instance is not fitted yet; call 'fit' before using it.")


def warn_column(y: object) -> None:
    """Warn, as scikit-learn does, of a target that is an array of one column."""
    if not (isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1):
        return
    kind: type[Warning] = UserWarning
    try:
        from sklearn import exceptions
    except ImportError:
        pass
    else:
        kind = exceptions.DataConversionWarning
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of "
        "y to (n_samples, ), for example using ravel().",
        kind,
        stacklevel=_level(),
    )


def warn_if_among(columns: Sequence[str], y: object) -> None:
    """Warn if a target has the name of one of the features, as it has if it was left in X."""
    name = getattr(y, "name", None)
    if isinstance(name, str) and name in columns:
        warnings.warn(
            f"X has a column {printable(name)!r}, as the target is called. If it is the target, "
            "leave it out of X, or give y as its name: it explains itself.",
            UserWarning,
            stacklevel=_level(),
        )


def _level() -> int:
    """Return the stacklevel of a warning that shows the line of the user."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    return level


def feature_names(
    X: object, columns: Sequence[str], *, named: bool = False
) -> NDArray[np.object_] | None:
    """Return the names of the columns of a table, or None if it names them by no text.

    Parameters
    ----------
    X : object
        What the user gave.
    columns : sequence of str
        The names of the columns of its rows.
    named : bool
        Whether they are known to be names, as those of files are.
    """
    labels = getattr(X, "columns", None)
    if hasattr(X, "iloc") and labels is not None:  # pandas, whose labels may be of any kind
        named = all(isinstance(label, str) for label in labels)
    else:
        named = named or labels is not None or hasattr(X, "__arrow_c_stream__")
    return np.array(list(columns), dtype=object) if named else None


def check_names(estimator: object, names: NDArray[np.object_] | None) -> None:
    """Raise, or warn, if features have other names than when the estimator was fitted."""
    fitted = getattr(estimator, "feature_names_in_", None)
    kind = type(estimator).__name__
    if fitted is None or names is None:
        if fitted is not None:
            words = f"X does not have valid feature names, but {kind} was fitted with feature names"
        elif names is not None:
            words = f"X has feature names, but {kind} was fitted without feature names"
        else:
            return
        warnings.warn(words, UserWarning, stacklevel=_level())
        return
    if list(fitted) == list(names):
        return
    lines = ["The feature names should match those that were passed during fit."]
    unseen, missing = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
    if unseen:
        lines += ["Feature names unseen at fit time:", *_bullets(unseen)]
    if missing:
        lines += ["Feature names seen at fit time, yet now missing:", *_bullets(missing)]
    if not unseen and not missing:
        lines.append("Feature names must be in the same order as they were in fit.")
    raise InputError("\n".join(lines) + "\n")


def check_count(estimator: object, count: int, expected: int) -> None:
    """Raise unless there are as many features as when the estimator was fitted."""
    if count != expected:
        raise InputError(
            f"X has {count} features, but {type(estimator).__name__} is expecting {expected} "
            "features as input."
        )


def check_weight(weight: object, rows: int) -> NDArray[np.float64]:
    """Return one weight for each row, equal by default; raise unless some row has one."""
    try:
        array = np.ones(rows) if weight is None else np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.zeros(())
    if array.shape != (rows,):
        raise InputError("sample_weight must be one number for each row of X.")
    if not (np.all(array >= 0.0) and 0.0 < array.sum() < np.inf):
        raise InputError(
            "A score needs rows whose weights are finite numbers, 0 or larger, and not all 0."
        )
    return array


def _bullets(names: Sequence[str]) -> list[str]:
    return [f"- {printable(name)}" for name in names[:_SHOWN]] + ["- ..."] * (len(names) > _SHOWN)


def r2(
    target: NDArray[np.float64],
    predicted: NDArray[np.float64],
    weight: NDArray[np.float64],
) -> float:
    """Return the coefficient of determination; 0 or 1 if the target is constant.

    Examples
    --------
    >>> round(r2(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]), np.ones(3)), 6)
    0.5
    """
    left = float(np.sum(weight * (target - predicted) ** 2))
    whole = float(np.sum(weight * (target - np.average(target, weights=weight)) ** 2))
    if whole == 0.0:
        return 1.0 if left == 0.0 else 0.0
    return 1.0 - left / whole
