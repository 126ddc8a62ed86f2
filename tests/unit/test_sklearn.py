"""`PrivateMean` and `PrivateScaler` as scikit-learn's transformers, and without scikit-learn."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

pytest.importorskip("sklearn", minversion="1.6", reason="needs scikit-learn 1.6 or later")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression as PlainRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import prolate
from prolate import Budget, BudgetError, InputError, Ledger, LedgerError
from prolate.sklearn import LinearRegression, PrivateMean, PrivateScaler

BOTH = [PrivateMean, PrivateScaler]
ROWS = np.random.default_rng(0).normal([170, 70, 0], [10, 15, 1], size=(5000, 3))


@parametrize_with_checks([PrivateMean(seed=0), PrivateScaler(seed=0)])
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_they_find_centers_and_scales() -> None:
    mean = PrivateMean(mu=1, seed=0).fit(ROWS)
    assert mean.mean_ == pytest.approx(ROWS.mean(axis=0), abs=0.5)
    assert mean.transform(ROWS) == pytest.approx(ROWS - mean.mean_)
    scaler = PrivateScaler(mu=1, seed=0).fit(ROWS)
    assert scaler.mean_ == pytest.approx(ROWS.mean(axis=0), abs=0.5)
    assert scaler.scale_ == pytest.approx(ROWS.std(axis=0), rel=0.05)
    assert scaler.var_ == pytest.approx(scaler.scale_**2)
    for fitted in (mean, scaler):
        back = fitted.inverse_transform(fitted.transform(ROWS))
        assert back == pytest.approx(ROWS)


def test_scales_are_good_whatever_the_units_of_the_features() -> None:
    size = np.array([1e-4, 1.0, 1e4])
    rows = np.random.default_rng(1).normal(3.0 * size, size, size=(20_000, 3))
    scaler = PrivateScaler(epsilon=1, delta=1e-6, seed=0).fit(rows)
    assert scaler.scale_ == pytest.approx(rows.std(axis=0), rel=0.05)
    assert scaler.mean_ == pytest.approx(rows.mean(axis=0), rel=0.05)


@pytest.mark.parametrize("kind", BOTH)
def test_a_fit_is_one_private_release(kind: Any, tmp_path: Path) -> None:
    book = Ledger.create(tmp_path / "rows.ledger", limit=Budget(mu=1))
    fitted = kind(mu=0.8, ledger=book, neighbors="add-remove", bounds=(-500, 500)).fit(ROWS)
    assert [entry.mu for entry in book.entries()] == [0.8]
    assert fitted.release_.private
    assert fitted.release_.budget == Budget(mu=0.8)
    assert fitted.release_.neighbors == "add-remove"
    assert fitted.release_.details["bounds"] == [-500.0, 500.0]
    other = kind(mu=0.8, ledger=tmp_path / "rows.ledger")
    with pytest.raises(LedgerError):
        other.fit(ROWS)
    assert not hasattr(other, "release_")


@pytest.mark.parametrize("kind", BOTH)
def test_a_transform_needs_a_fit_with_the_same_features(kind: Any) -> None:
    with pytest.raises(NotFittedError):
        kind().transform(ROWS)
    fitted = kind(seed=0).fit(ROWS)
    with pytest.raises(InputError, match="expecting 3 features"):
        fitted.transform(ROWS[:, :2])
    frame = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    fitted = kind(seed=0).fit(frame)
    assert fitted.get_feature_names_out().tolist() == ["a", "b", "c"]
    with pytest.raises(InputError, match="feature names"):
        fitted.transform(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    "make",
    [
        lambda: pd.DataFrame(ROWS, columns=["a", "b", "c"]),
        lambda: pl.DataFrame(ROWS, schema=["a", "b", "c"]),
        lambda: sparse.csr_array(ROWS),
        ROWS.tolist,
    ],
)
def test_tables_of_any_kind_give_the_same(kind: Any, make: Any) -> None:
    expected = kind(seed=0).fit(ROWS)
    found = kind(seed=0).fit(make())
    assert found.mean_ == pytest.approx(expected.mean_, rel=1e-12)
    assert found.transform(make()) == pytest.approx(expected.transform(ROWS))


@pytest.mark.parametrize("kind", BOTH)
def test_files_are_read_in_blocks(kind: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pd.DataFrame(ROWS, columns=["a", "b", "c"]).to_parquet(path)
    fitted = kind(seed=0).fit(path)
    assert fitted.get_feature_names_out().tolist() == ["a", "b", "c"]
    assert fitted.transform(path).shape == ROWS.shape


@pytest.mark.parametrize("kind", BOTH)
def test_missing_values_stay_missing_and_are_no_error(kind: Any) -> None:
    rows = ROWS.copy()
    rows[3, 1] = np.nan
    found = kind(seed=0).fit(rows).transform(rows)
    assert np.flatnonzero(np.isnan(found)).tolist() == [10]


def test_a_constant_feature_does_not_blow_up() -> None:
    rows = ROWS.copy()
    rows[:, 1] = 7.0
    scaler = PrivateScaler(mu=1, seed=0).fit(rows)
    assert np.all(scaler.scale_ > 0.0)
    assert np.all(np.isfinite(scaler.transform(rows)))


def test_a_feature_of_which_nothing_is_known_is_not_scaled() -> None:
    few = PrivateScaler(seed=0).fit(ROWS[:60])
    assert few.release_.noise_std.tolist() == [np.finfo(float).max] * 3
    assert few.scale_.tolist() == [1.0] * 3  # it was 1e154: all that came out was zero
    rows = ROWS.copy()
    rows[:, 1] = np.nan
    missing = PrivateScaler(seed=0).fit(rows)
    assert missing.scale_[1] == 1.0
    assert missing.scale_[[0, 2]] == pytest.approx([10.0, 1.0], rel=0.1)


@pytest.mark.parametrize("kind", [*BOTH, LinearRegression])
def test_the_warnings_of_a_fit_are_printed_with_it(kind: Any) -> None:
    fitted = kind(seed=0).fit(ROWS[:60], ROWS[:60, 0])
    first, *lines = repr(fitted).splitlines()
    assert first == repr(kind(seed=0))
    assert lines == [f"warning: {warning}" for warning in fitted.release_.warnings]
    assert any("too few" in line for line in lines)
    assert "warning" not in repr(clone(fitted)) + repr(make_pipeline(fitted))


def test_they_work_in_pipelines() -> None:
    y = ROWS @ [1.0, 2.0, 3.0]
    frame = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    for last in (PlainRegression(), LinearRegression(mu=5, seed=1)):
        pipe = make_pipeline(PrivateScaler(mu=1, seed=0), last).fit(frame, y)
        assert pipe.score(frame, y) > 0.9
        assert pipe[:-1].get_feature_names_out().tolist() == ["a", "b", "c"]
    named = PrivateScaler(seed=0).set_output(transform="pandas").fit_transform(frame)
    assert named.columns.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("kind", [*BOTH, LinearRegression])
def test_a_default_budget_is_said(kind: Any) -> None:
    name = kind.__name__
    assert repr(kind()) == f"{name}(delta=1e-06, epsilon=1.0)"
    assert repr(kind(2.5)) == f"{name}(delta=1e-06, epsilon=2.5)"
    assert repr(kind(mu=1)) == f"{name}(mu=1)"
    assert kind().epsilon is None  # as it was given


@pytest.mark.parametrize("kind", BOTH)
def test_parameters_go_along(kind: Any) -> None:
    model = clone(kind(rho=0.1, seed=3))
    assert (model.rho, model.seed) == (0.1, 3)
    assert pickle.loads(pickle.dumps(model.fit(ROWS))).release_ == model.release_
    for epsilon in (1, 2):
        with pytest.raises(BudgetError, match="once"):
            kind(epsilon=epsilon, rho=1).fit(ROWS)
    secret = kind(ledger="postgresql://ann:hunter2@db.example.org/privacy")
    assert "hunter2" not in repr(secret)


def test_a_mean_of_a_frame_has_its_names() -> None:
    frame = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    for table in (frame, pl.DataFrame(frame.to_dict("series"))):
        found = prolate.mean(table, budget=Budget(mu=1))
        assert found.columns == ("a", "b", "c")
        assert found.to_polars()["column"].to_list() == ["a", "b", "c"]


def test_it_works_without_scikit_learn() -> None:
    script = (
        "import sys; sys.modules['sklearn'] = None; import numpy as np; "
        "from prolate.sklearn import PrivateScaler; "
        "X = np.random.default_rng(0).normal(5, 2, size=(2000, 2)); "
        "s = PrivateScaler(mu=1, seed=1); print(s.fit_transform(X).std().round(1), s)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(prolate.__file__).parents[1],
    )
    assert done.stdout.strip() == "1.0 PrivateScaler(mu=1, seed=1)"


def test_names_in_errors_are_printable() -> None:
    fitted = PrivateMean(seed=0).fit(pd.DataFrame({"a": [1.0, 2.0]}))
    with pytest.raises(InputError) as caught:
        fitted.transform(pd.DataFrame({"\x1b[31m\u202e": [1.0]}))
    assert all(line.isprintable() for line in str(caught.value).splitlines())


@pytest.mark.parametrize("asked", ["a", 7, {}, [["a"]], object()])
@pytest.mark.parametrize("named", [True, False])
def test_names_that_are_none_are_refused(asked: object, named: bool) -> None:
    rows = pd.DataFrame({"a": [1.0, 2.0]})
    fitted = PrivateMean(seed=0).fit(rows if named else rows.to_numpy())
    with pytest.raises(InputError, match="input_features"):
        fitted.get_feature_names_out(asked)
