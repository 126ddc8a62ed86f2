"""How long a private mean takes beside what it is compared with, on this machine.

    python benchmarks/speed.py [--only TEXT] [--runs 7] [--short] [--large] [--json FILE]
        [--shape N D] [--plan FOLDER] [--growth FILE.png]

Ratios of medians of interleaved runs in one process: whole private means (center, scale and
radius found privately) over NumPy's, SciPy's or Arrow's own sums of the same rows. `--short`
takes small shapes and processor time, which other work on the machine hardly changes, and
fails if a ratio is three times in a row more than twice what `USUAL` says; `--shape` (as often
as you like) takes other shapes of dense rows; `--large` adds a million columns; `--plan` times
PLAN's published code, found in that folder; `--growth` draws time against rows and columns.
opendp and diffprivlib are timed if they are installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import prolate
from prolate.compiled import WORK
from prolate.noise import random_bits, rounded_gaussian
from prolate.queries import ClippedSum
from prolate.sources import open_source

BUDGET = prolate.Budget(rho=0.5)
USUAL = {  # ratios of processor times in the short form
    ("100000 x 100 float64", "mean"): 11.0,
    ("1e+06 x 16 float64", "mean"): 5.0,
    ("POS's shape, 103119 x 1657, 685627 ones", "sum"): 26.0,
    ("1e+06 x 20 Parquet, whole", "pass"): 2.1,
    ("1e+06 x 20 Parquet, exchangeable", "pass"): 1.2,
}
GROUP = 250_000  # rows of a Parquet file's row group
Work = Callable[[], object]
Row = dict[str, object]


SHORT = "--short" in sys.argv


def seconds(work: Work) -> float:
    """Return how long `work` takes, or in the short form how much processor time."""
    clock = time.process_time if SHORT else time.perf_counter
    start = clock()
    work()
    return clock() - start


def medians(runs: int, *works: Work) -> list[float]:
    """Return the median time of each, run in turns."""
    for work in works:
        work()
    return list(np.median([[seconds(work) for work in works] for _ in range(runs)], axis=0))


def row(name: str, ours: float, **others: float) -> Row:
    """Return a line of the table: our seconds, and the ratios to others."""
    return {"work": name, "seconds": ours, **{key: ours / value for key, value in others.items()}}


def normal_rows(n: int, d: int, dtype: str) -> np.ndarray:
    """Return rows with centers and scales that differ, without a second copy of them."""
    rng, rows = np.random.default_rng(0), np.empty((n, d), dtype)
    for start in range(0, n, 50_000):
        part = rows[start : start + 50_000]
        part[:] = rng.standard_normal(part.shape) * np.linspace(1, 3, d) + 20
    return rows


def dense(n: int, d: int, dtype: str, runs: int) -> Row:
    """Return the whole mean beside NumPy's mean and variance."""
    rows = normal_rows(n, d, dtype)
    ours, mean, var = medians(
        runs,
        lambda: prolate.mean(rows, budget=BUDGET),
        lambda: rows.mean(axis=0),
        lambda: rows.var(axis=0),
    )
    return row(f"{n:g} x {d} {dtype}", ours, mean=mean, var=var)


def baskets(n: int, d: int, ones: int) -> object:
    """Return baskets of items with Zipf's popularity."""
    import scipy.sparse

    rng = np.random.default_rng(0)
    popular = 1.0 / np.arange(1, d + 1)
    found = scipy.sparse.csr_array((n, d))
    while found.nnz < ones:
        wanted = round(1.1 * (ones - found.nnz)) + 100
        places = rng.integers(0, n, wanted), rng.choice(d, wanted, p=popular / popular.sum())
        found = (found + scipy.sparse.csr_array((np.ones(wanted), places), shape=(n, d))).tocsr()
        found.data[:] = 1.0
    return found


def sparse(name: str, n: int, d: int, ones: int, runs: int) -> Row:
    """Return the whole mean of baskets beside SciPy's sum."""
    rows = baskets(n, d, ones)
    ours, total = medians(
        runs,
        lambda: prolate.mean(rows, budget=BUDGET, error_norm=1),
        lambda: rows.sum(axis=0),  # type: ignore[attr-defined]
    )
    return row(f"{name}'s shape, {n} x {d}, {rows.nnz} ones", ours, sum=total)  # type: ignore[attr-defined]


