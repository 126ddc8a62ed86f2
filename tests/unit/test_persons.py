"""Persons who own many rows: whose a row is, their means, their rows, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse
from pyarrow import csv

import prolate
from prolate import Budget, LinearRegression, Release
from prolate.errors import InputError, LedgerError, ReleaseError
from prolate.ledger import Ledger
from prolate.noise import NumberedBits, SeededBits
from prolate.sources import Source, open_source, persons
from prolate.sources.labels import Labels, text_of

B = Budget(mu=50)
BITS = NumberedBits.from_bits(SeededBits(5))
VISITS = pd.DataFrame(
    {
        "who": ["ann", "bob", "ann", None, "cid", None, " ann"],
        "ward": ["n", "n", "s", "s", "s", "s", "n"],
        "x": [1.0, 2.0, 3.0, 4.0, np.nan, 6.0, np.inf],
        "number": [2**60, 2**60 + 1, 2**60, 7, 8, 9, 2**60],
    }
)


def rows_of(source: Source) -> list[list[float]]:
    return [row for block in source.blocks() for row in block.tolist()]


def forms(folder: Path) -> Iterator[Any]:
    table = pa.Table.from_pandas(VISITS)
    yield VISITS
    yield VISITS.astype({"who": "string"}).convert_dtypes()
    yield VISITS.astype({"who": "category", "ward": "category"})
    yield table
    yield pl.from_arrow(table)
    yield table.to_reader()
    yield table.set_column(0, "who", table["who"].dictionary_encode())
    VISITS.to_csv(folder / "a.csv", index=False)
    VISITS.to_parquet(folder / "a.parquet")
    VISITS.to_feather(folder / "a.feather")
    for ending in ("csv", "parquet", "feather"):
        yield folder / f"a.{ending}"


def test_persons_are_the_same_wherever_rows_are_kept(tmp_path: Path) -> None:
    for data in forms(tmp_path):
        source = open_source(data, ["x"], labels=["who"])
        assert source.columns == ("x", "who")
        found = rows_of(source.persons())
        np.testing.assert_array_equal(found, [[2.0], [2.0], [5.0], [np.nan]])


def test_ids_beyond_2_53_are_told_apart(tmp_path: Path) -> None:
    for data in forms(tmp_path):
        found = rows_of(open_source(data, ["x"], labels=["number"]).persons())
        np.testing.assert_array_equal(found, [[2.0], [2.0], [4.0], [np.nan], [6.0]])


def test_a_column_may_be_label_and_number(tmp_path: Path) -> None:
    for data in forms(tmp_path):
        source = open_source(data, ["number"], labels=["number"])
        assert len(rows_of(source.persons())) == 5
        assert rows_of(source)[3] == [7.0, 2.0]


def test_ids_of_arrays() -> None:
    rows = np.array([[2**60, 1], [2**60 + 1, 2], [2**60, 5]])
    for data in (rows, scipy.sparse.csr_array(rows), np.ma.masked_array(rows)):
        for unit in (0, "x0", -2):
            assert rows_of(open_source(data, labels=[unit]).persons()) == [[3.0], [2.0]]
    floats = np.array([[0.0, 1], [-0.0, 3], [np.nan, 5], [np.nan, 7]])
    assert rows_of(open_source(floats, labels=[0]).persons()) == [[2.0], [6.0]]


def test_columns_of_labels_are_no_numbers_unless_named() -> None:
    r = prolate.mean(VISITS.drop(columns="ward"), unit="who", budget=B, seed=1)
    assert r.columns == ("x", "number")
    r = prolate.mean(VISITS, unit="number", columns=["number"], budget=B, seed=1)
    assert r.columns == ("number",)


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.uint64(), pa.float64(), pa.large_string(), pa.bool_()]
)
def test_a_label_is_the_same_in_any_type(kind: pa.DataType) -> None:
    labels = Labels()
    values = (
        [True, False] if kind == pa.bool_() else ["7", "0"] if "string" in str(kind) else [7, 0]
    )
    assert labels.numbers(pa.array([*values, None], kind)).tolist() == [0, 1, 2]
    expected = ["true", "false"] if kind == pa.bool_() else ["7", "0"]
    assert [labels.number(text) for text in expected] == [0, 1]
    assert [labels.number(value) for value in values] == [0, 1]


ID = 12_345_678_901  # of a person; as a float, Arrow writes it with an exponent


@pytest.mark.parametrize(
    "values",
    [
        pa.array([ID, 7, None]),
        pa.array([float(ID), 7.0, None]),
        pa.array([float(ID), 7.0, np.nan], pa.float64()),
        pa.array([str(ID), "7", None]),
        pa.array([f"{ID}.0", " 7.00 ", None]),  # a CSV file whose column lacks a number
        pa.array([str(ID), "7", None], pa.string_view()).dictionary_encode(),
        pa.array([b"%d" % ID, b"7", None], pa.binary_view()),
        pa.array([Decimal(ID), Decimal(7), None], pa.decimal64(15, 2)),
        pa.array([Decimal(ID), Decimal(7), None], pa.decimal128(20, 5)),
        pa.array([Decimal(ID), Decimal(7), None], pa.decimal256(50, 0)).dictionary_encode(),
    ],
    ids=lambda values: f"{values.type}",
)
def test_a_number_is_one_label_in_any_type(values: pa.Array) -> None:
    """Or a person whose rows are in two files would count twice."""
    labels = Labels()
    assert labels.numbers(pa.array([ID, 7, None])).tolist() == [0, 1, 2]
    if pa.types.is_dictionary(values.type) and pa.types.is_string_view(values.type.value_type):
        assert values.dictionary.type == pa.string_view()  # what polars calls categorical
    assert labels.numbers(values).tolist() == [0, 1, 2]
    assert labels.number(f"{ID}.0") == labels.number(float(ID)) == labels.number(Decimal(ID)) == 0


@pytest.mark.parametrize(
    ("kind", "stored"), [(pa.decimal32(9, 2), np.int32), (pa.decimal64(18, 18), np.int64)], ids=str
)
def test_a_number_with_too_many_digits_is_no_error(kind: pa.DataType, stored: type) -> None:
    """Nobody checks it where a table is made or a file is mapped: one row would decide."""
    ends = np.array([100, np.iinfo(stored).max, np.iinfo(stored).min], stored)
    ids = pa.Array.from_buffers(kind, 3, [None, pa.py_buffer(ends.tobytes())])
    for values in (ids, pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), ids)):
        assert Labels().numbers(values).tolist() == [0, 1, 2]
    table = pa.table({"who": ids, "x": [1.0, 2.0, 3.0]})
    assert rows_of(open_source(table, ["x"], labels=["who"]).persons()) == [[1.0], [2.0], [3.0]]


def test_a_person_of_files_of_two_types_is_one(tmp_path: Path) -> None:
    for name, kind in (("a", pa.int64()), ("b", pa.float64()), ("c", pa.decimal128(20, 2))):
        ids = [Decimal(ID), Decimal(ID + 1)] if pa.types.is_decimal(kind) else [ID, ID + 1]
        table = pa.table({"who": pa.array(ids, kind), "x": [1.0, 2.0]})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    (tmp_path / "d.csv").write_text(f"who,x\n{ID}.0,1\n,5\n")
    source = open_source(tmp_path, ["x"], labels=["who"])
    assert rows_of(source.persons()) == [[1.0], [2.0], [5.0]]


def test_labels_that_arrow_has_as_extensions() -> None:
    ids = [UUID(int=5), UUID(int=2**127 + 1), None]
    stored = pa.array([None if one is None else one.bytes for one in ids], pa.binary(16))
    column = pa.ExtensionArray.from_storage(pa.uuid(), stored)
    labels = Labels()
    assert labels.numbers(pa.array([str(ids[0]), str(ids[1]), None])).tolist() == [0, 1, 2]
    assert labels.numbers(column).tolist() == [0, 1, 2]
    assert labels.number(ids[1]) == 1
    frame = pd.DataFrame({"who": ids * 2, "x": 1.0})  # as databases give them
    assert len(rows_of(open_source(frame, ["x"], labels=["who"]).persons())) == 3
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(np.eye(3))
    spans = pa.array([pa.MonthDayNano([1, 2, 3])] * 3)
    for odd in (tensors, spans):
        with pytest.raises(InputError, match="must be text or numbers"):
            open_source(pa.table({"who": odd, "x": [1.0, 2.0, 3.0]}), ["x"], labels=["who"])
    lists = pd.array([[1]], pd.ArrowDtype(pa.list_(pa.int8())))
    with pytest.raises(InputError, match="must be text or numbers"):
        open_source(pd.DataFrame({"who": lists, "x": [1.0]}), ["x"], labels=["who"])


def test_a_day_is_one_label_in_any_type() -> None:
    labels, day = Labels(), pd.Timestamp("2020-03-01")
    for kind in (pa.date32(), pa.date64(), *(pa.timestamp(u) for u in ("s", "ms", "us", "ns"))):
        assert labels.numbers(pa.array([day, None], kind)).tolist() == [0, 1]
    assert [labels.number(one) for one in (day, day.date(), "2020-03-01")] == [0, 0, 0]
    assert labels.number(day + pd.Timedelta("90min")) == labels.number("2020-03-01 01:30:00")


@pytest.mark.parametrize(
    "texts",
    [
        ["7", "+7", "7.", " 7.000 "],
        ["0", "-0", "-0.0", "+0"],
        ["10000000", "1e+07", "1.0E+07"],  # floats, as pandas and R write them
        ["true", "True", " TRUE"],
        ["2020-03-01", "2020-03-01 00:00:00.000", "2020-03-01T00:00", "2020-03-01 00:00:00+00:00"],
        ["2020-03-01 01:30:00.5", "2020-03-01T01:30:00.500Z"],
        ["", "  ", None],
    ],
    ids=lambda texts: texts[0],
)
def test_a_label_is_one_however_a_file_has_it(texts: list[str | None]) -> None:
    labels = Labels()
    assert labels.numbers(pa.array(["x", *texts])).tolist() == [0, *(1 for _ in texts)]
    for text in filter(str.strip, filter(None, texts)):
        assert labels.number(text) == 1


def test_a_label_with_a_decimal_comma_is_one_with_a_point() -> None:
    labels = Labels(decimal_commas=True)
    texts = ["7", "7,0", " +7,00", "7,", "7.0", "10000000", "1,0e+07", "-0,0", "0"]
    assert labels.numbers(pa.array(texts)).tolist() == [0, 0, 0, 0, 0, 1, 1, 2, 2]
    assert labels.number("7,0") == labels.number(7) == 0
    others = ["7,5", "7.5", "a,0", "1,2,0", "7,0e1", ",0", ","]
    assert labels.numbers(pa.array(others)).tolist() == list(range(3, 10))
    assert Labels().numbers(pa.array(["1", "1,000"])).tolist() == [0, 1]


def test_a_person_of_files_with_decimal_commas_is_one(tmp_path: Path) -> None:
    """One missing id makes pandas write all ids of that file as floats."""
    for name, ids in (("a", [7, 8]), ("b", [7, None])):
        frame = pd.DataFrame({"who": ids, "x": [1.5, 2.5]})
        frame.to_csv(tmp_path / f"{name}.csv", sep=";", decimal=",", index=False)
    assert "7,0;1,5" in (tmp_path / "b.csv").read_text()
    source = open_source(tmp_path, ["x"], labels=["who"])
    assert rows_of(source.persons()) == [[1.5], [2.5], [2.5]]
    found = prolate.count(tmp_path, by="who", keys=[7], budget=Budget(mu=1e4), seed=1)
    assert float(found["7"].estimate[0]) == pytest.approx(2, abs=0.1)


def test_labels_that_only_look_alike_are_several() -> None:
    texts = [
        "7",
        "-7",
        "007",
        "1e3",
        "1000",
        "7.5",
        "7.50",
        "+-7",
        "1e+999",
        "1.5e+00",
        "2020-03-01x",
    ]
    assert Labels().numbers(pa.array(texts)).tolist() == list(range(len(texts)))


def test_a_table_that_programs_write_as_csv_has_the_same_groups(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    frame["number"] = np.array([-0.0, 1e7, 7.0], dtype=np.float32)
    frame["day"] = pd.to_datetime(["2020-03-01 00:00", "2020-03-01 10:00", "2020-03-02 00:00"])
    frame["yes"] = [True, False, False]
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_csv(tmp_path / "b.csv", index=False)
    pl.from_pandas(frame).write_csv(tmp_path / "c.csv")
    csv.write_csv(pa.Table.from_pandas(frame), tmp_path / "d.csv")
    for by, count in (("number", 3), ("day", 3), ("yes", 2)):
        source = open_source(tmp_path, ["x"], labels=[by])
        rows_of(source)
        assert len(source.labels[0]) == count
        keys = list(frame[by].unique())
        found = prolate.count(tmp_path, by=by, keys=keys, budget=Budget(mu=1e4), seed=1)
        counts = [4.0 * (frame[by] == key).sum() for key in keys]
        assert [float(one.estimate[0]) for one in found.groups.values()] == pytest.approx(
            counts, abs=0.1
        )


def test_what_a_csv_file_has_for_missing_is_no_label(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("who,x\nNA,1\n NA ,2\n,3\n  ,4\nNB,5\n")
    pq.write_table(
        pa.table({"who": ["NA", None, "NB"], "x": [1.0, 2.0, 3.0]}), tmp_path / "b.parquet"
    )
    source = open_source(tmp_path, ["x"], labels=["who"])
    rows_of(source)
    assert len(source.labels[0]) == 2
    ledger = Ledger.create(tmp_path / "book", limit=Budget(mu=1e4))
    for by, keys in (("who", ["NB", "NA"]), (["who", "x"], [("NA", "1")])):
        with pytest.raises(InputError, match="'NA' is a missing value"):
            prolate.count(tmp_path, by=by, keys=keys, budget=Budget(mu=1), ledger=ledger)
    assert not ledger.entries()
    alone = tmp_path / "b.parquet"
    found = prolate.count(alone, by="who", keys=["NA"], budget=Budget(mu=1e4), seed=1)
    assert float(found.groups["NA"].estimate[0]) == pytest.approx(1.0, abs=0.1)


def test_spans_of_time_are_one_label_in_any_unit() -> None:
    labels, span = Labels(), pd.Timedelta("7.5s")
    for unit in ("ms", "us", "ns"):
        assert labels.numbers(pa.array([span, None], pa.duration(unit))).tolist() == [0, 1]
    assert labels.number(span) == labels.number(span.to_pytimedelta()) == 0


def test_days_of_numpy_are_keys() -> None:
    days = ["2020-03-01", "2020-03-01T00:00", "2020-03-01T00:00:00.000000000"]
    assert {text_of(np.datetime64(day)) for day in days} == {"2020-03-01"}


def test_labels_in_runs() -> None:
    for words in (
        pa.array(["a", "b"]), pa.array(["a", "b"], pa.string_view()),
        pa.array(["a", "b"]).dictionary_encode(),
    ):  # fmt: skip
        runs = pa.RunEndEncodedArray.from_arrays([2, 3, 5], pa.concat_arrays([words, words[:1]]))
        table = pa.table({"who": runs.slice(1), "x": [1.0, 2.0, 3.0, 4.0]})
        assert rows_of(open_source(table, ["x"], labels=["who"])) == [
            [1, 0],
            [2, 1],
            [3, 0],
            [4, 0],
        ]


def test_ids_of_a_masked_array_are_not_rounded() -> None:
    ids = np.ma.masked_array([[2**53, 1], [2**53 + 1, 2], [5, 3], [6, 4]], mask=[[0, 0]] * 4)
    ids[2:, 0] = np.ma.masked
    assert rows_of(open_source(ids, labels=[0]).persons()) == [[1.0], [2.0], [3.5]]


def test_labels_of_pandas_that_arrow_does_not_know() -> None:
    frame = pd.DataFrame({"who": np.array([1, 2, 2], dtype=np.longdouble), "x": [1.0, 2.0, 4.0]})
    assert rows_of(open_source(frame, ["x"], labels=["who"]).persons()) == [[1.0], [3.0]]
    objects = pl.DataFrame({"who": pl.Series([ID, ID], dtype=pl.Object), "x": [1.0, 2.0]})
    for odd in (frame.astype({"who": complex}), objects):  # of these, polars shows addresses
        with pytest.raises(InputError, match="must be text or numbers"):
            open_source(odd, ["x"], labels=["who"])
    assert rows_of(open_source(objects, ["x"])) == [[1.0], [2.0]]
    with pytest.raises(InputError, match="'who' of the DataFrame is of type object, not numbers"):
        open_source(objects)


def test_no_label_of_odd_bytes_is_an_error() -> None:
    for kind in (pa.binary(), pa.binary_view()):
        odd = pa.array([b"a", b"\xff", None, b"\xff"], kind)
        assert Labels().numbers(odd).tolist() == [0, 1, 2, 1]


def test_a_label_does_not_depend_on_what_stands_beside_it() -> None:
    mixed = pd.DataFrame({"id": pd.Series([7, "7", 7.0, "x", None, b"x", object()]), "x": range(7)})
    alone = [open_source(mixed.iloc[[i]], ["x"], labels=["id"]) for i in range(7)]
    texts = [tuple(source.labels[0]._known) for source in alone if rows_of(source)]
    together = open_source(mixed, ["x"], labels=["id"])
    rows_of(together)
    known = together.labels[0]._known
    assert [known[text] for (text,) in texts] == [0, 0, 0, 1, 2, 1, 2]


class Chunks(Source):
    """Rows with whose they are, cut anywhere."""

    def __init__(self, rows: np.ndarray, cuts: list[int]) -> None:
        super().__init__(tuple(f"x{j}" for j in range(rows.shape[1])), None, 1 << 10)
        self.labels = (Labels(),)
        self._parts = np.split(rows, cuts)

    def blocks(self) -> Iterator[np.ndarray]:
        """Number the persons as they come."""
        for part in self._parts:
            block = part.copy()
            block[:, -1] = self.labels[0].numbers(pa.array(part[:, -1]))
            yield block


def test_a_mean_depends_on_the_persons_own_rows_to_the_last_bit() -> None:
    rng = np.random.default_rng(3)
    for trial in range(50):
        rows = np.column_stack([rng.lognormal(0, 12, 200), rng.integers(0, 9, 200)])
        cuts = np.sort(rng.integers(0, 200, trial % 7)).tolist()
        found = rows_of(Chunks(rows, cuts).persons())
        order = list(dict.fromkeys(rows[:, 1]))
        for one, (mean,) in zip(order, found, strict=True):
            own = rows[rows[:, 1] == one]
            total = 0.0
            for value in own[:, 0]:
                total += value
            assert mean == total / len(own) == rows_of(Chunks(own, []).persons())[0][0]


def test_rows_of_a_person_are_chosen_at_random() -> None:
    """Each row with the same chance. False alarm: 1e-6."""
    rows = np.column_stack([np.arange(6), [0, 0, 0, 0, 1, 1]]).astype(float)
    counts = np.zeros(6)
    bits = SeededBits(1)
    for _ in range(2000):
        kept = rows_of(Chunks(rows, [3]).persons(2, NumberedBits.from_bits(bits)))
        for (value,) in kept:
            counts[int(value)] += 1
        assert len(kept) == 4
    assert counts[4] == counts[5] == 2000
    assert np.all(np.abs(counts[:4] - 1000) < 5.3 * np.sqrt(500))


@pytest.mark.parametrize("labels", [["who"], ["who", "ward"]])
@pytest.mark.parametrize("passes", [1, 2])
def test_rows_are_chosen_in_one_pass_and_held(
    monkeypatch: pytest.MonkeyPatch, labels: list[str], passes: int
) -> None:
    """To number labels takes longer than all else; not all rows are held if they are many."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"who": rng.integers(0, 300, 5000), "ward": rng.integers(0, 3, 5000)})
    rows["x"] = rng.normal(size=5000)
    source = open_source(rows, ["x"], labels=labels, block_bytes=4096)
    expected = rows_of(source.persons(2, BITS))
    assert len(expected) == 600
    monkeypatch.setattr(persons, "HELD", 5000 if passes == 1 else 4999)
    read = 0
    blocks = type(source).blocks

    def counted(self: Any) -> Any:
        nonlocal read
        read += 1
        return blocks(self)

    monkeypatch.setattr(type(source), "blocks", counted)
    few = source.persons(2, BITS)
    for _ in range(4):
        assert few.collect(lambda block: np.array([len(block)]), 1).tolist() == [600]
    assert rows_of(few) == expected
    # Four passes over what is held; `blocks` itself reads what was not held at once.
    assert read == (1 if passes == 1 else 2)


