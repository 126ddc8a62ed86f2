"""Rows with everything that the tests of Spark want."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["ROWS", "write_rows"]

ROWS = 60_000


def write_rows(folder: Path, rows: int = ROWS) -> Path:
    """Write rows with gaps, in row groups of odd sizes."""
    rng = np.random.default_rng(5)
    a, b, c = rng.normal([[1.0], [-50.0], [1e6]], [[1.0], [20.0], [1e5]], size=(3, rows))
    y = 2 * a - b + c / 1e4 + rng.normal(size=rows)
    a[::97] = np.nan
    b[::89] = np.inf
    table = pa.table(
        {
            "a": pa.array(a),
            "b.c": pa.array(b, pa.float32()),
            "A b": pa.array(c.astype(np.int64), mask=rng.random(rows) < 0.01),
            "flag": pa.array(rng.random(rows) < 0.2),
            "y": pa.array(y.round(6)).cast(pa.decimal128(20, 6)),
        }
    )
    path = folder / "rows.parquet"
    pq.write_table(table, path, row_group_size=9_101)
    return path