def write_parquet(path: Path, n: int, d: int) -> None:
    """Write normal rows, one row group after the other."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, writer = np.random.default_rng(0), None
    for start in range(0, n, GROUP):
        x = rng.standard_normal((min(GROUP, n - start), d)) * np.linspace(1, 3, d) + 20
        table = pa.table({f"x{j}": x[:, j] for j in range(d)})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table)
    if writer is not None:
        writer.close()


def scan(path: Path) -> np.ndarray:
    """Return the mean of a file by Arrow's own scanner."""
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    total, rows = np.zeros(0), 0
    for batch in ds.dataset(path).scanner().to_batches():
        sums = np.array([pc.sum(column).as_py() or 0.0 for column in batch.columns])
        total = sums + (total if total.size else 0.0)
        rows += batch.num_rows
    return total / rows


def parquet(n: int, d: int, runs: int) -> Iterator[Row]:
    """Yield the final pass beside Arrow's scanner, the whole mean beside passes, and memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_parquet(path, n, d)
        os.sync()
        spread = np.linspace(1, 3, d)
        query = ClippedSum(np.full(d, 20.0), spread, 1.1 * float(np.sqrt(d)))
        source = open_source(path)
        one, scanned, whole, few = medians(
            runs,
            lambda: source.collect(query, query.size),
            lambda: scan(path),
            lambda: prolate.mean(path, budget=BUDGET),
            lambda: prolate.mean(path, budget=BUDGET, exchangeable=True),
        )
        shape = f"{n:g} x {d} Parquet"
        yield row(f"{shape}, final pass", one, scanner=scanned)
        yield {**row(f"{shape}, whole", whole, scanner=scanned), "pass": whole / one}
        yield {**row(f"{shape}, exchangeable", few, scanner=scanned), "pass": few / one}
        call = f"import prolate; prolate.mean({str(path)!r}, budget=prolate.Budget(rho=.5))"
        yield {"work": f"{shape}, whole", "peak_megabytes": peak_megabytes(call)}


def peak_megabytes(code: str) -> float:
    """Return the most memory that a fresh process takes for some code."""
    # Not of getrusage, where a child begins with its parent's.
    report = "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    words = [sys.executable, "-c", f"{code}; {report}"]
    return int(subprocess.run(words, check=True, capture_output=True, text=True).stdout) / 1024


def first_call() -> Iterator[Row]:
    """Yield what a first call costs over the steady state: nothing compiled, then all cached."""
    code = """
import time, numpy as np
rows = np.random.default_rng(0).normal(size=(1_000_000, 100))
import prolate
for _ in range(12):
    start = time.perf_counter()
    prolate.mean(rows, budget=prolate.Budget(rho=.5))
    print(time.perf_counter() - start, flush=True)
"""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        env = {**os.environ, "NUMBA_CACHE_DIR": folder}
        seconds = {}
        for name in ("first process, nothing compiled", "second process"):
            said = subprocess.check_output([sys.executable, "-c", code], text=True, env=env)
            seconds[name], *others = map(float, said.split())
            subprocess.run(["prolate", "compile"], check=True, capture_output=True, env=env)
        for name, first in seconds.items():
            yield {
                "work": f"first call over the steady state, {name}",
                "seconds": first - float(np.median(others[-6:])),
            }


def noise(samples: int, runs: int) -> Row:
    """Return how many samples of exact noise come out per second of processor time."""
    bits, times = random_bits(None), []
    for _ in range(runs):
        start = time.process_time()
        rounded_gaussian(10**9, samples, bits)
        times.append(time.process_time() - start)
    rate = samples / float(np.median(times))
    return {"work": f"exact noise, {samples:g} samples", "million_per_second_and_core": rate / 1e6}


def wide(n: int, d: int) -> Row:
    """Return the whole mean of very wide rows, once, and its memory over the rows'."""
    rows = normal_rows(n, d, "float32")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ours = seconds(lambda: prolate.mean(rows, budget=prolate.Budget(rho=8)))
    mean = seconds(lambda: rows.mean(axis=0))
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return {**row(f"{n} x {d:g} float32", ours, mean=mean), "megabytes_more": more}


