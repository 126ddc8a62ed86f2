"""The release: a value that is checked, stored whole, and read strictly."""

from __future__ import annotations

import json
import math
import os
import pickle
import stat
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import prolate
from prolate.budget import Budget
from prolate.errors import InputError, ReleaseError
from prolate.release import ReceiptEntry, Release, views
from prolate.release.files import check_writable
from prolate.release.unit import Unit
from prolate.release.views import round_to

ENTRY = ReceiptEntry(
    label="radius", query="histogram of 64 cells", size=64, share=0.25, mu=0.5,
    sensitivity=math.sqrt(2.0), noise_std=math.sqrt(8.0),
)  # fmt: skip


def release(**changes: Any) -> Release:
    fields: dict[str, Any] = {
        "statistic": "mean",
        "estimate": [2.86, 0.1],
        "columns": ["visits", "income"],
        "noise_std": [0.03, 0.004],
        "sampling_std": [0.04, 0.003],
        "n": 20190,
        "budget": Budget(mu=1.0),
        "neighbors": "replace",
        "method": "auto",
        "receipt": [ENTRY],
        "details": {"radius": np.float64(3.5), "cells": (1, 2)},
    }
    return Release(**(fields | changes))


def stored(**changes: Any) -> str:
    return json.dumps(json.loads(release().to_json()) | changes)


def test_it_is_a_value() -> None:
    r = release()
    assert r == release()
    assert r != release(n=20191)
    assert r.details == {"radius": 3.5, "cells": [1, 2]}
    for copy in (r, pickle.loads(pickle.dumps(r))):
        assert copy == r
        with pytest.raises(ValueError, match="read-only"):
            copy.estimate[0] = 0.0
    with pytest.raises(AttributeError):
        r.n = 3.0  # type: ignore[misc]


def test_it_does_not_share_the_arrays_it_was_given() -> None:
    values = np.array([1.0, 2.0])
    r = release(estimate=values)
    values[0] = 9.0
    assert r.estimate[0] == 1.0


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"statistic": "mode"}, "statistic must be one of"),
        ({"neighbors": "swap"}, "neighbors must be"),
        ({"estimate": [1.0]}, "one value per column"),
        ({"estimate": [1.0, math.nan]}, "estimate holds a value that is not finite"),
        ({"noise_std": [math.inf, 1.0]}, "noise_std holds a value that is not finite"),
        ({"noise_std": [-1.0, 1.0]}, "no negative value"),
        ({"sampling_std": [1.0]}, "sampling_std must have shape"),
        ({"n": math.nan}, "n must be finite"),
        ({"error_norm": 0.5}, "error_norm at least 1 or"),
        ({"budget": Budget(mu=0.49)}, "more than the budget"),
        ({"details": {"a": math.inf}}, "details.a is not finite"),
        ({"details": {"a": [object()]}}, r"details.a\[0\] is of type object"),
        ({"details": {1: 2}}, "key that is no string"),
    ],
)
def test_what_cannot_be_a_release_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ReleaseError, match=says):
        release(**changes)


def test_receipt_entries_are_finite() -> None:
    with pytest.raises(ReleaseError, match="noise_std of measurement 'x'"):
        ReceiptEntry("x", "q", 1, 0.5, 0.5, 1.0, math.inf)


def test_interval_holds_noise_and_sampling() -> None:
    r = release()
    half = 1.959963984540054 * np.hypot(r.noise_std, r.sampling_std)
    assert r.interval().shape == (2, 2)
    np.testing.assert_allclose(r.interval()[:, 0], r.estimate - half, rtol=1e-14)
    np.testing.assert_allclose(r.interval()[:, 1], r.estimate + half, rtol=1e-14)
    assert "noise and sampling error together" in r.interval_covers
    assert "population" in r.interval_covers
    assert "clipping" not in r.interval_covers
    clipped = release(clipping_std=[3.0, 4.0])
    assert np.all(clipped.interval()[:, 1] > r.interval()[:, 1])
    assert "what clipping may have taken off" in clipped.interval_covers
    assert "hide" not in clipped.interval_covers


