"""Persons on Spark: one row of each, the same whatever the shuffle does."""

from __future__ import annotations

import gc
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import prolate
from prolate import Budget, LinearRegression
from prolate.errors import InputError, LedgerError
from prolate.sources import open_source

pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

rng = np.random.default_rng(7)
N = 4000
ROWS = pd.DataFrame(
    {
        "pa.tient": [None if i == 0 else f"p{i}" for i in rng.integers(0, 300, N)],
        "x": np.where(rng.random(N) < 0.1, np.nan, rng.lognormal(0, 9, N)),
        "number": rng.integers(0, 300, N) + 2**60,
        "y": rng.integers(0, 100, N),
    }
)


def sums(source: Any) -> list[int]:
    """Return sums that tell any two sets of rows apart, to the last bit."""

    def bits(block: np.ndarray) -> np.ndarray:
        words = np.ascontiguousarray(np.where(np.isnan(block), -1.0, block), dtype=np.float64)
        return (words.view(np.int64).reshape(block.shape) % 999_999_937).sum(axis=0)

    return source.collect(bits, len(source.columns)).tolist()


@pytest.mark.parametrize("unit", ["pa.tient", "number"])
def test_persons_do_not_depend_on_the_shuffle(spark: Any, unit: str) -> None:
    found = []
    for partitions, order in ((2, 1), (5, -1)):
        frame = spark.createDataFrame(ROWS[::order]).repartition(partitions)
        source = open_source(frame, ["x", "y"], labels=[unit]).persons()
        found.append(sums(source))
        assert source.n_rows == 300
    assert found[0] == found[1]


def test_a_whole_number_is_one_person_however_it_is_written(spark: Any) -> None:
    frame = spark.createDataFrame([("7", 1.0), (" 7.00", 3.0), ("7.5", 5.0)], ["who", "x"])
    source = open_source(frame, ["x"], labels=["who"]).persons()
    source.collect(lambda block: np.zeros(0, dtype=np.int64), 0)
    assert source.n_rows == 2


def test_a_label_is_one_person_however_it_is_written(spark: Any) -> None:
    for several in (
        ["0", "-0.0", "+0"], ["true", "True"], ["", "  ", None, "\t"], ["-7", "-7."],
        ["2020-03-01", "2020-03-01T00:00", "2020-03-01 00:00:00.000"],
        ["1e+07", "10000000", "1e7"], ["7.5", "7.50", "+7.5"], ["1e-07", "0.0000001", "1e-7"],
        ["2020-03-01T01:30+0100", "2020-03-01 00:30:00.0Z"],
        ["2020-03-01T09:30", "2020-03-01 09:30:00.0"],
    ):  # fmt: skip
        frame = spark.createDataFrame(
            [(one, 1.0) for one in [*several, "-00x"]], "who string, x double"
        )
        source = open_source(frame, ["x"], labels=["who"]).persons()
        source.collect(lambda block: np.zeros(0, dtype=np.int64), 0)
        assert source.n_rows == 2


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series([1.0, 1e7, -0.0, 2.5, np.nan, 1e22]),
        pd.Series(
            pd.to_datetime(
                ["2020-03-01", "2020-03-01 09:30", None, "1999-12-31 23:59:59.5"], format="ISO8601"
            )
        ),
        pd.Series([True, False, True]),
        pd.Series([b"a", b"\xff", b" a ", None]),
        pd.Series([Decimal("7.00"), Decimal("8.50")]),
        pd.Series(["NaN", "nan", "NA", "x", " x"]),
    ],
    ids=["numbers", "times", "flags", "bytes", "decimals", "texts"],
)
def test_labels_are_told_apart_as_here(spark: Any, labels: pd.Series) -> None:
    rows = pd.DataFrame({"x": np.arange(float(len(labels))), "who": labels})
    found = []
    for data in (rows, spark.createDataFrame(rows)):
        source = open_source(data, ["x"], labels=["who"]).persons()
        found.append((sums(source), source.collect(lambda block: np.array([len(block)]), 1)[0]))
    assert found[0] == found[1]