def plan(folder: Path) -> Row:
    """Return our time for Gaussian C (1e4 x 512) beside PLAN's published code.

    `folder` is a copy of github.com/ChristianLebeda/PLAN-experiments; the parameters are
    those of its simulations/baseline_comparison.py, with the exponential mechanism.
    """
    sys.path.insert(0, str(folder))
    published = importlib.import_module("plan.mean_estimation").plan
    parameters = importlib.import_module("util.parameters").AlgorithmParameters
    d = 512
    variance = (d / np.arange(1, d + 1)) ** 2
    rows = np.random.default_rng(0).normal(10.0, np.sqrt(variance), size=(10_000, d))
    reach = d * float(variance.max()) ** 0.25 * 50
    asked = parameters(
        data=rows,
        dimensions=d,
        universe=(-reach, reach),
        rho=0.5,
        alpha=0.1,
        variance=0.1,
        step=20,
        k=0,
        cov=np.diag(variance),
        recenter_and_std_budget_proportion=0.25,
        recenter_budget_proportion=0.25,
        top_k_budget_proportion=0.25,
        fill=False,
        regularization=True,
        k_groups=1,
        max_std_distance=2,
        kaplan=True,
        chisquared=True,
        beta=0.1,
    )

    def theirs() -> None:
        asked.data = rows.copy()  # it sorts its rows in place
        published(asked)

    ours, other = medians(3, lambda: prolate.mean(rows, budget=BUDGET), theirs)
    return row("Gaussian C, 1e4 x 512", ours, plan=other)


def others(runs: int) -> Iterator[Row]:
    """Yield our time beside other libraries', where they are installed."""
    rows = normal_rows(100_000, 128, "float64")
    if importlib.util.find_spec("diffprivlib"):
        from diffprivlib import tools

        ours, theirs = medians(
            runs,
            lambda: prolate.mean(rows, budget=BUDGET),
            lambda: tools.mean(rows, epsilon=1.0, bounds=(0, 40), axis=0),
        )
        yield row("1e5 x 128, diffprivlib with bounds", ours, diffprivlib=theirs)
    if importlib.util.find_spec("opendp"):
        import opendp.prelude as dp

        dp.enable_features("contrib", "floating-point")
        space = dp.vector_domain(dp.atom_domain(bounds=(0.0, 40.0))), dp.symmetric_distance()
        measure = space >> dp.t.then_sum() >> dp.m.then_gaussian(scale=1.0)
        ours, theirs = medians(
            runs,
            lambda: prolate.mean(rows, budget=BUDGET),
            lambda: [measure(rows[:, j].tolist()) for j in range(rows.shape[1])],
        )
        yield row("1e5 x 128, opendp with bounds", ours, opendp=theirs)