def test_rows_are_as_many_as_there_are_and_stay_the_same() -> None:
    source = open_source(VISITS, ["x"], labels=["who"]).persons(1, BITS)
    once = rows_of(source)
    assert len(once) == 4
    np.testing.assert_array_equal(rows_of(source), once)
    assert len(rows_of(open_source(VISITS, ["x"], labels=["who"]).persons(9, BITS))) == 7


def many(n: int = 30_000, persons: int = 3000) -> pd.DataFrame:
    rng = np.random.default_rng(8)
    who = np.minimum(rng.geometric(4 / persons, n), persons)
    level = rng.normal(20, 5, persons + 1)
    x = level[who] + rng.normal(0, 1, n)
    return pd.DataFrame({"who": [f"p{i}" for i in who], "x": x, "y": 2 * x + rng.normal(0, 1, n)})


MANY = many()
MEANS = MANY.groupby("who")[["x", "y"]].mean()


@pytest.mark.parametrize(
    ("make", "truth"),
    [
        (lambda **o: prolate.mean(MANY, **o), MEANS.mean()),
        (lambda **o: prolate.variance(MANY, **o), MEANS.var()),
        (lambda **o: prolate.quantile(MANY, 0.5, **o), MEANS.median()),
        (lambda **o: prolate.sum(MANY, bounds=(0, 200), **o), MEANS.sum()),
        (lambda **o: prolate.covariance(MANY, **o), MEANS.cov()),
    ],
)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_each_person_counts_once(make: Any, truth: Any, neighbors: str) -> None:
    r = make(budget=B, unit="who", seed=3, neighbors=neighbors)
    np.testing.assert_allclose(r.estimate, truth, rtol=0.02)
    assert r.columns == ("x", "y")
    assert (r.n == len(MEANS)) == (neighbors == "replace")
    assert r.receipt[-1].sensitivity > 0
    assert r.unit == prolate.Release.from_json(r.to_json()).unit
    assert "(one person's mean counts once)" in repr(r)
    assert "any one person (all rows with the same 'who')" in repr_of_guarantee(r)


