"""Sources: arrays and sparse arrays."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse

import prolate
from prolate.errors import InputError
from prolate.noise import PARTS, NumberedBits, SeededBits
from prolate.queries import Count
from prolate.sources import Source, Thinning, kept, open_source
from prolate.sources.kept import Choices, Leading
from prolate.sources.paired import open_features, read_target


def rows_of(source: Source) -> np.ndarray:
    blocks = [np.asarray(block, dtype=np.float64) for block in source.blocks()]
    return np.concatenate(blocks) if blocks else np.empty((0, len(source.columns)))


DTYPES = ["?", "i1", "u1", "<i2", ">i4", "<u8", ">i8", "f2", ">f2", "<f4", ">f4", ">f8", "g"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_real_dtype_is_read_in_native_byte_order(dtype: str) -> None:
    array = (np.arange(21).reshape(7, 3) % 5).astype(dtype)
    source = open_source(array, block_bytes=48)
    assert source.columns == ("x0", "x1", "x2")
    assert source.n_rows == 7
    blocks = list(source.blocks())
    assert [len(block) for block in blocks] == [2, 2, 2, 1]
    assert all(block.dtype.isnative for block in blocks)
    assert {block.dtype.char for block in blocks} <= set("?bBhHiIlLqQfd")
    np.testing.assert_array_equal(rows_of(source), array.astype(float))


def test_whole_64_bit_integers_reach_the_query_unrounded() -> None:
    array = np.array([[2**62 + 1]])
    assert next(open_source(array).blocks()).item() == 2**62 + 1


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::-1],
        lambda a: a[:, ::-1],
        lambda a: a[::3, 1::2],
        lambda a: a[::-2, ::-2],
        lambda a: a.T[::-1],
        np.asfortranarray,
        lambda a: np.broadcast_to(a[0], (9, 6)),
    ],
)
def test_any_strides(view) -> None:
    array = view(np.arange(60.0).reshape(10, 6))
    np.testing.assert_array_equal(rows_of(open_source(array, block_bytes=100)), array)


def test_an_array_is_not_copied() -> None:
    array = np.zeros((500_000, 8))[::-1, ::-1]  # 32 MB
    source = open_source(array, block_bytes=1 << 20)
    assert all(np.shares_memory(block, array) for block in source.blocks())
    swapped, masked = array.astype(">f8"), np.ma.masked_less(array, 1)
    tracemalloc.start()
    for data in (array, swapped, masked):
        for subset in (None, ["x5", "x1"]):
            for _ in open_source(data, subset, block_bytes=1 << 20).blocks():
                pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6e6


def test_masked_cells_are_nan_and_the_rest_is_untouched() -> None:
    array = np.ma.masked_greater(np.arange(10).reshape(5, 2), 6)
    expected = np.arange(10.0).reshape(5, 2)
    expected[expected > 6] = np.nan
    np.testing.assert_array_equal(rows_of(open_source(array, block_bytes=32)), expected)
    plain = np.ma.array(np.arange(10).reshape(5, 2))
    assert next(open_source(plain).blocks()).dtype == np.int64


def test_masked_values_in_lists_are_missing_without_a_warning(recwarn) -> None:
    """NumPy warned of each, however many there were, and forgot the masks of arrays in lists."""
    warnings.simplefilter("always")
    masked, expected = np.ma.masked, [[1.0, np.nan], [2.0, 3.0]]
    of_arrays = [np.ma.array([1, 5], mask=[0, 1]), np.ma.array([2, 3])]
    for data in ([[1, masked], [2, 3]], ((1.0, masked), (2.0, 3.0)), [of_arrays[0], [2, 3]]):
        for source in (open_source(data), open_features(data), open_source(of_arrays)):
            np.testing.assert_array_equal(rows_of(source), expected)
    flags = rows_of(open_source([[True, masked], [False, True]]))
    np.testing.assert_array_equal(flags, [[1.0, np.nan], [0.0, 1.0]])
    np.testing.assert_array_equal(read_target([masked, 7]).ravel(), [np.nan, 7.0])
    assert not recwarn.list


def test_columns_by_name_and_by_position() -> None:
    array = np.arange(8.0).reshape(2, 4)
    for source in (open_source(array, ["x2", 0, -1]), open_source(array, np.array([2, 0, 3]))):
        assert source.columns == ("x2", "x0", "x3")
        np.testing.assert_array_equal(rows_of(source), array[:, [2, 0, 3]])
    assert open_source(array, "x1").columns == open_source(array, 1).columns == ("x1",)


def test_blocks_start_afresh_and_have_the_size_asked_for() -> None:
    source = open_source(np.ones((1001, 4)), block_bytes=3200)
    first, second = list(source.blocks()), list(source.blocks())
    assert [len(block) for block in first] == [len(block) for block in second]
    assert {len(block) for block in first[:-1]} == {100} == {source.rows_per_block}
    assert open_source(np.ones((3, 1000)), block_bytes=8).rows_per_block == 2


def test_collect_adds_up_and_tells_progress() -> None:
    source = open_source(np.arange(10).reshape(5, 2), block_bytes=32)
    seen: list[int] = []
    total = source.collect(lambda b: b.sum(axis=0).astype(np.int64), 2, seen.append)
    np.testing.assert_array_equal(total, [20, 25])
    assert total.dtype == np.int64
    assert seen == [2, 4, 5]
    empty = open_source(np.empty((0, 2)))
    np.testing.assert_array_equal(empty.collect(lambda b: b.sum(axis=0), 2), [0, 0])


@pytest.mark.parametrize("answer", [np.zeros(2), np.zeros(1, np.int64), np.zeros((2, 2), np.int64)])
def test_collect_refuses_a_query_that_is_not_an_integer_vector(answer: np.ndarray) -> None:
    with pytest.raises(TypeError, match=r"int64 of shape \(2,\)"):
        open_source(np.ones((3, 2))).collect(lambda _: answer, 2)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array(1.0), r"two dimensions.*has 0:.*one number"),
        (np.ones(5), r"two dimensions.*has 1:.*array\.reshape\(-1, 1\)"),
        (np.ones((2, 3, 4)), r"has 3:.*reshape\(len\(array\), -1\)"),
        (np.ones((5, 0)), r"no columns in the array"),
        (np.ones((2, 2), complex), r"holds complex128, not real numbers.*real and imaginary"),
        (np.array([["secret", "b"]]), r"holds text, not real numbers.*astype\(float\)"),
        (np.array([[b"secret"]]), r"holds bytes"),
        (np.array([["secret", 1.5]], object), r"holds object.*astype\(float\)"),
        (np.array([["2020-01-01"]], "M8[D]"), r"holds datetime64\[D\].*days since 2000"),
        (np.array([[1]], "m8[s]"), r"durations to numbers first: array /"),
        (np.array([(1.0, 2)], "f8,i4"), r"structured array.*pandas\.DataFrame"),
    ],
)
def test_arrays_that_are_not_rows_of_numbers(array: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        open_source(array)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([], r"columns=\[\] leaves nothing"),
        (["x11"], r"no column 'x11' in the array\. Did you mean 'x1'\? Its columns are 'x0', 'x1'"),
        ([3], r"no column 3 in the array; its columns are 0 to 2"),
        ([-4], r"no column -4"),
        (["x1", 1], r"asks twice for 'x1'; name each column once"),
        ([True], r"names or positions; it holds an entry of type bool"),
        ([1.0], r"an entry of type float"),
        ({"x0", "x1"}, r"must be a list of column names, in the order wanted; got set"),
        (b"x0", r"got bytes"),
        (2.5, r"got float"),
    ],
)
def test_columns_that_cannot_be_chosen(columns: object, message: str) -> None:
    for data in (np.ones((4, 3)), scipy.sparse.csc_array(np.ones((4, 3)))):
        text = message.replace("the array", "the (sparse )?array")
        with pytest.raises(InputError, match=text):
            open_source(data, columns)


def test_many_column_names_are_not_all_listed() -> None:
    with pytest.raises(InputError) as caught:
        open_source(np.ones((2, 5000)), ["income"])
    assert "and 4992 more" in str(caught.value)
    assert len(str(caught.value)) < 200


FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("form", ["array", "matrix"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.bool_])
def test_sparse_of_any_format(kind: str, form: str, dtype: type) -> None:
    dense = (np.random.default_rng(1).random((11, 5)) < 0.3).astype(dtype)
    dense[3] = 0
    sparse = getattr(scipy.sparse, f"{kind}_{form}")(dense)
    source = open_source(sparse, block_bytes=160)
    assert source.n_rows == 11
    assert [len(block) for block in source.blocks()] == [4, 4, 3]
    np.testing.assert_array_equal(rows_of(source), dense.astype(float))
    np.testing.assert_array_equal(rows_of(open_source(sparse, [4, "x1"])), dense[:, [4, 1]])


def test_sparse_entries_stored_twice_add_up() -> None:
    twice = scipy.sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2))
    np.testing.assert_array_equal(rows_of(open_source(twice)), [[0, 3], [0, 0]])


def test_sparse_is_made_dense_by_blocks_only() -> None:
    sparse = scipy.sparse.random_array((20_000, 2_000), density=1e-4, rng=0)  # dense: 320 MB
    tracemalloc.start()
    total = sum(block.sum() for block in open_source(sparse, block_bytes=1 << 20).blocks())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total == pytest.approx(sparse.sum())
    assert peak < 8e6


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (scipy.sparse.coo_array(np.ones(4)), r"two dimensions.*has 1\."),
        (scipy.sparse.csr_array(np.ones((2, 2), complex)), r"holds complex128"),
        (scipy.sparse.csr_array((3, 0)), r"no columns in the sparse array"),
    ],
)
def test_sparse_that_cannot_be_read(matrix: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        open_source(matrix)


def test_nested_lists_of_numbers() -> None:
    np.testing.assert_array_equal(rows_of(open_source([[1, 2.5], (3, True)])), [[1, 2.5], [3, 1]])
    np.testing.assert_array_equal(rows_of(open_source(((1,), (2,)))), [[1], [2]])
    # Whether a value is there, or larger than an integer of a machine, is no matter of its type.
    np.testing.assert_array_equal(
        rows_of(open_source([[1, None], [2**70, 3]])), [[1, np.nan], [2.0**70, 3]]
    )


class Tensor:
    """What other array libraries hand out."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        if self.array.size == 0:
            raise RuntimeError("secret")
        return self.array