def growth(target: Path) -> None:
    """Draw time against the number of rows, streamed, and against the number of columns."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    with tempfile.TemporaryDirectory() as folder:
        rows_tried = [10**k for k in range(4, 9)]
        times = []
        for n in rows_tried:
            path = Path(folder) / "rows.parquet"
            write_parquet(path, n, 10)
            times.append(seconds(lambda path=path: prolate.mean(path, budget=BUDGET)))  # type: ignore[misc]
    axes[0].loglog(rows_tried, times, "o-")
    axes[0].set(xlabel="rows of 10 columns, from Parquet", ylabel="seconds")
    columns_tried, times = [10**k for k in range(1, 7)], []
    for d in columns_tried:
        rows = normal_rows(1000, d, "float32")
        times.append(medians(1, lambda rows=rows: prolate.mean(rows, budget=BUDGET))[0])  # type: ignore[misc]
    axes[1].loglog(columns_tried, times, "o-")
    axes[1].set(xlabel="columns of 1,000 rows, in memory")
    for axis in axes:
        axis.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(target, dpi=150)


def dense_lines(options: argparse.Namespace) -> Iterator[Row]:
    """Yield the lines of arrays."""
    small = options.short
    shapes = [(100_000, 100), (10**6, 16)] if small else [(10**6, 100), (5 * 10**6, 16)]
    shapes += [] if small else [(60_000, 1500)]
    shapes = [tuple(shape) for shape in options.shape] or shapes
    for n, d in shapes:
        for dtype in ("float64",) if small else ("float64", "float32"):
            yield dense(n, d, dtype, options.runs)


def sparse_lines(options: argparse.Namespace) -> Iterator[Row]:
    """Yield the lines of baskets."""
    scale = 5 if options.short else 1
    if not options.short:
        yield sparse("Kosarak", 75_462, 27_983, 4_190_000, options.runs)
    yield sparse("POS", 515_596 // scale, 1_657, 3_370_000 // scale, options.runs)


def tables(n: int, d: int, runs: int) -> Iterator[Row]:
    """Yield the lines of data frames beside their own means and the array's."""
    import pandas as pd
    import polars as pl

    rows = normal_rows(n, d, "float64")
    columns = {f"x{j}": rows[:, j].copy() for j in range(d)}
    mixed = {**columns, "x0": rows[:, 0].astype("f4"), "x1": rows[:, 1].astype("i8")}
    given = {
        "pandas, one array": lambda: pd.DataFrame(rows),
        "pandas, columns": lambda: pd.DataFrame(columns),
        "pandas, mixed": lambda: pd.DataFrame(mixed),
        "pandas, nullable": lambda: pd.DataFrame(columns).astype("Float64"),
        "polars": lambda: pl.DataFrame(columns),
        "polars, mixed": lambda: pl.DataFrame(mixed),
        "Arrow": lambda: pl.DataFrame(columns).to_arrow(),
    }
    for name, make in given.items():
        frame = make()
        ours, own, array = medians(
            runs,
            lambda frame=frame: prolate.mean(frame, budget=BUDGET),  # type: ignore[misc]
            getattr(frame, "mean", lambda: rows.mean(axis=0)),
            lambda: prolate.mean(rows, budget=BUDGET),
        )
        yield row(f"{n:g} x {d} {name}", ours, own=own, array=array)