def repr_of_guarantee(r: Release) -> str:
    from dataclasses import replace

    return replace(r, private=True).guarantee


@pytest.mark.parametrize(("neighbors", "steps"), [("add-remove", 4), ("replace", 8)])
def test_rows_cost_what_a_person_can_change(neighbors: str, steps: int, tmp_path: Path) -> None:
    book = prolate.Ledger.create(tmp_path / "l.ledger", limit=Budget(mu=60))
    plain = prolate.mean(MANY[["x", "y"]], budget=B, neighbors="add-remove", seed=1)
    r = prolate.mean(
        MANY,
        budget=B,
        unit="who",
        contribution="rows",
        max_rows=4,
        neighbors=neighbors,
        seed=1,
        ledger=book,
    )
    kept = MANY.groupby("who").size().clip(upper=4).sum()
    assert abs(r.n - kept) < 20
    assert r.n_is_noisy
    assert "a noisy count" in repr(r)
    assert r.receipt[0].sensitivity == steps * plain.receipt[0].sensitivity
    assert 0.999 < np.sqrt(sum(e.mu**2 for e in r.receipt)) / B.mu <= 1.0 + 1e-12
    for entry in r.receipt:
        assert entry.mu == pytest.approx(entry.sensitivity / entry.noise_std, rel=1e-6)
        assert entry.share == pytest.approx((entry.mu / B.mu) ** 2, rel=1e-6)
    assert book.spent is not None
    assert book.spent.mu == B.mu
    assert any("independent" in warning for warning in r.warnings)
    np.testing.assert_allclose(r.estimate, MANY[["x", "y"]].mean(), rtol=0.05)