def test_objects_that_turn_into_an_array() -> None:
    np.testing.assert_array_equal(rows_of(open_source(Tensor(np.eye(2)))), np.eye(2))
    with pytest.raises(InputError, match=r"Tensor does not turn into an array") as caught:
        open_source(Tensor(np.empty((0, 1))))
    assert "secret" not in str(caught.value)


class Grid:
    """An array with labels, which exports a table with a row for each cell, as xarray's do."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    @property
    def ndim(self) -> int:
        return self.values.ndim

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return self.values

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.table({"cells": self.values.ravel()}).__arrow_c_stream__()


def test_an_array_that_exports_its_cells_as_a_table_is_read_by_rows() -> None:
    rows = np.arange(10.0).reshape(5, 2)
    assert open_source(Grid(rows)).columns == ("x0", "x1")
    assert open_source(Grid(rows)).n_rows == 5
    assert open_source(Grid(rows[:, 0])).n_rows == 5
    with pytest.raises(InputError, match="two dimensions"):
        open_source(Grid(rows.reshape(5, 2, 1)))


@pytest.mark.parametrize(("method", "says"), [("detach", "cpu"), ("__dlpack__", "own memory")])
def test_what_to_do_with_arrays_of_other_devices(method: str, says: str) -> None:
    kind = type("Tensor", (Tensor,), {method: lambda self: self})
    with pytest.raises(InputError, match=says):
        open_source(kind(np.empty((0, 1))))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "An empty list"),
        ([1.0, 2.0], r"has 1:.*reshape\(-1, 1\)"),
        ([[1, 2], [3]], "same number of numbers"),
        ([[1, object()]], "every row must hold the same number of numbers"),
        ([["secret"], ["text"]], "holds text"),
        (
            {"a": [1.0]},
            r"type dict is not supported\. Pass pyarrow\.table.* Prolate reads NumPy",
        ),
        (b"secret", "type bytes is not supported"),
        (None, "type NoneType is not supported"),
        (3, "type int is not supported"),
        (iter([]), "type list_iterator is not supported"),
    ],
)
def test_unsupported_objects(data: object, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        open_source(data)
    assert "secret" not in str(caught.value)


def test_things_of_spark_are_refused_without_importing_spark() -> None:
    loaded = "pyspark" in sys.modules
    thing = type("Series", (), {"__module__": "pyspark.pandas.series"})()
    for data, engine in [(thing, None), (thing, "spark"), (np.ones((2, 2)), "spark")]:
        with pytest.raises(InputError, match=r"On Spark, Prolate reads data frames and the paths"):
            open_source(data, engine=engine)
    with pytest.raises(InputError, match="engine must be 'spark' or None; got 'dask'"):
        open_source(np.ones((2, 2)), engine="dask")
    assert ("pyspark" in sys.modules) == loaded


@pytest.mark.parametrize("block_bytes", [0, -1, 1.5, True])
def test_block_bytes_must_be_positive(block_bytes: object) -> None:
    with pytest.raises(InputError, match="block_bytes must be a positive whole number"):
        open_source(np.ones((1, 1)), block_bytes=block_bytes)


def test_importing_sources_and_reading_arrays_loads_nothing_heavy() -> None:
    code = (
        "import sys, numpy; from prolate.sources import open_source;"
        "list(open_source(numpy.ones((2, 2))).blocks());"
        "print([m for m in ('pyarrow', 'scipy', 'pandas', 'numba') if m in sys.modules])"
    )
    path = str(Path(prolate.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("threads", ["1", "3"])
def test_a_sample_is_the_same_in_any_memory_order(monkeypatch, dtype, threads) -> None:
    monkeypatch.setenv("PROLATE_NUM_THREADS", threads)
    monkeypatch.setattr(kept, "_PIECE", 64)
    monkeypatch.setattr(kept, "_CHOICES", 50)
    rows = np.random.default_rng(0).normal(size=(333, 5)).astype(dtype)
    keep = Thinning(NumberedBits.from_bits(SeededBits(0)), PARTS // 3)
    expected = rows[keep(0, 333)]
    seen: list[int] = []
    for array in (rows, np.asfortranarray(rows), np.ma.array(rows), np.repeat(rows, 2, 1)[:, ::2]):
        sample = open_source(array).thinned(keep, seen.append)
        assert sample.n_rows == len(expected)
        found = np.concatenate(list(sample.blocks()))
        assert found.dtype == dtype
        assert np.array_equal(found, expected)
        assert sample.columns == open_source(rows).columns
        assert seen.pop() == 333


def test_a_sample_may_be_empty() -> None:
    keep = Thinning(NumberedBits.from_bits(SeededBits(0)), 0)
    sample = open_source(np.ones((20, 3))).thinned(keep)
    assert sample.n_rows == 0
    assert sample.collect(Count(3), 1).tolist() == [0]


@pytest.mark.parametrize("keep", [Thinning(NumberedBits(b"k" * 32), PARTS // 3), Leading(700)])
@pytest.mark.parametrize("start", [0, 262_000])
def test_choices_of_blocks_are_those_of_all_rows(monkeypatch, keep, start) -> None:
    monkeypatch.setattr(kept, "_CHOICES", 300)
    choices, counts = Choices(keep, start), (0, 1, 299, 5, 0, 700, 3)
    found = [choices.done + choices.next(count) for count in counts]
    assert np.array_equal(np.concatenate(found), keep(start, 1008))


def test_a_sample_of_a_sample(monkeypatch) -> None:
    monkeypatch.setattr(kept, "_CHOICES", 50)
    rows = np.arange(600.0).reshape(300, 2)
    first = Thinning(NumberedBits.from_bits(SeededBits(0)), PARTS // 2)
    then = Thinning(NumberedBits.from_bits(SeededBits(1)), PARTS // 2)
    once = rows[first(0, 300)]
    sample = open_source(rows).thinned(first).thinned(then)
    assert np.array_equal(np.concatenate(list(sample.blocks())), once[then(0, len(once))])


@pytest.mark.parametrize(
    "absent", [None, pd.NA, pd.NaT, np.ma.masked, float("nan"), 10**400], ids=repr
)
def test_no_missing_entry_of_objects_decides_an_error(absent: object) -> None:
    """An array of pandas' nullable columns is one of objects; a missing value raised an error."""
    rows = np.arange(30.0).reshape(15, 2).astype(object)
    whole = read_target(rows[:, 0])
    rows[3, 0] = absent
    found = read_target(rows[:, 0])
    np.testing.assert_array_equal(found[:3], whole[:3])
    assert np.isnan(found[3])
    assert open_source(rows.tolist()).n_rows == 15
    masked = np.ma.array(np.ones(5, object), mask=[0, 0, 1, 0, 0])
    assert np.isnan(read_target(masked)).ravel().tolist() == [False, False, True, False, False]
