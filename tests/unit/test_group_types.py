"""What the types of columns of groups say: keys that nobody has to give, and typed labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import prolate
from prolate import Budget, GroupedRelease, Ledger
from prolate.errors import BudgetError, ReleaseError

B = Budget(mu=30)
D = Budget(epsilon=1, delta=1e-6)
N = 2000
PLACES = np.arange(N)
FLAGS = pd.DataFrame({"sick": PLACES % 2 == 0, "rare": PLACES < 3, "x": PLACES % 7 * 1.0})
ALL = [("false", "false"), ("false", "true"), ("true", "false"), ("true", "true")]


def kept(kind: str, frame: pd.DataFrame, folder: Path) -> Any:
    if kind == "parquet":
        frame.to_parquet(folder / "rows.parquet")
        return folder / "rows.parquet"
    return {
        "pandas": lambda: frame,
        "nullable": frame.convert_dtypes,
        "arrow": lambda: pa.table(frame),
        "polars": lambda: pl.DataFrame(frame),
    }[kind]()


@pytest.mark.parametrize("kind", ["pandas", "nullable", "arrow", "polars", "parquet"])
def test_booleans_need_no_keys(kind: str, tmp_path: Path) -> None:
    """Their keys were to be found, so that small groups were missing, and mu did not do."""
    data = kept(kind, FLAGS, tmp_path)
    ledger = Ledger.create(tmp_path / "book", limit=Budget(mu=40))  # nothing is set aside
    g = prolate.count(data, by=["sick", "rare"], budget=B, seed=1, ledger=ledger)
    assert list(g.groups) == ALL
    assert g.keys_delta is None
    assert "4 groups (keys given by the types)" in g.headline()
    counts = FLAGS.groupby(["sick", "rare"]).size()
    for (sick, rare), expected in counts.items():
        assert g[sick, rare].estimate[0] == pytest.approx(expected, abs=1)
    given = {"sick": [False, True], "rare": [False, True]}
    assert prolate.count(data, by=["sick", "rare"], keys=given, budget=B, seed=1) == g
    one = prolate.mean(data, columns="x", by="rare", budget=B)
    assert list(one.groups) == ["false", "true"]
    assert "(keys given by the type)" in one.headline()


@pytest.mark.parametrize("values", [[], [True], [False], [None], [True, None], [True, False, None]])
def test_which_booleans_are_there_does_not_show(values: list[bool | None]) -> None:
    """Nor whether some are missing: their rows are in no group."""
    table = pa.table({"sick": pa.array(values * 50, pa.bool_())})
    g = prolate.count(table, by="sick", budget=B, seed=1)
    assert list(g.groups) == ["false", "true"]
    assert [said[:20] for said in g.warnings] == ["all groups: This is "]  # of the budget
    for key in (False, True):
        assert g[key].estimate[0] == pytest.approx(50 * values.count(key), abs=1)


def test_beside_other_columns_combinations_are_found() -> None:
    table = pa.table(FLAGS.assign(ward=np.where(PLACES % 4 < 2, "north", "south")))
    g = prolate.count(table, by=["sick", "ward"], budget=D, seed=1)
    assert g.keys_delta == 5e-7
    assert list(g.groups) == [(s, w) for s in ("false", "true") for w in ("north", "south")]
    assert ("true", "north") not in prolate.count(table, by=["rare", "ward"], budget=D, seed=1)
    with pytest.raises(BudgetError, match="needs a budget with a delta"):
        prolate.count(table, by=["sick", "ward"], budget=B)


def test_categories_are_found_even_if_they_are_booleans() -> None:
    """Categories may come from the rows; so does what type they are of."""
    for column in (
        pd.Categorical(["a", "b"] * 500, categories=["a", "b", "c"]),
        pd.Categorical([True, False] * 500),
    ):
        g = prolate.count(pd.DataFrame({"kind": column}), by="kind", budget=D, seed=1)
        assert g.keys_delta is not None
        assert len(g) == 2
        assert g.by_types == ("text",)


def test_very_many_columns_of_booleans_are_looked_at() -> None:
    table = pa.table({f"b{j}": PLACES % 2 == 0 for j in range(12)})
    g = prolate.count(table, by=table.column_names, budget=D, seed=1)
    assert len(g) == 2
    assert g.keys_delta is not None


# --- labels as values ---------------------------------------------------------------------------

TYPED = pd.DataFrame(
    {
        "sick": PLACES % 2 == 0,
        "year": 2020 + PLACES % 2,
        "dose": np.where(PLACES % 2, 0.5, 7.0),
        "ward": np.where(PLACES % 2, "1", "2"),
    }
)
COLUMNS = {"sick": bool, "year": int, "dose": float, "ward": str}
TYPES = ("boolean", "integer", "number", "text")


@pytest.mark.parametrize("kind", ["pandas", "nullable", "arrow", "polars", "parquet"])
def test_labels_have_the_types_of_their_columns(kind: str, tmp_path: Path) -> None:
    """They were text, and a table of them could not be joined with the data."""
    data = kept(kind, TYPED, tmp_path)
    keys = [(True, 2020, 7.0, "2"), (False, 2021, 0.5, "1")]
    g = prolate.count(data, by=list(COLUMNS), keys=keys, budget=B, seed=1)
    assert g.by_types == TYPES
    first = g.table()[0]
    assert [(first[name], type(first[name])) for name in COLUMNS] == list(
        zip(keys[0], COLUMNS.values(), strict=True)
    )
    frame = g.to_frame()
    joined = TYPED.merge(frame, on=list(COLUMNS))
    assert len(joined) == N
    assert set(joined["n"].round()) == {1000.0}
    assert [str(t) for t in g.to_polars().dtypes[:4]] == ["Boolean", "Int64", "Float64", "String"]
    arrow = g.to_arrow().schema
    assert [str(arrow.field(name).type) for name in COLUMNS] == [
        "bool",
        "int64",
        "double",
        "string",
    ]
    assert g.to_csv().splitlines()[1].startswith('true,2020,7,"2",')
    assert list(g.groups) == [("true", "2020", "7", "2"), ("false", "2021", "0.5", "1")]


def test_arrays_say_the_types_of_labels() -> None:
    for kind, value in ((np.bool_, True), (np.int8, 1), (np.float64, 1.0)):
        rows = np.array([[1, 0], [1, 1]] * 10, dtype=kind)
        row = prolate.count(rows, by=0, keys=[value], budget=B).table()[0]
        assert (row["group"], type(row["group"])) == (value, type(value))


def test_floats_of_single_precision_are_text() -> None:
    """0.1 is another number there: tables were joined with no row of the data."""
    single = np.array([[0.1, 0], [0.2, 1]] * 10, dtype=np.float32)
    frame = pd.DataFrame({"g": single[:, 0], "x": 1.0})
    for data, by in ((single, 0), (frame, "g"), (pa.Table.from_pandas(frame), "g")):
        found = prolate.count(data, by=by, keys=["0.1", "0.2"], budget=B)
        assert (found.by_types, found.table()[0]["group"]) == (("text",), "0.1")


def test_folders_and_files_say_them(tmp_path: Path) -> None:
    for year, values in ((2020, np.arange(50)), (2021, np.arange(50) / 1.0)):
        (tmp_path / f"year={year}").mkdir()
        pd.DataFrame({"visits": values}).to_parquet(tmp_path / f"year={year}" / "a.parquet")
    years = prolate.mean(tmp_path, by="year", keys=[2020, 2021], budget=B, bounds=(0, 50))
    assert [row["group"] for row in years.table()] == [2020, 2021]
    visits = prolate.count(tmp_path, by="visits", keys=[7], budget=B)
    assert visits.by_types == ("number",)  # of whole numbers in one file, and not in the other


def test_a_key_that_is_no_value_leaves_text() -> None:
    g = prolate.count(TYPED, by="year", keys=[2020, "unknown"], budget=B)
    assert list(g.to_frame()["group"]) == ["2020", "unknown"]
    assert g.to_polars()["group"].to_list() == ["2020", "unknown"]
    g = prolate.count(TYPED, by="year", keys=["007", 10**30], budget=B)
    assert [row["group"] for row in g.table()] == ["007", str(10**30)]


def test_files_have_no_types(tmp_path: Path) -> None:
    TYPED.to_csv(tmp_path / "rows.csv", index=False)
    g = prolate.count(tmp_path / "rows.csv", by="sick", budget=D, seed=1)
    assert (g.by_types, list(g.groups)) == (("text",), ["false", "true"])
    assert g.keys_delta is not None


def test_stored_releases_have_them_and_older_ones_are_text() -> None:
    g = prolate.count(TYPED, by=["year", "ward"], keys=[(2020, "2")], budget=B)
    stored = json.loads(g.to_json())
    assert stored["by_types"] == ["integer", "text"]
    again = GroupedRelease.from_dict(stored)
    assert again == g
    assert again.table() == g.table()
    del stored["by_types"]
    older = GroupedRelease.from_dict(stored)
    assert older.table()[0]["year"] == "2020"
    assert "by_types" not in older.to_dict()
    for wrong in (["integer"], ["integer", "date"]):
        with pytest.raises(ReleaseError, match="types"):
            GroupedRelease.from_dict({**stored, "by_types": wrong})


def test_no_groups_have_typed_columns() -> None:
    g = prolate.count(TYPED.head(5), by="year", budget=D, seed=1)
    assert not len(g)
    assert str(g.to_arrow().schema.field("group").type) == "int64"
    assert g.to_frame().dtypes["group"] == np.int64
