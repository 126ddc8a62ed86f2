"""Sparse sources: what is kept, what is read, and how much memory that takes."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.sparse

import prolate
from prolate.curator import Curator
from prolate.errors import InputError
from prolate.noise import PARTS, NumberedBits
from prolate.queries import ClippedSum, Count, CountBelow, Histogram, LinearGrid, sparse
from prolate.rivals.plan_binary import plan_binary
from prolate.sources import Thinning, entries, open_source, sparse_rows
from prolate.sources.sparse import SparseSource
from prolate.sources.sparse_rows import SparseRows

BUDGET = prolate.Budget(rho=1)


def baskets(n: int, d: int, ones: int) -> scipy.sparse.csr_array:
    """Return sets of items: the first item is in most of them, the last in few."""
    rng = np.random.default_rng(1)
    columns = (d * rng.random(ones) ** 3).astype(int)
    matrix = scipy.sparse.coo_array((np.ones(ones), (rng.integers(0, n, ones), columns)), (n, d))
    matrix = matrix.tocsr()
    matrix.data[:] = 1.0
    return matrix


def test_rows_by_hand() -> None:
    matrix = scipy.sparse.csr_array([[0.0, 5.0, 0.0], [0.0, 0.0, 0.0], [7.0, 5.0, 0.0]])
    rows = SparseRows.from_csr(matrix)
    assert rows.shape == (3, 3)
    assert rows.rest_count.tolist() == [2, 1, 3]
    seen: Counter[tuple[int, float]] = Counter()
    for columns, values, counts in rows.counted():
        for j, x, count in zip(columns, values, counts, strict=True):
            seen[int(j), float(x)] += int(count)
    assert +seen == {(0, 0.0): 2, (0, 7.0): 1, (1, 0.0): 1, (1, 5.0): 2, (2, 0.0): 3}
    doubled = rows.replaced(lambda values, columns: 2.0 * values + columns)
    assert doubled.rest.tolist() == [0.0, 1.0, 2.0]
    assert doubled.pair_value[doubled.entries().pairs].tolist() == [11.0, 14.0, 11.0]


def test_a_sample_is_sparse_and_the_rows_that_a_dense_source_would_keep() -> None:
    matrix = baskets(9000, 12, 20_000)
    source, dense = open_source(matrix), open_source(matrix.toarray())
    source.collect(Count(12), 1)
    keep, seen = Thinning(NumberedBits(b"k" * 32), PARTS // 4), []
    sample = source.thinned(keep, seen.append)
    assert isinstance(sample, SparseSource)
    expected = np.concatenate(list(dense.thinned(keep).blocks()))
    assert np.array_equal(np.concatenate(list(sample.blocks())), expected)
    assert sample.n_rows == len(expected)
    assert seen == [9000]
    query = ClippedSum(np.full(12, 0.1), np.ones(12), 1.0)
    assert sample.collect(query, 12).tolist() == query(expected).tolist()
    assert source.collect(query, 12).tolist() == query(matrix.toarray()).tolist()


def test_the_users_matrix_stays_as_it_is() -> None:
    parts = np.array([3.0, 1.0, 2.0]), np.array([2, 0, 2]), np.array([0, 3, 3])
    matrix = scipy.sparse.csr_array(parts, shape=(2, 3))
    source = open_source(matrix)
    assert source.collect(CountBelow(np.array([1.0, 0.0, 4.0])), 3).tolist() == [2, 2, 1]
    assert matrix.data.tolist() == [3.0, 1.0, 2.0]
    assert matrix.indices.tolist() == [2, 0, 2]
    assert not matrix.has_canonical_format


def damaged(kind: str, part: str, place: int, value: int) -> object:
    """Return a matrix of which one place is outside, or that has other rows than it says."""
    matrix = baskets(300, 40, 2_000).asformat(kind)
    array = matrix.coords[int(part)] if kind == "coo" else getattr(matrix, part)
    array[place] = value
    return matrix


@pytest.mark.parametrize(
    ("kind", "part", "place", "value"),
    [
        ("csr", "indices", 5, 40),
        ("csr", "indices", 5, -1),
        ("csr", "indptr", 7, 10**6),
        ("csr", "indptr", -1, 10**6),
        ("csr", "indptr", 0, 3),
        ("csc", "indices", 5, 300),
        ("bsr", "indices", 5, 40),
        ("coo", "0", 5, 300),
        ("coo", "1", 5, -1),
    ],
)
def test_a_damaged_matrix_is_refused_before_it_is_read(kind, part, place, value) -> None:
    """Its entries were read wherever they pointed to, outside of memory as well."""
    with pytest.raises(InputError, match="The sparse array is damaged"):
        open_source(damaged(kind, part, place, value))


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo"])
def test_entries_written_while_rows_are_read_are_never_outside(kind) -> None:
    matrix = baskets(300, 40, 2_000).asformat(kind)
    query = Histogram(LinearGrid(np.zeros(40), np.ones(40), 4))
    expected = query(matrix.toarray())
    source = open_source(matrix)
    for array in matrix.coords if kind == "coo" else (matrix.indices, matrix.indptr):
        array[:] = 10**6
    assert np.array_equal(source.collect(query, query.size), expected)


def test_values_written_while_pairs_are_made_are_some_of_these(monkeypatch) -> None:
    """There was an error instead, after the charge."""
    matrix = baskets(300, 4, 800)
    matrix.data[::2] = 2.0
    find = sparse_rows._few_values

    def find_and_write(*given: object) -> object:
        found = find(*given)
        matrix.data[:] = 3.0
        return found

    monkeypatch.setattr(sparse_rows, "_few_values", find_and_write)
    rows = SparseRows.from_csr(matrix)
    assert np.unique(rows.pair_value).tolist() == [1.0, 2.0]
    assert rows.entries().pairs.max() < rows.pair_value.size


def test_a_column_twice_in_a_row_counts_once_whatever_the_matrix_says() -> None:
    parts = np.array([1.0, 1.0]), np.array([1, 1]), np.array([0, 2, 2])
    matrix = scipy.sparse.csr_array(parts, shape=(2, 2))
    matrix.has_canonical_format = True
    source = open_source(matrix)
    query = Histogram(LinearGrid(np.zeros(2), np.ones(2), 4))
    counts = source.collect(query, query.size).reshape(2, 6)
    assert counts.tolist() == [[0, 2, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0]]


def test_entries_stored_twice_add_up_in_their_order() -> None:
    rng = np.random.default_rng(1)
    data = rng.normal(size=300) * 10.0 ** rng.integers(-9, 9, 300)
    matrix = scipy.sparse.csr_array((data, rng.integers(0, 30, 300), [0, 300]), shape=(1, 30))
    source = open_source(matrix)
    assert next(iter(source.blocks())).tolist() == matrix.toarray().tolist()
    other_order = matrix.copy()
    other_order.sum_duplicates()
    assert other_order.toarray().tolist() != matrix.toarray().tolist()


def test_some_columns_in_any_order() -> None:
    matrix = scipy.sparse.csr_array([[1.0, 0.0, 3.0], [0.0, 5.0, 0.0]])
    source = open_source(matrix, ["x2", 0])
    query = ClippedSum(np.zeros(2), np.ones(2), 8.0)
    found = source.collect(query, 2) * query.unit
    assert found == pytest.approx([3.0, 1.0])


def test_the_same_columns_are_looked_up_once() -> None:
    rows = open_source(baskets(50, 9, 120))._sparse_rows
    first = sparse.selected(rows, np.array([1, 4]))
    assert sparse.selected(rows, np.array([1, 4])) is first
    second = sparse.selected(rows, np.array([1, 5]))
    assert second is not first
    assert np.array_equal(second.pair_column, np.array([0, 1]))
    assert sparse.selected(rows, np.array([1, 4])) is not first


@pytest.mark.parametrize("kinds", [1, 3, 700, 4_000, 9_000, 60_000])
def test_values_that_are_few_share_their_pairs(kinds) -> None:
    """Whatever the order in which they come: the rows are the same, and pairs are few."""
    rng = np.random.default_rng(kinds)
    values = 1.0 + np.sort(rng.integers(0, kinds, 60_000))
    for data in (values, values[::-1], rng.permutation(values)):
        matrix = scipy.sparse.csr_array((data, np.tile([0, 2], 30_000), np.arange(0, 60_001, 2)))
        rows = SparseRows.from_csr(matrix)
        entries = rows.entries()
        assert np.array_equal(rows.pair_value[entries.pairs], data)
        assert np.array_equal(rows.pair_column[entries.pairs], entries.columns)
        assert np.array_equal(
            np.bincount(entries.pairs, minlength=rows.pair_count.size), rows.pair_count
        )
        many = np.unique(values).size > 60_000 // (2 * 3)
        assert rows.pair_value.size == (60_000 if many else 3 * np.unique(values).size)


def test_progress_and_other_callables() -> None:
    source, seen = open_source(scipy.sparse.eye_array(10)), []
    assert source.collect(Count(10), 1, seen.append).tolist() == [10]
    assert seen == [10]
    total = source.collect(lambda block: block.sum(axis=0).astype(np.int64), 10)
    assert total.tolist() == [1] * 10


def test_the_wrong_number_of_columns() -> None:
    with pytest.raises(InputError, match=r"rows of 3 columns; got an array of shape \(4, 4\)"):
        open_source(scipy.sparse.eye_array(4)).collect(Count(3), 1)


def test_no_rows() -> None:
    source = open_source(scipy.sparse.csr_array((0, 3)))
    for query in (Count(3), ClippedSum(np.ones(3), np.ones(3), 1.0), CountBelow(np.ones(3))):
        assert not source.collect(query, query.size).any()


def test_memory_is_that_of_the_entries() -> None:
    """A mean of 100,000 rows of 20,000 columns: 16 GB as dense rows."""
    matrix = baskets(100_000, 20_000, 300_000)
    source = open_source(matrix)
    d = 20_000
    queries = [
        ClippedSum(np.full(d, 0.01), np.ones(d), 0.5),
        Histogram(LinearGrid(np.zeros(d), np.ones(d), 10)),
    ]
    for query in queries:  # compiled before memory is measured
        open_source(matrix[:10]).collect(query, query.size)
    tracemalloc.start()
    try:
        for query in queries:
            source.collect(query, query.size)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50e6


def test_real_baskets(shared_data: Path) -> None:
    table = pq.read_table(shared_data / "sparse" / "groceries.parquet")
    place = table["row_id"].to_numpy(), table["col_id"].to_numpy()
    matrix = scipy.sparse.csr_array((np.ones(place[0].size), place), shape=(9835, 169))
    dense = matrix.toarray()
    left = prolate.mean(matrix, error_norm=1, budget=BUDGET, seed=1)
    right = prolate.mean(dense, error_norm=1, budget=BUDGET, seed=1)
    assert np.array_equal(left.estimate, right.estimate)
    binary = [plan_binary(Curator(open_source(rows), BUDGET, seed=1)) for rows in (matrix, dense)]
    assert np.array_equal(binary[0].value, binary[1].value)


@pytest.fixture(params=["compiled", "NumPy"])
def loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "NumPy":
        monkeypatch.setattr(entries, "_loops", lambda: None)


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_numbers_are_copied_and_counted(dtype) -> None:
    """Over several pieces of the loop, whose ends are where numbers fall, or stay, as well."""
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 50, 3 * 8192 + 5).astype(dtype)
    numbers[8191:8193], numbers[2 * 8192 - 1 : 2 * 8192 + 1] = 7, (9, 3)
    found = entries.checked(numbers, 50)
    assert found is not None
    copy, falls = found
    assert copy.dtype == np.int32
    assert np.array_equal(copy, numbers)
    assert not np.shares_memory(copy, numbers)
    assert falls == np.count_nonzero(numbers[1:] <= numbers[:-1])
    assert np.array_equal(entries.counts(copy, 50), np.bincount(numbers, minlength=50))
    assert entries.checked(numbers[:0], 50)[1] == 0


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("place", [0, 1, 8191, 8192, 20_000])
@pytest.mark.parametrize("number", [-1, 50, 2**31, 2**32 + 3, -(2**63), 2**63 - 1])
def test_no_number_is_outside(place, number) -> None:
    """Of more than 32 bits, it would be one of fewer in the copy."""
    numbers = np.zeros(20_001, dtype=np.int64)
    numbers[place] = number
    assert entries.checked(numbers, 50) is None
