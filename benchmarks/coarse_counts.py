"""Means of so few rows that the noise of a count is a large part of them.

    python benchmarks/coarse_counts.py [--runs 30] [--columns 1,2,4,10] [--jobs 2]

A thousand rows of one of thirteen kinds, in a unit between .01 and 100,000, at budgets that make
n / sqrt(d / rho), the room, 12 to 110. Printed are errors in standard deviations, root mean squares
over the columns: their geometric mean and how large one in ten is; how often 95 % intervals of
noise and clipping hold the sample's mean, and how often the release says that its numbers are of
no use.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import prolate

Rows = np.ndarray
Draw = Callable[[np.random.Generator, tuple[int, int]], Rows]

ROWS, ROOMS = 1000, (12.0, 18.0, 25.0, 40.0, 60.0, 80.0, 110.0)
KINDS: dict[str, Draw] = {
    "normal": lambda rng, size: rng.normal(size=size),
    "3 away": lambda rng, size: rng.normal(3.0, 1.0, size),
    "20 away": lambda rng, size: rng.normal(20.0, 1.0, size),
    "1,000 away": lambda rng, size: rng.normal(1000.0, 1.0, size),
    "exponential": lambda rng, size: rng.exponential(size=size),
    "log-normal(1)": lambda rng, size: rng.lognormal(0.0, 1.0, size),
    "ages": lambda rng, size: np.round(np.clip(rng.normal(45.0, 18.0, size), 0.0, 99.0)),
    "flags of .3": lambda rng, size: (rng.random(size) < 0.3) * 1.0,
    "grades": lambda rng, size: rng.integers(1, 6, size) * 1.0,
    "uniform": lambda rng, size: rng.random(size),
    "half zeros": lambda rng, size: rng.exponential(1.0, size) * (rng.random(size) < 0.5),
    "Student, 3": lambda rng, size: rng.standard_t(3.0, size),
}


def all_kinds(rng: np.random.Generator, size: tuple[int, int]) -> Rows:
    """Return columns of kinds that are drawn, each in units of its standard deviation."""
    names = [name for name in KINDS if name != "all kinds"]
    columns = [KINDS[names[rng.integers(len(names))]](rng, (size[0], 1)) for _ in range(size[1])]
    return np.hstack([column / max(float(column.std()), 1e-9) for column in columns])


KINDS["all kinds"] = all_kinds


def measure(kind: str, columns: int, room: float, runs: int) -> np.ndarray:
    """Return for each run the error, how many intervals hold, and whether nothing was found."""
    warnings.simplefilter("ignore")
    number, found = list(KINDS).index(kind), []
    budget = prolate.Budget(rho=columns * (room / ROWS) ** 2)
    for run in range(runs):
        rng = np.random.default_rng([number, columns, int(room), run])
        unit = 10.0 ** rng.uniform(-2.0, 5.0)
        rows = KINDS[kind](rng, (ROWS, columns)) * unit
        release = prolate.mean(rows, budget=budget)
        error = np.abs(release.estimate - rows.mean(axis=0))
        clipping = 0.0 if release.clipping_std is None else release.clipping_std
        held = np.mean(error < 1.96 * np.hypot(release.noise_std, clipping))
        lost = any("do not use these numbers" in warning for warning in release.warnings)
        found.append((np.sqrt(np.mean((error / rows.std(axis=0)) ** 2)), held, lost))
    return np.array(found, dtype=float)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--columns", default="1,2,4,10")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    print(f"{'columns':>7} {'room':>5} {'mean':>8} {'90 %':>8} {'held':>6} {'of no use':>10}")
    with ProcessPoolExecutor(options.jobs) as pool:
        for columns in map(int, options.columns.split(",")):
            for room in ROOMS:
                futures = [
                    pool.submit(measure, kind, columns, room, options.runs) for kind in KINDS
                ]
                error, held, lost = np.concatenate([future.result() for future in futures]).T
                mean = np.exp(np.mean(np.log(np.clip(error, 1e-4, 1e6))))
                shown = f"{mean:8.3g} {np.quantile(error, 0.9):8.3g} {held.mean():6.0%}"
                print(f"{columns:7} {room:5g} {shown} {lost.mean():10.0%}", flush=True)


if __name__ == "__main__":
    main()
