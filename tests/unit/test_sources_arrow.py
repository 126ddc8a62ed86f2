"""Sources: tables of pyarrow, polars, pandas and DuckDB."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import prolate
from prolate.errors import InputError
from prolate.sources import Source, open_source
from prolate.sources.arrow import BatchSource
from prolate.sources.filling import fill
from prolate.sources.periods import type_of_pandas

NAN = np.nan


def rows_of(source: Source) -> np.ndarray:
    blocks = [np.asarray(block, dtype=np.float64) for block in source.blocks()]
    assert all(block.dtype.kind in "biuf" for block in source.blocks())
    return np.concatenate(blocks) if blocks else np.empty((0, len(source.columns)))


NUMERIC = {
    "i": pa.array([1, None, 3], pa.int8()),
    "u": pa.array([1, 2**63, 3], pa.uint64()),
    "big": pa.array([2**53 + 1, None, -(2**62) - 1]),
    "h": pa.array([np.float16(0.5), None, np.float16(NAN)], pa.float16()),
    "f": pa.array([0.5, 1.5, None], pa.float32()),
    "d": pa.array([0.5, NAN, 2.5]),
    "b": pa.array([True, None, False]),
    "plain_b": pa.array([True, True, False]),
    "dec": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-7.00")], pa.decimal128(9, 2)),
    "dec256": pa.array([decimal.Decimal(10) ** 40, None, decimal.Decimal(1)], pa.decimal256(45, 2)),
    "null": pa.nulls(3),
    "dict": pa.array([7, None, 7]).dictionary_encode(),
    "dict_null": pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array([7.5, None])),
    "runs": pc.run_end_encode(pa.array([4, 4, None])),
    "runs_of_dict": pa.RunEndEncodedArray.from_arrays(
        [2, 3], pa.array([4, None]).dictionary_encode()
    ),
}
EXPECTED = {
    "i": [1, NAN, 3],
    "u": [1, 2.0**63, 3],
    "big": [2.0**53, NAN, -(2.0**62)],
    "h": [0.5, NAN, NAN],
    "f": [0.5, 1.5, NAN],
    "d": [0.5, NAN, 2.5],
    "b": [1, NAN, 0],
    "plain_b": [1, 1, 0],
    "dec": [1.25, NAN, -7],
    "dec256": [1e40, NAN, 1],
    "null": [NAN] * 3,
    "dict": [7, NAN, 7],
    "dict_null": [7.5, NAN, 7.5],
    "runs": [4, 4, NAN],
    "runs_of_dict": [4, 4, NAN],
}


@pytest.mark.parametrize("name", NUMERIC)
@pytest.mark.parametrize("block_bytes", [16, 1 << 20])
def test_every_numeric_type_and_null(name: str, block_bytes: int) -> None:
    source = open_source(pa.table({name: NUMERIC[name]}), block_bytes=block_bytes)
    np.testing.assert_array_equal(rows_of(source)[:, 0], EXPECTED[name])
    np.testing.assert_array_equal(rows_of(source)[:, 0], EXPECTED[name])  # and again


TEXT = {
    "string": pa.array(["secret"]),
    "binary": pa.array([b"secret"]),
    "timestamp": pa.array([datetime.datetime(2020, 1, 1)]),  # noqa: DTZ001 - without a zone
    "date32": pa.array([datetime.date(2020, 1, 1)]),
    "duration": pa.array([datetime.timedelta(1)]),
    "list<": pa.array([[1.0]]),
    "struct<": pa.array([{"x": 1}]),
    "dictionary<values=string": pa.array(["secret"]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", TEXT)
def test_other_types_are_an_error_that_names_the_remedy(kind: str) -> None:
    table = pa.table({"age": [1.0], "what": TEXT[kind], "n": [2]})
    with pytest.raises(InputError) as caught:
        open_source(table)
    message = str(caught.value)
    assert message.startswith(f"Column 'what' of the Table is of type {kind}")
    assert " Choose from the numeric columns: columns=['age', 'n']." in message
    assert "secret" not in message
    times = kind.startswith(("date", "time", "duration"))
    assert ("such as days since 2000-01-01" in message) == times
    assert open_source(table, ["n", "age"]).columns == ("n", "age")


def test_all_columns_to_choose_from_are_listed_as_they_are_typed() -> None:
    names = [f"column {j}" for j in range(20)]
    columns = {name: [1.0] for name in names}
    with pytest.raises(InputError) as caught:
        open_source(pa.table({"s": ["secret"], **columns}))
    assert f"columns={names}." in str(caught.value)
    with pytest.raises(InputError, match="'column 19' and 1 more]"):
        open_source(pa.table({"s": ["secret"], **columns, "column 20": [1.0]}))


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]
)
def test_text_gets_a_recipe(kind: pa.DataType) -> None:
    """Objects and dates had one; yes and no, digits and categories had none."""
    with pytest.raises(InputError) as caught:
        open_source(pa.table({"s": pa.array(["yes"]).cast(kind)}))
    assert "(column == 'yes')" in str(caught.value)
    assert "of digits with pandas.to_numeric, of amounts such as $1,200 and 5%" in str(caught.value)
    assert "column.str.replace('[$,%]', '', regex=True)" in str(caught.value)
    with pytest.raises(InputError) as caught:
        open_source(pa.table({"s": pa.array([{"a": 1}])}))
    assert "To use" not in str(caught.value)


def test_a_table_without_numbers() -> None:
    with pytest.raises(InputError, match=r"Column 's' .* not numbers\. No column is numeric\."):
        open_source(pa.table({"s": ["a"]}))


def test_blocks_are_column_major_and_cut_the_same_however_the_table_is_chunked() -> None:
    whole = pa.table({"a": np.arange(100.0), "b": np.arange(100)})
    pieces = pa.concat_tables([whole.slice(0, 1), whole.slice(1, 0), whole.slice(1, 52)])
    pieces = pa.concat_tables([pieces, whole.slice(53, 47)])
    expected = [b.tolist() for b in open_source(whole, block_bytes=160).blocks()]
    blocks = list(open_source(pieces, block_bytes=160).blocks())
    assert [b.tolist() for b in blocks] == expected
    assert {len(block) for block in blocks} == {10}
    assert all(block.flags.f_contiguous for block in blocks)


def test_one_shot_streams_can_be_read_again() -> None:
    table = pa.table({"s": ["a", "b", "c"], "x": [1, 2, 3]})
    source = open_source(table.to_reader(max_chunksize=2), ["x"])
    assert source.n_rows == 3
    for _ in range(2):
        np.testing.assert_array_equal(rows_of(source), [[1], [2], [3]])


def test_a_query_is_run_once() -> None:
    relation = duckdb.sql("select random() as r, range as i, 'text' as s from range(1000)")
    source = open_source(relation, ["i", "r"], block_bytes=1000)
    first = rows_of(source)
    np.testing.assert_array_equal(first, rows_of(source))
    np.testing.assert_array_equal(np.sort(first[:, 0]), np.arange(1000))
    with pytest.raises(InputError, match="Column 's' of the DuckDBPyRelation is of type string"):
        open_source(relation)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_text_is_called_so_however_it_is_stored(kind: pa.DataType) -> None:
    with pytest.raises(InputError, match=r"'s' of the Table is of type string, not numbers\."):
        open_source(pa.table({"s": pa.array(["a"], kind), "x": [1.0]}))


def test_errors_of_a_query_are_not_repeated() -> None:
    relation = duckdb.sql("select cast('secret' || range as int) as x from range(3)")
    with pytest.raises(InputError) as caught:
        open_source(relation)
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.skipif(not hasattr(pl, "Int128"), reason="this polars has no such integers")
def test_integers_of_128_bits() -> None:
    """Arrow has none: they are floats, and text where they are labels."""
    frame = pl.DataFrame({"a": [1.5, 2.5], "b": pl.Series([1, 2**100 + 1], dtype=pl.Int128)})
    assert rows_of(open_source(frame, ["a"])).tolist() == [[1.5], [2.5]]
    assert rows_of(open_source(frame)).tolist() == [[1.5, 1.0], [2.5, 2.0**100]]
    source = open_source(frame, ["a"], labels=["b"])
    assert rows_of(source)[:, 1].tolist() == [0, 1]
    assert source.labels[0].number(2**100 + 1) == 1


def test_polars() -> None:
    frame = pl.DataFrame({"a": [1, None], "b": [True, False], "s": ["x", "y"]})
    np.testing.assert_array_equal(rows_of(open_source(frame, ["b", "a"])), [[1, 1], [0, NAN]])


def test_a_lazy_frame_is_refused_without_a_warning_of_its_own() -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [1.0, 3.0]})
    model = prolate.LinearRegression(mu=1).fit(frame, "b")
    for refused in (
        open_source,
        lambda lazy: prolate.count(lazy, budget=prolate.Budget(mu=1)),
        lambda lazy: model.fit(lazy, "b"),
        lambda lazy: model.fit(lazy, np.ones(2)),
        lambda lazy: model.fit(frame, lazy),
        model.predict,
        prolate.LinearRegression(mu=1).fit(frame.to_numpy(), np.ones(2)).predict,
    ):
        with pytest.raises(InputError, match=r"LazyFrame is not supported\. Call \.collect\(\)"):
            refused(frame.lazy())


def test_what_is_no_table_yet_is_told_how_to_be_one() -> None:
    dataset = pads.dataset(pa.table({"a": [1, 2]}))
    for data, remedy in [
        (dataset, r"\.scanner\(\)\.to_reader\(\)"),
        (dataset.scanner(), r"Pass its \.to_reader\(\)"),
        (duckdb.connect(), r"connection\.sql\("),
    ]:
        with pytest.raises(InputError, match=remedy):
            open_source(data)
    assert rows_of(open_source(dataset.scanner().to_reader())).tolist() == [[1], [2]]


def test_the_index_of_a_frame_is_no_column() -> None:
    frame = pd.DataFrame({"who": [7, 8], "year": [1, 1], "x": [1.0, 2.0]}).set_index(
        ["who", "year"]
    )
    for asked in ({"labels": ["who"]}, {"columns": ["x", "year"]}, {"columns": "year"}):
        with pytest.raises(InputError, match=r"is the index .* pass frame\.reset_index\(\)"):
            open_source(frame, **asked)
    assert rows_of(open_source(frame, ["x"])).tolist() == [[1.0], [2.0]]
    with pytest.raises(InputError, match="an entry of type ndarray"):
        open_source(frame, ["x", np.arange(2)])
    frame["year"] = 5  # a column of that name comes first
    assert rows_of(open_source(frame, "year")).tolist() == [[5.0], [5.0]]


@pytest.mark.parametrize("series", [pl.Series, lambda name, data: pd.Series(data, name=name)])
def test_a_series_is_a_table_of_one_column(series: Callable[..., object]) -> None:
    for name, called in [("age", "age"), (None, "x0"), ("", "x0")]:
        source = open_source(series(name, [1.5, None]), called)
        assert source.columns == (called,)
        np.testing.assert_array_equal(rows_of(source), [[1.5], [np.nan]])
    with pytest.raises(InputError, match="no column 'income' in the DataFrame"):
        open_source(series("age", [1.5]), "income")
    with pytest.raises(InputError, match="of type"):
        open_source(series("age", ["old"]))


def test_a_series_may_have_any_name_that_pandas_gives_it() -> None:
    names = [open_source(pd.Series([1.5], name=name)).columns[0] for name in (pd.NA, 0, ("a", 1))]
    assert names == ["<NA>", "0", "('a', 1)"]


def test_one_column_without_a_name_is_no_table() -> None:
    with pytest.raises(InputError, match=r"to_frame\(\)"):
        open_source(pa.chunked_array([[1]]))


def test_record_batches_and_empty_tables() -> None:
    batch = pa.record_batch({"a": [1.5]})
    assert rows_of(open_source(batch)).tolist() == [[1.5]]
    for empty in (batch.slice(0, 0), pl.DataFrame({"a": pl.Series([], dtype=pl.Float64)})):
        source = open_source(empty)
        assert (source.n_rows, list(source.blocks())) == (0, [])
    for nothing in (pl.DataFrame(), pd.DataFrame(), pd.DataFrame(index=[1, 2])):
        with pytest.raises(InputError, match="no columns in the DataFrame"):
            open_source(nothing)


@pytest.mark.parametrize("module", [pa.table, pl.DataFrame, pd.DataFrame])
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["incme"], r"There is no column 'incme' in the \w+\. Did you mean 'income'\? Its columns"),
        ([0], "There is no column '0'"),
        (["age", "age"], "asks twice for 'age'"),
        ([], "leaves nothing"),
        (["city"], r"columns=\['age', 'income'\]"),
    ],
)
def test_columns_of_tables(module, columns: list, message: str) -> None:
    table = module({"age": [1], "income": [2], "city": ["secret"]})
    with pytest.raises(InputError, match=message) as caught:
        open_source(table, columns)
    assert "secret" not in str(caught.value)


def test_two_columns_of_one_name() -> None:
    table = pa.Table.from_arrays([pa.array([1])] * 2, ["a", "a"])
    frame = pd.DataFrame([[1, 2]], columns=[1, "1"])
    for data, name in ((table, "a"), (frame, "1")):
        with pytest.raises(InputError, match=f"More than one column of .* is called '{name}'"):
            open_source(data)
        with pytest.raises(InputError, match=f"More than one column of .* is called '{name}'"):
            open_source(data, [name])


def test_names_of_columns_that_are_not_read_may_repeat(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array(each) for each in ([1], ["x"], [7])], ["b", "b", "a"])
    frame = pd.DataFrame([[1, "x", 7]], columns=["b", "b", "a"])
    paths = [tmp_path / name for name in ("rows.parquet", "rows.arrow", "rows.csv")]
    pq.write_table(table, paths[0])
    feather.write_feather(table, paths[1])
    frame.to_csv(paths[2], index=False)
    for data in (table, frame, *paths):
        assert rows_of(open_source(data, ["a"])).tolist() == [[7]], data
        assert open_source(data, ["a"]).counted() == 1, data


PANDAS = {
    "int": ([1, 2, 3], [1, 2, 3]),
    "float": ([1.5, NAN, 3], [1.5, NAN, 3]),
    "bool": ([True, False, True], [1, 0, 1]),
    "half": (np.array([1, 2, 3], np.float16), [1, 2, 3]),
    "Int": (pd.array([1, None, 3], "Int64"), [1, NAN, 3]),
    "Float": (pd.array([1.5, None, 3], "Float32"), [1.5, NAN, 3]),
    "boolean": (pd.array([True, None, False], "boolean"), [1, NAN, 0]),
    "arrow": (pd.array([1, None, 3], pd.ArrowDtype(pa.int32())), [1, NAN, 3]),
    "arrow_dec": (
        pd.array([decimal.Decimal("1.5"), None, 3], pd.ArrowDtype(pa.decimal128(5, 2))),
        [1.5, NAN, 3],
    ),
    "arrow_dict": (
        pd.arrays.ArrowExtensionArray(pa.array([5, None, 5]).dictionary_encode()),
        [5, NAN, 5],
    ),
    "sparse": (pd.arrays.SparseArray([0.0, 2.0, 0.0]), [0, 2, 0]),
    "sparse_int": (pd.arrays.SparseArray([0, 2, 0]), [0, 2, 0]),
}


@pytest.mark.parametrize("name", PANDAS)
@pytest.mark.parametrize("block_bytes", [16, 1 << 20])
def test_pandas_types(name: str, block_bytes: int) -> None:
    values, expected = PANDAS[name]
    frame = pd.DataFrame({name: values}, index=["p", "q", "r"])
    source = open_source(frame, block_bytes=block_bytes)
    assert (source.columns, source.n_rows) == ((name,), 3)
    np.testing.assert_array_equal(rows_of(source)[:, 0], expected)


@pytest.mark.parametrize("kind", ["datetime64[ns]", "timedelta64[s]", "period[M]"])
def test_dates_of_pandas_are_said_how_to_be_numbers(kind: str) -> None:
    frame = pd.DataFrame({"a": [1.0], "when": pd.Series([None], dtype=kind)})
    with pytest.raises(
        InputError, match=r"columns=\['a'\]\. .*such as days since 2000-01-01, or seconds\."
    ):
        open_source(frame)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (
            pd.Series(["secret", 2], dtype=object),
            r"object, not .* column\.astype\('boolean'\), .* with pandas\.to_numeric, of amounts",
        ),
        (pd.Series([1, 2], dtype=object), "object"),
        (["secret", "b"], "str|object"),
        (pd.Categorical(["secret", "b"]), "category"),
        (pd.Categorical([1, 2]), r"category \(.*column\.astype\(float\)\)"),
        (pd.Categorical([None, None]), "category"),
        (pd.arrays.SparseArray(np.array(["secret", 2], dtype=object)), "Sparse.object"),
        (pd.arrays.SparseArray(np.array([1, 2], dtype=object), fill_value=1), "Sparse.object.,"),
        (pd.to_datetime(["2020", "2021"]), "datetime64"),
        (pd.to_datetime(["2020", "2021"], utc=True), "datetime64.*UTC"),
        (pd.to_timedelta([1, 2]), "timedelta64"),
        (pd.period_range("2020", periods=2, freq="D"), "period"),
        (pd.interval_range(0, 2), "interval"),
        ([1j, 2], "complex128"),
    ],
)
def test_pandas_types_that_are_no_numbers(values: object, kind: str) -> None:
    frame = pd.DataFrame({"ok": [1, 2], "bad": values})
    with pytest.raises(InputError, match=f"Column 'bad' of the DataFrame is of type ({kind})") as e:
        open_source(frame)
    assert "secret" not in str(e.value)
    assert "columns=['ok']" in str(e.value)


def test_no_value_decides_whether_a_column_of_categories_is_one_of_numbers() -> None:
    """Of pandas, types of categories are those of their values."""
    said = set()
    for last in (2, 2.5, "secret", None, True):
        frame = pd.DataFrame({"ok": 1.0, "c": pd.Series([1] * 9 + [last], dtype="category")})
        for data, columns in ((frame, None), (frame[["c"]], None), (frame["c"], None)):
            with pytest.raises(InputError, match="is of type category") as caught:
                open_source(data, columns)
            said.add(str(caught.value))
    assert len(said) == 2
    assert not any("secret" in text for text in said)
    for kind in (pl.Categorical, pl.Enum(["1", "2"])):  # which are always text
        with pytest.raises(InputError, match="is of type dictionary<values=string"):
            open_source(pl.DataFrame({"c": pl.Series(["1", "2"]).cast(kind)}))


@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize("ending", ["parquet", "arrow", None])
def test_periods_of_pandas_are_no_whole_numbers_in_files(
    ending: str | None, beside: bool, tmp_path: Path
) -> None:
    """Arrow has them as extensions only where pandas is imported, and else says so beside them."""
    frame = pd.DataFrame({"v": [1.0, 2.0], "span": pd.interval_range(0, 2)})
    frame["month"] = pd.period_range("2020-01", periods=2, freq="M")
    table = pa.Table.from_pandas(frame)
    typed = table.to_pandas(types_mapper=pd.ArrowDtype)
    if beside:
        table = _as_without_pandas(table)
    data: object = table
    if ending == "parquet":
        pq.write_table(table, data := tmp_path / "rows.parquet")
    elif ending == "arrow":
        feather.write_feather(table, data := tmp_path / "rows.arrow", compression="uncompressed")
    for name, kind in (("month", r"period\[M\]"), ("span", r"interval\[int64, right\]")):
        for way in (data, frame):
            with pytest.raises(InputError, match=f"is of type {kind}, not numbers.*=\\['v'\\]"):
                open_source(way, [name])
        with pytest.raises(InputError, match=rf"is of type {kind} \(.*astype\(str\)\); labels"):
            open_source(data, ["v"], labels=[name])
        assert rows_of(open_source(frame, ["v"], labels=[name])).tolist() == [[1, 0], [2, 1]]
        with pytest.raises(InputError, match="labels of persons or groups must be text"):
            open_source(typed, ["v"], labels=[name])


def _as_without_pandas(table: pa.Table) -> pa.Table:
    columns, fields = [], []
    [batch] = table.to_batches()
    for field in batch.schema:
        column, beside = batch.column(field.name), None
        if isinstance(field.type, pa.ExtensionType):
            beside = {
                "ARROW:extension:name": field.type.extension_name,
                "ARROW:extension:metadata": field.type.__arrow_ext_serialize__(),
            }
            column = column.storage
        columns.append(column)
        fields.append(pa.field(field.name, column.type, metadata=beside))
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def test_a_type_of_pandas_that_says_nothing_more() -> None:
    for text in ("", "[]", "{}", "7", "\xff"):
        about = {"ARROW:extension:name": "pandas.period", "ARROW:extension:metadata": text}
        assert type_of_pandas(pa.field("a", pa.int64(), metadata=about)) == "period"
    assert type_of_pandas(pa.field("a", pa.int64(), metadata={"ARROW:extension:name": "b"})) is None


def test_a_pandas_index_is_no_column_and_labels_become_text() -> None:
    frame = pd.DataFrame({2024: [1, 2], ("a", 1): [3, 4], "s": ["x", "y"]})
    frame.index = pd.MultiIndex.from_tuples([(8, 9), (9, 9)], names=["i", "j"])
    source = open_source(frame, [("a", 1).__repr__(), 2024])
    assert source.columns == ("('a', 1)", "2024")
    np.testing.assert_array_equal(rows_of(source), [[3, 1], [4, 2]])


def test_a_column_of_several_levels_is_said_what_its_name_is() -> None:
    frame = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "m"), ("a", "s")]))
    with pytest.raises(
        InputError, match=r"""type tuple\. That column's name is the text "\('a', 'm'\)"\.$"""
    ):
        open_source(frame, [("a", "m")])
    with pytest.raises(InputError, match=r"of type tuple\.$"):
        open_source(frame, [("a", "x")])
    assert rows_of(open_source(frame, ["('a', 'm')"])).tolist() == [[1]]


