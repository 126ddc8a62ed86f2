"""How long a private sum takes on Spark, beside the same sum in this process: one pass each.

    python benchmarks/spark.py [--rows 2000000] [--columns 64] [--runs 7] [--cores 2] [--json PATH]

A Parquet file read by the tasks themselves (``engine="spark"``), the same file as a Spark
data frame, and the same on this machine, all warm, on the same cores. Medians of interleaved
runs, of the time on the clock and of the time of all processors (Linux), which other work on
the machine hardly changes. All three must be the same bits.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import prolate

GROUP = 125_000  # rows
FRAME_RUNS = 3  # it is slow, and its ratio large


def write(path: Path, rows: int, columns: int) -> None:
    """Write normal rows, one row group at a time."""
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(columns)]
    writer = None
    for start in range(0, rows, GROUP):
        values = rng.normal(size=(columns, min(GROUP, rows - start)))
        table = pa.table(dict(zip(names, values, strict=True)))
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table)
    if writer is not None:
        writer.close()


def cpu_seconds() -> float:
    """Return the processor time of this process and all below it, dead or alive."""
    parents, times = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rsplit(")", 1)[1].split()
            pid = int(stat.parent.name)
            parents[pid], times[pid] = int(fields[1]), sum(map(int, fields[11:15]))
    own = {os.getpid()}
    while grown := {pid for pid, parent in parents.items() if parent in own} - own:
        own |= grown
    return sum(times.get(pid, 0) for pid in own) / os.sysconf("SC_CLK_TCK")


def cost(run: Callable[[], object]) -> tuple[float, float]:
    """Return how long `run` takes, and how much processor time."""
    start, used = time.perf_counter(), cpu_seconds()
    run()
    return time.perf_counter() - start, cpu_seconds() - used


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    asked = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(f"local[{asked.cores}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "4g")
        .getOrCreate()
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write(path, asked.rows, asked.columns)
        frame = session.read.parquet(str(path))

        def total(data: object, **options: object) -> np.ndarray:
            limits = ([-4.0] * asked.columns, [4.0] * asked.columns)
            budget = prolate.Budget(rho=0.5)
            return prolate.sum(data, bounds=limits, budget=budget, seed=0, **options).estimate

        ways = {
            "in this process": lambda: total(path),
            "tasks read row groups": lambda: total(path, engine="spark"),
            "Spark data frame": lambda: total(frame),
        }
        found = [run() for run in ways.values()]  # warm: workers started, kernels loaded
        assert all(np.array_equal(found[0], other) for other in found)
        times = np.full((asked.runs, len(ways), 2), np.nan)
        for number in range(asked.runs):
            for place, run in enumerate(ways.values()):
                if place < 2 or number < FRAME_RUNS:
                    times[number, place] = cost(run)
    ratios = np.nanmedian(times / times[:, :1], axis=0)
    print(f"{asked.rows} x {asked.columns}, {asked.cores} cores, the same bits three times")
    for way, both, ratio in zip(ways, np.nanmedian(times, axis=0), ratios, strict=True):
        print(
            f"{way:24} {both[0]:6.2f} s, ratio {ratio[0]:5.2f}; "
            f"processor time {both[1]:6.2f} s, ratio {ratio[1]:5.2f}"
        )
    if asked.json is not None:
        figures = {
            "rows": asked.rows,
            "columns": asked.columns,
            "ratios": dict(zip(ways, ratios[:, 0].tolist(), strict=True)),
            "processor time ratios": dict(zip(ways, ratios[:, 1].tolist(), strict=True)),
        }
        asked.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