def test_what_is_no_label_is_told_by_its_type(spark: Any) -> None:
    kinds = {
        "array(id)": False, "map(id, id)": False, "struct(id)": False, "make_interval(1)": False,
        "make_ym_interval(1)": False, "parse_json('1')": False, "timestamp'2020-01-01'": True,
        "make_dt_interval(1)": True, "cast(id as decimal(9, 2))": True, "null": True,
        "cast('a' as binary)": True, "timestamp_ntz'2020-01-01'": True,
    }  # fmt: skip
    for kind, allowed in kinds.items():
        frame = spark.range(3).selectExpr("id", f"{kind} as who")
        if allowed:
            assert len(open_source(frame, ["id"], labels=["who"]).labels) == 1
            continue
        with pytest.raises(InputError, match="must be text or numbers"):
            open_source(frame, ["id"], labels=["who"])


def test_booleans_are_known_as_flags(spark: Any) -> None:
    frame = spark.range(30).selectExpr("id % 2 = 0 as f", "id as x", "id as who")
    source = open_source(frame, ["x", "f"], labels=["who"])
    assert source.flags == source.persons().flags == {"f"}
    assert source.whole == source.persons().whole == {"x", "f"}
    total = prolate.sum(frame, columns=["f"], budget=Budget(mu=5), seed=1)
    assert abs(total.estimate[0] - 15) < 5


def test_releases_are_those_of_here(spark: Any) -> None:
    frame = spark.createDataFrame(ROWS)
    given: dict[str, Any] = {
        "unit": "pa.tient",
        "columns": ["y"],
        "budget": Budget(mu=20),
        "seed": 1,
    }
    there, here = prolate.mean(frame, **given), prolate.mean(ROWS, **given)
    assert there.n == here.n == 300
    np.testing.assert_allclose(there.estimate, here.estimate, rtol=1e-9)
    assert there.unit == here.unit
    model = LinearRegression(seed=1).fit(frame, "y", features="number", unit="pa.tient")
    assert model.release_.n == 300
    assert prolate.count(frame, unit="number", budget=Budget(mu=1)).estimate[0] == 300


GROUPS: dict[str, Callable[..., Any]] = {
    "mean": lambda data, **given: prolate.mean(data, columns=["y", "x"], **given),
    "count": prolate.count,
    "regress": lambda data, **given: prolate.regress(data, "y", features="number", **given),
}


@pytest.mark.parametrize("name", GROUPS)
def test_groups_have_the_bits_that_they_have_here(spark: Any, name: str) -> None:
    rows = ROWS.assign(**{"wa.rd": np.where(ROWS["y"] % 3 == 0, "n", " s")})
    rows.loc[:9, "wa.rd"] = None
    given: dict[str, Any] = {"by": "wa.rd", "keys": ["s", "n", "none"], "seed": 1}
    given |= {"budget": Budget(epsilon=2, delta=1e-6)}
    there, here = (GROUPS[name](data, **given) for data in (spark.createDataFrame(rows), rows))
    assert tuple(there.groups) == tuple(here.groups) == ("s", "n", "none")
    for key, release in here.groups.items():
        np.testing.assert_array_equal(there[key].estimate, release.estimate)
        assert there[key].n == release.n
        assert there[key].receipt == release.receipt


def test_a_group_is_one_label_however_it_is_written(spark: Any) -> None:
    labels = [("7", 1), (" 7.00", 2), ("+7", 4), ("7.5", 8), (None, 16)]
    frame = spark.createDataFrame(labels, "who string, x int").repartition(3)
    given: dict[str, Any] = {"by": "who", "budget": Budget(mu=50), "bounds": (0, 16)}
    found = prolate.sum(frame, columns="x", keys=[7, "7.5", "None"], **given)
    sums = [round(release.estimate[0]) for release in found.groups.values()]
    np.testing.assert_allclose(sums, [7, 8, 0], atol=4)
    assert found.to_frame()["group"].tolist() == ["7", "7.5", "None"]