def test_a_pandas_frame_of_one_array_is_not_copied() -> None:
    rows = np.arange(12.0).reshape(6, 2)
    one = pd.DataFrame(rows, columns=["a", "b"], copy=False)
    for frame in (one, pd.DataFrame({"a": rows[:, 0], "b": rows[:, 1]})):
        source = open_source(frame, block_bytes=64)
        np.testing.assert_array_equal(rows_of(source), rows)
        np.testing.assert_array_equal(rows_of(open_source(frame, "b"))[:, 0], rows[:, 1])
    assert np.shares_memory(next(open_source(one).blocks()), rows)


def test_a_subclass_of_a_pandas_frame_is_one() -> None:
    class Special(pd.DataFrame):
        pass

    assert open_source(Special({"a": [1.0]}, index=["k"])).columns == ("a",)


def test_a_table_in_memory_is_not_copied() -> None:
    table = pa.table({"a": np.zeros(1 << 20), "b": np.zeros(1 << 20)})
    before = pa.total_allocated_bytes()
    source = open_source(table)
    assert pa.total_allocated_bytes() - before < 1 << 20
    assert source.n_rows == 1 << 20


@pytest.mark.parametrize(
    "kind", ["bool", "int8", "uint64", "int64", "float16", "float32", "float64"]
)
@pytest.mark.parametrize("nulls", [0.0, 0.3, 1.0])
def test_parts_of_values_with_nulls(kind, nulls) -> None:
    """Nulls and booleans are bits, of which a part may begin within an octet."""
    rng = np.random.default_rng(0)
    dtype = np.dtype(kind)
    numbers = (rng.integers(0, 2 if kind == "bool" else 100, 70)).astype(dtype)
    missing = rng.random(70) < nulls
    whole = pa.array(numbers, mask=missing)
    expected = np.where(missing, np.nan, numbers.astype(np.float64))
    for start, stop in ((0, 70), (3, 4), (8, 16), (7, 41), (13, 70), (5, 5)):
        target = np.full(stop - start, -1.0)
        fill(target, whole.slice(start, stop - start))
        np.testing.assert_array_equal(target, expected[start:stop])