def test_what_an_interval_covers_says_whether_rows_or_persons_count() -> None:
    means, kept = Unit("id", "mean"), Unit("id", "rows", 3)
    assert (
        "the sum of these persons' means, each"
        in release(statistic="sum", unit=means).interval_covers
    )
    assert (
        "the sum of these rows, at most 3 of each person, each"
        in release(statistic="sum", unit=kept).interval_covers
    )
    hidden = {"unseen_rows": 243.7}
    many = release(n=10_000.0, details=hidden, unit=means).interval_covers
    assert "that the persons were drawn from" in many
    assert "200 persons far out" in many
    assert "that the rows were" in release(unit=kept).interval_covers


def test_what_an_interval_covers_says_how_many_rows_noise_may_hide() -> None:
    few = release(n=10_000.0, details={"unseen_rows": 5.0})
    assert "hide" not in few.interval_covers  # at ten deviations, less than the sampling error
    many = release(n=10_000.0, details={"unseen_rows": 243.7})
    assert "noise may hide about 200 rows far out" in many.interval_covers
    all_of_them = release(n=10_000.0, details={"unseen_rows": 1e9})
    assert "about 10,000 rows" in all_of_them.interval_covers


@pytest.mark.parametrize("changes", [{"statistic": "sum"}, {"sampling_std": None}])
def test_interval_without_sampling_is_about_these_rows(changes: dict[str, Any]) -> None:
    r = release(**changes)
    half = 2.5758293035489004 * r.noise_std
    np.testing.assert_allclose(r.interval(0.99)[:, 1], r.estimate + half, rtol=1e-14)
    assert "these rows" in r.interval_covers
    assert "noise only" in r.interval_covers


def test_interval_of_several_quantiles() -> None:
    r = release(statistic="quantile", estimate=np.ones((3, 2)), noise_std=np.ones((3, 2)),
                sampling_std=None, details={"q": [0.1, 0.5, 0.9]})  # fmt: skip
    assert r.interval(0.5).shape == (3, 2, 2)
    assert [(row["column"], row["q"]) for row in r.table()][:3] == [
        ("visits", 0.1),
        ("income", 0.1),
        ("visits", 0.5),
    ]


@pytest.mark.parametrize("level", [0.0, 1.0, -1, 2, math.nan, "x", "0.9", None, [0.9], 2j])
@pytest.mark.parametrize("show", ["interval", "table", "to_frame", "to_html", "plot"])
def test_levels_outside_the_open_interval_are_refused(show: str, level: Any) -> None:
    with pytest.raises(InputError, match="strictly between 0 and 1"):
        getattr(release(), show)(level=level)


def test_levels_near_one_are_finite() -> None:
    assert np.all(np.isfinite(release().interval(1 - 1e-16)))


def test_json_file_is_whole_and_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    text = release().to_json(path)
    assert path.read_text() == text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Release.from_json(path) == Release.from_json(str(path)) == release()
    assert Release.from_json(text) == release()
    release(n=5).to_json(path)
    assert Release.from_json(path).n == 5
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    path = tmp_path / "r.json"
    old = release().to_json(path)

    def fail(handle: int) -> None:
        raise failure

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((ReleaseError, KeyboardInterrupt)):
        release(n=5).to_json(path)
    assert path.read_text() == old
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_only_ordinary_files_are_replaced(tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "real.json")
    release().to_json(link)
    assert link.is_symlink()
    assert Release.from_json(tmp_path / "real.json") == release()
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path, says in [
        (fifo, "not an ordinary file"),
        (tmp_path, "it is a folder"),
        (tmp_path / "no" / "r.json", "its folder does not exist"),
        (tmp_path / "r.csv", "choose another, such as 'r.json'"),
    ]:
        with pytest.raises(ReleaseError, match=says):
            check_writable(path)
    assert stat.S_ISFIFO(fifo.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="pipes have no paths here")
def test_a_pipe_is_no_ordinary_file_under_any_name() -> None:
    """Such as /dev/stdout: that it cannot be written came only after the charge."""
    ends = os.pipe()
    try:
        with pytest.raises(ReleaseError, match="not an ordinary file"):
            check_writable(f"/dev/fd/{ends[1]}")
    finally:
        for end in ends:
            os.close(end)


