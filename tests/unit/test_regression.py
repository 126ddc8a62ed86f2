"""The face of linear regression: what it takes, what it refuses, what it hands out.

How good the lines are is for `tests/statistical`.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import prolate
from prolate import Budget, BudgetError, InputError, LedgerError, Release, ReleaseError
from prolate.curator import Curator
from prolate.estimators import regression as own
from prolate.estimators.regression.linear_fit import LinearFit
from prolate.regression import REGRESSION_METHODS, LinearRegression
from prolate.sklearn import PrivateMean
from prolate.sources import open_source
from prolate.sources.paired import open_pair, open_table

RNG = np.random.default_rng(0)
X = RNG.normal([170.0, 70.0, 0.0], [10.0, 15.0, 1.0], size=(4000, 3))
SLOPES = np.array([2.0, -1.0, 30.0])
Y = X @ SLOPES + 5.0 + RNG.normal(size=4000)
NAMES = ["height", "weight", "score"]


def fit(*data: Any, **options: Any) -> LinearRegression:
    features = options.pop("features", None)
    return LinearRegression(**{"mu": 5, "seed": 1} | options).fit(*data, features=features)


@pytest.fixture
def stated(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Put a method in the place of our own that states its errors; return its arguments."""
    calls = []

    def regression(curator: Curator, **options: Any) -> LinearFit:
        calls.append({"curator": curator, **options})
        k = curator.dimension - 1
        std = np.arange(1.0, k + 2.0)
        return LinearFit(
            coef=np.arange(k) + 1.0,
            intercept=-1.0,
            rows=100.0,
            covariance=np.diag(4.0 * std**2),
            noise_std=std,
            warnings=("a warning",),
            details={"radius": 2.0},
        )

    monkeypatch.setattr(own, "regression", regression)
    return calls


# --- what it hands out -------------------------------------------------------------------------


def test_a_line_is_found_and_released() -> None:
    model = fit(X, Y)
    assert model.coef_.shape == (3,)
    assert model.score(X, Y) > 0.7
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")
    r = model.release_
    assert (r.statistic, r.method, r.n, r.private) == ("regression", "auto", 4000.0, False)
    assert r.columns == ("x0", "x1", "x2", "intercept")
    assert r.estimate.tolist() == [*model.coef_.tolist(), model.intercept_]
    assert r.details["target"] == "y"
    assert r.details["fit_intercept"] is True
    spent = sum(entry.mu**2 for entry in r.receipt)
    assert 0.0 < spent <= 25.0 * (1 + 1e-9)
    assert LinearRegression().fit(X[:50], Y[:50]).release_.private


def test_the_budget_is_one_and_has_a_default() -> None:
    assert LinearRegression().fit(X, Y).release_.budget == Budget(epsilon=1, delta=1e-6)
    assert LinearRegression(0.5, 1e-8).fit(X, Y).release_.budget == Budget(epsilon=0.5, delta=1e-8)
    assert LinearRegression(rho=0.5).fit(X, Y).release_.budget == Budget(rho=0.5)
    assert LinearRegression(None, None, mu=2).fit(X, Y).release_.budget == Budget(mu=2)
    assert LinearRegression(delta=1e-8).fit(X, Y).release_.budget == Budget(epsilon=1, delta=1e-8)
    # What is said twice is an error, also where it says what no word would say.
    for twice in ({"epsilon": 1, "rho": 5}, {"delta": 1e-6, "mu": 1}, {"epsilon": 1.0, "mu": 0.1}):
        with pytest.raises(BudgetError, match="State the budget once"):
            LinearRegression(**twice).fit(X, Y)


def test_what_predicts_is_in_the_release() -> None:
    model = fit(X, Y)
    assert model.release_.details["predicts"] is not None
    there = LinearRegression()
    there.release_ = Release.from_json(model.release_.to_json())
    there.coef_, there.intercept_, there.n_features_in_ = model.coef_, model.intercept_, 3
    np.testing.assert_array_equal(there.predict(X), model.predict(X))


def test_seeds_repeat_and_their_absence_does_not() -> None:
    one, two, other = fit(X, Y), fit(X, Y), fit(X, Y, seed=2)
    assert np.array_equal(one.release_.estimate, two.release_.estimate)
    assert not np.array_equal(one.release_.estimate, other.release_.estimate)
    fresh = [fit(X, Y, seed=None).release_.estimate for _ in range(2)]
    assert not np.array_equal(*fresh)


