"""How long a private regression takes: in memory beside `lstsq`, and from a Parquet file.

    python benchmarks/regression_speed.py [--rows 1000000] [--columns 50] [--runs 5]
        [--file-rows 5000000] [--file-columns 20]

Medians of interleaved runs in one process. Of the file: a fit beside one pass of our reader.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import prolate
from prolate.sources import open_source

GROUP = 500_000  # rows


def seconds(run: Callable[[], object]) -> float:
    """Return how long `run` takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def compare(first: Callable[[], object], second: Callable[[], object], runs: int) -> str:
    """Return medians of both, and their ratio."""
    times = np.array([(seconds(first), seconds(second)) for _ in range(runs)])
    here, there = np.median(times, axis=0)
    return f"{here:.2f} s, {there:.2f} s, ratio {here / there:.2f}"


def read(path: Path) -> None:
    """Read a file once."""
    for _ in open_source(path).blocks():
        pass


def main() -> None:
    """Print both comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--file-rows", type=int, default=5_000_000)
    parser.add_argument("--file-columns", type=int, default=20)
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    model = prolate.LinearRegression()
    X = rng.normal(size=(asked.rows, asked.columns))
    y = X @ rng.normal(size=asked.columns) + rng.normal(size=asked.rows)
    model.fit(X[:3000], y[:3000])  # compiles
    shape = f"{asked.rows} x {asked.columns}"
    fits = compare(lambda: model.fit(X, y), lambda: np.linalg.lstsq(X, y, rcond=None), asked.runs)
    print(f"{shape} in memory: fit, lstsq: {fits}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path, writer = Path(folder) / "rows.parquet", None
        names = [f"x{j}" for j in range(asked.file_columns)]
        for start in range(0, asked.file_rows, GROUP):
            x = rng.normal(size=(min(GROUP, asked.file_rows - start), asked.file_columns))
            y = x.sum(axis=1) + rng.normal(size=len(x))
            table = pa.table({**dict(zip(names, x.T, strict=True)), "y": y})
            writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
            writer.write_table(table)
        if writer is not None:
            writer.close()
        fits = compare(lambda: model.fit(path, "y"), lambda: read(path), asked.runs)
        print(f"{asked.file_rows} x {asked.file_columns} of a file: fit, one reading: {fits}")


if __name__ == "__main__":
    main()