def without(name: str) -> str:
    fields = json.loads(release().to_json())
    del fields[name]
    return json.dumps(fields)


def in_receipt(**changes: Any) -> str:
    entry = json.loads(release().to_json())["receipt"][0]
    return stored(receipt=[entry | changes])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{}", "not a stored Prolate release"),
        (stored(schema="other"), "not a stored Prolate release"),
        (stored(schema_version=2), "schema version 2; this Prolate reads version 1"),
        (stored(schema_version=True), "schema version True"),
        (stored(schema_version="1"), "schema version '1'"),
        (stored(estimat=1), "field 'estimat' that this Prolate does not know. Did you mean"),
        (without("noise_std"), "lacks its field 'noise_std'"),
        (without("details"), "lacks its field 'details'"),
        (stored(private=1), "int at 'release.private', where true or false"),
        (stored(n="20190"), "str at 'release.n', where a number"),
        (stored(n=True), "bool at 'release.n', where a number"),
        (stored(n=10**400), "'release.n' that is not finite"),
        (stored(columns="visits"), "str at 'release.columns', where a list"),
        (stored(columns=[1, 2]), r"int at 'release.columns\[0\]', where text"),
        (stored(estimate=[[1, 2], [3]]), "unequal length"),
        (stored(estimate=[None, 1.0]), r"null at 'release.estimate\[0\]'"),
        (stored(estimate=[[[1.0]]]), "where a number belongs"),
        (stored(details=[]), "list at 'release.details', where an object"),
        (stored(budget={"mu": 1.0}), "lacks its field 'composition'"),
        (
            stored(budget={"mu": 1, "composition": "x", "stated": {"mu": 1}}),
            "budget of this release cannot be read",
        ),
        (
            stored(budget={"mu": 1, "composition": "gdp", "stated": {"mu": -1}}),
            "budget of this release cannot be read",
        ),
        (
            stored(budget={"mu": -1, "composition": "gdp", "stated": {"mu": 1}}),
            "budget of this release cannot be read",
        ),
        (stored(receipt=[3]), r"int at 'release.receipt\[0\]', where an object"),
        (in_receipt(size=1.5), r"float at 'receipt\[0\].size', where a whole number"),
        (in_receipt(extra=1), "field 'extra'"),
        (in_receipt(mu=1.5), "more than the budget"),
        (stored()[:-20], "not complete JSON"),
        (stored().replace("20190", "NaN"), "holds NaN"),
        (stored().replace("20190.0", "1e999"), "not finite"),
        (stored()[:-1] + ', "n": 3}', "names a field twice"),
        ('{"a":' + "[" * 100_000, "out of range|not complete"),
        ('{"a": ' + "1" * 5000 + "}", "out of range"),
    ],
)
def test_reading_refuses_what_it_does_not_know(text: str, says: str) -> None:
    with pytest.raises(ReleaseError, match=says):
        Release.from_json(text)


def test_unreadable_files_say_why(tmp_path: Path) -> None:
    binary = tmp_path / "x.json"
    binary.write_bytes(b"\xff\xfe\x00")
    listed = tmp_path / "l.json"
    listed.write_text("[1]")
    for path, says in [
        (tmp_path / "none.json", "No such file"),
        (tmp_path, "Is a directory"),
        (binary, "not text"),
        (listed, "not a stored Prolate release"),
        ("a\0b", "cannot be read"),
    ]:
        with pytest.raises(ReleaseError, match=says):
            Release.from_json(path)


def test_whole_numbers_and_an_infinite_norm_are_read() -> None:
    assert Release.from_json(stored(estimate=[2, 0])).estimate.tolist() == [2.0, 0.0]
    r = release(error_norm=math.inf)
    assert Release.from_json(r.to_json()).error_norm == math.inf


def test_a_relative_norm_is_stored_as_its_name() -> None:
    """It was stored as 0.0; files that have that are read all the same."""
    fields = json.loads(release(error_norm=0.0).to_json())
    assert fields["error_norm"] == "relative"
    for kept in ("relative", 0.0):
        read = Release.from_json(json.dumps({**fields, "error_norm": kept}))
        assert read.error_norm == "relative"
    with pytest.raises(ReleaseError, match="error_norm"):
        Release.from_json(json.dumps({**fields, "error_norm": "relativ"}))