def test_intervals_come_from_the_covariance(stated: list[dict[str, Any]]) -> None:
    model = fit(X, Y)
    ends, r = model.intervals(0.95), model.release_
    half = 1.959963984540054 * 2.0 * np.arange(1.0, 5.0)
    assert ends.shape == (4, 2)
    np.testing.assert_allclose(ends, np.outer(half, [-1, 1]) + r.estimate[:, None])
    assert r.estimate.tolist() == [1.0, 2.0, 3.0, -1.0]
    np.testing.assert_allclose(r.sampling_std, np.sqrt(3.0) * np.arange(1.0, 5.0))
    np.testing.assert_array_equal(r.interval(0.5), model.intervals(0.5))
    assert "population" in r.interval_covers
    assert r.warnings == ("a warning",)
    again = Release.from_json(r.to_json())
    assert again == r
    np.testing.assert_array_equal(again.error_covariance, np.diag(4.0 * np.arange(1.0, 5.0) ** 2))
    assert [record["lower"] for record in again.table()] == ends[:, 0].tolist()
    assert "coefficient" in repr(again)
    assert "regression of y on 3 features" in repr(again)
    with pytest.raises(InputError, match="level"):
        model.intervals(1.5)


def test_too_few_rows_have_no_intervals_and_the_method_is_not_blamed() -> None:
    model = LinearRegression(epsilon=1, seed=0).fit(X[:30], Y[:30])
    assert "too few" in model.release_.warnings[-1]
    with pytest.raises(ReleaseError, match="rows were too few for slopes") as refused:
        model.intervals()
    assert "method" not in str(refused.value)


@pytest.mark.parametrize("method", ["ssp", "adassp", "adassp-fixed"])
def test_a_method_without_errors_says_so(method: str) -> None:
    model = fit(X, Y, method=method, bounds=(-500, 500))
    r = model.release_
    assert r.noise_std is None or r.error_covariance is None
    if r.error_covariance is None:
        with pytest.raises(ReleaseError, match="no intervals"):
            model.intervals()
        assert {record["lower"] for record in r.table()} == {None}
        assert "interval" not in repr(r)
    again = Release.from_json(r.to_json())
    assert again == r
    frame = pytest.importorskip("pandas") and again.to_frame()
    assert list(frame["column"]) == ["x0", "x1", "x2", "intercept"]
    assert frame["estimate"].tolist() == r.estimate.tolist()


def test_a_release_without_errors_can_be_drawn() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    ax = fit(X, Y, method="ssp").release_.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["x0", "x1", "x2", "intercept"]
    plt.close(ax.figure)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"noise_std": None, "statistic": "mean"}, "has a noise_std"),
        ({"statistic": "sum"}, "no error_covariance"),
        ({"error_covariance": [[1.0, 0.0]]}, "must have shape"),
        ({"error_covariance": [[-1.0, 0.0], [0.0, 1.0]]}, "no negative number"),
        ({"error_covariance": None}, "a list"),
        ({"error_covarianc": [[1.0]]}, "Did you mean 'error_covariance'"),
        ({"estimate": [[1.0, 2.0]], "noise_std": [[1.0, 1.0]]}, "one estimate for each"),
    ],
)
def test_a_stored_regression_is_read_strictly(change: dict[str, Any], says: str) -> None:
    release = Release(
        statistic="regression", estimate=np.ones(2), columns=("a", "intercept"),
        noise_std=np.ones(2), n=9, budget=Budget(mu=1), neighbors="replace", method="auto",
        error_covariance=np.eye(2),
    )  # fmt: skip
    assert Release.from_dict(release.to_dict()) == release
    with pytest.raises(ReleaseError, match=says):
        Release.from_dict(release.to_dict() | change)


def test_an_intercept_is_found_beside_a_feature_of_that_name() -> None:
    pd = pytest.importorskip("pandas")
    model = fit(pd.DataFrame(X, columns=["intercept", "y", "b"]), Y)
    assert model.release_.columns == ("intercept", "y", "b", "(intercept)")
    assert model.release_.details["target"] == "y_target"