def memory(n: int, d: int) -> Iterator[Row]:
    """Yield how much memory a mean takes beside a table, at most, in a fresh process."""
    start = f"import numpy as np; rows = np.random.default_rng(0).standard_normal(({n}, {d})); "
    columns = f"columns = {{f'x{{j}}': rows[:, j].copy() for j in range({d})}}; del rows; "
    tables = {
        "array": "",
        "array, column by column": "rows = np.asfortranarray(rows); ",
        "polars": columns + "import polars; rows = polars.DataFrame(columns); del columns; ",
    }
    private = "prolate.mean({0}, budget=prolate.Budget(rho=.5)); "
    small = private.format("np.ones((20_000, 300)) * np.arange(300.0)")  # which loads all there is
    now = "before = int(open('/proc/self/statm').read().split()[1]) * 4096 / 2**20; "
    again = "open('/proc/self/clear_refs', 'w').write('5'); "  # the peak begins anew
    for name, make in tables.items():
        code = f"{start}import prolate; {small}{make}{again}{now}{private.format('rows')}"
        report = "print(int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) / 1024"
        words = [sys.executable, "-c", f"{code}{report} - before)"]
        more = float(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        yield {"work": f"{n:g} x {d} {name}, memory", "megabytes_more": more}


def kinds(n: int, d: int, runs: int) -> Iterator[Row]:
    """Yield the lines of rows with gaps, of flags, and of public bounds, beside NumPy's mean."""
    rng, rows = np.random.default_rng(1), normal_rows(n, d, "float64")
    flags, bounds = (rng.random((n, d)) < 0.3) * 1.0, (-100.0, 100.0)
    gaps = np.where(rng.random((n, d)) < 0.1, np.nan, rows)
    work = {
        "with gaps": lambda: prolate.mean(gaps, budget=BUDGET),
        "bounds": lambda: prolate.mean(rows, budget=BUDGET, bounds=bounds),
        "flags": lambda: prolate.mean(flags, budget=BUDGET),
        "flags, bounds": lambda: prolate.mean(flags, budget=BUDGET, bounds=(0.0, 1.0)),
    }
    for name, private in work.items():
        ours, mean = medians(runs, private, lambda: rows.mean(axis=0))
        yield row(f"{n:g} x {d} {name}", ours, mean=mean)


def csv(n: int, d: int, runs: int) -> Iterator[Row]:
    """Yield the line of a CSV file beside Arrow's reader of streams, which adds nothing up."""
    import pyarrow as pa
    import pyarrow.csv

    rows = np.round(normal_rows(n, d, "float64"), 4)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.csv")
        table = pa.table({f"x{j}": rows[:, j] for j in range(d)})
        pyarrow.csv.write_csv(table, path)

        def read() -> int:
            with pyarrow.csv.open_csv(path) as batches:
                return sum(batch.num_rows for batch in batches)

        ours, reader = medians(runs, lambda: prolate.mean(path, budget=BUDGET), read)
        yield row(f"{n:g} x {d} CSV, whole", ours, reader=reader)


def small_lines(runs: int) -> Iterator[Row]:
    """Yield the lines of small arrays, and of the medians of a large one."""
    for n, d in ((1_000, 5), (20_000, 100)):
        yield dense(n, d, "float64", runs)
    rows = normal_rows(10**6, 20, "float64")
    ours, own = medians(
        runs,
        lambda: prolate.quantile(rows, 0.5, budget=BUDGET),
        lambda: np.quantile(rows, 0.5, axis=0),
    )
    yield row("1e+06 x 20 medians", ours, own=own)


def parts(options: argparse.Namespace) -> dict[str, Callable[[], Iterator[Row]]]:
    """Return what there is to measure."""
    runs, small = options.runs, options.short

    def first(n: int, d: int) -> tuple[int, int]:
        return tuple(options.shape[0]) if options.shape else (n, d)

    found: dict[str, Callable[[], Iterator[Row]]] = {
        "dense": lambda: dense_lines(options),
        "sparse": lambda: sparse_lines(options),
        "parquet": lambda: parquet(*((10**6, 20) if small else (5 * 10**6, 64)), runs),
        "noise": lambda: iter([noise(10**6 if small else 10**7, runs)]),
    }
    if not small:
        found["first call"] = first_call
        found["others"] = lambda: others(runs)
        found["small"] = lambda: small_lines(runs)
        found["tables"] = lambda: tables(*first(10**6, 20), runs)
        found["memory"] = lambda: memory(*first(60_000, 1_500))
        found["kinds"] = lambda: kinds(10**6, 60, runs)
        found["csv"] = lambda: csv(10**6, 10, runs)
    if options.large:
        found["wide"] = lambda: iter([wide(2000, 10**6)])
    if options.plan:
        found["plan"] = lambda: iter([plan(options.plan)])
    return {name: lines for name, lines in found.items() if options.only in name}


def printed(lines: Iterator[Row]) -> list[Row]:
    """Print the lines of a part as they come."""
    found = []
    for line in lines:
        found.append(line)
        numbers = [f"{k} {v:.3g}" for k, v in line.items() if isinstance(v, float)]
        print(f"{line['work']:52}", *numbers, flush=True)
    return found


def slow(lines: list[Row]) -> list[str]:
    """Say which ratios are far above the usual ones."""
    return [
        f"{line['work']}: {line[what]:.3g} times {what}, where {usual} is usual"
        for line in lines
        for (work, what), usual in USUAL.items()
        if line["work"] == work and float(line.get(what, 0.0)) > 2.0 * usual  # type: ignore[arg-type]
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="dense|sparse|parquet|tables|...")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--shape", nargs=2, type=int, action="append", default=[], metavar="N")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plan", type=Path)
    parser.add_argument("--growth", type=Path)
    options = parser.parse_args()
    WORK.enough = WORK.plenty = -1  # the steady state: loops are loaded
    table = []
    for lines in parts(options).values():
        found = printed(lines())
        for _ in range(2 if options.short else 0):
            if slow(found):
                found = printed(lines())
        if options.short and (faults := slow(found)):
            sys.exit("\n".join(faults))
        table += found
    if options.growth:
        growth(options.growth)
    if options.json:
        options.json.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