def test_frame() -> None:
    frame = release().to_frame(0.9)
    assert list(frame.columns) == [
        "column", "estimate", "noise_std", "sampling_std", "lower", "upper",
    ]  # fmt: skip
    np.testing.assert_array_equal(frame[["lower", "upper"]], release().interval(0.9))
    assert release(sampling_std=None).to_frame()["sampling_std"].isna().all()


@pytest.mark.parametrize("statistic", ["mean", "covariance"])
def test_noise_of_which_nothing_is_known_is_infinite(statistic: str) -> None:
    shape = (2,) if statistic == "mean" else (2, 2)
    largest = np.finfo(float).max
    r = release(statistic=statistic, estimate=np.ones(shape), noise_std=np.full(shape, largest),
                sampling_std=np.full(shape, largest))  # fmt: skip
    for text in (repr(r), r.to_html(), r._repr_html_()):
        assert "inf" in text
        assert "1.8e+308" not in text
        assert "1.79769e+308" not in text


def test_a_number_whose_noise_is_infinite_is_shown_as_unknown() -> None:
    """It was printed like others, 503,231 +- inf, with a sampling error of its own."""
    largest = np.finfo(float).max
    r = release(estimate=[2.86, 503231.0], noise_std=[0.03, largest],
                sampling_std=[0.04, 250_000.0])  # fmt: skip
    assert views.cells(r, 0.95)[1][1] == ["income", "unknown", "inf", "", "-inf to inf"]
    assert r.to_frame()["estimate"][1] == r.table()[1]["estimate"] == 503231.0
    assert "503231" in r.to_csv()
    matrix = release(statistic="covariance", estimate=[[1.0, 503231.0], [503231.0, 2.0]],
                     noise_std=[[0.1, largest], [largest, 0.1]], sampling_std=None)  # fmt: skip
    for one in (r, matrix):
        for text in (repr(one), one.to_html(), one._repr_html_()):
            assert "unknown" in text
            assert "503" not in text
    every = release(noise_std=[largest, largest])
    assert "error bars" not in every.to_html()
    assert r.to_html().count('class="whole"') == 2  # of the other number, and in the legend


def test_about_one_row() -> None:
    group = {"group": {"by": "ward", "key": "none"}}
    for n, words in ((1.0, "about 1 row ("), (1.3, "about 1 row ("), (1.6, "about 2 rows (")):
        assert words in repr(release(n=n, details=group))
    assert ", 1 row," in repr(release(n=1))


@pytest.mark.parametrize(
    ("statistic", "estimate", "ends"),
    [
        ("variance", [1.0, 9.0], [[0.0, 3.0], [7.0, 11.0]]),
        ("count", [-1.0, -9.0], [[0.0, 2.0], [0.0, 2.0]]),
        ("mean", [1.0, -9.0], [[-1.0, 3.0], [-11.0, -7.0]]),
        ("covariance", [[1.0, 1.0], [1.0, 9.0]], [[[0, 3], [-1, 3]], [[-1, 3], [7, 11]]]),
        ("correlation", [[1.0, 0.5], [0.5, 1.0]], [[[-1, 1], [-1, 1]], [[-1, 1], [-1, 1]]]),
    ],
)
def test_intervals_hold_nothing_that_is_impossible(
    statistic: str, estimate: Any, ends: Any
) -> None:
    pytest.importorskip("matplotlib").use("agg")
    r = release(statistic=statistic, estimate=estimate, noise_std=np.ones(np.shape(estimate)),
                sampling_std=None)  # fmt: skip
    level = 1.0 - math.erfc(2.0 / math.sqrt(2.0))  # of two standard deviations
    np.testing.assert_allclose(r.interval(level), ends, atol=1e-9)
    wide = release(statistic=statistic, estimate=estimate, sampling_std=None,
                   noise_std=np.full(np.shape(estimate), np.finfo(float).max))  # fmt: skip
    for one in (r, wide):
        assert one.plot() is not None
        assert one.to_html()
    if statistic in ("variance", "mean"):
        drawn = r.plot(level=level).containers[0].lines[2][0].get_segments()
        np.testing.assert_allclose([bar[:, 0] for bar in drawn], ends, atol=1e-9)