@pytest.mark.parametrize(
    "kind", ["Int64", "Float64", "boolean", "double[pyarrow]", "int8[pyarrow]"]
)
def test_nullable_columns_of_pandas_are_no_second_copy(kind) -> None:
    """Beyond a bit for each value, and blocks."""
    rows = 200_000
    numbers = np.arange(rows) % 2
    frame = pd.DataFrame({"a": numbers, "b": 1 - numbers}).astype(kind)
    frame.loc[3, "a"] = pd.NA
    before = pa.total_allocated_bytes()
    source = open_source(frame, block_bytes=1 << 14)
    assert pa.total_allocated_bytes() - before <= 2 * rows // 4
    expected = np.stack([numbers, 1 - numbers], axis=1).astype(float)
    expected[3, 0] = NAN
    np.testing.assert_array_equal(rows_of(source), expected)


class Counted(BatchSource):
    """Batches that are counted as they are read."""

    def __init__(self, rows: int, read: int = 0) -> None:
        super().__init__(("a",), rows, 1 << 16)
        self.read = read

    def _batches(self):
        for start in range(0, self.n_rows, 1 << 20):
            self.read += 1
            size = min(1 << 20, self.n_rows - start)
            yield pa.record_batch([pa.array(np.ones(size))], ["a"])


def total(source: Source) -> int:
    return int(source.collect(lambda block: np.array([block.sum()], dtype=np.int64), 1)[0])


def test_small_tables_that_must_be_decoded_are_held_from_the_second_pass_on() -> None:
    source = Counted(1 << 20)
    assert [total(source) for _ in range(4)] == [1 << 20] * 4
    assert source.read == 2
    large = Counted((1 << 24) + 1)
    assert [total(large) for _ in range(3)] == [(1 << 24) + 1] * 3
    assert large.read == 3 * 17


def test_a_pass_that_ends_early_is_none() -> None:
    source = Counted(1 << 20)
    assert total(source) == 1 << 20
    next(source._lasting())
    assert total(source) == total(source) == 1 << 20
    assert source.read == 3
