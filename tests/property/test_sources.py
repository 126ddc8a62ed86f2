"""Sources: the same rows are the same blocks, wherever they are kept."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from prolate.sources import Source, open_source

FLOATS = st.floats(width=64) | st.sampled_from([0.0, np.nan, np.inf, 1e308, 5e-324, -0.0])
ROWS = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12),
    elements=FLOATS,
)


def blocks_of(source: Source) -> list[np.ndarray]:
    return [np.asarray(block, dtype=np.float64) for block in source.blocks()]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def kept_everywhere(rows: np.ndarray, folder: Path, row_group: int) -> dict[str, object]:
    names = [f"x{j}" for j in range(rows.shape[1])]
    table = pa.table(dict(zip(names, rows.T.copy(), strict=True)))
    pq.write_table(table, folder / "rows.parquet", row_group_size=row_group)
    with pa.ipc.new_stream(folder / "rows.ipc", table.schema) as writer:
        writer.write_table(table, max_chunksize=row_group)
    text = io.StringIO()
    pd.DataFrame(rows, columns=names).to_csv(text, index=False, float_format="%.17g")
    (folder / "rows.csv").write_text(text.getvalue())
    return {
        "array": rows,
        "fortran": np.asfortranarray(rows),
        "sparse": scipy.sparse.coo_array(rows),
        "pandas": pd.DataFrame(rows, columns=names),
        "arrow": table,
        "stream": table.to_reader(max_chunksize=row_group),
        "parquet": folder / "rows.parquet",
        "ipc": folder / "rows.ipc",
        "csv": folder / "rows.csv",
    }


@settings(max_examples=40)
@given(rows=ROWS, block_bytes=st.integers(1, 500), row_group=st.integers(1, 5), pick=st.randoms())
def test_blocks_do_not_depend_on_where_rows_are_kept(
    rows: np.ndarray, block_bytes: int, row_group: int, pick, folder: Path
) -> None:
    chosen = pick.sample(range(rows.shape[1]), pick.randint(1, rows.shape[1]))
    names = [f"x{j}" for j in chosen]
    per_block = open_source(rows, names, block_bytes=block_bytes).rows_per_block
    assert per_block == max(2, block_bytes // (8 * len(names)) // 2 * 2)
    expected = [rows[start : start + per_block, chosen] for start in range(0, len(rows), per_block)]
    for kind, data in kept_everywhere(rows, folder, row_group).items():
        source = open_source(data, names, block_bytes=block_bytes)
        assert source.columns == tuple(names), kind
        assert source.n_rows in (len(rows), None), kind
        for _ in range(2):
            blocks = blocks_of(source)
            assert len(blocks) == len(expected), kind
            for block, part in zip(blocks, expected, strict=True):
                np.testing.assert_array_equal(block, part, err_msg=kind)


@given(
    rows=arrays(np.int32, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=15)),
    sizes=st.tuples(st.integers(1, 200), st.integers(1, 10_000)),
)
def test_a_collected_sum_does_not_depend_on_the_blocks(
    rows: np.ndarray, sizes: tuple[int, int]
) -> None:
    expected = rows.sum(axis=0, dtype=np.int64)
    for size in sizes:
        done: list[int] = []
        source = open_source(rows, block_bytes=size)
        total = source.collect(
            lambda block: block.sum(axis=0, dtype=np.int64), rows.shape[1], done.append
        )
        np.testing.assert_array_equal(total, expected)
        assert done == sorted(set(done))
        assert done[-1] == len(rows)


SPACES = " \t\n\v\f\r"
LINE = st.text(
    st.characters(exclude_characters='"\r\n', exclude_categories=["Cs"]), min_size=1, max_size=12
) | st.text(",.-+einf0123456789 truefalse", min_size=1, max_size=12)


@settings(max_examples=200)
@given(junk=st.dictionaries(st.integers(0, 19), LINE, max_size=9), block_bytes=st.integers(1, 400))
def test_a_line_of_a_csv_file_changes_its_own_row_only(
    junk: dict[int, str], block_bytes: int, folder: Path
) -> None:
    lines = [f"{i},{i / 7!r},{-i}" for i in range(20)]
    clean = np.array([[i, i / 7, -i] for i in range(20)])
    for i, line in junk.items():
        lines[i] = line
    path = folder / "junk.csv"
    path.write_text("a,b,c\n" + "\n".join(lines) + "\n", encoding="utf-8", newline="")
    blocks = blocks_of(open_source(path, block_bytes=block_bytes))
    rows = np.concatenate(blocks)
    others = [i for i in range(20) if i not in junk]
    assert rows.shape == (20, 3)
    np.testing.assert_array_equal(rows[others], clean[others])
    for i, line in junk.items():
        cells = line.split(",")
        expected = [_number(cell) for cell in cells] if len(cells) == 3 else [np.nan] * 3
        np.testing.assert_array_equal(rows[i], expected)


def _signed(text: str) -> str:
    """Return a negative number as accounts write it, or a sign apart from it, as usual."""
    bare = text[1:].lstrip(SPACES) if text[:1] in ("-", "\u2212") else ""
    if text[:1] == "(" and text[-1:] == ")" and not {"(", ")"} & set(text[1:-1]):
        bare = text[1:-1].strip(SPACES)
    elif text[-1:] == "-" and text[:1] not in ("-", "\u2212"):
        bare = text[:-1].rstrip(SPACES)
    if bare[:1] and bare[0] in "0123456789.,":
        return f"-{bare}"
    return f"+{text[1:].lstrip(SPACES)}" if text[:1] == "+" else text


def _number(cell: str) -> float:
    """Return a cell as the documentation of CSV files says, by Python's own reading."""
    text = cell.strip(SPACES)
    if text.lower() in ("true", "false"):
        return float(text.lower() == "true")
    text = re.sub(r"(?<=\d)[ \u00a0\u2009\u202f'\u2019](?=\d{3})", "_", _signed(text))
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}(_\d{3})+(\.\d*)?", text, re.ASCII):
        return float(text.replace("_", ""))
    if "_" in text or not text.isascii() or text != text.strip():
        return np.nan
    try:
        return float(text)
    except ValueError:
        return np.nan