def test_a_target_that_was_left_among_the_features_is_noticed() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(cost=Y)
    with pytest.warns(UserWarning, match="X has a column 'cost', as the target is called"):
        fit(frame, frame["cost"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(frame, "cost")
        fit(frame[["a", "b"]], frame["cost"])


def test_errors_tell_of_features_and_of_names(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="or the name of a column of X, as text; got int"):
        fit(X, 2)
    (tmp_path / "a.csv").write_text("a,b,cost\n1,2,3\n")
    (tmp_path / "b.csv").write_text("a,c,cost\n1,2,3\n")
    with pytest.raises(InputError, match=r"that both have: features=\['a'\]"):
        fit(str(tmp_path / "*.csv"), "cost")


def test_without_an_intercept_there_is_none() -> None:
    model = fit(X - X.mean(axis=0), Y - Y.mean(), fit_intercept=False)
    assert model.intercept_ == 0.0
    assert model.release_.details["fit_intercept"] is False


# --- what it takes -----------------------------------------------------------------------------


def tables() -> dict[str, Callable[[], Any]]:
    def frame(module: str) -> Any:
        library = pytest.importorskip(module)
        if module == "pyarrow":
            return library.table({name: X[:, j] for j, name in enumerate(NAMES)})
        return library.DataFrame({name: X[:, j] for j, name in enumerate(NAMES)})

    def sparse() -> Any:
        import scipy.sparse

        return scipy.sparse.coo_array(X)

    def stream() -> Any:
        return frame("pyarrow").to_reader(max_chunksize=999)

    return {
        "fortran": lambda: np.asfortranarray(X),
        "lists": X.tolist,
        "objects": lambda: X.astype(object),
        "masked": lambda: np.ma.masked_array(X),
        "sparse": sparse,
        "pandas": lambda: frame("pandas"),
        "polars": lambda: frame("polars"),
        "pyarrow": lambda: frame("pyarrow"),
        "stream": stream,
    }


@pytest.mark.parametrize("kind", tables())
def test_all_kinds_of_tables_give_the_same_line(kind: str) -> None:
    wanted = fit(X, Y)
    table = tables()[kind]()
    model = fit(table, Y)
    np.testing.assert_array_equal(model.release_.estimate, wanted.release_.estimate)
    named = kind in ("pandas", "polars", "pyarrow", "stream")
    assert list(getattr(model, "feature_names_in_", [])) == (NAMES if named else [])
    np.testing.assert_allclose(model.predict(tables()[kind]()), wanted.predict(X), rtol=1e-12)


def test_all_kinds_of_targets_give_the_same_line() -> None:
    wanted = fit(X, Y).release_.estimate
    pd, pl, pa = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    kinds = [
        (Y.tolist(), "y"),
        (Y.astype(object), "y"),
        (np.ma.masked_array(Y), "y"),
        (pd.Series(Y, name="cost"), "cost"),
        (pd.Series(Y, dtype="Float64"), "y"),
        (pl.Series("cost", Y), "cost"),
        (pd.DataFrame({"cost": Y}), "y"),
        (pa.chunked_array([Y[:7], Y[7:]]), "y"),
    ]
    for target, name in kinds:
        release = fit(X, target).release_
        np.testing.assert_array_equal(release.estimate, wanted)
        assert release.details["target"] == name
    with pytest.warns(UserWarning, match="A column-vector y was passed"):
        np.testing.assert_array_equal(fit(X, Y[:, None]).release_.estimate, wanted)


def files(folder: Path) -> dict[str, Path]:
    """Write the rows, the target in the middle and a column of text at the end."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import csv, feather, parquet

    columns = {"height": X[:, 0], "cost": Y, "weight": X[:, 1], "score": X[:, 2]}
    numbers = pa.table(columns)
    mixed = numbers.append_column("city", pa.array(["a"] * 4000))
    parquet.write_table(numbers, folder / "rows.parquet", row_group_size=700)
    feather.write_feather(numbers, folder / "rows.arrow")
    csv.write_csv(numbers, folder / "rows.csv")
    parquet.write_table(mixed, folder / "mixed.parquet")
    return {path.name: path for path in folder.iterdir()}


def test_files_are_fitted_by_the_name_of_the_target(tmp_path: Path) -> None:
    wanted = fit(X, Y)
    for name, path in sorted(files(tmp_path).items()):
        features = NAMES if name == "mixed.parquet" else None
        for data in (path, [str(path)]):
            model = fit(data, "cost", features=features)
            np.testing.assert_array_equal(model.release_.estimate, wanted.release_.estimate)
            assert list(model.feature_names_in_) == NAMES
            assert model.release_.columns == (*NAMES, "intercept")
            assert model.release_.details["target"] == "cost"
        np.testing.assert_allclose(model.predict(path), wanted.predict(X), rtol=1e-9)
        assert model.score(path, "cost") == pytest.approx(wanted.score(X, Y))
    fewer = fit(tmp_path / "mixed.parquet", "cost", features="score")
    assert fewer.release_.columns == ("score", "intercept")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "stream"])
def test_tables_are_fitted_by_the_name_of_the_target(kind: str) -> None:
    wanted = fit(X[:, [2, 0]], X[:, 1]).release_.estimate
    table = tables()[kind]
    model = fit(table(), "weight", features=["score", "height"])
    np.testing.assert_array_equal(model.release_.estimate, wanted)
    # The target is in the middle: it is moved, and its own column may be there in predict.
    again = fit(table(), "weight")
    np.testing.assert_array_equal(
        again.release_.estimate, fit(X[:, [0, 2]], X[:, 1]).release_.estimate
    )
    assert list(again.feature_names_in_) == ["height", "score"]
    np.testing.assert_array_equal(again.predict(table()), again.predict(tables()["pandas"]()))


def test_a_refit_forgets_names() -> None:
    pd = pytest.importorskip("pandas")
    model = fit(pd.DataFrame(X, columns=NAMES), Y)
    model.fit(X[:, :2], Y)
    assert (model.n_features_in_, hasattr(model, "feature_names_in_")) == (2, False)


def test_no_value_is_an_error() -> None:
    bad = X.copy()
    bad[:40:3], bad[1:40:3], bad[2:40:3] = np.nan, np.inf, -1e300
    target = Y.copy()
    target[20:60:2], target[21:60:2] = np.nan, -np.inf
    for rows, values in ((bad, Y), (X, target), (bad, target), (bad * np.nan, target * np.inf)):
        for method in REGRESSION_METHODS:
            model = fit(rows, values, method=method)
            assert np.all(np.isfinite(model.release_.estimate)), method
    objects = X.astype(object)
    objects[0] = [None, 10**400, True]
    assert np.all(np.isfinite(fit(objects, Y).coef_))


def test_bounds_are_for_the_target_too(stated: list[dict[str, Any]]) -> None:
    fit(X, Y, bounds={"x1": (0, 200), "y": (-50, 50)}, alpha=3)
    lower, upper = stated[-1]["curator"].bounds
    assert lower.tolist() == [-np.inf, 0.0, -np.inf, -50.0]
    assert upper.tolist() == [np.inf, 200.0, np.inf, 50.0]
    assert (stated[-1]["alpha"], stated[-1]["fit_intercept"]) == (3.0, True)


def test_published_methods_get_rows_in_the_unit_ball(monkeypatch: pytest.MonkeyPatch) -> None:
    from prolate import rivals

    calls: list[dict[str, Any]] = []

    def spy(curator: Curator, **options: Any) -> LinearFit:
        calls.append({"columns": curator.columns, **options})
        return LinearFit(np.zeros(3), 0.0, 1.0)

    monkeypatch.setattr(rivals, "ssp", spy)
    monkeypatch.setattr(rivals, "adassp", spy)
    fit(X, Y, method="ssp", accounting="basic")
    assert calls[-1]["center"].tolist() == [0.0] * 4
    assert calls[-1]["scale"].tolist() == [1.0] * 4
    assert calls[-1]["accounting"] == "basic"
    ends = ([100, 0, 1, -10], [200, 200, 1, 30])
    for method in ("adassp", "adassp-fixed"):
        fit(X, Y, method=method, bounds=ends, fit_intercept=False)
        assert calls[-1]["center"].tolist() == [150.0, 100.0, 1.0, 10.0]
        expected = [50 * np.sqrt(3), 100 * np.sqrt(3), np.sqrt(3), 20.0]
        np.testing.assert_allclose(calls[-1]["scale"], expected)
        assert calls[-1]["fixed"] is (method == "adassp-fixed")
        assert calls[-1]["fit_intercept"] is False
    with pytest.raises(InputError, match="bounds of column 'x0' must be finite"):
        fit(X, Y, method="ssp", bounds={"y": (0, 1)})


def test_rows_may_be_private() -> None:
    model = fit(X, Y, neighbors="add-remove")
    assert model.release_.neighbors == "add-remove"
    assert abs(model.release_.n - 4000) < 400
    assert np.all(np.isfinite(fit(X[:0], Y[:0], neighbors="add-remove").coef_))


def test_a_ledger_is_charged_once_and_first(tmp_path: Path) -> None:
    book = prolate.Ledger.create(tmp_path / "rows.ledger", limit=Budget(mu=6))
    for ledger in (book, str(tmp_path / "rows.ledger")):
        if ledger is book:
            fit(X, Y, ledger=ledger)
            assert book.entries()[0].mu == 5.0
        else:
            with pytest.raises(LedgerError):
                fit(X, Y, ledger=ledger)
    assert len(book.entries()) == 1


def test_a_model_survives_pickling() -> None:
    model = fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    assert again.release_ == model.release_
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_progress_is_reported() -> None:
    seen: list[tuple[str, int, int | None]] = []
    model = LinearRegression(seed=0)
    model.fit(X, Y, progress=lambda label, rows_done, rows_total: seen.append((label, rows_done)))
    assert {done for _, done in seen} == {0, 4000}


# --- what it refuses ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "adasp"}, "Did you mean 'adassp'"),
        ({"accounting": "basic"}, "published methods"),
        ({"accounting": "none", "method": "ssp"}, "accounting must be"),
        ({"alpha": -1}, "alpha must be"),
        ({"alpha": "1"}, "alpha must be"),
        ({"alpha": 1.0, "method": "adassp"}, "alpha is for method='auto'"),
        ({"method": "ssp", "fit_intercept": False, "neighbors": "add-remove"}, "number of rows"),
        ({"neighbors": "both"}, "neighbors must be"),
        ({"bounds": {"z": (0, 1)}}, "column that is not used: 'z'"),
        ({"bounds": (1, 0)}, "lower <= upper"),
        ({"seed": "x"}, "seed"),
    ],
)
def test_wrong_parameters_are_refused_in_fit(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        fit(X, Y, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": 0.5, "rho": 1.0},
        {"delta": 1e-9, "mu": 1.0},
        {"rho": 1.0, "mu": 1.0},
        {"epsilon": -1},
    ],
)
def test_a_budget_stated_wrongly_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BudgetError):
        LinearRegression(**options).fit(X, Y)


@pytest.mark.parametrize(
    ("rows", "target", "says"),
    [
        (X, np.stack([Y, Y], axis=1), "2 columns. Fit one regression for each target"),
        (X, Y.reshape(-1, 2, 1), "3 dimensions"),
        (X, 3.0, "as text; got float"),
        (X, None, "requires y to be passed"),
        (X, Y[:-1], "different numbers of rows"),
        (X, ["a"] * 4000, "got list"),
        (X, np.array(["a"] * 4000), "The array holds text"),
        (X, {"y": 1}, "got dict"),
        (X, "cost", "There is no column 'cost'"),
        (X[:, 0], Y, "Reshape your data"),
        (X[:, :0], Y, r"0 feature\(s\)"),
        (X[:0], Y[:0], "no rows"),
        (X * 1j, Y, "Complex data not supported"),
        (np.array([["a", 1.0]], dtype=object), [1.0], "an entry of type str"),
        (np.datetime64("2020") + np.zeros((9, 2), dtype="m8[D]"), Y[:9], "datetime64"),
        ("rows.csv", Y, "must be the name of the target's column"),
        (object(), Y, "object"),
    ],
)
def test_wrong_data_is_refused(rows: Any, target: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        fit(rows, target)


def test_wrong_columns_of_a_table_are_refused(tmp_path: Path) -> None:
    path = files(tmp_path)["mixed.parquet"]
    cases: list[tuple[Any, Any, str]] = [
        ("cos", NAMES, "Did you mean 'cost'"),
        ("cost", ["heigt"], "Did you mean 'height'"),
        ("cost", ["cost", "score"], "cannot be one of the features"),
        ("cost", ["score", "score"], "features asks twice"),
        ("cost", [], "leaves nothing"),
        ("cost", None, r"'city' of .* not numbers\. Choose .*features=\['height'"),
        ("city", NAMES, "'city' of .* not numbers"),
    ]
    for target, features, says in cases:
        with pytest.raises(InputError, match=says):
            fit(path, target, features=features)
    pd = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="no column beside the target"):
        fit(pd.DataFrame({"y": Y}), "y")
    with pytest.raises(InputError, match=r"No other column is numeric"):
        fit(pd.DataFrame({"y": Y, "city": "Rome"}), "y")
    both = pd.DataFrame({"height": Y, "city": "Rome"})
    with pytest.raises(
        InputError, match=r"not numbers\. Pass in X only columns of numbers: \['height'"
    ):
        fit(both, Y)  # it has no argument columns, nor features
    with pytest.raises(InputError, match="There is no column 'cost'"):
        fit(tables()["stream"](), "cost")
    with pytest.raises(InputError, match="goes with the name of the target"):
        fit(X, Y, features=["x0"])


def test_other_features_than_fitted_are_refused() -> None:
    pd = pytest.importorskip("pandas")
    model = fit(pd.DataFrame(X, columns=NAMES), Y)
    with pytest.raises(InputError, match="yet now missing:\n- height\n- score"):
        model.predict(pd.DataFrame(X[:, :2], columns=["weight", "age"]))
    with pytest.raises(InputError, match="same order"):
        model.predict(pd.DataFrame(X, columns=NAMES[::-1]))
    scaler = PrivateMean(mu=1, seed=1).fit(pd.DataFrame(X, columns=NAMES))
    for use in (model.predict, lambda rows: model.score(rows, Y), scaler.transform):
        with pytest.warns(UserWarning, match="valid feature names") as warned:
            use(X)
        assert [warning.filename for warning in warned] == [__file__]  # the line of the user
    with pytest.raises(InputError, match="X has 2 features"):
        fit(X, Y).predict(X[:, :2])
    with pytest.raises((InputError, ValueError), match="not fitted yet"):
        LinearRegression().predict(X)
    with pytest.raises((InputError, ValueError), match="not fitted yet"):
        LinearRegression().intervals()


def test_scores_of_rows_that_do_not_fit_together_are_refused() -> None:
    model = fit(X, Y)
    for rows, target in ((X, Y[:-1]), (X[:10], Y), (X[:0], Y)):  # were errors of NumPy's
        with pytest.raises(InputError, match="different numbers of rows"):
            model.score(rows, target)
    for weight in (Y[:3], 2.0, "even", np.ones((4000, 1))):
        with pytest.raises(InputError, match="one number for each row"):
            model.score(X, Y, weight)
    for rows, target, none in ((X, Y, np.zeros(4000)), (X[:0], Y[:0], None), (X, Y, Y * np.nan)):
        with pytest.raises(InputError, match="not all 0"):
            model.score(rows, target, none)
    with pytest.raises(InputError, match="got NoneType"):
        model.score(X, None)
    assert model.score(X, Y, np.full(4000, 2.0)) == pytest.approx(model.score(X, Y))


def test_rows_of_pairs_are_never_copied_as_a_whole() -> None:
    rows = np.broadcast_to(np.arange(50.0), (300_000, 50))  # 120 MB, were it not one row
    source = open_pair(rows, np.broadcast_to(1.0, 300_000))
    sizes = [block.nbytes for block in source.blocks()]
    assert max(sizes) <= 1 << 20
    assert sum(sizes) == 300_000 * 51 * 8
    assert all(size // (51 * 8) % 2 == 0 for size in sizes[:-1])


def test_a_table_whose_target_is_last_is_handed_out_as_it_is() -> None:
    source = open_table(np.column_stack([X, Y]), "x3", None)
    block = next(iter(source.blocks()))
    assert source.columns == ("x0", "x1", "x2", "x3")
    assert not block.flags.owndata
    assert open_source(source) is source


def test_it_works_without_scikit_learn() -> None:
    script = """
import sys
sys.modules["sklearn"] = None
import numpy as np, prolate
model = prolate.LinearRegression(epsilon=3, seed=0)
print(model, model.get_params()["epsilon"])
X = np.random.default_rng(0).normal(size=(5000, 2))
model.set_params(method="auto", delta=1e-5).fit(X, X @ [1.0, 2.0])
print(model.score(X, X @ [1.0, 2.0]) > 0.5, "sklearn.base" in sys.modules)
for wrong in (lambda: model.set_params(depth=3), lambda: prolate.LinearRegression().predict(X)):
    try:
        wrong()
    except prolate.InputError as error:
        print(error)
print(model.set_params(epsilon=0.1).fit(X[:60], X[:60, 0]))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(prolate.__file__).parents[1],
    )
    first, second, third, fourth, *printed = done.stdout.splitlines()
    assert first == "LinearRegression(epsilon=3, delta=1e-06, seed=0) 3"
    assert second == "True False"
    assert third.startswith("Invalid parameter 'depth' for estimator LinearRegression.")
    assert fourth.startswith("This LinearRegression instance is not fitted yet")
    assert [line[:9] for line in printed] == ["LinearReg", *["warning: "] * 2]