def test_types_say_the_groups_of_booleans_and_what_labels_are(spark: Any) -> None:
    rows = [(True, 7, 0.5, "1", Decimal(3)), (None, 7, 0.5, "1", Decimal(3))] * 50
    frame = spark.createDataFrame(
        rows, "sick boolean, year int, dose double, ward string, price decimal(9,2)"
    )
    found = prolate.count(frame, by="sick", budget=Budget(mu=50))
    assert [round(release.n) for release in found.groups.values()] == [0, 50]
    assert [row["group"] for row in found.table()] == [False, True]
    for by, label in (("year", 7), ("dose", 0.5), ("ward", "1"), ("price", "3")):
        [row] = prolate.count(frame, by=by, keys=[label], budget=Budget(mu=50)).table()
        assert (row["group"], type(row["group"]), round(row["n"])) == (label, type(label), 100)


def test_a_row_is_in_one_group_whatever_its_label_is_the_next_time(
    spark: Any, tmp_path: Path
) -> None:
    """Each group is measured as if it were all there is, so no row may be in two."""
    log, keys = str(tmp_path / "partitions"), list("abcdef")

    def labeled(batches: Any) -> Any:
        with Path(log).open("ab") as file:
            file.write(b".")
        for batch in batches:
            labels = np.random.default_rng().choice(keys, batch.num_rows)
            yield pa.RecordBatch.from_pydict({"x": np.ones(batch.num_rows), "g": labels.tolist()})

    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    plan = spark.range(0, 6000, 1, 2).mapInArrow(labeled, "x double, g string")
    given: dict[str, Any] = {"by": "g", "keys": keys[:5], "budget": Budget(mu=500), "seed": 1}
    counted = prolate.count(plan, **given).groups.values()
    assert Path(log).stat().st_size == 2  # a task for each partition
    assert sum(one.estimate[0] for one in counted) < 5200
    summed = prolate.sum(plan, columns="x", bounds=(0, 1), **given).groups.values()
    assert sum(one.estimate[0] for one in summed) < 5200
    counted = prolate.count(plan, **given | {"keys": keys}).groups.values()
    assert round(sum(one.estimate[0] for one in counted)) == 6000

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prolate.count(plan, **given, progress=stop)
    gc.collect()
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == before


def test_groups_are_charged_before_a_row_is_read(spark: Any, tmp_path: Path) -> None:
    book = prolate.Ledger.create(tmp_path / "a.ledger", limit=Budget(mu=1))
    given: dict[str, Any] = {"by": "who", "keys": ["a"], "ledger": book}
    bad = spark.createDataFrame([("a", "b")], "who string, x string").selectExpr(
        "who", "cast(x as double) x"
    )
    with pytest.raises(LedgerError):
        prolate.mean(bad, budget=Budget(mu=2), **given)
    assert book.spent is None
    with pytest.raises(InputError, match="The Spark job failed"):
        prolate.mean(bad, budget=Budget(mu=0.5), **given)
    assert book.spent == Budget(mu=0.5)


def test_what_spark_does_not_do_is_said(spark: Any, tmp_path: Any) -> None:
    frame = spark.createDataFrame(ROWS)
    given: dict[str, Any] = {"columns": ["y"], "budget": Budget(mu=20)}
    with pytest.raises(InputError, match="contribution='rows'"):
        prolate.mean(frame, unit="number", contribution="rows", max_rows=2, **given)
    with pytest.raises(InputError, match="Give the groups"):
        prolate.count(frame, by="number", budget=Budget(epsilon=1, delta=1e-6))
    with pytest.raises(InputError, match="by goes without unit"):
        prolate.mean(frame, by="number", keys=[1], unit="pa.tient", **given)
    with pytest.raises(InputError, match="by is one column"):
        prolate.count(frame, by=["number", "x"], keys=[(1, 1)], budget=Budget(mu=1))
    ROWS.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"spark\.read\.parquet"):
        prolate.mean(tmp_path / "a.parquet", engine="spark", unit="number", **given)
    with pytest.raises(InputError, match="no column 'id'"):
        prolate.mean(frame, unit="id", **given)