@pytest.mark.parametrize("form", ["names", "pair", "array"])
@pytest.mark.parametrize("given", [{}, {"contribution": "rows", "max_rows": 3}])
def test_a_regression_of_persons(form: str, given: dict[str, Any]) -> None:
    model = LinearRegression(epsilon=200, delta=1e-3, seed=1)
    if form == "names":
        model.fit(MANY, "y", unit="who", **given)
    elif form == "pair":
        model.fit(MANY[["who", "x"]], MANY["y"], unit="who", **given)
    else:
        who = pd.factorize(MANY["who"])[0]
        model.fit(np.column_stack([MANY["x"], who]), MANY["y"].to_numpy(), unit=1, **given)
    assert model.coef_.shape == (1,)
    assert model.coef_[0] == pytest.approx(2.0, abs=0.05)
    assert model.release_.unit is not None
    assert model.release_.unit.rows == given.get("max_rows", 1)
    x = MANY["x"].to_numpy()[:5]
    ahead = x[:, None] if form == "array" else MANY[:5]
    np.testing.assert_allclose(model.predict(ahead), 2 * x, atol=3)


def test_a_table_whose_target_is_not_last() -> None:
    frame = MANY[["y", "who", "x"]]
    for data in (frame, pa.Table.from_pandas(frame).to_reader()):
        model = LinearRegression(epsilon=200, delta=1e-3, seed=1).fit(data, "y", unit="who")
        assert model.release_.columns == ("x", "intercept")
        assert model.coef_[0] == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"unit": "whom"}, "Did you mean 'who'"),
        ({"unit": "who", "max_rows": 3}, "contribution='rows'"),
        ({"unit": "who", "contribution": "rows"}, "max_rows"),
        ({"unit": "who", "contribution": "rows", "max_rows": 0}, "max_rows"),
        ({"unit": "who", "contribution": "rows", "max_rows": True}, "max_rows"),
        ({"unit": "who", "contribution": "some"}, "'mean' or 'rows'"),
        ({"contribution": "rows", "max_rows": 3}, "unit="),
        ({"unit": "who", "by": "who", "keys": ["a"]}, "both"),
        ({"unit": "who", "method": "plan"}, "no places|have no places"),
        ({"unit": "who", "exchangeable": True}, "exchangeable"),
    ],
)
def test_what_cannot_be_is_said(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        prolate.mean(MANY, budget=B, **given)


def test_lists_are_no_labels() -> None:
    table = pa.table({"who": [[1], [2]], "x": [1.0, 2.0]})
    with pytest.raises(InputError, match="'who' of the Table is of type list"):
        prolate.mean(table, budget=B, unit="who")


@pytest.mark.parametrize("value", [1, 0.5, None])
def test_lists_have_no_types_to_tell_persons_by(value: float | None) -> None:
    """One value of a list may make doubles of all, in which long numbers are one."""
    lists = [[2**60 + k, value if k == 3 else 1] for k in range(100)]
    objects = np.array(lists, dtype=object)
    for given in ({"unit": 0}, {"by": 0, "keys": [2**60]}):
        with pytest.raises(InputError, match="no types, so they cannot say whose a row is"):
            prolate.count(lists, budget=B, columns=[1], **given)
    model = prolate.LinearRegression(seed=1)
    for rows in (lists, objects):
        with pytest.raises(InputError, match="no types, so they cannot say whose a row is"):
            model.fit(rows, np.arange(100.0), unit=0)


def test_nothing_is_read_before_the_ledger_is_charged(tmp_path: Path) -> None:
    book = prolate.Ledger.create(tmp_path / "l.ledger", limit=Budget(mu=1))
    with pytest.raises(LedgerError):
        prolate.mean(
            MANY,
            budget=B,
            unit="who",
            contribution="rows",
            max_rows=2,
            neighbors="add-remove",
            ledger=book,
        )


def test_no_rows_no_release() -> None:
    with pytest.raises(InputError, match="no rows"):
        prolate.mean(MANY[:0].astype({"who": "string"}), budget=B, unit="who")


def test_a_stored_unit_is_read_strictly() -> None:
    r = prolate.mean(MANY, budget=B, unit="who", seed=1)
    for unit in ({"column": "who"}, {"column": "who", "contribution": "rows"}, {"column": 1}, []):
        with pytest.raises(ReleaseError):
            Release.from_dict({**r.to_dict(), "unit": unit})


def test_the_report_says_whom_it_protects() -> None:
    r = prolate.mean(MANY, budget=B, unit="who", contribution="rows", max_rows=2)
    page = r.to_html()
    assert "one person, who owns all rows with the same" in page
    assert "--unit who --contribution rows --max-rows 2" in " ".join(page.split())
    assert "unit=&#39;who&#39;" in page or "unit='who'" in page


def test_what_no_key_can_be() -> None:
    assert text_of(np.int64(7)) == "7"
    for key in (None, np.nan, "", " ", [1], object()):
        with pytest.raises(InputError):
            text_of(key)