@pytest.mark.parametrize(
    ("bounds", "given", "ends"),
    [
        ([0.0, 1.0], {}, [[0.0, 1.0], [0.0, 1.0]]),
        ({"income": [0.0, 5.0]}, {}, [[-2.5, 1.5], [0.0, 2.0]]),
        ({"income": [0.0, 5.0]}, {"method": "coinpress"}, [[-2.5, 1.5], [0.0, 2.0]]),
        ([2.0, 3.0], {}, [[2.0, 3.0], [2.0, 3.0]]),
        ([0.0, 1.0], {"statistic": "sum"}, [[0.0, 2.0], [0.0, 2.0]]),
        ([-0.1, 0.01], {"statistic": "sum"}, [[-1.0, 0.1], [-1.0, 0.1]]),  # of 10 rows
        (
            [-0.1, 0.01],
            {"statistic": "sum", "neighbors": "add-remove"},
            [[-2.5, 1.5], [-10.0, -6.0]],
        ),
        ([0.0, 1.0], {"statistic": "sum", "neighbors": "add-remove"}, [[0.0, 2.0], [0.0, 2.0]]),
        (
            [-2.0, -1.0],
            {"statistic": "sum", "neighbors": "add-remove"},
            [[-2.5, 0.0], [-10.0, -6.0]],
        ),
        ([0.0, 1.0], {"statistic": "sum", "method": "gaussian-ellipse"}, [[-2.5, 1.5], [-10, -6]]),
        ([1.0], {}, [[-2.5, 1.5], [-10.0, -6.0]]),  # none that Prolate writes
        ({"income": "wide"}, {}, [[-2.5, 1.5], [-10.0, -6.0]]),
    ],
)
def test_intervals_end_at_public_bounds(bounds: Any, given: Any, ends: Any) -> None:
    r = release(estimate=[-0.5, -8.0], noise_std=[1.0, 1.0], sampling_std=None, n=10,
                details={"bounds": bounds}, **given)  # fmt: skip
    level = 1.0 - math.erfc(2.0 / math.sqrt(2.0))  # of two standard deviations
    found = r.interval(level)
    np.testing.assert_allclose(found, ends, atol=1e-9)
    assert Release.from_json(r.to_json()) == r
    assert [(one["lower"], one["upper"]) for one in r.table(level)] == [*map(tuple, found.tolist())]


def test_a_column_by_its_name() -> None:
    r = release()
    assert r["income"] == 0.1
    assert np.ndim(r["visits"]) == 0
    several = release(
        statistic="quantile",
        estimate=[[1, 2], [3, 4], [5, 6]],
        noise_std=np.ones((3, 2)),
        sampling_std=None,
    )
    assert np.array_equal(several["income"], [2.0, 4.0, 6.0])
    with pytest.raises(KeyError, match="Did you mean 'income'"):
        r["incme"]
    with pytest.raises(KeyError, match="no column 0"):
        r[0]  # type: ignore[index]
    with pytest.raises(TypeError, match="not iterable"):
        list(r)
    assert np.asarray(r).shape == ()  # no list of numbers


