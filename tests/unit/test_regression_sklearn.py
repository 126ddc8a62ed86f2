"""`LinearRegression` as one of scikit-learn's estimators."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6", reason="needs scikit-learn 1.6 or later")

from sklearn.base import clone, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from prolate.regression import SKLEARN_EXCEPTIONS, LinearRegression

# Fresh noise makes two fits differ; these checks want them to be the same.
NEW_NOISE = (
    "check_fit_idempotent",
    "check_regressor_data_not_an_array",
    "check_regressors_int",
    "check_supervised_y_2d",
)


@parametrize_with_checks(
    [LinearRegression(seed=0)],
    expected_failed_checks=lambda estimator: SKLEARN_EXCEPTIONS,
)
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_without_a_seed_only_sameness_fails_too() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(LinearRegression(), on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed <= {*SKLEARN_EXCEPTIONS, *NEW_NOISE}
    assert set(SKLEARN_EXCEPTIONS) <= failed
    assert len(results) > 40


def test_it_goes_where_regressors_go() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=3000)
    model = LinearRegression(mu=5, seed=0)
    assert is_regressor(model)
    assert np.min(cross_val_score(model, X, y, cv=3)) > 0.8
    pipe = make_pipeline(StandardScaler(), model).fit(X, y)
    assert pipe.score(X, y) > 0.8
    search = GridSearchCV(model, {"fit_intercept": [True, False]}, cv=2).fit(X, y)
    assert search.best_estimator_.release_.columns[-1] == "intercept"
    columns = make_column_transformer(("passthrough", [0, 2]))
    assert make_pipeline(columns, model).fit(X, y)[-1].n_features_in_ == 2
    from sklearn.metrics import r2_score

    fitted = clone(model).fit(X, y)
    weight = rng.uniform(size=3000)
    assert fitted.score(X, y, weight) == pytest.approx(
        r2_score(y, fitted.predict(X), sample_weight=weight)
    )


def test_a_clone_keeps_its_ledger(tmp_path: Any) -> None:
    from prolate import Budget, Ledger

    book = Ledger.create(tmp_path / "rows.ledger", limit=Budget(mu=10))
    again = clone(LinearRegression(mu=1, ledger=book))
    again.fit(np.eye(30, 2), np.ones(30))
    assert [entry.mu for entry in book.entries()] == [1.0]
    assert clone(LinearRegression(bounds=([0, 0, 0], [1, 1, 1]))).get_params()["method"] == "auto"
