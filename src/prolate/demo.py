"""`prolate demo`: the private mean of real health records that travel with the package.

The RAND Health Insurance Experiment is public, so the demo can print the true
means beside the private ones; ``data/README.md`` has its source and columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

from prolate.budget import Budget
from prolate.measurement import Progress
from prolate.release import Release

__all__ = ["COLUMNS", "next_steps", "rand_hie", "run", "true_means"]

COLUMNS: Mapping[str, str] = {
    "mdvis": "doctor visits a year",
    "disea": "index of diseases",
    "physlm": "share with limitation",
    "hlthg": "share in good health",
    "hlthf": "share in fair health",
    "hlthp": "share in poor health",
    "idp": "share with deductible",
    "lncoins": "ln(1 + coinsurance, %)",
}


@contextmanager
def rand_hie() -> Iterator[Path]:
    """Give the path of the RAND Health Insurance Experiment as a Parquet file."""
    with as_file(files("prolate").joinpath("data/rand_hie.parquet")) as path:
        yield path


def run(budget: Budget, progress: bool | Progress = False) -> Release:
    """Return the private mean of `COLUMNS`, with no bounds given."""
    import prolate

    with rand_hie() as path:
        return prolate.mean(str(path), budget=budget, columns=list(COLUMNS), progress=progress)


def true_means() -> list[float]:
    """Return the true means of `COLUMNS`: possible because these data are public."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    with rand_hie() as path:
        table = pq.read_table(path, columns=list(COLUMNS))
    return [float(pc.mean(table[name]).as_py()) for name in COLUMNS]


def next_steps(epsilon: float, delta: float) -> str:
    """Return what to type next on one's own file."""
    small = f"{delta:g}".replace("e-0", "e-")
    budget = f"--epsilon {epsilon:g} --delta {small}"
    return f"""\
On your own file (Parquet, CSV or Arrow), no bounds needed:

  prolate mean your.parquet {budget}
  prolate mean your.parquet {budget} -c age,income -o release.json
  prolate mean --help

The same in Python, also on NumPy arrays, pandas, polars, DuckDB and Arrow tables:

  import prolate

  budget = prolate.Budget(epsilon={epsilon:g}, delta={small})
  release = prolate.mean("your.parquet", budget=budget)
  release.estimate, release.noise_std, release.interval(0.95)
"""