def test_a_table_of_csv(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path, r = tmp_path / "table.csv", release(columns=["visits", 'a "b",\nc'], sampling_std=None)
    r.to_csv(path, level=0.9)
    pandas.testing.assert_frame_equal(pandas.read_csv(path), r.to_frame(0.9))
    text = release().to_csv(path)
    assert path.read_text(encoding="utf-8") == text  # a table takes the place of another
    rows = tmp_path / "rows.csv"
    for already in ("column,estimate\n1,2\n", ""):
        rows.write_text(already, encoding="utf-8")
        with pytest.raises(ReleaseError, match="no such table"):
            r.to_csv(rows)
        assert rows.read_text(encoding="utf-8") == already
    for name in ("table.parquet", "table.csv.gz", "table.tsv"):
        with pytest.raises(ReleaseError, match=r"ends in \.csv"):
            r.to_csv(tmp_path / name)


@pytest.mark.parametrize("module", ["pandas", "matplotlib.pyplot"])
def test_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    package = module.partition(".")[0]
    with pytest.raises(ImportError, match=f"pip install {package}"):
        release().to_frame() if package == "pandas" else release().plot()


def test_plot_draws_every_estimate() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    near = release(estimate=[2.86, 2.9])
    ax = near.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["visits", "income"]
    ends = ax.containers[0].lines[2][0].get_segments()
    np.testing.assert_allclose([s[:, 0] for s in ends], near.interval(), rtol=1e-12)
    thick = ax.containers[1].lines[2][0].get_segments()
    np.testing.assert_allclose(thick[0][:, 0], [2.83, 2.89], rtol=1e-12)
    several = release(statistic="quantile", estimate=np.ones((3, 2)), noise_std=np.ones((3, 2)),
                      sampling_std=None, details={"q": [0.1, 0.5, 0.9]})  # fmt: skip
    own = plt.subplots()[1]
    assert several.plot(own) is own
    assert [t.get_text() for t in own.get_legend().get_texts()] == ["q = 0.1", "q = 0.5", "q = 0.9"]
    plt.close("all")


def test_pictures_say_what_they_show() -> None:
    """They were titled "private", and a map of correlations had no numbers."""
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib import pyplot as plt

    assert release().plot().get_title() == f"private mean of {len(release().columns)} columns"
    one = {name: np.ones(1) for name in ("estimate", "noise_std", "sampling_std")}
    assert release(columns=("a$e",), **one).plot().get_title() == r"private mean of a\$e"
    both = {"noise_std": np.ones((2, 2)), "sampling_std": None, "columns": ("a", "b")}
    matrix = release(statistic="covariance", estimate=np.array([[4.0, 1.0], [1.0, 1.0]]), **both)
    axes = matrix.plot()
    assert axes.get_title() == "private covariance of 2 columns"
    assert [text.get_text() for text in axes.texts] == ["1.00", "0.50", "0.50", "1.00"]
    plt.close("all")


def test_sums_of_persons_say_what_they_add_up() -> None:
    """They add up persons' means, and only the text of the interval said so."""
    given = {"statistic": "sum", "sampling_std": None, "clipping_std": None}
    means = release(unit=Unit("pid"), **given)
    assert "advice: Each person counts once in this sum" in str(means)
    assert "contribution='rows'" in str(means)
    for other in (release(**given), release(unit=Unit("pid", "rows", 3), **given)):
        assert "advice" not in str(other)


def test_plot_of_numbers_beside_errors_of_any_size_is_no_warning() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    far = release(estimate=[5e-324, 1e300], noise_std=[1e300, 1e-300], sampling_std=[1e300, 0.0])
    far.plot().figure.canvas.draw()
    plt.close("all")


def test_text_says_what_it_is() -> None:
    lines = str(release(budget=Budget(epsilon=1, delta=1e-6), receipt=())).splitlines()
    assert lines[0] == (
        "Private mean of 2 columns, 20,190 rows, epsilon = 1, delta = 1e-06 (mu = 0.2368), "
        "neighbors: replace"
    )
    assert lines[2].split() == ["visits", "2.860", "0.030", "0.040", "2.762", "to", "2.958"]
    assert "noisy count" in str(release(neighbors="add-remove", n=20190.3)).splitlines()[0]


def test_text_shouts_when_it_is_not_private() -> None:
    r = release(private=False)
    assert str(r).startswith("NOT PRIVATE")
    assert "NOT PRIVATE" in str(r).splitlines()[1]
    assert "No privacy is guaranteed" in r.guarantee


def test_text_of_many_columns_is_short_and_safe() -> None:
    names = ["a\x1b[31m\nb", *map(str, range(149))]
    text = str(release(columns=names, estimate=np.ones(150), noise_std=np.ones(150),
                       sampling_std=None))  # fmt: skip
    assert "\x1b" not in text
    assert "... 130 more ..." in text
    assert len(text.splitlines()) == 23


@pytest.mark.parametrize(
    ("budget", "neighbors", "parts"),
    [
        (Budget(epsilon=1, delta=1e-6), "replace",
         ["(epsilon = 1, delta = 1e-06)", "replacing any one row", "mu = 0.2368"]),  # .236704
        (Budget(rho=0.5), "add-remove",
         ["rho = 0.5 zero-concentrated", "adding or removing any one row", "mu = 1 "]),
        (Budget(epsilon=1, delta=1e-6).for_zcdp(), "replace",
         ["(epsilon = 1, delta = 1e-06)", "rho = 0.02436"]),
        (Budget(epsilon=1.00000049, delta=1.4999999e-6), "replace",  # not (1, 1.5e-6)
         ["(epsilon = 1.00000049, delta = 1.4999999e-06)"]),
        (Budget(mu=0.123449), "replace", ["mu = 0.123449 Gaussian"]),
        (Budget(rho=0.123449), "replace", ["rho = 0.123449 zero-concentrated"]),
    ],
)  # fmt: skip
def test_guarantee_is_one_sentence(budget: Budget, neighbors: str, parts: list[str]) -> None:
    sentence = release(budget=budget, neighbors=neighbors, receipt=()).guarantee
    for part in parts:
        assert part in sentence
    assert sentence.endswith(".")
    assert ". " not in sentence
    assert ("standard normal" in sentence) == (budget.composition == "gdp")


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (2.8604, 0.0317, "2.860"),
        (-0.0001, 0.0317, "0.000"),
        (1234567.0, 2100.0, "1,234,600"),
        (0.0, 1e-9, "0e+00"),
        (3e-5, 1e-7, "3.000e-05"),
        (1e300, 1e290, "1e+300"),
        (-1.7e308, 3.0, "-inf"),
        (5e-324, 5e-324, "4.9e-324"),
        (1.0, 0.0, "1"),
    ],
)
def test_numbers_are_rounded_to_their_error(value: float, error: float, text: str) -> None:
    assert round_to(value, error) == text


