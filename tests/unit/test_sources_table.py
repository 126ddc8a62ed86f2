"""Tables in memory: which columns are read where they lie, and that all say the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import prolate
from prolate.noise import PARTS, NumberedBits, SeededBits
from prolate.queries import ClippedSum, Pairs
from prolate.sources import Dealing, Thinning, arrow, open_source, table
from prolate.sources.columns_in_place import ColumnsInPlace
from prolate.sources.table import TableSource

BITS = NumberedBits.from_bits(SeededBits(0))
COUNT = 20_000
VALUES = np.random.default_rng(5).normal(size=(COUNT, 4))
WHOLE = np.arange(COUNT)
ASK = ClippedSum(np.zeros(6), np.full(6, 1e-3), 2.0)


def columns(dtype: type = np.float64) -> dict[str, np.ndarray]:
    every = {f"x{j}": VALUES[:, j].astype(dtype) for j in range(4)}
    return {**every, "whole": WHOLE, "some": np.where(WHOLE % 7 == 0, np.nan, 2.5)}


def tables() -> dict[str, object]:
    mine = columns()
    nullable = {**mine, "some": [None if np.isnan(x) else x for x in mine["some"]]}
    parts = [pa.table({k: v[a:b] for k, v in mine.items()}) for a, b in ((0, 7001), (7001, COUNT))]
    frame = pd.DataFrame({k: v.copy() for k, v in mine.items()})
    return {
        "pandas": frame,
        "pandas, nullable": frame.convert_dtypes(),
        "polars": pl.DataFrame(mine),
        "polars, nulls": pl.DataFrame(nullable),
        "polars, chunks": pl.concat(
            [pl.DataFrame(mine)[:501], pl.DataFrame(mine)[501:]], rechunk=False
        ),
        "arrow": pa.table(mine),
        "arrow, chunks": pa.concat_tables(parts),
        "sparse": frame.assign(whole=frame["whole"].astype(pd.SparseDtype(int, 0))),
    }


ARRAY = np.column_stack(list(columns().values()))


@pytest.mark.parametrize("name", tables())
def test_a_table_says_what_its_array_does(name: str) -> None:
    source, array = open_source(tables()[name]), open_source(ARRAY)
    assert isinstance(source, TableSource)
    assert source._lying is not None
    expected = array.collect(ASK, 6).tolist()
    assert source.collect(ASK, 6).tolist() == expected
    count = source.collect(lambda block: np.array([len(block)]), 1)  # that reads blocks only
    assert count.tolist() == [COUNT]
    for part in (PARTS // 20, PARTS // 2):
        seen: list[int] = []
        some, mine = (each.thinned(Thinning(BITS, part), seen.append) for each in (source, array))
        assert seen == [COUNT, COUNT]
        assert some.columns == source.columns
        assert some.n_rows == mine.n_rows
        assert some.collect(ASK, 6).tolist() == mine.collect(ASK, 6).tolist()
        deal = Dealing(BITS, part, 4)
        dealt = [each.dealt(deal) for each in (source, array)]
        one, other = (of([2, 0]).collect(ASK, 6).tolist() for of in dealt)
        assert one == other


@pytest.mark.parametrize("name", tables())
def test_a_table_that_is_read_in_blocks_says_the_same(name: str, monkeypatch) -> None:
    monkeypatch.setattr(table, "HELD", 100)  # cells that may be made of others
    monkeypatch.setattr(table, "_LARGER", 1)
    source = open_source(tables()[name], block_bytes=4800)
    assert source._lying is None  # type: ignore[attr-defined]
    assert source.collect(ASK, 6).tolist() == ASK(ARRAY).tolist()
    deal = Dealing(BITS, PARTS // 2, 4)
    numbers, which = deal.both(0, COUNT)
    some = source.dealt(deal)([1, 3])
    rows = ARRAY[numbers[np.isin(which, [1, 3])]]
    assert some.n_rows == len(rows)
    assert np.array_equal(np.concatenate(list(some.blocks())), rows, equal_nan=True)
    assert source.n_rows == COUNT


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_floats_are_not_copied(dtype: type) -> None:
    mine = {name: column for name, column in columns(dtype).items() if name[0] == "x"}
    frame = pl.DataFrame(mine)
    for data in (frame, frame.to_arrow(), pd.DataFrame({**mine, "whole": WHOLE})):
        source = open_source(data)
        (lying,) = source._lying  # type: ignore[attr-defined]
        mixed = len(source.columns) > 4
        assert lying.dtype == (np.float64 if mixed else dtype)
        for j in range(4):
            column = data[f"x{j}"]
            numbers = column.to_numpy()
            here = numbers.__array_interface__["data"][0] == lying.addresses[j]
            assert here == (not mixed or dtype == np.float64)
        assert np.array_equal(
            lying, np.column_stack([mine[f"x{j}"] for j in range(4)] + [WHOLE] * mixed)
        )


def test_a_pandas_frame_of_one_array_is_read_as_that(monkeypatch) -> None:
    frame = pd.DataFrame(VALUES, columns=list("abcd"))
    frame.index.name = "row"
    source = open_source(frame, ["d", "a"])
    assert not isinstance(source, TableSource)
    assert source.columns == ("d", "a")
    assert np.array_equal(np.concatenate([np.array(b) for b in source.blocks()]), VALUES[:, [3, 0]])
    whole = open_source(pd.DataFrame({"a": WHOLE, "b": WHOLE}))
    assert whole.whole == {"a", "b"}
    flags = open_source(pd.DataFrame({"yes": WHOLE > 5, "no": WHOLE < 5}), ["no", "yes"])
    assert (flags.columns, flags.flags) == (("no", "yes"), {"no", "yes"})


def test_few_rows_in_many_batches_are_joined() -> None:
    batches = [pa.record_batch({"a": VALUES[k : k + 50, 0]}) for k in range(0, COUNT, 50)]
    source = open_source(pa.Table.from_batches(batches))
    assert source._lying is None  # type: ignore[attr-defined]
    empty = open_source(pa.table({"a": pa.array([], pa.float64())}))
    assert empty.collect(ClippedSum(np.zeros(1), np.ones(1), 1.0), 1).tolist() == [0]


@pytest.mark.parametrize("make", [prolate.mean, prolate.variance, prolate.covariance])
def test_releases_have_the_same_bits_wherever_columns_lie(make, monkeypatch) -> None:
    budget, every = prolate.Budget(rho=0.5), tables()
    names = "pandas", "polars, nulls", "arrow, chunks"
    found = [make(every[name], budget=budget, seed=3).estimate for name in names]
    monkeypatch.setattr(table, "HELD", 100)
    found.append(make(every["pandas"], budget=budget, seed=3).estimate)
    for other in found[1:]:
        assert np.array_equal(found[0], other)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_batches_of_files_are_read_where_they_lie(dtype, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(arrow, "LEAST", 1)  # cells
    every = {name: column[:5001] for name, column in columns(dtype).items()}
    every["whole"] = np.where(np.arange(5001) > 4000, None, every["whole"])
    source_of = {}
    for kind, names in (("all", list(every)), ("floats", ["x0", "x1", "x2"])):
        path = tmp_path / f"{kind}.parquet"
        pq.write_table(pa.table({k: every[k] for k in names}), path, row_group_size=1999)
        source_of[kind] = open_source(str(path), block_bytes=6 * 8 * 1001)
    for kind, source in source_of.items():
        pieces = list(source.pieces())
        assert all(isinstance(piece, ColumnsInPlace) for piece in pieces)
        assert max(map(len, pieces)) <= source.rows_per_block < 2048
        single = dtype == np.float32 and kind == "floats"
        assert {piece.dtype for piece in pieces} == {np.dtype(dtype if single else np.float64)}
        rows = np.column_stack([np.array(every[name], np.float64) for name in source.columns])
        assert np.array_equal(np.concatenate([np.array(b) for b in pieces]), rows, equal_nan=True)
        ask = ClippedSum(np.zeros(rows.shape[1]), np.full(rows.shape[1], 1e-3), 2.0)
        pairs = Pairs(ask)
        for _ in range(3):  # as they come, to be held, and held
            assert source.collect(ask, ask.size).tolist() == ask(rows).tolist()
        blocks = np.concatenate([np.array(b) for b in source.blocks()])
        assert np.array_equal(blocks, rows, equal_nan=True)
        assert source.collect(pairs, pairs.size).tolist() == pairs(rows).tolist()
        kept = source.thinned(Thinning(BITS, PARTS // 3))
        places = BITS.chosen(0, 5001, PARTS // 3)
        found = np.concatenate([np.array(b) for b in kept.blocks()])
        assert np.array_equal(found, rows[places], equal_nan=True)


@pytest.mark.parametrize("held", [-1, 1 << 20])
def test_runs_are_dealt_and_chosen(held: int, monkeypatch) -> None:
    """Arrow cannot take some of their values."""
    monkeypatch.setattr(table, "HELD", held)
    runs = pc.run_end_encode(pa.array(np.sort(WHOLE)))
    source = open_source(pa.table({"runs": runs, "whole": pa.array(WHOLE)}))
    deal = Dealing(BITS, PARTS // 2, 4)
    numbers, which = deal.both(0, COUNT)
    mine = numbers[np.isin(which, [1, 3])]
    rows = np.concatenate([np.array(block) for block in source.dealt(deal)([1, 3]).blocks()])
    assert np.array_equal(rows, np.column_stack([mine, mine]))
    kept = source.thinned(Thinning(BITS, PARTS // 2)).blocks()
    assert np.array_equal(np.concatenate(list(kept))[:, 0], BITS.chosen(0, COUNT, PARTS // 2))


def test_no_batches_are_no_rows() -> None:
    none = open_source(pa.Table.from_batches([], schema=pa.schema({"a": pa.float64()})))
    assert none.thinned(Thinning(BITS, PARTS // 2)).n_rows == 0
    assert none.dealt(Dealing(BITS, PARTS // 2, 4))([0]).n_rows == 0
    chunks = [pa.array(part, pa.float32()) for part in ([], np.ones(COUNT * 4), [])]
    single = open_source(pa.table({"a": pa.chunked_array(chunks)}))
    assert {piece.dtype for piece in single._lying} == {np.dtype(np.float32)}  # type: ignore[attr-defined]
