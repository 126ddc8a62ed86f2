"""What printed releases say of their rows: what is missing, and what is far out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import prolate
from prolate import Budget, Release
from prolate.api.values import counted_values
from prolate.curator import Curator
from prolate.queries import CountBelow
from prolate.sources import open_source

BUDGET = Budget(epsilon=1, delta=1e-6)
ROWS = 4000
MISSING = "v has about 2,900 of 4,000 values (a noisy count)."
CELLS = "a cell that is no number, such as 5+ or <10, counts as missing."


def rows(part: float) -> np.ndarray:
    rng = np.random.default_rng(5)
    values = rng.normal(10.0, 1.0, size=(ROWS, 2))
    values[: int(ROWS * part), 0] = np.nan
    return values


@pytest.fixture
def censored(tmp_path: Path) -> Path:
    lines = [f"{'5+' if np.isnan(v) else v},{w}" for v, w in rows(0.275)]
    (tmp_path / "a.csv").write_text("v,w\n" + "\n".join(lines) + "\n")
    return tmp_path / "a.csv"


def test_how_many_values_there_are_is_shown_where_it_was_counted(censored: Path) -> None:
    mean = prolate.mean(censored, columns="v", budget=BUDGET, seed=1)
    assert list(mean.details["values"]) == ["v"]
    assert mean.details["values"]["v"] == pytest.approx(2900.0, abs=100.0)
    for text in (repr(mean), mean._repr_html_(), mean.to_html()):
        assert MISSING in text
    both = prolate.covariance(censored, budget=BUDGET, seed=1)
    assert both.details["complete_rows"] == pytest.approx(2900.0, abs=100.0)
    assert "00 of 4,000 rows have no missing value; only these count" in repr(both)


def test_where_nothing_is_missing_nothing_is_said_of_it() -> None:
    release = prolate.mean(rows(0.0), budget=BUDGET, seed=1)
    assert not {"values", "complete_rows", "cells"} & set(release.details)
    assert "values (" not in repr(release)


def test_a_count_of_a_sample_is_told_of_all_rows() -> None:
    """Where rows are many, a sample of them is searched."""
    curator = Curator(open_source(rows(0.275)), Budget(mu=10.0), seed=1)
    sample = curator.sampled(1000.0, float(ROWS))
    sample.measure(CountBelow(np.full(2, np.inf)), share=0.5, label="present")
    found = counted_values(curator.receipt, ("v", "w"), float(ROWS), ())["values"]
    assert found["v"] == pytest.approx(2900.0, rel=0.1)


def test_releases_of_csv_files_say_what_counts_as_missing(censored: Path) -> None:
    release = prolate.mean(censored, budget=BUDGET, seed=1)
    assert CELLS in repr(release)
    assert CELLS.replace("<", "&lt;") in release._repr_html_()
    assert CELLS in repr(prolate.regress(censored, target="v", budget=BUDGET, seed=1))
    grouped = prolate.mean(censored, columns="v", by="w", keys=["1"], budget=BUDGET, seed=1)
    assert CELLS in repr(grouped)
    assert CELLS.replace("<", "&lt;") in grouped._repr_html_()
    assert CELLS not in repr(prolate.count(censored, budget=BUDGET, seed=1))


def test_python_says_what_the_command_says_of_values_far_out() -> None:
    release = Release(
        statistic="mean", estimate=[2.0], columns=("v",), noise_std=[0.5], sampling_std=[0.1],
        clipping_std=[0.1], n=10_000, budget=BUDGET, neighbors="replace", method="auto",
        details={"unseen_rows": 1000.0},
    )  # fmt: skip
    said = "oise may hide about 1,000 rows far out, which are not allowed for"
    assert f"note: N{said}." in repr(release)
    assert f"N{said}." in release._repr_html_()
    assert f"; n{said}" in release.interval_covers
    cut = replace(
        release,
        statistic="regression",
        columns=("v", "intercept"),
        details={"beyond_cut": "not told"},
        **{name: np.ones(2) for name in ("estimate", "noise_std", "sampling_std")},
        clipping_std=None,
        error_covariance=np.eye(2),
    )
    assert "note: The target's values far out are cut" in repr(cut)
    assert "target's values far out are cut" in cut.interval_covers


def test_numbers_beyond_what_is_possible_are_shown_as_the_nearest() -> None:
    """They stood beside an interval that did not hold them."""
    made = {"noise_std": [10.0], "budget": BUDGET, "method": "auto"}
    total = Release(
        statistic="sum", estimate=[860.0], columns=("v",), n=100, neighbors="replace",
        details={"bounds": [0.0, 1.0]}, **made,
    )  # fmt: skip
    count = Release(
        statistic="count", estimate=[-8.0], columns=("rows",), n=-8.0, neighbors="add-remove",
        receipt=(), **made,
    )  # fmt: skip
    assert repr(total).splitlines()[2].split()[1] == "100"
    assert repr(count).splitlines()[2].split()[1] == "0"
    assert "about 0 rows" in repr(count)
    for release in (total, count):
        for text in (repr(release), release._repr_html_(), release.to_html()):
            assert "the nearest possible number is shown" in text
    assert (total["v"], count["rows"]) == (860.0, -8.0)


def test_a_column_of_a_release_is_found_by_its_whole_number() -> None:
    release = Release(
        statistic="sum", estimate=[1.0, 2.0], columns=("2020", "2021"), n=100, budget=BUDGET,
        noise_std=[0.5, 0.5], neighbors="replace", method="auto",
    )  # fmt: skip
    assert (release[2020], release[np.int64(2021)]) == (1.0, 2.0)
    with pytest.raises(
        KeyError, match=r"no column 7 in this release\. Its columns are '2020', '20"
    ):
        release[7]
    with pytest.raises(KeyError, match="no column True"):
        release[True]


def test_no_rows_are_counted_where_their_number_is_public() -> None:
    assert prolate.count(np.zeros((0, 2)), budget=BUDGET).estimate.tolist() == [0.0]


def test_spaces_around_names_in_a_header_are_not_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a, b, c ,c\n1,2,3,4\n3,4,5,6\n")
    assert open_source(tmp_path / "a.csv", ["b", "a", "c"]).columns == (" b", "a", "c")
    (tmp_path / "b.csv").write_text("a, b,b \n1,2,3\n3,4,5\n")
    with pytest.raises(prolate.InputError, match="no column 'b'"):
        open_source(tmp_path / "b.csv", "b")


def test_that_small_groups_may_be_missing_is_said() -> None:
    """Of 365 days of some 110 visits each, 31 were shown, as if there were no others."""
    rows = {"day": np.repeat(np.arange(20), 100), "ward": np.repeat(["a", "b"], 1000)}
    table = pa.table({**rows, "person": np.arange(2000), "v": np.ones(2000)})
    found = prolate.count(table, by="ward", budget=BUDGET, seed=1)
    note = "Groups of fewer than about 150 rows are mostly not shown."
    for text in (repr(found), found._repr_html_(), found.to_html()):
        assert note in text
    days = prolate.count(table, by="day", budget=BUDGET, seed=1)
    assert len(days) < 10
    of_persons = prolate.count(table, by="ward", unit="person", budget=BUDGET, seed=1)
    assert "Groups of fewer than about 150 persons are" in repr(of_persons)
    named = prolate.count(table, by="ward", keys=["a"], budget=BUDGET, seed=1)
    assert "not shown" not in repr(named)


def test_a_group_whose_number_is_not_the_estimate_is_noted() -> None:
    """The note was there only if it was true of all groups."""
    rows = pd.DataFrame({"g": ["a"] * 5 + ["b"] * 3000, "x": 1.0})
    given: dict[str, Any] = {"by": "g", "keys": ["a", "b"], "columns": "x", "bounds": (0, 1)}
    for seed in range(40):
        groups = prolate.sum(rows, budget=Budget(epsilon=1, delta=1e-6), seed=seed, **given)
        noted = "Noise led beyond what is possible" in " ".join(str(groups).split())
        assert noted == (groups["a"].estimate[0] < 0.0)