def test_a_printed_matrix_has_intervals() -> None:
    """It showed each number with its noise alone: intervals and sampling were left out."""
    rows = np.random.default_rng(0).normal(size=(2000, 9))
    for asked, pairs in ((False, 3), (True, 1)):
        found = prolate.covariance(rows[:, :2], budget=Budget(mu=5.0), correlation=asked, seed=0)
        shown = str(found).split("\n\n")[1].splitlines()
        assert "sampling" in shown[0]
        assert "95% interval" in shown[0]
        assert sum(" with " in line and " to " in line for line in shown) == pairs
    every = str(prolate.covariance(rows[:, :8], budget=Budget(mu=5.0), seed=0))
    assert "... 16 more ..." in every.split("\n\n")[1]
    assert "\n\n" not in str(prolate.covariance(rows, budget=Budget(mu=5.0), seed=0))


def test_zeros_that_are_known_to_all_digits_are_printed_as_zeros() -> None:
    assert views.round_to(0.0, 1e-143) == "0"
    assert views.round_to(0.0, 1e-5) != "0"
    nothing = prolate.mean(np.zeros((2000, 1)), budget=Budget(epsilon=1, delta=1e-6), seed=0)
    shown = next(line for line in str(nothing).splitlines() if line.startswith("x0"))
    assert float(shown.split()[1]) == 0.0
    assert "e" not in shown.split()[1]


def test_no_interval_is_called_certain() -> None:
    r = prolate.mean(np.zeros((50, 1)), budget=Budget(mu=1), seed=1)
    assert "99.99999% interval" in views.cells(r, 0.9999999)[0]


def test_what_is_no_path_is_said_to_be_none() -> None:
    r = prolate.mean(np.zeros((50, 1)), budget=Budget(mu=1), seed=1)
    for write in (r.to_json, r.to_csv, r.to_html):
        with pytest.raises(ReleaseError, match="not the name of a file"):
            write(5)  # type: ignore[arg-type]
    with pytest.raises(ReleaseError, match="got dict"):
        prolate.Release.from_json({})  # type: ignore[arg-type]
