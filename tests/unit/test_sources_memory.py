"""Sources: a file ten times larger than the memory allowed is read all the same."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import prolate

COLUMNS, PIECE = 20, 1 << 16  # ten million bytes as float64, written again and again
ALLOWED = {"parquet": 64, "feather": 64, "csv": 96, "csv.gz": 96}  # MiB

# Everything is loaded and warmed up on a small file; from then on the process may
# allocate only so much more. "prolate" must manage; reading the file as a whole must
# not, or the limit would show nothing.
PROGRAM = """
import resource, sys
import numpy as np, pyarrow as pa, pyarrow.csv, pyarrow.feather, pyarrow.parquet
from prolate.sources import open_source

reader, small, large, allowed = *sys.argv[1:4], int(sys.argv[4])
pa.set_cpu_count(2)
pa.set_io_thread_count(2)

def total(path):
    if reader == "prolate":
        source = open_source(path, block_bytes=1 << 20)
        query = lambda block: block.sum(axis=0).astype(np.int64)
        return source.collect(query, len(source.columns))
    whole = {
        "parquet": pa.parquet.read_table,
        "csv": pa.csv.read_csv,
        "gz": pa.csv.read_csv,
        "feather": lambda path: pa.feather.read_table(path, memory_map=False),
    }[path.rsplit(".", 1)[-1]](path)
    return np.array([pa.compute.sum(column).as_py() for column in whole.columns])

total(small)
pages = next(line for line in open("/proc/self/status") if line.startswith("VmData"))
limit = int(pages.split()[1]) * 1024 + allowed
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
print(*total(large))
"""


def piece() -> np.ndarray:
    return np.random.default_rng(3).integers(0, 10, (PIECE, COLUMNS))


def write(path: Path, repeats: int) -> None:
    names = [f"column{j}" for j in range(COLUMNS)]
    if ".csv" in path.name:
        lines = "\n".join(",".join(map(str, row)) for row in piece().tolist()) + "\n"
        pack = gzip.compress if path.suffix == ".gz" else bytes
        header, body = pack((",".join(names) + "\n").encode()), pack(lines.encode())
        path.write_bytes(header + body * repeats)  # gzip files may be joined
        return
    part = pa.table(dict(zip(names, piece().T.astype(float), strict=True)))
    table = pa.concat_tables([part] * repeats)
    if path.suffix == ".parquet":  # a single row group, which is too much to read at once
        pq.write_table(table, path, row_group_size=table.num_rows, use_dictionary=False)
    else:
        pa.feather.write_feather(table, path, compression="lz4")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory work on Linux only")
@pytest.mark.parametrize(
    "name",
    [
        "parquet",
        "csv",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("feather", "csv.gz")),
    ],
)
def test_memory_is_bounded(name: str, tmp_path: Path) -> None:
    allowed, repeats = ALLOWED[name] << 20, ALLOWED[name]
    assert 8 * COLUMNS * PIECE * repeats >= 10 * allowed
    small, large = tmp_path / f"small.{name}", tmp_path / f"large.{name}"
    write(small, 1)
    write(large, repeats)
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(prolate.__file__).parent.parent),
        # Arrow's own allocator takes a gigabyte of address space before the limit is set.
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "MALLOC_ARENA_MAX": "1",  # and the system's takes more for every thread, ...
        "PROLATE_NUM_THREADS": "2",  # ... whose stack counts, too
    }
    results = {}
    for reader in ("prolate", "whole"):
        results[reader] = subprocess.run(
            [sys.executable, "-c", PROGRAM, reader, str(small), str(large), str(allowed)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env=environment,
        )
    large.unlink()
    assert results["prolate"].returncode == 0, results["prolate"].stderr
    totals = [int(value) for value in results["prolate"].stdout.split()]
    assert totals == (repeats * piece().sum(axis=0)).tolist()
    assert results["whole"].returncode != 0, "the limit does not bind"
