"""What travels to Spark's workers, and the parts of a job, without Spark."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import prolate
from prolate.errors import InputError
from prolate.noise import PARTS, NumberedBits, SeededBits, SystemBits
from prolate.queries import Query
from prolate.sources import Source, Thinning
from prolate.sources.kept import Leading
from prolate.sources.spark import _places
from prolate.sources.spark_files import FragmentReader, _enough, _tasks
from prolate.sources.spark_tasks import (
    MARK,
    Adding,
    Keeping,
    KeptReader,
    Merging,
    RowReader,
    person_mean,
    sentence_of,
    unpack,
)

ROWS = np.random.default_rng(0).normal([1, -3, 0.5], [1, 5, 0.1], size=(60_000, 3))
BOUNDS = ([-10, -50, -1], [10, 50, 2])
RELEASES: dict[str, Callable[[dict[str, Any]], object]] = {
    "mean": lambda given: prolate.mean(ROWS, **given),
    "bounded": lambda given: prolate.mean(ROWS, bounds=BOUNDS, **given),
    "hidden": lambda given: prolate.mean(ROWS, neighbors="add-remove", **given),
    "rotated": lambda given: prolate.mean(ROWS[:20_000], rotation="auto", **given),
    "sparse": lambda given: prolate.mean(
        (np.random.default_rng(1).random((9000, 40)) < 0.02) * 1.0, **given
    ),
    "gaussian": lambda given: prolate.mean(ROWS, bounds=BOUNDS, method="gaussian", **given),
    "coinpress": lambda given: prolate.mean(ROWS, bounds=BOUNDS, method="coinpress", **given),
    "iome": lambda given: prolate.mean(ROWS[:4000], method="iome", **given),
    "sum": lambda given: prolate.sum(ROWS, bounds=BOUNDS, **given),
    "quantile": lambda given: prolate.quantile(ROWS, [0.2, 0.5], **given),
    "variance": lambda given: prolate.variance(ROWS, **given),
    "covariance": lambda given: prolate.covariance(ROWS, **given),
    "regression": lambda given: prolate.LinearRegression(rho=0.5, seed=1).fit(
        ROWS[:, :2], ROWS[:, 2]
    ),
    "adassp": lambda given: prolate.LinearRegression(rho=0.5, seed=1, method="adassp").fit(
        ROWS[:, :2], ROWS[:, 2]
    ),
}


@pytest.mark.parametrize("name", RELEASES)
def test_every_query_travels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Query] = []
    collect = Source.collect

    def record(self: Source, query: Any, *more: Any) -> np.ndarray:
        asked.append(query)
        return collect(self, query, *more)

    monkeypatch.setattr(Source, "collect", record)
    RELEASES[name]({"budget": prolate.Budget(rho=0.5), "seed": 1})
    assert asked
    for query in asked:
        assert isinstance(query, Query)
        there = pickle.loads(pickle.dumps(query))
        rows = (
            ROWS[:200, : query.columns]
            if query.columns <= 3
            else ROWS[:1, :1].repeat(query.columns, axis=1)
        )
        np.testing.assert_array_equal(there(rows), query(rows))
        # What it is worked out from travels, not what is worked out.
        assert len(pickle.dumps(query)) < 20_000


def batches(rows: np.ndarray, size: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(rows), size):
        piece = rows[start : start + size]
        yield pa.RecordBatch.from_pydict({f"c{j}": piece[:, j] for j in range(rows.shape[1])})


class Sum:
    """Whole numbers of every column, added up."""

    def __call__(self, block: np.ndarray) -> np.ndarray:
        return block.astype(np.int64).sum(axis=0)


def test_a_task_adds_up_and_counts_its_rows() -> None:
    rows = np.arange(3000.0).reshape(1000, 3)
    adding = pickle.loads(pickle.dumps(Adding(RowReader(3, 64), Sum(), 3)))
    records = list(adding(batches(rows, 77)))
    total, counts = unpack(records, 3)
    np.testing.assert_array_equal(total, rows.sum(axis=0))
    assert counts == {0: 1000}
    merged = list(Merging()(iter([*records, *records])))
    assert len(merged) == 1
    np.testing.assert_array_equal(unpack(merged, 3)[0], 2 * rows.sum(axis=0))
    assert unpack(list(adding(iter([]))), 3)[1] == {0: 0}


@pytest.mark.parametrize("start", [0, 12_345, 261_700])
def test_a_task_keeps_rows_by_their_numbers(start) -> None:
    rows = np.arange(3000.0).reshape(1000, 3)
    keep = Thinning(NumberedBits.from_bits(SystemBits()), PARTS // 4)
    kept = Keeping(RowReader(3, 64), keep, {0: range(start, start + 1000)})(batches(rows, 77))
    found = np.concatenate(list(KeptReader(3)(kept)))
    np.testing.assert_array_equal(found, rows[keep(start, 1000) - start])


@pytest.mark.parametrize(
    "places",
    [{0: range(500, 1499)}, {0: range(500, 1501)}, {0: range(0)}, {1: range(1000)}, {}],
    ids=["more", "fewer", "none before", "another partition", "no partition"],
)
@pytest.mark.parametrize("keep", ["some", "first"])
def test_a_partition_with_other_rows_than_before_gives_no_sample(
    places: dict[int, range], keep: str
) -> None:
    """Rows beyond those that were counted would share secret bits with the next partition's."""
    rows = np.arange(3000.0).reshape(1000, 3)
    some = Thinning(NumberedBits.from_bits(SystemBits()), PARTS // 4)
    keeping = Keeping(RowReader(3, 64), some if keep == "some" else Leading(10_000), places)
    with pytest.raises(RuntimeError) as caught:
        list(keeping(batches(rows, 77)))
    sentence = sentence_of(str(caught.value))
    assert sentence is not None
    assert sentence.endswith("call its persist() or checkpoint() first.")
    assert not any(digit in sentence for digit in "0123456789")


def test_the_first_rows_are_read_no_further() -> None:
    rows = np.arange(3000.0).reshape(1000, 3)
    few = Keeping(RowReader(3, 64), Leading(510), {0: range(500, 1500)})
    found = np.concatenate(list(KeptReader(3)(few(batches(rows, 77)))))
    np.testing.assert_array_equal(found, rows[:10])
    beyond = Keeping(RowReader(3, 64), Leading(500), {0: range(500, 1500)})
    assert not list(beyond(batches(rows, 77)))
    empty = Keeping(RowReader(3, 64), Leading(500), {})
    assert not list(empty(iter([])))


@pytest.mark.parametrize(
    ("values", "mean"),
    [
        ([1.7e308, 1.7e308, -1.7e308], 1.7e308 / 3.0),
        ([1.7e308, 1.7e308, -1.7e308, -1.7e308, 5e-324], 0.0),
        ([1.7e308, 1e308, -1e307], None),
        ([1e16, 1.0, 1.0, -1e16], 0.5),
    ],
)
def test_a_persons_mean_is_one_in_any_order(values: list[float], mean: float | None) -> None:
    """Others' rows decide where a person's come out of the shuffle.

    A sum that leaves the floats on the way, in some orders, is one within them in the end.
    """
    for order in permutations(values):
        assert person_mean(1, MARK, pa.table({"c0": order}))["c0"].to_pylist() == [mean]


def test_bits_belong_to_numbers() -> None:
    bits = NumberedBits.from_bits(SeededBits(1))
    whole = bits.of(0, 20_000)
    for start, count in [(0, 0), (4095, 1), (4095, 2), (4096, 4096), (123, 15_000), (19_999, 1)]:
        np.testing.assert_array_equal(bits.of(start, count), whole[start : start + count])
    assert np.array_equal(pickle.loads(pickle.dumps(bits)).of(7, 9), whole[7:16])
    assert not np.array_equal(NumberedBits.from_bits(SystemBits()).of(0, 100), whole[:100])
    # Fair: each of 16 bits, within six standard deviations (a false alarm once in 3e7 runs).
    ones = np.unpackbits(whole.view(np.uint8)).reshape(-1, 16).mean(axis=0)
    assert np.all(np.abs(ones - 0.5) < 6 * 0.5 / np.sqrt(whole.size))
    assert bits.of(10**13, 3).size == 3


@pytest.mark.parametrize("error", [InputError("It is public."), ValueError("secret-4711")])
def test_a_task_says_only_what_is_public(error: Exception) -> None:
    def fail(_: object) -> Any:
        raise error

    with pytest.raises(RuntimeError) as caught:
        list(Adding(RowReader(3, 64), fail, 3)(batches(ROWS[:10], 5)))
    words = sentence_of(f"Traceback ... {caught.value} ... SQLSTATE")
    assert words in ("It is public.", "A task on Spark failed (ValueError).")
    assert caught.value.__suppress_context__
    assert sentence_of("nothing of ours") is None
    assert sentence_of("The value '<prolate>of a row</prolate>' cannot be cast") is None
    lacking = sentence_of("ModuleNotFoundError: No module named 'prolate.sources'")
    assert lacking is not None
    assert "has no package 'prolate'" in lacking


def test_tasks_hold_all_row_groups_in_order() -> None:
    rng = np.random.default_rng(0)
    groups = [(j // 7, j % 7, int(rows)) for j, rows in enumerate(rng.integers(0, 99, size=50))]
    tasks = list(_tasks(groups, 100))
    assert [group for task in tasks for group in task] == groups
    assert all(sum(rows for *_, rows in task) >= 100 for task in tasks[:-1])
    assert all(sum(rows for *_, rows in task) < 300 + 99 for task in tasks)
    assert list(_tasks([], 100)) == []
    assert list(_tasks([(0, 0, 10), (0, 1, 11), (0, 2, 11)], 10)) == [
        [(0, 0, 10)],
        [(0, 1, 11), (0, 2, 11)],
    ]
    assert _enough(10, 2) == 1 << 22
    assert _enough(1 << 30, 2) == 1 << 27
    assert _enough(10**15, 1000) == max(1 << 30, 10**15 >> 17)


def test_places() -> None:
    assert _places({2: 5, 0: 3}) == {0: range(3), 2: range(3, 8)}
    assert _places({}) == {}


def test_a_reader_of_many_files_is_small() -> None:
    reader = FragmentReader((), tuple(((j, 0, 4),) for j in range(10_000)), ("x",), 2, 16)
    assert len(pickle.dumps(reader)) < 200_000
